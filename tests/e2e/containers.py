# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Converts dmesg text ("[ 12.345678] text") to the log formats in which other programs keep or send
it."""

import html
import json
import random
import re
import textwrap

HOST = "db-17.prod.example.com"
STAMP = re.compile(r"\[ *(\d+)\.(\d{6})\] ?")


def records(text):
    """Yields (seconds, microseconds, text) of each line. If a line has no time, it gets the time of
    the line before it."""
    when = ("0", "000000")
    for line in text.splitlines():
        found = STAMP.match(line)
        if found:
            when = found.groups()
            line = line[found.end():]
        yield int(when[0]), int(when[1]), line


def made(form):
    return lambda text: "".join(form(*record) for record in records(text))


def plain(text):
    return text


def clock(seconds):
    return f"{(9 + seconds // 3600) % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


syslog = made(lambda s, us, text: f"Nov 20 {clock(s)} {HOST} kernel: [{s:5}.{us:06}] {text}\n")
journal_short = made(lambda s, us, text: f"Nov 20 {clock(s)} {HOST} kernel: {text}\n")
iso = made(lambda s, us, text:
           f"2026-11-20T{clock(s)}.{us:06}+01:00 {HOST} kernel: [{s:5}.{us:06}] {text}\n")


def journal_json(text):
    out = []
    for seconds, usec, message in records(text):
        fields = {"__CURSOR": "s=1;i=2", "_TRANSPORT": "kernel", "PRIORITY": "4",
                  "_SOURCE_MONOTONIC_TIMESTAMP": str(seconds * 1000000 + usec),
                  "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": message}
        # journald stores a message that is not plain text as an array of bytes
        if "RIP" in message or "pc :" in message:
            fields["MESSAGE"] = list(message.encode())
        out.append(json.dumps(fields))
    return "\n".join(out) + "\n"


def journal_export(text):
    out = b""
    for seconds, usec, message in records(text):
        data = message.encode()
        out += b"__CURSOR=s=1;i=2\n_TRANSPORT=kernel\nPRIORITY=4\n"
        out += b"_SOURCE_MONOTONIC_TIMESTAMP=%d\n" % (seconds * 1000000 + usec)
        if "Code:" in message:
            out += b"MESSAGE\n" + len(data).to_bytes(8, "little") + data + b"\n"
        else:
            out += b"MESSAGE=" + data + b"\n"
        out += b"\n"
    return out


def dmesg_json(text):
    rows = [{"pri": 4, "time": seconds + usec / 1e6, "msg": message}
            for seconds, usec, message in records(text)]
    return json.dumps({"dmesg": rows}, indent=3)


def lava(text):
    return "".join(f"- {json.dumps({'dt': '2026-11-20T09:41:00', 'lvl': 'target', 'msg': line})}\n"
                   for line in text.splitlines())


def interleaved(text):
    chance = random.Random(4711)
    out = []
    for line in text.splitlines():
        out.append(line)
        if chance.random() < 0.2:
            out.append("[   99.123456] usb 1-1: new high-speed USB device number 7 using xhci_hcd")
        if chance.random() < 0.1:
            out.append("systemd[1]: Started Session 12 of User root.")
    return "\n".join(out) + "\n"


def callers(text):
    """Adds the thread id to each line, as the kernel option CONFIG_PRINTK_CALLER does. Inserts some
    lines that another CPU has printed."""
    out = []
    for number, (seconds, usec, message) in enumerate(records(text)):
        out.append(f"[{seconds:5}.{usec:06}][  T142] {message}")
        if number % 7 == 3:
            out.append(f"[{seconds:5}.{usec:06}][    C3] Call Trace:")
            out.append(f"[{seconds:5}.{usec:06}][    C3]  other_function+0x10/0x20 [other]")
    return "\n".join(out) + "\n"


def wrapped(text):
    out = []
    for line in text.splitlines():
        out += [line[i:i + 80] for i in range(0, len(line), 80)] or [""]
    return "\n".join(out) + "\n"


def pstore_parts(text, lines=40):
    raw = [f"<4>{line}" for line in text.splitlines()]
    parts = [raw[max(0, end - lines):end] for end in range(len(raw), 0, -lines)]
    return [f"Oops#1 Part{number}\n" + "\n".join(part) + "\n"
            for number, part in enumerate(parts, 1)]


def pstore(text):
    return "".join(pstore_parts(text))


def pstore_files(text):
    return {f"dmesg-efi-17000000000{number}001": part
            for number, part in enumerate(pstore_parts(text), 1)}


def broken_at_blanks(text, width=76):
    """Breaks long lines between words, as mail programs do."""
    return "".join(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False,
                                 drop_whitespace=True) + "\n" for line in text.splitlines())


def netconsole_fragments(text, size=60):
    """Splits messages that are longer than a packet, as netconsole does. The header of each
    fragment contains the fragment's offset."""
    out = []
    for number, (s, us, message) in enumerate(records(text)):
        head = f"4,{number},{s * 1000000 + us},-"
        if len(message) <= size:
            out.append(f"{head};{message}\n")
            continue
        out += [f"{head},ncfrag={at}/{len(message)};{message[at:at + size]}\n"
                for at in range(0, len(message), size)]
    return "".join(out)


