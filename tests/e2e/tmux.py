# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Terminals of tests: tmux shows the screen of a program, and presses its keys."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness import Skip, until

# Expected end of the live view. On a busy machine the kernel skips events, and the exit status is
# then 7.
ENDED = r"ended with 0|(?s:faultscope: incomplete: .*ended with 7)"


class Tmux:
    """A tmux terminal with a shell that runs one program. Its files are in the directory of a lab."""

    def __init__(self, lab, width, height, command, **env):
        if not shutil.which("tmux"):
            raise Skip("tmux is missing: tools/setup.sh test")
        self.dir = Path(tempfile.mkdtemp(prefix="tmux-", dir=lab.dir))
        env = {"LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.dir / "config"), **env}
        self.env = {**{k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}, **env}
        script = self.dir / "run"
        script.write_text(f"#!/bin/sh\nstty -a > {self.dir}/before\n{command}\n"
                          f"status=$?\nstty -a > {self.dir}/after\n"
                          "echo \"ended with $status\"\nexec cat\n")
        script.chmod(0o755)
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height),
                 str(script))

    def run(self, *words):
        return subprocess.run(["tmux", "-S", self.dir / "socket", *words], env=self.env, check=True,
                              capture_output=True, text=True, timeout=60).stdout

    def screen(self, *options):
        return self.run("capture-pane", "-p", *options)

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def type(self, text):
        self.run("send-keys", "-l", "--", text)

    def shows(self, *words, options=()):
        try:
            until(lambda: all(re.search(word, self.screen(*options)) for word in words), "it")
        except AssertionError:
            return f"{words} is not on the screen:\n{self.screen(*options)}"
        return ""

    def resize(self, width, height):
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def pid(self):
        shell = self.run("display-message", "-p", "#{pane_pid}").strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])

    def file(self, name):
        return (self.dir / name).read_text()

    def close(self):
        subprocess.run(["tmux", "-S", self.dir / "socket", "kill-server"], env=self.env, check=False,
                       capture_output=True)


def expect(check, tmux, what, *words):
    wrong = tmux.shows(*words)
    return check.that(not wrong, f"{what}: {wrong}")
