#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The walls between the rooms, read from the sources and the objects. TAP on stdout.

usage: walls.py [--self-test] [ROOT [BUILD]]

ROOT is the top of the tree (default: two above this file), BUILD where the objects are (default:
ROOT/build; an object is BUILD/src/ROOM/NAME.o). --self-test makes a tree of its own with one breach
of each sort and asserts that each, and nothing else, is reported; a plain run does so first.
"""
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

# Headers by what they bring in.
PURE = """assert.h byteswap.h complex.h ctype.h elf.h endian.h errno.h float.h inttypes.h iso646.h
	limits.h linux/types.h math.h search.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h
	stddef.h stdint.h stdlib.h stdnoreturn.h string.h strings.h tgmath.h uchar.h wchar.h
	wctype.h""".split()
STDIO = ["stdio.h"]
TIME = ["time.h"]
IO = """argp.h arpa/inet.h cpuid.h dirent.h dlfcn.h err.h execinfo.h fcntl.h features.h fnmatch.h
	ftw.h getopt.h glob.h grp.h iconv.h langinfo.h libgen.h libintl.h link.h locale.h malloc.h
	mntent.h net/*.h netdb.h netinet/*.h paths.h poll.h pthread.h pwd.h regex.h sched.h
	semaphore.h setjmp.h spawn.h sys/auxv.h sys/epoll.h sys/eventfd.h sys/file.h sys/inotify.h
	sys/ioctl.h sys/mman.h sys/mount.h sys/param.h sys/personality.h sys/prctl.h sys/ptrace.h
	sys/queue.h sys/random.h sys/resource.h sys/select.h sys/sendfile.h sys/signalfd.h
	sys/socket.h sys/stat.h sys/statfs.h sys/statvfs.h sys/syscall.h sys/sysinfo.h
	sys/sysmacros.h sys/time.h sys/timerfd.h sys/times.h sys/types.h sys/uio.h sys/un.h
	sys/user.h sys/utsname.h sys/vfs.h sys/wait.h sys/xattr.h sysexits.h syslog.h ucontext.h
	unistd.h""".split()
LIBC = PURE + STDIO + TIME + IO
TERM = ["termios.h"]
UAPI = ["linux/*.h", "asm/*.h", "asm-generic/*.h"]
LIBBPF = ["bpf/*.h"]
BPF_SIDE = """bpf/bpf_helpers.h bpf/bpf_core_read.h bpf/bpf_tracing.h bpf/bpf_endian.h
	bpf/usdt.bpf.h""".split()
LIBCAP = ["sys/capability.h"]
# Of names: libelf, liblzma, libiberty's demangler, zlib's CRC.
NAMES = ["libelf.h", "gelf.h", "lzma.h", "libiberty/demangle.h", "zlib.h"]
HTTP = ["microhttpd.h", "gnutls/gnutls.h", "gnutls/x509.h", "yaml.h", "crypt.h", "zlib.h"]

# Below those that have commands.
LOWER = "base probe collect model rules triage blackbox recorder render serve fetch wire".split()

# The table: the first row whose pattern fits a file holds for it. `may` names rooms (the own one
# is always allowed), `wire` (bpf/wire.h) and `vmlinux`. `pure`: may call nothing that
# does I/O, asks the clock or the environment, and allocates only below a cap. `stateless`: no
# object that can be written to outlives a call.
Row = namedtuple("Row", "where room may headers pure stateless")
TABLE = [
    Row("bpf/wire*.h", "bpf", ["wire", "records"], ["linux/types.h", "stddef.h", "stdint.h"], False, False),
    Row("bpf/both.h", "bpf", ["vmlinux"], BPF_SIDE + ["linux/types.h", "stdbool.h"], False, False),
    Row("bpf/*", "bpf", ["vmlinux", "wire"], BPF_SIDE, False, False),
    Row("src/base/*", "base", [], LIBC, False, False),
    Row("src/records/*", "records", [], PURE, True, True),
    Row("src/probe/*", "probe", ["base", "wire"], LIBC + UAPI + LIBBPF + LIBCAP + ["zlib.h"], False,
        False),
    Row("src/collect/*", "collect", ["base", "wire", "probe", "model", "blackbox"], LIBC + UAPI + NAMES,
        False, True),
    Row("src/model/*", "model", ["base", "wire", "records"], PURE, True, True),
    Row("src/rules/*", "rules", ["base", "model"], PURE + STDIO, True, True),
    Row("src/blackbox/*", "blackbox", ["base"], PURE + STDIO, True, True),
    Row("src/recorder/*", "recorder", ["base", "blackbox"], LIBC, False, True),
    Row("src/triage/*", "triage", ["base", "blackbox"], PURE + STDIO, True, True),
    Row("src/render/tui/*", "render", ["base", "model", "rules", "triage", "blackbox"], LIBC + TERM,
        False, True),
    Row("src/render/*", "render", ["base", "model", "rules", "triage", "blackbox"], PURE + STDIO + TIME,
        False, True),
    Row("src/serve/*", "serve", ["base", "render"], LIBC + HTTP, False, False),
    Row("src/crash/decompress.*", "crash", ["base"], PURE + ["lzma.h", "zlib.h", "zstd.h"], False,
        False),
    Row("src/session/gzip_file.*", "session", ["base"], PURE + ["zlib.h"], False, False),
    Row("src/fetch/*", "fetch", ["base"], LIBC + ["curl/curl.h"], False, False),
    Row("src/cli/*", "cli", LOWER, LIBC + UAPI, False, False),
    Row("src/live/*", "live", LOWER + ["cli"], LIBC + TERM, False, False),
    Row("src/crash/*", "crash", LOWER + ["cli", "live"], LIBC + UAPI, False, False),
    Row("src/session/*", "session", LOWER + ["cli", "live", "crash"], LIBC + UAPI, False, False),
    Row("src/export/*", "export", LOWER + ["cli", "live", "session"], LIBC + UAPI, False, False),
    Row("src/main.c", "main", LOWER + ["cli", "live", "session", "crash", "export"], LIBC, False,
        False),
]
ROOMS = list(dict.fromkeys(row.room for row in TABLE))

MAX_LINES = 800
SPDX = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause"

# What a pure room may not call. snprintf, sscanf, qsort, memcpy … are not here: they are pure.
CALLS = """printf vprintf fprintf vfprintf dprintf vdprintf puts fputs putc fputc putchar perror
	fopen fopencookie fmemopen open_memstream fdopen freopen fclose fread fwrite fgets getc
	fgetc getchar getline getdelim scanf fscanf fflush fseek ftell rewind tmpfile mkstemp
	open openat creat close read write pread pwrite readv writev lseek ioctl fcntl fsync
	mmap munmap mprotect stat fstat lstat fstatat access readlink realpath opendir readdir
	closedir unlink rename mkdir rmdir pipe dup dup2 socket connect bind listen accept send
	recv sendto recvfrom sendmsg recvmsg poll ppoll select epoll_create1 epoll_ctl epoll_wait
	fork vfork execv execve execvp system popen pclose kill raise signal sigaction syscall
	dlopen syslog isatty exit _exit quick_exit
	time clock clock_gettime clock_getres gettimeofday timespec_get times sleep usleep
	nanosleep clock_nanosleep localtime localtime_r ctime ctime_r mktime tzset
	getenv secure_getenv setenv putenv setlocale getpid gettid getppid getuid geteuid
	gethostname sysconf uname getrlimit getrusage getauxval rand random srand srandom getrandom
	strtok strerror
	asprintf vasprintf strdup alloca pthread_create""".split()
HEAP = "strndup malloc calloc realloc reallocarray aligned_alloc posix_memalign".split()
CAP_NEAR = 15  # lines up to a heap call in which its cap must be named

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(.*?)[ \t]*$", re.M)
CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(CALLS))
HEAP_CALL = re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(HEAP))
CAP = re.compile(r"(?<![a-z])(max|cap|limit)", re.I)
NO_CAP = re.compile(r"\b(U?INT\w*|U?L*LONG|SIZE|SSIZE|U?CHAR)_MAX\b")  # of a type, not of a table

Result = namedtuple("Result", "name breaches skip")


def strip(text, strings):
    """Drops comments, and the contents of strings where asked to; line numbers stay."""
    def blank(m):
        t = m.group()
        if t[0] in "\"'":
            return t[0] * 2 if strings else t
        return " " + "\n" * t.count("\n")
    return TOKEN.sub(blank, text.replace("\\\n", " \n") if strings else text)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


class Tree:
    def __init__(self, root, build=None):
        self.root = root
        self.build = build or os.path.join(root, "build")
        self.files = {}  # path from the root → text
        for top in ("src", "bpf", "vmlinux", "tests", "deploy", "docs"):
            for folder, folders, names in os.walk(os.path.join(root, top)):
                folders[:] = sorted(f for f in folders if f[0] != "." and f != "__pycache__")
                for name in sorted(names):
                    self.add(os.path.join(folder, name))

    def add(self, path):
        rel = os.path.relpath(path, self.root)
        if not rel.endswith((".c", ".h", ".sh", ".py", ".inc", ".def", ".S")) and \
           not rel.startswith(("src/", "bpf/")):
            return
        try:
            with open(path, encoding="utf-8") as f:
                self.files[rel] = f.read()
        except (UnicodeDecodeError, FileNotFoundError):
            pass  # not a source, or gone since the walk

    def code(self, room=None):
        for rel, text in self.files.items():
            if rel.startswith(("src/", "bpf/")) and rel.endswith((".c", ".h", ".inc", ".def")):
                row = row_of(rel)
                if room is None or (row and row.room == room):
                    yield rel, text, row


def room_of(rel):
    """Of a path below src/ or bpf/; None where the table has no such room."""
    if rel.startswith("bpf/"):
        return "bpf"
    parts = rel.split("/")
    if len(parts) == 2:
        return "main"
    return parts[1] if parts[1] in ROOMS and parts[1] not in ("bpf", "main") else None


def row_of(rel):
    if not room_of(rel):
        return None
    return next((row for row in TABLE if fnmatch.fnmatchcase(rel, row.where)), None)


def thing_of(tree, rel, name, quoted):
    """What an include names: a room, wire, vmlinux, or None: a header of the system."""
    here = os.path.dirname(rel)
    if re.fullmatch(r"wire(_\w+)?\.h", name):
        return "wire"
    if name == "vmlinux.h":
        return "vmlinux"
    if quoted and here + "/" + name in tree.files:
        return room_of(here + "/" + name)
    for folder in ("src/", "bpf/"):
        if folder + name in tree.files:
            return room_of(folder + name)
    first = name.split("/")[0]
    if "/" in name and first in ROOMS and first != "bpf":
        return first
    return None


def breach_of(tree, rel, row, spelled):
    if len(spelled) < 3 or spelled[0] + spelled[-1] not in ('""', "<>"):
        return "an include that cannot be read: " + spelled
    name = spelled[1:-1]
    if name.startswith("/") or ".." in name.split("/"):
        return "%s: a path out of its folder: write \"room/file.h\"" % spelled
    thing = thing_of(tree, rel, name, spelled[0] == '"')
    if thing:
        if thing == row.room or thing in row.may:
            return None
        return "%s: %s may not include %s" % (spelled, row.room, thing)
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in row.headers):
        return None
    return "%s: not among the headers of %s" % (spelled, row.where)


def check_rooms(tree):
    bad = []
    for rel, _, row in tree.code():
        if not row:
            bad.append("%s: the table has no such room" % rel)
    yield Result("every folder of src/ is a room of the table", bad, None)


def check_includes(tree):
    for room in ROOMS:
        bad, seen = [], False
        for rel, text, row in tree.code(room):
            seen = True
            code = strip(text, False)
            for m in INCLUDE.finditer(code):
                why = breach_of(tree, rel, row, m.group(1))
                if why:
                    bad.append("%s:%d: %s" % (rel, line_of(code, m.start()), why))
        yield Result("%s includes only what its row allows" % room, bad,
                     None if seen else "no files yet")


def check_headers(tree):
    bad = []
    for rel, text, row in tree.code():
        if not row or row.room in ("bpf", "main") or not rel.endswith(".h"):
            continue
        rest = re.sub(r"\A(/\*[^\n]*SPDX[^\n]*\*/|//[^\n]*SPDX[^\n]*)\n", "", text).lstrip()
        if not rest.startswith(("/*", "//")):
            bad.append("%s: does not open with a comment that says what it is for" % rel)
    yield Result("every header of a room opens with its sentence", bad, None)


