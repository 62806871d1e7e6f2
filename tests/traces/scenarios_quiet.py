"""Scenarios that look like a fault and are none. Nothing may be said here."""

from faults_loss import LinkDown, Reordering
from faults_peers import Gauge
from nic import WIDE_32
from truth import NO_PAUSE_VERDICT, event, fault, healthy
from world import Fault, World


def healthy_poisson(random):
    """Open-loop load between all hosts."""
    world = World(random, pattern="poisson", load=random.uniform(0.05, 0.45)).run()
    return world, healthy("healthy fabric, open-loop load")


def healthy_rounds(random):
    """A collective: everybody sends at once, then everybody computes."""
    world = World(random, pattern="rounds", load=random.uniform(0.4, 0.95)).run()
    return world, healthy("healthy fabric, rounds of a collective")


def healthy_busy(random):
    """36: all-reduce at 80 % of the line rate, with the marks that come with it."""
    world = World(random, pattern="rounds", load=random.uniform(0.7, 0.9), ecn=True)
    world.traffic.gap = 0.2
    world.run()
    return world, healthy("healthy all-reduce at 80 % load")


def healthy_day(random):
    """36: the same for 24 hours; few hosts, one reading a second."""
    world = World(random, seconds=86400, dt=1.0, tors=2, per_tor=2, plain=False,
                  pattern=random.choice(("rounds", "poisson")), load=random.uniform(0.1, 0.45),
                  driver=random.choice(("mlx5", "bnxt", "irdma")), probes={"interval": 10.0})
    world.second = None
    world.run()
    return world, healthy("24 h of healthy load")


def idle(random):
    """A fabric that does nothing but probe."""
    world = World(random, load=0.0005, pattern="poisson").run()
    return world, healthy("idle fabric")


def late_polls(random):
    """32: the reader is away for some seconds, again and again; counters ran on meanwhile."""
    world = World(random, plain=False)
    gaps = []
    for host in range(world.clos.count):
        at = 0.0
        while at < world.seconds:
            at += random.uniform(8, 30)
            gaps.append((host, at, at + random.uniform(1.5, 6)))
    world.missed = lambda h, now: any(h == host and a < now < b for host, a, b in gaps)
    world.add(BriefPauses(world, 0.02))
    world.run()
    return world, healthy("late polls")


def counters_reset(random):
    """31: a driver is loaded again: its counters start from nothing."""
    world = World(random, plain=False)
    world.add(Resets(world.some_time(0.2, 0.8), random.sample(range(world.clos.count), 3)))
    world.add(BriefPauses(world, 0.02))
    world.run()
    return world, healthy("counter reset")


def counters_wrap(random):
    """31: 32-bit transport counters pass their end."""
    world = World(random, plain=False, driver=random.choice(("mlx5", "bnxt")))
    for nic in world.nics:
        for signal in WIDE_32.intersection(nic.total):
            nic.total[signal] = float((1 << 32) - random.randint(1, 400))
    world.add(Trickle(0, world.seconds, random.uniform(0.5, 6)))
    world.run()
    return world, healthy("32-bit counters wrap")


def lifetime_counts(random):
    """Huge totals of pauses, storms and losses from weeks ago; none of them grows."""
    world = World(random, plain=False)
    for nic in world.nics:
        for signal in nic.total:
            if "pause" in signal or signal in WIDE_32 or "discard" in signal:
                nic.total[signal] = float(random.randrange(10 ** random.randint(2, 9)))
    world.run()
    return world, healthy("lifetime totals without growth")


def pauses_without_duration(random):
    """A driver that counts frames only: each short pause may have been a long one."""
    world = World(random, plain=False, driver="irdma", rate=random.choice((10, 25, 100)))
    world.add(BriefPauses(world, random.uniform(0.003, 0.02)))
    world.run()
    return world, healthy("pause frames without durations", ["may be congestion"])


def pause_before_poll(random):
    """32: single pause frames, each just before a reading."""
    world = World(random, plain=False)
    world.add(SingleFrames(0, world.seconds, random.uniform(0.05, 0.5)))
    world.run()
    return world, healthy("a pause frame just before a poll")


def adaptive_routing(random):
    """33: a hundredth of the packets out of order and placed; no NAK, no time-out, no loss."""
    world = World(random, plain=False, driver=random.choice(("mlx5", "bnxt")))
    world.add(Reordering(0, world.seconds, random.uniform(0.002, 0.02)))
    world.run()
    # One host's gaps alone do not tell placement from loss: that is the operator's to say.
    world.config = "expect: {out_of_order: true}\n"
    return world, healthy("adaptive routing with out-of-order placement")


