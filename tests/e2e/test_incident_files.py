# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that every incident that is listed is complete: faultscope may be killed while it writes, and
the disk may be full."""
import json
import os
import random
import re
import signal
import time
from pathlib import Path

from harness import INCOMPLETE, RECORDINGS, Lines, lines_to, live, until
from test_incidents import Watched, named, watched
from test_out_of_memory import ALL_CHAINS, check_each_fails_once
from test_pressure import tmpfs

KILLS = 12
COUNTED = re.compile(r"faultscope: incomplete: lost: \d+ [^;]*\n")
DRAWN = random.Random(1)


def check_whole(check, lab, seen):
    """Checks that each file of the store can be read to its end. Returns the listed incidents."""
    listed = seen.listed()
    for one in listed:
        check.that(one["readable"], f"{one['file']} is listed and cannot be read")
        ran = lab.faultscope("report", "--format", "jsonl", one["file"], "-o", "/dev/null")
        # A loss that the exporter counted is no damage of the file.
        check.that(ran.returncode == 0 or ran.returncode == INCOMPLETE and COUNTED.fullmatch(ran.err),
                   f"{one['file']}: status {ran.returncode}, {ran.err}")
    return listed


@live
def test_killed_while_it_stores_an_incident(check, lab):
    """SIGKILL at any time of a write leaves the earlier incidents, and no broken one."""
    stored = set()
    for _ in range(KILLS):
        seen = Watched(lab, "--incident.on", "none", calm=0)
        for _ in range(3):
            seen.exporter.send_signal(signal.SIGUSR1)
            time.sleep(DRAWN.uniform(0, 0.03))
        seen.exporter.kill()
        seen.exporter.communicate()
        paths = {one["file"] for one in check_whole(check, lab, seen)}
        check.equal("earlier incidents that are missing", sorted(stored - paths), [])
        stored = paths
    print(f"# {len(stored)} incidents of {KILLS} exporters that were killed")
    check.that(len(stored) >= KILLS / 2, f"{len(stored)} incidents")
    # the next exporter removes what is too old to be the file of a writer that lives
    hour_ago = time.time() - 3600
    for path in seen.store.glob(".faultscope.*"):
        os.utime(path, (hour_ago, hour_ago))
    with watched(lab, "--incident.on", "none", calm=0) as seen:
        check.equal("files of writes that were interrupted",
                    [path.name for path in seen.store.iterdir()
                     if path.suffix not in (".fsr", ".socket")], [])


@live
def test_no_file_of_the_store_is_missing_silently(check, lab):
    """If one call that uses files fails while incidents are read, the output is complete or names
    the error: an incident that cannot be read is not one that does not exist."""
    with watched(lab, "--incident.on", "none", calm=1) as seen:
        for reason in ("first", "second"):
            asked = lab.faultscope("snapshot", "--store", seen.store, reason)
            check.equal(f"snapshot {reason}", asked.returncode, 0)
        until(lambda: len(seen.listed()) == 2, "two incidents")
    for words in (("incidents",), ("incidents", "--json"), ("incidents", "show", "2"),
                  ("incidents", "report", "1"), ("incidents", "compare", "1")):
        check_each_fails_once(check, lab, ALL_CHAINS, *words, "--store", seen.store, calls="files",
                              least=1)


def test_file_that_is_no_incident(check, lab):
    """A file of the store that is damaged, or no incident, is listed with the reason."""
    store = lab.dir / "store"
    store.mkdir()
    whole = (RECORDINGS / "faults_of_each_kind.fsr").read_bytes()
    for name, content, why in (("1", b"", "damaged, or no recording"),
                               ("2", whole[:60], "damaged, or no recording"),
                               ("3", whole, "no recording of an incident")):
        path = store / f"20260101T00000{name}.000Z-x.fsr"
        path.write_bytes(content)
        ran = lab.faultscope("incidents", "--json", "--store", store)
        check.equal(f"{why}: status", ran.returncode, INCOMPLETE)
        line = json.loads(ran.out.splitlines()[0])
        check.equal("file", (line["file"], line["readable"], line["why"]), (str(path), False, why))
        ran = lab.faultscope("incidents", "--store", store, "--width", "200")
        check.that(f"{path}: {why}" in ran.out, ran.out)
        files = "file" if name == "1" else "files"
        check.that(f"{name} of {name} {files} in {store} cannot be read" in ran.err, ran.err)
        ran = lab.faultscope("incidents", "show", "1", "--store", store, "--width", "200")
        check.equal("show", (ran.returncode, ran.out), (INCOMPLETE, f"{path}: {why}\n"))


@live
def test_full_disk_of_incidents(check, lab):
    """On a full disk, the exporter says so and goes on. Earlier incidents are unchanged, and the next
    one is stored when there is room again."""
    with tmpfs(lab, 2, "incidents") as place, \
            watched(lab, "--incident.on", "none", "--incident.after", "0", calm=0) as seen:
        first = lab.faultscope("snapshot", "--store", place, "room")
        check.equal("with room", first.returncode, 0)
        before = Path(first.out.strip()).read_bytes()
        filler = place / "filler"
        with filler.open("wb", buffering=0) as file:
            for step in (65536, 1):
                try:
                    while True:
                        file.write(bytes(step))
                except OSError:
                    pass
        full = lab.faultscope("snapshot", "--store", place, "full")
        check.that(full.returncode and "cannot be written" in full.err, full.err)
        check.equal("the first incident", Path(first.out.strip()).read_bytes(), before)
        said = lines_to(seen.exporter.stderr, "No space left")[-1]  # log lines come before
        check.that("No space left on device" in said and "watching continues" in said, said)
        filler.unlink()
        until(lambda: lab.faultscope("snapshot", "--store", place, "again").returncode == 0,
              "an incident after there is room")
        check.that(len(check_whole(check, lab, seen)) >= 2, "two incidents")


# Reaches RLIMIT_NOFILE, and ends.
STORM = """import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
held = []
for _ in range(120):
    try:
        held.append(open("/dev/null"))
    except OSError:
        pass
