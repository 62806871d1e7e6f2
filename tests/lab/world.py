"""The lab and a real Prometheus beside it, and the questions that tests ask them."""

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from prometheus import Prometheus

LAB = Path(__file__).resolve().parent / "lab"
HOSTS = ("h1", "h2", "h3")
PATIENCE = 3  # times the limit


class Failure(Exception):
    """A case does not hold; the text says what was seen."""


class World:
    """The lab and the Prometheus beside it."""

    def __init__(self, folder, programs, contract):
        self.folder = Path(folder)
        self.programs = programs
        self.contract = contract
        self.prometheus = None
        self.urls = {}
        self.instances = {}

    def lab(self, *words, check=True, timeout=300):
        command = [sys.executable, str(LAB), words[0], "--dir", str(self.folder), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise Failure(f"lab {' '.join(words)}: exit {done.returncode}: "
                          f"{done.stdout[-500:]}{done.stderr[-2000:]}")
        return done

    def guest(self, host, *command, check=True, timeout=60):
        return self.lab("exec", host, "--", *command, check=check, timeout=timeout)

    def up(self):
        words = ["up", "--hosts", str(len(HOSTS))]
        for option, folder in self.programs.items():
            words += [option, folder] if folder else []
        print(self.lab(*words, timeout=600).stdout, flush=True)
        for host in json.loads(self.lab("status", "--json").stdout)["hosts"]:
            self.urls[host["host"]] = host["metrics_url"].removesuffix("/metrics")
            self.instances[host["host"]] = host["metrics_url"].split("/")[2]
        self.prometheus = Prometheus.start(self.folder / "prometheus", self.instances.values())

    def down(self):
        if self.prometheus:
            self.prometheus.stop()
        self.lab("down", check=False)

    # --- questions

    def value(self, host, metric, labels=""):
        """The sum over the host's series of that name, None when there is none."""
        selector = f'instance="{self.instances[host]}"' + (f",{labels}" if labels else "")
        result = self.prometheus.query(f"sum({metric}{{{selector}}})")
        return result[0][1] if result else None

    def ok_count(self, host, peer, traffic_class):
        return self.value(host, "rdmapulse_probes_total",
                          f'peer="{peer}",class="{traffic_class}",outcome="ok"') or 0

    def api(self, host, page):
        with urllib.request.urlopen(f"{self.urls[host]}/api/v1/{page}", timeout=10) as answer:
            return json.load(answer)

    def gid(self, host):
        return self.api(host, "ports")["ports"][0]["gid"]

    def epoch(self, host):
        return self.api(host, "status")["epoch"]

    # --- waiting

    def wait(self, what, limit_s, condition, detail=lambda: ""):
        """Until condition() is true; prints how long it took beside the limit."""
        started = time.monotonic()
        while True:
            if condition():
                took = time.monotonic() - started
                mark = "" if took <= limit_s else "  (slow machine)"
                print(f"     {what}: {took:.1f} s (limit {limit_s} s){mark}", flush=True)
                return
            if time.monotonic() - started > PATIENCE * limit_s:
                raise Failure(f"{what}: not within {PATIENCE} × {limit_s} s{detail()}")
            time.sleep(0.2)

    def wait_probing(self, limit_s, pairs, classes=("lossless", "control")):
        """Every pair gets two more good probes in every class, by counters that may start anew."""
        missing = {(a, b, c): (self.ok_count(a, b, c), 2) for a, b in pairs for c in classes}

        def all_probed():
            for key, (seen, wanted) in list(missing.items()):
                count = self.ok_count(*key)
                wanted -= count - seen if count >= seen else count
                missing[key] = (count, wanted)
                if wanted <= 0:
                    del missing[key]
            return not missing

        def still_missing():
            return "; missing " + ", ".join(f"{a}→{b} {c} ({seen:.0f} so far)"
                                            for (a, b, c), (seen, _) in missing.items())

        names = ", ".join(f"{a}→{b}" for a, b in pairs)
        self.wait(f"{names} probe ok ({', '.join(classes)})", limit_s, all_probed, still_missing)

    def reload_with(self, host, extra):
        """The host's configuration as the lab wrote it, and `extra` behind it; SIGHUP."""
        original = "/etc/rdmapulse/rdmapulse.yaml.lab"
        self.guest(host, "sh", "-c", f"test -e {original} || "
                                     f"cp /etc/rdmapulse/rdmapulse.yaml {original}")
        text = self.guest(host, "cat", original).stdout + extra + "\n"
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            self.lab("put", host, file.name, "/etc/rdmapulse/rdmapulse.yaml")
        self.guest(host, "rdmapulsed", "--check")
        self.lab("daemon", host, "reload")
