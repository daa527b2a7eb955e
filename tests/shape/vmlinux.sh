#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Compares every type of vmlinux/vmlinux.h, which is written by hand, with a kernel. Before this, it
# checks that the comparison finds a wrong line of each kind. TAP on stdout.
#
# usage: vmlinux.sh VMLINUX_CHECK [KERNEL_BTF]	VMLINUX_CHECK: the program made of vmlinux_check.c
#
# CLANG in the environment names the compiler (default: clang).
set -u

check=${1:?usage: vmlinux.sh VMLINUX_CHECK [KERNEL_BTF]}
btf=${2-/sys/kernel/btf/vmlinux}
clang=${CLANG-clang}
# the architecture's name in BPF headers
arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
header=$(dirname "$0")/../../vmlinux/vmlinux.h

if ! command -v "$clang" >/dev/null; then
	echo "1..0 # SKIP no $clang"
	exit 0
fi
if [ ! -r "$btf" ]; then
	echo "1..0 # SKIP no BTF of a kernel: $btf"
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM HUP

# verdict HEADER compiles an object with every type of the header and compares it with the kernel.
verdict() {
	"$clang" -E -P -target bpf "-D__TARGET_ARCH_$arch" "$1" >"$dir/of_arch.h" &&
		"$check" --globals "$dir/of_arch.h" >"$dir/all.c" &&
		"$clang" -O2 -g -w -mcpu=v3 -target bpf -I "$dir" -c "$dir/all.c" -o "$dir/all.o" &&
		"$check" "$dir/all.o" "$btf" "$dir/of_arch.h"
}

n=0
failed=0
# line NAME ERROR prints a TAP line, which is ok if ERROR is empty.
line() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		failed=1
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/#   /'
	fi
}

# wrong PATTERN TEXT [UAPI] checks that a header with the single definition TEXT gives output that
# matches PATTERN. UAPI is a text outside of the relocated part of the header.
wrong() {
	{
		echo 'typedef unsigned int u32; typedef unsigned long long u64;'
		echo '#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)'
		printf '%s\n' "$2"
		echo '#pragma clang attribute pop'
		[ $# -lt 3 ] || printf '%s\n' "$3"
	} >"$dir/wrong.h"
	out=$(verdict "$dir/wrong.h" 2>&1)
	what=${3-$2}
	if printf '%s\n' "$out" | grep -q "$1"; then
		line "answered '$1': $what" ""
	else
		line "answered '$1': $what" "$out"
	fi
}

wrong '^ok 1 - struct task_struct$' 'struct task_struct { int pid; char comm[16]; struct mm_struct *mm; };'
wrong '^ok 1 - typedef atomic_t$' 'typedef struct { int counter; } atomic_t;'
wrong '^not ok 1 - struct task_strukt' 'struct task_strukt { int pid; };'
wrong 'task_struct.pidd: no such member' 'struct task_struct { int pidd; };'
wrong 'task_struct.pid: 8 bytes here, 4' 'struct task_struct { u64 pid; };'
wrong 'task_struct.mm: an integer here, a pointer' 'struct task_struct { u64 mm; };'
wrong 'task_struct.pid: a pointer here, an integer' 'struct task_struct { void *pid; };'
wrong 'task_struct.mm: points to files_struct' 'struct task_struct { struct files_struct *mm; };'
wrong 'task_struct.comm: 64 elements here' 'struct task_struct { char comm[64]; };'
wrong 'task_struct.comm: 4 bytes here, 1' 'struct task_struct { u32 comm[4]; };'
wrong 'task_struct.thread_info.nothing: no such' 'struct task_struct { struct { int nothing; } thread_info; };'
wrong 'fdtable.open_fds: points to 4 bytes here, to 8' 'struct fdtable { u32 *open_fds; };'
wrong 'kuid_t.value: no such member' 'typedef struct { u32 value; } kuid_t;'
wrong 'task_struct.in_execve: a bit field in' 'struct task_struct { u32 in_execve; };'
wrong '^ok 1 - .*SKIP flavour' 'struct task_struct___old { long state_of_old; };'
wrong '^ok 1 - .*SKIP flavour' 'struct no_such___old { long state; };'
wrong 'cmsghdr.cmsg_type: at bit 64 here, at bit 96' '' 'struct cmsghdr { u64 cmsg_len; int cmsg_type, cmsg_level; };'
wrong 'cmsghdr: 32 bytes here, 16' '' 'struct cmsghdr { u64 cmsg_len; int cmsg_level, cmsg_type; } __attribute__((aligned(32)));'

out=$(verdict "$header" 2>&1) || failed=1
printf '%s\n' "$out" | grep -v '^1\.\.' | awk -v n="$n" '
	/^ok [0-9]+ / { n++; sub(/^ok [0-9]+/, "ok " n) }
	/^not ok [0-9]+ / { n++; sub(/^not ok [0-9]+/, "not ok " n) }
	{ print }
	END { print "1.." n }'
exit "$failed"