"""
STORMS, PROCESSES = 10, 8
FAILED = 23  # 3 descriptors are open when the program begins


@live
def test_nothing_is_lost_in_storms_of_triggers(check, lab):
    """Many processes reach a limit at once, again and again, while incidents are written: no event is
    lost, and the last incident contains each process and the calls that failed."""
    program = named(lab, "ten-storms")
    script = f'for i in $(seq {PROCESSES}); do "$1" -c "$2" & done; wait'
    with watched(lab, "--export.calls", "--incident.cause", "rlimit_nofile", "--incident.rest", "0",
                 calm=0) as seen:
        for number in range(STORMS):
            lab.call("sh", "-c", script, "sh", program, STORM)
            if number == STORMS / 2:  # beside automatic incidents, two may wait for their end
                seen.exporter.send_signal(signal.SIGUSR1)
        ran = lab.faultscope("snapshot", "--store", seen.store, "the last one")
        check.equal(f"snapshot: {ran.err}", ran.returncode, 0)
        last = ran.out.strip()
        seen.stop()
        listed = seen.listed()
    check.that(any(one["comm"] == "ten-storms" for one in listed), "an incident of a storm")
    ran = lab.faultscope("report", "--format", "jsonl", last)
    lines = Lines(ran.out)
    mine = [one for one in lines.all if one["type"] == "process" and one["comm"] == "ten-storms"]
    check.equal("processes", len({one["pid"] for one in mine}), STORMS * PROCESSES)
    check.equal("losses", {name: n for name, n in lines.losses().items() if n}, {})
    last = {one["pid"]: one["fds"]["failed"] for one in mine}  # counts since the begin
    check.equal("failed calls of the processes", set(last.values()), {FAILED})
