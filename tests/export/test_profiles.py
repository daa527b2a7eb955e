# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the profiles of --export.profiles: go tool pprof and speedscope read them, and their values
are those of a program with known page faults and file descriptors."""
import json
import re
import shutil
import subprocess
import sys
import time

from exporter import Exporter
from harness import ROOT, Skip, live, until
from test_snapshot import USER, with_user

NAMES = ("faults", "mappings", "fds", "stalls")
PAGES = 20000
FDS = 100
# Touches pages, and opens files more than the threshold of growth by call stack, in functions with
# names.
WORK = f"""import mmap, sys, time
held = []
def touch_pages():
    area = mmap.mmap(-1, {PAGES} * 4096)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, {PAGES} * 4096, 4096):
        area[at] = 1
    return area
def open_files(n):
    for _ in range(n):
        held.append(open("/dev/null"))
open_files(80)
print("ready", flush=True)
sys.stdin.readline()
area = touch_pages()
open_files({FDS})
print("done", flush=True)
time.sleep(600)
"""


def worker(lab, name="profiled"):
    path = lab.dir / name
    path.symlink_to(sys.executable)
    process = lab.spawn([path, "-c", WORK], stdin=subprocess.PIPE)
    process.stdout.readline()
    return process


def go():
    found = shutil.which("go")
    if not found:
        raise Skip("go is missing")
    return found


def saved(lab, exporter, path, name="p.pb.gz"):
    answer = exporter.get(f"/debug/pprof/{path}")
    assert answer.status == 200, f"{path}: {answer.status} {answer.body[:200]}"
    (lab.dir / name).write_bytes(answer.body)
    return lab.dir / name


def traces(path, kind=None):
    """Returns (value, frames from the innermost to the outermost) of each sample, by go tool pprof."""
    options = [f"-sample_index={kind}"] if kind else []
    unit = "bytes" if kind == "bytes" else "minimum"
    ran = subprocess.run([go(), "tool", "pprof", "-traces", f"-unit={unit}", *options, path],
                         capture_output=True, text=True, check=True)
    found = []
    for part in re.split(r"^-+\+-+\n", ran.stdout, flags=re.M)[1:]:
        lines = [line for line in part.splitlines() if not re.match(r" *\w+: ", line)]
        value = re.match(r" *(-?[\d.]+)\w*   (.*)", lines[0]) if lines else None
        if value:
            found.append((float(value[1]), [value[2].strip()] +
                          [line.strip() for line in lines[1:]]))
    return found


def total(found, process, function):
    """Returns the sum over the stacks of a process that contain the function."""
    return sum(value for value, frames in found
               if any(frame.endswith(f"[{process.pid}]") for frame in frames)
               and any(function in frame for frame in frames))


@live
def test_pprof_reads_the_profiles(check, lab):
    go()
    exporter = Exporter(lab, "--export.profiles", "--incident.on", "none")
    process = worker(lab)
    exporter.get()
    time.sleep(1.2)
    process.stdin.write("go\n")
    process.stdin.flush()
    process.stdout.readline()
    faults = traces(saved(lab, exporter, "faults"), "faults")
    # faults are exact for a process, and divided between its stacks
    check.between("page faults", total(faults, process, ""), PAGES, PAGES * 1.3)
    check.between("page faults of touch_pages", total(faults, process, "touch_pages"), PAGES * 0.8,
                  PAGES * 1.1)
    sizes = traces(saved(lab, exporter, "faults"), "bytes")
    check.that(total(sizes, process, "touch_pages") >= PAGES * 4096 * 0.8, "bytes")
    fds = traces(saved(lab, exporter, "fds"))
    check.between("fds of open_files", total(fds, process, "open_files"), FDS - 5, FDS + 20)
    stalls = traces(saved(lab, exporter, "stalls"))
    check.that(total(stalls, process, "touch_pages") > 0, "time in page faults")
    traces(saved(lab, exporter, "mappings"))
    # after a calm time, the last seconds do not contain the page faults
    time.sleep(1.5)
    exporter.get()
    time.sleep(1.5)
    exporter.get()
    last = traces(saved(lab, exporter, "faults?seconds=1"), "faults")
    check.that(total(last, process, "touch_pages") == 0, "page faults of an earlier time")


@live
def test_speedscope_reads_the_profiles(check, lab):
    modules = ROOT / "build/report-tools/node_modules"
    chromium = shutil.which("chromium")
    if not (modules / "speedscope").exists() or not (modules / "puppeteer-core").exists() \
            or not chromium or not shutil.which("node"):
        raise Skip("node, chromium or packages of tools/report_tools.sh are missing")
    exporter = Exporter(lab, "--export.profiles", "--incident.on", "none")
    process = worker(lab)
    process.stdin.write("go\n")
    process.stdin.flush()
    process.stdout.readline()
    paths = [saved(lab, exporter, name, f"{name}.pb.gz") for name in ("faults", "fds")]
    ran = lab.call("node", ROOT / "tests/report/speedscope.mjs", modules, chromium, *paths,
                   timeout=120)
    seen = json.loads(ran.out)
    for path, wanted in zip(paths, ("[minor faults: anonymous]", "[null in ")):
        one = seen[path.name]
        check.equal(f"errors of {path.name}", one["errors"], [])
        check.that(any(wanted in row for row in one["rows"]), f"no {wanted}: {one['rows'][:20]}")


@live
def test_profiles_are_off_by_default(check, lab):
    exporter = Exporter(lab)
    for name in NAMES:
        check.equal(name, exporter.get(f"/debug/pprof/{name}").status, 404)


@live
def test_profiles_need_the_password(check, lab):
    exporter = with_user(lab, "--export.profiles")
    for user, status in ((None, 401), ("alice:x", 401), (USER, 200)):
        check.equal(f"{user}", exporter.get("/debug/pprof/faults", user=user).status, status)
    check.equal("an unknown profile", exporter.get("/debug/pprof/heap", user=USER).status, 404)


@live
def test_many_requests_share_a_profile(check, lab):
    """Requests cannot use up a CPU: those that come soon get the profile that exists."""
    exporter = Exporter(lab, "--export.profiles", "--incident.on", "none")
    first = exporter.get("/debug/pprof/faults").body
    check.that(first[:2] == b"\x1f\x8b", "not compressed by gzip")
    answers = {exporter.get("/debug/pprof/faults").body for _ in range(20)}
    check.equal("different profiles", len(answers | {first}), 1)
    one, other = (exporter.get(f"/debug/pprof/faults?seconds={n}").status for n in (5, 6))
    check.equal("another parameter so soon", (one, other), (200, 503))


@live
def test_seconds_that_are_no_number(check, lab):
    exporter = Exporter(lab, "--export.profiles", "--incident.on", "none")
    until(lambda: exporter.get("/debug/pprof/faults").status == 200, "a profile")
    for text in ("", "x", "-1", "nan", "inf", "1e300"):
        check.that(exporter.get(f"/debug/pprof/faults?seconds={text}").status in (200, 503), text)
    check.equal("metrics", exporter.get().status, 200)


def test_profiles_need_a_ring(check, lab):
    for options in (("--ring", "off"), ("--export.resident", "x"),
                    ("--textfile", lab.dir / "f.prom")):
        ran = lab.faultscope("export", "--export.profiles", *options)
        check.equal(options[0], ran.returncode, 2)
        check.that("--export.profiles needs --ring" in ran.err, ran.err)
