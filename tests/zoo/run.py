#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs each zoo case under faultscope, and scores how often faultscope names the right cause.
Prints TAP and a table.

A case is a program that makes one call fail, for a cause that is true by construction (see zoo.h).
`faultscope run` watches each case. A quarter of the cases also runs with `-p`, so that the case
starts before faultscope. Another quarter also runs in a way that ends the process right after the
failed call, so that faultscope can no longer read the process's files in /proc.
"""

import argparse
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for room in ("tests/e2e", "tests/vm", "tools"):
    sys.path.insert(0, str(HERE.parents[1] / room))

from aptroot import Missing  # noqa: E402
from harness import FAULTSCOPE, INCOMPLETE, PATIENCE, ROOT, Lab, Lines, Watch  # noqa: E402
from lifetimes import Lifetimes  # noqa: E402
from score import LEAST_RIGHT, MISSED, Answer, Score, judge  # noqa: E402

ZOO = ROOT / "build/zoo"
SKIPPED = 77
WAYS = ("run", "attach", "abrupt")
CASE_SECONDS = 120
GUEST_MAPS = 5000
# Modules that some cases need, with their arguments. Without NPT, KVM needs more kernel memory.
MODULES = {"loop": "", "vfio_pci": "", "vfio_iommu_type1": "", "virtio_pci": "", "virtio_blk": "",
           "crc32c_generic": "", "ext4": "", "quota_v2": "", "cuse": "", "udmabuf": "",
           "kvm_amd": "npt=0", "crc32_generic": "", "ib_uverbs": "", "rdma_rxe": ""}
DISK_MIB = 16
# An IOMMU, and a PCI device without a driver, for the cases of VFIO
SPARE_DEVICE = ("-machine", "q35", "-device", "intel-iommu", "-device", "pci-testdev")


def patience_for(cases):
    return CASE_SECONDS + 10 * len(cases)


class Failure(Exception):
    """Raised if a case does not behave as its description in the zoo says."""


class Broken(Exception):
    """Raised if faultscope itself fails while it watches a case."""


# Accepted exit statuses. On a busy CPU the kernel skips events. If it skipped the event of a case,
# the answer for this case counts as missed.
WORKED = 0, INCOMPLETE
# Shell script that runs the cases in its arguments one after another, and keeps the output and
# status of each.
SCRIPT = """
place=$1 zoo=$2 options=$3
shift 3
for name; do
	timeout %d $zoo $name $options >$place/$name.out 2>$place/$name.err </dev/null
	echo $? >$place/$name.status
