"""One generated trace: a fabric, its hosts' NICs, their probes, and what goes wrong in it.

`World` runs in steps of the sampling interval and writes a trace folder (hosts.csv.gz, probes.csv.gz,
truth.yaml). Everything random comes from one seeded generator: the same scenario and seed give the
same bytes.
"""

import gzip
import io
import json
from pathlib import Path

from fabric import Clos, Fabric
from nic import DRIVERS, Nic, PauseShape
from probing import Prober, Style
from traffic import Traffic

# What those who judge a trace ask of a port's readings.
KEPT = ("pfc_tx_pause_duration_us", "prio_rx_bytes")
GBIT = 1e9 / 8
RATES = (10, 25, 25, 100, 100, 200, 400)


class Fault:
    """Something that happens between two times. Subclasses override what they need."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def share(self, now, dt):
        """Which share of the step it covers."""
        return max(0.0, min(self.end, now + dt) - max(self.start, now)) / dt

    def begin(self, world):
        """Once, before the first step."""

    def before(self, world, now, dt, capacity):
        """Before the fluid's step: changes what links carry, or the flows."""

    def after(self, world, now, dt, hosts):
        """After it: changes what the ports did, adds events."""


class World:
    def __init__(self, random, *, seconds=None, dt=None, tors=None, per_tor=None, driver=None,
                 rate=None, ecn=None, pfc=True, load=None, pattern=None, plain=None, spines=None,
                 oversubscription=1.0, probes=None):
        """`probes`: attributes of the prober's Style that a scenario needs."""
        self.random = random
        # A third of the traces are as a packet simulator writes them: one second is one of its
        # milliseconds, so buffers fill slowly, and counters move in thousands.
        self.plain = random.random() < 0.33 if plain is None else plain
        self.dt = dt or (1.0 if self.plain else random.choice((0.1, 1.0)))
        self.seconds = seconds or random.uniform(90, 150)
        self.rate = (rate or (25 if self.plain else random.choice(RATES))) * GBIT
        self.mtu = 1048 if self.plain else random.choice((1024, 4096, 4096)) + 66
        self.grain = 1000 if self.plain else 1
        self.clos = Clos(tors or random.choice((2, 3, 4)), per_tor or random.choice((3, 4)),
                         spines or 2, self.rate, oversubscription)
        self.driver = driver or ("plain" if self.plain else
                                 random.choice(("mlx5", "mlx5", "mlx5", "bnxt", "irdma")))
        # A scaled simulator fills a buffer in a second or more, a real fabric in milliseconds.
        self.fabric = Fabric(self.clos, random, random.random() < 0.7 if ecn is None else ecn, pfc,
                             (0.05, 2.0) if self.plain else (0.00003, 0.002),
                             random.uniform(0.5, 4.0) if self.plain else random.uniform(0.01, 0.3),
                             acks_in_class=not self.plain)
        self.traffic = Traffic(self.clos, random, random.uniform(0.15, 0.45) if load is None else load,
                               pattern or random.choice(("poisson", "poisson", "rounds")))
        shape = PauseShape(random, self.rate)
        self.shape = shape
        lifetime = not self.plain and random.random() < 0.7
        self.nics = [Nic(random, self.driver, self.rate, self.mtu, shape, lifetime)
                     for _ in range(self.clos.count)]
        # A second priority with traffic of its own, that PFC does not touch.
        self.second = None
        if not self.plain and random.random() < 0.3:
            self.second = (random.choice((0, 4)), [Nic(random, self.driver, self.rate, self.mtu,
                                                       shape, lifetime) for _ in self.nics])
        style = Style(random, self.plain)
        for name, value in (probes or {}).items():
            setattr(style, name, value)
        self.prober = Prober(self.clos, random, style)
        self.faults = []
        self.port_up = [1] * self.clos.count
        # Column -> [cell of each host]; scenarios add more.
        self.gauges = {"port_up": self.port_up,
                       "port_rate_bytes_per_second": [int(self.rate)] * self.clos.count,
                       "port_mtu_bytes": [self.mtu - (0 if self.plain else 66)] * self.clos.count}
        self.missed = lambda host, now: False  # A poll that did not happen.
        self.jitter = 0.0 if self.plain else 0.03 * self.dt
        self.rows, self.ports = [], {}
        self.history = []  # (time, the hosts' steps), for what the truth is worked out from.
        self.last_poll = {}
        self.config = None  # What the operator says of the fabric, as rdmapulse.yaml.
        self.hosts = []

    # ---- what scenarios ask and say

    def some_time(self, low=0.2, high=0.4):
        """Where in the trace a fault starts: anywhere, not on a step."""
        return self.seconds * self.random.uniform(low, high)

    def some_host(self, but=()):
        return self.random.choice([h for h in range(self.clos.count) if h not in but])

    def bins(self, host, start, count, value, seconds=10.0):
        """Sums of value(step of the host) in consecutive bins from `start`."""
        sums = [0.0] * count
        for now, hosts in self.history:
            index = int((now - start) // seconds)
            if now >= start and index < count:
                sums[index] += value(hosts[host]) * self.dt
        return sums

    def add(self, fault):
        self.faults.append(fault)
        fault.begin(self)
        return fault

    def name(self, host):
        return self.clos.names[host]

    def probe_loss(self, stream, start):
        return max((fault.probe_loss(self, stream, start) for fault in self.faults
                    if hasattr(fault, "probe_loss")), default=0.0)

    # ---- running

    def run(self):
        now, step = 0.0, 0
        self._poll(0.0)
        while now < self.seconds - 1e-9:
            capacity = {}
            flows = self.traffic.at(now, self.dt)
            for fault in self.faults:
                fault.before(self, now, self.dt, capacity)
            self.hosts = self.fabric.step(now, self.dt, flows, capacity)
            self._acknowledge()
            self._background(self.dt)
            for fault in self.faults:
                fault.after(self, now, self.dt, self.hosts)
            self.history.append((now, self.hosts))
            self.prober.post(now, self.dt, self.fabric)
            step += 1
            now = step * self.dt
            self._poll(now)
        return self

    def _acknowledge(self):
        """Acknowledgements of what arrived: 60 bytes for a frame, two frames to one at best."""
        share = 60 / self.mtu if self.plain else 30 / self.mtu
        for state in self.hosts:
            if not (state.rx_held and self.fabric.acks_in_class):
                state.tx += share * sum(state.got_from.values())
                state.rx += share * sum(state.sent_to.values())

    def _background(self, dt):
        """Bursts shorter than a step: a busy receiver sees marks, a busy port a pause now and then."""
        for state in self.hosts:
            # No port is as steady as a fluid.
            state.tx *= self.random.uniform(0.94, 1.0)
            state.rx *= self.random.uniform(0.94, 1.0)
            use = state.rx / self.rate
            if self.fabric.ecn and self.random.random() < use:
                share = min(0.12, self.random.lognormvariate(-6, 1.6) * (1 + 4 * use))
                # A permutation meets itself only where a round begins.
                share *= 0.1 if self.traffic.pattern == "rounds" else 1.0
                state.marked += state.rx * share
                state.handled += state.tx * share * self.random.random()
            if self.fabric.pfc and not state.rx_duty and self.random.random() < 0.02 * use:
                state.rx_duty = min(0.03, self.random.lognormvariate(-7, 1.0))

    def _poll(self, time):
        """One reading of every port; counters run on whether or not they are read."""
        for host, nic in enumerate(self.nics):
            at = time + (self.random.uniform(0, self.jitter) if time else 0.0)
            seconds = at - self.last_poll.get(host, at)
            self.last_poll[host] = at
            if seconds > 0:
                nic.advance(seconds, self.hosts[host])
                if self.second:
                    self._advance_second(host, seconds)
            if not self.missed(host, time):
                self._row(host, at, nic)

    def _advance_second(self, host, seconds):
        state = type(self.hosts[host])()
        state.tx, state.rx = (self.rate * self.random.uniform(0, 0.1) for _ in range(2))
        self.second[1][host].advance(seconds, state)

    def _row(self, host, at, nic):
        cells = nic.cells(self.grain)
        signals = len(nic.total)
        self._line(host, at, 3, cells)
        seen = dict(zip(nic.total, cells))
        self.ports.setdefault(self.name(host), []).append(
            {"seconds": int(at * 1e6) / 1e6, "tor": self.clos.tor_name(host),
             **{signal: seen.get(signal, "") for signal in KEPT}})
        if self.second:
            priority, nics = self.second
            own = len(DRIVERS[self.driver][0])
            self._line(host, at, priority, nics[host].cells()[:own] + [""] * (signals - own))

    def _line(self, host, at, priority, cells):
        where = [self.name(host), self.clos.tor_name(host)]
        if not self.plain:
            where += ["mlx5_0", 1]
        gauges = [values[host] for values in self.gauges.values()]
        self.rows.append((at, ",".join(map(str, [int(at * 1e6), *where, priority, *gauges, *cells]))))

    # ---- writing

    def columns(self):
        where = ["host", "tor"] if self.plain else ["host", "tor", "device", "port"]
        return ["time_us", *where, "priority", *self.gauges, *self.nics[0].total]

    def write(self, folder, truth):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [",".join(self.columns())]
        lines += [line for _, line in sorted(self.rows, key=lambda row: row[0])]
        write_gzip(folder / "hosts.csv.gz", lines)
        write_gzip(folder / "probes.csv.gz", self._probe_lines())
        if self.config:
            (folder / "rdmapulse.yaml").write_text(self.config, encoding="utf-8")
        (folder / "truth.yaml").write_text(yaml_of(truth), encoding="utf-8")

    def _probe_lines(self):
        style = self.prober.style
        columns = ["time_us", "src", "dst", "class", "kind", "rtt_us"]
        if not style.plain:
            columns += ["sport", "outcome", "status"]
        columns += list(self.prober.columns)
        yield ",".join(columns)
        for start, stream, rtt, outcome, status in self.prober.finished(self):
            cells = [int(start * 1e6), self.name(stream.source), self.name(stream.target),
                     "control" if stream.control else "lossless", stream.kind,
                     "" if rtt is None else f"{rtt * 1e6:.2f}"]
            if not style.plain:
                cells += [stream.sport, outcome, status]
            cells += [value(stream, start) for value in self.prober.columns.values()]
            yield ",".join(map(str, cells))


def write_gzip(path, lines):
    """The same bytes every time: no name and no time in the header."""
    raw = io.BytesIO()
    with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, compresslevel=1) as out:
        out.write(("\n".join(lines) + "\n").encode())
    path.write_bytes(raw.getvalue())


def yaml_of(truth):
    """A mapping of scalars, lists and mappings as YAML, of which JSON is a part."""
    return "".join(f"{key}: {json.dumps(value)}\n" if not isinstance(value, list) else
                   f"{key}:\n" + "".join(f"- {json.dumps(item)}\n" for item in value)
                   for key, value in truth.items())
