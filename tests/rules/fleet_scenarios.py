"""Agents and inputs that are missing, ECN that is not there: the slow rules about a whole fabric."""

from scenario import alert, scenario

PORT = {"device": "mlx5_0", "port": "1"}
LANE = {**PORT, "netdev": "eth0"}


def missing(host, tor="t1", fabric="f1"):
    return alert("AgentMissing", "major", fabric=fabric, host=host, tor=tor)


def no_metric(metric, severity="warning", fabric="f1"):
    return alert("MetricMissing", severity, fabric=fabric, metric=metric)


def without_ecn(tor, fabric="f1"):
    return alert("PausesWithoutECN", "warning", fabric=fabric, tor=tor)


# --- AgentMissing

@scenario(interval="15s", evaluation="1m")
def an_agent_that_falls_silent_is_missing_after_a_minute(s):
    s.host("h1", info="1x20 stale").add("up", "1x20 0x2000")
    s.host("h2").add("up", "1x2000")
    s.firing("6m")
    s.firing("7m", missing("h1"))
    # Two hours later its target is still there and still down.
    s.firing("140m", missing("h1"))


@scenario(interval="15s", evaluation="1m")
def a_host_that_left_the_inventory_is_forgotten_after_an_hour(s):
    s.host("h1", info="1x20 stale")
    s.host("h2")
    s.firing("60m", missing("h1"))
    s.firing("70m")


@scenario(interval="15s", evaluation="30s")
def a_restart_of_less_than_a_minute_is_not_missing(s):
    s.host("h1", info="1x20 stale _x2 1x200").add("up", "1x20 0x2 1x200")
    for at in ("5m30s", "6m", "6m30s", "10m"):
        s.firing(at)


@scenario(interval="15s", evaluation="30s")
def an_agent_that_came_back_at_another_address_is_not_missing(s):
    s.host("h1", info="1x20 stale").add("up", "1x20 0x200")
    s.host("h1", info="_x24 1x200", instance="new:9936")
    s.firing("10m")


@scenario(interval="15s", evaluation="30s")
def a_target_that_never_answered_as_an_agent_is_missing(s):
    """Only in jobs that have agents: other jobs are none of our business."""
    s.host("h1").add("up", "1x200")
    s.host("h9", info=None).add("up", "0x200")
    s.host("db", info=None, job="postgres").add("up", "0x200")
    s.firing("4m30s")
    s.firing("10m", alert("AgentMissing", "warning", job="rdmapulse", instance="h9:9936"))


@scenario(interval="15s", evaluation="30s")
def fewer_agents_than_expected_are_missing(s):
    """f1 expects three and hears two; f2 expects two and hears them; f3 expects nothing."""
    for fabric, expected in (("f1", 3), ("f2", 2), ("f3", None)):
        for name in ("h1", "h2"):
            host = s.host(name, "t1", fabric, instance=f"{fabric}-{name}:9936")
            if expected:
                host.add("rdmapulse_expected_agents", f"{expected}x200", fabric=fabric)
    s.firing("10m", alert("AgentMissing", "major", fabric="f1"))


@scenario(interval="15s", evaluation="30s")
def an_agent_that_is_known_to_be_silent_is_not_also_counted_as_never_heard(s):
    for name, info in (("h1", "1x200"), ("h2", "1x200"), ("h3", "1x20 stale")):
        s.host(name, info=info).add("rdmapulse_expected_agents", info.replace("1x", "3x"), fabric="f1")
    s.firing("10m", missing("h3"))


@scenario(interval="15s", evaluation="30s")
def a_whole_fabric_that_falls_silent_is_missing(s):
    for name in ("h1", "h2"):
        s.host(name, info="1x20 stale").add("rdmapulse_expected_agents", "2x20 stale", fabric="f1")
    s.firing("10m", missing("h1"), missing("h2"))


# --- PausesWithoutECN

@scenario(interval="30s", evaluation="1m")
def pause_for_hours_without_one_mark_is_an_alert(s):
    """0.02 s in a minute are 1.2 s an hour; t2 is at 0.9 s; t3 has marks; t4's NICs do not count them."""
    for name, tor, step, marked in (("h1", "t1", 0.01, "0x400"), ("h2", "t2", 0.0075, "0x400"),
                                    ("h3", "t3", 0.01, "0+1x400"), ("h4", "t4", 0.01, None)):
        host = s.host(name, tor)
        host.add("rdmapulse_pfc_pause_seconds_total", f"0+{step}x400", direction="rx", priority="3",
                 **LANE)
        if marked:
            host.add("rdmapulse_ecn_marked_packets_total", marked, **LANE)
    s.firing("59m")
    s.firing("150m", without_ecn("t1"))


