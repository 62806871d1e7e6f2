"""A two-tier Clos as a fluid: what its links carry, which of them PFC holds, who waits behind them.

One `Fabric` is one lossless priority. A step gives each flow what the links on its path leave over.
A link that is offered more than it carries pauses the links that feed it, and a paused link slows all
that it carries, whatever its destination (head-of-line blocking). A link that carries nothing at all
fills the buffers before it, ingress by ingress; a full ingress is paused in turn. So victims, and the
order in which they are hit, come out of the traffic and are not written down by a scenario.

Rates are bytes per second, times seconds of the trace.
"""

import math

HOL_HEADROOM = 1.15  # With ECN the queue takes this much overload before PFC speaks.


class Clos:
    """Names and paths. Hosts h0…, ToRs s0…, spines after them; link numbers are internal."""

    def __init__(self, tors, per_tor, spines, rate, oversubscription=1.0):
        self.tors, self.per_tor, self.spines, self.rate = tors, per_tor, spines, rate
        self.count = tors * per_tor
        self.names = [f"h{i}" for i in range(self.count)]
        self.links = 2 * self.count + 2 * tors * spines
        trunk = rate * per_tor / spines / oversubscription
        self.capacity = [rate] * (2 * self.count) + [trunk] * (2 * tors * spines)

    def tor(self, host):
        return host // self.per_tor

    def tor_name(self, host):
        return f"s{self.tor(host)}"

    def up(self, host):
        return host

    def down(self, host):
        return self.count + host

    def trunk_up(self, tor, spine):
        return 2 * self.count + tor * self.spines + spine

    def trunk_down(self, tor, spine):
        return 2 * self.count + (self.tors + tor) * self.spines + spine

    def path(self, source, target, entropy=0):
        one, other = self.tor(source), self.tor(target)
        if one == other:
            return (self.up(source), self.down(target))
        spine = (source * 7 + target * 13 + entropy) % self.spines
        return (self.up(source), self.trunk_up(one, spine), self.trunk_down(other, spine),
                self.down(target))

    def neighbours(self, host):
        first = self.tor(host) * self.per_tor
        return [h for h in range(first, first + self.per_tor) if h != host]


class Flow:
    __slots__ = ("source", "target", "path", "demand", "share", "rate", "marked", "hot",
                 "own")

    def __init__(self, source, target, path, demand):
        self.source, self.target, self.path, self.demand = source, target, path, demand
        self.share = 1.0  # What congestion control leaves of the demand.
        self.rate = 0.0
        self.marked = 0.0  # Share of its packets with CE.
        self.hot = False
        self.own = 1.0  # What the fullest link on its path leaves of it.


def fair_shares(offered, carries):
    """Max-min: ingress -> the factor that it gets of what it offers; the small ones get it all."""
    left, waiting = carries, sorted(offered.items(), key=lambda item: item[1])
    factors = {}
    for number, (ingress, rate) in enumerate(waiting):
        part = min(rate, left / (len(waiting) - number))
        factors[ingress] = part / rate if rate > 0 else 1.0
        left -= part
    return factors


class HostStep:
    """What one host's port did in one step, as shares of the step or bytes per second."""

    __slots__ = ("tx", "rx", "rx_duty", "tx_duty", "rx_held", "tx_held", "marked", "handled",
                 "wants", "sent_to", "got_from", "events")

    def __init__(self):
        self.tx = self.rx = self.rx_duty = self.tx_duty = 0.0
        self.rx_held = self.tx_held = False  # Paused without a break.
        self.marked = self.handled = 0.0  # CE-marked bytes per second received, and sent by us.
        self.wants = False
        self.sent_to, self.got_from = {}, {}
        self.events = {}  # Signal -> what a fault adds to it in this step.

    def add(self, signal, count):
        self.events[signal] = self.events.get(signal, 0.0) + count


