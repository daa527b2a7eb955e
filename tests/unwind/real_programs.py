# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real programs whose stacks are compared with a reference: compilers, servers, browsers,
interpreters, and small programs that are built with different compilers and options."""
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/programs"))

import commands  # noqa: E402
import servers  # noqa: E402
from program import Amount, write  # noqa: E402
from run import Skip  # noqa: E402

HERE = ROOT / "tests/unwind"
PYTHON = "/usr/bin/python3"  # the interpreter for which Debian's NumPy and PyTorch are built
ROUNDS = "300"

SHAPES = [
    "gcc -O2", "gcc -O0", "gcc -Os -static", "gcc -O2 -static-pie", "gcc -O2 -flto",
    "gcc -O2 -fcf-protection -Wl,-z,ibtplt,-z,lazy", "gcc -O3 -fno-plt -fomit-frame-pointer",
    "clang -O2", "clang -O1 -fno-omit-frame-pointer", "musl-gcc -O2", "musl-gcc -O2 -static",
]
EXCEPTIONS = ["g++ -O2", "g++ -O2 -flto -freorder-blocks-and-partition", "g++ -O0 -static",
              "clang++ -O2"]

PYTHON_WORK = "import json, re, ssl, ctypes, sqlite3, threading; " \
    "t=[threading.Thread(target=lambda: [json.dumps(list(range(500))) for _ in range(200)]) " \
    "for _ in range(3)]; [x.start() for x in t]; [x.join() for x in t]; print(open('/etc/passwd').read())"
NUMPY_WORK = "import numpy as n; x = n.random.rand(300, 300); " \
    "[n.linalg.eig(x) for _ in range(3)]; n.fft.fft2(x); n.save('x', x); n.load('x.npy', mmap_mode='r')"
TRAINING = """\
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(30):
        loss = model(torch.randn(64, 64)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


@dataclass
class Real:
    """A program. `work` makes requests to it while it runs; the program is ended after that."""
    argv: list
    env: dict = field(default_factory=lambda: dict(os.environ))
    work: object = None
    every: int = 3  # compare the stack of each so many-th system call


EVERY_OF_MANY = 29  # for programs with very many system calls


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"no {program}")


def simple(*argv):
    def make(folder):
        need(argv[0])
        return Real([part.replace("{dir}", folder) for part in argv])
    return make


def healthy(maker, every=3):
    """A program of tests/programs."""
    def make(folder):
        program = maker(folder)
        work = program.work if getattr(program, "path", None) else None
        return Real(program.argv, program.env, work, every)
    return make


def postgresql(folder):
    """PostgreSQL without shared memory that remains when it is killed."""
    real = healthy(servers.postgresql)(folder)
    real.argv = ["unshare", "--ipc", *real.argv, "-c", "dynamic_shared_memory_type=mmap"]
    return real


def built(compiler, source, libraries=""):
    def make(folder):
        words = shlex.split(compiler)
        need(words[0])
        subprocess.run([*words, "-w", "-pthread", "-o", f"{folder}/built", str(HERE / source),
                        *libraries.split()], check=True)
        return Real([f"{folder}/built", ROUNDS])
    return make


def rust(*options):
    def make(folder):
        need("rustc")
        if subprocess.run(["rustc", *options, "-o", f"{folder}/built", str(HERE / "panics.rs")],
                          cwd=folder, capture_output=True, check=False).returncode:
            raise Skip(f"rustc cannot build with {shlex.join(options)}")
        return Real([f"{folder}/built", ROUNDS])
    return make


def go(folder):
    need("go")
    subprocess.run(["go", "build", "-o", f"{folder}/built", str(HERE / "routines.go")], check=True,
                   env={**os.environ, "GO111MODULE": "off", "GOCACHE": f"{folder}/cache"})
    return Real([f"{folder}/built", ROUNDS])


def compiler_proper(language, name, source):
    """The compiler's own process, without the driver and the assembler."""
    def make(folder):
        need(language)
        proper = subprocess.run([language, f"-print-prog-name={name}"], capture_output=True,
                                text=True, check=True).stdout.strip()
        subprocess.run([language, "-E", "-o", f"{folder}/input", str(HERE / source),
                        f"-I{ROOT}/src", f"-I{ROOT}/bpf"], check=True)
        return Real([proper, "-quiet", "-fpreprocessed", "-O2", f"{folder}/input", "-o",
                     f"{folder}/out.s"])
    return make


