#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests `faultscope mcp` with the official client and the official inspector of the Model Context
Protocol. Prints TAP. Skips without the packages of tools/report_tools.sh.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "tests/e2e"))

from harness import FAULTSCOPE, RECORDINGS  # noqa: E402
from test_mcp import TOOLS  # noqa: E402

MODULES = ROOT / "build/report-tools/node_modules"
LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
INVALID = -32602
DONE, FAILED, FOUND, INCOMPLETE = 0, 1, 3, 7


def node(*words):
    return subprocess.run(["node", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=90, check=False)


def client():
    """The official client understands all answers, and each tool has the status of its command."""
    ran = node(ROOT / "tests/mcp/client.mjs", MODULES, FAULTSCOPE, LEAK)
    if ran.returncode:
        return [ran.stderr]
    said = json.loads(ran.stdout)
    status = {name: one["status"] for name, one in said["tools"].items()}
    live = (DONE, FOUND, INCOMPLETE) if not os.geteuid() else range(8)
    wanted = {"explain": (DONE,), "doctor": live, "host": live, "diagnose": live,
              "oom": (DONE, FOUND, INCOMPLETE), "incidents": (INCOMPLETE,),
              "incident": (FAILED, INCOMPLETE), "report": (DONE,), "triage": (DONE, FAILED, INCOMPLETE)}
    wrong = [f"{name}: status {status[name]}" for name in wanted
             if status[name] not in wanted[name]]
    if set(said["names"]) != TOOLS:
        wrong.append(f"tools: {said['names']}")
    if "F01" not in said["tools"]["report"]["findings"]:
        wrong.append(f"findings of a report: {said['tools']['report']}")
    if said["refused"] != [INVALID] * 4:
        wrong.append(f"bad arguments: {said['refused']}")
    if not said.get("cancelled") or said["after"]:
        wrong.append(f"cancelled: {said}")
    return wrong


def inspector():
    """The inspector lists the tools, and calls one."""
    program = MODULES / ".bin/mcp-inspector"
    ran = node(program, "--cli", FAULTSCOPE, "mcp", "--method", "tools/list")
    wrong = []
    if ran.returncode or {tool["name"] for tool in json.loads(ran.stdout)["tools"]} != TOOLS:
        wrong.append(f"tools/list: {ran.stdout[:300]} {ran.stderr}")
    ran = node(program, "--cli", FAULTSCOPE, "mcp", "--method", "tools/call", "--tool-name", "explain",
               "--tool-arg", "what=EMFILE")
    if ran.returncode or json.loads(ran.stdout)["structuredContent"]["exit_status"] != DONE:
        wrong.append(f"tools/call: {ran.stdout[:300]} {ran.stderr}")
    return wrong


def main():
    failed = 0
    if not (MODULES / "@modelcontextprotocol/sdk").exists():
        print("1..0 # SKIP no packages: tools/report_tools.sh installs them")
        return 0
    for number, test in enumerate((client, inspector), 1):
        wrong = test()
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - mcp: {test.__name__}")
        for line in wrong:
            print(f"# {line}")
    print("1..2")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
