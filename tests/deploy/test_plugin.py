# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the plugin of kubectl with a real kubectl and a part of the API (fake_api.py). In place of
`kubectl exec` and `kubectl debug`, the real faultscope runs on this machine."""
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from deployed import DEPLOY, PATIENCE, borrowed, call
from fake_api import pod, serving
from harness import FAULTSCOPE, ROOT

PLUGIN = DEPLOY / "kubernetes/kubectl-faultscope"
ID, OTHER = "containerd://" + "0123456789abcdef" * 4, "containerd://" + "fedcba9876543210" * 4
AGENT = {"app.kubernetes.io/name": "faultscope"}

PODS = [
    pod("web-0", "shop", "node-1", [("app", ID, True)]),
    pod("web-1", "shop", "node-2", [("app", ID, True), ("proxy", OTHER, True)]),
    pod("old", "shop", "node-1", [("app", ID, False)]),
    pod("new", "shop", None, phase="Pending"),
    pod("far", "shop", "node-3", [("app", ID, True)]),
    pod("web-0", "other", "node-2", [("app", OTHER, True)]),
    pod("faultscope-a", "faultscope", "node-1", labels=AGENT),
    pod("faultscope-old", "faultscope", "node-2", labels=AGENT, phase="Failed"),
    pod("faultscope-b", "faultscope", "node-2", labels=AGENT),
    pod("unrelated", "faultscope", "node-3"),
    pod("faultscope-c", "watch", "node-3", labels=AGENT),
]

# Prints the arguments of exec and debug; all other commands run the real kubectl.
STUB = """#!/bin/sh
for word; do
    case $word in
    exec | debug) printf '%s\\n' "$@"; exit 0 ;;
    get) exec "$REAL" "$@" ;;
    esac
done
"""


@contextmanager
def cluster(pods=None):
    """Yields a function that runs the plugin."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        stub = place / "kubectl-stub"
        stub.write_text(STUB, encoding="utf-8")
        stub.chmod(0o755)
        with serving(pods or PODS, place) as config:
            env = {**os.environ, "KUBECONFIG": str(config), "KUBECTL": str(stub),
                   "REAL": str(borrowed("kubectl")), "HOME": name}

            def run(*words, **extra):
                return subprocess.run([PLUGIN, *words], capture_output=True, text=True,
                                      env={**env, **extra}, stdin=subprocess.DEVNULL,
                                      timeout=PATIENCE, check=False)
            yield run


def execed(agent, *words, own="faultscope"):
    return ["exec", "-n", own, agent, "-c", "faultscope", "--", "/faultscope", *words]


def test_plugin_runs_faultscope_on_the_node_of_the_pod(check):
    with cluster() as run:
        for words, wanted in (
                (("diagnose", "web-0"), execed("faultscope-a", "diagnose", "--container", ID)),
                (("diagnose", "pod/web-0", "--", "-d", "10"),
                 execed("faultscope-a", "diagnose", "--container", ID, "-d", "10")),
                (("diagnose", "web-1", "-c", "proxy"),
                 execed("faultscope-b", "diagnose", "--container", OTHER)),
                (("diagnose", "web-0", "-n", "other"),
                 execed("faultscope-b", "diagnose", "--container", OTHER)),
                (("host", "web-1"), execed("faultscope-b", "host")),
                (("host", "--node", "node-2"), execed("faultscope-b", "host")),
                (("oom", "old", "--", "--list"), execed("faultscope-a", "oom", "--list")),
                (("snapshot", "web-0", "--", "slow since", "14:02"),
                 execed("faultscope-a", "snapshot", "slow since", "14:02")),
                (("host", "far", "--faultscope=watch"), execed("faultscope-c", "host", own="watch")),
                (("host", "web-0", "--context", "other"),
                 ["--context", "other", *execed("faultscope-a", "host")]),
                (("diagnose", "far", "--debug", "r.example/f:1"),
                 ["debug", "node/node-3", "--image", "r.example/f:1", "--profile", "sysadmin",
                  "--quiet", "--stdin", "--attach", "--", "/faultscope", "diagnose", "--container",
                  ID])):
            ran = run(*words)
            check.equal(words, (ran.returncode, ran.stderr), (0, ""))
            check.equal(words, ran.stdout.splitlines(), wanted)


def test_plugin_says_what_is_wrong_and_what_to_do(check):
    with cluster() as run:
        for words, status, parts in (
                (("diagnose", "nosuch"), 1, ('pods "nosuch" not found',)),
                (("diagnose", "web-1"), 1, ("several containers: app proxy", "-c proxy")),
                (("diagnose", "web-1", "-c", "db"), 1,
                 ("no running container db", "running: app proxy")),
                (("diagnose", "old"), 1, ("no running container", "kubectl faultscope oom old")),
                (("diagnose", "new"), 1, ("not on a node yet",)),
                (("host", "far"), 1, ("no faultscope runs on the node node-3", "--debug IMAGE")),
                (("oom", "far", "--debug", "i"), 2, ("--debug does not help",)),
                (("diagnose",), 2, ("name a pod",)),
                (("diagnose", "--node", "node-1"), 2, ("not a node",)),
                (("host", "web-0", "--node", "node-1"), 2, ("not both",)),
                (("diagnose", "a", "b"), 2, ("one pod at a time",)),
                (("dance", "web-0"), 2, ("unknown command: dance",)),
                (("host", "--wrong"), 2, ("unknown option: --wrong", "--help")),
                (("host", "-n"), 2, ("-n needs a value",)),
                ((), 2, ("usage: kubectl faultscope",))):
            ran = run(*words)
            check.equal(words, (ran.returncode, ran.stdout), (status, ""))
            for part in parts:
                check.that(part in ran.stderr, f"{words}: {part!r} is not in {ran.stderr!r}")
        ran = run("host", "web-0", KUBECTL="/nonexistent/kubectl")
        check.equal("no kubectl", (ran.returncode, ran.stderr),
                    (1, "kubectl-faultscope: /nonexistent/kubectl is not installed\n"))
        ran = run("--help")
        check.equal("help", (ran.returncode, ran.stderr), (0, ""))


def test_plugin_is_found_by_kubectl(check):
    env = {**os.environ, "PATH": f"{PLUGIN.parent}:{os.environ['PATH']}"}
    ran = call(borrowed("kubectl"), "faultscope", "--help", env=env)
    check.equal("status", (ran.returncode, ran.stderr), (0, ""))
    check.that(ran.stdout.startswith("usage: kubectl faultscope"), ran.stdout)


def test_faultscope_knows_the_words_of_the_plugin(check):
    """Options that the plugin passes to faultscope exist."""
    for words in (("diagnose", "--container", ID), ("oom", "--list"), ("host",), ("snapshot",)):
        said = call(FAULTSCOPE, *words, "--help").stderr
        check.that("unknown" not in said and "unrecognized" not in said, f"{words}: {said}")
    check.that("--container" in call(FAULTSCOPE, "diagnose", "--help").stdout, "--container")
    check.that(ROOT.exists() and os.access(PLUGIN, os.X_OK), "the plugin is not executable")
