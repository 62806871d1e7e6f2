"""What the detectors say on a live fabric: a fault is made at the switch or in a guest, and the finding
is waited for from outside, in the host's API and in Prometheus. A case also fails when a host found
anything else of the network, by its journal, so that nothing between two questions is missed.

The daemons are the release build with its default configuration. rxe counts no pauses: what a blocked
class looks like there is told by the two classes of probes alone.
"""

import time
from contextlib import contextmanager

from world import HOSTS, Failure

DSCP = "26"  # of the lossless class
TCLASS = str(int(DSCP) << 2)
PORT = {"device": "rxe0", "port": 1}
LOSSLESS = {**PORT, "priority": 3}
HW_COUNTERS = "/sys/class/infiniband/rxe0/ports/1/hw_counters"


# --- what runs in the guests


def counter(world, host, name):
    return int(world.guest(host, "cat", f"{HW_COUNTERS}/{name}").stdout)


def background(world, host, command, log="/dev/null"):
    """Starts it in the guest and returns its pid there."""
    return world.guest(host, "sh", "-c", f"setsid {command} >{log} 2>&1 </dev/null & "
                                         "echo $!").stdout.strip()


@contextmanager
def application(world, client, server):
    """Messages of eight packets from one host to the other, in the lossless class, some 600 packets a
    second; yields the server's pid. Not ib_send_lat: its messages are one at a time, so that a lost
    one is missed by a timer only, and perftest's retry count of 7 then waits for ever on rxe."""
    words = f"ib_send_bw -d rxe0 -x 1 --tclass={TCLASS} -s 8192 -t 4 -r 64 -F -e -N -Q 1 -n 5000000"
    pids = [(server, background(world, server, words))]
    try:
        time.sleep(1)
        pids.append((client, background(world, client, f"{words} 10.77.0.{server[1]}")))
        before = counter(world, client, "sent_pkts")
        world.wait(f"the application sends from {client} to {server}", 20,
                   lambda: counter(world, client, "sent_pkts") > before + 500)
        yield pids[0][1]
    finally:
        for host, pid in pids:
            world.guest(host, "kill", "-9", pid, check=False)


@contextmanager
def impaired(world, *words):
    """A rule of the switch; afterwards it must have met frames."""
    number = world.lab("impair", "add", *words).stdout.strip()
    try:
        yield
        rule = next(line for line in world.lab("impair", "list").stdout.splitlines()
                    if line.startswith(f"id {number} "))
        if "matched 0 " in rule:
            raise Failure(f"the fault met no frame: {rule}")
    finally:
        world.lab("impair", "clear")


def number_in(finding, unit):
    return next((fact["value"] for fact in finding["evidence"] if fact["unit"] == unit), None)


def expect(finding, what, holds):
    if not holds:
        raise Failure(f"{what} does not hold of {finding}")


# --- loss


def loss(world, share, sure, limit_s):
    """An application of some hundred packets a second; 15 s of it without loss say nothing."""
    with application(world, "h1", "h2"):
        mark = world.mark()
        time.sleep(15)
        world.expect_begun(mark)
        with impaired(world, "--from", "h1", "--to", "h2", "--dscp", DSCP, "--drop", str(share)):
            sender = world.wait_finding(limit_s, "h1", "lossless_loss", **LOSSLESS)
            receiver = world.wait_finding(limit_s, "h2", "lossless_loss", **LOSSLESS)
        for finding in (sender, receiver):
            expect(finding, "critical", finding["severity"] == "critical")
            expect(finding, "high confidence", finding["confidence"] >= sure)
            said = number_in(finding, "ratio")
            expect(finding, f"a ratio near {share}", said and share / 5 <= said <= share * 5)
        world.expect_begun(mark, h1={"lossless_loss", "path_loss"},
                           h2={"lossless_loss", "path_loss"})


def one_percent_of_loss(world):
    loss(world, 0.01, 0.9, 40)


def a_thousandth_of_loss(world):
    loss(world, 0.001, 0.7, 60)


# --- paths and classes


def a_path_that_is_a_black_hole(world):
    """One UDP source port, which both classes of one peer share; what has another goes on."""
    path = next(path for peer in world.api("h1", "peers")["peers"] if peer["peer"] == "h2"
                for path in peer["paths"])
    mark = world.mark()
    with impaired(world, "--from", "h1", "--to", "h2", "--sport", str(path["sport"]), "--blackhole"):
        finding = world.wait_finding(12, "h1", "path_loss", peer="h2")
        expect(finding, "names the source port", f"UDP source port {path['sport']}" in
               " ".join(evidence["text"] for evidence in finding["evidence"]))
        if world.findings("h1", "peer_down", None):
            raise Failure("h1 takes the peer for dead, whose session answers")
        world.wait_probing(6, [("h1", "h3"), ("h2", "h3")])
    # The retries that both ends spend on it are a loss of the port, too.
    world.expect_begun(mark, h1={"path_loss", "lossless_loss"}, h2={"path_loss", "lossless_loss"})
    world.wait_probing(15, [("h1", "h2")])


