#!/usr/bin/env python3
"""What a scrape costs, beside Debian's node_exporter with its infiniband collector alone, on the same
tree in the same run: CPU of the whole process for each scrape, memory, and how long a scrape takes
while one file of the tree does and does not answer after 100 ms.

The tree holds ports with the 21 counters/ and 38 hw_counters/ of an mlx5 NIC; node_exporter 1.5 reads no
hw_counters. Our daemon collects once per scrape here, and its own idle cost is in its numbers.

  bazel build --config=release //daemon:rdmapulsed //tests/bench:slow_tree
  python3 tests/bench/exporter_bench.py [--ports 8] [--every 1.0] [--seconds 60]
"""

import argparse
import http.client
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from processes import cpu_seconds, free_port, rss_mib, write

COUNTERS = (
    "VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery "
    "local_link_integrity_errors multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors "
    "port_rcv_data port_rcv_errors port_rcv_packets port_rcv_remote_physical_errors "
    "port_rcv_switch_relay_errors port_xmit_constraint_errors port_xmit_data port_xmit_discards "
    "port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets").split()
HW_COUNTERS = (
    "duplicate_request implied_nak_seq_err lifespan local_ack_timeout_err np_cnp_sent "
    "np_ecn_marked_roce_packets out_of_buffer out_of_sequence packet_seq_err req_cqe_error "
    "req_cqe_flush_error req_remote_access_errors req_remote_invalid_request req_rnr_retries_exceeded "
    "req_transport_retries_exceeded resp_cqe_error resp_cqe_flush_error resp_local_length_error "
    "resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to roce_slow_restart "
    "roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored rx_atomic_requests "
    "rx_dct_connect rx_icrc_encapsulated rx_read_requests rx_write_requests "
    "cc_rx_ce_pkts cc_rx_cnp_pkts cc_tx_cnp_pkts rdma_rx_bytes rdma_rx_packets rdma_tx_packets").split()
STALL_MS = 100


def make_tree(root, ports):
    for index in range(ports):
        device = root / f"class/infiniband/mlx5_{index}"
        for name, text in (("node_type", "1: CA"), ("board_id", "MT_0000000223"),
                           ("fw_ver", "22.35.1012"), ("hca_type", "MT4125"),
                           ("node_guid", f"0200:00ff:fe00:{index:04x}")):
            write(device / name, text)
        port = device / "ports/1"
        for name, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"),
                           ("rate", "100 Gb/sec (4X EDR)"), ("link_layer", "Ethernet"),
                           ("gid_attrs/types/0", "RoCE v2"), ("gid_attrs/ndevs/0", f"eth{index}")):
            write(port / name, text)
        for folder, names in (("counters", COUNTERS), ("hw_counters", HW_COUNTERS)):
            for number, name in enumerate(names):
                write(port / folder / name, 1_000_000 * index + 1000 * number)


