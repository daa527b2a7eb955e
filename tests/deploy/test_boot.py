# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the units under a booted systemd, in namespaces over this machine's root."""
import os
import re
import subprocess
from pathlib import Path

from booted import Machine
from deployed import DEPLOY, borrowed
from harness import FAULTSCOPE

EXPORTER = "faultscope-exporter.service"
TEXTFILE = "faultscope-textfile.service"
OURS = FAULTSCOPE, DEPLOY / "systemd"
DYNAMIC_UIDS = range(61184, 65520)  # uids that systemd assigns with DynamicUser=


def status_of(pid):
    return dict(re.findall(r"^(\w+):\s+(.*)$", Path(f"/proc/{pid}/status").read_text(), re.M))


def judge_rights(check, machine):
    pid = machine.main_pid(EXPORTER)
    status = status_of(pid)
    check.that(int(status["Uid"].split()[0]) in DYNAMIC_UIDS, f"Uid {status['Uid']}")
    for name in ("CapPrm", "CapEff", "CapAmb"):
        check.equal(name, int(status[name], 16), 0)
    check.equal("NoNewPrivs, Seccomp", (status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
    networks = [os.readlink(f"/proc/{one}/ns/net") for one in (pid, machine.first)]
    check.that(networks[0] != networks[1], "it has the network of the machine")


def judge_page(check, page):
    told = dict(re.findall(r"^(faultscope_\S+) (\S+)$", page, re.M))
    check.equal("faultscope_up", told.get("faultscope_up"), "1")
    for name in ("processes", "faults", "signals"):
        check.equal(name, told.get(f'faultscope_collector_enabled{{collector="{name}"}}'), "1")


def test_systemd_runs_the_exporter_as_its_unit_says(check):
    """The exporter answers scrapes through its socket and has the rights that its unit gives. It
    works after a reload and after a restart."""
    with Machine(*OURS, "faultscope-exporter.socket", EXPORTER) as machine:
        machine.boot()
        machine.wait_for("the exporter", lambda: machine.is_active(EXPORTER))
        machine.wait_for("an answer", lambda: machine.page("/-/ready"))
        judge_page(check, machine.page("/metrics"))
        judge_rights(check, machine)
        pid = machine.main_pid(EXPORTER)
        check.equal("reload", machine.inside("systemctl", "reload", EXPORTER).returncode, 0)
        judge_page(check, machine.page("/metrics"))
        check.equal("pid after the reload", machine.main_pid(EXPORTER), pid)
        check.equal("stop", machine.inside("systemctl", "stop", EXPORTER).returncode, 0)
        # with this request, the socket unit starts the exporter again
        judge_page(check, machine.page("/metrics"))
        check.that(machine.main_pid(EXPORTER) != pid, "it was not stopped")


def test_systemd_writes_the_textfile(check):
    promtool = borrowed("promtool")
    with Machine(*OURS, "basic.target") as machine:
        machine.boot()
        ran = machine.inside("systemctl", "start", TEXTFILE)
        check.equal("start", (ran.returncode, ran.stderr), (0, ""))
        path = Path(f"/proc/{machine.first}/root/var/lib/prometheus/node-exporter/faultscope.prom")
        check.equal("mode", oct(path.stat().st_mode & 0o777), "0o644")
        page = path.read_text(encoding="utf-8")
    judge_page(check, page)
    ran = subprocess.run([promtool, "check", "metrics"], input=page, capture_output=True, text=True,
                         check=False)
    check.equal("promtool", (ran.returncode, ran.stdout + ran.stderr), (0, ""))
