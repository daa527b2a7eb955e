# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks rendered dashboards: Grafana's schema accepts them, Prometheus accepts each query."""
import itertools
import json
import re
import shutil
import tempfile
from pathlib import Path

import jsonschema
import yaml
from deployed import DEPLOY, accepts, borrowed, call, unknown_metrics
from harness import BUILD, Skip

NAMES = {"fleet", "host", "kernel"}
SCHEMA = Path(__file__).with_name("dashboard.schema.json")
GRAFANAS_OWN = {"__rate_interval", "__data"}  # variables that Grafana itself defines


def dashboards():
    """Returns {name: dashboard} of what `make dashboards` rendered."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((BUILD / "dashboards").glob("*.json"))}


def queries():
    """Yields (place, PromQL) of each query in a dashboard. Each of Grafana's variables is replaced:
    a variable for a duration by a duration, any other variable by a string."""
    for name, board in dashboards().items():
        for panel in board["panels"]:
            for target in panel["targets"]:
                yield (f"{name}: {panel['title']}",
                       target["expr"].replace("$__rate_interval", "5m"))


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


def overlap(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def test_dashboards_are_rendered_as_their_sources_say(check):
    if not shutil.which("jsonnet"):
        raise Skip("jsonnet is missing")
    check.equal("dashboards", set(dashboards()), {f"faultscope-{name}" for name in NAMES})
    for name in NAMES:
        ran = call("jsonnet", DEPLOY / "grafana" / f"{name}.jsonnet")
        check.equal(f"{name}: status", ran.returncode, 0)
        check.that(json.loads(ran.stdout) == dashboards()[f"faultscope-{name}"],
                   f"{name} is not what was rendered; run: make dashboards")


def test_jsonnet_is_formatted(check):
    if not shutil.which("jsonnetfmt"):
        raise Skip("jsonnetfmt is missing")
    for path in sorted((DEPLOY / "grafana").glob("*sonnet")):
        accepts(check, f"jsonnetfmt {path.name}", "jsonnetfmt", "--test", path)


def test_dashboards_have_the_shape_that_grafana_takes(check):
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    for name, board in dashboards().items():
        for error in schema.iter_errors(board):
            check.that(False, f"{name}: {list(error.absolute_path)}: {error.message}")


def test_panels_have_ids_and_places_of_their_own(check):
    for name, board in dashboards().items():
        ids = [panel["id"] for panel in board["panels"]]
        check.equal(f"{name}: ids", len(set(ids)), len(ids))
        for panel in board["panels"]:
            place, refs = panel["gridPos"], [target["refId"] for target in panel["targets"]]
            check.that(place["x"] + place["w"] <= 24, f"{name}: {panel['title']}: {place}")
            check.equal(f"{name}: {panel['title']}: targets", len(set(refs)), len(refs))
        for one, other in itertools.combinations(board["panels"], 2):
            check.that(not overlap(one["gridPos"], other["gridPos"]),
                       f"{name}: {one['title']} lies on {other['title']}")
    uids = [board["uid"] for board in dashboards().values()]
    check.equal("uids", sorted(uids), sorted(dashboards()))


def test_variables_that_are_used_are_defined(check):
    for name, board in dashboards().items():
        defined = [one["name"] for one in board["templating"]["list"]]
        check.equal(f"{name}: first", defined[0], "datasource")
        used = set()
        for text in strings(board):
            used |= set(re.findall(r"\$\{?(\w+)", text))
        check.equal(f"{name}: variables", used - GRAFANAS_OWN, set(defined))


def test_each_dashboard_can_be_limited_to_a_cluster_and_a_job(check):
    for name, board in dashboards().items():
        defined = [one["name"] for one in board["templating"]["list"]]
        check.equal(f"{name}: variables", defined[1:3], ["cluster", "job"])
        for panel in board["panels"]:
            for target in panel["targets"]:
                check.that("$cluster" in target["expr"],
                           f"{name}: {panel['title']}: {target['expr']}")
        check.that(not re.search(r'job="', json.dumps(board)), f"{name}: the name of a job")


def test_the_fleet_begins_with_what_is_most_urgent(check):
    panels = dashboards()["faultscope-fleet"]["panels"]
    titles = [panel["title"] for panel in sorted(
        panels, key=lambda panel: (panel["gridPos"]["y"], panel["gridPos"]["x"]))]
    order = ("Alerts", "OOM kills", "Failed calls", "Near a limit", "Failed calls of workloads",
             "Nearest to RLIMIT_NOFILE", "Time until RLIMIT_NOFILE", "Waiting for pages", "Scrapes")
    check.equal("panels", [title for title in titles if title in order], list(order))


def test_links_lead_to_dashboards_that_there_are(check):
    uids = {board["uid"] for board in dashboards().values()}
    for name, board in dashboards().items():
        for text in strings(board):
            for uid in re.findall(r"^/d/([\w-]+)", text):
                check.that(uid in uids, f"{name}: {text}")


def test_prometheus_parses_each_query(check):
    """promtool parses a rule made from each query of the dashboards, including queries of dashboard
    variables."""
    found = list(queries())
    for board in dashboards().values():
        for one in board["templating"]["list"]:
            if one["type"] == "query":
                metric = re.fullmatch(r"label_values\((.*), (\w+)\)", one["query"]["query"])
                check.that(metric, f"{board['uid']}: {one['query']}")
                found.append((f"{board['uid']}: variable {one['name']}", metric[1]))
    check.that(len(found) > 50, f"only {len(found)} queries")
    group = {"name": "queries", "rules": [{"record": f"query:number:{i}", "expr": expr}
                                          for i, (_, expr) in enumerate(found)]}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "queries.yml"
        path.write_text(yaml.safe_dump({"groups": [group]}, width=1000), encoding="utf-8")
        ran = accepts(check, "promtool", borrowed("promtool"), "check", "rules", path)
    check.that(f"{len(found)} rules found" in ran.stdout, ran.stdout)


def test_queries_name_metrics_that_the_exporter_has(check):
    for where, expr in queries():
        wrong = unknown_metrics(expr)
        check.that(not wrong, f"{where}: nothing gives {wrong}")
