#!/bin/bash
# The Prometheus example with the rules that it names, the dashboard and the documented queries:
# accepted by promtool, naming only metrics that exist, and the dashboard with the ids that links and
# bookmarks rely on.
# Usage: prometheus_test.sh GRAFANA_QUERIES.PY PROMETHEUS.YML OVERVIEW.JSON QUERIES.MD METRICS.MD
set -euo pipefail

queries=$1 example=$2 dashboard=$3 document=$4 metrics=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "prometheus_test: $*" >&2
  exit 1
}

promtool check config --lint-fatal "$example" >"$work/told" 2>&1 || {
  cat "$work/told" >&2
  fail "promtool refuses $example"
}
grep -q 'rules found' "$work/told" || fail "$example names no rules"

python3 "$queries" --check --families "$metrics" "$dashboard" "$document"

# The checks above must be able to fail.
refused() {
  local status=0
  python3 "$queries" --check --families "$metrics" "$work/broken.md" >"$work/told" 2>&1 || status=$?
  [[ $status == 1 ]] || fail "exit code $status and not 1 for: $(cat "$work/broken.md")"
}
printf '```promql\nsum(rate(rdmapulse_port_up[1m])\n```\n' >"$work/broken.md"
refused
printf '```promql\nrdmapulse_no_such_family\n```\n' >"$work/broken.md"
refused

python3 - "$dashboard" <<'PYTHON'
import json
import sys

board = json.load(open(sys.argv[1], encoding="utf-8"))
assert board["uid"] == "rdmapulse-overview" and board["title"] == "rdmapulse overview"
assert "id" not in board, "a database id of some Grafana"
ids = [panel["id"] for panel in board["panels"]]
assert len(set(ids)) == len(ids), "two panels have one id"
cells = set()
for panel in board["panels"]:
    place = panel["gridPos"]
    assert place["x"] + place["w"] <= 24, panel["title"]
    covered = {
        (x, y)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    }
    assert not covered & cells, f"{panel['title']} lies on another panel"
    cells |= covered
    if panel["type"] != "row":
        assert panel["targets"] and panel["description"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
PYTHON
