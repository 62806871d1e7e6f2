"""Bringing a lab up and down, and one host's power."""

import itertools
import os
import shutil
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

import fabric
import guest
import image
import processes
import vm
from errors import LabError
from guest_config import HOSTS_MAX
from places import need_daemon_program, need_lab_program
from state import State, locked, prepare_folder

# A daemon that has not said a word over HTTP by then will not; a loaded machine needs some.
DAEMON_TIMEOUT_S = 60
# Somebody else took a port between our choice and QEMU's start.
BOOT_TRIES = 3


def say(text):
    print(text, flush=True)


def guest_programs(options):
    """guest path -> host path of what is ours in the image."""
    folders = [options.lab_bin, options.bin]
    programs = {f"usr/bin/{name}": need_lab_program(name, folders)
                for name in ("lab_agent", "lateness")}
    if not options.no_daemon:
        for name in ("rdmapulsed", "rdmapulse"):
            programs[f"usr/bin/{name}"] = need_daemon_program(name, options.bin)
            say(f"  {name}: {programs[f'usr/bin/{name}']}")
    return programs


def up(options):
    started = time.monotonic()
    if not 1 <= options.hosts <= HOSTS_MAX:
        raise LabError(f"bringing up {options.hosts} hosts: from 1 to {HOSTS_MAX} are possible")
    extra = read_text(options.config_extra) if options.config_extra else ""
    folder = prepare_folder(options.dir)
    with locked(folder):
        refuse_running_lab(folder)
        say(f"building the guest image in {folder}")
        image_path = image.build(options.kernel or image.kernel.newest_release(),
                                 guest_programs(options), options.tools, options.transport)
        say(f"  image: {image_path}, {image_path.stat().st_size / 1e6:.1f} MB")
        state = State.new(folder, {
            "kernel": vm.kernel_path(options.kernel), "kernel_args": options.kernel_args,
            "boot_timeout": options.boot_timeout, "daemon": not options.no_daemon,
            "daemon_user": options.daemon_user, "peers": options.peers, "config_extra": extra,
            "transport": options.transport})
        try:
            start_all(state, options, image_path)
        except BaseException:
            say("stopping what was started")
            stop_all(state)
            raise
        say(f"{options.hosts} hosts up after {time.monotonic() - started:.1f} s")
    if not options.no_daemon:
        for host in state.hosts():
            wait_daemon(host)
    for host in state.hosts():
        say(f"{host.name}  {host.guest.ipv4}  {host.guest.ipv6}  metrics {host.metrics_url}")


def read_text(path):
    try:
        return Path(path).read_text()
    except OSError as error:
        raise LabError(f"reading {path}: {error.strerror}") from None


def refuse_running_lab(folder):
    """A state file may be left of a machine that went down: then nothing of it is alive."""
    try:
        old = State.load(folder)
    except LabError:
        return
    if old.anything_alive():
        raise LabError(f"bringing a lab up in {folder}: one runs there; run "
                       f"`lab down --dir {folder}` first, or choose another folder by --dir")
    for name in old.names():
        shutil.rmtree(folder / name, ignore_errors=True)


def start_all(state, options, image_path):
    for index in range(1, options.hosts + 1):
        state.data["hosts"][f"h{index}"] = {"index": index, **vm.choose_ports()}
    switch = need_lab_program("lab_switch", [options.lab_bin, options.bin])
    for host in state.hosts():
        shutil.rmtree(host.folder, ignore_errors=True)
        host.folder.mkdir()
        vm.write_initrd(host, image_path)
    fabric.start(state, switch, options.seed)
    for host in state.hosts():
        vm.boot(host)
    say(f"booting {', '.join(state.names())}")
    deadline = time.monotonic() + options.boot_timeout
    started = time.monotonic()
    for host in state.hosts():
        wait_ready_or_new_port(host, deadline)
        say(f"  {host.name} up after {time.monotonic() - started:.1f} s")


