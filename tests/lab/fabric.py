"""The switch: starting it, and speaking its control language (switch/control.h)."""

import re
import signal
import socket
import time

import processes
from errors import LabError

TIME_UNITS = {"us": 1, "ms": 1e3, "s": 1e6}
RATE_UNITS = {"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
SIZE_UNITS = {"b": 1, "kb": 1e3, "mb": 1e6}
ACTIONS = ("drop", "blackhole", "delay_us", "rate_bps", "ecn")


def quantity(text, units, what):
    """`20ms` -> 20000.0 by the units given; a bare number would leave the reader guessing."""
    match = re.fullmatch(r"([0-9.]+)\s*([a-z]+)", text.strip().lower())
    try:
        return float(match[1]) * units[match[2]]
    except (TypeError, KeyError, ValueError):
        raise LabError(f"reading the {what} '{text}': not a number with one of the units "
                       f"{', '.join(units)}") from None


def rule_words(arguments):
    """The control line of `lab impair add`, of its parsed arguments."""
    words = ["add"]
    for key, value in (("from", arguments.source), ("to", arguments.to), ("dscp", arguments.dscp),
                       ("sport", arguments.sport), ("larger", arguments.larger),
                       ("drop", arguments.drop), ("ecn", arguments.ecn)):
        if value is not None:
            words.append(f"{key}={value}")
    for key, text, units, what in (
            ("delay_us", arguments.delay, TIME_UNITS, "delay"),
            ("jitter_us", arguments.jitter, TIME_UNITS, "jitter"),
            ("rate_bps", arguments.rate, RATE_UNITS, "rate"),
            ("queue_bytes", arguments.queue, SIZE_UNITS, "queue")):
        if text is not None:
            words.append(f"{key}={quantity(text, units, what):.12g}")
    words += ["blackhole"] if arguments.blackhole else []
    words += ["not_ect_too"] if arguments.not_ect_too else []
    return " ".join(words)


def number(text):
    """The value as JSON should have it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_lines(text):
    """`a=1 b=x flag` lines -> dictionaries; a word without a value is true."""
    records = []
    for line in text.splitlines():
        record = {}
        for word in line.split():
            key, equals, value = word.partition("=")
            record[key] = number(value) if equals else True
        records.append(record)
    return records


def ask(state, line):
    """Sends one control line; the lines of the answer behind its `ok`."""
    doing = f"asking the switch for `{line}`"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(10)
            connection.connect(str(state.control_path))
            connection.sendall(line.encode())
            reply = connection.recv(1 << 18).decode()
    except OSError as error:
        raise LabError(f"{doing}: {error}; see `lab status` and "
                       f"{state.folder / 'switch.log'}") from None
    if reply.startswith("error "):
        raise LabError(f"{doing}: {reply.removeprefix('error ').strip()}; "
                       f"see `lab impair add --help`")
    return parse_lines(reply.removeprefix("ok").strip())


def start(state, program, seed):
    """Starts the switch and waits until its sockets are there: VMs may send only then."""
    ports = []
    for host in state.hosts():
        host.folder.mkdir(exist_ok=True)
        ports += ["--port", f"{host.name},{host.socket('data-switch')},{host.socket('data-vm')}"]
    log = state.folder / "switch.log"
    log.unlink(missing_ok=True)
    command = [str(program), "--control", str(state.control_path), "--seed", str(seed), *ports]
    process = processes.start(command, log)
    state.data["switch"] = processes.record(process.pid, state.control_path)
    state.save()
    deadline = time.monotonic() + 10
    while not log.read_text(errors="replace").startswith("ready"):
        if process.poll() is not None or time.monotonic() > deadline:
            raise LabError(f"starting the switch {program}: it said "
                           f"'{log.read_text(errors='replace').strip()}'; see {log}")
        time.sleep(0.01)


def stop(state):
    processes.end(state.data["switch"], signal.SIGTERM, 2)
