# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `doctor`, which reports every probe, the cost of each probe, and limits. Other tests check
that every output reports a disabled probe."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import unicodedata
from pathlib import Path

from harness import (FAULTSCOPE, INCOMPLETE, ROOT, Lines, Skip, check_schema, complaint, live, some_of,
                     status_by, until, without_notices, workload_path)
from test_hooks import OF_MEMORY, left_out_together

DONE, KERNEL_LACKS = 0, 6
CORE = ("state", "scan", "lifecycle")
OLD_KEYS = {"type", "version", "kernel", "probes", "only_counted", "limits"}
LIMITS = {"max_map_count": "vm/max_map_count", "file_max": "fs/file-max", "nr_open": "fs/nr_open",
          "overcommit_memory": "vm/overcommit_memory", "pid_max": "kernel/pid_max",
          "threads_max": "kernel/threads-max", "kptr_restrict": "kernel/kptr_restrict",
          "inotify_instances": "fs/inotify/max_user_instances",
          "inotify_watches": "fs/inotify/max_user_watches",
          "perf_event_paranoid": "kernel/perf_event_paranoid",
          "unprivileged_bpf_disabled": "kernel/unprivileged_bpf_disabled"}


def told(check, lab, *options, status=DONE):
    ran = lab.faultscope("doctor", "--json", *options)
    check.equal(f"status of {options}", ran.returncode, status)
    check.equal("standard error", ran.err, "")
    check.equal("lines", ran.out.count("\n"), 1)
    report = json.loads(ran.out)
    check.equal("schema", complaint(report), "")
    return report


def check_costs(check, hook):
    check.that(hook["costs"], f"{hook['name']} has no costs")
    for cost in hook["costs"]:
        what = f"{hook['name']} a {cost['per']}"
        if cost["median"] is None:
            check.that(cost["why"], f"{what}: no cost, and no reason")
            check.equal(f"{what}: the rest", (cost["p25"], cost["p75"]), (None, None))
        else:
            check.equal(f"{what}: reason", cost["why"], None)
            check.that(0 < cost["p25"] <= cost["median"] <= cost["p75"], f"{what}: {cost}")


def check_overheads(check, report):
    """Checks that the overheads have the names of rows of `make bench`, and a value or a reason."""
    rows = {(row["work"], row["mode"], row.get("of"))
            for row in json.loads((ROOT / "docs/performance.json").read_text())["rows"]}
    names = [(one["event"], one["mode"], one["process"]) for one in report["overheads"]]
    check.equal("events", sorted({name for name, _, _ in names}),
                ["fault", "getppid", "mmap", "open", "signal"])
    check.equal("overheads of each event", len(names), 2 * 5)
    check.that(set(names) <= rows, f"no rows of make bench: {set(names) - rows}")
    for one, name in zip(report["overheads"], names):
        has = [one[key] is not None for key in ("p25", "median", "p75")]
        check.that(all(has) != bool(one["why"]) and any(has) == all(has), f"{name}: {one}")
        if one["median"] is not None:
            check.that(0 < one["p25"] <= one["median"] <= one["p75"], f"{name}: {one}")


@live
def test_doctor_tells_all(check, lab):
    report = told(check, lab)
    check_overheads(check, report)
    text = lab.faultscope("doctor").out
    # The title of the probes has the number of rounds if they were measured.
    measured = " rounds in " in " ".join(text.split("  state ")[0].split())
    check.equal("overheads in the text", "rows of make bench" in text, measured)
    check.that(OLD_KEYS <= report.keys(), f"keys {sorted(report)}")
    for hook in report["probes"]:
        check.equal(f"{hook['name']}, core", hook["core"], hook["name"] in CORE)
        check_costs(check, hook)
    # On a machine with much other load, the calibration may fail.
    check.that(report["calibration"] is None or report["calibration"]["rounds"] > 0, "rounds")
    check.that(report["processes"] > 1, f"{report['processes']} processes")


@live
def test_doctor_degraded(check, lab):
    """If a core probe works only with its last attach type, the verdict of `doctor` says that it is
    degraded."""
    forced = ("--no-calibrate", "--probe", "scan=/proc")
    flags = {hook["name"]: hook["degraded"] for hook in told(check, lab, *forced)["probes"]}
    check.equal("degraded", flags, {name: name == "scan" for name in flags})
    verdict = lab.faultscope("doctor", *forced).out.splitlines()[1]
    check.that("degraded: scan by /proc" in verdict, verdict)
    verdict = lab.faultscope("doctor", "--no-calibrate").out.splitlines()[1]
    best = told(check, lab, "--no-calibrate")["probes"]
    check.equal("in the verdict", "degraded" in verdict, any(hook["degraded"] for hook in best))


