"""A real Prometheus on loopback that scrapes the hosts of a lab, and questions to it."""

import json
import shutil
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import processes
from errors import LabError

CONFIG = """\
global:
  scrape_interval: {interval}
  scrape_timeout: {interval}
scrape_configs:
  - job_name: rdmapulse
    static_configs:
      - targets: [{targets}]
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """`state` is a plain dict that a state file can keep: url, process, folder."""

    def __init__(self, state):
        self.state = state
        self.url = state["url"]

    @classmethod
    def start(cls, folder, targets, interval="1s", port=None, config=None):
        """`targets` are host:port. Its data is lost with `folder`. `config`: instead of a scrape of
        those alone, and it names them itself."""
        program = shutil.which("prometheus")
        if program is None:
            raise LabError("starting Prometheus: it is not installed; run "
                           "`bash deploy/install_dependencies.sh`")
        folder = Path(folder)
        shutil.rmtree(folder / "data", ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        quoted = ", ".join(json.dumps(target) for target in targets)
        text = config or CONFIG.format(interval=interval, targets=quoted)
        (folder / "prometheus.yml").write_text(text)
        port = port or free_port()
        log = folder / "prometheus.log"
        log.write_bytes(b"")
        process = processes.start(
            [program, f"--config.file={folder / 'prometheus.yml'}",
             f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"],
            log)
        url = f"http://127.0.0.1:{port}"
        record = processes.record(process.pid, folder / "prometheus.yml")
        prometheus = cls({"url": url, "process": record, "folder": str(folder)})
        prometheus._wait_ready(log)
        return prometheus

    def _wait_ready(self, log):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if not processes.alive(self.state["process"]):
                break
            try:
                with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        tail = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-10:])
        self.stop()
        raise LabError(f"starting Prometheus on {self.url}: it is not ready; its log ends:\n{tail}")

    def stop(self):
        processes.end(self.state["process"])

    def query(self, expression):
        """The instant vector as a list of (labels, value)."""
        address = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                data = json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            reason = json.loads(error.read()).get("error", str(error))
            raise LabError(f"asking Prometheus for {expression}: {reason}") from None
        except OSError as error:
            raise LabError(f"asking Prometheus for {expression}: {error}") from None
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]
