# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""User stacks of code without frame pointers reach from the system call to the start of the thread,
also in a forked child, and in a library that was just loaded."""

import json
import shutil
import subprocess

from harness import Lines, Skip, live, workload_path
from test_diagnose import FOUND, Diagnosis

MAPS = 400
OWN = ["map_all", "on_signal", None, "by_signal", "compare", "by_callback", "realigned",
       "of_late_size", "large_frame"]
LIBRARY = """
void call_back(void (*f)(void))
{
	volatile char frame[BYTES];

	frame[0] = 1;
	f();
	__asm__ volatile("" : : "r"(frame) : "memory");
}
"""


def growth_of(lab, way, *options):
    """Returns the growth groups of the workload or its child, and what the workload printed."""
    work = lab.work("callers", way, str(MAPS), "--wait", "--hold", *options)
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.end()
    assert capture.status in (0, FOUND), capture.stderr
    pid = truth.get("child", truth["pid"])
    lines = Lines(capture.text).of("growth", pid, what="maps")
    assert lines, f"no growth of {pid}"
    return lines[-1]["groups"], truth


def walks_by_tables(lab):
    """Returns whether this kernel supports stack walks with unwind tables (bpf_loop())."""
    version = tuple(int(part) for part in lab.release.split("-")[0].split(".")[:2])
    return version >= (5, 17)


def own_functions(stack):
    return [frame.split(" ")[0] for frame in stack if frame.endswith("(callers)")]


def own_functions_among(stack, names):
    """Returns the functions of a stack that are in `names`. A static program also contains the
    functions of libc."""
    return [name for name in own_functions(stack) if name in names]


def check_whole(check, groups, truth, first, merged=0):
    """Checks that the stacks have as many frames as backtrace(3) finds, and end at the entry. At
    most `merged` mappings became part of a mapping that existed before."""
    of_map = [group for group in groups if any("map_one" in frame for frame in group["stack"])]
    seen = [(one["created"], one["stack_end"], len(one["stack"]), one["stack"][:2])
            for one in groups]
    check.between(f"mappings of {seen}", sum(group["created"] for group in of_map), MAPS - merged,
                  MAPS)
    for group in of_map:
        check.equal("ends at", group["stack_end"], "entry")
        check.that(not group["stack_truncated"], "truncated")
        # backtrace(3) is called in map_one(), so its stack lacks the frame of mmap()
        check.equal(f"frames of {group['stack']}", len(group["stack"]), truth["depth"] + 1)
        wanted = ["map_one", *(name for name in OWN if name), *first]
        own = own_functions_among(group["stack"], wanted)
        check.equal("functions", own[:len(wanted)], wanted)


EXECS = 8


def check_sure(check, groups, first):
    """Checks that all frames of a stack are right, and that an incomplete stack is marked."""
    wanted = ["map_one", *(name for name in OWN if name), *first]
    sure = 0
    for group in groups:
        own = own_functions(group["stack"])
        if "map_one" not in own:
            continue
        if group["stack_end"] == "entry":
            check.equal("functions", own[:len(wanted)], wanted)
            sure += group["created"]
        else:
            check.that(group["stack_truncated"] or own == wanted, f"not marked: {group}")
    return sure


def prepare(lab):
    if not walks_by_tables(lab):
        raise Skip("bpf_loop() is of Linux 5.17")


@live
def test_whole_stack_without_frame_pointers(check, lab):
    prepare(lab)
    check_whole(check, *growth_of(lab, "plain"), ["by_plain", "main", "_start"])


@live
def test_whole_stack_of_a_thread(check, lab):
    prepare(lab)
    check_whole(check, *growth_of(lab, "thread"), ["in_thread"])


@live
def test_whole_stack_of_a_forked_child(check, lab):
    """Tests that a forked child uses the unwind tables of its parent from its first call on."""
    prepare(lab)
    check_whole(check, *growth_of(lab, "fork"), ["by_fork", "main", "_start"])


@live
def test_whole_stack_of_a_fatal_signal(check, lab):
    prepare(lab)
    work = lab.work("callers", "crash", str(MAPS), "--wait", "--hold")
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    lines = Lines(diagnosis.stop().text)
    work.end()
    told = lines.of("signal", truth["child"])
    check.equal("signal lines", len(told), 1)
    for line in told:
        check.equal("ends at", line["stack_end"], "entry")
        check.equal(f"frames of {line['stack']}", len(line["stack"]), truth["depth"])
        own = own_functions(line["stack"])
        wanted = ["map_one", *(name for name in OWN if name), "by_crash", "main", "_start"]
        check.equal("functions", own, wanted)


@live
def test_whole_stacks_across_execs(check, lab):
    """Tests that exec drops the unwind tables of the old program, which would give wrong frames."""
    prepare(lab)
    groups, _ = growth_of(lab, "plain", "--execs", str(EXECS))
    sure = check_sure(check, groups, ["by_plain", "main", "_start"])
    check.that(sure >= MAPS, f"only {sure} of {(EXECS + 1) * MAPS} mappings have whole stacks")


def make_library(lab, name="called", frame_bytes=300):
    if not shutil.which("cc"):
        raise Skip("cc is missing")
    source, library = lab.dir / f"{name}.c", lab.dir / f"lib{name}.so"
    source.write_text(LIBRARY)
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC",
                    f"-DBYTES={frame_bytes}", source, "-o", library], check=True)
    return library


@live
def test_whole_stack_through_a_library_that_was_just_loaded(check, lab):
    prepare(lab)
    library = make_library(lab)
    groups, truth = growth_of(lab, "library", "--library", str(library))
    check_whole(check, groups, truth, ["call_by", "by_library", "main", "_start"])
    check.that(any("call_back (libcalled.so)" in group["stack"] for group in groups),
               f"the library is in no stack: {groups}")


def deep_stacks(check, lab, calls):
    """Returns the growth groups of mappings that are made below this number of recursive calls."""
    prepare(lab)
    groups, _ = growth_of(lab, "deep", "--calls", str(calls))
    of_map = [group for group in groups if any("map_one" in frame for frame in group["stack"])]
    check.equal("mappings", sum(group["created"] for group in of_map), MAPS)
    return of_map


@live
def test_deep_stack_keeps_its_innermost_and_outermost_frames(check, lab):
    for group in deep_stacks(check, lab, 700):
        stack = group["stack"]
        check.equal("ends at", group["stack_end"], "entry")
        check.that(not group["stack_truncated"], "truncated")
        own = own_functions(stack)
        wanted = ["map_one", *(name for name in OWN if name), "recurse"]
        check.equal("innermost functions", own[:len(wanted)], wanted)
        check.equal("outermost functions", own[-4:], ["recurse", "by_deep", "main", "_start"])
        check.equal("gaps", stack.count("[more native frames]"), 1)
        check.equal("the gap is at", stack.index("[more native frames]"), 192)
        check.equal("frames", len(stack), 256 + 1)


@live
def test_stack_that_is_too_deep_says_so(check, lab):
    for group in deep_stacks(check, lab, 5000):
        check.equal("ends at", group["stack_end"], "too-deep")
        check.that(group["stack_truncated"], "not marked as truncated")
        check.equal("frames", len(group["stack"]), 192)
        check.equal("gaps", group["stack"].count("[more native frames]"), 0)


def check_failed_call(check, lines, truth, first):
    """Checks that the stack of the only failed call has as many frames as backtrace(3) finds."""
    calls = [line for line in lines.of("failed_call", truth["pid"]) if line["call"] == "mmap"]
    check.equal("failed calls", len(calls), 1)
    for call in calls:
        check.equal("ends at", call["stack_end"], "entry")
        check.that(not call["stack_truncated"], "truncated")
        check.equal(f"frames of {call['stack']}", len(call["stack"]), truth["depth"] + 1)
        own = own_functions(call["stack"])
        wanted = ["map_one", *(name for name in OWN if name), *first]
        check.equal("functions", own[:len(wanted)], wanted)


@live
def test_whole_stack_of_the_first_failed_call(check, lab):
    """Tests the first call that faultscope sees of a process, before its unwind tables are made.

    The process lives on, because faultscope cannot read the mappings of a process that ended."""
    prepare(lab)
    out, _ = lab.new_output()
    callers = f"{workload_path('callers')} plain 1 --refused --hold"
    ran = lab.faultscope("run", "--json", "-o", out, "--", "sh", "-c", f"sleep 2 | {callers}")
    check_failed_call(check, Lines(out.read_text()), json.loads(ran.out),
                      ["by_plain", "main", "_start"])


@live
def test_whole_stack_of_a_call_right_after_dlopen(check, lab):
    prepare(lab)
    library = make_library(lab)
    work = lab.work("callers", "library", "1", "--wait", "--hold", "--refused", "--at-once",
                    "--library", str(library))
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    lines = Lines(diagnosis.stop().text)
    work.end()
    check_failed_call(check, lines, truth, ["call_by", "by_library", "main", "_start"])


@live
def test_stack_through_a_library_at_the_address_of_another(check, lab):
    """Tests that the unwind table of an unloaded library is not used for the next library there."""
    prepare(lab)
    libraries = make_library(lab), make_library(lab, "then", 1200)
    work = lab.work("callers", "library", "1", "--wait", "--hold", "--refused", "--at-once",
                    "--library", str(libraries[0]), "--then", str(libraries[1]))
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    lines = Lines(diagnosis.stop().text)
    work.end()
    check.that(truth["same_address"], "the libraries have different addresses")
    calls = [line for line in lines.of("failed_call", truth["pid"]) if line["call"] == "mmap"]
    check.equal("failed calls", len(calls), 2)
    check.equal("the first ends at", calls[0]["stack_end"], "entry")
    for call, library in zip(calls, libraries):
        if call["stack_end"] != "entry":
            check.that(call["stack_truncated"], "not marked")
            continue
        wanted = [*(name for name in OWN if name), "call_by", "by_library", "main", "_start"]
        check.equal("functions", own_functions(call["stack"]), ["map_one", *wanted])
        check.equal("frames", len(call["stack"]), truth["depth"] + 1)
        by = [frame for frame in call["stack"] if frame.startswith("call_back")]
        # an unloaded library may have no name any more
        check.that(by in ([], [f"call_back ({library.name})"]), f"{by} is not {library.name}")
