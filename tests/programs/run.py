#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `faultscope diagnose` with programs of Debian that reach a limit: Java (threads, ZGC),
Redis with jemalloc, Go and Node.js (connections), Python (inotify, memory). `diagnose` attaches
before a program grows. It must report the expected finding with its evidence. Prints TAP. Needs
root and the packages of `tools/setup.sh programs`."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "..", os.environ.get("BUILD", "build"), "faultscope")
# maximum wait for an event in seconds; an emulated CPU needs more
PATIENCE = int(os.environ.get("PATIENCE", "300"))
NOBODY = "65534"


class Skip(Exception):
    """Raised if a test cannot run on this machine. The text is the reason."""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program}: tools/setup.sh programs")


def until(done, what):
    end = time.monotonic() + PATIENCE
    while not (got := done()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)
    return got


def all_attached(out):
    """Returns whether a faultscope with -p has written to a file that all probes are attached."""
    if not os.path.exists(out):
        return False
    with open(out, encoding="utf-8") as file:
        return '"type":"probes"' in file.read()


class Grower:
    """A program that prints "ready", waits for a line, grows, prints the result, and waits."""

    def __init__(self, folder, argv, **how):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=folder, **how)
        self.pid = self.process.pid
        said = self.process.stdout.readline()
        assert said == "ready\n", f"{argv[0]} said {said!r}"

    def grow(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def java(folder, source, arguments, *options):
    need("java", "javac")
    subprocess.run(["javac", "-d", folder, os.path.join(HERE, source)], check=True)
    return Grower(folder, ["java", *options, "-cp", folder, source.removesuffix(".java"),
                           *arguments])


def java_threads(folder):
    return java(folder, "Threads.java", ["2000"], "-Xss256k")


def java_zgc(folder):
    return java(folder, "Heap.java", ["300", "4000"], "-XX:+UseZGC", "-Xms64m", "-Xmx2500m")


def go_sockets(folder):
    need("go")
    binary = os.path.join(folder, "sockets")
    subprocess.run(["go", "build", "-o", binary, os.path.join(HERE, "sockets.go")], check=True,
                   env={**os.environ, "HOME": folder, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    return Grower(folder, [binary, "400"])


def node_sockets(folder):
    need("node")
    return Grower(folder, ["node", os.path.join(HERE, "halfopen.js"), "400"])


def python_watchers(folder):
    need("setpriv")
    if subprocess.run(["/usr/bin/python3", "-c", "import watchdog"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skip("no watchdog: tools/setup.sh programs")
    # The limit of inotify instances is for each user. Only user nobody reaches it here.
    return Grower(folder, ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                           "/usr/bin/python3", "-B", os.path.join(HERE, "watchers.py"), "400"])


def python_threads(folder):
    return Grower(folder, ["/usr/bin/python3", "-B", os.path.join(HERE, "starved.py")])


class Redis:
    """Runs a Redis server with values of 64 KiB, and deletes every second value. jemalloc unmaps
    the memory of each deleted value, which splits a mapping."""

    VALUES, BYTES = 6000, 65536
    # These options make jemalloc unmap freed memory at once.
    MALLOC_CONF = "retain:false,dirty_decay_ms:0,muzzy_decay_ms:0"
    OPTIONS = ()

    def __init__(self, folder):
        need("redis-server")
        path = os.path.join(folder, "redis")
        env = {**os.environ, "MALLOC_CONF": self.MALLOC_CONF}
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path,
                                         "--save", "", "--dir", folder, "--activedefrag", "no",
                                         *self.OPTIONS], env=env, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        until(lambda: os.path.exists(path), "redis")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.replies = self.socket.makefile("rb")
        self.many([b"SET", b"k%d" % i, b"x" * self.BYTES] for i in range(self.VALUES))

    def many(self, commands, at_once=1):
        commands = list(commands)
        for first in range(0, len(commands), at_once):
            some = commands[first:first + at_once]
            self.socket.sendall(b"".join(
                b"*%d\r\n" % len(words) +
                b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
                for words in some))
            for _ in some:
                reply = self.replies.readline()
                assert reply[:1] in b"+:", reply

    def grow(self):
        self.many([b"DEL", b"k%d" % i] for i in range(0, self.VALUES, 2))
        return "ok"

    def end(self):
        self.replies.close()
        self.socket.close()
        self.process.terminate()
        self.process.wait(PATIENCE)


class RedisThatSaves(Redis):
    """A Redis server whose child saves slowly while the parent writes to every page, with
    transparent huge pages."""

    VALUES = 3000
    MALLOC_CONF = ""
    OPTIONS = ("--disable-thp", "no", "--rdb-key-save-delay", "5000")

    def grow(self):
        self.many([[b"BGSAVE"]])
        for page in range(0, self.BYTES, 4096):
            self.many(([b"SETRANGE", b"k%d" % i, b"%d" % page, b"y"] for i in range(self.VALUES)),
                      at_once=200)
        time.sleep(1.5)  # time for one more scan of faultscope
        return "ok"


# Columns of a row: name; function that starts the program; expected finding; expected evidence
# (field name: part of its value); part of the expected advice; what the program prints after it has
# grown.
ROWS = [
    ("Java, a thread a request", java_threads, "M04",
     {"threads": "2,0", "from": "guard_pages"}, "a pool", "ok"),
    ("Java, ZGC's heap in pieces", java_zgc, "M05", {"": "java_heap"}, "-XX:+UseG1GC", "ok"),
    ("Redis, jemalloc that unmaps", Redis, "M06",
     {"": "split by munmap", "from": "jemalloc"}, "retain:true", "ok"),
    ("Redis, saving while it is written", RedisThatSaves, "P09",
     {"share of a thread's time": "copies", "shares its memory": "redis"}, "disable-thp yes", "ok"),
    ("Go, connections not closed", go_sockets, "F09",
     {"": "CLOSE_WAIT", "from": "main.askService"}, "read from it returns 0", "ok"),
    ("Node.js, half-open connections", node_sockets, "F09",
     {"": "CLOSE_WAIT", "from": "accept"}, "read from it returns 0", "ok"),
    ("Python, an observer a folder", python_watchers, "F03",
     {"inotify instances": "", "refused_calls": ""}, "fs.inotify.max_user_instances=",
     "OSError"),
    ("Python, a thread without memory", python_threads, "M22",
     {"no call, fault or change for": "", "thread refused": ""}, "py-spy dump", "hangs: "),
]


def diagnose(folder, grower):
    """Attaches `diagnose` and lets the program grow. Returns four values: the output of the
    program, the exit status of `diagnose`, its JSON lines, and its text output, which is made from
    the recording."""
    out, recording = os.path.join(folder, "lines"), os.path.join(folder, "live.fsr")
    verdict = subprocess.Popen([PROGRAM, "diagnose", "-p", str(grower.pid), "-d", str(PATIENCE),
                                "--json", "--record", recording, "-o", out])
    until(lambda: verdict.poll() is not None or all_attached(out), "diagnose")
    said = grower.grow()
    verdict.send_signal(signal.SIGINT)
    status = verdict.wait(PATIENCE)
    with open(out, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    text = subprocess.run([PROGRAM, "diagnose", "--replay", recording, "--width", "1000"],
                          capture_output=True, text=True, check=False).stdout
    return said, status, lines, text


def shows(finding, field, value):
    return any(one["field"].startswith(field) and value in shown(one)
               for one in finding["evidence"])


def shown(evidence):
    """Returns, as text, the subject and the value of one record of a finding's evidence."""
    number = evidence["value"]
    return f"{evidence.get('about', '')} {number:,}" if evidence["unit"] else number


def judge(row, folder):
    """Tests one program of ROWS. Yields (description, whether it passed, detail) of each check."""
    _, start, wanted, evidence, advice, says = row
    grower = start(folder)
    try:
        said, status, lines, text = diagnose(folder, grower)
    finally:
        grower.end()
    found = [line for line in lines if line["type"] == "finding" and line["id"] == wanted
             and (line["pid"] == grower.pid or said.endswith(f": {line['pid']}"))]
    others = sorted({line["id"] for line in lines if line["type"] == "finding"} - {wanted})
    yield "it says what it does", says in said, said
    yield f"{wanted} is found", bool(found), f"found {others}, status {status}\n{text[:1500]}"
    if not found:
        return
    print(f"# {found[0]['severity']}[{wanted}]: {found[0]['title']}"
          + (f"  (and {' '.join(others)})" if others else ""))
    for field, value in evidence.items():
        told = [shown(one) for one in found[0]["evidence"] if one["field"].startswith(field)]
        yield f"{field} {value}", shows(found[0], field, value), str(found[0]["evidence"])
        print(f"#   {field}: {told[0][:140] if told else ''}")
    remedies = [one["text"] for one in found[0]["remedies"]]
    yield f"it advises: {advice}", any(advice in one for one in remedies), \
        str(remedies)
    first = text.split("\n", 1)[0]
    yield "the text begins with a finding", first[:1] in "cwi" and "]: " in first, first


def main():
    only = sys.argv[1:]
    n = failed = 0
    for row in ROWS:
        if only and not any(word in row[0] for word in only):
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BrokenPipeError):
            os.chmod(folder, 0o755)
            try:
                for description, verdict, detail in judge(row, folder):
                    n += 1
                    failed += not verdict
                    print(f"{'' if verdict else 'not '}ok {n} - {row[0]}: {description}", flush=True)
                    if not verdict:
                        print("# " + detail.replace("\n", "\n# "))
            except Skip as reason:
                n += 1
                print(f"ok {n} - {row[0]} # SKIP {reason}")
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
