#!/usr/bin/env python3
"""Generated traces obey the physics that they claim, and say the same thing every time."""

import csv
import gzip
import random
import tempfile
import unittest
from pathlib import Path

import cases
from bounds import poisson_upper, quantile, wilson
from nic import DRIVERS, Nic, PauseShape, frame_seconds
from phrases import Judge
from poisson import poisson
from rows import increase, lossless_ports, read_rows
from scenarios import QUIET, generate

# Each kind of fault and of driver; all scenarios are quick_test's.
LOOKED_AT = ("storm", "deadlock", "incast_pfc", "slow_receiver", "loss_host_link", "counters_reset",
             "counters_wrap", "late_polls", "pause_before_poll", "link_down", "self_starved",
             "rolling_restart", "peer_down", "lifetime_counts", "device_lost")


class SeedTest(unittest.TestCase):
    def test_same_seed_gives_the_same_bytes_and_another_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for number, seed in enumerate((7, 7, 8)):
                target = Path(folder, str(number))
                generate("slow_receiver", seed, target)
                made.append([Path(target, name).read_bytes()
                             for name in ("hosts.csv.gz", "probes.csv.gz", "truth.yaml")])
            self.assertEqual(made[0], made[1])
            self.assertNotEqual(made[0][0], made[2][0])


