"""One guest: its QEMU command line, and waiting until it is up."""

import json
import re
import socket
import time

import guest_config
import kernel
import processes
from errors import LabError
from places import need_host_tool

MEMORY_MB = 192  # 128 boots; this leaves 90 MB to the programs
TB_CACHE_MB = 128  # by default QEMU's cache of translated code grows to a gigabyte
METRICS_PORT = 9936
AGENT_PORT = 9900
READY = re.compile(rb"lab: READY ")
FAILED = re.compile(rb"lab: FAILED: (.*?)\r?$", re.MULTILINE)
PANIC = re.compile(rb"Kernel panic - not syncing: (.*?)\r?$", re.MULTILINE)

KERNEL_ARGUMENTS = (
    "console=ttyS0 quiet rdinit=/sbin/init net.ifnames=0 audit=0 mitigations=off "
    # QEMU runs with -no-reboot, so a panic ends it, and that is seen.
    "panic=-1 "
    # On a loaded machine QEMU's timer is late for this check, and the kernel would give up booting.
    "no_timer_check "
    # A paused guest wakes to a clock that ran on; its complaints would drown the console.
    "nosoftlockup rcupdate.rcu_cpu_stall_suppress=1")


def choose_ports():
    """Two free TCP ports for the host's record.

    Somebody may take one before QEMU does: then QEMU says so, and `up` chooses again.
    """
    with socket.socket() as metrics, socket.socket() as agent:
        for probe in (metrics, agent):  # both held until both are known, so that they differ
            probe.bind(("127.0.0.1", 0))
        return {"metrics_port": metrics.getsockname()[1], "agent_port": agent.getsockname()[1]}


def write_initrd(host, image_path):
    """The common image with this guest's own files behind it."""
    options = host.state.options
    overlay = guest_config.overlay(host.guest, len(host.state.names()),
                                   host.state.data["lab_id"], options)
    with open(host.folder / "initrd", "wb") as out:
        out.write(image_path.read_bytes())
        out.write(overlay)


def command(host):
    options = host.state.options
    forwards = (f"hostfwd=tcp:127.0.0.1:{host.metrics_port}-:{METRICS_PORT},"
                f"hostfwd=tcp:127.0.0.1:{host.agent_port}-:{AGENT_PORT}")
    return [
        need_host_tool("qemu-system-x86_64", "qemu-system-x86"),
        "-name", f"rdmapulse-lab-{host.name}", "-nodefaults", "-no-user-config",
        "-display", "none", "-no-reboot", "-machine", "q35,usb=off,vmport=off",
        "-accel", f"tcg,thread=single,tb-size={TB_CACHE_MB}", "-smp", "1", "-m", str(MEMORY_MB),
        "-kernel", options["kernel"], "-initrd", str(host.folder / "initrd"),
        "-append", f"{KERNEL_ARGUMENTS} {options['kernel_args']}".strip(),
        "-netdev", (f"dgram,id=data,local.type=unix,local.path={host.socket('data-vm')},"
                    f"remote.type=unix,remote.path={host.socket('data-switch')}"),
        "-device", f"virtio-net-pci,id=data-nic,netdev=data,mac={host.guest.mac},addr=3,romfile=",
        # Closed both ways but for the forwarded ports: a guest under test reaches nobody.
        "-netdev", f"user,id=management,net=10.0.2.0/24,restrict=on,ipv6=off,{forwards}",
        "-device", (f"virtio-net-pci,netdev=management,mac={host.guest.management_mac},addr=4,"
                    f"romfile="),
        "-chardev", (f"socket,id=console,path={host.socket('console')},server=on,wait=off,"
                     f"logfile={host.console_log},logappend=on"),
        "-serial", "chardev:console",
        "-chardev", f"file,id=daemonlog,path={host.daemon_log},append=on",
        "-device", "virtio-serial-pci,addr=5",
        "-device", "virtserialport,chardev=daemonlog,name=org.rdmapulse.daemonlog",
        "-qmp", f"unix:{host.socket('qmp')},server=on,wait=off",
    ]


def boot(host):
    """Starts QEMU; wait_ready() tells whether that went well."""
    host.folder.mkdir(exist_ok=True)
    for log in (host.console_log, host.daemon_log):
        log.touch()
    # The log goes on over boots; what an earlier boot said must not count for this one.
    host.record["console_offset"] = host.console_log.stat().st_size
    process = processes.start(command(host), host.folder / "qemu.log")
    host.record["process"] = processes.record(process.pid, host.folder)
    host.record.pop("clock_stopped", None)
    host.state.save()


def console_since_boot(host):
    with open(host.console_log, "rb") as log:
        log.seek(host.record["console_offset"])
        return log.read()


def tail(data, lines=25):
    text = data.decode(errors="replace").replace("\r", "")
    return "\n".join("  | " + line for line in text.splitlines()[-lines:]) or "  | (nothing)"


def wait_ready(host, deadline):
    """Until the guest's agent has said on the console that it listens."""
    started = time.monotonic()
    while True:
        gone = not processes.alive(host.process)
        console = console_since_boot(host)
        if READY.search(console):
            return
        failed = FAILED.search(console) or PANIC.search(console)
        if failed and (gone or not PANIC.search(console)):
            why = failed.group(1).decode(errors="replace")
            raise LabError(f"booting {host.name}: {why}; the end of its console "
                           f"({host.console_log}):\n{tail(console)}")
        if gone:
            log = (host.folder / "qemu.log").read_bytes()
            raise LabError(f"booting {host.name}: QEMU ended before the guest was up; it said "
                           f"({host.folder / 'qemu.log'}):\n{tail(log, 5)}\nthe end of the console "
                           f"({host.console_log}):\n{tail(console)}")
        if time.monotonic() > deadline:
            raise LabError(f"booting {host.name}: not up after "
                           f"{time.monotonic() - started:.0f} s (more by --boot-timeout); the end "
                           f"of its console ({host.console_log}):\n{tail(console)}")
        processes.reap(host.process["pid"])
        time.sleep(0.05)


def qmp(host, execute, **arguments):
    """One command of QEMU's monitor."""
    doing = f"asking QEMU of {host.name} to {execute}"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(host.socket("qmp")))
            stream = connection.makefile("rw")
            stream.readline()  # the greeting
            for request in ({"execute": "qmp_capabilities"},
                            {"execute": execute, "arguments": arguments}):
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                reply = {}
                while "return" not in reply and "error" not in reply:
                    reply = json.loads(stream.readline())  # events come in between
    except (OSError, ValueError) as error:
        raise LabError(f"{doing}: {error}; see `lab status` and "
                       f"{host.folder / 'qemu.log'}") from None
    if "error" in reply:
        raise LabError(f"{doing}: {reply['error'].get('desc')}")
    return reply["return"]


def kernel_path(release):
    return str(kernel.vmlinux(release or kernel.newest_release()))
