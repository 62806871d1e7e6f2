"""Scenarios of hosts and agents: none of them is the network's fault, and none may be called so."""

from faults_loss import LinkDown
from faults_peers import (AgentRestart, Gauge, Overloaded, PeerDown, SelfStarved, watch_sessions,
                          watchers)
from truth import event, fault, healthy
from world import World

# A row for every probe that falls due, outstanding ones or not: sessions are seen with them alone.
PLAIN = {"interval": 1.0, "control": True, "skips": False}
ECHO = {"kinds": ("write0", "read", "echo"), **PLAIN}


def _world(random, **kwargs):
    kwargs.setdefault("plain", False)
    kwargs.setdefault("seconds", random.uniform(70, 110))
    return World(random, **kwargs)


def _about(world, conditions, peer, within, span=None):
    return [event(conditions, world.name(host), within, peer=world.name(peer), span=span)
            for host in watchers(world, peer) if host != peer]


def peer_down(random):
    """21: a host is powered off."""
    world = _world(random, probes=PLAIN)
    start, peer = world.some_time(), world.some_host()
    end = world.seconds if random.random() < 0.7 else start + random.uniform(20, 30)
    world.add(PeerDown(peer, start, end))
    world.run()
    return world, fault(
        "host powered off", f"{world.name(peer)} is gone, to every class and to TCP",
        {"host": world.name(peer)}, start, end, "peer_down", world.name(peer),
        ["no network verdict", *_about(world, "peer_down", peer, 10), "may be agent_restart"])


def peer_overloaded(random):
    """22: a host's CPU is overloaded: echoes late, one-sided probes as ever."""
    world = _world(random, probes=ECHO)
    start, peer = world.some_time(), world.some_host()
    world.add(Overloaded(peer, start, world.seconds, 10 ** random.uniform(-0.9, 0.3)))
    world.run()
    return world, fault(
        "host overloaded", f"{world.name(peer)} echoes late, its NIC answers",
        {"host": world.name(peer)}, start, world.seconds, "peer_overloaded", world.name(peer),
        ["no network verdict", *_about(world, "peer_overloaded", peer, 12)])


def agent_stopped(random):
    """22: a peer's agent is stopped: echoes never come, one-sided probes do."""
    world = _world(random, probes=ECHO)
    start, peer = world.some_time(), world.some_host()
    world.add(Overloaded(peer, start, world.seconds - 5, 0, stopped=True))
    world.run()
    return world, fault(
        "agent stopped", f"the agent of {world.name(peer)} does not run, its NIC answers",
        {"host": world.name(peer)}, start, world.seconds - 5, "peer_overloaded", world.name(peer),
        ["no network verdict", *_about(world, "peer_overloaded or peer_down", peer, 12)])


def rolling_restart(random):
    """23: agents start again, one after the other."""
    world = _world(random, probes=PLAIN)
    at, away = 20.0, random.uniform(0.5, 3.0)
    restarts = []
    for peer in range(world.clos.count):
        world.add(AgentRestart(peer, at, away))
        restarts.append((peer, at + away))
        at += random.uniform(2, 5)
    world.seconds = max(world.seconds, at + 15)
    world.run()
    phrases = [phrase for peer, back in restarts
               for phrase in _about(world, "agent_restart", peer, 6, (back, world.seconds))]
    return world, fault(
        "rolling restart of all agents", "each agent is away for some seconds", None, 20.0,
        at, "agent_restart", None,
        ["no network verdict", "no major or critical finding", *phrases, "may be peer_down"])


def self_starved(random):
    """24: our own host stalls: every answer seems late, none is."""
    world = _world(random, probes=PLAIN)
    start, host = world.some_time(), world.some_host()
    world.add(SelfStarved(host, start, world.seconds, 10 ** random.uniform(-0.9, 0.2)))
    world.run()
    truth = healthy(f"the loop of {world.name(host)} wakes late", ["no network verdict"])
    return world, truth


def maintenance(random):
    """A host under maintenance loses its link and comes back: nobody is to be woken by it."""
    world = _world(random, probes=PLAIN)
    start, host = world.some_time(), world.some_host()
    end = start + random.uniform(15, 40)
    world.add(Gauge("maintenance", host, start - 2, end + 10, 1, 0))
    world.add(LinkDown(host, start, end))
    watch_sessions(world)
    world.sessions_down[host] = [(start + 1, end + 2)]
    world.run()
    return world, healthy(f"{world.name(host)} under maintenance",
                          ["no network verdict", "may be peer_down"])
