# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shared code of the checks of deploy/. It reads the files of deploy/, runs the programs that use
these files, and lists the exporter's metrics."""
import functools
import re
import subprocess

import borrow
import yaml
from aptroot import Missing
from harness import FAULTSCOPE, ROOT, Skip

DEPLOY = ROOT / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
RUNBOOKS = ROOT / "docs/runbooks"
TABLES = ROOT / "build/tables"
PATIENCE = 300  # timeout of one call in seconds

METRIC = re.compile(r"\b(?:faultscope|process)_[a-z_]+|\b[a-z_]+:[a-z_]+:[a-z0-9_]+|\bup\b")
HISTOGRAM = ("_bucket", "_sum", "_count")


def call(*argv, where=None, **how):
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, cwd=where,
                          stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False, **how)


def borrowed(name):
    try:
        return borrow.program(name)
    except Missing as reason:
        raise Skip(str(reason)) from None


def accepts(check, what, *argv, where=None):
    """Checks that a program which reads a file exits with 0. If it exits with another status, the
    message of the failed check is the output of the program."""
    ran = call(*argv, where=where)
    check.that(ran.returncode == 0, f"{what}: {(ran.stdout + ran.stderr).strip()}")
    return ran


def read_yaml(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@functools.cache
def rules():
    """Returns all rules of rules.yml."""
    return [rule for group in read_yaml(PROMETHEUS / "rules.yml")["groups"]
            for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


@functools.cache
def families():
    """Returns {name: (type, labels)} of each metric in the exporter's table of metrics."""
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| ", call(TABLES, "metrics").stdout, re.M)
    return {name: (kind, re.findall(r"`(\w+)`", labels)) for name, kind, labels in rows}


@functools.cache
def metrics():
    """Returns all metric names that a query may use: metrics of the exporter, metrics of recording
    rules, and `up`."""
    names = {"up"} | {rule["record"] for rule in rules() if "record" in rule}
    for name, (kind, _) in families().items():
        # a native histogram has no suffix
        names |= {name} | ({name + end for end in HISTOGRAM} if kind == "histogram" else set())
    return names


def unknown_metrics(query):
    """Returns the metric names in a query that do not exist. Text in braces is skipped, because it
    consists of labels and values."""
    return set(METRIC.findall(re.sub(r"\{[^}]*\}", "", query))) - metrics()


def packages(where):
    """Returns {name: path} of the packages in a directory, without -dbgsym packages."""
    return {path.name.split("_")[0]: path for path in where.glob("*.deb")
            if "-dbgsym_" not in path.name}