@scenario(interval="30s", evaluation="1m")
def pause_that_hosts_send_does_not_ask_for_marks(s):
    host = s.host("h1")
    host.add("rdmapulse_pfc_pause_seconds_total", "0+0.01x400", direction="tx", priority="3", **LANE)
    host.add("rdmapulse_ecn_marked_packets_total", "0x400", **LANE)
    s.firing("150m")


# --- MetricMissing

@scenario(interval="15s", evaluation="1m")
def an_input_that_vanished_from_a_host_that_reports_is_missing(s):
    for name, values in (("h1", "1x40 stale"), ("h2", "1x400")):
        host = s.host(name)
        host.add("rdmapulse_retransmits_total", values, cause="timeout", **LANE)
        host.add("rdmapulse_port_up", "1x400", **PORT)
    s.firing("14m")
    s.firing("17m", no_metric("rdmapulse_retransmits_total"))
    s.value("17m", "rdmapulse:inputs:gone",
            ('rdmapulse:inputs:gone{fabric="f1",host="h1",metric="rdmapulse_retransmits_total"}', 1))
    s.firing("80m")


@scenario(interval="15s", evaluation="1m")
def inputs_of_a_silent_host_are_a_matter_of_the_agent(s):
    s.host("h1", info="1x40 stale").add("rdmapulse_port_up", "1x40 stale", **PORT)
    s.host("h2").add("rdmapulse_port_up", "1x400", **PORT)
    s.firing("20m", missing("h1"))


def probing(host, values):
    path = {**PORT, "peer": "h3", "class_": "lossless", "op": "write0"}
    host.add("rdmapulse_probes_total", values, outcome="ok", **path)
    host.add("rdmapulse_probe_overdue", values, **path)
    host.add("rdmapulse_probe_rtt_seconds_count", values, **path)


@scenario(interval="15s", evaluation="1m")
def probes_end_with_their_peers(s):
    """h1 has its peers removed: only these are gone. h2 has them still and probes nobody."""
    for name, peers in (("h1", "1x40 stale"), ("h2", "1x400")):
        host = s.host(name)
        host.add("rdmapulse_peer_info", peers, peer="h3", tor="t2")
        probing(host, "0x40 stale")
    # h4 keeps the fabric from having none at all.
    host = s.host("h4")
    host.add("rdmapulse_peer_info", "1x400", peer="h3", tor="t2")
    probing(host, "0x400")
    s.firing("18m", *(no_metric(f"rdmapulse_{name}") for name in (
        "peer_info", "probes_total", "probe_overdue", "probe_rtt_seconds_count")))
    s.value("18m", 'count by (host) (rdmapulse:inputs:gone)', ('{host="h1"}', 1), ('{host="h2"}', 3))


@scenario(interval="15s", evaluation="1m")
def what_no_host_of_a_fabric_exports_is_missing(s):
    """f1 has RDMA and no findings; f2 has none of RDMA; f3 has all that it needs."""
    s.host("h1").add("rdmapulse_rdma_devices", "1x400").add("rdmapulse_port_up", "1x400", **PORT)
    s.host("h2", fabric="f2").add("rdmapulse_rdma_devices", "0x400")
    good = s.host("h3", fabric="f3")
    good.add("rdmapulse_rdma_devices", "2x400").add("rdmapulse_port_up", "1x400", **PORT)
    good.add("rdmapulse_findings_total", "0x400", condition="storm_source")
    s.firing("9m")
    s.firing("12m", no_metric("rdmapulse_findings_total", "major"))


@scenario(interval="15s", evaluation="1m")
def hardware_for_roce_that_counts_no_pause_is_information(s):
    """Soft-RoCE and InfiniBand have no PFC, and nobody needs to be told."""
    for name, fabric, protocol, driver in (("h1", "f1", "roce_v2", "mlx5"), ("h2", "f2", "roce_v2", "rxe"),
                                           ("h3", "f3", "infiniband", "mlx5")):
        host = s.host(name, fabric=fabric)
        host.add("rdmapulse_port_info", "1x400", protocol=protocol, driver=driver, **PORT)
        for metric in ("retransmits_total", "link_errors_total", "link_down_total",
                       "ecn_marked_packets_total", "pfc_pause_frames_total"):
            if metric != "pfc_pause_frames_total" or fabric != "f1":
                host.add(f"rdmapulse_{metric}", "0x400", **LANE)
        if fabric != "f1":
            host.add("rdmapulse_pfc_pause_ratio_max", "0x400", direction="tx", priority="3", **LANE)
    s.firing("12m", no_metric("rdmapulse_pfc_pause_frames_total", "info"),
             no_metric("rdmapulse_pfc_pause_ratio_max", "info"))
