"""The lab, a real Prometheus and a real Alertmanager beside it, and the questions that tests ask them."""

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from alerting import Alerting
from errors import LabError
from prometheus import Prometheus

LAB = Path(__file__).resolve().parent / "lab"
HOSTS = ("h1", "h2", "h3")
PATIENCE = 3  # times the limit
# What is no verdict on the network.
NO_VERDICT = ("peer_overloaded", "agent_restart")


class Failure(Exception):
    """A case does not hold; the text says what was seen."""


class World:
    """The lab and the Prometheus beside it."""

    hosts = HOSTS

    def __init__(self, folder, programs, contract):
        self.folder = Path(folder)
        self.programs = programs
        self.contract = contract
        self.prometheus = None
        self.alerting = None
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
        words = ["up", "--hosts", str(len(self.hosts))]
        for option, folder in self.programs.items():
            words += [option, folder] if folder else []
        print(self.lab(*words, timeout=600).stdout, flush=True)
        for host in json.loads(self.lab("status", "--json").stdout)["hosts"]:
            self.urls[host["host"]] = host["metrics_url"].removesuffix("/metrics")
            self.instances[host["host"]] = host["metrics_url"].split("/")[2]
        self.alerting = Alerting(self.folder / "alerting")
        targets = list(self.instances.values())
        self.prometheus = Prometheus.start(self.folder / "prometheus", targets,
                                           config=self.alerting.prometheus_config(targets))

    def down(self):
        if self.prometheus:
            self.prometheus.stop()
        if self.alerting:
            self.alerting.stop()
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
        with urllib.request.urlopen(f"{self.urls[host]}/api/v1/{page}", timeout=30) as answer:
            return json.load(answer)

    def gid(self, host):
        return self.api(host, "ports")["ports"][0]["gid"]

    def epoch(self, host):
        return self.api(host, "status")["epoch"]

    # --- findings

    def findings(self, host, condition=None, state="active", **subject):
        """Those of the API with these fields; a subject's field that is not named may be anything."""
        return [finding for finding in self.api(host, "findings")["findings"]
                if (condition is None or finding["condition"] == condition)
                and (state is None or finding["state"] == state)
                and all(finding[name] == value for name, value in subject.items())]

    def wait_finding(self, limit_s, host, condition, state="active", **subject):
        """Until the host's API has it (in any state for None), and then its Prometheus series;
        returns it."""
        found = []

        def there():
            found[:] = self.findings(host, condition, state, **subject)
            return bool(found)

        where = " ".join(str(value) for value in subject.values())
        self.wait(f"{host} finds {condition} {where}".rstrip(), limit_s, there,
                  lambda: f"; it has {self.told(host)}")
        labels = "".join(f',{name}="{value}"' for name, value in subject.items() if name != "class")
        self.wait("and its series says so", 5, lambda: (self.value(
            host, "rdmapulse_finding", f'condition="{condition}"{labels}') or 0) >= 1)
        return found[0]

    def wait_no_finding(self, limit_s, host, condition, **subject):
        where = " ".join(str(value) for value in subject.values())
        self.wait(f"{host} no longer has {condition} {where}".rstrip(), limit_s,
                  lambda: not self.findings(host, condition, **subject))

    def wait_quiet(self, limit_s=130):
        """Until nothing is left of the case before. A loss needs two clean minutes; a flap is
        remembered for ten."""
        def nothing():
            return not any(finding for host in self.hosts for finding in self.findings(host, state=None)
                           if finding["condition"] not in ("link_flap", *NO_VERDICT))

        self.wait("nothing is found any more", limit_s, nothing,
                  lambda: f"; {({host: self.told(host) for host in self.hosts})}")

    def told(self, host):
        return [f"{finding['condition']} {finding['state']}" for finding in
                self.findings(host, state=None)]

    def mark(self):
        """For begun(): what the daemons have written so far."""
        return {host: len(self.lab("log", host).stdout) for host in self.hosts}

    def begun(self, mark, host):
        """The conditions that the host's journal says became active since then, with their line."""
        lines = self.lab("log", host).stdout[mark[host]:].splitlines()
        found = [re.search(r" finding \S+ \S+ (\w+) active .*", line) for line in lines]
        return {match[1]: match[0].strip() for match in found if match}

    def expect_begun(self, mark, **allowed):
        """`h1={"peer_down"}`: of what began there nothing else; of a host that is not named nothing
        but what says nothing of the network."""
        for host in self.hosts:
            others = {name: line for name, line in self.begun(mark, host).items()
                      if name not in allowed.get(host, ()) and name not in NO_VERDICT}
            if others:
                raise Failure(f"{host} also found {'; '.join(others.values())}")

    # --- waiting

    def wait(self, what, limit_s, condition, detail=lambda: ""):
        """Until condition() is true; prints how long it took beside the limit. A question that is not
        answered in time is asked again."""
        started = time.monotonic()
        while True:
            unanswered = ""
            try:
                holds = condition()
            except (OSError, LabError) as error:
                holds, unanswered = False, f"; {error}"
            if holds:
                took = time.monotonic() - started
                mark = "" if took <= limit_s else "  (slow machine)"
                print(f"     {what}: {took:.1f} s (limit {limit_s} s){mark}", flush=True)
                return
            if time.monotonic() - started > PATIENCE * limit_s:
                raise Failure(f"{what}: not within {PATIENCE} × {limit_s} s{unanswered or detail()}")
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
