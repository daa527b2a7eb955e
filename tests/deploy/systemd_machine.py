# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What all test machines have in common whose process 1 is systemd."""
from harness import until


class SystemdMachine:
    """A machine whose process 1 is systemd. A subclass defines the values below, and
    inside(command...), which runs a command in the machine and returns a CompletedProcess."""
    patience = None  # timeout of wait_for() in seconds
    pause = None  # time in seconds after which wait_for() looks again
    reader = ()  # command that prints the page of the URL in its last argument

    def wait_for(self, what, is_there):
        """Waits until is_there() returns a true value, and returns this value."""
        return until(is_there, what, self.patience, self.pause)

    def is_active(self, unit):
        return self.inside("systemctl", "is-active", unit).stdout.strip() == "active"

    def page(self, path):
        """Returns a page of the exporter."""
        return self.inside(*self.reader, f"http://127.0.0.1:10435{path}").stdout
