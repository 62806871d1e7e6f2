#!/usr/bin/env python3
"""`rdmapulse locate` against a real Prometheus that scrapes twelve hosts under three ToRs: all is well,
then one NIC loses probes, then one path; and against what is no Prometheus, or one that knows nothing.

  live_test.py RDMAPULSE
"""

import json
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "rules"))

from cases import Cases  # noqa: E402
from servers import MetricsServer, Server, free_port, get, prometheus, wait_for  # noqa: E402

HOSTS, PER_TOR = 12, 4
PROBES_A_SECOND = 20  # of each pair
WINDOW_SECONDS = 2
BAD_NIC, BAD_PATH = "h5", ("h2", "h9")


def tor(host):
    return f"t{int(host[1:]) // PER_TOR}"


class Fleet:
    """Counters that grow with the time; `fault` says what is wrong from now on."""

    def __init__(self):
        self.names = [f"h{i}" for i in range(HOSTS)]
        self.fault = None
        self.at = time.monotonic()
        self.counts = {(a, b): [0.0, 0.0] for a in self.names for b in self.names if a != b}

    def loss(self, source, peer):
        if self.fault == "nic":
            return 0.25 if BAD_NIC in (source, peer) else 0
        return 1 if self.fault == "path" and (source, peer) == BAD_PATH else 0

    def grow(self):
        now = time.monotonic()
        for pair, counts in self.counts.items():
            probes = (now - self.at) * PROBES_A_SECOND
            counts[0] += probes * (1 - self.loss(*pair))
            counts[1] += probes * self.loss(*pair)
        self.at = now

    def page(self, host):
        def text(path):
            return (self.peers(host) if path.startswith("/api/") else self.metrics(host)).encode()

        return text

    def metrics(self, host):
        self.grow()
        lines = [f'rdmapulse_agent_info{{host="{host}",fabric="f",tor="{tor(host)}"}} 1',
                 "rdmapulse_agent_epoch 1"]
        for peer in self.names:
            if peer == host:
                continue
            labels = (f'device="mlx5_0",port="1",peer="{peer}",peer_device="mlx5_0",peer_port="1",'
                      'class="lossless",op="write0"')
            good, failed = (int(count) for count in self.counts[host, peer])
            lines += [f'rdmapulse_peer_info{{peer="{peer}",tor="{tor(peer)}"}} 1',
                      f'rdmapulse_peer_up{{peer="{peer}"}} 1',
                      f"rdmapulse_probe_overdue{{{labels}}} 0",
                      f'rdmapulse_probes_total{{{labels},outcome="ok"}} {good}',
                      f'rdmapulse_probes_total{{{labels},outcome="late_blocked"}} 0',
                      f'rdmapulse_probes_total{{{labels},outcome="late_retx"}} 0',
                      f'rdmapulse_probes_total{{{labels},outcome="failed"}} {failed}']
        return "\n".join(lines) + "\n"

    def peers(self, host):
        path = {"device": "mlx5_0", "port": 1, "peer_device": "mlx5_0", "peer_port": 1,
                "class": "lossless", "op": "write0", "sport": 50216, "outcomes": {"ok": 1}}
        return json.dumps({"peers": [{"peer": peer, "paths": [path]}
                                     for peer in self.names if peer != host]})


class Stranger(Server):
    """Answers everything with one status and one body."""

    def __init__(self, status, body):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)


class Tool:
    def __init__(self, program):
        self.program = str(Path(program).resolve())

    def run(self, url, *more):
        return subprocess.run([self.program, "locate", "--prometheus", url, *more], text=True,
                              capture_output=True, timeout=120, check=False)

    def suspects(self, url):
        """(state, kind, name) of each, likeliest part first."""
        done = self.run(url, "--json", "--window", str(WINDOW_SECONDS))
        if done.returncode != 0:
            return [("exit", str(done.returncode), done.stderr)]
        return [(one["state"], one["parts"][0]["kind"], one["parts"][0]["name"])
                for one in json.loads(done.stdout)["suspects"]]


