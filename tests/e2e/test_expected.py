# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares outputs for recordings and crash logs with expected checksums (expected.py)."""
import json
import os
import re

from expected import compare, compare_sum, environment, helper, made, said_by
from harness import FAULTSCOPE, RECORDINGS, ROOT, command_names

TRIAGE = ROOT / "tests" / "triage"
SEEDS, DAMAGED = range(1, 11), 160
FORMATS = ("html", "csv", "csv-time", "folded", "folded-faults", "folded-stall", "perf",
           "speedscope", "trace", "textfile")
SOME = ("forecast_of_a_leak", "crash_after_refusal", "signals_of_bad_accesses-fatal",
        "faults_of_each_kind", "descriptors_of_each_kind", "brief_children_of_run-close",
        "probing_reads_of_the_kernel", "faults_touched_by_threads-4")


def reports_of_events(check, lab, seeds, *formats):
    for seed in seeds:
        name = made(lab, seed)
        for one in formats:
            text = said_by(lab, "report", "--format", one, f"{name}.fsr", cwd=lab.dir)
            compare(check, f"{name}/{one}", text)


def test_kept_outputs_of_events(check, lab):
    reports_of_events(check, lab, SEEDS, "text")


def test_kept_lines_of_events(check, lab):
    reports_of_events(check, lab, SEEDS, "jsonl")


def test_kept_pages_of_events(check, lab):
    reports_of_events(check, lab, SEEDS[:3], "html")


def test_kept_formats_of_events(check, lab):
    reports_of_events(check, lab, SEEDS[:3], *FORMATS[1:])


def test_kept_outputs_of_all_probes(check, lab):
    """Compares outputs for recordings that have all probes and all counters."""
    for seed in SEEDS[:3]:
        name = made(lab, seed, "all")
        for words in (*(("report", "--format", one) for one in ("text", "jsonl", "html", "csv", "csv-time")),
                      ("--summary", "--replay"), ("--width", "200", "--replay"), ("host", "--replay")):
            text = said_by(lab, *words, f"{name}.fsr", cwd=lab.dir)
            compare(check, f"{name}/{' '.join(words).replace('--', '')}", text)
        for keys in ("1", "2", "3", "4", "5", "6", "^M"):
            compare(check, f"{name}/screen {keys}",
                    helper(lab, "screens", f"{name}.fsr", 170, 60, "mono", keys))
        for least in (16, 30, 60):
            compare(check, f"{name}/screen of {least} lines",
                    helper(lab, "screens", f"{name}.fsr", 100, least, "colour", "1"))


def test_kept_lines_of_what_is_retold(check, lab):
    """Compares the JSON lines of a recording that begins with the final state of another recording.
    """
    for seed in SEEDS[:3]:
        name = made(lab, seed)
        helper(lab, "retold_recording", f"{name}.fsr", "retold.fsr")
        compare(check, f"{name}/retold", said_by(lab, "report", "--format", "jsonl", "retold.fsr",
                                                 cwd=lab.dir))
        (lab.dir / "retold.fsr").unlink()


def test_kept_views_of_events(check, lab):
    """Compares outputs for recordings of events, from all commands except `report`."""
    one, other = (f"{made(lab, seed)}.fsr" for seed in SEEDS[:2])
    for name, words in {
            "info": ("info", one), "info-json": ("info", "--json", one),
            "replay": ("--replay", one, "--summary"),
            "replay-wide": ("--replay", one, "--width", "200", "--no-unicode"),
            "replay-sorted": ("--replay", one, "--sort", "faults.major", "--top", "5"),
            "replay-folded": ("--replay", one, "--format", "folded"),
            "replay-least": ("--replay", one, "--min-severity", "critical", "--color", "always"),
            "replay-gates": ("--replay", one, "--fail-on", "maps.peak>60%,failed_calls>0,fds.peak<5000",
                             "--github"),
            "addresses": ("--replay", one, "--json", "--addresses"),
            "assumed": ("report", "--assume", "vm.max_map_count=262144", one),
            "redacted": ("report", "--redact", one),
            "filtered": ("report", "--comm", "proc101[0-9]", one),
            "host": ("host", "--replay", one), "host-other": ("host", "--replay", other),
            "host-json": ("host", "--json", "--replay", other),
            "diff": ("diff", one, other), "diff-json": ("diff", "--json", one, other),
            "diff-html": ("diff", "--html", one, other)}.items():
        compare(check, f"events/{name}", said_by(lab, *words, cwd=lab.dir))


