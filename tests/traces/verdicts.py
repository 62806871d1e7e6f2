"""What `rdmapulse replay --json` said of a trace, as incidents with a beginning and an end."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SEVERITIES = ("info", "warning", "major", "critical")
FIRING = ("active", "clearing")


class ReplayError(Exception):
    """The program failed, or said something that is no transition."""


@dataclass
class Verdict:
    """One condition at one subject from when it became active until it was `ok` again."""

    condition: str
    host: str
    peer: str
    start: float
    severity: str
    confidence: float
    end: float = None  # None: still firing when the trace ended.
    last_active: float = None  # When it began to clear; None: never.
    raised: list = field(default_factory=list)  # (time, severity), the first included.
    explained: bool = False  # By another finding at that host, from the beginning on.

    def at_least(self, severity):
        """When it reached that severity; None if it never did."""
        least = SEVERITIES.index(severity)
        return next((time for time, value in self.raised if SEVERITIES.index(value) >= least), None)

    def active_at(self, time):
        until = self.last_active if self.last_active is not None else self.end
        return self.start <= time and (until is None or time < until)


def verdicts_of(transitions):
    """Transitions (design.md 5.3), in the order of their times, as a list of Verdict."""
    found, firing = [], {}
    for line in transitions:
        time = line["time_us"] / 1e6
        key = tuple(line.get(name) for name in ("host", "device", "port", "priority", "peer", "class",
                                                "condition"))
        current = firing.get(key)
        if line["state"] == "active":
            if current is None:
                current = Verdict(line["condition"], line["host"], line.get("peer"), time,
                                  line["severity"], line["confidence"],
                                  explained=line.get("explained_by") is not None)
                firing[key] = current
                found.append(current)
            current.raised.append((time, line["severity"]))
            current.last_active = None
        elif current is not None and line["state"] == "clearing":
            current.last_active = time
        elif current is not None:
            current.end = time
            if current.last_active is None:
                current.last_active = time
            del firing[key]
    return found


def replay(program, folder):
    """Runs the program on a trace folder, with its rdmapulse.yaml if there is one; returns its
    transitions."""
    command = [program, "replay", str(folder), "--json"]
    config = Path(folder, "rdmapulse.yaml")
    if config.exists():
        command += ["--config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReplayError(f"replay of {folder} ended with {done.returncode}: {done.stderr.strip()}")
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise ReplayError(f"replay of {folder}: no JSON line: {error}") from error
