"""Builds the guests' file system: an archive in memory, kept by the hash of what is in it.

Every guest boots the same image and a few kilobytes of its own behind it (see guest_config.py).
Nothing is downloaded: kernel modules, programs and libraries are those of this machine.
"""

import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

import cpio
import kernel
import source_module
from errors import LabError
from places import LAB_FOLDER, cache_folder, need_host_tool

# program -> Debian package. These the daemon's authors and tests use in a guest.
TOOLS = {
    "ip": "iproute2", "tc": "iproute2", "rdma": "iproute2", "ss": "iproute2", "dcb": "iproute2",
    "bridge": "iproute2", "devlink": "iproute2", "ethtool": "ethtool", "dash": "dash",
    "setpriv": "util-linux",
}
EXTRA_TOOLS = {
    "rping": "rdmacm-utils", "ib_read_lat": "perftest", "ib_write_lat": "perftest",
    "ib_send_lat": "perftest", "ib_read_bw": "perftest", "ib_send_bw": "perftest",
    "chrt": "util-linux",
}
LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"
# dlopened, so ldd does not show them: the verbs providers, and what glibc loads when a thread ends.
DLOPENED = (f"/{LIBRARY_FOLDER}/libibverbs/librxe-rdmav34.so",
            f"/{LIBRARY_FOLDER}/libibverbs/libsiw-rdmav34.so",
            f"/{LIBRARY_FOLDER}/libgcc_s.so.1")
# busybox has smaller ones of the same name that know no RDMA and no netem.
NOT_FROM_BUSYBOX = set(TOOLS) | {"init", "linuxrc", "sh", "reboot"}
MERGED_FOLDERS = ("bin", "sbin", "lib", "lib64")
IMAGES_KEPT = 6


def guest_path(host_path):
    """Debian's /lib is a link to usr/lib, and ours too: one spelling for each file."""
    path = host_path.lstrip("/")
    first = path.split("/", 1)[0]
    return f"usr/{path}" if first in MERGED_FOLDERS else path


def parse_ldd(text):
    """The libraries' paths; raises the name of one that is missing as KeyError."""
    missing = re.findall(r"^\s*(\S+) => not found", text, re.MULTILINE)
    if missing:
        raise KeyError(missing[0])
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", text, re.MULTILINE)


def libraries_of(program):
    run = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if run.returncode != 0:  # "not a dynamic executable"
        return []
    try:
        return parse_ldd(run.stdout)
    except KeyError as missing:
        raise LabError(f"collecting the libraries of {program}: {missing.args[0]} is not installed; "
                       f"run deploy/install_dependencies.sh") from None