def flap_with_storm_counters(random):
    """19: a link goes down for seconds, its pause durations jump: link_down, and no storm."""
    world = World(random, seconds=random.uniform(80, 120), plain=False)
    start, host = world.some_time(), world.some_host()
    end = start + random.uniform(2, 10)
    world.add(LinkDown(host, start, end, storm_like=True))
    world.run()
    name = world.name(host)
    return world, fault(
        "flap with storm-like counters", f"pause durations of {name} jump around a flap",
        {"host": name}, start, end, "link_flap", name,
        [*NO_PAUSE_VERDICT, event("link_down", name, 2.2), "link down nowhere else",
         "may be peer_down, path_loss, lossless_loss"])


def control_congested(random):
    """35: other traffic fills the lossy class: the control probes are slow, the lossless are not."""
    world = World(random, plain=False, probes={"control": True, "interval": 1.0})
    start = world.some_time()

    def fate(stream, at, rtt):
        if not stream.control or at < start:
            return None
        slow = rtt + random.expovariate(1 / 0.003)
        if random.random() < 0.02:  # Dropped, and sent again after its time-out.
            return slow + 0.067, "ok", "success"
        return slow, "ok", "success"
    world.prober.fates.append(fate)
    world.run()
    return world, healthy("the control class is congested", NO_PAUSE_VERDICT)


def speed_change(random):
    """A port that comes up at another speed; the counters that depend on it jump."""
    # Little enough that a quarter of the speed carries it: more would be congestion, and rightly.
    world = World(random, plain=False, rate=100, load=random.uniform(0.03, 0.12))
    host, start = world.some_host(), world.some_time()
    world.add(SlowerPort(host, start, world.seconds + 1, 0.25))
    world.run()
    return world, healthy("a port changes its speed", [*NO_PAUSE_VERDICT, "may be congestion"])


class SlowerPort(Fault):
    """A port at a share of its speed: no more than that passes it, either way."""

    def __init__(self, host, start, end, share):
        super().__init__(start, end)
        self.host, self.of_rate = host, share
        self.gauge = None

    def begin(self, world):
        full = int(world.rate)
        self.gauge = Gauge("port_rate_bytes_per_second", self.host, self.start, self.end,
                           int(full * self.of_rate), full)
        self.gauge.begin(world)

    def before(self, world, now, dt, capacity):
        if self.share(now, dt):
            for link in (world.clos.up(self.host), world.clos.down(self.host)):
                capacity[link] = min(capacity.get(link, world.rate), world.rate * self.of_rate)

    def after(self, world, now, dt, hosts):
        self.gauge.after(world, now, dt, hosts)


class BriefPauses(Fault):
    """Back-pressure of a busy fabric: now and then up to that duty, with traffic between."""

    def __init__(self, world, duty):
        super().__init__(0, world.seconds)
        self.duty = duty

    def after(self, world, now, dt, hosts):
        # Nobody is paused who does not send, and nobody pauses who does not receive.
        for state in hosts:
            sends, receives = state.tx / world.rate, state.rx / world.rate
            if world.random.random() < sends:
                state.rx_duty = max(state.rx_duty, world.random.uniform(0, self.duty))
            if world.random.random() < 0.3 * receives:
                state.tx_duty = max(state.tx_duty, world.random.uniform(0, self.duty / 2))


class SingleFrames(Fault):
    """One long pause frame: the time that it asked for, and nothing after it."""

    def __init__(self, start, end, chance):
        super().__init__(start, end)
        self.chance = chance

    def after(self, world, now, dt, hosts):
        for state in hosts:
            for direction in ("rx", "tx"):
                if world.random.random() < self.chance * dt:
                    state.add(f"pfc_{direction}_pause_frames", 1)
                    state.add(f"pfc_{direction}_pause_duration_us", world.shape.longest * 1e6)


class Resets(Fault):
    def __init__(self, at, hosts):
        super().__init__(at, at)
        self.hosts, self.done = hosts, False

    def after(self, world, now, dt, hosts):
        if not self.done and now + dt > self.start:
            self.done = True
            for host in self.hosts:
                world.nics[host].reset()


class Trickle(Fault):
    """Marks and CNPs that come slowly: enough to pass the end of a counter, too few to matter."""

    def __init__(self, start, end, per_second):
        super().__init__(start, end)
        self.per_second = per_second

    def after(self, world, now, dt, hosts):
        for state in hosts:
            for signal in ("ecn_marked_packets_received", "cnp_sent", "cnp_handled"):
                state.add(signal, self.per_second * dt)
