# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared code of the end-to-end tests: runs faultscope and workloads, and checks their output.

A scenario (see captures()) makes one capture. One expect function compares the capture's lines with
the true values, which the workload prints or /proc shows. The expect function also checks the
replayed lines, and the recordings that are kept with the tests.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from schema import Schema

# Child processes inherit ignored signals, and a shell ignores SIGINT in background jobs.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

# Python programs that tests start shall buffer their output as they do by default.
os.environ.pop("PYTHONUNBUFFERED", None)

# With GITHUB_ACTIONS set, faultscope prints annotations, which a CI runner would show as its own.
os.environ.pop("GITHUB_ACTIONS", None)

# The live view keeps settings. Tests have a place of their own, never that of the real user; a terminal
# of a test has another one, so that no test sees what another one changed.
_SETTINGS = tempfile.TemporaryDirectory(prefix="faultscope-settings-")
os.environ["XDG_CONFIG_HOME"] = _SETTINGS.name

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "report"))  # modules that read HTML pages
BUILD = ROOT / os.environ.get("BUILD", "build")
FAULTSCOPE = BUILD / "faultscope"
os.environ.setdefault("LSAN_OPTIONS", f"suppressions={Path(__file__).with_name('leaks.txt')}")
RECORDINGS = Path(__file__).resolve().parent / "recordings"
# LONG=1, which `make check-all` sets: some tests try more cases of a kind, see some_of()
LONG = bool(os.environ.get("LONG"))
# seconds after which a process that makes no progress counts as hung; a machine that emulates another
# one may need more
PATIENCE = float(os.environ.get("FS_PATIENCE", 180))
# number of attempts at a capture: on slow emulated CPUs, the kernel may skip events, and the
# capture is repeated
MOST_TRIES = 3
MOST_RECORDING_BYTES = 200_000


class Skip(Exception):
    """Raised when a test cannot run here. The text is the reason."""


class Check:
    """Collects failed checks instead of stopping, so that one run shows all of them."""

    def __init__(self):
        self.wrong = []

    def that(self, ok, what):
        if not ok:
            self.wrong.append(what)
        return bool(ok)

    def equal(self, what, got, want):
        return self.that(got == want, f"{what}: got {got!r}, want {want!r}")

    def between(self, what, got, low, high):
        ok = got is not None and low <= got <= high
        return self.that(ok, f"{what}: got {got!r}, want {low} to {high}")

    def near(self, what, got, want, share):
        return self.between(what, got, want * (1 - share), want * (1 + share))


def same_verdict(one, other):
    """Returns whether two runs of a command ended alike. The verdict of `host` about this machine may
    differ, since a shortage may begin or end between the two runs."""
    return one.returncode == other.returncode or {one.returncode, other.returncode} == {0, FOUND}


def field_of(line, path):
    """Returns the value at a path such as "faults.by_class.failed". Returns 0 if a key of the path
    does not exist."""
    for key in path.split("."):
        line = line.get(key, 0) if isinstance(line, dict) else 0
    return line


def parsed(line):
    """Returns the value of a JSON line. Shows the line if it cannot be parsed."""
    try:
        return json.loads(line)
    except ValueError as error:
        raise AssertionError(f"no JSON line ({error}): {line[:400]!r}") from None


class Lines:
    """The parsed JSON lines of one capture."""

    def __init__(self, text):
        self.text = text
        self.all = [parsed(line) for line in text.splitlines()]

    def of(self, kind, pid=None, **wanted):
        return [line for line in self.all
                if line["type"] == kind and (pid is None or line["pid"] == pid)
                and all(line.get(key) == value for key, value in wanted.items())]

    def last(self, pid):
        lines = self.of("process", pid)
        assert lines, f"no line of process {pid}"
        return lines[-1]

    def final(self, pid):
        lines = self.of("process", pid, final=True)
        assert len(lines) == 1, f"process {pid} has {len(lines)} final lines, want 1"
        return lines[0]

    def growth(self, pid, path):
        """Returns the growth of a value from a process's first line, written before its work, to
        its last line. Before all probes are attached, values are unknown."""
        lines = self.of("process", pid)
        assert lines, f"no line of process {pid}"
        known = [value for line in lines if (value := field_of(line, path)) is not None]
        return known[-1] - known[0]

    def losses(self):
        """Returns the number of lost events by kind: {kind of loss: number}. `coalesced` is not
        included: equal events that are merged into one are no loss."""
        return {key: n for key, n in self.all[-1]["losses"].items() if n and key != "coalesced"}

    def lost(self):
        return sum(self.losses().values())


