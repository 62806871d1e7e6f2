#!/usr/bin/env python3
"""What rdmapulse adds to a round trip, in one pair of virtual machines and one boot.

Interleaved rounds of: our READ, WRITE and echo probes (`rdmapulse probe`), each by events and by
polling; perftest's ib_read_lat and ib_send_lat in both modes (a send_lat is half of what an echo
is); and our C floor (verbs_floor) with the same work requests. Each run is a median; the result is
the median over the rounds, and the spread of identical runs stands beside it. Ratios only: the
times are those of software emulation.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LAB_FOLDER = Path(__file__).resolve().parents[1] / "lab"
LAB = LAB_FOLDER / "lab"
PORT = "18515"


class Bench:
    def __init__(self, folder, count, gap_us):
        self.folder, self.count, self.gap_us = folder, count, gap_us

    def lab(self, *words, check=True):
        done = subprocess.run([sys.executable, str(LAB), words[0], "--dir", self.folder, *words[1:]],
                              capture_output=True, text=True, timeout=600)
        if check and done.returncode != 0:
            raise SystemExit(f"lab_bench: lab {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def guest(self, host, *command):
        return self.lab("exec", host, "--", *command)

    def serve(self, command):
        """Starts it at h2 and leaves it running; it ends with its client."""
        self.guest("h2", "sh", "-c", f"{command} >/dev/null 2>&1 </dev/null &")

    def gid_index(self, host):
        return next(port["gid_index"] for port in json.loads(
            self.guest(host, "rdmapulse", "ports", "--json"))["ports"])

    # --- one run each: the median in µs

    def probe(self, op):
        lines = self.guest("h1", "rdmapulse", "probe", "h2", "--op", op, "-c", str(self.count),
                           "-i", str(self.gap_us / 1e6), "--json").splitlines()
        rtts = [json.loads(line).get("rtt_seconds") for line in lines[:-1]]
        return statistics.median(rtt for rtt in rtts if rtt is not None) * 1e6

    def poll(self, on):
        """Both daemons look for completions, or wait for events."""
        for host in ("h1", "h2"):
            devices = "['.*']" if on else "[]"
            self.guest(host, "sh", "-c",
                       "sed -i /^polling:/d /etc/rdmapulse/rdmapulse.yaml && "
                       f"echo 'polling: {{devices: {devices}, looks: 2000}}' "
                       ">> /etc/rdmapulse/rdmapulse.yaml && kill -HUP $(pidof rdmapulsed)")

    def perftest(self, program, *options):
        common = ["-d", "rxe0", "-s", "8", "-n", str(self.count), "-p", PORT, "-F", *options]
        self.serve("{} -x {} {}".format(program, self.gid_index("h2"), " ".join(common)))
        text = ""
        for _ in range(20):  # until the server listens
            done = subprocess.run(
                [sys.executable, str(LAB), "exec", "--dir", self.folder, "h1", "--", program,
                 "-x", str(self.gid_index("h1")), *common, f"--latency_gap={self.gap_us}",
                 "10.77.0.2"], capture_output=True, text=True, timeout=300)
            text = done.stdout + done.stderr
            match = re.search(r"^\s*8\s+\d+\s+[\d.]+\s+[\d.]+\s+([\d.]+)", text, re.MULTILINE)
            if match:  # it times from post to post: the gap is part of what it prints
                round_trips = 2 if program == "ib_send_lat" else 1
                return float(match[1]) * round_trips - self.gap_us
        raise SystemExit(f"lab_bench: {program} said: {text}")

    def floor(self, op, size):
        self.serve(f"/root/verbs_floor rxe0 10.77.0.2 --serve {PORT}")
        text = self.guest("h1", "/root/verbs_floor", "rxe0", "10.77.0.1", "--to", "10.77.0.2", PORT,
                          op, str(size), str(self.count), str(self.gap_us))
        return float(re.search(r"p50_us=([\d.]+)", text)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", required=True, type=Path, help="the verbs_floor binary")
    parser.add_argument("--bin", help="folder with rdmapulsed and rdmapulse")
    parser.add_argument("--lab-bin", help="folder with the lab's own programs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--gap-us", type=int, default=10000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rdmapulse-bench-") as folder:
        bench = Bench(folder, options.count, options.gap_us)
        words = ["up", "--hosts", "2"]
        for name in ("bin", "lab_bin"):
            value = getattr(options, name)
            words += [f"--{name.replace('_', '-')}", value] if value else []
        try:
            bench.lab(*words)
            for host in ("h1", "h2"):
                bench.lab("put", host, str(options.floor), "/root/verbs_floor")
                bench.guest(host, "chmod", "755", "/root/verbs_floor")
            runs = {
                "read probe": lambda: bench.probe("read"),
                "ib_read_lat -e": lambda: bench.perftest("ib_read_lat", "-e"),
                "read floor": lambda: bench.floor("read", 8),
                "write probe": lambda: bench.probe("write"),
                "write floor": lambda: bench.floor("write", 64),
                "echo probe": lambda: bench.probe("echo"),
                "2 x ib_send_lat -e": lambda: bench.perftest("ib_send_lat", "-e"),
                "polling: read probe": lambda: bench.probe("read"),
                "polling: ib_read_lat": lambda: bench.perftest("ib_read_lat"),
                "polling: echo probe": lambda: bench.probe("echo"),
                "polling: 2 x ib_send_lat": lambda: bench.perftest("ib_send_lat"),
            }
            results = {name: [] for name in runs}
            for number in range(options.rounds):
                polling = False
                for name, run in runs.items():
                    if name.startswith("polling") != polling:
                        polling = not polling
                        bench.poll(polling)
                    results[name].append(run())
                bench.poll(False)
                print(f"round {number + 1}: " + ", ".join(
                    f"{name} {values[-1]:.0f} µs" for name, values in results.items()), flush=True)
        finally:
            bench.lab("down", check=False)
    medians = {name: statistics.median(values) for name, values in results.items()}
    for name, values in results.items():
        spread = (max(values) - min(values)) / medians[name]
        print(f"{name:24} median {medians[name]:7.0f} µs, spread of identical runs {spread:.0%}")
    for ours, theirs in (("read probe", "ib_read_lat -e"), ("read probe", "read floor"),
                         ("write probe", "write floor"), ("echo probe", "2 x ib_send_lat -e"),
                         ("polling: read probe", "polling: ib_read_lat"),
                         ("polling: echo probe", "polling: 2 x ib_send_lat"),
                         ("polling: read probe", "read probe")):
        print(f"{ours} / {theirs}: {medians[ours] / medians[theirs]:.3f}")


if __name__ == "__main__":
    main()
