# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that Prometheus accepts rules and scrape configurations, and that each alert fires when it
should."""
import json
import re
import shutil
import tempfile
from pathlib import Path

import yaml
from deployed import (METRIC, PROMETHEUS, RUNBOOKS, accepts, alerts, borrowed, call, families, read_yaml,
                      rules, unknown_metrics)
from harness import ROOT

PATH = "sources of faultscope, docs/runbooks/"
LONGEST = 3 * 60  # minutes of a test with an evaluation each minute
SOME = 8  # number of tests of rules_test.yml that run with another URL of the runbooks
SEVERITIES = {"critical", "warning", "info"}

# The limit that each text names: what a test of promtool shows of it, or why there is none.
LIMITS = {
    ("FaultscopeMappingsNearLimit", "warning"): r"53000 of 65530 mappings: more than 80%",
    ("FaultscopeMappingsNearLimit", "critical"): r"62300 of 65530 mappings: more than 95%",
    ("FaultscopeMappingsWillExhaust", "warning"): r"35000 of 65530 mappings .* within 4 hours",
    ("FaultscopeMappingFailures", "critical"): r"About 1 .* vm.max_map_count is 65530",
    ("FaultscopeFdsNearLimit", "warning"): r"900 of 1024 file descriptors: more than 80%",
    ("FaultscopeFdsWillExhaust", "warning"): r"480 of 1024 file descriptors .* within 4 hours",
    ("FaultscopeFdFailures", "critical"): r"About 15 .* more than 10.* has 1024 of 1024 file",
    ("FaultscopeMajorFaultStall", "warning"): r"333.3ms in each second .* more than 200ms",
    ("FaultscopeSwapThrashing", "warning"): r"200 pages per second .* more than 100 .* 50ms",
    ("FaultscopeCrashLoopBySignal", "warning"): r"4 times in 15 minutes. More than 3 such",
    ("FaultscopeKernelFixupBurst", "warning"): r"2 times per second. .* more than 1 .* than 10 times",
    ("FaultscopeLosingEvents", "warning"): r"loses 2 events per second .* More than 1 event",
    ("FaultscopeCardinalityLimited", "info"): r"12 workloads .* --limit.workloads: 50 have",
    ("FaultscopeRestarting", "warning"): r"3 times in the last hour. More than 2 restarts",
    ("FaultscopeVersionSkew", "info"): r"2 versions .* More than 1 version",
}
ONE_IS_ENOUGH = {
    "FaultscopeCommitRefused": "the commit limit of the kernel is no metric of the exporter",
    "FaultscopeOomKill": "the limit is on the page of the kill, which the command prints",
    "FaultscopeKernelReport": "no error of the kernel is usual",
    "FaultscopeIncidentsNotStored": "each incident is to be stored",
}
YES_OR_NO = {
    "FaultscopeBlind": "a collector runs, or it does not",
    "FaultscopeIncomplete": "a metrics page is partial, or it is not",
    "FaultscopeDown": "a scrape succeeds, or it does not",
    "FaultscopeAbsent": "there is a target, or there is none",
}
NO_HOST = {
    "FaultscopeVersionSkew": "it is about all hosts of a cluster",
    "FaultscopeAbsent": "no host is known",
}
UNITS = {"m": "minutes", "h": "hours"}
DISCOVERY = re.compile(r"^  kubernetes_sd_configs:\n  - role: pod\n    namespaces: .*\n", re.M)


def test_prometheus_takes_the_rules(check):
    accepts(check, "promtool", borrowed("promtool"), "check", "rules", PROMETHEUS / "rules.yml")
    check.that(len(alerts()) >= 18, f"only {len(alerts())} alerts")


def minutes(test):
    """Returns how long a test of promtool lasts."""
    times = [one["eval_time"] for key in ("alert_rule_test", "promql_expr_test")
             for one in test.get(key, ())]
    return max(int(time[:-1]) * {"m": 1, "h": 60}[time[-1]] for time in times)


def test_alerts_do_what_their_tests_say(check):
    """Tests that last longer than LONGEST are evaluated every 5 minutes, which takes a fifth of the
    time that an evaluation each minute takes."""
    tests = read_yaml(PROMETHEUS / "rules_test.yml")
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(PROMETHEUS / "rules.yml", place)
        for name, every, some in (
                ("short.yml", "1m", [one for one in tests["tests"] if minutes(one) <= LONGEST]),
                ("long.yml", "5m", [one for one in tests["tests"] if minutes(one) > LONGEST])):
            check.that(some, f"no tests for {name}")
            (Path(place) / name).write_text(
                yaml.safe_dump({**tests, "evaluation_interval": every, "tests": some}), "utf-8")
            accepts(check, "promtool", borrowed("promtool"), "test", "rules", Path(place) / name)


def test_each_alert_is_tested_to_fire_and_to_stay_silent(check):
    fires, silent = set(), set()
    for test in read_yaml(PROMETHEUS / "rules_test.yml")["tests"]:
        for one in test.get("alert_rule_test", ()):
            name = one["alertname"]
            fires |= {(name, alert["exp_labels"]["severity"]) for alert in one["exp_alerts"]}
            silent |= {name} if not one["exp_alerts"] else set()
    check.equal("alerts that a test lets fire", sorted(fires),
                sorted((rule["alert"], rule["labels"]["severity"]) for rule in alerts()))
    check.equal("alerts that a test wants silent", silent, {rule["alert"] for rule in alerts()})


def test_each_recorded_rule_is_tested(check):
    tested = {one["expr"] for test in read_yaml(PROMETHEUS / "rules_test.yml")["tests"]
              for one in test.get("promql_expr_test", ())}
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    check.equal("rules without a test", recorded - tested, set())


def test_rules_name_metrics_that_the_exporter_has(check):
    for rule in rules():
        wrong = unknown_metrics(rule["expr"])
        check.that(not wrong, f"{rule.get('alert') or rule['record']}: nothing gives {wrong}")


def test_rules_name_labels_that_the_exporter_has(check):
    """In braces, the rules use only labels that the exporter has. In `by` and `without`, the rules
    may also use labels that Prometheus adds to its scrape targets."""
    known = {label for _, labels in families().values() for label in labels} | {"job"}
    for rule in rules():
        used = set(re.findall(r"[{,]\s*(\w+)\s*(?:=|!=|=~|!~)\s*\"", rule["expr"]))
        check.that(used <= known, f"{rule.get('alert') or rule['record']}: {used - known}")


def test_each_alert_says_what_it_has_to(check):
    for rule in alerts():
        name, told = rule["alert"], rule["annotations"]
        workload = "$labels.workload" in told["summary"]
        check.equal(f"{name}: annotations", set(told) - ({"where"} if workload else set()),
                    {"summary", "description", "command", "runbook"})
        check.equal(f"{name}: where", "where" in told, workload)
        check.that(rule["labels"].get("severity") in SEVERITIES, f"{name}: {rule['labels']}")
        check.equal(f"{name}: runbook", told["runbook"], f"{PATH}{name}.md")


def durations(rule):
    """Returns the texts of how long a condition held: of `for`, else of the recorded time, else now."""
    found = ([rule["for"]] if "for" in rule else
             re.findall(r":increase(\d+[mh])|\[(\d+[mh])\]", rule["expr"]))
    found = {"".join(one) for one in found}
    return {f"{one[:-1]} {UNITS[one[-1]]}" for one in found} or {"now"}


def said(text, duration):
    return duration in text or (duration == "1 hours" and re.search(r"1 hour\b|last hour", text))


def shown():
    """Yields (name, labels, annotations) of each alert that a test of promtool lets fire."""
    for test in read_yaml(PROMETHEUS / "rules_test.yml")["tests"]:
        for one in test.get("alert_rule_test", ()):
            for alert in one["exp_alerts"]:
                yield one["alertname"], alert["exp_labels"], alert["exp_annotations"]


def test_each_text_names_host_workload_value_limit_and_time(check):
    """Reads the texts that promtool's tests expect, which promtool compares with the real ones."""
    waits = {(rule["alert"], rule["labels"]["severity"]): durations(rule) for rule in alerts()}
    limits = set()
    for name, labels, told in shown():
        what, text = (name, labels["severity"]), f"{told['summary']} {told['description']}"
        check.that(name in NO_HOST or f"on {labels['instance']}" in told["summary"]
                   or f"kernel of {labels['instance']}" in told["summary"], f"{what}: no host: {text}")
        if "workload" in labels:
            check.that(re.search(rf"\b{labels['workload']}\b", told["summary"]), f"{what}: {text}")
            check.that(told["where"].startswith(
                f"host {labels['instance']}, workload {labels['workload']}"), f"{what}: where")
        check.that(all(said(text, one) for one in waits[what]), f"{what}: not {waits[what]}: {text}")
        if name in ONE_IS_ENOUGH:
            check.that(re.search(r"\b1\b.* One is enough for this alert", text), f"{what}: {text}")
        elif name not in YES_OR_NO and re.search(LIMITS[what], text):
            limits.add(what)
    check.equal("alerts that name value and limit", limits, set(LIMITS))
    check.equal("alerts of the tables",
                {name for name, _ in LIMITS} | set(ONE_IS_ENOUGH) | set(YES_OR_NO),
                {rule["alert"] for rule in alerts()})