# Key presses in the live view (screens.c) that reach each page and each function.
KEYS = ("1", "2", "3", "4", "5", "6", "t", "r", "s", "S", "/proc101^M", "?", "^M", "6^M", "6jj^M",
        "4jjj", "5jj^M", "d", "1d", "G", "Gkk^M", "2ss", "3sr", "4t", "h", "jjjjjjjj^M", "^M2", "+", "-")


def test_kept_screens_of_events(check, lab):
    """Compares the pages of the live view in three sizes and colour modes, after each sequence of
    keys."""
    recording = f"{made(lab, SEEDS[0])}.fsr"
    for keys in KEYS:
        for width, height, how in ((80, 24, "mono"), (150, 60, "colour"), (50, 12, "ascii")):
            compare(check, f"screens/{keys.replace('/', 'find ')}-{width}",
                    helper(lab, "screens", recording, width, height, how, keys))


def test_kept_screens_of_processes(check, lab):
    """Compares the page of each process at several times, with all of its events and addresses."""
    for seed in SEEDS[1:4]:
        recording = f"{made(lab, seed)}.fsr"
        for row in range(18):
            for page in ("^M", "6"):
                keys, scans = page * (page == "6") + "j" * row + "^M", row % 6 + 2
                compare_sum(check, f"screens/{seed}-{keys}", helper(
                    lab, "screens", recording, 170, 120, "addresses", keys, scans))


def test_kept_forecasts_of_patterns(check, lab):
    """Compares forecasts for different patterns of growth, during the recording and at its end."""
    for seed, scans in ((1, 240), (2, 90), (3, 30)):
        name = f"patterns-{seed}"
        helper(lab, "pattern_recording", seed, scans, f"{name}.fsr")
        for one in ("text", "html", "csv-time", "jsonl"):
            text = said_by(lab, "report", "--format", one, f"{name}.fsr", cwd=lab.dir)
            if one == "jsonl":
                text = "".join(line for line in text.splitlines(True) if '"finding"' in line[:20])
            compare(check, f"{name}/{one}", text)
        compare(check, f"{name}/screen", helper(lab, "screens", f"{name}.fsr", 160, 50, "mono", "6"))


def test_kept_histories_of_random_recordings(check, lab):
    """Compares outputs for recordings with births, exits, reused pids and different intervals
    between scans."""
    for seed in SEEDS[:4]:
        name = f"random-{seed}"
        helper(lab, "random_recording", seed, 25, f"{name}.fsr")
        for one in ("text", "html", "csv-time", "textfile", "trace"):
            text = said_by(lab, "report", "--format", one, f"{name}.fsr", cwd=lab.dir)
            compare(check, f"{name}/{one}", text)


