# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests of errors: exit statuses and messages for wrong targets, missing rights, full disks and
damaged files. Failed commands leave no files behind."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import (BUILD, FAULTSCOPE, GAP, INCOMPLETE, LONG, PATIENCE, RECORDINGS, ROOT, Lines,
                     Skip, all_pids, field_of, idle, live, without_notices, workload_path)

DONE, FAILED, USAGE, NO_TARGET, NOT_PERMITTED, KERNEL_LACKS = 0, 1, 2, 4, 5, 6
BTF = Path("/sys/kernel/btf/vmlinux")


def check_message(check, ran, status, *words):
    check.equal("status", ran.returncode, status)
    check.that(ran.err.startswith("faultscope: "), f"message: {ran.err!r}")
    for word in words:
        check.that(word in ran.err, f"{word!r} is not in the message: {ran.err!r}")


# Tests of missing rights

NOBODY = 65534


def as_nobody(lab, *capabilities, locked="unlimited"):
    """Returns a command prefix that runs a command as the user nobody with these capabilities, and
    with `locked` as RLIMIT_MEMLOCK."""
    return ["sh", "-c", f"ulimit -l {locked} 2>/dev/null; cd /; exec \"$@\"", "sh",
            lab.for_all(lab.workload("asuser")), NOBODY, *capabilities, "--"]


def call_as_nobody(lab, capabilities, *words, **how):
    return lab.call(*as_nobody(lab, *capabilities, **how), lab.for_all(lab.program), *words)


@live
def test_no_rights(check, lab):
    ran = call_as_nobody(lab, [], "1", "1")
    check_message(check, ran, NOT_PERMITTED, "CAP_BPF", "CAP_PERFMON")


@live
def test_one_right_of_two(check, lab):
    for one in ("bpf", "perfmon"):
        ran = call_as_nobody(lab, [one], "1", "1")
        check_message(check, ran, NOT_PERMITTED, "CAP_BPF", "CAP_PERFMON")


@live
def test_both_rights_are_enough(check, lab):
    out = lab.new_place_for_all() / "out"
    ran = call_as_nobody(lab, ["bpf", "perfmon"], "run", "--json", "-o", out, "--",
                         lab.for_all(lab.workload("touch")), "1000")
    check.equal("status", ran.returncode, 0)
    check.equal("standard error", ran.err, "")
    truth = json.loads(ran.out)
    minor = Lines(lab.read(out)).final(truth["pid"])["faults"]["minor"]
    check.between("minor", minor, truth["minflt"], truth["minflt"] + 15)


# Tests of wrong targets

@live
def test_no_such_process(check, lab):
    pid = next(pid for pid in range(30000, 300, -1) if not Path(f"/proc/{pid}").exists())
    check_message(check, lab.faultscope("-p", str(pid)), NO_TARGET, str(pid))


@live
def test_target_dies(check, lab):
    work = lab.work("touch", "10", "--hold")
    work.truth()
    watch = lab.watch("-p", str(work.pid), "0.1")
    work.process.kill()
    work.process.wait()
    capture = watch.finished()
    check.equal("status", capture.status, DONE)
    check.equal("standard error", capture.stderr, "")
    Lines(capture.text).final(work.pid)


def with_tmpfs(lab, place, script, *options):
    """Runs a shell script in its own mount namespace, with a tmpfs on `place`."""
    options = " ".join(options)
    return lab.call(*lab.own_mounts, "sh", "-c",
                    f"mount --make-rprivate / 2>/dev/null; mount -t tmpfs {options} none {place} "
                    f"|| exit; ({script}); status=$?; umount -l {place}; exit $status")


# Tests of outputs that fail

def in_small_disk(lab, script, size):
    """Runs a shell script with a small tmpfs at $DISK."""
    disk = lab.dir / "disk"
    disk.mkdir()
    return with_tmpfs(lab, disk, f"DISK={disk}; {script}", "-o", f"size={size}")


def first_interval_kib(lab):
    """Returns the size in KiB of a recording with one interval on this host."""
    lab.faultscope("--json", "--record", lab.dir / "first.fsr", "0.02", "1")
    return (lab.dir / "first.fsr").stat().st_size // 1024 + 1


