"""Scenarios in which ports pause: storms, deadlocks, slow receivers, congestion."""

from faults_loss import LinkLoss
from faults_pause import Bursts, Cycle, Incast, SlowReceiver, Storm
from truth import NO_PAUSE_VERDICT, blocked_spans, event, fault, healthy
from world import World

COLLATERAL = "may be deadlock_candidate, egress_blocked, hol_victim, congestion, lossless_loss, " \
    "path_loss, watchdog_cut"


def _ending(world, start, chance=0.4):
    """When a fault that began at `start` is over; mostly it outlasts the trace."""
    if world.random.random() < chance and world.seconds - start > 40:
        return world.random.uniform(start + 25, world.seconds - 10)
    return world.seconds


def _over(world, end):
    return [] if end + 75 > world.seconds else ["over within 60 s after the end"]


def _victims(world, conditions="egress_blocked or deadlock_candidate", within=15, but=()):
    return [event(conditions, world.name(host), within, span=(since, until))
            for host, since, until in blocked_spans(world) if host not in but]


def _storm_fault(world, host, start, end, **kwargs):
    random = world.random
    duty = 1.0 if random.random() < 0.7 else random.uniform(0.965, 0.999)
    return world.add(Storm(host, start, end, duty, sends_on=random.random() < 0.6, **kwargs))


def storm(random):
    """1: a NIC stops draining and pauses for ever; no watchdog anywhere."""
    world = World(random)
    start, host = world.some_time(), world.some_host()
    end = _ending(world, start)
    _storm_fault(world, host, start, end)
    world.run()
    return world, fault(
        "NIC pause storm", f"{world.name(host)} sends XOFF to its ToR without a break",
        {"host": world.name(host)}, start, end, "pfc_storm_host", world.name(host),
        [event("storm_source", world.name(host), 5), "storm nowhere else", "nothing major before",
         "culprit is not called blocked", *_victims(world, but=(host,)), "no flapping", COLLATERAL,
         *_over(world, end)])


def storm_prevented(random):
    """2: the NIC's own watchdog ends the storm; what is left is its error event, then drops."""
    world = World(random, driver="mlx5", plain=False)
    start, host = world.some_time(), world.some_host()
    _storm_fault(world, host, start, world.seconds,
                 prevented_after=random.choice((0.08, 0.1, 0.1, 0.1, 0.5, 2.0)))
    world.run()
    return world, fault(
        "NIC pause storm, prevented by the NIC",
        f"{world.name(host)} stops draining; its NIC gives up pausing and drops",
        {"host": world.name(host)}, start, world.seconds, "pfc_storm_host", world.name(host),
        [event("storm_source", world.name(host), 5), "storm nowhere else", "nothing major before",
         COLLATERAL])


def storm_watchdog(random):
    """3: the switch stops listening to the pauses after its detection time and drops."""
    world = World(random)
    start, host = world.some_time(), world.some_host()
    _storm_fault(world, host, start, world.seconds,
                 watchdog_after=max(world.dt, random.uniform(0.2, 0.8)))
    world.run()
    return world, fault(
        "NIC pause storm, cut by the switch",
        f"{world.name(host)} pauses without a break; its ToR drops what is for it",
        {"host": world.name(host)}, start, world.seconds, "pfc_storm_host", world.name(host),
        [event("storm_source", world.name(host), 5), "storm nowhere else", "nothing major before",
         COLLATERAL])


def storm_silent(random):
    """4: the culprit's operating system hangs with its NIC: nobody reads its counters."""
    world = World(random)
    start, host = world.some_time(), world.some_host()
    _storm_fault(world, host, start, world.seconds)
    world.missed = lambda h, now: h == host and now >= start
    world.prober.silent = lambda h, now: h == host and now >= start
    world.run()
    return world, fault(
        "NIC pause storm, the culprit silent", f"{world.name(host)} hangs and pauses its ToR",
        {"host": world.name(host)}, start, world.seconds, "pfc_storm_host", world.name(host),
        ["no storm anywhere", "nothing major before", *_victims(world, but=(host,)), COLLATERAL,
         "may be peer_down", "fleet does not say PFCDeadlock"])


def storm_and_loss(random):
    """34: two faults at once: a storm, and an optic that loses frames somewhere else."""
    world = World(random, driver="mlx5", plain=False, seconds=170, load=random.uniform(0.25, 0.45))
    start, host = world.seconds * 0.6, world.some_host()
    other = world.some_host(but=(host,))
    loss_from = 15.0
    world.add(LinkLoss([world.clos.down(other)], loss_from, world.seconds,
                       10 ** random.uniform(-3.3, -1.7), corrupts=True))
    _storm_fault(world, host, start, world.seconds)
    world.run()
    return world, fault(
        "NIC pause storm, and a bad optic elsewhere",
        f"{world.name(host)} pauses without a break; frames to {world.name(other)} die",
        {"host": world.name(host), "other": world.name(other)}, loss_from, world.seconds,
        "pfc_storm_host", world.name(host),
        [event("storm_source", world.name(host), 5, span=(start, world.seconds)),
         event("lossless_loss or optics", world.name(other), 60), "storm nowhere else", COLLATERAL])


