# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The man page, the help and the completions: they parse, and they agree."""

import re
import shutil

from harness import Skip

COMMANDS = ["", "run", "doctor", "triage", "schema", "completion", "man"]
PARSERS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


def options_of_help(lab, command):
    ran = lab.faultscope(*command.split(), "--help")
    assert ran.returncode == 0 and not ran.err, ran.err
    return set(re.findall(r"^\s+(?:-\w, |    )(--[a-z][a-z-]*)", ran.out, re.M))


def check_completion(check, lab, shell):
    script = lab.dir / f"faultscope.{shell}"
    ran = lab.faultscope("completion", shell)
    check.equal("status", ran.returncode, 0)
    script.write_text(ran.out)
    for command in COMMANDS[:4]:
        for option in options_of_help(lab, command):
            check.that(option.removeprefix("--") in ran.out, f"{option} is not completed")
    if not shutil.which(shell):
        raise Skip(f"{shell} is missing")
    parsed = lab.call(*PARSERS[shell], script)
    check.equal("status of the parser", parsed.returncode, 0)
    check.equal("what the parser says", parsed.out + parsed.err, "")


def test_completion_bash(check, lab):
    check_completion(check, lab, "bash")


def test_completion_zsh(check, lab):
    check_completion(check, lab, "zsh")


def test_completion_fish(check, lab):
    check_completion(check, lab, "fish")


def test_completion_of_no_shell(check, lab):
    for words in (["completion"], ["completion", "csh"]):
        ran = lab.faultscope(*words)
        check.equal(f"status of {words}", ran.returncode, 2)
        check.that(ran.err.startswith("faultscope: "), f"message {ran.err!r}")


def test_man_page_renders(check, lab):
    page = lab.dir / "faultscope.8"
    page.write_text(lab.faultscope("man").out)
    if shutil.which("mandoc"):
        ran = lab.call("mandoc", "-T", "lint", "-W", "warning", page)
    elif shutil.which("man"):
        ran = lab.call("man", "--warnings", "-l", "-T", "utf8", page, env={"MANROFFOPT": "-ww"})
        ran.out = ""
    else:
        raise Skip("neither mandoc nor man is there")
    check.equal("warnings", ran.out + ran.err, "")
    check.equal("status", ran.returncode, 0)


def test_man_page_has_every_option(check, lab):
    page = lab.faultscope("man").out.replace("\\-", "-")
    for command in COMMANDS:
        options = options_of_help(lab, command)
        check.that(command in ("schema", "completion", "man") or len(options) > 3,
                   f"help of {command!r} has options {sorted(options)}")
        for option in options:
            check.that(re.search(re.escape(option) + r"\b", page), f"{option} is not in the page")
        check.that(command in page, f"the command {command} is not in the page")


def test_help_fits_a_terminal(check, lab):
    for command in COMMANDS:
        for line in lab.faultscope(*command.split(), "--help").out.splitlines():
            check.that(len(line) <= 100, f"{command} --help: a line of {len(line)} columns")
