# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests incidents: an exporter that was only running meets a leak, an OOM kill, a crash, memory
pressure and a storm of descriptors. Its incident names the cause at the right time, and the report
of the incident has the verdict of a recording that was made on purpose."""

import calendar
import contextlib
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import oom_kills
from harness import FAULTSCOPE, Skip, aside, lines_to, live, until
from test_oom_pages import place_of
from test_pressure import tmpfs
from test_replay_view import clock_of, foot_of
from tmux import Tmux, expect

CALM = 6  # seconds before a workload begins
AFTER = 2
LEAK = """import resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
held = []
try:
    while True:
        held.append(open("/dev/null"))
        time.sleep(float(sys.argv[1]))
except OSError:
    time.sleep(float(sys.argv[2]))
"""
FILLS = """import mmap, sys
with open(sys.argv[1] + "/file", "wb+") as file:
    file.truncate(8 << 20)
    held = mmap.mmap(file.fileno(), 8 << 20)
    for at in range(0, 8 << 20, 4096):
        held[at] = 1
"""
# Many processes each wait for the pages that the others take away.
THRASH_MIB, THRASH_LIMIT_MIB = 90, 40


class Watched:
    """An exporter with a store of incidents."""

    def __init__(self, lab, *options, calm=CALM):
        self.lab = lab
        self.store = lab.dir / "incidents"
        self.recording = lab.dir / "purpose.fsr"
        self.exporter = lab.spawn(
            [lab.program, "export", "--web.listen-address", "127.0.0.1:0",
             "--incident.store", self.store, "--oom.store", lab.dir / "oom",
             "--incident.after", str(AFTER), "--incident.per-hour", "3600", *options])
        lines_to(self.exporter.stderr, "metrics at")
        time.sleep(calm)

    def work(self, *argv):
        """Starts a program with a recording on purpose."""
        return self.lab.spawn([self.lab.program, "run", "--record", self.recording, "-q", "--",
                               *argv])

    def listed(self):
        ran = self.lab.faultscope("incidents", "--json", "--store", self.store)
        return [json.loads(line) for line in ran.out.splitlines()]

    def ended(self):
        """Ends the exporter. Returns its incidents and messages, to explain why a test failed."""
        mine = [(one["time"], one["trigger"], one.get("finding"), one["comm"])
                for one in self.listed()]
        self.exporter.send_signal(signal.SIGTERM)
        return f"{mine}\n{self.exporter.communicate(timeout=60)[1]}"

    def incident(self, what, **wanted):
        """Waits for an incident with these values, and for what comes after its trigger."""
        def found():
            return [one for one in self.listed()
                    if all(one.get(key) in (value if isinstance(value, tuple) else (value,))
                           for key, value in wanted.items())]
        try:
            until(found, what, seconds=60)
            until(lambda: found() and found()[0]["seconds_after"] >= AFTER, "its end", seconds=40)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{found()}\nall incidents: {self.ended()}") from None
        return found()[0]

    def stop(self):
        self.exporter.send_signal(signal.SIGTERM)
        self.exporter.communicate(timeout=60)


@contextlib.contextmanager
def watched(lab, *options, **more):
    one = Watched(lab, *options, **more)
    try:
        yield one
    finally:
        if one.exporter.poll() is None:
            one.stop()


def named(lab, name):
    """Returns a Python interpreter with another name, since equal triggers of one program in one
    cgroup are one incident, and other tests run Python too."""
    path = lab.dir / name
    if not path.exists():
        path.symlink_to(sys.executable)
    return path


def verdict(lab, recording, pid):
    """Returns the findings of severity critical about a process, with their causes. Forecasts are
    left out, because they depend on the interval of the scans."""
    ran = lab.faultscope("report", "--format", "jsonl", recording)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    return {(one["id"], one.get("cause")) for one in lines
            if one["type"] == "finding" and one["severity"] == "critical" and
            one.get("pid") == pid and not one["slug"].endswith("-growth")}


def when(one):
    """Returns the time of an incident's trigger, in seconds since 1970."""
    return calendar.timegm(time.strptime(one["time"][:19], "%Y-%m-%dT%H:%M:%S"))


