# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that each thread of a long-running command drops capabilities and filters system calls.
The program that `run` starts keeps all of its rights."""

import os
import signal

from harness import live, until, without_notices
from test_errors import DONE
from test_privilege import check_given_up, keeps_bpf, status_of, walk_keeps_bpf

CAP_BPF, CAP_SYSLOG, CAP_SYS_NICE, CAP_IPC_LOCK = 39, 34, 23, 14


def threads_of(lab, pid):
    """Returns the /proc status text of each thread of a process. A thread that ends after it was
    listed is left out."""
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            found.append(status_of(lab.read(f"/proc/{pid}/task/{tid}/status")))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def check_confined(check, lab, what, pid, may_keep=0):
    """Checks the capabilities of all threads once every thread has a system call filter."""
    try:
        until(lambda: all(one["Seccomp"] == "2" for one in threads_of(lab, pid)),
              f"{what} with filtered calls")
    except (AssertionError, FileNotFoundError) as error:
        check.that(False, str(error))
        return
    for one in threads_of(lab, pid):
        check.equal(f"{what}: no_new_privs", one["NoNewPrivs"], "1")
        for name in ("CapPrm", "CapEff"):
            check.equal(f"{what}: {name} beyond what it may keep",
                        int(one[name], 16) & ~may_keep, 0)


def kept_of_recorder(lab):
    """Returns the capabilities that the flight recorder may keep. The flight recorder keeps
    CAP_IPC_LOCK or CAP_SYS_NICE if it cannot raise RLIMIT_MEMLOCK or its priority in advance."""
    return (1 << CAP_SYSLOG | 1 << CAP_SYS_NICE | 1 << CAP_IPC_LOCK |
            (1 << CAP_BPF if keeps_bpf(lab) else 0))


@live
def test_recorder_is_confined(check, lab):
    ring = lab.dir / "ring"
    for words in (("blackbox", "run", "--ring", ring, "--heartbeat", "0.2"),
                  ("triage", "--live", "--ring", ring)):
        process = lab.spawn([lab.program, *words])
        check_confined(check, lab, words[0], process.pid, kept_of_recorder(lab))
        until(lambda: ring.exists() and b"FSbb" in ring.read_bytes(), "a record in its file")
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
        # Commands that attach probes also report, on standard error, the probes that this kernel
        # does not allow.
        said = [line for line in err.splitlines() if not line.startswith("faultscope: incomplete: ")]
        check.equal(f"{words[0]}: standard error", said, [])


@live
def test_recorder_writes_on_when_confined(check, lab):
    """The flight recorder still writes heartbeats after its system calls are filtered."""
    ring = lab.dir / "ring"
    process = lab.spawn([lab.program, "blackbox", "run", "--ring", ring, "--heartbeat", "0.2"])
    check_confined(check, lab, "run", process.pid, kept_of_recorder(lab))
    before = ring.read_bytes()
    until(lambda: ring.read_bytes() != before, "another sign of life")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    check.equal("status", process.returncode, DONE)
    ran = lab.faultscope("blackbox", "status", "--ring", ring)
    check.that("failed" not in ran.out, f"it could not keep all: {ran.out}")


@live
def test_sessions_are_confined(check, lab):
    target = lab.work("touch", "10", "--hold")
    bpf = 1 << CAP_BPF if keeps_bpf(lab) else 0
    # capabilities CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_BPF, which `diagnose` and `record` keep
    own = 1 << 19 | 1 << 2 | (1 << CAP_BPF if walk_keeps_bpf(lab) else 0)
    sessions = ((("--json", "0.2"), bpf), (("--json", "-p", str(target.pid), "0.2"), bpf),
                (("record", "-o", lab.dir / "r.fsr", str(target.pid)), own),
                (("diagnose", "-d", "20", "-p", str(target.pid)), own),
                (("host", "-d", "20"), bpf))
    for words, may_keep in sessions:
        process = lab.spawn([lab.program, *words])
        check_confined(check, lab, words[0], process.pid, may_keep)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
        check.that("not permitted" not in err, f"{words[0]}: {err!r}")
    target.end()


@live
def test_command_starts_after_the_drop(check, lab):
    """`run` drops its own capabilities before the command starts. The command still has all
    capabilities of the user who called `run`."""
    mine = status_of(lab.call("cat", "/proc/self/status").out)
    ran = lab.faultscope("run", "--quiet", "--", "sh", "-c",
                         "read line </proc/$PPID/comm; i=0; until grep -q '^Threads:.1$' "
                         "/proc/$PPID/status || [ $i = 200 ]; do i=$((i + 1)); sleep 0.05; done; "
                         "cat /proc/$PPID/status; echo; echo ours: it; cat /proc/self/status")
    check.equal("status", ran.returncode, DONE)
    its, own = ran.out.split("ours: it")
    its, own = status_of(its), status_of(own)
    check.equal("the parent's calls are filtered", its["Seccomp"], "2")
    kept = 1 << 5 | 1 << 19 | (1 << CAP_BPF if walk_keeps_bpf(lab) else 0)
    check_given_up(check, its, kept)
    check.equal("the thread that started the command is gone", its["Threads"], "1")
    for name in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"):
        check.equal(f"the command's {name}", own[name], mine[name])


@live
def test_command_that_cannot_start(check, lab):
    for words, status in ((("/no/such/program",), 127), (("/etc/passwd",), 126)):
        ran = lab.faultscope("run", "--", *words)
        check.equal(f"{words}: status", ran.returncode, status)
        said = without_notices(ran.err)
        check.that(said and said[0].startswith("faultscope: cannot run"), f"message: {ran.err!r}")
        check.equal(f"{words}: lines", len(said), 1)
