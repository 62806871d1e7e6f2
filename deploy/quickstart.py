#!/usr/bin/env python3
"""The running part of quickstart.sh: brings rdmapulse up, waits until probes flow, shows what there is.

--lab: three virtual machines of tests/lab and a Prometheus on loopback.
--host: this host's own RDMA devices and a Prometheus on loopback.
--stop: ends what an earlier run started, by the process ids it noted.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAB_FOLDER = ROOT / "tests/lab"
sys.path.insert(0, str(LAB_FOLDER))

import processes  # noqa: E402
from errors import LabError  # noqa: E402
from places import need_daemon_program  # noqa: E402
from prometheus import Prometheus  # noqa: E402

STARTED = time.monotonic()
HOST_CONFIG = """\
# Every other option is at its default; see config/rdmapulse.yaml.
http: {{listen: "127.0.0.1:9936", socket: {socket}}}
control: {{listen: ":9937"}}
peers: []   # - {{name: h2, address: 192.0.2.2}}   and the same of this host at h2
"""
QUERIES = (
    ("which peers are up", "rdmapulse_peer_up"),
    ("probes a second by outcome", "sum by (class, outcome) (rate(rdmapulse_probes_total[1m])) > 0"),
    ("99th percentile of the round trip",
     "histogram_quantile(0.99, sum by (class, op, le) (rate(rdmapulse_probe_rtt_seconds_bucket[1m])))"),
    ("retransmissions a second by cause", "sum by (device, cause) (rate(rdmapulse_retransmits_total[1m]))"),
)


def say(text):
    print(f"[{time.monotonic() - STARTED:3.0f} s] {text}", flush=True)


class State:
    """What --stop must know: processes by id, and whether a lab is up."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "started.json"
        try:
            self.data = json.loads(self.path.read_text())
        except (FileNotFoundError, ValueError):
            self.data = {"processes": [], "lab": False}

    def save(self):
        self.path.write_text(json.dumps(self.data, indent=1))

    def add_process(self, record):
        self.data["processes"].append(record)
        self.save()

    def stop(self):
        for process in self.data["processes"]:
            processes.end(process)
        if self.data["lab"]:
            lab(self, "down")
        self.path.unlink(missing_ok=True)
        self.data = {"processes": [], "lab": False}


