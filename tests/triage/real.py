#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Scores `faultscope triage` on real crash reports that were labelled by hand. TAP on stdout.

usage: real.py [--part open|held] [--labels FILE] [--keep FILE]
       real.py --self-test

The reports are kernel logs from mailing lists. Their texts belong to other people, so this
repository has only the labels, in real_labels.jsonl. FAULTSCOPE_REAL_LOGS in the environment names
the directory with the texts. Without it, the test is skipped.

The reports are some of 463, chosen by hashes of their names: three of each mailing list, at least
half of each architecture except x86, and then others. Each report was read as a whole, with the
subject of its mail, before `triage` read it. A row of real_labels.jsonl has:

  file        the first ten digits of the SHA-1 of the text; the text is in the file NAME.log
  part        held: these reports serve only to measure. Nobody may look at them, or at their
              verdicts, to improve `triage`. open: the others
  mechanisms  right values of `mechanism`, the most exact one first
  access, addresses, functions, culprits
              right values of `access`, `address`, `function` and `culprit`; null: there is none, or
              the log does not decide it. The culprit is the module that its maintainer must look
              at first. vmlinux is code that is built into the kernel
  decides     whether the log decides the culprit
  why         reason for the culprit

A verdict is right if its mechanism is right and, where the log decides the culprit, the culprit
too. The calibration table shows, for each value of `confidence`, how many verdicts are right. BUILD
in the environment names the build to test.
"""
import argparse
import collections
import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from score import ROOT, Tap, bare, judge, number  # noqa: E402

LABELS = Path(__file__).resolve().parent / "real_labels.jsonl"
PLACE = "FAULTSCOPE_REAL_LOGS"
# {metric: required share of right answers}; "high" counts the verdicts with high confidence
WANTED = {"crash found": 1, "mechanism": 0.93, "access": 0.98, "address": 0.97, "function": 0.92,
          "culprit": 0.95, "high": 0.97}
# greatest allowed share of reports in which a module is named, although built-in code is at fault
ACCUSED = 1 / 28
CONFIDENCES = ("high", "medium", "low")
CORE = "vmlinux"


def named(name):
    """Returns the beginning of the SHA-1 of a file, which is the name of a text."""
    return hashlib.sha1(name.read_bytes()).hexdigest()[:10]


def answers(label, verdict):
    """Yields (metric, whether the answer is right) for each field that the label has."""
    yield "crash found", verdict["crash"]
    yield "mechanism", verdict.get("mechanism") in label["mechanisms"]
    if label["access"]:
        yield "access", verdict.get("access") == label["access"]
    if label["addresses"]:
        yield "address", number(verdict.get("address")) in map(number, label["addresses"])
    if label["functions"]:
        yield "function", bare(verdict.get("function")) in label["functions"]
    if label["decides"]:
        yield "culprit", verdict.get("culprit") in label["culprits"]


def accused(label, verdict):
    """Returns whether the verdict names a module, although code that is built in is at fault."""
    return verdict.get("culprit") not in (None, *label["culprits"])


class Score:
    def __init__(self):
        # {metric: [number of right answers, number of all answers]}
        self.of = collections.defaultdict(lambda: [0, 0])
        # the same for each value of `confidence`, with one more metric: "verdict"
        self.said = {name: collections.defaultdict(lambda: [0, 0]) for name in CONFIDENCES}
        self.wrong = []  # (file, metrics that are wrong, mechanism and culprit of the verdict)
        self.undecided = collections.Counter()  # confidence where the log decides no culprit

    def take(self, label, verdict):
        right = dict(answers(label, verdict))
        for metric, good in right.items():
            self._count(self.of[metric], good)
        if label["decides"] and CORE in label["culprits"]:
            self._count(self.of["accused"], accused(label, verdict))
        if not label["decides"] and verdict.get("culprit"):
            self.undecided[verdict.get("confidence")] += 1
        if verdict["crash"]:
            right["verdict"] = right["mechanism"] and right.get("culprit", True)
            for metric in ("verdict", "mechanism", "culprit"):
                if metric in right:
                    self._count(self.said[verdict["confidence"]][metric], right[metric])
        bad = [metric for metric, good in right.items() if not good and metric != "verdict"]
        if bad:
            self.wrong.append((label["file"], bad, verdict.get("mechanism"),
                               verdict.get("culprit")))
        self.of["high"] = self.said["high"]["verdict"]

    @staticmethod
    def _count(pair, good):
        pair[0] += bool(good)
        pair[1] += 1


def share(pair):
    right, of = pair
    return f"{right} of {of} ({100 * right / of:.1f} %)" if of else "none"


def tell(score, names_files):
    """Prints the score. Names the files with a wrong answer only if `names_files`, because nobody
    may look at the held part. Returns whether a share is too low."""
    tap = Tap()
    for metric, least in WANTED.items():
        right, of = score.of[metric]
        tap.say(right >= least * of > 0,
                f"{metric}: right {share((right, of))}, at least {100 * least:g} %")
    wrong, of = score.of["accused"]
    tap.say(wrong <= ACCUSED * of,
            f"a module is named, although built-in code is at fault: {share((wrong, of))}")
    columns = ("verdict", "mechanism", "culprit")
    print(f"# {'confidence':12}" + "".join(f"{column + ' right':>22}" for column in columns))
    for name, row in score.said.items():
        print(f"# {name:12}" + "".join(f"{share(row[column]):>22}" for column in columns))
    told = ", ".join(f"{name} {score.undecided[name]}" for name in CONFIDENCES)
    print(f"# a culprit is named, although the log decides none, with confidence {told}")
    for file, bad, mechanism, culprit in score.wrong if names_files else ():
        print(f"# {file}: {', '.join(bad)} wrong: {mechanism}, {culprit}")
    print(f"1..{tap.done}")
    return tap.failed > 0


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    return 0


def read_labels(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def measure(labels, place, part, keep):
    """Judges the texts of one part. Skips if there are none; stops if a text is not the one that
    was labelled."""
    labels = [label for label in labels if label["part"] == part]
    if not labels:
        return skip(f"no label is of part {part}")
    texts = {label["file"]: place / f"{label['file']}.log" for label in labels}
    missing = [name for name, path in texts.items() if not path.exists()]
    if len(missing) == len(labels):
        return skip(f"{place} has no text of part {part}")
    for name, path in texts.items():
        if name in missing:
            print(f"# {path} is missing")
        elif named(path) != name:
            sys.exit(f"{path}: this is not the text that was labelled")
    score = Score()
    for label in labels:
        if label["file"] not in missing:
            verdict = judge(texts[label["file"]])
            keep.write(json.dumps({**verdict, "file": label["file"]}) + "\n")
            score.take(label, verdict)
    return tell(score, part == "open")


# Invented labels and verdicts for the self-test

LABEL = {"file": "a", "part": "open", "mechanisms": ["near_null", "null_deref"], "access": "read",
         "addresses": ["0xdead", "0x1008"], "functions": ["spin", "spin_fast"],
         "culprits": ["gadget"], "decides": True, "why": ""}
RIGHT = {"crash": True, "mechanism": "null_deref", "access": "read",
         "address": "0x0000000000001008", "function": "spin.isra.0", "culprit": "gadget",
         "confidence": "high"}
BUILT_IN = {**LABEL, "file": "b", "culprits": [CORE]}
UNDECIDED = {"file": "c", "part": "held", "mechanisms": ["lockdep"], "access": None,
             "addresses": None, "functions": None, "culprits": None, "decides": False, "why": ""}


def score_of(*pairs):
    score = Score()
    for label, verdict in pairs:
        score.take(label, verdict)
    return score


def told(*pairs, names_files=True):
    """Returns the printed lines and the result of tell()."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        failed = tell(score_of(*pairs), names_files)
    return out.getvalue(), failed