def a_blocked_lossless_class(world):
    """The switch holds the class for seconds, as one that is paused: late, but nothing is lost, and
    sooner than the retries of the class are spent (3.8 s)."""
    mark = world.mark()
    with impaired(world, "--from", "h1", "--dscp", DSCP, "--delay", "2500ms"):
        finding = world.wait_finding(8, "h1", "egress_blocked", **LOSSLESS)
        expect(finding, "it says that probes alone tell", any(
            "counts no pauses" in fact["text"] for fact in finding["evidence"]))
        expect(finding, "link_down is what it is not", finding["not"]["condition"] == "link_down")
        world.wait_probing(6, [("h1", "h2"), ("h1", "h3")], classes=("control",))
    world.expect_begun(mark, h1={"egress_blocked", "path_loss"}, h2={"path_loss"}, h3={"path_loss"})
    world.wait_probing(20, [("h1", "h2"), ("h1", "h3")])


def a_receiver_without_buffers(world):
    """An application that is stopped posts no receives; its peer is answered receiver-not-ready."""
    mark = world.mark()
    with application(world, "h1", "h2") as server:
        world.guest("h2", "kill", "-STOP", server)
        here = world.wait_finding(75, "h2", "rnr_starved", **LOSSLESS)
        expect(here, "its own fault", "An application on h2" in here["advice"])
        there = world.wait_finding(75, "h1", "rnr_starved", **LOSSLESS)
        expect(there, "the peer's fault", "not the cause" in there["advice"])
    world.expect_begun(mark, h1={"rnr_starved"}, h2={"rnr_starved"})


# --- peers


def signal_daemon(world, host, name):
    world.guest(host, "sh", "-c", f"kill -{name} $(cat /run/lab/daemon.pid)")


def a_peer_that_is_killed(world):
    mark = world.mark()
    world.lab("daemon", "h3", "kill")
    try:
        for host in ("h1", "h2"):
            finding = world.wait_finding(6, host, "peer_down", peer="h3")
            expect(finding, "not path_loss", finding["not"]["condition"] == "path_loss")
    finally:
        world.lab("daemon", "h3", "start")
    for host in ("h1", "h2"):
        # Five seconds long, the first host's among them.
        world.wait_finding(5, host, "agent_restart", state=None, peer="h3", severity="info")
        world.wait_no_finding(20, host, "peer_down", peer="h3")
    world.expect_begun(mark, h1={"peer_down"}, h2={"peer_down"})


def a_peer_that_is_restarted(world):
    """Said as what it is; a peer that is gone for seconds meanwhile may also be down."""
    mark = world.mark()
    started = time.monotonic()
    world.lab("daemon", "h3", "restart")
    long = time.monotonic() - started > 2
    for host in ("h1", "h2"):
        world.wait_finding(5, host, "agent_restart", state=None, peer="h3")
    world.wait_probing(10, [("h1", "h3"), ("h2", "h3")])
    allowed = {"peer_down"} if long else set()
    world.expect_begun(mark, h1=allowed, h2=allowed)


def a_peer_that_is_stopped(world):
    """Its kernel answers one-sided probes all the time: that is the whole difference to a dead one."""
    mark = world.mark()
    signal_daemon(world, "h3", "STOP")
    try:
        for host in ("h1", "h2"):
            finding = world.wait_finding(6, host, "peer_overloaded", peer="h3")
            expect(finding, "its NIC answers", number_in(finding, "microseconds"))
    finally:
        signal_daemon(world, "h3", "CONT")
    for host in ("h1", "h2"):
        world.wait_no_finding(20, host, "peer_overloaded", peer="h3")
    world.expect_begun(mark)


def starved(world, host, seconds):
    """A real-time loop that leaves the CPU to nobody, the guest's agent included; ended by a timer of
    a higher priority."""
    world.guest(host, "sh", "-c", "echo -1 >/proc/sys/kernel/sched_rt_runtime_us")
    background(world, host,
               f"chrt -f 60 timeout {seconds} chrt -f 50 sh -c 'while :; do :; done'")


