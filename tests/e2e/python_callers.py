# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Opens files from many kinds of Python code, and prints the stack that the interpreter shows at the
same line. Each file has its own name, of letters only. The program needs Python 3.8.

usage: python_callers.py [fork]	prints its pid, waits for a line on stdin, opens the files,
				prints the expected stacks as JSON, and waits. With fork, a forked
				child opens the files.
"""
import asyncio
import ctypes
import functools
import json
import os
import sys
import threading
import traceback

truth = {}
kept = []


def note(name, stack):
    truth[name] = [[frame.name, os.path.basename(frame.filename), frame.lineno]
                   for frame in reversed(stack)]


def open_one(name):
    note(name, traceback.extract_stack()); kept.append(os.memfd_create(name))


def plain():
    open_one("plain")


def recurse(depth, name):
    if depth:
        return recurse(depth - 1, name)
    return open_one(name)


def generate():
    yield open_one("generator")


def delegate():
    yield from generate()


class Shape:
    def __init__(self, name):
        self.name = name

    def method(self):
        return open_one(self.name)

    @property
    def lazy(self):
        return self.method()

    @classmethod
    def made(cls, name):
        return cls(name).lazy

    def __lt__(self, other):
        if self.name:
            open_one(self.name)
        return False


def wrap(function):
    @functools.wraps(function)
    def inner(*words, **more):
        return function(
            *words,
            **more,
        )
    return inner


@wrap
def decorated(
        name,
        other=None):
    return open_one(
        name)


async def awaited():
    await asyncio.sleep(0)
    open_one("awaited")


async def outer():
    await awaited()


def in_exception():
    try:
        raise ValueError
    except ValueError:
        try:
            open_one("exception")
        finally:
            pass


def released():
    """Opens a file with ctypes, which releases the global interpreter lock around a call into C."""
    libc = ctypes.CDLL(None)
    note("ctypes", traceback.extract_stack()); kept.append(libc.memfd_create(b"ctypes", 0))


def many_lines():
    # a function with many lines and thus a long line table
    code = ["def long_one():", "    x = 0"] + ["    x += 1"] * 300 + ["    open_one('long')"]
    space = {"open_one": open_one}
    exec(compile("\n".join(code), "made_up.py", "exec"), space)
    space["long_one"]()


def by_sort():
    return sorted([Shape(""), Shape("sorted")])


def by_callback():
    return list(map(open_one, ["mapped"]))


def by_thread():
    thread = threading.Thread(target=open_one, args=("threaded",))
    thread.start()
    thread.join()


def work():
    plain()
    recurse(20, "recursion")
    list(delegate())
    [open_one(name) for name in ["comprehension"]]
    (lambda: open_one("lambda"))()
    Shape.made("property")
    decorated("decorated", other=1)
    in_exception()
    released()
    many_lines()
    by_sort()
    by_callback()
    by_thread()
    asyncio.new_event_loop().run_until_complete(outer())


def main():
    print(os.getpid(), flush=True)
    sys.stdin.readline()
    child = os.fork() if "fork" in sys.argv[1:] else 0
    if child:
        os.waitpid(child, 0)
        return
    work()
    print(json.dumps({"pid": os.getpid(), "stacks": truth}), flush=True)
    sys.stdin.readline()


main()
