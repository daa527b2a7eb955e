# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests text output for process names that contain control characters. Tests also that the terminal
has its former settings after faultscope has ended in any way."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import unicodedata
from pathlib import Path

from harness import FAULTSCOPE, INCOMPLETE, Lines, live, until

CASES = range(6)
ENTER, LEAVE = "\033[?1049h", "\033[?1049l"
SHOW_CURSOR = "\033[?25h"
TAKE = ENTER + "\033[?25l\033[2J\033[?1000h\033[?1006h"
# Escape sequences allowed with NO_COLOR: cursor movement, erasing, reverse video, leaving the
# screen, no more events of the mouse.
OUR_SEQUENCES = re.compile(r"\033\[(?:H|K|J|0m|7m|\?25h|\?1049l|\?100[06]l)")
TEXT_ENV = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"}


class Terminal:
    """faultscope with a pseudo-terminal as its controlling terminal."""

    def __init__(self, lab, *options, errors=False):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self.output = b""

        def take():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = lab.spawn([FAULTSCOPE, *options], stdin=theirs, stdout=theirs,
                                 stderr=theirs if errors else subprocess.PIPE, preexec_fn=take, env=TEXT_ENV)
        self.theirs = theirs

    def read(self):
        while select.select([self.ours], [], [], 0.02)[0]:
            self.output += os.read(self.ours, 65536)
        return self.output

    def text(self):
        return self.read().decode(errors="surrogateescape")

    def type(self, keys):
        os.write(self.ours, keys)

    def check_end(self, check, what):
        """Waits for the end, whose status must be 0."""
        until(lambda: self.read() is not None and self.process.poll() is not None, "the end")
        text = self.process.stderr.read() if self.process.stderr else self.text()
        check.that(self.process.returncode == 0,
                   f"{what}: status {self.process.returncode}: {text[-1000:]!r}")

    def attributes(self):
        return termios.tcgetattr(self.theirs)

    def close(self):
        os.close(self.ours)
        os.close(self.theirs)


