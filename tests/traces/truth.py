"""What a generated trace claims of itself, in the shape and the words of every truth.yaml here."""

NOTHING_WRONG = ["no major or critical finding", "no storm, block, loss of any severity"]
NO_PAUSE_VERDICT = ["no storm", "no blocked egress or deadlock"]


def healthy(title, phrases=()):
    return {"injected": "none", "title": title, "where": None, "start_s": None, "end_s": None,
            "verdict": "healthy", "root_cause": None,
            "expected_findings": NOTHING_WRONG + list(phrases)}


def fault(injected, title, where, start, end, verdict, root_cause, phrases):
    return {"injected": injected, "title": title, "where": where, "start_s": round(start, 3),
            "end_s": None if end is None else round(end, 3), "verdict": verdict,
            "root_cause": root_cause, "expected_findings": list(phrases)}


def event(conditions, host, within, peer=None, span=None):
    """The phrase of one incident that must be found; `span`: when it is not the whole fault."""
    text = f"{conditions} at {host}"
    if peer is not None:
        text += f" about {peer}"
    if span is not None:
        text += f" from {span[0]:.3f} to {span[1]:.3f} s"
    return f"{text} within {within:g} s"


def blocked_spans(world, longest_only=True, least=6.0):
    """(host, from, to) for each host that its switch paused without a break for that long."""
    spans = []
    for host in range(world.clos.count):
        own = [(since, world.seconds if until is None else until)
               for since, until in world.fabric.holds[world.clos.up(host)]]
        own = [(since, until) for since, until in own if until - since >= least]
        if own:
            spans.append((host, *max(own, key=lambda s: s[1] - s[0])))
    return spans