def check_lines(tree):
    bad = []
    for rel, text in tree.files.items():
        if rel.startswith(("src/", "bpf/")) and len(text.splitlines()) > MAX_LINES:
            bad.append("%s: %d lines" % (rel, len(text.splitlines())))
    yield Result("no file in src/ and bpf/ is over %d lines" % MAX_LINES, bad, None)


def check_spdx(tree):
    bad = []
    for rel, text in tree.files.items():
        if rel.endswith((".c", ".h", ".sh", ".py")) and \
           not any(SPDX in line for line in text.splitlines()[:2]):
            bad.append("%s: no \"%s\"" % (rel, SPDX))
    yield Result("every source and script names its licence", bad, None)


def fixed_size(code, m):
    """Of a heap call: are the sizes constants, as in calloc(TABLE_SIZE, sizeof(*p))?"""
    depth, at = 1, m.end()
    while depth and at < len(code):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        at += 1
    args = re.sub(r"\bsizeof\s*(\([^()]*\)|[\w*>.-]+)", "0", code[m.end():at - 1])
    if m.group(1) in ("strndup", "realloc", "reallocarray", "posix_memalign"):
        args = args.partition(",")[2]
    return not re.search(r"[a-z]\w*", re.sub(r"\b(0x[0-9a-fA-F]+|[0-9]+)[uUlL]*\b", "", args))


