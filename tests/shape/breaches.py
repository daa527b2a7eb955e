# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""C files that violate the rules between rooms (folders of src/). The self-test compiles these
files in a copy of the tree with the Makefile and -Werror. walls.py or the compiler must report each
violation."""
import os
import subprocess
import tempfile
from pathlib import Path

from objects import read_objects
from walls import (ROOT, File, breaches, caps_its_heap, hides_nothing, holds_the_model_const,
                   judges_nothing, keeps_no_state, names_a_room, needs_only_its_symbols, reads_well,
                   uses_only_its_rooms)

HEAD = "// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n#define _GNU_SOURCE\n"
COMPILER = "the compiler"


def function(head, body, *before):
    """Returns a C file with one function that has this body."""
    return "\n".join(before) + f"\n\n__attribute__((used)) static {head}\n{{\n\t{body}\n}}\n"


def includes(*names):
    return "\n".join(f"#include {name}" for name in names)


# List of violations: (description, path, code, checks that must report the violation). A check that
# is not listed must not report the violation.
BREACHES = [
    ("an own prototype of another room's function", "src/rules/x.c",
     function("void f(void *b)", "terminal_leave();", "void terminal_leave(void);"),
     {needs_only_its_symbols, hides_nothing}),
    ("an own prototype in the function that calls it", "src/rules/x.c",
     function("void f(void *b)", "void terminal_leave(void);\n\n\tterminal_leave();"),
     {needs_only_its_symbols, hides_nothing}),
    ("an own prototype of a function that the room may call", "src/render/x.c",
     function("void f(void *m)", "trends_clear(m);", "void trends_clear(void *m);"),
     {hides_nothing}),
    ("getloadavg()", "src/rules/x.c",
     function("int f(double *ret)", "return getloadavg(ret, 1);", includes("<stdlib.h>")),
     {needs_only_its_symbols}),
    ("arc4random()", "src/rules/x.c",
     function("unsigned int f(void)", "return arc4random();", includes("<stdlib.h>")),
     {needs_only_its_symbols}),
    ("remove()", "src/rules/x.c",
     function("int f(void)", 'return remove("x");', includes("<stdio.h>")),
     {needs_only_its_symbols}),
    ("printf() through a pointer", "src/rules/x.c",
     function("int f(void)", 'return say("x");', includes("<stdio.h>"),
              "static int (*const say)(const char *, ...) = printf;"), {needs_only_its_symbols}),
    ("a file of /proc", "src/render/x.c",
     function("FILE *f(void)", 'return fopen("/proc/meminfo", "r");', includes("<stdio.h>")),
     {needs_only_its_symbols}),
    ("the clock", "src/render/x.c",
     function("long f(void)", "return time(NULL);", includes("<time.h>")),
     {needs_only_its_symbols}),
    ("a file of no room that uses model, probe and serve", "src/x.c",
     includes('"model/model.h"', '"probe/hooks.h"', '"serve/http.h"'), {names_a_room}),
    ("an allocation beside an argument called capacity", "src/model/x.c",
     function("void *f(size_t n, size_t capacity)", "return n < capacity ? malloc(n) : NULL;",
              includes("<stdlib.h>")), {caps_its_heap}),
    ("a value compared with a threshold", "src/collect/x.c",
     function("int f(unsigned long maps)", "return maps > MANY_MAPPINGS;",
              "#define MANY_MAPPINGS 60000"), {judges_nothing}),
    ("the model written to", "src/render/x.c",
     function("void f(struct model *m)", "m->subjects = 0;", includes('"model/model.h"')),
     {holds_the_model_const}),
    # More violations, of kinds that are already listed above
    ("a cast that takes const away", "src/render/x.c",
     function("void f(const struct model *m)", "*(size_t *)&m->subjects = 0;",
              includes('"model/model.h"')), COMPILER),
    ("a typedef that hides the model", "src/render/x.c",
     function("void f(one *s)", "s->id.pid = 0;", includes('"model/model.h"'),
              "typedef struct subject one;"), {holds_the_model_const}),
    ("a type that is the model's", "src/render/x.c",
     function("void f(const struct model *m)", "__auto_type s = model_each(m, NULL);\n\n"
              "\ts->id.pid = 0;", includes('"model/model.h"')), {holds_the_model_const}),
    ("a system call in assembler", "src/model/x.c",
     function("void f(long n)", '__asm__ volatile("" : "+r"(n));'), {hides_nothing}),
    ("a function that runs before main()", "src/rules/x.c",
     function("void f(void)", "return;").replace("used", "constructor"), {hides_nothing}),
    ("a function of the C library by another name", "src/triage/x.c",
     function("long f(void)", "return now(0);", 'long now(long *t) __asm__("time");'),
     {needs_only_its_symbols, hides_nothing}),
    ("a builtin that prints", "src/rules/x.c",
     function("int f(int n)", 'return __builtin_printf("%d", n);'), {needs_only_its_symbols}),
    ("a name in parentheses", "src/triage/x.c",
     function("long f(void)", "return (time)(0);", includes("<time.h>")),
     {needs_only_its_symbols}),
    ("a weak function", "src/model/x.c",
     function("int f(void)", "return getppid ? getppid() : 0;", includes("<unistd.h>"),
              "#pragma weak getppid"), {needs_only_its_symbols}),
    ("an allocation through a pointer", "src/model/x.c",
     function("void *f(size_t n)", "return get(n);", includes("<stdlib.h>"),
              "static void *(*const get)(size_t) = malloc;"), {caps_its_heap}),
    ("a cap of something else", "src/model/x.c",
     function("void *f(size_t n, size_t rows)", "return rows > ROWS_MAX ? NULL : calloc(n, 8);",
              includes("<stdlib.h>"), "#define ROWS_MAX 8"), {caps_its_heap}),
    ("a cap of another member", "src/rules/x.c",
     function("void *f(const struct list *l)", "return l->n > ROWS_MAX ? NULL : malloc(l->room);",
              includes("<stdlib.h>"), "#define ROWS_MAX 8", "struct list {\n\tsize_t n, room;\n};"),
     {caps_its_heap}),
    ("standard output", "src/render/x.c",
     function("int f(void)", 'return fputs("x", stdout);', includes("<stdio.h>")),
     {needs_only_its_symbols}),
    ("the end of the program", "src/model/x.c",
     function("void f(void)", "abort();", includes("<stdlib.h>")), {needs_only_its_symbols}),
    ("the time zone of the machine", "src/render/x.c",
     function("void f(const time_t *t, struct tm *ret)", "localtime_r(t, ret);",
              includes("<time.h>")), {needs_only_its_symbols}),
    ("a shell", "src/base/x.c",
     function("int f(void)", 'return system("true");', includes("<stdlib.h>")),
     {needs_only_its_symbols}),
    ("the environment as a variable", "src/rules/x.c",
     function("char **f(void)", "return environ;", includes("<unistd.h>")),
     {needs_only_its_symbols}),
    ("a share of a size", "src/collect/x.c",
     function("int f(unsigned long used, unsigned long size)", "return used > size / 8 * 7;"),
     {judges_nothing}),
    ("a function without a prototype", "src/base/x.c", "int f(void)\n{\n\treturn 0;\n}\n",
     COMPILER),
    # Violations in which a room uses functions or data that it must not use
    ("a room above", "src/base/x.c", includes('"model/model.h"'), {uses_only_its_rooms}),
    ("the state of the kernel side", "src/rules/x.c", includes('"wire.h"'),
     {uses_only_its_rooms}),
    ("a name of the kernel side's state", "src/model/x.c",
     "struct fs_state;\n", {uses_only_its_rooms}),
    ("a path out of its folder", "src/base/x.c", includes('"../model/model.h"'),
     {uses_only_its_rooms}),
    ("an include by a macro", "src/base/x.c",
     '#define ROOM "model/model.h"\n#include ROOM\n', {uses_only_its_rooms}),
    ("a library of another room", "src/rules/x.c", includes("<bpf/libbpf.h>"),
     {uses_only_its_rooms}),
    ("a variable", "src/model/x.c", "__attribute__((used)) static int x = 1;\n",
     {keeps_no_state}),
    ("a count of calls", "src/rules/x.c",
     function("int f(void)", "static int n;\n\n\treturn ++n;"), {keeps_no_state}),
    ("a table of names that may change", "src/render/x.c",
     function("const char **f(void)", 'static const char *names[] = {"a"};\n\n\treturn names;'),
     {keeps_no_state}),
    ("a variable of a thread", "src/triage/x.c",
     function("int f(void)", "static _Thread_local int n;\n\n\treturn ++n;"), {keeps_no_state}),
    ("a long file", "src/base/x.c", "\n" * 800, {reads_well}),
    ("a header without a purpose", "src/base/x.h", includes("<stddef.h>"), {reads_well}),
    ("a room that the table does not have", "src/cellar/x.c", "", {names_a_room}),
    ("libbpf in the kernel side", "bpf/x.h", includes("<bpf/libbpf.h>"), {uses_only_its_rooms}),
]


def compiled(root, files):
    """Compiles files in a copy of the tree and returns their objects. A file that does not compile
    has no object."""
    for top in ("src", "bpf"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file():
                link = root / path.relative_to(ROOT)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    (root / "Makefile").symlink_to(ROOT / "Makefile")
    for path, code in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(HEAD + code, encoding="utf-8")
    names = {path: root / "build" / Path(path).with_suffix(".o")
             for path in files if path.endswith(".c")}
    targets = [str(one.relative_to(root)) for one in names.values()]
    out = subprocess.run(["make", "-sk", f"-j{os.cpu_count()}", "WERROR=1", "BUILD=build", "SAN=",
                          "REVISION=none", *targets],
                         cwd=root, capture_output=True, text=True, check=False,
                         env={**os.environ, "MAKEFLAGS": "", "LC_ALL": "C"})
    built = [one for one in names.values() if one.exists()]
    objects = dict(zip(built, read_objects(built)))
    return {path: objects.get(one) for path, one in names.items()}, out.stderr


def judge(check, tree, file, was_compiled, wanted, messages):
    if wanted is COMPILER:
        check.that(not was_compiled and f"{file.path}:" in messages, f"{file.path} compiles")
        return
    check.that(was_compiled or file.path.endswith(".h"), f"does not compile: {messages}")
    found = list(breaches(tree, file))
    if {rule.find for rule, _ in found} != wanted:
        check.that(False, f"not by {[one.__name__ for one in wanted]} alone: "
                          f"{[what for _, what in found]}")


def self_test(tap, tree):
    """Checks that each violation is reported, in a tree that otherwise has no violation."""
    files, places = {}, []
    for n, (_, path, code, _) in enumerate(BREACHES):
        place = path.replace("/x.", f"/breach{n}.")
        places.append(place)
        files[place] = code
    with tempfile.TemporaryDirectory(prefix="walls-") as root:
        objects, messages = compiled(Path(root), files)
    for (what, path, code, wanted), place in zip(BREACHES, places):
        file = File(place, HEAD + code, objects.get(place))
        lines = "\n".join(line for line in messages.splitlines() if place in line)
        tap.test(f"reported in {path}: {what}", judge, tree, file, bool(objects.get(place)), wanted,
                 lines)
