# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the log lines about findings and incidents: as JSON, by syslog, and in a real journal. The
process of the findings has a hostile name."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

from exporter import free_port
from harness import FAULTSCOPE, ROOT, Skip, complaint, live, quiet, until

# Beginning of the names of processes. Each test adds a letter, since the exporter of a test also sees
# the processes of others. A name has at most 15 bytes.
NAME = b'x"]\\\nA=\x1b[m'
# A process with this name reaches RLIMIT_NOFILE, in each of argv[1] children.
STORM = """import ctypes, os, resource, sys, time
ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[2]), 0, 0, 0)
for i in range(int(sys.argv[1])):
    if i and os.fork() == 0:
        break
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
held = []
try:
    while True:
        held.append(open("/dev/null"))
except OSError:
    time.sleep(60)
"""
PROCESSES = 200  # number of processes of a storm, more than the lines that are written at once
KINDS = dict(re.findall(r'LOG_KIND\(\w+, (\w+), "(\w+)"', (
    ROOT / "src/render/log/log_kinds.def").read_text(encoding="utf-8")))


class Logged:
    """An exporter whose log lines are read."""

    def __init__(self, lab, *options, argv=()):
        self.out, self.err = lab.dir / "log.out", lab.dir / "log.err"
        self.store = lab.dir / "incidents"
        with open(self.out, "w", encoding="utf-8") as out, \
                open(self.err, "w", encoding="utf-8") as err:
            self.process = lab.spawn(
                [*argv, FAULTSCOPE, "export", "--web.listen-address", f"127.0.0.1:{free_port()}",
                 "--incident.store", self.store, "--oom.store", lab.dir / "oom",
                 "--incident.on", "finding", "--incident.after", "1", "--export.calls", *options],
                stdout=out, stderr=err)
        until(lambda: "metrics at" in self.said() or self.process.poll() is not None,
              "the exporter")

    def said(self):
        return self.err.read_text(errors="replace")

    def lines(self):
        return self.out.read_text(errors="replace").splitlines()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def storm(lab, letter, count=1):
    return lab.spawn([sys.executable, "-c", STORM, str(count), (NAME + letter).hex()])


