# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Source lines and inlined functions of native code agree with addr2line, for debug information in
the program, in a separate file, and from a debuginfod server. Damaged debug information, and a
machine without libdw, only cost the lines."""

import http.server
import os
import random
import re
import shutil
import subprocess
import threading

from harness import ROOT, Lines, Skip, live, workload_path
from test_diagnose import FOUND
from test_stacks import walks_by_tables

OPENS = 300
SOURCE = """
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace data {
struct Loader {
	std::vector<int> kept;

	__attribute__((always_inline)) inline int open_file(const char *path)
	{
		return open(path, O_RDONLY);
	}
	__attribute__((always_inline)) inline void keep(const char *path)
	{
		int fd = open_file(path);

		kept.push_back(fd);
	}
};
}

__attribute__((noinline)) void load(data::Loader &loader)
{
	for (int i = 0; i < %d; i++) {
		loader.keep("/etc/passwd");
		usleep(3000);
	}
}

int main()
{
	data::Loader loader;

	load(loader);
	std::printf("%%zu\\n", loader.kept.size());
	return 0;
}
""" % OPENS
LIBDW = "native frames have no source lines"


def build(lab, compiler):
    """Compiles the program with optimization and debug information."""
    path = shutil.which(compiler)
    if not path:
        raise Skip(f"no {compiler}")
    source = lab.dir / "inlined.cpp"
    source.write_text(SOURCE)
    program = lab.dir / f"inlined-{compiler.replace('+', 'p')}"
    subprocess.run([path, "-O2", "-g", "-Wl,--build-id", "-o", program, source], check=True)
    return program


def separate(program):
    """Moves the debug information to a file of its own. Returns this file."""
    debug = program.with_name(program.name + ".debug")
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug.name}", program.name],
                   check=True, cwd=program.parent)
    return debug


def run_once(lab, program, options, how):
    """Returns the growth group of the opened files, and what faultscope complained of."""
    said = lab.dir / "lines.jsonl"
    ran = lab.faultscope("run", "--json", "-o", said, *options, "--", program, **how)
    assert ran.returncode in (0, FOUND), ran.err
    lines = Lines(said.read_text())
    grown = lines.of("growth", None, what="fds")
    groups = [group for line in grown for group in line["groups"]
              if group["name"].startswith("passwd")]
    assert groups, f"fds that grew: {grown}, lost: {lines.of('end', None)}, said: {ran.err}"
    return groups[0], ran.err


def frames_of(lab, program, *options, **how):
    """Returns the frames of the stack that opened the files, and what faultscope complained of. The
    stacks of a program that was just started may end early: tries again then."""
    if not walks_by_tables(lab):
        raise Skip("stacks of code without frame pointers need bpf_loop() of Linux 5.17")
    for _ in range(3):
        group, err = run_once(lab, program, options, how)
        if group["stack_end"] == "entry":
            return group["frames"], err
    raise AssertionError(f"no whole stack: {group}")


def by_addr2line(debug, address):
    """Returns [function, file, line] of an address, the innermost inlined function first."""
    ran = subprocess.run(["addr2line", "-i", "-f", "-C", "-e", debug, hex(address)], text=True,
                         capture_output=True, check=True)
    lines = ran.stdout.splitlines()
    found = []
    for function, place in zip(lines[::2], lines[1::2]):
        path, _, number = place.split(" (")[0].rpartition(":")
        found.append([function.split("(")[0], path, int(number)])
    return found


def check_lines(check, what, frames, module, debug):
    """Compares the frames in the program with what addr2line prints for their addresses."""
    done = 0
    while done < len(frames):
        frame = frames[done]
        end = done + 1
        while frames[end - 1]["inlined"]:
            end += 1
        if frame["module"] == module and frame["function"] != "_start":
            got = [[one["function"], one["file"], one["line"]] for one in frames[done:end]]
            check.equal(f"{what}: {frame['offset']:#x}", got,
                        by_addr2line(debug, frame["offset"] - (done > 0)))
        done = end
    functions = [[one["function"], one["inlined"]] for one in frames if one["module"] == module]
    check.equal(f"{what}: functions", functions[:4],
                [["data::Loader::open_file", True], ["data::Loader::keep", True], ["load", False],
                 ["main", False]])


@live
def test_inlined_functions(check, lab):
    for compiler in ("g++", "clang++"):
        if not shutil.which(compiler):
            continue
        program = build(lab, compiler)
        frames, err = frames_of(lab, program)
        check.that(LIBDW not in err, err)
        check_lines(check, compiler, frames, program.name, program)
    if not shutil.which("g++") and not shutil.which("clang++"):
        raise Skip("no C++ compiler")


def share_tensor():
    """Returns how text shows the function share_tensor of the workload `growth`, with its line."""
    source = (ROOT / "tests" / "workloads" / "growth.c").read_text().splitlines()
    body = next(i for i, line in enumerate(source) if "share_tensor(" in line)
    line = 1 + next(i for i in range(body, len(source)) if "mmap(" in source[i])
    return f"share_tensor (growth.c:{line}) <-"


NO_NAMES = "[unknown] (no names: the process ended before its mappings could be read)"
# what a stack says if the process ended before faultscope read its code
TOO_LATE = ("faultscope had not yet read the call frame information", NO_NAMES)


@live
def test_lines_of_a_short_run(check, lab):
    """The findings of a command that ends after about 20 ms have source lines, each at its own
    function, also if the C library has debug information with inlined functions. On a busy machine,
    a command may end before faultscope runs; its stack then says that it may be short, or that its
    functions are not known."""
    judged = 0
    for _ in range(20):
        ran = lab.faultscope("run", "--", workload_path("growth"), "tensor", "3000")
        said = " ".join(ran.err.split())
        if LIBDW in said:
            raise Skip("no libdw")
        if any(why in said for why in TOO_LATE):
            continue
        check.that(share_tensor() in said, ran.err)
        judged += 1
        if judged == 4:
            return
    check.that(judged, "20 commands ended before faultscope read their code")


@live
def test_a_run_that_ends_unseen(check, lab):
    """faultscope is stopped until its command has ended, so that the mappings of the command are
    gone before faultscope can read them. The stacks say why they have no names."""
    waits = "while [ -e /proc/$$/exe ]; do sleep 0.1; done; kill -CONT $PPID"
    stops = f'({waits}) & kill -STOP $PPID; exec {workload_path("growth")} "$@"'
    ran = lab.faultscope("run", "--", "sh", "-c", stops, "sh", "tensor", "3000")
    said = " ".join(ran.err.split())
    check.that("M03" in said, f"no finding: {ran.err}")
    check.that(NO_NAMES in said, ran.err)


@live
def test_lines_at_short_intervals(check, lab):
    """A finding of the interval in which its stack came has source lines, even if the interval is
    shorter than reading the debug information takes."""
    for _ in range(3):
        work = lab.work("growth", "--wait", "tensor", "3000")
        watch = lab.watch("-p", work.pid, "0.01", record=False)
        work.go()
        work.truth()
        work.end()
        said = watch.finished()
        if LIBDW in said.stderr:
            raise Skip("no libdw")
        findings = Lines(said.text).of("finding", work.pid, id="M03")
        check.equal("findings", len(findings), 1)
        for finding in findings:
            check.that(share_tensor() in str(finding["evidence"]), f"{finding['evidence']}")


@live
def test_lines_of_a_debug_file(check, lab):
    program = build(lab, "g++")
    debug = separate(program)
    frames, _ = frames_of(lab, program)
    check_lines(check, "debug file", frames, program.name, debug)


class OneFile(http.server.BaseHTTPRequestHandler):
    """A debuginfod server that has the debug information of one build ID."""
    def do_GET(self):
        self.server.asked.append(self.path)
        known = self.path == f"/buildid/{self.server.build_id}/debuginfo"
        self.send_response(200 if known else 404)
        self.end_headers()
        if known:
            self.wfile.write(self.server.debug.read_bytes())

    def log_message(self, *_):
        pass


@live
def test_lines_from_a_debuginfod_server(check, lab):
    """faultscope downloads debug information only with --debuginfod."""
    if not any(os.path.exists(f"{lib}/libdebuginfod.so.1")
               for lib in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")):
        raise Skip("libdebuginfod is not installed")
    program = build(lab, "g++")
    debug = separate(program)
    away = debug.rename(lab.dir / "away")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneFile)
    server.asked = []
    server.debug = away
    notes = subprocess.run(["readelf", "-n", program], text=True, capture_output=True, check=True)
    server.build_id = re.search(r"Build ID: (\w+)", notes.stdout)[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = {**os.environ, "DEBUGINFOD_URLS": f"http://127.0.0.1:{server.server_port}",
           "DEBUGINFOD_CACHE_PATH": str(lab.dir / "cache")}
    try:
        frames, _ = frames_of(lab, program, env=env)
        check.equal("without the option: requests", server.asked, [])
        check.equal("without the option: lines",
                    {one["line"] for one in frames if one["module"] == program.name}, {None})
        frames, _ = frames_of(lab, program, "--debuginfod", env=env)
        check_lines(check, "debuginfod", frames, program.name, away)
    finally:
        server.shutdown()
        server.server_close()


@live
def test_no_libdw(check, lab):
    """Without libdw, stacks have no source lines, and one message says so."""
    program = build(lab, "g++")
    (lab.dir / "libdw.so.1").write_text("")
    frames, err = frames_of(lab, program, env={**os.environ, "LD_LIBRARY_PATH": str(lab.dir)})
    check.equal("messages", err.count(LIBDW), 1)
    check.that("libdw1" in err, err)
    check.equal("lines", {one["line"] for one in frames if one["module"] == program.name}, {None})
    check.that("load" in [one["function"] for one in frames], f"{frames}")


@live
def test_damaged_debug_information(check, lab):
    """Damaged debug information may cost the lines, but neither the stack nor the result."""
    whole = build(lab, "g++")
    sections = subprocess.run(["readelf", "-SW", whole], text=True, capture_output=True,
                              check=True).stdout
    spans = [(int(offset, 16), int(size, 16)) for offset, size in
             re.findall(r" \.debug_\w+ +PROGBITS +\w+ (\w+) (\w+)", sections)]
    check.that(len(spans) > 3, f"debug sections: {spans}")
    for seed in range(4):
        dice = random.Random(seed)
        image = bytearray(whole.read_bytes())
        for offset, size in spans:
            for _ in range(1 + size // (20 << 3 * seed)):
                image[offset + dice.randrange(size)] = dice.randrange(256)
        program = lab.dir / f"damaged-{seed}"
        program.write_bytes(image)
        program.chmod(0o755)
        frames, _ = frames_of(lab, program)
        functions = [one["function"] for one in frames if not one["inlined"]]
        check.that("load" in functions and "main" in functions, f"seed {seed}: {functions}")