def check_calls(tree):
    for room in [r for r in ROOMS if any(row.pure for row in TABLE if row.room == r)]:
        bad, seen = [], False
        for rel, text, _ in tree.code(room):
            seen = True
            code = strip(text, True)
            lines = code.split("\n")
            for m in CALL.finditer(code):
                bad.append("%s:%d: calls %s" % (rel, line_of(code, m.start()), m.group(1)))
            for m in HEAP_CALL.finditer(code):
                at = line_of(code, m.start())
                if not fixed_size(code, m) and \
                   not any(CAP.search(NO_CAP.sub("", s)) for s in lines[max(0, at - CAP_NEAR):at]):
                    bad.append("%s:%d: %s without a cap" % (rel, at, m.group(1)))
        yield Result("%s calls no I/O, clock or environment, and allocates below a cap" % room,
                     bad, None if seen else "no files yet")


def mutable(path):
    """Names of what an object file can write to."""
    out = subprocess.run(["readelf", "-W", "-S", "-s", path], check=True, text=True,
                         stdout=subprocess.PIPE, env=dict(os.environ, LC_ALL="C")).stdout
    section = {}
    for line in out.splitlines():
        m = re.match(r"\s*\[\s*(\d+)\] (\S+)", line)
        if m:
            section[m.group(1)] = m.group(2)
            continue
        f = line.split()
        if len(f) < 8 or not f[0][:-1].isdigit() or f[3] in ("SECTION", "FILE"):
            continue
        where = "COMMON" if f[6] == "COM" else section.get(f[6], "")
        # .data.rel.ro holds const tables of pointers; sanitizers and gcov keep books of their own
        if re.match(r"(\.data|\.bss|\.tdata|\.tbss|COMMON)(\.|$)", where) and \
           not where.startswith(".data.rel.ro") and \
           not re.match(r"_*(asan|odr_asan|ubsan|tsan|gcov|sancov|llvm_|prof)|\.L", f[7]):
            yield "%s in %s" % (f[7], where)