def journal_pretty(text):
    rows = ({"__CURSOR": "s=1;i=2", "_TRANSPORT": "kernel", "PRIORITY": "4",
             "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": message,
             "_SOURCE_MONOTONIC_TIMESTAMP": str(seconds * 1000000 + usec)}
            for seconds, usec, message in records(text))
    return "".join(json.dumps(row, indent="\t", separators=(",", " : ")) + "\n" for row in rows)


def journal_verbose(text):
    return "".join(
        f"Fri 2026-11-20 {clock(s)}.{us:06} UTC [s=1;i=2;b=3;m=4;t=5;x=6]\n"
        f"    PRIORITY=4\n    _TRANSPORT=kernel\n    _HOSTNAME={HOST}\n"
        f"    SYSLOG_IDENTIFIER=kernel\n    MESSAGE={message}\n"
        for s, us, message in records(text))


ALL = {
    "plain": plain,
    "no_time": made(lambda s, us, text: text + "\n"),
    "levels": made(lambda s, us, text: f"<4>[{s:5}.{us:06}] {text}\n"),
    "callers": callers,
    "spaced_callers": made(lambda s, us, text: f"[{s:5}.{us:06} ][    T7 ] {text}\n"),
    "odd_clock": made(lambda s, us, text: f"[{2001021079 + s}.{us:06}] {text}\n"),
    "dmesg_T": made(lambda s, us, text: f"[Fri Nov 20 {clock(s)} 2026] {text}\n"),
    "dmesg_x": made(lambda s, us, text: f"kern  :alert : [{s:5}.{us:06}] {text}\n"),
    "dmesg_json": dmesg_json,
    "syslog": syslog,
    "syslog_facility": made(lambda s, us, text: f"Nov 20 {clock(s)} {HOST} kern.warn kernel: "
                                                f"[{s:5}.{us:06}] {text}\n"),
    "iso": iso,
    "journal_short": journal_short,
    "journal_json": journal_json,
    "journal_export": journal_export,
    "kmsg": made(lambda s, us, text: f"4,{900 + s},{s * 1000000 + us},-;{text}\n SUBSYSTEM=pci\n"),
    "netconsole": made(lambda s, us, text:
                       f"4,900,{s * 1000000 + us},-,caller=T142,ncfrag=0/99;{text}\n"),
    "netconsole_fragments": netconsole_fragments,
    "pstore": pstore,
    "ramoops": lambda text: "====1700000000.123456-D\n" + text,
    "lava": lava,
    "lava_cut": lambda text: "".join(f'{line}"}}\n' for line in text.splitlines()),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "serial": lambda text: text.replace("\n", "\r\r\n").encode(),
    "nul": lambda text: text.replace("\n", "\0\n").encode() + b"\0" * 4096,
    "ansi": lambda text: STAMP.sub(lambda m: f"\x1b[32m{m[0]}\x1b[0m", text),
    "wrapped": wrapped,
    "interleaved": interleaved,
    "login": lambda text: "\nbuildroot login: ".join(text.split("\n", 1)),
    "broken_at_blanks": broken_at_blanks,
    "mail": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "mail_twice": lambda text: "".join(f">> {line}\n" for line in text.splitlines()),
    "indented": lambda text: "".join(f"\t{line}\n" for line in text.splitlines()),
    "fenced": lambda text: f"It broke:\n```\n{text}```\nAny idea?\n",
    "html": lambda text: "<html><pre>\n" + html.escape(text) + "</pre></html>\n",
    "journal_full": made(lambda s, us, text:
                         f"Fri 2026-11-20 {clock(s)} UTC {HOST} kernel: {text}\n"),
    "journal_unix": made(lambda s, us, text: f"{1795000000 + s}.{us:06} {HOST} kernel: {text}\n"),
    "journal_monotonic": made(lambda s, us, text: f"[{s:5}.{us:06}] {HOST} kernel: {text}\n"),
    "journal_pretty": journal_pretty,
    "journal_verbose": journal_verbose,
    "dmesg_d": made(lambda s, us, text: f"[{s:5}.{us:06} <    0.000010>] {text}\n"),
    "dmesg_e": made(lambda s, us, text: f"[  +0.{us:06}] {text}\n"),
    "dmesg_e_first": made(lambda s, us, text: f"[Nov20 09:41] {text}\n"),
    "dmesg_iso": made(lambda s, us, text: f"2026-11-20T{clock(s)},{us:06}+00:00 {text}\n"),
    "amlogic": made(lambda s, us, text: f"[{s:5}.{us:06}@3] {text}\n"),
    "mediatek": made(lambda s, us, text: f"<4>[{s:5}.{us:06}]  (1)[142:sh]{text}\n"),
    "logcat": made(lambda s, us, text:
                   f"11-20 {clock(s)}.{us // 1000:03}     0     0 E KERNEL  : "
                   f"[{s:5}.{us:06}] {text}\n"),
    "kubernetes": made(lambda s, us, text: f"2026-11-20T{clock(s)}.{us:06}000Z stdout F "
                                           f"[{s:5}.{us:06}] {text}\n"),
    "numbered": lambda text: "".join(f"{number:6}\t{line}\n"
                                     for number, line in enumerate(text.splitlines(), 1)),
    "grep": lambda text: "".join(f"/var/log/kern.log:{line}\n" for line in text.splitlines()),
    "journal_french": made(lambda s, us, text: f"nov. 20 {clock(s)} {HOST} kernel: {text}\n"),
    "journal_russian": made(lambda s, us, text: f"ноя 20 {clock(s)} {HOST} kernel: {text}\n"),
    "journal_chinese": made(lambda s, us, text: f"11月 20 {clock(s)} {HOST} kernel: {text}\n"),
    "rfc5424": made(lambda s, us, text: f"<4>1 2026-11-20T{clock(s)}.{us:06}Z {HOST} kernel - - "
                                        f"- [{s:5}.{us:06}] {text}\n"),
    "macos_style": made(lambda s, us, text: f"Nov 20 {clock(s)} {HOST} kernel[0]: {text}\n"),
    "docker": lambda text: "".join(json.dumps({"log": line + "\n", "stream": "stdout",
                                               "time": "2026-11-20T09:41:00.1Z"}) + "\n"
                                   for line in text.splitlines()),
    "json_sequence": lambda text: "".join("\x1e" + line + "\n"
                                          for line in journal_json(text).splitlines()),
    "relay": made(lambda s, us, text:
                  f"2026/11/20-{clock(s)} 192.0.2.17:6665 |netconsole| [{s:5}.{us:06}] {text}\n"),
    "minicom": made(lambda s, us, text: f"[2026-11-20 {clock(s)}] [{s:5}.{us:06}] {text}\n"),
    "xen": made(lambda s, us, text: f"(XEN) [2026-11-20 {clock(s)}] (d3) [{s:5}.{us:06}] {text}\n"),
    "broken_before_72": lambda text: broken_at_blanks(text, 72),
    "flowed": lambda text: re.sub(r"(?m)^(.{40,60}) (\S)", r"\1 \n\2", text),
    "wrapped_quote": lambda text: "".join(f"> {line}\n"
                                          for line in broken_at_blanks(text, 74).splitlines()),
    "dropped": lambda text: text.replace("Call Trace", "Call Trace", 1).replace(
        "[", "** 93 printk messages dropped ** [", 1),
}
