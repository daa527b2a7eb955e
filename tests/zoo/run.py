#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Lets faultscope watch each case of the zoo, and scores its answers. Prints TAP and a table.

A case makes one call that is refused for a cause that is true by construction (see zoo.h). It is
watched by `faultscope run`; every fourth one is also found waiting and watched by `-p`, and every
fourth is ended at once after its refusal, with nothing left to look at.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for room in ("e2e", "vm"):
    sys.path.insert(0, str(HERE.parent / room))

from harness import FAULTSCOPE, PATIENCE, ROOT, Lab, Lines, Watch  # noqa: E402
from score import LEAST_RIGHT, Answer, Score, judge  # noqa: E402

ZOO = ROOT / "build/zoo"
SKIPPED = 77
WAYS = ("run", "attach", "abrupt")
CASE_SECONDS = 60
GUEST_SECONDS = 240  # where all is emulated
GUEST_MAPS = 5000


class Failure(Exception):
    """A case that did not behave as it claims, or faultscope that ended badly."""


def truth_of(text, name):
    """The last line that a case printed; before it may be that it waits."""
    lines = text.splitlines()
    if not lines:
        raise Failure(f"{name} printed no truth")
    return json.loads(lines[-1])


class Host:
    """Cases that run here, beside everything else: under limits of their own."""

    guest = False

    def __init__(self, seed):
        self.options = ["--seed", str(seed)]

    def cases(self):
        listed = subprocess.run([ZOO, "list"], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in listed.splitlines()]

    def run(self, case, *options):
        lab = Lab()
        try:
            out = lab.new_output()[0]
            ran = lab.faultscope("run", "--json", "-o", out, "--", ZOO, case, *self.options,
                                 *options, timeout=CASE_SECONDS)
            self.clean(case)
            if ran.returncode not in (0, SKIPPED):
                raise Failure(f"status {ran.returncode}: {ran.err.strip()}")
            return Lines(out.read_text()), truth_of(ran.out, case)
        finally:
            lab.close()

    def attach(self, case):
        lab = Lab()
        try:
            work = lab.spawn([ZOO, case, "--wait", "--hold", *self.options],
                             stdin=subprocess.PIPE)
            ready = json.loads(work.stdout.readline() or '{"skip": "it ended"}')
            if "skip" in ready:
                return None, ready
            out = lab.new_output()[0]
            watch = Watch(lab.spawn([FAULTSCOPE, "--json", "-o", out, "-p", work.pid,
                                     "--children"]), out, None, [])
            work.stdin.write("g")
            work.stdin.flush()
            said = work.stdout.readline()
            capture = watch.stop()
            _, err = work.communicate("e", timeout=PATIENCE)
            self.clean(case)
            if capture.status or work.returncode:
                raise Failure(f"status {work.returncode} and {capture.status} of faultscope:"
                              f" {err.strip()}{capture.stderr.strip()}")
            return Lines(capture.text), truth_of(said, case)
        finally:
            lab.close()

    def clean(self, _case):
        """Groups of cases that were killed before they could undo them."""
        for place in Path("/sys/fs/cgroup").glob("**/faultscope-zoo-*"):
            alive = Path(f"/proc/{place.name.rpartition('-')[2]}").exists()
            for path in [*place.glob("*/"), place] if not alive else ():
                try:
                    path.rmdir()
                except OSError:
                    pass

    def close(self):
        pass


class Guest:
    """All cases, on a machine of their own: they may set what holds for all of it."""

    guest = True

    def __init__(self, kernel, seed):
        import fetch
        import lab
        import programs
        from vm import Vm
        self.lab_of = lab.VmLab
        found = fetch.kernel(kernel)
        files = {lab.FAULTSCOPE: programs.static_faultscope(found.arch)}
        files["/zoo"] = ZOO
        self.vm = Vm(found, files)
        self.vm.must(f"sysctl -w vm.max_map_count={GUEST_MAPS}; mkdir -p /tmp")
        self.options = ["--seed", str(seed), "--guest"]

    def cases(self):
        return [json.loads(line) for line in self.vm.must("/zoo list").splitlines()]

    def run(self, case, *options):
        place = self.vm.must("mktemp -d /run/zoo.XXXXXX").strip()
        words = " ".join(["/bin/faultscope", "run", "--json", "-o", f"{place}/lines", "--", "/zoo",
                          case, *self.options, *options])
        ran = self.vm.run(words, GUEST_SECONDS)
        if ran.status not in (0, SKIPPED):
            raise Failure(f"status {ran.status}: {ran.err.strip()}")
        text = self.vm.get(f"{place}/lines").decode(errors="replace")
        self.vm.must(f"rm -r {place}")
        return Lines(text), truth_of(ran.out, case)

    def attach(self, case):
        lab = self.lab_of(self.vm)
        try:
            work = lab_process(lab, ["/zoo", case, "--wait", "--hold", *self.options])
            ready = truth_of(work.line("out", 1), case)
            if "skip" in ready:
                return None, ready
            watch = lab.watch("-p", work.pid, "--children")
            work.write("g")
            said = work.line("out", 2)
            capture = watch.stop()
            work.write("e")
            if work.end():
                raise Failure(work.text("err").strip())
            return Lines(capture.text), truth_of(said, case)
        finally:
            lab.close()

    def close(self):
        self.vm.close()


