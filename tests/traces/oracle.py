"""The storm rules that SONiC's PFC watchdog has used, on the counters of a host's port.

The switch's port towards a host receives what the host transmits: its pause is our tx pause, what it
sends is our rx. `old` wants no packet and a pause of more than 80 % of the interval that it assumes to
have polled in; `new` divides by the time that it measured, and wants 99 %. Both must hold for the
detection time. The queue's occupancy, which both look at, is known to the switch alone: taken as full.
"""

from rows import increase

DETECTION_SECONDS = 0.4
OLD_SHARE, NEW_SHARE = 0.80, 0.99


def storms(port, rule, assumed_interval):
    """Times at which the rule declares a storm at this port; `port`: its rows in order of time."""
    declared, held = [], 0.0
    for before, after in zip(port, port[1:]):
        elapsed = after["seconds"] - before["seconds"]
        paused = increase(before, after, "pfc_tx_pause_duration_us")
        received = increase(before, after, "prio_rx_bytes")
        if elapsed <= 0 or paused is None or received is None:
            held = 0.0
            continue
        if rule == "old":
            step, share, needed = assumed_interval, paused / 1e6 / assumed_interval, OLD_SHARE
        else:
            step, share, needed = elapsed, paused / 1e6 / elapsed, NEW_SHARE
        if received == 0 and share >= needed:
            held += step
            if held >= DETECTION_SECONDS:
                declared.append(after["seconds"])
        else:
            held = 0.0
    return declared


def first_storms(ports, rule, assumed_interval):
    """Host -> when the rule first declared a storm there; hosts without one are not in it."""
    found = {}
    for host, port in ports.items():
        times = storms(port, rule, assumed_interval)
        if times:
            found[host] = times[0]
    return found