@live
def test_doctor_without_calibration(check, lab):
    report = told(check, lab, "--no-calibrate")
    check.equal("calibration", report["calibration"], None)
    check_overheads(check, report)
    check.equal("reasons", {one["why"] for one in report["overheads"]},
                {"not measured: --no-calibrate"})
    for hook in report["probes"]:
        check_costs(check, hook)
        for cost in hook["costs"]:
            check.equal(f"{hook['name']}, median", cost["median"], None)


@live
def test_doctor_limits(check, lab):
    report = told(check, lab, "--no-calibrate")
    for key, path in LIMITS.items():
        path = Path("/proc/sys") / path
        want = int(path.read_text()) if path.exists() else None
        check.equal(key, report["limits"].get(key, "missing"), want)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for key, value in (("rlimit_nofile", soft), ("rlimit_nofile_hard", hard)):
        unlimited = value == resource.RLIM_INFINITY
        check.equal(key, report["limits"][key], None if unlimited else value)
        check.equal(f"{key} is unlimited", key in report["unlimited"], unlimited)
    keys = [one["limit"] for one in report["set_by"]]
    check.equal("limits of set_by", len(keys), len(set(keys)))
    check.that(set(keys) <= report["limits"].keys() and "max_map_count" in keys, f"{keys}")
    for one in report["advice"]:
        check.that(one["limit"] in report["limits"] and one["command"], f"advice {one}")


@live
def test_doctor_advises(check, lab):
    """If the shell that starts `doctor` has a low limit, `doctor` advises how to raise it."""
    ran = lab.call("sh", "-c", f"ulimit -Sn 256; exec {FAULTSCOPE} doctor --json --no-calibrate")
    report = json.loads(ran.out)
    check.equal("limit", report["limits"]["rlimit_nofile"], 256)
    commands = {one["limit"]: one["command"] for one in report["advice"]}
    check.that(commands.get("rlimit_nofile", "").startswith(("ulimit -Sn ", "prlimit ")),
               f"commands {commands}")


WATCH_ALL_BYTES = 4  # size in bytes of watch_all, the first member of struct fs_config


def maps_of(process):
    """Returns the numbers of the BPF maps that a process has open."""
    numbers = set()
    for info in Path(f"/proc/{process.pid}/fdinfo").iterdir():
        try:
            number = re.search(r"^map_id:\s*(\d+)", info.read_text(), re.M)
        except OSError:
            continue  # the file descriptor was closed before its fdinfo could be read
        if number:
            numbers.add(int(number[1]))
    return numbers


def config_of(process):
    """Returns the bytes of the configuration map of a process that has loaded its BPF programs."""
    numbers = maps_of(process)
    shown = subprocess.run(["bpftool", "-j", "map", "show"], check=False, capture_output=True,
                           text=True)
    for one in json.loads(shown.stdout or "[]"):
        if one["id"] not in numbers or one.get("name") != ".rodata.config":
            continue
        ran = subprocess.run(["bpftool", "-j", "map", "dump", "id", str(one["id"])], check=False,
                             capture_output=True, text=True)
        if ran.returncode == 0:
            value = bytes(int(byte, 16) for byte in json.loads(ran.stdout)[0]["value"])
            return value if any(value) else None
    return None


def stopped_config_of(process):
    """Does what config_of() does while the process is stopped, so that it cannot end meanwhile."""
    process.send_signal(signal.SIGSTOP)
    try:
        return config_of(process)
    finally:
        process.send_signal(signal.SIGCONT)


@live
def test_doctor_loads_what_run_loads(check, lab):
    """The verifier skips code that the configuration disables. To let the verifier check all code,
    `doctor` must load the BPF programs with the configuration that -p uses."""
    if not shutil.which("bpftool"):
        raise Skip("bpftool is missing")
    found = {}
    for name, words in (("doctor", ["doctor", "--json"]), ("-p", ["--json", "-p", os.getpid()])):
        process = lab.spawn([FAULTSCOPE, *words], stdout=subprocess.DEVNULL)
        found[name] = until(lambda process=process: stopped_config_of(process),
                            f"the maps of {name}")
        process.terminate()
        process.communicate()
    check.equal("watches all", [any(one[:WATCH_ALL_BYTES]) for one in found.values()],
                [True, False])
    check.equal("the rest of the configuration", found["doctor"][WATCH_ALL_BYTES:],
                found["-p"][WATCH_ALL_BYTES:])


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def is_command(line):
    """Returns whether a line consists of a command to copy. Such command lines are not wrapped."""
    return line.strip().startswith(("try ", "now ", "keep "))


