#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Loads every BPF program as built by each of several clang versions. Prints TAP.

Compilers differ in their use of the stack and in the order of branches. So the verifier may accept
the output of one compiler and reject that of another. For each compiler the test builds the program
and checks its BPF objects (stack.py, loops.py, atomics.py and walks.py of tests/shape), and how
many instructions the verifier checks (tests/unit/test_verified.c). The test also loads each attach
type of each probe on this machine, and with --kernels in guests under QEMU (tests/vm). `doctor`,
`run` and `export` configure the programs differently, and the verifier skips code that the
configuration disables. So the test lets all three commands load the programs. The test fails if the
verifier rejects a program. It does not fail if the kernel lacks an attach type or does not allow
it.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[1:1] = [str(ROOT / "tests" / name) for name in ("shape", "e2e", "vm")]

import atomics  # noqa: E402
import loops  # noqa: E402
import stack  # noqa: E402
import walks  # noqa: E402
from harness import Skip  # noqa: E402
from run import Tap  # noqa: E402

PLACE = ROOT / "build/compilers"
OBJECTS = ("faultscope", "faultscope_plain", "faultscope_hash", "blackbox")
# objects of src/probe that contain the BPF objects as bytes
EMBEDDING = ("object.o", "precursors.o")
REFUSED = "the verifier of this kernel rejects it"
OTHER_STATE = ("not with state=", "needs state=", "without state there is nothing")
# The attach type that each core probe must have, by kernel. Linux 5.10 has no task storage.
BEST = {"state": "task-storage", "scan": "task-iterator", "lifecycle": "tp_btf"}
CORE = {"5.10": {"state": "hash", "scan": "iter/task", "lifecycle": "tp_btf"},
        "6.1": {**BEST, "scan": "iter/task"}}
START_SECONDS = 300
VERIFIED = "unit/test_verified"
PROBE = re.compile(r'^faultscope_probe_info\{probe="(.*?)",attach_type="(.*?)"\}', re.M)


class Here:
    """Loads programs on this machine's kernel."""
    name = "here"
    core = BEST

    def __init__(self, program):
        self.program = program

    def start(self, *words):
        ran = subprocess.run([self.program, *words], capture_output=True, text=True,
                             timeout=START_SECONDS, check=False)
        return ran.stdout, ran.stderr


class InGuest:
    """Loads programs on a kernel in a guest under QEMU."""

    def __init__(self, name, vm):
        self.name = name
        self.core = CORE.get(name, BEST)
        self.vm = vm

    def start(self, *words):
        ran = self.vm.run(f"/bin/faultscope {' '.join(words)}", START_SECONDS)
        return ran.out, ran.err


def report_of(check, place):
    """Returns the report of `doctor`, or None if `doctor` printed no report."""
    out, err = place.start("doctor", "--json", "--no-calibrate")
    return json.loads(out) if check.that(out, f"doctor: {err.strip()}") else None


def used_by_run(check, place, forced):
    """Runs `faultscope run` with these attach types forced. Returns {probe: attach type, or the
    reason why it has none}."""
    words = [word for name, how in forced.items() for word in ("--probe", f"{name}={how}")]
    out, err = place.start("run", "--json", *words, "--", "true")
    if not check.that(out, f"run {' '.join(words)}: {err.strip()}"):
        return {}
    return json.loads(out.splitlines()[0])["probes"]


def used_by_export(check, place):
    out, err = place.start("export", "--textfile", "/dev/stdout", "--export.detail", "full")
    check.that(out, f"export: {err.strip()}")
    return dict(PROBE.findall(out))


def rounds(hooks):
    """Yields sets of attach types to force in one run. Over all sets, each attach type of a probe
    is forced together with each attach type of the probe `state`."""
    most = max(len(hook["attach_types"]) for hook in hooks.values())
    for state in hooks["state"]["attach_types"]:
        for i in range(most):
            yield {"state": state, **{name: hook["attach_types"][i] for name, hook in hooks.items()
                                      if name != "state" and i < len(hook["attach_types"])}}


def check_core(check, place, command, used):
    for name, best in place.core.items():
        check.equal(f"{name} of {command}, not forced", used.get(name), best)


