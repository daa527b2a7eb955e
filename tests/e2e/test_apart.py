# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the test runner itself: whether it hides the machine's own crash records, and whether it
ends tests that hang, and what a test started."""
import os
import re
import shutil
import sys
from pathlib import Path

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


# A test starts a daemon, which only SIGKILL ends, and a terminal. Then the test ends in the way
# that the second argument names.
LEAVES = """import os, signal, subprocess, sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
import run
from harness import until
from tmux import Tmux

def body(check, lab):
    file = lab.dir / "daemon"
    lab.call("sh", "-c", "trap '' HUP INT TERM; setsid sh -c 'echo $$ >$0; sleep 600; :' $0 &",
             file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = [int(until(lambda: file.exists() and lab.read(file), "the daemon"))]
    if sys.argv[3] == "tmux":
        tmux = Tmux(lab, 80, 24, "cat")
        pids += tmux.run("display-message", "-p", "#{pid} #{pane_pid}").split()
    print("# started", *pids, "in", lab.dir, file=sys.stderr)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "stopped":
        os.kill(RUNNER, signal.SIGTERM)
        signal.pause()
    assert sys.argv[2] == "passes", "as intended"

RUNNER = os.getpid()
options = SimpleNamespace(no_live=True, keep=False, make_recordings=False, jobs=1)
sys.exit(run.Runner(options).run_all([("leaves", body)]))
"""


def test_what_a_test_started_ends(check, lab):
    """When a test has ended, also after an exception, SIGKILL, or SIGTERM for the runner, no process
    of it is left. Only SIGKILL leaves files."""
    tmux = "tmux" if shutil.which("tmux") else ""
    for how, status, said in (("passes", 0, "ok 1 - leaves\n"), ("fails", 1, "not ok 1 - leaves\n"),
                              ("killed", 1, "not ok 1 - leaves: it ended with 137\n"),
                              ("stopped", 1, "")):
        ran = lab.call(sys.executable, "-c", LEAVES, os.path.dirname(__file__), how, tmux)
        check.equal(f"{how}: status: {ran.err}", ran.returncode, status)
        check.that(said in ran.out, f"{how}: {ran.out}")
        started = re.search("^# started ([0-9 ]+) in (.*)$", ran.err, re.M)
        if not check.that(started, f"{how}: {ran.err}"):
            continue
        pids, place = started[1].split(), Path(started[2])
        check.equal(f"{how}: processes", len(pids), 3 if tmux else 1)
        check.equal(f"{how}: left", [pid for pid in pids if Path("/proc", pid).exists()], [])
        check.that(how == "killed" or not place.exists(), f"{how}: {place} is left")
        shutil.rmtree(place, ignore_errors=True)
