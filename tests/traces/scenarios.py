"""Every scenario by name, and how to make its trace of a seed."""

import inspect
import random

import scenarios_loss
import scenarios_pause
import scenarios_peers
import scenarios_quiet


def _of(module):
    return {name: function for name, function in vars(module).items()
            if inspect.isfunction(function) and function.__module__ == module.__name__
            and not name.startswith("_")}


QUIET = _of(scenarios_quiet)
SCENARIOS = {**QUIET, **_of(scenarios_pause), **_of(scenarios_loss), **_of(scenarios_peers)}


def generate(name, seed, folder):
    """Writes the trace; returns its truth and its world. The same name and seed: the same bytes."""
    world, truth = SCENARIOS[name](random.Random(f"{name}/{seed}"))
    truth = {"name": f"{name}-{seed}", **truth,
             "note": f"seed {seed}; rates, duties and ratios as simulated, "
                     + ("one simulated millisecond is one second here" if world.plain
                        else "times in seconds")}
    world.write(folder, truth)
    return truth, world
