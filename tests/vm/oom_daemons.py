# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OOM kills by real programs in a guest: Debian's earlyoom and systemd-oomd.

Each program is set so that one process must be killed: for earlyoom, the process named hog takes
the available memory below a threshold; for systemd-oomd, its cgroup uses more swap than permitted.
"""
import fetch
import lab as _lab
import programs
from aptroot import Missing

HOG_MIB = 120
OOMKILL = f"{_lab.WORKLOADS}/oomkill"
OOMD_CONF = "/etc/systemd/oomd.conf"
OOMD_SETTINGS = "[OOM]\\nSwapUsedLimit=5%%\\n"


def program_of(package, path):
    """Returns the files of a guest for a program of a package of this machine's release."""
    if fetch.host_arch() != "amd64":
        raise Missing(f"{package} is only tested on amd64")
    program = fetch.unpacked(package) / path
    if not program.exists():
        raise Missing(f"{package} has no {path}")
    libraries = programs.libraries([program])
    return {f"/bin/{program.name}": program, **{library: library for library in libraries}}


def files(arch):
    """Returns the files of a guest for all programs that can be had, and reasons why others
    cannot."""
    found, missing = {}, {}
    for package, path in (("earlyoom", "usr/bin/earlyoom"),
                          ("systemd-oomd", "lib/systemd/systemd-oomd")):
        try:
            if arch != fetch.host_arch():
                raise Missing(f"{package} of another architecture needs its libraries")
            found.update(program_of(package, path))
        except Missing as reason:
            missing[package] = str(reason)
    return found, missing


def available(vm):
    """Returns the total and the available memory of the guest in MiB."""
    text = vm.must("grep -E '^Mem(Total|Available)' /proc/meminfo | tr -dc '0-9\\n'").split()
    return [int(kib) / 1024 for kib in text]


def start(vm, words, log):
    """Starts a program in the background of the guest. Returns its pid."""
    return vm.must(f"({words} </dev/null >{log} 2>&1 & echo $!)").strip()


def page_of(guest, comm):
    """Waits for a page about a process, and returns the latest one, or None."""
    guest.waits_for_page(f'"comm":"{comm}"')
    pages = [one for one in guest.lines() if one["type"] == "oom_page" and one["comm"] == comm]
    return pages[-1] if pages else None


def wrong_in(page, want, log):
    if not page:
        return [f"no page; the program said: {log}"]
    got = page["scope"], page["signal"], page["by_comm"]
    wrong = [] if got == want else [f"{got}, not {want}"]
    return wrong + ([] if page["certain"] else ["the page is not certain"])


def killed_by_earlyoom(guest, signal):
    """earlyoom sends SIGTERM below its first threshold, and SIGKILL below its second one."""
    vm, name = guest.vm, f"hog{signal}"
    total, before = available(vm)
    between = 100 * (before - HOG_MIB / 2) / total
    low = between if signal == "SIGKILL" else between / 4
    daemon = hog = None
    try:
        daemon = start(vm, f"earlyoom -r 0 -m {between:.0f},{low:.0f} -s 100,100"
                       " --prefer '^hog' --avoid '^(faultscope|sh|guest_agent)'", "/tmp/daemon.log")
        hog = start(vm, f"{OOMKILL} anon {HOG_MIB} --name {name} --adj 500", "/tmp/hog.log")
        page = page_of(guest, name)
        log = vm.run("tail -n 4 /tmp/daemon.log").out
    finally:
        vm.run(f"kill -9 {daemon} {hog}; sleep 0.5")
    return wrong_in(page, ("daemon", signal, "earlyoom"), log)


def killed_by_oomd(guest):
    """systemd-oomd kills a cgroup, because swap is used up. The page names the program."""
    vm = guest.vm
    top, name = "/sys/fs/cgroup/oomd", "hogoomd"
    daemon = manager = None
    vm.must(f"mkdir -p /etc/systemd /run/systemd/oom {top}/job;"
            f" printf '{OOMD_SETTINGS}' >{OOMD_CONF};"
            f" echo +memory >{top}/cgroup.subtree_control; echo 40M >{top}/job/memory.max")
    try:
        manager = start(vm, f"{_lab.WORKLOADS}/managed_oom /oomd", "/tmp/manager.log")
        daemon = start(vm, "systemd-oomd", "/tmp/daemon.log")
        vm.must(f"(sh -c 'echo $$ >{top}/job/cgroup.procs; exec \"$@\"' sh"
                f" {OOMKILL} anon 80 --name {name} </dev/null >/tmp/hog.log 2>&1 &)")
        page = page_of(guest, name)
        log = vm.run("tail -n 6 /tmp/daemon.log").out
    finally:
        vm.run(f"kill -9 {daemon} {manager} $(cat {top}/job/cgroup.procs); sleep 0.5;"
               f" rmdir {top}/job {top}")
    wrong = wrong_in(page, ("daemon", "SIGKILL", "systemd-oomd"), log)
    if page and page["cgroup"] != "/oomd/job":
        wrong.append(f"cgroup {page['cgroup']}")
    return wrong
