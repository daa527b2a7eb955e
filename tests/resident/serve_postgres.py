# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a PostgreSQL server, and holds known amounts of memory in functions of one of its backends.
The process becomes the server. A child of it sends SQL, and prints the amounts, in bytes, and the pid
of the backend.

usage: serve_postgres.py FOLDER
"""
import glob
import json
import os
import pwd
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
STARTED = 60  # seconds in which a server must answer
OWNER = pwd.getpwnam("nobody")  # PostgreSQL refuses to run as root
# Fixed thresholds: glibc otherwise keeps more freed memory after each large block that is freed.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
# The first backend fills the table, so that the second backend only reads the pages.
TABLE = "CREATE TABLE held AS SELECT i, repeat('x', 990) FROM generate_series(1, 40000) i"
SORTED = """SELECT coalesce(sum(used_bytes), 0) FROM pg_backend_memory_contexts
            WHERE name LIKE 'TupleSort%' OR name = 'Caller tuples'"""


def tool(name):
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{name}")
    return sorted(found)[-1] if found else name


def drop_root():
    os.setgroups([])
    os.setgid(OWNER.pw_gid)
    os.setuid(OWNER.pw_uid)


class Session:
    """A psql that executes one statement after the other, in one backend."""

    def __init__(self, folder):
        self.psql = subprocess.Popen(
            [tool("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", OWNER.pw_name,
             "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, statement):
        """Returns the only value of the answer, or nothing."""
        self.psql.stdin.write(f"{statement};\n\\echo end\n")
        self.psql.stdin.flush()
        lines = []
        while (line := self.psql.stdout.readline()) != "end\n":
            if not line:
                sys.exit(f"psql ended at: {statement}")
            lines.append(line.strip())
        return lines[0] if lines else ""

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()


def wait_for(folder):
    end = time.monotonic() + STARTED
    while subprocess.run([tool("pg_isready"), "-qh", folder], check=False).returncode:
        if time.monotonic() > end:
            sys.exit("the server does not answer")
        time.sleep(0.1)


def hold(folder):
    """Returns what functions of the backend hold, and its session."""
    maker = Session(folder)
    maker.ask(TABLE)
    maker.close()
    session, holds = Session(folder), {}
    session.ask("SELECT count(*) FROM held")
    holds["heap_getnextslot"] = int(session.ask("SELECT pg_relation_size('held')"))
    session.ask("BEGIN")
    session.ask("DECLARE c CURSOR FOR SELECT repeat('y', 100) || i FROM generate_series(1, 200000) i "
                "ORDER BY 1")
    session.ask("FETCH 1 FROM c")
    holds["tuplesort_puttupleslot"] = int(session.ask(SORTED))
    return holds, session


def main():
    folder = tempfile.mkdtemp(dir=sys.argv[1])
    data = os.path.join(folder, "data")
    os.chmod(sys.argv[1], 0o755)
    os.makedirs(data)
    for path in (folder, data):
        os.chown(path, OWNER.pw_uid, OWNER.pw_gid)
    subprocess.run([tool("initdb"), "-D", data, "-A", "trust", "--no-sync"], check=True,
                   preexec_fn=drop_root, stdout=subprocess.DEVNULL, cwd=folder)
    if os.fork():
        drop_root()
        os.environ.update(MALLOC)
        os.execv(tool("postgres"), [
            "postgres", "-D", data, "-k", folder, "-h", "", "-c", "shared_buffers=256MB", "-c",
            "work_mem=256MB", "-c", "fsync=off", "-c", "jit=off", "-c", "autovacuum=off", "-c",
            "max_parallel_workers_per_gather=0", "-c", "huge_pages=off", "-c",
            "logging_collector=on"])
    wait_for(folder)
    holds, session = hold(folder)
    print(json.dumps({"holds": holds, "pid": int(session.ask("SELECT pg_backend_pid()"))}),
          flush=True)
    sys.stdin.read()
    session.close()
    with open(os.path.join(data, "postmaster.pid"), encoding="ascii") as file:
        os.kill(int(file.readline()), 3)  # SIGQUIT: ends at once


main()
