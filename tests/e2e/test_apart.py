# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the test runner itself: whether it hides the machine's own crash records, and whether it
ends tests that hang."""
import os
import sys

from harness import live

CHILD = """import os, sys
sys.path.insert(0, sys.argv[1])
from apart import stay_apart
print(stay_apart((sys.argv[2], sys.argv[3])), os.listdir(sys.argv[2]))
"""


@live
def test_what_the_machine_recorded_is_hidden(check, lab):
    full, empty = lab.dir / "full", lab.dir / "empty"
    full.mkdir(), empty.mkdir()
    (full / "blackbox.ring").write_bytes(b"x")
    ran = lab.call(sys.executable, "-c", CHILD, os.path.dirname(__file__), full, empty)
    check.equal("status and sight", (ran.returncode, ran.out.strip()), (0, f"['{full}'] []"))
    check.equal("outside", os.listdir(full), ["blackbox.ring"])


WAITS = """import signal, sys
sys.path.insert(0, sys.argv[1])
import run
run.end_after(1)
run.Tap().test("waits", lambda check: signal.pause())
"""


def test_that_waits_for_ever_is_ended(check, lab):
    ran = lab.call(sys.executable, "-c", WAITS, os.path.dirname(__file__))
    check.that(ran.out.startswith("not ok 1 - waits\n"), ran.out)
    check.that("the test was not done after 1 s" in ran.out, ran.out)
