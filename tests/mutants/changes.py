#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Generates small changes (mutations) of C source, each of which a test should notice.

Strings, comments and preprocessor lines stay unchanged, except numbers in `#define`. Statements
that only free memory or close a file descriptor are never removed. Only a sanitizer would notice
the removal, and the quick tests are built without sanitizers.

usage: changes.py --self-test
"""
import re
import sys
from dataclasses import dataclass

from same_effect import has_same_effect

HIDDEN = re.compile(r"""
    /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
""", re.X | re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
DEFINED_NUMBER = re.compile(r"^[ \t]*#define[ \t]+\w+[ \t]+\(?([1-9]\d*)\b(?!\.)", re.M)

COMPARISON = re.compile(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)")
OTHER_COMPARISON = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGICAL = re.compile(r"&&|\|\|")
ARITHMETIC = re.compile(r"(?<=[\w\])] )([-+*/])(?= [\w(&*])")
OTHER_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*"}
NUMBER = re.compile(r"(?<![\w.\"])(0x[0-9a-fA-F]+|[1-9]\d*|0)(?=[uUlL]*\b)(?!\.)")
CONDITION = re.compile(r"\bif \(")
RETURN = re.compile(r"\breturn ([^;{}]+);")
STATEMENT = re.compile(r"""
    ^[ \t]+(?: \*?\(?[\w.>\[\]-]+\)?(?:->[\w.>\[\]-]+)*\ (?:[-+*/|&^%]|<<|>>)?=\ [^;{}]*  # assignment
             | (?:\+\+|--)?[\w.>\[\]-]+(?:\+\+|--)?
             | (?P<call>\w+)\([^;{}]*\) );[ \t]*$
""", re.X | re.M)
NO_STATEMENT = re.compile(r"[ \t]+(?:return|break|continue|goto|case|default|else|do|while|for|if)\b")
# Functions that call kill, unlink and the like are not mutated, because an error there could harm
# more than the copied tree.
HARMING = re.compile(r"\b(?:kill|unlink|unlinkat|rename|renameat2?|rmdir|reboot|u?mount2?)\(")
RELEASING = re.compile(r"free|close|destroy|unlink|munmap|end$|drop$")
ARGUMENTS = re.compile(r"(?<=\w)\((?:[^()]*?, )?([\w.>&*-]+), ([\w.>&*-]+)(?=[,)])")
DECLARED_SIZE = re.compile(r"\b(?:char|int|struct \w+|\w+_t|void|\*) ?\*?(?:\w+\[[^\]]*\](?: =[^,;]*)?, )*"
                           r"\w+\[[^\]]*$")


@dataclass(frozen=True)
class Change:
    """One mutation: the text of a file between the positions start and end is replaced."""
    path: str
    kind: str
    start: int
    end: int
    new: str

    def apply(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def line(self, text):
        return text.count("\n", 0, self.start) + 1


def blank(text):
    """Replaces everything but line ends by spaces."""
    return re.sub(r"[^\n]", " ", text)


def masked(text):
    """Replaces comments, strings and preprocessor lines by spaces, so that only code that may be
    mutated remains."""
    text = HIDDEN.sub(lambda m: blank(m[0]), text)
    return DIRECTIVE.sub(lambda m: blank(m[0]), text)


def bodies(code):
    """Yields (start, end) of each function body in masked code. A function body begins with a brace
    at depth 0 after `)`."""
    depth, start = 0, None
    for m in re.finditer(r"[{}]", code):
        if m[0] == "{":
            if depth == 0:
                before = code[:m.start()].rstrip()
                start = m.end() if before.endswith(")") else None
            depth += 1
        else:
            depth -= 1
            if depth == 0 and start is not None:
                yield start, m.start()


def closing(code, at):
    """Returns the position of the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if not depth:
            return i
    return None


def next_number(text):
    for step in (1, -1):
        value = int(text, 0) + step
        if value >= 0:
            yield hex(value) if text.startswith("0x") else str(value)