def end(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


def mine(lines, letter):
    return [one for one in lines if one.get("comm") == (NAME + letter).decode()]


@live
def test_json_lines(check, lab):
    """Each line is valid, and has what a reader needs to find the process and its incident."""
    logged = Logged(lab, "--log-format", "json")
    process = storm(lab, b"j")

    def found(event):
        return [one for one in mine(map(json.loads, logged.lines()), b"j")
                if one["event"] == event and one["id"] == "F01"]
    until(lambda: found("incident_completed"), "a complete incident", seconds=60)
    end(process)
    until(lambda: [one for one in mine(map(json.loads, logged.lines()), b"j")
                   if one["event"] == "finding_cleared"], "the end of a finding", seconds=60)
    logged.stop()
    for line in logged.lines():
        check.equal(line[:60], complaint(json.loads(line)), "")
    opened, stored = found("finding_opened")[0], found("incident_stored")[0]
    check.equal("pid", opened["pid"], process.pid)
    check.equal("severity, slug, cause", (opened["severity"], opened["slug"], opened["cause"]),
                ("critical", "nofile-reached", "rlimit_nofile"))
    check.equal("value of limit", (opened["value"], opened["limit"]), (40, 40))
    check.equal("host, kernel", (opened["host"], opened["kernel"]),
                (socket.gethostname(), os.uname().release))
    check.equal("boot", opened["boot_id"], Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    check.that(opened["command"] and opened["remedy"], "what helps")
    check.that("\n" not in opened["message"] and "\x1b" not in opened["message"], "a safe message")
    check.equal("trigger", stored["trigger"], "finding")
    check.that(Path(stored["file"]).is_file(), f"no file {stored['file']}")
    check.equal("kinds of lines", {json.loads(line)["event"] for line in logged.lines()} - set(KINDS),
                set())


@live
@quiet
def test_many_lines_are_withheld(check, lab):
    """A storm of findings does not flood the log, and the lines that are left out are counted."""
    logged = Logged(lab, "--log-format", "json", "--incident.per-hour", "1")
    process = storm(lab, b"m", PROCESSES)

    def lines():
        return [json.loads(line) for line in logged.lines()]
    until(lambda: len(lines()) >= 100, "the first lines", seconds=60)
    time.sleep(6)
    logged.stop()
    end(process)
    check.between("lines", len(lines()), 100, 110)
    # Each process of the storm has a line, or is counted as one that was left out: in the next line
    # that is written, or in one that has only the number.
    check.that(len(lines()) + sum(one["withheld"] for one in lines()) >= PROCESSES,
               f"{len(lines())} lines, left out: {[one['withheld'] for one in lines()]}")


@live
def test_redacted_lines(check, lab):
    """Redacted lines do not name the host; its pseudonym is the same in two runs."""
    hosts = set()
    for _ in range(2):
        logged = Logged(lab, "--log-format", "json", "--redact")
        process = storm(lab, b"r")
        until(lambda seen=logged: mine(map(json.loads, seen.lines()), b"r"), "a line", seconds=60)
        end(process)
        logged.stop()
        text = "\n".join(logged.lines())
        check.that(f'"{socket.gethostname()}"' not in text, "the host name")
        hosts |= {json.loads(line)["host"] for line in logged.lines()}
        check.equal("boots", {json.loads(line)["boot_id"] for line in logged.lines()}, {None})
    check.equal("pseudonyms", len(hosts), 1)
    check.that(re.fullmatch("host-[0-9a-f]{16}", hosts.pop()), "a pseudonym")


# A message of RFC 5424 with one element of structured data. Values escape only ", \ and ].
VALUE = r'(?:[^"\\\]]|\\["\\\]])*'
SYSLOG = re.compile(rf'<(\d+)>1 (\S+) (\S+) faultscope (\d+) (\w+) '
                    rf'\[faultscope@32473((?: [a-z_]+="{VALUE}")*)\] (.*)\n', re.S)


def syslog_fields(text):
    return {key: re.sub(r'\\(["\\\]])', r"\1", value)
            for key, value in re.findall(rf' ([a-z_]+)="({VALUE})"', text)}


@live
def test_syslog_socket(check, lab):
    """Messages reach a syslog socket, also after the reader was started again."""
    path = lab.dir / "syslog"

    def listen():
        path.unlink(missing_ok=True)
        reader = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        reader.bind(str(path))
        reader.settimeout(60)
        return reader

    def message(reader, event):
        while True:
            found = SYSLOG.fullmatch(reader.recv(65536).decode())
            check.that(found, "a malformed message")
            fields = syslog_fields(found[6]) if found else {}
            if found and found[5] == event and fields.get("comm", "").endswith("[ms"):
                return found, fields
    reader = listen()
    logged = Logged(lab, "--log-format", f"rfc5424:{path}")
    process = storm(lab, b"s")
    found, fields = message(reader, "finding_opened")
    check.equal("priority", found[1], "26")
    check.equal("host, pid", (found[3], found[4]), (socket.gethostname(), str(logged.process.pid)))
    check.equal("fields", (fields["event"], fields["severity"], fields["limit"], fields["comm"]),
                ("finding_opened", "critical", "40", 'x"]\\\\x0aA=\\x1b[ms'))
    reader.close()
    reader = listen()
    end(process)
    message(reader, "finding_cleared")
    reader.close()
    logged.stop()


@live
def test_a_missing_socket_is_an_error(check, lab):
    ran = lab.faultscope("export", "--log-format", f"rfc5424:{lab.dir}/none", "--web.listen-address",
                         "127.0.0.1:0", "--incident.store", lab.dir / "incidents")
    check.equal("status", ran.returncode, 1)
    check.that("none: No such file" in ran.err, ran.err)


# Runs in a mount namespace with a /run of its own, so that the journal of the machine is not used.
# Standard error of the exporter is connected to the journal as systemd does it.
JOURNAL = r"""import os, pathlib, socket, subprocess, sys, time
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
subprocess.run(["mount", "--bind", "/dev/null", "/dev/kmsg"], check=False)
config = pathlib.Path("/run/systemd/journald.conf.d/test.conf")
config.parent.mkdir(parents=True)
pathlib.Path("/run/log/journal").mkdir(parents=True)
config.write_text("[Journal]\nStorage=volatile\nAudit=no\nReadKMsg=no\n")
journal = subprocess.Popen([sys.argv[1]])
there = pathlib.Path("/run/systemd/journal/stdout")
while not there.exists():
    assert journal.poll() is None
    time.sleep(0.05)
stream = socket.socket(socket.AF_UNIX)
stream.connect(str(there))
stream.sendall(b"faultscope\n\n6\n0\n0\n0\n0\n")
of = os.fstat(stream.fileno())
environment = {**os.environ, "JOURNAL_STREAM": f"{of.st_dev}:{of.st_ino}"}
ran = subprocess.Popen(sys.argv[2:], env=environment, stderr=stream)
print("ready", flush=True)
for line in sys.stdin:
    if line == "entries\n":
        found = subprocess.run(["journalctl", "-D", "/run/log/journal", "-o", "json", "--no-pager"],
                               stdout=subprocess.PIPE, check=False).stdout
        print(len(found), flush=True)
        sys.stdout.buffer.write(found)
        sys.stdout.flush()
ran.terminate()
ran.wait()
journal.terminate()
journal.wait()
"""


class Journal:
    """An exporter that logs to a journald of its own."""

    def __init__(self, lab):
        program = Path("/lib/systemd/systemd-journald")
        if not program.exists() or not shutil.which("journalctl") or not shutil.which("unshare"):
            raise Skip("systemd-journald, journalctl or unshare is missing")
        self.process = lab.spawn(
            [*lab.own_mounts, sys.executable, "-c", JOURNAL, program, FAULTSCOPE, "export",
             "--web.listen-address", "127.0.0.1:0", "--incident.store", lab.dir / "incidents",
             "--oom.store", lab.dir / "oom", "--incident.on", "finding", "--incident.after", "1",
             "--export.calls"], stdin=-1, stderr=None, text=False)
        check = self.process.stdout.readline()
        if check != b"ready\n":
            raise Skip("systemd-journald does not run here")

    def entries(self):
        self.process.stdin.write(b"entries\n")
        self.process.stdin.flush()
        text = self.process.stdout.read(int(self.process.stdout.readline()))
        return [json.loads(line) for line in text.splitlines()]

    def stop(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait(60)


def bytes_of(value):
    """Returns the value of a field; journalctl prints one that is not printable as numbers."""
    return bytes(value) if isinstance(value, list) else value.encode()


@live
def test_journal(check, lab):
    """The exporter finds that its standard error is the journal. Its lines are entries with fields,
    and a hostile name adds no field."""
    journal = Journal(lab)

    def ours(kind):
        return [one for one in journal.entries() if one.get("MESSAGE_ID") == KINDS[kind] and
                bytes_of(one.get("FAULTSCOPE_COMM", "")) == NAME + b"l"]
    until(lambda: any("metrics at" in str(one["MESSAGE"]) for one in journal.entries()),
          "the exporter", seconds=60)
    process = storm(lab, b"l")
    until(lambda: ours("incident_completed"), "a complete incident", seconds=60)
    end(process)
    until(lambda: ours("finding_cleared"), "the end of the finding", seconds=60)
    opened, stored = ours("finding_opened")[0], ours("incident_stored")[0]
    journal.stop()
    check.equal("transport", opened["_TRANSPORT"], "journal")
    check.equal("identifier", opened["SYSLOG_IDENTIFIER"], "faultscope")
    check.equal("priorities", (opened["PRIORITY"], stored["PRIORITY"]), ("2", "5"))
    check.equal("pid", opened["FAULTSCOPE_PID"], str(process.pid))
    check.equal("finding", (opened["FAULTSCOPE_ID"], opened["FAULTSCOPE_SLUG"]),
                ("F01", "nofile-reached"))
    check.equal("limit", opened["FAULTSCOPE_LIMIT"], "40")
    check.equal("boot", opened["FAULTSCOPE_BOOT_ID"].replace("-", ""), opened["_BOOT_ID"])
    check.that("A" not in opened, "a field that the name added")
    check.that(stored["FAULTSCOPE_FILE"].endswith("-F01.fsr"), stored["FAULTSCOPE_FILE"])


@live
def test_text_lines_of_record(check, lab):
    """`record --ring` logs to standard error."""
    ran = lab.spawn([FAULTSCOPE, "record", "--ring", "1M", "-i", "1", "-o", lab.dir / "store",
                     "--incident.on", "finding"])
    time.sleep(3)
    process = storm(lab, b"t")
    time.sleep(5)
    end(process)
    ran.send_signal(signal.SIGINT)
    said = ran.communicate(timeout=60)[1]
    for wanted in ("critical: x", "incident stored: ", "nofile-"):
        check.that(wanted in said, f"no {wanted!r}: {said[-2000:]}")


def test_formats_are_checked(check, lab):
    ran = lab.faultscope("export", "--log-format", "jsno")
    check.equal("status", ran.returncode, 2)
    check.that("did you mean: json" in ran.err, ran.err)
    for options in (("--ring", "off"), ("--export.resident", "x")):
        ran = lab.faultscope("export", "--log-format", "json", *options)
        check.equal(options[0], ran.returncode, 2)
        check.that("--log-format needs the findings of --ring" in ran.err, ran.err)
