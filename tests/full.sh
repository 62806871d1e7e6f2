#!/bin/bash
# What takes too long for every change: all of run.sh, then clang-tidy over the whole tree, an hour of
# fuzzing, the detectors' scoreboard over some thousand traces, the benchmarks. Same last line.
#
#   FUZZ_SECONDS=600 bash tests/full.sh      each fuzz target for that long (default 300)
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0

count() {
  local line
  line=$(tail -n 1 "$1")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
  else
    failed=$((failed + 1))
  fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
bash tests/run.sh 2>&1 | tee "$log"
count "$log"

echo "clang-tidy over the whole tree"
if bazel build --keep_going --config=tidy //...; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

echo "the detectors over at least 300 events of each condition (half an hour of two free cores)"
if bazel run --config=release //tests/traces:score; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
fi

echo "the lab's longer cases"
for program in end_to_end iwarp; do
  python3 "tests/lab/$program.py" --long 2>&1 | tee "$log"
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
done

FUZZ_SECONDS=${FUZZ_SECONDS:-300} bash tests/run.sh fuzz 2>&1 | tee "$log"
count "$log"

echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
