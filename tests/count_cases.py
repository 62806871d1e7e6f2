#!/usr/bin/env python3
"""Counts test cases in the XML files that Bazel's test runs left: `passed failed skipped`.

A GoogleTest binary writes one <testcase> a case; of any other test Bazel writes one for the whole. A
test that did not come to writing its file (a crash, a time-out, a build error) is counted by the
caller from Bazel's exit code.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(path):
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            # A disabled case is no skip that anybody decided on in this run; neither may hide.
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    totals = [0, 0, 0]
    for line in sys.stdin:
        path = Path(line.strip())
        try:
            counts = count(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"count_cases: reading {path}: {error}", file=sys.stderr)
            counts = (0, 1, 0)
        totals = [total + more for total, more in zip(totals, counts)]
    print(*totals)


if __name__ == "__main__":
    main()
