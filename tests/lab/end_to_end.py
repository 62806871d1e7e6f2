#!/usr/bin/env python3
"""Three hosts with real RoCE v2 devices probe each other; faults are made at the switch and in the
guests, and judged from outside through a real Prometheus that scrapes every second.

Limits are in seconds and say what a user waits for; a case fails at three times its limit, so that a
slow machine does not make it flaky, or at once on wrong content. The last line counts cases.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from errors import LabError  # noqa: E402
from prometheus import Prometheus  # noqa: E402

LAB = Path(__file__).resolve().parent / "lab"
ROOT = Path(__file__).resolve().parents[2]
QUERIES = ROOT / "tests/grafana_queries.py"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
HOSTS = ("h1", "h2", "h3")
PATIENCE = 3  # times the limit


class Failure(Exception):
    """A case does not hold; the text says what was seen."""


class World:
    """The lab and the Prometheus beside it."""

    def __init__(self, folder, programs):
        self.folder = Path(folder)
        self.programs = programs
        self.prometheus = None
        self.urls = {}
        self.instances = {}

    def lab(self, *words, check=True, timeout=300):
        command = [sys.executable, str(LAB), words[0], "--dir", str(self.folder), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise Failure(f"lab {' '.join(words)}: exit {done.returncode}: "
                          f"{done.stdout[-500:]}{done.stderr[-2000:]}")
        return done

    def guest(self, host, *command, check=True, timeout=60):
        return self.lab("exec", host, "--", *command, check=check, timeout=timeout)

    def up(self):
        words = ["up", "--hosts", str(len(HOSTS))]
        for option, folder in self.programs.items():
            words += [option, folder] if folder else []
        print(self.lab(*words, timeout=600).stdout, flush=True)
        for host in json.loads(self.lab("status", "--json").stdout)["hosts"]:
            self.urls[host["host"]] = host["metrics_url"].removesuffix("/metrics")
            self.instances[host["host"]] = host["metrics_url"].split("/")[2]
        self.prometheus = Prometheus.start(self.folder / "prometheus", self.instances.values())

    def down(self):
        if self.prometheus:
            self.prometheus.stop()
        self.lab("down", check=False)

    # --- questions

    def value(self, host, metric, labels=""):
        """The sum over the host's series of that name, None when there is none."""
        selector = f'instance="{self.instances[host]}"' + (f",{labels}" if labels else "")
        result = self.prometheus.query(f"sum({metric}{{{selector}}})")
        return result[0][1] if result else None

    def ok_count(self, host, peer, traffic_class):
        return self.value(host, "rdmapulse_probes_total",
                          f'peer="{peer}",class="{traffic_class}",outcome="ok"') or 0

    def api(self, host, page):
        with urllib.request.urlopen(f"{self.urls[host]}/api/v1/{page}", timeout=10) as answer:
            return json.load(answer)

    def gid(self, host):
        return self.api(host, "ports")["ports"][0]["gid"]

    def epoch(self, host):
        return self.api(host, "status")["epoch"]

    # --- waiting

    def wait(self, what, limit_s, condition, detail=lambda: ""):
        """Until condition() is true; prints how long it took beside the limit."""
        started = time.monotonic()
        while True:
            if condition():
                took = time.monotonic() - started
                mark = "" if took <= limit_s else "  (slow machine)"
                print(f"     {what}: {took:.1f} s (limit {limit_s} s){mark}", flush=True)
                return
            if time.monotonic() - started > PATIENCE * limit_s:
                raise Failure(f"{what}: not within {PATIENCE} × {limit_s} s{detail()}")
            time.sleep(0.2)

    def wait_probing(self, limit_s, pairs, classes=("lossless", "control")):
        """Every pair gets two more good probes in every class, by counters that may start anew."""
        missing = {(a, b, c): (self.ok_count(a, b, c), 2) for a, b in pairs for c in classes}

        def all_probed():
            for key, (seen, wanted) in list(missing.items()):
                count = self.ok_count(*key)
                wanted -= count - seen if count >= seen else count
                missing[key] = (count, wanted)
                if wanted <= 0:
                    del missing[key]
            return not missing

        def still_missing():
            return "; missing " + ", ".join(f"{a}→{b} {c} ({seen:.0f} so far)"
                                            for (a, b, c), (seen, _) in missing.items())

        names = ", ".join(f"{a}→{b}" for a, b in pairs)
        self.wait(f"{names} probe ok ({', '.join(classes)})", limit_s, all_probed, still_missing)

    def reload_with(self, host, extra):
        """The host's configuration as the lab wrote it, and `extra` behind it; SIGHUP."""
        original = "/etc/rdmapulse/rdmapulse.yaml.lab"
        self.guest(host, "sh", "-c", f"test -e {original} || "
                                     f"cp /etc/rdmapulse/rdmapulse.yaml {original}")
        text = self.guest(host, "cat", original).stdout + extra + "\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            self.lab("put", host, file.name, "/etc/rdmapulse/rdmapulse.yaml")
        self.guest(host, "rdmapulsed", "--check")
        self.lab("daemon", host, "reload")


