# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests in a guest the attach type of the probe `calls` at the returns of kernel functions. Many
threads wait in system calls, calls are answered by a seccomp filter, and other system calls must
not become slower."""
import json
import re
import time

import lab as _lab  # noqa: F401  puts tests/e2e on the path
from harness import Lines, Skip, check_form, field_of
from test_limits import expect_ia32

TYPE = "kprobe_multi"
SINCE = (6, 14)  # before this version, calls that wait can use up a pool
FORCED = ("--probe", f"calls={TYPE}")
THREADS, MANY_THREADS, FILES, REFUSED = 500, 1600, 3000, 7


def used(lines):
    """Returns the attach type of the probe `calls`. Skips the test if the kernel lacks TYPE."""
    said = lines.all[0]["probes"]["calls"]
    if said.startswith(f"{TYPE}: "):
        raise Skip(said)
    return said


def calls_of(final, call, what="calls"):
    return field_of(final, f"fds.by_call.{call}.{what}")


def forced_run(check, lab, name, *args):
    capture = lab.run(name, *args, options=FORCED)
    lines = check_form(check, capture)
    check.equal("attach type", used(lines), TYPE)
    check.equal("losses", lines.losses(), {})
    return lines, capture.truth


def waiting_threads(check, lab):
    """Many threads wait in accept() and recvmsg() at the same time. All calls are counted."""
    lines, truth = forced_run(check, lab, "waiting", THREADS, FILES)
    final = lines.final(truth["pid"])
    check.equal("accepted", calls_of(final, "accept"), truth["accepts"])
    check.equal("opened", calls_of(final, "open"), truth["opens"])


def too_many_threads(check, lab):
    """Before Linux 6.14, the kernel cannot trace all calls of many waiting threads. It counts the
    others, which are shown as missed."""
    capture = lab.run("waiting", MANY_THREADS, FILES, options=FORCED)
    lines, truth = Lines(capture.text), capture.truth
    check.equal("attach type", used(lines), TYPE)
    final, missed = lines.final(truth["pid"]), lines.losses().get("missed", 0)
    counted = calls_of(final, "accept") + calls_of(final, "open")
    check.between("counted", counted, truth["accepts"] + truth["opens"] - missed,
                  truth["accepts"] + truth["opens"])
    print(f"# {lab.release}: {MANY_THREADS} threads wait: {counted} of"
          f" {truth['accepts'] + truth['opens']} calls counted, {missed} missed")


def filtered(early):
    def test(check, lab):
        """Calls that a seccomp filter answers are counted as failed."""
        lines, truth = forced_run(check, lab, "waiting", 2, 10, "--refuse", REFUSED,
                                  *(["--early"] if early else []))
        final = lines.final(truth["pid"])
        check.equal("refused", calls_of(final, "eventfd", "failed"), truth["refused"])
        check.equal("opened", calls_of(final, "open"), truth["opens"])
    return test


def of_32_bit(check, lab):
    lines, truth = forced_run(check, lab, "ia32", 200)
    if not truth["supported"]:
        raise Skip("this kernel takes no 32-bit calls")
    expect_ia32(check, lines, truth)


def version_of(lab):
    return tuple(int(part) for part in re.findall(r"\d+", lab.release)[:2])


def by_default(check, lab):
    """`-p` uses this attach type where the kernel has it. It counts exactly, and says what other
    processes pay."""
    work = lab.work("waiting", THREADS, FILES, "--refuse", REFUSED, "--early", "--wait", "--hold")
    began = time.monotonic()
    watch = lab.watch("-p", work.pid)
    attached = time.monotonic() - began
    start = json.loads(watch.said().splitlines()[0])
    work.go()
    truth = work.truth()
    began = time.monotonic()
    capture = watch.stop()
    print(f"# {lab.release}: -p with calls={start['probes']['calls']}: attached in {attached:.1f} s,"
          f" ended in {time.monotonic() - began:.1f} s")
    work.end()
    lines = Lines(capture.text)
    probes = lines.of("probes")[-1]["probes"] if lines.of("probes") else start["probes"]
    check.equal("attach type", probes["calls"] == TYPE, version_of(lab) >= SINCE)
    check.equal("all system calls", "all system calls" in start["overhead_for_others"],
                probes["calls"] != TYPE)
    final = lines.last(work.pid)
    check.equal("accepted", calls_of(final, "accept"), truth["accepts"])
    check.equal("opened", calls_of(final, "open"), truth["opens"])
    check.equal("refused", calls_of(final, "eventfd", "failed"), truth["refused"])
    check.equal("losses", lines.losses(), {})


def exported(check, lab):
    """An exporter without options counts failed calls from 6.14 on, and says elsewhere why not."""
    page = f"{lab.top}/page"
    exporter = _lab.GuestProcess(lab, _lab.quoted([
        _lab.FAULTSCOPE, "export", "--textfile", page, "--ring", "off", "--oom.keep", "0", "1"]))
    lab.vm.must(f"until [ -s {page} ]; do usleep 200000; done", 300)
    lab.vm.must("sh -c 'ulimit -n 3; for i in 1 2 3; do cat /init; done' 2>/dev/null; :")
    failed = 'faultscope_fd_failures_total{workload="[^"]*",errno="EMFILE"} [1-9]'
    off = 'faultscope_collector_off_info{collector="refusals",reason="[^"]*--export.calls'
    lab.vm.must(f"for i in $(seq 100); do grep -q '{failed}' {page} && break; usleep 200000;"
                f" done; kill {exporter.pid}", 120)
    exporter.end(120)
    text = lab.read(page)
    expected = version_of(lab) >= SINCE
    check.equal("failed calls are counted", bool(re.search(failed, text)), expected)
    check.equal("the reason why not", bool(re.search(off, text)), not expected)


def costs(check, lab):
    """Prints what a call costs that no probe counts, and one that is counted, by attach type. The
    rounds of the attach types alternate. On an emulated CPU, only the ratios say something."""
    other = lab.work("touch", "1", "--wait", "--hold")
    took = {}
    for _ in range(3):
        for kind in ("none", TYPE, "tracepoint", "tp_btf"):
            watch = lab.watch("-p", other.pid, "--probe", f"calls={kind}", "--overhead", "syscalls")
            said = json.loads(watch.said().splitlines()[0])["probes"]["calls"]
            if not said.startswith(f"{kind}: "):
                for work in ("getppid", "openclose"):
                    one = lab.call(lab.workload("bench"), work, "40000")
                    took.setdefault((work, kind), []).append(one_ns(one.out))
            watch.stop()
    other.go()
    other.end()
    for (work, kind), ns in took.items():
        print(f"# {lab.release}: {work} of another process, calls={kind}: {min(ns):.0f} ns")
    check.that(("getppid", "none") in took, f"nothing was measured: {took}")


def one_ns(text):
    return json.loads(text.splitlines()[-1])["ns_per_op"]


ALL = {
    "function returns: waiting threads": waiting_threads,
    "function returns: more threads than the kernel traces": too_many_threads,
    "function returns: filtered calls": filtered(False),
    "function returns: calls filtered from the start": filtered(True),
    "function returns: 32-bit calls": of_32_bit,
    "function returns: by default": by_default,
    "function returns: exporter": exported,
}
# takes minutes on an emulated CPU
COSTS = {"function returns: costs": costs}
