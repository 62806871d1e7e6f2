"""Probes: ToRs, one priority only, loss, round trips. Scraped every 5 s; one probe a second."""

from scenario import alert, scenario

PATH = {"device": "mlx5_0", "port": "1", "peer_device": "mlx5_0", "peer_port": "1"}


def probes(host, peer, class_, ok="0+5x400", op="write0", overdue="0x400", **outcomes):
    """Counters of the outcomes; the daemon exports every outcome from the start."""
    counts = {"ok": ok, "late_blocked": "0x400", "late_retx": "0x400", "late_self": "0x400",
              "failed": "0x400", "aborted": "0x400", **outcomes}
    for outcome, values in counts.items():
        host.add("rdmapulse_probes_total", values, peer=peer, class_=class_, op=op, outcome=outcome,
                 **PATH)
    host.add("rdmapulse_probe_overdue", overdue, peer=peer, class_=class_, op=op, **PATH)
    # Round trips are there, and nothing to judge.
    host.add("rdmapulse_probe_rtt_seconds_count", "0x400", peer=peer, class_=class_, op=op, **PATH)


def peers(host, *names, tor):
    for name in names:
        host.add("rdmapulse_peer_info", "1x2000", peer=name, tor=tor)


def suspect(tor, classes, fabric="f1"):
    return alert("ToRSuspect", "major", fabric=fabric, dst_tor=tor, class_="lossless", classes=classes)


def priority_only(tor, fabric="f1"):
    return alert("PriorityOnlyFailure", "major", fabric=fabric, dst_tor=tor, class_="lossless")


def loss(host, peer, class_, severity, tor=None, fabric="f1"):
    return alert("ProbeLoss", severity, fabric=fabric, host=host, device="mlx5_0", port="1", peer=peer,
                 class_=class_, dst_tor=tor)


def fleet(s, sources=3, lossless=None, control=None, tor="t9", fabric="f1"):
    """Hosts under as many ToRs probe one host under `tor` and a healthy one under t8."""
    for number in range(1, sources + 1):
        host = s.host(f"h{number}", f"t{number}", fabric, job=fabric)
        peers(host, "h9", tor=tor)
        peers(host, "h8", tor="t8")
        probes(host, "h9", "lossless", **(lossless or {}))
        if control is not None:
            probes(host, "h9", "control", **control)
        probes(host, "h8", "lossless")
        probes(host, "h8", "control")


# --- ToRSuspect, PriorityOnlyFailure

@scenario(interval="5s")
def a_tor_whose_lossless_class_fails_from_three_tors_is_suspect(s):
    """0.31 late for blocking, control fine: pause-shaped."""
    fleet(s, lossless={"ok": "0+3.4x400", "late_blocked": "0+1.6x400"}, control={})
    s.firing("20s")
    s.firing("120s", suspect("t9", "lossless"), priority_only("t9"))
    s.value("120s", 'rdmapulse:probe_bad_ratio:dst_tor{dst_tor="t8"}',
            ('rdmapulse:probe_bad_ratio:dst_tor{fabric="f1",class="control",dst_tor="t8"}', 0),
            ('rdmapulse:probe_bad_ratio:dst_tor{fabric="f1",class="lossless",dst_tor="t8"}', 0))


@scenario(interval="5s")
def three_in_ten_are_not_yet_a_suspect_tor(s):
    fleet(s, lossless={"ok": "0+3.5x400", "late_blocked": "0+1.5x400"}, control={})
    s.firing("120s", priority_only("t9"))


@scenario(interval="5s")
def two_source_tors_do_not_convict_a_tor(s):
    fleet(s, sources=2, lossless={"ok": "0x400", "failed": "0+1x400"}, control={})
    s.firing("120s", priority_only("t9"))


@scenario(interval="5s")
def a_tor_that_fails_both_classes_is_no_matter_of_priority(s):
    bad = {"ok": "0+2.5x400", "failed": "0+2.5x400"}
    fleet(s, lossless=bad, control=bad)
    s.firing("120s", suspect("t9", "all"))


@scenario(interval="5s")
def probes_that_are_stuck_count_without_an_outcome(s):
    """Blocked for good: no outcome, no ratio of outcomes, and overdue all the time."""
    fleet(s, lossless={"ok": "0+5x6 30x400", "overdue": "0x6 1x400"}, control={})
    s.firing("160s", suspect("t9", "lossless"), priority_only("t9"))


@scenario(interval="5s")
def one_tenth_of_lossless_probes_is_the_boundary_of_a_priority_failure(s):
    fleet(s, sources=1, lossless={"ok": "0+4.4x400", "late_blocked": "0+0.6x400"}, control={}, fabric="f1")
    fleet(s, sources=1, lossless={"ok": "0+4.6x400", "late_blocked": "0+0.4x400"}, control={}, fabric="f2")
    s.firing("120s", priority_only("t9", "f1"))


