# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Python functions in stacks: file, line and name of each frame agree with what the interpreter
reports at the same line, for every supported Python that is installed."""

import glob
import json
import os
import re
import subprocess
from pathlib import Path

from harness import Lines, Skip, live
from test_diagnose import FOUND, Diagnosis
from test_stacks import walks_by_tables

CALLERS = Path(__file__).with_name("python_callers.py")
PYTHON = re.compile(r"(.*) \(([^()]*):(\d+)\)")
PLACES = ["/usr/bin/python3.*", "/usr/local/bin/python3.*",
          os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"), "/opt/python*/bin/python3.*"]


def pythons():
    """Finds the installed interpreters of supported versions, each file once."""
    found = {}
    for pattern in PLACES:
        for path in glob.glob(pattern):
            if re.fullmatch(r"python3\.(8|9|1[0-4])", os.path.basename(path)):
                found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def python_frames(stack):
    """Returns [function, file, line] of each Python frame, innermost first."""
    found = [PYTHON.fullmatch(frame) for frame in stack]
    return [[one[1].rsplit(".", 1)[-1], one[2], int(one[3])] for one in found if one]


def run_callers(lab, python, *options):
    """Returns what diagnose reports of the program, by file name, and the expected stacks."""
    work = lab.spawn([python, CALLERS, *options], stdin=subprocess.PIPE)
    pid = int(work.stdout.readline())
    diagnosis = Diagnosis(lab, pid)
    work.stdin.write("\n")
    work.stdin.flush()
    truth = json.loads(work.stdout.readline())
    capture = diagnosis.stop()
    work.stdin.close()
    work.wait()
    assert capture.status in (0, FOUND), capture.stderr
    lines = Lines(capture.text).of("growth", truth["pid"], what="fds")
    assert lines, f"no growth of {truth['pid']}"
    return {group["name"].partition(":")[2].split(" ")[0]: group
            for group in lines[-1]["groups"] if group["name"].startswith("memfd:")}, truth["stacks"]


def check_python(check, lab, python, *options):
    groups, truth = run_callers(lab, python, *options)
    missing = sorted(set(truth) - set(groups))
    check.that(len(missing) <= len(truth) - 8,
               f"{python}: {missing} are not reported: {list(groups)}")
    for name in sorted(set(truth) & set(groups)):
        group = groups[name]
        check.equal(f"{python}, {name}: frames", python_frames(group["stack"]), truth[name])
        check.equal(f"{python}, {name}: ends at", group["stack_end"], "entry")
        if truth[name][0][1] == CALLERS.name:
            check.equal(f"{python}, {name}: the user's line", group["user_line"].split(" ")[0],
                        f"{truth[name][0][1]}:{truth[name][0][2]}")


def find_pythons(lab):
    if not walks_by_tables(lab):
        raise Skip("bpf_loop() is of Linux 5.17")
    if os.uname().machine != "x86_64":
        raise Skip("the state of a thread is found on x86-64 only")
    found = pythons()
    if not found:
        raise Skip("no Python from 3.8 to 3.14")
    return found


@live
def test_python_frames(check, lab):
    for python in find_pythons(lab):
        check_python(check, lab, python)


@live
def test_python_frames_of_a_forked_child(check, lab):
    """Tests a child that is forked while Python functions run, like a worker of a DataLoader."""
    check_python(check, lab, find_pythons(lab)[-1], "fork")
