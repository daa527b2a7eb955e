# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A copy of the source tree, in which mutants are made, built and undone."""
import os
import shutil
import subprocess
from pathlib import Path

MUTANT_SECONDS = 600  # for make to build a mutant
# BUILD directories of the copy: with gcov counters, without, with AddressSanitizer, and two that hold
# only objects, to compare their code
COVERED, PLAIN, SANITIZED = "build/covered", "build/plain", "build/sanitized"
OPTIMIZED = GCC, CLANG = "build/optimized", "build/optimized-clang"
# Arguments of make for each build. The plain build traps undefined behaviour and buffer overflows
# without a sanitizer library. The build with AddressSanitizer is slower. It only tries mutants that
# survived in the plain build.
FLAGS = {COVERED: ["CFLAGS=-O0", "HARDENING=", "EXTRA=--coverage"],
         PLAIN: ["CFLAGS=-O2", "HARDENING=-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3",
                 "EXTRA=-fsanitize=undefined -fsanitize-undefined-trap-on-error"],
         SANITIZED: ["CFLAGS=-O1", "HARDENING=",
                     "EXTRA=-fsanitize=address -fno-omit-frame-pointer"],
         GCC: ["CFLAGS=-O3 -fno-semantic-interposition", "HARDENING="],
         CLANG: ["CC=clang", "CFLAGS=-O2 -w", "HARDENING="]}
# paths of all files from which BPF objects are made begin with one of these
BPF_SOURCES = ("bpf/", "vmlinux/", "src/records/")
BPF_OBJECTS = ("faultscope.bpf.o", "faultscope_plain.bpf.o", "faultscope_hash.bpf.o",
               "blackbox.bpf.o")


