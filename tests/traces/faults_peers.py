"""Faults of hosts and agents that are none of the network, and links that only look like one."""

from probing import DEADLINE, GAVE_UP
from world import Fault


def watch_sessions(world):
    """The control sessions' view of each peer, as columns of probes.csv."""
    if "session_up" in world.prober.columns:
        return
    world.sessions_down, world.epochs = {}, {}

    def session_up(stream, now):
        spans = world.sessions_down.get(stream.target, ())
        return 0 if any(since <= now < until for since, until in spans) else 1

    def epoch(stream, now):
        started = [at for at in world.epochs.get(stream.target, ()) if at <= now]
        return 1_700_000_000 + stream.target * 1000 + len(started)

    world.prober.columns["session_up"] = session_up
    world.prober.columns["peer_epoch"] = epoch


def watchers(world, peer):
    """Hosts that probe the peer."""
    return sorted({stream.source for stream in world.prober.streams
                   if stream.target == peer and not stream.control})


class PeerDown(Fault):
    """A host powered off: no answer of any kind, no session, no readings of its own."""

    def __init__(self, host, start, end):
        super().__init__(start, end)
        self.host = host

    def begin(self, world):
        watch_sessions(world)
        world.sessions_down.setdefault(self.host, []).append(
            (self.start + world.random.uniform(0.5, 2.0), self.end + 2.0))
        world.epochs.setdefault(self.host, []).append(self.end)
        world.prober.fates.append(self._fate(world))
        others_missed, others_silent = world.missed, world.prober.silent
        world.missed = lambda host, now: others_missed(host, now) or self._gone(host, now)
        world.prober.silent = lambda host, now: others_silent(host, now) or self._gone(host, now)

    def _gone(self, host, now):
        return host == self.host and self.start <= now < self.end

    def _fate(self, world):
        def fate(stream, start, rtt):
            if not self._gone(stream.target, start):
                return None
            budget = min(world.prober.style.gives_up_after, 17.0)
            return budget, "failed", GAVE_UP
        return fate

    def before(self, world, now, dt, capacity):
        if self._gone(self.host, now):
            world.traffic.off.add(self.host)
        else:
            world.traffic.off.discard(self.host)

    def after(self, world, now, dt, hosts):
        # Time-outs and exhausted retries are counted at everybody who asks: no word on the network.
        if not self._gone(self.host, now):
            return
        for host in watchers(world, self.host):
            if world.random.random() < dt:
                hosts[host].add("retransmit_timeout", 1)
            if world.random.random() < dt / 8:
                hosts[host].add("transport_retries_exceeded", 1)


class Overloaded(Fault):
    """A host without CPU time to spare: its NIC answers as ever, its agent late, or (`stopped`) not
    at all."""

    def __init__(self, host, start, end, delay, stopped=False):
        super().__init__(start, end)
        self.host, self.delay, self.stopped = host, delay, stopped

    def begin(self, world):
        watch_sessions(world)
        if self.stopped:
            world.sessions_down.setdefault(self.host, []).append(
                (self.start + world.random.uniform(0.5, 2.0), self.end))
        world.prober.fates.append(self._fate(world))

    def _fate(self, world):
        def fate(stream, start, rtt):
            if stream.target != self.host or stream.kind != "echo" or \
                    not self.start <= start < self.end:
                return None
            wait = self.end - start if self.stopped else \
                self.delay * world.random.uniform(0.7, 1.6)
            return rtt + wait, "ok" if rtt + wait <= DEADLINE else "late_blocked", "success"
        return fate


class AgentRestart(Fault):
    """The agent of a host starts again: its queue pairs die once, its session comes back anew."""

    def __init__(self, host, at, away):
        super().__init__(at, at + away)
        self.host = host
        self.failed = set()

    def begin(self, world):
        watch_sessions(world)
        world.sessions_down.setdefault(self.host, []).append((self.start, self.end))
        world.epochs.setdefault(self.host, []).append(self.end)
        world.prober.fates.append(self._fate(world))
        others = world.prober.silent
        world.prober.silent = lambda host, now: others(host, now) or (
            host == self.host and self.start <= now < self.end)

    def _fate(self, world):
        def fate(stream, start, rtt):
            if stream.target != self.host or not self.start <= start < self.end:
                return None
            # The first dies with the peer's queue pair; what comes after is flushed with it.
            first = stream not in self.failed
            self.failed.add(stream)
            if first:
                return min(world.prober.style.gives_up_after, 4.0), "failed", GAVE_UP
            return 0.001, "aborted", "work request flushed"
        return fate


class SelfStarved(Fault):
    """Our own host without CPU time: the loop wakes late, so every answer seems late."""

    def __init__(self, host, start, end, stall):
        super().__init__(start, end)
        self.host, self.stall = host, stall
        self.cells = None

    def begin(self, world):
        self.cells = world.gauges.setdefault("loop_late_us", [120] * world.clos.count)
        world.prober.fates.append(self._fate(world))

    def _fate(self, world):
        def fate(stream, start, rtt):
            if stream.source != self.host or not self.start <= start < self.end:
                return None
            late = self.stall * world.random.uniform(0.2, 1.3)
            return rtt + late, "late_self" if rtt + late > DEADLINE else "ok", "success"
        return fate

    def after(self, world, now, dt, hosts):
        busy = self.share(now, dt) > 0
        self.cells[self.host] = int((self.stall if busy else 150e-6) * 1e6 *
                                    world.random.uniform(0.7, 1.3))


class Gauge(Fault):
    """A gauge of a host that has another value for a while."""

    def __init__(self, column, host, start, end, value, otherwise):
        super().__init__(start, end)
        self.column, self.host, self.value, self.otherwise = column, host, value, otherwise

    def begin(self, world):
        world.gauges.setdefault(self.column, [self.otherwise] * world.clos.count)

    def after(self, world, now, dt, hosts):
        inside = self.start <= now + dt < self.end
        world.gauges[self.column][self.host] = self.value if inside else self.otherwise


class BlackHole(Fault):
    """One UDP source port between two hosts leads over a path that swallows everything."""

    def __init__(self, streams, start, end):
        super().__init__(start, end)
        self.streams = frozenset(streams)

    def begin(self, world):
        def fate(stream, start, rtt):
            if stream not in self.streams or not self.start <= start < self.end:
                return None
            return min(world.prober.style.gives_up_after, 17.0), "failed", GAVE_UP
        world.prober.fates.append(fate)
