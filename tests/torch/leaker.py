#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trains with a DataLoader whose Dataset keeps every sample that it made: the memory of the workers
grows. Prints the pid of the trainer, and runs until it is killed.

usage: leaker.py
"""
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.cache = []

    def __len__(self):
        return 1 << 20

    def __getitem__(self, i):
        sample = torch.full((1 << 16,), float(i % 7))
        self.cache.append(sample)  # the leak
        return sample.mean()


def main():
    loader = DataLoader(Samples(), batch_size=4, num_workers=2, multiprocessing_context="fork")
    batches = iter(loader)
    next(batches)
    print(os.getpid(), flush=True)
    for batch in batches:
        batch.sum()
        time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
