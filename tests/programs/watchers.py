#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Starts one observer of the Python package watchdog for each folder, although one observer could
watch all folders. Each observer needs an inotify instance."""
import sys

from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer


def watch(folder):
    observer = Observer()
    observer.schedule(FileSystemEventHandler(), folder)
    observer.start()
    return observer


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    observers = []
    try:
        for _ in range(int(sys.argv[1])):
            observers.append(watch("/tmp"))
    except OSError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
    else:
        print("ok", flush=True)
    sys.stdin.read()
    for observer in observers:
        observer.stop()


if __name__ == "__main__":
    main()