def test_kept_outputs_of_resident_memory(check, lab):
    """Compares all outputs for recordings of resident memory, whose rows have every cause and kind.
    """
    for seed in SEEDS[:3]:
        name = f"resident-{seed}.fsr"
        helper(lab, "resident_recording", seed, 2 + 3 * seed, name)
        for words in (("memory", "--replay"), ("memory", "--width", "60", "--no-unicode", "--replay"),
                      ("memory", "--json", "--replay"), ("memory", "--format", "folded", "--replay"),
                      ("memory", "--since", "3s", "--json", "--replay"), ("host", "--replay"),
                      ("host", "--json", "--replay"), ("report",), ("report", "--comm", "proc100[01]"),
                      *(("report", "--format", one)
                        for one in ("jsonl", "html", "folded-memory", "speedscope"))):
            text = said_by(lab, *words, name, cwd=lab.dir)
            compare(check, f"resident-{seed}/{' '.join(words).replace('--', '')}", text)
        compare(check, f"resident-{seed}/screen",
                helper(lab, "screens", name, 160, 60, "mono", "j^M"))
    for words in (("diff",), ("diff", "--json"), ("diff", "--html")):
        text = said_by(lab, *words, "resident-1.fsr", "resident-2.fsr", cwd=lab.dir)
        compare(check, f"resident/{' '.join(words).replace('--', '')}", text)


def test_kept_reports_of_recordings(check, lab):
    for path in sorted(RECORDINGS.glob("*.fsr")):
        compare(check, f"{path.stem}/text", said_by(lab, "report", path.name))


def test_kept_lines_of_recordings(check, lab):
    for path in sorted(RECORDINGS.glob("*.fsr")):
        compare(check, f"{path.stem}/jsonl", said_by(lab, "report", "--format", "jsonl", path.name))


def test_kept_formats_of_recordings(check, lab):
    for name in SOME:
        for one in FORMATS:
            compare(check, f"{name}/{one}", said_by(lab, "report", "--format", one, f"{name}.fsr"))


def logs():
    """Yields (name, text) of the crash logs in corpus, logs and formats.txt of tests/triage."""
    for path in sorted([*(TRIAGE / "corpus").glob("*.log"), *(TRIAGE / "logs").glob("*.log")]):
        yield path.stem, path.read_bytes().decode(errors="replace")
    parts = (TRIAGE / "formats.txt").read_text().split("\n== ")[1:]
    for i, part in enumerate(parts):
        yield f"formats-{i}", part.split("\n", 2)[2]


def triaged(check, lab, how, *words, some=1):
    for i, (name, text) in enumerate(logs()):
        if i % some == 0:
            (lab.dir / "log").write_text(text)
            compare(check, f"triage/{how}/{name}", said_by(lab, "triage", *words, "log",
                                                           cwd=lab.dir))


def test_kept_verdicts_of_logs(check, lab):
    triaged(check, lab, "text", "--explain")


def test_kept_lines_of_logs(check, lab):
    triaged(check, lab, "json", "--json")


def test_kept_texts_of_logs(check, lab):
    triaged(check, lab, "markdown", "--markdown", some=4)
    triaged(check, lab, "html", "--html", some=8)


WAYS = {"stream": (), "narrow": ("--width", "46"), "wide": ("--width", "230", "--top", "3"),
        "ascii": ("--no-unicode", "--color", "always"), "addresses": ("--addresses",),
        "addresses-json": ("--addresses", "--json"), "warnings": ("--min-severity", "warning"),
        "cgroup": ("--cgroup", "/system.slice"), "by-maps": ("--sort", "maps.count"),
        "by-fds": ("--sort", "fds.count"), "by-memory": ("--sort", "memory.rss_bytes"),
        "assumed": ("--assume", "vm.max_map_count=100", "--assume", "fs.file-max=1000"),
        "folded": ("--format", "folded")}


def test_kept_ways_to_show_recordings(check, lab):
    for name in (*SOME, f"{made(lab, SEEDS[2])}"):
        where = lab.dir if name.startswith("events") else RECORDINGS
        for way, words in WAYS.items():
            compare_sum(check, f"{name}/way-{way}",
                        said_by(lab, "replay", "--speed", "0", *words, f"{name}.fsr", cwd=where))


def where_is(lab, name):
    """Returns the directory of a recording."""
    return RECORDINGS if (RECORDINGS / f"{name}.fsr").exists() else lab.dir