@dataclass
class Capture:
    """The output of one run of `faultscope --json`, and the true values it must show."""
    text: str
    status: int
    stderr: str
    recording: Path
    # command line options that a replay of the capture needs, too
    options: list = field(default_factory=list)
    truth: dict = field(default_factory=dict)


class Workload:
    """A running program of tests/workloads, and its line of true values."""

    def __init__(self, process, waits):
        self.process = process
        self.pid = process.pid
        if waits:
            assert json.loads(self.process.stdout.readline())["ready"]

    def go(self):
        self.process.stdin.write("g")
        self.process.stdin.flush()

    def truth(self):
        line = self.process.stdout.readline()
        assert line, f"{self.process.args} ended without its truth"
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


class Watch:
    """A faultscope process that runs in the background of a test."""

    def __init__(self, process, out, recording, options, errors):
        self.process = process
        self.pid = process.pid
        self.errors = errors
        self.out = out
        self.recording = recording
        self.options = options
        until(lambda: process.poll() is not None or self.begins(), "the first lines")

    def begins(self):
        return all_attached(self.said())

    def said(self):
        return self.out.read_text() if self.out.exists() else ""

    def finished(self):
        stderr = self.process.communicate(timeout=PATIENCE)[1]
        self.errors.append(stderr)
        return Capture(self.said(), self.process.returncode, stderr, self.recording, self.options)

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.finished()


def all_attached(text):
    """Returns whether JSON output has begun, and says that all probes are attached."""
    first, newline, rest = text.partition("\n")
    return newline and ("pending_probes" not in first or '"type":"probes"' in rest)


def some_of(cases, most):
    """Returns at most `most` of the cases of a test: the first, the last, and some between them. With
    LONG=1, returns all."""
    cases = list(cases)
    if LONG or len(cases) <= most:
        return cases
    return [cases[i * (len(cases) - 1) // (most - 1)] for i in range(most)]


def needs_long():
    """Skips a test that takes long, except with LONG=1."""
    if not LONG:
        raise Skip("takes long: LONG=1")


REST, LONGEST_REST = 4, 0.5


def until(done, what, seconds=PATIENCE, pause=0.01):
    """Waits until done() returns a true value, and returns this value. Between two calls, sleeps for
    at least `pause` seconds. Since done() may run programs, sleeps longer after a slow call: REST
    times as long as the call took, but at most LONGEST_REST seconds for this reason."""
    end = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        if got := done():
            return got
        now = time.monotonic()
        assert now < end, f"waited {seconds:g} s in vain for {what}"
        time.sleep(max(pause, min(REST * (now - begun), LONGEST_REST)))


def lines_to(stream, text):
    """Reads lines from a stream up to one that contains `text`. Returns them; the last one is "" if
    the stream ends before."""
    lines = [stream.readline()]
    while lines[-1] and text not in lines[-1]:
        lines.append(stream.readline())
    return lines


def workload_path(name):
    for build in (BUILD, ROOT / "build"):
        if (build / "workloads" / name).exists():
            return str(build / "workloads" / name)
    raise Skip(f"the workload {name} is not built: make workloads")


class Lab:
    """The directory and the processes of one test, both of which are removed at the end of the
    test. tests/vm/lab.py defines a lab in a guest. A test works in both kinds of lab if it runs,
    reads and writes everything through its lab."""
    program = FAULTSCOPE
    # In a chroot, / may not be a mount point, so unshare cannot set its propagation. A test that
    # mounts something in this namespace also unmounts it.
    own_mounts = ("unshare", "-m", "--propagation", "unchanged")
    release = os.uname().release
    workload = staticmethod(workload_path)

    def __init__(self):
        self.dir = Path(tempfile.mkdtemp(prefix="faultscope-e2e-"))
        self.dir.chmod(0o755)
        self.started = []
        self.errors = []  # standard error of the processes that ended, shown if the test fails
        self.outputs = 0

    @staticmethod
    def read(path):
        return Path(path).read_text(errors="replace")

    @staticmethod
    def write(path, text):
        Path(path).write_text(str(text))

    def for_all(self, program):
        """Copies a program to a directory where every user may run it. The build directory itself
        may be in a private home directory."""
        path = self.dir / Path(program).name
        if not path.exists():
            shutil.copy(program, path)
            path.chmod(0o755)
        return path

    def new_place_for_all(self):
        """Returns a new directory in which every user may write."""
        path = Path(tempfile.mkdtemp(dir=self.dir))
        path.chmod(0o777)
        return path

    def spawn(self, argv, **how):
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
               "text": True, "start_new_session": True, **how}
        process = subprocess.Popen([str(word) for word in argv], **how)
        self.started.append(process)
        return process

    def call(self, *argv, timeout=PATIENCE, **how):
        """Runs a program to its end and returns the process. The attributes `out` and `err` of the
        process contain its output."""
        process = self.spawn(argv, **how)
        process.out, process.err = process.communicate(timeout=timeout)
        self.errors.append(process.err)
        return process

    def faultscope(self, *options, **how):
        return self.call(FAULTSCOPE, *options, **how)

    def doctor(self, *options):
        return json.loads(self.faultscope("doctor", "--json", *options).out)

    def work(self, name, *args):
        process = self.spawn([workload_path(name), *args], stdin=subprocess.PIPE, stderr=None)
        return Workload(process, "--wait" in args)

    def new_output(self):
        self.outputs += 1
        return self.dir / f"out{self.outputs}.jsonl", self.dir / f"{self.outputs}.fsr"

    def watch(self, *options, record=True):
        out, recording = self.new_output()
        argv = [FAULTSCOPE, "--json", "-o", out, *options]
        argv += ["--record", recording] if record else []
        return Watch(self.spawn(argv), out, recording, [str(word) for word in options],
                     self.errors)

    def run(self, name, *args):
        """Runs `faultscope run` with a workload that prints its true values."""
        out, recording = self.new_output()
        ran = self.faultscope("run", "--json", "-o", out, "--record", recording, "--",
                              workload_path(name), *args)
        assert ran.out, f"{name} said no truth; status {ran.returncode}: {ran.err}"
        return Capture(out.read_text(), ran.returncode, ran.err, recording,
                       truth=json.loads(ran.out))

    def replay(self, recording, options=()):
        out = self.new_output()[0]
        ran = self.faultscope("--replay", recording, "--json", "-o", out, *options)
        return Capture(out.read_text(), ran.returncode, ran.err, recording, list(options))

    def close(self, keep=False):
        for process in self.started:
            # The process leads a session. While any process of the session lives, no other process
            # group can get this id, so killpg() cannot signal another group.
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        pass
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)


