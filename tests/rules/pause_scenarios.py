"""Storm, deadlock, blocked with an unknown root, victims: group rdmapulse-pause."""

from scenario import alert, scenario

LONG = "1x1000"


def storm(host, priority="3", device="mlx5_0", fabric="f1"):
    return alert("PFCStorm", "critical", fabric=fabric, priority=priority, host=host, device=device,
                 port="1")


def victims(priority="3", fabric="f1"):
    return alert("PFCVictimsOfStorm", "warning", fabric=fabric, priority=priority)


def deadlock(priority="3", fabric="f1"):
    return alert("PFCDeadlock", "critical", fabric=fabric, priority=priority)


def unknown(priority="3", fabric="f1"):
    return alert("PFCBlockedRootUnknown", "critical", fabric=fabric, priority=priority)


def one_tor(priority="3", fabric="f1"):
    return alert("PFCBlockedOneToR", "major", fabric=fabric, priority=priority)


def missing(host, tor, fabric="f1"):
    return alert("AgentMissing", "major", fabric=fabric, host=host, tor=tor)


def blocked(host, values, priority="3", condition="egress_blocked", severity="major"):
    return host.finding(condition, values, severity=severity, device="mlx5_0", port="1",
                        priority=priority)


def pausing(host, values, priority="3", direction="tx"):
    return host.add("rdmapulse_pfc_pause_ratio_max", values, device="mlx5_0", port="1",
                    netdev="eth0", priority=priority, direction=direction)


@scenario()
def a_storm_is_named_with_its_victims_and_no_deadlock(s):
    h1 = s.host("h1", "t1")
    h1.finding("storm_source", "_x10 1x20 0x200", device="mlx5_0", port="1", priority="3")
    pausing(h1, "0x10 1x20 0x200")
    for host, tor in (("h2", "t1"), ("h3", "t2"), ("h4", "t3")):
        pausing(blocked(s.host(host, tor), "_x12 1x18 0x200"), "0x230")
    s.firing("18s")
    s.firing("20s", storm("h1"))
    s.firing("30s", storm("h1"), victims())
    s.value("30s", "rdmapulse:storm_sources:count",
            ('rdmapulse:storm_sources:count{fabric="f1",priority="3"}', 1))
    # The finding ends at 62 s; the alert is kept for 2 min, so that it does not flicker.
    s.firing("70s", storm("h1"))
    s.firing("180s", storm("h1"))
    s.firing("190s")


@scenario()
def a_deadlock_is_named_when_every_agent_was_heard_since_it_began(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        pausing(blocked(s.host(host, tor), "_x10 1x60 0x200"), "0x270")
    pausing(s.host("h3", "t3"), "0x270")
    s.firing("22s")
    s.firing("24s", deadlock())
    s.firing("140s", deadlock())
    s.firing("270s")


@scenario(interval="10s", evaluation="2s")
def a_deadlock_waits_for_agents_that_are_scraped_rarely(s):
    """The culprit of a storm may hang after its last good scrape: for as long as one is to come, it is
    no deadlock. Scraped at 0, 10, 20 s …; blocked from 10 s on."""
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), "_ 1x60")
    # The same clock for all, but the third was heard last at 0 s until 20 s.
    s.host("h3", "t3", info="1 _ 1x60")
    s.firing("18s")
    s.firing("22s")
    s.firing("24s", deadlock())


@scenario()
def hosts_blocked_at_half_duty_of_a_pauser_are_no_victims(s):
    """0.5 is not more than half: both sides of the boundary."""
    pausing(s.host("h1", "t1"), "0.5x60 0.51x60")
    for host, tor in (("h2", "t2"), ("h3", "t3")):
        blocked(s.host(host, tor), LONG)
    s.firing("60s", deadlock())
    # The deadlock is kept firing for 2 min after its end, the victims come after 5 s.
    s.firing("140s", deadlock(), victims())


@scenario()
def blocked_with_a_silent_agent_has_an_unknown_root(s):
    """The silent culprit: a hung host pauses the network and reports no more."""
    culprit = s.host("h1", "t1", info="1x10 stale")
    pausing(culprit, "0x8 1 1 stale")
    for host, tor in (("h2", "t1"), ("h3", "t2")):
        blocked(s.host(host, tor), "_x9 1x500")
    s.firing("24s")
    s.firing("34s", unknown())
    s.firing("240s", unknown(), missing("h1", "t1"))