def check_state(tree):
    for room in [r for r in ROOMS if any(row.stateless for row in TABLE if row.room == r)]:
        bad, missing, total = [], 0, 0
        for rel, _, _ in tree.code(room):
            if not rel.endswith(".c"):
                continue
            total += 1
            obj = os.path.join(tree.build, rel[:-2] + ".o")
            if shutil.which("readelf") and os.path.exists(obj):
                bad += ["%s: %s" % (rel, what) for what in mutable(obj)]
            else:
                missing += 1
        skip = None
        if not total:
            skip = "no files yet"
        elif not shutil.which("readelf"):
            skip = "no readelf"
        elif missing:
            skip = "%d of %d objects are not built" % (missing, total)
        yield Result("%s has no state outside its arguments" % room, bad, skip)


CHECKS = [check_rooms, check_includes, check_headers, check_lines, check_spdx, check_calls,
          check_state]


def run(tree):
    return [result for check in CHECKS for result in check(tree)]


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def line(self, name, breaches, skip=None):
        self.n += 1
        if breaches:
            self.failed += 1
            print("not ok %d - %s" % (self.n, name))
        else:
            print("ok %d - %s%s" % (self.n, name, " # SKIP " + skip if skip else ""))
        for b in breaches:
            print("#   " + b)

    def end(self):
        print("1..%d" % self.n)
        return 1 if self.failed else 0


