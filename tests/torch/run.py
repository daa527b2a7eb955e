#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The DataLoader that dies of a limit nobody names, watched: thresholds come before the refusal, and
the refusal is named. TAP. Needs root and Debian's python3-torch.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
PYTHON = "/usr/bin/python3"  # Debian's, which Debian's torch is built for

# sharing strategy, tensors, what runs out, its finding and cause, soft RLIMIT_NOFILE
STORIES = [
    ("file_system", 66000, "maps", "M01", "max_map_count", None),
    ("file_descriptor", 66000, "fds", "F01", "rlimit_nofile", 16384),
]


def watch(strategy, tensors, nofile):
    """Runs the loader under faultscope; returns (what it printed, lines of JSON)."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "lines")
        command = [PROGRAM, "run", "--json", "-o", out, "--", PYTHON, "-B",
                   os.path.join(HERE, "loader.py"), strategy, str(tensors)]
        if nofile:
            command = ["prlimit", f"--nofile={nofile}:{nofile}"] + command
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False)
        with open(out, encoding="utf-8") as lines:
            return done.stdout, [json.loads(line) for line in lines]


def judge(printed, lines, what, finding, cause):
    """Yields (description, verdict, detail)."""
    yield "the loader fails", "Error" in printed, printed[-400:]
    refused = [i for i, line in enumerate(lines) if line["type"] == "refused" and line["cause"] == cause]
    yield f"a refusal is named {cause}, for certain", \
        bool(refused) and lines[refused[0]]["certain"], str(refused)
    first = refused[0] if refused else len(lines)
    pid = lines[first]["pid"] if refused else 0
    before = [line["percent"] for line in lines[:first]
              if line["type"] == "crossing" and line["what"] == what and line["pid"] == pid]
    yield "thresholds were crossed before it", before == [50, 80, 95], str(before)
    found = [line for line in lines if line["type"] == "finding" and line["id"] == finding]
    yield f"finding {finding} is opened, with remedies", \
        bool(found) and bool(found[0]["remedy"]), str(found)[:400]
    end = lines[-1]
    yield "nothing was lost", end["type"] == "end" and not end["losses"]["ring"], str(end)


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("1..0 # SKIP no python3-torch")
        return 0
    n = failed = 0
    for strategy, tensors, what, finding, cause, nofile in STORIES:
        printed, lines = watch(strategy, tensors, nofile)
        print(f"# {strategy}: the loader said: {printed.strip().splitlines()[-1][:160]}")
        for description, verdict, detail in judge(printed, lines, what, finding, cause):
            n += 1
            failed += not verdict
            print(f"{'' if verdict else 'not '}ok {n} - {strategy}: {description}")
            if not verdict:
                print(f"# {detail}")
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
