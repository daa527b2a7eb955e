# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of the live view: the screens of recordings are compared with those in tests/e2e/screens,
and every key is pressed in tmux.

FS_MAKE_SCREENS=1 in the environment rewrites the kept screens; review the changes.
"""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from harness import (BUILD, FAULTSCOPE, RECORDINGS, Lines, Skip, Workload, live, status_by, until,
                     workload_path)
from tmux import ENDED, Tmux, expect

SCREENS = Path(__file__).resolve().parent / "screens"
FORECAST, KINDS = "forecast_of_a_leak", "descriptors_of_each_kind"
CHILDREN = "brief_children_among_all-close"
# {name of a screen: recording, width, height, colours, keys}
KEPT = {
    "faults-60": (CHILDREN, 60, 20, "mono", ""),
    "faults-80": (CHILDREN, 80, 24, "mono", ""),
    "faults-120": (CHILDREN, 120, 30, "mono", ""),
    "faults-200": (CHILDREN, 200, 40, "colour", ""),
    "faults-ascii": (CHILDREN, 100, 24, "ascii", ""),
    "small": (CHILDREN, 40, 8, "mono", ""),
    "tree": (CHILDREN, 100, 24, "mono", "t"),
    "filter": (CHILDREN, 100, 24, "mono", "/python^M"),
    "sort-by-name": (CHILDREN, 100, 24, "mono", "S"),
    "maps": (FORECAST, 120, 16, "colour", "2"),
    "fds": (KINDS, 120, 16, "mono", "3"),
    "memory": (CHILDREN, 160, 24, "mono", "4"),
    "kernel": (FORECAST, 100, 40, "mono", "5"),
    "findings": (FORECAST, 100, 12, "colour", "6"),
    "finding": (FORECAST, 100, 50, "mono", "6^M"),
    "process-80": (FORECAST, 80, 50, "mono", "^M"),
    "process-120": (FORECAST, 120, 60, "colour", "^M"),
    "diagnosis": (FORECAST, 100, 40, "mono", "d"),
    "kernel-faults": ("probing_reads_of_the_kernel", 100, 40, "mono", "5"),
    "help": (FORECAST, 80, 40, "mono", "?"),
}


def screen_of(recording, width, height, how, keys):
    program = BUILD / "screens"
    if not program.exists():
        raise Skip("build/screens is not built: make build/screens")
    return subprocess.run([program, RECORDINGS / f"{recording}.fsr", str(width), str(height), how,
                           keys], capture_output=True, check=True, text=True, timeout=60).stdout


def test_screens_of_recordings(check, lab):
    for name, case in KEPT.items():
        got = screen_of(*case)
        kept = SCREENS / f"{name}.txt"
        if os.environ.get("FS_MAKE_SCREENS"):
            SCREENS.mkdir(exist_ok=True)
            kept.write_text(got)
        want = kept.read_text().splitlines()
        for i, (one, other) in enumerate(zip(got.splitlines(), want)):
            if not check.that(one == other, f"{name}, line {i + 1}:\n {one!r}, kept is\n {other!r}"):
                break
        check.equal(f"{name}: lines", len(got.splitlines()), len(want))


SITUATIONS = SCREENS / "situations"
SIZES = (80, 24), (120, 40), (200, 50)


def situation(name=None, width=0, height=0):
    program = BUILD / "situations"
    if not program.exists():
        raise Skip("build/situations is not built: make build/situations")
    words = [name, str(width), str(height)] if name else []
    return subprocess.run([program, *words], capture_output=True, check=True, text=True,
                          timeout=60).stdout


def test_screens_of_situations(check, lab):
    """Each situation that a user meets is drawn as it is kept, at three sizes."""
    names = situation().split()
    check.that(len(names) >= 12, f"only {names}")
    for name in names:
        for width, height in SIZES:
            got = situation(name, width, height)
            kept = SITUATIONS / f"{name}-{width}.txt"
            if os.environ.get("FS_MAKE_SCREENS"):
                SITUATIONS.mkdir(exist_ok=True)
                kept.write_text(got)
            check.equal(f"{name} at {width} by {height}", got, kept.read_text())


def first_row(screen):
    lines = screen.splitlines()
    return lines[next(i for i, line in enumerate(lines) if " PROCESS" in line) + 1]


def test_answers_on_the_first_screen(check, lab):
    """Which process will fail first, and who leaks file descriptors? The first row answers both, in
    spite of 500 other processes that just ended."""
    for width, height in SIZES:
        screen = situation("leak-among-short", width, height)
        check.that(re.search(r" 4211 .*api .*full in 4.1 s", first_row(screen)), screen)
        check.that("api[4211]: 900 of 1,024 file descriptors" in screen, screen)
        screen = situation("leak-fds", width, height)
        check.that(re.search(r" 4211 .*900 .* 4.1 s .*api", first_row(screen)), screen)
        screen = situation("two-full", width, height)
        rows = "\n".join(screen.splitlines()[6:8])
        check.that("loader" in rows and "proxy" in rows, f"what is at its limit is on top:\n{screen}")
        screen = situation("replay-end", width, height)
        check.that("] [ finding" in screen and "J time" in screen, "a time: keys of the footer")
        for script in (f"shard_{i:02}.py" for i in range(30) if height == 50):
            check.that(script in situation("pythons", width, height), script)


def in_tmux(lab, width, height, options="", **env):
    return Tmux(lab, width, height, f"cd /tmp; {FAULTSCOPE} {options} 0.2", **env)


@live
def test_view_keys(check, lab):
    """Each key must do what the help of the live view says. The test uses a view of running
    processes."""
    # A copy of fdleak with another name, since other tests run fdleak at the same time.
    program = lab.dir / "viewed"
    shutil.copy(workload_path("fdleak"), program)
    work = Workload(lab.spawn([program, "380", "--nofile", "400", "--hold"],
                              stdin=subprocess.PIPE), False)
    work.truth()
    tmux = in_tmux(lab, 140, 40)
    steps = [
        ("the table", [], [r"PID +(?:USER +)?.?MINFLT/s", r"\[?Faults\]?"]),
        ("/ asks", ["/"], [r"words; Enter: keep the filter"]),
        ("a filter", ["v", "i", "e", "w", "e", "d", "Enter"], ["filter: viewed"]),
        ("3: a tab by number", ["3"], [r"FDS +.?OF LIMIT", "viewed"]),
        ("Enter: who is nearest", ["Enter"], [r"Process viewed\[", r"fds +\S+ of 400"]),
        ("what it holds", [], [r"held at the start: \d+ file descriptors"]),
        ("d: diagnosis", ["d"], [r"Diagnosis of viewed\[", "checked:"]),
        ("Esc: back", ["Escape"], [r"Process viewed\["]),
        ("Esc: back again", ["Escape"], [r"FDS +.?OF LIMIT"]),
        ("Tab", ["Tab"], ["RSS TREND"]),
        ("Shift-Tab", ["BTab"], [r"FDS +.?OF LIMIT"]),
        ("6: findings", ["6"], [r"SEVERITY ID", r"viewed\["]),
        ("5: kernel", ["5"], ["Limits of this machine", "Probes", "faultscope itself"]),
        ("1: back", ["1"], ["PID +(?:USER +)?.?MINFLT/s"]),
        ("t: tree", ["t"], [r"\(1\)"]),
        ("t: parents", ["t"], [r"\(1\)|viewed"]),
        ("t: flat", ["t"], [r"filter: viewed"]),
        ("Esc forgets it", ["Escape"], [r"(?s)\A(?!.*filter: )"]),
        ("s sorts", ["s"], ["order: PID"]),
        ("S back", ["S"], ["order: findings, then faults"]),
        ("I inverts", ["I", "s"], ["order: PID, reversed"]),
        ("and back", ["I", "S"], ["order: findings, then faults"]),
        ("Space pauses", ["Space"], ["PAUSED"]),
        ("+ looks more often", ["+"], [r"a scan every 0.1 s"]),
        ("- less often", ["-"], [r"a scan every 0.2 s"]),
        ("C forgets", ["C"], ["trends begin anew"]),
        ("c: command lines", ["c"], [r"viewed 380 --nofile 400"]),
        ("c: names", ["c"], [r"viewed !F12"]),
        ("? helps", ["?"], ["move the cursor", "start a recording"]),
        ("h leaves it", ["h"], ["PID +(?:USER +)?.?MINFLT/s"]),
        ("Right", ["Right"], [r"PID +(?:USER +)?(?!.?MINFLT|USER)"]),
        ("Left", ["Left"], ["PID +(?:USER +)?.?MINFLT/s"]),
        ("j k G g", ["j", "k", "G", "g", "Down", "Up", "End", "Home", "NPage", "PPage"],
         ["PID +(?:USER +)?.?MINFLT/s"]),
    ]
    for what, keys, words in steps:
        for key in keys:
            tmux.keys(key)
        expect(check, tmux, what, *words)
    tmux.keys("q")
    # On a busy machine the summary is longer than the screen, and the beginning of the summary has
    # scrolled off.
    wrong = tmux.shows(ENDED, "faultscope: watched all processes", options=("-S", "-"))
    check.that(not wrong, f"q: the end: {wrong}")
    check.equal("the terminal's settings", tmux.file("after"), tmux.file("before"))
    check.that(not re.search(r"PID +(?:USER +)?.?MINFLT/s", tmux.screen()), "the screen is given back")
    tmux.close()
    work.go()
    work.end()


@live
def test_view_writes_a_recording(check, lab):
    work = lab.work("mapleak", "50000", "--rate", "200")
    tmux = in_tmux(lab, 140, 30)
    expect(check, tmux, "the table", "PID +(?:USER +)?.?MINFLT/s")
    tmux.keys("w")
    expect(check, tmux, "w", "recording to .*faultscope-.*fsr", "REC")
    path = Path("/tmp") / re.search(r"(faultscope-\S+\.fsr)", tmux.screen())[1]
    before = path.stat().st_size
    until(lambda: path.stat().st_size > before, "another look")
    tmux.keys("w")
    expect(check, tmux, "w again", "recorded: ")
    check.that("REC" not in tmux.screen().splitlines()[0], "it is no longer recording")
    tmux.keys("q")
    expect(check, tmux, "the end", ENDED)
    tmux.close()
    again = lab.faultscope("--replay", path, "--json")
    said = again.out
    check.equal("status of the replay", again.returncode, status_by(Lines(said)))
    check.that(f'"pid":{work.pid},' in said and '"comm":"mapleak"' in said,
               "the recording has the process by its name")
    check.that('"exe":' in said, "and by its program")
    path.unlink()
    work.process.terminate()


@live
def test_view_of_one_process(check, lab):
    work = lab.work("mapleak", "60000", "--rate", "1000")
    tmux = in_tmux(lab, 120, 50, f"-p {work.pid}")
    expect(check, tmux, "one process is shown at once", r"Process mapleak\[", "max_map_count")
    tmux.keys("End")
    expect(check, tmux, "with what it holds", "What it holds", r"held at the start: [\d,]+ mappings",
           "mmap", "syscall")
    tmux.keys("Escape")
    expect(check, tmux, "and the table is behind it", "PID +(?:USER +)?.?MINFLT/s")
    tmux.keys("q")
    expect(check, tmux, "the end", ENDED)
    tmux.close()
    work.process.terminate()


@live
def test_view_of_memory(check, lab):
    """Key m shows which code holds the memory of a process. Without --resident, it says what to do."""
    for options, words in (("--resident", [r"hold_mapping_120", r"95 % interval"]),
                           ("", [r"start faultscope with\s+--resident"])):
        work = lab.work("hold", "--wait", "--hold")
        tmux = in_tmux(lab, 120, 50, f"-p {work.pid} {options}")
        expect(check, tmux, "one process is shown at once", r"Process hold\[")
        work.go()
        work.truth()
        tmux.keys("m")
        expect(check, tmux, f"m with options {options}", r"Memory of hold\[", *words)
        tmux.keys("Escape")
        expect(check, tmux, "and the process is behind it", r"Process hold\[")
        tmux.keys("q")
        expect(check, tmux, "the end", ENDED)
        tmux.close()
        work.end()


def is_whole(lines, height):
    return (len(lines) == height and lines[0].startswith("faultscope ") and "? help" in lines[-1]
            and sum(" PROCESS" in line for line in lines) == 1)


@live
def test_view_sizes(check, lab):
    """With any terminal size, no line wraps, and the footer stays the last line."""
    tmux = in_tmux(lab, 100, 30)
    expect(check, tmux, "the table", "PID +(?:USER +)?.?MINFLT/s")
    for width, height in (60, 20), (80, 24), (200, 50), (300, 60), (30, 8), (120, 12), (61, 37):
        tmux.resize(width, height)
        try:
            until(lambda: is_whole(tmux.screen().splitlines(), height), "a whole screen")
        except AssertionError:
            check.that(False, f"{width} by {height}:\n{tmux.screen()}")
    tmux.keys("q")
    expect(check, tmux, "the end", ENDED)
    tmux.close()


@live
def test_view_is_never_broken(check, lab):
    """After any signal, the terminal has its former settings."""
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT", "SIGABRT", "SIGSEGV"):
        tmux = in_tmux(lab, 100, 30)
        expect(check, tmux, "the table", "PID +(?:USER +)?.?MINFLT/s")
        os.kill(tmux.pid(), getattr(signal, name))
        expect(check, tmux, name, "ended with")
        check.that("mouse_any_flag=0" in tmux.run("display-message", "-p",
                                                  "mouse_any_flag=#{mouse_any_flag}"),
                   f"{name}: the terminal still reports the mouse")
        check.equal(f"{name}: settings", tmux.file("after"), tmux.file("before"))
        check.that(not re.search(r"PID +(?:USER +)?.?MINFLT/s", tmux.screen()), f"{name}: the screen is not given back")
        tmux.close()


@live
def test_view_colours(check, lab):
    tmux = in_tmux(lab, 100, 20)
    expect(check, tmux, "the table", "PID +(?:USER +)?.?MINFLT/s")
    check.that(re.search(r"\x1b\[(?:1;)?3[0-7]m", tmux.screen("-e")), "colours on a terminal")
    tmux.close()
    for options, env in ("", {"NO_COLOR": "1"}), ("--color never", {}):
        tmux = in_tmux(lab, 100, 20, options, **env)
        expect(check, tmux, "the table", r"\[Faults\]")
        check.that(not re.search(r"\x1b\[(?:1;)?3[0-7]m", tmux.screen("-e")), f"{options} {env}: colours")
        tmux.close()


@live
def test_view_falls_back(check, lab):
    """On a terminal that cannot move the cursor, faultscope prints lines instead of the view."""
    tmux = Tmux(lab, 100, 20, f"TERM=dumb {FAULTSCOPE} --top 3 0.2 2")
    expect(check, tmux, "TERM=dumb", "watched all processes", ENDED)
    tmux.close()


@live
def test_view_wide_names(check, lab):
    """Wide characters take two columns, and control characters in names are escaped."""
    name = lab.dir / "漢字かな"
    shutil.copy("/bin/sleep", name)
    process = lab.spawn([name, "100"])
    tmux = in_tmux(lab, 100, 30)
    expect(check, tmux, "the table", "PID +(?:USER +)?.?MINFLT/s")
    tmux.keys("/")
    tmux.type("漢字")
    tmux.keys("Enter")
    expect(check, tmux, "a filter of wide characters", "filter: 漢字", rf"{process.pid} .*漢字かな")
    row = next(line for line in tmux.screen().splitlines() if str(process.pid) in line)
    head = next(line for line in tmux.screen().splitlines() if "PROCESS" in line)
    check.equal("its column", row.index("漢字"), head.index("PROCESS"))
    tmux.keys("q")
    expect(check, tmux, "the end", ENDED)
    tmux.close()
    process.terminate()


def test_view_of_a_recording(check, lab):
    """Tests the keys that control the time of a replay: pause, continue, step forward and step
    back. Tests also the end of the recording."""
    tmux = Tmux(lab, 110, 20, f"{FAULTSCOPE} --replay {RECORDINGS / FORECAST}.fsr")
    expect(check, tmux, "it runs", "REPLAY x1", r"Process fdleak\[")
    tmux.keys("Space")
    expect(check, tmux, "Space", "REPLAY x1 PAUSED")
    tmux.keys("<", "<", "<", "<", "<", "<")
    expect(check, tmux, "< goes back", r"00:00:00 .* PAUSED", r"fds +count +3 ")
    first = fds_of(tmux)
    tmux.keys(".")
    until(lambda: fds_of(tmux) > first, "one look on")
    second = fds_of(tmux)
    tmux.keys(">")
    until(lambda: fds_of(tmux) > second + 100, "ten looks on")
    tmux.keys("<")
    until(lambda: fds_of(tmux) == second, "ten looks back")
    tmux.keys(",")
    until(lambda: fds_of(tmux) == first, "one look back")
    tmux.type("\u015b\u012e")  # code points whose low bytes are the characters [ and .
    tmux.keys("w")
    expect(check, tmux, "w", "this is one already")
    check.equal("after other letters", fds_of(tmux), first)
    tmux.keys("-")
    expect(check, tmux, "- slower", "REPLAY x1/2 PAUSED")
    tmux.keys(*"++++++", "Space")
    expect(check, tmux, "+ faster, to the end", "END OF RECORDING", r"fds +count +1,000 ", "F12")
    tmux.keys(",")
    expect(check, tmux, "back from the end", "REPLAY x32 PAUSED")
    tmux.keys("Escape")
    expect(check, tmux, "Esc", "PID +(?:USER +)?.?MINFLT/s")
    tmux.keys("6", "Enter")
    expect(check, tmux, "its findings", r"Finding F\d+ of fdleak\[")
    tmux.keys("q")
    expect(check, tmux, "q", ENDED, "own cost")
    check.equal("the terminal's settings", tmux.file("after"), tmux.file("before"))
    tmux.close()


def fds_of(tmux):
    got = re.search(r"fds +count +([\d,]+) ", tmux.screen())
    return int(got[1].replace(",", "")) if got else 0
