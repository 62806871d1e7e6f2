#!/usr/bin/env python3
"""Makes one readable file of a recorded host's folder: python3 pack.py DIR > data/NAME.tree

The format is that of tests/fakes/tree.h. Only what design section 5.2 names is kept with its
content; of other files the name, so that a test sees that they are not read. `meta.yaml` gives the
comment at the head.
"""

import pathlib
import re
import sys

PARTS = {"sysfs", "ethtool-S", "ethtool-a", "ethtool-i", "ethtool-I-a", "dcb", "mlnx_qos",
         "rdma-statistic"}
HEAD_KEYS = ("source", "hardware", "driver", "kernel", "layout", "derived", "placeholder_values",
             "notes")


def head(meta):
    """The keys of meta.yaml that say where the values come from, each as comment lines."""
    lines, wanted, statements = [], False, 0
    in_expected = False
    for line in meta.splitlines():
        key = re.match(r"([a-z_]+):", line)
        if key:
            wanted = key.group(1) in HEAD_KEYS
            in_expected = key.group(1) == "expected"
        elif in_expected and line.startswith("  - "):
            statements += 1
        if wanted:
            lines.append("# " + line)
    lines.append(f"# statements: {statements}")
    return lines


def is_kept(path):
    return path.name == "host.yaml" or any(part in PARTS for part in path.parts[:-1])


def text_of(name, path):
    if path.is_symlink():
        return [f"{name} -> {path.readlink()}"]
    data = path.read_bytes().decode("utf-8")
    if not data:
        return [f"{name} ="]
    # A link that was kept as text, as git does where links are not to be had.
    if re.fullmatch(r"\.\./[^\n]*\n?", data):
        return [f"{name} -> {data.strip()}"]
    lines = data.split("\n")
    if len(lines) == 2 and lines[1] == "" and not lines[0].endswith(" ") and lines[0]:
        return [f"{name} = {lines[0]}"]
    text = [f"{name} <<"] + ["|" + line for line in lines[:-1]]
    return text + (["\\" + lines[-1]] if lines[-1] else [])


def pack(folder):
    out = [f"# {folder.name}"]
    meta = folder / "meta.yaml"
    if meta.exists():
        out += head(meta.read_text(encoding="utf-8"))
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.name == "meta.yaml":
            continue
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                out.append(f"{name}/")
        elif is_kept(name):
            out += text_of(name, path)
        else:
            out.append(f"{name} =")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: pack.py DIR > data/NAME.tree")
    sys.stdout.write(pack(pathlib.Path(sys.argv[1])))