def a_host_without_cpu(world):
    """It must not take its own lateness for the network's. rxe is a part of the CPU, so that to its
    peers the host is dead meanwhile."""
    mark = world.mark()
    starved(world, "h2", 12)
    for host in ("h1", "h3"):
        world.wait_finding(8, host, "peer_down", peer="h2")
    for host in ("h1", "h3"):
        world.wait_no_finding(30, host, "peer_down", peer="h2")
    world.wait_probing(10, [("h2", "h1"), ("h2", "h3")])
    world.expect_begun(mark, h1={"peer_down"}, h3={"peer_down"})


# --- links and configuration


def a_link_that_goes_down_and_up(world):
    """Twice within ten minutes is a flap, and neither is a storm or a loss."""
    mark = world.mark()
    for _ in range(2):
        world.lab("cable", "h3", "down")
        try:
            world.wait_finding(2, "h3", "link_down", **PORT)
            for host in ("h1", "h2"):
                world.wait_finding(6, host, "peer_down", peer="h3")
        finally:
            world.lab("cable", "h3", "up")
        world.wait_no_finding(20, "h3", "link_down", **PORT)
    world.wait_finding(3, "h3", "link_flap", **PORT)
    world.wait_probing(15, [("h1", "h3"), ("h3", "h1")])
    world.expect_begun(mark, h1={"peer_down"}, h2={"peer_down"},
                       h3={"link_down", "link_flap", "peer_down"})


def an_alert_reaches_the_receiver_and_inhibits(world):
    """The cable is out for good: LinkDown is sent, and inhibits LinkFlap of the same port, which fires
    since the case before."""
    world.wait("LinkFlap h3 fires", 70, lambda: world.prometheus.query(
        'ALERTS{alertname="LinkFlap",alertstate="firing",host="h3"}'))
    sent = world.alerting.sent()
    world.lab("cable", "h3", "down")
    try:
        world.wait("the receiver gets LinkDown h3", 30, lambda: (
            "/tickets", "LinkDown h3") in world.alerting.fired(sent))
        world.wait("LinkFlap h3 is inhibited by it", 5, lambda: world.alerting.inhibited().get(
            "LinkFlap h3") == {"LinkDown h3"})
        others = {name for _, name in world.alerting.fired(sent) if name.startswith("LinkDown")}
        if others != {"LinkDown h3"}:
            raise Failure(f"also sent: {others}")
    finally:
        world.lab("cable", "h3", "up")
    world.wait("LinkFlap h3 is inhibited no more", 100,
               lambda: "LinkFlap h3" not in world.alerting.inhibited())
    world.wait_probing(15, [("h1", "h3"), ("h3", "h1")])


def ends_that_are_set_differently(world):
    """The session tells each end the other's MTU and address: h3 has another MTU, h2 uses IPv6."""
    mark = world.mark()
    world.guest("h3", "ip", "link", "set", "eth0", "mtu", "4200")
    world.reload_with("h2", "gid: {family: ipv6}")
    try:
        for host, peer, words in (("h1", "h3", "mtu: rxe0/1 here has 1024 bytes and rxe0/1 at the peer 4096"),
                                  ("h3", "h1", "mtu: rxe0/1 here has 4096 bytes and rxe0/1 at the peer 1024"),
                                  ("h1", "h2", "gid: rxe0/1 here has the IPv4 address 10.77.0.1 and "
                                               "rxe0/1 at the peer the IPv6 address fd77::2")):
            finding = world.wait_finding(45, host, "config", peer=peer, severity="warning")
            expect(finding, words, words in finding["evidence"][0]["text"])
        world.wait("an alert says so", 10, lambda: world.prometheus.query(
            'ALERTS{alertname="ConfigMismatch",alertstate="firing",host="h1",peer="h3"}'))
    finally:
        world.guest("h3", "ip", "link", "set", "eth0", "mtu", "1500")
        world.reload_with("h2", "")
    for host in HOSTS:
        world.wait_no_finding(20, host, "config")
    world.expect_begun(mark, **{host: {"config"} for host in HOSTS})
    world.wait_probing(15, [(a, b) for a in HOSTS for b in HOSTS if a != b])


CASES = (a_blocked_lossless_class,)
# For tests/full.sh: they take a minute each, or need a machine that is not overcommitted.
LONG_CASES = (one_percent_of_loss, a_thousandth_of_loss, a_path_that_is_a_black_hole,
              a_receiver_without_buffers, a_peer_that_is_restarted, a_peer_that_is_killed,
              a_peer_that_is_stopped, a_host_without_cpu, ends_that_are_set_differently,
              a_link_that_goes_down_and_up, an_alert_reaches_the_receiver_and_inhibits)
