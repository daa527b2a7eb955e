# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests commands that read nothing, match nothing or lose data: they must not exit with 0, and must
not report that there are no problems. Commands and options are taken from --help, which is
generated from the option table."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from harness import BUILD, FAULTSCOPE, FOUND, INCOMPLETE, RECORDINGS, ROOT, Skip, live

DONE, FAILED, USAGE = 0, 1, 2
LEAK = RECORDINGS / "forecast_of_a_leak.fsr"
ALL_CLEARS = ("all is well", "not short of memory", "no crash found", "nothing found",
              'class="well"')
TESTS = ("*.py", "*.c", "*.h", "*.sh", "*.mjs")


def help_of(lab, *command):
    ran = lab.faultscope(*command, "--help")
    assert ran.returncode == DONE, ran.err
    return ran.out


def commands(lab):
    """Returns the names of all commands; "" is the main command, which has no name."""
    return {"" if word.startswith("[") else word
            for word in re.findall(r"^(?:Usage:|      ) faultscope (\S+)", help_of(lab), re.M)}


def options(lab):
    """Returns {option: commands that accept it}."""
    found = {}
    for command in commands(lab):
        for name in re.findall(r"^  (?:-\w, |    )--([\w.-]+)", help_of(lab, *filter(None, [command])),
                               re.M):
            found.setdefault(name, set()).add(command)
    return found


def empty_recording(lab):
    """Makes a recording that has only a file header."""
    path = lab.dir / "empty.fsr"
    path.write_bytes(LEAK.read_bytes()[:24])
    return path


def cut_recording(lab):
    path = lab.dir / "cut.fsr"
    path.write_bytes(LEAK.read_bytes()[:-9])
    return path


def empty_directory(lab):
    path = lab.dir / "empty"
    path.mkdir(exist_ok=True)
    return path


def unreadable_logs(lab):
    """Makes a directory in which no file can be read: a dangling link, a link to a directory."""
    path = lab.dir / "logs"
    path.mkdir(exist_ok=True)
    for name, target in (("gone.log", "/nowhere"), ("dir.log", "/")):
        if not (path / name).is_symlink():
            (path / name).symlink_to(target)
    return path


def nothing_of(lab):
    """Returns {command: command lines} for command lines that read nothing, match nothing, or find
    incomplete data. Every other command must fail if its arguments are wrong, or if its output
    cannot be written (test_documents_to_full_output)."""
    empty, cut = empty_recording(lab), cut_recording(lab)
    out = lab.dir / "out"
    return {
        "": [["--replay", empty], ["--replay", cut], ["--replay", LEAK, "--comm", "nosuch"],
             ["--replay", LEAK, "--cgroup", "/nosuch"], ["--replay", LEAK, "-p", "99"],
             ["--json", "--replay", LEAK, "-p", "99"]],
        "run": [["run", "--", lab.dir / "missing"]],
        "diagnose": [["diagnose", "--replay", empty], ["diagnose", "--replay", LEAK, "-p", "99"],
                     ["diagnose", "--json", "--replay", LEAK, "-p", "99"]],
        "memory": [["memory"], ["memory", "--replay", empty], ["memory", "--replay", cut],
                   ["memory", "--replay", LEAK], ["memory", "--json", "--replay", cut],
                   ["memory", "--", lab.dir / "missing"]],
        "host": [["host", "--replay", empty], ["host", "--replay", cut],
                 ["host", "--json", "--replay", cut]],
        "doctor": [["doctor", "nonsense"]],
        "explain": [["explain", "X99"], ["explain", "M01", "X99"], ["explain", "--json", "X99"]],
        "triage": [["triage", empty_directory(lab)], ["triage", unreadable_logs(lab)],
                   ["triage", "--group", empty_directory(lab)],
                   ["triage", "--group", unreadable_logs(lab)], ["triage", "/dev/null"],
                   ["triage", "--json", "/dev/null"], ["triage", "--markdown", "/dev/null"],
                   ["triage", lab.dir / "missing"], ["triage", FAULTSCOPE]],
        "blackbox": [["blackbox", "read", "/dev/null"], ["blackbox", "read", lab.dir / "missing"],
                     ["blackbox", "status", "--ring", lab.dir / "missing"]],
        "export": [["export", "--replay", empty, "--textfile", out],
                   ["export", "--replay", cut, "--textfile", out]],
        "record": [["record", "-p", "4194303", "-o", lab.dir / "none.fsr"]],
        "info": [["info", empty], ["info", cut], ["info", "--json", cut], ["info", "/dev/null"]],
        "replay": [["replay", empty], ["replay", cut], ["replay", "--comm", "nosuch", LEAK],
                   ["replay", "--cgroup", "/nosuch", LEAK]],
        "report": [["report", empty], ["report", cut], ["report", "--comm", "nosuch", LEAK],
                   ["report", "--html", "--comm", "nosuch", LEAK],
                   ["report", "--cgroup", "/nosuch", LEAK]],
        "diff": [["diff", empty, empty], ["diff", LEAK, empty], ["diff", cut, LEAK],
                 ["diff", "--json", LEAK, cut], ["diff", "--comm", "nosuch", LEAK, LEAK]],
        "oom": [["oom", empty], ["oom", cut], ["oom", "--store", empty_directory(lab)]],
        "incidents": [["incidents", "--store", lab.dir / "missing"],
                      ["incidents", "show", "1", "--store", empty_directory(lab)],
                      ["incidents", "open", "1", "--store", empty_directory(lab)],
                      ["incidents", "--json", "report", "7", "--store", empty_directory(lab)]],
        "snapshot": [["snapshot", "--store", lab.dir / "missing"],
                     ["snapshot", "--store", empty_directory(lab)]],
        "settings": [["settings", "nonsense"], ["settings", "theme=pink"]],
        "mcp": [["mcp"], ["mcp", "nonsense"]],
        "schema": [["schema", "nonsense"]],
        "completion": [["completion"], ["completion", "nonsense"]],
        "man": [["man", "nonsense"]],
    }


