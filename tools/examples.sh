#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes docs/examples: a DataLoader that reaches its mapping limit, and a trainer that reaches its
# cgroup's memory limit, each as a redacted recording of build/faultscope and an HTML page. Needs
# root, python3-torch, and a kernel on which latency of faults can be measured.
set -eu

cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=docs/examples
place=$(mktemp -d)
memory=/sys/fs/cgroup/memory
limit=memory.limit_in_bytes
[ -e "$memory/$limit" ] || { memory=/sys/fs/cgroup limit=memory.max; }
group=$memory/train
trap 'rm -rf "$place"; rmdir "$group" 2>/dev/null || true' EXIT

# record NAME COMMAND... records a command and makes its page, whatever its exit status is.
record() {
	name=$1
	shift
	"$build/faultscope" run --record "$place/$name.fsr" -- "$@" >"$place/$name.log" 2>&1 || true
	"$build/faultscope" report --redact "$place/$name.fsr" --force -o "$out/$name.fsr"
	"$build/faultscope" report "$out/$name.fsr" -o "$out/$name.html"
	"$build/faultscope" info "$out/$name.fsr"
}

record too-many-mappings /usr/bin/python3 tests/torch/loader.py file_system 70000

mkdir "$group"
echo $((192 << 20)) >"$group/$limit"
cat >"$place/train.py" <<'END'
"""Keeps 10 MiB more each second, until it is killed."""
import time

def load_batch():
    return bytearray(b"x" * (1 << 20))

def train():
    kept = []
    while True:
        kept.append(load_batch())
        time.sleep(0.1)

train()
END
record memory-limit sh -c "echo \$\$ >$group/cgroup.procs; exec /usr/bin/python3 $place/train.py"
