"""Runs cases on a lab: its command line, its log, its last line. end_to_end.py and iwarp.py are this
with their own cases."""

import argparse
import subprocess
import tempfile
import traceback
from pathlib import Path

from errors import LabError
from world import Failure

ROOT = Path(__file__).resolve().parents[2]


def run_cases(world, cases, long_cases, name_of):
    failed = 0
    for case in cases:
        name = name_of(case)
        print(f"case {name}", flush=True)
        try:
            if case in long_cases:
                world.wait_quiet()
            case(world)
            print(f"PASS {name}", flush=True)
        except (Failure, LabError, OSError, subprocess.TimeoutExpired) as error:
            failed += 1
            print(f"FAIL {name}: {error}", flush=True)
            for host in world.hosts:
                tail = world.lab("log", host, check=False).stdout[-1500:]
                print(f"--- log of {host}\n{tail}", flush=True)
        except Exception:  # a fault of this program, told with its place
            failed += 1
            print(f"FAIL {name}: {traceback.format_exc()}", flush=True)
    return failed


def main(description, world_type, cases, long_cases, prefix=""):
    """0, or 1 when a case failed. `long_cases` run when they are asked for, on a quiet lab."""
    names = {case.__name__: case for case in cases + long_cases}
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", nargs="*", help="only these: " + ", ".join(names) +
                        "; default: all but " + ", ".join(case.__name__ for case in long_cases))
    parser.add_argument("--long", action="store_true", help="the cases that default leaves out")
    parser.add_argument("--dir", help="state folder of the lab; default: a new one")
    parser.add_argument("--bin", help="folder with rdmapulsed and rdmapulse")
    parser.add_argument("--lab-bin", help="folder with the lab's own programs")
    parser.add_argument("--contract", help="the transport_contract_rxe program",
                        default=ROOT / "bazel-bin/tests/contract/transport_contract_rxe")
    options = parser.parse_args()
    unknown = set(options.cases) - set(names)
    if unknown:
        parser.error(f"no such cases: {', '.join(sorted(unknown))}")
    default = long_cases if options.long else cases
    wanted = [case for name, case in names.items()
              if (name in options.cases if options.cases else case in default)]
    with tempfile.TemporaryDirectory(prefix="rdmapulse-e2e-") as folder:
        world = world_type(options.dir or folder,
                           {"--bin": options.bin, "--lab-bin": options.lab_bin}, options.contract)
        try:
            world.up()
            print(world.lab("late").stdout, flush=True)
            failed = run_cases(world, wanted, long_cases,
                               lambda case: prefix + case.__name__.replace("_", " "))
        except (Failure, LabError) as error:
            print(f"FAIL bringing the lab up: {error}", flush=True)
            failed = len(wanted)
        finally:
            world.down()
    print(f"{len(wanted) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0
