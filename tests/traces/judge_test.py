#!/usr/bin/env python3
"""Each phrase of a truth, on both sides of what it demands; the oracle's and the fleet's parts."""

import unittest

import cases
import fleet
import oracle
from phrases import Judge
from verdicts import verdicts_of


def line(seconds, condition, host, state, severity="major", peer=None):
    return {"time_us": int(seconds * 1e6), "host": host, "device": None, "port": None, "priority": 3,
            "peer": peer, "class": None, "condition": condition, "state": state,
            "severity": severity, "confidence": 0.9}


def judge(phrases, *said, start=50.0, end=130.0, seconds=200.0, root="h5"):
    """Broken phrases; `said`: (condition, host, from, to or None[, severity[, peer]])."""
    lines = []
    for condition, host, since, until, *rest in said:
        severity, peer = (rest + ["major", None][len(rest):])[:2]
        lines.append(line(since, condition, host, "active", severity, peer))
        if until is not None:
            lines.append(line(until, condition, host, "ok", severity, peer))
    truth = {"name": "t", "start_s": start, "end_s": end, "root_cause": root,
             "expected_findings": list(phrases)}
    verdicts = verdicts_of(sorted(lines, key=lambda entry: entry["time_us"]))
    return Judge(truth, verdicts, seconds).judge()


def holds(*arguments, **kwargs):
    return [phrase for phrase, _ in judge(*arguments, **kwargs).broken]


class EventTest(unittest.TestCase):
    PHRASE = ["storm_source at h5 within 3 s"]

    def test_in_time_is_found_and_its_delay_is_known(self):
        result = judge(self.PHRASE, ("storm_source", "h5", 52.5, None, "critical"))
        self.assertEqual(result.broken, [])
        self.assertEqual([e.delay for e in result.events], [2.5])
        self.assertEqual((len(result.right), len(result.wrong)), (1, 0))

    def test_too_late_elsewhere_another_condition_or_before_is_not(self):
        for said in (("storm_source", "h5", 53.1, None), ("storm_source", "h6", 51, None),
                     ("egress_blocked", "h5", 51, None), ("storm_source", "h5", 40, 45)):
            self.assertIn(self.PHRASE[0], holds(self.PHRASE, said), said)

    def test_never_said_is_not_found(self):
        self.assertEqual(judge(self.PHRASE).broken, [(self.PHRASE[0], "never said")])

    def test_alternatives_peer_and_own_span(self):
        phrase = ["path_loss or lossless_loss at h1 about h2 from 60 to 90 s within 5 s"]
        self.assertEqual(holds(phrase, ("lossless_loss", "h1", 64, None, "major", "h2")), [])
        self.assertEqual(holds(phrase, ("lossless_loss", "h1", 64, None, "major", "h3")), phrase)
        self.assertEqual(holds(phrase, ("path_loss", "h1", 65.5, None, "major", "h2")), phrase)


class GroupTest(unittest.TestCase):
    def test_enough_hosts_in_time(self):
        phrase = ["2 victims blocked within 15 s"]
        two = [("egress_blocked", "h1", 60, None), ("deadlock_candidate", "h2", 64.9, None)]
        self.assertEqual(holds(phrase, *two), [])
        self.assertEqual(holds(phrase, two[0]), phrase)
        self.assertEqual(holds(phrase, two[0], ("egress_blocked", "h2", 65.2, None)), phrase)

    def test_victims_or_congestion_until_the_end_of_the_fault(self):
        phrase = ["victims or congestion at 1 hosts"]
        self.assertEqual(holds(phrase, ("hol_victim", "h1", 129, None, "warning")), [])
        self.assertEqual(holds(phrase, ("hol_victim", "h1", 131, None, "warning")), phrase)

    def test_still_blocked_counts_who_was(self):
        phrase = ["10 hosts blocked within 15 s", "still blocked at the end"]
        self.assertEqual(holds(phrase[1:]), phrase[1:])
        said = [("egress_blocked", f"h{i}", 52, None) for i in range(10)]
        self.assertEqual(holds(phrase, *said), [])
        said[0:3] = [("egress_blocked", f"h{i}", 52, 120) for i in range(3)]
        self.assertEqual(holds(phrase, *said), phrase[1:])


class AbsenceTest(unittest.TestCase):
    def test_each_absence_is_broken_by_what_it_names_alone(self):
        cases = {"no storm": "storm_source", "no storm anywhere": "storm_source",
                 "no blocked egress or deadlock": "deadlock_candidate", "no loss": "path_loss",
                 "nobody a slow receiver": "slow_receiver",
                 "no slow receiver blamed": "slow_receiver", "no network verdict": "congestion",
                 "no storm, block, loss of any severity": "lossless_loss"}
        for phrase, condition in cases.items():
            self.assertEqual(holds([phrase], (condition, "h1", 60, 70, "warning")), [phrase])
            self.assertEqual(holds([phrase], ("config", "h1", 60, 70, "warning")), [])

    def test_nowhere_else_spares_the_expected_host(self):
        phrases = ["link down at h5", "link down nowhere else"]
        self.assertEqual(holds(phrases, ("link_down", "h5", 50, 70)), [])
        self.assertEqual(holds(phrases, ("link_down", "h5", 50, 70),
                               ("link_down", "h6", 50, 70, "warning")), phrases[1:])

    def test_major_before_the_fault_and_unexpected_major(self):
        self.assertEqual(holds(["nothing major before"], ("optics", "h1", 30, 40)),
                         ["nothing major before", "nothing else above warning"])
        self.assertEqual(holds(["nothing major before"], ("optics", "h1", 30, 40, "warning")), [])
        self.assertEqual(holds(["no major or critical finding"], ("optics", "h1", 30, 40, "info")), [])

    def test_losses_elsewhere_are_the_faults_doing_for_half_a_minute(self):
        self.assertEqual(holds([], ("path_loss", "h1", 159, None)), [])
        self.assertEqual(holds([], ("path_loss", "h1", 161, None)), ["nothing else above warning"])
        self.assertEqual(holds(["may be path_loss"], ("path_loss", "h1", 161, None)), [])

    def test_culprit_is_not_its_own_victim(self):
        phrase = "culprit is not called blocked"
        self.assertIn(phrase, holds([phrase], ("egress_blocked", "h5", 60, None)))
        self.assertNotIn(phrase, holds([phrase], ("egress_blocked", "h6", 60, None)))


