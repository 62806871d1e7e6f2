#!/usr/bin/env python3
"""Runs the scenarios of the alert rules in promtool, and makes sure that they can fail.

  rules_test.py RULES [WORD…]    only the scenarios whose name has one of the words

Under Bazel each scenario is a test case of its own ($XML_OUTPUT_FILE).
"""

import concurrent.futures
import os
import sys
import tempfile
from pathlib import Path

import fleet_scenarios  # noqa: F401  (each registers its scenarios)
import pause_scenarios  # noqa: F401
import port_scenarios  # noqa: F401
import probe_scenarios  # noqa: F401
from cases import Cases
from scenario import SCENARIOS, alert_names, fired_by, run

# Guards without which the rules would lie: (what stands in the rules, what is put there instead, the
# scenario that must then fail). Each `what` stands there exactly once.
PLANTED = [
    ("\n            unless on (fabric) rdmapulse:fabric:unheard)", ")",
     "blocked_with_a_silent_agent_has_an_unknown_root"),
    ("(rdmapulse:agents:newly_silent > 0)\n            or on (fabric)", "",
     "one_silent_agent_of_forty_still_makes_the_root_unknown"),
    ("(rdmapulse:agents:reporting_ratio < 0.95)", "(rdmapulse:agents:reporting_ratio < 0.5)",
     "too_few_agents_of_those_expected_make_the_root_unknown"),
    ("rdmapulse:blocked:since <= on (fabric) group_left () rdmapulse:agents:all_heard_at",
     "rdmapulse:blocked:since", "a_deadlock_waits_for_agents_that_are_scraped_rarely"),
    ("or (rdmapulse:blocked_hosts:count and on (fabric) rdmapulse:tx_pausers:count{priority=\"\"})", "",
     "a_pauser_that_names_no_priority_explains_every_priority"),
    ("rdmapulse_pfc_pause_ratio_max{direction=\"tx\"}", "rdmapulse_pfc_pause_ratio_max",
     "being_paused_is_not_pausing"),
    ("max_over_time(rdmapulse_agent_info[15m]) unless on (job, instance) rdmapulse_agent_info\n",
     "max_over_time(rdmapulse_agent_info[15m])\n", "a_target_that_says_another_host_name_is_not_silent"),
    (" and on (job, instance, device, port) rdmapulse:port:was_up)", ")",
     "a_spare_port_that_never_worked_is_none"),
    (" and rdmapulse:probes:ran offset 4m", "",
     "a_restarted_peer_right_after_the_start_is_no_loss"),
    ("and (count_over_time(rdmapulse_link_down_total[10m]) >= 5))", ")",
     "one_flap_right_after_the_start_is_not_two"),
    ("quantile_over_time(0.5, rdmapulse:probe_rtt_seconds:mean1m[6m])",
     "max_over_time(rdmapulse:probe_rtt_seconds:mean1m[6m])",
     "a_peak_of_a_minute_is_no_slow_path"),
    ("and on (fabric, dst_tor) (rdmapulse:probe_bad_ratio:dst_tor{class=\"control\"} <= 0.02)",
     "unless on (fabric, dst_tor) (rdmapulse:probe_bad_ratio:dst_tor{class=\"control\"} > 0.02)",
     "without_a_control_class_nothing_says_that_only_a_priority_fails"),
    ("and (max_over_time(rdmapulse:ecn_marked:tor_rate2m[1h]) == 0)",
     "unless (max_over_time(rdmapulse:ecn_marked:tor_rate2m[1h]) > 0)",
     "pause_for_hours_without_one_mark_is_an_alert"),
]


def run_scenarios(rules, names, cases):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, (good, said) in zip(names, pool.map(lambda name: run(name, rules), names)):
            cases.add(name, good, said)


def covered(rules):
    """Every alert fires in some scenario. That it is silent in others is part of every check."""
    fired = set().union(*(fired_by(name) for name in SCENARIOS))
    left = alert_names(rules) ^ fired
    return not left, f"alerts that no scenario fires, or that are not in the rules: {sorted(left)}"


def planted(rules, number):
    """A scenario fails when the guard that it tests is taken out of the rules."""
    found, instead, name = PLANTED[number]
    text = Path(rules).read_text(encoding="utf-8")
    if text.count(found) != 1:
        return False, f"stands {text.count(found)} times in the rules: {found}"
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(text.replace(found, instead))
        file.flush()
        good, said = run(name, file.name)
    if "FAILED" not in said or good:
        return False, f"{name} passes without the guard, or fails for another reason:\n{said}"
    return "got:" in said, f"{name} fails for another reason than its alerts:\n{said}"


def main():
    rules, words = sys.argv[1], sys.argv[2:]
    cases = Cases("rules")
    run_scenarios(rules, [name for name in SCENARIOS
                          if not words or any(word in name for word in words)], cases)
    if not words:
        cases.add("every_alert_fires_in_some_scenario", *covered(rules))
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            numbers = range(len(PLANTED))
            for number, result in zip(numbers, pool.map(lambda n: planted(rules, n), numbers)):
                cases.add(f"without_its_guard_fails_{PLANTED[number][2]}", *result)
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
