#!/usr/bin/env python3
"""What one daemon costs with many peers, and whether scrapes disturb its probes.

The daemon is rdmapulsed on verbs that answer for every peer (fleet/hub); its peers are control
sessions in one other process (fleet/spokes). Measured from outside: CPU and memory by /proc, round
trips by `rdmapulse probe`. Ratios of interleaved runs; the spread of identical runs beside them.
"""

import argparse
import http.client
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from processes import cpu_seconds, free_port, rss_mib, write


def make_sysfs(root, devices, counters):
    for index in range(devices):
        device = root / f"class/infiniband/fake_{index}"
        write(device / "node_type", "1: CA")
        write(device / "node_guid", f"0200:00ff:fe00:{index:04x}")
        port = device / "ports/1"
        for name, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"),
                           ("rate", "100 Gb/sec (4X EDR)"), ("link_layer", "Ethernet"),
                           ("gid_attrs/types/0", "RoCE v2"), ("gid_attrs/ndevs/0", f"eth{index}")):
            write(port / name, text)
        for number in range(counters):
            write(port / f"hw_counters/counter_of_the_bench_{number:04}", 1000 + number)


class Daemon:
    """Hub and spokes, in `folder`."""

    def __init__(self, options, folder, peers, devices, counters, more=""):
        self.cli, self.folder = options.bin / "daemon/cli/rdmapulse", folder
        make_sysfs(folder / "sys", devices, counters)
        self.http, control = free_port(), free_port()
        lines = [f"  - {{name: s{i}, address: '127.1.{i // 256}.{i % 256}:9937'}}"
                 for i in range(1, peers + 1)]
        write(folder / "hub.yaml", "\n".join([
            "host: {name: hub}",
            f"http: {{listen: '127.0.0.1:{self.http}', socket: '{folder / 'socket'}'}}",
            f"control: {{listen: '127.0.0.1:{control}'}}", f"sysfs_root: {folder / 'sys'}",
            "peers:", *lines, more]))
        fleet = options.bin / "tests/bench/fleet"
        self.spokes = subprocess.Popen(
            [fleet / "spokes", "--count", str(peers), "--hub", f"127.0.0.1:{control}"])
        self.hub = subprocess.Popen(
            [fleet / "hub", "--config", folder / "hub.yaml", "--devices", str(devices)])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.hub, self.spokes):
            process.send_signal(signal.SIGTERM)
            process.wait(30)

    def ask(self, *words):
        return subprocess.run([self.cli, *words, "--socket", self.folder / "socket", "--json"],
                              capture_output=True, text=True, timeout=300)

    def wait_probing(self, paths):
        """Until so many paths have had a good probe."""
        for _ in range(600):
            done = self.ask("peers")
            if done.returncode == 0:
                all_paths = [path for peer in json.loads(done.stdout)["peers"]
                             for path in peer["paths"]]
                if sum(path["last_outcome"] == "ok" for path in all_paths) >= paths:
                    return
            if self.hub.poll() is not None:
                raise SystemExit("fleet_bench: the hub ended")
            time.sleep(0.2)
        raise SystemExit(f"fleet_bench: {paths} paths did not come up: {done.stdout[:2000]}"
                         f"{done.stderr}")


def scrape(connection):
    connection.request("GET", "/metrics", headers={"Accept": "text/plain;version=0.0.4"})
    body = connection.getresponse().read()
    return sum(1 for line in body.splitlines() if line and not line.startswith(b"#"))


def cost(options, folder):
    """CPU and memory of the daemon and of node_exporter, both scraped every 15 s."""
    exporter_port = free_port()
    with Daemon(options, folder, options.peers, 1, 15, options.more) as daemon:
        exporter = subprocess.Popen(
            [shutil.which("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{exporter_port}"],
            stderr=subprocess.DEVNULL)
        # As often as the daemon would if it woke for every probe's posting.
        bare = subprocess.Popen([options.bin / "tests/bench/fleet/bare_wakes", str(2 * options.peers)])
        try:
            daemon.wait_probing(2 * options.peers)
            time.sleep(5)
            watched = {"rdmapulsed": (daemon.hub.pid, daemon.http),
                       "node_exporter": (exporter.pid, exporter_port)}
            before = {name: cpu_seconds(pid) for name, (pid, _) in watched.items()}
            bare_before = cpu_seconds(bare.pid)
            started = time.monotonic()
            while time.monotonic() - started < options.seconds:
                time.sleep(15)
                series = {name: scrape(http.client.HTTPConnection("127.0.0.1", port, timeout=10))
                          for name, (_, port) in watched.items()}
            took = time.monotonic() - started
            for name, (pid, _) in watched.items():
                print(f"{name:14} {(cpu_seconds(pid) - before[name]) / took:7.2%} of a core, "
                      f"RSS {rss_mib(pid):5.1f} MiB, {series[name]} series")
            print(f"a process that only wakes {2 * options.peers} times a second "
                  f"{(cpu_seconds(bare.pid) - bare_before) / took:.2%} of a core")
        finally:
            for process in (exporter, bare):
                process.terminate()
                process.wait()


def percentiles(daemon, count):
    done = daemon.ask("probe", "s1", "-c", str(count), "-i", "0.01")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    rtts = sorted(line["rtt_seconds"] for line in lines if line.get("rtt_seconds"))
    if len(rtts) < 0.9 * count:
        raise SystemExit(f"fleet_bench: {len(rtts)} of {count} probes: {done.stderr}")
    return statistics.median(rtts), rtts[int(len(rtts) * 0.99)]


class Scraping:
    """A scrape ten times a second while it is entered."""

    def __init__(self, port):
        self.port, self.over, self.series = port, threading.Event(), 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        due = time.monotonic()
        while not self.over.is_set():
            self.series = scrape(connection)
            due = max(due + 0.1, time.monotonic())
            self.over.wait(due - time.monotonic())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def disturbance(options, folder):
    """Round trips with and without ten scrapes of 10,000 series a second, in turn."""
    with Daemon(options, folder, 100, 1, 15, "budget: {probes_per_second_per_nic: 1000}") as daemon:
        daemon.wait_probing(200)
        percentiles(daemon, 200)
        quiet, scraped = [], []
        for number in range(options.runs):
            quiet.append(percentiles(daemon, options.count))
            with Scraping(daemon.http) as scraping:
                scraped.append(percentiles(daemon, options.count))
            print(f"run {number + 1}: without p50 {quiet[-1][0] * 1e6:.0f} µs p99 "
                  f"{quiet[-1][1] * 1e6:.0f} µs, with p50 {scraped[-1][0] * 1e6:.0f} µs p99 "
                  f"{scraped[-1][1] * 1e6:.0f} µs, {scraping.series} series", flush=True)
    for index, name in enumerate(("p50", "p99")):
        base = [run[index] for run in quiet]
        middle = statistics.median(base)
        ratio = statistics.median(run[index] for run in scraped) / middle
        print(f"{name} with scrapes / without: {ratio:.3f}; spread of identical runs "
              f"{(max(base) - min(base)) / middle:.0%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["cost", "disturbance"])
    parser.add_argument("--bin", type=Path, default=Path("bazel-bin"))
    parser.add_argument("--peers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--more", default="classes: {lossless: {ops: [write0]}}",
                        help="added to the daemon's configuration; default: one op per class")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--count", type=int, default=1000)
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory(prefix="rdmapulse-fleet-", dir="/dev/shm") as folder:
        {"cost": cost, "disturbance": disturbance}[options.what](options, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
