# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests the names of user functions: build/naming names the addresses that test programs report.
One test program is built in each way that changes where symbols are stored. Other tests name
functions of processes in different states, such as a process that has ended."""

import json
import lzma
import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from harness import BUILD, ROOT, Skip, live, proc_sleeps, until

SOURCE = ROOT / "tests/workloads/named.c"
NAMES = {"shown": "shown_function", "hidden": "hidden_function", "main": "main",
         "cxx": "outer::inner<int>", "rust": "demo::work", "rust_new": "demo::work"}
HIDDEN = {key: "" for key in NAMES}  # expected names for a file without symbols
EXPORTED = {**NAMES, "hidden": ""}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert not done.returncode, f"{words}: {done.stderr}"
    return done.stdout


class Named:
    """A running test program, which was built in one of several ways. The ways differ in where
    symbols are stored."""

    def __init__(self, lab, argv, started=None):
        self.process = started or lab.spawn(argv, stdin=subprocess.PIPE)
        self.maps = []

    def truth(self):
        line = self.process.stdout.readline()
        assert line, f"no truth: {self.process.stderr.read()}"
        truth = json.loads(line)
        self.read_maps()
        return truth

    def read_maps(self):
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as f:
            for line in f:
                words = line.split(None, 5)
                start, end = (int(word, 16) for word in words[0].split("-"))
                self.maps.append((start, end, int(words[2], 16), words[1]))

    def go(self):
        self.process.stdin.write("g")
        self.process.stdin.flush()

    def file_offset(self, ip):
        for start, end, offset, mode in self.maps:
            if start <= ip < end and "x" in mode:
                return ip - start + offset
        raise AssertionError(f"{ip:x} is in no mapping")

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class Naming:
    """The program build/naming, which names addresses."""

    def __init__(self, lab, *options, prefix=()):
        program = BUILD / "naming"
        if not program.exists():
            raise Skip(f"{program} is not built: make check-parts")
        self.process = lab.spawn([*prefix, program, *options], stdin=subprocess.PIPE)

    def ask(self, *words):
        self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"no answer to {words}: {self.process.stderr.read()}"
        return line.rstrip("\n")

    def learn(self, pid):
        return int(self.ask("learn", pid))

    def name(self, *words):
        name, module, offset, address = self.ask(*words).split("\t")
        return name, module, int(offset), int(address)

    def lost(self):
        return {key: n for key, n in json.loads(self.ask("lost")).items() if n}


def build(lab, *options, folder="."):
    path = lab.dir / folder / "named"
    path.parent.mkdir(exist_ok=True)
    if not shutil.which("cc"):
        raise Skip("cc is missing")
    run("cc", "-std=gnu11", "-O2", "-pthread", *options, SOURCE, "-o", path, "-ldl")
    return path


def build_id(path):
    for line in run("readelf", "-n", path).splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    return None


def expect(check, what, naming, named, truth, names, module="named", ident=None):
    """Checks the name of each function at an address 4 bytes after the function's start. The lookup
    is done once by address, and once by build-id and offset."""
    pid = truth["pid"]
    for key, name in names.items():
        ip = truth[key] + 4
        asked = {"ip": naming.name("ip", pid, f"{ip:x}")}
        if ident:
            asked["id"] = naming.name("id", pid, ident, f"{named.file_offset(ip):x}")
        for how, got in asked.items():
            check.equal(f"{what}, {key} by {how}", got[:2], (name, module))
            if name:
                check.equal(f"{what}, {key} by {how}, offset", got[2], 4)


# Functions that modify a built program, so that fewer or different symbols remain

def as_built(_lab, _path):
    pass


def stripped(_lab, path):
    run("strip", path)


def split(_lab, path, place="named.debug"):
    debug = path.parent / place
    debug.parent.mkdir(exist_ok=True)
    run("objcopy", "--only-keep-debug", path, debug)
    run("strip", path)
    run("objcopy", f"--add-gnu-debuglink={debug}", path)


def split_into_folder(lab, path):
    split(lab, path, ".debug/named.debug")


def another_debug_file(_lab, path):
    """Creates a debug file that has the right name, but belongs to another program."""
    debug = path.parent / "named.debug"
    run("objcopy", "--only-keep-debug", "/proc/self/exe", debug)
    run("objcopy", f"--add-gnu-debuglink={debug}", path)
    run("strip", path)
    debug.write_bytes(debug.read_bytes() + b"x")


def packed(_lab, path):
    """Strips a program as Fedora does: exported symbols stay in .dynsym, the others move to
    .gnu_debugdata."""
    mini = path.parent / "mini"
    run("objcopy", "-S", "--keep-symbol=hidden_function", path, mini)
    mini.with_suffix(".xz").write_bytes(lzma.compress(mini.read_bytes()))
    run("strip", path)
    run("objcopy", "--add-section", f".gnu_debugdata={mini.with_suffix('.xz')}", path)


def bomb(_lab, path):
    """Adds 256 MiB of compressed zeros as .gnu_debugdata."""
    blob = path.parent / "bomb.xz"
    blob.write_bytes(lzma.compress(bytes(256 << 20), preset=0))
    run("strip", path)
    run("objcopy", "--add-section", f".gnu_debugdata={blob}", path)


BUILDS = {
    "PIE": ([], as_built, NAMES),
    "not PIE": (["-no-pie"], as_built, NAMES),
    "static": (["-static"], as_built, NAMES),
    "no build-id": (["-Wl,--build-id=none"], as_built, NAMES),
    "short build-id": (["-Wl,--build-id=md5"], as_built, NAMES),
    "stripped": ([], stripped, HIDDEN),
    "stripped, exports": (["-rdynamic"], stripped, EXPORTED),
    "debuglink": ([], split, NAMES),
    "debuglink, not PIE": (["-no-pie"], split, NAMES),
    "debuglink into .debug": ([], split_into_folder, NAMES),
    "debuglink, no build-id": (["-Wl,--build-id=none"], split, NAMES),
    "another's debug file": (["-Wl,--build-id=none"], another_debug_file, HIDDEN),
    "mini debug info": (["-rdynamic"], packed, NAMES),
    "a bomb for mini debug info": (["-rdynamic"], bomb, EXPORTED),
    "one segment for all": (["-Wl,-z,noseparate-code"], as_built, NAMES),
    "one section a function": (["-ffunction-sections"], as_built, NAMES),
    "lld": (["-fuse-ld=lld"], as_built, NAMES),
}
OPTIONAL = ("lld",)


@live
def test_names_of_each_build(check, lab):
    done = 0
    for what, (options, change, names) in BUILDS.items():
        try:
            path = build(lab, *options, folder=str(done))
        except AssertionError:
            check.that(what in OPTIONAL, f"{what}: does not build")
            continue
        change(lab, path)
        ident = build_id(path)
        for text in (), ("--text",):
            naming, named = Naming(lab, *text), Named(lab, [path, "--hold"])
            truth = named.truth()
            check.equal(f"{what}, learned", naming.learn(truth["pid"]), 0)
            expect(check, what, naming, named, truth, names, ident=ident)
            named.end()
            expect(check, f"{what}, ended", naming, named, truth, names, ident=ident)
            check.that(not naming.lost().keys() & {"refused", "files", "maps", "symbols"},
                       f"{what}: lost {naming.lost()}")
        done += 1
    check.that(done >= len(BUILDS) - len(OPTIONAL), f"only {done} builds")


NARROW = """
int shown_function(int n)
{
	return n * 3;
}