def test_nothing_read_is_no_all_clear(check, lab):
    lines = nothing_of(lab)
    check.equal("commands with a case", set(lines), commands(lab))
    for command, cases in lines.items():
        check.that(cases, f"{command}: no case")
        for words in cases:
            ran = lab.faultscope(*words, stdin=subprocess.DEVNULL)
            check.that(ran.returncode not in (DONE, FOUND), f"{words}: status {ran.returncode}")
            check.that(ran.err.startswith("faultscope: "), f"{words}: {ran.err!r}")
            for text in ALL_CLEARS:
                check.that(text not in ran.out, f"{words}: {text!r} in {ran.out[:200]!r}")


@live
def test_part_of_a_damaged_recording_is_no_all_clear(check, lab):
    """With --from and --to, each command says what the recording lacks up to the end of the part. A
    part that ends before the damage is complete."""
    cut = cut_recording(lab)
    words = {"": ["--summary", "--replay"], "report": ["report"], "host": ["host", "--replay"],
             "diagnose": ["diagnose", "--replay"], "memory": ["memory", "--replay"],
             "replay": ["replay"], "info": ["info"], "diff": ["diff", LEAK]}
    accepting = options(lab)["from"]
    check.equal("commands with --from", sorted(accepting - set(words)), [])
    for command in accepting:
        ran = lab.faultscope(*words[command], cut, "--from", "1")
        check.equal(f"{command}: status", ran.returncode, INCOMPLETE)
        check.that("truncated or damaged at offset" in ran.err, f"{command}: {ran.err}")
        for clear in ALL_CLEARS:
            check.that(clear not in ran.out, f"{command}: {clear}")
    ran = lab.faultscope("report", cut, "--to", "2")
    check.equal("before the damage", (ran.returncode, ran.err), (DONE, ""))


def test_nothing_matched_live_is_no_all_clear(check, lab):
    for words in (["--comm", "nosuch", "0.1", "2"], ["--json", "--comm", "nosuch", "0.1", "2"]):
        ran = lab.faultscope(*words)
        check.equal(f"{words}: status", ran.returncode, INCOMPLETE)
        check.that("no process matched" in ran.err, f"{words}: {ran.err!r}")


def test_output_by_its_long_name(check, lab):
    plain = lab.faultscope("report", "--format", "csv", LEAK).out
    for words in (["--output", lab.dir / "a"], [f"--output={lab.dir / 'b'}"]):
        ran = lab.faultscope("report", "--format", "csv", LEAK, *words)
        check.equal(f"{words}: {ran.err}", ran.returncode, DONE)
    for name in "ab":
        with open(lab.dir / name, newline="", encoding="utf-8") as file:
            check.equal(name, file.read().replace("\r\n", "\n"), plain)


