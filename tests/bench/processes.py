"""What the benchmarks ask of processes and of this machine."""

import socket
import time
from pathlib import Path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


def cpu_seconds(pid):
    """User and system time of all threads so far, exact: the process's clock, as clock_getcpuclockid(3)
    names it."""
    return time.clock_gettime((~pid << 3) | 2)


def rss_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
