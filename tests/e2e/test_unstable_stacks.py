# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stack walks end, and each mapping is counted, while the walked program overwrites its own stack,
cannot be read, loads and unloads libraries, or forks. No stack shows a frame that is not there."""

import shutil
import subprocess

from harness import Lines, Skip, live
from test_diagnose import FOUND, Diagnosis
from test_stacks import LIBRARY, prepare

MAPS = 600
BROKEN = 20  # number of outer frames that the workload overwrites
LIBRARIES = 1000
REASONS = {"entry", "chain-end", "gap", "missing-table", "outside", "not-expressible",
           "register-lost", "read-failed", "no-progress", "too-deep", "unreadable-file", "no-room",
           "null"}


def unstable(check, lab, way, *options, maps=MAPS):
    """Returns the growth groups of the workload, and the last line of the output."""
    prepare(lab)
    work = lab.work("unstable", way, str(maps), "--wait", "--hold", *options)
    diagnosis = Diagnosis(lab, work.pid)
    work.go()
    truth = work.truth()
    capture = diagnosis.stop()
    work.process.kill()
    check.that(capture.status in (0, FOUND), f"{capture.status}: {capture.stderr}")
    lines = Lines(capture.text)
    groups = [group for line in lines.of("growth", truth["pid"], what="maps")[-1:]
              for group in line["groups"] if any("map_one" in frame for frame in group["stack"])]
    for group in groups:
        check.that(str(group["stack_end"]) in REASONS | {"None"}, f"reason: {group['stack_end']}")
        check.that(group["stack_end"] == "entry" or group["stack_truncated"],
                   f"not marked as short: {group}")
    return groups, lines.all[-1]


def built_library(lab):
    if not shutil.which("cc"):
        raise Skip("cc is missing")
    source, library = lab.dir / "called.c", lab.dir / "libcalled.so"
    source.write_text(LIBRARY)
    # without a build ID, each copy of the file has a table of its own
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-shared", "-fPIC", "-Wl,--build-id=none",
                    "-DBYTES=300", source, "-o", library], check=True)
    return library


def own(group, module="unstable"):
    return [frame.split(" ")[0] for frame in group["stack"] if frame.endswith(f"({module})")]


@live
def test_stack_that_another_thread_overwrites(check, lab):
    groups, last = unstable(check, lab, "scribble")
    walked = sum(last["walks"].values())
    check.that(walked >= MAPS, f"{walked} walks: {last['walks']}")
    check.that(groups, "no stacks")
    for group in groups:
        # frames that are not overwritten
        check.equal("innermost", own(group)[:3], ["map_one", "map_all", "never_return"])
        check.that(len(group["stack"]) <= 256 + 1, f"{len(group['stack'])} frames")


@live
def test_stack_of_which_a_part_cannot_be_read(check, lab):
    groups, last = unstable(check, lab, "protected")
    check.equal("mappings", sum(group["created"] for group in groups), MAPS)
    # calls of one place above a rate are counted for the stack of the last one that was walked
    walks = last["walks"]
    check.that(walks.get("read-failed", 0) + walks.get("not-walked", 0) >= MAPS, str(walks))
    check.that(walks.get("read-failed", 0) > 0, str(walks))
    for group in groups:
        check.equal("ends at", group["stack_end"], "read-failed")
        wanted = ["map_one", "map_all", "never_return"]
        check.equal("innermost", own(group)[:3], wanted)
        check.that(set(own(group)[3:]) == {"outer"}, f"frames: {group['stack']}")


@live
def test_library_that_is_loaded_and_unloaded_again_and_again(check, lab):
    library = built_library(lab)
    groups, _ = unstable(check, lab, "reload", "--library", str(library))
    check.equal("mappings", sum(group["created"] for group in groups), MAPS)
    for group in groups:
        if group["stack_end"] == "entry":
            check.equal("functions", own(group),
                        ["map_one", "map_next", "by_reload", "main", "_start"])
            # the library may have gone before faultscope opened it: its frame then has no name
            stack = group["stack"]
            frames = stack[stack.index("map_next (unstable)") + 1:stack.index("by_reload (unstable)")]
            check.that(frames in (["call_back (libcalled.so)"], ["[unknown]"]), f"library: {stack}")


@live
def test_children_that_exit_at_once(check, lab):
    """Tests that each child of a fork has the tables of its parent for its only mapping."""
    _, last = unstable(check, lab, "forks", maps=200)
    walks = last["walks"]
    check.that(walks.get("entry", 0) >= 200, str(walks))


@live
def test_a_thousand_libraries(check, lab):
    library = built_library(lab)
    for i in range(LIBRARIES):
        shutil.copy(library, f"{library}.{i}")
    groups, last = unstable(check, lab, "libraries", "--library", str(library), "--libraries",
                            str(LIBRARIES))
    check.equal("mappings", sum(group["created"] for group in groups), MAPS)
    check.equal("walks", last["walks"].get("entry", 0) >= MAPS, True)
    for group in groups:
        check.equal("ends at", group["stack_end"], "entry")
        # faultscope keeps at most 512 files open for names; the last library may have no name
        check.equal("the first library", own(group, "libcalled.so.0"), ["call_back"])
        after = group["stack"].index("map_all (unstable)") + 2
        check.equal("behind the last library", group["stack"][after], "through_last (unstable)")
        check.equal("functions", own(group),
                    ["map_one", "map_all", "through_last", "by_libraries", "main", "_start"])
