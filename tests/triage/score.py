#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Scores `faultscope triage` on a directory of crash logs with known answers. TAP on stdout.

usage: score.py [--corpus DIR] [--keep FILE]

DIR, or FAULTSCOPE_CRASH_LOGS in the environment, holds gold.jsonl (a row a log: file, crash, kind,
functions_ok, culprit_module, ...), the logs that it names, and score.py, which compares a file of
our JSON Lines with it and prints {source: {metric: [right, of]}} with --json. Where there is no
such directory, the test is skipped. BUILD in the environment names the build to test.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTSCOPE = ROOT / os.environ.get("BUILD", "build") / "faultscope"
# Metric → at least this share; of false alarms, at most.
WANTED = {"detect": 0.995, "kind": 0.98, "sem": 0.92, "func1": 0.95, "mod1": 0.97, "culprit1": 0.95,
          "culprit3": 0.95, "addr": 0.99, "access": 0.98}
BUCKETS = 0.98


def judge(path):
    ran = subprocess.run([FAULTSCOPE, "triage", "--json", path], capture_output=True, text=True,
                         check=False)
    if ran.returncode not in (0, 3):
        sys.exit(f"{path}: status {ran.returncode}: {ran.stderr}")
    return json.loads(ran.stdout)


def judge_all(corpus, rows, to):
    said = {}
    for row in rows:
        line = judge(corpus / row["file"])
        assert line["crash"] == ("kind" in line)
        line["file"] = row["file"]
        said[row["file"]] = line
        to.write(json.dumps(line) + "\n")
    to.flush()
    return said


def bucket_shares(rows, said):
    """Of logs that are one log in other containers: how many share its bucket."""
    families = collections.defaultdict(list)
    for row in rows:
        if row.get("base"):
            families[row["base"]].append(said[row["file"]].get("bucket"))
    same = sum(collections.Counter(buckets).most_common(1)[0][1] for buckets in families.values())
    return same, sum(map(len, families.values()))


class Tap:
    def __init__(self):
        self.done = self.failed = 0

    def say(self, good, name):
        self.done += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.done} - {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=os.environ.get("FAULTSCOPE_CRASH_LOGS"))
    parser.add_argument("--keep", metavar="FILE", help="leave our JSON Lines there")
    options = parser.parse_args()
    corpus = Path(options.corpus) if options.corpus else None
    if not corpus or not (corpus / "gold.jsonl").exists():
        print("1..0 # SKIP no crash logs: give --corpus DIR or FAULTSCOPE_CRASH_LOGS")
        return 0
    rows = [json.loads(line) for line in (corpus / "gold.jsonl").read_text().splitlines()]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as out:
        said = judge_all(corpus, rows, out)
        if options.keep:
            Path(options.keep).write_text(Path(out.name).read_text())
        ran = subprocess.run([sys.executable, corpus / "score.py", out.name, "--json"],
                             capture_output=True, text=True, check=True)
    score = json.loads(ran.stdout)["ALL"]
    tap = Tap()
    for metric, least in WANTED.items():
        right, of = score[metric]
        tap.say(right >= least * of, f"{metric} {right} of {of} ({100 * right / of:.1f} %, "
                                     f"at least {100 * least:g} %)")
    right, of = score["fp"]
    tap.say(right == 0, f"false alarms {right} of {of}")
    same, of = bucket_shares(rows, said)
    tap.say(same >= BUCKETS * of, f"one bucket over all containers {same} of {of}")
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
