#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A PyTorch DataLoader runs out of mappings or file descriptors under faultscope. faultscope must
report thresholds before the call fails, and must name the cause of the failure. `run` and
`diagnose` must show pattern, stack, process tree and remedy. Prints TAP. Needs root and Debian's
python3-torch."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
LOADER = os.path.join(HERE, "loader.py")
PYTHON = "/usr/bin/python3"  # the interpreter for which Debian's torch is built
PATIENCE = 600

# (sharing strategy, number of tensors, what runs out, finding, cause, soft RLIMIT_NOFILE or None)
STORIES = [
    ("file_system", 66000, "maps", "M01", "max_map_count", None),
    ("file_descriptor", 66000, "fds", "F01", "rlimit_nofile", 16384),
]
# (sharing strategy, number of tensors, options of the loader). The number of tensors is high enough
# for a finding, but too low to reach the limit.
LIVING = [("file_system", 20000, "wait"), ("file_descriptor", 3000, "wait keep")]
ADVICE = ("torch.stack()", "multiprocessing_context='fork'")
# command of the workaround, which only the most severe finding shows
GAIN = "sysctl -w vm.max_map_count=1048576"


def all_attached(out):
    """Returns whether a faultscope with -p has written to a file that all probes are attached."""
    if not os.path.exists(out):
        return False
    with open(out, encoding="utf-8") as file:
        return '"type":"probes"' in file.read()


def watch(folder, strategy, tensors, nofile):
    """Runs the loader under faultscope. Returns the loader's output, the JSON lines, and the
    summary text."""
    out, text = os.path.join(folder, "lines"), ""
    command = [PROGRAM, "run", "--json", "-o", out, "--record", os.path.join(folder, "run.fsr"),
               "--", PYTHON, "-B", LOADER, strategy, str(tensors)]
    if nofile:
        command = ["prlimit", f"--nofile={nofile}:{nofile}"] + command
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=PATIENCE, check=False)
    command[command.index("--json"):command.index("--")] = ["--width", "1000"]
    text = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE, check=False).stderr
    with open(out, encoding="utf-8") as lines:
        return done.stdout, [json.loads(line) for line in lines], text


def part(text, finding):
    """Returns the lines of one finding in a text."""
    rest = re.split(rf"\[{finding} [a-z0-9-]+\]: ", text, maxsplit=1)[1:]
    return "".join(rest).split("\ninfo[")[0].split("\nwarning[")[0].split("\ncritical[")[0]


def judge_pattern(text, strategy, where):
    told = part(text, "M03")
    stack = [line for line in told.splitlines() if line.startswith("   | from: ")]
    yield f"{where} has M03, with the pattern", "torch_#" in told, told[:600]
    yield f"{where}: the stack that shares them", \
        bool(stack) and "mmap" in stack[0] and "libtorch" in stack[0], told[:600]
    yield f"{where}: the process tree, by its trainer and worker", \
        "its process tree: " in told and "python3[" in told and ", child of " in told, told[:900]
    yield f"{where}: the sharing strategy", f"sharing strategy: {strategy}" in told, told[:600]
    yield f"{where}: what to do", all(words in told for words in ADVICE) and GAIN in text, told


def judge(printed, lines, what, finding, cause):
    """Yields (description, verdict, detail) of each check for a loader that fails."""
    yield "the loader fails", "Error" in printed, printed[-400:]
    refused = [i for i, line in enumerate(lines) if line["type"] == "failed_call" and line["cause"] == cause]
    yield f"a refusal is named {cause}, for certain", \
        bool(refused) and lines[refused[0]]["certain"], str(refused)
    first = refused[0] if refused else len(lines)
    pid = lines[first]["pid"] if refused else 0
    before = [line["percent"] for line in lines[:first]
              if line["type"] == "threshold" and line["what"] == what and line["pid"] == pid]
    yield "thresholds were crossed before it", before == [50, 80, 95], str(before)
    found = [line for line in lines if line["type"] == "finding" and line["id"] == finding]
    yield f"finding {finding} is opened, with remedies", \
        bool(found) and bool(found[0]["remedies"]), str(found)[:400]
    led = {one for line in found for one in line["caused_by"]}
    yield f"{finding} is because of the tensors", bool(led & {"M03", "F10"}), str(led)
    end = lines[-1]
    yield "nothing was lost", end["type"] == "end" and not end["losses"]["ring"], str(end)


def story(strategy, tensors, what, finding, cause, nofile):
    with tempfile.TemporaryDirectory() as folder:
        printed, lines, text = watch(folder, strategy, tensors, nofile)
        said = printed.strip().splitlines()
        print(f"# {strategy}: the loader said: {said[-1][:160] if said else 'nothing'}")
        yield from judge(printed, lines, what, finding, cause)
        yield from judge_pattern(text, strategy, "the summary of run")
        again = subprocess.run([PROGRAM, "diagnose", "--replay", os.path.join(folder, "run.fsr"),
                                "--width", "1000"], capture_output=True, text=True, check=False)
        yield "diagnose finds the same in the recording", \
            again.returncode == 3 and f"[{finding} " in again.stdout and "[M03 " in again.stdout, \
            again.stdout[:400] + again.stderr


def diagnose(strategy, tensors, how):
    """Runs `diagnose` on a living loader. faultscope attaches before the loader shares tensors."""
    command = ["prlimit", "--nofile=20000", PYTHON, "-B", LOADER, strategy, str(tensors),
               *how.split()]
    loader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with tempfile.TemporaryDirectory() as folder, loader:
        out, recording = os.path.join(folder, "verdict"), os.path.join(folder, "live.fsr")
        assert loader.stdout.readline() == "ready\n", "the loader is not there"
        verdict = subprocess.Popen([PROGRAM, "diagnose", "-p", str(loader.pid), "-d", str(PATIENCE),
                                    "--json", "--record", recording, "-o", out])
        while verdict.poll() is None and not all_attached(out):
            time.sleep(0.05)
        loader.stdin.write("go\n")
        loader.stdin.flush()
        said = loader.stdout.readline()
        verdict.send_signal(signal.SIGINT)
        status = verdict.wait(PATIENCE)
        loader.stdin.close()
        with open(out, encoding="utf-8") as file:
            found = [json.loads(line) for line in file if '"type":"finding"' in line]
        again = subprocess.run([PROGRAM, "diagnose", "--replay", recording, "--width", "1000"],
                               capture_output=True, text=True, check=False)
        text = again.stdout
    yield "the loader lives", said == "ok\n", said
    yield "diagnose finds M03", "M03" in {one["id"] for one in found}, str(found)[:600]
    yield "its status is that of its replay", status == again.returncode and status in (0, 3), \
        f"{status}, {again.returncode}"
    yield from judge_pattern(text, strategy, "diagnose")


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("1..0 # SKIP no python3-torch")
        return 0
    n = failed = 0
    for strategy, results in [(one[0], story(*one)) for one in STORIES] + \
                             [(one[0], diagnose(*one)) for one in LIVING]:
        for description, verdict, detail in results:
            n += 1
            failed += not verdict
            print(f"{'' if verdict else 'not '}ok {n} - {strategy}: {description}", flush=True)
            if not verdict:
                print("# " + detail.replace("\n", "\n# "))
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