void _start(void)
{
	int (*function)(int) = shown_function;
	int done;

	__asm__ volatile("int $0x80" : "=a"(done) : "0"(4), "b"(1), "c"(&function), "d"(4) : "memory");
	__asm__ volatile("int $0x80" : "=a"(done) : "0"(29)); /* pause */
}
"""


@live
def test_names_in_32_bits(check, lab):
    source, path = lab.dir / "narrow.c", lab.dir / "narrow"
    source.write_text(NARROW)
    if os.uname().machine != "x86_64" or not shutil.which("cc"):
        raise Skip("no compiler for x86 of 32 bits")
    run("cc", "-m32", "-O1", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-static",
        "-fno-pie", "-no-pie", source, "-o", path)
    process = lab.spawn([path], text=False)
    at = int.from_bytes(process.stdout.read(4), "little")
    naming = Naming(lab)
    check.equal("learned", naming.learn(process.pid), 0)
    got = naming.name("ip", process.pid, f"{at + 2:x}")
    check.equal("name", got, ("shown_function", "narrow", 2, at + 2))


@live
def test_bomb_takes_little(check, lab):
    path = build(lab, "-rdynamic")
    bomb(lab, path)
    naming, named = Naming(lab), Named(lab, [path, "--hold"])
    truth = named.truth()
    naming.learn(truth["pid"])
    expect(check, "bomb", naming, named, truth, EXPORTED, ident=build_id(path))
    check.equal("lost", naming.lost(), {"malformed": 1})
    if BUILD.name != "san":
        high = proc_high_kib(naming.process.pid)
        check.that(high < 60 << 10, f"it took {high} KiB")


def proc_high_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:"))


# Tests of process states

@contextmanager
def less_rights():
    """Yields a command prefix that drops CAP_SYS_ADMIN and CAP_CHECKPOINT_RESTORE, which
    /proc/PID/map_files needs. Without these capabilities, faultscope opens mapped files by path,
    and programs by /proc/PID/exe."""
    if not shutil.which("setpriv"):
        raise Skip("setpriv is missing")
    drop = "-sys_admin,-checkpoint_restore"
    yield ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]


@live
def test_program_deleted(check, lab):
    path = build(lab)
    ident = build_id(path)
    named = Named(lab, [path, "--hold"])
    truth = named.truth()
    path.unlink()
    with less_rights() as prefix:
        for what, how in {"all rights": (), "less rights": prefix}.items():
            naming = Naming(lab, prefix=how)
            check.equal(f"{what}, learned", naming.learn(truth["pid"]), 0)
            expect(check, f"deleted, {what}", naming, named, truth, NAMES, ident=ident)


@live
def test_program_replaced(check, lab):
    """If another file has replaced a mapped library at its path, the symbols of the new file must
    not be used."""
    library = build_library(lab, "loaded_function")
    ident = build_id(library)
    named = Named(lab, [build(lab), "--load", library, "--hold"])
    truth = named.truth()
    shutil.copy(library, lab.dir / "kept")
    library.unlink()
    build_library(lab, "another_function")
    want = {(): "loaded_function"}
    with less_rights() as prefix:
        want[tuple(prefix)] = ""
        for how, name in want.items():
            naming = Naming(lab, prefix=how)
            naming.learn(truth["pid"])
            ip = truth["loaded"] + 4
            for asked in ("ip", f"{ip:x}"), ("id", ident, f"{named.file_offset(ip):x}"):
                got = naming.name(asked[0], truth["pid"], *asked[1:])
                check.equal(f"name by {asked[0]} with {how}", got[0], name)
    # A copy of the library has another inode, so only the build-id identifies the copy.
    library.unlink()
    shutil.copy(lab.dir / "kept", library)
    naming = Naming(lab, prefix=prefix)
    got = naming.name("ip", truth["pid"], f"{ip:x}")
    check.equal("name by ip, of a copy", got[0], "")
    got = naming.name("id", truth["pid"], ident, f"{named.file_offset(ip):x}")
    check.equal("name by id, of a copy", got[:2], ("loaded_function", "library.so"))


def build_library(lab, function):
    source, path = lab.dir / "library.c", lab.dir / "library.so"
    source.write_text(f"int filler(int x) {{ return x * 3; }}\n"
                      f"int {function}(int x) {{ return x + 1; }}\n")
    run("cc", "-shared", "-fPIC", source, "-o", path)
    return path


@live
def test_library_loaded_later(check, lab):
    library = build_library(lab, "loaded_function")
    ident = build_id(library)
    named = Named(lab, [build(lab), "--wait", "--load", library, "--hold"])
    pid = json.loads(named.process.stdout.readline())["pid"]
    naming = Naming(lab)
    check.equal("learned", naming.learn(pid), 0)
    named.go()
    truth = named.truth()
    expect(check, "later", naming, named, truth, {"loaded": "loaded_function"}, "library.so", ident)


@live
def test_never_learned(check, lab):
    """A process ended before faultscope read the files that it had mapped. Its stacks have no
    function names until another process maps the same files."""
    path = build(lab)
    ident = build_id(path)
    named = Named(lab, [path, "--hold"])
    truth = named.truth()
    named.end()
    naming = Naming(lab)
    offset = named.file_offset(truth["main"] + 4)
    check.equal("learned", naming.learn(truth["pid"]), -3)
    got = naming.name("id", truth["pid"], ident, f"{offset:x}")
    check.equal("unknown", got, ("", "", 0, 0))
    other = Named(lab, [path, "--hold"])
    naming.learn(other.truth()["pid"])
    got = naming.name("id", truth["pid"], ident, f"{offset:x}")
    check.equal("known by another", got[:3], ("main", "named", 4))


@live
def test_many_unknown(check, lab):
    """After lookups of many unknown build-ids and addresses, known functions are still found."""
    named = Named(lab, [build(lab), "--hold"])
    truth = named.truth()
    naming = Naming(lab)
    naming.learn(truth["pid"])
    for n in range(100):
        naming.name("id", truth["pid"], f"{n:040x}", "1000")
        naming.name("ip", truth["pid"], f"{n + 1:x}000")
    expect(check, "after", naming, named, truth, NAMES)


@live
def test_more_files_than_descriptors(check, lab):
    """A file that was closed to save file descriptors is opened again if it is needed while the
    process lives."""
    libraries = []
    for n in range(12):
        libraries.append(build_library(lab, f"function_{n}").rename(lab.dir / f"lib{n}.so"))
    path = build(lab)
    named = Named(lab, ["env", "LD_PRELOAD=" + ":".join(map(str, libraries)), path, "--hold"])
    truth = named.truth()
    naming = Naming(lab, prefix=["prlimit", "--nofile=20"])
    check.equal("learned", naming.learn(truth["pid"]), 0)
    check.that(naming.lost().get("files", 0) >= 4, f"lost {naming.lost()}")
    expect(check, "closed", naming, named, truth, NAMES, ident=build_id(path))
    for n, library in enumerate(libraries):
        symbol = next(line for line in run("nm", "-D", library).splitlines()
                      if line.endswith(f" T function_{n}"))
        # in this library, the address of each symbol equals its file offset
        at = int(symbol.split()[0], 16)
        got = naming.name("id", truth["pid"], build_id(library), f"{at + 1:x}")
        check.equal(f"function_{n}", got[:2], (f"function_{n}", library.name))


@live
def test_more_processes_than_are_kept(check, lab):
    many = lab.spawn(["sh", "-c", "for i in $(seq 258); do sleep 600 & done; echo; wait"])
    many.stdout.readline()
    with open(f"/proc/{many.pid}/task/{many.pid}/children", encoding="utf-8") as f:
        pids = f.read().split()
    # exec renames a process before it maps the program: begin_new_exec(), fs/exec.c
    for pid in pids:
        until(lambda pid=pid: lab.read(f"/proc/{pid}/comm") == "sleep\n" and proc_sleeps(pid),
              "exec")
    naming = Naming(lab)
    for pid in pids:
        check.equal("learned", naming.learn(pid), 0)
    check.equal("lost", naming.lost(), {"processes": len(pids) - 256})


IN_NAMESPACE = """
set -e
mount --make-rprivate /
mkdir "$1/inside"
mount -t tmpfs none "$1/inside"
cp "$1/named" "$1/inside/named"
mkdir "$1/at"
mount --bind "$1/inside" "$1/at"
[ -z "$2" ] || { mount -t tmpfs none /usr/lib/debug; mkdir -p "/usr/lib/debug/${2%/*}"
	cp "$1/named.debug" "/usr/lib/debug/$2"; strip "$1/at/named"; }