@scenario()
def one_silent_agent_of_forty_still_makes_the_root_unknown(s):
    """97.5 % report: a ratio alone would call it a deadlock."""
    s.host("h1", "t1", info="1x10 stale")
    for number in range(2, 41):
        host = s.host(f"h{number}", f"t{number % 5}")
        host.add("rdmapulse_expected_agents", "40x1000", fabric="f1")
        if number < 6:
            blocked(host, "_x9 1x500")
    s.firing("40s", unknown())
    s.value("40s", "rdmapulse:agents:reporting_ratio",
            ('rdmapulse:agents:reporting_ratio{fabric="f1"}', 0.975))


@scenario()
def suspects_are_listed_by_the_tor_that_was_blocked_first(s):
    s.host("h8", "t8", info="1x10 stale")   # its ToR is not blocked at all
    s.host("h1", "t1", info="1x10 stale")
    s.host("h2", "t2", info="1x10 stale")
    blocked(s.host("h3", "t2"), "_x10 1x500")
    blocked(s.host("h4", "t1"), "_x12 1x500")
    s.value("40s", "rdmapulse:suspect:blocked_since",
            ('rdmapulse:suspect:blocked_since{fabric="f1",host="h2",tor="t2"}', 20),
            ('rdmapulse:suspect:blocked_since{fabric="f1",host="h1",tor="t1"}', 24),
            ('rdmapulse:suspect:blocked_since{fabric="f1",host="h8",tor="t8"}', 1e12))


@scenario(interval="10s")
def an_agent_that_fell_silent_long_ago_is_no_suspect_unless_it_is_expected(s):
    """15 min: newly silent no more. Without a ratio it blocks nothing; with 2 of 3 heard it does."""
    for fabric in ("f1", "f2"):
        s.host("h9", "t9", fabric, info="1x5 stale", instance=f"{fabric}-h9:9936")
        for host, tor in (("h1", "t1"), ("h2", "t2")):
            one = s.host(host, tor, fabric, instance=f"{fabric}-{host}:9936")
            blocked(one, "_x100 1x500")
            if fabric == "f2":
                one.add("rdmapulse_expected_agents", "3x1000", fabric="f2")
    s.firing("1200s", deadlock(fabric="f1"), unknown(fabric="f2"),
             missing("h9", "t9", "f1"), missing("h9", "t9", "f2"))


@scenario()
def too_few_agents_of_those_expected_make_the_root_unknown(s):
    """Below 0.95: 18 of 19 (0.947). At 0.95 (19 of 20) nothing is unheard."""
    for fabric, expected in (("f1", 19), ("f2", 20)):
        for number in range(1, expected):
            host = s.host(f"h{number}", f"t{number % 3}", fabric, instance=f"{fabric}-{number}:9936")
            host.add("rdmapulse_expected_agents", f"{expected}x1000", fabric=fabric)
            if number < 3:
                blocked(host, "_x10 1x500")
    s.firing("40s", unknown(fabric="f1"), deadlock(fabric="f2"))


@scenario()
def a_restarted_agent_is_not_silent(s):
    """A new epoch, a new version in its labels, and another address: the host reports."""
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), "_x20 1x500")
    s.host("h3", "t3", info="1x5 stale")
    again = s.host("h3", info=None, instance="h3-new:9936")
    again.add("rdmapulse_agent_info", "_x7 1x500", host="h3", tor="t3", fabric="f1", version="2")
    s.firing("50s", deadlock())


@scenario()
def a_target_that_says_another_host_name_is_not_silent(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), "_x20 1x500")
    s.host("h3", "t3", info="1x5 stale", instance="x:9936")
    s.host("renamed", "t3", info="_x5 1x500", instance="x:9936")
    s.firing("50s", deadlock())


@scenario()
def blocked_hosts_of_one_tor_are_not_a_deadlock(s):
    for host in ("h1", "h2"):
        blocked(s.host(host, "t1"), "_x10 1x500")
    s.host("h3", "t2")
    s.firing("28s")
    s.firing("30s", one_tor())


@scenario()
def hosts_without_a_tor_label_count_as_one_tor(s):
    for host in ("h1", "h2"):
        blocked(s.host(host, None), "_x10 1x500")
    s.firing("40s", one_tor())


@scenario()
def one_blocked_host_is_not_a_deadlock_whatever_its_ports(s):
    host = s.host("h1", "t1")
    blocked(host, "_x10 1x500")
    host.finding("egress_blocked", "_x10 1x500", device="mlx5_1", port="1", priority="3")
    s.host("h2", "t2")
    s.firing("40s", one_tor())


