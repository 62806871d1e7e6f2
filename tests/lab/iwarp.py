#!/usr/bin/env python3
"""Two hosts with iWARP in software (siw) probe each other; faults are made at the switch and in the
guests, and judged from outside, as in end_to_end.py.

Without arguments the short cases; --long: those that the default leaves out. Limits are in seconds and
say what a user waits for; a case fails at three times its limit, or at once on wrong content. The last
line counts cases.
"""

import json
import re
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import case_runner  # noqa: E402
from verdicts import background, expect, impaired, number_in  # noqa: E402
from world import PATIENCE, Failure, World  # noqa: E402

HOSTS = ("h1", "h2")
PORT = {"device": "siw0", "port": 1}
PAIRS = [("h1", "h2"), ("h2", "h1")]


class IwarpWorld(World):
    """The lab alone: what is asked of Prometheus elsewhere is read from /metrics here."""

    hosts = HOSTS

    def up(self):
        words = ["up", "--hosts", str(len(HOSTS)), "--transport", "siw"]
        for option, folder in self.programs.items():
            words += [option, folder] if folder else []
        print(self.lab(*words, timeout=900).stdout, flush=True)
        for host in json.loads(self.lab("status", "--json").stdout)["hosts"]:
            self.urls[host["host"]] = host["metrics_url"].removesuffix("/metrics")

    def value(self, host, metric, labels=""):
        try:
            with urllib.request.urlopen(f"{self.urls[host]}/metrics", timeout=10) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return None
        wanted = [label for label in labels.split(",") if label]
        found = [float(line.rsplit(" ", 1)[1]) for line in lines
                 if re.match(rf"{metric}[{{ ]", line) and all(label in line for label in wanted)]
        return sum(found) if found else None

    def paths(self, host):
        return self.api(host, "peers")["peers"][0]["paths"]


def all_pairs_read(world):
    world.wait_probing(10, PAIRS)
    for host in HOSTS:
        paths = world.paths(host)
        if sorted((path["class"], path["op"]) for path in paths) != [("control", "read"),
                                                                     ("lossless", "read")]:
            raise Failure(f"{host} probes {paths}")
        if not all(path["sport"] for path in paths):
            raise Failure(f"{host} does not know the source ports: {paths}")
        if world.gid(host) != f"10.77.0.{host[1]}":
            raise Failure(f"{host} is reached by {world.gid(host)}")
    text = world.guest("h1", "rdmapulse", "ports").stdout
    if "siw0/1" not in text or "iwarp" not in text:
        raise Failure(f"rdmapulse ports says {text}")
    scrape = world.guest("h1", "rdmapulse", "scrape").stdout
    if 'rdmapulse_port_info{device="siw0",port="1",netdev="eth0",driver="siw",protocol="iwarp"' not in scrape:
        raise Failure(f"rdmapulse scrape says {scrape[:2000]}")


def a_write_is_refused_in_one_sentence(world):
    """Without --op a READ is sent."""
    said = world.guest("h1", "rdmapulse", "probe", "h2", "--op", "write0", "-c", "1", check=False).stdout
    if "write0 says nothing on iWARP" not in said or "use --op read" not in said:
        raise Failure(f"rdmapulse probe --op write0 said {said}")
    done = world.guest("h1", "rdmapulse", "probe", "h2", "-c", "3", "-i", "0.2", "--json")
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    ops = {json.loads(line)["op"] for line in done.stdout.splitlines()[:-1]}
    if summary["sent"] != 3 or summary["ok"] < 1 or ops != {"read"}:
        raise Failure(f"rdmapulse probe said {done.stdout}")


def verbs_keep_the_contract(world):
    """The suite that the fakes pass, over the host's own address; the daemon goes on beside it."""
    world.lab("put", "h2", str(world.contract), "/root/contract")
    world.guest("h2", "chmod", "755", "/root/contract")
    done = world.guest("h2", "/root/contract", check=False, timeout=300)
    result = re.search(r"\[  PASSED  \] (\d+) tests?", done.stdout)
    if done.returncode != 0 or not result or "SKIPPED" in done.stdout:
        raise Failure(f"exit {done.returncode}: {done.stdout[-3000:]}{done.stderr[-1000:]}")
    print(f"     {result[1]} cases on siw0 of h2", flush=True)
    world.wait_probing(10, PAIRS)


