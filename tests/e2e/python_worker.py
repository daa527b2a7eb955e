# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Forks a worker in a loop, as a PyTorch DataLoader does: the stack of the worker begins with the
loop of its parent. The worker opens 300 memfds, and prints its pid and the expected lines as JSON.
"""
import inspect
import json
import multiprocessing
import os
import sys


def collate_fn(kept):
    line = inspect.currentframe().f_lineno; kept.append(os.memfd_create("batch"))
    return line


def work():
    kept = []
    for _ in range(300):
        line = collate_fn(kept)
    print(json.dumps({"pid": os.getpid(), "opens": line, "loop": int(os.environ["LOOP"])}))
    sys.stdout.flush()


def main():
    workers = multiprocessing.get_context("fork")
    for _ in range(1):
        worker = workers.Process(target=work)
        os.environ["LOOP"] = str(inspect.currentframe().f_lineno); worker.start()
        worker.join()


main()
