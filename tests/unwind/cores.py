#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the stacks in core files of real programs with those of libdw. Prints TAP.

usage: cores.py CORE	CORE is the program that compares (build/unwind/core)
"""
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS = "import threading, time, ssl, ctypes; threading.stack_size(1 << 18)\n" \
    "def f(n):\n    f(n - 1) if n else time.sleep(99)\n" \
    "[threading.Thread(target=f, args=(i,), daemon=True).start() for i in range(20)]; time.sleep(99)"
PROGRAMS = [
    ("python3", ["/usr/bin/python3", "-c", THREADS], 21),
    ("node", ["/usr/bin/node", "-e", "setTimeout(() => {}, 99000)"], 5),
    ("sleep", ["/usr/bin/sleep", "99"], 1),
]


def threads_of(pid):
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def stacks_of(core, command, threads):
    """Returns the last line that the comparing program printed, decoded from JSON."""
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while threads_of(program.pid) < threads:
            time.sleep(0.1)
        time.sleep(1)  # until its threads wait
        with tempfile.TemporaryDirectory() as there:
            subprocess.run(["gcore", "-o", there + "/core", str(program.pid)], check=True,
                           capture_output=True)
            done = subprocess.run([core, f"{there}/core.{program.pid}",
                                   Path(command[0]).resolve()], capture_output=True, text=True,
                                  check=False)
        return json.loads(done.stdout.splitlines()[-1])
    finally:
        program.kill()
        program.wait()


def main():
    failed = 0
    for n, (name, command, threads) in enumerate(PROGRAMS, 1):
        if not shutil.which("gcore") or not Path(command[0]).exists():
            print(f"ok {n} - {name} # SKIP needs gcore and {command[0]}")
            continue
        got = stacks_of(sys.argv[1], command, threads)
        good = got["equal"] == got["stacks"] == got["threads"] >= threads
        failed += not good
        print(f"{'' if good else 'not '}ok {n} - {name}: each thread's stack is libdw's")
        print(f"#   {json.dumps(got)}")
    print(f"1..{len(PROGRAMS)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
