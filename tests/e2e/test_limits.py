# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of limits: the thresholds that a process crosses on the way to a limit, and the cause of
each failed call."""

import re
import sys

from harness import Lines, Skip, captures, field_of, live, remedy_texts

THRESHOLDS = [50, 80, 95]


def expect_crossings(check, lines, truth):
    pid, what = truth["pid"], truth["what"]
    crossings = lines.of("threshold", pid, what=what)
    refused = lines.of("failed_call", pid)
    check.equal("thresholds crossed", [line["percent"] for line in crossings], THRESHOLDS)
    for line in crossings:
        # The smallest integer that is not below the threshold.
        least = -(-line["limit"] * line["percent"] // 100)
        check.between(f"value at {line['percent']} %", line["value"], least,
                      least + truth["at_once"] - 1)
    if check.that(refused, "nothing was refused"):
        first = lines.all.index(refused[0])
        check.that(all(lines.all.index(line) < first for line in crossings),
                   "a threshold was told after the refusal")
        check.that(all(line["t"] <= refused[0]["t"] for line in crossings),
                   "a threshold was crossed after the refusal")
    for line in refused:
        check.equal("cause", line["cause"], truth["cause"])
        check.equal("certain", line["certain"], True)
    opened = [line["id"] for line in lines.of("finding", pid, state="open")]
    check.that(truth["finding"] in opened, f"findings {opened}, want {truth['finding']} too")


@captures(expect_crossings, keep=True)
def test_crossings_of_maps(lab):
    capture = lab.run("mapleak", "limit")
    capture.truth |= {"what": "maps", "at_once": 1, "cause": "max_map_count", "finding": "M01"}
    return capture


def run_to_limit(lab, kind, limit):
    """Runs the workload fdleak until it reaches its limit. The true values include the cause and
    the finding that faultscope must report."""
    capture = lab.run("fdleak", "limit", "--nofile", limit, "--kind", kind)
    # With SCM_RIGHTS, recvmsg succeeds at the limit, but drops the file descriptors.
    dropped = kind == "scm"
    capture.truth |= {"what": "fds", "at_once": 2 if kind == "pipe" else 1,
                      "cause": "descriptors_dropped" if dropped else "rlimit_nofile",
                      "finding": "F04" if dropped else "F01"}
    return capture


@captures(expect_crossings, keep=True, cases=["file", "socket", "eventfd", "pipe", "scm"])
def test_crossings_of_descriptors(lab, kind):
    return run_to_limit(lab, kind, "4096")


CALL_OF_KIND = {
    "file": "open", "socket": "socket", "eventfd": "eventfd", "epoll": "epoll", "memfd": "memfd",
    "pipe": "pipe", "socketpair": "socketpair", "dup": "dup", "timerfd": "timerfd",
    "signalfd": "signalfd", "pidfd": "pidfd", "inotify": "inotify", "accept": "accept",
    "scm": "recvmsg", "open_many": "open",
}


def expect_kinds(check, lines, truth):
    for one in truth["workloads"]:
        pid, kind = one["pid"], one["kind"]
        check.equal(f"{kind}, calls", lines.growth(pid, f"fds.by_call.{CALL_OF_KIND[kind]}.calls"),
                    one["made"])
        check.equal(f"{kind}, opened", lines.growth(pid, "fds.opened"), one["made"])
        check.equal(f"{kind}, count", lines.last(pid)["fds"]["count"], one["open_now"])


def work_in_turn(works, watch):
    """Lets waiting workloads run one after another while faultscope watches all of them. Returns
    the capture, which contains the workloads' true values."""
    truths = []
    for work in works:
        work.go()
        truths.append(work.truth())
    capture = watch.stop()
    capture.truth = {"workloads": truths}
    for work in works:
        work.end()
    return capture


@captures(expect_kinds, keep=True)
def test_descriptors_of_each_kind(lab):
    works = [lab.work("fdleak", "100", "--kind", kind, "--wait", "--hold")
             for kind in CALL_OF_KIND]
    return work_in_turn(works, lab.watch("-p", ",".join(str(work.pid) for work in works)))


REFUSALS = ["as", "data", "memlock", "nofile", "dup2-past-limit", "fdupfd-past-limit",
            "munmap-split", "brk-data", "badfd", "zero-length", "huge"]
CALLS_OF_DESCRIPTORS = ("openat", "dup2", "fcntl")


def expect_refusal(check, lines, truth):
    pid, times = truth["pid"], truth["times"]
    refused = lines.of("failed_call", pid)
    if not check.that(refused, "nothing was refused"):
        return
    errno = None if truth["call"] == "brk" else truth["errno_name"]
    for line in refused:
        check.equal("cause", line["cause"], truth["cause"])
        check.equal("errno", line["errno"], errno)
    counts = [line["count"] for line in refused]
    check.equal("counts", counts, sorted(set(counts)))
    check.equal("first and highest possible count", (counts[0], counts[-1] <= times), (1, True))
    group = "fds" if truth["call"] in CALLS_OF_DESCRIPTORS else "maps"
    final = lines.final(pid)
    check.equal("refused, in the line of the process", field_of(final, f"{group}.failed"), times)
    finding = lines.of("finding", pid, cause=truth["cause"])
    check.that(finding, "no finding names the cause")


