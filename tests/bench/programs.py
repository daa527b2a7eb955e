# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Measures the CPU time that faultscope adds to real programs.

A program does a fixed amount of work, with its server and its client in one control group, whose CPU
time is measured. The CPU time of faultscope itself is not included. Runs alternate: without a tool,
with tool A, without a tool, with tool B, and so on.
"""
import glob
import os
import pwd
import shutil
import subprocess
import time

from machine import Group
from procs import PIN, CannotRun, Running, stop
from rows import ANOTHER, MODES, NO_TOOL, NOTHING, PROGRAM_MODES, PROGRAMS, WATCHED, goal_of

PATIENCE = 60
REPEATS = 3  # runs of which the shortest counts, because other load only makes runs longer
PINNED = ["taskset", "-c", str(PIN)]
SOURCES = 4  # number of C files of the project that make builds
FUNCTIONS = 60  # in each of these files


class Program:
    """A real program. `folder` is a directory of its own; `share` is the part of the usual work."""

    def __init__(self, setup, share):
        self.setup, self.share = setup, share
        self.folder = os.path.join(setup.tmp, type(self).__name__)
        os.makedirs(self.folder, exist_ok=True)
        os.chmod(setup.tmp, 0o755)
        os.chmod(self.folder, 0o777)
        self.group = Group.of_cpu()
        self.server = None

    def amount(self, usual):
        return str(max(1, int(usual * self.share)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run(self, argv, before=()):
        """Runs a command in the control group."""
        if not shutil.which(argv[0]):
            raise CannotRun(f"{argv[0]} is not installed: tools/setup.sh bench")
        done = subprocess.run([*before, *self.group.entered(argv)], cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            raise CannotRun(f"{argv[0]} ended with {done.returncode}: {done.stdout[-150:]}")

    def serve(self, argv, ready):
        """Starts a server in the control group, and waits until the command `ready` succeeds."""
        if not shutil.which(argv[0]):
            raise CannotRun(f"{argv[0]} is not installed: tools/setup.sh bench")
        with open(self.path("log"), "wb") as log:
            self.server = subprocess.Popen(self.group.entered([*PINNED, *argv]), stdout=log,
                                           stdin=subprocess.DEVNULL, stderr=log, cwd=self.folder)
        give_up = time.monotonic() + PATIENCE
        while subprocess.run(ready, capture_output=True, check=False, cwd=self.folder).returncode:
            if self.server.poll() is not None or time.monotonic() > give_up:
                raise CannotRun(f"{argv[0]} does not answer")
            time.sleep(0.05)

    def start(self):
        """Prepares the work, and starts the server, if the program has one."""

    def work(self, before=()):
        """Does the work once. `before` is the beginning of a command line."""
        raise NotImplementedError

    def cpu_s(self, before=()):
        """Does the work a few times. Returns the least CPU time of a run, in seconds."""
        took = []
        for _ in range(REPEATS):
            start = self.group.cpu_s()
            try:
                self.work(before)
            except subprocess.TimeoutExpired as reason:
                raise CannotRun(reason) from reason
            took.append(self.group.cpu_s() - start)
        return min(took)

    def close(self):
        if self.server:
            stop(self.server)
        self.group.close()


class Redis(Program):
    def start(self):
        sock = self.path("socket")
        self.serve(["redis-server", "--port", "0", "--unixsocket", sock, "--dir", self.folder,
                    "--save", "", "--appendonly", "no"],
                   ["redis-cli", "-e", "-s", sock, "ping"])

    def work(self, before=()):
        self.run([*PINNED, "redis-benchmark", "-s", self.path("socket"), "-q", "-c", "20", "-d",
                  "200", "-r", "20000", "-n", self.amount(10_000), "-t", "get,set"], before)


class Nginx(Program):
    def start(self):
        self.write("small", "x" * 1000)
        conf = self.write("nginx.conf", f"""
            daemon off;
            pid {self.folder}/nginx.pid;
            worker_processes 1;
            events {{ }}
            http {{
                access_log {self.folder}/access;
                client_body_temp_path {self.folder}/body;
                proxy_temp_path {self.folder}/proxy;
                fastcgi_temp_path {self.folder}/fastcgi;
                uwsgi_temp_path {self.folder}/uwsgi;
                scgi_temp_path {self.folder}/scgi;
                keepalive_requests 1000000000;
                server {{ listen unix:{self.folder}/http; root {self.folder}; }}
            }}
            """)
        self.serve(["nginx", "-c", conf, "-e", self.path("log")], self._requests("1"))

    def _requests(self, count):
        return [self.setup.workload("httpget"), self.path("http"), "/small", count]

    def work(self, before=()):
        self.run([*PINNED, *self._requests(self.amount(15_000))], before)


class Sqlite(Program):
    def work(self, before=()):
        lines = ["PRAGMA synchronous=OFF;", "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);"]
        lines += [f"INSERT INTO t(b) VALUES('{'x' * 80}{i}');"
                  for i in range(int(self.amount(5000)))]
        lines += ["SELECT count(*), max(b) FROM t;"]
        script = self.write("script.sql", "\n".join(lines))
        for path in glob.glob(self.path("data*")):
            os.unlink(path)
        self.run([*PINNED, "sqlite3", "-bail", self.path("data"), f".read {script}"], before)


class Pgbench(Program):
    def _as_user(self, name, *words):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
        if not found:
            raise CannotRun("pgbench is not installed: tools/setup.sh bench")
        nobody = pwd.getpwnam("nobody")
        return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}",
                "--clear-groups", os.path.join(os.path.dirname(found[-1]), name), *words]

    def start(self):
        data, where = self.path("data"), ("-h", self.folder, "-U", "bench")
        self.run(self._as_user("initdb", "-D", data, "-U", "bench", "-A", "trust", "-N"))
        self.serve(self._as_user("postgres", "-D", data, "-k", self.folder, "-c",
                                 "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off"),
                   self._as_user("pg_isready", "-q", "-h", self.folder))
        self.run(self._as_user("pgbench", *where, "-q", "-i", "-s", "2", "postgres"))

    def work(self, before=()):
        self.run([*PINNED, *self._as_user("pgbench", "-h", self.folder, "-U", "bench", "-S", "-n",
                                          "-c", "4", "-t", self.amount(1000), "postgres")], before)


class Make(Program):
    def start(self):
        objects = []
        for i in range(int(self.amount(SOURCES))):
            self.write(f"part{i}.c", "#include <stdio.h>\n#include <string.h>\n" + "\n".join(
                f"int f{i}_{n}(const char *s) {{ return printf(\"%s %zu\", s, strlen(s) * {n}); }}"
                for n in range(FUNCTIONS)))
            objects.append(f"part{i}.o")
        self.write("Makefile", "CC = cc\nCFLAGS = -O1\nall: " + " ".join(objects) + "\n")

    def work(self, before=()):
        self.run(["make", "-s", "-B", "-j2"], before)


class Sched(Program):
    def work(self, before=()):
        self.run([*PINNED, "perf", "bench", "sched", "messaging", "-g", "2", "-l",
                  self.amount(80)], before)


CLASSES = {"redis": Redis, "nginx": Nginx, "sqlite": Sqlite, "pgbench": Pgbench, "make": Make,
           "sched": Sched}


class Programs:
    """All rows of real programs. A program is started at its first round, and stays."""

    def __init__(self, setup, names, results, sources, divisor, others):
        self.setup, self.results, self.share = setup, results, 1 / divisor
        self.others = others
        self.names = [work.name for work in PROGRAMS if work.name in names]
        self.running = {}
        self.tools = {NOTHING: NO_TOOL, **{mode.name: mode.tool for mode in MODES}}
        self.rows = [(mode, of) for mode in PROGRAM_MODES
                     for of in ((ANOTHER, WATCHED) if mode == "-p" else (None,))]
        for work in PROGRAMS:
            for mode, of in self.rows if work.name in names else ():
                results.expect((work.name, mode, of), "%", goal_of(work, mode, of),
                               sources.fingerprint(mode != NOTHING and work.probes, mode))

    def close(self):
        for program in self.running.values():
            program.close()

    def round(self):
        for name in self.names:
            keys = [(name, mode, of) for mode, of in self.rows]
            if all(map(self.results.gave_up, keys)):
                continue
            self.results.say(f"programs: {name}")
            try:
                self._take_program(name, self._start(name))
            except CannotRun as reason:
                for key in keys:
                    self.results.fail(key, reason)

    def _start(self, name):
        if name not in self.running:
            program = CLASSES[name](self.setup, self.share)
            try:
                program.start()
                program.cpu_s()  # warms up caches
            except BaseException:
                program.close()
                raise
            self.running[name] = program
        return self.running[name]

    def _take_program(self, name, program):
        before, was_clean = program.cpu_s(), not self.others.look()
        for mode, of in self.rows:
            key = name, mode, of
            if self.results.gave_up(key):
                continue
            try:
                taken = self._take_tool(program, mode, of)
            except CannotRun as reason:
                self.results.fail(key, reason)
                taken = None
            clean, after = was_clean and self.others.clean, program.cpu_s()
            was_clean = not self.others.look()
            if taken:
                base = (before + after) / 2
                self.results.add(key, (taken / base - 1) * 100, base * 1e3,
                                 clean=clean and was_clean)
            before = after

    def _take_tool(self, program, mode, of):
        """Does the work while a tool runs. Returns the CPU time in seconds."""
        if of == WATCHED and not program.server:
            # `run` starts a program that has no server.
            return program.cpu_s(self.setup.argv(self.tools["run"]))
        pid, tool = self.setup.other, self.tools[mode]
        if of == WATCHED:
            pid, tool = program.server.pid, self.tools["-p --children"]
        with Running(self.setup, tool, pid) as running:
            took = program.cpu_s()
            self.others.look(running.own_programs())
        return took
