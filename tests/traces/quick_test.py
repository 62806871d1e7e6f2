#!/usr/bin/env python3
"""A few seeds of every scenario, generated, replayed and judged, with the scoreboard's bars.

    quick_test.py PROGRAM
"""

import multiprocessing
import os
import sys
import unittest
from pathlib import Path

import cases
from report import Card
from scenarios import SCENARIOS
from score import PLAN, run_one

SEEDS = range(900_000, 900_002)  # Not those of the scoreboard.
SKIPPED = {"healthy_day"}  # 86,400 readings of each host: tests/full.sh


class QuickTest(unittest.TestCase):
    """One case a scenario, one for the bars over all of them."""

    results = {}

    def judged(self, name):
        broken = []
        for result in self.results[name]:
            self.assertNotIn("error", result)
            broken += [f"seed {result['seed']}: {phrase}: {why}"
                       for phrase, why in result["judged"].broken]
        self.assertEqual(broken, [])

    def test_the_bars_are_met_over_all_of_them(self):
        judged = [result for results in self.results.values() for result in results]
        self.assertEqual(Card(judged).failed_bars(), [])

    def test_every_scenario_has_its_place_in_the_full_run(self):
        self.assertEqual(set(PLAN), set(SCENARIOS))


def case_of(name):
    return lambda self: self.judged(name)


def main():
    program = str(Path(sys.argv.pop(1)).resolve())
    names = [name for name in SCENARIOS if name not in SKIPPED]
    jobs = [(program, name, seed, False) for name in names for seed in SEEDS]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for result in pool.imap_unordered(run_one, jobs):
            QuickTest.results.setdefault(result["name"], []).append(result)
    for name in names:
        setattr(QuickTest, f"test_{name}", case_of(name))
    cases.main()


if __name__ == "__main__":
    main()
