"""What passes by itself, and what is probed as before when it has: ten flaps of a link one after the
other, and a wall clock that jumps."""

import time

from verdicts import PORT, counter, expect, number_in
from world import HOSTS, Failure

PAIRS = [(a, b) for a in HOSTS for b in HOSTS if a != b]
FLAPS = 10
PATHS_OF_A_PEER = 4  # two classes by two source ports
HOUR_S = 3600


def paths_made(world, host, mark):
    """How often a path of the host came up, by its journal."""
    return sum(line.rstrip().endswith(": up") and " path " in line
               for line in world.lab("log", host).stdout[mark:].splitlines())


def ten_flaps_in_a_row(world):
    """Nothing is left over of them: no path, no descriptor, no finding but what a flapping link is."""
    world.wait_probing(10, PAIRS)
    epochs = {host: world.epoch(host) for host in HOSTS}
    fds = world.value("h3", "process_open_fds")
    mark = world.mark()
    downs = counter(world, "h3", "link_downed")
    for _ in range(FLAPS):
        world.lab("cable", "h3", "down")
        time.sleep(0.5)
        world.lab("cable", "h3", "up")
        time.sleep(0.5)
    world.wait_probing(5, PAIRS)
    finding = world.wait_finding(5, "h3", "link_flap", **PORT)
    # The kernel tells rxe of the carrier about once a second: it counts fewer than there were.
    downs = counter(world, "h3", "link_downed") - downs
    expect(finding, f"as often as rxe counted, {downs}",
           downs > 2 and number_in(finding, "times") == downs)
    for host, peer in (("h1", "h2"), ("h2", "h1")):
        made = paths_made(world, host, mark[host])
        print(f"     {host} made {made} paths anew", flush=True)
        if made > PATHS_OF_A_PEER * FLAPS:
            raise Failure(f"{host} made {made} paths anew in {FLAPS} flaps")
        if world.value(host, "rdmapulse_peer_up", f'peer="{peer}"') != 1:
            raise Failure(f"{host} lost its session with {peer}, whose link never flapped")
    for host in HOSTS:
        if world.epoch(host) != epochs[host]:
            raise Failure(f"the daemon of {host} was restarted")
    world.wait_no_finding(30, "h3", "link_down")
    lost = {"peer_down", "path_loss", "lossless_loss"}  # what was under way to or from h3
    world.expect_begun(mark, h1=lost, h2=lost, h3=lost | {"link_down", "link_flap"})
    world.wait(f"as many descriptors as before ({fds:.0f})", 10,
               lambda: world.value("h3", "process_open_fds") <= fds)


def step_clock(world, host, seconds):
    world.guest(host, "sh", "-c", f"date -s @$(( $(date +%s) + {seconds} )) >/dev/null")


def overdue(world):
    return {host: world.value(host, "rdmapulse_probe_overdue") for host in HOSTS}


def a_wall_clock_that_jumps(world):
    """An hour on, then two back, as when a host finds its time server: what is measured goes by the clock
    that never jumps."""
    world.wait_probing(10, PAIRS)
    epoch = world.epoch("h2")
    failed = {host: world.value(host, "rdmapulse_probes_total", 'outcome!="ok"') for host in HOSTS}
    slowest = {host: world.value(host, "rdmapulse_probe_rtt_seconds_bucket", 'le="+Inf"')
               - world.value(host, "rdmapulse_probe_rtt_seconds_bucket", 'le="1"') for host in HOSTS}
    mark = world.mark()
    try:
        for seconds in (HOUR_S, -2 * HOUR_S):
            step_clock(world, "h2", seconds)
            for _ in range(8):
                time.sleep(0.5)
                if any(overdue(world).values()):
                    raise Failure(f"probes are overdue: {overdue(world)}")
            world.wait_probing(6, PAIRS)
            done = world.guest("h2", "rdmapulse", "probe", "h1", "-c", "3", "-i", "0.2")
            if "3 ok" not in done.stdout:
                raise Failure(f"rdmapulse probe on h2: {done.stdout}")
    finally:
        step_clock(world, "h2", HOUR_S)
    world.wait_probing(6, PAIRS)
    for host in HOSTS:
        now = world.value(host, "rdmapulse_probes_total", 'outcome!="ok"')
        if now != failed[host]:
            raise Failure(f"{host} has {now - failed[host]:.0f} probes that are not ok")
        long = (world.value(host, "rdmapulse_probe_rtt_seconds_bucket", 'le="+Inf"')
                - world.value(host, "rdmapulse_probe_rtt_seconds_bucket", 'le="1"'))
        if long != slowest[host]:
            raise Failure(f"{host} has {long - slowest[host]:.0f} round trips above a second")
    if world.epoch("h2") != epoch:
        raise Failure("the daemon was restarted")
    world.expect_begun(mark)


LONG_CASES = (ten_flaps_in_a_row, a_wall_clock_that_jumps)
