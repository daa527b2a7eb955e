#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A DataLoader over a Dataset of many small tensors, under forkserver: each tensor becomes a mapping
(file_system sharing) or a mapping and a descriptor (file_descriptor sharing) of the trainer.

usage: loader.py {file_system|file_descriptor} TENSORS
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
    mp.set_sharing_strategy(sys.argv[1])
    loader = DataLoader(ManyTensors(int(sys.argv[2])), batch_size=8, num_workers=1,
                        multiprocessing_context="forkserver")
    for step, _ in enumerate(loader):
        if step == 4:
            break
    print("ok", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(1)
