# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of the live view of a recording: it goes to findings and to times, shows where it is, and
keeps processes that have ended. The recordings are made by busy_recording."""

import re
import subprocess

from harness import BUILD, FAULTSCOPE, PATIENCE, Skip, Workload, live, until, workload_path
from tmux import ENDED, Tmux, expect

# The recording of `made`: 40 processes, two short-lived ones for each of 120 scans, one each 5 s.
# Its first scan is at 23:55:00 UTC.
SCANS, STEP = 120, 5
SIZES = ((80, 24), (120, 40), (200, 50))


def made(lab, name="busy", processes=40, brief=2, scans=SCANS, step=STEP):
    program = BUILD / "busy_recording"
    if not program.exists():
        raise Skip("build/busy_recording is not built: make build/busy_recording")
    path = lab.dir / f"{name}.fsr"
    subprocess.run([program, "3", str(processes), str(brief), str(scans), str(step), path],
                   check=True, timeout=PATIENCE)
    return path


def opened(lab, width, height, path, options="", **env):
    tmux = Tmux(lab, width, height, f"{FAULTSCOPE} replay {options} {path}",
                **{"TZ": "UTC0", **env})
    tmux.keys("Space")
    return tmux


def leave(check, tmux):
    tmux.keys("q")
    expect(check, tmux, "q", ENDED)
    tmux.close()


def jump(tmux, text):
    tmux.keys("J")
    tmux.type(text)
    tmux.keys("Enter")


def clock_of(tmux):
    """Returns the clock time of the shown scan, from the position bar."""
    found = re.search(r" (\d\d:\d\d:\d\d), ", tmux.screen().splitlines()[-2])
    return found and found[1]


def foot_of(tmux):
    return tmux.screen().splitlines()[-1]


def table_of(tmux):
    """Returns the screen without its first line, which shows whether the replay is paused, the
    position bar and the footer."""
    return tmux.screen().splitlines()[1:-2]


def test_where_a_replay_is(check, lab):
    """The position bar shows clock times, the position and marks, at each size of the screen."""
    path = made(lab)
    for width, height in SIZES:
        tmux = opened(lab, width, height, path)
        # the marks are complete when no dots are left, which stand for what was not read yet
        expect(check, tmux, f"{width}x{height}", r" 23:55:00 [^┈]*●[^┈]* 00:04:55  23:55:\d\d, ",
               r" of 9m 55s", "PAUSED", r"\] \[ finding")
        check.that(all(len(line) <= width for line in tmux.screen().splitlines()), "fits")
        tmux.keys("$")
        expect(check, tmux, "$", "END OF RECORDING", r"█ 00:04:55  00:04:55, 9m 55s of 9m 55s")
        # the rates of the last interval: most processes have page faults. A wide screen shows the
        # user, 0, between pid and rate.
        rates = [int(found) for found in re.findall(r"^ +\d+ +(?:0 +)?(\d+) ", tmux.screen(), re.M)]
        check.that(sum(rates) > 500, f"rates at the end: {rates}")
        tmux.keys("0")
        expect(check, tmux, "0", r" 23:55:00 █", r"23:55:00, 0.0 s of 9m 55s")
        leave(check, tmux)


def test_keys_that_go_to_a_time(check, lab):
    tmux = opened(lab, 120, 30, made(lab))
    for keys, clock in (("0", "23:55:00"), (".", "23:55:05"), (">", "23:55:55"), ("}", "23:56:55"),
                        ("}", "23:57:55"), (",", "23:57:50"), ("<", "23:57:00"), ("{", "23:56:00"),
                        ("{", "23:55:00"), ("{", "23:55:00"), ("$", "00:04:55"), (".", "00:04:55"),
                        (",", "00:04:50")):
        tmux.keys(keys)
        expect(check, tmux, f"{keys}: {clock}", f" {clock}, ")
    # Keys that are read at once: at an end of the recording, a step that goes nowhere does not
    # cancel the next step in the other direction.
    for keys, clock in (("$.,", "00:04:50"), ("0{.", "23:55:05"), (".,.", "23:55:10")):
        tmux.keys(*keys)
        expect(check, tmux, f"{keys}: {clock}", f" {clock}, ")
    for text, clock in (("00:03", "00:03:00"), ("23:58:20", "23:58:20"), ("+90s", "23:56:30"),
                        ("2m", "23:57:00"), ("-30s", "00:04:25"), ("-0", "00:04:55"),
                        ("23:50", "23:55:00"), ("00:30", "00:04:55"),
                        ("2026-11-28T23:59:58", "00:00:00"), ("23:58:21", "23:58:25")):
        jump(tmux, text)
        expect(check, tmux, f"{text}: {clock}", f" {clock}, ", "PAUSED")
    jump(tmux, "noon")
    expect(check, tmux, "no time", "noon: expected a time")
    tmux.keys("J", "Escape")
    expect(check, tmux, "Esc", r" 23:58:25, ", r"\] \[ finding")
    leave(check, tmux)
    # clock times are those of the reader's time zone
    tmux = opened(lab, 120, 30, made(lab), TZ="XYZ-5")
    jump(tmux, "05:01")
    expect(check, tmux, "another time zone", r" 04:55:00 .* 05:04:55  05:01:00, ")
    leave(check, tmux)


def test_seeking_shows_what_playing_shows(check, lab):
    """The view of a time is the same whether a replay came there by each scan, by a jump forward or
    by a jump back."""
    path = made(lab)
    tmux = opened(lab, 150, 40, path)
    jump(tmux, "+3m")
    expect(check, tmux, "+3m", " 23:58:00, ")
    forward = table_of(tmux)
    tmux.keys("$")
    expect(check, tmux, "$", "END OF RECORDING")
    jump(tmux, "+3m")
    expect(check, tmux, "back", " 23:58:00, ")
    check.equal("after a jump back", table_of(tmux), forward)
    tmux.keys("0")
    expect(check, tmux, "0", " 23:55:00, ")
    for _ in range(36):
        tmux.keys(".")
    expect(check, tmux, "by each scan", " 23:58:00, ")
    check.equal("after single steps", table_of(tmux), forward)
    leave(check, tmux)


def test_keys_that_go_to_findings(check, lab):
    """] and [ visit the scans at which findings open or become critical, in order, and the same in
    both directions."""
    path = made(lab)
    tmux = opened(lab, 150, 40, path)
    tmux.keys("0")
    expect(check, tmux, "0", " 23:55:00, ")
    seen = []
    for _ in range(100):
        before = clock_of(tmux)
        tmux.keys("]")
        until(lambda: clock_of(tmux) not in (None, before) or "no finding opens" in tmux.screen(),
              "a finding")
        if "no finding opens" in tmux.screen():
            break
        seen.append(clock_of(tmux))
        shown = re.compile(r"(warning|critical|info) [A-Z]\d\d \S+\[\d+\]: ")
        until(lambda: shown.search(foot_of(tmux)), "what opened")
    check.that(len(seen) >= 6, f"findings at {seen}")
    back = []
    for _ in seen[1:]:
        before = clock_of(tmux)
        tmux.keys("[")
        until(lambda: clock_of(tmux) not in (None, before), "the finding before")
        back.append(clock_of(tmux))
    check.equal("back", back, seen[-2::-1])
    tmux.keys("[")
    expect(check, tmux, "before the first", "no finding opened before this time")
    leave(check, tmux)


def test_ended_processes_stay(check, lab):
    """All processes that ended can be opened at the end of the recording, as they were."""
    tmux = opened(lab, 120, 60, made(lab, scans=20))
    tmux.keys("$")
    expect(check, tmux, "the end", "END OF RECORDING")
    tmux.keys("e")
    expect(check, tmux, "e", r"brief\d \(ended 00:01:3\d", "ended")
    ended = re.findall(r"^ +(\d+) .*brief\d \(ended", tmux.screen(), re.M)
    check.equal("number of ended processes", len(ended), 40)
    check.equal("the latest first", ended, sorted(ended, key=int, reverse=True))
    check.that("leak" not in "\n".join(table_of(tmux)[4:]), "no process that lives")
    tmux.keys("End", "Enter")
    expect(check, tmux, "Enter", r"Process brief0\[100000\] \(ended\)", r"ended at 2.5 s",
           r"fds +4 of 1,024")
    tmux.keys("0")
    expect(check, tmux, "at the beginning", " 23:55:00, ", r"Process brief0\[100000\] \(ended\)")
    leave(check, tmux)


def test_cleared_findings_stay(check, lab):
    """A finding about a process that ended is listed and can be opened."""
    tmux = opened(lab, 120, 40, made(lab, brief=5))
    tmux.keys("$", "6", "e")
    expect(check, tmux, "the findings", r"cleared +F13", r"critical +F12")
    tmux.keys("End", "Enter")
    expect(check, tmux, "a cleared one", r"Finding F\d\d of leak", "cleared: it was open from")
    leave(check, tmux)


def test_replays_of_damaged_recordings(check, lab):
    """A recording that is cut, damaged, or has one scan can be shown, and each key works."""
    whole = made(lab).read_bytes()
    middle = len(whole) // 2
    cases = {"cut": whole[:middle],
             "torn": whole[:middle] + bytes([whole[middle] ^ 0xff]) + whole[middle + 1:],
             "ends": whole[:-40]}
    paths = {name: lab.dir / f"{name}.fsr" for name in cases}
    for name, data in cases.items():
        paths[name].write_bytes(data)
    paths["one"] = made(lab, "one", scans=1)
    for name, path in paths.items():
        tmux = opened(lab, 100, 24, path)
        tmux.keys("$")
        expect(check, tmux, f"{name}: $", "END OF RECORDING")
        tmux.keys("0")
        expect(check, tmux, f"{name}: 0", " 23:55:00, ")
        for keys in ("]", "[", ".", ",", ">", "<", "}", "{", "e", "Enter", "]", "[", "Escape", "6"):
            tmux.keys(keys)
        jump(tmux, "-0")
        expect(check, tmux, f"{name}: all keys", r" \d\d:\d\d:\d\d, .* of ")
        tmux.keys("q")
        expect(check, tmux, f"{name}: q", "ended with [07]")
        tmux.close()
    empty = lab.dir / "empty.fsr"
    empty.write_bytes(b"")
    tmux = Tmux(lab, 100, 24, f"{FAULTSCOPE} replay {empty}")
    expect(check, tmux, "an empty file", "the file is empty", "ended with 1")
    tmux.close()


@live
def test_replay_of_a_real_recording(check, lab):
    """A recording of several leaks and of processes that ended: each finding is reached by ], and
    each process can be opened at the end."""
    out = lab.dir / "real.fsr"
    leaks = [Workload(lab.spawn([workload_path("fdleak"), "380", "--nofile", "400", "--hold"],
                                stdin=subprocess.PIPE), False) for _ in range(2)]
    for one in leaks:
        one.truth()
    recorder = lab.spawn([FAULTSCOPE, "record", "-q", "-i", "0.3", "-o", out,
                          *[word for one in leaks for word in ("-p", str(one.pid))]])
    until(lambda: out.exists() and out.stat().st_size > 3000, "the recording")
    for one in leaks:
        one.go()
        one.end()
    recorder.wait(PATIENCE)
    tmux = opened(lab, 120, 40, out)
    tmux.keys("$", "Escape", "e")
    expect(check, tmux, "the ended ones", *[rf"{one.pid} .*fdleak \(ended" for one in leaks])
    tmux.keys("Enter")
    expect(check, tmux, "one of them", r"Process fdleak\[\d+\] \(ended\)", r"of 400")
    tmux.keys("0", "]")
    expect(check, tmux, "its finding", r"F1\d fdleak\[\d+\]: ")
    leave(check, tmux)
