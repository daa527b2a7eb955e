# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Some scenarios only run a workload under `faultscope run`. This module runs the workloads of such
scenarios in a single run of faultscope, one after another.

On an emulated CPU, the verifier takes seconds for each load of BPF programs, so all these scenarios
share one load. The results of each scenario are compared with the scenario's own true values, as if
it had run alone.
"""
import json
from types import SimpleNamespace

import lab as _lab  # noqa: F401  puts tests/e2e on the path
import harness
from harness import Capture
from lab import WORKLOADS, quoted
from vm import GuestError


class Asked(BaseException):
    """Raised when a scenario runs its first workload. The argument of the exception is the
    workload."""


class NotPlain(BaseException):
    """Raised if a scenario does more than run a workload under `faultscope run`."""


class Asking:
    """A lab that runs nothing: the methods of this class raise Asked or NotPlain."""

    def __init__(self, lab):
        self.vm = SimpleNamespace(kernel=lab.vm.kernel)

    def __getattr__(self, name):
        raise NotPlain(name)

    @staticmethod
    def run(*words, options=(), **more):
        raise NotPlain("options") if options or more else Asked(words)


class Answering(Asking):
    """A lab whose run() returns the capture of an earlier run."""

    def __init__(self, lab, capture):
        super().__init__(lab)
        self.capture = capture

    def run(self, *_words):
        return self.capture


def words_of(scenario, lab):
    """Returns the workload of a scenario. Returns None in two cases: the scenario does more than
    run a workload, or it cannot run on this kernel."""
    if scenario.alone:
        return None
    try:
        scenario.make(Asking(lab))
    except Asked as asked:
        return asked.args[0]
    except (NotPlain, Exception):
        return None
    return None


def run_all(lab, workloads):
    """Runs workloads, given as {name: words}. Returns {name: capture} of the workloads that printed
    their true values."""
    place = lab.new_dir()
    lines = [f"{quoted([f'{WORKLOADS}/{words[0]}', *words[1:]])} >{place}/{n}.out 2>/dev/null"
             for n, words in enumerate(workloads.values())]
    lab.write(f"{place}/all", "\n".join([*lines, ":"]))
    ran = lab.faultscope("run", "--json", "-o", f"{place}/lines", *lab.hook_options, "--",
                         "sh", f"{place}/all", timeout=len(workloads) * harness.PATIENCE)
    text = lab.read(f"{place}/lines")
    truths = lab.vm.must("; ".join(f'echo "$(cat {place}/{n}.out)"' for n in range(len(workloads))))
    return {name: Capture(text, ran.status, ran.err, None, truth=json.loads(truth))
            for name, truth in zip(workloads, truths.splitlines()) if truth}


def answers(lab, scenarios):
    """Returns {name: lab} of the scenarios that ran together. A scenario's make() gets the
    scenario's capture from the lab. Scenarios that are not in the result must run alone."""
    workloads = {one.name: words_of(one, lab) for one in scenarios}
    workloads = {name: words for name, words in workloads.items() if words}
    if len(workloads) < 2:
        return {}
    try:
        captures = run_all(lab, workloads)
    except (OSError, ValueError, GuestError) as reason:
        print(f"# {lab.release}: {', '.join(workloads)}: not in one run: {reason}")
        return {}
    return {name: Answering(lab, capture) for name, capture in captures.items()}
