#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds the lines of one process and its descendants in a capture of many processes.

The kernel reuses pids, so a process is identified by its pid and start time.

usage: lifetimes.py --self-test
"""
import math
import sys

# Nanoseconds per clock tick. Field 22 (starttime) of /proc/PID/stat counts clock ticks from boot.
TICK_NS = 10_000_000


class Life:
    """One process: its start time, the pid of its parent, and its end time if it has ended."""

    def __init__(self, line):
        self.born, self.ppid, self.end = line["start_time_ns"], line["ppid"], math.inf

    def take(self, line):
        self.ppid = line["ppid"]
        if line.get("final"):
            self.end = line["t"]


class Lifetimes:
    """The processes in a capture. The capture's lines are dictionaries as in --json output."""

    def __init__(self, lines):
        self.lines = lines
        self.by_pid = {}
        for line in lines:
            if line["type"] == "process":
                lives = self.by_pid.setdefault(line["pid"], {})
                lives.setdefault(line["start_time_ns"], Life(line)).take(line)
        self.by_pid = {pid: sorted(lives.values(), key=lambda life: life.born)
                       for pid, lives in self.by_pid.items()}

    def born_in(self, pid, tick):
        """Returns the process with this pid that started in this tick, or None."""
        return next((life for life in self.by_pid.get(pid, ()) if life.born // TICK_NS == tick),
                    None)

    def parent(self, life):
        """Returns the process that started a child. The parent is the youngest process with the
        parent's pid that is older than the child. Returns None if no parent is known."""
        older = [one for one in self.by_pid.get(life.ppid, ()) if one.born <= life.born]
        return older[-1] if older else None

    def subject(self, line):
        """Returns the process to which a line belongs. If several processes had the pid of the
        line, returns the first one that had not ended at the time of the line. If all had ended,
        returns the last one."""
        lives = self.by_pid.get(line.get("pid"))
        if not lives:
            return None
        if line["type"] == "process":
            return next(life for life in lives if life.born == line["start_time_ns"])
        return next((life for life in lives if line["t"] <= life.end), lives[-1])

    def family(self, pid, tick):
        """Returns the lines of a process and of all its descendants."""
        first = self.born_in(pid, tick)
        group = {first} if first else set()
        everyone = sorted((life for lives in self.by_pid.values() for life in lives),
                          key=lambda life: life.born)
        for life in everyone:
            if self.parent(life) in group:
                group.add(life)
        return [line for line in self.lines if self.subject(line) in group]


# Capture for the self-test. Pid 9 is used three times in this capture, twice by a child of the
# wanted process 5.

def process(t, pid, ppid, tick, final=True):
    return {"type": "process", "t": t, "pid": pid, "ppid": ppid,
            "start_time_ns": tick * TICK_NS + 7, **({"final": True} if final else {})}


def refused(t, pid):
    return {"type": "failed_call", "t": t, "pid": pid}


FIRST_9, SECOND_9, THIRD_9 = refused(1.0, 9), refused(3.0, 9), refused(6.0, 9)
OF_5, OF_LATER_5, LATE = refused(2.0, 5), refused(5.5, 5), refused(9.0, 9)
CAPTURE = [process(0.5, 5, 1, 100, False), FIRST_9, process(1.1, 9, 1, 90), OF_5, SECOND_9,
           process(3.1, 9, 5, 200), process(4.0, 5, 1, 100), OF_LATER_5, THIRD_9,
           process(6.5, 9, 5, 500), process(7.0, 5, 1, 400), LATE, {"type": "end", "t": 9.5}]


def cases():
    """Yields (description, lines, expected lines of failed calls)."""
    told = Lifetimes(CAPTURE)
    yield "a process and its child", told.family(5, 100), [OF_5, SECOND_9]
    yield "a later process with the same pid", told.family(5, 400), [OF_LATER_5, THIRD_9, LATE]
    yield "a process alone", told.family(9, 90), [FIRST_9]
    yield "a birth that was not seen", told.family(5, 101), []
    yield "a pid that was not seen", told.family(77, 100), []
    alive = Lifetimes([process(1.0, 5, 1, 100, False), OF_5])
    yield "a process that does not end", alive.family(5, 100), [OF_5]


def self_test():
    failed = n = 0
    for n, (description, lines, wanted) in enumerate(cases(), 1):
        good = [line for line in lines if line["type"] == "failed_call"] == wanted
        failed += not good
        print(f"{'ok' if good else 'not ok'} {n} - {description}")
        if not good:
            print(f"#   got {lines}")
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] != ["--self-test"]:
        sys.exit(__doc__.rpartition("\n")[0])
    sys.exit(self_test())
