"""Kernel modules that Debian's kernel does not have: built from Debian's source of the same kernel, and
kept by the hash of what they are made of."""

import hashlib
import re
import subprocess
import tempfile
from pathlib import Path

import kernel
from errors import LabError
from places import cache_folder, need_host_tool

# Name -> its folder in the kernel's source, and what switches it on there.
MODULES = {
    "siw": ("drivers/infiniband/sw/siw", "CONFIG_RDMA_SIW"),
    "netdevsim": ("drivers/net/netdevsim", "CONFIG_NETDEVSIM"),
}


def path_of(name):
    """Below the modules' folder in the guest."""
    return f"extra/{name}.ko"


def built(names, release, sources=Path("/usr/src"), modules=Path("/lib/modules")):
    """Name -> the module for this kernel, as bytes. Half a minute the first time, mostly unpacking."""
    source = source_archive(release, sources)
    headers = modules / release / "build"
    symbols = headers / "Module.symvers"
    if not symbols.is_file():
        raise LabError(f"building modules for the kernel {release}: its headers are not in {headers}; "
                       f"run `apt-get install linux-headers-{release}`")
    digest = hashlib.sha256(release.encode())
    for path in (source, symbols):
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    cached = {name: cache_folder() / f"{name}-{digest.hexdigest()[:16]}.ko" for name in names}
    missing = [name for name in names if not cached[name].is_file()]
    if missing:
        print(f"building {' and '.join(missing)} (the first time for this kernel)", flush=True)
        build(missing, source, headers, cached)
    return {name: path.read_bytes() for name, path in cached.items()}


def source_archive(release, sources=Path("/usr/src")):
    """Debian's linux-source package of the release's version."""
    version = ".".join(release.split(".")[:2])
    archive = sources / f"linux-source-{version}.tar.xz"
    if not archive.is_file():
        raise LabError(f"building modules for the kernel {release}: {archive} is not there; "
                       f"run `apt-get install linux-source-{version}`")
    return archive


def build(names, source, headers, targets):
    make = need_host_tool("make", "make")
    tar = need_host_tool("tar", "tar")
    need_host_tool("strip", "binutils")
    with tempfile.TemporaryDirectory(prefix="rdmapulse-modules-") as folder:
        top = source.name.removesuffix(".tar.xz")
        wanted = [f"{top}/{MODULES[name][0]}" for name in names]
        run([tar, "-xJf", source, "-C", folder, *wanted], f"unpacking {' and '.join(names)}")
        for name in names:
            place = Path(folder) / top / MODULES[name][0]
            run([make, "-C", headers, f"M={place}", f"{MODULES[name][1]}=m", "modules"],
                f"building {name}")
            run(["strip", "--strip-debug", place / f"{name}.ko"], f"stripping {name}")
            kernel.write_atomically(targets[name], (place / f"{name}.ko").read_bytes())


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
        raise LabError("reading what a module needs: it does not say; delete it from "
                       f"{cache_folder()} and try again")
    return [name for name in found.group(1).decode().split(",") if name]
