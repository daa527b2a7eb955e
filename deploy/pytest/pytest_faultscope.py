# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plugin for pytest: makes each test a phase of `faultscope run --phases`.

    faultscope run --phases --fail-on 'phase.fds.kept>0' --junit memory.xml -- \\
        python3 -m pytest -p pytest_faultscope

Put this file into a directory of PYTHONPATH, or beside conftest.py. Without faultscope it does
nothing. Tests that run in parallel (pytest-xdist) have no phases, since phases cannot overlap.
"""
import os
import socket

import pytest


class Phases:
    def __init__(self, of_faultscope):
        self.socket = of_faultscope

    def begin(self, name):
        """Ends the phase that runs; an empty name begins no other. Waits for the scan."""
        line = name.replace("\n", " ").encode(errors="backslashreplace")
        try:
            self.socket.sendall(line + b"\n")
            self.socket.recv(1)
        except OSError:  # faultscope has ended: the tests go on
            pass

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self.begin(item.nodeid)
        yield
        self.begin("")


def open_socket():
    """Returns the socket of faultscope, or None. Another file may have the number by now."""
    try:
        found = socket.socket(fileno=os.dup(int(os.environ["FAULTSCOPE_PHASES"])))
        found.getpeername()
    except (KeyError, ValueError, OSError):
        return None
    return found if found.family == socket.AF_UNIX else None


def pytest_configure(config):
    found = None if hasattr(config, "workerinput") else open_socket()
    if found:
        config.pluginmanager.register(Phases(found), "faultscope-phases")
