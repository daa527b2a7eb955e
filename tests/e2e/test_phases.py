# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `run --phases`: values of parts of a program, which says when each part begins. Also tests
the plugin for pytest, which makes each test a phase."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as XML

from harness import ROOT, Lines, Skip, live

GATE = 3
PLUGIN = ROOT / "deploy/pytest"
SYSTEM_PYTHON = "/usr/bin/python3"
# Prints the minor faults of each phase by getrusage(2). An answer comes when a scan is done.
PROGRAM = """
import json, os, resource, sys
fd = int(os.environ["FAULTSCOPE_PHASES"])
def mark(name):
    os.write(fd, name + b"\\n")
    os.read(fd, 1)
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
seen, kept = {}, []
for name, work in ((b"touch", lambda: kept.append(bytearray(32 << 20))),
                   (b"open", lambda: kept.extend(open("/dev/null") for _ in range(20))),
                   (b"child", lambda: os.waitpid(os.posix_spawn(
                       "/bin/true", ["true"], {}), 0)),
                   (b"\\xff<&\\"\\x1b[31m]]>", lambda: None)):
    mark(name)
    before = faults()
    work()
    seen[name.decode(errors="replace")] = faults() - before
mark(b"")
kept.append(bytearray(8 << 20))
print(json.dumps(seen), file=sys.stderr)
"""


def phases_of(text):
    return Lines(text).of("phase")


def run(lab, program, *options):
    out = lab.dir / "out.jsonl"
    ran = lab.faultscope("run", "--phases", "--json", "-o", out, "--force", *options, "--",
                         sys.executable, "-c", program)
    return ran, phases_of(out.read_text())


