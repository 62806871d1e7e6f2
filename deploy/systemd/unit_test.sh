#!/bin/bash
# Fails when somebody loosens the unit, misspells a directive in it or in its drop-in, or drops a line
# that verbs needs.
# Usage: unit_test.sh UNIT DROP_IN
set -euo pipefail

unit=$1
drop_in=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "unit_test: $*" >&2
  exit 1
}

# 20 is 2.0 of 10 on systemd's own scale.
systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" >"$work/security" ||
  { cat "$work/security" >&2; fail "the unit is exposed above 2.0"; }

# Checked as it stands, but for the binary, which is not installed here.
sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$unit" >"$work/rdmapulsed.service"
systemd-analyze verify --man=no "$work/rdmapulsed.service" >"$work/verify" 2>&1 || true
if grep -F rdmapulsed.service "$work/verify" >&2; then
  fail "systemd does not take the unit as it is"
fi

# With the drop-in, as systemd reads them: one behind the other.
cat "$unit" "$drop_in" >"$work/with.service"
systemd-analyze security --offline=true --threshold=25 --no-pager "$work/with.service" \
  >"$work/security" || { cat "$work/security" >&2; fail "with $drop_in it is exposed above 2.5"; }
grep -q 'CapabilityBoundingSet=.*CAP_NET_(BIND' "$work/security" || fail "no capabilities were judged"
sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$work/with.service" >"$work/traced.service"
systemd-analyze verify --man=no "$work/traced.service" >"$work/verify" 2>&1 || true
if grep -F traced.service "$work/verify" >&2; then
  fail "systemd does not take the drop-in as it is"
fi

# The check above must be able to fail.
sed 's|^WatchdogSec=|WatchdogSecs=|' "$work/rdmapulsed.service" >"$work/broken.service"
systemd-analyze verify --man=no "$work/broken.service" >"$work/broken" 2>&1 || true
grep -q WatchdogSecs "$work/broken" || fail "systemd-analyze verify does not see a wrong directive"

for line in \
  'Type=notify' \
  'ExecStart=/usr/bin/rdmapulsed --config /etc/rdmapulse/rdmapulse.yaml' \
  'DeviceAllow=char-infiniband_verbs rw' \
  'DeviceAllow=/dev/infiniband/rdma_cm rw' \
  'LimitMEMLOCK=64M' \
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK' \
  'RuntimeDirectory=rdmapulse' \
  'StateDirectory=rdmapulse' \
  'User=rdmapulse'; do
  grep -qxF "$line" "$unit" || fail "the unit has no line \"$line\""
done
grep -q '^PrivateDevices=yes' "$unit" && fail "PrivateDevices=yes hides /dev/infiniband"
exit 0