def lab_process(lab, words):
    from lab import GuestProcess, quoted
    return GuestProcess(lab, quoted(words))


def ways_of(number, case, asked):
    """How a case is watched: always by run, every fourth by each other way."""
    if asked != "some":
        return [way for way in WAYS if way in asked.split(",")]
    ways = ["run"]
    if number % 4 == 1:
        ways.append("attach")
    if number % 4 == 3 and case["kind"] == "refused":
        ways.append("abrupt")
    return ways


def watch(place, case, way):
    if way == "attach":
        return place.attach(case)
    return place.run(case, *(["--abrupt"] if way == "abrupt" else []))


class Tap:
    def __init__(self):
        self.done = self.failed = 0

    def say(self, name, wrong=()):
        self.done += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.done} - {name}")
        for line in wrong:
            print(f"#   {line}")
        sys.stdout.flush()


def run_all(place, options):
    """Answers, cases that were skipped with why, and cases that did not behave."""
    answers, skipped, failed = [], {}, []
    listed = place.cases()
    chosen = [case for case in listed if not options.case or case["case"] in options.case]
    for number, case in enumerate(chosen):
        name = case["case"]
        if case["guest"] and not place.guest:
            skipped[name] = "needs a machine of its own: --vm"
            continue
        for way in ways_of(number, case, options.ways):
            try:
                lines, truth = watch(place, name, way)
            except (Failure, AssertionError, subprocess.TimeoutExpired) as reason:
                failed.append(f"{name} ({way}): {str(reason)[:300]}")
                continue
            if "skip" in truth:
                skipped[name] = truth["skip"]
                break
            answer = judge(name, case["kind"], way, lines, truth)
            answers.append(answer)
            if options.json:
                print(json.dumps(vars(answer)), flush=True)
            if options.verbose:
                print(f"# truth: {json.dumps(truth)}")
                for line in lines.of("refused") + lines.of("signal") + lines.of("oom"):
                    print(f"# {json.dumps(line)}")
    return answers, skipped, failed


def print_table(answers):
    rows = [["verdict", "case", "way", "want", "got"], *(one.row() for one in answers)]
    widths = [min(40, max(len(row[i]) for row in rows)) for i in range(4)]
    for row in rows:
        print("# " + "  ".join(f"{text:{width}}" for text, width in zip(row, widths)) +
              "  " + row[4][:160])


def report(where, answers, skipped, failed, options):
    score = Score(answers)
    if options.json:
        print(json.dumps({"score": score.as_json(), "skipped": skipped, "failed": failed}))
    else:
        print_table(answers)
        for name, why in skipped.items():
            print(f"# skipped: {name}: {why}")
    tap = Tap()
    print(f"# {where}: {score.text()}")
    tap.say(f"{where}: every case behaves as it claims", failed)
    tap.say(f"{where}: at least {LEAST_RIGHT:g} % of the causes are right",
            [] if score.percent("right") >= LEAST_RIGHT else [score.text()])
    tap.say(f"{where}: no wrong cause is marked certain",
            [f"{one.case} ({one.way}): {one.got}, want {one.want}"
             for one in score.wrong_but_certain()])
    tap.say(f"{where}: controls accuse nothing",
            [f"{one.case} ({one.way}): {one.got}" for one in score.accused_controls()])
    print(f"1..{tap.done}")
    return tap.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--case", metavar="NAME", action="append", help="only this case")
    parser.add_argument("--list", action="store_true", help="name all cases")
    parser.add_argument("--vm", metavar="KERNEL", help="in a guest with this kernel: 6.1, 6.12, …")
    parser.add_argument("--ways", default="some",
                        help="comma-separated, of run, attach, abrupt (default: run, some others)")
    parser.add_argument("--seed", type=int, default=1, help="sizes and places of the cases")
    parser.add_argument("--json", action="store_true", help="a line of JSON an answer")
    parser.add_argument("--verbose", action="store_true", help="truth and lines of each case")
    options = parser.parse_args()
    if platform.machine() != "x86_64":
        print("1..0 # SKIP the zoo is of x86-64")
        return 0
    if not ZOO.exists() or not FAULTSCOPE.exists():
        sys.exit(f"{ZOO} or {FAULTSCOPE} is not built: make zoo all")
    if options.list:
        for case in Host(options.seed).cases():
            print(case["case"], case["kind"], "vm-only" if case["guest"] else "", sep="\t")
        return 0
    if os.geteuid() and not options.vm:
        print("1..0 # SKIP needs root")
        return 0
    place = Guest(options.vm, options.seed) if options.vm else Host(options.seed)
    try:
        return report(options.vm or "here", *run_all(place, options), options)
    finally:
        place.close()


if __name__ == "__main__":
    sys.exit(main())