def test_names_are_collapsed_of_a_recording(check, lab):
    """--workload.collapse merges workloads of a recording whose names match a regular expression.
    An invalid regular expression is an error."""
    def workloads(*words):
        out = lab.dir / "page"
        ran = lab.faultscope("export", "--replay", RECORDINGS / "pid_reused.fsr", "--textfile", out,
                             "--workload.min-age", "0", *words)
        assert ran.returncode in (DONE, INCOMPLETE), ran.err
        return set(re.findall(r'^faultscope_mappings\{workload="([^"]*)"', out.read_text(), re.M))

    check.that({"prometheus-proc", "prometheus-node"} <= workloads(), "the names as they are")
    folded = workloads("--workload.collapse", "-(proc|node)$")
    check.that("prometheus*" in folded and "prometheus-proc" not in folded, f"folded: {folded}")
    ran = lab.faultscope("export", "--replay", LEAK, "--textfile", lab.dir / "page",
                         "--workload.collapse", "(")
    check.equal("status of what is no pattern", ran.returncode, USAGE)
    check.that("invalid regular expression" in ran.err, ran.err)


def test_trace_instance_that_is_not_there(check, lab):
    """A missing trace instance means that `triage` read nothing, so the exit status is not 0."""
    for words in (["blackbox", "read", "--instance", "nosuch", "--ring", lab.dir / "none"],
                  ["blackbox", "status", "--instance", "nosuch", "--ring", lab.dir / "none"]):
        ran = lab.faultscope(*words)
        check.that(ran.returncode not in (DONE, FOUND), f"{words}: status {ran.returncode}")
        check.that(ran.err.startswith("faultscope: "), f"{words}: {ran.err!r}")


@live
def test_limits_that_cannot_be_read(check, lab):
    """If a limit of the machine cannot be read, the result is incomplete: faultscope does not say
    that all is well, and no metric says that the limit is 0."""
    hide = 'mount --bind /dev/null "$1" && shift && exec "$@"'
    page = lab.dir / "page"
    for name in ("vm/max_map_count", "fs/file-max", "fs/nr_open", "kernel/threads-max",
                 "kernel/pid_max"):
        for words in (("diagnose", "-p", os.getpid(), "-d", "0.2"), ("--json", "-d", "0.2"),
                      ("export", "--textfile", page)):
            ran = lab.call(*lab.own_mounts, "sh", "-c", hide, "sh", f"/proc/sys/{name}", FAULTSCOPE,
                           *map(str, words))
            check.equal(f"{name}, {words}: status", ran.returncode, INCOMPLETE)
            check.that(f"not read: limits of the machine: {name.replace('/', '.')}" in ran.err,
                       f"{name}, {words}: {ran.err}")
            check.that(not any(text in ran.out for text in ALL_CLEARS), f"{name}, {words}")
        check.equal(f"{name}: metrics of the limit",
                    len(re.findall("^faultscope_mappings_limit ", page.read_text(), re.M)),
                    int(name != "vm/max_map_count"))


def test_every_option_has_a_test(check, lab):
    """Each option of the option table occurs in the text of a test or benchmark."""
    text = "\n".join(path.read_text(errors="replace") for kind in TESTS
                     for path in (ROOT / "tests").rglob(kind))
    for name, of in sorted(options(lab).items()):
        check.that(re.search(rf"(?<![\w-])--{re.escape(name)}(?![\w-])", text),
                   f"--{name} of {sorted(of)}: no test has it")


@live
def test_processes_that_cannot_be_listed(check, lab):
    """If faultscope cannot list /proc, it says that existing children are not watched. It does not
    say that a cgroup or a container has no process."""
    if BUILD.name == "san":
        raise Skip("the sanitizer must be loaded before other libraries")
    if not shutil.which("gcc"):
        raise Skip("no gcc")
    library = lab.dir / "no_listing.so"
    source = Path(__file__).with_name("no_listing.c")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    work = lab.spawn(["sleep", "60"])
    for words in (("--children",), ("diagnose",), ("memory",)):
        ran = lab.faultscope(*words, "-p", work.pid, "-d", "0.2",
                             env={**os.environ, "LD_PRELOAD": str(library)})
        check.equal(f"{words}: status", ran.returncode, INCOMPLETE)
        check.that("not watched: child processes: Too many open files" in ran.err,
                   f"{words}: {ran.err}")
    for words in (("memory", "--cgroup", "/"), ("diagnose", "--container", "0123456789ab")):
        ran = lab.faultscope(*words, "-d", "0.2", env={**os.environ, "LD_PRELOAD": str(library)})
        check.that(ran.returncode in (FAILED, USAGE), f"{words}: status {ran.returncode}")
        check.that("Too many open files" in ran.err, f"{words}: {ran.err}")
        check.that("no process" not in ran.err, f"{words}: {ran.err}")
