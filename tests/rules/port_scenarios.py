"""Links, configuration, counters: groups of ports and counters, and the slow rules
about links. Counters at one value a 15 s: `0+15x40` is one a second for 10 min."""

from scenario import alert, scenario

PORT = {"device": "mlx5_0", "port": "1"}
LANE = {**PORT, "netdev": "eth0", "priority": "3"}
LINE_RATE = "12500000000x400"  # 100 Gbit/s


def of_port(alertname, severity, host="h1", /, **more):
    return alert(alertname, severity, fabric="f1", host=host, **PORT, **more)


def spike(severity, direction="rx", priority="3"):
    return of_port("PFCPauseSpike", severity, priority=priority, direction=direction)


# --- LinkDown

@scenario(interval="5s")
def a_port_that_worked_and_went_down_is_an_alert(s):
    s.host("h1").add("rdmapulse_port_up", "1x12 0x24 1x100", **PORT)
    s.firing("70s")
    s.firing("75s", of_port("LinkDown", "major"))
    s.firing("180s", of_port("LinkDown", "major"))
    s.firing("190s")


@scenario(interval="5s")
def a_spare_port_that_never_worked_is_none(s):
    s.host("h1").add("rdmapulse_port_up", "0x100", **PORT)
    s.firing("300s")


@scenario(interval="5s")
def a_port_that_is_down_after_its_host_was_away_is_still_an_alert(s):
    host = s.host("h1", info="1x24 stale _x100 1x200")
    host.add("rdmapulse_port_up", "1x24 stale _x100 0x200", **PORT)
    s.firing("700s", of_port("LinkDown", "major"))


@scenario(interval="5s")
def a_blink_shorter_than_ten_seconds_is_no_link_down(s):
    s.host("h1").add("rdmapulse_port_up", "1x12 0 0 1x100", **PORT)
    for at in ("65s", "70s", "75s", "80s"):
        s.firing(at)


@scenario(interval="5s")
def the_daemons_findings_about_links_are_alerts(s):
    host = s.host("h1")
    host.finding("link_down", "1x100", severity="major", **PORT)
    host.finding("device_lost", "1x100", severity="major", device="mlx5_1")
    s.firing("60s", of_port("LinkDown", "major"),
             alert("LinkDown", "major", fabric="f1", host="h1", device="mlx5_1"))


# --- LinkFlap

@scenario(interval="15s", evaluation="1m")
def two_flaps_in_ten_minutes_are_flapping(s):
    s.host("h1").add("rdmapulse_link_down_total", "5x20 6x8 7x200", **LANE)
    s.firing("7m")
    s.firing("8m", of_port("LinkFlap", "warning"))


@scenario(interval="15s", evaluation="1m")
def one_flap_is_not(s):
    s.host("h1").add("rdmapulse_link_down_total", "5x20 6x200", **LANE)
    for at in ("6m", "10m", "16m"):
        s.firing(at)


@scenario(interval="15s")
def one_flap_right_after_the_start_is_not_two(s):
    """Two samples, and one scrape failed: the increase is extrapolated to 2.5."""
    s.host("h1").add("rdmapulse_link_down_total", "_x7 5 6 _ 6x200", **LANE)
    for at in ("120s", "135s", "150s", "165s", "240s"):
        s.firing(at)


@scenario(interval="15s", evaluation="1m")
def three_flaps_in_an_hour_are_flapping(s):
    s.host("h1").add("rdmapulse_link_down_total", "0x50 1x60 2x60 3x200", **LANE)
    s.firing("59m")
    s.firing("62m", of_port("LinkFlap", "warning"))


@scenario(interval="15s", evaluation="1m")
def a_reset_of_the_counter_is_no_flap(s):
    s.host("h1").add("rdmapulse_link_down_total", "255x260 0x10 1x20 0x200", **LANE)
    for at in ("66m", "68m", "70m", "75m", "100m"):
        s.firing(at)


@scenario(interval="15s", evaluation="1m")
def restarts_of_the_agent_are_no_flaps(s):
    info = "1x3 stale 1x7 stale 1x7 stale 1x7 stale 1x50"
    s.host("h1", info=info).add("rdmapulse_port_up", info, **PORT)
    s.firing("8m")


@scenario(interval="15s", evaluation="1m")
def flaps_show_in_the_state_of_ports_without_a_counter(s):
    s.host("h1").add("rdmapulse_port_up", "1x20 0 0 1x5 0 0 1x100", **PORT)
    s.firing("8m", of_port("LinkFlap", "warning"))