def test_kept_ways_to_show_events(check, lab):
    for seed in SEEDS[3:]:
        name = made(lab, seed)
        for way, words in WAYS.items():
            compare_sum(check, f"{name}/way-{way}",
                        said_by(lab, "replay", "--speed", "0", *words, f"{name}.fsr", cwd=lab.dir))


HOSTS = {"text": (), "narrow": ("--width", "44"), "wide": ("--width", "210"), "json": ("--json",),
         "ascii": ("--no-unicode", "--color", "always"),
         "assumed": ("--assume", "fs.file-max=2000", "--assume", "kernel.pid_max=300")}


def test_kept_machines(check, lab):
    """Compares the output of `host` for each recording."""
    for name in (*SOME, *(made(lab, seed) for seed in SEEDS)):
        for how, words in HOSTS.items():
            compare_sum(check, f"{name}/host-{how}", said_by(
                lab, "host", *words, "--replay", f"{name}.fsr", cwd=where_is(lab, name)))


def test_kept_differences(check, lab):
    """Compares outputs of `diff` between each recording and the next one, and of some recordings
    with themselves."""
    names = [*SOME, *(made(lab, seed) for seed in SEEDS)]
    for one, other in [*zip(names, names[1:]), *zip(names[-3:], names[-3:])]:
        for how, words in {"text": (), "narrow": ("--width", "60"), "json": ("--json",),
                           "html": ("--html",)}.items():
            compare_sum(check, f"{one}/diff-{how}-{other}", said_by(
                lab, "diff", *words, where_is(lab, one) / f"{one}.fsr",
                where_is(lab, other) / f"{other}.fsr").replace(str(lab.dir), "DIR")
                .replace(str(RECORDINGS), "RECORDINGS"))


def test_kept_documents(check, lab):
    """Compares man pages, help, completions, and what `explain` says about one finding. The texts of
    other findings are printed by the same code."""
    for command in ("", *command_names(said_by(lab, "--help"))):
        words = command.split()
        compare(check, f"documents/{command or 'all'}/help", said_by(lab, *words, "--help"))
        compare(check, f"documents/{command or 'all'}/man", said_by(lab, "man", *words))
    for shell in ("bash", "zsh", "fish"):
        compare(check, f"documents/completion/{shell}", said_by(lab, "completion", shell))
    compare(check, "documents/explain/M01", said_by(lab, "explain", "M01"))


def test_help_of_a_command(check, lab):
    """`help COMMAND` prints what `COMMAND --help` prints."""
    for command in command_names(said_by(lab, "--help")):
        check.equal(f"help {command}", said_by(lab, "help", command),
                    said_by(lab, command, "--help"))
    check.equal("help", said_by(lab, "help"), said_by(lab, "--help"))
    for word, near in ("recrod", "did you mean: faultscope record"), ("nonsense", "--help"):
        ran = lab.faultscope("help", word)
        check.equal(f"help {word}: status", ran.returncode, 2)
        check.that(f"help {word}: no such command" in ran.err and near in ran.err, ran.err)


# Gates of which some pass, some fail, and some have no value.
GATES = ("maps.peak>1,fds.peak<100000,swap.peak>1G,failed_calls>0",
         "phase.minor_faults>0,phase.maps.kept>100000,findings.warning>0,faults.stall_ns>1")


def test_kept_gates(check, lab):
    """Compares JUnit files and the text of gates, for recordings with phases, hostile names and
    bytes that are not UTF-8."""
    for i, name in enumerate((b"<zz>&\"'", b"\xff\xc3(\xe2\x82",
                              b"\x01\x1b[1m\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae")):
        helper(lab, "hostile_recording", os.fsdecode(name), f"hostile-{i}.fsr")
    for name in ("hostile-0", "hostile-1", "hostile-2", made(lab, 1), made(lab, 2, "all"), *SOME[:3]):
        for i, gates in enumerate(GATES):
            text = said_by(lab, "--replay", where_is(lab, name) / f"{name}.fsr", "--quiet",
                           "--fail-on", gates, "--junit", lab.dir / "gates.xml")
            compare(check, f"{name}/gates-{i}", text)
            compare(check, f"{name}/junit-{i}", (lab.dir / "gates.xml").read_text(errors="replace"))


