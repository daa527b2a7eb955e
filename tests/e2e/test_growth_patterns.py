# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests forecasts while file descriptors grow in sixteen patterns. Ten of the patterns never reach
the limit, and no forecast for these ten may be critical."""
import os

from harness import Lines, check_gaps, idle, live

LIFE = os.environ.get("LIFE", "1")  # seed of the random sequence of each pattern
LEAST_RIGHT = 0.8  # least share of forecasts whose interval contains the true time
SLACK_SECONDS = 2.0  # error of a forecast that the test allows, since the machine has other load


def patterns(lab):
    """Returns {name of a pattern: whether it reaches its limit}."""
    listed = lab.call(lab.workload("patterns"), "list").out
    return {name: word == "reaches" for name, word in
            (line.split("\t") for line in listed.splitlines())}


def forecasts(lines, pid):
    return [line for line in lines.of("finding", pid, id="F13", state="open") if line["forecast"]]


def is_right(line, end):
    return (line["forecast"]["low"] - SLACK_SECONDS <= end - line["t"]
            <= line["forecast"]["high"] + SLACK_SECONDS)


@idle
@live
def test_patterns_of_growth(check, lab):
    reaches = patterns(lab)
    check.equal("patterns, those that reach", (len(reaches), sum(reaches.values())), (16, 6))
    works = {name: lab.work("patterns", name, "--life", LIFE, "--wait", "--hold")
             for name in reaches}
    watch = lab.watch("-p", ",".join(str(work.pid) for work in works.values()), "0.5",
                      record=False)
    for work in works.values():
        work.go()
    truths = {name: work.truth() for name, work in works.items()}
    capture = watch.stop()
    for work in works.values():
        work.end()
    lines = Lines(capture.text)
    check_gaps(check, capture, lines)
    critical = told = right = warned = 0
    for name, work in works.items():
        check.equal(f"{name}: it reaches its limit", bool(truths[name]["reached"]), reaches[name])
        loud = [line["title"] for line in lines.of("finding", work.pid, severity="critical")]
        said = forecasts(lines, work.pid)
        refused = lines.of("failed_call", work.pid, cause="rlimit_nofile")
        if not reaches[name]:
            critical += bool(loud)
            check.equal(f"{name}: critical", loud, [])
        elif check.that(refused, f"{name}: nothing was refused"):
            said = [line for line in said if line["t"] < refused[0]["t"]]
            warned += bool(said)
            sure = [line for line in said if line["severity"] == "critical"]
            told += len(sure)
            right += sum(is_right(line, refused[0]["t"]) for line in sure)
        print(f"# {name}: {len(said)} forecasts, {len(loud)} critical")
    print(f"# life {LIFE}: {critical} of 10 that never reach it are called critical;"
          f" {warned} of 6 that do are told before; {right} of {told} critical forecasts right")
    check.that(warned >= 5, f"{warned} of 6 are told before")
    check.that(right >= LEAST_RIGHT * told, f"{right} of {told} critical forecasts are right")
