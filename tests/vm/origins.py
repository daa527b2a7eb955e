# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests in a guest where limits come from. In a guest, sysctl files, sysctls and cgroups can be
changed."""
import json

from lab import FAULTSCOPE, quoted

MIB = 1 << 20
INSTANCES = "fs.inotify.max_user_instances"


def told(check, ran):
    """Returns the report of `doctor`, and the entries of its `set_by` as {limit: entry}."""
    check.equal("status of doctor", (ran.status, ran.err), (0, ""))
    report = json.loads(ran.out)
    return report, {one["limit"]: one for one in report["set_by"]}


def doctor(check, lab):
    return told(check, lab.faultscope("doctor", "--json", "--no-calibrate"))


def sysctl(check, lab):
    """`doctor` first names the file that set a sysctl. After a change of the sysctl by hand,
    `doctor` reports "by hand". After the test has followed the advice of `doctor`, `doctor` names
    the file that the advice has made."""
    lab.vm.must("mkdir -p /etc/sysctl.d /usr/lib/sysctl.d")
    lab.vm.must(f"echo '{INSTANCES} = 100' >/usr/lib/sysctl.d/50-x.conf;"
                f" sysctl -w {INSTANCES}=100")
    set_by = doctor(check, lab)[1]["inotify_instances"]
    check.equal("by a file", (set_by["from"], set_by["file"], set_by["line"]),
                ("file", "/usr/lib/sysctl.d/50-x.conf", 1))
    lab.vm.must(f"sysctl -w {INSTANCES}=101")
    report, set_by = doctor(check, lab)
    check.equal("by hand", (set_by["inotify_instances"]["from"],
                            set_by["inotify_instances"]["line_text"]), ("hand", f"{INSTANCES} = 100"))
    advice = {one["limit"]: one for one in report["advice"]}["inotify_instances"]
    lab.vm.must(advice["persistent_command"])
    set_by = doctor(check, lab)[1]["inotify_instances"]
    check.equal("by the advice", (set_by["from"], set_by["file"]),
                ("file", "/etc/sysctl.d/99-inotify_instances.conf"))
    lab.vm.must(f"rm /etc/sysctl.d/*.conf /usr/lib/sysctl.d/50-x.conf; sysctl -w {INSTANCES}=128")
    check.equal("by nobody", doctor(check, lab)[1]["inotify_instances"]["from"], "kernel")
    check.equal("by hand", doctor(check, lab)[1]["max_map_count"]["from"], "hand")


def cgroup(check, lab):
    """With cgroup version 2, `doctor` names the cgroup in the hierarchy that has the least memory
    left."""
    inner = "/sys/fs/cgroup/a/b"
    lab.vm.must("echo +memory +pids >/sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/a;"
                " echo +memory +pids >/sys/fs/cgroup/a/cgroup.subtree_control;"
                f" mkdir -p {inner}; echo {300 * MIB} >{inner}/memory.max;"
                f" echo {200 * MIB} >/sys/fs/cgroup/a/memory.max; echo 1 >{inner}/pids.max")
    command = quoted([FAULTSCOPE, "doctor", "--json", "--no-calibrate"])
    report, set_by = told(check, lab.vm.run(f"echo $$ >{inner}/cgroup.procs; exec {command}"))
    check.equal("memory", report["limits"]["cgroup_memory_max_bytes"], 200 * MIB)
    text = set_by["cgroup_memory_max_bytes"]["text"]
    check.that("in /sys/fs/cgroup/a/memory.max, 1 level up" in text, text)
    advice = {one["limit"]: one for one in report["advice"]}
    if check.that("cgroup_pids_max" in advice, f"advice {advice}"):
        lab.vm.must(advice["cgroup_pids_max"]["command"])
        check.equal("pids", lab.vm.must(f"cat {inner}/pids.max"), "2\n")
    lab.vm.must("rmdir /sys/fs/cgroup/a/b /sys/fs/cgroup/a")


def ancestor(check, lab):
    """`doctor` names the shell, two parents up, that set a limit."""
    command = quoted([FAULTSCOPE, "doctor", "--json", "--no-calibrate"])
    ran = lab.vm.run(f"ulimit -n 317; echo $$ >/tmp/shell; sh -c '{command}; true'; true")
    report, set_by = told(check, ran)
    shell = int(lab.vm.must("cat /tmp/shell"))
    check.equal("limit", report["limits"]["rlimit_nofile"], 317)
    check.equal("who", (set_by["rlimit_nofile"]["from"], set_by["rlimit_nofile"]["pid"]),
                ("process", shell))


def behind_rights(check, lab):
    """After -p dropped its rights and entered landlock if available, faultscope still names the
    file that set a limit."""
    limit = lab.vm.must("cat /proc/sys/vm/max_map_count").strip()
    lab.vm.must("mkdir -p /etc/sysctl.d;"
                f" echo 'vm.max_map_count = {limit}' >/etc/sysctl.d/x.conf")
    work = lab.work("mapleak", str(int(limit) * 7 // 10), "--hold")
    work.truth()
    ran = lab.faultscope("-p", work.pid, "--json", "-d", "1")
    work.end()
    lab.vm.must("rm /etc/sysctl.d/x.conf")
    check.equal("status", (ran.status, ran.err), (0, ""))
    lines = [json.loads(line) for line in ran.out.splitlines()]
    found = [line for line in lines if line["type"] == "finding" and line["id"] == "M25"]
    if check.that(found, "no M25"):
        check.equal("set by", found[-1]["set_by"],
                    f"/etc/sysctl.d/x.conf:1: vm.max_map_count = {limit}")


ALL = {"origin behind the rights": behind_rights, "origin of a sysctl": sysctl, "origin of a cgroup's limit": cgroup,
       "origin of an ancestor's limit": ancestor}