def of_body(path, code, start, end):
    """Yields the mutations of one function body in masked code."""
    def change(kind, m, new, group=0):
        return Change(path, kind, m.start(group), m.end(group), new)

    for m in COMPARISON.finditer(code, start, end):
        yield change("comparison", m, OTHER_COMPARISON[m[1]], 1)
    for m in LOGICAL.finditer(code, start, end):
        yield change("logic", m, "||" if m[0] == "&&" else "&&")
    def is_declared_size(m):
        return DECLARED_SIZE.search(code[code.rfind("\n", 0, m.start()) + 1:m.start()])

    for m in ARITHMETIC.finditer(code, start, end):
        if not is_declared_size(m):
            yield change("arithmetic", m, OTHER_ARITHMETIC[m[1]], 1)
    for m in NUMBER.finditer(code, start, end):
        if not is_declared_size(m):
            for new in next_number(m[1]):
                yield change("constant", m, new, 1)
    for m in CONDITION.finditer(code, start, end):
        last = closing(code, m.end() - 1)
        inner = code[m.end():last]
        yield Change(path, "negation", m.end(), last, f"!({inner})")
    for m in RETURN.finditer(code, start, end):
        value = m[1].strip()
        new = {"true": "false", "false": "true", "0": "1"}.get(value, "0")
        if value != "NULL":
            yield change("return", m, new, 1)
    for m in STATEMENT.finditer(code, start, end):
        if NO_STATEMENT.match(m[0]) or (m["call"] and RELEASING.search(m["call"])):
            continue
        if code[:m.start()].rstrip()[-1:] in (";", "{", "}", ")", ":"):
            first = m.start() + len(m[0]) - len(m[0].lstrip())
            yield Change(path, "statement", first, m.end(), ";")
    for m in ARGUMENTS.finditer(code, start, end):
        if m[1] != m[2]:
            yield Change(path, "arguments", m.start(1), m.end(2), f"{m[2]}, {m[1]}")


def all_of_file(path, text):
    """Returns all changes of a file in order, also those without effect. Changes that contain a
    string are left out, because strings are blank in masked code."""
    code = masked(text)
    found = [change for start, end in bodies(code) if not HARMING.search(code, start, end)
             for change in of_body(path, code, start, end)]
    for m in DEFINED_NUMBER.finditer(text):
        found += [Change(path, "constant", m.start(1), m.end(1), new) for new in next_number(m[1])]
    return [c for c in found if len(c.new) <= 3 or code[c.start:c.end] == text[c.start:c.end]]


def of_file(path, text):
    """Returns all mutations of a file in order."""
    code = masked(text)
    return [change for change in all_of_file(path, text) if not has_same_effect(change, code)]


# A function for the self-test, followed by its expected mutations in the form "kind: the changed
# line".
SELF = """\
#define MOST 8
/* a < b */
static int take(struct thing *t, int n)
{
\tchar text[16];

\tif (n >= t->most && t->open) {
\t\tput(t, n);
\t\tt->used += n + 1;
\t\tsay("a < b");
\t\tfree(t);
\t}
\treturn true;
}

static void give_up(int fd, const char *name)
{
\tif (fd < 0)
\t\tunlink(name);
}
"""
SELF_CHANGES = {
    "comparison: if (n > t->most && t->open) {", "logic: if (n >= t->most || t->open) {",
    "negation: if (!(n >= t->most && t->open)) {", "arithmetic: t->used += n - 1;",
    "constant: t->used += n + 2;", "constant: t->used += n + 0;", "constant: #define MOST 9",
    "constant: #define MOST 7", "return: return false;", "arguments: put(n, t);",
    "statement: ;"}


def self_test():
    """Checks that exactly the expected mutations of a small function are found."""
    found = set()
    for change in of_file("x.c", SELF):
        found.add(f"{change.kind}: "
                  f"{change.apply(SELF).splitlines()[change.line(SELF) - 1].strip()}")
    for number, one in enumerate(sorted(SELF_CHANGES | found), 1):
        good = one in SELF_CHANGES and one in found
        print(f"{'ok' if good else 'not ok'} {number} - {one}")
    print(f"1..{len(SELF_CHANGES | found)}")
    return SELF_CHANGES != found


if __name__ == "__main__":
    sys.exit(self_test())
