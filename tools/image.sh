#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the container image, as an OCI archive that skopeo, podman and ctr take. Without network,
# and without leaving anything in the host's store of images. In the image are the program, the
# licence, and if the program is not static, the shared libraries that it was linked with.
#
# usage: image.sh PROGRAM VERSION OUT
set -eu
program=$1 version=$2 out=$3
top=$(cd "$(dirname "$0")/.." && pwd)
command -v buildah >/dev/null || {
	echo "image: buildah is missing; as root: tools/setup.sh package" >&2
	exit 1
}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
mkdir "$place/tree"
cp "$program" "$place/tree/faultscope"
cat "$top/LICENSE" "$top/LICENSES/BSD-2-Clause.txt" >"$place/tree/LICENSE"
if libraries=$(ldd "$program" 2>/dev/null); then
	printf '%s\n' "$libraries" | sed -n 's,.*\(^\|[[:space:]]\)\(/[^ ]*\) (.*,\2,p' |
		while read -r library; do
			mkdir -p "$place/tree${library%/*}"
			cp -L "$library" "$place/tree$library"
		done
fi

store() {
	buildah --root "$place/store" --runroot "$place/run" --storage-driver vfs "$@"
}
store bud -q --isolation chroot --timestamp "${SOURCE_DATE_EPOCH:-0}" \
	--label "org.opencontainers.image.version=$version" \
	-f "$top/deploy/container/Containerfile" -t "faultscope:$version" "$place/tree" >/dev/null
rm -f "$out"
store push -q "faultscope:$version" "oci-archive:$out:faultscope:$version"
