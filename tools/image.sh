#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Builds the container image as an OCI archive, which skopeo, podman and ctr read, for one or several
# platforms. Uses no network, and leaves nothing in the host's image store. The image contains the
# program and the licence. Each program must be static, and must be able to serve HTTP.
#
# usage: image.sh VERSION OUT PLATFORM=PROGRAM...    PLATFORM: amd64, arm64
set -eu
umask 022
version=$1 out=$2
shift 2
top=$(cd "$(dirname "$0")/.." && pwd)
command -v buildah >/dev/null || {
	echo "image: buildah is missing; as root: tools/setup.sh package" >&2
	exit 1
}
[ $# -gt 0 ] || {
	echo "image: name a program: amd64=build/static/faultscope" >&2
	exit 2
}
for one; do
	program=${one#*=}
	if readelf -lW "$program" | grep -q INTERP; then
		echo "image: $program has shared libraries: make static" >&2
		exit 1
	fi
	case ${one%%=*}:$(readelf -hW "$program" | sed -n 's/ *Machine: *//p') in
	amd64:*X86-64 | arm64:AArch64) ;;
	*)
		echo "image: $program is not for ${one%%=*}" >&2
		exit 1
		;;
	esac
	# The text is in programs without the HTTP server: src/serve/endpoint_disabled.c.
	if grep -q 'serves no HTTP' "$program"; then
		echo "image: $program serves no HTTP; as root: tools/setup.sh package, then make static" >&2
		exit 1
	fi
done

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' INT TERM HUP
store() {
	buildah --root "$place/store" --runroot "$place/run" --storage-driver vfs "$@"
}
store manifest create faultscope >/dev/null
for one; do
	rm -rf "$place/tree"
	mkdir "$place/tree"
	cp "${one#*=}" "$place/tree/faultscope"
	cat "$top/LICENSE" "$top/LICENSES/BSD-2-Clause.txt" >"$place/tree/LICENSE"
	store bud -q --isolation chroot --platform "linux/${one%%=*}" \
		--timestamp "${SOURCE_DATE_EPOCH:-0}" \
		--label "org.opencontainers.image.version=$version" \
		-f "$top/deploy/container/Containerfile" -t "faultscope:${one%%=*}" "$place/tree" >/dev/null
	store manifest add --os linux --arch "${one%%=*}" faultscope "faultscope:${one%%=*}" >/dev/null
done
rm -f "$out"
# buildah would put the current time into the archive
store manifest push -q --all faultscope "oci:$place/oci:faultscope:$version"
tar -C "$place/oci" --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 \
	--numeric-owner --mode=u=rwX,go=rX -cf "$out" blobs index.json oci-layout
