# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests that commands in the documents work, and that the names which the documents use exist.

Commands that only read files are run in a directory with the files that the documents name. For
commands that need root, the test only parses the options, since live tests run these commands. Each
command that is neither run nor parsed has a reason in the Markdown source: <!-- not run: REASON
-->.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

from harness import BUILD, FAULTSCOPE, ROOT, Skip

PAGES = [ROOT / "README.md", ROOT / "SECURITY.md",
         *sorted(path for path in (ROOT / "docs").rglob("*.md")
                 if path.parent.name not in ("findings", "design")),
         *sorted((ROOT / ".github").rglob("*.md"))]
FENCE = re.compile(r"((?:<!-- not run: [^>]+ -->\n)?)^```(\w*)\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`((?:sudo )?faultscope [^`]*)`")
# First words that mark a code block as commands. A code block that begins with any other word is
# output.
COMMANDS = ("faultscope", "sudo", "make", "tools/", "dmesg", "curl", "jq", "kubectl", "apt",
            "systemctl", "mkdir", "groupadd", "setcap", "prometheus", "FS_", "#")
PLACES = {"PID": "1", "CGROUP": "/system.slice/x.service", "ID": "M01", "FILE": "crash.log",
          "COMMAND": "bash"}
EXAMPLES = ROOT / "docs/examples"
# Accepted exit statuses: 0, 3 (there are findings) and 7 (events were lost).
WELL = (0, 3, 7)
# Commands that only read, and whose output depends on the machine. The test does not run these
# commands.
READING = ("curl", "systemctl status", "systemctl cat", "systemctl show", "journalctl",
           "promtool query", "sysctl fs.", "sysctl vm.",
           "grep", "cat /proc/", "cat /sys/", "lsmod", "coredumpctl list")
# Options of other programs that documents mention in running text.
FOREIGN = {"--enable-feature=exemplar-storage", "--pid=host", "--perf-basic-prof",
           "--interpreted-frames-native-stack"}


def blocks(path):
    """Yields (whether the block is not run, lines) of each block of commands, with continued lines
    joined."""
    for reason, language, body in FENCE.findall(path.read_text(encoding="utf-8")):
        if language in ("", "sh") and body.startswith(COMMANDS) and not re.match(
                r"(# )?faultscope \d|# faultscope ", body):
            lines, open_line = [], ""
            for line in body.splitlines():
                open_line += line
                if open_line.count("'") % 2:
                    open_line += "\n"
                    continue
                if open_line and not open_line.startswith("#"):
                    lines.append(open_line)
                open_line = ""
            yield bool(reason), lines


def session_commands(path):
    """Yields the commands in a block of output: lines that begin with a prompt."""
    for reason, _, body in FENCE.findall(path.read_text(encoding="utf-8")):
        if not reason:
            yield from re.findall(r"^[$#] ((?:sudo )?faultscope .*)$", body, re.M)


def words_of(command):
    """Returns the arguments of faultscope in a command line, without sudo, comment, pipe and
    redirection."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|><")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = []
    for word in lexer:
        if word and word[0] in "|><":
            if "faultscope" in words:
                break
            words = []
            continue
        words.append(word)
    words = words[1:] if words[:1] == ["sudo"] else words
    return [PLACES.get(word, word) for word in words[1:]] if words[:1] == ["faultscope"] else None


def check_parsed(check, lab, name, words):
    """Checks that the parser knows a command and its options. The test adds --help, so that the
    command does not run."""
    end = words.index("--") if "--" in words else len(words)
    ran = lab.faultscope(*words[:end], *(() if words[:1] == ["explain"] else ("--help",)))
    check.that(ran.returncode == 0, f"{name}: {words}: {ran.err.strip()}")


def make_files(lab):
    """Makes the files that the documents name."""
    for name in ("leak", "monday", "job", "crash"):
        shutil.copy(EXAMPLES / "too-many-mappings.fsr", lab.dir / f"{name}.fsr")
    shutil.copy(EXAMPLES / "memory-limit.fsr", lab.dir / "friday.fsr")
    log = (ROOT / "tests/triage/logs/6.1_left_timer.log").read_bytes()
    for name in ("crash.log", "a.log", "service.log"):
        (lab.dir / name).write_bytes(log)
    subprocess.run(f"xz -c a.log > b.log.xz; {FAULTSCOPE} report leak.fsr --format jsonl "
                   "> leak.jsonl 2>/dev/null", shell=True, cwd=lab.dir, check=False)


def test_examples_are_current(check, lab):
    """The example pages equal the pages that this build makes from the example recordings. After an
    intended change of the pages, update the examples with FS_MAKE_EXAMPLES=1 tests/e2e/run.py
    --no-live --only examples_are_current"""
    for recording in sorted(EXAMPLES.glob("*.fsr")):
        made = lab.dir / f"{recording.stem}.html"
        lab.faultscope("report", recording, "-o", made)
        page = recording.with_suffix(".html")
        if os.environ.get("FS_MAKE_EXAMPLES"):
            shutil.copy(made, page)
        check.that(made.read_bytes() == page.read_bytes(), f"{page.name} is of another build")


def runs_here(command):
    """Returns whether a command needs no rights, no other machine and no file from elsewhere."""
    first = command.split()[0]
    return first == "jq" or first == "faultscope" and not re.search(
        r"(^|\s)/|--journal|finding\.fsr|bash_completion", command)


def answers(printed):
    """Returns whether the output of a documented jq command has more than empty lists and null."""
    return bool(re.sub(r'"\w+":|null|[\s{}\[\],]', "", printed))


def check_targets(check, name, command):
    """Checks that make targets and scripts in a command exist."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    words = shlex.split(command, comments=True)
    for word in words[1:] if words[0] == "make" else ():
        check.that("=" in word or re.search(rf"^{re.escape(word)}:", makefile, re.M),
                   f"{name}: make {word}?")
    if words[0].startswith("tools/"):
        check.that((ROOT / words[0]).exists(), f"{name}: {words[0]}?")


