"""Probes between the hosts of a trace: who asks whom and when, and what became of each.

A probe that meets a hold waits until it is over, or until its queue pair gives up. One that is lost
comes again after the queue pair's time-out. `rtt_us` and `outcome` of one that never ended are empty.
"""

import math

DEADLINE = 0.1  # Seconds; the soft deadline of the daemon's default configuration.
GAVE_UP = "transport retry exceeded"


class Style:
    """How a trace's prober works; drawn once a trace."""

    def __init__(self, random, plain):
        # A packet simulator's prober: no outcome, and it asks on while the last is outstanding.
        self.plain = plain
        self.interval = 1.0 if plain else random.choice((0.5, 1.0, 1.0))
        self.skips = not plain and random.random() < 0.5
        self.peers = random.choice((2, 3, 3))
        self.control = not plain and random.random() < 0.8
        self.kinds = ("write",) if plain else random.choice(
            (("write0",), ("write0", "read"), ("write0", "read", "echo")))
        self.retry_seconds = 4.0 if plain else random.choice((0.067, 0.268, 0.537))
        self.gives_up_after = math.inf if plain else random.uniform(4, 17)
        # A scaled simulator's waits are in its own, shorter, microseconds.
        self.scale = 1e-3 if plain and random.random() < 0.7 else 1.0
        self.base = random.uniform(1.8e-6, 5e-6)
        self.tail = random.uniform(0.02, 0.15)


class Stream:
    __slots__ = ("source", "target", "kind", "control", "sport", "due", "busy_until", "entropy")

    def __init__(self, source, target, kind, control, sport, due):
        self.source, self.target, self.kind, self.control = source, target, kind, control
        self.sport, self.due, self.busy_until = sport, due, 0.0
        self.entropy = sport % 64


class Prober:
    """Keeps what was posted; `world` says how the network was, once the trace is over."""

    def __init__(self, clos, random, style):
        self.clos, self.random, self.style = clos, random, style
        self.streams, self.posted = [], []
        self.silent = lambda host, now: False  # Whose agent does not ask.
        # Each (stream, time, rtt) -> None or (seconds or None for never, outcome, status).
        self.fates = []
        self.columns = {}  # Column -> (stream, time) -> cell, for what only some scenarios need.
        for host in range(clos.count):
            for peer in self._peers(host):
                self.add(host, peer)

    def _peers(self, host):
        near = self.clos.neighbours(host)
        far = [h for h in range(self.clos.count) if h != host and h not in near]
        picked = self.random.sample(near, min(1, len(near)))
        return picked + self.random.sample(far or near, min(self.style.peers - 1, len(far or near)))

    def add(self, host, peer):
        sport = 49152 + self.random.randrange(16384)
        start = self.random.random() * self.style.interval
        for kind in self.style.kinds:
            self.streams.append(Stream(host, peer, kind, False, sport, start))
            start += 0.13
        if self.style.control:
            self.streams.append(Stream(host, peer, "write0", True, sport, start))

    def post(self, now, dt, fabric):
        """The probes that fall due in this step, with the delays that the network has now."""
        for stream in self.streams:
            while stream.due < now + dt:
                if stream.due >= now and not self.silent(stream.source, stream.due):
                    self.posted.append((stream.due, stream, self._delay(stream, fabric)))
                stream.due += self.style.interval * self.random.uniform(0.9, 1.1) \
                    if not self.style.plain else self.style.interval

    def _delay(self, stream, fabric):
        path = self.clos.path(stream.source, stream.target, stream.entropy)
        base = self.style.base * (len(path) + (1 if stream.kind == "read" else 0))
        rtt = base * self.random.lognormvariate(0, 0.06)
        if self.random.random() < self.style.tail:
            rtt += self.random.expovariate(1 / 40e-6)
        if not stream.control:
            queued = sum(fabric.delay[link] for link in path)
            rtt += (1e-3 if self.style.plain else 1.0) * queued * self.random.uniform(0.3, 1.1)
        return rtt

    def finished(self, world):
        """Rows of probes.csv, in the order of posting."""
        rows = []
        for start, stream, rtt in sorted(self.posted, key=lambda p: (p[0], p[1].source, p[1].target)):
            if self.style.skips and start < stream.busy_until:
                continue  # One outstanding in all; what falls due meanwhile is skipped.
            ended, outcome, status = self._end(world, start, stream, rtt)
            if ended is None or start + ended > world.seconds:
                stream.busy_until = math.inf
                ended, outcome, status = None, "", ""
            else:
                stream.busy_until = start + ended
            if ended is not None and self.style.scale != 1:
                ended = rtt + (ended - rtt) * self.style.scale
            rows.append((start, stream, ended, outcome, status))
        return rows

    def _end(self, world, start, stream, rtt):
        for fate in self.fates:
            decided = fate(stream, start, rtt)
            if decided:
                return decided
        wait = self._waits(world, start, stream)
        if wait is None or wait + rtt > self.style.gives_up_after:
            if math.isinf(self.style.gives_up_after) or \
                    start + self.style.gives_up_after > world.seconds:
                return None, "", ""
            return self.style.gives_up_after, "failed", GAVE_UP
        lost = self._retries(world, start, stream)
        if lost > 7:
            return self.style.retry_seconds * 8, "failed", GAVE_UP
        total = rtt + wait + lost * self.style.retry_seconds
        if total <= DEADLINE:
            return total, "ok", "success"
        return total, "late_retx" if lost else "late_blocked", "success"

    def _waits(self, world, start, stream):
        """Seconds behind holds on the way there and back; None: until after the trace."""
        holds = world.fabric.control_free_at if stream.control else world.fabric.free_at
        there = holds(self.clos.path(stream.source, stream.target, stream.entropy), start)
        if there is None:
            return None
        if not world.fabric.acks_in_class and not stream.control:
            return there - start
        back = holds(self.clos.path(stream.target, stream.source, stream.entropy), there)
        return None if back is None else back - start

    def _retries(self, world, start, stream):
        chance = world.probe_loss(stream, start)
        count = 0
        while chance and count < 9 and self.random.random() < chance:
            count += 1
        return count