@scenario(interval="15s", evaluation="1m")
def a_flap_finding_takes_the_daemons_severity(s):
    s.host("h1").finding("link_flap", "1x100", severity="warning", **PORT)
    s.host("h2").finding("link_flap", "1x100", severity="major", **PORT)
    s.firing("5m", of_port("LinkFlap", "warning"), of_port("LinkFlap", "warning", "h2"),
             of_port("LinkFlap", "major", "h2"))


# --- OpticsFailing

@scenario(interval="1m")
def uncorrectable_blocks_in_two_spans_of_ten_minutes_are_failing_optics(s):
    host = s.host("h1")
    host.add("rdmapulse_link_errors_total", "0x15 1x14 2x200", kind="fec_uncorrectable", **LANE)
    s.host("h2").add("rdmapulse_link_errors_total", "0x15 9x200", kind="fec_uncorrectable", **LANE)
    s.firing("29m")
    s.firing("41m", of_port("OpticsFailing", "major"))


@scenario(interval="4m")
def ten_times_as_many_corrections_as_yesterday_are_failing_optics(s):
    """1000 and 11000 a second a day apart; the neighbours: always 11000, and 8 times as many."""
    errors = {"kind": "fec_corrected", **LANE}
    s.host("h1").add("rdmapulse_link_errors_total", "0+240000x375 92640000+2640000x15", **errors)
    s.host("h2").add("rdmapulse_link_errors_total", "0+2640000x400", **errors)
    s.host("h3").add("rdmapulse_link_errors_total", "0+240000x375 91920000+1920000x15", **errors)
    s.firing("1500m")
    s.firing("1532m", of_port("OpticsFailing", "warning"))


@scenario(interval="15s", evaluation="1m")
def symbol_errors_above_ten_a_second_are_failing_optics(s):
    s.host("h1").add("rdmapulse_link_errors_total", "0+165x200", kind="symbol", **LANE)
    s.host("h2").add("rdmapulse_link_errors_total", "0+150x200", kind="symbol", **LANE)
    s.firing("20m", of_port("OpticsFailing", "warning"))


@scenario(interval="1m")
def an_optics_finding_takes_the_daemons_severity(s):
    s.host("h1").finding("optics", "1x100", severity="warning", **PORT)
    s.host("h2").finding("optics", "1x100", severity="major", **PORT)
    s.firing("10m", of_port("OpticsFailing", "warning"), of_port("OpticsFailing", "warning", "h2"),
             of_port("OpticsFailing", "major", "h2"))


# --- ConfigMismatch, CounterSaturated

@scenario(interval="5s")
def a_configuration_that_does_not_match_is_an_alert(s):
    host = s.host("h1")
    host.finding("config", "1x50 0x100", severity="warning", peer="h2", **PORT)
    s.host("h2").finding("config", "1x50 0x100", severity="major", **PORT)
    s.firing("60s", of_port("ConfigMismatch", "warning", peer="h2"),
             of_port("ConfigMismatch", "warning", "h2"), of_port("ConfigMismatch", "major", "h2"))
    s.firing("300s")


@scenario(interval="5s")
def a_saturated_counter_is_an_alert_and_a_wrapped_one_is_none(s):
    host = s.host("h1")
    counter = {**PORT, "source": "counters", "name": "link_downed"}
    host.add("rdmapulse_counter_quality", "1x100", state="saturated", **counter)
    host.add("rdmapulse_counter_quality", "1x100", state="wrapped", **{**counter, "name": "x"})
    s.firing("295s")
    s.firing("300s", of_port("CounterSaturated", "warning", source="counters", name="link_downed"))


# --- PFCPauseSpike

@scenario(interval="5s")
def pause_for_a_twentieth_of_the_time_is_a_spike(s):
    s.host("h1").add("rdmapulse_pfc_pause_seconds_total", "0+0.25x60", direction="rx", **LANE)
    s.host("h2").add("rdmapulse_pfc_pause_seconds_total", "0+0.24x60", direction="rx", **LANE)
    s.firing("150s", spike("warning"))


@scenario(interval="5s")
def pause_for_a_third_of_the_time_is_major_on_any_priority_and_direction(s):
    s.host("h1").add("rdmapulse_pfc_pause_seconds_total", "0+1.6x60",
                     direction="tx", **{**LANE, "priority": "6"})
    s.firing("150s", spike("warning", "tx", "6"), spike("major", "tx", "6"))


@scenario(interval="5s")
def a_burst_of_pause_shorter_than_half_a_minute_is_no_spike(s):
    s.host("h1").add("rdmapulse_pfc_pause_seconds_total", "0x20 0+0.4x2 1x100", direction="rx",
                     **LANE)
    for at in ("110s", "120s", "150s", "200s"):
        s.firing(at)