@live
def test_doctor_text(check, lab):
    ran = lab.faultscope("doctor")
    check.equal("status", ran.returncode, DONE)
    check.equal("standard error", ran.err, "")
    check.that("\033" not in ran.out, "colour on a pipe")
    for line in ran.out.splitlines():
        check.that(columns_of(line) <= 80 or is_command(line), f"wide: {line!r}")
    for limit in ("vm.max_map_count", "fs.file-max", "RLIMIT_NOFILE", "cgroup", "lockdown"):
        check.that(limit in ran.out, f"{limit} is not in the text")
    for hook in told(check, lab, "--no-calibrate")["probes"]:
        check.that(f"\n  {hook['name']} " in ran.out, f"{hook['name']} is not in the text")
    plain = lab.faultscope("doctor", "--no-calibrate", "--no-unicode")
    check.that(plain.out.isascii(), "--no-unicode is not honoured")
    coloured = lab.faultscope("doctor", "--no-calibrate", "--color", "always")
    check.that("\033[" in coloured.out, "no colour where it is asked for")
    narrow = lab.faultscope("doctor", "--no-calibrate", "--width", "50")
    for line in narrow.out.splitlines():
        check.that(columns_of(line) <= 50 or is_command(line), f"wide: {line!r}")


@live
def test_doctor_on_full_disk(check, lab):
    with open("/dev/full", "w", encoding="ascii") as full:
        ran = lab.faultscope("doctor", "--no-calibrate", stdout=full)
    check.equal("status", ran.returncode, 1)
    check.that("No space left on device" in ran.err, f"message {ran.err!r}")


@live
def test_doctor_leaves_nothing_attached(check, lab):
    """`doctor` leaves no probe attached, so a second run of `doctor` must find every probe
    available again."""
    for _ in range(2):
        report = told(check, lab)
        check.equal("blind", [h["name"] for h in report["probes"] if h["state"] == "unavailable"], [])


# Tests of a disabled probe: faultscope continues, and every output says that the probe is disabled.

REASON = "switched off by --probe"
# Maps a disabled probe to the reason that is reported for the probes that depend on the disabled
# probe.
REASON_BEHIND = {"state": "without state there is nothing to count in",
                 "fault_begin": "needs fault_begin", "fault_end": "and fault_end of minor faults"}
BEHIND = {"fault_class": ("fault_begin", "fault_end")}


def check_said(check, what, text, names):
    lines = text.splitlines()
    for name in names:
        blind = [i for i, line in enumerate(lines) if line.startswith(f"unavailable: {name} (")]
        if check.that(blind, f"{what} does not say that {name} is unavailable"):
            check.that(REASON in " ".join(lines[blind[0]:blind[0] + 3]), f"{what}: no reason")


def status_without(names, *needed):
    """Returns the exit status that a command must have with these probes disabled. Without a probe
    of `needed`, no process can be seen, so the status is 7. Otherwise, it is 0."""
    return INCOMPLETE if set(names) & set(needed) else DONE


def check_view(check, lab, names, force):
    ran = lab.faultscope("--format", "text", *force, "0.1", "2")
    # Without the scan probe, only processes that cause events are seen, so the view may be empty.
    quiet = "scan" in names and ", 0 processes\n" in ran.out
    status = INCOMPLETE if quiet else status_without(names, "state")
    # the kernel may skip events while other tests run
    said = "\n".join(without_notices(ran.err))
    lost = re.fullmatch(r"faultscope: incomplete: lost: .*", said)
    check.equal(f"without {names}, status of the view", ran.returncode,
                INCOMPLETE if lost else status)
    if not lost:
        check.equal(f"without {names}, standard error of the view", said,
                    "faultscope: incomplete: no process matched" if status else "")
    check_said(check, "the view of all", ran.out, names)
    if names != ["state"]:
        check.that("PID" in ran.out, f"without {names}: the table is gone")


def check_json(check, lab, names, force):
    ran = lab.faultscope("--json", *force, "0.1", "2")
    lines = Lines(ran.out)
    check.equal(f"without {names}, status of JSON", ran.returncode, status_by(lines))
    for name in names:
        check.that(REASON in lines.all[0]["probes"][name], f"JSON: {lines.all[0]['probes'][name]}")
    check_schema(check, lines.all)