class PhysicsTest(unittest.TestCase):
    """One trace of each, looked at row by row."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.traces = {}
        for name in LOOKED_AT:
            target = Path(cls.folder.name, name)
            truth, world = generate(name, 1, target)
            cls.traces[name] = (truth, world, lossless_ports(read_rows(target)), target)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def pairs(self, but=()):
        for name, (_, world, ports, _) in self.traces.items():
            if name in but:
                continue
            for host, port in ports.items():
                for before, after in zip(port, port[1:]):
                    yield f"{name} {host} {after['seconds']:.2f}", world, before, after

    def test_a_port_carries_no_more_than_its_rate(self):
        for where, world, before, after in self.pairs():
            elapsed = after["seconds"] - before["seconds"]
            for signal in ("prio_tx_bytes", "prio_rx_bytes"):
                rose = increase(before, after, signal)
                if rose is not None:
                    self.assertLess(rose, 1.1 * world.rate * elapsed + 1000, f"{where} {signal}")

    def test_no_more_time_is_spent_in_pause_than_passed(self):
        for where, world, before, after in self.pairs(but=("pause_before_poll",)):
            elapsed = 1e6 * (after["seconds"] - before["seconds"])
            for signal in ("pfc_rx_pause_duration_us", "pfc_tx_pause_duration_us"):
                rose = increase(before, after, signal)
                if rose is not None:
                    self.assertLessEqual(rose, elapsed * 1.001 + world.grain + 2,
                                         f"{where} {signal}")

    def test_pause_needs_frames_and_frames_are_no_longer_than_their_quanta(self):
        seen = 0
        for where, world, before, after in self.pairs():
            for way in ("rx", "tx"):
                paused = increase(before, after, f"pfc_{way}_pause_duration_us")
                frames = increase(before, after, f"pfc_{way}_pause_frames")
                if paused and frames is not None:
                    seen += 1
                    longest = 1e6 * frame_seconds(world.rate)
                    self.assertGreaterEqual((frames + world.grain + 1) * longest, paused * 0.999,
                                            f"{where} {way}")
        self.assertGreater(seen, 1000)

    def test_only_a_reset_makes_a_counter_go_back(self):
        went_back = {}
        for where, _, before, after in self.pairs(but=("counters_wrap",)):
            for signal in ("prio_tx_bytes", "pfc_tx_pause_frames", "out_of_sequence"):
                if before.get(signal) and after.get(signal) and \
                        int(after[signal]) < int(before[signal]) and int(before[signal]) < 4e9:
                    went_back[where.split()[0]] = signal
        self.assertEqual(set(went_back), {"counters_reset"})

    def test_32_bit_counters_wrap_when_that_is_the_scenario(self):
        wraps = sum(1 for where, _, before, after in self.pairs()
                    if where.startswith("counters_wrap ") and after.get("cnp_sent") and
                    int(after["cnp_sent"]) < int(before["cnp_sent"]))
        self.assertGreater(wraps, 0)

    def test_an_outcome_goes_with_its_time(self):
        seen = set()
        for name, (_, _, _, target) in self.traces.items():
            with gzip.open(target / "probes.csv.gz", "rt") as lines:
                for row in csv.DictReader(lines):
                    outcome = row.get("outcome")
                    if not outcome:
                        continue
                    seen.add(outcome)
                    late = float(row["rtt_us"]) > 100_000
                    if outcome in ("ok", "late_blocked", "late_retx", "late_self"):
                        self.assertEqual(late, outcome != "ok", f"{name} {row}")
                        self.assertEqual(row["status"], "success")
                    else:
                        self.assertNotEqual(row["status"], "success", f"{name} {row}")
        self.assertLessEqual({"ok", "late_blocked", "late_retx", "late_self", "failed"}, seen)

    def test_a_storm_shows_at_its_culprit_and_stops_its_victims(self):
        truth, world, ports, _ = self.traces["storm"]
        culprit, start = truth["root_cause"], truth["start_s"]
        duties = [increase(a, b, "pfc_tx_pause_duration_us") / 1e6 / (b["seconds"] - a["seconds"])
                  for a, b in zip(ports[culprit], ports[culprit][1:])
                  if start + world.dt < a["seconds"] and b["seconds"] < truth["end_s"]]
        self.assertGreater(min(duties), 0.9)
        victims = [p for p in truth["expected_findings"] if p.startswith("egress_blocked")]
        self.assertGreater(len(victims), 0)

    def test_the_quiet_truths_hold_of_a_detector_that_says_nothing(self):
        for name in LOOKED_AT:
            truth, world, _, _ = self.traces[name]
            broken = Judge(truth, [], world.seconds).judge().broken
            expects = any(" within " in p and not p.startswith("fleet")
                          for p in truth["expected_findings"])
            self.assertEqual(bool(broken), expects, f"{name}: {broken}")
            if name in QUIET:
                self.assertFalse(expects, name)


class NicTest(unittest.TestCase):
    def test_pause_time_of_a_frame_is_that_of_the_standard(self):
        self.assertAlmostEqual(frame_seconds(25e9 / 8) * 1e6, 1342, delta=1)
        self.assertAlmostEqual(frame_seconds(400e9 / 8) * 1e6, 84, delta=1)

    def test_a_hold_has_refreshes_and_no_transition(self):
        frames, transitions = PauseShape(random.Random(1), 12.5e9).frames(1.0, 1.0, 12.5e9, True)
        self.assertEqual(transitions, 0)
        self.assertGreater(frames, 2980)  # The least for a full second at 100G.
        self.assertLess(frames, 2980 / 0.45 + 1)

    def test_what_a_driver_lacks_is_no_cell(self):
        nic = Nic(random.Random(1), "irdma", 12.5e9, 1024, PauseShape(random.Random(1), 12.5e9), True)
        self.assertNotIn("pfc_rx_pause_duration_us", nic.total)
        self.assertEqual(len(nic.cells()), len(nic.total))
        self.assertEqual(set(nic.total), set(DRIVERS["irdma"][0] + DRIVERS["irdma"][1]))


class BoundsTest(unittest.TestCase):
    def test_wilson_of_none_and_all_of_three_hundred(self):
        self.assertEqual([round(x, 4) for x in wilson(300, 300)], [0.9874, 1.0])
        self.assertEqual([round(x, 4) for x in wilson(0, 300)], [0.0, 0.0126])

    def test_nothing_seen_still_goes_with_3_7(self):
        self.assertEqual(round(poisson_upper(0), 2), 3.69)
        self.assertEqual(round(poisson_upper(3), 2), 8.77)

    def test_quantile_of_a_hundred(self):
        self.assertEqual(quantile(range(1, 101), 0.95), (95, 90, 100))
        self.assertIsNone(quantile([], 0.5))

    def test_poisson_has_its_mean(self):
        source = random.Random(1)
        for mean in (0.3, 8, 200):
            drawn = sum(poisson(source, mean) for _ in range(4000)) / 4000
            self.assertAlmostEqual(drawn, mean, delta=0.05 * mean + 0.02)


if __name__ == "__main__":
    cases.main()
