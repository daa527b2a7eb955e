#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the unwind table rows of files with readelf's output for the same .eh_frame. Prints TAP.

usage: rows.py FIGURES FILE...
"""
import bisect
import re
import subprocess
import sys

CFA = {"opaque": 1, "end": 2, "signal": 3, "sp": 5, "fp": 6, "saved": 10, "ra": 11}
FP_SAME, FP_AT_CFA, FP_AT_FP, FP_LOST = range(4)
EXPRESSIONS = (1, 7, 8, 9)  # what an expression may become; readelf does not print it


class Machine:
    def __init__(self, name):
        self.arm64 = "AArch64" in name
        self.sp, self.fp = ("sp", "x29") if self.arm64 else ("rsp", "rbp")
        self.ra = "ra"

    def number(self, register):
        if self.arm64:
            return int(register[1:]) if re.fullmatch(r"x\d+", register) else None
        names = "rax rdx rcx rbx rsi rdi rbp rsp".split()
        if register in names:
            return names.index(register)
        return int(register[1:]) if re.fullmatch(r"r\d+", register) else None


def rows_of_readelf(path, machine):
    """Yields (address, whether it is in a signal frame, {column: value}) in the order of the output."""
    text = subprocess.Popen(["readelf", "--debug-dump=frames-interp", path], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    signal, signals, columns, is_cie, end = False, {}, [], False, 0
    for line in text.stdout:
        words = line.split()
        found = re.search(r"(CIE|FDE)", line)
        if found and len(words) > 3:
            is_cie = found[1] == "CIE"
            if is_cie:
                signals[words[0]] = "S" in line.split('"')[1]
            else:
                cie = re.search(r"cie=(\w+)", line)[1]
                signal = signals.get(cie, False)
                start, end = (int(one, 16) for one in
                              re.search(r"pc=(\w+)\.\.(\w+)", line).groups())
        elif line.lstrip().startswith("LOC"):
            columns = words[1:]
        elif len(words) > 1 and not is_cie and re.fullmatch(r"[0-9a-f]{16}", words[0]):
            address = int(words[0], 16)
            if start <= address < end:
                # readelf prints a register with its name: "r9 (r9)".
                values = [word for word in words[1:] if not word.startswith("(")]
                yield address, signal, dict(zip(columns, values))


def agrees(machine, signal, row, ours):
    """Returns whether a rule (cfa, cfa_off, fp, fp_off) agrees with readelf."""
    cfa, cfa_off, fp, fp_off = ours
    ra = row.get(machine.ra, "u" if not machine.arm64 else "")
    if signal:
        return cfa == CFA["signal"]
    if ra == "u" and not machine.arm64:
        return cfa == CFA["end"]
    if machine.arm64 and cfa == CFA["end"]:
        return ra == "u"
    if row["CFA"] == "exp":
        return cfa in EXPRESSIONS
    register, offset = re.fullmatch(r"(\w+?)([+-]\d+)", row["CFA"]).groups()
    kind = {machine.sp: CFA["sp"], machine.fp: CFA["fp"], "rbx": CFA["saved"]}.get(register)
    if kind is None:
        number = machine.number(register)
        kind = CFA["opaque"] if number is None else 32 + number
    if re.fullmatch(r"r\d+", ra) and cfa == CFA["ra"]:
        return kind == CFA["sp"] and cfa_off == int(offset) and fp == 0 and ra == f"r{fp_off}"
    if cfa == CFA["opaque"]:  # a caller's register is where no rule looks for it
        return (kind == cfa or row.get(machine.sp, "u") not in "us" or
                (ra != "c-8" if not machine.arm64 else ra.startswith("r")))
    if cfa != kind or cfa_off != int(offset):
        return False
    return (agrees_fp(row.get(machine.fp, "u"), fp & 7, fp_off, fp >> 3) and
            (not machine.arm64 or agrees_ra(ra, fp >> 3, fp_off)) and
            (machine.arm64 or agrees_saved(row.get("rbx", "u"), fp >> 3)))


def agrees_fp(value, kind, offset, place):
    if value in ("u", "s"):
        return kind == FP_SAME
    if value.startswith("c"):
        return kind == FP_AT_CFA and offset == int(value[1:])
    return kind in (FP_LOST, FP_AT_FP)


def agrees_ra(value, place, fp_off):
    if value in ("u", "s", ""):
        return place == 0
    at = {1: fp_off + 8, 2: fp_off}.get(place, -8 * (place - 2))
    return value == f"c{at:+d}"


def agrees_saved(value, place):
    if value in ("u", "s"):
        return place == 0
    if value.startswith("c") and int(value[1:]) % 8 == 0 and -240 <= int(value[1:]) < 0:
        return place == -int(value[1:]) // 8
    return place == 31


def compare(figures, path):
    header = subprocess.run(["readelf", "-h", path], capture_output=True, text=True,
                            check=True).stdout
    machine = Machine(re.search(r"Machine:\s*(.*)", header)[1])
    out = subprocess.run([figures, "-r", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    addresses = [int(row[0], 16) for row in rows]
    rules = [tuple(map(int, row[1:])) for row in rows]
    checked, wrong = 0, []
    for address, signal, row in rows_of_readelf(path, machine):
        at = bisect.bisect_right(addresses, address) - 1
        checked += 1
        if at < 0 or not agrees(machine, signal, row, rules[at]):
            wrong.append((address, row, rules[at] if at >= 0 else None))
    return checked, wrong


def main():
    failed = 0
    for n, path in enumerate(sys.argv[2:], 1):
        checked, wrong = compare(sys.argv[1], path)
        good = checked and not wrong
        failed += not good
        print(f"{'' if good else 'not '}ok {n} - {path}: {checked} rows, {len(wrong)} differ")
        for address, row, rule in wrong[:6]:
            print(f"#   {address:#x} {row} {rule}")
    print(f"1..{len(sys.argv) - 2}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