def test_commands_of_documents(check, lab):
    make_files(lab)
    ran = parsed = 0
    path = f"{BUILD}:/usr/local/bin:/usr/bin:/bin"
    for page in PAGES:
        name = page.relative_to(ROOT)
        lines = [line for left_out, lines in blocks(page) for line in lines if not left_out]
        for command in lines:
            words = words_of(command)
            if command.startswith(("make", "tools/")):
                check_targets(check, name, command)
            elif runs_here(command):
                if command.startswith("jq") and not shutil.which("jq"):
                    raise Skip("jq is missing: tools/setup.sh test")
                done = subprocess.run(["sh", "-c", command], cwd=lab.dir, env={"PATH": path},
                                      capture_output=True, text=True, timeout=60, check=False)
                # A documented command with `jq -e` exits with 0 or 1, depending on its result.
                well = WELL if "jq -e" not in command else (0, 1)
                check.that(done.returncode in well,
                           f"{name}: {command!r} ends with {done.returncode}: {done.stderr[:200]}")
                check.that(not command.startswith("jq") or answers(done.stdout),
                           f"{name}: {command!r} finds nothing: {done.stdout[:80]!r}")
                ran += 1
            elif words is not None:
                check_parsed(check, lab, name, words)
                parsed += 1
            else:
                check.that(command.startswith(READING), f"{name}: {command!r} is not run: why?")
        for command in [*session_commands(page),
                        *INLINE.findall(page.read_text(encoding="utf-8").replace("\n", " "))]:
            # Lines with brackets or bars are synopses (forms of a command), not commands.
            words = words_of(command) if "[" not in command and "|" not in command else None
            if words and (words[0] not in ("run", "explain") or "--" in words):
                check_parsed(check, lab, name, words)
                parsed += 1
    check.that(ran > 25, f"only {ran} commands ran")
    check.that(parsed > 60, f"only {parsed} commands were parsed")


def test_options_in_documents_exist(check, lab):
    listed = subprocess.run([BUILD / "tables", "options"], capture_output=True, text=True,
                            check=False).stdout if (BUILD / "tables").exists() else None
    if listed is None:
        raise Skip("build/tables is not built: make build/tables")
    known = set(re.findall(r"^\S+ (--[\w.-]+)", listed, re.M))
    named = 0
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for option in re.findall(r"`(--[a-z][\w.-]*)[^`]*`", text):
            named += 1
            whole = re.search(rf"`({re.escape(option)}[^`]*)`", text)[1]
            check.that(option in known or whole in FOREIGN,
                       f"{page.relative_to(ROOT)}: {whole} is no option")
    check.that(named > 60, f"only {named} options are named")


def test_metrics_in_documents_exist(check, lab):
    tables = BUILD / "tables"
    if not tables.exists():
        raise Skip("build/tables is not built: make build/tables")
    listed = subprocess.run([tables, "metrics"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"`(faultscope_\w+)`", listed))
    rules = (ROOT / "deploy/prometheus/rules.yml").read_text(encoding="utf-8")
    recorded = set(re.findall(r"record: \w+:(\w+):", rules))
    named = set()
    for page in PAGES:
        for metric in re.findall(r"\bfaultscope_[a-z_]+", page.read_text(encoding="utf-8")):
            named.add(metric)
            check.that(metric in known | recorded or metric in ("faultscope_", ),
                       f"{page.relative_to(ROOT)}: {metric} is no metric")
    check.that(len(named) > 20, f"only {named}")


def test_symptoms_lead_to_their_findings(check, lab):
    """docs/symptoms.md has a table row for each symptom, with findings. The first candidate of
    `explain` for the symptom is the first finding of the row."""
    text = (ROOT / "docs/symptoms.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+?)` \| .*? \| (\[.*) \|$", text, re.M)
    check.that(len(rows) > 20, f"only {len(rows)} rows")
    for symptom, findings in rows:
        ran = lab.faultscope("explain", "--json", symptom)
        told = [one["id"] for one in json.loads(ran.out)["candidates"]] if ran.out else []
        named = re.findall(r"\[(\w\d\d)\]", findings)
        check.equal(f"{symptom}: first candidate", told[:1], named[:1])
        check.that(set(named) <= set(told), f"{symptom}: {set(named) - set(told)} is not told")
