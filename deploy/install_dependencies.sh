#!/bin/bash
# Installs every Debian 12 package that building, testing and the VM lab need. Idempotent, and
# silent within a second when nothing is missing. The only place that names packages.
set -euo pipefail

packages=(
  # Build: Bazel from Debian, the compilers, the libraries (their run-time parts come along).
  bazel-bootstrap g++ pkg-config git
  libboost1.81-dev libboost-json1.81-dev libcli11-dev libexpected-dev libfmt-dev libibverbs-dev
  libmnl-dev libprotobuf-dev libsystemd-dev libspdlog-dev libyaml-cpp-dev prometheus-cpp-dev
  protobuf-compiler
  # Tests: frameworks, format, lint, fuzz, a real Prometheus with promtool, systemd-analyze.
  clang clang-format clang-tidy libbenchmark-dev libclang-rt-14-dev libgmock-dev libgtest-dev
  prometheus systemd
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $status == ii* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
if ((EUID != 0)); then
  echo "install_dependencies: not root, so cannot install: ${missing[*]}; run it with sudo" >&2
  exit 2
fi

echo "install_dependencies: installing ${#missing[@]} packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Debian's packages start their services when installed; ours are started by the tests themselves.
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "install_dependencies: apt-get failed, see above" >&2
  exit 2
fi