# The self-test: a tree in which all is well, and breaches to put into it one at a time.

HEAD = "/* %s */\n" % SPDX
GOOD = {
    "bpf/wire.h": "/* wire */\n#include <linux/types.h>\n",
    "bpf/maps.bpf.h": '#include "vmlinux.h"\n#include <bpf/bpf_helpers.h>\n#include "wire.h"\n',
    "bpf/one.bpf.c": '#include "maps.bpf.h"\n',
    "vmlinux/vmlinux.h": "",
    "src/base/buf.h": "/* Buffers. */\n#include <stddef.h>\n",
    "src/base/buf.c": '#include "base/buf.h"\n#include <stdio.h>\n#include <unistd.h>\n'
                      "static int n;\nint next(void)\n{\n\treturn ++n;\n}\n",
    "src/probe/load.h": "/* Loading. */\n",
    "src/probe/load.c": '#include "load.h"\n#include "wire.h"\n'
                        "#include <bpf/libbpf.h>\n#include <sys/capability.h>\n",
    "src/collect/facts.c": '#include "probe/load.h"\n#include "model/subject.h"\n'
                           "#include <gelf.h>\n#include <fcntl.h>\n",
    "src/model/subject.h": '/* Subjects. */\n#include "base/buf.h"\n#include "wire.h"\n',
    "src/model/subject.c": '#include "subject.h"\n#include <string.h>\n'
                           "/* #include <stdio.h>, printf(\"x\") */\n"
                           "int f(struct s *s)\n{\n\tif (s->n == MAX)\n\t\treturn 0;\n"
                           '\ts->p = realloc(s->p, s->n);\n\treturn s->open("time(0)");\n}\n'
                           + "\n" * CAP_NEAR +
                           "void *g(void)\n{\n\treturn calloc(N, 2 * sizeof(struct s));\n}\n",
    "src/rules/table.c": '#include "model/subject.h"\n#include <stdio.h>\n'
                         "static const char *const names[] = {\"a\", \"b\"};\n"
                         "const char *const *f(char *b)\n{\n\tsnprintf(b, 1, \"x\");\n"
                         "\treturn names;\n}\n",
    "src/triage/log.h": "/* Logs. */\n",
    "src/triage/log.c": '#include "triage/log.h"\n#include "base/buf.h"\n',
    "src/render/text/text.c": '#include "triage/log.h"\n#include "model/subject.h"\n#include <time.h>\n',
    "src/render/tui/tui_keys.c": "#include <termios.h>\n#include <unistd.h>\n",
    "src/live/terminal.c": "#include <termios.h>\n",
    "src/serve/http.c": '#include "base/buf.h"\n#include <microhttpd.h>\n#include <sys/socket.h>\n',
    "src/cli/options.h": "/* Options. */\n",
    "src/main.c": '#include "cli/options.h"\n#include "probe/load.h"\n#include "wire.h"\n'
                  "#include <sys/epoll.h>\n",
    "tests/run.sh": "",
}


def inc(path, spelled):
    """A breach made of one include; the line of TAP it must fail."""
    room = room_of(path)
    return (path, "#include %s\n" % spelled, "%s includes only" % room)


def call(path, code):
    return (path, "int f(void)\n{\n\treturn %s;\n}\n" % code, "%s calls no" % room_of(path))