@scenario(interval="5s")
def a_restart_of_the_driver_is_no_pause(s):
    s.host("h1").add("rdmapulse_pfc_pause_seconds_total", "86400x20 0x100", direction="rx", **LANE)
    for at in ("105s", "130s", "160s", "200s"):
        s.firing(at)


@scenario(interval="5s")
def frames_stand_in_for_time_by_the_speed_of_the_link(s):
    """100 Gbit/s: 2980 frames/s are the whole time, 745 a quarter. 10 Gbit/s: 298 and 75."""
    for host, step, rate in (("h1", 3800, LINE_RATE), ("h2", 3650, LINE_RATE),
                             ("h3", 400, "1250000000x400"), ("h4", 350, "1250000000x400")):
        one = s.host(host)
        one.add("rdmapulse_pfc_pause_frames_total", f"0+{step}x60", direction="rx", **LANE)
        one.add("rdmapulse_port_rate_bytes_per_second", rate, **PORT)
    s.firing("200s", spike("warning"),
             of_port("PFCPauseSpike", "warning", "h3", priority="3", direction="rx"))


@scenario(interval="5s")
def a_thousand_frames_a_second_are_a_spike_where_the_speed_is_unknown(s):
    s.host("h1").add("rdmapulse_pfc_pause_frames_total", "0+5000x60", direction="rx", **LANE)
    s.host("h2").add("rdmapulse_pfc_pause_frames_total", "0+4900x60", direction="rx", **LANE)
    s.firing("200s", spike("warning"))


@scenario(interval="5s")
def frames_are_not_judged_where_time_is_counted(s):
    host = s.host("h1")
    host.add("rdmapulse_pfc_pause_frames_total", "0+9000x60", direction="rx", **LANE)
    host.add("rdmapulse_pfc_pause_seconds_total", "0+0.05x60", direction="rx", **LANE)
    s.firing("200s")


@scenario(interval="5s")
def a_slow_receiver_is_a_host_that_pauses(s):
    s.host("h1").finding("slow_receiver", "1x60", severity="warning", priority="3", **PORT)
    s.firing("60s", spike("warning", "tx"))


# --- CongestionMarks

def received(host, packets="0+15000x200", octets=None):
    host.add("rdmapulse_port_receive_packets_total", packets, **PORT)
    if octets:
        host.add("rdmapulse_port_receive_bytes_total", octets, **PORT)
        host.add("rdmapulse_port_rate_bytes_per_second", LINE_RATE, **PORT)


@scenario(interval="15s")
def marks_on_a_busy_link_are_information(s):
    """8.5 % at 40 % load is a healthy receiver; below 1 % is nothing."""
    busy = s.host("h1")
    busy.add("rdmapulse_ecn_marked_packets_total", "0+1275x200", **LANE)
    received(busy, octets="0+75000000000x200")
    quiet = s.host("h2")
    quiet.add("rdmapulse_ecn_marked_packets_total", "0+140x200", **LANE)
    received(quiet, octets="0+75000000000x200")
    s.firing("200s", of_port("CongestionMarks", "info"))


@scenario(interval="15s")
def marks_on_a_full_or_paused_link_are_congestion(s):
    """80 % of line; then 10 % marked; then one that is paused."""
    for name, marked, octets in (("h1", 200, "0+150000000000x200"), ("h2", 200, "0+149000000000x200"),
                                 ("h3", 1500, "0+150000000000x200")):
        host = s.host(name)
        host.add("rdmapulse_ecn_marked_packets_total", f"0+{marked}x200", **LANE)
        received(host, octets=octets)
    paused = s.host("h4")
    paused.add("rdmapulse_ecn_marked_packets_total", "0+200x200", **LANE)
    received(paused)
    paused.add("rdmapulse_pfc_pause_seconds_total", "0+0.75x200", direction="rx", **LANE)
    s.firing("200s",
             *(of_port("CongestionMarks", "info", name) for name in ("h1", "h2", "h3", "h4")),
             *(of_port("CongestionMarks", "warning", name) for name in ("h1", "h3", "h4")),
             of_port("CongestionMarks", "major", "h3"),
             of_port("PFCPauseSpike", "warning", "h4", priority="3", direction="rx"))