def check_incident(check, one, begun):
    """Checks time, bounds and contents of an incident whose trigger came after `begun`."""
    at = when(one)
    check.that(begun - 1 <= at <= time.time() + 1, f"the trigger is at {one['time']}")
    check.that(one["seconds_before"] >= CALM - 2, f"{one['seconds_before']} s before it")
    check.that(one["seconds_after"] >= AFTER, f"{one['seconds_after']} s after it")
    check.that(one["raised_scans"], "scans every second")
    check.equal("mode", Path(one["file"]).stat().st_mode & 0o777, 0o600)


def check_verdict(check, lab, seen, one, *work):
    """Compares an incident with the recording on purpose of the same process."""
    for process in work:
        process.send_signal(signal.SIGINT)  # with a last scan
        process.communicate(timeout=60)
    seen.stop()
    pid = one["pid"]
    want = verdict(lab, seen.recording, pid)
    got = verdict(lab, one["file"], pid)
    check.that(want, "the recording on purpose has a verdict")
    check.that(want <= got, f"the verdict of the incident is {got}, not {want}")


@live
def test_incident_of_a_mapping_leak(check, lab):
    """A leak reaches vm.max_map_count."""
    with watched(lab, "--export.calls") as seen:
        begun = time.time()
        work = seen.work(lab.workload("mapleak"), "limit", "--rate", "20000")
        one = seen.incident("an incident", trigger="finding", finding="M01", comm="mapleak")
        check_incident(check, one, begun)
        check.equal("cause", one["cause"], "max_map_count")
        check_verdict(check, lab, seen, one, work)


@live
def test_incident_of_a_descriptor_leak(check, lab):
    """A slow leak reaches RLIMIT_NOFILE."""
    with watched(lab, "--export.calls") as seen:
        begun = time.time()
        work = seen.work(named(lab, "leaks"), "-c", LEAK, "0.02", "60")
        one = seen.incident("an incident", trigger="finding", finding="F01", comm="leaks")
        check_incident(check, one, begun)
        check_verdict(check, lab, seen, one, work)
        text = lab.faultscope("incidents", "show", Path(one["file"]).name, "--store",
                              seen.store).out
        check.that("F01" in text and "incidents report" in text, text)
        compared = lab.faultscope("incidents", "compare", Path(one["file"]).name, "--store",
                                  seen.store)
        check.that("what grew by workload" in compared.out, compared.out + compared.err)
        report = lab.faultscope("incidents", "report", Path(one["file"]).name, "--store",
                                seen.store)
        check.that("nofile-reached" in report.out, report.out + report.err)


@live
def test_incident_of_a_descriptor_storm(check, lab):
    """Many processes reach RLIMIT_NOFILE at once: each finding has one incident."""
    with watched(lab, "--export.calls") as seen:
        begun = time.time()
        script = "for i in $(seq 20); do $1 -c \"$2\" 0 10 & done; wait"
        work = seen.work("sh", "-c", script, "sh", named(lab, "storms"), LEAK)
        one = seen.incident("an incident", trigger="finding", finding=("F01", "F12"),
                            comm="storms")
        check_incident(check, one, begun)
        time.sleep(AFTER + 3)
        mine = [other for other in seen.listed() if other["comm"] == "storms"]
        # a process may be near its limit before another one reaches it
        check.that(len(mine) <= 2 and len({other["finding"] for other in mine}) == len(mine),
                   f"{len(mine)} incidents of the storm")
        check_verdict(check, lab, seen, one, work)


@live
def test_incident_of_an_oom_kill(check, lab):
    """A process is killed because its cgroup reached its limit."""
    place, kill = place_of(lab), oom_kills.KILLS[0]
    with watched(lab) as seen:
        recorder = lab.spawn([lab.program, "record", "--overhead", "low", "-o", seen.recording])
        until(seen.recording.exists, "the recording")
        time.sleep(3)
        begun = time.time()
        group = place.make(kill, f"faultscope-oom-{os.getpid()}-incident")
        try:
            place.start(kill, group, lab.dir / "said")
            one = seen.incident("an incident", comm="hog")
            check_incident(check, one, begun)
            check_verdict(check, lab, seen, one, recorder)
            pages = lab.faultscope("oom", "--json", one["file"]).out
            check.equal("what is wrong with the page",
                        oom_kills.judge_stored(kill, oom_kills.lines_of(pages),
                                               f"faultscope-oom-{os.getpid()}-incident"), {})
        finally:
            place.end(kill, group, lab.dir / "said")
    place.tmpfs.rmdir()


