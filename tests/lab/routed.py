"""A path over a router: h1 and h3 in networks of their own, h2 between them, all on one wire. The trace
names the router, and a finding says that its path goes by it."""

import json
import re
from contextlib import contextmanager

from verdicts import impaired
from world import HOSTS, Failure

ROUTER = {"h1": "10.78.1.254", "h3": "10.79.3.254"}
ENDS = {"h1": "10.78.1.1", "h3": "10.79.3.3"}
NETWORKS = {"h1": "10.78.1.0/24", "h3": "10.79.3.0/24"}


def all_pairs():
    return [(a, b) for a in HOSTS for b in HOSTS if a != b]


def readdress(world, host, was, is_now):
    world.guest(host, "ip", "address", "add", f"{is_now}/24", "dev", "eth0")
    world.guest(host, "ip", "address", "del", f"{was}/24", "dev", "eth0")


@contextmanager
def routed(world):
    """Sessions go on over IPv6, which stays as it is."""
    forward = ("for i in all eth0; do echo 0 >/proc/sys/net/ipv4/conf/$i/send_redirects; done; "
               "echo {} >/proc/sys/net/ipv4/ip_forward")
    for address in ROUTER.values():
        world.guest("h2", "ip", "address", "add", f"{address}/24", "dev", "eth0")
    world.guest("h2", "sh", "-c", forward.format(1))
    try:
        for host, other in (("h1", "h3"), ("h3", "h1")):
            readdress(world, host, f"10.77.0.{host[1]}", ENDS[host])
            for network in (NETWORKS[other], "10.77.0.0/24"):
                world.guest(host, "ip", "route", "add", network, "via", ROUTER[host])
        world.wait_probing(15, all_pairs())
        yield
    finally:
        world.lab("impair", "clear")
        for host in ENDS:
            world.guest(host, "ip", "route", "del", "10.77.0.0/24", check=False)
            world.guest(host, "ip", "address", "add", f"10.77.0.{host[1]}/24", "dev", "eth0",
                        check=False)
            world.guest(host, "ip", "address", "del", f"{ENDS[host]}/24", "dev", "eth0", check=False)
        for address in ROUTER.values():
            world.guest("h2", "ip", "address", "del", f"{address}/24", "dev", "eth0", check=False)
        world.guest("h2", "sh", "-c", forward.format(0))
        world.wait_probing(15, all_pairs())


def paths_to(world, peer):
    return next(p["paths"] for p in world.api("h1", "peers")["peers"] if p["peer"] == peer)


def routers_of(path):
    return [hop["address"] for hop in path["hops"] or [] if not hop["peer"]]


def probe_shows_the_router(world):
    said = world.guest("h1", "rdmapulse", "probe", "h3", "-c", "2", "-i", "0.2", "--trace").stdout
    print("     " + said.strip().replace("\n", "\n     "), flush=True)
    lines = said.splitlines()
    if not re.match(r"write0 to h3 lossless: seq=1 rtt=", lines[0]):
        raise Failure(f"the first line is no reply: {said}")
    said = world.guest("h1", "rdmapulse", "probe", "h3", "-c", "1", "--class", "control", "--trace",
                       "--json").stdout
    lines = [json.loads(line) for line in said.splitlines()]
    hops = [(line["hop"]["ttl"], line["hop"]["address"], line["hop"]["peer"])
            for line in lines if "hop" in line]
    if hops != [(1, ROUTER["h1"], False), (2, ENDS["h3"], True)]:
        raise Failure(f"the hops are {hops}")
    if "outcome" not in lines[0] or "summary" not in lines[-1]:
        raise Failure(f"the lines are {lines}")


def a_path_over_a_router(world):
    mark = world.mark()
    with routed(world):
        probe_shows_the_router(world)
        world.reload_with("h1", "trace: {interval: 10s}")
        world.wait("every path is traced, as configured", 15, lambda: all(
            routers_of(path) == [ROUTER["h1"]] for path in paths_to(world, "h3")) and all(
            path["hops"] is not None and routers_of(path) == [] for path in paths_to(world, "h2")))
        # Lost behind the router, which still answers: the trace ends there.
        sport = str(paths_to(world, "h3")[0]["sport"])
        way = f"go by {ROUTER['h1']}, then nothing answers"
        with impaired(world, "--from", "h2", "--to", "h3", "--sport", sport, "--blackhole"):
            facts = []

            def told():
                facts[:] = [fact["text"] for finding in
                            world.findings("h1", "path_loss", None, peer="h3")
                            for fact in finding["evidence"]]
                return any(way in fact for fact in facts)

            world.wait("h1 suspects path_loss h3, and where its packets end", 25, told,
                       lambda: f"; it says {facts}")
            for fact in facts:
                print(f"     {fact}", flush=True)
            print("     " + world.guest("h1", "rdmapulse", "peers").stdout.strip()
                  .replace("\n", "\n     "), flush=True)
            world.wait_probing(6, [("h1", "h2")])
    world.reload_with("h1", "")
    # Addresses were moved and retries spent: what that is called is not what is judged here.
    world.expect_begun(mark, **{host: {"path_loss", "lossless_loss", "peer_down", "config",
                                       "egress_blocked"} for host in HOSTS})


LONG_CASES = (a_path_over_a_router,)