def test_where_names_pod_and_cgroup(check):
    """A pod that has ended is named for an hour."""
    where = {told["where"] for _, _, told in shown() if "where" in told}
    check.that("host a, workload w, namespace shop, pod cart-1, container app, cgroup /kubepods/p/c"
               in where, where)
    check.that("host a, workload w, cgroup /system.slice/w" in where, where)


def test_each_alert_has_its_runbook_and_no_other_is_there(check):
    check.equal("pages", {page.stem for page in RUNBOOKS.glob("*.md")} - {"README"},
                {rule["alert"] for rule in alerts()})


def test_prometheus_takes_the_scrape_configuration(check):
    accepts(check, "promtool", borrowed("promtool"), "check", "config",
            PROMETHEUS / "prometheus.yml")


def test_prometheus_takes_what_scrapes_the_daemonset(check):
    """Debian's Prometheus lacks Kubernetes discovery, so the test uses static targets instead."""
    text = (PROMETHEUS / "kubernetes.yml").read_text(encoding="utf-8")
    text, found = DISCOVERY.subn("  static_configs: [{targets: ['node:10435']}]\n", text)
    check.equal("places where pods are discovered", found, 1)
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    path = build / "kubernetes-static.yml"
    path.write_text(text, encoding="utf-8")
    accepts(check, "promtool", borrowed("promtool"), "check", "config", path)


