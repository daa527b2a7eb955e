#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks that healthy machines get no finding, for some minutes. Prints TAP.

One guest is at rest. Another guest has work that fits into its memory: it reads and writes files,
starts processes, allocates and frees memory. With --here, the test watches this machine instead,
which must be healthy. `faultscope` (all rules, every process) and `faultscope host` watch at the
same time.
"""
import argparse
import shlex
import sys

sys.dont_write_bytecode = True

import pressure  # noqa: E402
from aptroot import Missing  # noqa: E402
from harness import Lab, Lines  # noqa: E402
from lab import GuestProcess  # noqa: E402
from vm import GuestError  # noqa: E402

WORK = """
while :; do
	dd if=/dev/zero of=/files/quiet bs=64k count=256 2>/dev/null
	cat /files/quiet >/dev/null
	for i in 1 2 3 4 5 6 7 8; do /bin/true; done
	/workloads/eat anon 64 --rounds 2 --random
	usleep 300000
done
"""


def findings(lines):
    return [(line["id"], line.get("comm"), line.get("title")) for line in lines.of("finding")]


def stopped(lab, watch):
    """Stops the watch. Returns the JSON lines of the watch without the lines of processes, which
    are too large to copy from a guest."""
    if not hasattr(lab, "vm"):
        return watch.stop().text
    lab.vm.must(f"kill -INT {watch.pid}; while kill -0 {watch.pid} 2>/dev/null; do usleep 30000;"
                f" done; sed -i '/\"type\":\"process\"/d' {watch.dir}/lines", 300)
    return watch.finished().text


def stays_quiet(check, lab, seconds):
    watch = lab.watch("5")
    ran = lab.faultscope("host", "--json", "5", "-d", seconds, timeout=seconds * 2 + 60)
    lines, host = Lines(stopped(lab, watch)), Lines(ran.out)
    looks = host.of("pressure")
    for told in sorted(set(map(str, findings(host) + findings(lines)))):
        print(f"# said: {told}")
    print(f"# looked for {looks[-1]['t'] - looks[0]['t']:.0f} s")
    check.that(lines.of("end"), "the watch said no end")
    check.that(looks[-1]["t"] - looks[0]["t"] >= seconds - 10, "it ended early")
    answer = pressure.answer_of(host)
    check.equal("short, kind", (answer["memory_short"], answer["kind"]), (False, "none"))
    check.equal("findings of the look at the host", findings(host), [])
    check.equal("findings", findings(lines), [])


def at_work(check, lab, seconds):
    work = GuestProcess(lab, f"sh -c {shlex.quote(WORK)}")
    stays_quiet(check, lab, seconds)
    lab.vm.must(f"kill {work.pid}")


def in_guest(tap, kernel, seconds, only):
    guest = pressure.Guest(kernel)
    try:
        for name, body in ("at rest", stays_quiet), ("at work", at_work):
            if only not in name:
                continue
            tap.test(f"quiet, {kernel}: {name}", pressure.in_guest, guest,
                     lambda check, lab, body=body: body(check, lab, seconds))
    finally:
        guest.vm.close()


def here(check, seconds):
    lab = Lab()
    try:
        stays_quiet(check, lab, seconds)
    finally:
        lab.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kernels", metavar="NAME,...", default="6.12")
    parser.add_argument("--here", action="store_true", help="watch this machine instead of a guest")
    parser.add_argument("--only", metavar="NAME", default="",
                        help="run only the guest at rest, or only the guest at work")
    options = parser.parse_args()
    seconds, tap = int(options.minutes * 60), pressure.e2e_tap()
    if options.here:
        tap.test("quiet, here", here, seconds)
    for kernel in [] if options.here else options.kernels.split(","):
        try:
            in_guest(tap, kernel, seconds, options.only)
        except Missing as reason:
            tap.say(f"quiet, {kernel}", skip=str(reason))
        except GuestError as reason:
            tap.say(f"quiet, {kernel}: a guest", [str(reason)])
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
