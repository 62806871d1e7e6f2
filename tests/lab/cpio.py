"""Writes the archive format the kernel unpacks into its first file system ("newc")."""

import stat
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One file, folder or link of the guest, as the image will have it."""
    path: str  # without a leading slash
    mode: int  # type and permissions, as st_mode
    data: bytes = b""
    uid: int = 0
    gid: int = 0


def folder(path, permissions=0o755, uid=0, gid=0):
    return Entry(path, stat.S_IFDIR | permissions, b"", uid, gid)


def file(path, data, permissions=0o644):
    return Entry(path, stat.S_IFREG | permissions, data)


def link(path, target):
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def with_parents(entries):
    """The entries sorted, each folder before what is in it; missing folders are made."""
    by_path = {entry.path: entry for entry in entries}
    for path in list(by_path):
        while "/" in path:
            path = path.rsplit("/", 1)[0]
            by_path.setdefault(path, folder(path))
    return [by_path[path] for path in sorted(by_path)]


def _pad(data):
    return data + b"\0" * (-len(data) % 4)


def _record(entry, inode):
    name = entry.path.encode() + b"\0"
    fields = (inode, entry.mode, entry.uid, entry.gid, 1, 0, len(entry.data), 0, 0, 0, 0,
              len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _pad(header + name) + _pad(entry.data)


def archive(entries):
    """Bytes that depend on the entries alone: no times, no inode numbers of this machine.

    Its length is a multiple of 512, so another archive may follow it: the kernel unpacks both, and
    what comes later replaces what came before.
    """
    records = [_record(entry, inode) for inode, entry in enumerate(with_parents(entries), 1)]
    records.append(_record(Entry("TRAILER!!!", 0), 0))
    data = b"".join(records)
    return data + b"\0" * (-len(data) % 512)
