#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the README's two commands in a fresh Debian, on this machine's kernel. TAP on stdout.
# shellcheck disable=SC2317 # step() calls its arguments
set -eu

usage() {
	cat <<END
usage: tests/distros/run.sh [--brief | --packages] SUITE...

SUITE is a release of Debian: bookworm, trixie, sid. For each one, debootstrap makes a minimal
system in a temporary directory, from the mirror of this machine's apt sources. The last commit is
cloned there. Then these run, and the TAP lines tell how long each took:
  tools/run -p PID   must build, and run with status 0
  doctor             must say that no core probe is degraded
  tools/check        must pass; with --brief the unit tests run in its place
With --packages, these run instead:
  tools/setup.sh package && make deb	must build the Debian packages
  make check-deb	must pass
build/distros/SUITE then has the packages of the last commit (later) and of the commit EARLIER
(default: the one before), for tests/vm/upgrade_guest.py.
Needs root and debootstrap; downloads about 0.5 GB a suite and takes 3 GB below TMPDIR (/tmp).
The output of each step is in build/distros/SUITE.log.
END
}

check='tools/check' packages=''
case ${1-} in
-h | --help)
	usage
	exit 0
	;;
--brief)
	check='tools/setup.sh test && make -s check-units'
	shift
	;;
--packages)
	packages=yes
	shift
	;;
esac
[ $# -gt 0 ] || {
	usage >&2
	exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
skip() {
	echo "1..0 # SKIP $1"
	exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
command -v debootstrap >/dev/null || skip "debootstrap is missing: tools/setup.sh distros"
(cd "$top/tools" && python3 -B -c 'import aptroot; aptroot.mirrors()') ||
	skip "the apt sources of this machine name no Debian mirror"

place=$(mktemp -d)
# The mounts end with their mount namespace, so this rm cannot reach files outside of $place.
trap 'rm -rf --one-file-system "$place"' EXIT
trap 'exit 1' INT TERM HUP
mkdir -p "$top/build/distros"
n=0 failed=0

# step NAME COMMAND... runs a command and prints a TAP line with its duration. If the command fails,
# step also prints the end of its output.
step() {
	name=$1
	shift
	n=$((n + 1))
	begun=$(date +%s) status=0
	"$@" >"$place/out" 2>&1 </dev/null || status=$?
	took=$(($(date +%s) - begun))
	{
		echo "== $name: status $status, $took s"
		cat "$place/out"
	} >>"$log"
	echo "# $name took $took s"
	if [ "$status" = 0 ]; then
		echo "ok $n - $name"
		return 0
	fi
	failed=1
	echo "not ok $n - $name: status $status, see $log"
	tail -n 20 "$place/out" | sed 's/^/# /'
	return 1
}

inside() {
	unshare --mount "$here/enter.sh" "$place/$suite" "$1"
}

bootstrap() {
	"$here/bootstrap.sh" "$suite" "$place/$suite" &&
		git clone -q "$top" "$place/$suite/root/faultscope"
}

# Builds and tests the packages, and keeps them.
test_packages() {
	step "$suite: make deb" inside 'tools/setup.sh package && make -s deb' || return 0
	step "$suite: make check-deb" inside "make -s check-deb EARLIER=${EARLIER:-HEAD^}" || true
	for version in later:deb earlier:deb-earlier; do
		kept=$top/build/distros/$suite/${version%:*}
		rm -rf "$kept"
		mkdir -p "$kept"
		cp "$place/$suite/root/faultscope/build/${version#*:}"/*.deb "$kept" || failed=1
	done
}

test_commands() {
	step "$suite: tools/run -p PID" inside 'tools/run -p $$ -d 3' || return 0
	step "$suite: no core probe is degraded" inside \
		'build/faultscope doctor --no-calibrate | tee /dev/stderr | sed -n 2p | grep -qv degraded' ||
		true
	step "$suite: $check" inside "$check" || true
}

for suite; do
	log=$top/build/distros/$suite.log
	: >"$log"
	if step "$suite: debootstrap" bootstrap; then
		if [ "$packages" ]; then test_packages; else test_commands; fi
	fi
	rm -rf --one-file-system "${place:?}/$suite"
done
echo "1..$n"
exit "$failed"
