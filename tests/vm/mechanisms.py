# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests each attach type of each probe, forced by an option, and tests with each probe disabled.

On an emulated CPU, the verifier takes seconds for each load of BPF programs. So each start of
faultscope forces one attach type of every probe at once. If a scenario fails in such a start, it
runs again with each attach type alone, to find the cause. An attach type that the kernel does not
allow is skipped, with the kernel's reason.
"""
from dataclasses import dataclass, field

import lab as _lab  # noqa: F401  puts tests/e2e on the path
import scenarios
from harness import Check, Skip, check_form, field_of
from test_hooks import check_exact, left_out_together, null_without
from vm import GuestError

PASSED_OVER = "without events that the kernel skipped (recursion misses, counted in `missed`)"
# If a message contains one of these texts, faultscope itself, not the kernel, excludes an attach
# type.
OTHER_STATE = ("not with state=", "needs state=", "without state there is nothing")
# Without one of these probes, the counters do not cover the whole lifetime of the command of `run`.
# So the totals are not checked.
NO_TOTALS = ("state", "lifecycle")


@dataclass
class Forced:
    """An attach type of a probe, and the test results for it."""
    hook: object
    mechanism: str
    blind: str = ""
    wrong: list = field(default_factory=list)
    not_done: list = field(default_factory=list)
    passed_over: bool = False

    @property
    def name(self):
        return f"{self.hook.name}={self.mechanism}"

    @property
    def scenarios(self):
        return scenarios.of_mechanism(self.hook.name, self.mechanism)

    def good(self):
        differs = [one for one in (self.hook.differs_by(self.mechanism),
                                   PASSED_OVER if self.passed_over else "") if one]
        good = f"exact, but: {'; '.join(differs)}" if differs else "exact"
        if not self.scenarios:
            # No scenario belongs to this attach type. Its values are checked by the zoo (tests/zoo:
            # calls that fail for known causes) or by tests of the exporter.
            good = "attached, totals exact"
        return good + (f"; not done: {', '.join(self.not_done)}" if self.not_done else "")


def forcing(group, needs=()):
    """Returns the options that force the attach types of a group. If the probe `calls` is not
    needed, the options disable overhead level 3 (system calls), which takes half of the load time.
    """
    names = {one.hook.name for one in group}
    options = [word for one in group for word in ("--probe", one.name)]
    return options if "calls" in {*names, *needs} else [*options, "--overhead", "0,1,2"]


def next_group(waiting):
    """Returns the attach types to force in the next start: the first waiting one of each probe.
    Attach types that cover only a part of a probe come last, one at a time."""
    found = {}
    for one in waiting:
        if not scenarios.is_part(one.mechanism):
            found.setdefault(one.hook.name, one)
    return list(found.values()) or waiting[:1]


class Mechanisms:
    """Tests of all attach types on one kernel. `run` is the KernelRun of this kernel."""

    def __init__(self, run):
        self.run = run
        self.hooks = run.hooks

    def wanted(self, mechanisms_of):
        found = [Forced(hook, mechanism) for hook in self.hooks.values()
                 for mechanism in mechanisms_of(hook)]
        return [one for one in found if self.run.wants(one.name)]

    def put(self, one, good, wrong, best=False):
        self.run.cells.put(one.hook.name, one.mechanism, good, wrong, best)

    # Tests of attach types that are forced together in one start

    def start(self, check, group):
        """Runs a short workload with the attach types of a group, and checks its totals. Returns
        {probe: attach type, or the reason why it has none}."""
        lab = self.run.guest.lab(forcing(group))
        capture = lab.run("touch", "5000")
        lines = check_form(check, capture)
        said = lines.all[0]["probes"]
        off = {one.hook.name for one in group if said[one.hook.name] != one.mechanism}
        if not off & set(NO_TOTALS):
            final = check_exact(check, "totals", lines, capture.truth)
            for name in off:
                for column in null_without(name, said["fault_begin"]):
                    check.equal(column, field_of(final, column), None)
        lab.close()
        return said

    def attach(self, check, group):
        """Returns two lists. The first has the attach types of the group that could be attached.
        The second has the attach types that only work with another attach type of `state`."""
        said = self.start(check, group)
        forces_state = any(one.hook.name == "state" for one in group)
        attached, other = [], []
        for one in group:
            answer = said[one.hook.name]
            if answer == one.mechanism:
                attached.append(one)
                continue
            if forces_state and any(text in answer for text in OTHER_STATE):
                other.append(one)
                continue
            check.that(answer.startswith(f"{one.mechanism}: "), f"{one.name}: blind, because {answer!r}")
            one.blind = answer.removeprefix(f"{one.mechanism}: ")
        return attached, other

    def wrong_of(self, name, group, ready=None):
        """Returns the errors of a scenario with the attach types of a group."""
        scenario, found = scenarios.BY_NAME[name], Check()
        options = forcing([one for one in group
                           if one.hook.name != "calls" or "calls" in scenario.needs], scenario.needs)
        concerned = [one for one in group if name in one.scenarios]
        try:
            _, missed = self.run.judge(found, scenario, options, ready)
            for one in concerned:
                one.passed_over |= missed > 0
        except Skip as reason:
            for one in concerned:
                one.not_done.append(f"{name} ({reason})")
        except (AssertionError, GuestError) as reason:
            found.that(False, str(reason))
        return found.wrong

    def try_scenario(self, check, name, group, ready):
        """Runs one scenario with all of these attach types. If the scenario fails, runs it again
        with each attach type alone."""
        concerned = [one for one in group if name in one.scenarios]
        blind = self.run.blind(scenarios.BY_NAME[name], {one.hook.name for one in group})
        if blind:
            for one in concerned:
                one.not_done.append(f"{name} ({', '.join(blind)} blind)")
            return
        wrong = self.wrong_of(name, group, ready)
        if not wrong or len(group) == 1:
            alone = {group[0].name: wrong} if wrong else {}
        else:
            print(f"# {self.run.name}: {name}, together: {wrong[0]}")
            alone = {one.name: self.wrong_of(name, [one]) for one in concerned}
            if not any(alone.values()):
                check.wrong += [f"{name}, only together: {what}" for what in wrong]
        for one in concerned:
            one.wrong += [f"{name}: {what}" for what in alone.get(one.name, ())]

    def together(self, check, group, waiting):
        attached, other = self.attach(check, group)
        waiting += other
        names = list(dict.fromkeys(name for one in attached for name in one.scenarios))
        needs = {hook for name in names for hook in scenarios.BY_NAME[name].needs}
        ready = self.run.answers(names, forcing(attached, needs))
        for name in names:
            if not self.run.brief or name in ready:
                self.try_scenario(check, name, attached, ready.get(name))
                continue
            for one in attached:
                one.not_done += [name] if name in one.scenarios else []

    # Results of each attach type

    def of_best(self, one):
        """Sets the results of an attach type from the captures in which all best attach types were
        used."""
        one.wrong = [f"{name}: {what}" for name in one.scenarios
                     for what in self.run.judged.get(name, ())]
        one.not_done = [name for name in one.scenarios if name not in self.run.judged]
        one.passed_over = any(name in self.run.passed_over for name in one.scenarios)

    def tell(self, check, one):
        check.wrong += one.wrong
        if one.blind:
            self.put(one, f"blind: {one.blind}", one.wrong)
            raise Skip(f"blind: {one.blind}")
        for name in one.not_done:
            print(f"# {self.run.name}: {one.name}: not done: {name}")
        self.put(one, one.good(), one.wrong, best=one.mechanism == one.hook.best)

    def forced(self):
        found = self.wanted(lambda hook: hook.alternates)
        for one in found:
            self.put(one, "", [f"not finished, see {one.name}"])
        # All other captures already use the best attach types. So these are forced only if --only
        # selects some tests, or if `run` uses another one than `-p`.
        best = [one for one in found if one.mechanism == one.hook.best and not self.run.only
                and self.run.used.get(one.hook.name) == one.mechanism]
        waiting = [one for one in found if one not in best]
        while waiting:
            group = next_group(waiting)
            waiting = [one for one in waiting if one not in group]
            if not self.run.test("together: " + " ".join(one.name for one in group),
                                 self.together, group, waiting):
                for one in group:
                    one.wrong = one.wrong or ["not right in a start with others"]
        for one in found:
            if one in best:
                self.of_best(one)
            self.run.test(one.name, self.tell, one)

    # Tests of disabled probes

    def leave_out(self, check, group):
        said = self.start(check, group)
        for one in group:
            check.that("off" in said[one.hook.name], f"{one.hook.name}: {said[one.hook.name]}")
            self.put(one, "off, totals exact", check.wrong)

    def left_out(self):
        found = {one.hook.name: one for one in self.wanted(lambda hook: ["none"])}
        for names in left_out_together(found):
            group = [found[name] for name in names]
            self.run.test(" ".join(one.name for one in group), self.leave_out, group)

    def mechanisms(self):
        self.forced()
        self.left_out()
