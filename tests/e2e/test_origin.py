# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`doctor` says where limits come from: ancestors, control groups, sysctl files."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

from harness import FAULTSCOPE, Lines, Skip, complaint, live

DOCTOR = f"{FAULTSCOPE} doctor --json --no-calibrate"
MIB = 1 << 20


def judged(check, ran):
    """Returns the report of `doctor`, and the entries of its `set_by` as {limit: entry}."""
    check.equal("standard error", ran.err, "")
    report = json.loads(ran.out.splitlines()[-1])
    check.equal("schema", complaint(report), "")
    return report, {one["limit"]: one for one in report["set_by"]}


# Tests of limits from ancestors

@live
def test_limit_of_an_ancestor(check, lab):
    """A shell sets a limit, which two generations of child processes inherit. `doctor` names the
    shell."""
    inner = shlex.quote(f"sh -c {shlex.quote(DOCTOR + '; true')}; true")
    ran = lab.call("sh", "-c", f"ulimit -n 317; sh -c {inner}; true")
    report, told = judged(check, ran)
    check.equal("limit", report["limits"]["rlimit_nofile"], 317)
    check.equal("from", told["rlimit_nofile"]["from"], "process")
    check.equal("who", told["rlimit_nofile"]["pid"], ran.pid)
    check.that(f"sh (pid {ran.pid}), 3 parents up" in told["rlimit_nofile"]["text"],
               told["rlimit_nofile"]["text"])


@live
def test_limit_of_its_own(check, lab):
    ran = lab.call("sh", "-c", f"ulimit -Sn 318; exec {DOCTOR}")
    _, told = judged(check, ran)
    check.equal("who", told["rlimit_nofile"]["pid"], ran.pid)
    check.that(told["rlimit_nofile"]["text"].startswith("itself, or the process that started it"),
               told["rlimit_nofile"]["text"])


NEAR_ITS_LIMIT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
opened = [open("/dev/null") for _ in range(57)]
print(1, flush=True); sys.stdin.read()
"""


@live
def test_origin_in_the_first_scan(check, lab):
    """With -p, the first scan may come before all probes are attached. Its findings, too, must name
    the origins of their limits."""
    work = lab.spawn([sys.executable, "-c", NEAR_ITS_LIMIT], stdin=subprocess.PIPE)
    work.stdout.readline()
    ran = lab.faultscope("-p", str(work.pid), "--json", "-d", "0.5")
    work.communicate()
    found = Lines(ran.out).of("finding", work.pid, id="F12")
    if check.that(found, f"no F12: {ran.err!r}"):
        check.that((found[0]["set_by"] or "").startswith("itself, or the process that started it"),
                   f"set by: {found[0]['set_by']}")


@live
def test_remedy_of_a_limit_works(check, lab):
    """The command that `doctor` advises works in the shell whose limit is low."""
    ran = lab.call("sh", "-c", f"ulimit -Sn 256; exec {DOCTOR}")
    command = {one["limit"]: one["command"] for one in json.loads(ran.out)["advice"]}
    after = lab.call("bash", "-c", f"ulimit -Sn 256; {command['rlimit_nofile']}; ulimit -Sn")
    check.equal("standard error", after.err, "")
    check.that(int(after.out) > 256, f"{command['rlimit_nofile']!r} leaves {after.out!r}")


# Tests of limits from control groups

def hierarchy_of(controller, version_1_file):
    """Returns the hierarchy of a controller, and the name of the file with its limit."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup" and controller in options.split(","):
            return Path(where), version_1_file
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            enabled = Path(where, "cgroup.subtree_control").read_text().split()
            if controller in enabled:
                return Path(where), f"{controller}.max"
    raise Skip(f"no {controller} controller for control groups here")


class Groups:
    """Two nested control groups with limits, removed at the end."""

    def __init__(self, lab, controller, version_1_file, outer, inner):
        self.mount, self.file = hierarchy_of(controller, version_1_file)
        self.outer = self.mount / f"faultscope-{lab.dir.name}"
        self.inner = self.outer / "inner"
        self.controller = controller
        self.limits = {self.outer: outer, self.inner: inner}

    def __enter__(self):
        try:
            self.outer.mkdir()
        except OSError as error:
            raise Skip(f"no control group can be made: {error.strerror}") from error
        control = self.outer / "cgroup.subtree_control"
        if control.exists():
            control.write_text(f"+{self.controller}")
        self.inner.mkdir()
        for group, limit in self.limits.items():
            if limit:
                (group / self.file).write_text(str(limit))
        return self

    def __exit__(self, *_):
        for group in (self.inner, self.outer):
            if group.exists():
                group.rmdir()

    def doctor(self, lab):
        procs = shlex.quote(str(self.inner / "cgroup.procs"))
        # LeakSanitizer uses a thread of its own, which the pids limit may not allow.
        return lab.call("sh", "-c", f"echo $$ > {procs} && "
                        f"exec env ASAN_OPTIONS=detect_leaks=0 {DOCTOR}")


