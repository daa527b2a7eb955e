# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that only authenticated users can store an incident by HTTP."""
import shutil
import time

from exporter import Exporter
from harness import live
from test_tls import ALICE

USER = "alice:example-only"


def with_user(lab, *options):
    path = lab.dir / "web.yml"
    path.write_text(f"basic_auth_users:\n  alice: {ALICE}\n")
    return Exporter(lab, "--web.config.file", path, *options)


def stored(exporter):
    return sorted(path.name for path in exporter.incidents.glob("*.fsr"))


@live
def test_snapshot_needs_a_user(check, lab):
    exporter = Exporter(lab, "--incident.on", "none")
    for method in ("GET", "POST"):
        check.equal(method, exporter.get("/-/snapshot", method=method).status, 403)
    check.equal("incidents", stored(exporter), [])


@live
def test_snapshot_of_a_user(check, lab):
    exporter = with_user(lab)
    check.equal("nobody", exporter.get("/-/snapshot", method="POST").status, 401)
    check.equal("a guess", exporter.get("/-/snapshot", method="POST", user="alice:x").status, 401)
    check.equal("GET", exporter.get("/-/snapshot", user=USER).status, 405)
    before = set(stored(exporter))
    answer = exporter.get("/-/snapshot", method="POST", user=USER)
    check.equal("POST", answer.status, 200)
    added = [name for name in stored(exporter) if name not in before and "http" in name]
    check.equal("incidents", len(added), 1)
    check.that(added and added[0] in answer.text, f"{answer.text!r} does not name {added}")


@live
def test_many_snapshots_are_bounded(check, lab):
    exporter = with_user(lab, "--incident.on", "none")  # only requests are counted
    statuses = []
    for _ in range(30):
        statuses.append(exporter.get("/-/snapshot", method="POST", user=USER).status)
        time.sleep(0.01)
    check.that(1 <= statuses.count(200) <= 12, f"{statuses.count(200)} snapshots")
    check.that(statuses.count(503) >= 18, f"{statuses}")
    page = exporter.get(user=USER)
    check.equal("metrics", page.status, 200)
    for line in (f'faultscope_incidents_total{{trigger="http"}} {statuses.count(200)}',
                 f'faultscope_incident_triggers_ignored_total{{reason="rate"}} '
                 f'{statuses.count(503)}'):
        check.that(f"\n{line}\n" in page.text, f"no line {line}")
    check.that("\nfaultscope_incident_write_errors_total 0\n" in page.text, "errors")
    check.that("\nfaultscope_ring_bytes 0\n" not in page.text, "an empty ring")


def test_failed_writes_are_counted(check, lab):
    """The store is gone: the metrics count the incident that cannot be written."""
    exporter = with_user(lab, "--incident.on", "none", "--incident.after", "0")
    shutil.rmtree(exporter.incidents)
    check.equal("status", exporter.get("/-/snapshot", method="POST", user=USER).status, 503)
    errors = [line for line in exporter.get(user=USER).text.splitlines()
              if line.startswith("faultscope_incident_write_errors_total ")]
    check.that(errors and int(errors[0].split()[1]) >= 1, f"{errors}")


@live
def test_no_snapshot_without_a_ring(check, lab):
    exporter = with_user(lab, "--ring", "off")
    answer = exporter.get("/-/snapshot", method="POST", user=USER)
    check.equal("status", answer.status, 503)
    check.that("ring" in answer.text, answer.text)
    check.that(not exporter.incidents.exists(), "there is a store")
    check.that("faultscope_incidents_total" not in exporter.get(user=USER).text,
               "metrics of incidents")
