# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Lab of the end-to-end tests (tests/e2e/harness.py), for tests in a guest. The expect
functions of tests/e2e judge captures of a guest.

A test or scenario of tests/e2e works with a VmLab as well if it runs, reads and writes everything
through its lab. A scenario that reads /proc itself would read the host's /proc; such scenarios use
watched() and counted() instead.
"""
import json
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import harness  # noqa: E402
from harness import Capture  # noqa: E402

FAULTSCOPE = "/bin/faultscope"
WORKLOADS = "/workloads"
FEW_SECONDS = 30  # timeout in seconds of actions that are fast, even on an emulated CPU
POLL = "usleep 30000"

# Shell functions of the guest. `lines FILE` counts lines without starting a process.
FUNCTIONS = """
lines() { n=0; while read -r _; do n=$((n + 1)); done <"$1"; echo $n; }
sleeping() { for s in /proc/$1/task/*/stat; do read -r _ _ s _ <$s; [ $s = S ] || return 1; done; }
"""


def files(faultscope, workloads):
    """Returns the files for a guest's initial file system: faultscope, and the static workloads of
    a directory."""
    found = {FAULTSCOPE: faultscope}
    for path in sorted(Path(workloads).iterdir()):
        found[f"{WORKLOADS}/{path.name}"] = path
    return found


def quoted(words):
    return " ".join(shlex.quote(str(word)) for word in words)


class GuestProcess:
    """A background command in the guest, with a directory of its own."""

    def __init__(self, lab, command):
        self.vm = lab.vm
        self.dir = lab.new_dir()
        self.command = command
        # The program's stdin is a pipe that never ends. The shell execs the program, so the pid of
        # the shell is the program's.
        self.number = self.vm.begin(
            f"mkfifo {self.dir}/in; : >{self.dir}/out; echo $$ >{self.dir}/pid;"
            f" exec {WORKLOADS}/sigdefault {command} <>{self.dir}/in >{self.dir}/out 2>{self.dir}/err")
        self.pid = int(self.vm.must(f"until [ -s {self.dir}/pid ]; do {POLL}; done;"
                                    f" cat {self.dir}/pid"))
        self.taken = 0

    def line(self, name, count, timeout=harness.PATIENCE):
        """Waits until a file of the process has `count` lines, or until the process has ended.
        Returns the whole text of the file."""
        path = f"{self.dir}/{name}"
        return self.vm.must(f"{FUNCTIONS}\nuntil [ -e {path} ] && [ $(lines {path}) -ge {count} ]"
                            f" || ! kill -0 {self.pid}; do {POLL}; done 2>/dev/null;"
                            f" cat {path} 2>/dev/null || :", timeout)

    def write(self, text):
        self.vm.must(f"printf {shlex.quote(text)} 1<>{self.dir}/in")

    def end(self, timeout=harness.PATIENCE):
        return self.vm.finish(self.number, timeout, self.command).status

    def text(self, name):
        return self.vm.get(f"{self.dir}/{name}").decode(errors="replace")


class GuestWorkload(GuestProcess):
    """A workload in the guest; replaces harness.Workload."""

    def __init__(self, lab, name, args):
        super().__init__(lab, quoted([f"{WORKLOADS}/{name}", *args]))
        self.name = name
        if "--wait" in args:
            assert self.truth()["ready"]

    def go(self):
        self.write("g")

    def truth(self):
        self.taken += 1
        said = self.line("out", self.taken).splitlines()
        assert len(said) >= self.taken, f"{self.name} ended without its truth: {self.text('err')}"
        return json.loads(said[self.taken - 1])

    def end(self, timeout=harness.PATIENCE):
        self.write("e")
        return super().end(timeout)


class GuestWatch(GuestProcess):
    """A faultscope in the background of the guest; replaces harness.Watch."""

    def __init__(self, lab, options, first=1):
        self.options = [str(word) for word in options]
        out = lab.top + f"/{lab.places + 1}/lines"
        super().__init__(lab, quoted([FAULTSCOPE, "--json", "-o", out, *options]))
        self.begins(first)

    def begins(self, first=1):
        """Waits until the first lines are written and all probes are attached."""
        path = f"{self.dir}/lines"
        self.line("lines", first)
        self.vm.must(f"until ! head -n 1 {path} 2>/dev/null | grep -q pending_probes"
                     f" || grep -q '\"type\":\"probes\"' {path} || ! kill -0 {self.pid};"
                     f" do {POLL}; done 2>/dev/null", harness.PATIENCE)

    def said(self):
        return self.text("lines")

    def finished(self):
        status = self.end()
        try:
            said = self.said()
        except FileNotFoundError:
            said = ""
        return Capture(said, status, self.text("err"), None, self.options)

    def stop(self, name="INT"):
        self.vm.must(f"kill -{name} {self.pid}")
        return self.finished()


class GuestDiagnosis(GuestWatch):
    """A `faultscope diagnose` of a process and its children, with a recording."""

    def __init__(self, lab, pid, program=FAULTSCOPE):
        self.options = []
        out = f"{lab.top}/{lab.places + 1}/lines"
        self.recording = f"{lab.top}/{lab.places + 1}/recording.fsr"
        GuestProcess.__init__(self, lab, quoted([
            program, "diagnose", "--json", "-o", out, "--record", self.recording, "-p", pid,
            "-d", str(int(harness.PATIENCE)), *lab.hook_options]))
        self.begins()


class VmLab:
    """Replaces harness.Lab in a guest. `options`, such as --probe calls=none, are passed to every
    faultscope."""
    program = FAULTSCOPE
    own_mounts = ("unshare", "-m")

    def __init__(self, vm, options=()):
        self.vm = vm
        self.release = vm.kernel.release
        self.hook_options = list(options)
        self.places = 0
        self.top = vm.must("d=$(mktemp -d /tmp/lab.XXXXXX) && chmod 755 $d && echo $d").strip()
        self.dir = Path(self.top)

    @staticmethod
    def workload(name):
        return f"{WORKLOADS}/{name}"

    @staticmethod
    def for_all(program):
        return program

    def new_place_for_all(self):
        place = Path(self.new_dir())
        self.vm.must(f"chmod 777 {place}")
        return place

    def read(self, path):
        return self.vm.get(path).decode(errors="replace")

    def write(self, path, text):
        ran = self.call("sh", "-c", 'printf %s "$1" >"$2"', "sh", text, path)
        if ran.status:
            raise OSError(ran.err.strip())

    def call(self, *words, timeout=harness.PATIENCE):
        return self.vm.run(quoted(words), timeout)

    def new_dir(self):
        self.places += 1
        self.vm.must(f"mkdir {self.top}/{self.places}")
        return f"{self.top}/{self.places}"

    def faultscope(self, *options, timeout=harness.PATIENCE):
        return self.vm.run(quoted([FAULTSCOPE, *options]), timeout)

    def doctor(self, *options):
        ran = self.faultscope("doctor", "--json", *(options or ["--no-calibrate"]))
        assert ran.out, f"doctor says nothing; status {ran.status}: {ran.err}"
        return json.loads(ran.out)

    def work(self, name, *args):
        return GuestWorkload(self, name, args)

    def watch(self, *options, first=1):
        return GuestWatch(self, [*self.hook_options, *options], first)

    def run(self, name, *args, options=(), timeout=2 * harness.PATIENCE):
        """Runs `faultscope run` with a workload that prints its true values."""
        out = f"{self.new_dir()}/lines"
        ran = self.faultscope("run", "--json", "-o", out, *self.hook_options, *options, "--",
                              f"{WORKLOADS}/{name}", *args, timeout=timeout)
        assert ran.out, f"{name} said no truth; status {ran.status}: {ran.err}"
        text = self.vm.get(out).decode(errors="replace")
        return Capture(text, ran.status, ran.err, None, truth=json.loads(ran.out))

    def proc_faults(self, pid):
        words = self.vm.must(f"cat /proc/{pid}/stat").rpartition(")")[2].split()
        return {"minor": int(words[7]), "major": int(words[9])}

    def watched(self, name, *args, options=()):
        """Lets a waiting workload run under -p. Returns the capture, with true values and fault
        counts from /proc."""
        work = self.work(name, *args, "--wait", "--hold")
        self.vm.must(f"{FUNCTIONS}\nuntil sleeping {work.pid}; do {POLL}; done", FEW_SECONDS)
        before = self.proc_faults(work.pid)
        # Waits for two lines of output: the start line, and the line of the process before its
        # work.
        watch = self.watch("-p", work.pid, *options, first=2)
        work.go()
        truth = work.truth()
        after = self.proc_faults(work.pid)
        capture = watch.stop()
        work.end()
        minor, major = (after[kind] - before[kind] for kind in ("minor", "major"))
        capture.truth = {**truth, "all_faults": minor + major, "proc_minor": minor,
                         "proc_major": major}
        return capture

    def counts_of_all(self):
        """Returns {pid: [start time, maps, fds, CPU time]} of every process that can be read."""
        text = self.vm.must("""
cd /proc
for p in [0-9]*; do
	maps=$(grep -vc '\\[vsyscall\\]$' $p/maps) || continue
	set -- $p/fd/*
	[ -L "$1" ] || set --
	fds=$#
	read -r stat <$p/stat || continue
	ran=$(cat $p/task/*/schedstat | tr '\n' ' ')
	echo $p $maps $fds "$ran" : "${stat##*) }"
done 2>/dev/null
:""", FEW_SECONDS)
        found = {}
        for line in text.splitlines():
            head, _, stat = line.partition(":")
            words = head.split()
            found[int(words[0])] = [int(stat.split()[19]), int(words[1]), int(words[2]), words[3:]]
        return found

    def counted(self, works):
        """Scans every process once. The true values contain only processes whose values in /proc
        were equal before and after the scan."""
        before = self.counts_of_all()
        capture = self.watch("0.2", "1").finished()
        after = self.counts_of_all()
        alike = [[pid, one] for pid, one in before.items() if one[1] and after.get(pid) == one]
        held = [[work.pid, before[work.pid][1], before[work.pid][2]] for work in works]
        capture.truth = {"alike": alike, "held": held}
        return capture

    def close(self):
        self.vm.must(f"rm -rf {shlex.quote(self.top)}")


def take_schema(lab):
    """Makes check_form() use the JSON Schema of the tested program."""
    harness.use_schema(lab.faultscope("schema").out)