def check_loads(check, place):
    report = report_of(check, place)
    if not report:
        return
    hooks = {hook["name"]: hook for hook in report["probes"]}
    check_core(check, place, "doctor", {name: one["attach_type"] for name, one in hooks.items()})
    check_core(check, place, "run", used_by_run(check, place, {}))
    check_core(check, place, "export", used_by_export(check, place))
    # The programs of the flight recorder are loaded together. One of them needs an atomic
    # instruction that exists since Linux 5.12. So Linux 5.10 rejects all of them.
    check.that(place.name == "5.10" or any(not one["error"] for one in report["recorder"]),
               f"the flight recorder has no program: {report['recorder']}")
    loaded, absent = set(), {}
    for forced in rounds(hooks):
        used = used_by_run(check, place, forced)
        for name, how in forced.items():
            answer = used.get(name, "")
            if answer == how:
                loaded.add(f"{name}={how}")
            elif not any(text in answer for text in OTHER_STATE):
                absent[f"{name}={how}"] = answer
                check.that(REFUSED not in answer, f"{name}={how}, state={forced['state']}: {answer}")
    print(f"# {place.name}: {len(loaded)} mechanisms loaded")
    for one in sorted(set(absent) - loaded):
        print(f"# {place.name}: not offered: {one}: {absent[one]}")


def build(compiler, static):
    """Builds the program with a compiler, and returns the build directory. Only the BPF objects,
    and the two files that embed them, are built. All other objects are copied from build/."""
    place = PLACE / compiler
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "build/src", place / "src")
    for name in EMBEDDING:
        (place / "src/probe" / name).unlink()
    targets = [place / "faultscope", place / VERIFIED, *([place / "static/faultscope"] if static else [])]
    subprocess.run(["make", "-s", "--no-print-directory", f"BUILD={place.relative_to(ROOT)}",
                    f"STATIC={place.relative_to(ROOT)}/static", f"CLANG={compiler}",
                    *(target.relative_to(ROOT) for target in targets)],
                   cwd=ROOT, check=True, stdout=sys.stderr)
    return place


def check_objects(check, place):
    paths = {name: place / f"{name}.bpf.o" for name in OBJECTS}
    for path in paths.values():
        stack.check_budget(check, path)
    for name in ("faultscope_plain", "faultscope_hash", "blackbox"):
        loops.check_loops(check, paths[name])
    atomics.check_atomics(check, paths["faultscope_hash"])
    for name in OBJECTS[:-1]:
        walks.check_walks(check, paths[name])


def check_verified(check, place):
    """Runs the unit test that compares how many instructions the verifier checks with limits."""
    ran = subprocess.run([place / VERIFIED], capture_output=True, text=True, timeout=START_SECONDS,
                         check=False)
    lines = ran.stdout.splitlines()
    for line in lines:
        check.that(not line.startswith("not ok"), line)
    check.equal(f"status: {ran.stderr}", ran.returncode, 0)
    reasons = [line.partition("# SKIP ")[2] for line in lines if "# SKIP " in line]
    if reasons:
        raise Skip(reasons[0])


def test_guests(tap, compiler, place, names):
    import fetch
    import programs
    from aptroot import Missing
    from lab import files
    from vm import Vm
    for name in names:
        test = f"{compiler}: each program loads on {name}"
        try:
            kernel = fetch.kernel(name)
            content = files(place / "static/faultscope", programs.static_workloads(kernel.arch))
            fetch.qemu(kernel.arch)
            fetch.busybox(kernel.arch)
        except Missing as reason:
            tap.say(test, skip=str(reason))
            continue
        with Vm(kernel, content) as vm:
            tap.test(test, check_loads, InGuest(name, vm))


def test_compiler(tap, compiler, kernels):
    if not shutil.which(compiler):
        tap.say(f"{compiler}: each program loads", skip=f"{compiler} is not installed")
        return
    try:
        place = build(compiler, kernels)
    except subprocess.CalledProcessError as error:
        tap.say(f"{compiler}: builds", [str(error)])
        return
    tap.test(f"{compiler}: stack, loops and atomics are such as each kernel takes",
             check_objects, place)
    tap.test(f"{compiler}: the verifier checks no more instructions than the limits", check_verified,
             place)
    tap.test(f"{compiler}: each program loads here", check_loads, Here(place / "faultscope"))
    test_guests(tap, compiler, place, kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kernels", metavar="NAME,...", default="",
                        help="also load the programs in these stock kernels: 5.10,6.1,6.12,newest")
    parser.add_argument("compilers", metavar="COMPILER", nargs="+",
                        help="names such as clang-14; compilers that are not installed are skipped")
    options = parser.parse_args()
    tap = Tap()
    for compiler in options.compilers:
        test_compiler(tap, compiler, [name for name in options.kernels.split(",") if name])
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
