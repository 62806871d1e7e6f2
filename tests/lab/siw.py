"""The kernel module of iWARP in software, which Debian's kernel does not have: built from Debian's
source of the same kernel, and kept by the hash of what it is made of."""

import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

import kernel
from errors import LabError
from places import cache_folder, need_host_tool

PATH = "extra/siw.ko"  # below the modules' folder
FOLDER = "drivers/infiniband/sw/siw"  # in the kernel's source


def module(release, sources=Path("/usr/src"), modules=Path("/lib/modules")):
    """siw.ko for this kernel, as bytes. Half a minute the first time."""
    source = source_archive(release, sources)
    headers = modules / release / "build"
    symbols = headers / "Module.symvers"
    if not symbols.is_file():
        raise LabError(f"building siw for the kernel {release}: its headers are not in {headers}; "
                       f"run `apt-get install linux-headers-{release}`")
    digest = hashlib.sha256(release.encode())
    for path in (source, symbols):
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    cached = cache_folder() / f"siw-{digest.hexdigest()[:16]}.ko"
    if not cached.is_file():
        print("building the module siw (the first time for this kernel)", flush=True)
        build(source, headers, cached)
    return cached.read_bytes()


def source_archive(release, sources=Path("/usr/src")):
    """Debian's linux-source package of the release's version."""
    version = ".".join(release.split(".")[:2])
    archive = sources / f"linux-source-{version}.tar.xz"
    if not archive.is_file():
        raise LabError(f"building siw for the kernel {release}: {archive} is not there; "
                       f"run `apt-get install linux-source-{version}`")
    return archive


def build(source, headers, target):
    make = need_host_tool("make", "make")
    tar = need_host_tool("tar", "tar")
    with tempfile.TemporaryDirectory(prefix="rdmapulse-siw-") as folder:
        top = source.name.removesuffix(".tar.xz")
        run([tar, "-xJf", source, "-C", folder, f"{top}/{FOLDER}"], "unpacking siw")
        place = Path(folder) / top / FOLDER
        run([make, "-C", headers, f"M={place}", "CONFIG_RDMA_SIW=m", "modules"], "building siw")
        need_host_tool("strip", "binutils")
        run(["strip", "--strip-debug", place / "siw.ko"], "stripping siw")
        kernel.write_atomically(target, (place / "siw.ko").read_bytes())


def run(command, doing):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join(f"  | {line}" for line in (done.stdout + done.stderr).splitlines()[-15:])
        raise LabError(f"{doing}: {command[0]} failed (exit {done.returncode}), see below; "
                       f"is everything of deploy/install_dependencies.sh there?\n{said}")


def needs(data):
    """The names of the modules that this one needs, as modpost wrote them into it."""
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    if not found:
        raise LabError("reading what siw.ko needs: it does not say; delete it from "
                       f"{cache_folder()} and try again")
    return [name for name in found.group(1).decode().split(",") if name]