def blocked_unseen(random):
    """Storm victims in virtual machines: no pause counter at all, only the two probe classes."""
    world = World(random, plain=False, driver="function", probes={"control": True})
    start, host = world.some_time(), world.some_host()
    world.add(Storm(host, start, world.seconds))
    world.run()
    # Probes stand at the first paused link, before their own port does.
    victims = [event("egress_blocked or deadlock_candidate", world.name(h), since - start + 15)
               for h, since, _ in blocked_spans(world) if h != host]
    return world, fault(
        "NIC pause storm seen by functions without pause counters",
        f"{world.name(host)} pauses without a break", {"host": world.name(host)}, start,
        world.seconds, "pfc_storm_host", world.name(host),
        ["no storm anywhere", "nothing major before", *victims, COLLATERAL, "may be peer_down"])


def _ring(world):
    """The links of a cycle over some ToRs and one spine or two."""
    random, clos = world.random, world.clos
    tors = random.sample(range(clos.tors), random.randint(2, clos.tors))
    spines = range(clos.spines) if random.random() < 0.6 else (random.randrange(clos.spines),)
    return [link for spine in spines for one in tors
            for link in (clos.trunk_up(one, spine), clos.trunk_down(one, spine))]


def deadlock(random):
    """5: a cycle of buffers that wait for each other; nothing ends it, nobody pauses the network."""
    world = World(random, tors=random.choice((3, 4)), load=random.uniform(0.3, 0.6))
    start = world.some_time(0.2, 0.45)
    end = world.seconds
    world.add(Cycle(_ring(world), start, end))
    world.run()
    victims = blocked_spans(world)
    return world, fault(
        "routing change creating a cyclic buffer dependency",
        "switches in a circle wait for each other's buffers", None, start, end, "pfc_deadlock",
        "cycle", ["no storm anywhere", *_victims(world),
                  *[event("deadlock_candidate", world.name(host), 15, span=(since, until))
                    for host, since, until in victims if until - since > 16],
                  "still blocked at the end", "no slow receiver blamed", "no flapping", COLLATERAL,
                  *_fleet_deadlock(world, victims)])


def _fleet_deadlock(world, victims):
    """The fleet can say it once two hosts under two ToRs stand."""
    first = {}
    for host, since, _ in victims:
        tor = world.clos.tor(host)
        first[tor] = min(first.get(tor, since), since)
    if len(first) < 2:
        return []
    since = sorted(first.values())[1]
    return [] if since + 16 > world.seconds else \
        [f"fleet says PFCDeadlock within 15 s of {since:.3f} s"]


def deadlock_cut(random):
    """6: the same, cut again and again by the switches' watchdog."""
    world = World(random, tors=3, load=random.uniform(0.35, 0.6), plain=False, dt=0.1,
                  driver=random.choice(("mlx5", "bnxt")), pattern="poisson", ecn=False)
    start = world.some_time(0.15, 0.25)
    detect, restore = random.choice(((0.4, 2.0), (0.2, 0.4), (0.4, 0.8), (0.3, 5.0)))
    world.fabric.drain_seconds = 0.02
    world.add(Cycle(_ring(world), start, world.seconds, (detect, restore)))
    world.run()
    cut = [host for host in range(world.clos.count)
           if len([s for s in world.fabric.holds[world.clos.up(host)]
                   if s[1] and 0.12 <= s[1] - s[0] <= 1.0 and s[0] < start + 40]) >= 5]
    return world, fault(
        "deadlock cut by the switches' watchdog", "0.2-0.4 s blocked, then a burst of loss, again "
        "and again", None, start, world.seconds, "pfc_deadlock", "cycle",
        ["no storm anywhere", *[event("watchdog_cut", world.name(host), 60) for host in cut],
         "no slow receiver blamed", COLLATERAL])