@scenario(interval="5s")
def a_control_class_that_fails_too_is_no_priority_failure(s):
    fleet(s, sources=1, lossless={"ok": "0+4x400", "late_blocked": "0+1x400"},
          control={"ok": "0+4.8x400", "late_blocked": "0+0.2x400"})
    s.firing("120s")


@scenario(interval="5s")
def without_a_control_class_nothing_says_that_only_a_priority_fails(s):
    fleet(s, sources=1, lossless={"ok": "0+4x400", "late_blocked": "0+1x400"}, control=None)
    s.firing("120s")


@scenario(interval="5s")
def peers_without_a_tor_make_no_suspect_but_a_priority_failure(s):
    fleet(s, lossless={"ok": "0x400", "late_blocked": "0+5x400"}, control={}, tor=None)
    s.firing("120s", priority_only(None))


@scenario(interval="5s")
def tors_of_the_same_name_in_two_fabrics_do_not_mix(s):
    fleet(s, lossless={"ok": "0x400", "late_blocked": "0+5x400"}, control={}, fabric="f1")
    fleet(s, control={}, fabric="f2")
    s.firing("120s", suspect("t9", "lossless"), priority_only("t9"))


@scenario(interval="5s")
def own_lateness_and_torn_down_probes_say_nothing_of_the_network(s):
    fleet(s, lossless={"ok": "0+1x400", "late_self": "0+4x400", "aborted": "0+4x400"}, control={})
    s.firing("120s")


@scenario(interval="5s")
def a_restarted_prober_is_no_failing_tor(s):
    fleet(s, lossless={"ok": "0+5x20 0+5x300", "failed": "90x20 0x300"}, control={})
    for at in ("110s", "130s", "150s", "180s"):
        s.firing(at)


# --- ProbeLoss

@scenario(interval="5s")
def one_in_a_hundred_probes_lost_in_five_minutes_is_loss(s):
    host = s.host("h1")
    peers(host, "h2", "h3", tor="t2")
    probes(host, "h2", "lossless", ok="0+4.94x400", late_retx="0+0.06x400")
    probes(host, "h3", "lossless", ok="0+4.96x400", late_retx="0+0.04x400")
    s.firing("240s")
    s.firing("600s", loss("h1", "h2", "lossless", "warning", "t2"))


@scenario(interval="5s")
def one_in_ten_is_major(s):
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    probes(host, "h2", "lossless")
    probes(host, "h2", "control", ok="0+4.4x400", failed="0+0.6x400")
    s.firing("600s", loss("h1", "h2", "control", "warning", "t2"),
             loss("h1", "h2", "control", "major", "t2"))


@scenario(interval="5s")
def a_restarted_peer_costs_two_probes_and_is_no_loss(s):
    """Rare probes, so that two are far more than 1 %."""
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    probes(host, "h2", "lossless", ok="0+0.5x400", failed="0x70 1x6 2x400")
    for at in ("370s", "420s", "480s", "600s"):
        s.firing(at)


@scenario(interval="5s")
def a_restarted_peer_right_after_the_start_is_no_loss(s):
    """Two lost probes in the first minute: their rate, taken for five minutes, would be ten."""
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    probes(host, "h2", "lossless", ok="0+5x400", failed="0x4 1x3 2x400")
    for at in ("60s", "120s", "150s", "240s", "360s"):
        s.firing(at)


@scenario(interval="5s")
def three_lost_probes_are_enough_where_few_are_sent(s):
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    probes(host, "h2", "lossless", ok="0+0.5x400", failed="0x70 1x6 2x6 3x400")
    s.firing("540s", loss("h1", "h2", "lossless", "warning", "t2"))


@scenario(interval="5s")
def probes_that_were_blocked_are_not_lost(s):
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    probes(host, "h2", "lossless", ok="0+4.8x400", late_blocked="0+0.2x400")
    s.firing("600s")


@scenario(interval="5s")
def best_effort_probes_that_are_stuck_are_lost_and_lossless_ones_may_be_paused(s):
    host = s.host("h1")
    peers(host, "h2", "h3", tor="t2")
    probes(host, "h2", "control", ok="0+5x40 200x400", overdue="0x40 1x400")
    # Healthy in the other class of the other peer, so that the ToR as a whole is below 10 %.
    for number in range(3, 14):
        peers(host, f"h{number}x", tor="t2")
        probes(host, f"h{number}x", "lossless")
    probes(host, "h3", "lossless", ok="0+5x40 200x400", overdue="0x40 1x400")
    s.firing("400s", loss("h1", "h2", "control", "warning", "t2"))


