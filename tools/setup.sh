#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs the Debian packages that are missing for building, and with arguments for more:
#   tools/setup.sh [test] [bench] [torch] [programs] [package] [report] [cross]
set -eu

build="make gcc libc6-dev clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libcap-dev liblzma-dev"
build="$build libiberty-dev libzstd-dev libunistring-dev"
build="$build libcurl4-gnutls-dev libmicrohttpd-dev libgnutls28-dev libyaml-dev libcrypt-dev"
test="python3 python3-jsonschema procps util-linux libcap2-bin mount mandoc shellcheck binutils git strace zsh fish tmux"
test="$test python3-yaml jsonnet systemd zstd lz4 e2fsprogs"
bench="bpftrace linux-perf"
torch="python3-torch"
programs="python3 default-jdk-headless redis-server golang-go nodejs python3-watchdog util-linux"
report="chromium nodejs golang-go jq prometheus"
command -v npm >/dev/null || report="$report npm" # some builds of nodejs bring it, and conflict
package="debhelper dh-apparmor dpkg-dev fakeroot lintian buildah"
cross="python3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
cross="$cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
cross="$cross gcc-s390x-linux-gnu libc6-dev-s390x-cross"

wanted=$build
for group; do
	case $group in
	test) wanted="$wanted $test" ;;
	bench) wanted="$wanted $bench" ;;
	torch) wanted="$wanted $torch" ;;
	programs) wanted="$wanted $programs" ;;
	package) wanted="$wanted $package" ;;
	report) wanted="$wanted $report" ;;
	cross) wanted="$wanted $cross" ;;
	*)
		echo "setup: no such group: $group (test, bench, torch, programs, package, report, cross)" >&2
		exit 2
		;;
	esac
done

missing=
for package in $wanted; do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "setup: missing packages:$missing" >&2
	echo "  as root: apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# shellcheck disable=SC2086 # a list of words
apt-get install -q -y --no-install-recommends $missing
