#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the container image as an OCI archive, which skopeo, podman and ctr read. Uses no network,
# and leaves nothing in the host's image store. The image contains the program and the licence. The
# program must be static, and must be able to serve HTTP.
#
# usage: image.sh PROGRAM VERSION OUT
set -eu
program=$1 version=$2 out=$3
top=$(cd "$(dirname "$0")/.." && pwd)
command -v buildah >/dev/null || {
	echo "image: buildah is missing; as root: tools/setup.sh package" >&2
	exit 1
}
ldd "$program" >/dev/null 2>&1 && {
	echo "image: $program has shared libraries: make static" >&2
	exit 1
}
case $("$program" export --replay /dev/null --web.listen-address nowhere 2>&1) in
*'serves no HTTP'*)
	echo "image: $program serves no HTTP; as root: tools/setup.sh package, then make static" >&2
	exit 1
	;;
esac

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$place/tree"
cp "$program" "$place/tree/faultscope"
cat "$top/LICENSE" "$top/LICENSES/BSD-2-Clause.txt" >"$place/tree/LICENSE"
store() {
	buildah --root "$place/store" --runroot "$place/run" --storage-driver vfs "$@"
}
store bud -q --isolation chroot --timestamp "${SOURCE_DATE_EPOCH:-0}" \
	--label "org.opencontainers.image.version=$version" \
	-f "$top/deploy/container/Containerfile" -t "faultscope:$version" "$place/tree" >/dev/null
rm -f "$out"
store push -q "faultscope:$version" "oci-archive:$out:faultscope:$version"
