"""The shipped rules, Prometheus and Alertmanager examples as they are, with only addresses replaced:
what a lab's Prometheus loads, and the receiver that Alertmanager notifies."""

import shutil
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy/prometheus"
sys.path.insert(0, str(ROOT / "tests/rules"))

from servers import Receiver, alertmanager, get  # noqa: E402

SHIPPED_RECEIVERS = "127.0.0.1:9095"


def loaded(name):
    return yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))


def name_of(labels):
    """What tells the alerts of a lab apart: LinkDown h3."""
    return " ".join(labels[name] for name in ("alertname", "host") if labels.get(name))


class Alerting:
    """A receiver and an Alertmanager; stop() ends both."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.receiver = Receiver()
        self.receiver.__enter__()
        try:
            config = loaded("alertmanager.yml")
            for entry in config["receivers"]:
                for hook in entry.get("webhook_configs", []):
                    hook["url"] = hook["url"].replace(SHIPPED_RECEIVERS,
                                                      f"127.0.0.1:{self.receiver.port}")
            path = self.folder / "alertmanager.yml"
            path.write_text(yaml.safe_dump(config), encoding="utf-8")
            self.manager = alertmanager(self.folder, path)
            self.manager.__enter__()
        except BaseException:
            self.receiver.__exit__()
            raise

    def stop(self):
        self.manager.__exit__()
        self.receiver.__exit__()

    def prometheus_config(self, targets):
        """The text of the shipped configuration for these targets."""
        shutil.copy(DEPLOY / "rdmapulse.rules.yml", self.folder)
        config = loaded("prometheus.yml")
        config["rule_files"] = [str(self.folder / name) for name in config["rule_files"]]
        config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [
            f"127.0.0.1:{self.manager.port}"]
        job = config["scrape_configs"][0]
        job["scrape_interval"] = job["scrape_timeout"] = "1s"  # limits are in seconds
        job["static_configs"][0]["targets"] = list(targets)
        return yaml.safe_dump(config)

    def sent(self):
        """How many alerts were sent so far."""
        return len(self.receiver.notified)

    def fired(self, since):
        """(the receiver's path, name) of every alert sent as firing after the first `since`."""
        return {(path, name_of(labels)) for path, labels, _, status in self.receiver.notified[since:]
                if status == "firing"}

    def inhibited(self):
        """Name → the names of those that inhibit it now."""
        alerts = get(f"{self.manager.url}/api/v2/alerts?inhibited=true&active=true")
        names = {alert["fingerprint"]: name_of(alert["labels"]) for alert in alerts}
        return {name_of(alert["labels"]): {names.get(by, by) for by in alert["status"]["inhibitedBy"]}
                for alert in alerts if alert["status"]["inhibitedBy"]}
