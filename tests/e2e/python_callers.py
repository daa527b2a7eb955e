# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Opens files from many kinds of Python code, and prints the stack that the interpreter shows at the
same line. Each file has its own name, of letters only. The program needs Python 3.8.

usage: python_callers.py [WAY]	prints its pid, waits for a line on stdin, opens the files, prints
				the expected stacks as JSON, and waits. The ways are "fork": a
				forked child opens the files; or a function of CASES below.
"""
import asyncio
import functools
import gc
import importlib
import json
import os
import sys
import threading
import time
import traceback


def import_one(*names):
    """Returns the first of the modules that this interpreter has, or None. Modules are imported at
    the start, because faultscope needs time to read a library that was just loaded."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return None


ctypes = import_one("ctypes")
interpreters = import_one("_interpreters", "_xxsubinterpreters")
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
    if not ctypes:
        return
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


def letters(number):
    return chr(ord("a") + number // 26) + chr(ord("a") + number % 26)


def deep():
    """Opens files below more Python frames than faultscope keeps."""
    recurse(300, "deep")
    recurse(900, "deeper")


def made_once(text, file, name):
    space = {"open_one": open_one}
    exec(compile(text, file, "exec"), space)
    space[name]()
    del space
    gc.collect()


def reused():
    """Opens each file from a new function, which often has the address of the one before. Such
    functions differ in their size, or only in their file, in their name or in their first line:
    then they often have the pointers of the one before, too."""
    for number in range(12):
        which = letters(number)
        longer = "def made():\n" + "    pass\n" * number
        made_once(longer + f"    open_one('reused{which}')\n", f"made{which}.py", "made")
        made_once(f"def made():\n    open_one('file{which}')\n", f"other{which}.py", "made")
        made_once(f"def made{which}():\n    open_one('name{which}')\n", "names.py", f"made{which}")
        made_once("\n" * number + f"def made():\n    open_one('line{which}')\n", "lines.py", "made")


def many():
    """Runs 10,000 functions, each with a code object of its own, and then the first ones again."""
    def run(functions):
        if functions:
            return functions[0](functions[1:])
        os.close(os.memfd_create("one of many"))

    functions = []
    for number in range(10000):
        space = {"run": run, "open_one": open_one}
        name = f"made_{letters(number // 676)}{letters(number % 676)}"
        text = f"def {name}(rest):\n    return run(rest) if rest else open_one('many')\n"
        exec(compile(text, "many.py", "exec"), space)
        functions.append(space[name])
    for first in range(0, len(functions), 40):
        run([*functions[first:first + 40], lambda rest: run(rest)])
        time.sleep(0.02)  # faultscope sends the names of each function through a buffer
    run(functions[:20])


def renamed(name, file):
    """Returns a function that opens a file, with another name and another file's name."""
    def opened(what):
        open_one(what)
    opened.__code__ = opened.__code__.replace(co_name=name, co_filename=file)
    if hasattr(opened.__code__, "co_qualname"):
        opened.__code__ = opened.__code__.replace(co_qualname=name)
    return opened


def hostile():
    """Opens files from functions with names that no source text can give them."""
    renamed("new\nline", "new\nline.py")("newline")
    renamed("\x1b[31mred\x07", "\x1b]0;title\x07.py")("control")
    renamed("n" * 100000, "f" * 100000)("long")
    renamed("\udc80\ud800", "\udcff.py")("surrogates")
    renamed("\u202eeman", "\u4e2d\U0001f600.py")("wide")
    renamed("", "")("empty")


def subinterpreter():
    """Opens a file in a second interpreter of this thread, which has a stack of its own."""
    reader, writer = os.pipe()
    text = "import json, os, traceback\n" \
        "def inner():\n" \
        "    stack = traceback.extract_stack(); fd = os.memfd_create('sub')\n" \
        "    return [[f.name, os.path.basename(f.filename), f.lineno] for f in reversed(stack)]\n" \
        f"os.write({writer}, json.dumps(inner()).encode())\n"
    interpreters.run_string(interpreters.create(), text)
    truth["sub"] = json.loads(os.read(reader, 65536))
    open_one("main")


def by_greenlet(greenlet):
    """Opens files in greenlets, which switch between stacks within one thread."""
    def one():
        open_one("first")
        other.switch()
        open_one("third")

    def two():
        open_one("second")
        main_one.switch()

    main_one, other = greenlet.greenlet(one), greenlet.greenlet(two)
    main_one.switch()
    open_one("last")


def by_gevent(gevent):
    def one(name):
        open_one(name)
        gevent.sleep(0)
        open_one(name + "again")

    gevent.joinall([gevent.spawn(one, "first"), gevent.spawn(one, "second")])


def threads():
    """Opens files in threads that exist at the same time."""
    ready = threading.Barrier(8)

    def one(name):
        ready.wait()
        open_one(name)
        ready.wait()

    for thread in [threading.Thread(target=one, args=("thread" + letters(i),)) for i in range(8)]:
        thread.start()
    while threading.active_count() > 1:
        threading.Event().wait(0.01)


CASES = {"deep": deep, "reused": reused, "many": many, "hostile": hostile, "threads": threads,
         "subinterpreter": subinterpreter}
WITH_MODULE = {"greenlet": by_greenlet, "gevent": by_gevent}


def main():
    way = sys.argv[1] if sys.argv[1:] else ""
    module = importlib.import_module(way) if way in WITH_MODULE else None
    print(os.getpid(), flush=True)
    sys.stdin.readline()
    child = os.fork() if way == "fork" else 0
    if child:
        os.waitpid(child, 0)
        return
    if module:
        WITH_MODULE[way](module)
    else:
        CASES.get(way, work)()
    print(json.dumps({"pid": os.getpid(), "stacks": truth}), flush=True)
    sys.stdin.readline()


main()
