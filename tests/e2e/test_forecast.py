# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the forecast of a leak with the time at which a call failed. Tests also that there is no
forecast for growth that has ended. Other tests check forecasts with an assumed limit or usage."""

import contextlib
import time

from harness import RECORDINGS, Lines, captures, idle, until

LIMIT = 1000
USAGE = 2
REST_SECONDS = 5  # seconds to wait after the growth has ended, during which no forecast is expected
# The machine has other load, too, so the test allows a larger error than the interval that the
# forecast states.
SLACK_SHARE, SLACK_SECONDS = 1.5, 1.0


def expect_forecast(check, lines, truth):
    pid = truth["pid"]
    refused = lines.of("failed_call", pid, cause="rlimit_nofile")
    if not check.that(refused, "nothing was refused"):
        return
    said = [line for line in lines.of("finding", pid, state="open") if line["forecast"]]
    check.that("F13" in [line["id"] for line in said], "F13 gave no time")
    for line in said:
        forecast = line["forecast"]
        check.between(f"seconds to the limit, by {line['id']} at {line['t']}",
                      refused[0]["t"] - line["t"],
                      forecast["low"] / SLACK_SHARE - SLACK_SECONDS,
                      forecast["high"] * SLACK_SHARE + SLACK_SECONDS)
    for line in said[-1:]:
        check.near("descriptors a second", line["forecast"]["per_second"], truth["rate"], 0.3)


@captures(expect_forecast, keep=True)
def test_forecast_of_a_leak(lab):
    rate = 250
    work = lab.work("fdleak", "limit", "--nofile", LIMIT, "--rate", rate, "--wait")
    watch = lab.watch("-p", work.pid, "0.1")
    work.go()
    truth = work.truth()
    work.end()
    capture = watch.finished()
    capture.truth = truth | {"rate": rate}
    return capture


def expect_silence(check, lines, truth):
    """After the end of the growth, F13 nofile-growth is cleared, while F12 nofile-near stays open.
    """
    opened = lines.of("finding", truth["pid"], state="open")
    check.that("F12" in [line["id"] for line in opened], "F12 is not open")
    growing = [line for line in lines.of("finding", truth["pid"], id="F13")]
    check.that(not growing or growing[-1]["state"] == "cleared", "F13 is open still")


@idle
@captures(expect_silence)
def test_forecast_of_a_start(lab):
    """The workload grows at its start and then stops, as most programs do."""
    work = lab.work("fdleak", 600, "--nofile", LIMIT, "--rate", 250, "--wait", "--hold")
    watch = lab.watch("-p", work.pid, "0.2")
    work.go()
    truth = work.truth()
    ended = time.monotonic()

    def is_silent():
        told = Lines(watch.said().rpartition("\n")[0]).of("finding", work.pid, id="F13")
        return told[-1]["state"] == "cleared" if told else time.monotonic() > ended + REST_SECONDS

    # If finding F13 nofile-growth is not cleared in time, until() fails, and expect_silence()
    # reports that later.
    with contextlib.suppress(AssertionError):
        until(is_silent, "the end of F13")
    capture = watch.stop()
    work.end()
    capture.truth = truth
    return capture


def replayed(lab, *options):
    recording = RECORDINGS / "forecast_of_a_leak.fsr"
    return lab.faultscope("--replay", recording, *options)


def test_assumed_limit(check, lab):
    assumed = 2 * LIMIT
    option = ("--assume", f"RLIMIT_NOFILE={assumed}")
    lines = Lines(replayed(lab, *option, "--json").out)
    check.equal("start", lines.all[0]["assumed"], {"RLIMIT_NOFILE": assumed})
    for line in lines.of("process"):
        check.equal("limit of a line", line["fds"]["limit"], assumed)
        check.equal("assumed in a line", line["assumed"], {"RLIMIT_NOFILE": assumed})
    near = lines.of("finding", id="F12", state="open")
    check.equal("levels", [line["severity"] for line in near], ["info"])
    for line in near:
        check.that("an assumed RLIMIT_NOFILE" in line["title"], f"title {line['title']!r}")
        check.that(line["evidence"][0]["assumed"], f"evidence {line['evidence']}")
    check.that(lines.of("failed_call", cause="rlimit_nofile"), "what was refused is as it was")
    text = replayed(lab, *option).out
    for words in ("assumed: RLIMIT_NOFILE=2,000", "of an assumed 2,000"):
        check.that(words in text, f"the text does not say {words!r}")
    plain = Lines(replayed(lab, "--json").out)
    check.that("assumed" not in plain.all[0], "assumed without the option")


def test_assume_usage(check, lab):
    for word in ("RLIMIT_NOFILE", "RLIMIT_NOFILE=", "RLIMIT_NOFILE=0", "RLIMIT_NOFILE=x",
                 "RLIMIT_NOFILE=1K", "RLIMIT_MEMLOCK=1X", "rlimit=5", "=5", "", "=",
                 "vm.max_map_count=-1", "CommitLimit=99999999T"):
        ran = lab.faultscope("--assume", word, "1", "1")
        check.equal(f"status of {word!r}", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: --assume ") and not ran.out,
                   f"{word}: {ran.err!r}")
    ran = lab.faultscope("--assume", "x=1")
    for name in ("vm.max_map_count", "RLIMIT_NOFILE", "fs.file-max", "CommitLimit"):
        check.that(name in ran.err, f"{name} is not listed: {ran.err!r}")
