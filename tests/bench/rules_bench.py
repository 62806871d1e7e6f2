#!/usr/bin/env python3
"""What the alert rules cost a real Prometheus that scrapes a thousand hosts, for each group: the seconds
that its evaluations took while it scraped, and the CPU seconds of one evaluation by itself, which do not
depend on what else the machine does. For the latter scraping and rules are stopped, and every expression
of the group is asked for at the last moment before.

The hosts are one small server of ours: each has its own page with the families and labels of a daemon
on a host with one RoCE port, 8 peers under other ToRs and 200 raw counters. Every counter rises with
every scrape. Half a percent of the hosts have findings.

  nice -n -10 python3 tests/bench/rules_bench.py [--hosts 1000] [--scrape 15s] [--minutes 6]

Exit code 1: a group costs more than a CPU second.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "rules"))
from servers import MetricsServer, get, prometheus  # noqa: E402

RECORDED = 'count({__name__=~"rdmapulse:.+"})'
# Between the digits of a value and the tick of the scrape; replaced in one go when a page is asked for.
TICK = b"\x01"
PORT = 'device="mlx5_0",port="1"'
LANE = 'device="mlx5_0",port="1",netdev="ens1np0"'
STEPS = ("1", "1.8", "3.2", "5.6")
BUCKETS = [f"{step}e-0{decade}" for decade in (6, 5, 4, 3, 2, 1) for step in STEPS] + [
    "1", "1.8", "3.2", "5.6", "10", "+Inf"]


def counter(name, labels, start):
    """A counter that rises by one with each tick: six digits of the tick behind its start."""
    return f"{name}{{{labels}}} {start}\x01"


def path_lines(peer, class_, op):
    path = f'{PORT},peer="{peer}",peer_device="mlx5_0",peer_port="1",class="{class_}",op="{op}"'
    yield from (f'rdmapulse_probes_total{{{path},outcome="{outcome}"}} 0'
                for outcome in ("late_blocked", "late_retx", "late_self", "failed", "aborted"))
    yield counter("rdmapulse_probes_total", f'{path},outcome="ok"', 7)
    for index, le in enumerate(BUCKETS):
        # Round trips of 5.6 to 10 µs.
        yield (counter("rdmapulse_probe_rtt_seconds_bucket", f'{path},le="{le}"', 7) if index > 3
               else f'rdmapulse_probe_rtt_seconds_bucket{{{path},le="{le}"}} 0')
    yield counter("rdmapulse_probe_rtt_seconds_count", path, 7)
    yield f"rdmapulse_probe_rtt_seconds_sum{{{path}}} 0.\x01"
    yield f"rdmapulse_probe_overdue{{{path}}} 0"
    yield f"rdmapulse_probe_oldest_outstanding_seconds{{{path}}} 0"


def port_lines():
    yield f'rdmapulse_port_info{{{LANE},driver="mlx5",protocol="roce_v2",link_layer="ethernet"}} 1'
    yield f"rdmapulse_port_up{{{PORT}}} 1"
    yield f"rdmapulse_port_rate_bytes_per_second{{{PORT}}} 5e+10"
    for direction in ("receive", "transmit"):
        for unit in ("bytes", "packets"):
            yield counter(f"rdmapulse_port_{direction}_{unit}_total", PORT, 9)
            yield counter(f"rdmapulse_netdev_{direction}_{unit}_total", LANE, 9)
            for priority in range(8):
                yield counter(f"rdmapulse_priority_{direction}_{unit}_total",
                              f'{LANE},priority="{priority}"', 9)
    for priority in range(8):
        for direction in ("rx", "tx"):
            labels = f'{LANE},priority="{priority}",direction="{direction}"'
            yield counter("rdmapulse_pfc_pause_frames_total", labels, 3)
            yield f"rdmapulse_pfc_pause_seconds_total{{{labels}}} 3.\x01"
            yield counter("rdmapulse_pfc_pause_transitions_total", labels, 3)
            yield f"rdmapulse_pfc_pause_ratio_max{{{labels}}} 0.02"
    for name, label, values in (
            ("retransmits", "cause", ("timeout", "sequence", "implied_nak", "rnr", "adaptive", "slow_restart")),
            ("cnp_packets", "action", ("sent", "handled", "ignored")),
            ("discards", "reason", ("buffer", "out_of_buffer", "transmit")),
            ("link_errors", "kind", ("symbol", "fcs", "icrc", "fec_corrected", "fec_uncorrectable"))):
        for value in values:
            yield f'rdmapulse_{name}_total{{{LANE},{label}="{value}"}} 17'
    for name in ("ecn_marked_packets", "link_down", "out_of_sequence", "duplicate_requests"):
        yield f"rdmapulse_{name}_total{{{LANE}}} 1"
    for number in range(200):
        yield counter("rdmapulse_raw_counter_total", f'{LANE},source="ethtool",name="counter_{number}"', 5)


def host_lines(number, hosts):
    tor = number // 32
    yield f'rdmapulse_agent_info{{host="h{number}",fabric="f{number % 2}",tor="t{tor}",pod="p{tor // 8}"}} 1'
    yield f'rdmapulse_expected_agents{{fabric="f{number % 2}"}} {hosts // 2}'
    yield "rdmapulse_rdma_devices 1"
    yield from port_lines()
    yield 'rdmapulse_findings_total{condition="storm_source"} 0'
    yield from (f'rdmapulse_findings_total{{condition="condition_{index}"}} 0' for index in range(19))
    if number % 200 == 7:
        yield (f'rdmapulse_finding{{condition="egress_blocked",severity="major",{PORT},'
               f'priority="{number % 3}"}} 1')
    for step in range(1, 9):
        peer = (number + 2 * step * step) % hosts  # of the same fabric, under several ToRs
        yield f'rdmapulse_peer_info{{peer="h{peer}",tor="t{peer // 32}"}} 1'
        yield f'rdmapulse_peer_up{{peer="h{peer}"}} 1'
        for class_, op in (("lossless", "write0"), ("lossless", "read"), ("control", "write0")):
            yield from path_lines(f"h{peer}", class_, op)


class Fleet:
    def __init__(self, hosts):
        self.pages = [("\n".join(host_lines(number, hosts)) + "\n").encode() for number in range(hosts)]
        self.series = sum(page.count(b"\n") for page in self.pages)
        self.began = time.monotonic()

    def page(self, path):
        tick = f"{int(time.monotonic() - self.began) % 10**6:06d}".encode()
        return self.pages[int(path[2:])].replace(TICK, tick)


def config(folder, rules, port, hosts, scrape):
    (folder / "targets.json").write_text(json.dumps([
        {"targets": [f"127.0.0.1:{port}"],
         "labels": {"__metrics_path__": f"/h{number}", "instance": f"h{number}:9936"}}
        for number in range(hosts)]))
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump({
        "global": {"scrape_interval": scrape, "scrape_timeout": scrape},
        "rule_files": [str(Path(rules).resolve())],
        "scrape_configs": [{"job_name": "rdmapulse",
                            "file_sd_configs": [{"files": [str(folder / "targets.json")]}]}]}))
    return path


def value(server, query, moment=None):
    words = urllib.parse.urlencode({"query": query, "time": moment or time.time(), "timeout": "10m"})
    result = get(f"{server.url}/api/v1/query?{words}", 600)["data"]["result"]
    return float(result[0]["value"][1]) if result else 0


def evaluations(server, minutes):
    """Group → the seconds that its evaluations took, one for each that ran."""
    taken, seen = {}, {}
    deadline = time.monotonic() + minutes * 60
    while time.monotonic() < deadline:
        for group in get(f"{server.url}/api/v1/rules", 120)["data"]["groups"]:
            last = group["lastEvaluation"]
            if last.startswith("0001") or seen.get(group["name"]) == last:
                continue
            seen[group["name"]] = last
            taken.setdefault(group["name"], []).append(group["evaluationTime"])
            bad = [rule["lastError"] for rule in group["rules"] if rule["health"] == "err"]
            if bad:
                raise SystemExit(f"rules_bench: {group['name']}: {bad[0]}")
        time.sleep(1)
    return taken


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_idle(pid):
    """Until the process used no more than a tenth of a core for two seconds."""
    while True:
        before = cpu_seconds(pid)
        time.sleep(2)
        if cpu_seconds(pid) - before < 0.2:
            return


def costs(server, groups, moment, rounds=3):
    """Group → (CPU seconds of one evaluation, its costliest rule and that rule's share)."""
    found = {}
    for group in groups:
        rules = {}
        for number, rule in enumerate(group["rules"]):
            before = cpu_seconds(server.process.pid)
            for _ in range(rounds):
                value(server, f"count({rule['expr']})", moment)
            name = f"{rule.get('record') or rule['alert']} ({number})"
            rules[name] = (cpu_seconds(server.process.pid) - before) / rounds
        worst = max(rules, key=rules.get)
        found[group["name"]] = (sum(rules.values()), worst, rules[worst])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--scrape", default="15s")
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--rules", default=ROOT / "deploy/prometheus/rdmapulse.rules.yml")
    options = parser.parse_args()
    fleet = Fleet(options.hosts)
    print(f"{options.hosts} hosts, {fleet.series} series, {len(fleet.pages[0]) // 1024} KiB a page", flush=True)
    with tempfile.TemporaryDirectory() as name, MetricsServer(fleet.page) as exporter:
        folder = Path(name)
        path = config(folder, options.rules, exporter.port, options.hosts, options.scrape)
        with prometheus(folder, path, "--query.timeout=10m") as server:
            taken = evaluations(server, options.minutes)
            moment = time.time()
            print(f"load average {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores; "
                  f"targets up: {value(server, 'sum(up)', moment):.0f}; "
                  f"hosts with findings: {value(server, 'count(rdmapulse_finding==1)', moment):.0f}; "
                  f"pairs: {value(server, 'count(rdmapulse:pair_probes_ok:rate1m)', moment):.0f}; "
                  f"recorded series: {value(server, RECORDED, moment):.0f}", flush=True)
            path.write_text("{}")
            server.process.send_signal(signal.SIGHUP)
            wait_idle(server.process.pid)
            groups = yaml.safe_load(Path(options.rules).read_text(encoding="utf-8"))["groups"]
            found = costs(server, groups, moment)
    print("| group | CPU of one evaluation | of which the costliest rule | while scraping, median (n) |")
    print("|---|---|---|---|")
    for name, (seconds, worst, share) in found.items():
        live = taken.get(name, [])
        wall = f"{statistics.median(live) * 1000:.0f} ms ({len(live)})" if live else "-"
        print(f"| `{name}` | {seconds * 1000:.0f} ms | {share * 1000:.0f} ms `{worst}` | {wall} |")
    return 1 if any(seconds > 1 for seconds, _, _ in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
