#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs missing Debian or Ubuntu packages: those for building, and those of each group that the
# arguments name.
set -eu

groups="test, bench, torch, programs, healthy, package, report, cross, compilers, distros"
case ${1-} in
-h | --help)
	cat <<END
usage: tools/setup.sh [GROUP...]
       tools/setup.sh --print GROUP...

Installs the packages that building faultscope needs and this machine lacks (Debian, Ubuntu; as
root). A GROUP adds those of a further task:
  test      the tests (tools/check)
  bench     the benchmarks (make bench): bpftrace, perf, Redis, nginx, SQLite, PostgreSQL
  torch     tests with a real PyTorch (make check-torch)
  programs  tests with Java, Go, Redis and Node.js (make check-programs)
  healthy   tests with PostgreSQL, php-fpm, nginx, MariaDB, ... (make check-healthy)
  package   Debian packages and the container image (make deb, make image)
  report    the report in a browser (make check-report)
  cross     the compiler for arm64 (make ARCH=arm64)
  compilers every clang from 14 on that this release has (make check-compilers)
  distros   a fresh Debian in a directory (make check-distros): debootstrap
Without root it prints the packages that are missing. On Fedora it prints the packages to install.
--print prints the packages of these groups, without those for building, and installs nothing.
END
	exit 0
	;;
esac
print=
if [ "${1-}" = --print ]; then
	print=yes
	shift
fi

# On Fedora, prints the names of the packages for building.
if ! command -v dpkg-query >/dev/null; then
	echo "setup: no dpkg here; on Fedora building needs, as root:" >&2
	echo "  dnf install make gcc clang llvm bpftool libbpf-devel elfutils-libelf-devel zlib-devel" \
		"libcap-devel xz-devel bzip2-devel lz4-devel binutils-devel libzstd-devel libunistring-devel libkdumpfile-devel" \
		"libmicrohttpd-devel gnutls-devel libyaml-devel libxcrypt-devel json-c-devel" >&2
	exit 1
fi

build="make gcc libc6-dev clang llvm bpftool libbpf-dev libelf-dev zlib1g-dev libcap-dev liblzma-dev"
build="$build libbz2-dev liblz4-dev libiberty-dev libzstd-dev libunistring-dev libkdumpfile-dev"
build="$build libmicrohttpd-dev libgnutls28-dev libyaml-dev libcrypt-dev libjson-c-dev"
# Ubuntu's package with the tools of a kernel contains bpftool.
# shellcheck source=/dev/null
[ "$(. /etc/os-release && echo "$ID")" != ubuntu ] ||
	build=$(echo "$build" | sed 's/bpftool/linux-tools-common linux-tools-generic/')
test="python3 python3-jsonschema python3-fastjsonschema python3-pytest procps util-linux util-linux-extra libcap2-bin mount mandoc shellcheck binutils git strace zsh fish tmux"
test="$test makedumpfile python3-yaml jsonnet systemd zstd lz4 e2fsprogs jq"
bench="bpftrace linux-perf redis-server redis-tools nginx-light sqlite3 postgresql util-linux"
torch="python3-torch"
programs="python3 default-jdk-headless redis-server golang-go nodejs python3-watchdog util-linux"
healthy="python3 util-linux postgresql php-fpm nginx-light mariadb-server"
healthy="$healthy mariadb-client nodejs python3-pytest apt make gcc git chromium default-jdk-headless"
healthy="$healthy redis-server redis-tools ffmpeg rsync sqlite3 ruby perl emacs-nox golang-go tar xz-utils buildah"
report="chromium nodejs golang-go jq prometheus"
# Some nodejs packages (not Debian's) include npm, and conflict with Debian's package npm.
command -v npm >/dev/null || report="$report npm"
package="build-essential debhelper dh-apparmor dpkg-dev fakeroot jsonnet lintian python3"
package="$package buildah netavark"
distros="debootstrap git python3 util-linux util-linux-extra"
cross="python3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

# Prints the versions of clang in the package lists, which differ by release.
clangs() {
	apt-cache pkgnames clang- | grep -x 'clang-[1-9][0-9]' | sort -V | sed -n '/-1[4-9]$/p; /-[2-9][0-9]$/p'
}

wanted=$build
[ -z "$print" ] || wanted=
for group; do
	case $group in
	test) wanted="$wanted $test" ;;
	bench) wanted="$wanted $bench" ;;
	torch) wanted="$wanted $torch" ;;
	programs) wanted="$wanted $programs" ;;
	healthy) wanted="$wanted $healthy" ;;
	package) wanted="$wanted $package" ;;
	report) wanted="$wanted $report" ;;
	cross) wanted="$wanted $cross" ;;
	compilers) wanted="$wanted $(clangs)" ;;
	distros) wanted="$wanted $distros" ;;
	*)
		echo "setup: no such group: $group (there are $groups)" >&2
		exit 2
		;;
	esac
done

if [ "$print" ]; then
	echo "$wanted"
	exit 0
fi
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
