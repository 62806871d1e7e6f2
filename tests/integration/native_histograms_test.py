#!/usr/bin/env python3
"""Two daemons on loopback and a real Prometheus with native histograms switched on: it asks for protobuf,
and its quantiles are those of the control session's round trips.

    native_histograms_test.py RDMAPULSED
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/traces"), str(ROOT / "tests/rules")]

import cases  # noqa: E402
from servers import free_port, get, prometheus, wait_for  # noqa: E402

PROGRAM = Path(sys.argv.pop(1)).resolve()
FAMILY = "rdmapulse_peer_tcp_rtt_seconds"


class NativeHistogramsTest(unittest.TestCase):
    def setUp(self):
        # Short, since a Unix socket's path has 107 bytes at most.
        folder = tempfile.TemporaryDirectory(prefix="rp-", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        hosts = {name: (f"127.0.0.{number}", free_port(), free_port())
                 for number, name in ((1, "a"), (2, "b"))}
        self.http = {name: f"{address}:{http}" for name, (address, http, _) in hosts.items()}
        for name, (address, http, control) in hosts.items():
            (other, (peer, _, peer_control)), = (item for item in hosts.items() if item[0] != name)
            config = self.folder / f"{name}.yaml"
            config.write_text(
                f"host: {{name: {name}}}\n"
                f"http: {{listen: '{address}:{http}', socket: {self.folder / name}.s}}\n"
                f"control: {{listen: '{address}:{control}'}}\n"
                f"recorder: {{dir: {self.folder / name}}}\n"
                f"peers:\n  - {{name: {other}, address: '{peer}:{peer_control}'}}\n", encoding="utf-8")
            process = subprocess.Popen([PROGRAM, "--config", config], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            self.addCleanup(process.wait, 30)
            self.addCleanup(process.send_signal, signal.SIGTERM)

    def start_prometheus(self, *flags):
        config = self.folder / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
                          "scrape_configs: [{job_name: rdmapulse, static_configs: "
                          f"[{{targets: [{self.http['a']}]}}]}}]\n", encoding="utf-8")
        server = prometheus(self.folder, config, *flags)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    @staticmethod
    def value(server, query):
        words = urllib.parse.urlencode({"query": query})
        result = get(f"{server.url}/api/v1/query?{words}")["data"]["result"]
        return float(result[0]["value"][1]) if result else None

    def test_quantiles_without_classic_buckets(self):
        server = self.start_prometheus("--enable-feature=native-histograms")
        wait_for("twenty round trips", lambda: (self.value(
            server, f"histogram_count({FAMILY})") or 0) >= 20)
        self.assertIsNone(self.value(server, f"{FAMILY}_bucket"), "it took the classic ones")
        self.assertEqual(self.value(server, "rdmapulse_rdma_devices"), 0)
        mean = self.value(server, f"histogram_sum({FAMILY}) / histogram_count({FAMILY})")
        low, median, high = (self.value(server, f"histogram_quantile({q}, {FAMILY})")
                             for q in (0.0001, 0.5, 1))
        self.assertLess(low, median)
        self.assertLess(median, high)
        self.assertLess(low, mean)
        self.assertLess(mean, high)
        self.assertGreater(low, 1e-6)
        self.assertLess(median, 0.5)

    def test_who_does_not_ask_for_them_gets_text(self):
        server = self.start_prometheus()
        wait_for("classic buckets", lambda: (self.value(
            server, f'{FAMILY}_bucket{{le="+Inf"}}') or 0) >= 3)
        self.assertIsNone(self.value(server, f"histogram_count({FAMILY})"))


if __name__ == "__main__":
    os.chdir("/")
    cases.main()
