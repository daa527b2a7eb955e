#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Scores `faultscope triage` on a directory of crash logs with known answers. TAP on stdout.

usage: score.py [--corpus DIR] [--keep FILE]

DIR (default: FAULTSCOPE_CRASH_LOGS in the environment, else corpus/ beside this file) has the file
gold.jsonl and logs. gold.jsonl has a row for each log. The logs of corpus/ are from stock Debian
kernels in QEMU. Two drivers (labnic, labcore) fail there on request. So the right answer for a log
follows from the fault that was requested. A row of gold.jsonl in corpus/ has:

  file, crash                     the log, and whether it holds a crash
  kinds, semantics, functions     lists of right answers; one of them suffices
  module, culprit, address, access   the right answer

A missing field is not scored. Some logs with a crash are also read in every log format of
tests/e2e/containers.py. Another DIR may have its own score.py, which compares triage's JSON Lines
with its gold.jsonl and prints {source: {metric: [right answers, all answers]}} with --json.
BUILD in the environment names the build to test.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))

import containers  # noqa: E402

FAULTSCOPE = ROOT / os.environ.get("BUILD", "build") / "faultscope"
OWN = Path(__file__).resolve().parent / "corpus"
# {metric: required share of right answers} for another DIR. For corpus/, all answers must be right.
WANTED = {"detect": 0.995, "kind": 0.98, "sem": 0.92, "func1": 0.95, "mod1": 0.97, "culprit1": 0.95,
          "culprit3": 0.95, "addr": 0.99, "access": 0.98}
BUCKETS = 0.98
COMPILER_SUFFIX = re.compile(r"\.(?:isra|constprop|part|cold)(?:\.\d+)*")
IN_EACH_FORMAT = 6  # number of logs to test in each log format


def judge(path):
    ran = subprocess.run([FAULTSCOPE, "triage", "--json", path], capture_output=True, text=True,
                         check=False)
    if ran.returncode not in (0, 3, 7):
        sys.exit(f"{path}: status {ran.returncode}: {ran.stderr}")
    return json.loads(ran.stdout)


def judge_all(corpus, rows, to):
    said = {}
    for row in rows:
        line = judge(corpus / row["file"])
        assert line["crash"] == ("kind" in line)
        line["semantic"] = line.get("class")  # the name in other scorers
        line["file"] = row["file"]
        said[row["file"]] = line
        to.write(json.dumps(line) + "\n")
    to.flush()
    return said


def bucket_shares(rows, said):
    """Compares the bucket of the same log in several formats. Returns two numbers: how many logs
    have the most common bucket of their group, and how many logs there are. A group is one log in
    all formats."""
    families = collections.defaultdict(list)
    for row in rows:
        if row.get("base"):
            families[row["base"]].append(said[row["file"]].get("bucket"))
    same = sum(collections.Counter(buckets).most_common(1)[0][1] for buckets in families.values())
    return same, sum(map(len, families.values()))


def in_each_format(corpus, rows, place):
    """Writes some logs in every other log format below `place`, and yields a row for each written
    file."""
    for row in [row for row in rows if row["crash"]][::max(1, len(rows) // IN_EACH_FORMAT)]:
        text = (corpus / row["file"]).read_text()
        for name, convert in containers.ALL.items():
            made, path = convert(text), place / f"{row['file']}.{name}"
            path.write_bytes(made if isinstance(made, bytes) else made.encode())
            yield {**row, "file": str(path), "base": row["file"]}


def bare(function):
    return COMPILER_SUFFIX.sub("", function or "")


def number(address):
    return None if address is None else int(address, 16)


def answers(row, line):
    """Yields (metric, whether the answer is right) for one log."""
    if not row["crash"]:
        yield "fp", line["crash"]
        return
    culprits = [line.get("culprit"), *(one["module"] for one in line.get("suspects", []))]
    yield "detect", line["crash"]
    yield "kind", line.get("kind") in row["kinds"]
    if "semantics" in row:
        yield "sem", line.get("class") in row["semantics"]
    if "functions" in row:
        yield "func1", bare(line.get("function")) in row["functions"]
    if "module" in row:
        yield "mod1", line.get("module") == row["module"]
    if "culprit" in row:
        yield "culprit1", culprits[0] == row["culprit"]
        yield "culprit3", row["culprit"] in culprits[:4]
    if "address" in row:
        yield "addr", number(line.get("address")) == number(row["address"])
    if "access" in row:
        yield "access", line.get("access") == row["access"]


def own_score(rows, said):
    """Returns {metric: [number of right answers, number of all answers]}."""
    score = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        for metric, right in answers(row, said[row["file"]]):
            score[metric][0] += bool(right)
            score[metric][1] += 1
            if bool(right) == (metric == "fp"):
                print(f"# {row['file']}: {metric} is wrong: {said[row['file']].get('kind')}")
    return score


def others_score(corpus, out):
    ran = subprocess.run([sys.executable, corpus / "score.py", out, "--json"],
                         capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["ALL"]


class Tap:
    def __init__(self):
        self.done = self.failed = 0

    def say(self, good, name):
        self.done += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.done} - {name}")


def tell(score, same, of, wanted, buckets):
    tap = Tap()
    for metric, least in wanted.items():
        right, all_of = score[metric]
        tap.say(right >= least * all_of > 0, f"{metric} {right} of {all_of} ("
                f"{100 * right / max(1, all_of):.1f} %, at least {100 * least:g} %)")
    right, all_of = score["fp"]
    tap.say(right == 0, f"false alarms {right} of {all_of}")
    tap.say(same >= buckets * of, f"one bucket over all containers {same} of {of}")
    print(f"1..{tap.done}")
    return tap.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default=os.environ.get("FAULTSCOPE_CRASH_LOGS"))
    parser.add_argument("--keep", metavar="FILE", help="keep the JSON Lines of `triage` in FILE")
    options = parser.parse_args()
    corpus = Path(options.corpus) if options.corpus else OWN
    if not (corpus / "gold.jsonl").exists():
        sys.exit(f"{corpus}: no gold.jsonl")
    rows = [json.loads(line) for line in (corpus / "gold.jsonl").read_text().splitlines()]
    scored_by_us = not (corpus / "score.py").exists()
    with tempfile.TemporaryDirectory() as place:
        if scored_by_us:
            rows += in_each_format(corpus, rows, Path(place))
        out = Path(options.keep) if options.keep else Path(place) / "said.jsonl"
        with open(out, "w") as to:
            said = judge_all(corpus, rows, to)
        score = own_score(rows, said) if scored_by_us else others_score(corpus, out)
    if corpus == OWN:
        return tell(score, *bucket_shares(rows, said), dict.fromkeys(WANTED, 1), 1)
    return tell(score, *bucket_shares(rows, said), WANTED, BUCKETS)


if __name__ == "__main__":
    sys.exit(main())
