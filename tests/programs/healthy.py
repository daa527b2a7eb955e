#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that faultscope reports no finding of severity warning or critical for healthy programs.
The programs are in servers.py and commands.py. Each program does real work twice: once under
`faultscope run`, and once while `-p` and `diagnose` watch it and its children. Prints TAP and each
finding. Needs root, the packages of `tools/setup.sh healthy`, and torch for the test of PyTorch."""
import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import commands
import servers
from program import Amount
from run import NOBODY, PATIENCE, PROGRAM, Skip, all_attached, until

LOUD = ("warning", "critical")
PR_SET_CHILD_SUBREAPER = 36
# exit status of faultscope if data is incomplete, for example after a skipped event
INCOMPLETE = 7
# The shell writes its pid and later executes the program, which keeps this pid. So the test always
# knows the pid, and faultscope can attach before the program begins.
GATE = 'echo $$ >pid; read go && exec "$@" </dev/null'


ROWS = [("PostgreSQL with pgbench", servers.postgresql), ("php-fpm", servers.php_fpm),
        ("nginx", servers.nginx), ("MariaDB", servers.mariadb), ("Redis", servers.redis),
        ("Node.js", commands.node), ("pytest", commands.pytest), ("apt", commands.apt),
        ("make -j", commands.make_parallel), ("git gc", commands.git_gc),
        ("Chromium", commands.chromium), ("JVM", commands.jvm), ("import torch", commands.torch),
        ("ffmpeg", commands.ffmpeg), ("cc of a large file", commands.large_source),
        ("rsync", commands.rsync), ("SQLite", commands.sqlite), ("Ruby", commands.ruby),
        ("Perl", commands.perl), ("Emacs", commands.emacs), ("go build", commands.go_build),
        ("xz", commands.xz), ("buildah", commands.buildah)]


def life(program, folder, before, watchers):
    """Runs the program to its end. The command `before` starts a shell, and the shell becomes the
    program. `watchers` are faultscope commands that attach to the pid before the program begins.
    Returns the exit status of the program, the exit statuses of the watchers, and the pid."""
    pid_file, log = os.path.join(folder, "pid"), os.path.join(folder, "output")
    if os.path.exists(pid_file):
        os.unlink(pid_file)
    with open(log, "ab") as output, \
            subprocess.Popen([*before, "sh", "-c", GATE, "sh", *program.argv], cwd=folder,
                             env=program.env, stdin=subprocess.PIPE, stdout=output,
                             stderr=output) as process:
        pid = None
        watching = []
        try:
            until(lambda: os.path.exists(pid_file) and os.path.getsize(pid_file), "the shell")
            with open(pid_file, encoding="utf-8") as file:
                pid = int(file.read())
            watching = [subprocess.Popen([*argv, "-p", str(pid), "-d", str(PATIENCE), "-o", out])
                        for argv, out in watchers]
            for one, (_, out) in zip(watching, watchers):
                until(lambda one=one, out=out: one.poll() is not None
                      or all_attached(out), "faultscope")
                assert one.poll() is None, f"faultscope ended at once with {one.poll()}"
            process.stdin.write(b"\n")
            process.stdin.flush()
            program.work()
            if program.end_signal:
                os.kill(pid, program.end_signal)
            return process.wait(PATIENCE), [one.wait(PATIENCE) for one in watching], pid
        finally:
            for one in watching:
                if one.poll() is None:
                    one.send_signal(signal.SIGINT)
                    one.wait()
            if process.poll() is None:
                if pid is not None:
                    os.kill(pid, signal.SIGKILL)
                else:
                    process.kill()


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def judge_output(mode, path, pid):
    """Checks an output of faultscope. Yields (description, passed, detail) for each check."""
    lines = lines_of(path)
    yield f"{mode}: it is watched to its end", \
        lines[-1]["type"] == "end" and any(line.get("pid") == pid for line in lines), \
        f"{len(lines)} lines, the last {json.dumps(lines[-1])[:300]}"
    found = [line for line in lines if line["type"] == "finding"]
    for line in found:
        print(f"# {mode}: {line['severity']}[{line['id']}]: {line['title']}")
    loud = [line for line in found if line["severity"] in LOUD]
    yield f"{mode}: no finding of warning or above", not loud, \
        "\n".join(json.dumps(line)[:1500] for line in loud)


def judge(start, folder):
    place = os.path.join(folder, "program")
    os.mkdir(place)
    os.chown(place, int(NOBODY), int(NOBODY))
    program = start(place)
    outputs = {mode: os.path.join(folder, mode) for mode in ("run", "-p", "diagnose")}
    with open(os.path.join(place, "output"), "ab"):
        pass

    def output():
        with open(os.path.join(place, "output"), encoding="utf-8", errors="replace") as file:
            return file.read()[-1500:]

    status, _, pid = life(program, place, [PROGRAM, "run", "--json", "-o", outputs["run"], "--"],
                          [])
    yield "run: the program does its work", status in (0, INCOMPLETE), f"status {status}\n{output()}"
    yield from judge_output("run", outputs["run"], pid)
    status, watchers, pid = life(program, place, [], [
        ([PROGRAM, "--json", "--children"], outputs["-p"]),
        ([PROGRAM, "diagnose", "--json"], outputs["diagnose"])])
    yield "watched: the program does its work", status == 0, f"status {status}\n{output()}"
    yield "watched: faultscope ends by itself", set(watchers) <= {0, 3, INCOMPLETE}, str(watchers)
    for mode in ("-p", "diagnose"):
        yield from judge_output(mode, outputs[mode], pid)


def parents():
    """Returns {pid: pid of its parent} for all processes."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            pass  # the process has ended
    return found


def end_descendants():
    """Kills every process that a program left behind. take_orphans() has made these processes
    children of this test."""
    while True:
        group, parent = {os.getpid()}, parents()
        while more := {pid for pid, above in parent.items() if above in group} - group:
            group |= more
        group.remove(os.getpid())
        for pid in group:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def take_orphans():
    """Makes this process the parent of all descendants whose parent has ended."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def end_by_signal(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second SIGTERM must not interrupt the cleanup
    sys.exit(1)


def take_signals():
    """Sets signal handlers, because a shell starts background commands with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, end_by_signal)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--amount", metavar="SHARE", type=float, default=1.0,
                        help="share of the usual work to do, for emulated machines")
    parser.add_argument("--list", action="store_true", help="print the names of the programs")
    parser.add_argument("only", metavar="NAME", nargs="*", help="test programs that contain NAME")
    return parser.parse_args()


def judged(start):
    """Runs judge() in a temporary folder. At the end, removes the folder and kills all processes
    that are left."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        try:
            yield from judge(start, folder)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            yield "it could be tried", False, str(error)
        finally:
            end_descendants()


def main():
    options = arguments()
    rows = [(name, start) for name, start in ROWS
            if not options.only or any(word in name for word in options.only)]
    if options.list:
        print(*(name for name, _ in rows), sep="\n")
        return 0
    Amount.share = options.amount
    take_orphans()
    take_signals()
    n = failed = 0
    for name, start in rows:
        try:
            for description, verdict, detail in judged(start):
                n += 1
                failed += not verdict
                print(f"{'' if verdict else 'not '}ok {n} - {name}: {description}", flush=True)
                if not verdict:
                    print("# " + detail.replace("\n", "\n# "), flush=True)
        except Skip as reason:
            n += 1
            print(f"ok {n} - {name} # SKIP {reason}", flush=True)
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