class Tree:
    def __init__(self, root, place, jobs):
        self.root, self.jobs = Path(root), jobs
        self.top = Path(place) / "tree"

    def copy(self):
        """Copies the files that git tracks. Unchanged files keep their modification times, so that
        make does not rebuild their objects. BPF objects whose sources changed are removed, since
        make() keeps those that exist."""
        names = subprocess.run(["git", "-C", self.root, "ls-files", "-z", "--cached", "--others",
                                "--exclude-standard"], capture_output=True, check=True)
        names = {os.fsdecode(name) for name in names.stdout.split(b"\0") if name}
        changed = [name for name in sorted(names) if self.copy_file(name)]
        if any(name.startswith(BPF_SOURCES) for name in changed):
            for path in (self.top / "build").glob("*/*.bpf.o"):
                path.unlink()
        for path in self.top.rglob("*"):
            name = path.relative_to(self.top)
            if path.is_file() and name.parts[0] != "build" and str(name) not in names:
                path.unlink()

    def copy_file(self, name):
        """Copies a file. Returns whether it had changed."""
        source, to = self.root / name, self.top / name
        if not source.is_file():
            return False
        changed = not to.exists() or to.read_bytes() != source.read_bytes()
        if changed:
            to.parent.mkdir(parents=True, exist_ok=True)
            # The copied source file gets a new modification time, so that make rebuilds the objects
            # that depend on it.
            shutil.copy(source, to)
        to.chmod(source.stat().st_mode)
        return changed

    def make(self, build, target, quiet=False):
        """Runs make and returns whether it succeeded. Existing BPF objects are not rebuilt."""
        old = [word for name in BPF_OBJECTS for word in ("-o", f"{build}/{name}")]
        kept = all((self.top / build / name).exists() for name in BPF_OBJECTS)
        how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} if quiet else {}
        ran = subprocess.run(
            ["make", "-s", f"-j{self.jobs}", "-f", "tests/mutants/shared.mk",
             f"BUILD={build}", "FORTIFY=", "REVISION=copy", *FLAGS[build],
             *(old if kept else []), target],
            cwd=self.top, check=False, timeout=MUTANT_SECONDS if quiet else None, **how)
        return ran.returncode == 0

    def build_all_of(self, build, target):
        """Makes a build. The BPF programs are compiled only once, for the plain build. The unit tests
        too, which can load the library of another build."""
        for name in BPF_OBJECTS:
            kept = self.top / PLAIN / name
            if build != PLAIN and kept.exists():
                (self.top / build).mkdir(parents=True, exist_ok=True)
                shutil.copy2(kept, self.top / build / name)
        if not self.make(build, target):
            raise SystemExit(f"{self.top}: {build} does not build")

    def build_sanitized(self):
        """Makes the build with AddressSanitizer."""
        self.build_all_of(SANITIZED, "shared-programs")
        named = self.top / SANITIZED / "san"  # tests know a build with a sanitizer by this name
        if not named.is_symlink():
            named.symlink_to("shared")

    def build(self):
        """Makes the builds without AddressSanitizer, and the programs that tests need."""
        self.build_all_of(PLAIN, "shared-all")
        self.build_all_of(COVERED, "shared-programs")
        if not self.make(PLAIN, "build/zoo") or not self.make(PLAIN, "workloads"):
            raise SystemExit(f"{self.top}: the workloads do not build")
        workloads = self.top / "build/workloads"
        if not workloads.exists():
            workloads.symlink_to(self.top / PLAIN / "workloads")

    def is_same_optimized(self, change):
        """Returns whether one of two compilers makes the same code of a file with and without a mutant,
        if it optimizes more, and without the checks of the plain build. Then no test can notice the
        mutant. Returns False for a header."""
        return change.path.endswith(".c") and \
            any(self.is_same_in(build, change) for build in OPTIMIZED)

    def is_same_in(self, build, change):
        """Returns whether a build has the same code of a file with and without a mutant."""
        file, object_ = self.top / change.path, self.object_of(build, change.path)
        text, times = file.read_text(), os.stat(file)
        codes = []
        try:
            for version in (change.apply(text), text):
                file.write_text(version)
                object_.unlink(missing_ok=True)
                if not self.make(build, object_.relative_to(self.top), quiet=True):
                    return False
                codes.append(object_.read_bytes())
        finally:
            file.write_text(text)
            # the other builds did not see the mutant
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        return codes[0] == codes[1]

    def object_of(self, build, path):
        """Returns the path of the object of src/ROOM/NAME.c. Returns None for a header, because a
        header is part of many objects."""
        return self.top / build / path.replace(".c", ".o") if path.endswith(".c") else None

    def objects_of(self, build, path):
        """Returns the paths of all objects that contain code of a source file or header. There are
        none of a file that this machine does not need, such as image_kdump_disabled.c."""
        objects = [self.object_of(build, path)] if path.endswith(".c") else \
            [rules.with_suffix(".o") for rules in (self.top / build / "src").rglob("*.d")
             if path in rules.read_text().split()]
        return [one for one in objects if one.exists()]


class Changed:
    """Context in which one build of the tree contains one mutant. `.state` is the state of the
    mutant."""

    def __init__(self, tree, build, change):
        self.tree, self.build, self.change = tree, build, change
        self.file = tree.top / change.path

    def __enter__(self):
        self.text, self.times = self.file.read_text(), os.stat(self.file)
        self.was = {path: path.read_bytes()
                    for path in self.tree.objects_of(self.build, self.change.path)}
        self.file.write_text(self.change.apply(self.text))
        if not self.tree.make(self.build, "shared-program", quiet=True):
            self.state = "does not compile"
        elif all(path.read_bytes() == was for path, was in self.was.items()):
            self.state = "same code"
        else:
            self.state = "built"
        return self

    def __exit__(self, *_):
        self.file.write_text(self.text)
        # the other builds, and the tests, did not see the mutant
        os.utime(self.file, ns=(self.times.st_atime_ns, self.times.st_mtime_ns))
        for path, was in self.was.items():
            # the restored object is newer than its source, so make does not rebuild it
            path.write_bytes(was)