def java(*options):
    def make(folder):
        program = commands.jvm(folder)
        return Real([program.argv[0], *options, *program.argv[1:]], program.env,
                    every=EVERY_OF_MANY)
    return make


def with_module(module, *argv):
    def make(folder):
        if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True,
                          check=False).returncode:
            raise Skip(f"no {module} for {PYTHON}")
        if argv[0] == "-c":
            return Real([PYTHON, write(folder, "script.py", argv[1])], every=EVERY_OF_MANY)
        return Real([PYTHON, "-B", *argv], every=EVERY_OF_MANY)
    return make


PERL_WORK = "use POSIX; use Data::Dumper; for (1..800) { open(F, '<', '/etc/passwd'); my @l = <F>; " \
    "close F; @l = sort { stat('/etc'); $a cmp $b } @l; }"
NODE_WORK = "const fs=require('fs'); for(let i=0;i<300;i++) fs.statSync('/etc'); " \
    "console.log(JSON.stringify([...'abc'.repeat(10000)]).length)"
SQL_WORK = "create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c " \
    "where x<50000) insert into t select x,hex(randomblob(20)) from c; create index i on t(b); " \
    "select count(*) from t where b like '%AB%';"
RUBY_WORK = "require 'json'; 300.times { JSON.generate((1..200).to_a); File.stat('/etc') }"
PHP_WORK = "for($i=0;$i<3000;$i++){json_encode(range(1,200)); is_dir('/etc/'.$i);}"

# name and maker: a function that prepares a folder, and returns the program
PROGRAMS = [
    ("cc1", compiler_proper("gcc", "cc1", "oracle.c")),
    ("cc1plus", compiler_proper("g++", "cc1plus", "exceptions.cpp")),
    ("git log", simple("git", "-C", str(ROOT), "log", "--stat", "-30")),
    ("git gc", healthy(commands.git_gc)),
    ("PostgreSQL", postgresql),
    ("nginx", healthy(servers.nginx)),
    ("Redis", healthy(servers.redis)),
    ("Chromium", healthy(commands.chromium, EVERY_OF_MANY)),
    ("Node.js", simple("node", "-e", NODE_WORK)),
    ("Java", java()),
    ("Java -XX:+PreserveFramePointer", java("-XX:+PreserveFramePointer")),
    ("Java -Xint", java("-Xint")),
    ("perl", simple("perl", "-e", PERL_WORK)),
    ("Ruby", simple("ruby", "-e", RUBY_WORK)),
    ("PHP", simple("php", "-r", PHP_WORK)),
    ("CPython", simple(PYTHON, "-c", PYTHON_WORK)),
    ("NumPy", with_module("numpy", "-c", NUMPY_WORK)),
    ("PyTorch training", with_module("torch", "-c", TRAINING)),
    ("PyTorch DataLoader", with_module("torch", str(ROOT / "tests/torch/loader.py"),
                                       "file_descriptor", "300")),
    ("gdb", simple("gdb", "-batch", "-ex", "info functions main", "/bin/ls")),
    ("openssl", simple("openssl", "speed", "-seconds", "1", "-bytes", "64", "sha256",
                       "aes-128-cbc", "rsa2048")),
    ("ls", simple("ls", "-lR", "/usr/share/doc")),
    ("sqlite3", simple("sqlite3", ":memory:", SQL_WORK)),
    ("xz", simple("xz", "-9kc", "-T2", "/usr/bin/git")),
    ("Emacs", healthy(commands.emacs)),
    ("rustc", simple("rustc", "-O", str(HERE / "panics.rs"), "-o", "{dir}/out")),
    ("Rust -O", rust("-O")),
    ("Rust -O, LTO", rust("-O", "-C", "lto=fat", "-C", "codegen-units=1")),
    ("Rust, musl", rust("-O", "--target", "x86_64-unknown-linux-musl")),
    ("Go", go),
    *((f"C++, {compiler}", built(compiler, "exceptions.cpp")) for compiler in EXCEPTIONS),
    *((f"C, {compiler}", built(compiler, "shapes.c")) for compiler in SHAPES),
]


@contextlib.contextmanager
def requests(real):
    """While the block runs, a thread makes requests to the program. The requests may fail, because
    the program is ended when enough stacks were compared."""
    def work():
        with contextlib.suppress(AssertionError, OSError, subprocess.SubprocessError):
            real.work()

    if not real.work:
        yield
        return
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
