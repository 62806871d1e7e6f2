"""RoCE paths that the kernel's connection manager connects (`paths.connect: rdma_cm`), beside hosts that
do without it, and where its node is not there."""

from contextlib import contextmanager

from datagrams import paths_to, wait_answered
from world import HOSTS, Failure

NODE = "/dev/infiniband/rdma_cm"
USED = "; connected by rdma_cm"
ASKED = "paths: {connect: rdma_cm}"


def reason(world, host):
    """Empty while the host's daemon has not looked yet."""
    return "".join(port["gid_reason"] for port in world.api(host, "ports")["ports"])


def all_pairs():
    return [(a, b) for a in HOSTS for b in HOSTS if a != b]


@contextmanager
def everywhere(world):
    """A reload switches it on, another one off."""
    for host in HOSTS:
        world.reload_with(host, ASKED)
    try:
        world.wait("every port offers it", 5,
                   lambda: all(reason(world, host).endswith(USED) for host in HOSTS))
        world.wait_probing(10, all_pairs())
        yield
    finally:
        for host in HOSTS:
            world.reload_with(host, "")
    world.wait("no port offers it", 5,
               lambda: not any(reason(world, host).endswith(USED) for host in HOSTS))
    world.wait_probing(10, all_pairs())


def every_op_and_datagrams(world):
    sent = ("write0", "write", "write_mtu", "read", "echo", "atomic", "loopback")
    world.reload_with("h1", f"{ASKED}\nclasses: {{control: {{ops: [{', '.join(sent)}]}}}}")

    def ok_of(op):
        return world.value("h1", "rdmapulse_probes_total",
                           f'class="control",op="{op}",outcome="ok"') or 0

    before = {op: ok_of(op) for op in sent}
    world.wait("three good probes of every op", 10,
               lambda: all(ok_of(op) >= before[op] + 3 for op in sent),
               lambda: f"; of {before} to {({op: ok_of(op) for op in sent})}")
    wait_answered(world, 20, "h1", "h2")
    here, there = (paths_to(world, *pair, "lossless", "write0") for pair in (("h1", "h2"), ("h2", "h1")))
    if not all(path["sport"] for path in here):
        raise Failure(f"source ports are not known: {here}")
    if {path["sport"] for path in here} != {path["sport"] for path in there}:
        raise Failure(f"the ends differ in their source ports: {here} and {there}")
    world.reload_with("h1", ASKED)


def a_host_without_it(world):
    """Its paths are connected all the same."""
    mark = world.mark()
    world.reload_with("h3", "")
    world.wait("h3 does not offer it", 5, lambda: not reason(world, "h3").endswith(USED))
    world.wait_probing(10, all_pairs())
    said = [line for line in world.lab("log", "h1").stdout[mark["h1"]:].splitlines()
            if "10.77.0.3 does not offer rdma_cm (paths.connect there)" in line]
    if len(said) != 1:
        raise Failure(f"h1 says {len(said)} times that h3 does not offer it")
    world.reload_with("h3", ASKED)
    world.wait_probing(10, all_pairs())


def without_its_node(world):
    world.lab("daemon", "h3", "stop")
    world.guest("h3", "mv", NODE, NODE + ".away")
    try:
        world.lab("daemon", "h3", "start")
        world.wait("h3 says that the node is not there", 5, lambda: (
            f"opening {NODE}, by which QPs are to be connected: No such file" in reason(world, "h3")))
        print(f"     {reason(world, 'h3')}", flush=True)
        if world.guest("h3", "sh", "-c", "wget -qO- http://127.0.0.1:9936/metrics | "
                       "grep -c rdmapulse_raw_counter_total", check=False).stdout.strip() in ("", "0"):
            raise Failure("its counters are gone")
        world.wait_probing(5, [("h1", "h2"), ("h2", "h1")])
    finally:
        world.guest("h3", "mv", NODE + ".away", NODE)
    world.wait_probing(25, all_pairs())
