"""What a NIC counts of a step: pause frames from quanta and the port's rate, packets, events.

Each driver has its own set of signals; what it lacks is an empty cell. Names are those of the
counter catalogue.
"""

QUANTA = 65535  # 802.1Qbb: the longest pause that one frame asks for,
BITS_PER_QUANTUM = 512  # in units of 512 bit times.

PAUSE = ("pfc_rx_pause_frames", "pfc_tx_pause_frames")
DURATION = ("pfc_rx_pause_duration_us", "pfc_tx_pause_duration_us")
PER_PRIORITY_PACKETS = ("prio_tx_packets", "prio_rx_packets")
BYTES = ("prio_tx_bytes", "prio_rx_bytes")
ECN = ("ecn_marked_packets_received", "cnp_sent", "cnp_handled")
TRANSPORT = ("out_of_sequence", "retransmit_timeout", "packet_sequence_error", "rnr_nak_received",
             "transport_retries_exceeded")

# The per-priority and the port-level signals of each driver. `plain` is what a simulator's NIC has.
DRIVERS = {
    "plain": (PAUSE + DURATION + ("pfc_rx_pause_transitions",) + BYTES + ("rx_prio_discard",),
              ECN + ("out_of_sequence", "retransmitted_packets", "retransmit_timeout",
                     "packet_sequence_error", "fcs_errors")),
    "mlx5": (PAUSE + DURATION + ("pfc_rx_pause_transitions",) + BYTES + PER_PRIORITY_PACKETS +
             ("rx_prio_discard",),
             ECN + TRANSPORT + ("implied_nak", "duplicate_request", "rdma_rx_out_of_buffer",
                                "rnr_retries_exceeded", "pause_storm_warning_events",
                                "pause_storm_events", "rx_discards_buffer", "link_down_events",
                                "fcs_errors", "rx_buffer_high_watermark", "rdma_tx_packets",
                                "rdma_rx_packets")),
    "bnxt": (PAUSE + DURATION + ("pfc_rx_pause_transitions",) + BYTES + PER_PRIORITY_PACKETS,
             ECN + TRANSPORT + ("rdma_rx_out_of_buffer", "roce_rx_discards", "fcs_errors",
                                "rdma_tx_packets", "rdma_rx_packets")),
    # Pause frames only: no durations, no transitions, nothing of the transport.
    "irdma": (PAUSE + BYTES, ECN + ("link_down_events", "fcs_errors")),
    # A virtual function: no priority counters at all.
    "function": ((), ECN + TRANSPORT + ("rdma_tx_packets", "rdma_rx_packets", "rdma_tx_bytes",
                                        "rdma_rx_bytes")),
    "infiniband": ((), ("rdma_tx_bytes", "rdma_rx_bytes", "rdma_tx_packets", "rdma_rx_packets",
                        "port_xmit_wait", "port_xmit_discards", "symbol_errors",
                        "link_error_recovery", "link_down_events") + TRANSPORT),
    "iwarp": ((), ("rdma_tx_bytes", "rdma_rx_bytes", "rdma_tx_packets", "rdma_rx_packets",
                   "iwarp_retransmitted_segments")),
}
# With a module that reports its error correction.
DRIVERS["optical"] = (DRIVERS["mlx5"][0], DRIVERS["mlx5"][1] + (
    "fec_corrected_blocks", "fec_uncorrectable_blocks", "symbol_errors"))
WIDE_32 = frozenset(TRANSPORT + ECN + ("implied_nak", "duplicate_request",
                                       "rdma_rx_out_of_buffer", "rnr_retries_exceeded"))


def frame_seconds(rate):
    """How long one pause frame of the most quanta lasts on a port of that many bytes per second."""
    return QUANTA * BITS_PER_QUANTUM / (8 * rate)


class PauseShape:
    """How a fabric's switches and NICs speak PFC; drawn once a trace."""

    def __init__(self, random, rate):
        self.longest = frame_seconds(rate)
        self.refresh = self.longest * random.uniform(0.45, 0.9)
        # From XOFF to the next XOFF of a queue that drains: what the port sends in between.
        self.cycle_bytes = random.choice((12e3, 25e3, 60e3, 150e3))
        self.xon_frames = random.random() < 0.8

    def frames(self, duty, seconds, rate, held):
        """(frames, XOFF-to-XON transitions) of that share of the time spent in pause."""
        paused = duty * seconds
        if paused <= 0:
            return 0.0, 0.0
        if held:
            return max(1.0, paused / self.refresh), 0.0
        # What the port sends between two pauses bounds their number, and so does what has to drain
        # before an XON.
        cycles = max(1.0, min((1 - duty) * seconds * rate / self.cycle_bytes,
                              paused * rate / (0.5 * self.cycle_bytes)))
        each = paused / cycles
        frames = 1 + int(each / self.refresh) + (1 if self.xon_frames else 0)
        return cycles * frames, cycles


class Nic:
    """Cumulative counters of one port; `priorities[0]` is the lossless one."""

    def __init__(self, random, driver, rate, mtu, shape, lifetime):
        self.driver, self.rate, self.mtu, self.shape = driver, rate, mtu, shape
        own, port = DRIVERS[driver]
        self.total = dict.fromkeys(own + port, 0.0)
        self.wide = [i for i, signal in enumerate(self.total) if signal in WIDE_32]
        self.gone = False  # A device that is not there any more.
        if lifetime:
            self._age(random)

    def _age(self, random):
        """A port that has been up for weeks: totals of any size that mean nothing by themselves."""
        for signal in self.total:
            if random.random() < 0.75:
                top = 4e9 if signal in WIDE_32 else 10 ** random.uniform(3, 13)
                self.total[signal] = float(int(top * random.random()))

    def reset(self):
        for signal in self.total:
            self.total[signal] = 0.0

    def advance(self, seconds, step):
        total = self.total
        sent, got = step.tx * seconds, step.rx * seconds
        self._add("prio_tx_bytes", sent)
        self._add("prio_rx_bytes", got)
        self._add("rdma_tx_bytes", sent)
        self._add("rdma_rx_bytes", got)
        for signal, amount in (("prio_tx_packets", sent), ("prio_rx_packets", got),
                               ("rdma_tx_packets", sent), ("rdma_rx_packets", got)):
            if signal in total:
                total[signal] += amount / self.mtu
        self._pause("rx", step.rx_duty, seconds, step.rx_held)
        self._pause("tx", step.tx_duty, seconds, step.tx_held)
        if step.marked:
            marks = step.marked * seconds / self.mtu
            self._add("ecn_marked_packets_received", marks)
            self._add("cnp_sent", marks * 0.6)
        if step.handled:
            self._add("cnp_handled", step.handled * seconds / self.mtu * 0.6)
        for signal, count in step.events.items():
            self._add(signal, count)

    def _pause(self, direction, duty, seconds, held):
        if duty <= 0:
            return
        frames, cycles = self.shape.frames(duty, seconds, self.rate, held)
        self._add(f"pfc_{direction}_pause_frames", frames)
        self._add(f"pfc_{direction}_pause_duration_us", duty * seconds * 1e6)
        self._add(f"pfc_{direction}_pause_transitions", cycles)

    def _add(self, signal, count):
        if signal in self.total:
            self.total[signal] += count

    def cells(self, grain=1):
        """Every counter as a reader sees it; `grain`: a scaled simulator counts in that step."""
        if self.gone:
            return [""] * len(self.total)
        values = [int(value) for value in self.total.values()] if grain == 1 else \
            [int(value / grain) * grain for value in self.total.values()]
        for index in self.wide:
            values[index] &= 0xFFFFFFFF
        return values
