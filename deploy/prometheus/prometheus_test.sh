#!/bin/bash
# The Prometheus example with the rules that it names, the dashboards and the documented queries:
# accepted by promtool, naming only metrics that exist, and the dashboards with the ids that links and
# bookmarks rely on.
# Usage: prometheus_test.sh GRAFANA_QUERIES.PY PROMETHEUS.YML QUERIES.MD METRICS.MD BOARD.JSON…
set -euo pipefail

queries=$1 example=$2 document=$3 metrics=$4
shift 4
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

python3 "$queries" --check --families "$metrics" "$@" "$document"

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

python3 - "$@" <<'PYTHON'
import json
import sys
from pathlib import Path


def check(path):
    board = json.loads(path.read_text(encoding="utf-8"))
    assert board["uid"] == f"rdmapulse-{path.stem}" and board["title"] == f"rdmapulse {path.stem}"
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


assert len(sys.argv) > 1, "no dashboard was given"
for name in sys.argv[1:]:
    check(Path(name))
PYTHON