@idle
@live
def test_disk_full_while_recording(check, lab):
    kept = lab.dir / "kept.fsr"
    size = f"{16 + 2 * first_interval_kib(lab)}k"
    ran = in_small_disk(lab, f"{FAULTSCOPE} --json -o {lab.dir}/live --record $DISK/a.fsr 0.02 500;"
                             f" status=$?; cp $DISK/a.fsr {kept}; exit $status", size)
    check_message(check, ran, FAILED, "a.fsr", "No space left on device", "last complete interval")
    check.equal("messages", ran.err.count("No space left on device"), 1)
    Lines((lab.dir / "live").read_text())
    again = lab.replay(kept)
    check.equal("status of the replay", again.status, INCOMPLETE)
    check.that("recording cut off" in again.stderr, again.stderr)
    lines = Lines(again.text)
    check.that(len(lines.of("process")) > 10, f"{len(lines.all)} lines are left of the recording")


# Starts 400 processes whose names do not compress, so that the first interval is larger than a
# memory page.
CROWD = """
import os, signal, sys
for i in range(400):
    if not os.fork():
        with open("/proc/self/comm", "wb") as comm:
            comm.write(os.urandom(8).hex()[:15].encode())
        signal.pause()
print("begun", flush=True)
signal.pause()
"""


@live
def test_disk_full_before_the_first_interval(check, lab):
    """On a full disk, no interval of the recording can be written. The message then says that no
    recording is left. Live recordings and `report` print the same message."""
    kept = lab.dir / "kept.fsr"
    crowd = subprocess.Popen([sys.executable, "-c", CROWD], stdout=subprocess.PIPE,
                             start_new_session=True)
    try:
        crowd.stdout.readline()
        ran = in_small_disk(lab, f"{FAULTSCOPE} --json -o {lab.dir}/live --record $DISK/a.fsr 0.1 2;"
                                 f" status=$?; cp $DISK/a.fsr {kept}; exit $status", "4k")
    finally:
        os.killpg(crowd.pid, signal.SIGKILL)
        crowd.wait()
        crowd.stdout.close()
    check_message(check, ran, FAILED, "a.fsr", "No space left on device", "it is empty")
    check.that("last complete interval" not in ran.err, ran.err)
    check_message(check, lab.faultscope("--replay", kept), FAILED, "the recording is empty")


@live
def test_recording_exists(check, lab):
    old = lab.dir / "old.fsr"
    old.write_text("precious")
    ran = lab.faultscope("--json", "--record", old, "0.1", "1")
    check_message(check, ran, FAILED, "old.fsr", "--force")
    check.equal("the file", old.read_text(), "precious")
    ran = lab.faultscope("--json", "--record", old, "--force", "0.1", "1")
    check.equal("status with --force", ran.returncode, DONE)
    check.equal("status of the replay", lab.replay(old).status, DONE)


