"""Faults that lose packets, take links down, or starve receivers."""

from poisson import poisson
from world import Fault


class LinkLoss(Fault):
    """Each packet on these links is lost with that probability. `corrupts`: the receiving NIC of a
    host link sees them as frames with a wrong checksum."""

    def __init__(self, links, start, end, chance, corrupts=False, small_too=True):
        super().__init__(start, end)
        self.links, self.chance = frozenset(links), chance
        self.corrupts, self.small_too = corrupts, small_too
        self.window = None
        self.lost = {}  # Receiving host -> [events, packets] of the whole fault.

    def after(self, world, now, dt, hosts):
        covered = self.share(now, dt)
        if not covered:
            return
        if self.window is None:
            self.window = world.random.uniform(2, 40)
        for flow in world.traffic.flows + world.traffic.extra:
            if not flow.rate or not self.links.intersection(flow.path):
                continue
            packets = covered * flow.rate * dt / world.mtu
            lost = poisson(world.random, packets * self.chance)
            entry = self.lost.setdefault(flow.target, [0, 0.0])
            entry[0] += lost
            entry[1] += packets
            if lost:
                self._count(world, hosts, flow, lost)

    def _count(self, world, hosts, flow, lost):
        random, source, target = world.random, hosts[flow.source], hosts[flow.target]
        tails = poisson(random, lost * 0.08)
        # Losses close together are one gap.
        gaps = max(1, round((lost - min(tails, lost)) / (1 + self.chance * self.window)))
        target.add("out_of_sequence", gaps)
        source.add("packet_sequence_error", round(gaps * random.uniform(0.85, 1.0)))
        source.add("retransmit_timeout", tails)
        source.add("retransmitted_packets", lost * self.window)
        if self.corrupts and world.clos.down(flow.target) in self.links:
            target.add("fcs_errors", lost)

    def probe_loss(self, world, stream, start):
        if not self.small_too or not self.start <= start < self.end:
            return 0.0
        there = world.clos.path(stream.source, stream.target, stream.entropy)
        back = world.clos.path(stream.target, stream.source, stream.entropy)
        crossings = len(self.links.intersection(there)) + len(self.links.intersection(back))
        return 1 - (1 - self.chance) ** crossings


class LinkDown(Fault):
    """A host's link without carrier. `storm_like`: its pause counters run wild around the change, as
    durations computed from quanta and a speed that is not known do."""

    def __init__(self, host, start, end, storm_like=False):
        super().__init__(start, end)
        self.host, self.storm_like = host, storm_like
        self.counted = self.down = self.took_off = False

    def before(self, world, now, dt, capacity):
        links = (world.clos.up(self.host), world.clos.down(self.host))
        if self.start <= now + dt and now < self.end:
            for link in links:
                world.fabric.hold(link, self.start)
                world.fabric.outages.setdefault(link, [])
                if (self.start, self.end) not in world.fabric.outages[link]:
                    world.fabric.outages[link].append((self.start, self.end))
        if now + dt >= self.end:
            for link in links:
                world.fabric.release(link, self.end)
        if self.share(now, dt) > 0.5:
            world.traffic.off.add(self.host)
            self.took_off = True
        elif self.took_off:
            world.traffic.off.discard(self.host)
            self.took_off = False

    def after(self, world, now, dt, hosts):
        end_of_step = now + dt
        down = self.start <= end_of_step < self.end
        if down != self.down:
            self.down = down
            world.port_up[self.host] = 0 if down else 1
        state = hosts[self.host]
        if self.share(now, dt):
            state.tx *= 1 - self.share(now, dt)
            state.rx *= 1 - self.share(now, dt)
            state.rx_duty = 0.0
            if not self.counted:
                self.counted = True
                state.add("link_down_events", 1)
        near = self.start - 1 <= now < self.end + 3
        if self.storm_like and near:
            state.tx_duty, state.tx_held = world.random.uniform(0.95, 1.0), True
            state.rx_duty, state.rx_held = world.random.uniform(0.95, 1.0), True


class Starved(Fault):
    """An application that posts too few receives: drops for want of one, RNR NAKs at its peers."""

    def __init__(self, host, start, end, ratio):
        super().__init__(start, end)
        self.host, self.ratio = host, ratio

    def after(self, world, now, dt, hosts):
        covered, state = self.share(now, dt), hosts[self.host]
        if not covered:
            return
        for source, rate in state.got_from.items():
            dropped = poisson(world.random, covered * self.ratio * rate * dt / world.mtu)
            state.add("rdma_rx_out_of_buffer", dropped)
            hosts[source].add("rnr_nak_received", dropped)


class Reordering(Fault):
    """Adaptive routing with packets placed out of order: gaps are seen, nothing is lost."""

    def __init__(self, start, end, share):
        super().__init__(start, end)
        self.of_packets = share

    def after(self, world, now, dt, hosts):
        for state in hosts:
            state.add("out_of_sequence", poisson(
                world.random, self.share(now, dt) * self.of_packets * state.rx * dt / world.mtu))


class Retransmits(Fault):
    """iWARP over a lossy hop: TCP sends segments again."""

    def __init__(self, host, start, end, ratio):
        super().__init__(start, end)
        self.host, self.ratio = host, ratio

    def after(self, world, now, dt, hosts):
        state = hosts[self.host]
        state.add("iwarp_retransmitted_segments", poisson(
            world.random, self.share(now, dt) * self.ratio * state.tx * dt / world.mtu))


class CreditStall(Fault):
    """InfiniBand without credits: ticks with data queued and nothing sent, and head-of-queue drops."""

    def __init__(self, host, start, end, ticks_per_second, wait_share, discards_per_second):
        super().__init__(start, end)
        self.host, self.ticks, self.wait_share = host, ticks_per_second, wait_share
        self.discards = discards_per_second

    def after(self, world, now, dt, hosts):
        covered, state = self.share(now, dt), hosts[self.host]
        waits = 0.01 * state.tx / world.rate + covered * self.wait_share
        state.add("port_xmit_wait", waits * self.ticks * dt)
        if covered:
            state.tx *= 1 - covered * self.wait_share
            state.add("port_xmit_discards", poisson(world.random, covered * self.discards * dt))


class Correctable(Fault):
    """An optic that dies: corrected blocks rise by orders, then some cannot be corrected."""

    def __init__(self, host, start, end, before_rate, after_rate, lost_rate):
        super().__init__(start, end)
        self.host = host
        self.before_rate, self.after_rate, self.lost_rate = before_rate, after_rate, lost_rate

    def after(self, world, now, dt, hosts):
        covered, state = self.share(now, dt), hosts[self.host]
        rate = self.before_rate * (1 - covered) + self.after_rate * covered
        state.add("fec_corrected_blocks", poisson(world.random, rate * dt))
        if covered:
            lost = poisson(world.random, covered * self.lost_rate * dt)
            state.add("fec_uncorrectable_blocks", lost)
            state.add("symbol_errors", lost)