def check_run(check, lab, names, force):
    ran = lab.faultscope("run", *force, "--", workload_path("touch"), "1000")
    check.equal(f"without {names}, status of run", ran.returncode,
                status_without(names, "state", "lifecycle"))
    check.that(json.loads(ran.out)["minflt"] >= 1000, f"without {names}: the command did not run")
    check_said(check, "the summary of run", ran.err, names)


def check_target(check, lab, names, force):
    work = lab.work("touch", "10", "--hold")
    work.truth()
    ran = lab.faultscope("-p", str(work.pid), *force, "0.1", "2")
    check.equal(f"without {names}, status of -p", ran.returncode,
                status_without(names, "state", "scan"))
    # Without `state` or `scan`, the process is never seen, so the view does not list unavailable
    # probes.
    if names not in (["state"], ["scan"]):
        check_said(check, "the view of one", ran.out, names)
    work.process.kill()
    work.process.wait()


def reason_of(hook, names):
    """Returns why a probe is unavailable while probes `names` are disabled; None if it works."""
    if hook in names:
        return REASON
    behind = [name for name in ("state", *BEHIND.get(hook, ())) if name in names]
    return REASON_BEHIND[behind[0]] if behind else None


def check_doctor(check, lab, names, force):
    status = KERNEL_LACKS if set(names) & set(CORE) else DONE
    report = told(check, lab, "--no-calibrate", *force, status=status)
    for hook in report["probes"]:
        if hook["name"] in OF_MEMORY:
            check.equal(f"without {names}, {hook['name']}", hook["state"], "off")
            continue
        reason = reason_of(hook["name"], names)
        check.equal(f"without {names}, {hook['name']}", hook["state"], "unavailable" if reason else "on")
        if reason:
            check.that(reason in hook["tried"], f"{hook['name']}: {hook['tried']!r}")
            check.equal(f"{hook['name']}, mechanism", hook["attach_type"], None)
            check.that(hook["lost_without"], f"{hook['name']}: what is lost?")
        check_costs(check, hook)
    ran = lab.faultscope("doctor", "--no-calibrate", *force)
    check.equal(f"without {names}, status of the text", ran.returncode, status)
    check.that("unavailable: " in ran.out and REASON in ran.out, f"without {names}: {ran.out[:300]!r}")


@live
def test_hook_left_out_shows_everywhere(check, lab):
    """Disables several probes at once in each run; test_hooks_left_out disables each probe alone.
    """
    hooks = [hook["name"] for hook in told(check, lab, "--no-calibrate")["probes"]
             if hook["name"] not in OF_MEMORY]
    for names in some_of(left_out_together(hooks), 3):
        force = [word for name in names for word in ("--probe", f"{name}=none")] + ["--overhead", "0-3"]
        for look in (check_view, check_json, check_run, check_target, check_doctor):
            look(check, lab, names, force)


@live
def test_doctor_counts_what_the_kernel_refuses(check, lab):
    """An attach type that was requested and that the kernel does not allow counts as missing data
    (status 7)."""
    refused = [(hook["name"], one) for hook in told(check, lab, "--no-calibrate")["probes"]
               for one in hook["attach_types"] if hook["name"] not in CORE]
    for name, mechanism in refused:
        ran = lab.faultscope("doctor", "--json", "--no-calibrate", "--probe", f"{name}={mechanism}")
        state = next(hook["state"] for hook in json.loads(ran.out)["probes"] if hook["name"] == name)
        if state != "unavailable":
            continue
        check.equal(f"{name} refused as {mechanism}: status", ran.returncode, INCOMPLETE)
        check.that(f"incomplete: not measured: {name} (" in ran.err, ran.err)
        return
    raise Skip("this kernel refuses no mechanism")


@live
def test_doctor_measures_without_a_hook(check, lab):
    """With a probe disabled, `doctor` measures the other probes, and says why the disabled one has
    no cost."""
    for name in some_of(("scan", "fault_begin", "fault_end", "calls"), 2):
        status = KERNEL_LACKS if name in CORE else DONE
        report = told(check, lab, "--probe", f"{name}=none", status=status)
        for hook in report["probes"]:
            check_costs(check, hook)
            if hook["name"] == name:
                check.equal(f"{name}, medians", {c["median"] for c in hook["costs"]}, {None})