def pairs_of(*hosts):
    return [(a, b) for a in hosts for b in hosts if a != b]


# --- the cases, in order; each leaves the lab as it found it


def all_pairs_probe(world):
    world.wait_probing(10, pairs_of(*HOSTS))
    for host in HOSTS:
        for peer in HOSTS:
            if peer != host and world.value(host, "rdmapulse_peer_up", f'peer="{peer}"') != 1:
                raise Failure(f"{host} does not see {peer} up")


def counters_appear_and_move(world):
    names = {labels["name"] for labels, _ in world.prometheus.query(
        f'rdmapulse_raw_counter_total{{instance="{world.instances["h1"]}",source="hw_counters"}}')}
    for name in ("sent_pkts", "rcvd_pkts", "duplicate_request", "completer_retry_err"):
        if name not in names:
            raise Failure(f"rxe's {name} is not exported; there is {sorted(names)}")
    before = world.value("h1", "rdmapulse_raw_counter_total", 'name="sent_pkts"')
    world.wait("sent_pkts moves", 3, lambda: world.value(
        "h1", "rdmapulse_raw_counter_total", 'name="sent_pkts"') > before)
    world.wait("rdmapulse_port_transmit_packets_total is there", 2, lambda: world.value(
        "h1", "rdmapulse_port_transmit_packets_total") is not None)


def metrics_are_clean(world):
    # The names of the two raw families are the design's; promtool dislikes the word in them.
    named_so = ("rdmapulse_raw_counter_total metric name should not include type 'counter'",
                "rdmapulse_raw_gauge metric name should not include type 'gauge'")
    for host in HOSTS:
        text = urllib.request.urlopen(f"{world.urls[host]}/metrics", timeout=10).read()
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        lines = [line for line in done.stderr.decode().splitlines() if line not in named_so]
        if lines or done.returncode not in (0, 3):
            raise Failure(f"promtool check metrics on {host}: {lines}")


