"""Debian's kernel: the unpacked ELF image QEMU starts at once, and which modules a module needs."""

import hashlib
import lzma
import os
import struct
import zlib
from pathlib import Path

from errors import LabError
from places import cache_folder

# Loaded at boot, in this order, each after what it needs. rdma_rxe asks the crypto API for crc32
# when a device is made and fails when no module offers it, siw asks for crc32c and does without;
# nothing loads one by itself.
BOOT_MODULES = {
    "rxe": ("virtio_pci", "virtio_net", "virtio_console", "crc32_generic", "rdma_rxe", "rdma_ucm"),
    "siw": ("virtio_pci", "virtio_net", "virtio_console", "crc32c_generic", "siw", "rdma_ucm"),
}
# In the image for whoever asks: `tc qdisc add … netem` loads its own module by modprobe.
SPARE_MODULES = ("sch_netem", "sch_tbf", "sch_prio", "sch_ingress", "cls_u32", "cls_flower",
                 "act_gact", "dummy", "veth", "8021q", "bonding", "ib_umad", "tcp_diag")


def newest_release(boot=Path("/boot"), modules=Path("/lib/modules")):
    """The release with both a kernel and modules; the newest by number, not by spelling."""
    def numbers(release):
        return [int(part) if part.isdigit() else -1
                for part in release.replace("-", ".").split(".")]

    releases = [path.name.removeprefix("vmlinuz-") for path in boot.glob("vmlinuz-*")]
    releases = [release for release in releases if (modules / release / "modules.dep").is_file()]
    if not releases:
        raise LabError(f"looking for a kernel in {boot} with modules in {modules}: there is none; "
                       f"run `apt-get install linux-image-amd64`")
    return max(releases, key=numbers)


def payload(image):
    """The compressed ELF kernel inside a bzImage (Documentation/x86/boot.rst, payload_offset)."""
    if image[0x202:0x206] != b"HdrS":
        raise LabError("unpacking the kernel: it is not a bzImage; use Debian's linux-image-amd64")
    setup_sectors = image[0x1f1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    return image[start:start + length]


def unpack(compressed):
    if compressed.startswith(b"\xfd7zXZ\0"):
        data = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(compressed)
    elif compressed.startswith(b"\x1f\x8b"):
        data = zlib.decompressobj(31).decompress(compressed)
    else:
        raise LabError(f"unpacking the kernel: its compression (first bytes "
                       f"{compressed[:4].hex()}) is neither xz nor gzip; use Debian 12's kernel")
    if not data.startswith(b"\x7fELF"):
        raise LabError("unpacking the kernel: what came out is no ELF image")
    return data


def vmlinux(release, boot=Path("/boot")):
    """Unpacked once for each kernel. By PVH it starts in half the time of the packed one."""
    image = (boot / f"vmlinuz-{release}").read_bytes()
    cached = cache_folder() / f"vmlinux-{hashlib.sha256(image).hexdigest()[:16]}"
    if not cached.is_file():
        write_atomically(cached, unpack(payload(image)))
    return cached


def write_atomically(path, data):
    """Another lab may be reading or making the same file."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(data)
    part.replace(path)


def module_name(path):
    """`kernel/…/crc32-pclmul.ko` -> `crc32_pclmul`: the kernel takes - and _ as the same."""
    return path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_")


class ModuleIndex:
    """modules.dep and modules.builtin of one kernel."""

    def __init__(self, dep_text, builtin_text=""):
        self._needs = {}
        self._paths = {}
        for line in dep_text.splitlines():
            path, _, needs = line.partition(":")
            self._paths[module_name(path)] = path
            self._needs[path] = needs.split()
        self._builtin = {module_name(path) for path in builtin_text.split()}

    @classmethod
    def of(cls, release, modules=Path("/lib/modules")):
        folder = modules / release
        return cls((folder / "modules.dep").read_text(), (folder / "modules.builtin").read_text())

    def add(self, path, needs):
        """A module that is not of this kernel's package; `needs` are names that the kernel has."""
        order = self.load_order(needs)
        self._paths[module_name(path)] = path
        self._needs[path] = list(reversed(order))

    def load_order(self, names):
        """Paths below the modules' folder, each after all it needs, none twice."""
        order = []
        for name in names:
            name = name.replace("-", "_")
            if name in self._builtin:
                continue
            if name not in self._paths:
                raise LabError(f"collecting kernel modules: this kernel has no {name}")
            path = self._paths[name]
            # modules.dep lists all needs of a module, the deepest last.
            for needed in (*reversed(self._needs[path]), path):
                if needed not in order:
                    order.append(needed)
        return order

    def lines(self, paths):
        """The part of modules.dep that speaks of these modules, for modprobe in the guest."""
        return "".join(f"{path}: {' '.join(self._needs[path])}\n" for path in paths)