BREACHES = [inc(path, spelled) for path, spelled in (
    ("src/base/x.c", '"model/subject.h"'),
    ("src/base/x.c", '"wire.h"'),
    ("src/base/x.c", "<bpf/libbpf.h>"),
    ("src/base/x.c", "<microhttpd.h>"),
    ("src/base/x.c", "<termios.h>"),
    ("src/base/x.c", "<zlib.h>"),
    ("src/base/x.c", '"cli/options.h"'),
    ("src/base/x.c", '"../model/subject.h"'),
    ("src/base/x.c", "HEADER"),
    ("src/probe/x.c", '"model/subject.h"'),
    ("src/probe/x.c", '"collect/facts.h"'),
    ("src/probe/x.c", '"maps.bpf.h"'),
    ("src/probe/x.c", '"vmlinux.h"'),
    ("src/collect/x.c", '"rules/table.h"'),
    ("src/collect/x.c", "<bpf/bpf.h>"),
    ("src/collect/x.c", "<sys/capability.h>"),
    ("src/probe/x.c", "<gelf.h>"),
    ("src/probe/x.c", "<lzma.h>"),
    ("src/render/x.c", "<libiberty/demangle.h>"),
    ("src/model/x.c", '"probe/load.h"'),
    ("src/model/x.c", "<probe/load.h>"),
    ("src/model/x.c", '"stdio.h"'),
    ("src/model/x.h", "<stdio.h>"),
    ("src/model/x.c", "<time.h>"),
    ("src/model/x.c", "<unistd.h>"),
    ("src/model/x.c", "<sys/types.h>"),
    ("src/model/x.c", "<fcntl.h>"),
    ("src/rules/x.c", '"wire.h"'),
    ("src/rules/x.c", '"triage/log.h"'),
    ("src/rules/x.c", "<fcntl.h>"),
    ("src/triage/x.c", '"model/subject.h"'),
    ("src/triage/x.c", "<unistd.h>"),
    ("src/render/x.c", '"collect/facts.h"'),
    ("src/render/x.c", '"wire.h"'),
    ("src/render/x.c", "<termios.h>"),
    ("src/render/x.c", "<unistd.h>"),
    ("src/render/tui/x.c", '"probe/load.h"'),
    ("src/serve/x.c", '"collect/facts.h"'),
    ("src/serve/x.c", '"model/subject.h"'),
    ("src/session/x.c", "<microhttpd.h>"),
    ("src/session/x.c", "<bpf/libbpf.h>"),
    ("bpf/x.bpf.c", "<stdio.h>"),
    ("bpf/x.bpf.c", "<bpf/libbpf.h>"),
    ("bpf/x.bpf.c", '"base/buf.h"'),
    ("bpf/x.bpf.c", "<linux/mm.h>"),
)]
BREACHES += [call(path, code) for path, code in (
    ("src/model/x.c", 'printf("x")'),
    ("src/model/x.c", "time(0)"),
    ("src/model/x.c", "clock_gettime(0, 0)"),
    ("src/model/x.c", "gettimeofday (0, 0)"),
    ("src/model/x.c", "!malloc(n)"),
    ("src/model/x.c", "!realloc(p, n * sizeof(*p) + SIZE_MAX)"),
    ("src/rules/x.c", 'getenv("x")'),
    ("src/rules/x.c", 'strdup("x")'),
    ("src/triage/x.c", 'fopen("x", "r")'),
    ("src/triage/x.c", 'open("x", 0)'),
)]
BREACHES += [
    ("src/cellar/x.c", "", "every folder"),
    ("src/x.c", "", "every folder"),
    ("src/base/x.h", "#include <stddef.h>\n", "every header"),
    ("src/base/x.c", "\n" * MAX_LINES, "no file in"),
    ("bpf/x.bpf.c", "\n" * MAX_LINES, "no file in"),
    ("src/base/x.c", None, "every source"),
    ("bpf/x.bpf.h", None, "every source"),
    ("tests/x.sh", None, "every source"),
]
STATES = [
    ("src/model/x.c", "int x = 1;\n"),
    ("src/model/x.c", "int x;\n"),
    ("src/rules/x.c", "int f(void);\nint f(void)\n{\n\tstatic int n;\n\n\treturn ++n;\n}\n"),
    ("src/render/x.c", "static const char *names[] = {\"a\"};\nconst char **f(void);\n"
                       "const char **f(void)\n{\n\treturn names;\n}\n"),
    ("src/triage/x.c", "_Thread_local int x;\n"),
    ("src/collect/x.c", "int x __attribute__((common));\n"),
]


