#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`faultscope memory` attaches to a running PyTorch DataLoader that leaks, and names the line of the
user's code within 10 seconds. So does `faultscope host --resident`. Prints TAP. Needs root and
Debian's python3-torch."""
import json
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
PYTHON = "/usr/bin/python3"  # the interpreter for which Debian's torch is built
LEAKER = os.path.join(HERE, "leaker.py")
PATIENCE = 120
WITHIN = 10  # seconds
LINE = next(i for i, text in enumerate(open(LEAKER, encoding="utf-8"), 1) if "torch.full(" in text)
NAME = f"leaker.py:{LINE} Samples.__getitem__"


def attach(pid):
    """Yields (description, verdict, detail) for the command memory."""
    begun = time.monotonic()
    ran = subprocess.run([PROGRAM, "memory", "-p", str(pid), "-d", "4", "--width", "200"],
                         capture_output=True, text=True, timeout=PATIENCE, check=False)
    took = time.monotonic() - begun
    growing = [line for line in ran.stdout.splitlines() if NAME in line]
    yield "memory names the line that leaks, in both workers", len(growing) >= 2, ran.stdout + ran.stderr
    yield f"memory answers within {WITHIN} s", took < WITHIN, f"{took:.1f} s"


def host():
    ran = subprocess.run([PROGRAM, "host", "--resident", "--json", "-d", "5"], capture_output=True,
                         text=True, timeout=PATIENCE, check=False)
    answer = [json.loads(line) for line in ran.stdout.splitlines() if '"type":"host"' in line]
    lines = [line for one in answer for consumer in one["top_consumers"]
             for line in consumer["lines"]]
    yield "host names the line that leaks", any(line["line"] == NAME for line in lines), str(lines)[:900]


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("1..0 # SKIP no python3-torch")
        return 0
    leaker = subprocess.Popen([PYTHON, "-B", LEAKER], stdout=subprocess.PIPE, text=True,
                              start_new_session=True)
    n = failed = 0
    try:
        pid = int(leaker.stdout.readline())
        for description, verdict, detail in (*attach(pid), *host()):
            n += 1
            failed += not verdict
            print(f"{'' if verdict else 'not '}ok {n} - {description}", flush=True)
            if not verdict:
                print("# " + detail.replace("\n", "\n# "))
    finally:
        os.killpg(leaker.pid, signal.SIGKILL)
        leaker.wait()
        leaker.stdout.close()
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
