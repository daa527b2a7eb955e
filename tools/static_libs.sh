#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the libraries for a static program. If a library is missing, fails and names its package.
# usage: tools/static_libs.sh [--http] [--json] COMPILER [OPTIONS]
set -eu

# archive NAME prints the path at which the linker finds a library, or NAME if it finds none.
archive() {
	name=$1
	shift
	for option; do
		case $option in
		-L*) [ ! -f "${option#-L}/$name" ] || {
			echo "${option#-L}/$name"
			return
		} ;;
		esac
	done
	"$compiler" -print-file-name="$name"
}

http=
[ "$1" != --http ] || {
	http=1
	shift
}
json=
[ "$1" != --json ] || {
	json=1
	shift
}
compiler=$1
shift
libs=
missing=
need() {
	library=$1 package=$2
	shift 2
	libs="$libs -l$library"
	case $(archive "lib$library.a" "$@") in
	/* | */*) ;;
	*) missing="$missing $package" ;;
	esac
}

[ -z "$http" ] || {
	need microhttpd libmicrohttpd-dev "$@"
	need gnutls libgnutls28-dev "$@"
	need hogweed nettle-dev "$@"
	need nettle nettle-dev "$@"
	need gmp libgmp-dev "$@"
	need tasn1 libtasn1-6-dev "$@"
	need idn2 libidn2-dev "$@"
	need unistring libunistring-dev "$@"
	need yaml libyaml-dev "$@"
	need crypt libcrypt-dev "$@"
}
[ -z "$json" ] || need json-c libjson-c-dev "$@"
need bpf libbpf-dev "$@"
# libelf.a of elfutils 0.196 (sid) and zlib both define crc32(). If zlib comes first, the linker takes
# only one of them.
libs="$libs -lz"
need elf libelf-dev "$@"
need z zlib1g-dev "$@"
# libelf since 0.189 (Debian 13) can read zstd-compressed sections, so it needs libzstd.
if [ -f /usr/include/zstd.h ] || grep -q ZSTD_ "$(archive libelf.a "$@")" 2>/dev/null; then
	need zstd libzstd-dev "$@"
fi
need cap libcap-dev "$@"
need lzma liblzma-dev "$@"
need bz2 libbz2-dev "$@"
need lz4 liblz4-dev "$@"
need iberty libiberty-dev "$@"
libelf=$(archive libelf.a "$@")
if grep -q eu_search_tree_init "$libelf" 2>/dev/null; then
	"$("$compiler" -print-prog-name=nm)" "$libelf" 2>/dev/null |
		grep -q ' T eu_search_tree_init' || libs="$(dirname "$0")/libelf_search_tree.c$libs"
fi
if [ -n "$missing" ]; then
	echo "static: no static libraries for $compiler, missing packages:$missing" >&2
	exit 1
fi
echo "$libs"
