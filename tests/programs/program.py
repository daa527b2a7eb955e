# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared parts of the healthy programs: how to prepare a program, use it, and end it."""
import os
import shutil
import socket
import subprocess
import textwrap
import threading

from run import NOBODY, PATIENCE, Skip, until

AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


class Amount:
    """How much work the programs do: 1.0 is the usual amount; an emulated machine does less."""

    share = 1.0


def amount(n):
    """Returns n scaled by Amount.share; at least 1."""
    return max(1, int(n * Amount.share))


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
    """Runs a helper command of the test; if it fails, raises AssertionError with its output."""
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
        """Uses the program while it runs; a Server overrides this."""


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


def many(request, threads=4, times=500):
    """Makes requests from several threads; raises the first exception of a thread."""
    wrong = []

    def loop():
        try:
            for _ in range(amount(times)):
                request()
        except Exception as error:  # pylint: disable=broad-except # raised below
            wrong.append(error)

    # The threads are daemon threads, so that a test that is ended does not wait for them.
    workers = [threading.Thread(target=loop, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if wrong:
        raise wrong[0]
