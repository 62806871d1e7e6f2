"""The scoreboard: counts over many judged traces, with bounds, and the bars that they must meet."""

import re

import fleet
from bounds import poisson_upper, quantile, wilson

FLEET_SCENARIOS = ("deadlock", "storm_silent", "storm", "near_deadlock")
CONFIDENCE_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001)
PEER_AND_SELF = ("peer_down", "peer_overloaded", "agent_stopped", "rolling_restart", "self_starved",
                 "maintenance")
# Ports without any pause counter: a row of their own.
PROBES_ALONE = ("blocked_unseen",)
TOO_FEW_FOR_P95 = 20  # With fewer it is the slowest.
DAY = 86400.0


class Row:
    """One condition."""

    def __init__(self):
        self.events = self.found = self.right = self.wrong = 0
        self.delays, self.changes = [], []


class Card:
    def __init__(self, results, rules=None):
        self.errors = [r for r in results if "error" in r]
        self.results = sorted((r for r in results if "error" not in r),
                              key=lambda r: (r["name"], r["seed"]))
        self.rows = {}
        self.days = sum(r["host_seconds"] for r in self.results) / DAY
        self.false_critical, self.pairs = [], []
        for result in self.results:
            self._add(result)
        self.fleet = self._ask_fleet(rules) if rules else None

    def _row(self, condition):
        return self.rows.setdefault(condition, Row())

    def _add(self, result):
        judged = result["judged"]
        for event in judged.events:
            keys = [event.conditions[0]]
            if result["name"] in PROBES_ALONE:
                keys[0] += " (probes alone)"
            if keys[0] == "storm_source":
                keys.append(f"storm_source ({'100 ms' if result['interval'] < 0.5 else '1 s'})")
            for key in keys:
                row = self._row(key)
                row.events += 1
                if event.verdict is not None:
                    row.found += 1
                    row.delays.append(event.delay)
        changes = {}
        for verdict in judged.right:
            self._row(verdict.condition).right += 1
            key = (verdict.condition, verdict.host, verdict.peer)
            changes[key] = changes.get(key, 0) + (1 if verdict.end is None else 2)
            self.pairs.append((verdict.confidence, True))
        for (condition, _, _), count in changes.items():
            self._row(condition).changes.append(count)
        for verdict in judged.wrong:
            self._row(verdict.condition).wrong += 1
            self.pairs.append((verdict.confidence, False))
            if verdict.at_least("critical") is not None:
                self.false_critical.append((result["name"], result["seed"], verdict))

    # ---- the fleet rules

    def _ask_fleet(self, rules):
        traces, wanted = {}, {}
        for result in self.results:
            if "fleet" in result:
                series, seconds, phrases = result["fleet"]
                name = f"{result['name']}-{result['seed']}"
                traces[name], wanted[name] = (series, seconds), phrases
        row = Row()
        names = sorted(traces)
        for first in range(0, len(names), 20):
            part = {name: traces[name] for name in names[first:first + 20]}
            for name, times in fleet.ask(rules, part, "PFCDeadlock").items():
                self._fleet_one(row, name, wanted[name], times)
        return row

    @staticmethod
    def _fleet_one(row, name, phrases, times):
        expected = [re.fullmatch(r"fleet says PFCDeadlock within ([0-9.]+) s of ([0-9.]+) s", p)
                    for p in phrases]
        expected = [match for match in expected if match]
        if not expected:
            if times and not name.startswith("deadlock"):
                row.wrong += 1
                row.changes.append(name)
            return
        within, since = map(float, expected[0].groups())
        row.events += 1
        if times:
            row.right += 1
        if times and times[0] <= since + within:
            row.found += 1
            row.delays.append(max(0.0, times[0] - since))
        else:
            row.changes.append(name)

    # ---- words

    def markdown(self, took):
        lines = [f"{len(self.results)} traces, {sum(r['rows'] for r in self.results):,} rows, "
                 f"{self.days:.1f} host-days, {took / 60:.0f} min. "
                 "Brackets: 95 % bounds (shares: Wilson; times: order statistics).", "",
                 "| condition | events | recall | precision | found after p50 | p95 | "
                 "changes an incident |", "|---|---|---|---|---|---|---|"]
        for condition in sorted(self.rows):
            lines.append(self._line(condition, self.rows[condition]))
        if self.fleet:
            lines.append(self._line("PFCDeadlock (fleet rule)", self.fleet, changes=False))
        low = len(self.false_critical)
        lines += ["", f"False critical findings: {low} in {self.days:.1f} host-days, "
                      f"{1000 * low / self.days:.1f} in 1,000 (at most "
                      f"{1000 * poisson_upper(low) / self.days:.0f}).", "",
                  "Confidence against how often it was right:", "",
                  "| said | findings | right |", "|---|---|---|", *self._reliability(), "",
                  "Storms called by SONiC's rules on the same counters, and by ours:", "",
                  "| scenario | traces | old rule: found, elsewhere | new rule | ours |",
                  "|---|---|---|---|---|", *self._oracle_lines()]
        return "\n".join(lines) + "\n"

    @staticmethod
    def _line(condition, row, changes=True):
        def share(hits, of):
            if not of:
                return "–"
            low, high = wilson(hits, of)
            return f"{hits / of:.3f} [{low:.3f}, {high:.3f}]"

        def time(at):
            found = quantile(row.delays, at)
            return "–" if found is None else f"{found[0]:.1f} s [{found[1]:.1f}, {found[2]:.1f}]"
        mean = f"{sum(row.changes) / len(row.changes):.1f}" if changes and row.changes else "–"
        split = "(" in condition and changes
        return f"| {condition} | {row.events} | {share(row.found, row.events)} | " \
            f"{'–' if split else share(row.right, row.right + row.wrong)} | " \
            f"{time(0.5)} | {time(0.95)} | {mean} |"

    def _reliability(self):
        for low, high in zip(CONFIDENCE_BINS, CONFIDENCE_BINS[1:]):
            inside = [right for confidence, right in self.pairs if low <= confidence < high]
            if inside:
                a, b = wilson(sum(inside), len(inside))
                yield f"| {low:.2f}–{min(high, 1):.2f} | {len(inside)} | " \
                    f"{sum(inside) / len(inside):.3f} [{a:.3f}, {b:.3f}] |"

    def _oracle_lines(self):
        by_name = {}
        for result in self.results:
            by_name.setdefault(result["name"], []).append(result)
        for name, results in sorted(by_name.items()):
            counts = {rule: [0, 0] for rule in ("old", "new", "ours")}
            for result in results:
                said = {"old": set(result["oracle"]["old"]), "new": set(result["oracle"]["new"]),
                        "ours": set(result["storms"])}
                for rule, hosts in said.items():
                    counts[rule][0] += result["culprit"] in hosts
                    counts[rule][1] += bool(hosts - {result["culprit"]})
            if any(sum(count) for count in counts.values()):
                cells = [f"{found}, {other}" for found, other in counts.values()]
                yield f"| {name} | {len(results)} | {' | '.join(cells)} |"

    def misses(self):
        """Every phrase that did not hold: for whoever mends the detectors."""
        lines = [f"{r['name']} {r['seed']}: ERROR {r['error']}" for r in self.errors]
        for result in self.results:
            for phrase, why in result["judged"].broken:
                lines.append(f"{result['name']} {result['seed']} ({result['interval']:g} s): "
                             f"{phrase}: {why}")
            for verdict in result["judged"].wrong:
                if verdict.at_least("major") is None:
                    lines.append(f"{result['name']} {result['seed']} ({result['interval']:g} s): "
                                 f"unexpected warning: {verdict.condition} at {verdict.host} from "
                                 f"{verdict.start:.2f} s")
        if self.fleet:
            lines += [f"fleet rule: {name}" for name in self.fleet.changes]
        return "\n".join(lines) + "\n"

    # ---- the bars

    def failed_bars(self):
        """Sentences; empty when every bar that the run can judge is met."""
        failed = [f"replay failed: {r['name']} {r['seed']}: {r['error']}" for r in self.errors]
        failed += self._bar("storm_source", recall=0.99, precision=0.99)
        failed += self._bar("storm_source (100 ms)", p95=2.0)
        failed += self._bar("storm_source (1 s)", p95=3.0)
        failed += self._bar("deadlock_candidate", recall=0.95)
        failed += self._bar("lossless_loss", p95=60.0)
        if self.fleet and self.fleet.events:
            failed += self._bar("PFCDeadlock", recall=0.95, precision=0.99, p95=15.0)
        failed += [f"false critical: {name} {seed}: {v.condition} at {v.host} from {v.start:.2f} s"
                   for name, seed, v in self.false_critical]
        for result in self.results:
            for phrase, why in result["judged"].broken:
                if phrase in ("no major or critical finding",
                              "no storm, block, loss of any severity") or \
                        (phrase == "no network verdict" and result["name"] in PEER_AND_SELF):
                    failed.append(f"{result['name']} {result['seed']}: {phrase}: {why}")
        return failed

    def _bar(self, condition, recall=None, precision=None, p95=None):
        row = self.fleet if condition == "PFCDeadlock" else self.rows.get(condition)
        if row is None or not row.events:
            return []
        failed = []
        if recall is not None and row.found < recall * row.events:
            failed.append(f"{condition}: recall {row.found}/{row.events} below {recall}")
        if precision is not None and row.right < precision * (row.right + row.wrong):
            failed.append(f"{condition}: {row.wrong} of {row.right + row.wrong} wrong, "
                          f"precision below {precision}")
        if p95 is not None and len(row.delays) >= TOO_FEW_FOR_P95 and quantile(row.delays, 0.95)[0] > p95:
            failed.append(f"{condition}: p95 {quantile(row.delays, 0.95)[0]:.2f} s above {p95} s")
        return failed