@scenario(interval="5s")
def a_path_finding_is_an_alert(s):
    s.host("h1").finding("path_loss", "1x100", severity="warning", device="mlx5_0", port="1", peer="h2")
    s.firing("120s", loss("h1", "h2", "any", "warning"))


# --- ProbeRTTRegression. A minute per step: 60 probes of so many microseconds.

def answered(host, peer, class_, op="write0"):
    """The families beside the round trips, without which they would be missing."""
    host.add("rdmapulse_probes_total", "0+15x1000", peer=peer, class_=class_, op=op, outcome="ok", **PATH)
    host.add("rdmapulse_probe_overdue", "0x1000", peer=peer, class_=class_, op=op, **PATH)


def rtt(host, peer, class_, *spells, op="write0"):
    """`spells`: (µs, minutes). The sum rises by 60 times that."""
    answered(host, peer, class_, op)
    total, values = 0.0, ["0"]
    for microseconds, minutes in spells:
        step = microseconds * 60 / 1e6 / 4
        values.append(f"{total + step:.9f}+{step:.9f}x{minutes * 4 - 1}")
        total += step * minutes * 4
    host.add("rdmapulse_probe_rtt_seconds_sum", " ".join(values), peer=peer, class_=class_, op=op, **PATH)
    minutes = sum(length for _, length in spells)
    host.add("rdmapulse_probe_rtt_seconds_count", f"0+15x{minutes * 4}", peer=peer, class_=class_, op=op,
             **PATH)


def slower(host, peer, class_, tor="t2"):
    return alert("ProbeRTTRegression", "warning", fabric="f1", host=host, device="mlx5_0", port="1",
                 peer=peer, class_=class_, dst_tor=tor)


@scenario(interval="15s", evaluation="1m")
def round_trips_of_twice_the_usual_time_are_a_regression(s):
    host = s.host("h1")
    peers(host, "h2", "h3", "h4", tor="t2")
    rtt(host, "h2", "lossless", (10, 90), (21, 60))
    rtt(host, "h3", "lossless", (10, 90), (19, 60))
    rtt(host, "h4", "lossless", (4, 90), (8.8, 60))      # twice, and 4.8 µs: noise
    s.firing("90m")
    s.firing("100m", slower("h1", "h2", "lossless"))
    s.firing("145m", slower("h1", "h2", "lossless"))


@scenario(interval="15s", evaluation="1m")
def a_few_late_probes_are_no_slow_path(s):
    """One of 500 ms in a minute, twice within six: the means of these minutes are 800 times too high."""
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    rtt(host, "h2", "lossless", (10, 90), (8300, 1), (10, 2), (8300, 1), (10, 30))
    for minute in range(90, 110):
        s.firing(f"{minute}m")


@scenario(interval="15s", evaluation="1m")
def a_peak_of_a_minute_is_no_slow_path(s):
    """Each of its probes took 1 ms: a maximum over six minutes would hold it for six."""
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    rtt(host, "h2", "lossless", (10, 90), (1000, 1), (10, 30))
    for minute in range(90, 110):
        s.firing(f"{minute}m")


@scenario(interval="15s", evaluation="1m")
def a_young_path_has_no_past(s):
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    rtt(host, "h2", "lossless", (10, 4), (100, 60))
    for minute in (10, 14, 20, 30, 40, 60):
        s.firing(f"{minute}m")


@scenario(interval="15s", evaluation="1m")
def echoes_are_not_judged(s):
    """They hold the peer's CPU."""
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    rtt(host, "h2", "lossless", (10, 90), (500, 60), op="echo")
    s.firing("120m")


@scenario(interval="15s", evaluation="1m")
def a_restarted_prober_is_no_regression(s):
    host = s.host("h1")
    peers(host, "h2", tor="t2")
    answered(host, "h2", "lossless")
    for suffix, values in (("sum", "0+0.00015x360 0+0.00015x120"), ("count", "0+15x360 0+15x120")):
        host.add(f"rdmapulse_probe_rtt_seconds_{suffix}", values, peer="h2", class_="lossless",
                 op="write0", **PATH)
    for at in ("91m", "92m", "95m", "100m"):
        s.firing(at)


@scenario(interval="15s", evaluation="1m")
def a_victim_of_head_of_line_blocking_is_a_regression(s):
    s.host("h1").finding("hol_victim", "1x100", severity="warning", device="mlx5_0", port="1")
    s.firing("10m", alert("ProbeRTTRegression", "warning", fabric="f1", host="h1", device="mlx5_0",
                          port="1", class_="lossless"))
