"""Only large packets are lost: a switch that lets none of them by, and an MTU that is made smaller while
its host is probed. `write_mtu` fails while `write0` goes through on the same queue pairs; and what is put
right is probed again by itself."""

import re
import time
from contextlib import contextmanager
from datetime import datetime

from datagrams import paths_to
from verdicts import expect, impaired
from world import HOSTS, PATIENCE, Failure

CLASS = "control"  # whose retries end within half a second
OPS = "classes: {control: {ops: [write0, write_mtu]}}"
# A `write_mtu` of 1024 bytes is a frame of 1098; nothing else that is probed, or said between daemons
# while all is well, has more than 1000.
LARGE = "1000"
PAIRS = [(a, b) for a in HOSTS for b in HOSTS if a != b]


def probes(world, host, peer, op, outcome):
    return world.value(host, "rdmapulse_probes_total",
                       f'peer="{peer}",class="{CLASS}",op="{op}",outcome="{outcome}"') or 0


def wait_more(world, limit_s, host, peer, op, outcome, more=3):
    before = probes(world, host, peer, op, outcome)
    world.wait(f"{host} has {more} more {op} to {peer} {outcome}", limit_s,
               lambda: probes(world, host, peer, op, outcome) >= before + more,
               lambda: f"; {paths_to(world, host, peer, CLASS)}")


@contextmanager
def probed_with_both(world):
    for host in HOSTS:
        world.reload_with(host, OPS)
    try:
        for host, peer in PAIRS:
            wait_more(world, 15, host, peer, "write_mtu", "ok", 1)
        yield
    finally:
        for host in HOSTS:
            world.reload_with(host, "")


def set_mtu(world, host, mtu):
    """Not below 1280, where IPv6 and with it the sessions' addresses would go."""
    world.guest(host, "ip", "link", "set", "eth0", "mtu", str(mtu))


def a_switch_that_drops_large_frames(world):
    with probed_with_both(world):
        mark = world.mark()
        with impaired(world, "--from", "h1", "--to", "h2", "--larger", LARGE, "--blackhole"):
            wait_more(world, 20, "h1", "h2", "write_mtu", "failed")
            good = probes(world, "h1", "h2", "write_mtu", "ok")
            wait_more(world, 20, "h1", "h2", "write0", "ok", 5)
            if probes(world, "h1", "h2", "write0", "failed"):
                raise Failure(f"write0 failed: {paths_to(world, 'h1', 'h2', CLASS)}")
            if probes(world, "h1", "h2", "write_mtu", "ok") > good:
                raise Failure("a write_mtu went through")
            rows = [(row["op"], row["last_outcome"]) for row in paths_to(world, "h1", "h2", CLASS)]
            if ("write_mtu", "failed") not in rows or ("write0", "failed") in rows:
                raise Failure(f"the rows say {rows}")
            finding = world.wait_finding(30, "h1", "path_loss", None, peer="h2")
            said = [fact["text"] for fact in finding["evidence"]]
            print(f"     {said}", flush=True)
            expect(finding, "smaller messages come through",
                   any("smaller messages come through" in text for text in said))
            wait_more(world, 10, "h1", "h3", "write_mtu", "ok")
        wait_more(world, 20, "h1", "h2", "write_mtu", "ok")
        world.wait_no_finding(60, "h1", "path_loss", peer="h2")
        world.expect_begun(mark, h1={"path_loss", "lossless_loss"}, h2={"path_loss", "lossless_loss"})
    world.wait_probing(20, [("h1", "h2")])


def saw_its_port_change(log):
    """The lines that say so, of the host's own port."""
    return [line for line in log.splitlines()
            if "its facts changed" in line and "the peer" not in line]


def seconds_of(line):
    return datetime.strptime(line.split()[0], "%Y-%m-%dT%H:%M:%S.%f").timestamp()


def anew_after(log):
    """How long it took from when the host saw that its port had changed until its paths were up."""
    seen = [seconds_of(line) for line in saw_its_port_change(log)]
    up = [seconds_of(line) for line in log.splitlines() if re.search(r" path \S+ .*: up$", line)]
    return up[-1] - seen[0] if seen and up and up[-1] > seen[0] else None


def an_mtu_that_changes_while_it_is_probed(world):
    """rxe sends no event for it: the daemon sees it in the netdev within five seconds."""
    with probed_with_both(world):
        mark = world.mark()
        for host in HOSTS:
            set_mtu(world, host, 4200)
        try:
            for host in HOSTS:
                world.wait(f"{host} sees its larger MTU", 7, lambda host=host: saw_its_port_change(
                    world.lab("log", host).stdout[mark[host]:]))
            for host, peer in PAIRS:
                wait_more(world, 15, host, peer, "write_mtu", "ok")
            mark = world.mark()
            set_mtu(world, "h2", 1500)
            world.wait("h2 sees it and has its paths again", 7, lambda: anew_after(
                world.lab("log", "h2").stdout[mark["h2"]:]) is not None)
            time.sleep(2)
            took = anew_after(world.lab("log", "h2").stdout[mark["h2"]:])
            print(f"     from when it was seen: {took:.1f} s (limit 2 s)", flush=True)
            if took > 2 * PATIENCE:
                raise Failure(f"the paths were up again only after {took:.1f} s")
            for host, peer in PAIRS:
                wait_more(world, 10, host, peer, "write_mtu", "ok")
            for host, peer, words in (("h1", "h2", "here has 4096 bytes and rxe0/1 at the peer 1024"),
                                      ("h2", "h1", "here has 1024 bytes and rxe0/1 at the peer 4096")):
                finding = world.wait_finding(45, host, "config", peer=peer)
                expect(finding, words, words in finding["evidence"][0]["text"])
            world.expect_begun(mark, **{host: {"config"} for host in HOSTS})
        finally:
            for host in HOSTS:
                set_mtu(world, host, 1500)
        for host in HOSTS:
            world.wait_no_finding(20, host, "config")
        for host, peer in PAIRS:
            wait_more(world, 15, host, peer, "write_mtu", "ok")
    world.wait_probing(20, PAIRS)


LONG_CASES = (a_switch_that_drops_large_frames, an_mtu_that_changes_while_it_is_probed)
