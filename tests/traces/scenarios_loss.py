"""Scenarios of lost packets, links, optics, receive buffers, other fabrics, configuration."""

import itertools

from faults_loss import (Correctable, CreditStall, LinkDown, LinkLoss, Retransmits, Starved)
from faults_pause import Incast
from faults_peers import BlackHole, Gauge
from probing import Stream
from truth import NO_PAUSE_VERDICT, event, fault
from world import World

LOSS_ELSEWHERE = "may be lossless_loss, path_loss"


def _world(random, **kwargs):
    """Drivers that count what the transport does."""
    if "plain" not in kwargs and random.random() < 0.3:
        kwargs["plain"] = True
    elif "driver" not in kwargs:
        kwargs.update(plain=False, driver=random.choice(("mlx5", "mlx5", "bnxt")))
    kwargs.setdefault("load", random.uniform(0.2, 0.45))
    return World(random, **kwargs)


def _losers(world, start):
    """Hosts that see at least six gaps in each of the first six bins, and one in 30,000 packets.

    See: a counter that moves in thousands shows nothing in most bins of a weak loss, and three of six
    bins are what the condition is made of (detection 2.2).
    """
    found = []
    for host in range(world.clos.count):
        sums = itertools.accumulate(world.bins(
            host, start, 6, lambda s: s.events.get("out_of_sequence", 0) / world.dt))
        shown = [0, *(total // world.grain * world.grain for total in sums)]
        gaps = [after - before for before, after in zip(shown, shown[1:])]
        packets = sum(world.bins(host, start, 6, lambda s: s.rx / world.mtu))
        if min(gaps) >= 6 and packets and sum(gaps) / packets > 3e-5:
            found.append(host)
    return found


def _loss(random, links_of, title, corrupts=False, low=-4.5, high=-1.5, condition="lossless_loss"):
    world = _world(random, seconds=random.uniform(110, 150))
    start = world.some_time(0.15, 0.3)
    end = world.seconds if random.random() < 0.7 else start + 65
    links, where = links_of(world)
    world.add(LinkLoss(links, start, end, 10 ** random.uniform(low, high), corrupts))
    world.run()
    return world, fault(
        "random frame loss", title, {"link": where}, start, end, "link_corruption", where,
        [*NO_PAUSE_VERDICT, *[event(condition, world.name(h), 60) for h in _losers(world, start)],
         "quiet before", "nobody a slow receiver", LOSS_ELSEWHERE, "may be congestion"])


def loss_host_link(random):
    """15: frames die on a host's own link."""
    def links(world):
        host = world.some_host()
        return [world.clos.down(host)], f"{world.clos.tor_name(host)}->{world.name(host)}"
    return _loss(random, links, "each frame on one host link is lost with that chance", True,
                 condition="lossless_loss or optics")


def loss_fabric_link(random):
    """15: frames die between switches: everybody behind that link loses its share."""
    def links(world):
        tor, spine = random.randrange(world.clos.tors), random.randrange(world.clos.spines)
        link = random.choice((world.clos.trunk_up, world.clos.trunk_down))(tor, spine)
        return [link], f"link of s{tor}"
    return _loss(random, links, "each frame on one fabric link is lost with that chance",
                 low=-4.0)


def loss_tor(random):
    """17: a ToR drops a share of everything."""
    def links(world):
        tor = random.randrange(world.clos.tors)
        hosts = range(tor * world.clos.per_tor, (tor + 1) * world.clos.per_tor)
        return [world.clos.down(h) for h in hosts] + \
            [world.clos.trunk_up(tor, s) for s in range(world.clos.spines)], f"s{tor}"
    return _loss(random, links, "a ToR drops a share of all packets", low=-3, high=-1.5)


def loss_congestion(random):
    """07b of the shared traces: PFC and ECN off, fan-in overruns the switch's buffer."""
    world = _world(random, ecn=False, pfc=False, seconds=140, load=random.uniform(0.05, 0.2))
    start, host = world.some_time(0.15, 0.3), world.some_host()
    others = [h for h in range(world.clos.count) if h != host]
    world.add(Incast([(s, host) for s in random.sample(others, random.randint(3, len(others)))],
                     start, world.seconds))
    config = random.random() < 0.4
    if config:  # 25: the host's own audit knows why.
        world.add(Gauge("config_findings", host, 0, world.seconds, "pfc_mask", ""))
    world.run()
    return world, fault(
        "congestion loss on a lossy class", "PFC and ECN off, fan-in", {"host": world.name(host)},
        start, world.seconds, "congestion_loss", f"incast into {world.name(host)}",
        [*NO_PAUSE_VERDICT,
         *[event("lossless_loss", world.name(h), 60) for h in _losers(world, start)],
         LOSS_ELSEWHERE, "may be congestion, config"])


def black_hole(random):
    """16: one UDP source port of a pair leads nowhere, its other ports do."""
    world = _world(random, seconds=120, plain=False)
    prober, start = world.prober, world.some_time()
    pairs = sorted({(s.source, s.target) for s in prober.streams})
    chosen = random.sample(pairs, min(5, len(pairs)))
    dead = []
    for source, target in chosen:
        for extra in range(3):
            stream = Stream(source, target, "write0", False, 49152 + random.randrange(16384),
                            random.random())
            prober.streams.append(stream)
        dead.append(stream)
    world.add(BlackHole(dead, start, world.seconds))
    world.run()
    return world, fault(
        "one path swallows everything", "probes with one source port never arrive",
        {"paths": [f"{world.name(s)}->{world.name(t)}" for s, t in chosen]}, start, world.seconds,
        "blackhole", "one ECMP path",
        [*NO_PAUSE_VERDICT,
         *[event("path_loss or lossless_loss", world.name(s.source), 30, peer=world.name(s.target))
           for s in dead], "quiet before", LOSS_ELSEWHERE])


def link_down(random):
    """19: carrier lost once, for some seconds or for good."""
    world = World(random, seconds=random.uniform(80, 120))
    start, host = world.some_time(), world.some_host()
    end = start + random.uniform(3, 25) if random.random() < 0.7 else world.seconds
    world.add(LinkDown(host, start, end))
    world.run()
    return world, fault(
        "host link down", f"{world.name(host)} without carrier", {"host": world.name(host)}, start,
        end, "link_down", world.name(host),
        [*NO_PAUSE_VERDICT, event("link_down", world.name(host), 2.2),
         "link down nowhere else", "may be peer_down, path_loss, lossless_loss"])


def link_flap(random):
    """19: a link that goes and comes; its pause counters run wild around each change."""
    world = World(random, seconds=random.uniform(240, 420), dt=1.0, tors=2, per_tor=3)
    host, flaps, at = world.some_host(), [], 30.0
    wild = random.random() < 0.5
    for _ in range(random.randint(2, 4)):
        span = (at, at + random.uniform(2, 12))
        flaps.append(span)
        world.add(LinkDown(host, *span, storm_like=wild))
        at = span[1] + random.uniform(15, 50)
    world.seconds = max(world.seconds, flaps[-1][1] + 30)
    world.run()
    name = world.name(host)
    return world, fault(
        "host link flap", f"{name} loses carrier {len(flaps)} times", {"host": name}, flaps[0][0],
        flaps[-1][1], "link_flap", name,
        # The second loss of carrier shows it, its return at the latest.
        [*NO_PAUSE_VERDICT, event("link_flap", name, flaps[1][1] - flaps[1][0] + 2.2,
                                  span=(flaps[1][0], world.seconds)),
         *[event("link_down", name, 2.2, span=span) for span in flaps[:1]],
         "link down nowhere else", "may be peer_down, path_loss, lossless_loss"])


def optics(random):
    """20: corrected blocks a hundred times as many, then some that cannot be corrected."""
    world = World(random, seconds=5400, dt=10.0, plain=False, driver="optical", tors=2, per_tor=4)
    world.prober.streams = []
    world.second = None
    bad = random.sample(range(world.clos.count), 5)
    start = random.uniform(900, 1800)
    for host in range(world.clos.count):
        base = random.uniform(0.5, 50)
        if host in bad:
            world.add(Correctable(host, start, world.seconds, base, base * random.uniform(30, 300),
                                  10 ** random.uniform(-2, 1)))
        else:
            world.add(Correctable(host, world.seconds, world.seconds, base, base, 0))
    world.run()
    shown = [host for host in bad if min(world.bins(
        host, start, 2, lambda s: s.events.get("fec_uncorrectable_blocks", 0) / world.dt, 550)) >= 1]
    return world, fault(
        "failing optics", "corrected blocks rise, then some cannot be corrected",
        {"hosts": [world.name(h) for h in bad]}, start, world.seconds, "optics", None,
        [*NO_PAUSE_VERDICT, *[event("optics", world.name(h), 1260) for h in shown],
         "may be lossless_loss, optics"])


def starved(random):
    """14: an application that posts too few receives: no pause, RNR NAKs at its peers."""
    world = _world(random, plain=False, seconds=random.uniform(120, 150))
    start, host = world.some_time(0.15, 0.3), world.some_host()
    source = world.some_host(but=(host,))
    world.traffic.add(source, host, random.uniform(0.1, 0.4))
    world.add(Starved(host, start, world.seconds, 10 ** random.uniform(-3.8, -2)))
    world.run()
    return world, fault(
        "application without receive buffers", f"{world.name(host)} posts too few receives",
        {"host": world.name(host)}, start, world.seconds, "rnr_starved", world.name(host),
        [*NO_PAUSE_VERDICT, event("rnr_starved", world.name(host), 75), "no loss",
         "nobody a slow receiver", "may be rnr_starved, congestion"])


def credit_stall(random):
    """29: InfiniBand without credits: nothing sent for long, then head-of-queue drops."""
    world = World(random, plain=False, driver="infiniband", ecn=False, pfc=False, dt=1.0,
                  seconds=170, pattern="poisson")
    world.second = None
    start = world.some_time(0.15, 0.3)
    bad = random.sample(range(world.clos.count), 3)
    ticks = 10 ** random.uniform(7, 9)
    for host in range(world.clos.count):
        until = world.seconds if host in bad else start
        world.add(CreditStall(host, start, until, ticks, random.uniform(0.6, 1.0),
                              random.choice((0.5, 5, 150))))
    world.run()
    return world, fault(
        "InfiniBand credit starvation", "ports wait for credits, old packets are dropped",
        {"hosts": [world.name(h) for h in bad]}, start, world.seconds, "ib_credit", None,
        [*NO_PAUSE_VERDICT, *[event("ib_credit", world.name(h), 75) for h in bad],
         "may be ib_credit, path_loss, lossless_loss"])


def iwarp(random):
    """30: TCP under iWARP sends again."""
    world = World(random, plain=False, driver="iwarp", ecn=False, pfc=False, dt=1.0, seconds=150,
                  load=random.uniform(0.2, 0.5), pattern="poisson")
    world.second = None
    start = world.some_time(0.15, 0.3)
    bad = random.sample(range(world.clos.count), 4)
    for host in bad:
        world.add(Retransmits(host, start, world.seconds, 10 ** random.uniform(-3.3, -1.3)))
    world.run()
    return world, fault(
        "iWARP retransmissions", "TCP sends segments again", {"hosts": [world.name(h) for h in bad]},
        start, world.seconds, "iwarp_retx", None,
        [*NO_PAUSE_VERDICT, *[event("iwarp_retx", world.name(h), 75) for h in bad],
         "may be path_loss"])


def misconfigured(random):
    """26 to 28: what the host's audit found."""
    world = World(random, seconds=100, plain=False, driver="mlx5")
    start = world.some_time(0.15, 0.4)
    bad = random.sample(range(world.clos.count), 4)
    for host in range(world.clos.count):
        found = random.choice(("dscp_map", "trust;dscp_map", "mtu", "gid", "pfc_mask;trust"))
        world.add(Gauge("config_findings", host, start if host in bad else world.seconds + 1,
                        world.seconds + 1, found, ""))
    world.run()
    return world, fault(
        "misconfiguration", "an audit check fails at some hosts",
        {"hosts": [world.name(h) for h in bad]}, start, world.seconds, "config", None,
        [*NO_PAUSE_VERDICT, *[event("config", world.name(h), 60) for h in bad], "no loss",
         "no major or critical finding"])


def device_lost(random):
    """The device goes away: no reading but that."""
    world = World(random, seconds=90, plain=False)
    world.second = None
    start, bad = world.some_time(), world.some_host()
    world.add(Gauge("device_present", bad, start, world.seconds + 1, 0, 1))

    def forget(host, now):
        if host == bad and now >= start:
            world.nics[bad].gone = True
            world.traffic.off.add(bad)
        return False
    world.missed = forget
    world.prober.silent = lambda host, now: host == bad and now >= start
    world.run()
    return world, fault(
        "device lost", f"the RDMA device of {world.name(bad)} disappears",
        {"host": world.name(bad)}, start, world.seconds, "device_lost", world.name(bad),
        [*NO_PAUSE_VERDICT, event("device_lost", world.name(bad), 2.2), "may be link_down"])
