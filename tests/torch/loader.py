#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A DataLoader over a Dataset of many small tensors, with forkserver workers. Each tensor becomes a
mapping (file_system sharing) or a mapping and a file descriptor (file_descriptor sharing) of the
trainer.

usage: loader.py {file_system|file_descriptor} TENSORS [wait [keep]]

With `wait`, the script prints "ready" and shares no tensor before it reads a line on standard
input. When all tensors are shared, the script prints "ok", and keeps its workers until the input
ends. With `keep`, the workers are forked, and their batches of one tensor each are kept.
(forkserver can pass at most 256 file descriptors.)
"""
import sys

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset


class ManyTensors(Dataset):
    def __init__(self, count):
        self.tensors = [torch.zeros(64) for _ in range(count)]

    def __len__(self):
        return len(self.tensors)

    def __getitem__(self, i):
        return self.tensors[i]


def main():
    waits, keeps = "wait" in sys.argv[3:], "keep" in sys.argv[3:]
    mp.set_sharing_strategy(sys.argv[1])
    data = ManyTensors(int(sys.argv[2]))
    if waits:
        print("ready", flush=True)
        sys.stdin.readline()
    loader = DataLoader(data, batch_size=1 if keeps else 8, num_workers=1,
                        multiprocessing_context="fork" if keeps else "forkserver")
    batches = iter(loader)
    kept = [next(batches) for _ in range(len(data) - 8 if keeps else 4)]
    print("ok", flush=True)
    if waits:
        sys.stdin.read()
    del kept


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(1)