class Fabric:
    def __init__(self, clos, random, ecn, pfc=True, buffer_seconds=(0.001, 0.02),
                 control_seconds=0.3, acks_in_class=True):
        """`buffer_seconds`: how long a line-rate sender takes to fill one ingress, from and to.

        `acks_in_class`: acknowledgements ride in the lossless class, as RC's do; without, they pass
        a pause (a switch or a simulator that lets control packets by).
        """
        self.clos, self.random, self.ecn, self.pfc = clos, random, ecn, pfc
        self.control_seconds, self.acks_in_class = control_seconds, acks_in_class
        low, high = buffer_seconds
        self.room = [clos.capacity[link] * low * (high / low) ** random.random()
                     for link in range(clos.links)]
        self.drain_seconds = 2 * high
        self.filled = [0.0] * clos.links
        self.paused = {}  # Link -> the link it waits for.
        self.thawing = {}  # Link -> when its buffers are empty.
        self.slowed = {}  # Link -> share that back-pressure leaves of what it could carry.
        self.holds = [[] for _ in range(clos.links)]  # Finished and running [from, to or None].
        self.outages = {}  # Link -> [(from, to)] when it is down for every class.
        self.delay = [0.0] * clos.links  # Seconds that a packet waits at each link.

    def step(self, now, dt, flows, capacity):
        """`capacity`: link -> bytes per second where it differs from what the link is built for."""
        dead = {link for link, value in capacity.items() if value <= 0}
        self._thaw(now, dead)
        blocked = dead | self.paused.keys()
        hosts = [HostStep() for _ in range(self.clos.count)]
        running = []
        for flow in flows:
            flow.rate = flow.marked = 0.0
            flow.hot, flow.own = False, 1.0
            hosts[flow.source].wants |= flow.demand > 0
            stuck = next((i for i, link in enumerate(flow.path) if link in blocked), None)
            if stuck is not None:
                if stuck > 0:
                    self._pile_up(now, dt, flow, stuck, hosts)
            elif not (self.acks_in_class and self._answer_stuck(flow, blocked)):
                running.append(flow)
        self._share(dt, running, capacity)
        self._account(now, dt, running, hosts, dead)
        return hosts

    def held(self, link):
        return link in self.paused

    def free_at(self, path, start):
        """When a packet that starts then has passed all holds on the path; None: never seen."""
        now = start
        for link in path:
            for since, until in self.holds[link]:
                if since <= now and (until is None or now < until):
                    if until is None:
                        return None
                    now = until
        return now

    def control_free_at(self, path, start):
        """The same for a lossy class, which only a link that is down holds."""
        now = start
        for link in path:
            for since, until in self.outages.get(link, ()):
                if since <= now < until:
                    now = until
        return now

    def hold(self, link, now):
        """A link that stands for a reason outside the fluid: a storm, a cycle, a dead port."""
        spans = self.holds[link]
        if not spans or spans[-1][1] is not None:
            spans.append([now, None])

    def release(self, link, now):
        spans = self.holds[link]
        if spans and spans[-1][1] is None:
            spans[-1][1] = now

    def _answer_stuck(self, flow, blocked):
        """No acknowledgement comes back, so the window closes within a round trip."""
        return self.clos.up(flow.target) in blocked or self.clos.down(flow.source) in blocked

    def _pile_up(self, now, dt, flow, stuck, hosts):
        before = flow.path[stuck - 1]
        offered = flow.demand * flow.share
        taken = min(offered, max(0.0, self.room[before] - self.filled[before]) / dt)
        self.filled[before] += offered * dt
        hosts[flow.source].tx += taken
        if self.pfc and self.filled[before] >= self.room[before] and before not in self.paused:
            self.paused[before] = flow.path[stuck]
            began = max(now, self.holds[flow.path[stuck]][-1][0])
            part = min(1.0, taken / offered if offered else 1.0)
            self.hold(before, began + (now + dt - began) * part)

    def _thaw(self, now, dead):
        for link in list(self.paused):
            cause = self.paused[link]
            if cause in dead or cause in self.paused:
                self.thawing.pop(link, None)
                continue
            until = self.thawing.setdefault(
                link, now + self.drain_seconds * self.random.uniform(0.3, 1.0))
            if now >= until:
                del self.paused[link], self.thawing[link]
                self.filled[link] = 0.0
                self.release(link, now)
        for link, value in enumerate(self.filled):
            if value and link not in self.paused:
                self.filled[link] = value * 0.7

    def _share(self, dt, running, capacity):
        built = self.clos.capacity
        load = [0.0] * self.clos.links
        for flow in running:
            flow.rate = flow.demand * flow.share
            for link in flow.path:
                load[link] += flow.rate
        # A NIC sends no faster than its port: that is no congestion.
        for flow in running:
            over = load[flow.source] / built[flow.source]
            if over > 1:
                flow.rate /= over
        load = [0.0] * self.clos.links
        for flow in running:
            for link in flow.path:
                load[link] += flow.rate
        limit = {}
        for link, offered in enumerate(load):
            carries = capacity.get(link, built[link])
            self.delay[link] *= 0.5
            if offered > 1.0001 * carries:
                limit[link] = fair_shares(self._by_ingress(running, link), carries)
        if self.ecn:
            self._mark_nearly_full(running, load, capacity)
        if limit:
            self._push_back(running, limit)
        self._congestion_control(dt, running, limit)

    def _mark_nearly_full(self, running, load, capacity):
        """A link close to what it carries has a queue, and marks, before it is overrun."""
        full = {link for link, offered in enumerate(load)
                if offered > 0.88 * capacity.get(link, self.clos.capacity[link])}
        if not full:
            return
        sources = {}
        for flow in running:
            for link in full.intersection(flow.path[1:]):
                sources.setdefault(link, set()).add(flow.source)
        # One sender alone cannot make a queue.
        queued = {link for link, who in sources.items() if len(who) > 1}
        for flow in running:
            if not queued.isdisjoint(flow.path):
                flow.marked = self.random.uniform(0.01, 0.04)

    @staticmethod
    def _by_ingress(running, link):
        """What each link that feeds this one offers to it."""
        offered = {}
        for flow in running:
            if link in flow.path:
                before = flow.path[flow.path.index(link) - 1]
                offered[before] = offered.get(before, 0.0) + flow.rate
        return offered

    def _push_back(self, running, limit):
        """A paused link slows everything it carries, whatever its destination."""
        slowed = {}
        for flow in running:
            factor = 1.0
            for place in range(len(flow.path) - 1, 0, -1):
                link, before = flow.path[place], flow.path[place - 1]
                if link in limit:
                    factor = min(factor, limit[link][before])
                    flow.hot = True
                if factor < 1:
                    slowed[before] = min(slowed.get(before, 1.0), factor)
            flow.own = factor
        soft = HOL_HEADROOM if self.ecn else 1.0
        for flow in running:
            behind = min(slowed.get(link, 1.0) for link in flow.path)
            # Without PFC only the hot link's own packets suffer, and those beyond it are dropped.
            flow.rate *= flow.own if not self.pfc or behind * soft >= 1 else min(flow.own, behind)
            if flow.own < 1 and self.ecn:
                flow.marked = min(0.9, 0.03 + 0.8 * (1 - flow.own))
        for link, factors in limit.items():
            deepest = 1.2 - min(factors.values())
            self.delay[link] = max(self.delay[link],
                                   self.room[link] / self.clos.capacity[link] * deepest)
        self.slowed = slowed if self.pfc else {}

    def _congestion_control(self, dt, running, limit):
        if not limit:
            self.slowed = {}
        gain = 1 - math.exp(-dt / self.control_seconds)
        for flow in running:
            if self.ecn and flow.hot:
                flow.share += (flow.share * flow.own * self.random.uniform(0.9, 1.06) - flow.share) * gain
            else:
                flow.share = min(1.0, flow.share * (1 + 0.1 * gain))

    def _account(self, now, dt, running, hosts, dead):
        rate = self.clos.rate
        soft = HOL_HEADROOM if self.ecn else 1.0
        for flow in running:
            source, target = hosts[flow.source], hosts[flow.target]
            source.tx += flow.rate
            target.rx += flow.rate
            source.sent_to[flow.target] = source.sent_to.get(flow.target, 0.0) + flow.rate
            target.got_from[flow.source] = target.got_from.get(flow.source, 0.0) + flow.rate
            if flow.marked:
                target.marked += flow.rate * flow.marked
                source.handled += flow.rate * flow.marked
        for host, state in enumerate(hosts):
            link = self.clos.up(host)
            if link in self.paused or link in dead:
                state.rx_held = link in self.paused
                if state.rx_held:
                    state.rx_duty = min(1.0, (now + dt - self.holds[link][-1][0]) / dt)
            elif self.slowed.get(link, 1.0) * soft < 1:
                # While it is not paused it sends at the port's rate.
                state.rx_duty = max(0.0, 1 - state.tx / rate) * self.random.uniform(0.93, 1.0)