exec "$1/at/named" --hold
"""


@contextmanager
def directory_of_debug_files():
    """Makes /usr/lib/debug for the test; Debian makes it with the first package of debug files."""
    place = Path("/usr/lib/debug")
    missing = not place.exists()
    if missing:
        place.mkdir()
    try:
        yield
    finally:
        if missing:
            place.rmdir()


@live
def test_mount_namespace(check, lab):
    """The program and its debug file exist only in the mount namespace of the watched process."""
    with directory_of_debug_files():
        check_mount_namespace(check, lab)


def check_mount_namespace(check, lab):
    path = build(lab)
    ident = build_id(path)
    run("objcopy", "--only-keep-debug", path, lab.dir / "named.debug")
    with less_rights() as prefix:
        for debug in "", f".build-id/{ident[:2]}/{ident[2:]}.debug":
            for how in (), prefix:
                named = Named(lab, ["unshare", "-m", "sh", "-c", IN_NAMESPACE, "sh", lab.dir, debug])
                truth = named.truth()
                naming = Naming(lab, prefix=how)
                check.equal("learned", naming.learn(truth["pid"]), 0)
                expect(check, f"in a namespace, {how} {debug}", naming, named, truth, NAMES,
                       ident=ident)
                named.end()
                for left in "inside", "at":
                    shutil.rmtree(lab.dir / left)


# Tests of JIT code

def spawn_jit(lab, path, before=""):
    script = f"mount --make-rprivate / && mount --bind \"$1\" /mnt && mount -t tmpfs none /tmp && " \
             f"{before} exec /mnt/named --jit --wait --hold"
    named = Named(lab, ["unshare", "-m", "sh", "-c", script, "sh", lab.dir])
    named.pid = json.loads(named.process.stdout.readline())["pid"]
    return named


@live
def test_code_made_at_run_time(check, lab):
    named = spawn_jit(lab, build(lab))
    naming = Naming(lab)
    naming.learn(named.pid)
    check.equal("no address of it", naming.name("ip", named.pid, "1000")[0], "")
    named.go()
    truth = named.truth()
    for at, name, offset in (4, "first_again", 4), (64, "first_again", 64), (65, "second", 1), \
            (200, "", 0):
        got = naming.name("ip", named.pid, f"{truth['jit'] + at:x}")
        check.equal(f"at {at}", got[:3], (name, "[jit]" if name else "", offset))
    expect(check, "its own", naming, named, truth, NAMES)
    named.end()
    got = naming.name("ip", named.pid, f"{truth['jit'] + 4:x}")
    check.equal("ended", got[0], "first_again")


@live
def test_name_of_a_script(check, lab):
    """The name of a function in a perf map may contain any character except a newline. The lookup
    finds names before and after the map grows."""
    named = spawn_jit(lab, build(lab))
    naming = Naming(lab)
    with open(f"/proc/{named.pid}/root/tmp/perf-{named.pid}.map", encoding="utf-8") as f:
        start = int(f.read().split()[0], 16)
    got = naming.name("ip", named.pid, f"{start + 8:x}")
    check.equal("name", got[:3], ("py::first:/srv/some file.py", "[jit]", 8))


@live
def test_pid_namespace(check, lab):
    """For a process in a pid namespace, the file name of the perf map has the pid of that
    namespace."""
    script = "mount -t proc proc /proc && mount --bind \"$1\" /mnt && mount -t tmpfs none /tmp " \
             "&& exec /mnt/named --jit --wait --hold"
    build(lab)
    outer = lab.spawn(["unshare", "-m", "-p", "-f", "sh", "-c", script, "sh", lab.dir],
                      stdin=subprocess.PIPE)
    check.equal("pid inside", json.loads(outer.stdout.readline())["pid"], 1)
    with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="utf-8") as f:
        pid = int(f.read())
    outer.stdin.write("g")
    outer.stdin.flush()
    truth = json.loads(outer.stdout.readline())
    naming = Naming(lab)
    naming.learn(pid)
    got = naming.name("ip", pid, f"{truth['jit'] + 4:x}")
    check.equal("name", got[:2], ("first_again", "[jit]"))


def swap_map(pid, do):
    path = f"/proc/{pid}/root/tmp/perf-{pid}.map"
    with open(path, encoding="utf-8") as f:
        text = f.read()
    os.unlink(path)
    do(path, text)
    return int(text.split()[0], 16)


def owned_by_another(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chown(path, 65534, 65534)


def symbolic_link(path, text):
    with open(path + ".real", "w", encoding="utf-8") as f:
        f.write(text)
    os.symlink(path.rpartition("/")[2] + ".real", path)


def named_pipe(path, _text):
    os.mkfifo(path)


def folder(path, _text):
    os.mkdir(path)


def link_out(path, text):
    """Replaces a perf map by a symbolic link that leads out of the process's root directory."""
    tmp = os.path.dirname(path)
    os.mkdir(tmp + "/inner")
    os.symlink("/proc/self/root/dev/null", path)
    assert text


