#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the stacks of real programs with those of libdw. Prints TAP, and a table at the end.

usage: run.py [--only NAME] [--stacks N] [--seconds N] [--markdown FILE] [-v] [ORACLE]

ORACLE is the program that compares (default: build/unwind/oracle). --markdown replaces the table in
a document. -v prints the stacks that differ.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from real_programs import PROGRAMS, ROOT, Amount, Skip, requests  # noqa: E402

HOW = {"system calls": lambda real: ["-e", str(real.every)],
       "random stops": lambda real: ["-e", "0", "-r", "1000", "-s", "4"]}
HEAD = ["program", *(f"{how}: {what}" for how in HOW for what in ("stacks", "right", "other"))]


def compare(oracle, options, real, folder):
    with requests(real):
        done = subprocess.run([oracle, *options, *real.argv], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=600, env=real.env, cwd=folder)
    for line in reversed(done.stderr.decode(errors="replace").splitlines()):
        if "{\"program\"" in line:
            return json.loads(line[line.index("{\"program\""):]), done.stdout.decode(errors="replace")
    return None, done.stderr.decode(errors="replace")[-2000:]


def ends(got):
    """Returns the numbers of cut stacks by reason."""
    return {end: got[end] for end in list(got)[list(got).index("cut") + 1:]}


def cells(got):
    """Returns the table cells of a comparison: stacks, right ones, and the others."""
    if not got:
        return ["-", "-", "-"]
    other = {**ends(got), "libdw differs": got["differs"] + got["differs_unsure"]}
    return [f"{got['stacks']:,}", f"{100 * (got['equal'] + got['libdw_lost']) / got['stacks']:.1f} %",
            ", ".join(f"{n:,} {what}" for what, n in other.items() if n)]


def markdown(results):
    """`results` is {program: {how: comparison}}."""
    lines = [HEAD, ["---"] * len(HEAD)]
    for name, by_how in results.items():
        lines.append([name, *(cell for how in HOW for cell in cells(by_how.get(how)))])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def write_table(path, results):
    text = Path(path).read_text(encoding="utf-8")
    text = re.sub(r"(<!-- stacks of real programs -->\n).*?(<!-- /stacks of real programs -->)",
                  lambda found: found[1] + markdown(results) + found[2], text, flags=re.S)
    Path(path).write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--stacks", default="1000")
    parser.add_argument("--seconds", default="10")
    parser.add_argument("--markdown")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("oracle", nargs="?", default=str(ROOT / "build/unwind/oracle"))
    args = parser.parse_args()
    args.oracle = os.path.abspath(args.oracle)
    Amount.share = 0.05
    count, failed, results = 0, 0, {}
    for name, make in PROGRAMS:
        if args.only not in name:
            continue
        for how, options in HOW.items():
            count += 1
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                os.chmod(folder, 0o777)
                try:
                    real = make(folder)
                except Skip as reason:
                    print(f"ok {count} - {name}, {how} # SKIP {reason}")
                    continue
                got, output = compare(args.oracle, ["-n", args.stacks, "-t", args.seconds, *options(real),
                                                    *(["-v"] if args.v else [])], real, folder)
            good = got is not None and got["stacks"] and not got["differs"] and not got["no_call"]
            failed += not good
            print(f"{'' if good else 'not '}ok {count} - {name}, {how}: no false frame")
            print(f"#   {json.dumps(got)}", flush=True)
            if args.v or got is None:
                print("".join(f"# {line}\n" for line in output.splitlines()))
            if got and got["stacks"]:
                results.setdefault(name, {})[how] = got
    print("".join(f"# {line}\n" for line in markdown(results).splitlines()), end="")
    if args.markdown:
        write_table(args.markdown, results)
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
