# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that every output names each kind of lost event, and the number of lost events of this
kind. One kind is records that did not fit into the full ring buffer."""

import html
import json
import os
import re
import signal
from pathlib import Path

from harness import INCOMPLETE, RECORDINGS, Lines, Skip, live, until
from placeless import changed

# members of struct fs_losses
KEYS = ("ring", "map", "slot", "coalesced", "missed", "stack", "growth")
LOST = {"ring": 70101, "map": 70202, "slot": 70303, "missed": 70505, "stack": 70606,
        "growth": 70707}
SAID = {"ring": "records lost because the ring buffer was full",
        "map": "processes lost because a BPF map was full or busy",
        "slot": "faults without latency",
        "missed": "events that the kernel skipped",
        "stack": "user stacks that could not be read or stored",
        "growth": "changes of maps and fds lost because the growth table was full"}
DROPPED = {"ring": "ring", "map": "process_map", "slot": "fault_slot", "missed": "missed"}
ENDED = 4000  # number of processes, more than fit into the ring buffer


def losing(lost):
    """Returns the bytes of a recording in which every scan lost these numbers of events."""
    def lose(name, fields):
        if name == "tick":
            fields.update({(f"losses.{key}", 0): lost.get(key, 0) for key in KEYS})

    return changed((RECORDINGS / "forecast_of_a_leak.fsr").read_bytes(), lose)


def numbers_in(text):
    """Returns {kind of loss: number} of a text such as "70,101 records lost because the ..."."""
    found, text = {}, " ".join(text.split())
    for key, words in SAID.items():
        said = re.search(rf"([\d,]+) {words}", text)
        if said:
            found[key] = int(said[1].replace(",", ""))
    return found


def texts_of(lab, recording):
    """Yields each text output for a recording, and the standard error of each command."""
    page = lab.faultscope("report", "--html", recording)
    yield "report --html", re.sub(r"<[^>]*>", "", html.unescape(page.out))
    yield "report --html, standard error", page.err
    for words in (["info"], ["replay"], ["diff", recording], ["report", "--format", "text"],
                  ["report", "--format", "csv"], ["report", "--format", "folded-faults"]):
        yield " ".join(map(str, words[:1] + words[2:])) + ", standard error", \
            lab.faultscope(*words, recording).err
    yield "report --format text", lab.faultscope("report", "--format", "text", recording).out


def json_lines(lab, recording):
    yield "replay --json", Lines(lab.faultscope("--replay", recording, "--json").out).losses()
    for line in lab.faultscope("report", "--format", "jsonl", recording).out.splitlines():
        losses = json.loads(line).get("losses")
        if losses:
            yield "report --format jsonl", {key: n for key, n in losses.items()
                                            if n and key != "coalesced"}


def test_each_loss_is_in_each_output(check, lab):
    recording = lab.dir / "lossy.fsr"
    recording.write_bytes(losing(LOST))
    for what, text in texts_of(lab, recording):
        check.equal(what, numbers_in(text), LOST)
    for what, losses in json_lines(lab, recording):
        check.equal(what, losses, LOST)
    page = lab.faultscope("report", "--format", "textfile", recording, "-o", lab.dir / "page.prom")
    check.equal("textfile, status", page.returncode, INCOMPLETE)
    metrics = (lab.dir / "page.prom").read_text()
    for key, label in DROPPED.items():
        check.that(re.search(rf'dropped\w*{{[^}}]*"{label}"[^}}]*}} {LOST[key]}\n', metrics),
                   f"textfile: {label}")
    said = json.loads(lab.faultscope("info", "--json", recording).out)
    check.equal("info, all of them", said["lost"], sum(LOST.values()))


def test_one_loss_is_enough(check, lab):
    """If only one kind of event was lost, the exit status is 7, and the output names only this
    kind."""
    for key, n in LOST.items():
        recording = lab.dir / f"{key}.fsr"
        recording.write_bytes(losing({key: n}))
        ran = lab.faultscope("--replay", recording, "--json")
        check.equal(f"{key}: status", ran.returncode, INCOMPLETE)
        check.equal(f"{key}: losses", Lines(ran.out).losses(), {key: n})
        check.equal(f"{key}: standard error", numbers_in(ran.err), {key: n})
    recording = lab.dir / "none.fsr"
    recording.write_bytes(losing({"coalesced": 5}))
    ran = lab.faultscope("--replay", recording, "--json")
    check.equal("equal events in one are no loss", (ran.returncode, numbers_in(ran.err)), (0, {}))


def forks():
    """Returns how many processes and threads the machine has started since its boot."""
    return int(re.search(r"^processes (\d+)", Path("/proc/stat").read_text(encoding="ascii"), re.M)[1])


@live
def test_a_full_ring_is_told(check, lab):
    """While faultscope is stopped, more processes exit than fit into the ring buffer."""
    watch = lab.watch()
    os.kill(watch.pid, signal.SIGSTOP)
    before = forks()
    try:
        ran = lab.call("sh", "-c", f"i=0; while [ $i -lt {ENDED} ]; do (:); i=$((i+1)); done")
        check.equal("the processes", ran.returncode, 0)
    finally:
        os.kill(watch.pid, signal.SIGCONT)
    said = len(watch.said())
    until(lambda: '"final":true' in watch.said()[said:], "a scan after the stop")
    capture = watch.stop()
    lines = Lines(capture.text)
    lost = lines.losses().get("ring", 0)
    if not lost and len(lines.of("process", final=True)) >= ENDED:
        raise Skip("the ring has room for all of them")
    check.between("records lost", lost, 1, 3 * (forks() - before))
    check.equal("status", capture.status, INCOMPLETE)
    check.equal("standard error", numbers_in(capture.stderr).get("ring"), lost)
    again = lab.replay(capture.recording)
    check.equal("replayed", Lines(again.text).losses().get("ring"), lost)
