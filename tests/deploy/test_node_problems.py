# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the plugin of node-problem-detector: its configuration, and the command that it names."""
import json
import os
import re
import subprocess

from deployed import DEPLOY, PATIENCE, call
from harness import FAULTSCOPE, MOST_TRIES, Skip, workload_path

PLUGIN = DEPLOY / "node-problem-detector"
CHECK = PLUGIN / "faultscope-node-check"


def seconds(text):
    return int(re.fullmatch(r"(\d+)s", text)[1])


def run(*words, **env):
    return call(CHECK, *words, env={**os.environ, "FAULTSCOPE": str(FAULTSCOPE), **env})


def run_without_loss(*words):
    """Runs the check again if it does not know, because the kernel skipped events of a busy
    machine."""
    for _ in range(MOST_TRIES):
        ran = run(*words)
        if ran.returncode != 2 or "incomplete: lost" not in ran.stdout:
            break
    return ran


def test_node_problem_detector_configuration(check):
    """Keys and values are those of pkg/custompluginmonitor/types of node-problem-detector: a
    permanent rule belongs to a condition, and a rule must end before the next one starts."""
    config = json.loads((PLUGIN / "faultscope.json").read_text(encoding="utf-8"))
    check.equal("plugin", config["plugin"], "custom")
    check.that(config["pluginConfig"].keys() <= {
        "invoke_interval", "timeout", "max_output_length", "concurrency",
        "enable_message_change_based_condition_update", "skip_initial_status"},
        str(config["pluginConfig"]))
    conditions = {one["type"]: one for one in config["conditions"]}
    for rule in config["rules"]:
        check.equal("type", rule["type"], "permanent")
        check.that(rule["condition"] in conditions, str(rule))
        check.that(seconds(rule["timeout"]) <= seconds(config["pluginConfig"]["timeout"])
                   < seconds(config["pluginConfig"]["invoke_interval"]), str(rule))
        check.equal("program", rule["path"].rsplit("/", 1)[1], CHECK.name)
    check.that(run_without_loss("fds.peak>9999999").stdout.strip() in
               {one["message"] for one in conditions.values()}, "message of a healthy node")


def test_node_check_finds_a_process_at_its_limit(check):
    if os.geteuid():
        raise Skip("needs root")
    ran = run_without_loss("fds.peak>9999999")
    check.equal(f"no process: {ran.stdout}", (ran.returncode, ran.stderr), (0, ""))
    with subprocess.Popen([workload_path("fdleak"), "990", "--nofile", "1000", "--hold"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as leak:
        try:
            leak.stdout.readline()
            ran = run_without_loss()
            check.equal(f"one process: {ran.stdout}", (ran.returncode, ran.stderr), (1, ""))
            # Another process of this machine may be nearer to its limit.
            check.that(re.search(r"\bfds\.peak>95% .* of [\d,]+ in \S+\[\d+\];", ran.stdout) and
                       re.search(r";findings\.critical>0 [1-9]\d*\n", ran.stdout), ran.stdout)
        finally:
            leak.kill()
            leak.wait(PATIENCE)


def test_node_check_says_that_it_does_not_know(check):
    for words, env, said in ((("nonsense>1",), {}, "nonsense"),
                             ((), {"FAULTSCOPE": "/nonexistent/faultscope"}, "not found")):
        ran = run(*words, **env)
        check.equal("status", (ran.returncode, ran.stdout.count("\n")), (2, 1))
        check.that(said in ran.stdout, ran.stdout)
