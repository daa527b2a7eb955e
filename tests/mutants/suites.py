# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The quick tests: each is one command that takes seconds, and fails with an exit status."""
import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from tree import PLAIN

NAMES = ("unit", "e2e", "triage")
NOBODY = 65534
MOST_MEMORY, MOST_FILE = 6 << 30, 1 << 30  # bytes
LIST = """
import hashlib, inspect, pathlib, sys
sys.path[:0] = ["tests/e2e", sys.argv[1]]
import run
for name, test in run.find_tests(None, pathlib.Path(sys.argv[1]).glob("test_*.py")):
    print(name, hashlib.sha1(inspect.getsource(test).encode()).hexdigest())
"""
# Tests that build, install or download, or that take long: they run nothing of src/ themselves, or
# quicker tests run it too.
LEFT_OUT = {"outputs_agree", "outputs_of_crowds_agree", "other_architectures", "hardening",
            "spellings_of_architectures", "static_libraries_missing", "static_libraries_there",
            "sysroot_of_no_architecture", "fuzzer_that_does_not_build_fails",
            "fuzzer_of_recordings_has_what_it_includes", "btf_archive_wants_a_release"}


@dataclass
class Test:
    name: str
    argv: list
    digest: str  # of its source
    seconds: float = 0.0

    @property
    def is_unit(self):
        return self.name.startswith("unit/")


def digest_of(path):
    return hashlib.sha1(path.read_bytes()).hexdigest()


def listed(tree, folder):
    """{name: digest} of the tests of a folder that has a run.py."""
    ran = subprocess.run([sys.executable, "-c", LIST, folder], capture_output=True,
                         text=True, check=True, cwd=tree.top)
    return dict(line.split() for line in ran.stdout.splitlines())


def find(tree, wanted):
    """The quick tests of the suites wanted: of NAMES."""
    score, commands = "tests/triage/score.py", listed(tree, "tests/e2e")
    tests = [Test(f"unit/{path.stem}", [f"unit/{path.stem}"], digest_of(path))
             for path in sorted((tree.top / "tests/unit").glob("test_*.c"))
             if (tree.top / PLAIN / "shared/unit" / path.stem).exists()]
    tests += [Test(f"e2e/{name}", ["tests/e2e/run.py", "--no-live", "--only", name], digest)
              for name, digest in commands.items() if name not in LEFT_OUT]
    tests.append(Test("triage/score", [score], digest_of(tree.top / score)))
    return [test for test in tests if test.name.split("/")[0] in wanted]


def within_limits():
    """In the child: what a change lets run away, memory or a file, ends the test alone, and what it
    deletes is no file of others: a wrong condition before an unlink must not cost /dev/null."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


class Ended:
    def __init__(self, status, seconds, out):
        self.status, self.seconds, self.out = status, seconds, out

    @property
    def tests_nothing(self):
        lines = [line for line in self.out.splitlines() if line.startswith(("ok", "not ok"))]
        return all("# SKIP" in line for line in lines)


def run(tree, build, test, patience, env=()):
    """Runs one test on a build; Ended, with status None where it took longer than `patience`."""
    argv = list(test.argv)
    argv[0] = str(tree.top / build / "shared" / argv[0] if test.is_unit else tree.top / argv[0])
    child = subprocess.Popen(argv, cwd=tree.top, text=True, errors="replace",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             preexec_fn=within_limits,
                             stderr=subprocess.DEVNULL, start_new_session=True,
                             env={**os.environ, "BUILD": f"{build}/shared", **dict(env)})
    began = time.monotonic()
    try:
        out, _ = child.communicate(timeout=patience)
        return Ended(child.returncode, time.monotonic() - began, out)
    except subprocess.TimeoutExpired:
        return Ended(None, patience, "")
    finally:
        end(child)


def end(child):
    """Ends what is left of a test: it has a session of its own."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    child.stdout.close()
