# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks faultscope under the security policies of a kernel: it works, or gives the right message.

Tests of tests/e2e that use only their lab run here unchanged. There are also tests of sysctl levels
that stock kernels of other distributions lack, and of layouts of control groups. The last tests are
those of settings that only a reboot undoes.
"""
import json
import subprocess
from pathlib import Path

import fetch  # noqa: F401  puts tools on the path
from lab import ROOT, GuestProcess, quoted  # importing lab puts tests/e2e on sys.path
import borrow
import test_doctor
import test_errors
import test_hooks
import test_privilege
from harness import Skip
from test_errors import (DONE, KERNEL_LACKS, NOT_PERMITTED, as_nobody, call_as_nobody,
                         check_message)
from test_privilege import (BPF_DISABLED, BRIEFLY, PARANOID, check_bpf_disabled, check_cgroup,
                            check_paranoid, check_paranoid_of_root, check_touched, keeps_bpf,
                            path_of, touch_as_nobody, version_of)

UNCHANGED = [
    test_errors.test_no_rights,
    test_errors.test_one_right_of_two,
    test_privilege.test_rights_are_given_up,
    test_privilege.test_run_keeps_what_passes_signals_on,
    test_privilege.test_command_of_run_keeps_its_rights,
    test_privilege.test_doctor_tells_rights,
    test_privilege.test_looks_without_rights,
    test_privilege.test_kptr_restrict,
    test_privilege.test_symbols_without_rights,
    test_privilege.test_target_in_pid_namespace,
    test_privilege.test_run_in_pid_namespace,
    test_privilege.test_what_a_pid_namespace_cannot,
    test_privilege.test_user_namespace,
    test_privilege.test_bpf_refused_by_a_filter,
    test_privilege.test_perf_events_refused_by_a_filter,
    test_privilege.test_dropping_refused_by_a_filter,
    test_privilege.test_hidden_processes,
    test_privilege.test_unprivileged_bpf_disabled,
]


# Tests with few rights

def hooks_of(lab):
    """Returns {probe: attach type} of a faultscope with all rights."""
    return {hook["name"]: hook["attach_type"] for hook in lab.doctor()["probes"]}


def kept_by(check, lab, *capabilities):
    """Runs `doctor` as the user nobody with the given capabilities. Returns the capabilities that
    faultscope keeps."""
    ran = call_as_nobody(lab, capabilities, "doctor", "--json", *BRIEFLY)
    if not check.equal(f"status with {capabilities}", (ran.returncode, ran.err), (DONE, "")):
        return None
    return [one["capability"] for one in json.loads(ran.out)["privileges"]["kept"]]


def few_rights(check, lab):
    """With CAP_BPF and CAP_PERFMON, every probe has its best attach type. Only probes that open a
    perf event are an exception."""
    want = hooks_of(lab)
    used = touch_as_nobody(check, lab)
    check.equal("fault_end", used.pop("fault_end"), "fexit")
    # If this kernel lacks a probe, `run` prints a reason, and the value in the JSON report of
    # `doctor` is null.
    check.equal("hooks", {name: how for name, how in used.items() if want[name]},
                {name: how for name, how in want.items() if how and name in used})
    check.equal("kept", kept_by(check, lab, "bpf", "perfmon"),
                ["cap_bpf"] if keeps_bpf(lab) else [])
    check.equal("kept of the older right", kept_by(check, lab, "sys_admin"),
                ["cap_sys_admin"] if keeps_bpf(lab) else [])


def locked_memory(check, lab):
    """Before Linux 5.11, BPF maps count as locked memory (RLIMIT_MEMLOCK)."""
    words = ["doctor", "--json", *BRIEFLY]
    ran = call_as_nobody(lab, ["bpf", "perfmon"], *words, locked=64)
    if version_of(lab) < (5, 11):
        check_message(check, ran, NOT_PERMITTED, "RLIMIT_MEMLOCK is 64 KiB", "ulimit -l unlimited",
                      "LimitMEMLOCK=infinity", "cap_sys_resource")
        ran = call_as_nobody(lab, ["bpf", "perfmon", "sys_resource"], *words, locked=64)
    check.equal("status and message", (ran.returncode, ran.err), (DONE, ""))


def perf_event_paranoid(check, lab):
    for value in (-1, 0, 1, 2):
        check_paranoid(check, lab, value, ["perf_event"])
    for value in (3, 4):
        check_paranoid(check, lab, value, [PARANOID])
    check_paranoid_of_root(check, lab, 4)


# Tests with AppArmor. The parser is Debian's, and the kernel enforces the rules.

APPARMOR = "/sys/kernel/security/apparmor"
PROFILE = ROOT / "deploy/apparmor/faultscope-exporter"
INSTALLED = "/usr/bin/faultscope"
PAGE = "http://127.0.0.1:10435/metrics"
# the ABI file that the profile names
ABI = Path("/etc/apparmor.d/abi/3.0")
CONFINED = f"""printf 'exec {PROFILE.name}' >/proc/self/attr/exec && exec {INSTALLED} export"""


def compiled_profile():
    try:
        parser = borrow.program("apparmor_parser")
    except (borrow.Missing, OSError, subprocess.CalledProcessError) as reason:
        raise Skip(f"apparmor_parser of Debian cannot be had: {reason}") from None
    if not ABI.exists():
        raise Skip("AppArmor's rules of Debian are not installed")
    # Without this option, the parser takes the features of the host's kernel. A host without
    # AppArmor does not list CAP_BPF.
    return subprocess.run([parser, "-QTK", "--kernel-features", ABI, "--stdout", PROFILE],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def confined(lab, *options):
    """Returns a command that runs the exporter as its service does: with two capabilities and an
    AppArmor profile."""
    return quoted([*as_nobody(lab, "bpf", "perfmon"), "sh", "-c",
                   " ".join([CONFINED, *options])])


def apparmor(check, lab):
    """The exporter answers within its AppArmor profile, and the kernel denies no access."""
    lab.vm.run("mount -t securityfs security /sys/kernel/security")
    if lab.call("ls", APPARMOR).returncode:
        raise Skip("this kernel runs without AppArmor")
    lab.vm.put("/tmp/profile", compiled_profile())
    lab.vm.must(f"cat /tmp/profile >{APPARMOR}/.replace; mkdir -p /usr/bin /var/log/pods;"
                f" cp {lab.program} {INSTALLED}; dmesg -c >/dev/null")
    exporter = GuestProcess(lab, confined(lab))
    exporter.line("err", 1)
    check.equal("label", lab.read(f"/proc/{exporter.pid}/attr/current").strip("\0\n"),
                f"{PROFILE.name} (enforce)")
    page = lab.vm.must(f"wget -qO- {PAGE}")
    check.that("\nfaultscope_up 1\n" in page, f"its page: {page[:200]} {exporter.text('err')}")
    lab.vm.must(f"kill {exporter.pid}")
    check.equal("status", exporter.end(), DONE)
    check.equal("refused", refused_by_apparmor(lab), [])
    lab.vm.must("mkdir -m 777 /tmp/anybodys")
    outside = lab.vm.run(confined(lab, "--textfile", "/tmp/anybodys/x.prom"))
    check.that(outside.status != DONE and refused_by_apparmor(lab),
               f"it writes where its profile says no: {outside}")


def refused_by_apparmor(lab):
    return [line for line in lab.vm.must("dmesg -c").splitlines() if 'apparmor="DENIED"' in line]


# Tests with control groups

MEMORY_BYTES, TASKS = 64 << 20, 50
TOP = "/sys/fs/cgroup"
# Mounts the version 1 hierarchies. The memory controller is left out if the kernel lacks its
# version 1 (CONFIG_MEMCG_V1, 6.11); it then stays in version 2.
V1 = f"""
umount {TOP} && mount -t tmpfs cgroup {TOP} && cd {TOP} && mkdir memory pids unified
mount -t cgroup -o memory cgroup memory || rmdir memory
mount -t cgroup -o pids cgroup pids
"""
HYBRID = f"mount -t cgroup2 cgroup {TOP}/unified"


def enable_all(lab, mount):
    """Enables the memory and pids controllers for the groups of a v2 hierarchy."""
    for controller in lab.read(f"{mount}/cgroup.controllers").split():
        if controller in ("memory", "pids"):
            lab.write(f"{mount}/cgroup.subtree_control", f"+{controller}")


def limit(lab, group):
    """Sets the limits that a control group supports. Returns what `doctor` must report about these
    limits."""
    want = {}
    for file, key, value in (("memory.max", "cgroup_memory_max_bytes", MEMORY_BYTES),
                             ("memory.limit_in_bytes", "cgroup_memory_max_bytes", MEMORY_BYTES),
                             ("pids.max", "cgroup_pids_max", TASKS)):
        if not lab.call("ls", f"{group}/{file}").returncode:
            lab.write(f"{group}/{file}", value)
            want[key] = value
    return want


def check_limits(check, lab, what, mount):
    """Runs `doctor` in a control group with limits, and checks the limits that it reports."""
    with test_privilege.cgroup(lab, mount) as group:
        want = limit(lab, group)
        ran = lab.call("sh", "-c", f"echo $$ >{group}/cgroup.procs;"
                                   f" exec {lab.program} doctor --json {' '.join(BRIEFLY)}")
        limits = json.loads(ran.out)["limits"]
        check.equal(f"{what}: cgroup that doctor is in", limits["cgroup"],
                    f"/{group.rpartition('/')[2]}")
        for key, value in want.items():
            check.equal(f"{what}: {key}", limits[key], value)
        return set(want)


def each_cgroup(check, lab):
    """Checks limits in every mounted hierarchy."""
    mounts = test_privilege.cgroup_mounts(lab)
    if "v2" in mounts:
        enable_all(lab, mounts["v2"])
    limited = set()
    for what, mount in mounts.items():
        check_cgroup(check, lab, what, mount)
        limited |= check_limits(check, lab, what, mount)
    wanted = {"cgroup_pids_max"} | ({"cgroup_memory_max_bytes"} if mounts.keys() != {"pids"}
                                    else set())
    check.equal("limits that were set", limited, wanted)


def cgroups_v1(check, lab):
    lab.vm.must(V1)
    each_cgroup(check, lab)


def cgroups_hybrid(check, lab):
    lab.vm.must(HYBRID)
    each_cgroup(check, lab)


# Settings that only a reboot undoes

def for_good(check, lab):
    lab.write(path_of(BPF_DISABLED), 1)
    check_bpf_disabled(check, lab)


def lock_down(lab, mode):
    file = "/sys/kernel/security/lockdown"
    lab.vm.run(f"[ -e {file} ] || mount -t securityfs security /sys/kernel/security")
    try:
        lab.write(file, mode)
    except OSError as error:
        raise Skip(f"this kernel has no lockdown: {error}") from error


def integrity(check, lab):
    """With lockdown mode integrity, attach types stay the same. Kprobes and perf events also work.
    """
    want = hooks_of(lab)
    lock_down(lab, "integrity")
    told = lab.doctor()
    check.equal("lockdown", told["limits"]["lockdown"], "integrity")
    check.equal("hooks", {hook["name"]: hook["attach_type"] for hook in told["probes"]}, want)
    besides = {"fault_begin": "kprobe", "fault_end": "perf_event"}
    ran, lines, truth = test_hooks.run_with(lab, *(word for hook, mechanism in besides.items()
                                               for word in ("--probe", f"{hook}={mechanism}")))
    check.equal("status and message", (ran.returncode, ran.err), (DONE, ""))
    check_touched(check, lines, truth)
    used = lines.all[0]["probes"]
    check.equal("hooks that were asked for", {hook: used[hook] for hook in besides}, besides)


def check_locked(check, lab, told):
    for words in (["run", "--", "true"], ["-p", "1"], ["--probe", "state=hash", "0.1", "1"]):
        check_message(check, lab.faultscope(*words), KERNEL_LACKS, "`confidentiality`",
                      "boot with lockdown=integrity")
    ran = lab.faultscope("doctor", "--json", "--no-calibrate")
    check.equal("status of doctor", (ran.status, ran.err), (KERNEL_LACKS, ""))
    report = json.loads(ran.out)
    check.equal("lockdown", report["limits"]["lockdown"], told)
    for hook in report["probes"]:
        # the probes `state` and `scan` can also work without a BPF program
        if hook["name"] in ("state", "scan"):
            continue
        check.equal(hook["name"], hook["state"], "unavailable")
        # the probes in BEHIND have no BPF program of their own
        if hook["name"] in test_doctor.BEHIND:
            check.that("needs" in hook["tried"], f"{hook['name']}: tried {hook['tried']!r}")
            continue
        check.that("lockdown" in hook["tried"], f"{hook['name']}: tried {hook['tried']!r}")
        check.equal(f"{hook['name']}, what to do", hook["remedy"], "boot with lockdown=integrity")


def confidentiality(check, lab):
    """With lockdown mode confidentiality, every command reports at once that it cannot work, even
    if /sys/kernel/security is not mounted."""
    lock_down(lab, "confidentiality")
    check_locked(check, lab, "confidentiality")
    lab.vm.must("umount /sys/kernel/security")
    check_locked(check, lab, None)


TESTS = {
    **{test.__name__.removeprefix("test_").replace("_", " "): test for test in UNCHANGED},
    "few rights": few_rights,
    "locked memory": locked_memory,
    "perf event paranoid": perf_event_paranoid,
    "apparmor": apparmor,
    "cgroups of version 2": each_cgroup,
    "unprivileged bpf disabled for good": for_good,
    "lockdown integrity": integrity,
    "lockdown confidentiality": confidentiality,
}


# The tests of cgroup version 1 run in a guest of their own, because kernels cannot reliably move
# controllers back to version 2.
WITH_V1 = {"cgroups of version 1": cgroups_v1, "cgroups of both versions": cgroups_hybrid}


def in_guest(check, guest, body):
    lab = guest.lab()
    try:
        body(check, lab)
    finally:
        if guest.vm.usable():
            lab.close()


def test_all(run, of_its_own):
    """Runs the tests of cgroup version 1 in a new guest, and all others in the guest of `run`,
    which they lock down."""
    for guest, tests in ((of_its_own, WITH_V1), (run.guest, TESTS)):
        for name, body in tests.items():
            if run.wants(f"privilege: {name}"):
                run.test(f"privilege: {name}", in_guest, guest, body)
    of_its_own.close()
    run.guest.crashes += of_its_own.crashes