@live
def test_incident_of_a_crash(check, lab):
    """A full tmpfs kills a process with SIGBUS."""
    with tmpfs(lab, 4) as place, watched(lab) as seen:
        begun = time.time()
        work = seen.work(named(lab, "fills"), "-c", FILLS, place)
        one = seen.incident("an incident", comm="fills")
        check_incident(check, one, begun)
        check.equal("status of the process", work.wait(60), -signal.SIGBUS)
        check_verdict(check, lab, seen, one)


@live
def test_incident_of_memory_pressure(check, lab):
    """The kernel's trigger for memory pressure writes an incident: a cgroup thrashes, and nothing
    else runs. Other work of this machine may keep `full` pressure low, so that this is skipped."""
    def of_pressure():
        return [one for one in seen.listed() if one["trigger"] == "pressure" and
                when(one) >= begun]

    with watched(lab, "--incident.on", "pressure", "--incident.rest", "0") as seen:
        before = Path("/proc/pressure/memory").read_text()
        begun = time.time()
        place = place_of(lab)
        group = Path("/sys/fs/cgroup")
        group = (group if place.version == 2 else group / "memory") / f"thrash-{os.getpid()}"
        place.tmpfs.rmdir()
        file = lab.dir / "data"
        with file.open("wb") as out:
            for _ in range(THRASH_MIB):
                out.write(os.urandom(1 << 20))
        group.mkdir()
        limit = "memory.max" if place.version == 2 else "memory.limit_in_bytes"
        work = []
        try:
            (group / limit).write_text(str(THRASH_LIMIT_MIB << 20))
            for _ in range(os.cpu_count() * 3):
                work.append(lab.spawn(
                    ["sh", "-c", 'echo $$ > "$1/cgroup.procs"; exec cat "$2" "$2" "$2" "$2" "$2" '
                     '"$2" "$2" "$2" "$2" "$2" "$2" "$2" > /dev/null', "sh", group, file]))
            with contextlib.suppress(AssertionError):
                until(of_pressure, "an incident", seconds=30)
            mine = of_pressure()
            after = Path("/proc/pressure/memory").read_text()
            if not mine:
                raise Skip(f"too little pressure: {before!r} {after!r}")
            until(lambda: of_pressure()[-1]["seconds_after"] >= AFTER, "its end", seconds=30)
            check_incident(check, of_pressure()[-1], begun)
        finally:
            for process in work:
                process.kill()
                process.wait()
            until(lambda: not (group / "cgroup.procs").read_text(), "the end of the cgroup")
            group.rmdir()


@live
def test_incidents_by_request(check, lab):
    """SIGUSR1 and `snapshot` store an incident; the end of the exporter completes it."""
    with watched(lab, "--incident.after", "60", "--incident.on", "none",
                 "--redact") as seen:
        seen.exporter.send_signal(signal.SIGUSR1)
        until(lambda: len(seen.listed()) == 1, "the incident of SIGUSR1")
        ran = lab.faultscope("snapshot", "--store", seen.store, "why", "so", "slow")
        check.equal("status", ran.returncode, 0)
        check.that(Path(ran.out.strip()).exists(), ran.out + ran.err)
        check.equal("triggers", [one["trigger"] for one in seen.listed()], ["snapshot", "sigusr1"])
        seen.stop()
        for one in seen.listed():
            ran = lab.faultscope("info", "--json", one["file"])
            about = json.loads(ran.out.splitlines()[0])
            check.that(re.fullmatch("host-[0-9a-f]{16}", about["host"]), f"host {about['host']}")
            check.that(about["scans"] >= 2, f"{about['scans']} scans")
        check.equal("socket", list(seen.store.glob("*.socket")), [])
        ran = lab.faultscope("incidents", "delete", "1", "2", "--store", seen.store)
        check.equal("status", ran.returncode, 0)
        ran = lab.faultscope("incidents", "--store", seen.store)
        check.equal("status", ran.returncode, 7)
        check.that("no incident is stored" in ran.err, ran.err)
        ran = lab.faultscope("snapshot", "--store", seen.store)
        check.equal("status", ran.returncode, 4)