class EndTest(unittest.TestCase):
    def test_over_counts_from_the_end_of_the_fault(self):
        phrases = ["storm_source at h5 within 3 s", "over within 60 s after the end"]
        self.assertEqual(holds(phrases, ("storm_source", "h5", 51, 189)), [])
        self.assertEqual(holds(phrases, ("storm_source", "h5", 51, 191)), phrases[1:])

    def test_clearing_is_no_longer_active(self):
        lines = [line(51, "storm_source", "h5", "active"), line(140, "storm_source", "h5", "clearing")]
        (verdict,) = verdicts_of(lines)
        self.assertEqual((verdict.active_at(139.9), verdict.active_at(140)), (True, False))
        self.assertIsNone(verdict.end)

    def test_flapping_is_more_than_two_incidents(self):
        twice = [("congestion", "h1", 60 + 20 * i, 70 + 20 * i, "warning") for i in range(2)]
        self.assertEqual(holds(["no flapping"], *twice), [])
        thrice = twice + [("congestion", "h1", 110, 120, "warning")]
        self.assertEqual(holds(["no flapping"], *thrice), ["no flapping"])

    def test_raising_the_severity_is_no_second_incident(self):
        lines = [line(51, "egress_blocked", "h1", "active", "major"),
                 line(60, "egress_blocked", "h1", "active", "critical")]
        (verdict,) = verdicts_of(lines)
        self.assertEqual(verdict.raised, [(51.0, "major"), (60.0, "critical")])
        self.assertEqual((verdict.at_least("major"), verdict.at_least("critical")), (51.0, 60.0))

    def test_an_unknown_phrase_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "no such phrase: all is well"):
            judge(["all is well"])


def port(duties, received=0, step=0.1):
    """Rows of a port: tx pause as those shares of each step."""
    rows, paused, got = [], 0.0, 0
    for number, duty in enumerate([0.0] + duties):
        paused += duty * step * 1e6
        got += received
        rows.append({"seconds": number * step, "tor": "s0", "host": "h1",
                     "pfc_tx_pause_duration_us": round(paused), "prio_rx_bytes": got})
    return rows


class OracleTest(unittest.TestCase):
    def test_four_full_polls_are_a_storm_to_both_rules_and_three_are_not(self):
        for rule in ("old", "new"):
            self.assertEqual(oracle.storms(port([1.0] * 4), rule, 0.1), [0.4])
            self.assertEqual(oracle.storms(port([1.0] * 3), rule, 0.1), [])

    def test_nine_tenths_are_enough_for_the_old_rule_only(self):
        self.assertEqual(len(oracle.storms(port([0.9] * 6), "old", 0.1)), 3)
        self.assertEqual(oracle.storms(port([0.9] * 6), "new", 0.1), [])

    def test_a_packet_that_arrives_ends_it(self):
        for rule in ("old", "new"):
            self.assertEqual(oracle.storms(port([1.0] * 9, received=1), rule, 0.1), [])

    def test_a_late_poll_is_a_storm_to_the_old_rule_alone(self):
        # 0.1 s of pause in each of 0.2 s, where polls were assumed to be 0.1 s apart.
        rows = port([0.5] * 8, step=0.2)
        self.assertNotEqual(oracle.storms(rows, "old", 0.1), [])
        self.assertEqual(oracle.storms(rows, "new", 0.1), [])

    def test_a_counter_that_went_back_starts_anew(self):
        rows = port([1.0] * 8)
        rows[3]["pfc_tx_pause_duration_us"] = 0
        self.assertEqual(oracle.storms(rows[:4], "new", 0.1), [])


class FleetTest(unittest.TestCase):
    def test_notation_shortens_runs(self):
        self.assertEqual(fleet.notation([None, None, 1, 1, 1, 0]), "_x2 1x2 0")
        self.assertEqual(fleet.notation([0.5]), "0.5")

    def test_series_of_a_finding_and_of_a_host_that_fell_silent(self):
        rows = port([0.0] * 40)
        verdicts = verdicts_of([line(1.0, "egress_blocked", "h1", "active"),
                                line(3.5, "egress_blocked", "h1", "ok")])
        series = fleet.series_of("t", {"h1": rows}, verdicts, 12)
        by_name = {name.split("{")[0]: values for name, values in series.items()}
        self.assertEqual(by_name["rdmapulse_finding"], [None, 1, 0, 0, None, None])
        self.assertEqual(by_name["up"], [1, 1, 1, 1, None, None])

    def test_the_highest_pause_of_ten_seconds(self):
        rows = port([0.0, 1.0] + [0.0] * 18, step=1.0)
        self.assertEqual(fleet.pause_maxima(rows, 16), [0, 1, 1, 1, 1, 1, 0, 0])

    def test_times_of_promtool(self):
        self.assertEqual([fleet._seconds(t) for t in ("30s", "1m30s", "500ms")], [30, 90, 0.5])


if __name__ == "__main__":
    cases.main()