@live
def test_standard_output_full(check, lab):
    for options in (["--json"], ["--format", "text"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            ran = lab.faultscope(*options, "0.1", "2", stdout=full)
        check_message(check, ran, FAILED, "No space left on device")


def test_documents_to_full_output(check, lab):
    for command in (["schema"], ["man"], ["--help"], ["completion", "bash"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            ran = lab.faultscope(*command, stdout=full)
        check.equal(f"status of {command}", ran.returncode, FAILED)


@live
def test_pipe_closed(check, lab):
    for options in ("--json 0.05", "0.05"):
        ran = lab.call("bash", "-c", f"{FAULTSCOPE} {options} | head -1; echo ${{PIPESTATUS[0]}}")
        check.equal("standard error", without_notices(ran.err), [])
        check.that(ran.out.splitlines()[-1] in ("0", "141"), f"status {ran.out.splitlines()[-1]}")


# Tests of damaged recordings

def some_recording(lab):
    kept = sorted(RECORDINGS.glob("*.fsr"), key=lambda path: path.stat().st_size)
    if kept:
        return kept[-1].read_bytes()
    if os.geteuid():
        raise Skip("no recording is kept beside the tests")
    return lab.run("fdleak", "limit", "--nofile", "4096").recording.read_bytes()


def check_damaged(check, lab, name, data):
    """Checks that a damaged recording is shown or rejected without a crash. A rejection says where
    the damage is."""
    path = lab.dir / "damaged.fsr"
    path.write_bytes(data)
    try:
        ran = subprocess.run([FAULTSCOPE, "--replay", path, "--json"], capture_output=True,
                             check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        check.that(False, f"{name}: hangs")
        return
    message = ran.stderr.decode(errors="replace")
    check.that(ran.returncode in (DONE, FAILED, INCOMPLETE),
               f"{name}: status {ran.returncode}, {message!r}")
    if ran.returncode != DONE:
        check.that(re.search(r"offset \d+|cut off", message), f"{name}: no offset in {message!r}")
    for line in ran.stdout.decode().splitlines():
        json.loads(line)


def test_truncated_recordings(check, lab):
    data = some_recording(lab)
    for i in range(50):
        size = len(data) * i // 50
        check_damaged(check, lab, f"cut at {size} of {len(data)}", data[:size])


def test_flipped_recordings(check, lab):
    data = some_recording(lab)
    dice = random.Random(4211)
    for _ in range(300):
        at, mask = dice.randrange(len(data)), dice.randrange(1, 256)
        flipped = bytearray(data)
        flipped[at] ^= mask
        check_damaged(check, lab, f"byte {at} of {len(data)} ^ {mask}", flipped)


# Tests of signals at any time

def bpf_objects():
    """Returns the ids of all BPF programs and maps in the kernel."""
    found = set()
    for kind in ("prog", "map"):
        text = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, check=True,
                              text=True).stdout
        found |= {(kind, one["id"]) for one in json.loads(text)}
    return found


def bpf_objects_in_use():
    """Returns the ids of the BPF programs and maps for which some process has a file descriptor."""
    found = set()
    for pid in all_pids():
        try:
            for info in Path(f"/proc/{pid}/fdinfo").iterdir():
                for kind, number in re.findall(r"^(prog|map)_id:\s*(\d+)", info.read_text(), re.M):
                    found.add((kind, int(number)))
        except OSError:
            continue  # the process exited while its files in /proc were read
    return found


@live
def test_signals_at_any_time(check, lab):
    """Signals are sent at any time, even during the start of faultscope. No BPF program or map of
    faultscope may stay in the kernel."""
    if not shutil.which("bpftool"):
        raise Skip("bpftool is missing")
    before = bpf_objects()
    dice = random.Random(4212)
    modes = [["--json"], ["--json", "-p", str(os.getpid())], ["run", "--json", "--", "sleep", "30"]]
    for i in range(30 if LONG else 9):
        number = (signal.SIGINT, signal.SIGTERM)[i % 2]
        process = lab.spawn([FAULTSCOPE, *modes[i % 3]], stdout=subprocess.DEVNULL)
        delay = dice.uniform(0, 1.5)
        time.sleep(delay)
        process.send_signal(number)
        try:
            err = process.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            check.that(False, f"{modes[i % 3]}: {number.name} after {delay:.3f} s does not end it")
            continue
        # During the start, a signal kills faultscope. With `run`, the exit status may also be that
        # of the command, which the signal killed.
        check.that(process.returncode in (0, INCOMPLETE, -number),
                   f"{modes[i % 3]}: {number.name} after {delay:.3f} s: {process.returncode}")
        # On a busy machine the kernel skips events. faultscope then prints a message, whatever its
        # exit status is.
        check.that(err.startswith(GAP) if err else process.returncode != INCOMPLETE,
                   f"status {process.returncode}, standard error: {err!r}")
    # The kernel frees BPF objects with a delay, and other tests create and free BPF objects. The
    # test counts only BPF objects that stay in the kernel without an owner.
    left = bpf_objects() - before - bpf_objects_in_use()
    end = time.monotonic() + PATIENCE
    while left and time.monotonic() < end:
        time.sleep(0.2)
        left &= bpf_objects() - bpf_objects_in_use()
    check.equal("BPF programs and maps left behind", left, set())


# Tests of a kernel without BTF

def without_btf(lab, *options):
    words = " ".join(str(word) for word in (FAULTSCOPE, *options))
    return with_tmpfs(lab, "/sys/kernel/btf", words)


def little_btf(lab):
    """Runs `make btf-archive` for this kernel's BTF and returns the directory of the archive."""
    bpftool = shutil.which("bpftool", path=f"{os.environ['PATH']}:/usr/sbin")
    if not bpftool:
        raise Skip("bpftool is missing")
    objects = f"{BUILD}/faultscope.bpf.o {BUILD}/faultscope_hash.bpf.o"
    made = lab.call(ROOT / "tools/btf_archive.sh", bpftool, lab.dir / "btf", os.uname().machine,
                    objects, BTF)
    assert made.returncode == 0, made.err
    return lab.dir / "btf"


def archived(archive):
    return archive / os.uname().machine / f"{os.uname().release}.btf"


def check_by_file(check, lab, ran):
    """Runs faultscope with a BTF file in place of the kernel's BTF, and with attach types that need
    no BTF of the kernel. Checks that counts are exact."""
    if not check.equal("status and standard error", (ran.returncode, without_notices(ran.err)),
                       (DONE, [])):
        return
    truth = json.loads(ran.out)
    lines = Lines((lab.dir / "out").read_text())
    final = lines.final(truth["pid"])
    check.between("minor", final["faults"]["minor"], truth["ru_minflt"], truth["ru_minflt"] + 15)
    check.that(field_of(final, "maps.by_call.mmap.calls") >= truth["maps"], "mmap calls")
    hooks = lines.all[0]["probes"]
    check.equal("state", hooks["state"], "hash")
    for name in ("lifecycle", "signal", "calls"):
        check.equal(name, hooks[name], "raw_tp")


def run_brief(lab, *options):
    return ("run", "--json", *options, "-o", lab.dir / "out", "--", workload_path("brief"))


@live
def test_btf_that_may_not_be_read(check, lab):
    """A BTF file without read permission gives a message with its name, not "BTF is missing"."""
    secret = lab.new_place_for_all() / "secret.btf"
    secret.write_bytes(BTF.read_bytes())
    secret.chmod(0o600)
    ran = call_as_nobody(lab, ["bpf", "perfmon"], "--btf", secret, "1", "1")
    check_message(check, ran, USAGE, "Permission denied", str(secret))
    check.that("holds no BTF" not in ran.err, ran.err)
    check_message(check, lab.faultscope("--btf", lab.dir / "none", "1", "1"), USAGE,
                  "No such file")


@live
def test_no_btf(check, lab):
    check_message(check, without_btf(lab, "1", "1"), KERNEL_LACKS, "BTF", "--btf", "btf-archive",
                  f"/usr/lib/faultscope/btf/{os.uname().machine}/{os.uname().release}.btf")


@live
def test_btf_from_file(check, lab):
    btf = lab.dir / "vmlinux.btf"
    shutil.copyfile(BTF, btf)
    check_by_file(check, lab, without_btf(lab, *run_brief(lab, "--btf", btf)))


@live
def test_btf_from_an_archive(check, lab):
    archive = little_btf(lab)
    file = archived(archive)
    check.that(file.stat().st_size < 20000, f"{file.stat().st_size} bytes are not little")
    check_by_file(check, lab, without_btf(lab, *run_brief(lab, "--btf", file)))


@live
def test_btf_archive_is_found(check, lab):
    little_btf(lab)
    words = " ".join(str(word) for word in (FAULTSCOPE, *run_brief(lab)))
    place = "/usr/local/lib/faultscope/btf"
    ran = with_tmpfs(lab, "/sys/kernel/btf",
                     f"mount -t tmpfs none /usr/local/lib; mkdir -p {place};"
                     f" tar -xzf {lab.dir}/btf.tar.gz -C {place}; {words}; status=$?;"
                     " umount -l /usr/local/lib; exit $status")
    check_by_file(check, lab, ran)


def test_btf_archive_wants_a_release(check, lab):
    nothing = lab.dir / "nothing"
    nothing.write_text("not BTF")
    for word in (nothing, lab.dir / "missing"):
        made = lab.call(ROOT / "tools/btf_archive.sh", "bpftool", lab.dir / "btf", "x86_64",
                        nothing, word)
        check.equal("status", made.returncode, 1)
        check.that(str(word) in made.err, f"message: {made.err!r}")


@live
def test_btf_is_none(check, lab):
    nothing = lab.dir / "nothing"
    nothing.write_text("not BTF")
    for path in (nothing, lab.dir / "missing"):
        check_message(check, lab.faultscope("--btf", path, "1", "1"), USAGE, str(path))