@scenario()
def a_storm_and_a_deadlock_on_another_priority_are_both_named(s):
    culprit = s.host("h1", "t1")
    culprit.finding("storm_source", LONG, device="mlx5_0", port="1", priority="3")
    for number in range(2, 6):
        host = s.host(f"h{number}", f"t{number}")
        blocked(host, LONG, priority="3")
        blocked(host, LONG, priority="4")
    s.firing("40s", storm("h1"), victims("3"), deadlock("4"))


@scenario()
def two_fabrics_do_not_mix(s):
    """The same host names, priorities and ToRs; a storm here, a deadlock there, nothing in the third."""
    for fabric, culprit in (("f1", True), ("f2", False), ("f3", None)):
        for number in range(1, 5):
            host = s.host(f"h{number}", f"t{number}", fabric, job=f"job-{fabric}")
            if culprit is None:
                continue
            if culprit and number == 1:
                host.finding("storm_source", LONG, device="mlx5_0", port="1", priority="3")
            else:
                blocked(host, LONG)
    s.firing("40s", storm("h1", fabric="f1"), victims(fabric="f1"), deadlock(fabric="f2"))


@scenario()
def a_host_that_two_jobs_scrape_counts_once(s):
    for job in ("rdmapulse", "rdmapulse-slow"):
        blocked(s.host("h1", "t1", job=job), LONG)
        s.host("h2", "t2", job=job)
    s.firing("40s", one_tor())
    s.value("40s", "rdmapulse:blocked_hosts:count",
            ('rdmapulse:blocked_hosts:count{fabric="f1",priority="3"}', 1))


@scenario()
def a_host_that_only_one_of_two_jobs_still_hears_is_not_silent(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), "_x20 1x500")
    s.host("h3", "t3")
    s.host("h3", "t3", job="other", info="1x10 stale")
    s.firing("60s", deadlock())


@scenario()
def a_pauser_that_names_no_priority_explains_every_priority(s):
    """A storm found by the NIC's own event counter, which is one for the port."""
    s.host("h1", "t1").finding("storm_source", LONG, device="mlx5_0", port="1")
    for host, tor in (("h2", "t2"), ("h3", "t3")):
        blocked(s.host(host, tor), LONG)
    s.firing("40s", storm("h1", priority=None), victims())


@scenario()
def pause_on_another_priority_explains_nothing(s):
    pausing(s.host("h1", "t1"), LONG, priority="4")
    for host, tor in (("h2", "t2"), ("h3", "t3")):
        blocked(s.host(host, tor), LONG)
    s.firing("40s", deadlock())


@scenario()
def being_paused_is_not_pausing(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        pausing(blocked(s.host(host, tor), LONG), LONG, direction="rx")
    s.firing("40s", deadlock())


@scenario()
def blocks_that_a_watchdog_cuts_again_and_again_are_a_deadlock(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), LONG, condition="watchdog_cut")
    s.firing("40s", deadlock())


@scenario()
def a_block_that_ends_within_the_waiting_time_is_nothing(s):
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        blocked(s.host(host, tor), "_x10 1 1 0x500")
    for at in ("22s", "24s", "26s", "28s"):
        s.firing(at)


@scenario()
def a_finding_that_grew_worse_is_one_finding(s):
    """Its severity is a label: the old series is 0 for 5 min, the new one 1."""
    for host, tor in (("h1", "t1"), ("h2", "t2")):
        one = s.host(host, tor)
        blocked(one, "1x20 0x100")
        blocked(one, "_x21 1x100", severity="critical")
    for at in ("30s", "42s", "44s", "60s"):
        s.firing(at, deadlock())


@scenario()
def a_target_described_twice_does_not_break_the_fleet(s):
    """A label was changed while Prometheus was down: both series stand for 5 min."""
    twice = s.host("h1", "t1")
    twice.add("rdmapulse_agent_info", LONG, host="h1", tor="t1", fabric="f1", version="2")
    blocked(twice, LONG)
    blocked(s.host("h2", "t2"), LONG)
    s.firing("40s", deadlock())


@scenario()
def findings_of_a_target_that_does_not_say_who_it_is_are_nobodys(s):
    blocked(s.host("h1", info=None), LONG)
    s.firing("40s")


@scenario(interval="5s")
def a_healthy_fleet_is_quiet(s):
    for number in range(1, 9):
        host = s.host(f"h{number}", f"t{number % 4}")
        host.add("rdmapulse_expected_agents", "8x1000", fabric="f1")
        pausing(host, "0x1000")
        pausing(host, "0.04x1000", direction="rx")
        for condition in ("storm_source", "egress_blocked"):
            host.finding(condition, "0x1000", device="mlx5_0", port="1", priority="3")
    for at in ("10s", "60s", "300s"):
        s.firing(at)