def wait_ready_or_new_port(host, deadline):
    for attempt in range(BOOT_TRIES):
        try:
            vm.wait_ready(host, deadline)
            return
        except LabError as error:
            if "host forwarding rule" not in str(error) or attempt == BOOT_TRIES - 1:
                raise
            host.record.update(vm.choose_ports())
            vm.boot(host)


def daemon_state(host, timeout=5):
    """What daemonctl says: `running pid=…`, `ended code=…`, …; `unknown` when nobody answers."""
    try:
        return guest.output(host, ["daemonctl", "status"], timeout)[1].strip()
    except LabError:
        return "unknown"


def metrics_answer(host):
    # Whatever proxy this machine uses does not know the lab.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(host.metrics_url, timeout=5) as reply:
            return reply.status == 200
    except (OSError, urllib.error.URLError):
        return False


def wait_daemon(host):
    """Until /metrics answers. The VMs stay up on failure: the log alone rarely tells all."""
    deadline = time.monotonic() + DAEMON_TIMEOUT_S
    state = "unknown"
    for attempt in itertools.count():
        if metrics_answer(host):
            return
        if attempt % 5 == 0:  # a question to the guest costs it more than the daemon's start may
            state = daemon_state(host)
        log = host.daemon_log
        if state.startswith("ended"):
            raise LabError(f"waiting for the daemon of {host.name}: it {state}; the VMs still run; "
                           f"the end of its log ({log}):\n{vm.tail(log.read_bytes(), 10)}")
        if time.monotonic() > deadline:
            raise LabError(f"waiting for the daemon of {host.name}: {host.metrics_url} does not "
                           f"answer after {DAEMON_TIMEOUT_S} s, the daemon is {state}; the VMs "
                           f"still run; the end of its log ({log}):\n"
                           f"{vm.tail(log.read_bytes(), 10)}")
        time.sleep(0.2)


def stop_all(state):
    for host in state.hosts():
        processes.end(host.process)
    fabric.stop(state)
    for host in state.hosts():
        for path in (*host.folder.glob("*.sock"), host.folder / "initrd"):
            path.unlink(missing_ok=True)
    for name in ("state.json", "switch.control"):
        (state.folder / name).unlink(missing_ok=True)


def down(folder):
    if not (Path(folder) / "state.json").exists():
        say(f"no lab is up in {folder}")
        return
    with locked(folder):
        state = State.load(folder)
        stop_all(state)
    say(f"lab in {folder} is down; logs stay there until the next `lab up`")


def kill(host):
    if host.vm_state() == "off":
        raise LabError(f"cutting the power of {host.name}: it is off already")
    processes.end(host.process)
    say(f"{host.name} is off")


def start(host):
    state = host.vm_state()
    if state != "off":
        raise LabError(f"starting {host.name}: it is {state} already")
    started = time.monotonic()
    vm.boot(host)
    try:
        vm.wait_ready(host, started + host.state.options["boot_timeout"])
    except LabError:
        processes.end(host.process)
        raise
    say(f"{host.name} up after {time.monotonic() - started:.1f} s")
    if host.state.options["daemon"]:
        wait_daemon(host)


def pause(host, stop_clock):
    """Without stop_clock the guest finds on waking that time went on: a machine that hung."""
    host.need_running("pausing")
    if stop_clock:
        vm.qmp(host, "stop")
        host.record["clock_stopped"] = True
        host.state.save()
    else:
        processes.send(host.process, signal.SIGSTOP)
        while not processes.stopped(host.process):
            os.sched_yield()
    say(f"{host.name} is paused")


def resume(host):
    if host.vm_state() != "paused":
        raise LabError(f"resuming {host.name}: it is {host.vm_state()}, not paused")
    processes.send(host.process, signal.SIGCONT)
    if host.record.pop("clock_stopped", None):
        vm.qmp(host, "cont")
    host.state.save()
    say(f"{host.name} runs")
