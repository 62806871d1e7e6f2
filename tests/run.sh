#!/bin/bash
# Installs what is missing, builds, and runs every test that a change must pass. Ends with a line
# `N passed, N failed, N skipped` that counts test cases. What takes longer is tests/full.sh.
#
#   bash tests/run.sh [STEP…]      only these steps, by the names below
set -uo pipefail
cd "$(dirname "$0")/.."

steps=(format tidy unit asan tsan fuzz integration lab)
passed=0 failed=0 skipped=0
started=$SECONDS
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

say() { printf '[%4d s] %s\n' $((SECONDS - started)) "$*"; }

# One case that is no GoogleTest's: its name, then the command. The log is shown when it fails.
check() {
  local name=$1 log="$logs/${1//[^a-z0-9]/_}"
  shift
  if "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    say "FAILED: $name"
    tail -n 100 "$log"
  fi
}

# Bazel's test with these arguments; counts the cases of the tests that it ran or had cached.
bazel_test() {
  local name=$1 events="$logs/events" log="$logs/bazel"
  shift
  bazel test --keep_going --build_event_text_file="$events" "$@" >"$log" 2>&1
  local status=$?
  local p f s
  read -r p f s < <(grep -oE 'uri: "file://[^"]*/test\.xml"' "$events" | sed 's|.*file://||; s|"$||' |
    sort -u | python3 tests/count_cases.py)
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  # 4: no test of that kind; 0: all passed. A crash or a build error has no case of its own.
  if ((status != 0 && status != 4)); then
    if ((f == 0)); then failed=$((failed + 1)); fi
    say "FAILED: $name"
    grep -vE '^\[[0-9 ,/]+\]|^(Loading|Analyzing)' "$log" | tail -n 150
  fi
  say "$name: $p passed, $f failed, $s skipped"
}

sources() { git ls-files '*.h' '*.cc'; }

run_format() {
  check "clang-format" clang-format --dry-run --Werror $(sources)
  check "layers" bash tests/layers.sh
}

# The files of the last commits and of the working tree: the whole tree is tests/full.sh's.
run_tidy() {
  local base
  base=$(git rev-parse --quiet --verify HEAD~3 || git rev-parse HEAD)
  local changed
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cc' | head -n 30)
  if [[ -z $changed ]]; then return; fi
  local targets
  targets=$(bazel query --keep_going "set($(printf '%s ' $changed))" 2>/dev/null |
    while read -r label; do echo "same_pkg_direct_rdeps($label)"; done | paste -sd+ -)
  if [[ -z $targets ]]; then return; fi
  check "clang-tidy" bazel build --keep_going --config=tidy $(bazel query "kind('cc_.* rule', $targets) except attr(tags, 'manual|notidy', //...)" 2>/dev/null)
}

run_unit() {
  say "building (release) and running unit tests"
  bazel_test "unit tests" --config=release //...
}

run_asan() {
  say "unit tests with address and undefined-behaviour sanitizers"
  check "asan catches a planted overflow" planted asan //tests/sanitizers:planted_overflow_test
  bazel_test "asan+ubsan" --config=asan --build_tests_only //...
}

run_tsan() {
  say "daemon/ and probes/ with the thread sanitizer"
  check "tsan catches a planted race" planted tsan //tests/sanitizers:planted_race_test
  bazel_test "tsan" --config=tsan --build_tests_only //daemon/... //probes/...
}

# A sanitizer that is not on looks like success: this test must fail under it, and by its words.
planted() {
  local output
  output=$(bazel test --config="$1" --test_output=all "$2" 2>&1) && return 1
  grep -qE 'ERROR: AddressSanitizer|WARNING: ThreadSanitizer' <<<"$output"
}

run_fuzz() {
  local seconds=${FUZZ_SECONDS:-10}
  say "each fuzz target for $seconds s"
  local targets
  targets=$(bazel query 'attr(tags, "\bfuzz\b", kind(cc_binary, //...))' 2>/dev/null)
  check "fuzz targets build" bazel build --config=fuzz $targets
  local bin
  bin=$(bazel info --config=fuzz bazel-bin 2>/dev/null)
  for target in $targets; do
    local path=${target#//}
    check "fuzz $target" "$bin/${path/:/\/}" -max_total_time="$seconds" -print_final_stats=1 \
      -artifact_prefix="$logs/"
  done
}

run_integration() {
  say "integration tests: the built programs on loopback"
  bazel_test "integration" --config=release --test_tag_filters=integration //...
}

run_lab() {
  say "building the lab and booting three hosts, then two with iWARP"
  check "lab builds" bazel build --config=release //daemon:rdmapulsed //daemon/cli:rdmapulse \
    //tests/lab/... //tests/contract:transport_contract_rxe
  local log="$logs/lab" program line
  for program in end_to_end iwarp; do
    python3 "tests/lab/$program.py" 2>&1 | tee "$log" | grep -E '^(PASS|FAIL|     |h[0-9])'
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
    if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
      passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
      if ((BASH_REMATCH[2] > 0)); then tail -n 150 "$log"; fi
    else
      failed=$((failed + 1))
      tail -n 100 "$log"
    fi
  done
}

bash deploy/install_dependencies.sh || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
for step in "${@:-${steps[@]}}"; do
  if ! declare -F "run_$step" >/dev/null; then
    echo "run.sh: no step $step; there are: ${steps[*]}" >&2
    exit 2
  fi
done
for step in "${@:-${steps[@]}}"; do
  "run_$step"
done
say "done"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
