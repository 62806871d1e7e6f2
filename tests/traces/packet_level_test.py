#!/usr/bin/env python3
"""Twelve traces of a packet-level simulator, replayed: everything that their truth demands holds.

    packet_level_test.py PROGRAM
"""

import sys
import unittest
from pathlib import Path

import yaml

import cases
from phrases import Judge
from rows import lossless_ports, read_rows
from verdicts import replay, verdicts_of

HERE = Path(__file__).resolve().parent
TRACES = sorted(path.parent for path in (HERE / "packet_level").glob("*/truth.yaml"))


class PacketLevelTest(unittest.TestCase):
    program = None

    def judge(self, folder):
        truth = yaml.safe_load((folder / "truth.yaml").read_text(encoding="utf-8"))
        ports = lossless_ports(read_rows(folder))
        seconds = max(port[-1]["seconds"] for port in ports.values())
        judged = Judge(truth, verdicts_of(replay(self.program, folder)), seconds).judge()
        self.assertEqual(judged.broken, [])

    def test_there_are_twelve(self):
        self.assertEqual(len(TRACES), 12)


def case_of(folder):
    return lambda self: self.judge(folder)


for trace in TRACES:
    setattr(PacketLevelTest, f"test_{trace.name.replace('-', '_')}", case_of(trace))

if __name__ == "__main__":
    PacketLevelTest.program = str(Path(sys.argv.pop(1)).resolve())
    cases.main()