def put(root, rel, text):
    path = os.path.join(root, rel)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compile_to(cc, root, rel):
    obj = os.path.join(root, "build", rel[:-2] + ".o")
    os.makedirs(os.path.dirname(obj), exist_ok=True)
    subprocess.run(cc + ["-w", "-O1", "-fPIE", "-fdata-sections", "-c", "-o", obj,
                         "-I" + os.path.join(root, "src"), "-I" + os.path.join(root, "bpf"),
                         os.path.join(root, rel)], check=True)
    return obj


def expect(root, rel, text, wanted):
    """None, or what is wrong with the answer to one breach."""
    path = put(root, rel, "\n" if text is None else HEAD + text)
    failed = [r for r in run(Tree(root)) if r.breaches]
    os.unlink(path)
    if len(failed) == 1 and failed[0].name.startswith(wanted) and \
       len(failed[0].breaches) == 1 and failed[0].breaches[0].startswith(rel + ":"):
        return None
    told = "; ".join("%s: %s" % (r.name, ", ".join(r.breaches)) for r in failed)
    return "wanted \"%s …\" of %s alone, got: %s" % (wanted, rel, told or "nothing")


def self_test(tap):
    """One line each on tap, or only the list of what went wrong where tap is None."""
    wrong = []

    def told(name, bad, skip=None):
        wrong.extend(bad)
        if tap:
            tap.line(name, bad, skip)

    with tempfile.TemporaryDirectory(prefix="walls-") as root:
        for rel, text in GOOD.items():
            put(root, rel, ("#!/bin/sh\n# %s\n" % SPDX if rel.endswith(".sh") else HEAD) + text)
        told("a tree without a breach passes",
             ["%s: %s" % (r.name, ", ".join(r.breaches)) for r in run(Tree(root)) if r.breaches])
        for rel, text, wanted in BREACHES:
            if rel.endswith(".h") and text and wanted != "every header":
                text = "/* A header. */\n" + text
            bad = expect(root, rel, text, wanted)
            what = "no licence" if text is None else text.strip().split("\n")
            if isinstance(what, list):
                what = (what[2].strip() if len(what) > 2 else what[-1]) or wanted
            told("reported: %s: %s" % (rel, what.lstrip("#")), [bad] if bad else [])
        cc = os.environ.get("CC", "cc").split()
        lacks = [t for t in ("readelf", cc[0]) if not shutil.which(t)]
        if lacks:
            told("reported: state outside arguments", [], "no " + " and no ".join(lacks))
            return wrong
        for rel in ("src/rules/table.c", "src/base/buf.c"):
            compile_to(cc, root, rel)
        told("a const table of pointers is no state",
             [", ".join(r.breaches) for r in run(Tree(root)) if r.breaches])
        for rel, text in STATES:
            put(root, rel, HEAD + text)
            obj = compile_to(cc, root, rel)
            bad = expect(root, rel, text, "%s has no state" % room_of(rel))
            os.unlink(obj)
            told("reported: %s: %s" % (rel, text.split(";")[0].split("\n")[-1].strip()),
                 [bad] if bad else [])
    return wrong


def main(args):
    tap = Tap()
    if args[:1] == ["--self-test"]:
        self_test(tap)
        return tap.end()
    if args[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    here = os.path.dirname(os.path.abspath(__file__))
    root = args[0] if args else os.path.dirname(os.path.dirname(here))
    if not os.path.isdir(os.path.join(root, "src")):
        print("Bail out! %s has no src/" % root)
        return 1
    tap.line("this test reports one breach of each sort", self_test(None))
    for result in run(Tree(root, args[1] if len(args) > 1 else None)):
        tap.line(*result)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
