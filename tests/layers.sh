#!/bin/bash
# The layers of the design, asked of the build and of the sources: who may know whom.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "layers: $*" >&2
  exit 1
}

# No path from below to above; probes and collectors never see each other.
for pair in "//probes/... //collectors/..." "//collectors/... //probes/..." \
  "//config/... //probes/..." "//config/... //collectors/..." "//daemon/base/... //config/..."; do
  read -r from to <<<"$pair"
  found=$(bazel query "somepath(kind('cc_library rule', $from), kind('cc_library rule', $to))" 2>/dev/null)
  [[ -z $found ]] || fail "$from reaches $to: $found"
done
found=$(bazel query "somepath(kind('cc_library rule', //probes/... + //collectors/... + //config/...), kind('cc_library rule', //daemon/... except //daemon/base/...))" 2>/dev/null)
[[ -z $found ]] || fail "something below reaches the daemon: $found"

# The localisation is values in, values out.
found=$(bazel query "kind('cc_library rule', deps(//daemon/locate)) intersect (//daemon/... except //daemon/locate/... except //daemon/base/...)" 2>/dev/null)
[[ -z $found ]] || fail "//daemon/locate reaches $found"

# A header that one place may include.
only() {
  local header=$1 allowed=$2 found
  found=$(git grep -lE "#include [<\"]$header" -- '*.h' '*.cc' | grep -vE "$allowed" || true)
  [[ -z $found ]] || fail "$header is included in: $found"
}
only 'infiniband/u?mad' '^collectors/mad/'
only 'infiniband/[^u m]|#include <rdma/rdma_(cma|user_cm)' '^probes/verbs/|^tests/|^collectors/mad/'
only 'yaml-cpp/' '^config/document\.cc|^daemon/cli/host_file\.cc'
only 'boost/asio\.hpp' '^$'
only 'boost/asio/' '^daemon/|^probes/verbs/|^tests/'
