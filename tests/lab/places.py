"""Where things are: the repository, what Bazel built, the cache, the state folder."""

import os
import shutil
from pathlib import Path

from errors import LabError

LAB_FOLDER = Path(__file__).resolve().parent
REPOSITORY = LAB_FOLDER.parents[1]
# The release configuration has its own output folder; bazel-bin is whatever was built last.
BAZEL_FOLDERS = (REPOSITORY / "bazel-out/k8-opt-release/bin", REPOSITORY / "bazel-bin")

# Program -> its place below a Bazel output folder.
DAEMON_PROGRAMS = {"rdmapulsed": "daemon/rdmapulsed", "rdmapulse": "daemon/cli/rdmapulse"}
LAB_PROGRAMS = {
    "lab_switch": "tests/lab/switch/lab_switch",
    "lab_agent": "tests/lab/guest/lab_agent",
    "lateness": "tests/lab/guest/lateness",
}


def default_state_folder():
    return Path(os.environ.get("RDMAPULSE_LAB_DIR") or "/tmp/rdmapulse-lab")


def cache_folder():
    """Kernels and images: dear to make, the same for all labs of a machine."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "rdmapulse-lab"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def find_program(name, folder=None):
    """The program as a Path, or None. `folder` may be flat or laid out as Bazel does."""
    place = {**DAEMON_PROGRAMS, **LAB_PROGRAMS}[name]
    if folder is not None:
        candidates = [Path(folder) / name, Path(folder) / place]
    else:
        candidates = [base / place for base in BAZEL_FOLDERS]
    return next((path.resolve() for path in candidates if path.is_file()), None)


def need_lab_program(name, folder):
    """`folder` is --lab-bin, else --bin: tests may keep all programs together, or not."""
    for place in (*folder, None):
        path = find_program(name, place) if place or place is None else None
        if path:
            return path
    raise LabError(
        f"looking for the lab's own program {name}: it is not built; run "
        f"`bazel build --config=release //tests/lab/switch:lab_switch //tests/lab/guest:all` "
        f"or name its folder with --lab-bin")


def need_daemon_program(name, folder):
    path = find_program(name, folder)
    if path:
        return path
    where = folder or "the folders of Bazel"
    raise LabError(
        f"looking for {name} in {where}: it is not there; run "
        f"`bazel build --config=release //daemon:rdmapulsed //daemon/cli:rdmapulse`, name its folder "
        f"with --bin, or boot without the daemon by --no-daemon")


def need_host_tool(name, package):
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if path:
        return path
    raise LabError(f"looking for {name} on this machine: it is not installed; "
                   f"run `apt-get install {package}`")