# Values from /proc

def proc_text(pid, name):
    return Lab.read(f"/proc/{pid}/{name}")


def proc_stat(pid):
    """Returns the fields of /proc/PID/stat by their number in proc(5), from 3 on."""
    words = proc_text(pid, "stat").rpartition(")")[2].split()
    return {number: word for number, word in enumerate(words, 3)}


def proc_faults(pid):
    stat = proc_stat(pid)
    return {"minor": int(stat[10]), "major": int(stat[12])}


def proc_ran(pid):
    """Returns the CPU time in ns of all threads of a process. The CPU time of a process does not
    change while none of its threads runs."""
    return sum(int(proc_text(f"{pid}/task/{tid}", "schedstat").split()[0])
               for tid in os.listdir(f"/proc/{pid}/task"))


def proc_sleeps(pid):
    """Returns whether every thread of the process sleeps."""
    return all(proc_stat(f"{pid}/task/{tid}")[3] == "S" for tid in os.listdir(f"/proc/{pid}/task"))


def map_lines(text):
    """Returns the number of lines of /proc/PID/maps without [vsyscall], which is no mapping."""
    return sum(not line.endswith("[vsyscall]") for line in text.splitlines())


def proc_maps(pid):
    return map_lines(proc_text(pid, "maps"))


def proc_fds(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]



def guards_have_no_mapping():
    """Returns whether the guard of a thread's stack may be in the mapping of the stack. From glibc
    2.42 on, threads install guards with madvise(MADV_GUARD_INSTALL) (Linux 6.13)."""
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    return name == "glibc" and [int(part) for part in version.split(".")[:2]] >= [2, 42]


def command_names(text):
    """Returns the names of all commands in the text of --help. A command's text may be wrapped."""
    listed = re.search(r"^Commands:\n((?:  +\S.*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", listed[1], re.M)


_schema = []


def use_schema(text=None):
    """Sets the JSON Schema that complaint() uses. `text` is the output of `faultscope schema`, by
    default of the program under test."""
    if text is None:
        text = subprocess.run([FAULTSCOPE, "schema"], capture_output=True, check=True).stdout
    _schema[:] = [Schema(text)]


def complaint(line):
    """Returns what the JSON Schema forbids in a line, or "" if the line conforms."""
    if not _schema:
        use_schema()
    return _schema[0].complaint(line)


