#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of rooms (folders of src/): purpose of each room, what it may use, and its rules.

usage: rooms.py --table NAME    print a table of the documents (rooms, walls)
       rooms.py --needs PATH... print what objects below build/src need (build/src/rules, x.o)

walls.py checks sources and objects against this table. The row of a room lists the rooms that it
may use, and the groups of symbols of the C library and of other libraries that it may use.
Everything else is forbidden.
"""
import argparse
import sys
from collections import namedtuple
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Symbols that any object may need, because compilers insert calls of these functions.
COMPILER = """memcpy memmove memset memcmp bcmp strlen strcpy stpcpy _GLOBAL_OFFSET_TABLE_
    __stack_chk_fail __*ti3 __*di2 __fentry__ __tls_get_addr""".split()

# Symbols of the C library, in groups. Only plain names are listed, not the variants for FORTIFY and
# for versions of the C standard. So __snprintf_chk counts as snprintf, and __isoc99_sscanf counts
# as sscanf.
SORTS = {
    # Pure functions: the result depends on the arguments alone.
    "text": """memchr memmem strcasestr memrchr strchr strchrnul strcmp strncmp strcasecmp strncasecmp strcspn
        strspn strpbrk strstr strrchr strnlen strcat strtok_r strverscmp __ctype_b_loc
        __ctype_tolower_loc __ctype_toupper_loc""",
    "numbers": "strtol strtoul strtoll strtoull strtod",
    "format": "snprintf vsnprintf sscanf",
    "sort": "qsort qsort_r",
    "math": "exp fmod fmax fmin hypot ldexp log log1p log2 round sqrt",
    "calendar": "gmtime_r strftime",
    "paths": "dirname fnmatch",
    "patterns": "regcomp regerror regexec regfree",
    "width": "wcwidth",
    # Functions that allocate memory. A room with the rule `capped` must limit the size of each
    # allocation.
    "heap": "malloc calloc realloc reallocarray free strndup",
    "copies": "strdup asprintf vasprintf",
    "secrets": "explicit_bzero getrandom",
    "pages": "mmap munmap madvise mlockall malloc_trim",
    "settings of the heap": "mallopt",
    # Functions for errors and names of signals, and longjmp
    "errors": "__errno_location strerror strerrorname_np",
    "signal names": "sigabbrev_np",
    "jumps": "_setjmp longjmp siglongjmp",
    # Functions for time
    "clock": "clock_gettime clock_getcpuclockid",
    "date": "time",
    "sleep": "nanosleep",
    "local time": "localtime_r",
    "written times": "strptime mktime timegm",
    # Functions for files
    "files": """open memfd_create dup3 openat openat2 read pread close fstat stat lstat fstatat access
        faccessat readlink
        readlinkat statfs fstatfs opendir fdopendir readdir closedir dirfd lseek""",
    "lists of files": "scandir alphasort",
    "streams": "fopen fdopen fclose fgets fread setvbuf rewind fseeko ftello fileno",
    "standard input": "stdin fscanf",
    "mounts": "setmntent getmntent endmntent hasmntopt",
    "own files": """write pwrite fwrite fflush fsync ftruncate posix_fallocate renameat unlinkat
        fchmod umask mkdir mkdirat flock fcntl""",
    "real paths": "realpath getcwd",
    "messages": "stdout stderr fputs fputc fprintf vfprintf dprintf",
    # Functions that read or set properties of faultscope's own process, and functions that affect
    # or observe other processes
    "environment": "getenv",
    "changed environment": "setenv",
    "own ids": "getpid getuid geteuid getgid getegid",
    "own rights": "setresuid setresgid prctl",
    "own limits": "getrlimit setrlimit",
    "own cost": "getrusage",
    "scheduling": """sched_getaffinity sched_setaffinity sched_setscheduler sched_getcpu
        __sched_cpucount setpriority""",
    "machine": "sysconf sysinfo uname getauxval gethostname",
    "locale": "setlocale nl_langinfo",
    "command line": "getopt_long optarg optind",
    "children": """fork vfork waitpid posix_spawnp posix_spawnattr_* posix_spawn_file_actions_*
        environ dup dup2 pipe2""",
    "signals": """kill raise signal sigaction sigaddset sigemptyset sigprocmask pthread_sigmask
        pause""",
    "signal files": "signalfd",
    "exit": "_exit atexit",
    "events": "epoll_create1 epoll_ctl epoll_wait eventfd timerfd_create timerfd_settime poll",
    "threads": "pthread_create pthread_join pthread_attr_* sem_*",
    "system calls": "syscall",
    "devices": "ioctl",
    "terminal": "isatty tcgetattr tcsetattr",
    "passed files": "sendmsg recvmsg",
    "loaded libraries": "dlopen dlsym",
    "sockets": """socket socketpair connect bind listen accept4 send sendto recv shutdown setsockopt
        getsockopt getsockname
        getaddrinfo freeaddrinfo gai_strerror getnameinfo""",
    "addresses": "inet_ntop",
}

# Other libraries: their symbols, and the headers that a room which may use the library may include.
LIBRARIES = {
    "libbpf": ("bpf_* btf__* libbpf_* ring_buffer__*", "bpf/*.h"),
    "libcap": ("cap_*", "sys/capability.h"),
    "libelf": ("elf_* gelf_*", "libelf.h gelf.h"),
    "libiberty": ("*_demangle*_callback", "libiberty/demangle.h"),
    "zlib": ("crc32 compress2 compressBound uncompress deflate* inflate*", "zlib.h"),
    "liblzma": ("lzma_*", "lzma.h"),
    "libbz2": ("BZ2_*", "bzlib.h"),
    "liblz4": ("LZ4_* LZ4F_*", "lz4.h lz4frame.h"),
    "libzstd": ("ZSTD_*", "zstd.h"),
    "libmicrohttpd": ("MHD_*", "microhttpd.h"),
    "gnutls": ("gnutls_*", "gnutls/*.h"),
    "libyaml": ("yaml_*", "yaml.h"),
    "json-c": ("json_object_* json_tokener_*", "json-c/json.h"),
    "libcrypt": ("crypt_rn", "crypt.h"),
    "libkdumpfile": ("kdump_*", "libkdumpfile/*.h"),
}

# Rules for a room; walls.py documents how it checks each of them.
RULES = {
    "capped": "each allocation has a cap",
    "stateless": "nothing that can be written to outlives a call",
    "no judgement": "compares no measured value",
    "model const": "holds the model by pointers to const",
}

# A row of the table describes a room (folder of src/), a part of a room, or one file. `uses` lists
# rooms, and also "wire" (bpf/wire*.h) and "vmlinux" (vmlinux/vmlinux.h). `needs` lists symbol
# groups and libraries. `keeps` lists rules. A part may use what its room may use, and also what its
# own row lists. A part keeps the rules of its room. A room may use only rooms above its row.
Room = namedtuple("Room", "path does uses needs keeps")


def room(path, does, uses="", needs="", keeps=""):
    def items(text, by=","):
        return [one.strip() for one in text.replace("\n", " ").split(by) if one.strip()]
    return Room(path, does, items(uses, " "), items(needs), items(keeps))


ROOMS = [
    room("records", "tables of counters and record fields, which BPF programs and user space share",
         keeps="capped, stateless"),
    room("bpf", "BPF programs: count events, send records; only `src/probe` shares `wire.h`",
         "wire vmlinux records"),
    room("base", "text buffers and escaping, units, names of errnos and signals, costs from "
         "noisy measurements",
         needs="text, numbers, format, sort, width, heap, secrets, errors, signal names, files, "
               "own files, own ids, own limits, signals, signal files, events"),
    room("base/lazy_library", "loads libraries that only some commands need",
         needs="loaded libraries"),
    room("base/pack_libraries", "loads the libraries of compressed formats"),
    room("base/passed_files", "messages that pass files to another process",
         needs="passed files"),
    room("base/compress", "compression and decompression",
         needs="zlib, liblzma, libbz2, liblz4, libzstd"),
    room("probe", "the probe table, loading and attaching, limits and settings of the machine; "
         "both sources: live and recording",
         "base wire records",
         "text, numbers, format, sort, heap, copies, secrets, pages, errors, clock, files, "
         "streams, mounts, own files, own ids, own rights, own limits, scheduling, machine, "
         "exit, system calls, libbpf, libcap, zlib"),
    room("probe/variables", "reads the addresses of kernel variables in a thread",
         needs="threads"),
    room("probe/keeper", "passes files to a process that holds them",
         needs="sockets, passed files"),
    room("probe/parallel_load", "loads BPF programs in several threads",
         needs="threads"),
    room("blackbox", "records of the flight recorder: encoding, search in a damaged ring file",
         "base",
         "text, numbers, format, sort, heap",
         "capped, stateless"),
    room("model", "state of processes and of the host, growth, forecasts, the table of values",
         "base records",
         "text, numbers, sort, math, heap",
         "capped, stateless"),
    room("collect", "checks and filters every record, and adds names and limits from /proc",
         "base records probe blackbox model",
         "text, numbers, format, sort, patterns, heap, secrets, errors, files, streams, mounts, "
         "own ids, signals",
         "stateless, no judgement"),
    room("collect/files", "reads files of other processes safely",
         needs="machine, system calls"),
    room("collect/limits", "finds who set a limit",
         needs="paths"),
    room("collect/names", "names of processes, cgroups, containers and sockets",
         needs="copies, addresses"),
    room("collect/symbols", "function names of addresses, from ELF files and JIT maps",
         needs="jumps, own limits, devices, libelf, libiberty, zlib"),
    room("unwind", "unwind tables from the call frame information of ELF files, and stack walks with them",
         "base wire records collect",
         "text, format, sort, heap, pages, errors, clock, files, machine, libbpf",
         "capped, stateless"),
    room("resident", "estimates which call stacks hold the resident memory of a process",
         "base wire records probe collect",
         "text, format, sort, math, heap, pages, errors, clock, sleep, files, streams, devices, libbpf",
         "capped, stateless"),
    room("resident/page_tables", "asks whether the page table of faultscope itself can be read",
         needs="own ids"),
    room("unwind/unwind_maps", "makes the first memory for tables in a thread",
         needs="threads"),
    room("lines", "source lines and inlined functions of native code, in a process of its own",
         "base probe collect",
         "format, sort, heap, errors, clock, files, changed environment, own rights, own "
         "limits, children, signals, exit, sockets, passed files, loaded libraries, libelf",
         "stateless"),
    room("rules", "causes of failed calls, the rules, findings, suggested limits",
         "base model",
         "text, numbers, format, sort, math, heap",
         "capped, stateless"),
    room("triage", "analysis of kernel crash logs",
         "base blackbox",
         "text, format, sort, heap",
         "capped, stateless"),
    room("render", "output formats: text, JSON and its schema, HTML, metrics, live view",
         "base blackbox model rules triage",
         "text, numbers, format, sort, math, calendar, heap",
         "stateless, model const"),
    room("incident", "keeps the last minutes in memory, and stores them when something serious "
         "happens",
         "base records probe model rules render",
         "text, format, sort, patterns, heap, errors, files, own files",
         "stateless"),
    room("incident/snapshot_socket", "requests of other processes by a socket",
         needs="own ids, sockets"),
    room("recorder", "the ring file of the flight recorder",
         "base blackbox",
         "text, format, paths, heap, copies, errors, clock, files, streams, own files",
         "stateless"),
    room("serve", "the HTTP and HTTPS server",
         "base",
         "text, numbers, format, heap, copies, secrets, errors, clock, files, own files, real "
         "paths, environment, own ids, own rights, scheduling, children, signals, exit, events, "
         "system calls, sockets, addresses, libmicrohttpd, gnutls, libyaml, libcrypt"),
    room("cli", "the option table, help, man page, completions, messages",
         "base probe model collect rules render incident recorder serve",
         "text, format, paths, errors, files, own files, messages, own ids, command line"),
    room("cli/moment", "moments of a recording as users write them",
         needs="local time, written times"),
    room("live", "terminal control, and the live view on it",
         "base probe cli",
         "text, format, own files, messages, environment, locale, signals, exit, devices, "
         "terminal"),
    room("crash", "the commands `triage` and `blackbox`",
         "base probe blackbox collect triage render recorder cli live",
         "text, format, sort, paths, heap, copies, pages, errors, date, files, lists of files, "
         "streams, standard input, own files, messages, own limits, scheduling, machine, "
         "children, signals, events, threads"),
    room("crash/vmcore", "reads the log, the modules and the flight recorder's records out of memory "
         "dumps",
         needs="clock, libkdumpfile"),
    room("session", "a measurement from its source to its last output line, and its commands; "
         "`doctor` with its cost measurements, and `explain`",
         "base probe blackbox model collect resident unwind lines rules triage render incident cli "
         "live crash",
         "text, numbers, format, math, calendar, heap, pages, errors, date, sleep, local "
         "time, files, own files, messages, environment, own ids, own cost, scheduling, machine, "
         "children, signals, exit, events, threads, system calls, terminal"),
    room("session/event_log", "log lines to the journal or to a syslog socket",
         needs="sockets"),
    room("session/phase_marks", "receives the names of phases from the command of `run`",
         needs="sockets, changed environment"),
    room("export", "the exporter: metrics for Prometheus",
         "base probe model collect rules render serve cli session",
         "text, numbers, format, sort, paths, patterns, heap, errors, files, own files, "
         "environment, own ids, own limits, machine, sockets"),
    room("mcp", "a server for AI agents: runs commands of faultscope",
         "base probe render cli",
         "text, numbers, format, sort, heap, errors, files, own files, children, signals, json-c"),
    room("main", "the table of commands",
         "base probe collect render cli crash session export mcp",
         "format, errors, signals, settings of the heap"),
]

# Headers that BPF programs may include. BPF programs are not linked with src/; readonly.py checks
# their objects.
BPF_HEADERS = {
    "bpf/wire*.h": "linux/types.h stddef.h stdint.h",
    "bpf/pure_logic.h": "linux/types.h stdbool.h bpf/bpf_helpers.h bpf/bpf_core_read.h",
    "bpf/*": "bpf/bpf_helpers.h bpf/bpf_core_read.h bpf/bpf_tracing.h bpf/bpf_endian.h",
}

BY_PATH = {one.path: one for one in ROOMS}
TOP = [one.path for one in ROOMS if "/" not in one.path]


def rooms_of(path):
    """Returns the table rows for src/ROOM/PART/FILE.c or its object, the row of the room first.
    Returns [] for a file outside of src/."""
    parts = Path(path).with_suffix("").parts
    if parts[0] == "bpf":
        return [BY_PATH["bpf"]]
    if parts[0] != "src":
        return []
    if len(parts) == 2:
        return [BY_PATH["main"]] if parts[1] == "main" else []
    names = ["/".join(parts[1:n]) for n in range(2, len(parts) + 1)]
    if names[0] in ("bpf", "main"):
        return []
    return [BY_PATH[name] for name in names if name in BY_PATH]


def symbols_of(sort):
    return (SORTS[sort] if sort in SORTS else LIBRARIES[sort][0]).split()


def plain(symbol):
    """Returns a symbol's plain name: snprintf for __snprintf_chk."""
    if symbol.endswith("_chk") and symbol != "__chk_fail":
        symbol = symbol[2:-4]
    for prefix in ("__isoc99_", "__isoc23_"):
        symbol = symbol.removeprefix(prefix)
    return {"__openat_2": "openat", "__open_2": "open"}.get(symbol, symbol)


