"""What the shipped Prometheus rules say of a trace: its findings and pauses as the series that a scrape
of every host would give, through `promtool test rules`.

promtool compares; it does not list. So each question is a test that expects no alert, and what
promtool then says it got is the answer.
"""

import json
import math
import re
import subprocess
import tempfile
from pathlib import Path

import yaml

from rows import increase

SCRAPE_SECONDS = 2  # detection.md 2.2a: scrape and rule interval of the deadlock rule.
TX_WINDOW_SECONDS = 10.0


def pause_maxima(port, seconds):
    """rdmapulse_pfc_pause_ratio_max{direction="tx"} at each scrape: the highest of the last 10 s."""
    duties = []
    for before, after in zip(port, port[1:]):
        elapsed = after["seconds"] - before["seconds"]
        paused = increase(before, after, "pfc_tx_pause_duration_us")
        if elapsed > 0 and paused is not None:
            duties.append((after["seconds"], min(1.0, paused / 1e6 / elapsed)))
    values = []
    for scrape in range(0, int(seconds), SCRAPE_SECONDS):
        recent = [d for at, d in duties if scrape - TX_WINDOW_SECONDS < at <= scrape]
        values.append(max(recent, default=0.0))
    return values


def series_of(trace, ports, verdicts, seconds):
    """Input series of one trace: `name{labels}` -> a value, or None for no sample, each scrape."""
    scrapes = range(0, int(seconds), SCRAPE_SECONDS)
    series = {}
    last = {host: port[-1]["seconds"] for host, port in ports.items()}

    def put(name, host, labels, values):
        text = ",".join(f'{k}="{v}"' for k, v in
                        {"job": "rdmapulse", "instance": f"{host}.{trace}", **labels}.items())
        series[f"{name}{{{text}}}"] = [
            value if scrape <= last[host] + SCRAPE_SECONDS else None
            for scrape, value in zip(scrapes, values)]

    for host, port in ports.items():
        put("rdmapulse_agent_info", host,
            {"host": host, "fabric": "trace", "tor": port[0].get("tor", "t0")}, [1] * len(scrapes))
        put("up", host, {}, [1] * len(scrapes))
        put("rdmapulse_expected_agents", host, {"fabric": "trace"}, [len(ports)] * len(scrapes))
        put("rdmapulse_pfc_pause_ratio_max", host,
            {"device": "mlx5_0", "port": "1", "priority": "3", "direction": "tx"},
            pause_maxima(port, seconds))
    firing = {}
    for verdict in verdicts:
        key = (verdict.host, verdict.condition, verdict.raised[-1][1], verdict.peer)
        firing.setdefault(key, []).append(
            (verdict.start, math.inf if verdict.end is None else verdict.end))
    for (host, condition, severity, peer), spans in firing.items():
        labels = {"condition": condition, "severity": severity, "device": "mlx5_0", "port": "1",
                  "priority": "3", **({"peer": peer} if peer else {})}
        put("rdmapulse_finding", host, labels, [_value(spans, scrape) for scrape in scrapes])
    return series


def _value(spans, time):
    """1 while it fires, 0 after that, no sample before the first time."""
    if any(since <= time < until for since, until in spans):
        return 1
    return 0 if any(until <= time for _, until in spans) else None


def notation(values):
    """promtool's: `_` for no sample, runs shortened."""
    parts, previous, count = [], object(), 0

    def flush():
        if count:
            text = "_" if previous is None else f"{previous:g}"
            parts.append(text if count == 1 else
                         f"{text}x{count}" if previous is None else f"{text}x{count - 1}")
    for value in values:
        if value == previous and not (value is None) ^ (previous is None):
            count += 1
            continue
        flush()
        previous, count = value, 1
    flush()
    return " ".join(parts)


def needed(rules, alert):
    """The shipped groups, cut down to one alert and what is recorded for it: the rest takes minutes."""
    groups = yaml.safe_load(Path(rules).read_text(encoding="utf-8"))["groups"]
    by_name = {rule.get("record") or rule["alert"]: rule for group in groups for rule in group["rules"]}
    wanted, waiting = set(), [alert]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [other for other in by_name if "record" in by_name[other] and
                        re.search(rf"(?<![\w:]){re.escape(other)}(?![\w:])", by_name[name]["expr"])]
    cut = [{**group, "rules": [rule for rule in group["rules"]
                               if (rule.get("record") or rule["alert"]) in wanted]}
           for group in groups]
    return {"groups": [group for group in cut if group["rules"]]}


def ask(rules, traces, alert):
    """Trace -> seconds at which the alert fires, of {trace: (series, seconds)}."""
    groups = []
    for trace, (series, seconds) in traces.items():
        groups.append({
            "name": trace, "interval": f"{SCRAPE_SECONDS}s",
            "input_series": [{"series": name, "values": notation(values)}
                             for name, values in series.items()],
            "alert_rule_test": [{"eval_time": f"{at}s", "alertname": alert, "exp_alerts": []}
                                for at in range(0, int(seconds), SCRAPE_SECONDS)]})
    with tempfile.TemporaryDirectory() as folder:
        test, cut = Path(folder, "trace_test.yml"), Path(folder, "rules.yml")
        cut.write_text(json.dumps(needed(rules, alert)), encoding="utf-8")
        test.write_text(json.dumps({"rule_files": [str(cut)],
                                    "evaluation_interval": f"{SCRAPE_SECONDS}s", "tests": groups}),
                        encoding="utf-8")
        done = subprocess.run(["promtool", "test", "rules", str(test)], capture_output=True,
                              text=True, check=False)
    return _fired(done.stdout + done.stderr, traces, alert)


def _fired(output, traces, alert):
    if "SUCCESS" not in output and "FAILED" not in output:
        raise RuntimeError(f"promtool did not test: {output.strip()[:500]}")
    fired, trace = {name: [] for name in traces}, None
    for line in output.splitlines():
        named = re.search(r"name: (.*?),?\s*$", line)
        if named and named.group(1) in traces:
            trace = named.group(1)
        at = re.search(rf"alertname: ?{alert}, time: ?(\S+?),", line)
        if at and trace:
            fired[trace].append(_seconds(at.group(1)))
    return fired


def _seconds(text):
    """promtool writes 1m30s."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}
    return sum(float(n) * units[u] for n, u in re.findall(r"([0-9.]+)(ms|h|m|s)", text))