def configuration(folder, name, targets):
    text = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "rdmapulse", "static_configs": [{"targets": targets}]}]}
    (folder / name).write_text(json.dumps(text), encoding="utf-8")  # JSON is YAML
    return folder / name


def eventually(cases, name, wanted, tool, url):
    """`wanted` of the suspects comes true: windows first have to fill."""
    seen = []

    def holds():
        seen[:] = tool.suspects(url)
        return wanted(seen)

    try:
        wait_for(name, holds)
        cases.add(name, True)
    except TimeoutError:
        cases.add(name, False, f"suspects: {seen}")


def play_fleet(cases, tool, fleet, server):
    def scraped():
        query = f"{server.url}/api/v1/query?query=count(rdmapulse_agent_info%20offset%2010s)"
        result = get(query)["data"]["result"]
        return result and result[0]["value"][1] == str(HOSTS)

    wait_for("ten seconds of all hosts", scraped)
    found = tool.suspects(server.url)
    cases.add("a_healthy_fabric_has_no_suspects", found == [], str(found))
    text = tool.run(server.url, "--window", str(WINDOW_SECONDS)).stdout
    cases.add("a_healthy_fabric_reads_well",
              text.startswith("Nothing stands out") and "12 hosts" in text, text)

    fleet.fault = "nic"
    nic = ("open", "nic", f"{BAD_NIC} mlx5_0/1")
    eventually(cases, "a_bad_nic_opens_and_is_the_only_one", lambda found: found == [nic], tool,
               server.url)
    text = tool.run(server.url, "--window", str(WINDOW_SECONDS)).stdout
    cases.add("a_bad_nic_is_named_in_the_table", f"NIC {BAD_NIC} mlx5_0/1" in text, text)

    fleet.fault = "path"
    path = ("open", "path", f"{BAD_PATH[0]} mlx5_0/1>{BAD_PATH[1]} mlx5_0/1 sport 50216")
    eventually(cases, "a_bad_path_opens_with_the_source_port_that_its_host_knows",
               lambda found: path in found, tool, server.url)
    eventually(cases, "what_is_mended_closes",
               lambda found: found and all(one[1] == "path" for one in found), tool, server.url)


def check_error(cases, name, done, *words):
    good = (done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
            and done.stderr.startswith("rdmapulse: asking Prometheus at http://")
            and all(word in done.stderr for word in words))
    cases.add(name, good, f"exit {done.returncode}\n{done.stdout}{done.stderr}")


def play_strangers(cases, tool):
    done = tool.run(f"http://127.0.0.1:{free_port()}")
    check_error(cases, "nobody_listens", done, "connecting: Connection refused")
    error = b'{"status":"error","errorType":"timeout","error":"query timed out"}'
    for name, status, body, word in [
            ("an_error_is_given_in_its_own_words", 503, error, "query timed out"),
            ("another_status_is_named", 404, b"not here", "HTTP status 404"),
            ("another_server_is_not_taken_for_it", 200, b"<html>hello</html>", "not JSON"),
            ("an_empty_answer_is_nonsense", 200, b"", "not JSON")]:
        with Stranger(status, body) as stranger:
            check_error(cases, name, tool.run(f"http://127.0.0.1:{stranger.port}"), word)


def main():
    tool, cases, fleet = Tool(sys.argv[1]), Cases("locate_live"), Fleet()
    play_strangers(cases, tool)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with prometheus(folder, configuration(folder, "empty.yml", [])) as server:
            check_error(cases, "without_data_it_says_so", tool.run(server.url),
                        "it has no rdmapulse_probes_total of the last 300 s")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        servers = [MetricsServer(fleet.page(host)) for host in fleet.names]
        for one in servers:
            one.__enter__()
        config = configuration(folder, "fleet.yml", [f"127.0.0.1:{one.port}" for one in servers])
        with prometheus(folder, config) as server:
            play_fleet(cases, tool, fleet, server)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
