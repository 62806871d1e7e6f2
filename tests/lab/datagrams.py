"""The datagrams beside the RC probes on a live fabric, and what the two say together when a class, or a
way, is held up or dead. On rxe a datagram's source port is the driver's choice, so that another one than
the RC pair's is hit by a rule for that pair's port."""

from verdicts import DSCP, impaired
from world import HOSTS, Failure


def paths_to(world, host, peer, traffic_class, op=None):
    return [path for one in world.api(host, "peers")["peers"] if one["peer"] == peer
            for path in one["paths"]
            if path["class"] == traffic_class and op in (None, path["op"])]


def joint_of(world, host, peer, traffic_class):
    return paths_to(world, host, peer, traffic_class)[0]["joint"]


def answered(world, host, peer, traffic_class):
    return world.value(host, "rdmapulse_probes_total",
                       f'peer="{peer}",class="{traffic_class}",op="ud",outcome="ok"') or 0


def wait_joint(world, limit_s, joint, traffic_class="lossless"):
    world.wait(f"h1 says {joint} of its {traffic_class} path to h2", limit_s,
               lambda: joint_of(world, "h1", "h2", traffic_class) == joint,
               lambda: f"; it says {joint_of(world, 'h1', 'h2', traffic_class)}")


def wait_answered(world, limit_s, host, peer, classes=("lossless", "control")):
    before = {one: answered(world, host, peer, one) for one in classes}
    world.wait(f"{host} has datagrams answered by {peer} ({', '.join(classes)})", limit_s,
               lambda: all(answered(world, host, peer, one) > before[one] for one in classes))


def datagrams_are_answered(world):
    for host in HOSTS:
        for peer in HOSTS:
            if peer != host:
                wait_answered(world, 15, host, peer)
    done = world.guest("h1", "rdmapulse", "probe", "h2", "--op", "ud", "-c", "5", "-i", "0.2")
    print("     " + done.stdout.strip().splitlines()[0], flush=True)
    paths = paths_to(world, "h1", "h2", "lossless", "ud")
    # By the second source port they go only while its probes are overdue: it may have had none answered.
    delays = [path["responder_p50_seconds"] for path in paths if path["outcomes"]["ok"]]
    if not delays or None in delays or any(path["sport"] is not None for path in paths):
        raise Failure(f"a source port that rxe chose, or no delay of the peer's: {paths}")


def a_class_without_datagrams_or_probes(world):
    """All of one class is lost: overdue, and no datagram comes through either. The other class, with the
    same pairs of ports, is fine."""
    with impaired(world, "--from", "h1", "--to", "h2", "--dscp", DSCP, "--blackhole"):
        wait_joint(world, 5, "blocked")
        finding = world.wait_finding(15, "h1", "path_loss", None, peer="h2")
        print(f"     {[fact['text'] for fact in finding['evidence']]}", flush=True)
        if joint_of(world, "h1", "h2", "control") is not None:
            raise Failure("the control class is said to be blocked, too")
        before = answered(world, "h1", "h2", "lossless")
        wait_answered(world, 15, "h1", "h2", ("control",))
        if answered(world, "h1", "h2", "lossless") != before:
            raise Failure("a datagram of the lossless class was answered")
    world.wait_probing(20, [("h1", "h2")])
    wait_answered(world, 15, "h1", "h2")


def a_class_that_is_held_up(world):
    """Late as RC and as datagrams, and nothing is lost."""
    with impaired(world, "--from", "h1", "--dscp", DSCP, "--delay", "700ms"):
        wait_joint(world, 10, "slow")
    world.wait_probing(20, [("h1", "h2")])


def a_queue_pair_that_waits_alone(world):
    """Only the packets of the pair's own source port are lost: the network delivers the datagrams."""
    sport = paths_to(world, "h1", "h2", "lossless")[0]["sport"]
    with impaired(world, "--from", "h1", "--to", "h2", "--sport", str(sport), "--blackhole"):
        wait_joint(world, 5, "transport")
    world.wait_probing(20, [("h1", "h2")])


CASES = (datagrams_are_answered,)
LONG_CASES = (a_class_without_datagrams_or_probes, a_class_that_is_held_up,
              a_queue_pair_that_waits_alone)
