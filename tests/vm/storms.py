# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests in a guest how faultscope handles many processes that grow at once. The guest's kernel may
preempt BPF programs."""
from lab import FAULTSCOPE, GuestDiagnosis
from test_growth_races import check_apart, check_descriptors
from harness import Lines

PROCESSES, GROWN = 6, 1500
FORMATS = ("folded", "folded-faults")


def storm(lab, program=FAULTSCOPE):
    """Runs `diagnose` on the workload `storm`. Returns the output lines, {format: folded stacks},
    and the workload's true values."""
    work = lab.work("storm", "apart", str(PROCESSES), str(GROWN), "--wait", "--hold")
    diagnosis = GuestDiagnosis(lab, work.pid, program)
    work.go()
    truth = work.truth()
    lines = Lines(diagnosis.stop().text)
    work.end()
    folded = {name: lab.faultscope("report", "--format", name, diagnosis.recording).out
              for name in FORMATS}
    return lines, folded, truth


def stacks(check, lab):
    lines, folded, truth = storm(lab)
    for text in folded.values():
        check_apart(check, text, PROCESSES)
    check_descriptors(check, lines, truth, GROWN)
    print(f"# {lab.release}: {lines.losses().get('missed', 0)} events missed in a storm of"
          f" {PROCESSES} processes")


ALL = {"stacks of many processes": stacks}