@live
def test_phases_of_a_program(check, lab):
    recording, junit = lab.dir / "phases.fsr", lab.dir / "junit.xml"
    ran, phases = run(lab, PROGRAM, "--record", recording, "--junit", junit, "--fail-on",
                      "phase.fds.kept>=20,phase.rss.peak>4G")
    check.equal("status", ran.returncode, GATE)
    truth = json.loads(next(line for line in ran.err.splitlines() if line.startswith("{")))
    if not check.equal("number of phases", len(phases), 4):
        return
    touch, opened, child, hostile = phases
    check.equal("names", [phase["name"] for phase in phases][:3], ["touch", "open", "child"])
    # between its mark and its getrusage(), the program may fault a few times
    check.between("faults", touch["minor_faults"], truth["touch"], truth["touch"] + 20)
    check.that(truth["touch"] >= (32 << 20) // 4096 // 512, f"faults of the program {truth}")
    check.between("memory kept", touch["rss_kept_bytes"], 31 << 20, 34 << 20)
    check.equal("fds kept", [phase["fds_kept"] for phase in phases], [0, 20, 0, 0])
    check.that(child["minor_faults"] > truth["child"], "faults of a child belong to the phase")
    check.that(hostile["rss_kept_bytes"] < 1 << 20, "what comes after the last mark counts")
    check.that(touch["seconds"] > 0 and touch["t"] <= opened["t"] <= child["t"], "times")
    suite = XML.parse(junit).getroot().find("testsuite")
    cases = suite.findall("testcase")
    check.equal("test cases", [case.get("name") for case in cases][:3], ["touch", "open", "child"])
    check.equal("failures", [case.get("name") for case in cases if case.find("failure") is not None],
                ["open"])
    check.equal("counts", (suite.get("tests"), suite.get("failures"), suite.get("errors")),
                ("4", "1", "0"))
    again = phases_of(lab.faultscope("--replay", recording, "--json").out)
    check.equal("phases of the recording", again, phases)
    ran = lab.faultscope("--replay", recording, "--fail-on", "phase.fds.kept>=20")
    check.equal("condition on the recording", ran.returncode, GATE)
    check.that("in the phase open" in ran.out, f"{ran.out!r}")
    check.that("\x1b" not in ran.out, "an escape sequence reaches the terminal")


@live
def test_phases_of_a_shell(check, lab):
    """A program need not wait for the answers, and any descendant may write marks."""
    script = """echo one >&$FAULTSCOPE_PHASES
        sh -c 'echo two >&$FAULTSCOPE_PHASES'
        echo three >&$FAULTSCOPE_PHASES"""
    ran = lab.faultscope("run", "--phases", "--json", "--", "sh", "-c", script)
    check.equal("status", ran.returncode, 0)
    check.equal("names", [phase["name"] for phase in phases_of(ran.out)], ["one", "two", "three"])


@live
def test_phases_that_never_come(check, lab):
    ran = lab.faultscope("run", "--phases", "--fail-on", "phase.fds.kept>0", "--", "true")
    check.equal("status", ran.returncode, GATE)
    check.that("named no phase" in ran.err, f"{ran.err!r}")
    ran = lab.faultscope("run", "--phases", "--", "sh", "-c", "exec 3<&- 4<&- 5<&-; exit 7")
    check.equal("status of the command", ran.returncode, 7)
    plain = lab.faultscope("run", "--", "sh", "-c", "echo ${FAULTSCOPE_PHASES-none}")
    check.equal("without the option", plain.out, "none\n")


@live
def test_phases_of_many_marks(check, lab):
    """A program that writes marks faster than they are read loses none."""
    program = """
import os
fd = int(os.environ["FAULTSCOPE_PHASES"])
for i in range(500):
    os.write(fd, b"phase %d\\n" % i)
os.write(fd, b"x" * 5000 + b"\\n")
"""
    ran, phases = run(lab, program)
    check.equal("status", ran.returncode, 0)
    names = [phase["name"] for phase in phases]
    check.equal("names", names, [f"phase {i}" for i in range(500)] + ["x" * 127])
    text = lab.faultscope("run", "--phases", "--", sys.executable, "-c", program).err
    check.that("461 phases more" in text, f"{text!r}")


TESTS = """
import os, pytest
kept = []
def test_calm():
    pass
def test_leaks():
    kept.extend(open("/dev/null") for _ in range(7))
@pytest.mark.parametrize("size", [1, 48])
def test_grows(size):
    kept.append(bytearray(size << 20))
"""


@live
def test_phases_of_pytest(check, lab):
    if subprocess.run([SYSTEM_PYTHON, "-c", "import pytest"], check=False,
                      capture_output=True).returncode:
        raise Skip("pytest is missing")
    tests, junit = lab.dir / "test_it.py", lab.dir / "junit.xml"
    tests.write_text(TESTS)
    env = os.environ | {"PYTHONPATH": str(PLUGIN), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [SYSTEM_PYTHON, "-m", "pytest", "-q", "-p", "pytest_faultscope", "-p",
               "no:cacheprovider", str(tests)]
    ran = lab.faultscope("run", "--phases", "--junit", junit, "--fail-on",
                         "phase.fds.kept>5,phase.rss.kept>40M", "--", *command, env=env)
    check.equal("status", ran.returncode, GATE)
    cases = XML.parse(junit).getroot().findall("testsuite/testcase")
    check.equal("tests", [case.get("name").split("::")[1] for case in cases],
                ["test_calm", "test_leaks", "test_grows[1]", "test_grows[48]"])
    failed = {case.get("name").split("::")[1]: case.find("failure").get("message")
              for case in cases if case.find("failure") is not None}
    check.equal("tests that fail", list(failed), ["test_leaks", "test_grows[48]"])
    check.equal("why", failed.get("test_leaks"), "phase.fds.kept>5: 7")
    rows = ran.err.partition("PHASE\n")[2].splitlines()[:4]
    check.equal("names in the text", [row.endswith(end) for row, end in zip(
        rows, ("::test_calm", "test_leaks", "grows[1]", "grows[48]"))], [True] * 4)
    # without faultscope, the plugin changes nothing; a stale number names another file
    for number in (None, "0", "77", "x"):
        other = env | ({"FAULTSCOPE_PHASES": number} if number else {})
        plain = subprocess.run(command, env=other, capture_output=True, text=True, check=False,
                               stdin=subprocess.DEVNULL)
        check.that(plain.returncode == 0 and "4 passed" in plain.stdout,
                   f"{number}: {plain.stdout}{plain.stderr}")
