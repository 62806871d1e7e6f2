"""Faults that pause: storms, cycles among switches, receivers that do not drain, fan-in."""

from poisson import poisson
from world import Fault


class Storm(Fault):
    """A NIC that sends XOFF without end.

    `prevented_after`: the NIC's own watchdog stops the pauses after so many seconds and drops instead
    (mlx5; its error event). `watchdog_after`: the switch's does, and drops what is for the host.
    """

    def __init__(self, host, start, end, duty=1.0, sends_on=True, prevented_after=None,
                 watchdog_after=None):
        super().__init__(start, end)
        self.host, self.duty, self.sends_on = host, duty, sends_on
        self.prevented_after, self.watchdog_after = prevented_after, watchdog_after
        self.warned = self.failed = False
        # Until when the switch keeps what it has for the host.
        self.blocks_until = min([end] + [start + after for after in (prevented_after, watchdog_after)
                                         if after is not None])

    def pauses_until(self):
        if self.prevented_after is None:
            return self.end
        return min(self.end, self.start + self.prevented_after)

    def before(self, world, now, dt, capacity):
        link = world.clos.down(self.host)
        covered = max(0.0, min(self.blocks_until, now + dt) - max(self.start, now)) / dt
        if covered > 0.999:
            capacity[link] = 0.0
        elif covered > 0:
            capacity[link] = world.rate * (1 - covered)
        if covered > 0:
            world.fabric.hold(link, max(self.start, now))
        if now + dt >= self.blocks_until:
            world.fabric.release(link, self.blocks_until)

    def after(self, world, now, dt, hosts):
        state = hosts[self.host]
        pausing = max(0.0, min(self.pauses_until(), now + dt) - max(self.start, now)) / dt
        if pausing > 0:
            state.tx_duty, state.tx_held = pausing * self.duty, True
            if not self.sends_on:  # What sends nothing gets no acknowledgement.
                state.tx *= 1 - pausing
                state.rx *= 1 - pausing
            # A gap between two pauses lets a little through.
            state.rx += (1 - self.duty) * pausing * world.rate * world.random.uniform(0.2, 0.9)
            self._events(state, now + dt)
        if self.share(now, dt) and now >= self.blocks_until:
            self._drops(world, dt, state, hosts)

    def _events(self, state, now):
        if self.prevented_after is None:
            return
        if not self.warned and now > self.start + 0.85 * self.prevented_after:
            self.warned = True
            state.add("pause_storm_warning_events", 1)
        if not self.failed and now >= self.start + self.prevented_after:
            self.failed = True
            state.add("pause_storm_events", 1)

    def _drops(self, world, dt, state, hosts):
        """A host that takes nothing: what is for it dies, at the NIC or at the switch."""
        arrived = state.rx * dt / world.mtu
        state.rx *= 0.02
        if self.prevented_after is not None:
            state.add("rx_discards_buffer", arrived)
            state.add("rx_prio_discard", arrived)
        for source in state.got_from:
            hosts[source].add("retransmit_timeout", poisson(world.random, 3 * dt))
            hosts[source].tx *= 0.7


class Cycle(Fault):
    """A circle of switch buffers, each full and each waiting for the next. `cuts`: a switch watchdog
    that empties it again and again, (detection, restoration) seconds."""

    def __init__(self, links, start, end, cuts=None):
        super().__init__(start, end)
        self.links, self.cuts = links, cuts
        self.dropped = set()  # Hosts whose packets a cut dropped while they could not send.

    def locked(self, now, dt):
        """The share of the step in which nothing moves, and whether a cut falls into it."""
        if not self.cuts:
            return self.share(now, dt), False
        detect, restore = self.cuts
        total, cut, at = 0.0, False, self.start
        while at < min(self.end, now + dt):
            total += max(0.0, min(at + detect, now + dt) - max(at, now))
            cut |= now <= at + detect < now + dt
            at += detect + restore
        return total / dt, cut

    def before(self, world, now, dt, capacity):
        covered, _ = self.locked(now, dt)
        for link in self.links:
            if covered > 0.5:
                capacity[link] = 0.0
                world.fabric.hold(link, max(self.start, now))
            else:
                world.fabric.release(link, now)
            if now + dt >= self.end:
                world.fabric.release(link, self.end)

    def after(self, world, now, dt, hosts):
        """The watchdog drops what the buffers hold: gaps are seen when packets flow again."""
        _, cut = self.locked(now, dt)
        for host, state in enumerate(hosts):
            if cut and state.rx_held:
                self.dropped.add(host)
            elif host in self.dropped and not state.rx_held:
                self.dropped.discard(host)
                state.add("packet_sequence_error", 1 + poisson(world.random, 20))
                state.add("retransmit_timeout", 1 + poisson(world.random, 4))
                state.add("out_of_sequence", poisson(world.random, 15))


