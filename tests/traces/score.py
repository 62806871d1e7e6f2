#!/usr/bin/env python3
"""Generates seeded events of every condition, replays them, and says how often the detectors are right.

    score.py --program RDMAPULSE [--rules RULES.yml] [--scale 0.1] [--seed 0] [--only NAME,…]
             [--jobs N] [--markdown FILE] [--misses FILE]

Exit code 1: a bar is not met. The program must be a release build; every trace is made in a temporary
folder and thrown away.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time

import fleet
import oracle
import report
from phrases import Judge
from scenarios import SCENARIOS, generate
from verdicts import ReplayError, replay, verdicts_of

# Traces of each scenario in a full run: at least 300 events of each condition.
PLAN = {
    "storm": 300, "storm_prevented": 60, "storm_watchdog": 60, "storm_silent": 60,
    "storm_and_loss": 60, "blocked_unseen": 50, "deadlock": 320, "deadlock_cut": 60,
    "near_deadlock": 100, "slow_receiver": 220, "slow_receiver_near_storm": 100, "incast_ecn": 320,
    "incast_pfc": 80, "microbursts": 60, "loss_host_link": 200, "loss_fabric_link": 80,
    "loss_tor": 50, "loss_congestion": 60, "black_hole": 70, "link_down": 240,
    "flap_with_storm_counters": 80, "link_flap": 310, "optics": 80, "starved": 310,
    "credit_stall": 110, "iwarp": 80, "misconfigured": 80, "device_lost": 310, "peer_down": 110,
    "peer_overloaded": 120, "agent_stopped": 60, "rolling_restart": 40, "self_starved": 100,
    "maintenance": 60, "healthy_poisson": 120, "healthy_rounds": 120, "healthy_busy": 60,
    "healthy_day": 6, "idle": 30, "late_polls": 60, "counters_reset": 60, "counters_wrap": 60,
    "lifetime_counts": 60, "pauses_without_duration": 60, "pause_before_poll": 60,
    "adaptive_routing": 60, "control_congested": 60, "speed_change": 60,
}


def run_one(job):
    """One trace from seed to judgement: small values only, they cross a process border."""
    program, name, seed, with_fleet = job
    with tempfile.TemporaryDirectory(prefix="rdmapulse-trace-") as folder:
        truth, world = generate(name, seed, folder)
        started = time.monotonic()
        try:
            verdicts = verdicts_of(replay(program, folder))
        except ReplayError as error:
            return {"name": name, "seed": seed, "error": str(error)}
        took = time.monotonic() - started
    judged = Judge(truth, verdicts, world.seconds).judge()
    result = {"name": name, "seed": seed, "interval": world.dt, "judged": judged,
              "host_seconds": world.clos.count * world.seconds, "rows": len(world.rows),
              "replay_seconds": took, "culprit": truth["root_cause"], "start": truth["start_s"],
              "oracle": {rule: oracle.first_storms(world.ports, rule, world.dt)
                         for rule in ("old", "new")},
              "storms": sorted({v.host for v in verdicts if v.condition == "storm_source"})}
    if with_fleet:
        result["fleet"] = (fleet.series_of(f"{name}-{seed}", world.ports, verdicts,
                                              world.seconds),
                           world.seconds,
                           [p for p in truth["expected_findings"] if p.startswith("fleet ")])
    return result


def jobs_of(options):
    names = options.only.split(",") if options.only else list(PLAN)
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        raise SystemExit(f"score: no scenario {' '.join(unknown)}")
    jobs = []
    for name in names:
        count = max(1, round(PLAN.get(name, 1) * options.scale))
        for seed in range(options.seed, options.seed + count):
            jobs.append((options.program, name, seed, bool(options.rules) and
                         name in report.FLEET_SCENARIOS))
    return jobs


def run(jobs, processes):
    # The slow ones first, so that no process is left alone with them at the end.
    jobs = sorted(jobs, key=lambda job: job[1] != "healthy_day")
    with multiprocessing.Pool(processes) as pool:
        for done, result in enumerate(pool.imap_unordered(run_one, jobs, chunksize=1), 1):
            if done % 200 == 0:
                print(f"{done} of {len(jobs)} traces", file=sys.stderr, flush=True)
            yield result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--rules")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--markdown")
    parser.add_argument("--misses")
    options = parser.parse_args()
    started = time.monotonic()
    results = list(run(jobs_of(options), options.jobs))
    card = report.Card(results, options.rules)
    text = card.markdown(time.monotonic() - started)
    print(text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as out:
            out.write(text)
    if options.misses:
        with open(options.misses, "w", encoding="utf-8") as out:
            out.write(card.misses())
    failed = card.failed_bars()
    for line in failed:
        print(f"NOT MET: {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
