#!/usr/bin/env python3
"""Three hosts with real RoCE v2 devices probe each other; faults are made at the switch and in the
guests, and judged from outside through a real Prometheus and a real Alertmanager
with the shipped files. What the detectors say of faults is in verdicts.py.

Limits are in seconds and say what a user waits for; a case fails at three times its limit, so that a
slow machine does not make it flaky, or at once on wrong content. The last line counts cases.
"""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import case_runner  # noqa: E402
import datagrams  # noqa: E402
import mtu  # noqa: E402
import rdma_cm  # noqa: E402
import recovery  # noqa: E402
import routed  # noqa: E402
import verdicts  # noqa: E402
from world import HOSTS, PATIENCE, Failure, World  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ROOT / "tests/grafana_queries.py"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
UVERBS = "/dev/infiniband/uverbs0"


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


def verbs_keep_the_contract(world):
    """The suite that the fake fabric passes, on a real device, by exchange and by rdma_cm; the daemon
    goes on beside it."""
    world.lab("put", "h3", str(world.contract), "/root/contract")
    world.guest("h3", "chmod", "755", "/root/contract")
    done = world.guest("h3", "/root/contract", check=False, timeout=300)
    result = re.search(r"\[  PASSED  \] (\d+) tests?", done.stdout)
    if done.returncode != 0 or not result or "SKIPPED" in done.stdout:
        raise Failure(f"exit {done.returncode}: {done.stdout[-3000:]}{done.stderr[-1000:]}")
    print(f"     {result[1]} cases on rxe0 of h3", flush=True)
    world.wait_probing(8, pairs_of(*HOSTS))


def a_daemon_without_what_verbs_need(world):
    """One sentence that says what to do; counters are exported all the same."""
    world.lab("daemon", "h3", "stop")
    mode = world.guest("h3", "stat", "-c", "%a", UVERBS).stdout.strip()
    try:
        for name, prepare, sentence in (
                ("no permission", f"chmod 600 {UVERBS}", "Permission denied"),
                ("no locked memory", f"chmod 666 {UVERBS}; ulimit -l 0",
                 "the locked-memory limit is too low")):
            said = world.guest(
                "h3", "sh", "-c",
                f"{prepare}; cat /etc/rdmapulse/rdmapulse.yaml >/run/lab/open.yaml; "
                "(sleep 3; wget -qO- http://127.0.0.1:9936/metrics) & timeout 6 "
                "/usr/bin/setpriv --reuid 900 --regid 900 --clear-groups rdmapulsed "
                "--config /run/lab/open.yaml 2>&1", check=False).stdout
            line = next((line for line in said.splitlines() if sentence in line), None)
            if line is None or "rdmapulse_retransmits_total" not in said:
                raise Failure(f"{name}: {said[-3000:]}")
            print(f"     {name}: {line}", flush=True)
    finally:
        world.guest("h3", "chmod", mode, UVERBS)
        world.lab("daemon", "h3", "start")
    world.wait_probing(10, pairs_of(*HOSTS))


def a_host_that_stops_gracefully(world):
    world.lab("daemon", "h3", "stop")
    world.wait("h1 says rdmapulse_peer_up 0 for h3", 3,
               lambda: world.value("h1", "rdmapulse_peer_up", 'peer="h3"') == 0)
    world.lab("daemon", "h3", "start")
    world.wait_probing(10, pairs_of(*HOSTS))


def every_op(world):
    """A reload that adds ops: those that are sent, and those that are measured beside them."""
    sent = ("write0", "write", "write_mtu", "read", "echo", "atomic")
    to_h2 = 'device="rxe0",port="1",peer="h2",peer_device="rxe0",peer_port="1",class="control"'

    def ok_of(op):
        labels = 'device="rxe0",port="1",class="control"' if op == "loopback" else to_h2
        return world.value("h1", "rdmapulse_probes_total", f'{labels},op="{op}",outcome="ok"') or 0

    world.reload_with("h1", f"classes: {{control: {{ops: [{', '.join(sent)}, loopback, connect]}}}}")
    try:
        world.wait("three good probes of every op that is sent, and of the port itself", 10,
                   lambda: all(ok_of(op) >= 3 for op in (*sent, "loopback")),
                   lambda: str({op: ok_of(op) for op in (*sent, "loopback")}))
        world.lab("daemon", "h2", "stop")
        world.lab("daemon", "h2", "start")
        world.wait("h1 says how long making the path anew took", 10, lambda: ok_of("connect") >= 1)
        port = world.api("h1", "ports")["ports"][0]
        if not 0 < port["loopback_p50_seconds"] <= port["loopback_p99_seconds"] < 1:
            raise Failure(f"h1 reads itself in {port['loopback_p50_seconds']} s")
    finally:
        world.reload_with("h1", "")
    world.wait_probing(10, pairs_of(*HOSTS))


def connected_by_rdma_cm(world):
    with rdma_cm.everywhere(world):
        rdma_cm.every_op_and_datagrams(world)
        rdma_cm.a_host_without_it(world)
        a_moved_gid(world)
        a_deleted_device(world)
        rdma_cm.without_its_node(world)


CASES = (all_pairs_probe, counters_appear_and_move, metrics_are_clean, cli_speaks_to_the_daemon,
         a_black_holed_class, one_percent_drop, a_moved_gid, ipv6_gids, a_deleted_device, every_op,
         connected_by_rdma_cm, verbs_keep_the_contract, a_daemon_without_what_verbs_need,
         a_host_that_stops_gracefully, a_killed_host_is_seen_and_comes_back, dashboard_queries,
         *datagrams.CASES, *verdicts.CASES)


if __name__ == "__main__":
    sys.exit(case_runner.main(__doc__, World, CASES,
                              (*datagrams.LONG_CASES, *verdicts.LONG_CASES, *routed.LONG_CASES,
                               *mtu.LONG_CASES, *recovery.LONG_CASES)))
