"""What differs between the guests: name, addresses, the daemon's configuration."""

import re
from dataclasses import dataclass

import cpio
from errors import LabError

HOSTS_MAX = 32
# The test networks of the design: never a real one.
IPV4 = "10.77.0.{}"
IPV6 = "fd77::{}"
MANAGEMENT_NETWORK = "10.0.2.0/24"  # QEMU's user network, where scrapes come from


@dataclass(frozen=True)
class GuestIdentity:
    index: int  # from 1

    @property
    def name(self):
        return f"h{self.index}"

    @property
    def ipv4(self):
        return IPV4.format(self.index)

    @property
    def ipv6(self):
        return IPV6.format(self.index)

    @property
    def mac(self):
        return f"52:54:00:77:00:{self.index:02x}"

    @property
    def management_mac(self):
        return f"52:54:00:78:00:{self.index:02x}"


def daemon_config(guest, host_count, peers=True, extra=""):
    """The daemon's configuration as text; `extra` comes behind it and may not repeat its keys."""
    lines = [
        f"host: {{name: {guest.name}, labels: {{tor: t1}}}}",
        f"http: {{api_allow: [{MANAGEMENT_NETWORK}]}}",
    ]
    others = [GuestIdentity(index) for index in range(1, host_count + 1) if index != guest.index]
    if peers and others:
        lines.append("peers:")
        # By IPv6: tests take the IPv4 data address away, and the session must outlive that.
        lines += [f'  - {{name: {peer.name}, address: "{peer.ipv6}", labels: {{tor: t1}}}}'
                  for peer in others]
    text = "\n".join(lines) + "\n"
    twice = top_level_keys(text) & top_level_keys(extra)
    if twice:
        raise LabError(f"adding --config-extra to the daemon's configuration: the lab writes "
                       f"{', '.join(sorted(twice))} itself; leave them out"
                       + (" or use --no-peers" if "peers" in twice else ""))
    return text + (extra if extra.endswith("\n") or not extra else extra + "\n")


def top_level_keys(yaml_text):
    return set(re.findall(r"^([A-Za-z_]+)\s*:", yaml_text, re.MULTILINE))


def overlay(guest, host_count, lab_id, options):
    """The archive that goes behind the common image."""
    config = daemon_config(guest, host_count, options["peers"], options["config_extra"])
    variables = {
        "LAB_HOST": guest.name, "LAB_MAC": guest.mac, "LAB_IPV4": guest.ipv4,
        "LAB_IPV6": guest.ipv6, "LAB_TRANSPORT": options["transport"],
        "LAB_DAEMON": int(options["daemon"]),
        "LAB_DAEMON_USER": options["daemon_user"], "LAB_GREETING": f"'{greeting(lab_id, guest)}'",
    }
    host = "".join(f"{name}={value}\n" for name, value in variables.items())
    names = "127.0.0.1 localhost\n::1 localhost\n" + "".join(
        f"{peer.ipv6} {peer.name}\n"
        for peer in (GuestIdentity(index) for index in range(1, host_count + 1)))
    return cpio.archive([
        cpio.file("etc/lab/host", host.encode()),
        cpio.file("etc/hosts", names.encode()),
        cpio.file("etc/hostname", f"{guest.name}\n".encode()),
        cpio.file("etc/rdmapulse/rdmapulse.yaml", config.encode()),
    ])


def greeting(lab_id, guest):
    """How the lab knows that the port it calls is this guest's, and not somebody's who came later."""
    return f"rdmapulse-lab {lab_id} {guest.name}"
