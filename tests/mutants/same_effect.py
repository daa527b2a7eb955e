#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recognises changes of C source that cannot alter what a program does, from the source alone.

Each rule says why its changes have no effect. No test could notice a change to which a rule applies,
so such a change is no mutant.

usage: same_effect.py --self-test
"""
import re
import sys

VALUE = r"[\w.\[\]]+(?:->[\w.\[\]]+)*"
# A choice by a comparison does not depend on `<` or `<=` if both results are the same for equal
# values.
RESULT = rf"(?:\(\w+\))?{VALUE}(?: [-*] {VALUE})?|\({VALUE} - {VALUE}\) [/*] \d[\w.]*"
# What may stand around a result and leaves 0 as it is: a cast, a factor or a divisor
AROUND = re.compile(rf"^\(\w+\)(?=\w)|^\((?={VALUE} - )|\) [/*] \d[\w.]*$")
CHOICE = re.compile(rf"(?:(?<=[=,] )|(?<=\()|(?<=return ))"
                    rf"(?P<a>{VALUE}) (?P<op>[<>]=?) (?P<b>{VALUE})"
                    rf" \?\s*(?P<x>{RESULT})\s+:\s*(?P<y>{RESULT})(?=[;,)])")
ASSIGNED = re.compile(rf"\bif \((?P<a>{VALUE}) (?P<op>[<>]=?) (?P<b>{VALUE})\)\s+"
                      rf"(?P<x>{VALUE}) = (?P<y>{VALUE});(?!\s+else\b)")
# An allocation that is larger than necessary behaves like the smaller one.
ALLOCATION = re.compile(r"\b(?:malloc|calloc|realloc|reallocarray)\((?P<before>[^;]*)$")
SIZE = re.compile(r"(?:^|[(,+*]) ?$")
NO_SIZE = re.compile(r"[-/%?<>&|[]")
# qsort() and bsearch() use only the sign of what an order returns.
ORDER = re.compile(r"\bint \w+\(const void \*\w+, const void \*\w+(?:, void \*\w+)?\)\s*\{")
ORDER_RESULT = re.compile(r"(?:return|[?:]) -?$")
# A file descriptor below 0 is never compared with a number other than 0, and the kernel ignores the
# one of an anonymous mapping.
NO_FD = re.compile(r"\bfd = -$|\bMAP_ANONYMOUS[^;()]*, -$")
# io_hold_standard_files() makes sure that no file which is opened later has the number 0.
OPENED = re.compile(r"\b(?P<fd>\w+) = (?:\w*(?:open|openat|dup|socket|accept4?)|\w+_create1?|"
                    r"(?:mem|event|timer|signal)fd\w*)\(")
NO_FILE = re.compile(r"\b(?P<fd>\w+) $")
# These functions say whether their arguments are equal, and calloc() multiplies its arguments.
SYMMETRIC = re.compile(r"\b(?:same_subject|str_same)\($")
EQUAL = re.compile(r"(?:!|&& |\|\| |\bif \()(?:strcmp|memcmp|strcasecmp|strncmp|strncasecmp)\($")
CONDITION_ENDS = re.compile(r"[^()<>=;]*\)(?:\)| &&| \|\||;)")
PRODUCT = re.compile(r"\bcalloc\($")


def if_equal(result, a, b):
    """Returns a result of a choice in the case that the compared values `a` and `b` are equal."""
    bare = AROUND.sub("", result)
    if bare in (f"{a} - {b}", f"{b} - {a}") or "0" in (bare, b) and \
            bare.split(" * ")[0] in (a, "0"):
        return "0"
    return a if result == b else result


def is_choice(change, code):
    start = code.rfind("\n\n", 0, change.start) + 1
    for rule in (CHOICE, ASSIGNED):
        for m in rule.finditer(code, start, len(code)):
            if m.start("op") > change.start:
                break
            if m.start("op") == change.start:
                a, b = m["a"], m["b"]
                return if_equal(m["x"], a, b) == if_equal(m["y"], a, b)
    return False


def is_larger(change, code):
    """Returns whether a change only adds one to a number."""
    old = code[change.start:change.end]
    return int(change.new, 0) == int(old, 0) + 1


def is_larger_allocation(change, code):
    m = ALLOCATION.search(code, code.rfind(";", 0, change.start) + 1, change.start)
    if not m or not is_larger(change, code):
        return False
    before = m["before"].replace("->", ".")
    return before.count("(") >= before.count(")") and bool(SIZE.search(before)) and \
        not NO_SIZE.search(before)


def is_order(change, code):
    body = None
    for m in ORDER.finditer(code, 0, change.start):
        body = m.end()
    return body is not None and "\n}" not in code[body:change.start] and \
        is_larger(change, code) and code[change.start:change.end] != "0" and \
        bool(ORDER_RESULT.search(code, code.rfind("\n", 0, change.start) + 1, change.start)) and \
        code[change.end:change.end + 1] in ";: "


def is_equality(change, code, line):
    """Returns whether a change is of the arguments of a function that says whether they are equal."""
    return bool(SYMMETRIC.search(code, line, change.start)) or \
        bool(EQUAL.search(code, line, change.start)) and \
        bool(CONDITION_ENDS.match(code, change.end))


def opened_in(code, change):
    """Returns the variables to which the function around a change assigns open files."""
    start = code.rfind("\n}\n", 0, change.start) + 1
    return {m["fd"] for m in OPENED.finditer(code, start, change.start)}


def is_no_file(change, code, line):
    """Returns whether a change makes a test for an error of open() also one for the file 0, or for
    that alone."""
    old = code[change.start:change.end]
    if (change.kind, old, change.new) == ("comparison", "<", "<="):
        tested, zero = NO_FILE.search(code, line, change.start), code[change.end:].startswith(" 0)")
    elif (change.kind, old, change.new) == ("constant", "0", "1"):
        tested = NO_FILE.search(code, line, change.start - 2)
        zero = code[change.start - 2:change.start] == "< " and code[change.end] == ")"
    else:
        return False
    return zero and bool(tested) and tested["fd"] in opened_in(code, change)


def has_same_effect(change, code):
    """Returns whether a change of masked code cannot alter what the program does."""
    line = code.rfind("\n", 0, change.start) + 1
    if change.kind == "comparison":
        return is_choice(change, code) or is_no_file(change, code, line)
    if change.kind == "arguments":
        return is_equality(change, code, line) or \
            bool(PRODUCT.search(code, line, change.start))
    if change.kind == "constant":
        begin = code.rfind(";", 0, change.start) + 1
        no_fd = code[change.start:change.end] == "1" and change.new == "2" and \
            NO_FD.search(code, begin, change.start)
        return bool(no_fd) or is_no_file(change, code, line) or \
            is_larger_allocation(change, code) or is_order(change, code)
    return False


# Lines for the self-test. A change whose result is listed behind `=>` has no effect; all other
# changes of the line have one.
SELF = (
    ("int f(int a, int b)\n{\n\treturn a < b ? a : b;\n}\n", {"return a <= b ? a : b;"}),
    ("int f(int a, int b)\n{\n\treturn a < b ? a : 7;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a < b ? b - a : 0;\n}\n", {"return a <= b ? b - a : 0;"}),
    ("int f(int a, int b)\n{\n\treturn a < b ? b - a : a - b;\n}\n",
     {"return a <= b ? b - a : a - b;"}),
    ("int f(int a, int b)\n{\n\treturn a < b ? b - a : 1;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a > 0 ? a * b : 0;\n}\n", {"return a >= 0 ? a * b : 0;"}),
    ("int f(int a, int b)\n{\n\treturn a > 0 ? b * a : b;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a > 1 ? a * b : 0;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a > b ? (a - b) / 1e9 : 0;\n}\n",
     {"return a >= b ? (a - b) / 1e9 : 0;"}),
    ("int f(int a, int b)\n{\n\treturn a > b ? (a - c) / 1e9 : 0;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a > 0 ? (long)a : 0;\n}\n",
     {"return a >= 0 ? (long)a : 0;"}),
    ("int f(int a, int b)\n{\n\treturn a > b ? (char)a : b;\n}\n", set()),
    ("int f(int a, int b)\n{\n\treturn a + b < b ? a : b;\n}\n", set()),
    ("int f(int a, int b)\n{\n\tif (a > b)\n\t\tb = a;\n\treturn b;\n}\n", {"if (a >= b)"}),
    ("int f(int a, int b)\n{\n\tif (a > b)\n\t\tb = a;\n\telse\n\t\tg(a);\n\treturn b;\n}\n",
     set()),
    ("void *f(int n)\n{\n\treturn malloc(n + 1);\n}\n", {"return malloc(n + 2);"}),
    ("void *f(int n)\n{\n\treturn malloc(n - 1);\n}\n", set()),
    ("void f(int n)\n{\n\tg(malloc(n), 1);\n}\n", set()),
    ("void f(int n)\n{\n\ta = calloc(n, m);\n}\n", {"a = calloc(m, n);"}),
    ("void f(int n)\n{\n\tint fd = -1;\n\n\tn = -1;\n}\n", {"int fd = -2;"}),
    ("int f(const void *a, const void *b)\n{\n\treturn g(a) ? 1 : -1;\n}\n",
     {"return g(a) ? 2 : -1;", "return g(a) ? 1 : -2;"}),
    ("int f(const void *a, void *b)\n{\n\treturn g(a) ? 1 : -1;\n}\n", set()),
    ("int f(const void *a, const void *b)\n{\n\treturn g(a) ? 1 : -1;\n}\n\nint h(int a)\n"
     "{\n\treturn a ? 1 : -1;\n}\n", {"return g(a) ? 2 : -1;", "return g(a) ? 1 : -2;"}),
    ("bool f(char *a, char *b)\n{\n\treturn !strcmp(a, b);\n}\n", {"return !strcmp(b, a);"}),
    ("int f(char *a, char *b)\n{\n\treturn strcmp(a, b);\n}\n", set()),
    ("bool f(str a, str b)\n{\n\treturn str_same(a, b);\n}\n", {"return str_same(b, a);"}),
    ("bool f(str a, str b)\n{\n\treturn str_starts(a, b);\n}\n", set()),
    ("int f(char *a, char *b)\n{\n\tif (strcmp(a, b))\n\t\tg();\n}\n", {"if (strcmp(b, a))"}),
    ("int f(char *a, char *b)\n{\n\tif (n && strcmp(a, b) < 0)\n\t\tg();\n}\n", set()),
    ("int f(char *a)\n{\n\tint n = open(a), m = g(a);\n\n\tif (n < 0)\n\t\tg();\n}\n",
     {"if (n <= 0)", "if (n < 1)"}),
    ("int f(char *a)\n{\n\tint n = open(a), m = g(a);\n\n\tif (m < 0)\n\t\tg();\n}\n", set()),
    ("int f(char *a)\n{\n\tint n = open(a);\n\n\tif (n < 3)\n\t\tg();\n}\n", set()),
)


def self_test():
    """Checks which changes of short functions have no effect."""
    from changes import all_of_file, masked  # pylint: disable=import-outside-toplevel

    bad = 0
    for number, (text, want) in enumerate(SELF, 1):
        found = {change.apply(text).splitlines()[change.line(text) - 1].strip()
                 for change in all_of_file("x.c", text) if has_same_effect(change, masked(text))}
        bad += found != want
        print(f"{'ok' if found == want else 'not ok'} {number} - {text.splitlines()[2].strip()}")
        if found != want:
            print(f"#   found {found}, not {want}")
    print(f"1..{len(SELF)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(self_test())