def a_deleted_device(world):
    """It is let go at once, or `rdma link delete` would wait for ever."""
    epoch = world.epoch("h2")
    fds = world.value("h2", "process_open_fds")
    started = time.monotonic()
    world.guest("h2", "rdma", "link", "delete", "siw0", timeout=60)
    took = time.monotonic() - started
    print(f"     rdma link delete returned: {took:.1f} s (limit 5 s)", flush=True)
    if took > 5 * PATIENCE:
        raise Failure(f"rdma link delete took {took:.1f} s")
    world.wait("rdmapulse_rdma_devices 0", 3,
               lambda: world.value("h2", "rdmapulse_rdma_devices") == 0)
    world.guest("h2", "rdma", "link", "add", "siw0", "type", "siw", "netdev", "eth0")
    world.wait_probing(10, PAIRS)
    if world.epoch("h2") != epoch:
        raise Failure("the daemon was restarted")
    world.wait(f"as many descriptors as before ({fds:.0f})", 5,
               lambda: world.value("h2", "process_open_fds") <= fds)


@contextmanager
def simulated_nic(world, host):
    """netdevsim's netdev, with siw1 on it: a driver that tells its pause frames by ethtool netlink."""
    bus = "/sys/bus/netdevsim"

    def guest(script):
        return world.guest(host, "sh", "-c", script, check=False).stdout.strip()

    guest(f"modprobe netdevsim && mount -t debugfs none /sys/kernel/debug; echo 7 1 > {bus}/new_device")
    try:
        netdev = guest(f"ls {bus}/devices/netdevsim7/net")
        if not netdev:
            raise Failure(f"{host} has no netdevsim: {guest('dmesg | tail')}")
        guest(f"ip link set {netdev} up && rdma link add siw1 type siw netdev {netdev}")
        yield netdev, guest
    finally:
        guest(f"rdma link delete siw1; echo 7 > {bus}/del_device")


def pause_frames_by_netlink(world):
    """A driver that does not count is no zero; one that does is told apart by direction."""
    with simulated_nic(world, "h1") as (netdev, guest):
        frames = {name: (f'netdev="{netdev}",source="ethtool_nl"', f'name="{name}-frames"')
                  for name in ("rx", "tx")}

        def raw(name):
            return world.value("h1", "rdmapulse_raw_counter_total", ",".join(frames[name]))

        world.wait(f"{netdev} is read for siw1", 12, lambda: world.value(
            "h1", "rdmapulse_port_info", f'device="siw1",port="1",netdev="{netdev}"') == 1)
        time.sleep(6)  # ethtool netlink is read every 5 s
        if (raw("rx"), raw("tx")) != (None, None):
            raise Failure(f"pause frames {raw('rx')}, {raw('tx')} of a driver that counts none")
        pause = "/sys/kernel/debug/netdevsim/netdevsim7/ports/0/ethtool/pause"
        guest(f"for way in rx tx; do echo 1 > {pause}/report_stats_$way; done")
        # What this driver then says for ever.
        world.wait("1 pause frame received, 2 sent", 10, lambda: (raw("rx"), raw("tx")) == (1, 2),
                   lambda: f"; it has {raw('rx')} and {raw('tx')}")
        for direction, count in (("rx", 1), ("tx", 2)):
            words = f'device="siw1",direction="{direction}"'
            counted = world.value("h1", "rdmapulse_global_pause_frames_total", words)
            if counted != count:
                raise Failure(f"rdmapulse_global_pause_frames_total{{{words}}} is {counted}")
    world.wait("siw1 is gone", 5, lambda: world.value("h1", "rdmapulse_rdma_devices") == 1)


def a_killed_daemon_and_a_killed_host(world):
    world.lab("daemon", "h2", "kill")
    world.wait("h1 says rdmapulse_peer_up 0", 3,
               lambda: world.value("h1", "rdmapulse_peer_up", 'peer="h2"') == 0)
    world.lab("daemon", "h2", "start")
    world.wait_probing(10, PAIRS)
    world.lab("kill", "h2")
    world.wait("h1 says rdmapulse_peer_up 0", 3,
               lambda: world.value("h1", "rdmapulse_peer_up", 'peer="h2"') == 0)
    world.lab("start", "h2", timeout=600)
    world.wait_probing(15, PAIRS)