@scenario(interval="15s")
def notifications_stand_in_where_marks_are_not_counted(s):
    for name, sent in (("h1", 15), ("h2", 14)):
        host = s.host(name)
        host.add("rdmapulse_cnp_packets_total", f"0+{sent}x200", action="sent", **LANE)
        received(host)
    both = s.host("h3")
    both.add("rdmapulse_cnp_packets_total", "0+150x200", action="sent", **LANE)
    both.add("rdmapulse_ecn_marked_packets_total", "0x200", **LANE)
    received(both)
    s.firing("200s", of_port("CongestionMarks", "info"))


@scenario(interval="15s")
def marks_without_a_count_of_packets_have_no_share(s):
    s.host("h1").add("rdmapulse_ecn_marked_packets_total", "0+1500x200", **LANE)
    s.firing("200s")


@scenario(interval="15s")
def congestion_and_credit_findings_are_alerts(s):
    s.host("h1").finding("congestion", "1x100", severity="warning", priority="3", **PORT)
    s.host("h2").finding("ib_credit", "1x100", severity="major", **PORT)
    s.firing("100s", of_port("CongestionMarks", "warning"), of_port("CongestionMarks", "warning", "h2"),
             of_port("CongestionMarks", "major", "h2"))


# --- LosslessRetransmits

def retransmits(host, step, cause="sequence", packets="0+15000000x200"):
    host.add("rdmapulse_retransmits_total", f"0+{step}x200", cause=cause, **LANE)
    if packets:
        host.add("rdmapulse_port_transmit_packets_total", packets, **PORT)


@scenario(interval="15s")
def retransmits_grow_worse_with_their_share_of_packets(s):
    """A million packets a second: 1e-5 is 150 in 15 s."""
    for name, step in (("h1", 15), ("h2", 165), ("h3", 1650)):
        retransmits(s.host(name), step)
    s.firing("300s", *(of_port("LosslessRetransmits", "warning", name) for name in ("h1", "h2", "h3")),
             of_port("LosslessRetransmits", "major", "h2"), of_port("LosslessRetransmits", "major", "h3"),
             of_port("LosslessRetransmits", "critical", "h3"))


@scenario(interval="15s")
def fewer_than_three_retransmits_in_two_minutes_are_no_ratio(s):
    few = s.host("h1")
    few.add("rdmapulse_retransmits_total", "0x40 1x4 2x100", cause="sequence", **LANE)
    few.add("rdmapulse_port_transmit_packets_total", "0+15x200", **PORT)
    for at in ("600s", "690s", "720s", "780s"):
        s.firing(at)


@scenario(interval="15s")
def a_share_below_one_in_ten_million_is_healthy(s):
    retransmits(s.host("h1"), 15, packets="0+165000000x200")
    s.firing("300s")


@scenario(interval="15s")
def timeouts_alone_are_at_most_a_warning(s):
    """A peer that died: time-outs towards it on a port with little else to do."""
    retransmits(s.host("h1"), 30, cause="timeout", packets="0+300x200")
    s.firing("300s", of_port("LosslessRetransmits", "warning"))


@scenario(interval="15s")
def receivers_without_buffers_and_iwarp_are_no_loss_on_a_lossless_class(s):
    retransmits(s.host("h1"), 1500, cause="rnr")
    iwarp = s.host("h2")
    retransmits(iwarp, 1500, cause="timeout")
    iwarp.add("rdmapulse_port_info", "1x200", protocol="iwarp", driver="irdma", **PORT)
    s.firing("300s")


@scenario(interval="15s")
def retransmits_without_a_count_of_packets_are_judged_by_rate(s):
    retransmits(s.host("h1"), 15, packets=None)
    retransmits(s.host("h2"), 14, packets=None)
    s.firing("300s", of_port("LosslessRetransmits", "warning"))


@scenario(interval="15s")
def a_reset_of_the_retransmit_counter_is_no_loss(s):
    host = s.host("h1")
    host.add("rdmapulse_retransmits_total", "4000000000x20 0x100", cause="sequence", **LANE)
    host.add("rdmapulse_port_transmit_packets_total", "0+1500x20 0+1500x100", **PORT)
    for at in ("330s", "390s", "450s", "600s"):
        s.firing(at)


@scenario(interval="15s")
def loss_findings_take_the_daemons_severity(s):
    s.host("h1").finding("lossless_loss", "1x100", severity="critical", priority="3", **PORT)
    s.host("h2").finding("rnr_starved", "1x100", severity="warning", **PORT)
    s.host("h3").finding("iwarp_retx", "1x100", severity="major", **PORT)
    s.firing("100s", *(of_port("LosslessRetransmits", "warning", name) for name in ("h1", "h2", "h3")),
             of_port("LosslessRetransmits", "critical"), of_port("LosslessRetransmits", "major", "h3"))
