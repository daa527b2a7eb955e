# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares faultscope's answer for a zoo case (a call that fails for a known cause) with this
cause."""

from collections import Counter
from dataclasses import dataclass, field

LEAST_RIGHT = 97.0  # required percentage of right answers

# Verdicts on an answer, best first. If faultscope printed several lines for a case, the worst
# verdict counts.
RIGHT, UNKNOWN, MISSED, WRONG, CERTAIN = "right", "unknown", "missed", "wrong", "wrong, certain"
VERDICTS = (RIGHT, UNKNOWN, MISSED, WRONG, CERTAIN)

# Families of system calls. If the failed call belongs to a family, any name of this family is
# accepted.
FAMILIES = [
    {"open", "creat", "openat", "openat2", "open_by_handle_at", "mq_open"},
    {"dup", "dup2", "dup3", "fcntl"},
    {"eventfd", "eventfd2"},
    {"epoll", "epoll_create", "epoll_create1"},
    {"epoll", "epoll_ctl"},
    {"memfd", "memfd_create", "memfd_secret"},
    {"inotify", "inotify_init", "inotify_init1"},
    {"inotify", "inotify_add_watch"},
    {"fanotify", "fanotify_init"},
    {"signalfd", "signalfd4"},
    {"timerfd", "timerfd_create"},
    {"pidfd", "pidfd_open"},
    {"perf_event", "perf_event_open"},
    {"io_uring", "io_uring_setup"},
    {"io_uring", "io_uring_register"},
    {"accept", "accept4"},
    {"pipe", "pipe2"},
    {"pipe", "fcntl", "fcntl(F_SETPIPE_SZ)"},
    {"recvmsg", "recvmmsg"},
    {"mlock", "mlock2"},
    {"munlock", "munlockall"},
    {"mprotect", "pkey_mprotect"},
    {"fork", "vfork", "clone", "clone3"},
    {"exec", "execve", "execveat"},
    {"rt_sigqueueinfo", "rt_tgsigqueueinfo"},
    {"poll", "ppoll"},
    {"semop", "semtimedop"},
    {"setrlimit", "prlimit", "prlimit64"},
    {"other", "fsopen", "fspick", "open_tree", "landlock_create_ruleset"},
]


def names_of(call):
    return {call}.union(*(family for family in FAMILIES if call in family))


@dataclass
class Answer:
    """The answer of faultscope for one case that was watched in one way."""
    case: str
    kind: str
    way: str
    verdict: str
    want: str
    got: str
    certain: bool = False
    overclaimed: bool = False
    next_missed: list = field(default_factory=list)
    next_wanted: int = 0

    def row(self):
        return [self.verdict, self.case, self.way, self.want, self.got]


def told(line):
    return f"{line['call']} {line['errno']}: {line['cause']}{' (certain)' if line['certain'] else ''}"


def worst(verdicts):
    return max(verdicts, key=VERDICTS.index)


def of_line(line, causes):
    if line["cause"] in causes:
        return RIGHT
    if line["cause"] == "unknown":
        return UNKNOWN
    return CERTAIN if line["certain"] else WRONG


def fits(line, truth, want):
    # If faultscope does not know the name of an errno, faultscope shows the number.
    return (line["pid"] == truth["pid"] and line["tid"] == truth["tid"]
            and line["call"] in names_of(want["call"])
            and line["errno"] in (want["errno"], f"errno {want['errno']}"))


def split(lines, truth, wants):
    """Returns two lists. The first has, for each expected failure, the lines that can belong to it.
    The second has the lines that belong to no expected failure."""
    taken = [[] for _ in wants]
    others = []
    for line in lines:
        fitting = [i for i, want in enumerate(wants) if fits(line, truth, want)]
        # If two expected failures have the same call and errno, the cause in the line decides to
        # which of them the line belongs.
        named = [i for i in fitting if line["cause"] in wants[i]["causes"]]
        if fitting:
            taken[(named or fitting)[0]].append(line)
        else:
            others.append(line)
    return taken, others


def of_refusals(answer, lines, truth):
    wants = [truth] + ([truth["also"]] if "also" in truth else [])
    taken, others = split(lines, truth, wants)
    verdicts = [worst(of_line(line, want["causes"]) for line in found) if found else MISSED
                for want, found in zip(wants, taken)]
    # A line about a failed call that the case did not make is a wrong answer, too.
    verdicts += [CERTAIN if line["certain"] else WRONG for line in others]
    answer.verdict = worst(verdicts)
    answer.want = " + ".join("|".join(want["causes"]) for want in wants)
    said = [line for found in taken for line in found] + others
    answer.got = "; ".join(dict.fromkeys(told(line) for line in said)) or "-"
    answer.certain = any(line["certain"] for line in said)
    answer.overclaimed = answer.verdict == RIGHT and any(
        line["certain"] and not want["expect_certain_allowed"]
        for want, found in zip(wants, taken) for line in found)
    if taken[0]:
        answer.next_wanted = len(truth["would_fail_next"])
        answer.next_missed = [cause for cause in truth["would_fail_next"]
                              if not any(cause in line["would_fail_next"] for line in taken[0])]


def of_signal(answer, lines, truth):
    found = [line for line in lines if line["pid"] == truth["pid"]
             and line["tid"] == truth["tid"] and line["signal"] == truth["signal"]]
    answer.want = "|".join(truth["classes"])
    answer.got = "; ".join(dict.fromkeys(str(line["class"]) for line in found)) or "-"
    answer.verdict = worst(RIGHT if line["class"] in truth["classes"]
                           else UNKNOWN if line["class"] in (None, "unknown", "other") else WRONG
                           for line in found) if found else MISSED


def of_oom(answer, lines, truth):
    found = [line for line in lines if line["pid"] == truth["pid"]]
    answer.want = "|".join(truth["oom"])
    answer.got = "; ".join(str(line.get("constraint")) for line in found) or "-"
    answer.verdict = MISSED if not found else \
        RIGHT if all(line.get("constraint") in truth["oom"] for line in found) else WRONG


def of_control(answer, refused, signals, truth):
    """Judges a control case, in which no failed call may be blamed on a limit. The case itself
    lists other causes that are allowed."""
    bad = [line for line in refused if line["cause"] not in truth["allowed"]]
    answer.want = "nothing" + "".join(f" or {cause}" for cause in truth["allowed"])
    answer.got = "; ".join(dict.fromkeys([told(line) for line in refused] +
                                         [f"signal: {line['class']}" for line in signals])) or "-"
    answer.verdict = RIGHT if not bad and not signals else \
        CERTAIN if any(line["certain"] for line in bad) else WRONG


def judge(case, kind, way, lines, truth):
    """Judges one case. `lines` (harness.Lines) come from a capture in which only this case ran."""
    answer = Answer(case, kind, way, MISSED, "", "")
    refused, signals = lines.of("failed_call"), lines.of("signal")
    if truth.get("control"):
        of_control(answer, refused, signals, truth)
    elif "classes" in truth:
        of_signal(answer, signals, truth)
    elif "oom" in truth:
        of_oom(answer, lines.of("oom"), truth)
    else:
        of_refusals(answer, refused, truth)
    return answer


class Score:
    def __init__(self, answers):
        self.cases = [one for one in answers if one.kind != "control"]
        self.controls = [one for one in answers if one.kind == "control"]
        self.count = Counter(one.verdict for one in self.cases)

    def percent(self, *verdicts):
        return 100.0 * sum(self.count[one] for one in verdicts) / max(1, len(self.cases))

    def wrong_but_certain(self):
        return [one for one in self.cases if one.verdict == CERTAIN]

    def accused_controls(self):
        return [one for one in self.controls if one.verdict != RIGHT]

    def overclaimed(self):
        return [one for one in self.cases if one.overclaimed]

    def text(self):
        wanted = sum(one.next_wanted for one in self.cases)
        missed = sum(len(one.next_missed) for one in self.cases)
        return (f"{len(self.cases)} answers: right {self.percent(RIGHT):.1f} %,"
                f" unknown {self.percent(UNKNOWN):.1f} %, missed {self.percent(MISSED):.1f} %,"
                f" wrong {self.percent(WRONG, CERTAIN):.1f} %"
                f" ({self.count[CERTAIN]} of them marked certain);"
                f" {len(self.controls)} controls, {len(self.accused_controls())} accused;"
                f" would fail next: {wanted - missed} of {wanted} told;"
                f" certain where nothing decides: {len(self.overclaimed())}")

    def as_json(self):
        return {"answers": len(self.cases), "right_percent": self.percent(RIGHT),
                "unknown_percent": self.percent(UNKNOWN),
                "missed_percent": self.percent(MISSED),
                "wrong_percent": self.percent(WRONG, CERTAIN),
                "wrong_but_certain": len(self.wrong_but_certain()),
                "controls": len(self.controls),
                "controls_accused": len(self.accused_controls()),
                "overclaimed": len(self.overclaimed())}