def a_moved_address(world):
    """No event tells of it: the daemon looks every ten seconds."""
    epoch = world.epoch("h2")
    world.guest("h2", "ip", "address", "del", "10.77.0.2/24", "dev", "eth0")
    world.guest("h2", "ip", "address", "add", "10.77.0.102/24", "dev", "eth0")
    try:
        world.wait("h2's port uses the new address", 12, lambda: world.gid("h2") == "10.77.0.102")
        world.wait_probing(10, PAIRS)
        if world.epoch("h2") != epoch:
            raise Failure("the daemon was restarted")
    finally:
        world.guest("h2", "ip", "address", "del", "10.77.0.102/24", "dev", "eth0", check=False)
        world.guest("h2", "ip", "address", "add", "10.77.0.2/24", "dev", "eth0", check=False)
    world.wait("and the old one again", 12, lambda: world.gid("h2") == "10.77.0.2")
    world.wait_probing(10, PAIRS)


@contextmanager
def application(world):
    """h1 reads eight times 8 KiB from h2 at a time: some hundred segments a second from h2."""
    words = "ib_read_bw -d siw0 -R -s 8192 -t 8 -F -D 600"
    pids = [("h2", background(world, "h2", words))]
    sent = "rdmapulse_signal_total", 'signal="iwarp_sent_segments"'
    try:
        time.sleep(2)
        pids.append(("h1", background(world, "h1", f"{words} 10.77.0.2")))
        before = world.value("h2", *sent)
        world.wait("the application's segments are counted on h2", 20,
                   lambda: world.value("h2", *sent) > before + 500)
        yield
    finally:
        for host, pid in pids:
            world.guest(host, "kill", "-9", pid, check=False)


def loss(world, share):
    """Found at the host whose TCP sends again. It is active when it has been so for a minute, and what
    is late by TCP's timeout is taken for what it is."""
    with application(world):
        mark = world.mark()
        with impaired(world, "--from", "h2", "--to", "h1", "--drop", str(share)):
            world.wait(f"h2 suspects iwarp_retx at {share}", 30,
                       lambda: world.findings("h2", "iwarp_retx", state=None, **PORT),
                       lambda: f"; it has {world.told('h2')}")
            found = []
            world.wait("and is sure of it", 60, lambda: found.extend(
                world.findings("h2", "iwarp_retx", **PORT)) or found,
                lambda: f"; it has {world.told('h2')}")
        finding = found[0]
        print(f"     {finding['severity']}, confidence {finding['confidence']:.2f}: "
              + "; ".join(fact["text"] for fact in finding["evidence"]), flush=True)
        expect(finding, "a confidence that knows whose TCP it is", finding["confidence"] < 0.95)
        said = number_in(finding, "ratio")
        expect(finding, f"a ratio near {share}", said and share / 5 <= said <= share * 10)
        blocked = [text for host in HOSTS for condition, text in world.begun(mark, host).items()
                   if condition in ("egress_blocked", "lossless_loss", "peer_down", "storm_source")]
        if blocked:
            raise Failure(f"loss was taken for {'; '.join(blocked)}")
        world.wait("it is over when the loss is", 170,
                   lambda: not world.findings("h2", "iwarp_retx", **PORT),
                   lambda: f"; it has {world.told('h2')}")


def one_percent_of_loss(world):
    loss(world, 0.01)


def a_thousandth_of_loss(world):
    loss(world, 0.001)


CASES = (all_pairs_read, a_write_is_refused_in_one_sentence, verbs_keep_the_contract,
         pause_frames_by_netlink, a_deleted_device)
LONG_CASES = (one_percent_of_loss, a_thousandth_of_loss, a_killed_daemon_and_a_killed_host,
              a_moved_address)


if __name__ == "__main__":
    sys.exit(case_runner.main(__doc__, IwarpWorld, CASES, LONG_CASES, "iwarp: "))
