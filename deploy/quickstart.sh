#!/bin/bash
# From a fresh Debian 12 machine to live numbers: installs what is missing, builds, and runs rdmapulse
# on this host's RDMA devices if there are any, else on three virtual machines with soft-RoCE.
#
#   bash deploy/quickstart.sh          install, build, run, show
#   bash deploy/quickstart.sh --stop   end everything it started
set -euo pipefail
cd "$(dirname "$0")/.."

state=${RDMAPULSE_QUICKSTART_DIR:-/tmp/rdmapulse-quickstart}
started=$SECONDS

say() { printf '[%3d s] %s\n' $((SECONDS - started)) "$*"; }
die() {
  echo "quickstart: $*" >&2
  exit 1
}

build() {
  local log="$state/build.log"
  say "building the release (the first time takes some minutes; log: $log)"
  # A line now and then, so that a long build is seen to move.
  if ! bazel build --config=release --show_progress_rate_limit=10 "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "the build failed, see above"
  fi
}

case ${1:-} in
  '') ;;
  --stop) exec python3 deploy/quickstart.py --dir "$state" --stop ;;
  -h | --help)
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  *) die "unknown option $1; there is --stop" ;;
esac

mkdir -p "$state"
say "installing missing Debian packages, if any"
bash deploy/install_dependencies.sh
# A folder without a device is a kernel that could have some.
if [[ -n $(ls /sys/class/infiniband 2>/dev/null) ]]; then
  build //daemon:rdmapulsed //daemon/cli:rdmapulse
  exec python3 deploy/quickstart.py --dir "$state" --host
fi
say "no RDMA device on this host: three virtual machines with soft-RoCE will show it"
build //daemon:rdmapulsed //daemon/cli:rdmapulse //tests/lab/...
exec python3 deploy/quickstart.py --dir "$state" --lab
