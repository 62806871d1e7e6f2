"""The words of `expected_findings` in a truth.yaml, and what each of them demands.

`judge` returns the phrases that do not hold, the events that had to be found with how they were, and
the verdicts that nothing allows. Times are seconds of the trace.
"""

import re
from dataclasses import dataclass, field

BLOCKED = ("egress_blocked", "deadlock_candidate")
LOSS = ("lossless_loss", "path_loss")
VICTIM = ("hol_victim", "congestion")
NETWORK = BLOCKED + LOSS + VICTIM + ("storm_source", "watchdog_cut", "slow_receiver", "rnr_starved",
                                     "ib_credit", "iwarp_retx")
EARLY = 1.0  # A fault between two readings may be seen with the second, dated by the first.
AFTERMATH = 30.0  # Losses elsewhere for that long after a fault are its doing.
FLAPS = 4  # Changes of one condition at one host, beginning and end counted, before it flaps.


@dataclass
class Event:
    """Something that had to be found."""

    conditions: tuple
    host: str
    peer: str
    start: float
    end: float
    within: float
    verdict: object = None  # The one that found it.

    def covers(self, verdict):
        return verdict.condition in self.conditions and verdict.host == self.host and \
            self.peer in (None, verdict.peer) and verdict.start >= self.start - EARLY

    @property
    def delay(self):
        return None if self.verdict is None else max(0.0, self.verdict.start - self.start)


@dataclass
class Judgement:
    broken: list = field(default_factory=list)  # (phrase, why)
    events: list = field(default_factory=list)
    right: list = field(default_factory=list)  # Verdicts that an expectation covers.
    wrong: list = field(default_factory=list)  # Of warning or more, that nothing allows.
    allowed: list = field(default_factory=list)  # True of the trace, though nobody asked.


class Judge:
    def __init__(self, truth, verdicts, seconds):
        self.truth, self.verdicts, self.seconds = truth, verdicts, seconds
        self.start = truth["start_s"] if truth["start_s"] is not None else float("inf")
        self.end = truth["end_s"] if truth["end_s"] is not None else seconds
        self.result = Judgement()
        self.may, self.groups = set(), []
        self.phrase = None

    def judge(self):
        for self.phrase in self.truth["expected_findings"]:
            for pattern, check in PHRASES:
                match = re.fullmatch(pattern, self.phrase)
                if match:
                    check(self, *match.groups())
                    break
            else:
                raise ValueError(f"truth of {self.truth['name']}: no such phrase: {self.phrase}")
        self._sort_verdicts()
        return self.result

    # ---- helpers of the checks

    def broke(self, why):
        self.result.broken.append((self.phrase, why))

    def of(self, conditions, host=None):
        return [v for v in self.verdicts
                if v.condition in conditions and host in (None, v.host)]

    def expected_hosts(self, conditions):
        return {e.host for e in self.result.events if set(conditions) & set(e.conditions)}

    def none_of(self, conditions, but=()):
        for verdict in self.of(conditions):
            if verdict.host not in but:
                self.broke(said(verdict))

    def event(self, conditions, host, peer, start, end, within):
        event = Event(tuple(conditions), host, peer, start, end, within)
        self.result.events.append(event)
        seen = sorted((v for v in self.verdicts if event.covers(v)), key=lambda v: v.start)
        if seen and seen[0].start <= start + within:
            event.verdict = seen[0]
        else:
            self.broke(f"first said at {seen[0].start:.2f} s" if seen else "never said")

    def at_hosts(self, conditions, count, until):
        hosts = {v.host for v in self.of(conditions) if self.start - EARLY <= v.start <= until}
        self.groups.append(conditions)
        if len(hosts) < count:
            self.broke(f"at {len(hosts)} hosts: {' '.join(sorted(hosts))}")

    # ---- which verdict is right, allowed or wrong

    def _sort_verdicts(self):
        self.phrase = "nothing else above warning"
        for verdict in self.verdicts:
            if any(event.covers(verdict) for event in self.result.events) or \
                    any(verdict.condition in group and verdict.start >= self.start - EARLY
                        for group in self.groups):
                self.result.right.append(verdict)
            elif verdict.condition in self.may or self._aftermath(verdict) or \
                    (verdict.explained and verdict.at_least("major") is None):
                self.result.allowed.append(verdict)
            elif verdict.at_least("warning") is not None:
                self.result.wrong.append(verdict)
                if verdict.at_least("major") is not None:
                    self.broke(said(verdict))

    def _aftermath(self, verdict):
        return verdict.condition in LOSS and self.truth["start_s"] is not None and \
            self.start - EARLY <= verdict.start <= self.end + AFTERMATH


def said(verdict):
    peer = f" about {verdict.peer}" if verdict.peer else ""
    return f"{verdict.condition} at {verdict.host}{peer} from {verdict.start:.2f} s, " \
        f"{verdict.raised[-1][1]}"


