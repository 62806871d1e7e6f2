"""Unit tests of the alert rules, written as scenarios: hosts, what they export, and which alerts fire
when. Each runs in `promtool test rules`; a check compares *all* firing alerts with their labels, so
that every check of one alert is a check that the others are silent.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import yaml

SCENARIOS = {}


def scenario(interval="2s", evaluation=None):
    """Registers `function(s)`; its name is the sentence. `interval`: of scrapes; `evaluation`: of rules."""

    def register(function):
        if function.__name__ in SCENARIOS:
            raise ValueError(f"two scenarios are called {function.__name__}")
        SCENARIOS[function.__name__] = (function, interval, evaluation or interval)
        return function

    return register


def alert(alertname, severity, /, **labels):
    labels = {**labels, "alertname": alertname, "alertstate": "firing", "severity": severity}
    return selector("ALERTS", {name.rstrip("_"): value for name, value in labels.items()})


def selector(metric, labels):
    """Labels without a value are left out, as the daemon does."""
    pairs = ",".join(f"{name}={json.dumps(str(value))}" for name, value in sorted(labels.items())
                     if value not in (None, ""))
    return f"{metric}{{{pairs}}}"


class Host:
    def __init__(self, scenario_, target):
        self._scenario, self._target = scenario_, target

    def add(self, metric, values, **labels):
        """`values` in promtool's notation: `1x5` is six times 1, `0+2x5` counts up by 2, `_` nothing.
        A label that is a keyword of Python (class) is written with an underscore behind it."""
        labels = {name.rstrip("_"): value for name, value in labels.items()}
        self._scenario.inputs.append({"series": selector(metric, {**labels, **self._target}),
                                      "values": values})
        return self

    def finding(self, condition, values, severity="critical", **labels):
        return self.add("rdmapulse_finding", values, condition=condition, severity=severity, **labels)


class Scenario:
    def __init__(self):
        self.inputs, self.checks = [], []

    def host(self, name, tor="t1", fabric="f1", info="1x2000", job="rdmapulse", instance=None):
        """`info`: the values of its rdmapulse_agent_info; None leaves it out."""
        host = Host(self, {"job": job, "instance": instance or f"{name}:9936"})
        if info is not None:
            host.add("rdmapulse_agent_info", info, host=name, tor=tor, fabric=fabric, version="1")
        return host

    def firing(self, at, *alerts):
        """At this time exactly these alerts fire."""
        self.checks.append({
            "expr": 'ALERTS{alertstate="firing"}', "eval_time": at,
            "exp_samples": [{"labels": labels, "value": 1} for labels in alerts]})

    def value(self, at, expr, *samples):
        """At this time the expression has exactly these samples: (selector, value)."""
        self.checks.append({
            "expr": expr, "eval_time": at,
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples]})


def build(name):
    function, _, _ = SCENARIOS[name]
    made = Scenario()
    function(made)
    if not made.checks or not made.inputs:
        raise ValueError(f"{name} checks nothing")
    return made


def fired_by(name):
    """The names of the alerts that the scenario says fire."""
    found = set()
    for check in build(name).checks:
        for sample in check["exp_samples"]:
            if sample["labels"].startswith("ALERTS{"):
                found.add(sample["labels"].split('alertname="', 1)[1].split('"', 1)[0])
    return found


def groups_of(rules):
    return yaml.safe_load(Path(rules).read_text(encoding="utf-8"))["groups"]


def alert_names(rules):
    return {rule["alert"] for group in groups_of(rules) for rule in group["rules"] if "alert" in rule}


def run(name, rules):
    """Returns (whether promtool agrees, what it says)."""
    _, interval, evaluation = SCENARIOS[name]
    made = build(name)
    document = {
        "rule_files": [str(Path(rules).resolve())],
        "evaluation_interval": evaluation,
        "group_eval_order": [group["name"] for group in groups_of(rules)],
        "tests": [{"interval": interval, "input_series": made.inputs,
                   "promql_expr_test": made.checks}],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)  # JSON is YAML
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True,
                              timeout=300)
    return done.returncode == 0, (done.stdout + done.stderr).strip()
