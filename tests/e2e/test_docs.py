# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that man pages, --help, completions and `explain` can be parsed and agree with each other.
"""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from harness import ROOT, Skip, command_names, complaint

# commands that have no options of their own
ABOUTS = ("meaning", "detection", "confirm", "workaround", "fix", "confused_with")
WITHOUT_OPTIONS = ("explain", "schema", "completion", "man")
PARSERS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


def commands(lab):
    """Returns the names of all commands in --help; "" stands for no command."""
    return ["", *command_names(lab.faultscope("--help").out)]


def options_of_help(lab, command):
    ran = lab.faultscope(*command.split(), "--help")
    assert ran.returncode == 0 and not ran.err, ran.err
    return set(re.findall(r"^\s+(?:-\w, |    )(--[a-z][\w.-]*)", ran.out, re.M))


def diagnoses(lab):
    return [json.loads(line) for line in lab.faultscope("explain", "--json").out.splitlines()]


def check_completion(check, lab, shell):
    script = lab.dir / f"faultscope.{shell}"
    ran = lab.faultscope("completion", shell)
    check.equal("status", ran.returncode, 0)
    script.write_text(ran.out)
    for command in set(commands(lab)) - set(WITHOUT_OPTIONS):
        for option in options_of_help(lab, command):
            check.that(option.removeprefix("--") in ran.out, f"{option} is not completed")
    for one in diagnoses(lab):
        check.that(one["id"] in ran.out, f"explain {one['id']} is not completed")
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


def test_man_pages_render(check, lab):
    pages = []
    for command in commands(lab):
        pages.append(lab.dir / f"faultscope{command and '-' + command}.8")
        pages[-1].write_text(lab.faultscope("man", *command.split()).out)
    if shutil.which("mandoc"):
        ran = lab.call("mandoc", "-T", "lint", "-W", "warning", *pages)
    elif shutil.which("man"):
        ran = lab.call("man", "--warnings", "-l", "-T", "utf8", *pages, env={"MANROFFOPT": "-ww"})
        ran.out = ""
    else:
        raise Skip("neither mandoc nor man is there")
    check.equal("warnings", ran.out + ran.err, "")
    check.equal("status", ran.returncode, 0)


def test_man_pages_have_their_options(check, lab):
    """The man page of each command has the options of the command's --help, and no other."""
    for command in commands(lab):
        page = lab.faultscope("man", *command.split()).out.replace("\\-", "-")
        has = set(re.findall(r"\\fB(--[\w.-]+)\\fR", page))
        check.equal(f"options of {command!r}", has, options_of_help(lab, command))
        check.that("\n.SH EXAMPLES\n" in page, f"{command!r}: no examples")
        check.that(f"faultscope-{command} " in page or not command, f"{command!r}: no name")
    for one in diagnoses(lab):
        page = lab.faultscope("man", "explain").out.replace("\\-", "-")
        check.that(re.search(rf"{one['id']}.*\n(\\&)?{re.escape(one['title'][:30])}", page),
                   f"{one['id']} is not in the page of explain")


