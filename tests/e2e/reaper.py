# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a test in a child process. When the test has ended, for whatever reason, every process ends
that the test started, also a process that became a daemon."""
import ctypes
import os
import signal
import sys
import time

from harness import all_pids, proc_stat, proc_text

PR_SET_CHILD_SUBREAPER = 36  # include/uapi/linux/prctl.h
SIGNALS = {signal.SIGINT, signal.SIGTERM}
END_SECONDS = 30  # maximum time in seconds until a killed process has ended
POLL = 0.01
PARENT = 4  # field of /proc/PID/stat


def start(body):
    """Forks a child process that runs body(), which does not return. Returns the child's pid.
    SIGTERM ends the child with SystemExit, and this process passes the signal on. SIGINT is left to
    the child, since a terminal sends the signal to both."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        body()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return child


def children():
    """Returns the pids of the children of this process."""
    found = []
    for pid in all_pids():
        try:
            if int(proc_stat(pid)[PARENT]) == os.getpid():
                found.append(pid)
        except (OSError, KeyError):
            pass  # the process has ended
    return found


def reap():
    """Reaps the children that have ended. Returns whether others remain."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def end_children():
    """Kills all children, and their children, which then become children of this process. Returns
    the names of processes that do not end."""
    deadline = time.monotonic() + END_SECONDS
    while reap():
        pids = children()
        if time.monotonic() > deadline:
            return [f"{proc_text(pid, 'comm').strip()}[{pid}]" for pid in pids]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)  # a child keeps its pid until it is reaped
        time.sleep(POLL)
    return []


def run(body):
    """Runs body(), which does not return, in a child process. Returns the exit status of the child,
    as waitstatus_to_exitcode() does, and the names of its processes that do not end."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = start(body)
    while True:
        pid, status = os.wait()
        if pid == child:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            return os.waitstatus_to_exitcode(status), end_children()
