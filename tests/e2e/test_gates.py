# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests --fail-on, which sets the exit status by gates. A gate is a condition on a value, and it
fails if the condition is true. Tests which gates fail, and how text and machine-readable output
report failed gates."""

import json
import os
import re
import shutil
import xml.etree.ElementTree as XML

from harness import RECORDINGS, Lines, Skip, check_schema, live, workload_path
from placeless import renamed

DONE, FAILED, USAGE, GATE, RUN_FAILED = 0, 1, 2, 3, 125
NAMES = ["maps.peak", "fds.peak", "rss.peak", "swap.peak", "minor_faults", "major_faults", "stall_ms",
         "failed_calls", "sigsegv", "sigbus", "findings.critical", "findings.warning"]
HOSTILE = [b"\033[2J\033[31m", b"a\nb\tc\r\nd", b"\xff\xfe\xc3", b"]]></x>&'\"", b"::error::x%0A",
           b"\xef\xbf\xbe\xef\xbf\xbf", b"\xe2\x80\xaetxt.exe", b"\xed\xa0\x80"]


def recording(name):
    path = RECORDINGS / f"{name}.fsr"
    if not path.exists():
        raise Skip(f"the recording {name} is not kept")
    return path


def replay(lab, name, gates, *options, **how):
    return lab.faultscope("--replay", recording(name), "--fail-on", gates, *options, **how)


def gate_lines(text):
    return dict(re.findall(r"^(?:FAIL|pass) (\S+) +(.*)", text, re.M)), \
        re.findall(r"^FAIL (\S+)", text, re.M)


# Gates that fail for a recording whose map count reached its limit (65,531 of 65,530 mappings) and
# that has one failed call
TRIPPED = ["maps.peak>60%", "maps.peak>=100%", "maps.peak>5000", "failed_calls>0", "failed_calls>=1",
           "findings.critical>0", "findings.warning>1", "maps.failed>0", "minor_faults<1M",
           "maps.created>60k", "rss.peak>1M", "major_faults<=0"]
PASSED = ["maps.peak>101%", "maps.peak>65531", "fds.peak>1%", "failed_calls>1", "major_faults>0",
          "sigsegv>0", "sigbus>0", "findings.critical>4", "swap.peak>0", "rss.peak>1G",
          "stall_ms>60s", "fds.failed>0", "faults.failed>0", "threads>1", "failed_calls<1"]


def test_gates_trip(check, lab):
    for gate in TRIPPED:
        ran = replay(lab, "crossings_of_maps", gate)
        check.equal(f"status of {gate}", ran.returncode, GATE)
        check.equal(f"{gate}: FAIL lines", gate_lines(ran.out)[1], [gate])


def test_gates_pass(check, lab):
    for gate in PASSED:
        ran = replay(lab, "crossings_of_maps", gate)
        check.equal(f"status of {gate}", ran.returncode, DONE)
        lines, failed = gate_lines(ran.out)
        check.equal(f"{gate}: lines", (list(lines), failed), ([gate], []))


def test_gates_say_value_and_whose(check, lab):
    ran = replay(lab, "crossings_of_maps", "maps.peak>60%, failed_calls>0,sigsegv>0")
    lines, failed = gate_lines(ran.out)
    check.equal("failed", failed, ["maps.peak>60%", "failed_calls>0"])
    check.that(re.fullmatch(r"100\.0% +65,531 of 65,530 in mapleak\[\d+\]", lines["maps.peak>60%"]),
               f"{lines['maps.peak>60%']!r}")
    check.that(re.fullmatch(r"1 +in mapleak\[\d+\]", lines["failed_calls>0"]), f"{lines['failed_calls>0']!r}")
    check.equal("sigsegv", lines["sigsegv>0"], "0")


def test_gates_by_signal(check, lab):
    for case in ("fatal", "handled"):
        name = f"signals_of_bad_accesses-{case}"
        truth = json.loads((recording(name).with_suffix("")).with_suffix(
            ".truth.json").read_text())["truth"]
        numbers = [access["signal"] for access in truth["accesses"]]
        segv, bus = numbers.count(11), numbers.count(7)
        ran = replay(lab, name, f"sigsegv>={segv},sigsegv>{segv},sigbus>={bus},sigbus>{bus},"
                                f"faults.failed>={segv + bus},faults.failed>{segv + bus}")
        check.equal(f"{case}: failed", gate_lines(ran.out)[1],
                    [f"sigsegv>={segv}", f"sigbus>={bus}", f"faults.failed>={segv + bus}"])


def test_gates_add_up_ended_processes(check, lab):
    """A gate on a total includes all processes, living and ended ones, like the JSON output."""
    name = "brief_children_of_run-open"
    lines = Lines(lab.replay(recording(name)).text)
    last = {}
    for line in lines.of("process"):
        last[(line["pid"], line["start_time_ns"])] = line
    for path in ("faults.minor", "fds.opened", "maps.created"):
        group, key = path.split(".")
        want = sum(line[group][key] for line in last.values())
        ran = replay(lab, name, f"{path}>{want - 1},{path}>{want}")
        check.equal(f"{path} of {want}", gate_lines(ran.out)[1], [f"{path}>{want - 1}"])
    most = max(line["fds"]["peak"] for line in lines.of("process"))
    ran = replay(lab, name, f"fds.peak>={most},fds.peak>{most}")
    check.equal("peak of open fds", gate_lines(ran.out)[1], [f"fds.peak>={most}"])


def test_gates_in_json(check, lab):
    ran = replay(lab, "crossings_of_maps", "maps.peak>60%,failed_calls>5", "--json")
    check.equal("status", ran.returncode, GATE)
    lines = Lines(ran.out)
    gates = {gate["condition"]: gate for gate in lines.all[-1]["conditions"]}
    check.equal("states", {name: gate["state"] for name, gate in gates.items()},
                {"maps.peak>60%": "failed", "failed_calls>5": "passed"})
    check.between("value", gates["maps.peak>60%"]["value"], 100, 100.01)
    check.equal("value", gates["failed_calls>5"]["value"], 1)
    check.equal("comm", gates["maps.peak>60%"]["comm"], "mapleak")
    check_schema(check, lines.all)
    # Each failed gate is also reported on standard error.
    check.equal("standard error", gate_lines(ran.err)[1], ["maps.peak>60%"])
    check.that("failed_calls>5" not in ran.err, f"{ran.err!r}")
    quiet = replay(lab, "crossings_of_maps", "maps.peak>60%,failed_calls>5", "-q")
    check.equal("with -q", gate_lines(quiet.err)[1], ["maps.peak>60%"])


def test_gates_not_measured_fail(check, lab):
    """A gate fails if its value was not measured."""
    path = recording("crossings_of_maps")
    for hook, gate in ((b"signal", "sigsegv>0"), (b"calls", "failed_calls>0"),
                       (b"fault_end", "stall_ms>9999")):
        blind = lab.dir / f"{hook.decode()}.fsr"
        # Renames the probe in the recording, so that the value of the gate counts as not measured.
        blind.write_bytes(renamed(path.read_bytes(), hook, b"another"))
        ran = lab.faultscope("--replay", blind, "--fail-on", gate, "--junit", lab.dir / "j.xml")
        check.equal(f"{gate}: status", ran.returncode, GATE)
        lines, failed = gate_lines(ran.out)
        check.equal(f"{gate}: failed", failed, [gate])
        check.that("not measured" in lines[gate] and hook.decode() in lines[gate],
                   f"{gate}: {lines[gate]!r}")
        suite = XML.parse(lab.dir / "j.xml").getroot()[0]
        check.equal(f"{gate}: errors", (suite.get("errors"), suite.get("failures")), ("1", "0"))


def test_gates_usage(check, lab):
    bad = ["", ">1", "maps.peak", "maps.peak>", "maps.peak>-1", "maps.peak>x", "maps.peak>0x10",
           "maps.peak>60%%", "failed_calls>1%", "rss.peak>2ms", "minor_faults>2GiB", "fds.limit>3",
           "maps.peak=5", "failed_calls>0,,sigsegv>0", "a>1,failed_calls>0", "x" * 200 + ">1",
           ",".join(["failed_calls>0"] * 33)]
    for gates in bad:
        ran = lab.faultscope("--replay", recording("crossings_of_maps"), "--fail-on", gates)
        check.equal(f"status of {gates[:30]!r}", ran.returncode, USAGE)
        check.that(ran.err.startswith("faultscope: --fail-on"), f"{gates[:30]!r}: {ran.err!r}")
        check.that(not ran.out and len(ran.err) < 600, f"{gates[:30]!r}: {ran.err!r}")
    ran = lab.faultscope("--fail-on", "maps.mx>60%", "1", "1")
    for name in NAMES:
        check.that(name in ran.err, f"{name} is not listed in {ran.err!r}")
    for words in (["--junit", "x.xml"], ["--min-severity", "worst"], ["doctor", "--fail-on", "a"]):
        check.equal(f"status of {words}", lab.faultscope(*words).returncode, USAGE)
    check.equal("a comma at the end", replay(lab, "crossings_of_maps", "sigsegv>0,").returncode,
                DONE)


def parse_junit(check, what, path):
    suite = XML.parse(path).getroot().find("testsuite")
    if shutil.which("xmllint"):
        check.that(os.system(f"xmllint --noout {path}") == 0, f"{what}: xmllint complains")
    cases = suite.findall("testcase")
    for state, element in (("failures", "failure"), ("errors", "error")):
        check.equal(f"{what}: {state}", int(suite.get(state)),
                    sum(case.find(element) is not None for case in cases))
    check.equal(f"{what}: tests", int(suite.get("tests")), len(cases))
    return suite


def test_gates_junit(check, lab):
    path = lab.dir / "out.xml"
    ran = replay(lab, "crossings_of_maps", "maps.peak>60%,sigsegv>0", "--junit", path)
    check.equal("status", ran.returncode, GATE)
    suite = parse_junit(check, "two gates", path)
    check.equal("names", [case.get("name") for case in suite.findall("testcase")],
                ["maps.peak>60%", "sigsegv>0"])
    check.equal("failures", suite.get("failures"), "1")
    message = suite.find("testcase/failure").get("message")
    check.that(message.startswith("100.0%: 65,531 of 65,530"), f"message {message!r}")
    check.that("maps peak 65,531" in suite.findtext("system-out"), "no summary in it")
    ran = replay(lab, "crossings_of_maps", "sigsegv>0", "--junit", lab.dir / "no" / "such.xml")
    check.equal("status where it cannot be written", ran.returncode, FAILED)
    check.that("such.xml" in ran.err, f"message {ran.err!r}")
    ran = replay(lab, "crossings_of_maps", "sigsegv>0", "--junit", "/dev/full")
    check.equal("status where the disk is full", ran.returncode, FAILED)
    check.that("/dev/full" in ran.err, f"message {ran.err!r}")


def test_gates_with_hostile_names(check, lab):
    """With any process name, JUnit XML can be parsed, each annotation is one line, and the output
    contains no terminal escape sequences."""
    data = recording("crossings_of_maps").read_bytes()
    for i, name in enumerate(HOSTILE):
        path, xml = lab.dir / f"{i}.fsr", lab.dir / f"{i}.xml"
        path.write_bytes(renamed(data, b"mapleak", name))
        ran = lab.faultscope("--replay", path, "--fail-on", "maps.peak>60%,sigsegv>0", "--github",
                             "--junit", xml)
        check.equal(f"{name}: status", ran.returncode, GATE)
        suite = parse_junit(check, str(name), xml)
        message = suite.find("testcase/failure").get("message")
        check.that(re.search(r" in .*\[\d+\]$", message), f"{name}: message {message!r}")
        lines = ran.err.splitlines()
        check.that(all(line.startswith(("::error title=", "::warning title=")) for line in lines),
                   f"{name}: {ran.err!r}")
        check.equal(f"{name}: annotations of the gate",
                    sum(line.startswith("::error title=faultscope%3A maps.peak>60%25::100.0%25")
                        for line in lines), 1)
        for text in (ran.out, ran.err, xml.read_text()):
            check.that(not re.search(r"[\0-\x08\x0b-\x1f\x7f]", text), f"{name}: control bytes")


def test_gates_annotate_on_github(check, lab):
    def annotations(**env):
        ran = replay(lab, "crossings_of_maps", "failed_calls>0,sigsegv>0", env=os.environ | env)
        return re.findall(r"^::(\w+) title=([^:]*)::(.*)", ran.err, re.M)

    check.equal("elsewhere", annotations(), [])
    check.equal("not true", annotations(GITHUB_ACTIONS="false"), [])
    told = annotations(GITHUB_ACTIONS="true")
    check.equal("kinds", sorted({kind for kind, _, _ in told}), ["error", "warning"])
    check.equal("errors", [title for kind, title, _ in told if kind == "error"],
                ["faultscope%3A failed_calls>0"])
    check.that(any("M01" in title for kind, title, _ in told if kind == "warning"), f"{told}")


def test_min_severity(check, lab):
    """--min-severity removes findings of a lower severity from text output; JSON output keeps all
    findings."""
    path = recording("crossings_of_descriptors-file")

    def shown(*options):
        out = lab.faultscope("--replay", path, *options).out
        return set(re.findall(r"^(info|warning|critical)\[\w+ [\w-]+\]", out, re.M))

    check.equal("critical alone", shown("--min-severity", "critical"), {"critical"})
    want = {line["id"] for line in Lines(lab.replay(path).text).of("finding")}
    got = {line["id"] for line in Lines(lab.replay(path, ["--min-severity", "critical"]).text)
           .of("finding")}
    check.equal("ids in JSON", got, want)


@live
def test_gates_of_run(check, lab):
    """If a gate fails, `run` exits with 3 only if the command exited with 0. If a signal killed the
    command or the command was not found, the exit status is the usual one for this case."""
    def status(gate, *command):
        return lab.faultscope("run", "-q", "--fail-on", gate, "--", *command).returncode

    sh = ("sh", "-c")
    check.equal("passed", status("failed_calls>1000", "true"), DONE)
    check.equal("failed", status("minor_faults>0", "true"), GATE)
    check.equal("the command's own", status("minor_faults>0", *sh, "exit 7"), 7)
    check.equal("its signal", status("minor_faults>0", *sh, "kill -15 $$"), -15)
    check.equal("not found", status("minor_faults>0", "no-such-command"), 127)
    check.equal("still running", lab.faultscope(
        "run", "-q", "-d", "0.3", "--fail-on", "minor_faults>0", "--", "sleep", "1").returncode,
                GATE)


@live
def test_gates_of_watch(check, lab):
    work = lab.work("fdleak", "100", "--wait", "--hold")
    watch = lab.watch("-p", str(work.pid), "-d", "2", "--fail-on", "fds.peak>=100,fds.peak>5000",
                      record=False)
    work.go()
    made = work.truth()["made"]
    capture = watch.finished()
    check.equal("status", capture.status, GATE)
    gates = Lines(capture.text).all[-1]["conditions"]
    check.equal("states", [gate["state"] for gate in gates], ["failed", "passed"])
    check.between("most", gates[0]["value"], made, made + 10)
    work.end()


@live
def test_run_keeps_findings(check, lab):
    """The summary of `run` reports calls that failed long before the end, and groups similar
    findings."""
    script = ("ulimit -n 20; i=0; while [ $i -lt 30 ]; do "
              "sh -c 'exec 3<&0 4<&0 5<&0 6<&0 7<&0 8<&0 9<&0; exit 0'; i=$((i+1)); done; sleep 1.2")
    ran = lab.faultscope("run", "--", workload_path("refusals"), "as")
    check.that("critical[M13 rlimit-as-reached]" in ran.err, "no M13 in the summary")
    ran = lab.faultscope("run", "--", "sh", "-c", f"{workload_path('refusals')} as; sleep 2.5")
    check.that("critical[M13 rlimit-as-reached]" in ran.err, "no M13 two windows later")
    ran = lab.faultscope("run", "--", "sh", "-c", script)
    listed = len(re.findall(r"^info\[F12 nofile-near\]: \S+\[\d+\]", ran.err, re.M))
    more = re.search(r"^info\[F12 nofile-near\]: and (\d+) more; --json has all", ran.err, re.M)
    if check.that(more, "no count of the rest"):
        check.equal("listed", listed, 3)
        check.that(listed + int(more[1]) >= 30, f"{listed} and {more[1]} more of 30")