def run(*words, **environment):
    """Runs this script. Returns its exit status and its output."""
    ran = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True,
                         check=False, env={**os.environ, PLACE: "", **environment})
    return ran.returncode, ran.stdout + ran.stderr


def cases_of_answers():
    """Yields (description, whether it is so)."""
    yield "all fields right", all(good for _, good in answers(LABEL, RIGHT))
    yield "all fields scored", len(dict(answers(LABEL, RIGHT))) == 6
    for key, value in (("mechanism", "wild_ptr"), ("access", "write"), ("address", "0x8"),
                       ("function", "spin_slow"), ("culprit", None)):
        got = dict(answers(LABEL, {**RIGHT, key: value}))
        yield f"only {key} wrong", [metric for metric in got if not got[metric]] == [key]
    yield "no crash found: all fields wrong", not any(
        good for _, good in answers(LABEL, {"crash": False}))
    yield "fields that are null are not scored", set(dict(answers(UNDECIDED, RIGHT))) == {
        "crash found", "mechanism"}


def cases_of_scores():
    low = {**RIGHT, "confidence": "low"}
    mixed = score_of((LABEL, RIGHT), (LABEL, {**RIGHT, "mechanism": "bug"}),
                     (LABEL, {**low, "culprit": "widget"}), (LABEL, {"crash": False}))
    yield "shares", (mixed.of["mechanism"], mixed.of["culprit"]) == ([2, 4], [2, 4])
    yield "high", mixed.of["high"] == [1, 2]
    yield "low", dict(mixed.said["low"]) == {"verdict": [0, 1], "mechanism": [1, 1],
                                             "culprit": [0, 1]}
    yield "medium", not mixed.said["medium"]
    core = score_of((BUILT_IN, RIGHT), (BUILT_IN, {**RIGHT, "culprit": CORE}),
                    (BUILT_IN, {**RIGHT, "culprit": None}), (LABEL, {**RIGHT, "culprit": "widget"}))
    yield "accused", core.of["accused"] == [1, 3]
    open_question = score_of((UNDECIDED, {**RIGHT, "mechanism": "lockdep"}),
                             (UNDECIDED, {**low, "culprit": None}))
    yield "no culprit is decided", (open_question.of["culprit"] == [0, 0]
                                    and open_question.undecided == {"high": 1}
                                    and open_question.of["high"] == [1, 1])
    good, failed = told((LABEL, RIGHT), (BUILT_IN, {**RIGHT, "culprit": CORE}))
    yield "right answers pass", not failed and "not ok" not in good and "1..8\n" in good
    bad, failed = told((LABEL, RIGHT), (BUILT_IN, RIGHT))
    yield "a wrong culprit fails", failed and all(
        f"not ok {n} - {words}" in bad for n, words in (
            (6, "culprit: right 1 of 2 (50.0 %), at least 95 %"),
            (7, "high: right 1 of 2 (50.0 %), at least 97 %"),
            (8, "a module is named, although built-in code is at fault: 1 of 1 (100.0 %)")))
    yield "a wrong answer names its file", "# b: culprit wrong: null_deref, gadget\n" in bad
    hidden, _ = told((LABEL, RIGHT), (BUILT_IN, RIGHT), names_files=False)
    yield "the held part names no file", "# b:" not in hidden
    yield "the calibration table has each confidence", all(
        re.search(rf"^# {name} ", bad, re.M) for name in CONFIDENCES)


