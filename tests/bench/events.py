# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the CPU time that tools add to an event.

Two workers, pinned to the same CPU, do each kind of work in turn: the first one is watched if a tool
watches one process, the second one is another process. In a round, the workers work without a tool,
with tool A, without a tool, with tool B, and so on. The value of a round is the time with the tool,
minus the mean of the times before and after it.
"""
import contextlib
import select

from bpf_programs import Attached
from procs import PIN, CannotRun, Running, Tool, Workload
from rows import ANOTHER, EMPTY, EVENTS, MODES, NO_TOOL, NOTHING, PEERS, WATCHED, goal_of

ANSWER_SECONDS = 60
ENDED = (OSError, ValueError)


class RoundFailed(Exception):
    """Raised if a workload failed, so that nothing else can be measured in this round."""


class Worker:
    """A process that runs operations when it is asked to."""

    def __init__(self, workload):
        self.workload, self.pid = workload, workload.pid

    def ns(self, work, count):
        """Runs operations, and returns the CPU time of one operation in ns."""
        process = self.workload.process
        try:
            process.stdin.write(f"{work.kind} {count}\n")
            process.stdin.flush()
        except ENDED as reason:
            raise CannotRun(f"the workload ended: {reason}") from reason
        if not select.select([process.stdout], [], [], ANSWER_SECONDS)[0]:
            raise CannotRun(f"no answer of the workload in {ANSWER_SECONDS} s")
        return self.workload.truth()["ns_per_op"]


@contextlib.contextmanager
def worker(setup, before=()):
    with Workload(setup, "bench", "serve", "--pin", PIN, before=before) as workload:
        workload.go()
        yield Worker(workload)


def tools_of(works):
    """Yields (name, tool, works, whether it watches one process) of all tools for these works."""
    yield NOTHING, NO_TOOL, list(works), False
    for work in works:
        tool = Tool(EMPTY, ["empty", "{tmp}/empty.bpf.o", *work.events.split()], ready="ready")
        yield EMPTY, tool, [work], False
    for mode in MODES:
        yield mode.name, mode.tool, list(works), mode.watches_one
    for peer in PEERS:
        found = [work for work in works if work.name == peer.work]
        if found:
            yield peer.name, peer.tool, found, False


class Events:
    """All rows of events."""

    def __init__(self, setup, names, results, sources, divisor, others):
        self.setup, self.results, self.divisor, self.others = setup, results, divisor, others
        self.works = [work for work in EVENTS if work.name in names]
        self.tools = list(tools_of(self.works))
        self.base = {}
        ours = {mode.name for mode in MODES}
        for name, _, works, watches_one in self.tools:
            for work in works:
                for of in (WATCHED, ANOTHER) if watches_one else (None,):
                    code = sources.fingerprint(work.probes, name) if name in ours else None
                    results.expect((work.name, name, of), "ns", goal_of(work, name, of), code)

    def count(self, work):
        return max(40, work.count // self.divisor)

    def round(self):
        """Measures all tools once."""
        if not self.works:
            return
        with contextlib.ExitStack() as stack:
            workers = [stack.enter_context(worker(self.setup)) for _ in range(2)]
            self._take_base(workers)
            for name, tool, works, watches_one in self.tools:
                keys = [(work.name, name, of) for work in works
                        for of in ((WATCHED, ANOTHER) if watches_one else (None,))]
                if all(map(self.results.gave_up, keys)):
                    continue
                try:
                    self._take_tool(tool, works, watches_one, workers)
                except CannotRun as reason:
                    for key in keys:
                        self.results.fail(key, reason)

    def _take_base(self, workers):
        try:
            with self.others.observed():
                self.base = {(work.name, i): one.ns(work, self.count(work))
                             for i, one in enumerate(workers) for work in self.works}
        except CannotRun as reason:
            raise RoundFailed(f"events: {reason}") from reason

    def _take_tool(self, tool, works, watches_one, workers):
        """Measures one tool between two measurements without a tool."""
        before, clean, lost = self.base, self.others.clean, {}
        self.results.say(f"events: {tool.name}")
        if tool.wraps:
            attached = Attached()
            with worker(self.setup, before=self.setup.argv(tool)) as inner:
                own = Running.of(self.setup, tool, inner.workload.process)
                taken = self._take(own, works, [inner, workers[1]])
                attached.look(own.process.pid)
            attached.wait_until_detached()
        else:
            with Running(self.setup, tool, workers[0].pid) as running:
                taken = self._take(running, works, workers[:2 if watches_one else 1])
            lost = {key: number for key, number in (running.end or {}).get("losses", {}).items()
                    if number}
        clean = clean and self.others.clean
        self._take_base(workers)
        clean = clean and self.others.clean
        for i, work, ns, own in taken:
            of = (WATCHED, ANOTHER)[i] if watches_one else None
            base = (before[work.name, i] + self.base[work.name, i]) / 2
            self.results.add((work.name, tool.name, of), ns - base, base, own, clean)
            if lost:
                self.results.note((work.name, tool.name, of), f"lost in a round: {lost}")

    def _take(self, running, works, workers):
        taken = []
        for i, one in enumerate(workers):
            for work in works:
                count, cpu = self.count(work), running.cpu_ns()
                ns = one.ns(work, count)
                taken.append((i, work, ns, (running.cpu_ns() - cpu) / count))
        self.others.look(running.own_programs())
        return taken
