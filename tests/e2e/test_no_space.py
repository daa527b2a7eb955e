# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of calls that find no space in a tmpfs, and of limits of System V IPC."""

import os
import re
import sys

from harness import Skip, captures, evidence_texts, remedy_texts
from test_pressure import finished_run

MIB = 1 << 20
OLD, GONE = 512 << 10, 128 << 10  # sizes of the largest file and of a deleted one

# The script mounts a tmpfs of 1 MiB that faultscope does not see, after faultscope has started. The
# program waits, so that its pid can be looked up.
IN_PRIVATE = """mount --make-rprivate / && mount -t tmpfs -o size=1M none "$1" || exit 99
mkdir "$1/batches" && head -c %d /dev/zero >"$1/batches/old" || exit 99
exec 9>"$1/gone" && rm "$1/gone" && head -c %d /dev/zero >&9 || exit 99
"$2" -c "$3" "$1/file"
sleep 0.5""" % (OLD, GONE)

PROGRAMS = {
    # PyTorch reserves shared memory in this way.
    "fallocate": """import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
try:
    os.posix_fallocate(file, 0, 8 << 20)
    sys.exit(1)
except OSError as error:
    assert error.errno == 28, error
""",
    "write": """import os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
try:
    for i in range(100):
        os.write(file, bytes(100_000))
    sys.exit(1)
except OSError as error:
    assert error.errno == 28, error
""",
}


def expect_no_space(check, lines, truth):
    failed = lines.of("failed_call", cause="tmpfs_size")
    if not check.that(failed, f"no such call; {lines.of('failed_call')}"):
        return
    check.equal("call", failed[0]["call"], truth["call"])
    check.equal("errno", failed[0]["errno"], "ENOSPC")
    check.equal("certain", failed[0]["certain"], True)
    found = [line for line in lines.of("finding", failed[0]["pid"]) if line["id"] == "M38"]
    if not check.that(found, "no M38"):
        return
    check.equal("severity", found[0]["severity"], "critical")
    check.that("1.00 MiB is full" in found[0]["title"], found[0]["title"])
    where = evidence_texts(found[0])
    check.that(where.get("file system", "").endswith(truth["place"]), f"which tmpfs: {where}")
    check.equal("file", where.get("file"), "file")
    check.equal("largest file", where.get("largest file"),
                f"batches/old: {OLD >> 10} KiB, of user {os.getuid()}")
    gone = [one["value"] for one in found[0]["evidence"] if "deleted files" in one["field"]]
    check.equal("deleted files", gone, [GONE])
    sizes = [int(size) for text in remedy_texts(found[0])
             for size in re.findall(r"remount,size=(\d+)M", text)]
    check.that(sizes and min(sizes) * MIB > truth["needs"], f"sizes {sizes} are enough")


@captures(expect_no_space, cases=sorted(PROGRAMS))
def test_full_tmpfs(lab, case):
    place = lab.dir / "small"
    place.mkdir()
    out, recording = lab.new_output()
    ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--", "unshare", "-m",
                         "sh", "-c", IN_PRIVATE, "sh", place, sys.executable, PROGRAMS[case])
    if ran.returncode == 99:
        raise Skip(f"no tmpfs can be mounted: {ran.err.strip()}")
    capture = finished_run(out, ran, recording)
    capture.truth = {"call": case, "place": str(place),
                     "needs": 8 * MIB if case == "fallocate" else MIB}
    return capture


# Creates segments up to the limit of a new IPC namespace.
SEGMENTS = """echo 2 >/proc/sys/kernel/shmmni || exit 99
ipcmk -M 4096 && ipcmk -M 4096 || exit 1
ipcmk -M 4096 2>/dev/null && exit 1
sleep 0.5"""


def expect_ipc(check, lines, truth):
    failed = lines.of("failed_call", call="shmget")
    if not check.that(failed, f"no such call; {lines.of('failed_call')}"):
        return
    check.equal("cause", failed[0]["cause"], "shmmni")
    check.equal("certain", failed[0]["certain"], True)
    found = [line for line in lines.of("finding", failed[0]["pid"]) if line["id"] == "M39"]
    if check.that(found, "no M39"):
        check.that(any("-i sysctl -w kernel.shmmni=32768" in text
                       for text in remedy_texts(found[0])),
                   f"the limit of the namespace: {remedy_texts(found[0])}")


@captures(expect_ipc)
def test_limit_of_ipc_namespace(lab):
    out, recording = lab.new_output()
    ran = lab.faultscope("run", "--json", "-o", out, "--record", recording, "--", "unshare", "-i",
                         "sh", "-c", SEGMENTS)
    if ran.returncode == 99:
        raise Skip(f"no IPC namespace: {ran.err.strip()}")
    return finished_run(out, ran, recording)
