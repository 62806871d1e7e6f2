#!/bin/bash
# Installs into a folder and looks at what is there: files, modes, what an upgrade keeps, what an
# uninstall leaves, and that bad input installs nothing.
# Usage: install_test.sh INSTALL.SH UNIT CONFIG
set -euo pipefail

script=$1
unit=$2
config=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install_test: $*" >&2
  exit 1
}

same() {
  diff <(printf '%s\n' "$2") <(printf '%s\n' "$1") >&2 || fail "$3"
}

# "mode path" of every file and folder below the staging folder.
listing() {
  (cd "$work/root" && find . -mindepth 1 -printf '%m %P\n' | sort -k 2)
}

mkdir -p "$work/bin"
for name in rdmapulsed rdmapulse; do
  printf '#!/bin/sh\necho first %s\n' "$name" >"$work/bin/$name"
  chmod 0700 "$work/bin/$name"
done

umask 0077 # a strict root must not make programs that only root can run
"$script" --bin "$work/bin" --destdir "$work/root/" >"$work/told"
grep -q 'systemctl enable --now rdmapulsed' "$work/told" || fail "it does not say what comes next"
same "$(listing)" "755 etc
755 etc/rdmapulse
644 etc/rdmapulse/rdmapulse.yaml
755 usr
755 usr/bin
755 usr/bin/rdmapulse
755 usr/bin/rdmapulsed
755 usr/lib
755 usr/lib/systemd
755 usr/lib/systemd/system
644 usr/lib/systemd/system/rdmapulsed.service" "wrong files or modes"
cmp "$unit" "$work/root/usr/lib/systemd/system/rdmapulsed.service"
cmp "$config" "$work/root/etc/rdmapulse/rdmapulse.yaml"

# Again: programs are new, the operator's configuration is the old one.
echo "# mine" >"$work/root/etc/rdmapulse/rdmapulse.yaml"
printf '#!/bin/sh\necho second\n' >"$work/bin/rdmapulse"
before=$(listing)
"$script" --bin "$work/bin" --destdir "$work/root" >"$work/told"
grep -q "Kept the configuration" "$work/told" || fail "it does not say that it kept the configuration"
same "$(listing)" "$before" "an upgrade changed files or modes"
same "$("$work/root/usr/bin/rdmapulse")" "second" "the program was not replaced"
same "$(cat "$work/root/etc/rdmapulse/rdmapulse.yaml")" "# mine" "the configuration was overwritten"

# Away, twice.
"$script" --uninstall --destdir "$work/root" >/dev/null
"$script" --uninstall --destdir "$work/root" >/dev/null
same "$(cd "$work/root" && find . -type f)" "./etc/rdmapulse/rdmapulse.yaml" "left or lost"

# Bad input: exit code 2, a sentence, and nothing installed.
refuses() {
  local expected=$1 status=0
  shift
  rm -rf "$work/root"
  "$script" "$@" >"$work/told" 2>"$work/error" || status=$?
  [[ $status == 2 ]] || fail "exit code $status of: $*"
  grep -qF -- "$expected" "$work/error" || fail "not \"$expected\" but: $(cat "$work/error")"
  [[ ! -e $work/root ]] || fail "it installed something: $*"
}
refuses "there is no option --nonsense" --nonsense
refuses "--destdir needs a value" --destdir
refuses "the value of --destdir is empty" --destdir ""
refuses "there is no program $work/none/rdmapulsed" --bin "$work/none" --destdir "$work/root"
refuses "there is no configuration $work/none.yaml" --bin "$work/bin" --config "$work/none.yaml" \
  --destdir "$work/root"
rm "$work/bin/rdmapulse"
refuses "there is no program $work/bin/rdmapulse" --bin "$work/bin" --destdir "$work/root"