def cli_speaks_to_the_daemon(world):
    done = world.guest("h1", "rdmapulse", "probe", "h2", "-c", "5", "-i", "0.2", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != 6 or lines[-1]["summary"]["sent"] != 5 or lines[-1]["summary"]["ok"] < 1:
        raise Failure(f"rdmapulse probe said {done.stdout}")
    if world.guest("h1", "rdmapulse", "probe", "h9", "-c", "1", check=False).returncode != 2:
        raise Failure("a probe of a peer that is not configured does not exit with 2")
    for command in ("ports", "peers", "status"):
        if not world.guest("h1", "rdmapulse", command).stdout.strip():
            raise Failure(f"rdmapulse {command} says nothing")
    if "rdmapulse_raw_counter_total" not in world.guest("h1", "rdmapulse", "scrape").stdout:
        raise Failure("rdmapulse scrape shows no counter")


def a_killed_host_is_seen_and_comes_back(world):
    failed = 'peer="h2",outcome="failed"'
    before = world.value("h1", "rdmapulse_probes_total", failed)
    world.lab("kill", "h3")
    world.wait("h1 and h2 say rdmapulse_peer_up 0 for h3", 3, lambda: all(
        world.value(host, "rdmapulse_peer_up", 'peer="h3"') == 0 for host in ("h1", "h2")))
    world.wait_probing(4, pairs_of("h1", "h2"))
    for host, peer in pairs_of("h1", "h2"):
        if world.value(host, "rdmapulse_peer_up", f'peer="{peer}"') != 1:
            raise Failure(f"{host} no longer sees {peer} up")
    if world.value("h1", "rdmapulse_probes_total", failed) != before:
        raise Failure("probes between the survivors failed")
    world.lab("start", "h3", timeout=600)
    world.wait("h3 is up again at h1 and h2", 10, lambda: all(
        world.value(host, "rdmapulse_peer_up", 'peer="h3"') == 1 for host in ("h1", "h2")))
    world.wait_probing(10, pairs_of(*HOSTS))


def a_black_holed_class(world):
    lossless = 'peer="h2",class="lossless"'
    failed = lambda: world.value("h1", "rdmapulse_probes_total", lossless + ',outcome="failed"')  # noqa: E731
    before = failed()
    failed_control = world.value("h1", "rdmapulse_probes_total",
                                 'peer="h2",class="control",outcome="failed"')
    world.lab("impair", "add", "--from", "h1", "--to", "h2", "--dscp", "26", "--blackhole")
    try:
        world.wait("rdmapulse_probe_overdue 1", 2, lambda: (world.value(
            "h1", "rdmapulse_probe_overdue", lossless) or 0) >= 1)
        if failed() != before:
            raise Failure("the probe failed before it was overdue")
        world.wait("then failed", 6, lambda: failed() > before)
        world.wait_probing(4, [("h1", "h2")], classes=("control",))
        control = world.value("h1", "rdmapulse_probes_total",
                              'peer="h2",class="control",outcome="failed"')
        if control != failed_control:
            raise Failure("control probes failed too")
    finally:
        world.lab("impair", "clear")
    if world.value("h1", "rdmapulse_peer_up", 'peer="h2"') != 1:
        raise Failure("the peer's control session was taken for dead")
    world.wait_probing(8, pairs_of("h1", "h2"), classes=("lossless",))


def one_percent_drop(world):
    """Enough probes for some twenty losses: the class is probed faster for this case."""
    counters = "completer_retry_err|rcvd_seq_err|out_of_seq_request|duplicate_request"
    retries = lambda: world.value("h1", "rdmapulse_raw_counter_total", f'name=~"{counters}"')  # noqa: E731
    slow = lambda: sum(  # noqa: E731
        sign * (world.value("h1", "rdmapulse_probe_rtt_seconds_bucket",
                            f'peer="h2",class="lossless",le="{bound}"') or 0)
        for sign, bound in ((1, "+Inf"), (-1, "0.32")))
    world.reload_with("h1", "classes: {lossless: {interval: 100ms}}")
    try:
        world.wait_probing(5, [("h1", "h2")])
        if world.api("h1", "peers")["peers"][0]["paths"][0]["qp_state"] != "rts":
            raise Failure("the reload dropped a healthy QP")
        before_retries, before_slow = retries(), slow()
        world.lab("impair", "add", "--from", "h1", "--to", "h2", "--drop", "0.01")
        world.wait("retransmission counters rise", 20, lambda: retries() > before_retries)
        world.wait("the RTT histogram has a tail beyond 0.32 s", 20, lambda: slow() > before_slow)
    finally:
        world.lab("impair", "clear")
        world.reload_with("h1", "")
    world.wait_probing(8, pairs_of("h1", "h2"))


def a_moved_gid(world):
    epoch = world.epoch("h2")
    world.guest("h2", "ip", "address", "del", "10.77.0.2/24", "dev", "eth0")
    world.guest("h2", "ip", "address", "add", "10.77.0.102/24", "dev", "eth0")
    try:
        world.wait("h2's port uses the new address", 3, lambda: world.gid("h2") == "10.77.0.102")
        world.wait_probing(6, pairs_of(*HOSTS))
        if world.epoch("h2") != epoch:
            raise Failure("the daemon was restarted")
    finally:
        world.guest("h2", "ip", "address", "del", "10.77.0.102/24", "dev", "eth0", check=False)
        world.guest("h2", "ip", "address", "add", "10.77.0.2/24", "dev", "eth0", check=False)
    world.wait_probing(8, pairs_of(*HOSTS))


def ipv6_gids(world):
    for host in HOSTS:
        world.reload_with(host, "gid: {family: ipv6}")
    try:
        world.wait("all ports use their IPv6 address", 5, lambda: all(
            world.gid(host) == f"fd77::{host[1]}" for host in HOSTS))
        world.wait_probing(8, pairs_of(*HOSTS))
    finally:
        for host in HOSTS:
            world.reload_with(host, "")
    world.wait_probing(8, pairs_of(*HOSTS))


def a_deleted_device(world):
    epoch = world.epoch("h2")
    fds = world.value("h2", "process_open_fds")
    started = time.monotonic()
    world.guest("h2", "rdma", "link", "delete", "rxe0", timeout=60)
    took = time.monotonic() - started
    print(f"     rdma link delete returned: {took:.1f} s (limit 5 s)", flush=True)
    if took > 5 * PATIENCE:
        raise Failure(f"rdma link delete took {took:.1f} s")
    world.wait("rdmapulse_rdma_devices 0", 3,
               lambda: world.value("h2", "rdmapulse_rdma_devices") == 0)
    world.guest("h2", "rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0")
    world.wait("rdmapulse_rdma_devices 1", 3,
               lambda: world.value("h2", "rdmapulse_rdma_devices") == 1)
    world.wait_probing(8, pairs_of(*HOSTS))
    if world.epoch("h2") != epoch:
        raise Failure("the daemon was restarted")
    world.wait(f"as many descriptors as before ({fds:.0f})", 5,
               lambda: world.value("h2", "process_open_fds") <= fds)


def dashboard_queries(world):
    done = subprocess.run([sys.executable, str(QUERIES), "--prometheus", world.prometheus.url,
                           *map(str, DASHBOARDS)], capture_output=True, text=True, timeout=120)
    print("     " + done.stdout.strip().replace("\n", "\n     "), flush=True)
    if done.returncode != 0:
        raise Failure(f"a query of the dashboard fails: {done.stderr}")


def a_host_that_stops_gracefully(world):
    world.lab("daemon", "h3", "stop")
    world.wait("h1 says rdmapulse_peer_up 0 for h3", 3,
               lambda: world.value("h1", "rdmapulse_peer_up", 'peer="h3"') == 0)
    world.lab("daemon", "h3", "start")
    world.wait_probing(10, pairs_of(*HOSTS))


CASES = (all_pairs_probe, counters_appear_and_move, metrics_are_clean, cli_speaks_to_the_daemon,
         a_black_holed_class, one_percent_drop, a_moved_gid, ipv6_gids, a_deleted_device,
         a_host_that_stops_gracefully, a_killed_host_is_seen_and_comes_back, dashboard_queries)


def run_cases(world, wanted):
    failed = 0
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        name = case.__name__.replace("_", " ")
        print(f"case {name}", flush=True)
        try:
            case(world)
            print(f"PASS {name}", flush=True)
        except (Failure, LabError, OSError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            for host in HOSTS:
                tail = world.lab("log", host, check=False).stdout[-1500:]
                print(f"--- log of {host}\n{tail}", flush=True)
        except Exception:  # a fault of this program, told with its place
            failed += 1
            print(f"FAIL {name}: {traceback.format_exc()}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="only these: " +
                        ", ".join(case.__name__ for case in CASES))
    parser.add_argument("--dir", help="state folder of the lab; default: a new one")
    parser.add_argument("--bin", help="folder with rdmapulsed and rdmapulse")
    parser.add_argument("--lab-bin", help="folder with the lab's own programs")
    options = parser.parse_args()
    total = len(options.cases) or len(CASES)
    with tempfile.TemporaryDirectory(prefix="rdmapulse-e2e-") as folder:
        world = World(options.dir or folder,
                      {"--bin": options.bin, "--lab-bin": options.lab_bin})
        try:
            world.up()
            print(world.lab("late").stdout, flush=True)
            failed = run_cases(world, set(options.cases))
        except (Failure, LabError) as error:
            print(f"FAIL bringing the lab up: {error}", flush=True)
            failed = total
        finally:
            world.down()
    print(f"{total - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
