"""Traces as values: the rows of one port, from a folder or from a generated world."""

import csv
import gzip
from pathlib import Path


def read_rows(folder):
    """Rows of hosts.csv[.gz], in the file's order."""
    path = Path(folder, "hosts.csv.gz")
    opened = gzip.open(path, "rt", encoding="utf-8") if path.exists() else \
        open(path.with_suffix(""), encoding="utf-8")
    with opened as lines:
        return list(csv.DictReader(lines))


def lossless_ports(rows):
    """Host -> its rows of priority 3, each with `seconds` for the time."""
    ports = {}
    for row in rows:
        if str(row.get("priority") or "3") == "3":
            row["seconds"] = int(row["time_us"]) / 1e6
            ports.setdefault(row["host"], []).append(row)
    return ports


def increase(before, after, signal):
    """How much a counter rose between two rows; None if it is not there or went back."""
    first, second = before.get(signal), after.get(signal)
    if first in (None, "") or second in (None, ""):
        return None
    rose = int(second) - int(first)
    return rose if rose >= 0 else None
