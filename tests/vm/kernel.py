# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""All tests on one kernel: every probe, and every attach type of a probe.

First all scenarios run with the best attach type of each probe. The other tests force each attach
type (mechanisms.py), hide the kernel's BTF, or run faultscope with few rights. A probe fails if the
kernel allows none of its attach types.
"""
import json
import re
import time

import batch
import fetch
import function_returns
import origins
import privilege
import programs
import scenarios
import storms
import whole_stacks
import whose
from aptroot import Missing
from harness import INCOMPLETE, MOST_TRIES, Check, Skip, check_form
from lab import VmLab, files, take_schema
from mechanisms import Mechanisms
from test_hooks import OF_MEMORY
from vm import GuestError, Vm

FULL_BTF, LITTLE_BTF = "/btf/full", "/btf/little"
HIDDEN = {FULL_BTF: scenarios.HIDDEN_BTF, LITTLE_BTF: scenarios.LITTLE_BTF}
ARCHIVE = "/usr/lib/faultscope/btf"
# Maps a kernel to the probes that it cannot have. The tracepoints of mmap_lock came with
# 2b5067a8143e (5.11).
NOT_YET = {"5.10": ("mmap_lock",)}
# Timeout of `doctor` in seconds. `doctor` loads and measures every probe on an emulated CPU.
DOCTOR_SECONDS = 300
MOST_BOOTS = 4  # greatest number of boots of one kernel; a kernel that crashed is rebooted


class Guest:
    """The guest with one kernel, which is rebooted after a crash."""

    def __init__(self, kernel, content):
        self.kernel = kernel
        self.content = content
        self.vm = None
        self.boots = 0
        self.crashes = []

    def lab(self, options=()):
        if self.vm and self.vm.usable():
            return VmLab(self.vm, options)
        self.close()
        if self.boots == MOST_BOOTS:
            raise Skip(f"{self.kernel.name} crashed {self.boots} times")
        self.boots += 1
        self.vm = Vm(self.kernel, self.content, modules={"lzo-rle": "", "zram": ""})
        self.vm.must(f"sysctl -w vm.max_map_count={scenarios.MOST_MAPS}")
        lab = VmLab(self.vm, options)
        take_schema(lab)
        return lab

    def close(self):
        if self.vm:
            self.crashes += [self.vm.crash()] if self.vm.crash() else []
            for line in self.vm.stalls():
                print(f"# {self.kernel.name}, console: {line}")
            self.vm.close()
        self.vm = None


# Maps a kernel to the core probes that work on it only with their last attach type.
DEGRADED = {"5.10": {"state"}}


class Hook:
    """A probe as `doctor` reports it."""

    def __init__(self, told):
        self.name = told["name"]
        self.sees = told["state"] == "on"
        self.best = told["attach_type"]
        self.tried = told.get("tried", "")
        self.alternates = []
        self.differs = {}
        for one in told["attach_types"]:
            one = one if isinstance(one, dict) else {"name": one}
            self.alternates.append(one["name"])
            self.differs[one["name"]] = one.get("differs") or \
                (told.get("differences") or {}).get(one["name"], "")

    def differs_by(self, mechanism):
        """Returns the text in which faultscope itself states how an attach type differs from
        others, or ""."""
        return self.differs.get(mechanism, "")


class ShortCheck(Check):
    """Checks counts that may be too small. `missed` is the number of events that the kernel
    skipped, and a count may be too small by at most this number."""

    def __init__(self, missed):
        super().__init__()
        self.missed = missed

    def equal(self, what, got, want):
        if isinstance(got, dict) and set(got) == {"missed"}:
            return super().equal(what, {}, want)
        if isinstance(got, int) and isinstance(want, int):
            return self.between(what, got, want, want)
        return super().equal(what, got, want)

    def between(self, what, got, low, high):
        return super().between(what, got, low - self.missed, high)


def judged(expect, lines, truth, missed):
    """Calls an expect function that accepts counts which are too small by at most `missed` events.
    Returns the Check, which contains the errors."""
    found = ShortCheck(missed)
    try:
        expect(found, lines, truth)
    except AssertionError as reason:
        found.that(False, str(reason))
    return found


class KernelRun:
    """All tests on one kernel, and their results."""

    def __init__(self, tap, cells, guest, only, brief):
        self.tap = tap
        self.cells = cells
        self.guest = guest
        self.name = guest.kernel.name
        self.only = only
        # if true, each start of faultscope forces several attach types, which is fast; no attach
        # type is tested alone
        self.brief = brief
        self.hooks = {}
        self.judged = {}  # {scenario: errors in the capture with the best attach types}
        self.used = {}  # {probe: attach type} of these captures
        # names of scenarios in which the kernel skipped events in every attempt
        self.passed_over = set()

    def wants(self, name):
        return not self.only or self.only in name

    def test(self, name, body, *args):
        """Runs a test. If the guest crashes, the test fails, and the message contains the text of
        the console."""
        def guarded(check):
            try:
                body(check, *args)
            except (GuestError, Missing) as reason:
                check.that(False, str(reason))
        return self.tap.test(f"{self.name}: {name}", guarded)

    def doctor(self, check):
        lab = self.guest.lab()
        ran = lab.faultscope("doctor", "--json", timeout=DOCTOR_SECONDS)
        if not check.that(ran.out, f"status {ran.status}: {ran.err.strip()}"):
            return
        # tests/vm/resident.py tests the probes that only `faultscope memory` uses
        told = [hook for hook in json.loads(ran.out)["probes"] if hook["name"] not in OF_MEMORY]
        unmeasured = {hook["name"] for hook in told if hook["state"] != "on"}
        check.equal("status", ran.status, INCOMPLETE if unmeasured else 0)
        self.hooks = {hook["name"]: Hook(hook) for hook in told}
        degraded = {hook["name"] for hook in told if hook["degraded"]}
        check.equal("degraded", degraded, DEGRADED.get(self.name, set()))
        ran = lab.faultscope("-p", "1", "-d", "0.1", timeout=DOCTOR_SECONDS)
        check.equal("what -p says is degraded", set(re.findall("degraded: probe ([a-z]+) ", ran.err)),
                    degraded)
        for hook in self.hooks.values():
            if hook.name not in NOT_YET.get(self.name, ()):
                check.that(hook.sees, f"{hook.name} is blind: {hook.tried}")

    def blind(self, scenario, besides=()):
        return [hook for hook in scenario.needs
                if hook not in besides and not self.hooks[hook].sees]

    def answers(self, names, options=()):
        """Runs the scenarios that can share one `faultscope run` in a single run. Returns {name:
        lab with the capture}, for judge()."""
        lab = self.guest.lab(options)
        found = batch.answers(lab, [scenarios.BY_NAME[name] for name in names])
        if self.guest.vm.usable():
            lab.close()
        return found

    def judge(self, check, scenario, options=(), ready=None):
        """Judges the capture of a scenario. Takes the capture from `ready`, or makes it if it is
        not there. Returns {probe: attach type}, and the number of events that the kernel skipped.
        """
        lab = self.guest.lab(options)
        for _ in range(MOST_TRIES):
            capture, ready = scenario.make(ready or lab), None
            lines = check_form(check, capture)
            missed = lines.losses().get("missed", 0)
            # The capture says which attach types were used. `doctor` may report others, since
            # forcing one attach type can change those of other probes.
            used = lines.all[0]["probes"]
            differing = [name for name, hook in self.hooks.items()
                         if hook.differs_by(used.get(name, ""))]
            expect = scenario.expectation(differing)
            found = judged(expect, lines, capture.truth, 0)
            # The scenario passed, so either the skipped events belonged to other processes, or they
            # did not matter.
            if not missed or not found.wrong:
                missed = 0
                break
        if missed:
            found = judged(expect, lines, capture.truth, missed)
            print(f"# {self.name}: {scenario.name} {' '.join(options)}: {missed} events missed")
        check.wrong += found.wrong
        lab.close()
        return used, missed

    def scenario(self, check, scenario, ready):
        blind = self.blind(scenario)
        if blind:
            raise Skip(f"blind: {', '.join(f'{one}: {self.hooks[one].tried}' for one in blind)}")
        try:
            used, missed = self.judge(check, scenario, ready=ready)
            self.used.update(used)
            self.passed_over |= {scenario.name} if missed else set()
        finally:
            self.judged[scenario.name] = check.wrong

    # Tests with the kernel's own BTF hidden

    def hidden(self, check, do, file):
        if file and file not in self.guest.content:
            raise Skip("no such file could be made")
        self.guest.lab().vm.must("mount -t tmpfs none /sys/kernel/btf")
        try:
            do(check, file)
        finally:
            if self.guest.vm.usable():
                self.guest.vm.must("umount /sys/kernel/btf")

    def no_btf(self, check, _file):
        ran = self.guest.lab().faultscope("1", "1")
        check.equal("status", ran.status, 6)
        check.that("btf-archive" in ran.err and ARCHIVE in ran.err, f"message: {ran.err}")

    def by_file(self, check, file):
        names, options = HIDDEN[file], ["--btf", file]
        ready = self.answers(names, options)
        for name in names:
            found, scenario = Check(), scenarios.BY_NAME[name]
            used, _ = self.judge(found, scenario, options, ready.get(name))
            for hook in scenario.needs:
                found.that(used.get(hook) in self.hooks[hook].alternates,
                           f"{hook} is blind: {used.get(hook)}")
            found.equal("state", used.get("state"), "hash")
            check.wrong += [f"{name}: {what}" for what in found.wrong]

    def by_archive(self, check, file):
        kernel = self.guest.kernel
        place = f"{ARCHIVE}/{programs.MACHINE[kernel.arch]}"
        self.guest.vm.must(f"mkdir -p {place}; cp {file} {place}/{kernel.release}.btf")
        used, _ = self.judge(check, scenarios.BY_NAME["touched"])
        check.equal("state", used["state"], "hash")

    def hidden_btf(self):
        for name, do, file in (("none", self.no_btf, None),
                               ("by its file", self.by_file, FULL_BTF),
                               ("by a little one", self.by_file, LITTLE_BTF),
                               ("by an archive", self.by_archive, LITTLE_BTF)):
            if self.wants(f"hidden BTF, {name}"):
                self.test(f"hidden BTF, {name}", self.hidden, do, file)

    def console(self, check):
        self.guest.close()
        for text in self.guest.crashes:
            check.that(False, text)

    def scenarios(self):
        wanted = [one for one in scenarios.ALL if self.wants(one.name)]
        ready = self.answers([one.name for one in wanted if not self.blind(one)])
        for one in wanted:
            self.test(one.name, self.scenario, one, ready.get(one.name))
        more = {**origins.ALL, **whose.ALL, **storms.ALL, **function_returns.COSTS}
        short = {**whole_stacks.ALL, **function_returns.ALL}
        for name, body in {**short, **({} if self.brief else more)}.items():
            if self.wants(name):
                self.test(name, lambda check, body=body: body(check, self.guest.lab()))

    def few_rights(self):
        """Tests with few rights. These tests come last, because only a reboot undoes some of their
        settings."""
        privilege.test_all(self, Guest(self.guest.kernel, self.guest.content))

    def all(self):
        self.test("doctor", self.doctor)
        # The tests of attach types use the list of probes that `doctor` reported.
        parts = [self.scenarios, Mechanisms(self).mechanisms]
        parts += [] if self.brief else [self.hidden_btf, self.few_rights]
        if self.guest.vm:
            print(f"# {self.guest.kernel.release}, {self.guest.vm.accelerator}:"
                  f" booted in {self.guest.vm.boot_seconds:.1f} s")
        for part in parts if self.hooks else ():
            began = time.monotonic()
            part()
            print(f"# {self.name}: {part.__name__} took {time.monotonic() - began:.0f} s")
        self.test("console", self.console)
        print(f"# {self.name}: {self.guest.boots} boots")


def btf_files(kernel):
    """Returns the BTF files for a kernel whose own BTF is hidden: the full BTF, and the small BTF
    of `make btf-archive`."""
    found = {FULL_BTF: kernel.btf}
    try:
        found[LITTLE_BTF] = programs.little_btf(kernel)
    except Missing as reason:
        fetch.say(f"{kernel.name}: {reason}")
    return found


def test_kernel(tap, cells, name, options):
    guest = None
    try:
        kernel = fetch.kernel(name)
        path = dict(part.split("=", 1) for part in options.faultscope).get(kernel.arch)
        content = files(programs.static_faultscope(kernel.arch, path),
                        programs.static_workloads(kernel.arch))
        content |= btf_files(kernel)
        guest = Guest(kernel, content)
        cells.release = kernel.release
        fetch.qemu(kernel.arch)
        fetch.busybox(kernel.arch)
    except Missing as reason:
        tap.say(f"{name}: kernel and tools", skip=str(reason))
        return
    try:
        KernelRun(tap, cells, guest, options.only, options.brief).all()
    finally:
        guest.close()
