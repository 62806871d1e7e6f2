"""The processes of a lab: started here, and ended only if they are surely ours."""

import os
import signal
import subprocess
import time
from pathlib import Path

from errors import LabError


def start(command, log_path):
    """Starts it in a session of its own, so that Ctrl-C in the lab's terminal does not reach it."""
    with open(log_path, "ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True, close_fds=True)
    return process


def identity(pid):
    """What makes a pid ours: the kernel's start time of the process; None when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rsplit(")", 1)[1].split()
    state, start_time = fields[0], int(fields[19])
    return None if state in "ZX" else start_time


def record(pid, mark):
    """What the state file keeps; `mark` is a path that only this lab's command line has."""
    return {"pid": pid, "start_time": identity(pid), "mark": str(mark)}


def alive(process):
    """True when the pid still is the process that was recorded, and no later one of that number."""
    if not process or process["start_time"] is None:
        return False
    if identity(process["pid"]) != process["start_time"]:
        return False
    try:
        command = Path(f"/proc/{process['pid']}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    # Empty for a moment while the program is being loaded; the start time has decided then.
    return not command or process["mark"] in command


def stopped(process):
    """True under SIGSTOP."""
    try:
        text = Path(f"/proc/{process['pid']}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] in "Tt"


def send(process, number):
    if alive(process):
        os.kill(process["pid"], number)


def end(process, number=signal.SIGKILL, patience_s=5.0):
    """Ends it and waits until it is gone; SIGKILL when it does not go by itself."""
    if not alive(process):
        return
    send(process, number)
    deadline = time.monotonic() + patience_s
    while alive(process):
        reap(process["pid"])
        if time.monotonic() > deadline:
            if number == signal.SIGKILL:
                raise LabError(f"ending process {process['pid']}: it is still there after SIGKILL; "
                               f"look at /proc/{process['pid']}/stack")
            number = signal.SIGKILL
            deadline = time.monotonic() + patience_s
            send(process, number)
        time.sleep(0.01)


def reap(pid):
    """Our own child becomes a zombie otherwise; of an earlier run of the lab it is not our child."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass
