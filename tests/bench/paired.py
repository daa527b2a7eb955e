# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the time that tools add to an operation. The runs of a round are: without a tool, with
tool A, without a tool, with tool B, and so on."""
from procs import PIN, CannotRun, Running, Workload
from report import Group


def alone(setup, program, kind, count, options):
    with Workload(setup, program, kind, count, "--pin", PIN, *options) as work:
        work.go()
        return work.truth()["ns_per_op"]


def beside(setup, tool, program, kind, count, options):
    """Measures an operation while a tool runs. Returns the time of one operation in ns and, if the
    tool is faultscope, its last output line."""
    count = max(int(count * tool.share), 1000)
    words = program, kind, count, "--pin", PIN, *options
    if tool.wraps:
        with Workload(setup, *words, before=setup.argv(tool)) as work:
            work.go()
            return work.truth()["ns_per_op"], None
    with Workload(setup, *words) as work:
        with Running(setup, tool, work.pid) as running:
            work.go()
            ns = work.truth()["ns_per_op"]
        return ns, running.end


def note_losses(group, tool, end):
    lost = {key: number for key, number in (end or {}).get("losses", {}).items() if number}
    if lost:
        group.note(f"{tool.name} lost {lost}")


def measure(setup, name, title, kind, count, tools, rounds, say, *options, program="bench"):
    """Returns a Group with the time in ns that each tool adds. This time is the time of a run with
    the tool, minus the mean time of the runs without a tool before and after this run."""
    group = Group(name, title, "ns")
    baselines = [alone(setup, program, kind, count, options)]
    for number in range(rounds):
        say(f"{name}: round {number + 1} of {rounds}")
        for tool in tools:
            if group.is_skipped(tool.name) or (tool.once and number):
                continue
            try:
                ns, end = beside(setup, tool, program, kind, count, options)
            except CannotRun as reason:
                group.skip(tool.name, reason)
                continue
            baselines.append(alone(setup, program, kind, count, options))
            group.add(tool.name, ns - (baselines[-2] + baselines[-1]) / 2)
            note_losses(group, tool, end)
    group.set("baseline (not added)", baselines)
    return group
