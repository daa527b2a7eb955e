# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests in a guest that user stacks are walked with unwind tables up to the entry of the thread."""
from functools import partial

import test_stacks
from harness import Lines, Skip
from lab import GuestDiagnosis


def whole(first, way, merged, check, lab):
    """Compares the stacks of a static program without frame pointers with backtrace(3)."""
    if not test_stacks.walks_by_tables(lab):
        raise Skip("bpf_loop() is of Linux 5.17")
    work = lab.work("callers", way, str(test_stacks.MAPS), "--wait", "--hold")
    diagnosis = GuestDiagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.end()
    pid = truth.get("child", truth["pid"])
    lines = Lines(capture.text).of("growth", pid, what="maps")
    if check.that(lines, f"no growth of {pid}: {capture.stderr}"):
        test_stacks.check_whole(check, lines[-1]["groups"], truth, first, merged)


ALL = {
    "whole stacks": partial(whole, ["by_plain", "main", "_start"], "plain", 0),
    # Before Linux 6.7 (c4608d1bf7c6), the first mapping may merge with the stack of the thread.
    "whole stacks of a thread": partial(whole, ["in_thread"], "thread", 1),
    "whole stacks of a forked child": partial(whole, ["by_fork", "main", "_start"], "fork", 0),
}