# ---- the checks, one a phrase

def no_major(judge):
    for verdict in judge.verdicts:
        if verdict.at_least("major") is not None:
            judge.broke(said(verdict))


def nothing_major_before(judge):
    for verdict in judge.verdicts:
        time = verdict.at_least("major")
        if time is not None and time < judge.start - EARLY:
            judge.broke(said(verdict))


def quiet_before(judge):
    nothing_major_before(judge)
    for verdict in judge.of(LOSS):
        if verdict.start < judge.start - EARLY:
            judge.broke(said(verdict))


def not_called_blocked(judge):
    host = judge.truth["root_cause"]
    for verdict in judge.of(BLOCKED, host):
        judge.broke(said(verdict))


def no_flapping(judge):
    changes = {}
    for verdict in judge.verdicts:
        key = (verdict.condition, verdict.host, verdict.peer)
        changes[key] = changes.get(key, 0) + (1 if verdict.end is None else 2)
    for (condition, host, _), count in changes.items():
        if count > FLAPS:
            judge.broke(f"{condition} at {host} changed {count} times")


def over(judge, seconds=None):
    at = judge.seconds if seconds is None else judge.end + float(seconds)
    conditions = {c for event in judge.result.events for c in event.conditions} | \
        {c for group in judge.groups for c in group}
    for verdict in judge.of(conditions):
        if verdict.active_at(min(at, judge.seconds)):
            judge.broke("still active: " + said(verdict))


def still_blocked(judge):
    blocked = {v.host for v in judge.of(BLOCKED)}
    now = {v.host for v in judge.of(BLOCKED) if v.active_at(judge.seconds)}
    if not blocked or len(now) < 0.8 * len(blocked):
        judge.broke(f"{len(now)} of {len(blocked)} hosts are")


def link_back(judge):
    for verdict in judge.of(("link_down",)):
        if verdict.active_at(judge.seconds):
            judge.broke("still active: " + said(verdict))


def found(judge, conditions, host, peer, start, end, within):
    judge.event(conditions.split(" or "), host, peer,
                judge.start if start is None else float(start),
                judge.end if end is None else float(end), float(within))


def found_by_the_end(*conditions):
    def check(judge, host):
        judge.event(conditions, host, None, judge.start, judge.end, judge.end - judge.start)
    return check


def none_of(*conditions):
    return lambda judge: judge.none_of(conditions)


def nowhere_else(condition):
    return lambda judge: judge.none_of((condition,), judge.expected_hosts((condition,)))


NAME, NUMBER = r"[a-z_]+", r"([0-9.]+)"
PHRASES = (
    ("no major or critical finding", no_major),
    ("no storm, block, loss of any severity", none_of("storm_source", "watchdog_cut", *BLOCKED, *LOSS)),
    ("no storm(?: anywhere)?", none_of("storm_source")),
    ("storm nowhere else", nowhere_else("storm_source")),
    ("no blocked egress or deadlock", none_of(*BLOCKED)),
    ("no loss", none_of(*LOSS)),
    ("nobody a slow receiver|no slow receiver blamed", none_of("slow_receiver")),
    ("no network verdict", none_of(*NETWORK)),
    ("nothing major before", nothing_major_before),
    ("quiet before", quiet_before),
    ("culprit is not called blocked", not_called_blocked),
    ("nobody else", nowhere_else("slow_receiver")),
    ("no flapping", no_flapping),
    ("over", over),
    (f"over within {NUMBER} s after the end", over),
    ("still blocked at the end", still_blocked),
    ("link back", link_back),
    ("link down nowhere else", nowhere_else("link_down")),
    (r"congestion at (\w+)", found_by_the_end("congestion")),
    (r"loss at (\w+)", found_by_the_end("lossless_loss", "optics")),
    (r"slow receiver (\w+)", found_by_the_end("slow_receiver")),
    (r"link down at (\w+)", found_by_the_end("link_down")),
    (r"victims or congestion at (\d+) hosts",
     lambda judge, count: judge.at_hosts(VICTIM, int(count), judge.end)),
    (rf"(\d+) (?:victims|hosts) blocked within {NUMBER} s",
     lambda judge, count, within: judge.at_hosts(BLOCKED, int(count), judge.start + float(within))),
    (rf"deadlock candidates within {NUMBER} s",
     lambda judge, within: judge.at_hosts(("deadlock_candidate",), 2, judge.start + float(within))),
    (rf"({NAME}(?: or {NAME})*) at (\w+)(?: about (\w+))?(?: from {NUMBER} to {NUMBER} s)?"
     rf" within {NUMBER} s", found),
    (rf"may be ({NAME}(?:, {NAME})*)", lambda judge, names: judge.may.update(names.split(", "))),
    # What the Prometheus rules say over all hosts: fleet.py.
    (r"fleet (?:says|does not say) .*", lambda judge: None),
)