def test_man_pages_are_built(check, lab):
    """The Makefile lists each command, and the main man page refers to each page."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"^COMMANDS := (.*)$", makefile, re.M)[1].split()
    check.equal("commands", sorted(listed), sorted(filter(None, commands(lab))))
    page = lab.faultscope("man").out
    for command in listed:
        check.that(f".BR faultscope\\-{command} (8)" in page, f"{command} is not in the main page")


def test_man_of_no_command(check, lab):
    ran = lab.faultscope("man", "diagnoze")
    check.equal("status", ran.returncode, 2)
    check.that("diagnose" in ran.err, f"message {ran.err!r}")


def test_help_has_what_it_names(check, lab):
    """Each --help has examples that the parser accepts. The text refers only to sections that
    exist."""
    for command in commands(lab):
        text = lab.faultscope(*command.split(), "--help").out
        for section in re.findall(r"\(see ([A-Z]+)\)", text):
            check.that(f"\n{section.capitalize()}" in text, f"{command!r} lacks {section}")
        examples = re.search(r"\nExamples:\n((?:  .*\n)+)", text)
        check.that(examples, f"{command!r}: no examples")
        for line in re.findall(r"^  (\S.*)$", examples[1] if examples else "", re.M):
            words = shlex.split(re.split(r" [<>|] ", line.removeprefix("dmesg | "))[0])
            words = words[1:] if words[0] == "sudo" else words
            end = words.index("--") if "--" in words else len(words)
            ran = lab.faultscope(*words[1:end], *([] if "explain" in words else ["--help"]),
                                 stdin=subprocess.DEVNULL)
            check.that(ran.returncode in (0, 1 if "-" in words else 0), f"{line}: {ran.err}")
            check.equal(f"{line}: command", words[1] if command else "", command)


def test_help_fits_a_terminal(check, lab):
    check.that(len(commands(lab)) >= 17, f"only {commands(lab)}")
    for command in commands(lab):
        for line in lab.faultscope(*command.split(), "--help").out.splitlines():
            check.that(len(line) <= 100, f"{command} --help: a line of {len(line)} columns")


def test_explain_lists_all(check, lab):
    ran = lab.faultscope("explain", "--width", "80")
    check.equal("status", ran.returncode, 0)
    listed = [line.split()[0] for line in ran.out.splitlines() if line[0] != " "]
    known = diagnoses(lab)
    check.equal("ids", listed, [one["id"] for one in known])
    check.that(len(listed) > 40, f"only {len(listed)} diagnoses")
    for line in ran.out.splitlines():
        check.that(len(line) <= 80, f"a line of {len(line)} columns")
    for one in known:
        check.equal(f"{one['id']}: schema", complaint(one), "")


def test_explain_one(check, lab):
    for word in ("M01", "m01", "m1", "max-map-count-reached", "Max-Map-Count-R"):
        ran = lab.faultscope("explain", word, "--width", "60")
        check.equal(f"status of {word}", ran.returncode, 0)
        check.that(ran.out.startswith("critical[M01 max-map-count-reached]: "), f"{word}: {ran.out[:60]!r}")
        for line in ran.out.splitlines():
            check.that(len(line) <= 60 or line.startswith("    $ "), f"too long: {line!r}")
        for heading in ("what it means", "workaround", "fix", "public reports"):
            check.that(f"\n  {heading}\n" in ran.out, f"{word}: no part {heading!r}")
    two = lab.faultscope("explain", "F02", "K01", "--json")
    check.equal("ids", [json.loads(line)["id"] for line in two.out.splitlines()], ["F02", "K01"])


def test_explain_prints_equal_text_and_json(check, lab):
    """All of a finding's JSON is in its text, and nothing else is in these parts of the text."""
    known = [json.loads(line) for line in lab.faultscope("explain", "--json").out.splitlines()]
    ids = [one["id"] for one in known]
    text = lab.faultscope("explain", *ids, "--width", "1000").out
    parts = dict(zip(ids, re.split(r"^(?=\w+\[[A-Z]\d\d )", text, flags=re.M)[1:]))
    check.equal("number of texts", len(parts), len(ids))
    for one in known:
        title, *sections = re.split(r"^  (?=[a-z])", parts[one["id"]], flags=re.M)
        found = {name: " ".join(words.split())
                 for name, _, words in (section.partition("\n") for section in sections)}
        check.equal(f"{one['id']}: title", title.splitlines()[0],
                    f"{one['severity']}[{one['id']} {one['slug']}]: {one['title']}")
        check.equal(f"{one['id']}: public reports", found.pop("public reports", ""),
                    " ".join(one["sources"]))
        check.equal(f"{one['id']}: sections", list(found.values()),
                    [" ".join(one[key].split()) for key in ABOUTS if one[key]])


def test_explain_what_is_not(check, lab):
    """`explain` of an unknown id names similar ids, and prints no explanation."""
    ran = lab.faultscope("explain", "M01", "M99")
    check.equal("status", ran.returncode, 2)
    check.equal("standard output", ran.out, "")
    check.that("M99" in ran.err and "M09, M19" in ran.err, f"message {ran.err!r}")
    # an id has a letter and one to three digits; any other word is the text of a message
    for word, said in (("M999", "no finding has this id"),
                       ("M9999", "no known message"), ("9", "no known message"),
                       ("M", "no known message"), ("M9x", "no known message")):
        ran = lab.faultscope("explain", word)
        check.that(said in ran.err and not ran.out, f"{word}: {ran.err!r}")
    for word in ("", "x" * 5000, "\033[31m", "hello world"):
        ran = lab.faultscope("explain", word)
        check.equal(f"status of {word[:9]!r}", ran.returncode, 1)
        check.equal(f"standard output of {word[:9]!r}", ran.out, "")
        check.that(ran.err.startswith("faultscope: explain") and "\033" not in ran.err
                   and len(ran.err) < 300, f"message {ran.err!r}")


