# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Test programs that print TAP, side by side, each a process of its own, with one plan in the end."""
import re
import subprocess
import sys
import tempfile
import time

POLL = 0.2
TAP_LINE = re.compile(r"(ok|not ok) \d+ - ", re.M)


class Job:
    """One program, that writes into a file."""

    def __init__(self, argv):
        self.argv = [str(word) for word in argv]
        self.out = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=self.out)

    def ended(self):
        return self.process.poll() is not None

    def stop(self):
        if not self.ended():
            self.process.terminate()
        self.process.wait()

    def lines(self, first):
        """Its TAP lines, numbered on from `first`; how many."""
        self.out.seek(0)
        text = re.sub(r"^1\.\.\d+\n", "", self.out.read(), flags=re.M)
        done = 0

        def number(found):
            nonlocal done
            done += 1
            return f"{found[1]} {first + done - 1} - "

        text = TAP_LINE.sub(number, text)
        if self.process.returncode not in (0, 1):
            done += 1
            text += (f"not ok {first + done - 1} - {' '.join(self.argv)}: the whole of it\n"
                     f"# it ended with {self.process.returncode}\n")
        return text, done


def side_by_side(programs, jobs):
    """Runs them all, `jobs` at a time; what one says comes when it is done. Whether all is well."""
    waiting, running, done, good = list(programs), [], 0, True
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Job(waiting.pop(0)))
            ended = [job for job in running if job.ended()]
            for job in ended:
                text, count = job.lines(done + 1)
                done += count
                good = good and job.process.returncode == 0
                sys.stdout.write(text)
                sys.stdout.flush()
                running.remove(job)
            if not ended:
                time.sleep(POLL)
    finally:
        for job in running:
            job.stop()
    print(f"1..{done}")
    return good