@live
@aside  # failed calls of other tests would be among the newest incidents
def test_chosen_triggers_and_bounds(check, lab):
    """A failed call with a chosen cause and a fatal signal of a chosen workload each store an
    incident. The store keeps the newest ones within its bounds."""
    with watched(lab, "--export.calls", "--incident.on", "none", "--incident.cause",
                 "rlimit_nofile", "--incident.signal", ".", "--incident.keep", "2",
                 "--incident.max-size", "64M", "--incident.max-age", "1h") as seen:
        old = seen.store / "20200101T000000.000Z-old.fsr"
        old.write_bytes(b"")
        leak = lab.spawn([named(lab, "refused"), "-c", LEAK, "0", "60"])
        one = seen.incident("a failed call", trigger="refused", comm="refused")
        check.equal("cause", one["cause"], "rlimit_nofile")
        check.that(not old.exists(), "older than the store keeps")
        leak.kill()
        lab.call(named(lab, "crashed"), "-c", "import ctypes; ctypes.string_at(8)")
        one = seen.incident("a fatal signal", trigger="signal", comm="crashed")
        check.that("SIGSEGV" in one["title"], one["title"])
        lab.faultscope("snapshot", "--store", seen.store)
        triggers = [one["trigger"] for one in seen.listed()]
        check.equal("the newest", (triggers[0], len(triggers)), ("snapshot", 2))


@live
def test_ring_of_record(check, lab):
    """record --ring of a process has its stacks, and what it held at the trigger."""
    store = lab.dir / "ring"
    work = lab.spawn([named(lab, "recorded"), "-c", LEAK, "0.02", "60"])
    recorder = lab.spawn([lab.program, "record", "--ring", "1m", "-o", store, "--incident.after",
                          "1s", str(work.pid)])
    until(lambda: list(store.glob("*-F01.fsr")), "an incident", seconds=60)
    time.sleep(2)
    recorder.send_signal(signal.SIGTERM)
    recorder.communicate(timeout=60)
    ran = lab.faultscope("incidents", "--json", "--store", store)
    one = next(one for one in map(json.loads, ran.out.splitlines()) if one["finding"] == "F01")
    check.that(one["raised_maps"] and one["raised_fds"], f"{one}")
    report = lab.faultscope("report", one["file"]).out
    check.that("open" in report and "F01" in report, report)
    check_view(check, lab, store, one)


def check_view(check, lab, store, one):
    """The live view opens the incident at its trigger, and [ and ] return to it."""
    tmux = Tmux(lab, 120, 40, f"{FAULTSCOPE} incidents open {one['number']} --store {store}")
    trigger = time.strftime("%H:%M:%S", time.localtime(when(one)))
    later = time.strftime("%H:%M:%S", time.localtime(when(one) + 1))
    expect(check, tmux, "open", "PAUSED", "the trigger: ", "▲|█", f" ({trigger}|{later}), ")
    tmux.keys("0", "]")
    expect(check, tmux, "a finding on the way", r"F\d\d recorded\[")
    for _ in range(20):
        before = clock_of(tmux), foot_of(tmux)
        if "trigger of the incident" in tmux.screen():
            break
        tmux.keys("]")
        # two findings may open within a second, so that the clock is the same
        until(lambda: clock_of(tmux) and (clock_of(tmux), foot_of(tmux)) != before and
              re.search("critical |warning |info |trigger of |no finding opens", foot_of(tmux)),
              "the next finding", seconds=30)
    check.that("trigger of the incident: " in foot_of(tmux), f"] ends at {foot_of(tmux)}")
    check.that(clock_of(tmux) in (trigger, later), f"{clock_of(tmux)} is not {trigger}")
    tmux.keys("q")
    expect(check, tmux, "q", "ended with [07]")
    tmux.close()
