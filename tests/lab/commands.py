"""The commands that look at a running lab or act on one host of it."""

import concurrent.futures
import json
import os
import select
import socket
import sys
import termios
import time
import tty
from pathlib import Path

import bringup
import fabric
import guest
import processes
import vm
from errors import LabError
from state import State, locked

LEAVE_CONSOLE = 0x1d  # Ctrl-]


def host_status(host):
    state = host.vm_state()
    return {
        "host": host.name, "state": state, "pid": host.process["pid"] if state != "off" else None,
        "daemon": bringup.daemon_state(host) if state == "running" else None,
        "metrics_url": host.metrics_url, "metrics_port": host.metrics_port,
        "agent_port": host.agent_port, "ipv4": host.guest.ipv4, "ipv6": host.guest.ipv6,
        "mac": host.guest.mac, "daemon_log": str(host.daemon_log),
        "console_log": str(host.console_log),
    }


def status(options):
    state = State.load(options.dir)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        hosts = list(pool.map(host_status, state.hosts()))
    switch = state.data["switch"]
    switch_alive = processes.alive(switch)
    report = {"dir": str(state.folder), "hosts": hosts, "switch": {
        "state": "running" if switch_alive else "off", "pid": switch["pid"] if switch_alive else None,
        "log": str(state.folder / "switch.log")}}
    if options.json:
        print(json.dumps(report, indent=1))
        return
    for host in hosts:
        print(f"{host['host']:4} {host['state']:8} pid {host['pid'] or '-':<8} "
              f"daemon {host['daemon'] or '-':24} {host['ipv4']:12} {host['ipv6']:10} "
              f"{host['metrics_url']}")
    print(f"switch {report['switch']['state']}, pid {report['switch']['pid'] or '-'}; "
          f"logs in {state.folder}")


def execute(options):
    if not options.command:
        raise LabError("running a command: there is none; write `lab exec HOST -- COMMAND …`")
    host = State.load(options.dir).host(options.host)
    return guest.run(host, options.command, stdin=sys.stdin.buffer if options.stdin else None)


def put(options):
    host = State.load(options.dir).host(options.host)
    code = guest.put(host, Path(options.source), options.destination)
    if code != 0:
        raise LabError(f"copying {options.source} to {options.destination} on {options.host}: the "
                       f"guest said no, exit code {code}; see its message above")


def daemon(options):
    host = State.load(options.dir).host(options.host)
    return guest.run(host, ["daemonctl", options.action])


def log(options):
    path = State.load(options.dir).host(options.host).daemon_log
    with open(path, "rb") as file:
        while True:
            data = file.read(65536)
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            if not data:
                if not options.follow:
                    return
                time.sleep(0.1)


def console(options):
    host = State.load(options.dir).host(options.host)
    if options.print or not sys.stdin.isatty():
        sys.stdout.buffer.write(host.console_log.read_bytes())
        return
    host.need_running("opening the console")
    print(f"the console of {host.name}, a root shell; Ctrl-] leaves it")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(host.socket("console")))
        attach(connection)


def attach(connection):
    """Joins this terminal and the guest's; one user at a time, so says QEMU's socket."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal)
        connection.sendall(b"\n")  # so that the shell shows its prompt
        while True:
            readable = select.select([terminal, connection], [], [])[0]
            if connection in readable:
                data = connection.recv(4096)
                if not data:
                    return
                os.write(sys.stdout.fileno(), data)
            if terminal in readable:
                typed = os.read(terminal, 1024)
                if not typed or LEAVE_CONSOLE in typed:
                    return
                connection.sendall(typed)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        print()


def power(options):
    """kill, start, pause, resume."""
    with locked(options.dir):
        host = State.load(options.dir).host(options.host)
        if options.verb == "pause":
            bringup.pause(host, options.stop_clock)
        else:
            {"kill": bringup.kill, "start": bringup.start, "resume": bringup.resume}[options.verb](
                host)


def cable(options):
    host = State.load(options.dir).host(options.host)
    host.need_running("plugging the cable")
    vm.qmp(host, "set_link", name="data-nic", up=options.position == "up")
    print(f"the data cable of {host.name} is {options.position}")


def late(options):
    state = State.load(options.dir)
    hosts = [host for host in state.hosts() if host.vm_state() == "running"]

    def measure(host):
        code, text = guest.output(host, ["lateness", str(options.count)])
        if code != 0:
            raise LabError(f"measuring lateness on {host.name}: exit code {code}: {text.strip()}")
        return {"host": host.name, **fabric.parse_lines(text)[0]}

    with concurrent.futures.ThreadPoolExecutor() as pool:
        measured = list(pool.map(measure, hosts))
    if options.json:
        print(json.dumps({"lateness": measured}, indent=1))
        return
    for one in measured:
        print(f"{one['host']:4} a sleep of 10 ms ends late by p50 {one['p50_ms']} ms, "
              f"p99 {one['p99_ms']} ms, max {one['max_ms']} ms")


def impair(options):
    state = State.load(options.dir)
    if options.verb == "add":
        print(fabric.ask(state, fabric.rule_words(options))[0]["id"])
    elif options.verb == "del":
        fabric.ask(state, f"del {options.id}")
    elif options.verb == "clear":
        fabric.ask(state, "clear")
    else:
        print_records(fabric.ask(state, "list"), "impairments", options.json)


def switch_stats(options):
    print_records(fabric.ask(State.load(options.dir), "stats"), "ports", options.json)


def print_records(records, name, as_json):
    if as_json:
        print(json.dumps({name: records}, indent=1))
        return
    for record in records:
        print("  ".join(key if value is True else f"{key} {value}"
                        for key, value in record.items()))