def not_text(path, _text):
    with open(path, "wb") as f:
        f.write(os.urandom(300_000).replace(b"\n", b"") + b"\0" * 70_000)


def numbers_too_long(path, _text):
    with open(path, "w", encoding="utf-8") as f:
        f.write("f" * 100_000 + " 1 x\n" + "1 " + "f" * 40 + " y\n\n \n1\n1 2\n1 2 \n")


@live
def test_maps_not_believed(check, lab):
    build(lab)
    for do in owned_by_another, symbolic_link, named_pipe, folder, link_out, not_text, \
            numbers_too_long:
        named = spawn_jit(lab, None)
        naming = Naming(lab)
        start = swap_map(named.pid, do)
        got = naming.name("ip", named.pid, f"{start + 4:x}")
        check.equal(do.__name__, got[0], "")
        check.equal(f"{do.__name__}, lost", naming.lost().get("perf_maps", 0),
                    int(do is owned_by_another))
        named.go()
        named.process.stdin.close()


def python_with_trampolines():
    for name in "python3.14", "python3.13", "python3.12", "python3":
        path = shutil.which(name)
        if path and not subprocess.run([path, "-X", "perf", "-c", "import sys; sys.exit("
                                        "sys.version_info < (3, 12))"], capture_output=True,
                                       check=False).returncode:
            return path
    raise Skip("no Python 3.12 or later")


@live
def test_python(check, lab):
    script = lab.dir / "script.py"
    script.write_text("import time\ndef leaking():\n    time.sleep(60)\n"
                      "def outer():\n    leaking()\nouter()\n")
    run_in = "mount --make-rprivate / && mount --bind \"$2\" /mnt && mount -t tmpfs none /tmp && " \
             "exec \"$1\" -X perf /mnt/script.py"
    process = lab.spawn(["unshare", "-m", "sh", "-c", run_in, "sh", python_with_trampolines(),
                         lab.dir])
    path = f"/proc/{process.pid}/root/tmp/perf-{process.pid}.map"

    def entries():
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            lines = [line.rstrip("\n").split(" ", 2) for line in f if line.endswith("\n")]
        found = {line[2]: int(line[0], 16) for line in lines if "/script.py" in line[2]}
        return found if any("leaking" in name for name in found) else None

    naming = Naming(lab)
    for name, start in until(entries, "the map of Python").items():
        got = naming.name("ip", process.pid, f"{start + 1:x}")
        check.equal(name, got[:2], (name, "[jit]"))
