#!/usr/bin/env python3
"""What the rules promise beside what they compute: names, severities, runbooks, documents, metrics that
exist, inputs that are watched, a configuration that Alertmanager takes.

  contract_test.py RULES.YML ALERTMANAGER.YML ALERTS.MD METRICS.MD QUERIES.MD RUNBOOK… [BOARD…]
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import yaml

from cases import Cases

ALERTS = {
    "PFCStorm", "PFCDeadlock", "PFCBlockedRootUnknown", "PFCBlockedOneToR", "PFCVictimsOfStorm",
    "ToRSuspect", "PriorityOnlyFailure", "PausesWithoutECN", "LinkDown", "LinkFlap", "PFCPauseSpike",
    "CongestionMarks", "LosslessRetransmits", "ProbeLoss", "ProbeRTTRegression", "OpticsFailing",
    "ConfigMismatch", "CounterSaturated", "AgentMissing", "MetricMissing",
}
CONDITIONS = {
    "storm_source", "egress_blocked", "deadlock_candidate", "watchdog_cut", "slow_receiver",
    "rnr_starved", "congestion", "hol_victim", "lossless_loss", "path_loss", "link_down", "link_flap",
    "optics", "config", "ib_credit", "iwarp_retx", "peer_down", "peer_overloaded", "agent_restart",
    "device_lost",
}
NOT_ALERTED = {"peer_down", "peer_overloaded", "agent_restart"}
SEVERITIES = {"info", "warning", "major", "critical"}
# Inputs whose absence says something else than that an alert is blind: what names the hosts (its absence
# is AgentMissing), what is there only while it is true, what is configured, what only sharpens a
# threshold.
UNWATCHED = {"rdmapulse_agent_info", "rdmapulse_finding", "rdmapulse_counter_quality",
             "rdmapulse_expected_agents", "rdmapulse_rdma_devices", "rdmapulse_port_info",
             "rdmapulse_port_rate_bytes_per_second"}
FAMILY = re.compile(r"\brdmapulse_[a-z0-9_]+")
RECORDED = re.compile(r"\brdmapulse:[a-z0-9_:]+")


class Contract:
    def __init__(self, rules, alertmanager, alerts, metrics, queries, *others):
        self.rules = [rule for group in yaml.safe_load(rules.read_text())["groups"]
                      for rule in group["rules"]]
        self.alerting = [rule for rule in self.rules if "alert" in rule]
        self.rules_path, self.alertmanager_path = rules, alertmanager
        self.alerts, self.metrics, self.queries = (file.read_text() for file in (alerts, metrics, queries))
        self.table = self.alerts.split("## The alerts", 1)[1].split("## Who inhibits", 1)[0]
        self.runbooks = {file.stem: file.read_text() for file in others if file.suffix == ".md"}
        self.boards = [file.read_text() for file in others if file.suffix == ".json"]

    # Each returns what is wrong, as a list.

    def promtool_takes_the_rules(self):
        done = subprocess.run(["promtool", "check", "rules", "--lint-fatal", str(self.rules_path)],
                              capture_output=True, text=True)
        return [] if done.returncode == 0 else [done.stdout + done.stderr]

    def amtool_takes_the_routes(self):
        done = subprocess.run(["amtool", "check-config", str(self.alertmanager_path)],
                              capture_output=True, text=True)
        return [] if done.returncode == 0 else [done.stdout + done.stderr]

    def the_alerts_are_those_of_the_contract(self):
        return sorted(ALERTS ^ {rule["alert"] for rule in self.alerting})

    def each_alert_has_a_severity_and_words(self):
        return [f"{rule['alert']}: {rule.get('labels')}" for rule in self.alerting
                if rule["labels"].get("severity") not in SEVERITIES
                or not rule["annotations"]["summary"].strip()
                or not rule["annotations"]["description"].strip()]

    def each_alert_links_to_its_runbook(self):
        return [f"{rule['alert']}: {rule['annotations'].get('runbook_url')}" for rule in self.alerting
                if rule["annotations"].get("runbook_url")
                != f"https://rdmapulse.example.net/docs/runbooks/{rule['alert']}.md"
                or rule["alert"] not in self.runbooks]

    def each_runbook_belongs_to_an_alert_and_says_all_three(self):
        wrong = sorted(set(self.runbooks) - ALERTS)
        for name, text in self.runbooks.items():
            headings = re.findall(r"^#+ .*$", text, re.MULTILINE)
            if headings != [f"# {name}", "## What it means", "## What to check", "## How to mend it"]:
                wrong.append(f"{name}: {headings}")
            wrong += [f"{name} links to {link}" for link in re.findall(r"\]\((\w+)\.md\)", text)
                      if link not in self.runbooks]
        return wrong

    def documented_severities_are_those_of_the_rules(self):
        documented, name = set(), None
        for row in re.findall(r"^\|([^|\n]*)\|([^|\n]*)\|[^|\n]*\|.*\|[^|\n]*\|$", self.table,
                              re.MULTILINE):
            if "`" in row[0]:
                name = row[0].strip(" `")
            if name in ALERTS:
                documented |= {(name, word.strip()) for word in row[1].split(",")}
        return sorted(documented ^ {(rule["alert"], rule["labels"]["severity"])
                                    for rule in self.alerting})

    def documented_times_are_those_of_the_rules(self):
        """`for` and `keep_firing_for`, as sets a name: a row may stand for two severities."""
        documented, name = {}, None
        for first, last in re.findall(r"^\|([^|\n]*)\|.*\|([^|\n]*)\|$", self.table, re.MULTILINE):
            if "`" in first:
                name = first.strip(" `")
            if name in ALERTS:
                waits, _, kept = last.strip().partition(", kept ")
                documented.setdefault(name, set()).add((waits, kept or "0"))
        short = {"0": "0", "1h": "1 h"}
        actual = {}
        for rule in self.alerting:
            times = tuple(short.get(text, re.sub(r"(\d+)(s|m)$", lambda m: m[1] + (
                " s" if m[2] == "s" else " min"), text))
                for text in (rule.get("for", "0"), rule.get("keep_firing_for", "0")))
            actual.setdefault(rule["alert"], set()).add(times)
        return [f"{name}: documented {sorted(documented.get(name, ()))}, in the rules {sorted(times)}"
                for name, times in actual.items() if documented.get(name) != times]

    def expressions(self):
        for rule in self.rules:
            yield rule.get("alert") or rule["record"], rule["expr"]

    def each_family_exists(self):
        known = set(FAMILY.findall(self.metrics))
        wrong = []
        for where, expr in self.expressions():
            for name in FAMILY.findall(self.without_inputs(expr)):
                if name not in known and re.sub(r"_(bucket|sum|count)$", "", name) not in known:
                    wrong.append(f"{where}: {name}")
        return wrong

    @staticmethod
    def without_inputs(expr):
        """Without the regular expression over names and the names that stand in label values."""
        return re.sub(r'"[^"]*"', '""', expr)

    def each_input_is_watched(self):
        exprs = [rule["expr"] for rule in self.rules if rule.get("record") == "rdmapulse:inputs:series"]
        pattern = "|".join(name for expr in exprs for name in
                           re.findall(r'__name__=~"([^"]+)"', expr) + FAMILY.findall(expr))
        used = set().union(*(FAMILY.findall(self.without_inputs(expr)) for _, expr in self.expressions()))
        # The number of findings stands for the findings, which are there only while they hold, and a
        # histogram's count for its sum.
        used.add("rdmapulse_findings_total")
        used = {re.sub("_seconds_sum$", "_seconds_count", name) for name in used}
        wrong = [f"{name} is not watched" for name in sorted(used - UNWATCHED)
                 if not re.fullmatch(pattern, name)]
        watched = set(re.findall(r"^\| `(rdmapulse_\w+)`", self.metrics, re.MULTILINE))
        watched |= {f"{name}_{end}" for name in watched for end in ("sum", "count")}
        wrong += [f"{name} is watched and no rule needs it"
                  for name in sorted({name for name in watched if re.fullmatch(pattern, name)} - used)]
        return wrong

    def each_recorded_series_is_defined_and_used(self):
        defined = {rule["record"] for rule in self.rules if "record" in rule}
        used = {}
        for where, expr in self.expressions():
            for name in RECORDED.findall(expr):
                used.setdefault(name, set()).add(where)
        for text in (self.queries, *self.boards, *self.runbooks.values(),
                     *(json.dumps(rule["annotations"]) for rule in self.alerting)):
            for name in RECORDED.findall(text):
                used.setdefault(name, set()).add("a document")
        return ([f"{name} is not defined" for name in sorted(set(used) - defined)]
                + [f"{name} is not used" for name in sorted(defined) if not used.get(name, set()) - {name}])

    def each_condition_has_an_alert_or_a_reason(self):
        used = set()
        for _, expr in self.expressions():
            for text in re.findall(r'condition=~?"([^"]*)"', expr):
                used |= set(text.split("|"))
        return sorted((used ^ CONDITIONS) - NOT_ALERTED) + sorted(used & NOT_ALERTED)

    def every_join_is_guarded_against_a_target_described_twice(self):
        return [where for where, expr in self.expressions()
                if re.search(r"group_left \([^)]*\)\s+rdmapulse_agent_info", expr)]


def main():
    contract = Contract(*(Path(name) for name in sys.argv[1:]))
    cases = Cases("rules_contract")
    for name in [name for name in vars(Contract) if not name.startswith("_")
                 and name not in ("expressions", "without_inputs")]:
        wrong = getattr(contract, name)()
        cases.add(name, not wrong, "\n".join(wrong))
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