def cases_of_labels():
    """Checks real_labels.jsonl itself."""
    labels = read_labels(LABELS)
    rows = "".join((ROOT / "src/triage" / name).read_text()
                   for name in ("mechanisms.def", "kinds.def"))
    names = set(re.findall(r'^(?:MECHANISM|KIND)\(\w+, "(\w+)"', rows, re.M))
    yield "many labels", len({label["file"] for label in labels}) == len(labels) >= 150
    yield "the same keys", all(set(label) == set(LABEL) for label in labels)
    yield "each mechanism exists", all(set(label["mechanisms"]) <= names for label in labels)
    yield "parts", {label["part"] for label in labels} <= {"open", "held"}
    yield "culprits", all(label["decides"] == bool(label["culprits"]) for label in labels)
    yield "accesses", {label["access"] for label in labels} <= {None, "read", "write", "exec"}


def cases_of_runs():
    log = ROOT / "tests/triage/logs/6.1_err_ptr.log"
    truth = json.loads((ROOT / "tests/triage/truth.json").read_text())[log.name]
    status, out = run()
    yield "no directory: skipped", status == 0 and out.startswith("1..0 # SKIP ") and PLACE in out
    with tempfile.TemporaryDirectory() as place:
        status, out = run(**{PLACE: place})
        yield "no texts: skipped", status == 0 and out.startswith("1..0 # SKIP ")
        text, labels = Path(place) / f"{named(log)}.log", Path(place) / "labels"
        text.write_bytes(log.read_bytes())
        label = {"file": named(log), "part": "open", "mechanisms": [truth["mechanism"]],
                 "access": truth["access"], "addresses": [truth["address"]],
                 "functions": [truth["function"]], "culprits": [truth["culprit"]],
                 "decides": True, "why": ""}
        labels.write_text(f"{json.dumps({**label, 'file': '0000000000'})}\n{json.dumps(label)}\n")
        status, out = run("--labels", str(labels), **{PLACE: place})
        yield "a missing text", "0000000000.log is missing\n" in out
        yield "a log of this repository with its right label", len(
            re.findall(r"^ok [1-6] - .*: right 1 of 1 ", out, re.M)) == 6
        status, out = run("--labels", str(labels), "--part", "held", **{PLACE: place})
        yield "the other part is not read", status == 0 and out.startswith("1..0 # SKIP ")
        for part in ("open", "held"):
            labels.write_text(json.dumps({**label, "part": part, "culprits": ["widget"]}) + "\n")
            status, out = run("--labels", str(labels), "--part", part, **{PLACE: place})
            yield f"a log of this repository with a wrong label, part {part}", (
                status == 1 and "\nnot ok 6 - culprit: right 0 of 1 " in out
                and (f"# {named(log)}: culprit wrong" in out) == (part == "open"))
        labels.write_text(json.dumps(label) + "\n")
        text.write_bytes(b"another text\n")
        status, out = run("--labels", str(labels), **{PLACE: place})
        yield "another text is refused", status == 1 and "not the text that was labelled" in out
    status, out = run("--part", "held", "--keep", "verdicts")
    yield "verdicts on the held part are not kept", status == 2 and "--keep" in out


def self_test():
    tap = Tap()
    for cases in (cases_of_answers, cases_of_scores, cases_of_labels, cases_of_runs):
        for description, good in cases():
            tap.say(good, description)
    print(f"1..{tap.done}")
    return tap.failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("open", "held"), default="open",
                        help="held: measure with the reports that nobody may look at")
    parser.add_argument("--labels", metavar="FILE", type=Path, default=LABELS)
    parser.add_argument("--keep", metavar="FILE", default=os.devnull,
                        help="keep the JSON Lines of `triage` in FILE")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.part == "held" and options.keep != os.devnull:
        parser.error("--keep: nobody may look at the verdicts on the held part")
    if not os.environ.get(PLACE):
        return skip(f"{PLACE} names no directory with the texts of the labelled reports")
    with open(options.keep, "w") as keep:
        return measure(read_labels(options.labels), Path(os.environ[PLACE]), options.part, keep)


if __name__ == "__main__":
    sys.exit(main())