def candidates(lab, *words, log=None):
    if log is not None:
        (lab.dir / "log").write_text(log, encoding="utf-8")
    with open(lab.dir / "log" if log is not None else "/dev/null", "rb") as given:
        ran = lab.faultscope("explain", "--json", *words, stdin=given)
    found = json.loads(ran.out)
    return ran, [one["id"] for one in found["candidates"]], complaint(found)


def test_explain_a_message(check, lab):
    """`explain` of words, of a message, or of a log on standard input names candidate findings.
    `explain` says that these candidates are no diagnosis."""
    for words, first in ((("unable to mmap 320 bytes from file: Cannot allocate memory (12)",), "M01"),
                         (("EMFILE",), "F01"), (("Too", "many", "open", "files"), "F01"),
                         (("dataloader",), "P01"), (("Bus error",), "P01"),
                         (("exit code 137",), "P17")):
        ran, ids, complaint = candidates(lab, *words)
        check.equal(f"status of {words}", ran.returncode, 0)
        check.equal(f"first candidate of {words}", ids[:1], [first])
        check.that(not complaint, f"{words}: schema: {complaint}")
        text = lab.faultscope("explain", "--width", "70", *words).out
        check.that("Candidates, not a verdict" in text, f"{words}: {text[:90]!r}")
        check.that(f"\n  {first}  " in text and "\n      check: $ " in text, f"{words}: {text!r}")
        for line in text.splitlines():
            check.that(len(line) <= 70 or "check: $ " in line, f"too long: {line!r}")
    log = ("Jan 02 10:00:00 host app[7]: started\n"
           "Jan 02 10:00:09 host app[7]: accept4() failed (24: Too many open files)\n")
    ran, ids, _ = candidates(lab, "-", log=log)
    check.equal("of a log", (ran.returncode, ids[:1]), (0, ["F01"]))


def test_explain_pasted_messages(check, lab):
    """Messages as people paste them, written without knowledge of the table of messages. The right
    finding is the first candidate for 90 %, and among the first three for 97 %. In
    pasted_messages.jsonl, `ids` lists the findings that are right as the first candidate. A finding
    in `also` is right only for the 97 %, among the first three. If `ids` is empty, no limit causes
    the message, and the right answer has no candidate."""
    texts = [json.loads(line) for line in
             Path(__file__).with_name("pasted_messages.jsonl").read_text("utf-8").splitlines()]
    first, three = 0, 0
    for one in texts:
        found = json.loads(lab.faultscope("explain", "--json", one["text"]).out)
        ids = [candidate["id"] for candidate in found["candidates"]] or [None]
        right = one["ids"] or [None]
        first += ids[0] in right
        three += bool({*ids[:3]} & {*right, *one.get("also", ())})
    check.that(len(texts) > 250 and first >= 0.9 * len(texts), f"first: {first} of {len(texts)}")
    check.that(three >= 0.97 * len(texts), f"among three: {three} of {len(texts)}")


def test_explain_checks_by_a_command(check, lab):
    """The check of a candidate is the first command that confirms the finding."""
    known = [json.loads(line) for line in lab.faultscope("explain", "--json").out.splitlines()]
    commands = {one["id"]: [line[2:] for line in one["confirm"].splitlines()
                            if line.startswith("$ ")] for one in known}
    seen = 0
    for one in known:
        found = json.loads(lab.faultscope("explain", "--json", one["title"]).out)
        for candidate in found["candidates"]:
            check.equal(f"check of {candidate['id']}", candidate["check"],
                        (commands[candidate["id"]] or [None])[0])
            seen += 1
    check.that(seen > len(known), f"{seen} candidates")


def test_explain_says_what_it_did_not_read(check, lab):
    ran, ids, _ = candidates(lab, "-", log="exit code 137\n" + "x\n" * 200_000)
    check.equal("of a long log", (ran.returncode, ids[:1]), (7, ["P17"]))
    check.that("256 KiB" in ran.err, f"message {ran.err!r}")


def test_explain_of_its_own_limit(check, lab):
    """If the exceeded limit belongs to the program itself, such as Java's heap limit, `explain`
    says so and names no candidate finding."""
    ran = lab.faultscope("explain", "java.lang.OutOfMemoryError: Java heap space")
    check.equal("status", ran.returncode, 0)
    check.that("No limit or fault that faultscope watches" in ran.out, f"{ran.out!r}")


def test_explain_flags_what_it_says(check, lab):
    """`explain` marks, in text and JSON, the findings that faultscope can explain but cannot
    detect."""
    for one in diagnoses(lab):
        text = lab.faultscope("explain", one["id"]).out
        check.equal(f"{one['id']} says it is not flagged", "This version does not report this finding" in text,
                    not one["detected"])
