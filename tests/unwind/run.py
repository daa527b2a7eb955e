#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares the stacks of real programs with those of libdw. Prints TAP, and a table.

usage: run.py [--only NAME] [--apart] [ORACLE]

ORACLE is the program that compares (default: build/unwind/oracle). --apart runs the second
list of programs, which is never used during development.
"""
import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHAPES = ["gcc -O2", "gcc -O0", "gcc -Os -static", "gcc -O3 -fno-plt -fomit-frame-pointer", "clang -O2",
          "clang -O1 -fno-omit-frame-pointer"]
PYTHON = "import json, re, ssl, ctypes, sqlite3, threading; " \
    "t=[threading.Thread(target=lambda: [json.dumps(list(range(500))) for _ in range(200)]) " \
    "for _ in range(3)]; [x.start() for x in t]; [x.join() for x in t]; print(open('/etc/passwd').read())"
PERL = "use POSIX; use Data::Dumper; for (1..800) { open(F, '<', '/etc/passwd'); my @l = <F>; " \
    "close F; @l = sort { stat('/etc'); $a cmp $b } @l; }"
NODE = "const fs=require('fs'); for(let i=0;i<300;i++) fs.statSync('/etc'); " \
    "console.log(JSON.stringify([...'abc'.repeat(10000)]).length)"

# Name and command. The first list is used during development; the second list only measures.
PROGRAMS = [
    ("python3.11", ["/usr/bin/python3.11", "-c", PYTHON]),
    ("cc1", ["{cc1}", "-quiet", "-O2", "{dir}/pre.i", "-o", "{dir}/pre.s"]),
    ("git", ["git", "-C", str(ROOT), "log", "--stat", "-30"]),
    ("perl", ["perl", "-e", PERL]),
    ("gdb", ["gdb", "-batch", "-ex", "info functions main", "/bin/ls"]),
    ("node", ["node", "-e", NODE]),
    ("openssl", ["openssl", "speed", "-seconds", "1", "-bytes", "64", "sha256", "aes-128-cbc", "rsa2048"]),
    ("ls", ["ls", "-lR", "/usr/share/doc"]),
]
APART = [
    ("java", ["java", "-Xint", "-version"]),
    ("ruby", ["ruby", "-e", "require 'json'; 300.times { JSON.generate((1..200).to_a); File.stat('/etc') }"]),
    ("php", ["php", "-r", "for($i=0;$i<3000;$i++){json_encode(range(1,200)); is_dir('/etc/'.$i);}"]),
    ("sqlite3", ["sqlite3", ":memory:", "create table t(a,b); with recursive c(x) as (select 1 union "
                 "all select x+1 from c where x<50000) insert into t select x,hex(randomblob(20)) "
                 "from c; create index i on t(b); select count(*) from t where b like '%AB%';"]),
    ("rustc", ["{rustc}", "-O", "{dir}/x.rs", "-o", "{dir}/x"]),
    ("xz", ["xz", "-9kc", "-T2", "/usr/bin/git"]),
    ("emacs", ["emacs", "--batch", "--eval", "(dotimes (i 300) (directory-files \"/usr/bin\"))"]),
    ("python3.13", ["/root/.pyenv/versions/3.13.0/bin/python3.13", "-c", PYTHON]),
]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def compare(oracle, options, command):
    done = subprocess.run([oracle, *options, *command], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=600)
    for line in reversed(done.stderr.decode(errors="replace").splitlines()):
        if line.startswith("{") or "{\"program\"" in line:
            return json.loads(line[line.index("{\"program\""):])
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("oracle", nargs="?", default=str(ROOT / "build/unwind/oracle"))
    args = parser.parse_args()
    count = failed = 0
    with tempfile.TemporaryDirectory() as there:
        fill = {"dir": there, "cc1": output("gcc", "-print-prog-name=cc1"),
                "rustc": output("rustup", "which", "rustc") or "rustc"}
        (Path(there) / "x.rs").write_text("fn main() { let v: Vec<String> = (0..99).map(|i| "
                                          "format!(\"{i}\")).collect(); println!(\"{v:?}\"); }\n")
        subprocess.run(["gcc", "-E", "-o", there + "/pre.i", str(ROOT / "tests/unwind/oracle.c"),
                        "-I" + str(ROOT / "src"), "-I" + str(ROOT / "bpf")], check=True)
        programs = APART if args.apart else list(PROGRAMS)
        for i, compiler in enumerate([] if args.apart else SHAPES):
            path = f"{there}/shapes{i}"
            subprocess.run([*shlex.split(compiler), "-w", "-pthread", "-o", path,
                            str(ROOT / "tests/unwind/shapes.c")], check=True)
            programs.append((f"shapes, {compiler}", [path, "300"]))
        for name, command in programs:
            if args.only not in name:
                continue
            command = [part.format(**fill) if part.startswith("{") else part for part in command]
            for how, options in (("system calls", ["-n", "1000", "-e", "3"]),
                                 ("random stops", ["-n", "1500", "-e", "0", "-r", "200", "-s", "4"])):
                got = compare(args.oracle, options, command)
                good = got is not None and got["stacks"] and not got["differs"] and not got["no_call"]
                count += 1
                failed += not good
                print(f"{'' if good else 'not '}ok {count} - {name}, {how}: no false frame")
                print(f"#   {json.dumps(got)}", flush=True)
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
