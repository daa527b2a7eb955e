#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the decoder of `triage` with objdump on the memory accesses of real code: kind of access,
registers and offset. TAP on stdout.

The code is that of the C library of this machine, and of a C library for the other architecture if
one is installed (libc6-arm64-cross). BUILD in the environment names the build to test.
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECODE = ROOT / os.environ.get("BUILD", "build") / "decode"
MOST = 300000  # instructions of a library
LEAST = 3000  # memory accesses that must be compared
SHOWN = 12

X86_NAMES = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"]
X86 = {f"%r{name}": i for i, name in enumerate(X86_NAMES)}
X86 |= {f"%r{i}": i for i in range(8, 16)}
X86_OPERAND = re.compile(r"(?P<offset>-?0x[0-9a-f]+)?\((?P<base>%\w+)?(?:,(?P<index>%\w+)"
                         r"(?:,(?P<scale>\d))?)?\)")
X86_PREFIX = re.compile(r"(?:(?:lock|rep\w*|data16|notrack|[cdefgs]s|rex\S*) +)+")
# Instructions that the kernel hardly uses, or whose operand is no memory access. String operations
# have two operands.
X86_OTHER = re.compile(r"v|nop|prefetch|call|jmp|lea|clflush|movs[bwlq] .*\(.*\(|stos|lods|scas|cmps|"
                       r"xsave|xrstor|fxsave|fxrstor|k(mov|or|unpck)|x(begin|abort|test)|bnd|sha|"
                       r"aes|pclmul|fld|fst|fist|fild|fn|f(add|sub|mul|div|com)|ldmxcsr|stmxcsr|"
                       r"rd|movdir|enq|tile|ud|xlat|p[a-z]+ .*%xmm|[a-z]+[sp][sd] |cvt|movnt")
X86_READS = re.compile(r"cmp[bwlq]? |test|bt[wlq]? |push|i?mul|i?div|ucom|com|pcmp")
X86_WRITES = re.compile(r"xchg|cmpxchg|xadd|set|pop|inc|dec|neg|not|(sh|sa|ro|rc)[lr]")

ARM64_OPERAND = re.compile(r"\[(?P<base>x\d+|sp)(?:, #(?P<offset>-?\d+))?")
ARM64_ATOMIC = re.compile(r"ld(add|clr|eor|set|smax|smin|umax|umin)|cas|swp")
# memory tags, vectors, pointer authentication, and hints, none of which the decoder knows
ARM64_OTHER = re.compile(r"(ld|st)z?2?g|ld[1-4]|st[1-4]|ldra|prf|ldapu|stlu|ldff|ldnt|stnt|.* [zpv]\d|"
                         r".*\b[zp]\d+(?:\.|,)")


def access_of_x86(text):
    """Returns whether an instruction of x86-64 reads or writes its operand in memory."""
    if X86_WRITES.match(text):
        return "write"
    if X86_READS.match(text):
        return "read"
    return "write" if text.endswith(")") and "," in re.sub(r"\(.*?\)", "", text) else "read"


def wanted_of_x86(text):
    """Returns what the decoder must say of an instruction, given objdump's text of it. Returns None
    for an instruction that is not compared."""
    text = X86_PREFIX.sub("", text.split("#")[0].split("<")[0].strip() + " ").strip()
    operand = X86_OPERAND.search(text)
    if not operand or X86_OTHER.match(text) or "%es:" in text or "(bad)" in text:
        return None
    if operand["base"] == "%rip" or re.search("%[fg]s:", text):
        return {"access": access_of_x86(text), "relative": "1"}
    offset = int(operand["offset"] or "0", 16)
    return {"access": access_of_x86(text), "relative": "0",
            "base": str(X86.get(operand["base"], -1)), "index": str(X86.get(operand["index"], -1)),
            "offset": str(offset - (1 << 64) if offset >= 1 << 63 else offset)} | (
                {"scale": operand["scale"] or "1"} if operand["index"] in X86 else {})


def wanted_of_arm64(text):
    """Does the same for arm64."""
    text = text.split("//")[0].strip()
    operand = ARM64_OPERAND.search(text)
    if ARM64_OTHER.match(text) or text.startswith((".", "udf", "undefined")):
        return None
    if not operand:
        # Instructions without a memory operand must not seem to have one. A load from an address
        # that is relative to the instruction has none here.
        return None if text.startswith("ldr") else {"memory": "0"}
    writes = text.startswith("st") or ARM64_ATOMIC.match(text)
    return {"memory": "1", "access": "write" if writes else "read",
            "base": "31" if operand["base"] == "sp" else operand["base"][1:],
            "offset": operand["offset"] or "0"}


def instructions(objdump, path, arch):
    """Yields (bytes in hex, text) of the instructions in a file."""
    ran = subprocess.Popen([objdump, "-d", "-w", path], text=True, stdout=subprocess.PIPE)
    n = 0
    for line in ran.stdout:
        part = line.rstrip("\n").split("\t")
        if len(part) < 3 or not part[0].endswith(":"):
            continue
        code = part[1].replace(" ", "")
        if arch == "arm64":
            code = bytes.fromhex(code)[::-1].hex()
        yield code, " ".join(part[2:])
        n += 1
        if n == MOST:
            break
    ran.stdout.close()
    ran.terminate()
    ran.wait()


def compare(arch, objdump, path, wanted_of):
    """Returns the number of compared instructions and a list of differences."""
    rows = [(code, text, want) for code, text in instructions(objdump, path, arch)
            if (want := wanted_of(text))]
    ran = subprocess.run([DECODE], input="".join(f"{arch} {code}\n" for code, *_ in rows), text=True,
                         capture_output=True, check=True)
    keys = ("memory", "access", "base", "index", "scale", "offset", "relative")
    wrong = collections.Counter()
    example = {}
    for (_, text, want), line in zip(rows, ran.stdout.splitlines(), strict=True):
        got = dict(zip(keys, line.split(), strict=True)) if line != "-" else {"memory": "0"}
        different = tuple(key for key in want if got.get(key) != want[key])
        if different:
            kind = (text.split()[0], *different)
            wrong[kind] += 1
            example.setdefault(kind, f"{text}: {got}")
    return sum("access" in want for *_, want in rows), \
        [f"{n} of {kind}: {example[kind]}" for kind, n in wrong.most_common()]


def places():
    """Yields (architecture, path of objdump, path of a C library, wanted_of_...())."""
    native = os.uname().machine
    for arch, machine, wanted_of in (("x86_64", "x86_64", wanted_of_x86),
                                     ("arm64", "aarch64", wanted_of_arm64)):
        name = "objdump" if machine == native else f"{machine}-linux-gnu-objdump"
        found = glob.glob(f"/lib/{machine}-linux-gnu/libc.so.6") + \
            glob.glob(f"/usr/{machine}-linux-gnu/lib/libc.so.6")
        yield arch, shutil.which(name), found[0] if found else None, wanted_of


def main():
    failed = number = 0
    for number, (arch, objdump, path, wanted_of) in enumerate(places(), 1):
        name = f"{number} - memory accesses of {arch}"
        if not objdump or not path:
            print(f"ok {name} # SKIP no {'objdump' if path else 'C library'} of {arch}")
            continue
        n, wrong = compare(arch, objdump, path, wanted_of)
        good = n >= LEAST and not wrong
        failed += not good
        print(f"{'ok' if good else 'not ok'} {name}")
        print(f"# {n:,} compared in {path}")
        for line in wrong[:SHOWN]:
            print(f"# {line}"[:300])
    print(f"1..{number}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