def test_kept_schema(check, lab):
    """Compares the JSON Schema without its titles and descriptions."""
    schema = json.loads(said_by(lab, "schema"), object_hook=lambda one: {
        key: "..." if key in ("title", "description") and isinstance(value, str) else value
        for key, value in one.items()})
    compare(check, "schema", json.dumps(schema, indent=1) + "\n")


class Dice:
    """A pseudorandom sequence that is equal in all versions of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, most):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % most


def other_digit(dice, text):
    """Returns the text with one hexadecimal number changed."""
    numbers = list(re.finditer(r"\b(?:0x)?[0-9a-f]{4,16}\b", text))
    if not numbers:
        return text
    one = numbers[dice.below(len(numbers))]
    at = one.end() - 1 - dice.below(4)
    return text[:at] + "0123456789abcdef"[dice.below(16)] + text[at + 1:]


def damaged(dice, texts):
    """Returns a log that is cut, lacks lines, continues as another log, or has other numbers."""
    lines, other = (texts[dice.below(len(texts))].splitlines() for _ in range(2))
    how = dice.below(5)
    if how == 0:
        lines = lines[dice.below(len(lines)):]
    elif how == 1:
        lines = lines[:1 + dice.below(len(lines))] + other[dice.below(len(other)):]
    elif how == 2:
        lines = [line for line in lines if dice.below(4)]
    elif how == 3:
        lines = [line for pair in zip(lines, other) for line in pair]
    else:
        lines = [other_digit(dice, line) for line in lines]
    return "\n".join(lines) + "\n"


def test_kept_verdicts_of_damaged_logs(check, lab):
    dice, texts = Dice(1), [text for _, text in logs()]
    for i in range(DAMAGED):
        (lab.dir / "log").write_text(damaged(dice, texts))
        compare(check, f"damaged/{i}", said_by(lab, "triage", "--json", "log", cwd=lab.dir))
        if i % 4 == 0:
            compare(check, f"damaged/{i}/text", said_by(lab, "triage", "--explain", "log",
                                                        cwd=lab.dir))


# Values at which an address, an error code or another number of a log changes its meaning.
BOUNDS = ("0000000000000000", "0000000000000008", "0000000000000fff", "0000000000001000", "0002",
          "0010", "0011", "0014", "00007fffffffffff", "0000800000000000", "dead000000000100",
          "dead000000000122", "6b6b6b6b6b6b6b6b", "5a5a5a5a5a5a5a5a", "ffff888000000000",
          "ffffc90000000000", "dffffc0000000000", "ffffffff81000000", "ffffffffc0000000",
          "ffffffffffffffea", "fffffffffffff000", "96000004", "96000044", "deadbeef")


def with_bounds(dice, text):
    """Replaces on average one in eight hexadecimal numbers of the text by a value of BOUNDS."""
    return re.sub(r"\b(?:[0-9a-f]{16}|[0-9a-f]{8}|[0-9a-f]{4})\b",
                  lambda one: one[0] if dice.below(8) else BOUNDS[dice.below(len(BOUNDS))], text)


def verdicts_of_altered(check, lab, seed):
    """Compares verdicts of `triage` on logs with changed numbers, some also damaged. The output
    formats alternate between text and JSON lines."""
    dice, texts = Dice(seed), [text for _, text in logs()]
    for i in range(DAMAGED):
        text = damaged(dice, texts) if i % 4 == 0 else texts[dice.below(len(texts))]
        (lab.dir / "log").write_text(with_bounds(dice, text))
        compare_sum(check, f"altered/{seed}-{i}", said_by(
            lab, "triage", "--explain" if i % 3 == 0 else "--json", "log", cwd=lab.dir))


def test_kept_verdicts_of_altered_logs(check, lab):
    for seed in range(3, 6):
        verdicts_of_altered(check, lab, seed)


def test_kept_verdicts_of_more_altered_logs(check, lab):
    for seed in range(6, 9):
        verdicts_of_altered(check, lab, seed)


# Format of a line that the flight recorder's BPF program writes to its trace instance.
MARK = ("faultscope! {what} {verdict} ip={ip:x} at={at:x} error={error:x} pid={pid} area={area:x} "
        "bytes={bytes:x} owner={owner:x} freer={freer:x} freed={freed} flags={flags}")
PLACES = (0, 0x10, 0xffffffffc0100040, 0xffffffffc0101fff, 0xffffffffc0102000, 0xffff888012345678,
          0xffffffff81234567, 0xdead000000000100)


def mark_of(dice):
    def one(*values):
        return values[dice.below(len(values))]

    return MARK.format(what=one(0, 1, 2, 3), verdict=one(0, 1), ip=one(*PLACES), at=one(*PLACES),
                       error=one(0, 2, 3, 16, 18), pid=one(0, 1, 4711), area=one(*PLACES),
                       bytes=one(0, 4096, 8192), owner=one(*PLACES), freer=one(*PLACES),
                       freed=one(0, 1500000, 99000000000), flags=one(0, 1, 2))


def trace_of(dice, records, log):
    """Returns a trace that consists of flight recorder records, lines that only resemble such
    records, and lines of the kernel console."""
    lines, seconds = ["# tracer: nop", "#"], 40.0
    for i in range(60):
        seconds += (1 + dice.below(1000)) / 997
        before = f"          <...>-{100 + i}   [00{dice.below(4)}] d..1. {seconds:13.6f}: "
        how = dice.below(6)
        if how < 2:
            lines.append(f"{before}bpf_trace_printk: {mark_of(dice)}")
        elif how == 2 and records:
            lines.append(f"{before}tracing_mark_write: {records[dice.below(len(records))]}")
        elif how == 3:
            lines.append(f"{before}no event of ours: 1.2.3: x")
        elif how == 4:
            lines.append(f"{before}console: msg={log[i % len(log)]} ")
        else:
            lines.append(f"{before}console: {'y' * (900 + 60 * dice.below(4)) if i == 30 else log[i]}")
    return "\n".join(lines) + "\n" * dice.below(2)


def test_kept_verdicts_of_traces(check, lab):
    dice, texts = Dice(2), [text for _, text in logs() if text.count("\n") >= 60]
    for seed in range(1, 13):
        helper(lab, "ring_writer", seed, 10, "ring", "log")
        records = [line[line.index("faultscope: "):] for line in
                   (lab.dir / "log").read_text(errors="replace").splitlines()
                   if "faultscope: " in line]
        (lab.dir / "trace").write_text(trace_of(dice, records, texts[seed].splitlines()))
        for name, words in {"read": ("blackbox", "read", "--json", "trace"),
                            "triage": ("triage", "--json", "trace"),
                            "text": ("triage", "--explain", "trace")}.items():
            compare(check, f"trace-{seed}/{name}", said_by(lab, *words, cwd=lab.dir))


def test_kept_verdicts_of_logs_with_records(check, lab):
    """Compares verdicts of `triage` on every second log, together with flight recorder records of
    the same boot."""
    for i, (name, text) in enumerate(logs()):
        if i % 2:
            continue
        helper(lab, "ring_writer", 20 + i, 12, "ring", "records")
        (lab.dir / "log").write_text(text)
        compare_sum(check, f"recorded/{name}", said_by(
            lab, "triage", "--json" if i % 4 else "--explain", "log", "records", cwd=lab.dir))


def test_kept_records_of_rings(check, lab):
    """Compares outputs of `blackbox read` and `triage` for ring files and logs of the flight
    recorder."""
    for seed in SEEDS[:4]:
        ring, log = f"ring-{seed}", f"log-{seed}"
        helper(lab, "ring_writer", seed, 40, ring, log)
        data = bytearray((lab.dir / ring).read_bytes())
        data[512 * 9 + 100] ^= 1
        (lab.dir / f"{ring}-torn").write_bytes(data)
        for name, words in {"text": ("read", ring), "json": ("read", "--json", ring),
                            "torn": ("read", "--json", f"{ring}-torn"),
                            "log": ("read", log), "both": ("read", ring, log)}.items():
            compare(check, f"{ring}/{name}", said_by(lab, "blackbox", *words, cwd=lab.dir))
        status = said_by(lab, "blackbox", "status", "--ring", ring, cwd=lab.dir)
        compare(check, f"{ring}/status", re.sub(r"(last sign of life) \d+ s", r"\1 SOME s", status))
        for name, words in {"triage": (log,), "triage-json": ("--json", log),
                            "triage-markdown": ("--markdown", log)}.items():
            compare(check, f"{ring}/{name}", said_by(lab, "triage", *words, cwd=lab.dir))


def test_kept_reports_of_doctor(check, lab):
    for seed in SEEDS:
        compare(check, f"doctor/{seed}", helper(lab, "doctor_pages", seed, 70 + 10 * seed))
        compare_sum(check, f"doctor/{seed}/colour",
                    helper(lab, "doctor_pages", seed, 80, "colour"))


def test_kept_colours(check, lab):
    """Compares outputs in colour, which are otherwise compared without."""
    one, other = (f"{made(lab, seed)}.fsr" for seed in SEEDS[:2])
    helper(lab, "resident_recording", 1, 5, "resident.fsr")
    for words in (("diff", one, other), ("diff", other, one), ("--replay", one), ("--replay", other),
                  ("memory", "--replay", "resident.fsr"), ("explain", "M01"),
                  ("host", "--replay", "resident.fsr"), ("diff", "resident.fsr", "resident.fsr")):
        compare_sum(check, f"colour/{' '.join(words).replace('--', '')}",
                    said_by(lab, *words, "--color", "always", cwd=lab.dir))
    for name, text in list(logs())[::6]:
        (lab.dir / "log").write_text(text)
        compare_sum(check, f"colour/{name}", said_by(lab, "triage", "--color", "always", "log",
                                                     cwd=lab.dir))


def test_kept_choices_of_hooks(check, lab):
    compare(check, "hooks", helper(lab, "hook_choices"))


COMMANDS = ("", "run", "diagnose", "host", "doctor", "explain", "triage", "blackbox", "export", "top",
            "record", "info", "replay", "report", "diff")
VALUES = ("x", "0", "7", "-3", "30s", "99999999999999999999")
# Matches an option whose value can be tested. The options --cgroup and --container (depend on the
# machine), --version (depends on the build) and --comm are not tested.
OPTION = re.compile(r"^ +(?:-\w, |    )--(?!cgroup|container|version|comm)"
                    r"([a-z][a-z.-]*)( [A-Z]\S*)?", re.M)


def test_kept_answers_to_options(check, lab):
    """Compares the messages for each value of each option of each command. The test adds --help, so
    that the command does not run."""
    for command in COMMANDS:
        words, said = [command] if command else [], []
        for option, value in OPTION.findall(lab.faultscope(*words, "--help").out):
            for one in VALUES if value else (None,):
                given = [f"--{option}"] if one is None else [f"--{option}={one}"]
                ran = lab.call(FAULTSCOPE, *words, *given, "--help", cwd=lab.dir, env=environment())
                first = (ran.err or ran.out).split("\n", 1)[0]
                said.append(f"{given[0]}: {ran.returncode} {first}\n")
        compare(check, f"options/{command or 'watch'}", "".join(said))
