#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For each kernel, writes a small BTF file MACHINE/RELEASE.btf, which has only the types that the
# BPF objects read. Packs the directory with these files.
#   usage: tools/btf_archive.sh BPFTOOL DIRECTORY MACHINE "OBJECT…" KERNEL_BTF…
#
# KERNEL_BTF is a BTF file. Its form decides where the script finds the release of the kernel:
#   /sys/kernel/btf/vmlinux    in the running kernel
#   RELEASE=FILE               in the argument
#   RELEASE.btf                in the name of the file
#   a vmlinux                  in its version banner
set -eu

bpftool=$1 directory=$2 machine=$3 objects=$4
shift 4

release_of() {
	case $1 in
	/sys/kernel/btf/vmlinux) uname -r ;;
	*=*) echo "${1%%=*}" ;;
	*.btf) basename "$1" .btf ;;
	*) grep -aoE -m1 'Linux version [0-9][^ ]+' "$1" | head -n 1 | cut -d ' ' -f 3 ;;
	esac
}

mkdir -p "$directory/$machine"
# BTF files that are older than the BPF objects may lack types that these objects read.
find "$directory/$machine" -name '*.btf' ! -newer "${objects%% *}" -delete
for word; do
	file=${word#*=}
	if [ ! -r "$file" ]; then
		echo "btf-archive: cannot read $file" >&2
		exit 1
	fi
	release=$(release_of "$word")
	case $release in
	'' | */*)
		echo "btf-archive: $file does not tell its kernel's release: give RELEASE=$file" >&2
		exit 1
		;;
	esac
	# shellcheck disable=SC2086 # a list of words
	"$bpftool" gen min_core_btf "$file" "$directory/part" $objects
	mv "$directory/part" "$directory/$machine/$release.btf"
	echo "$directory/$machine/$release.btf: $(wc -c <"$file") bytes, now" \
		"$(wc -c <"$directory/$machine/$release.btf")"
done
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$directory" \
	-czf "$directory.part" .
mv "$directory.part" "$directory.tar.gz"