def test_both_scrape_configurations_have_the_same_guards(check):
    jobs = [read_yaml(PROMETHEUS / name)["scrape_configs"][0]
            for name in ("prometheus.yml", "kubernetes.yml")]
    guards = [{key: value for key, value in job.items() if key.endswith("_limit")} for job in jobs]
    check.equal("guards", guards[0], guards[1])
    check.equal("limits", set(guards[0]), {
        "sample_limit", "label_limit", "label_name_length_limit", "label_value_length_limit",
        "body_size_limit", "target_limit"})
    check.equal("names", [job["job_name"] for job in jobs], ["faultscope"] * 2)


def test_the_exporter_stays_within_the_guards(check):
    """label_limit of the scrape configuration must be high enough for each metric. It counts the
    labels of the metric, about four labels that Prometheus adds for the scrape target, and the
    metric name."""
    job = read_yaml(PROMETHEUS / "prometheus.yml")["scrape_configs"][0]
    for name, (_, labels) in families().items():
        check.that(len(labels) + 6 <= job["label_limit"], f"{name}: {len(labels)} labels")
        for word in (name, *labels):
            check.that(len(word) <= job["label_name_length_limit"], word)
        check.that(not {"job", "instance", "pid"} & set(labels), f"{name}: labels {labels}")


def made(*words):
    """Returns {name: text} of the files that `make rules` writes, and its result."""
    with tempfile.TemporaryDirectory() as place:
        ran = call("make", "-s", "-C", ROOT, "rules", f"BUILD={place}", *words)
        return {path.name: path.read_text(encoding="utf-8")
                for path in (Path(place) / "prometheus").glob("*.yml")}, ran


