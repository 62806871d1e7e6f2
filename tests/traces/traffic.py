"""What the hosts of a trace want to send to each other: patterns of flows over time."""

from fabric import Flow


class Traffic:
    """Background load; `extra` holds the flows that a scenario adds."""

    def __init__(self, clos, random, load, pattern):
        self.clos, self.random, self.load, self.pattern = clos, random, load, pattern
        self.flows = []
        self.extra = []
        self.quiet = set()  # Hosts that send and receive nothing of their own.
        self.off = set()  # Hosts that are gone: no flow to them either.
        self.phase_until, self.shift, self.sending = -1.0, 0, False
        self.gap = random.uniform(0.3, 4.0)
        self.round = random.uniform(0.5, 3.0)

    def at(self, now, dt):
        if self.pattern == "rounds":
            self._rounds(now)
        else:
            self._poisson(dt)
        return [flow for flow in self.flows + self.extra
                if flow.source not in self.off and flow.target not in self.off]

    def _hosts(self):
        return [h for h in range(self.clos.count) if h not in self.quiet]

    def add(self, source, target, share, entropy=0):
        """A flow of that share of the line rate, until it is taken out again."""
        flow = Flow(source, target, self.clos.path(source, target, entropy),
                    share * self.clos.rate)
        self.extra.append(flow)
        return flow

    def _flows(self, source, target, share):
        """Many connections between two hosts: every spine carries its part."""
        first = self.random.randrange(64)
        paths = sorted({self.clos.path(source, target, first + i) for i in range(self.clos.spines)})
        return [Flow(source, target, path, share * self.clos.rate / len(paths)) for path in paths]

    def _poisson(self, dt):
        """Open loop: each host sends to one to three others and changes its mind every few seconds."""
        keep = {}
        for flow in self.flows:
            keep.setdefault(flow.source, []).append(flow)
        hosts = self._hosts()
        if not self.flows or self.random.random() < 0.5:
            change = min(1.0, dt / 1.5)
        else:
            change = min(1.0, dt / 6)
        self.flows, changed = [], False
        for host in hosts:
            if host in keep and self.random.random() > change:
                self.flows += keep[host]
                continue
            changed = True
            total = min(0.97, self.load * self.random.choice((0.05, 0.6, 1.0, 1.4, 2.0)))
            targets = self.random.sample([h for h in hosts if h != host],
                                         min(len(hosts) - 1, self.random.choice((1, 2, 3))))
            parts = [self.random.uniform(0.2, 1.0) for _ in targets]
            for target, part in zip(targets, parts):
                self.flows += self._flows(host, target, total * part / sum(parts))
        if changed and self.random.random() < 0.95:
            self._fit()

    def _fit(self):
        """Applications that share a receiver slow each other down soon; a few overruns stay."""
        offered = {}
        for flow in self.flows:
            offered[flow.target] = offered.get(flow.target, 0.0) + flow.demand
        for flow in self.flows:
            over = offered[flow.target] / (0.85 * self.clos.rate)
            if over > 1:
                flow.demand /= over

    def _rounds(self, now):
        """A collective: all send at once, each to the host `shift` further on, then all compute."""
        if now < self.phase_until:
            return
        self.sending = not self.sending
        length = self.round if self.sending else self.gap
        self.phase_until = now + length * self.random.uniform(0.9, 1.1)
        hosts = self._hosts()
        self.flows = []
        if self.sending and len(hosts) > 1:
            self.shift = self.shift % (len(hosts) - 1) + 1
            # The sum of the shifts' permutations never piles onto one receiver.
            for i, host in enumerate(hosts):
                self.flows += self._flows(host, hosts[(i + self.shift) % len(hosts)],
                                          self.load * self.random.uniform(0.9, 1.0))