@captures(expect_refusal, keep=True, cases=REFUSALS)
def test_refusals(lab, case):
    return lab.run("refusals", case)


def expect_ia32(check, lines, truth):
    """Compares counts of 32-bit system calls. The counts may include a few calls that the program
    makes at its start."""
    final = lines.final(truth["pid"])
    for call, path, want in (("mmap", "maps", truth["maps"]), ("munmap", "maps", truth["maps"]),
                             ("dup", "fds", truth["dups"]), ("close", "fds", truth["dups"])):
        got = field_of(final, f"{path}.by_call.{call}.calls")
        check.between(f"{call} calls", got, want, want + 20)
    check.equal("dup calls", field_of(final, "fds.by_call.dup.calls"), truth["dups"])
    refused = lines.of("failed_call", truth["pid"])
    check.equal("refused", [(line["call"], line["cause"]) for line in refused],
                [("mmap", "rlimit_as")])


@captures(expect_ia32, keep=True)
def test_calls_of_32_bit(lab):
    capture = lab.run("ia32", "200")
    if not capture.truth["supported"]:
        raise Skip("this kernel takes no 32-bit calls")
    return capture


REFUSED_OFTEN = """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
refused = 0
while refused < 1000:
    try:
        os.open("/", 0)
    except OSError:
        refused += 1
os._exit(0)
"""


@live
def test_evidence_reads_the_counter(check, lab):
    """Equal failed calls are merged into few records, but the evidence of F01 nofile-reached counts
    all 1,000."""
    ran = lab.faultscope("run", "--json", "--", sys.executable, "-c", REFUSED_OFTEN)
    lines = Lines(ran.out or ran.err)
    finals = [line for line in lines.of("process", final=True) if line["fds"]["failed"]]
    check.equal("refused calls", [line["fds"]["failed"] for line in finals], [1000])
    found = [one["value"] for line in lines.of("finding", id="F01") for one in line["evidence"]
             if one["field"] == "refused_calls"]
    check.equal("by the evidence at last", found[-1:], [1000])


QUEUE_BYTES = 10 * (8192 + 96)
# Creates message queues of 10 messages of 8 KiB until one fails, or `wanted` exist.
QUEUES = """import ctypes, os, sys
libc = ctypes.CDLL("librt.so.1", use_errno=True)
made, wanted = [], int(sys.argv[1])
for i in range(wanted):
    name = f"/faultscope-{os.getpid()}-{i}".encode()
    attributes = (ctypes.c_long * 8)(0, 10, 8192)
    if libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, attributes) < 0:
        break
    made.append(name)
for name in made:
    libc.mq_unlink(name)
print(len(made))
"""


@live
def test_remedy_of_queues(check, lab):
    """M27 other-call-failed suggests a value for RLIMIT_MSGQUEUE. With the suggested value, the
    message queue that failed can be created."""
    made = ["prlimit", "--msgqueue=300000", sys.executable, "-c", QUEUES, "50"]
    ran = lab.faultscope("run", "--json", "-o", lab.dir / "queues", "--", *made)
    first = int(ran.out or 0)
    told = [line for line in Lines((lab.dir / "queues").read_text()).of("finding", id="M27")
            if "RLIMIT_MSGQUEUE" in line["title"]]
    if not check.that(told, f"no M27 of queues; {first} were made"):
        return
    values = re.findall(r"--msgqueue=(\d+)", " ".join(remedy_texts(told[0])))
    if not check.that(values, f"no value in {remedy_texts(told[0])}"):
        return
    check.between("the value", int(values[0]), (first + 1) * QUEUE_BYTES, 4 << 20)
    made[1] = f"--msgqueue={values[0]}"
    again = lab.call(*made)
    if not again.returncode:  # without CAP_SYS_RESOURCE, raising the hard limit fails
        check.that(int(again.out) > first, f"{values[0]} bytes are no more than {first}")


# Requests huge pages of eight sizes. Each request for huge pages fails, and normal pages are mapped
# 60 ms later.
DOES_WITHOUT = """import ctypes, mmap, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
sys.stdin.readline()
refused = 0
def ask(size, flags):
    flags |= mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return libc.mmap(None, ctypes.c_size_t(size), 3, flags, -1, ctypes.c_long(0))
for i in range(8):
    if ask(4 << 20 << i, 0x40000) == ctypes.c_void_p(-1).value:
        refused += 1
        time.sleep(0.06)
        ask(4 << 20 << i, 0)
print(refused, flush=True)
sys.stdin.readline()
"""


@live
def test_request_over_the_end_of_an_interval(check, lab):
    """A failed huge page request is not critical if normal pages are mapped one interval later."""
    work = lab.spawn([sys.executable, "-c", DOES_WITHOUT], stdin=-1)
    watch = lab.watch("-p", str(work.pid), "0.1")
    work.stdin.write("\n")
    work.stdin.flush()
    refused = int(work.stdout.readline())
    work.stdin.close()
    work.wait(60)
    lines = Lines(watch.finished().text)
    if refused < 8:
        raise Skip("there are huge pages")
    told = lines.of("finding", work.pid, id="M19")
    check.that(told, "no M19")
    check.equal("severities", sorted({line["severity"] for line in told}), ["info"])
