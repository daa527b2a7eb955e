# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests builds for other architectures, and builds without shared libraries. Checks what is built,
and which messages are printed if something is missing."""

import platform
import shutil
from pathlib import Path

from harness import BUILD, LONG, ROOT, Skip

# {architecture: (its name in uname, its cross compiler)}, only for the architecture that is not the
# host's
OTHER = {"arm64": ("aarch64", "aarch64-linux-gnu-gcc"), "x86": ("x86_64", "x86_64-linux-gnu-gcc")}
del OTHER["arm64" if platform.machine() == "aarch64" else "x86"]

# Compression libraries for reading logs. faultscope is built with each library whose headers are
# installed.
UNPACKERS = [name for name in ("lzma", "zstd") if Path(f"/usr/include/{name}.h").exists()]


def make(lab, *words):
    # compilers take minutes on a busy machine
    return lab.call("make", "-C", ROOT, *words, timeout=600)


def test_spellings_of_architectures(check, lab):
    for arch, (other, compiler) in OTHER.items():
        for word in (arch, other):
            ran = make(lab, "-n", "-B", f"ARCH={word}", f"build/{arch}/src/main.o",
                       f"build/{arch}/faultscope.bpf.o")
            for part in (f"-target bpfel -D__TARGET_ARCH_{arch} ", f"{compiler} "):
                check.that(part in ran.out, f"ARCH={word}: no {part!r}: {ran.out} {ran.err}")
    for word in ("riscv", "s390x", "vax"):
        ran = make(lab, "-n", f"ARCH={word}")
        check.that(ran.returncode and f"ARCH={word}" in ran.err, f"ARCH={word}: {ran.err!r}")


def test_other_architectures(check, lab):
    """Three parts that depend on the architecture can be compiled: the BPF programs, the files that
    embed them, and the tables of system calls. With LONG=1, also the variants of faultscope.bpf.o."""
    if BUILD.name == "san":
        raise Skip("the plain build's")
    if not shutil.which("clang"):
        raise Skip("clang is missing")
    for arch, (_, compiler) in OTHER.items():
        place = lab.dir / arch
        wanted = ["faultscope.bpf.o", "blackbox.bpf.o"]
        if LONG:
            wanted += ["faultscope_plain.bpf.o", "faultscope_hash.bpf.o"]
        if shutil.which(compiler):
            wanted += ["src/probe/calls.o", "src/probe/precursors.o"]
            wanted += ["src/probe/object.o"] if LONG else []
        ran = make(lab, "-s", f"ARCH={arch}", f"BUILD={place}",
                   *(place / name for name in wanted))
        check.equal(f"{arch}, status", ran.returncode, 0)
        check.equal(f"{arch}, standard error", ran.err, "")


def compiler_without_libraries(lab):
    """Returns a fake cc that finds no library. Like gcc, it then prints the bare name of the
    library that it was asked for."""
    path = lab.dir / "cc"
    path.write_text("#!/bin/sh\necho \"${1#-print-file-name=}\"\n")
    path.chmod(0o755)
    return path


def test_static_libraries_missing(check, lab):
    script, compiler = ROOT / "tools/static_libs.sh", compiler_without_libraries(lab)
    ran = lab.call(script, compiler)
    check.equal("status", ran.returncode, 1)
    for package in ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libcap-dev", "liblzma-dev",
                    "libbz2-dev", "liblz4-dev", "libiberty-dev"):
        check.that(package in ran.err, f"{package} is not in {ran.err!r}")
    for name in ("lzma", "zstd"):
        check.equal(f"lib{name}-dev is missing", f"lib{name}-dev" in ran.err, name in UNPACKERS)
    check.that("libgnutls28-dev" not in ran.err, "HTTP, which was not asked for")
    ran = lab.call(script, "--http", compiler)
    for package in ("libmicrohttpd-dev", "libgnutls28-dev", "libunistring-dev", "libbpf-dev"):
        check.that(package in ran.err, f"{package} is not in {ran.err!r}")


def test_static_libraries_there(check, lab):
    script, compiler = ROOT / "tools/static_libs.sh", compiler_without_libraries(lab)
    for name in ("bpf", "elf", "z", "cap", "lzma", "bz2", "lz4", "iberty"):
        (lab.dir / f"lib{name}.a").write_text("")
    with_zstd = ["-lbpf", "-lz", "-lelf", "-lz", "-lzstd", "-lcap", "-llzma", "-lbz2",
                 "-llz4", "-liberty"]
    plain = [one for one in with_zstd if one != "-lzstd"]
    # with zstd.h installed, the program can unpack zstd logs
    if Path("/usr/include/zstd.h").exists():
        plain = with_zstd
        (lab.dir / "libzstd.a").write_text("")
    ran = lab.call(script, compiler, f"-L{lab.dir}")
    check.equal("libraries", ran.out.split(), plain)
    (lab.dir / "libzstd.a").unlink(missing_ok=True)
    (lab.dir / "libelf.a").write_text("ZSTD_decompress")
    ran = lab.call(script, compiler, f"-L{lab.dir}")
    check.that("libzstd-dev" in ran.err and ran.returncode == 1, f"message: {ran.err!r}")
    (lab.dir / "libzstd.a").write_text("")
    ran = lab.call(script, compiler, f"-L{lab.dir}")
    check.equal("libraries with zstd", ran.out.split(), with_zstd)
    (lab.dir / "libelf.a").write_text("eu_search_tree_init")
    ran = lab.call(script, compiler, f"-L{lab.dir}")
    check.that("libelf_search_tree.c" in ran.out, f"what libelf.a calls and lacks: {ran.out!r}")


def test_sysroot_of_no_architecture(check, lab):
    ran = lab.call(ROOT / "tools/sysroot.py", "vax-linux-gnu", lab.dir / "sysroot")
    check.that(ran.returncode == 1 and "usage" in ran.err, f"message: {ran.err!r}")


def test_fuzzer_that_does_not_build_fails(check, lab):
    """A fuzzer is skipped only if the compiler lacks libFuzzer, not for other build errors."""
    if not shutil.which("clang"):
        raise Skip("no clang")
    (lab.dir / "make").write_text("#!/bin/sh\necho 'clang: -fsanitize=fuzzer: no such file: "
                                  "build/blackbox.bpf.o'\nexit 2\n")
    (lab.dir / "make").chmod(0o755)
    ran = lab.call("sh", "-c", f"BUILD={lab.dir}/build PATH={lab.dir}:$PATH "
                               f"{ROOT}/tests/fuzz/run.sh 1")
    results = [line for line in ran.out.splitlines() if line.startswith(("ok", "not ok"))]
    if results and all("SKIP clang has no libFuzzer" in line for line in results) and \
            lab.call("sh", "-c", "echo 'int LLVMFuzzerTestOneInput(const char *d, long n) "
                     f"{{ return 0; }}' | clang -fsanitize=fuzzer -x c - -o {lab.dir}/probe"
                     ).returncode:
        raise Skip("clang has no libFuzzer here")
    check.equal("results", [line.split()[0] for line in results], ["not"] * 5)


def test_fuzzer_of_recordings_has_what_it_includes(check, lab):
    """make builds the flight recorder's BPF object before the fuzzer that includes its bytes."""
    ran = make(lab, "-n", f"BUILD={lab.dir}/new", f"{lab.dir}/new/fuzz/recording_fuzz")
    check.equal(f"status: {ran.err}", ran.returncode, 0)
    check.that(f"-o {lab.dir}/new/blackbox.bpf.o" in ran.out, "blackbox.bpf.o is not made")


def test_hardening(check, lab):
    """The build uses each hardening option that this compiler accepts, at its highest level."""
    ran = make(lab, "-n", "-B", f"BUILD={lab.dir}/new", f"{lab.dir}/new/src/main.o")
    for option in ("-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3", "-fcf-protection=full"):
        taken = lab.call("sh", "-c", f"echo 'int x;' | cc -O2 -Werror {option} -include stdio.h "
                                     "-x c -c - -o /dev/null")
        check.equal(f"{option} is used", option in ran.out, taken.returncode == 0)
