#!/bin/bash
# Installs rdmapulse on a host with systemd, or takes it away again. Idempotent: run it again to
# upgrade. What an operator wrote (the configuration) and what the daemon wrote (recordings) is kept.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly programs=(rdmapulsed rdmapulse)
readonly unit=rdmapulsed.service
readonly user=rdmapulse

usage() {
  cat <<TEXT
Usage: install.sh [--bin DIR] [--config FILE] [--destdir DIR]
       install.sh --uninstall [--destdir DIR]

  --bin DIR      where rdmapulsed and rdmapulse are; without it, the release build of this tree:
                 bazel build --config=release //daemon:rdmapulsed //daemon/cli:rdmapulse
  --config FILE  what becomes /etc/rdmapulse/rdmapulse.yaml if there is none yet
  --destdir DIR  install below DIR; no user is made and systemd is not told (for packages, images)
  --uninstall    remove programs and unit; configuration, recordings and the user stay
TEXT
}

fail() {
  echo "install.sh: $*" >&2
  exit 2
}

bin_dir=
config=$here/../config/rdmapulse.yaml
destdir=
uninstall=no
while (($# > 0)); do
  case $1 in
    --bin | --config | --destdir)
      (($# >= 2)) || fail "$1 needs a value; see --help"
      [[ -n $2 ]] || fail "the value of $1 is empty; see --help"
      ;;&
    --bin) bin_dir=$2 && shift 2 ;;
    --config) config=$2 && shift 2 ;;
    --destdir) destdir=${2%/} && shift 2 ;;
    --uninstall) uninstall=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "there is no option $1; see --help" ;;
  esac
done

[[ -n $destdir || $EUID == 0 ]] || fail "installing on this host takes root; run it with sudo"

# systemd is told only about this host, and only where it runs (not in a container's build).
tell_systemd() {
  [[ -z $destdir && -d /run/systemd/system ]] || return 0
  systemctl "$@"
}

# Prints the folder of this tree's release build. bazel-bin itself points at whatever was built last.
release_build() {
  local found=() candidate
  for candidate in "$here"/../bazel-out/*-opt-release/bin; do
    if [[ -x $candidate/daemon/rdmapulsed && -x $candidate/daemon/cli/rdmapulse ]]; then
      found+=("$candidate")
    fi
  done
  ((${#found[@]} > 0)) || fail "there is no release build here; run:" \
    "bazel build --config=release //daemon:rdmapulsed //daemon/cli:rdmapulse (or say --bin DIR)"
  echo "${found[0]}"
}

# Prints the file of a program.
program_file() {
  local name=$1
  if [[ -n $bin_dir ]]; then
    echo "$bin_dir/$name"
  elif [[ $name == rdmapulse ]]; then
    echo "$build/daemon/cli/rdmapulse"
  else
    echo "$build/daemon/$name"
  fi
}

make_user() {
  [[ -z $destdir ]] || return 0
  getent group "$user" >/dev/null || groupadd --system "$user"
  getent passwd "$user" >/dev/null || useradd --system --gid "$user" --no-create-home \
    --home-dir /var/lib/rdmapulse --shell /usr/sbin/nologin --comment "rdmapulse daemon" "$user"
}

if [[ $uninstall == yes ]]; then
  if [[ -e $destdir/usr/lib/systemd/system/$unit ]]; then
    tell_systemd disable --now "$unit"
  fi
  for name in "${programs[@]}"; do
    rm -f "$destdir/usr/bin/$name"
  done
  rm -f "$destdir/usr/lib/systemd/system/$unit"
  tell_systemd daemon-reload
  echo "rdmapulse is removed. Kept: $destdir/etc/rdmapulse, $destdir/var/lib/rdmapulse and the user"
  echo "$user; to be rid of them: rm -r $destdir/etc/rdmapulse $destdir/var/lib/rdmapulse &&" \
    "userdel $user"
  exit 0
fi

build=
[[ -n $bin_dir ]] || build=$(release_build)
# All of it is looked for before any of it is installed.
for name in "${programs[@]}"; do
  file=$(program_file "$name")
  [[ -f $file && -x $file ]] || fail "there is no program $file"
done
[[ -f $here/systemd/$unit ]] || fail "there is no unit $here/systemd/$unit"
[[ -f $config ]] || fail "there is no configuration $config; say --config FILE"

make_user
for name in "${programs[@]}"; do
  # install(1) writes a new file, so that a running daemon keeps the one that it runs.
  install -D -m 0755 "$(program_file "$name")" "$destdir/usr/bin/$name"
done
install -D -m 0644 "$here/systemd/$unit" "$destdir/usr/lib/systemd/system/$unit"

config_target=$destdir/etc/rdmapulse/rdmapulse.yaml
if [[ -e $config_target ]]; then
  echo "Kept the configuration $config_target."
else
  install -D -m 0644 "$config" "$config_target"
fi

tell_systemd daemon-reload
echo "rdmapulse is installed. Next:"
echo "  1. name the peers to probe in $config_target"
echo "     and check it: rdmapulsed --check --config $config_target"
if [[ -z $destdir && -d /run/systemd/system ]] && systemctl is-active --quiet "$unit"; then
  echo "  2. it runs already, still the old version: systemctl restart rdmapulsed"
else
  echo "  2. start it: systemctl enable --now rdmapulsed"
fi
echo "  3. look: rdmapulse status; rdmapulse peers"
echo "     (without root: usermod -aG $user USER, and log in again)"
echo "  4. scrape port 9936: deploy/prometheus/prometheus.yml"
