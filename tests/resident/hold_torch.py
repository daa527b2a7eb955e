# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A PyTorch program whose functions keep known amounts of memory: see hold.py."""
import ctypes
import json
import sys

import torch

KEPT = []
TRUTH = {}


def hold_tensor_40():
    KEPT.append(torch.ones(40 << 18))


def hold_small_tensors_32():
    KEPT.append([torch.full((1 << 16,), 1.5) for _ in range(128)])


def hold_shared_tensor_24():
    KEPT.append(torch.ones(24 << 18).share_memory_())


def free_tensor_100():
    one = torch.ones(100 << 18)
    del one


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2048, 2048), 0.01))


def hold_model_16():
    KEPT.append(Model())


def main():
    libc = ctypes.CDLL(None)
    if "huge" not in sys.argv:
        libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE
    torch.set_num_threads(1)
    for hold, mib in ((hold_tensor_40, 40), (free_tensor_100, 0), (hold_small_tensors_32, 32),
                      (hold_shared_tensor_24, 24), (hold_model_16, 16)):
        hold()
        TRUTH[hold.__name__] = mib
    print(json.dumps({"holds": TRUTH}), flush=True)
    sys.stdin.read()


main()