class SlowReceiver(Fault):
    """A host that takes data out of its NIC at a share of the line rate."""

    def __init__(self, host, start, end, drains, senders, counts_nearly_full=True, wobble=0.0):
        super().__init__(start, end)
        self.host, self.drains, self.senders = host, drains, senders
        self.counts_nearly_full, self.wobble = counts_nearly_full, wobble
        self.flows, self.now_drains = [], drains

    def before(self, world, now, dt, capacity):
        covered = self.share(now, dt)
        if covered and not self.flows:
            self.flows = [world.traffic.add(sender, self.host, 0.95 / len(self.senders))
                          for sender in self.senders]
        if not covered and self.flows:
            world.traffic.extra = [f for f in world.traffic.extra if f not in self.flows]
            self.flows = []
        if covered:
            self.now_drains = self.drains + world.random.uniform(-self.wobble, self.wobble)
            capacity[world.clos.down(self.host)] = world.rate * \
                (self.now_drains * covered + 1 - covered)

    def after(self, world, now, dt, hosts):
        covered, state = self.share(now, dt), hosts[self.host]
        if not covered:
            return
        # It pauses for as long as its buffer is full; without congestion control always.
        full = world.random.uniform(0.35, 1.0) if world.fabric.ecn else world.random.uniform(0.93, 1.0)
        if state.rx < 0.7 * self.now_drains * world.rate:
            full *= 0.3
        state.tx_duty = covered * (1 - self.now_drains) * full
        if self.counts_nearly_full:
            state.add("rx_buffer_high_watermark", 100 * state.tx_duty * dt)


class Incast(Fault):
    """Many send to one host, or over one trunk, as fast as they can."""

    def __init__(self, pairs, start, end, share=1.0):
        super().__init__(start, end)
        self.pairs, self.of_line = pairs, share
        self.flows = []

    def before(self, world, now, dt, capacity):
        covered = self.share(now, dt)
        if covered and not self.flows:
            self.flows = [world.traffic.add(source, target, self.of_line)
                          for source, target in self.pairs]
        if not covered and self.flows:
            world.traffic.extra = [f for f in world.traffic.extra if f not in self.flows]
            self.flows = []

    def after(self, world, now, dt, hosts):
        if world.fabric.pfc:
            return
        # A lossy class: what is over the line rate is dropped.
        for flow in self.flows:
            over = 1 - min(1.0, flow.rate / max(1.0, flow.demand * flow.share))
            lost = poisson(world.random, min(0.02, 0.05 * over) * flow.rate * dt / world.mtu)
            if lost:
                hosts[flow.target].add("out_of_sequence", lost)
                hosts[flow.source].add("packet_sequence_error", round(lost * 0.7))
                hosts[flow.source].add("retransmitted_packets", lost * 8)
                hosts[flow.source].add("retransmit_timeout", poisson(world.random, 0.02 * lost))


class Bursts(Fault):
    """Fan-in of a millisecond, again and again: a few pauses and marks, nobody suffers."""

    def __init__(self, host, start, end, duty):
        super().__init__(start, end)
        self.host, self.duty = host, duty

    def after(self, world, now, dt, hosts):
        covered = self.share(now, dt)
        if covered:
            for state in hosts:
                if self.host in state.sent_to:
                    state.rx_duty = max(state.rx_duty, covered * self.duty *
                                        world.random.uniform(0.3, 1.0))
            hosts[self.host].marked += hosts[self.host].rx * world.random.uniform(0, 0.01)