def lab(state, *words, check=True):
    command = [sys.executable, str(LAB_FOLDER / "lab"), words[0], "--dir", str(state.folder / "lab"),
               *words[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if check and done.returncode != 0:
        raise LabError(f"lab {' '.join(words)} failed with exit code {done.returncode}")
    return done.stdout


def wait(what, seconds, condition):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.5)
    raise LabError(f"waiting until {what}: not within {seconds} s; see the logs in the state folder")


def start_prometheus(state, targets):
    prometheus = Prometheus.start(state.folder / "prometheus", targets)
    state.add_process(prometheus.state["process"])
    return prometheus


def programs_stamp():
    """Changes when the daemon or the tool is built anew: what runs then is out of date."""
    return [need_daemon_program(name, None).stat().st_mtime_ns
            for name in ("rdmapulsed", "rdmapulse")]


def lab_runs_on(state):
    """True when an earlier run's lab is whole and of the same build."""
    if not state.data["lab"] or state.data.get("stamp") != programs_stamp():
        return False
    try:
        hosts = json.loads(lab(state, "status", "--json"))["hosts"]
    except (LabError, ValueError):
        return False
    return (all(host["state"] == "running" for host in hosts)
            and len(state.data["processes"]) == 1
            and processes.alive(state.data["processes"][0]))


def bring_lab_up(state):
    say("booting three hosts")
    state.data["lab"] = True
    state.data["stamp"] = programs_stamp()
    state.save()
    lab(state, "up", "--hosts", "3")
    hosts = json.loads(lab(state, "status", "--json"))["hosts"]
    say("starting Prometheus")
    prometheus = start_prometheus(state, [host["metrics_url"].split("/")[2] for host in hosts])
    state.data["prometheus"] = prometheus.state
    state.save()


def run_lab(state):
    hosts = json.loads(lab(state, "status", "--json"))["hosts"]
    prometheus = Prometheus(state.data["prometheus"])
    say("waiting until every pair probes in both classes")
    flowing = 'count(rdmapulse_probes_total{op="write0",outcome="ok"} > 3)'
    wait("probes flow", 90, lambda: (prometheus.query(flowing) or [({}, 0)])[0][1] >= 12)
    for host in hosts:
        name = host["host"]
        print(f"\n=== {name}: rdmapulse ports, peers and findings")
        for command in ["ports", "peers", "findings"]:
            print(lab(state, "exec", name, "--", "rdmapulse", command).rstrip())
    show_queries(prometheus)
    print("\nmetrics:")
    for host in hosts:
        print(f"  {host['host']}  {host['metrics_url']}")
    print(f"Prometheus: {prometheus.url}")
    command = f"tests/lab/lab exec --dir {state.folder / 'lab'} h1 -- rdmapulse"
    print(f"\nask a host:   {command} probe h2 -c 5"
          f"\nmake a fault: tests/lab/lab impair --dir {state.folder / 'lab'} add --from h1 --to h2 "
          "--dscp 26 --blackhole")


def run_host(state):
    socket = state.folder / "rdmapulse.sock"
    config = state.folder / "rdmapulse.yaml"
    config.write_text(HOST_CONFIG.format(socket=socket))
    print(f"\nconfiguration, {config}:\n{config.read_text()}")
    daemon = need_daemon_program("rdmapulsed", None)
    tool = need_daemon_program("rdmapulse", None)
    log = state.folder / "rdmapulsed.log"
    log.write_bytes(b"")
    process = processes.start([str(daemon), "--config", str(config)], log)
    state.add_process(processes.record(process.pid, config))
    prometheus = start_prometheus(state, ["127.0.0.1:9936"])

    def answers():
        if not processes.alive(state.data["processes"][0]):
            raise LabError(f"starting rdmapulsed: it ended; {log} says:\n{log.read_text()[-2000:]}")
        return prometheus.query("rdmapulse_rdma_devices")

    wait("the daemon is scraped", 30, answers)
    for command in ("ports", "peers", "status"):
        done = subprocess.run([str(tool), command, "--socket", str(socket)], capture_output=True,
                              text=True, check=False)
        print(f"\n=== rdmapulse {command}\n{done.stdout.rstrip()}{done.stderr.rstrip()}")
    print(f"\nmetrics:    http://127.0.0.1:9936/metrics\nPrometheus: {prometheus.url}\nlog:        {log}"
          f"\n\nTo probe, run it on a second host too, name each in the other's `peers`, then:"
          f" kill -HUP {process.pid}")


def show_queries(prometheus):
    print("\nqueries to try in Prometheus:")
    for what, expression in QUERIES:
        print(f"  {what}:\n    {expression}")
        for labels, value in prometheus.query(expression)[:4]:
            shown = ", ".join(f"{key}={labels[key]}" for key in sorted(labels)
                              if key not in ("__name__", "job"))
            print(f"      {shown or 'all'}: {value:.4g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    action = parser.add_mutually_exclusive_group(required=True)
    for name in ("lab", "host", "stop"):
        action.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    state = State(options.dir)
    try:
        if options.lab and lab_runs_on(state):
            say("the hosts of an earlier run still run")
        else:
            state.stop()  # of an earlier run: two would fight over ports
            if options.stop:
                say("stopped")
                return 0
            if options.lab:
                bring_lab_up(state)
        run_lab(state) if options.lab else run_host(state)
    except LabError as error:
        print(f"quickstart: {error}", file=sys.stderr)
        state.stop()
        return 1
    print("\nstop it all:  bash deploy/quickstart.sh --stop")
    return 0


if __name__ == "__main__":
    sys.exit(main())
