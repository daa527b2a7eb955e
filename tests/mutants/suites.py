# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The quick tests, which are of three kinds: unit tests, the score of `triage`, and tests of the
suites that have a run.py."""
import functools
import hashlib
import json
import math
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

from tree import PLAIN, SANITIZED

NAMES = ("unit", "triage", "e2e", "export", "live", "live-export")
FOLDERS = {"e2e": "tests/e2e", "export": "tests/export", "live": "tests/e2e",
           "live-export": "tests/export"}
BATCH, SCORE = "tests/mutants/batch.py", "tests/triage/score.py"
# Names of tests that build, install, download or take long. They are left out, since quicker tests
# execute the same code of src/.
LEFT_OUT = {"outputs_agree", "outputs_of_crowds_agree", "other_architectures", "hardening",
            "spellings_of_architectures", "static_libraries_missing", "static_libraries_there",
            "sysroot_of_no_architecture", "fuzzer_that_does_not_build_fails",
            "fuzzer_of_recordings_has_what_it_includes", "btf_archive_wants_a_release"}

# Seconds in which processes that a unit test left behind may end by themselves, before SIGKILL. They
# keep the test's standard output open.
LEFT_BEHIND = 5


@dataclass
class Test:
    suite: str
    short: str
    digest: str  # digest of the test's source
    seconds: float = 0.0  # CPU time, which hardly depends on the load of the machine
    wall: float = 0.0  # duration

    @property
    def name(self):
        return f"{self.suite}/{self.short}"

    @property
    def is_unit(self):
        return self.suite == "unit"

    @property
    def is_live(self):
        return self.suite.startswith("live")


@dataclass
class Ended:
    status: str  # status of a test: "passed", "failed", "skipped" or "longer"
    seconds: float  # CPU time
    wall: float  # duration


@dataclass
class Limits:
    """Limits of one run of a test, in seconds: its duration, and the CPU time of each process."""
    wall: float
    cpu: float

    @property
    def whole_cpu(self):
        return math.ceil(self.cpu)


def digest_of(path):
    return hashlib.sha1(path.read_bytes()).hexdigest()


def listed(tree, suite):
    """Returns the tests of a suite that has a run.py. Tests of a live suite need BPF programs."""
    ran = subprocess.run([BATCH, FOLDERS[suite]], capture_output=True, text=True, check=True,
                         cwd=tree.top, stdin=subprocess.DEVNULL, env=environment(PLAIN))
    rows = map(json.loads, ran.stdout.splitlines())
    return [Test(suite, row["name"], row["digest"]) for row in rows
            if row["name"] not in LEFT_OUT
            and (row["needs_live"] or not suite.startswith("live"))]


def find(tree, wanted):
    """Returns the quick tests of the suites `wanted`, which are some of NAMES."""
    tests = [Test("unit", path.stem, digest_of(path))
             for path in sorted((tree.top / "tests/unit").glob("test_*.c"))
             if (tree.top / PLAIN / "shared/unit" / path.stem).exists()]
    tests.append(Test("triage", "score", digest_of(tree.top / SCORE)))
    tests = [test for test in tests if test.suite in wanted]
    for suite in FOLDERS:
        if suite in wanted:
            tests += listed(tree, suite)
    return tests


@functools.cache
def sanitizer():
    """Returns the path of AddressSanitizer's library, which must be loaded before all others."""
    return subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True,
                          check=True).stdout.strip()


def environment(build, **more):
    """Returns the environment of a test. MALLOC_PERTURB_ fills new and freed memory with non-zero
    bytes, so that uses of such memory fail. A program in which AddressSanitizer finds an error ends
    with a status that faultscope does not have."""
    programs = "san" if build == SANITIZED else "shared"
    return {**os.environ, "BUILD": f"{build}/{programs}", "PYTHONDONTWRITEBYTECODE": "1",
            "MALLOC_PERTURB_": "165",
            "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:allocator_may_return_null=1", **more}


class Suites:
    """Runs tests on a copy of the tree, confined by box.py."""

    def __init__(self, tree, box, effort=1):
        self.tree, self.box = tree, box
        self.effort = effort  # share of the CPU time to spend on a mutant that no test notices
        self.unfit = set()  # names of tests that fail with AddressSanitizer even without a mutant

    def start(self, argv, build, live=False, **how):
        return subprocess.Popen(self.box.argv([str(word) for word in argv], live),
                                cwd=self.tree.top, text=True, errors="replace",
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                preexec_fn=lambda: self.box.enter(build != SANITIZED),
                                start_new_session=True,
                                env=environment(build, **how.pop("more", {})), **how)

    def run(self, build, test, limits, counts=None):
        """Runs one test that is a program of its own."""
        program = self.tree.top / (f"{PLAIN}/shared/unit/{test.short}" if test.is_unit else SCORE)
        # the unit tests of the plain build load the library of another build
        more = {"LD_LIBRARY_PATH": str(self.tree.top / build)} if build != PLAIN else {}
        if build == SANITIZED and test.is_unit:
            more["LD_PRELOAD"] = sanitizer()
        if counts:
            more["GCOV_PREFIX"] = f"{counts}/{test.name}"
        began = time.monotonic()
        child = self.start(["prlimit", f"--cpu={limits.whole_cpu}", program], build,
                           stdin=subprocess.DEVNULL, more=more)
        late = threading.Event()

        def end():
            late.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(limits.wall, end)
        timer.start()
        out = []
        # a daemon, so that this script ends on SIGTERM
        reader = threading.Thread(target=lambda: out.extend(child.stdout), daemon=True)
        reader.start()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        timer.cancel()
        reader.join(LEFT_BEHIND)
        if reader.is_alive():
            os.killpg(child.pid, signal.SIGKILL)
            reader.join()
        _, ended, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
        child.stdout.close()
        took = used.ru_utime + used.ru_stime, time.monotonic() - began
        if late.is_set():
            return Ended("longer", *took)
        lines = [line for line in out if line.startswith(("ok", "not ok"))]
        nothing = all("# SKIP" in line for line in lines)
        status = "failed" if child.returncode else "skipped" if nothing else "passed"
        return Ended(status, *took)

    def run_batch(self, build, tests, limits, *, counts=None, jobs=1, first=False):
        """Runs tests of one suite and yields (test, how it ended)."""
        named = {test.short: test for test in tests}
        argv = [self.tree.top / BATCH, FOLDERS[tests[0].suite], "--jobs", jobs,
                *["--live"] * tests[0].is_live, *["--first"] * first,
                *(["--counts", f"{counts}/{tests[0].suite}"] if counts else [])]
        child = self.start(argv, build, tests[0].is_live, stdin=subprocess.PIPE)
        child.stdin.write(json.dumps([[test.short, limits(test).wall, limits(test).whole_cpu]
                                      for test in tests]))
        child.stdin.close()
        try:
            for line in child.stdout:
                row = json.loads(line)
                yield named[row["name"]], Ended(row["status"], row["seconds"], row["wall"])
        finally:
            if child.poll() is None:
                child.terminate()
            child.wait()
            child.stdout.close()
            self.box.empty()
