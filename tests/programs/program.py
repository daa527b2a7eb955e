# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Base classes of healthy programs: how the test prepares, uses and ends a program."""
import os
import shutil
import socket
import subprocess
import textwrap
import threading

from run import NOBODY, PATIENCE, Skip, until

AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


class Amount:
    """How much work programs do: 1.0 is the usual amount. On emulated machines, programs do less
    work."""

    share = 1.0


def amount(n):
    """Returns n times Amount.share, but at least 1."""
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
    """Runs a command. If it fails, raises AssertionError with its output."""
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False, **how)
    assert done.returncode == 0, f"{argv[:4]} ended with {done.returncode}: {done.stdout[-800:]}"


class Program:
    """A program that ends without a signal."""

    end_signal = None

    def __init__(self, folder, argv, env=None):
        self.folder, self.argv, self.env = folder, argv, {**os.environ, "HOME": folder,
                                                          **(env or {})}

    def work(self):
        """Makes requests to the running program. Class Server defines this function; for other
        programs, it does nothing."""


class Server(Program):
    """A server on a socket in its folder. `client` makes requests, then `end_signal` ends it."""

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
    """Calls the requests from several threads. If threads raise exceptions, raises the first
    exception again."""
    wrong = []

    def loop():
        try:
            for _ in range(amount(times)):
                request()
        except Exception as error:  # pylint: disable=broad-except # raised below
            wrong.append(error)

    # daemon=True: if the test is ended, Python does not wait for these threads.
    workers = [threading.Thread(target=loop, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if wrong:
        raise wrong[0]
