# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Reads a BPF object (64-bit little-endian ELF): its instructions, functions, and calls.

Instruction encoding: Documentation/bpf/standardization/instruction-set.rst of the kernel.
"""
import struct
from pathlib import Path

EXECUTABLE = 0x4  # section flag SHF_EXECINSTR
PROGBITS, SYMTAB, REL = 1, 2, 9  # section types
FUNCTION, SECTION = 2, 3  # symbol types
CALL, LOAD64 = 0x85, 0x18  # opcodes BPF_JMP | BPF_CALL and BPF_LD | BPF_IMM | BPF_DW
# src_reg of CALL and LOAD64 instructions that refer to a BPF function
PSEUDO_CALL, PSEUDO_FUNC = 1, 4
MOV, ADD = 0xbf, 0x07  # opcodes BPF_ALU64 | BPF_MOV | BPF_X and BPF_ALU64 | BPF_ADD | BPF_K
MEMORY = 1, 2, 3  # instruction classes LDX, ST, STX, which access memory
FRAME = 10  # number of the frame pointer register


class Instruction:
    """A BPF instruction. `at` is its byte offset within the section."""

    def __init__(self, code, at):
        self.at = at
        self.opcode, registers, self.offset, self.immediate = struct.unpack_from("<BBhi", code, at)
        self.target, self.source = registers & 15, registers >> 4
        self.size = 16 if self.opcode == LOAD64 else 8


class Function:
    """A BPF program or subprogram: its stack size in bytes, and the functions that it calls or
    passes as callbacks."""

    def __init__(self, name):
        self.name = name
        self.stack = 0
        self.calls = set()


class Object:
    """An ELF file: its sections with instructions, and its symbols."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        start, = struct.unpack_from("<Q", self.data, 40)
        count, names = struct.unpack_from("<HH", self.data, 60)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + 64 * i)
                        for i in range(count)]
        at = self.headers[names][4]
        self.sections = {i: self.text(at + one[0]) for i, one in enumerate(self.headers)
                         if one[1] == PROGBITS and one[2] & EXECUTABLE and one[5]}
        self.code = {name: self.content(i) for i, name in self.sections.items()}
        self.symbols = [symbol for one in self.headers if one[1] == SYMTAB
                        for symbol in self.symbols_in(one)]
        self.wanted = {name for name, _, section, _ in self.symbols[1:] if not section}

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def content(self, section):
        header = self.headers[section]
        return self.data[header[4]:header[4] + header[5]]

    def symbols_in(self, table):
        """Yields (name, type, section, value) of each symbol."""
        strings = self.headers[table[6]][4]
        for at in range(table[4], table[4] + table[5], 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
            yield self.text(strings + name), info & 15, section, value

    def instructions(self, code):
        at = 0
        while at < len(code):
            one = Instruction(code, at)
            yield one
            at += one.size

    def helpers(self):
        """Yields the numbers of called BPF helpers. Calls of the object's own functions and of
        kfuncs are left out."""
        for code in self.code.values():
            for one in self.instructions(code):
                if one.opcode == CALL and not one.source:
                    yield one.immediate

    def relocations(self, section):
        """Returns {offset of an instruction: the symbol that it refers to} for a section."""
        found = {}
        for header in self.headers:
            if header[1] != REL or header[7] != section:
                continue
            for at in range(header[4], header[4] + header[5], 16):
                offset, info = struct.unpack_from("<QQ", self.data, at)
                found[offset] = self.symbols[info >> 32]
        return found

    def functions(self):
        """Returns {(section, offset): Function} of all functions."""
        found = {(section, value): Function(name) for name, kind, section, value in self.symbols
                 if kind == FUNCTION and section in self.sections}
        for section in self.sections:
            self.read_functions(section, found)
        return found

    def read_functions(self, section, functions):
        relocated = self.relocations(section)
        current, copies = None, {}
        for one in self.instructions(self.content(section)):
            if (section, one.at) in functions:
                current, copies = functions[section, one.at], {}
            current.stack = max(current.stack, stack_of(one, copies))
            called = callee(one, section, relocated.get(one.at))
            if called in functions:
                current.calls.add(functions[called])


def stack_of(one, copies):
    """Returns the number of bytes of stack that an instruction reaches. `copies` are registers that
    point into the stack."""
    if one.opcode == MOV:
        copies.pop(one.target, None)
        if one.source == FRAME or one.source in copies:
            copies[one.target] = copies.get(one.source, 0)
    elif one.opcode == ADD and one.target in copies:
        copies[one.target] += one.immediate
        return -copies[one.target]
    elif one.opcode & 7 in MEMORY:
        base = one.source if one.opcode & 7 == 1 else one.target
        if base == FRAME:
            return -one.offset
    return 0


def callee(one, section, symbol):
    """Returns (section, offset) of the function that an instruction calls or passes to a helper, or
    None."""
    if one.opcode == CALL and one.source == PSEUDO_CALL:
        if not symbol:
            return section, one.at + 8 * (one.immediate + 1)
        # In libbpf's relocations, the immediate of a call into a section is the instruction number
        # minus 1.
        return symbol[2], symbol[3] + (8 * (one.immediate + 1) if symbol[1] == SECTION else 0)
    if one.opcode == LOAD64 and symbol:
        return symbol[2], symbol[3] + (one.immediate if symbol[1] == SECTION else 0)
    return None