def sort_of(symbol):
    """Returns the group or library to which a symbol belongs. Returns "" if any code may need the
    symbol, and None if the symbol is in no group."""
    if any(fnmatchcase(plain(symbol), one) for one in COMPILER):
        return ""
    for sort in [*SORTS, *LIBRARIES]:
        if any(fnmatchcase(plain(symbol), one) for one in symbols_of(sort)):
            return sort
    return None


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|\n"
                   for line in lines)


def folder(row):
    path = row.path if row.path == "bpf" else "src/" + row.path
    return f"`{path}`" if (ROOT / path).is_dir() else f"`{path}.c`"


def short_table():
    """Returns the table of rooms for the README."""
    return markdown(["room", "what it does", "may use"],
                    [[folder(one), one.does, ", ".join(one.uses)] for one in ROOMS
                     if one.path in TOP and one.path != "main"])


def long_table():
    """Returns the table of rooms and their parts for docs/design/walls.md. Symbol groups that all
    rooms may use are left out."""
    everyday = [*SORTS][:[*SORTS].index("heap") + 1] + ["copies", "errors"]
    return markdown(["room", "may use", "of the C library, beside what only computes",
                     "of other libraries", "its rules"],
                    [[folder(one), ", ".join(one.uses),
                      ", ".join(sort for sort in SORTS
                                if sort in one.needs and sort not in everyday),
                      ", ".join(sort for sort in one.needs if sort in LIBRARIES),
                      ", ".join(one.keeps)] for one in ROOMS])


TABLES = {"rooms": short_table, "walls": long_table}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--table", choices=TABLES, help="print a table for the documents")
    parser.add_argument("--needs", nargs="+", metavar="PATH", help="print what objects need")
    args = parser.parse_args()
    if args.table:
        sys.stdout.write(TABLES[args.table]())
    if args.needs:
        from objects import read_objects  # pylint: disable=import-outside-toplevel
        paths = [Path(one) for one in args.needs]
        found = read_objects(sorted(path for one in paths for path in
                                    (one.rglob("*.o") if one.is_dir() else [one])))
        wanted = set().union(*(one.wants for one in found)) - {
            name for one in found for name in one.defines}
        sorts = {}
        for symbol in wanted:
            sorts.setdefault(sort_of(symbol) or "of other objects or no sort", []).append(symbol)
        for sort in sorted(sorts):
            print(f"{sort}: {' '.join(sorted(sorts[sort]))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