@contextmanager
def shown(options, tree, stall_ms):
    """The tree through FUSE, where one file takes that long."""
    slow = "class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait"
    process = subprocess.Popen([options.bin / "tests/bench/slow_tree", tree, slow, str(stall_ms)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Path(process.stdout.readline().strip())
    finally:
        process.stdin.close()
        process.wait(30)


class Exporter:
    """One that listens on a port of its own; ended with the block."""

    def __init__(self, name, port, command):
        self.name, self.port = name, port
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(100):
            try:
                self.scrape()
                return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"exporter_bench: {self.name} does not answer")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)

    def scrape(self):
        """(seconds, values)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        started = time.monotonic()
        connection.request("GET", "/metrics")
        body = connection.getresponse().read()
        took = time.monotonic() - started
        connection.close()
        return took, sum(1 for line in body.splitlines() if line and not line.startswith(b"#"))


def ours(options, folder, sysfs, interval):
    port = free_port()
    config = folder / f"rdmapulse-{port}.yaml"
    write(config, f"http: {{listen: '127.0.0.1:{port}', socket: '{folder}/{port}.sock'}}\n"
                  f"control: {{listen: '127.0.0.1:0'}}\nsysfs_root: {sysfs}\n"
                  f"recorder: {{dir: {folder}/recordings}}\n"
                  f"collect: {{interval: {round(interval * 1000)}ms, series_max: 100000}}")
    return Exporter("rdmapulsed", port, [options.bin / "daemon/rdmapulsed", "--config", config,
                                         "--log-level", "error"])


def theirs(sysfs):
    port = free_port()
    return Exporter("node_exporter", port, [
        shutil.which("prometheus-node-exporter"), "--collector.disable-defaults",
        "--collector.infiniband", f"--path.sysfs={sysfs}", f"--web.listen-address=127.0.0.1:{port}"])


def cost(options, exporters, every):
    """Scrapes all of them in turn; prints each one's CPU for a scrape and its memory."""
    before = [cpu_seconds(exporter.process.pid) for exporter in exporters]
    count = max(1, round(options.seconds / every))
    due = time.monotonic()
    series = [0] * len(exporters)
    for _ in range(count):
        due += every
        time.sleep(max(0.0, due - time.monotonic()))
        series = [exporter.scrape()[1] for exporter in exporters]
    per_scrape = [(cpu_seconds(exporter.process.pid) - cpu) / count
                  for exporter, cpu in zip(exporters, before)]
    memory = [rss_mib(exporter.process.pid) for exporter in exporters]
    for exporter, cpu, rss, values in zip(exporters, per_scrape, memory, series):
        print(f"  {exporter.name:14} {cpu * 1000:7.2f} ms of CPU a scrape, RSS {rss:5.1f} MiB, "
              f"{values} values", flush=True)
    print(f"  ratio: CPU {per_scrape[0] / per_scrape[1]:.2f}, RSS {memory[0] / memory[1]:.2f}",
          flush=True)


def p99_ms(exporter, count=100):
    took = sorted(exporter.scrape()[0] for _ in range(count) if time.sleep(0.02) is None)
    return took[int(count * 0.99)] * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=Path("bazel-bin"))
    parser.add_argument("--ports", type=int, nargs="*", default=[8, 64])
    parser.add_argument("--every", type=float, default=1.0, help="seconds from scrape to scrape")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=5, help="of the stall, with and without in turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rdmapulse-bench-") as name:
        folder = Path(name)
        for ports in options.ports:
            tree = folder / f"sys{ports}"
            make_tree(tree, ports)
            print(f"{ports} ports, {ports * (len(COUNTERS) + len(HW_COUNTERS))} files, a pass and a "
                  f"scrape every {options.every:g} s")
            with ours(options, folder, tree, options.every) as us, theirs(tree) as them:
                time.sleep(3)
                cost(options, [us, them], options.every)
            print("the same, a pass every second and a scrape every 15 s")
            with ours(options, folder, tree, 1) as us, theirs(tree) as them:
                time.sleep(3)
                cost(options, [us, them], 15)
        tree = folder / f"sys{options.ports[0]}"
        print(f"p99 of a scrape in ms, {options.ports[0]} ports through FUSE, one file with and without "
              f"a stall of {STALL_MS} ms")
        results = {0: ([], []), STALL_MS: ([], [])}
        for run in range(options.runs):
            for stall in results:
                with shown(options, tree, stall) as sysfs, ours(options, folder, sysfs, 1) as us, \
                        theirs(sysfs) as them:
                    time.sleep(3)
                    for values, exporter in zip(results[stall], (us, them)):
                        values.append(p99_ms(exporter))
            print(f"  run {run + 1}: rdmapulsed {results[0][0][-1]:.1f} without, "
                  f"{results[STALL_MS][0][-1]:.1f} with; node_exporter {results[0][1][-1]:.1f} "
                  f"without, {results[STALL_MS][1][-1]:.1f} with", flush=True)
        for index, exporter in enumerate(("rdmapulsed", "node_exporter")):
            without, with_stall = (statistics.median(results[stall][index]) for stall in results)
            spread = max(results[0][index]) / min(results[0][index]) - 1
            print(f"  {exporter}: with / without {with_stall / without:.2f}; spread of identical runs "
                  f"{spread:.0%}")


if __name__ == "__main__":
    main()
