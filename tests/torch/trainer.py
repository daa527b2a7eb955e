#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trains a small model, and leaks memory until it is killed. It keeps the loss of each step,
together with the graph that computed the loss.

usage: trainer.py MIB_A_SECOND
"""
import sys
import time

import torch


def main():
    rate = float(sys.argv[1]) * (1 << 20)
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(),
                                torch.nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    history, kept, began = [], 0, time.monotonic()
    print("ready", flush=True)
    while True:
        batch = torch.randn(128, 256)
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        history.append(loss)  # the leak: each loss keeps the graph that computed it
        kept += 4 * (batch.numel() + 128 * 1024)
        time.sleep(max(0, kept / rate - (time.monotonic() - began)))


if __name__ == "__main__":
    main()
