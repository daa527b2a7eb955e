# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Python functions in stacks: file, line and name of each frame agree with what the interpreter
reports at the same line, for every supported Python that is installed."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import ROOT, Lines, Skip, live, some_of
from page_data import data_of
from test_diagnose import FOUND, Diagnosis
from test_stacks import prepare

sys.path.insert(0, str(ROOT / "tools"))
import pythons as other_pythons  # noqa: E402

CALLERS = Path(__file__).with_name("python_callers.py")
WORKER = Path(__file__).with_name("python_worker.py")
PYTHON = re.compile(r"(.*) \(([^()]*):(\d+)\)")
KEPT, KEPT_AT_LEAST = 128, 120  # number of Python frames that are kept; some of them have no name
GAP = "[more Python frames]"
PLACES = ["/usr/bin/python3.*", "/usr/local/bin/python3.*",
          os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"), "/opt/python*/bin/python3.*"]


def pythons():
    """Returns the commands of interpreters of supported versions: of the installed ones, each file
    once, and of those that tools/pythons.py has in its cache or can fetch."""
    found = {}
    for pattern in PLACES:
        for path in glob.glob(pattern):
            if re.fullmatch(r"python3\.(8|9|1[0-5])t?", os.path.basename(path)):
                found.setdefault(os.path.realpath(path), [path])
    return sorted(found.values()) + list(other_pythons.commands()[0].values())


def python_frames(stack):
    """Returns [function, file, line] of each Python frame, innermost first."""
    found = [PYTHON.fullmatch(frame) for frame in stack]
    return [[one[1].rsplit(".", 1)[-1], one[2], int(one[3])] for one in found if one]


def frame_texts(frame):
    """Returns the lines of `stack` that an object of `frames` may stand for. Debug information may
    name a function that has no symbol."""
    if frame["kind"] == "gap":
        return [frame["function"]]
    if frame["kind"] == "python" and frame["line"] is None:
        return ["[python]"]
    if frame["kind"] == "python":
        return [f"{frame['function'] or ''} ({os.path.basename(frame['file'] or '')}:"
                f"{frame['line'] or '?'})"]
    return [f"{frame['function']} ({frame['module']})", f"{frame['module']}+0x{frame['offset']:x}"]


def check_objects(check, what, group, want):
    """Checks that `frames` has the same facts as the texts of `stack`, and more. `stack` has no
    inlined functions."""
    frames = [frame for frame in group["frames"] if not frame["inlined"]]
    check.equal(f"{what}: frames as objects", len(frames), len(group["stack"]))
    for frame, text in zip(frames, group["stack"]):
        check.that(text in frame_texts(frame), f"{what}: {text}: {frame}")
    check.that(all(frame["kind"] in ("native", "python", "gap") for frame in frames),
               f"{what}: {sorted({frame['kind'] for frame in frames})}")
    users = [frame for frame in frames if frame["user"]]
    files = {os.path.basename(frame["file"] or "") for frame in users}
    check.equal(f"{what}: other files than the user's", files - {file for _, file, _ in want}, set())
    if users:
        line = f"{CALLERS.name}:{users[0]['line']} {users[0]['function']}"
        check.equal(f"{what}: the innermost of the user's frames", line, group["user_line"])


def run_callers(lab, python, *options, **how):
    """Returns what diagnose reports of the program, by file name, the expected stacks, and the
    capture."""
    work = lab.spawn([*python, CALLERS, *options], stdin=subprocess.PIPE, **how)
    pid = int(work.stdout.readline())
    diagnosis = Diagnosis(lab, pid)
    work.stdin.write("\n")
    work.stdin.flush()
    line = work.stdout.readline()
    if not line:
        raise AssertionError(f"the program ended with {work.wait()}: {work.stderr.read()[-2000:]}")
    truth = json.loads(line)
    capture = diagnosis.stop()
    work.stdin.close()
    work.wait()
    assert capture.status in (0, FOUND), capture.stderr
    lines = Lines(capture.text).of("growth", truth["pid"], what="fds")
    assert lines, f"no growth of {truth['pid']}"
    groups = {group["name"].partition(":")[2].split(" ")[0]: group
              for group in lines[-1]["groups"] if group["name"].startswith("memfd:")}
    return groups, truth["stacks"], capture


def expected(want, stack):
    """Returns the expected Python frames without those that are missing in the gap of the stack."""
    if GAP not in stack:
        return want
    inner, outer = stack.index(GAP), len(python_frames(stack[stack.index(GAP):]))
    inner = len(python_frames(stack[:inner]))
    return want[:inner] + want[len(want) - outer:] if inner + outer >= KEPT_AT_LEAST else want


def shown(frame):
    """Returns a frame with the last characters of its names, in which newlines and surrogates are
    replaced."""
    name, file, line = frame
    return [re.sub("[\ud800-\udfff]", "\ufffd", text.replace("\n", "?"))
            for text in (name[-127:], file[-255:])] + [line]


def ends_of(python, stack, native):
    """Returns where the native stack may end. musl has no call frame information, so there only the
    Python frames are whole. Up to CPython 3.10, each Python frame has its own native frames. When a
    greenlet goes on, its own frames are copied back to the stack, but not those of the greenlet that
    started it, which may have been overwritten."""
    if "musl" in python:
        return {"gap", "entry"}
    if any("greenlet::" in frame for frame in native):
        return {"entry", "outside"}
    return {"entry", "too-deep"} if len(stack) > KEPT else {"entry"}


def check_python(check, lab, command, *options, **how):
    groups, truth, capture = run_callers(lab, command, *options, **how)
    python = command[-1]
    missing = sorted(set(truth) - set(groups))
    check.that(len(missing) <= max(0, len(truth) - 8),
               f"{python}: {missing} are not reported: {list(groups)}")
    for name in sorted(set(truth) & set(groups)):
        group = groups[name]
        want = [shown(frame) for frame in expected(truth[name], group["stack"])]
        check.equal(f"{python}, {name}: frames", python_frames(group["stack"]), want)
        check.equal(f"{python}, {name}: has a gap", GAP in group["stack"],
                    len(truth[name]) > KEPT)
        check.that(group["stack_end"] in ends_of(python, truth[name], group["stack"]),
                   f"{python}, {name}: ends at {group['stack_end']}")
        check_objects(check, f"{python}, {name}", group, want)
        if truth[name][0][1] == CALLERS.name:
            check.equal(f"{python}, {name}: the user's line", group["user_line"].split(" ")[0],
                        f"{truth[name][0][1]}:{truth[name][0][2]}")
    return groups, truth, capture


def find_pythons(lab):
    prepare(lab)
    found = pythons()
    if not found:
        raise Skip("no Python from 3.8 to 3.15")
    return found


@live
def test_python_frames(check, lab):
    for python in find_pythons(lab):
        check_python(check, lab, python)


@live
def test_python_frames_of_a_forked_child(check, lab):
    """Tests a child that is forked while Python functions run, like a worker of a DataLoader."""
    check_python(check, lab, find_pythons(lab)[-1], "fork")


@live
def test_python_frames_of_threads(check, lab):
    for python in some_of(find_pythons(lab), 2):
        check_python(check, lab, python, "threads")


@live
def test_python_frames_of_a_subinterpreter(check, lab):
    """Tests a second interpreter in the same thread. Its frames have no link to the frames of the
    first interpreter, which called it."""
    for python in some_of(find_pythons(lab), 2):
        check_python(check, lab, python, "subinterpreter")


@live
def test_deep_recursion_in_python(check, lab):
    """Tests stacks with more Python frames than are kept: the innermost and the outermost frames
    are shown, and a gap between them."""
    for python in some_of(find_pythons(lab), 2):
        check_python(check, lab, python, "deep")


@live
def test_code_objects_whose_memory_is_used_again(check, lab):
    """Tests functions that are made by exec() one after the other, often at the same address."""
    for python in some_of(find_pythons(lab), 2):
        check_python(check, lab, python, "reused")


@live
def test_many_code_objects(check, lab):
    """Tests a process that runs more code objects than the BPF program remembers."""
    check_python(check, lab, find_pythons(lab)[0], "many")
    check_python(check, lab, find_pythons(lab)[-1], "many")


@live
def test_hostile_names_of_python_functions(check, lab):
    """Tests names with control characters, with surrogates, and of 100,000 characters."""
    for python in some_of(find_pythons(lab), 2):
        capture = check_python(check, lab, python, "hostile")[2]
        text = lab.faultscope("diagnose", "--replay", capture.recording).out
        for form, output in ("text", text), ("JSON", capture.text):
            unsafe = sorted(set(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", output)))
            check.equal(f"{python}: control characters in the {form}", unsafe, [])


def check_packaged(check, lab, way, *packages):
    """Tests the system's Python with packages of the host's release."""
    python = "/usr/bin/python3"
    if python not in [os.path.realpath(command[0]).rpartition(".")[0] for command in
                      find_pythons(lab)]:
        raise Skip(f"{python} has no supported version")
    try:
        modules, libraries = other_pythons.modules_of(packages)
    except other_pythons.Missing as reason:
        raise Skip(str(reason)) from None
    # In Debian 13, zope calls pkg_resources.declare_namespace(), and that package needs many others.
    # The function joins parts of zope that are in several directories. Here they are in one.
    (lab.dir / "lacking").mkdir()
    (lab.dir / "lacking/pkg_resources.py").write_text("def declare_namespace(name): pass\n")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(map(str, [*modules, lab.dir / "lacking"])),
               LD_LIBRARY_PATH=os.pathsep.join(map(str, libraries)))
    check_python(check, lab, [python], way, env=env)


@live
def test_python_frames_of_greenlets(check, lab):
    """Tests greenlets, which switch between stacks within one thread."""
    check_packaged(check, lab, "greenlet", "python3-greenlet")


@live
def test_python_frames_of_gevent(check, lab):
    check_packaged(check, lab, "gevent", "python3-gevent", "python3-greenlet",
                   "libcares2 | libc-ares2", "libev4t64 | libev4",
                   "python3-zope.interface", "python3-zope.event")


def read_pprof(lab, path):
    go = shutil.which("go")
    if not go:
        return None
    ran = subprocess.run([go, "tool", "pprof", "-raw", path], text=True, capture_output=True,
                         env={"HOME": str(lab.dir), "PATH": "/usr/bin:/bin"}, check=True)
    return ran.stdout


def check_formats(check, lab, recording, lines):
    """Checks that each format names the function, the file and the line of the user's code."""
    def report(form):
        out = lab.dir / f"worker.{form}"
        ran = lab.faultscope("report", "--format", form, recording, "-o", out)
        check.equal(f"{form}: {ran.err}", ran.returncode, 0)
        return out

    where = f"{WORKER.name}:{lines['opens']}"
    scope = json.loads(report("speedscope").read_text())["shared"]["frames"]
    check.that({"name": "collate_fn", "file": str(WORKER), "line": lines["opens"]} in scope,
               f"speedscope: {[one for one in scope if one['name'] == 'collate_fn']}")
    pprof = read_pprof(lab, report("pprof"))
    if pprof:
        check.that(f" collate_fn {WORKER}:{lines['opens']} " in pprof, f"pprof: {pprof[-3000:]}")
        check.that(f" main {WORKER}:{lines['loop']} " in pprof, f"pprof: {pprof[-3000:]}")
    check.that(re.search(rf"^\t +1 collate_fn \({where}\)$", report("perf").read_text(), re.M),
               "perf script has the line")
    folded = lab.faultscope("--replay", recording, "--format", "folded").out
    check.that(f";main ({WORKER.name}:{lines['loop']});" in folded and
               f";collate_fn ({where});" in folded, f"folded: {folded}")
    page = report("html").read_text()
    data = data_of(page)["profile"]
    check.equal("html: a place for each name", len(data["places"]), len(data["names"]))
    check.that({"function": "collate_fn", "file": str(WORKER), "line": lines["opens"]} in
               data["places"], "html: the place of the user's line")


@live
def test_worker_forked_in_a_loop(check, lab):
    """The lines of a worker name who opened the files, and which loop of the parent it is for."""
    python = find_pythons(lab)[-1]
    recording = lab.dir / "worker.fsr"
    said = lab.dir / "worker.out"
    ran = lab.faultscope("run", "--json", "-o", said, "--record", recording, "--", *python, WORKER)
    check.that(ran.returncode in (0, FOUND), f"status {ran.returncode}: {ran.err}")
    lines = json.loads(ran.out.splitlines()[-1])
    group = next(group for line in Lines(said.read_text()).of("growth", lines["pid"], what="fds")
                 for group in line["groups"] if group["name"].startswith("memfd:batch"))
    check.equal("who opened them", group["user_line"], f"{WORKER.name}:{lines['opens']} collate_fn")
    check.equal("for which loop", group["user_caller"], f"{WORKER.name}:{lines['loop']} main")
    check_formats(check, lab, recording, lines)


@live
def test_copies_of_instructions(check, lab):
    """Tests instructions that each thread has a copy of, as in CPython 3.14 without the global
    interpreter lock."""
    prepare(lab)
    if not shutil.which("gcc"):
        raise Skip("no compiler")
    program = lab.dir / "python3.14t"
    subprocess.run(["gcc", "-O2", "-rdynamic", "-pthread", CALLERS.with_name("python_copies.c"),
                    "-o", program], check=True)
    work = lab.spawn([program], stdin=subprocess.PIPE)
    pid = int(work.stdout.readline())
    diagnosis = Diagnosis(lab, pid)
    work.stdin.write("\n")
    work.stdin.flush()
    work.stdout.readline()
    lines = Lines(diagnosis.stop().text).of("growth", pid, what="fds")
    work.stdin.close()
    groups = {group["name"].partition(":")[2].split(" ")[0]: group for group in lines[-1]["groups"]}
    for name, line in ("own", 10), ("copied", 17):
        check.equal(name, python_frames(groups[name]["stack"]), [["function", "copies.py", line]])
