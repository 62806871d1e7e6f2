"""Small counts of rare events."""

import math


def poisson(random, mean):
    """A Poisson draw; exact when small, by its normal limit when large."""
    if mean <= 0:
        return 0
    if mean > 50:
        return max(0, round(random.gauss(mean, math.sqrt(mean))))
    limit, product, count = math.exp(-mean), random.random(), 0
    while product > limit:
        product *= random.random()
        count += 1
    return count
