#!/usr/bin/env python3
"""Tries every PromQL expression of dashboards (JSON) and documents (Markdown, ```promql blocks).

  --check             parses each with `promtool check rules`
  --families FILE     with --check: every rdmapulse_* name must stand in FILE (docs/metrics.md)
  --prometheus URL    asks a Prometheus; an expression that it refuses is a failure
  --min-data N        with --prometheus: at least N expressions must return something

Exit code 0: all good; 1: some expression is not; 2: bad input. Needs only the standard library.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

# What Grafana puts in; a multi-value variable becomes a regular expression.
BUILT_IN = {"__rate_interval": "1m", "__interval": "15s", "__range": "1h"}
VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
LABEL_VALUES = re.compile(r"label_values\((.*),\s*(\w+)\)$")
FAMILY = re.compile(r"\brdmapulse_\w+")


class BadInput(Exception):
    """Something that is no dashboard, no document, or names what is not there."""


def substitute(text, variables, where):
    def value(match):
        name = match.group(1) or match.group(2)
        if name in BUILT_IN:
            return BUILT_IN[name]
        if name in variables:
            return ".*"
        raise BadInput(f"{where}: ${name} is no variable of the dashboard")

    return VARIABLE.sub(value, text)


def dashboard_expressions(path, board):
    """Yields (where, expression) of variables, annotations and panels."""
    variables = {entry["name"] for entry in board["templating"]["list"]}
    for entry in board["templating"]["list"]:
        if entry["type"] != "query":
            continue
        where = f"{path}: variable {entry['name']}"
        match = LABEL_VALUES.match(entry["query"]["query"])
        if not match:
            raise BadInput(f"{where}: not label_values(SELECTOR, LABEL): {entry['query']['query']}")
        yield where, f"count by ({match.group(2)}) ({substitute(match.group(1), variables, where)})"
    for entry in board.get("annotations", {}).get("list", []):
        if "expr" in entry:
            where = f"{path}: annotation {entry['name']}"
            yield where, substitute(entry["expr"], variables, where)
    panels = list(board["panels"])
    while panels:
        panel = panels.pop(0)
        panels.extend(panel.get("panels", []))
        for target in panel.get("targets", []):
            where = f"{path}: panel {panel['id']} \"{panel['title']}\" {target['refId']}"
            yield where, substitute(target["expr"], variables, where)


def document_expressions(path, text):
    for number, block in enumerate(re.findall(r"```promql\n(.*?)```", text, re.DOTALL), 1):
        lines = [line for line in block.splitlines() if not line.lstrip().startswith("#")]
        yield f"{path}: query {number}", "\n".join(lines).strip()


def expressions_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".md"):
            found = list(document_expressions(path, text))
        else:
            found = list(dashboard_expressions(path, json.loads(text)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"reading {path}: {error!r}") from error
    if not found:
        raise BadInput(f"{path}: no expression in it")
    return found


def rules_file(expressions):
    """As JSON, which is YAML: nothing to escape by hand."""
    rules = [{"record": f"query:{i}", "expr": expr} for i, (_, expr) in enumerate(expressions)]
    return json.dumps({"groups": [{"name": "queries", "rules": rules}]})


def promtool_accepts(expressions):
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(rules_file(expressions))
        file.flush()
        done = subprocess.run(
            ["promtool", "check", "rules", "--lint=none", file.name], capture_output=True, text=True
        )
    return done.returncode == 0, (done.stdout + done.stderr).strip()


def check(expressions, families_path):
    """Prints what is wrong; returns whether nothing is."""
    good, _ = promtool_accepts(expressions)
    if not good:  # which one? promtool stops counting rules at the first bad file
        for where, expr in expressions:
            accepted, said = promtool_accepts([(where, expr)])
            if not accepted:
                print(f"{where}: {expr}\n  {said}", file=sys.stderr)
    if not families_path:
        return good
    try:
        with open(families_path, encoding="utf-8") as file:
            known = set(FAMILY.findall(file.read()))
    except OSError as error:
        raise BadInput(f"reading {families_path}: {error}") from error
    for where, expr in expressions:
        for name in FAMILY.findall(expr):
            if name not in known and re.sub(r"_(bucket|sum|count)$", "", name) not in known:
                print(f"{where}: {name} is no documented family", file=sys.stderr)
                good = False
    return good


def ask(prometheus, expr):
    """Returns (number of results, None) or (None, why it failed)."""
    data = urllib.parse.urlencode({"query": expr, "time": time.time()}).encode()
    url = prometheus.rstrip("/") + "/api/v1/query"
    try:
        with urllib.request.urlopen(url, data, timeout=30) as answer:
            return len(json.load(answer)["data"]["result"]), None
    except urllib.error.HTTPError as error:
        return None, error.read().decode(errors="replace").strip()
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"asking {url}: {error}") from error


def run(expressions, prometheus, min_data):
    failed = 0
    with_data = 0
    for where, expr in expressions:
        results, why = ask(prometheus, expr)
        if why is not None:
            print(f"FAILED {where}: {expr}\n  {why}", file=sys.stderr)
            failed += 1
            continue
        with_data += results > 0
        print(f"{results:6} results  {where}")
    print(f"{len(expressions)} expressions: {with_data} with data, {failed} failed")
    if with_data < min_data:
        print(f"only {with_data} of at least {min_data} returned data", file=sys.stderr)
        return False
    return failed == 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--prometheus", metavar="URL")
    parser.add_argument("--families", metavar="FILE")
    parser.add_argument("--min-data", type=int, default=0, metavar="N")
    options = parser.parse_args()
    try:
        expressions = [pair for path in options.files for pair in expressions_of(path)]
        if options.check:
            good = check(expressions, options.families)
            print(f"{len(expressions)} expressions: {'all good' if good else 'see above'}")
        else:
            good = run(expressions, options.prometheus, options.min_data)
    except BadInput as error:
        print(f"grafana_queries: {error}", file=sys.stderr)
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