def check_schema(check, lines):
    """Checks lines of JSON output up to the first one that the JSON Schema forbids."""
    for line in lines:
        wrong = complaint(line)
        if not check.that(not wrong, f"schema: {wrong} in {json.dumps(line)[:200]}"):
            break


FOUND, INCOMPLETE, GAP = 3, 7, "faultscope: incomplete: "


def unmeasured_by(lines):
    """Returns the names of the probes that were unavailable in a capture, although its options do
    not disable them. Of probes that are attached later, the line `probes` says so."""
    last = [line for line in lines.all if line["type"] in ("start", "probes")][-1]
    return {name for name, by in last["probes"].items()
            if " " in by and not by.startswith("off") and "switched off" not in by}


def has_gap(lines):
    """Returns whether the lines of a capture report missing data: lost events, an unavailable
    probe, or no process at all."""
    return bool(lines.losses() or unmeasured_by(lines) or not lines.of("process"))


def status_by(lines):
    """Returns the exit status that a capture must have: 7 if its lines report missing data, else 0.
    """
    return INCOMPLETE if has_gap(lines) else 0


NOTICES = ("faultscope: degraded: ", "faultscope: native frames have no source lines: ",
           "faultscope: probes run in ")


def without_notices(err):
    """Returns standard error without the notices that a probe works only with its last (least
    capable) attach type, that a static program has no source lines, and where probes run."""
    return [line for line in err.splitlines() if not line.startswith(NOTICES)]


def check_gaps(check, capture, lines):
    """Checks the exit status and standard error. If the output lines report missing data, the exit
    status must be 7 and standard error must name what is missing. Otherwise, the exit status must
    be 0 and standard error empty."""
    said = without_notices(capture.stderr)
    unmeasured = unmeasured_by(lines)
    gap = has_gap(lines)
    check.equal("status", capture.status, INCOMPLETE if gap else 0)
    check.that([line[:len(GAP)] for line in said] == ([GAP] if gap else []),
               f"standard error: {said}, gaps: {lines.losses()} {unmeasured}")
    for what in ("lost: " * bool(lines.losses()), *(f"not measured: {one}" for one in unmeasured)):
        check.that(what in capture.stderr, f"{what!r} is not in {capture.stderr!r}")


def check_form(check, capture):
    """Checks what must hold for every capture: its first and last line, and that all lines conform
    to the JSON Schema. On standard error, only messages about missing data are allowed."""
    lines = Lines(capture.text)
    check_gaps(check, capture, lines)
    check_lines(check, lines)
    return lines


def check_lines(check, lines):
    """Checks what holds for all JSON output: the first line, the last line and the schema."""
    kinds = [line["type"] for line in lines.all]
    check.that(kinds and kinds[0] == "start" and kinds.count("start") == 1, "start is not first")
    check.that(kinds and kinds[-1] == "end" and kinds.count("end") == 1, "end is not last")
    check_schema(check, lines.all)


# Decorators of tests

def captures(expect, keep=False, cases=None):
    """Marks a scenario. A scenario is a function that takes a lab and returns a Capture. Some
    scenarios also take a case.

    expect(check, lines, truth) judges the lines, live or replayed. With `keep`, a recording of the
    capture is kept with the tests.
    """
    def mark(scenario):
        scenario.expect = expect
        scenario.keep = keep
        scenario.cases = cases or [None]
        return scenario
    return mark


def live(test):
    """Marks a test that needs root and BPF on this kernel. The test is a function with the
    parameters (check, lab)."""
    test.needs_live = True
    return test


def quiet(test):
    """Decorator for a test that must run alone. WANTS_QUIET = "reason" in a module marks all tests
    of the module."""
    test.wants_quiet = True
    return test


def aside(test):
    """Decorator for a test that events of other tests would disturb. It runs beside quiet tests, which
    cause no such events."""
    test.is_aside = True
    return test


def idle(test):
    """Decorator for a test that mostly waits. It runs in addition to the tests that need a CPU."""
    test.is_idle = True
    return test


def remedy_texts(finding):
    """Returns one text for each remedy in a JSON line of type "finding". The text consists of the
    remedy's kind, text and command."""
    return [f"{one['kind']}: {one['text']}: {one['command'] or ''}" for one in finding["remedies"]]


def evidence_texts(finding):
    """Returns {field: text} of a finding's evidence. The text consists of the subject, if the
    evidence has one, and the value. If a field occurs twice, only the first is returned."""
    texts = {}
    for one in finding["evidence"]:
        about = f"{one['about']}: " if "about" in one else ""
        texts.setdefault(one["field"], f"{about}{one['value']}")
    return texts
