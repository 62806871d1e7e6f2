"""The state folder: everything a later command must know of a running lab.

    DIR/state.json   what runs, and with which ports and options
    DIR/lock         held while a command changes something
    DIR/switch.log  DIR/switch.control
    DIR/hK/          initrd, console.log, daemon.log, qemu.log, and the sockets of that VM
"""

import contextlib
import fcntl
import json
import os
import secrets
from pathlib import Path

import processes
from errors import LabError
from guest_config import GuestIdentity, greeting

# A Unix socket's path has at most 107 bytes, and ours add some.
FOLDER_PATH_MAX = 80


class State:
    """state.json, as it is on disk and in memory."""

    def __init__(self, folder, data):
        self.folder = Path(folder)
        self.data = data

    @classmethod
    def new(cls, folder, options):
        data = {"lab_id": secrets.token_hex(4), "options": options, "switch": None, "hosts": {}}
        return cls(folder, data)

    @classmethod
    def load(cls, folder):
        path = Path(folder) / "state.json"
        try:
            return cls(folder, json.loads(path.read_text()))
        except FileNotFoundError:
            raise LabError(f"reading {path}: no lab is up there; run `lab up --hosts N`, or name "
                           f"its folder by --dir or RDMAPULSE_LAB_DIR") from None
        except ValueError as error:
            raise LabError(f"reading {path}: it is damaged ({error}); run `lab up` in another "
                           f"folder") from None

    def save(self):
        path = self.folder / "state.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.data, indent=1) + "\n")
        part.replace(path)

    @property
    def options(self):
        return self.data["options"]

    @property
    def control_path(self):
        return self.folder / "switch.control"

    def names(self):
        return list(self.data["hosts"])

    def host(self, name):
        if name not in self.data["hosts"]:
            raise LabError(f"looking for host {name}: this lab has {', '.join(self.names())}")
        return Host(self, name)

    def hosts(self):
        return [Host(self, name) for name in self.names()]

    def anything_alive(self):
        return processes.alive(self.data["switch"]) or any(
            processes.alive(host.process) for host in self.hosts())


class Host:
    """One VM as the state file has it."""

    def __init__(self, state, name):
        self.state = state
        self.name = name
        self.guest = GuestIdentity(state.data["hosts"][name]["index"])
        self.folder = state.folder / name

    @property
    def record(self):
        return self.state.data["hosts"][self.name]

    @property
    def process(self):
        return self.record.get("process")

    @property
    def metrics_port(self):
        return self.record["metrics_port"]

    @property
    def metrics_url(self):
        return f"http://127.0.0.1:{self.metrics_port}/metrics"

    @property
    def agent_port(self):
        return self.record["agent_port"]

    @property
    def greeting(self):
        return greeting(self.state.data["lab_id"], self.guest)

    @property
    def console_log(self):
        return self.folder / "console.log"

    @property
    def daemon_log(self):
        return self.folder / "daemon.log"

    def socket(self, name):
        return self.folder / f"{name}.sock"

    def vm_state(self):
        """off, paused or running, as the process table says."""
        if not processes.alive(self.process):
            return "off"
        if processes.stopped(self.process) or self.record.get("clock_stopped"):
            return "paused"
        return "running"

    def need_running(self, doing):
        state = self.vm_state()
        if state == "running":
            return
        advice = "lab resume" if state == "paused" else "lab start"
        raise LabError(f"{doing} on {self.name}: it is {state}; run `{advice} {self.name}`")


def prepare_folder(folder):
    folder = Path(folder).resolve()
    if len(str(folder)) > FOLDER_PATH_MAX:
        raise LabError(f"using {folder} as state folder: its path has more than {FOLDER_PATH_MAX} "
                       f"bytes, too many for the sockets in it; choose a shorter one")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(folder):
    """One change at a time; a second command waits for the first."""
    path = Path(folder) / "lock"
    try:
        fd = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    except FileNotFoundError:
        raise LabError(f"opening {path}: no lab is up there; run `lab up --hosts N`, or name its "
                       f"folder by --dir or RDMAPULSE_LAB_DIR") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
