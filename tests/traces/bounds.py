"""Shares, quantiles and rates with their 95 % bounds."""

import math

Z = 1.959964  # Two-sided 95 % of the normal distribution.


def wilson(hits, of):
    """The share's lower and upper bound (Wilson 1927)."""
    if of == 0:
        return 0.0, 1.0
    share = hits / of
    middle = (share + Z * Z / (2 * of)) / (1 + Z * Z / of)
    half = Z / (1 + Z * Z / of) * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def quantile(values, share):
    """(quantile, lower, upper): bounds by order statistics, which assume no distribution."""
    ordered = sorted(values)
    count = len(ordered)
    if not count:
        return None
    half = Z * math.sqrt(count * share * (1 - share))
    low = max(0, math.floor(count * share - half) - 1)
    high = min(count - 1, math.ceil(count * share + half))
    return ordered[min(count - 1, math.ceil(count * share) - 1)], ordered[low], ordered[high]


def poisson_upper(count):
    """The highest mean that a count this low still goes with, at 97.5 %: the two-sided bound."""
    low, high = float(count), 3.0 * count + 10.0
    for _ in range(60):
        mean = (low + high) / 2
        term = total = math.exp(-mean)
        for i in range(1, count + 1):
            term *= mean / i
            total += term
        low, high = (mean, high) if total > 0.025 else (low, mean)
    return high