def test_runbooks_elsewhere(check):
    """The variable RUNBOOKS makes links of the paths of runbooks, and changes nothing else."""
    texts, ran = made("RUNBOOKS=https://wiki.example.org/a&b/")
    check.equal("status", (ran.returncode, ran.stderr), (0, ""))
    link = "runbook_url: https://wiki.example.org/a&b/"
    check.equal("links", texts["rules.yml"].count(link), len(alerts()))
    for name in ("rules.yml", "rules_test.yml"):
        check.equal(name, texts[name].replace(link, f"runbook: {PATH}"),
                    (PROMETHEUS / name).read_text(encoding="utf-8"))
    some = yaml.safe_load(texts["rules_test.yml"])
    some["tests"] = some["tests"][:SOME]
    texts["rules_test.yml"] = yaml.safe_dump(some)
    check.that(link.split()[1] in texts["rules_test.yml"], "no alert with a link is tested")
    with tempfile.TemporaryDirectory() as place:
        for name, text in texts.items():
            (Path(place) / name).write_text(text, encoding="utf-8")
        accepts(check, "promtool", borrowed("promtool"), "test", "rules",
                Path(place) / "rules_test.yml")


def test_values_of_the_rules(check):
    """Each value of values.json can be changed, and the rules are still valid. An unknown name is
    an error."""
    values = json.loads((PROMETHEUS / "values.json").read_text(encoding="utf-8"))
    wanted = {name: "7.5" for name in values if name not in ("selector", "runbooks")}
    texts, ran = made("JOB=monitoring/faultscope", "CONFIG=" + " ".join(
        f"{name}={value}" for name, value in wanted.items()))
    check.equal("status", (ran.returncode, ran.stderr), (0, ""))
    check.that('up{job="monitoring/faultscope"} == 0' in texts["rules.yml"], "the job")
    check.equal("places", texts["rules.yml"].count("7.5"),
                sum((PROMETHEUS / "rules.yml").read_text(encoding="utf-8").count(
                    place.replace("%s", row["default"]))
                    for name, row in values.items() if name in wanted for place in row["places"]))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rules.yml"
        path.write_text(texts["rules.yml"], encoding="utf-8")
        accepts(check, "promtool", borrowed("promtool"), "check", "rules", path)
    texts, _ = made("CONFIG=mappingsWarning=0.95 mappingsCritical=0.97")
    for value in ("0.95", "0.97"):
        check.equal(value, texts["rules.yml"].count(f"mappings:ratio > {value}\n"), 1)
    for wrong in ("CONFIG=fdfailures=3", "CONFIG=fdFailures"):
        _, ran = made(wrong)
        check.that(ran.returncode and "not NAME=VALUE" in ran.stderr, f"{wrong}: {ran.stderr}")


def test_the_path_of_each_runbook_exists(check):
    for rule in alerts():
        path = rule["annotations"]["runbook"].removeprefix("sources of faultscope, ")
        check.that((ROOT / path).exists(), f"{rule['alert']}: {path}")


def test_the_keep_list_has_what_alerts_use(check):
    """Every metric of an alert is in the keep-list for remote write, or in a recorded rule."""
    config = read_yaml(PROMETHEUS / "remote-write.yml")["remote_write"][0]
    keeps = [re.compile(one["regex"]) for one in config["write_relabel_configs"]
             if one.get("replacement") == "keep"][0]
    local = {"faultscope_swap_in_faults_total", "faultscope_direct_reclaim_seconds_total"}
    for rule in alerts():
        for name in set(METRIC.findall(re.sub(r"\{[^}]*\}", "", rule["expr"]))) - local:
            check.that(keeps.fullmatch(name), f"{rule['alert']}: {name} is not kept")
    for row in rules():
        if "record" in row:
            check.that(keeps.fullmatch(row["record"]), f"{row['record']} is not kept")
    check.that(not keeps.fullmatch("faultscope_page_faults_total"), "everything is kept")


def test_prometheus_takes_the_keep_list(check):
    text = (PROMETHEUS / "remote-write.yml").read_text(encoding="utf-8")
    path = ROOT / "build/remote-write.yml"
    path.write_text(text, encoding="utf-8")
    accepts(check, "promtool", borrowed("promtool"), "check", "config", path)