def near_deadlock(random):
    """7: the dependency is there, the load is too low to lock it: congestion, however deep."""
    world = World(random, tors=random.choice((2, 3)), spines=random.choice((1, 2)), ecn=False,
                  load=random.uniform(0.35, 0.75), oversubscription=random.uniform(1.5, 4))
    start = world.some_time(0.1, 0.3)
    clos = world.clos
    pairs = [(host, clos.count - 1 - host) for host in range(clos.count)
             if clos.tor(host) != clos.tor(clos.count - 1 - host)]
    world.add(Incast(pairs, start, world.seconds, random.uniform(0.3, 0.9)))
    world.run()
    return world, fault(
        "overload of a long back-pressure chain", "cross-ToR load beyond the trunks, no cycle", None,
        start, world.seconds, "pfc_congestion_spreading", "overload of the trunks",
        [*NO_PAUSE_VERDICT, "no slow receiver blamed", "may be congestion, hol_victim"])


def slow_receiver(random):
    """12: a host drains at a share of the line rate."""
    world = World(random, seconds=random.uniform(110, 150))
    start, host = world.some_time(0.15, 0.3), world.some_host()
    end = _ending(world, start + 40)
    senders = random.sample([h for h in range(world.clos.count) if h != host], random.choice((1, 2)))
    world.add(SlowReceiver(host, start, end, random.uniform(0.1, 0.75), senders))
    world.run()
    return world, _slow_truth(world, host, start, end, "slow receiver")


def slow_receiver_near_storm(random):
    """13: one that pauses 85 to 95 % of the time, and still takes what comes in between."""
    world = World(random, seconds=random.uniform(110, 150), ecn=False, load=0.1)
    start, host = world.some_time(0.15, 0.3), world.some_host()
    senders = random.sample([h for h in range(world.clos.count) if h != host], 2)
    world.add(SlowReceiver(host, start, world.seconds, 0.1, senders, wobble=0.045))
    world.run()
    return world, _slow_truth(world, host, start, world.seconds, "very slow receiver")


def _slow_truth(world, host, start, end, injected):
    return fault(
        injected, f"{world.name(host)} takes data out of its receive buffer too slowly",
        {"host": world.name(host)}, start, end, "slow_receiver", world.name(host),
        [*NO_PAUSE_VERDICT, event("slow_receiver", world.name(host), 45), "nobody else",
         "no flapping", "may be congestion, hol_victim"])


def _senders(world, target, count):
    others = [h for h in range(world.clos.count) if h != target]
    return [(source, target) for source in world.random.sample(others, min(count, len(others)))]


def incast_ecn(random):
    """8: fan-in with DCQCN: the receiver's link is full and marks."""
    world = World(random, ecn=True, seconds=random.uniform(130, 170), load=random.uniform(0.05, 0.3),
                  tors=random.choice((3, 4)))
    start, host = world.some_time(0.15, 0.25), world.some_host()
    world.add(Incast(_senders(world, host, random.randint(4, 12)), start, world.seconds))
    world.run()
    return world, fault(
        "incast", f"fan-in to {world.name(host)}, PFC and ECN on", {"host": world.name(host)}, start,
        world.seconds, "congestion_incast", None,
        [*NO_PAUSE_VERDICT, event("congestion", world.name(host), 80), "no loss",
         "nobody a slow receiver", "may be congestion, hol_victim"])


def incast_pfc(random):
    """9 and 11: the same without ECN: PFC alone holds the senders and whoever shares their ports."""
    world = World(random, ecn=False, seconds=random.uniform(130, 170), load=random.uniform(0.1, 0.35),
                  tors=random.choice((3, 4)))
    start, host = world.some_time(0.15, 0.25), world.some_host()
    world.add(Incast(_senders(world, host, random.randint(4, 12)), start, world.seconds))
    world.run()
    # Frames without durations are an upper bound (detection 1.0): what is less than the 30 % that make
    # it major may be said then, and nobody has to.
    least = 1.2 if "pfc_rx_pause_duration_us" in world.nics[0].total else 3.0
    paused = [h for h in range(world.clos.count)
              if min(world.bins(h, start + 1, 8, lambda s: s.rx_duty)) > least]
    return world, fault(
        "incast, no end-to-end congestion control", f"fan-in to {world.name(host)}, ECN off",
        {"host": world.name(host)}, start, world.seconds, "pfc_congestion_spreading",
        f"incast into {world.name(host)}",
        [*NO_PAUSE_VERDICT, *[event("hol_victim or congestion", world.name(h), 80) for h in paused],
         "no loss", "nobody a slow receiver", "may be congestion, hol_victim"])


def microbursts(random):
    """10: fan-in of a millisecond every hundred: nothing to report."""
    world = World(random, load=random.uniform(0.1, 0.35))
    start, host = world.some_time(), world.some_host()
    world.add(Bursts(host, start, world.seconds, random.uniform(0.005, 0.02)))
    world.run()
    return world, healthy("incast microbursts of a millisecond", NO_PAUSE_VERDICT)
