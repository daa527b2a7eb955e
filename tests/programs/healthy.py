#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Healthy programs, about which faultscope must say nothing of severity warning or critical that
is not true: PostgreSQL, php-fpm, nginx, MariaDB, Node.js, pytest, apt, make -j, git gc, Chromium,
a JVM and PyTorch. Each does real work twice: once under `run`, once watched by `-p` and `diagnose`
together. Each finding is printed. TAP. Needs root; tools/setup.sh healthy. Words given as arguments
select programs by name.
"""
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading

from run import NOBODY, PATIENCE, PROGRAM, Skip, until

LOUD = ("warning", "critical")
INCOMPLETE = 7  # the kernel skipped an event, for example: not a finding
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
# The shell keeps its pid when it becomes the program: the test knows the pid in every mode, and
# faultscope can attach before the program begins.
GATE = 'echo $$ >pid; read go && exec "$@" </dev/null'


def need_setup(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program}: tools/setup.sh healthy")


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(text))
    return path


def quiet(argv, folder, **how):
    """Runs a helper of the test; its output is shown if it fails."""
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False, **how)
    assert done.returncode == 0, f"{argv[:4]} ended with {done.returncode}: {done.stdout[-800:]}"


class Program:
    """A command that ends by itself."""

    end_signal = None

    def __init__(self, folder, argv, env=None):
        self.folder, self.argv, self.env = folder, argv, {**os.environ, "HOME": folder,
                                                          **(env or {})}

    def work(self):
        """A server is put to work here."""


class Server(Program):
    """A server on a socket in its folder: `client` uses it, then `end_signal` stops it."""

    def __init__(self, folder, argv, path, client, end_signal, env=None):
        super().__init__(folder, argv, env)
        self.path, self.client, self.end_signal = path, client, end_signal

    def connects(self):
        with socket.socket(socket.AF_UNIX) as one:
            try:
                one.connect(self.path)
            except OSError:
                return False
        return True

    def work(self):
        until(self.connects, self.argv[0])
        self.client()


def postgresql(folder):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
    if not found:
        raise Skip("no PostgreSQL: tools/setup.sh healthy")
    at, data = os.path.dirname(found[-1]), os.path.join(folder, "data")
    quiet([*AS_NOBODY, f"{at}/initdb", "-D", data, "-U", "bench", "-A", "trust", "-N"], folder)
    bench = [*AS_NOBODY, f"{at}/pgbench", "-h", folder, "-U", "bench"]

    def client():
        ready = [f"{at}/pg_isready", "-q", "-h", folder]
        until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL")
        quiet([*bench, "-q", "-i", "-s", "5", "postgres"], folder)
        quiet([*bench, "-c", "8", "-j", "2", "-t", "500", "postgres"], folder)

    return Server(folder, [*AS_NOBODY, f"{at}/postgres", "-D", data, "-k", folder, "-c",
                           "listen_addresses="], f"{folder}/.s.PGSQL.5432", client, signal.SIGINT)


def many(request, threads=4, times=500):
    """Makes requests from several threads; raises what one of them raised."""
    wrong = []

    def loop():
        try:
            for _ in range(times):
                request()
        except Exception as error:  # pylint: disable=broad-except # raised below
            wrong.append(error)

    workers = [threading.Thread(target=loop) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if wrong:
        raise wrong[0]


def fastcgi(path, script):
    """Sends one FastCGI request and returns the answer, records and all."""
    def record(kind, body=b""):
        return struct.pack(">BBHHBB", 1, kind, 1, len(body), 0, 0) + body

    names = {"SCRIPT_FILENAME": script, "REQUEST_METHOD": "GET", "QUERY_STRING": ""}
    pairs = b"".join(bytes([len(name), len(value)]) + name.encode() + value.encode()
                     for name, value in names.items())
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        one.sendall(record(1, b"\0\1\0\0\0\0\0\0") + record(4, pairs) + record(4) + record(5))
        return b"".join(iter(lambda: one.recv(65536), b""))


def php_fpm(folder):
    found = sorted(glob.glob("/usr/sbin/php-fpm*"))
    if not found:
        raise Skip("no php-fpm: tools/setup.sh healthy")
    path = f"{folder}/php"
    script = write(folder, "page.php", """\
        <?php
        $rows = [];
        for ($i = 0; $i < 20000; $i++) $rows[] = ["id" => $i, "text" => str_repeat("x", 40)];
        echo strlen(json_encode($rows)), " well";
        """)
    conf = write(folder, "fpm.conf", f"""\
        [global]
        error_log = {folder}/log
        daemonize = no
        [www]
        user = nobody
        group = nogroup
        listen = {path}
        pm = dynamic
        pm.max_children = 8
        pm.start_servers = 2
        pm.min_spare_servers = 1
        pm.max_spare_servers = 4
        pm.max_requests = 100
        """)

    def request():
        answer = fastcgi(path, script)
        assert b"well" in answer, answer[:300]

    return Server(folder, [found[-1], "-n", "-d", "zend_extension=opcache", "-d",
                           "opcache.enable=1", "-y", conf], path,
                  lambda: many(request, times=200), signal.SIGQUIT)


def nginx(folder):
    need_setup("nginx")
    path = f"{folder}/http"
    for name, size in (("small", 1000), ("large", 1 << 20)):
        write(folder, name, "x" * size)
    conf = write(folder, "nginx.conf", f"""\
        daemon off;
        pid {folder}/nginx.pid;
        error_log {folder}/log;
        worker_processes 2;
        events {{ worker_connections 256; }}
        http {{
            access_log {folder}/access;
            client_body_temp_path {folder}/body;
            proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi;
            uwsgi_temp_path {folder}/uwsgi;
            scgi_temp_path {folder}/scgi;
            gzip on;
            sendfile on;
            open_file_cache max=100;
            server {{ listen unix:{path}; root {folder}; }}
        }}
        """)

    def request():
        for name, size in (("small", 1000), ("large", 1 << 20)):
            one = http.client.HTTPConnection("localhost")
            one.sock = socket.socket(socket.AF_UNIX)
            one.sock.connect(path)
            one.request("GET", f"/{name}")
            got = len(one.getresponse().read())
            one.close()
            assert got == size, got

    return Server(folder, [shutil.which("nginx"), "-c", conf, "-e", f"{folder}/log"], path,
                  lambda: many(request), signal.SIGQUIT)


def mariadb(folder):
    need_setup("mariadbd", "mariadb-install-db", "mariadb-slap")
    data, path = f"{folder}/data", f"{folder}/sql"
    quiet([*AS_NOBODY, "mariadb-install-db", "--no-defaults", f"--datadir={data}",
           "--auth-root-authentication-method=normal", "--skip-test-db"], folder)
    return Server(folder, [*AS_NOBODY, shutil.which("mariadbd"), "--no-defaults",
                           f"--datadir={data}", f"--socket={path}", "--skip-networking",
                           f"--pid-file={folder}/sql.pid"], path,
                  lambda: quiet(["mariadb-slap", "--no-defaults", f"--socket={path}", "-uroot",
                                 "--auto-generate-sql", "--concurrency=8",
                                 "--number-of-queries=4000"], folder), signal.SIGTERM)


def node(folder):
    need_setup("node")
    script = write(folder, "serve.js", """\
        const http = require('http'), fs = require('fs'), crypto = require('crypto');
        const path = process.cwd() + '/http', agent = new http.Agent({keepAlive: true});
        const server = http.createServer((request, answer) => {
          const rows = Array.from({length: 2000}, (_, i) => ({i, text: 'x'.repeat(40)}));
          fs.readFile(__filename, (error, text) => answer.end(JSON.stringify(rows) +
            crypto.createHash('sha256').update(text).digest('hex')));
        });
        let asked = 0, answered = 0;
        function next() {
          if (++answered === 4000) return agent.destroy(), server.close();
          if (asked < 4000) ask();
        }
        function ask() {
          asked++;
          http.get({socketPath: path, agent}, (got) => got.resume().on('end', next));
        }
        server.listen(path, () => { for (let i = 0; i < 8; i++) ask(); });
        """)
    return Program(folder, [shutil.which("node"), script])


def pytest(folder):
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        raise Skip("no pytest: tools/setup.sh healthy")
    for i in range(20):
        write(folder, f"test_{i}.py", f"""\
            import json, subprocess, sqlite3, threading
            import pytest
            @pytest.mark.parametrize("n", range(50))
            def test_file(tmp_path, n):
                file = tmp_path / "rows"
                file.write_text(json.dumps(list(range(n * 100))))
                assert json.loads(file.read_text()) == list(range(n * 100))
            def test_child():
                assert subprocess.check_output(["echo", "{i}"]) == b"{i}\\n"
            def test_rows():
                with sqlite3.connect(":memory:") as base:
                    base.execute("create table t (i)")
                    base.executemany("insert into t values (?)", ((i,) for i in range(20000)))
                    assert base.execute("select count(*) from t").fetchone() == (20000,)
            def test_threads():
                threads = [threading.Thread(target=bytes, args=(1 << 20,)) for _ in range(8)]
                for one in threads: one.start()
                for one in threads: one.join()
            """)
    return Program(folder, [python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                            f"--basetemp={folder}/base", folder])


def apt(folder):
    need_setup("apt-get", "apt-cache")
    for name in ("cache/archives/partial", "state"):
        os.makedirs(f"{folder}/{name}")
    # Its caches are built anew in the folder; nothing is installed.
    script = write(folder, "apt.sh", f"""\
        set -e
        own="-o Dir::Cache={folder}/cache -o Debug::NoLocking=1"
        apt-cache $own gencaches
        apt-get $own -s dist-upgrade
        """)
    return Program(folder, ["sh", script])


def make_parallel(folder):
    need_setup("make", "cc")
    units = range(60)
    for i in units:
        write(folder, f"u{i}.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
              + "".join(f"int f{i}_{n}(int x) {{ char t[64]; snprintf(t, 64, \"%d\", x * {n});"
                        f" return atoi(t) + (int)strlen(t); }}\n" for n in range(100)))
    write(folder, "main.c", "int f0_1(int); int main(void) { return f0_1(1) != 2; }\n")
    objects = " ".join(f"u{i}.o" for i in units)
    write(folder, "Makefile", f"all: main\n\t./main\nmain: main.o {objects}\n"
          "\tcc -o $@ $^\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n")
    return Program(folder, ["make", "-B", "-j", "8"])


def git_gc(folder):
    need_setup("git")
    at = f"{folder}/repository"
    quiet(["git", "init", "-q", at], folder)
    with subprocess.Popen(["git", "-C", at, "fast-import", "--quiet"], stdin=subprocess.PIPE,
                          text=True) as importer:
        out = importer.stdin
        for i in range(3000):
            out.write(f"commit refs/heads/main\ncommitter T <t@localhost> {1700000000 + i} +0000\n"
                      "data 1\nc\n")
            for j in range(10):
                text = "".join(f"{line * 7919 % 1009} {i if line % 97 == j else 0}\n"
                               for line in range(400))
                out.write(f"M 100644 inline f{(i + j * 37) % 500}\ndata {len(text)}\n{text}\n")
        out.close()
    assert importer.returncode == 0, "git fast-import failed"
    return Program(folder, ["git", "-C", at, "-c", "pack.window=50", "gc", "-q"])


def chromium(folder):
    need_setup("chromium")
    page = write(folder, "page.html", """\
        <html><body><canvas id=c width=800 height=600></canvas><p id=p></p><script>
        const pen = document.getElementById('c').getContext('2d');
        const rows = [];
        for (let i = 0; i < 300000; i++) {
          if (i < 20000) pen.fillRect(i % 800, i % 600, 3, 3);
          rows.push({i, text: 'x' + i});
        }
        document.getElementById('p').textContent = 'well ' + rows.length;
        </script></body></html>
        """)
    return Program(folder, [shutil.which("chromium"), "--headless", "--no-sandbox",
                            "--disable-gpu", f"--user-data-dir={folder}/profile", "--dump-dom",
                            f"file://{page}"])


def jvm(folder):
    need_setup("java")
    write(folder, "Well.java", """\
        import java.util.*;
        import java.util.concurrent.*;
        public class Well {
          static long work(int seed) {
            Map<Integer, String> rows = new HashMap<>();
            for (int i = 0; i < 200000; i++) rows.put(i, "row " + (i ^ seed));
            long sum = 0;
            for (String row : rows.values()) sum += row.length();
            return sum;
          }
          public static void main(String[] given) throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(8);
            List<Future<Long>> all = new ArrayList<>();
            for (int i = 0; i < 24; i++) { int seed = i; all.add(pool.submit(() -> work(seed))); }
            for (Future<Long> one : all) one.get();
            pool.shutdown();
          }
        }
        """)
    return Program(folder, [shutil.which("java"), f"{folder}/Well.java"])


def torch(folder):
    python = "/usr/bin/python3"
    probe = [python, "-c", "import importlib.util as u; raise SystemExit(not u.find_spec('torch'))"]
    if subprocess.run(probe, check=False).returncode:
        raise Skip("no python3-torch: tools/setup.sh torch")
    return Program(folder, [python, "-c", "import torch; x = torch.rand(1000, 1000);"
                            " print([(x @ x).sum().item() for _ in range(20)][-1])"])


ROWS = [("PostgreSQL with pgbench", postgresql), ("php-fpm", php_fpm), ("nginx", nginx),
        ("MariaDB", mariadb), ("Node.js", node), ("pytest", pytest), ("apt", apt),
        ("make -j", make_parallel), ("git gc", git_gc), ("Chromium", chromium), ("JVM", jvm),
        ("import torch", torch)]


def life(program, folder, before, watchers):
    """Lets the program live: its shell behind `before`, with the watchers attached to its pid
    before it begins. Returns its exit status and those of the watchers."""
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
                      or (os.path.exists(out) and os.path.getsize(out)), "faultscope")
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
    """Yields (description, verdict, detail) of one output of faultscope."""
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
        ([PROGRAM, "--json"], outputs["-p"]),
        ([PROGRAM, "diagnose", "--json"], outputs["diagnose"])])
    yield "watched: the program does its work", status == 0, f"status {status}\n{output()}"
    yield "watched: faultscope ends by itself", set(watchers) <= {0, 3, INCOMPLETE}, str(watchers)
    for mode in ("-p", "diagnose"):
        yield from judge_output(mode, outputs[mode], pid)


def main():
    only = sys.argv[1:]
    n = failed = 0
    for name, start in ROWS:
        if only and not any(word in name for word in only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            try:
                for description, verdict, detail in judge(start, folder):
                    n += 1
                    failed += not verdict
                    print(f"{'' if verdict else 'not '}ok {n} - {name}: {description}", flush=True)
                    if not verdict:
                        print("# " + detail.replace("\n", "\n# "), flush=True)
            except Skip as reason:
                n += 1
                print(f"ok {n} - {name} # SKIP {reason}")
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                n += 1
                failed += 1
                print(f"not ok {n} - {name}: it could be tried\n# {error}", flush=True)
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