def check_clean(check, what, data, on_terminal=False):
    """Checks for valid UTF-8 without control and format characters such as U+202E."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        check.that(False, f"{what}: {error}")
        return
    if on_terminal:
        text = re.sub("\r+\n", "\n", OUR_SEQUENCES.sub("", text.replace(TAKE, "", 1)))
    bad = sorted({c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"})
    for c in bad:
        at = text.index(c)
        check.that(False, f"{what}: {c!r} in {text[max(0, at - 30):at + 30]!r}")


@contextlib.contextmanager
def hostile(lab):
    """Starts a process with each kind of hostile name (control characters, escape sequences and
    others). Returns {case: workload}."""
    works = {case: lab.work("hostile", "--case", str(case), "--wait") for case in CASES}
    yield works
    for work in works.values():
        work.go()
        work.end()


def output_of(*words, statuses=(0,)):
    ran = subprocess.run([FAULTSCOPE, *words], capture_output=True, check=False, timeout=60,
                         env=TEXT_ENV)
    if ran.returncode not in statuses:
        raise AssertionError(f"{words}: status {ran.returncode}, {ran.stderr.decode()}")
    return ran.stdout


def watched(*options):
    return output_of(*options, "0.1", "2")


@live
def test_hostile_names_in_text(check, lab):
    with hostile(lab) as works:
        for case, work in works.items():
            recording = lab.dir / f"{case}.fsr"
            check_clean(check, f"case {case}, one process",
                        watched("-p", str(work.pid), "--record", recording))
            check_clean(check, f"case {case}, ASCII",
                        output_of("replay", "--no-unicode", "--speed", "0", recording))
        # a busy host may lose events of other processes
        check_clean(check, "table", output_of("--top", "10000", "0.1", "2",
                                              statuses=(0, INCOMPLETE)))


def check_comm(check, case, lines, work):
    comm = lines.last(work.pid)["comm"]
    name = Path(f"/proc/{work.pid}/comm").read_bytes().removesuffix(b"\n")
    try:
        check.equal(f"case {case}: comm", comm, name.decode())
    except UnicodeDecodeError:
        check.that(comm and len(comm) <= 4 * len(name), f"case {case}: comm {comm!r}")


def check_controls(check, what, data):
    controls = [byte for byte in data if byte < 0x20 and byte != 0x0a]
    check.equal(f"{what}: control bytes", controls, [])


@live
def test_hostile_names_in_json(check, lab):
    with hostile(lab) as works:
        data = watched("--json")
        check_controls(check, "all", data)
        everybody = Lines(data.decode())
        for case, work in works.items():
            check_comm(check, case, everybody, work)
            data = watched("--json", "-p", str(work.pid))
            check_controls(check, f"case {case}", data)
            check_comm(check, case, Lines(data.decode()), work)


@live
def test_hostile_names_on_a_terminal(check, lab):
    with hostile(lab) as works:
        for options in [["-p", str(work.pid), "0.1"] for work in works.values()] + [["0.1"]]:
            terminal = Terminal(lab, *options)
            until(lambda: terminal.read().count(b"\033[H") >= 3 or terminal.process.poll(),
                  "three frames")
            terminal.type(b"q")
            terminal.check_end(check, f"{options}")
            check_clean(check, f"{options}", terminal.output, on_terminal=True)
            terminal.close()


@live
def test_terminal_is_given_back(check, lab):
    for ending in ("q", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        for options in (["0.1"], ["-p", str(os.getpid()), "0.1"]):
            name = f"{ending if ending == 'q' else ending.name} {options}"
            terminal = Terminal(lab, *options)
            until(lambda: terminal.read().count(b"\033[H") >= 2 or terminal.process.poll(),
                  "two frames")
            check.that(terminal.attributes() != terminal.before, f"{name}: keys are not taken")
            if ending == "q":
                terminal.type(b"q")
            else:
                terminal.process.send_signal(ending)
            terminal.check_end(check, f"{name}")
            check.equal(f"{name}: attributes", terminal.attributes(), terminal.before)
            text = terminal.text()
            check.that(text.count(ENTER) == 1 == text.count(LEAVE), f"{name}: screens")
            check.that(text.rfind(SHOW_CURSOR) > text.rfind("\033[?25l"), f"{name}: cursor hidden")
            check.that("\033[H" not in text[text.rfind(LEAVE):], f"{name}: a frame after the last")
            terminal.close()


@live
def test_terminal_keys(check, lab):
    """Ctrl-C, typed on the terminal, ends faultscope. SIGTSTP, which Ctrl-Z sends, stops faultscope
    until SIGCONT."""
    terminal = Terminal(lab, "0.1")
    until(lambda: b"\033[H" in terminal.read(), "a frame")
    terminal.type(b"\003")
    terminal.check_end(check, "after Ctrl-C")
    check.equal("attributes", terminal.attributes(), terminal.before)
    terminal.close()
    terminal = Terminal(lab, "0.1")
    until(lambda: b"\033[H" in terminal.read(), "a frame")
    terminal.process.send_signal(signal.SIGTSTP)
    until(lambda: terminal.read() and terminal.attributes() == terminal.before,
          "the terminal back while stopped")
    terminal.process.send_signal(signal.SIGCONT)
    until(lambda: terminal.text().count(ENTER) == 2, "the screen taken again")
    terminal.type(b"q")
    terminal.check_end(check, "after Ctrl-Z and q")
    check.equal("attributes after Ctrl-Z and q", terminal.attributes(), terminal.before)
    terminal.close()


@live
def test_progress(check, lab):
    """A measurement longer than two seconds shows its progress, and erases it at the end."""
    terminal = Terminal(lab, "-p", str(os.getpid()), "--json", "-o", "/dev/null", "-d", "4", "0.1",
                        errors=True)
    terminal.check_end(check, "the watch")
    text = terminal.text()
    told = re.findall(r"faultscope: watching: (\d+) %, [\d.]+ s left", text)
    check.that(told and 45 <= int(told[0]) < 100 and told == sorted(told, key=int),
               f"progress: {told} in {text!r}")
    check.that(text.endswith("\r\033[K"), f"the line is taken back: {text[-60:]!r}")
    terminal.close()


@live
def test_run_summary(check, lab):
    ran = lab.faultscope("run", "--summary", "--", "sh", "-c",
                         "python3 -c 'x = bytearray(200 << 20)'; true; exit 7")
    check.equal("status", ran.returncode, 7)
    check.that(re.search(r"ran sh .*\(exit 7\)", ran.err), "what ran, and how it ended")
    rows = re.findall(r"^ +(\d+) +([\d,]+) +(\d+) .* (python3|sh)$", ran.err, re.M)
    check.that([row for row in rows if row[3] == "python3"], f"who faulted most: {ran.err}")
    check.that(rows and rows[0][3] == "python3" and int(rows[0][1].replace(",", "")) > 1000,
               f"the first of them: {rows[:1]}")
    peak = re.search(r"peak of a process ([\d.]+) MiB", ran.err)
    check.that(peak and 200 <= float(peak[1]) < 320, f"the peak of memory: {ran.err}")
    for word in "maps peak", "fds peak", "waited: ", "own cost":
        check.that(word in ran.err, f"{word}: {ran.err}")
