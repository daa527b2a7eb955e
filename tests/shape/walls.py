#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks sources and objects against the table of rooms (folders of src/) in rooms.py. Prints TAP.

usage: walls.py [--self-test | --used] [BUILD]

BUILD is the directory of the objects (default: build): src/ROOM/NAME.c has BUILD/src/ROOM/NAME.o.
--self-test compiles violations (breaches.py) and checks that each of them is reported. --used
prints what the files of each row use, which is exactly what the row should allow.
"""
import argparse
import re
import sys
from collections import namedtuple
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(1, str(ROOT / "tests/e2e"))

from objects import has_nm, read_objects  # noqa: E402
from rooms import BPF_HEADERS, LIBRARIES, ROOMS, TOP, rooms_of, sort_of  # noqa: E402

MAX_LINES = 800
SPDX = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause"
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(.*?)[ \t]*$", re.M)


def blank(code, strings):
    """Removes comments and, on request, the contents of strings. Line numbers stay the same."""
    def short(found):
        text = found[0]
        if text[0] in "\"'":
            return text[0] * 2 if strings else text
        return " " + "\n" * text.count("\n")
    return TOKEN.sub(short, code)


class File:
    """A source file of src/ or bpf/, the rows of rooms.py for the directories that contain it, and
    its object file if it was built."""

    def __init__(self, path, text, object_=None):
        self.path, self.text, self.object = path, text, object_
        self.rows = rooms_of(path)
        self.room = self.rows[0] if self.rows else None

    @cached_property
    def code(self):
        return blank(self.text.replace("\\\n", " \n"), True)

    def may(self, what):
        return any(what in row.uses or what in row.needs for row in self.rows)

    def keeps(self, rule):
        return any(rule in row.keeps for row in self.rows)

    def line(self, at):
        return self.code.count("\n", 0, at) + 1


class Tree:
    """All sources of the tree, the file that defines each symbol, and the structs of the model."""

    def __init__(self, root, build):
        self.root, self.files = root, {}
        paths = [path for top in ("src", "bpf") for path in sorted((root / top).rglob("*.*"))
                 if path.suffix in (".c", ".h", ".inc", ".def", ".S") and path.is_file()]
        built = {path: build / path.relative_to(root).with_suffix(".o") for path in paths
                 if path.suffix == ".c"}
        objects = {one.path: one for one in
                   read_objects([one for one in built.values() if one.exists()])}
        self.unbuilt = [path for path, one in built.items()
                        if path.relative_to(root).parts[0] == "src" and not one.exists()]
        # A file replaces another one in builds without a library: only one of the two is built.
        replaced = [one for one in self.unbuilt if any(
            built.get(other) and built[other].exists() for other in
            (one.with_name(f"{one.stem}_disabled.c"),
             one.with_name(one.name.replace("_disabled", ""))))]
        self.unbuilt = [one for one in self.unbuilt if one not in replaced and
                        one.name != "endpoint_disabled.c"]
        for path in paths:
            name = str(path.relative_to(root))
            self.files[name] = File(name, path.read_text(encoding="utf-8"),
                                    objects.get(built.get(path)))
        self.definer = {symbol: one for one in self.files.values() if one.object
                        for symbol in one.object.defines}
        self.wire_names = {found for path, one in self.files.items()
                           if fnmatchcase(path, "bpf/wire*.h")
                           for found in re.findall(r"\b(?:fs|FS)_\w+(?<!_H)\b", one.code)}
        self.constants = {found for path, one in self.files.items() if path.endswith(".h") for found
                          in re.findall(r"^extern const \w+ (\w+);", one.text, re.M)}
        self.model_structs = {found for path, one in self.files.items() if path.endswith(".h") and
                              path.startswith("src/model/")
                              for found in re.findall(r"^struct (\w+) \{", one.text, re.M)}

    def room_of_include(self, file, name, quoted):
        """Returns the room (folder of src/) that an include names, or "wire" or "vmlinux". Returns
        None for a file outside of the tree."""
        if name == "vmlinux.h":
            return "vmlinux"
        beside = str(Path(file.path).parent / name)
        for path in ([beside] if quoted else []) + ["src/" + name, "bpf/" + name]:
            if path in self.files:
                if fnmatchcase(path, "bpf/wire*.h"):
                    return "wire"
                room = self.files[path].room
                return room.path if room else "no room"
        return None


def names_a_room(tree, file):
    if not file.room:
        yield 1, "lies in no room of the table"


def uses_only_its_rooms(tree, file):
    """A room may include only the headers that its table row allows. A room without the permission
    "wire" may not use names of wire.h."""
    code = blank(file.text, False)
    if file.room.path != "bpf" and not file.may("wire"):
        for found in re.finditer(r"\b(?:fs|FS)_\w+", file.code):
            if found[0] in tree.wire_names:
                yield file.line(found.start()), f"{found[0]}: {file.room.path} may not use wire"
    for found in INCLUDE.finditer(code):
        spelled, line = found[1], code.count("\n", 0, found.start()) + 1
        if not re.fullmatch(r'"[^"]+"|<[^>]+>', spelled):
            yield line, f"an include that cannot be read: {spelled}"
            continue
        name = spelled[1:-1]
        if name.startswith("/") or ".." in name.split("/"):
            yield line, f"{spelled}: write \"room/file.h\""
            continue
        room = tree.room_of_include(file, name, spelled[0] == '"')
        if room:
            if room != file.room.path and not file.may(room):
                yield line, f"{spelled}: {file.room.path} may not use {room}"
            continue
        if spelled[0] == '"':
            yield line, f"{spelled}: no such file in a room"
        elif file.room.path == "bpf":
            allowed = next(BPF_HEADERS[one] for one in BPF_HEADERS if fnmatchcase(file.path, one))
            if name not in allowed.split():
                yield line, f"{spelled}: not for {file.path}"
        for library, (_, headers) in LIBRARIES.items():
            if file.room.path != "bpf" and not file.may(library) and \
               any(fnmatchcase(name, one) for one in headers.split()):
                yield line, f"{spelled}: {file.room.path} may not use {library}"


def needs_only_its_symbols(tree, file):
    """An object may need only symbols that the table row of its room allows, whatever name the
    source uses for the symbol."""
    for symbol in sorted(file.object.wants) if file.object else ():
        definer = tree.definer.get(symbol)
        if definer:
            room = definer.room.path if definer.room else "no room"
            if room != file.room.path and not file.may(room):
                yield 0, f"{symbol}: {file.room.path} may not use {room}"
            continue
        sort = sort_of(symbol)
        if sort is None:
            yield 0, f"{symbol}: no sort of symbols in rooms.py has it"
        elif sort and not file.may(sort):
            yield 0, f"{symbol}: {file.room.path} may not use \"{sort}\""


# Files whose inline assembler only embeds another file and defines symbols for the embedded bytes.
EMBEDS = ["src/probe/object.c", "src/probe/precursors.c", "src/render/html/html.c"]
HIDDEN = re.compile(r"\b(?:asm|__asm|__asm__|constructor|destructor|ifunc|alias"
                    r"|extern(?! char \*\*environ;))\b")
# Matches a function prototype at any nesting depth: two words and parameters in parentheses,
# without a body.
PROTOTYPE = re.compile(r"^\s*(?!(?:return|else|goto|case|static|typedef|do)\b)"
                       r"(?:[A-Za-z_]\w*[\s*]+)+(?!sizeof\b)\w+\s*\([^;{}=]*\)"
                       r"\s*(?:__\w+\s*\([^;{}=]*\)\s*)?;", re.M)


def hides_nothing(tree, file):
    """A source file must have no assembler, no code that runs before main, and no prototypes of its
    own."""
    if file.room.path == "bpf" or not file.path.endswith(".c"):
        return
    for found in HIDDEN.finditer(file.code):
        if file.path not in EMBEDS:
            yield file.line(found.start()), f"{found[0]}: only {', '.join(EMBEDS)} may"
    for found in PROTOTYPE.finditer(file.code):
        yield file.line(found.start() + len(found[0]) - len(found[0].lstrip())), \
            f"{' '.join(found[0].split())}: prototypes stand in headers"


HEAP = re.compile(r"\b(strndup|malloc|calloc|realloc|reallocarray)\b(\s*\()?")
# Matches the name of a constant that is a limit. INT_MAX and other limits of integer types do not
# match.
CAP = re.compile(r"\b(?!(?:U?INT\w*|U?L*LONG|S?SIZE|U?CHAR)_MAX\b)"
                 r"[A-Z][A-Z0-9_]*(?:MAX|MOST|CAP|LIMIT|ROOM)[A-Z0-9_]*\b")
# Matches text that does not contribute to the size of an allocation: preprocessor lines, types, and
# the struct before `->`.
NO_SIZE = re.compile(r"^[ \t]*#[^\n]*|\b\w+_t\b|\b(?:\w+(?:\[[^]]*\])?->)+", re.M)
NAME = re.compile(r"\b[a-z_]\w*\b")
ASSIGNED = re.compile(r"\b([a-z_]\w*)(?:\[[^]]*\])?\s*[-+*]?=(?!=)\s*([^;]*)")


def argument_text(code, at):
    """Returns the text between the parentheses that open before `at`."""
    depth, end = 1, at
    while depth and end < len(code):
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return code[at:end - 1]


def has_cap(function, sizes):
    """Returns whether a statement of the function compares a size with a limit. Such a statement
    contains a constant that is a limit. It also contains one of the names in `sizes`, or a variable
    from which such a name is computed."""
    names = set(NAME.findall(NO_SIZE.sub("", sizes)))
    statements = re.split(r"[;{}]", NO_SIZE.sub("", function))
    while True:
        if any(CAP.search(one) and names & set(NAME.findall(one)) for one in statements):
            return True
        more = {name for one in statements for found in ASSIGNED.finditer(one)
                if found[1] in names for name in NAME.findall(found[2])} - {"sizeof"}
        if more <= names:
            return False
        names |= more


def caps_its_heap(tree, file):
    """Each allocation has a constant size, or a size that the function compares with a constant."""
    if not file.keeps("capped"):
        return
    for found in HEAP.finditer(file.code):
        line = file.line(found.start())
        if not found[2]:
            yield line, f"{found[1]}: may be called by its name alone"
            continue
        sizes = argument_text(file.code, found.end())
        if found[1] in ("strndup", "realloc", "reallocarray"):
            sizes = sizes.partition(",")[2]
        sizes = re.sub(r"\bsizeof\s*(\((?:[^()]|\([^()]*\))*\)|[\w*>.-]+)", "0", sizes)
        begin = file.code.rfind("\n{", 0, found.start())
        head = file.code.rfind("\n\n", 0, begin)  # position of the function's parameters
        if set(NAME.findall(sizes)) - tree.constants and \
           not has_cap(file.code[max(head, 0):found.start()], sizes):
            yield line, f"{found[1]} without a cap: {' '.join(sizes.split())}"


def keeps_no_state(tree, file):
    """A room with the rule `stateless` has no writable static data."""
    if file.keeps("stateless") and file.object:
        for name in sorted(file.object.state):
            yield 0, f"{name} can be written to, and outlives a call"


JUDGES = re.compile(r"\b\w*(?:threshold|percent|finding|diagnos)\w*\b|\b100(?:\.0)?\b", re.I)
# Files that may contain percentages without comparing them with a threshold: limits in systemd and
# values in /proc/pressure are percentages.
SHARES = ["src/collect/limits/origin_cgroup.c", "src/collect/pressure/pressure_reader.c"]
RELATION = re.compile(r"(?<![-<>=])(?:<=|>=|<|>)(?![<>=])")
BOUND = re.compile(r"&&|\|\||[?:;{}=,]")
# Matches constants that are no thresholds: limits of faultscope's own memory and time, values that
# the kernel writes, and ends of number ranges.
OWN_CONSTANT = re.compile("|".join(r"""\w*(MAX|MOST|BYTES|TOLD|_NS|_LAST)\w* NO_\w* NR_\w* ELF\w*
    EI_\w* STACK_FRAMES WALK_\w* WHAT_\w* BB_\w* RECORD_\w* EPHEMERAL_PORT USER_(GAP|END|48_BEGIN|48_END) KERNEL_BEGIN SECOND_NAMES
    SYMBOLS_AT_ONCE GROUPS_BACK LEVELS_PROCESSES NEW_LINES FIELDS""".split()))
CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
NUMBER = re.compile(r"(?<![\w.])(?!0x)\d[\w.]*")
SHARE = re.compile(r"[*/] ?\d|\d ?\*(?!\w)|>> ?\d")
# Matches parts of a comparison that are ignored: arguments, indices, sizes in bytes.
NO_OPERAND = re.compile(r"\bsizeof\s*\([^()]*\)( / sizeof\([^()]*\))?|<<\s*\d+|\[[^]]*\]"
                        r"|(?<=\w)\([^()]*\)")
# greatest number in a comparison that does not count as a threshold, such as the number of words in
# a line of /proc
SMALL = 16


def side(code, at, step):
    """Returns one side of a comparison, up to the enclosing parenthesis or another operator."""
    depth, begin = 0, at
    opens, closes = ("(", ")") if step > 0 else (")", "(")
    while 0 <= at < len(code):
        here = code[at]
        depth += {opens: 1, closes: -1}.get(here, 0)
        if depth < 0 or (not depth and BOUND.match(code[min(at, at + step):][:2])):
            break
        at += step
    return code[begin:at] if step > 0 else code[at + 1:begin + 1]


def is_judgement(comparison):
    """Returns whether a comparison is a judgement. It is one if it contains a number above SMALL, a
    constant that OWN_CONSTANT does not match, or a share of a value."""
    constants = CONSTANT.findall(comparison)
    return any("." in one or int(re.sub(r"\D", "", one)) > SMALL
               for one in NUMBER.findall(comparison)) or \
        any(not OWN_CONSTANT.fullmatch(one) for one in constants) or \
        (not constants and SHARE.search(comparison))


def judges_nothing(tree, file):
    """A room with the rule `no judgement` may compare values with limits of its own, but not with
    thresholds."""
    if not file.keeps("no judgement") or file.path in SHARES:
        return
    for found in JUDGES.finditer(file.code):
        yield file.line(found.start()), f"{found[0]}: rules judge, it only reads"
    code = re.sub(r"^[ \t]*#[^\n]*", "", file.code, flags=re.M)
    for found in RELATION.finditer(code):
        both = side(code, found.start() - 1, -1) + found[0] + side(code, found.end(), 1)
        both = " ".join(NO_OPERAND.sub("", NO_OPERAND.sub("", both)).split())
        if not re.match(r"[ijk] ", both) and is_judgement(both):
            yield code.count("\n", 0, found.start()) + 1, \
                f"{both}: rules compare with thresholds, it only reads"


# structs of src/model that callers may change, because callers have copies of their own
OWN_COPIES = "snapshot trends fleet_entry".split()


def holds_the_model_const(tree, file):
    """Pointers to structs of src/model must be const. -Wcast-qual in the Makefile checks casts."""
    if not file.keeps("model const"):
        return
    names = "|".join(sorted(tree.model_structs - set(OWN_COPIES)))
    for found in re.finditer(rf"(\bconst\s+)?\bstruct\s+({names})\b(\s+const\b)?\s*\*", file.code):
        if not found[1] and not found[3]:
            yield file.line(found.start()), f"{found[0]}: a pointer to the model that may write"
    for found in re.finditer(rf"^\s*(?:#\s*define|typedef)\b[^\n]*\bstruct\s+(?:{names})\b"
                             r"|\b(?:__)?typeof(?:__)?\b|\b__auto_type\b", file.code, re.M):
        yield file.line(found.start()), f"{found[0]}: may hide a pointer that may write"


def reads_well(tree, file):
    lines = file.text.splitlines()
    generated = "Generated by tools/" in " ".join(file.text[:1000].replace("\n *", "").split())
    if len(lines) > MAX_LINES and not generated:
        yield 1, f"{len(lines)} lines, of {MAX_LINES} at most"
    rest = re.sub(r"\A(/\*[^\n]*SPDX[^\n]*\*/|//[^\n]*SPDX[^\n]*)\n", "", file.text).lstrip()
    if file.path.endswith(".h") and file.room.path != "bpf" and not rest.startswith(("/*", "//")):
        yield 1, "does not open with a comment that says what it is for"


Rule = namedtuple("Rule", "name find by_object")
RULES = [
    Rule("every file of src/ lies in a room", names_a_room, False),
    Rule("rooms include only what they may use", uses_only_its_rooms, False),
    Rule("objects need only the symbols that their rooms may use", needs_only_its_symbols, True),
    Rule("no file hides what it calls", hides_nothing, False),
    Rule("pure rooms cap each allocation", caps_its_heap, False),
    Rule("rooms without state have none", keeps_no_state, True),
    Rule("collect compares no measured value", judges_nothing, False),
    Rule("render holds the model by pointers to const", holds_the_model_const, False),
    Rule("files are short, and headers open with their purpose", reads_well, False),
]


def breaches(tree, file):
    """Yields (rule, "file:line: what") of each violation in a file."""
    for rule in RULES:
        for line, what in rule.find(tree, file) if file.room or rule.find is names_a_room else ():
            yield rule, f"{file.path}:{line}: {what}" if line else f"{file.path}: {what}"


def unlicensed(root):
    for top in ("src", "bpf", "vmlinux", "tests", "tools", "deploy", "docs"):
        for path in sorted((root / top).rglob("*.*")):
            if path.suffix in (".c", ".h", ".sh", ".py") and path.is_file() and \
               not any(SPDX in line for line in
                       path.read_text(encoding="utf-8", errors="replace").splitlines()[:2]):
                yield f"{path.relative_to(root)}: no \"{SPDX}\""


def used_by(tree, row):
    """Returns the rooms, symbol groups and libraries that the files of a row use."""
    used = set()
    for file in tree.files.values():
        if row not in file.rows:
            continue
        used |= {tree.room_of_include(file, found[1][1:-1], found[1][0] == '"')
                 for found in INCLUDE.finditer(blank(file.text, False))}
        used |= {library for library, (_, headers) in LIBRARIES.items() for one in headers.split()
                 if row.path != "bpf" and f"#include <{one.split('*', maxsplit=1)[0]}" in file.text}
        for symbol in file.object.wants if file.object else ():
            definer = tree.definer.get(symbol)
            used.add(definer.room.path if definer and definer.room else sort_of(symbol))
    return used - {None, "", row.path}


def unused(tree):
    """Yields those permissions in rooms.py that no file uses. They must be removed from the table.
    """
    for row in ROOMS:
        for what in sorted(set(row.uses + row.needs) - used_by(tree, row)):
            yield f"rooms.py: {row.path} may use \"{what}\", and does not"


def circles():
    """Yields the rows of the table that use a room which is not above them."""
    for row in ROOMS:
        for room in row.uses:
            if room in TOP and TOP.index(room) >= TOP.index(row.path.split("/")[0]):
                yield f"rooms.py: {row.path} uses {room}, which does not stand above it"


def check(tap, tree):
    found = [one for file in tree.files.values() for one in breaches(tree, file)]
    missing = f"{len(tree.unbuilt)} files are not built" if tree.unbuilt else None
    for rule in RULES:
        tap.say(rule.name, [what for one, what in found if one is rule],
                missing if rule.by_object else None)
    tap.say("every source and script names its licence", list(unlicensed(tree.root)))
    tap.say("rooms use what stands above them in the table", list(circles()))
    tap.say("the table allows nothing that no file needs", [] if missing else list(unused(tree)),
            missing)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--self-test", action="store_true",
                        help="check that violations are reported")
    parser.add_argument("--used", action="store_true",
                        help="print what each row of rooms.py needs to allow")
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build", metavar="BUILD")
    args = parser.parse_args()
    from run import Tap  # pylint: disable=import-outside-toplevel
    tap = Tap()
    if not has_nm():
        print("1..0 # SKIP no nm")
        return 0
    tree = Tree(ROOT, args.build)
    if args.used:
        for row in ROOMS:
            print(f"{row.path}: {', '.join(sorted(used_by(tree, row)))}")
        return 0
    if args.self_test:
        from breaches import self_test  # pylint: disable=import-outside-toplevel
        self_test(tap, tree)
    else:
        check(tap, tree)
    print(f"1..{tap.done}")
    return tap.failed > 0


if __name__ == "__main__":
    sys.exit(main())
