#!/bin/bash
# Installs every Debian 12 package that building, testing and the VM lab need. Idempotent, and
# silent within a second when nothing is missing. The only place that names packages.
set -euo pipefail

packages=(
  # Build: Bazel from Debian, the compilers, the libraries (their run-time parts come along).
  bazel-bootstrap g++ pkg-config git
  libboost1.81-dev libboost-json1.81-dev libcli11-dev libexpected-dev libfmt-dev libibmad-dev
  libibumad-dev libibverbs-dev libmnl-dev libprotobuf-dev libspdlog-dev libssl-dev libsystemd-dev
  libyaml-cpp-dev protobuf-compiler zlib1g-dev
  # Tests: frameworks, format, lint, fuzz, a real Prometheus with promtool, a real Alertmanager with
  # amtool, a reader for the rules, systemd-analyze.
  clang clang-format clang-tidy libbenchmark-dev libclang-rt-14-dev libfuse3-dev libgmock-dev
  libgtest-dev prometheus prometheus-alertmanager python3-yaml systemd
  # A simulated InfiniBand fabric with a real subnet manager.
  ibsim-utils libumad2sim0 opensm
  # The lab: a kernel and an emulator, what its guests hold, static libraries for its own programs.
  binutils busybox-static dash ethtool ibverbs-providers iproute2 libc-bin libc6-dev libgcc-s1
  libibverbs1 librdmacm1 libstdc++-12-dev linux-image-amd64 perftest python3 qemu-system-x86
  rdmacm-utils util-linux
  # iWARP in the lab: the module siw is built from the kernel's source.
  linux-headers-amd64 linux-source-6.1 make tar xz-utils
)

# One question for all of them: asking one by one takes a second.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Abbrev}\n' 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package ii " <<<"$installed" || missing+=("$package")
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
# Debian starts a package's service as soon as it is installed; nobody asked for a Prometheus on every
# address of this machine. A policy that is there already is left alone.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$log" "$policy"' EXIT
else
  trap 'rm -f "$log"' EXIT
fi
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "install_dependencies: apt-get failed, see above" >&2
  exit 2
fi