def stripped(path):
    """A daemon with its symbols is ten times as large, and the guest is small.

    strip(1) seeks in what it writes, so it writes a file. A script in a program's place stays as it
    is: that is how the lab is tried without the daemon.
    """
    data = Path(path).read_bytes()
    if not data.startswith(b"\x7fELF"):
        return data
    with tempfile.NamedTemporaryFile() as out:
        run = subprocess.run(["strip", "--strip-all", "-o", out.name, str(path)],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise LabError(f"stripping {path}: {run.stderr.strip()}; is binutils installed?")
        return Path(out.name).read_bytes()


def program_entries(programs):
    """The programs (guest path -> host path) and all libraries they need."""
    entries = []
    libraries = set(DLOPENED)
    for where, path in programs.items():
        entries.append(cpio.file(where, stripped(path), 0o755))
        libraries.update(libraries_of(path))
    for library in DLOPENED:
        if not Path(library).is_file():
            raise LabError(f"building the guest image: {library} is not on this machine; "
                           f"run `apt-get install ibverbs-providers libgcc-s1`")
        libraries.update(libraries_of(library))
    entries += [cpio.file(guest_path(path), Path(path).read_bytes(), 0o755)
                for path in sorted(libraries)]
    return entries


def busybox_entries():
    busybox = need_host_tool("busybox", "busybox-static")
    if libraries_of(busybox):
        raise LabError(f"building the guest image: {busybox} is dynamic; "
                       f"run `apt-get install busybox-static`")
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    names = set(applets.stdout.split()) - NOT_FROM_BUSYBOX - {"busybox"}
    links = [cpio.link(f"usr/bin/{name}", "busybox") for name in sorted(names)]
    return [cpio.file("usr/bin/busybox", Path(busybox).read_bytes(), 0o755), *links]


def module_entries(release, transport):
    index = kernel.ModuleIndex.of(release)
    names = kernel.BOOT_MODULES[transport]
    spare = kernel.SPARE_MODULES
    built = {}
    if transport == "siw":
        for name, module in source_module.built(source_module.MODULES, release).items():
            path = source_module.path_of(name)
            built[path] = module
            index.add(path, source_module.needs(module))
        spare += ("netdevsim",)
    boot = index.load_order(names)
    all_modules = index.load_order(names + spare)
    base = f"lib/modules/{release}"
    entries = []
    for path in all_modules:
        if not path.endswith(".ko"):
            raise LabError(f"building the guest image: the module {path} is compressed, which the "
                           f"guest's insmod does not read; use Debian 12's kernel")
        data = built.get(path) or (Path("/lib/modules") / release / path).read_bytes()
        entries.append(cpio.file(f"usr/{base}/{path}", data))
    entries.append(cpio.file(f"usr/{base}/modules.dep", index.lines(all_modules).encode()))
    boot_list = "".join(f"/{base}/{path}\n" for path in boot)
    entries.append(cpio.file("etc/lab/modules", boot_list.encode()))
    return entries


def own_entries():
    """What lies in guest/rootfs, as it is; scripts keep their permission to run."""
    base = LAB_FOLDER / "guest/rootfs"
    entries = []
    for path in sorted(base.rglob("*")):
        if path.is_file():
            permissions = 0o755 if os.access(path, os.X_OK) else 0o644
            name = guest_path(str(path.relative_to(base)))
            entries.append(cpio.file(name, path.read_bytes(), permissions))
    return entries


def folder_entries():
    entries = [cpio.link(name, f"usr/{name}") for name in MERGED_FOLDERS]
    entries += [cpio.folder(name) for name in ("proc", "sys", "dev", "root", "mnt")]
    # Owned as the package would have them for the service's user.
    entries += [cpio.folder("run/rdmapulse", 0o755, 900, 900), cpio.folder("run/lab"),
                cpio.folder("var/lib/rdmapulse", 0o750, 900, 900), cpio.folder("var/log"),
                cpio.folder("tmp", 0o1777), cpio.link("var/run", "../run")]
    return entries


def build(release, programs, tools=True, transport="rxe"):
    """Path of the image for these programs (guest path -> host path); made if it is new."""
    wanted = TOOLS | (EXTRA_TOOLS if tools else {})
    programs = dict(programs)
    for name, package in wanted.items():
        path = need_host_tool(name, package)
        programs[guest_path(path)] = path
    entries = folder_entries() + busybox_entries()
    entries += module_entries(release, transport) + own_entries()
    entries += program_entries(programs)
    entries.append(cpio.link("usr/bin/sh", "dash"))
    for driver in kernel.BOOT_MODULES:
        entries.append(cpio.file(f"etc/libibverbs.d/{driver}.driver", f"driver {driver}\n".encode()))
    data = cpio.archive(entries)
    path = cache_folder() / f"image-{hashlib.sha256(data).hexdigest()[:16]}.cpio"
    if not path.is_file():
        kernel.write_atomically(path, data)
    os.utime(path)  # the time of last use decides what is thrown away
    _forget_old_images(path.parent)
    return path


def _forget_old_images(folder):
    images = sorted(folder.glob("image-*.cpio"), key=lambda path: path.stat().st_mtime)
    for path in images[:-IMAGES_KEPT]:
        path.unlink(missing_ok=True)
