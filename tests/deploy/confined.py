#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs a command under a seccomp profile of a container runtime, as runc would install it.

usage: confined.py PROFILE COMMAND...    exits with 77 if libseccomp is missing

The profile has the format of the OCI runtime specification. As in runc, names of system calls that
this architecture does not have are skipped.
"""
import ctypes
import json
import os
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
COMPARE = {"SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}  # enum scmp_compare of seccomp.h
PR_SET_NO_NEW_PRIVS = 38


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64),
                ("b", ctypes.c_uint64)]


def install(profile):
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        sys.exit(77)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Argument)]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    if profile["defaultAction"] != "SCMP_ACT_ERRNO":
        sys.exit("confined: the profile must refuse by default")
    context = library.seccomp_init(ERRNO | profile["defaultErrnoRet"])
    for rule in profile["syscalls"]:
        if rule["action"] != "SCMP_ACT_ALLOW":
            sys.exit(f"confined: {rule['action']}")
        args = [Argument(one["index"], COMPARE[one["op"]], one["value"], one.get("valueTwo", 0))
                for one in rule.get("args", [])]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number < 0:
                continue
            array = (Argument * max(len(args), 1))(*args)
            if library.seccomp_rule_add_array(context, ALLOW, number, len(args), array):
                sys.exit(f"confined: no rule for {name}")
    if ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or library.seccomp_load(context):
        sys.exit("confined: the kernel does not accept the filter")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        install(json.load(file))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