done
""" % CASE_SECONDS


def truth_of(out, err, status, name):
    """Returns the last line that a case printed, parsed as JSON. (A case may have printed an
    earlier line, which says that it waits.)"""
    if status not in (0, SKIPPED):
        raise Failure(f"status {status}: {err.strip()}")
    lines = out.splitlines()
    if not lines:
        raise Failure(f"{name} printed no truth: {err.strip()}")
    return json.loads(lines[-1])


def of_case(lines, truth):
    """Returns the lines of a case and of its descendants."""
    family = Lifetimes(lines.all).family(truth.get("main"), truth.get("birth"))
    return Lines("\n".join(json.dumps(line) for line in family))


class Host:
    """Runs cases on this machine. The cases have resource limits and cgroups of their own."""

    guest = False
    error = OSError

    def __init__(self, seed):
        self.options = ["--seed", str(seed)]
        self.before = self.files()

    @staticmethod
    def files():
        """Returns the temporary files of cases."""
        return set(Path("/tmp").glob("zoo-*"))

    def left(self):
        """Returns the temporary files that cases left behind."""
        return sorted(map(str, self.files() - self.before))

    def cases(self):
        listed = subprocess.run([ZOO, "list"], capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in listed.splitlines()]

    def run(self, cases, *options):
        """Watches several cases, one after another, by one `faultscope run`. Returns {case: (lines,
        truth) or an exception}."""
        lab = Lab()
        try:
            out = lab.new_output()[0]
            ran = lab.faultscope("run", "--json", "-o", out, "--", "sh", "-c", SCRIPT, "sh",
                                 lab.dir, ZOO, " ".join([*self.options, *options]), *cases,
                                 timeout=patience_for(cases))
            self.clean()
            return told_of(cases, ran.returncode, ran.err, out.read_text,
                           lambda name: (lab.dir / name).read_text(errors="replace"))
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
                                     "--children"]), out, None, [], lab.errors)
            work.stdin.write("g")
            work.stdin.flush()
            said = work.stdout.readline()
            capture = watch.stop()
            err = work.communicate("e", timeout=PATIENCE)[1]
            self.clean()
            if capture.status not in WORKED:
                raise Broken(f"status {capture.status}: {capture.stderr.strip()}")
            return Lines(capture.text), truth_of(said, err, work.returncode, case)
        finally:
            lab.close()

    def clean(self):
        """Removes the cgroups of cases that were killed before they could remove them."""
        for place in Path("/sys/fs/cgroup").glob("**/faultscope-zoo-*"):
            alive = Path(f"/proc/{place.name.rpartition('-')[2]}").exists()
            for path in [*place.glob("*/"), place] if not alive else ():
                try:
                    path.rmdir()
                except OSError:
                    pass

    def close(self):
        pass


def quota_disks(place):
    """Returns paths of images of file systems: an ext4 with quotas of users, if this machine can
    make it. Without it, the cases of quotas are skipped."""
    mke2fs = shutil.which("mke2fs", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not mke2fs:
        return []
    path = place / "ext4"
    with open(path, "wb") as file:
        file.truncate(DISK_MIB << 20)
    subprocess.run([mke2fs, "-q", "-t", "ext4", "-O", "quota", "-E", "quotatype=usrquota", path],
                   check=True)
    return [path]


def told_of(cases, status, err, read_lines, read_file):
    """Returns {case: (lines, truth)} after a run. If a case failed, an exception replaces the pair.
    """
    told = {}
    lines = Lines(read_lines()) if status in WORKED else None
    for name in cases:
        try:
            if lines is None:
                raise Broken(f"status {status}: {err.strip()}")
            truth = truth_of(read_file(f"{name}.out"), read_file(f"{name}.err"),
                             int(read_file(f"{name}.status")), name)
            told[name] = of_case(lines, truth), truth
        except (Failure, Broken, OSError) as reason:
            told[name] = reason
    return told


class Guest:
    """Runs all cases in a guest under QEMU, including cases that change settings of the machine."""

    guest = True

    def __init__(self, kernel, seed):
        import fetch
        import lab
        import programs
        from initrd import has_module
        from vm import GuestError, Vm
        self.error = GuestError
        self.lab = lab
        found = fetch.kernel(kernel)
        self.place = tempfile.TemporaryDirectory(prefix="faultscope-zoo-")
        self.vm = Vm(found, {lab.FAULTSCOPE: programs.static_faultscope(found.arch), "/zoo": ZOO,
                             "/script": SCRIPT.encode()}, append="intel_iommu=on",
                     modules={name: words for name, words in MODULES.items()
                              if has_module(found, name)},
                     images=quota_disks(Path(self.place.name)), devices=SPARE_DEVICE)
        self.vm.must(f"sysctl -w vm.max_map_count={GUEST_MAPS}")
        self.options = ["--seed", str(seed), "--guest"]

    def cases(self):
        return [json.loads(line) for line in self.vm.must("/zoo list").splitlines()]

    def run(self, cases, *options):
        place = self.vm.must("mktemp -d /run/zoo.XXXXXX").strip()
        words = ["/bin/faultscope", "run", "--json", "-o", f"{place}/lines", "--", "sh", "/script",
                 place, "/zoo", " ".join([*self.options, *options]), *cases]
        ran = self.vm.run(self.lab.quoted(words), patience_for(cases))

        def read(name):
            return self.vm.get(f"{place}/{name}").decode(errors="replace")

        told = told_of(cases, ran.status, ran.err, lambda: read("lines"), read)
        self.vm.must(f"rm -r {place}")
        return told

    def attach(self, case):
        lab = self.lab.VmLab(self.vm)
        try:
            work = self.lab.GuestProcess(lab, self.lab.quoted(
                ["/zoo", case, "--wait", "--hold", *self.options]))
            ready = truth_of(work.line("out", 1), "", 0, case)
            if "skip" in ready:
                return None, ready
            watch = lab.watch("-p", work.pid, "--children")
            work.write("g")
            said = work.line("out", 2)
            self.vm.run(f"kill -INT {watch.pid}")  # faultscope may have exited already
            capture = watch.finished()
            work.write("e")
            status = work.end()
            if capture.status not in WORKED:
                raise Broken(f"status {capture.status}: {capture.stderr.strip()}")
            return Lines(capture.text), truth_of(said, work.text("err"), status, case)
        finally:
            lab.close()

    def left(self):
        return []  # the files of a guest end with it

    def close(self):
        self.vm.close()
        self.place.cleanup()


def ways_of(number, case, asked):
    """Returns the ways to watch a case. `run` is used for all cases, `attach` for a quarter of
    them, and `abrupt` for another quarter."""
    if asked != "some":
        return asked.split(",")
    ways = ["run"]
    if number % 4 == 1:
        ways.append("attach")
    if number % 4 == 3 and case["kind"] == "refused":
        ways.append("abrupt")
    return ways


def watch_each(place, case):
    """Watches one case by -p, which begins while the case waits. Returns {case: (lines, truth) or
    an exception}."""
    try:
        return {case: place.attach(case)}
    except (Failure, Broken) as reason:
        return {case: reason}
    except subprocess.TimeoutExpired as reason:
        return {case: Broken(str(reason))}
    except (AssertionError, ValueError, place.error) as reason:
        return {case: Failure(str(reason))}


def batches(cases, size):
    """Yields lists of at most `size` cases that run together. A case that changes the whole machine
    runs alone."""
    together = []
    for case in cases:
        if case["guest"]:
            yield [case["case"]]
            continue
        together.append(case["case"])
        if len(together) == size:
            yield together
            together = []
    if together:
        yield together


def watch(place, way, cases, size):
    if way == "attach":
        for case in cases:
            yield watch_each(place, case["case"])
    else:
        for batch in batches(cases, size):
            yield from watch_batch(place, batch, ["--abrupt"] if way == "abrupt" else [])


def watch_batch(place, batch, options):
    """Runs a batch of cases. If the batch does not end, runs its cases one by one, to find the case
    that hangs."""
    try:
        yield place.run(batch, *options)
    except (subprocess.TimeoutExpired, place.error) as reason:
        if len(batch) == 1:
            yield {batch[0]: Broken(f"it does not end: {reason}")}
            return
        print(f"# faultscope does not end with {', '.join(batch)}: one by one", flush=True)
        for name in batch:
            yield from watch_batch(place, [name], options)


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


class Results:
    """The results of a run: the answers, the skipped cases with reasons, and the cases that did not
    behave as described."""

    def __init__(self, options):
        self.options = options
        self.answers = []
        self.skipped = {}
        self.failed = []

    def take(self, case, way, told):
        name = case["case"]
        if isinstance(told, Broken):
            self.answers.append(Answer(name, case["kind"], way, MISSED, "an answer",
                                       f"faultscope failed: {told}"))
        elif isinstance(told, Exception):
            self.failed.append(f"{name} ({way}): {str(told)[:300]}")
        elif "skip" in told[1]:
            self.skipped[name] = told[1]["skip"]
        else:
            self.judge(case, way, *told)

    def judge(self, case, way, lines, truth):
        answer = judge(case["case"], case["kind"], way, lines, truth)
        self.answers.append(answer)
        if self.options.json:
            print(json.dumps(vars(answer)), flush=True)
        if self.options.verbose:
            print(f"# truth: {json.dumps(truth)}")
            for line in lines.of("failed_call") + lines.of("signal") + lines.of("oom"):
                print(f"# {json.dumps(line)}")


def run_all(place, options):
    results = Results(options)
    chosen = [case for case in place.cases() if not options.case
              or any(fnmatch(case["case"], pattern) for pattern in options.case)]
    by_name = {case["case"]: case for case in chosen}
    for case in chosen:
        if case["guest"] and not place.guest:
            results.skipped[case["case"]] = "needs a machine of its own: --vm"
    for way in WAYS:
        cases = [case for number, case in enumerate(chosen)
                 if way in ways_of(number, case, options.ways)
                 and case["case"] not in results.skipped]
        for told in watch(place, way, cases, options.batch):
            for name, one in told.items():
                results.take(by_name[name], way, one)
    order = {name: number for number, name in enumerate(by_name)}
    results.answers.sort(key=lambda one: order[one.case])
    return results


def print_table(answers):
    rows = [["verdict", "case", "way", "want", "got"], *(one.row() for one in answers)]
    widths = [min(40, max(len(row[i]) for row in rows)) for i in range(4)]
    for row in rows:
        print("# " + "  ".join(f"{text:{width}}" for text, width in zip(row, widths)) +
              "  " + row[4][:160])


def report(where, place, results, options):
    score = Score(results.answers)
    if options.json:
        print(json.dumps({"score": score.as_json(), "skipped": results.skipped,
                          "failed": results.failed}))
    else:
        print_table(results.answers)
        for name, why in results.skipped.items():
            print(f"# skipped: {name}: {why}")
    tap = Tap()
    print(f"# {where}: {score.text()}")
    tap.say(f"{where}: every case behaves as it claims", results.failed)
    tap.say(f"{where}: at least {LEAST_RIGHT:g} % of the causes are right",
            [] if score.percent("right") >= LEAST_RIGHT else [score.text()])
    tap.say(f"{where}: no wrong cause is marked certain",
            [f"{one.case} ({one.way}): {one.got}, want {one.want}"
             for one in score.wrong_but_certain()])
    tap.say(f"{where}: controls accuse nothing",
            [f"{one.case} ({one.way}): {one.got}" for one in score.accused_controls()])
    tap.say(f"{where}: no case leaves files behind", place.left())
    print(f"1..{tap.done}")
    return tap.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--case", metavar="NAME", action="append",
                        help="run only cases with this name or pattern")
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    parser.add_argument("--vm", metavar="KERNEL",
                        help="run in a guest with this kernel: 6.1, 6.12, …")
    parser.add_argument("--ways",
                        help="ways to watch: some (default), or of run,attach,abrupt; guest: run")
    parser.add_argument("--batch", type=int, default=16, metavar="N",
                        help="number of cases under one `faultscope run` (default: 16)")
    parser.add_argument("--seed", type=int, default=1, help="seed of sizes and addresses in cases")
    parser.add_argument("--json", action="store_true", help="print each answer as a line of JSON")
    parser.add_argument("--verbose", action="store_true",
                        help="print the true cause and faultscope's lines for each case")
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
    # exits normally on SIGTERM, so that the guest and its files are removed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options.ways = options.ways or ("run" if options.vm else "some")
    try:
        place = Guest(options.vm, options.seed) if options.vm else Host(options.seed)
    except Missing as reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    try:
        return report(options.vm or "here", place, run_all(place, options), options)
    finally:
        place.close()


if __name__ == "__main__":
    sys.exit(main())