@live
def test_memory_of_a_cgroup(check, lab):
    """`doctor` names the cgroup with the least memory left, even if another cgroup has a lower
    limit."""
    with Groups(lab, "memory", "memory.limit_in_bytes", 256 * MIB, 512 * MIB) as groups:
        report, told = judged(check, groups.doctor(lab))
        check.equal("limit", report["limits"]["cgroup_memory_max_bytes"], 256 * MIB)
        text = told["cgroup_memory_max_bytes"]["text"]
        check.that(f"in {groups.outer}/{groups.file}, 1 level up" in text, text)
        check.equal("from", told["cgroup_memory_max_bytes"]["from"], "hand")


@live
def test_pids_of_a_cgroup(check, lab):
    """If a cgroup is near pids.max, `doctor` advises a command that writes the cgroup file."""
    with Groups(lab, "pids", "pids.max", None, 1) as groups:
        report, told = judged(check, groups.doctor(lab))
        check.equal("limit", report["limits"]["cgroup_pids_max"], 1)
        check.that(f"in {groups.inner}/{groups.file}" in told["cgroup_pids_max"]["text"],
                   told["cgroup_pids_max"]["text"])
        commands = {one["limit"]: one["command"] for one in report["advice"]}
        command = commands.get("cgroup_pids_max")
        if check.that(command, f"no advice, but {commands}"):
            check.equal("status of it", lab.call("sh", "-c", command).returncode, 0)
            check.equal("limit then", (groups.inner / groups.file).read_text(), "2\n")


@live
def test_no_limit_of_a_cgroup(check, lab):
    with Groups(lab, "pids", "pids.max", None, None) as groups:
        report, told = judged(check, groups.doctor(lab))
        if report["limits"]["cgroup_pids_max"] is not None:
            raise Skip("the control group we are in has a limit")
        check.equal("from", told["cgroup_pids_max"]["from"], "nobody")


# Tests of limits from sysctl files

@live
def test_file_of_a_sysctl(check, lab):
    """`doctor` names a file in /etc/sysctl.d that sets a limit. The test mounts its own directory
    there, in a mount namespace."""
    value = int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
    place = lab.dir / "sysctl.d"
    place.mkdir()
    (place / "zzzz.conf").write_text(f"# x\nfs.inotify.max_user_watches = {value}\n")
    over = f"mount --bind {place} /etc/sysctl.d"
    if lab.call("unshare", "-m", "sh", "-c", over).returncode:
        raise Skip("no mount namespace, or no /etc/sysctl.d")
    _, told = judged(check, lab.call("unshare", "-m", "sh", "-c", f"{over} && exec {DOCTOR}"))
    told = told["inotify_watches"]
    if told["from"] == "outside":
        raise Skip("this machine looks like a container: its files do not count")
    check.equal("from", told["from"], "file")
    check.equal("where", (told["file"], told["line"]), ("/etc/sysctl.d/zzzz.conf", 2))
    (place / "zzzz.conf").write_text(f"fs/inotify/max_user_watches={value + 1}\n")
    _, told = judged(check, lab.call("unshare", "-m", "sh", "-c", f"{over} && exec {DOCTOR}"))
    check.equal("from", told["inotify_watches"]["from"], "hand")
    check.that(f"={value + 1}" in told["inotify_watches"]["line_text"], told["inotify_watches"])


@live
def test_file_behind_the_rights(check, lab):
    """A finding must name the file that set its limit. With -p, faultscope has already dropped its
    rights at this time."""
    place = lab.dir / "sysctl.d"
    place.mkdir()
    value = Path("/proc/sys/vm/max_map_count").read_text()
    (place / "zzzz.conf").write_text(f"# x\nvm.max_map_count = {value}")
    over = f"mount --bind {place} /etc/sysctl.d"
    if lab.call("unshare", "-m", "sh", "-c", over).returncode:
        raise Skip("no mount namespace, or no /etc/sysctl.d")
    _, told = judged(check, lab.call("unshare", "-m", "sh", "-c", f"{over} && exec {DOCTOR}"))
    if told["max_map_count"]["from"] != "file":
        raise Skip("this machine looks like a container: its files do not count")
    work = lab.work("growth", "leak", "0", "--before", "40000", "--wait", "--hold")
    out = lab.dir / "lines"
    ran = lab.call("unshare", "-m", "sh", "-c",
                   f"{over}; exec {FAULTSCOPE} -p {work.pid} --json -o {out} -d 0.5")
    work.end()
    check.equal("status", (ran.returncode, ran.err), (0, ""))
    lines = Lines(out.read_text())
    found = lines.of("finding", work.pid, id="M25")
    if check.that(found, "no M25"):
        check.equal("set by", found[-1]["set_by"],
                    f"/etc/sysctl.d/zzzz.conf:2: vm.max_map_count = {value.strip()}")
