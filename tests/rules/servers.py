"""A real Prometheus and a real Alertmanager on loopback, and what they talk to: hosts that answer
/metrics, and a receiver of notifications. All ends with the `with` block."""

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=60):
    """Polls until `condition()` is true and returns that; says `what` did not happen otherwise."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.2)
    raise TimeoutError(f"waited {seconds} s for {what}")


def get(url, timeout=10):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return json.load(answer)


class Server:
    def __init__(self, handler):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # a client that goes away is no event
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


class MetricsServer(Server):
    """`page(path)` returns the exposition as bytes; None hangs, as a host does whose kernel is stuck."""

    def __init__(self, page):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # connections are kept: a thread a host, not a thread a scrape
            disable_nagle_algorithm = True

            def do_GET(self):
                body = page(self.path)
                if body is None:
                    time.sleep(3600)
                    return
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(Handler)


class Receiver(Server):
    """Keeps what Alertmanager sends: (path, labels, annotations, "firing" or "resolved") of each alert."""

    def __init__(self):
        self.notified = notified = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    notified.append((self.path, alert["labels"], alert["annotations"],
                                     alert["status"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(Handler)


class Process:
    def __init__(self, folder, program, port, *arguments):
        self.folder, self.program, self.port = folder, program, port
        self.arguments = arguments
        self.url = f"http://127.0.0.1:{port}"

    def __enter__(self):
        path = shutil.which(self.program)
        if path is None:
            raise FileNotFoundError(f"{self.program} is not installed; run "
                                    "`bash deploy/install_dependencies.sh`")
        self.log = open(self.folder / f"{self.program}.log", "wb")
        self.process = subprocess.Popen([path, *self.arguments], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        try:
            wait_for(f"{self.program} to be ready", self._ready)
        except TimeoutError as error:
            self.__exit__()
            text = (self.folder / f"{self.program}.log").read_text(errors="replace")
            raise TimeoutError(f"{error}; its log ends:\n{text[-2000:]}") from None
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def _ready(self):
        if self.process.poll() is not None:
            raise TimeoutError(f"{self.program} ended with {self.process.returncode}")
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
                return True
        except OSError:
            return False


def prometheus(folder, config, *more):
    port = free_port()
    return Process(folder, "prometheus", port, f"--config.file={config}",
                   f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
                   *more)


def alertmanager(folder, config):
    port = free_port()
    return Process(folder, "prometheus-alertmanager", port, f"--config.file={config}",
                   f"--storage.path={folder / 'alerts'}", f"--web.listen-address=127.0.0.1:{port}",
                   "--cluster.listen-address=")
