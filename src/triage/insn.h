/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: decodes which memory the faulting instruction accesses, from its bytes and registers. */
#ifndef FS_TRIAGE_INSN_H
#define FS_TRIAGE_INSN_H

#include "triage/incident.h"

struct insn {
	enum access access; /* kind of access; ACCESS_NONE: no memory access, or not known */
	uint8_t size;	    /* size of the access in bytes; 0: not known */
	bool memory;	    /* the instruction has a memory operand */
	bool calls;	    /* indirect call or jump: the operand holds the pointer */
	bool copies;	    /* the instruction reads memory and writes other memory (movs) */
	bool traps;	    /* ud2 or another instruction that traps */
	int8_t base, index; /* numbers of base and index register; -1: none */
	uint8_t scale;
	bool ip_relative;
	int64_t offset;
	int8_t target; /* register that holds the target of an indirect call; -1: none */
};

/* Decode the instruction at `code`. Return false for an instruction that is not known. */
bool x86_decode(const uint8_t *code, size_t n, bool is_64, struct insn *ret);
bool arm64_decode(uint32_t word, struct insn *ret);

/* Decodes the faulting instruction. Returns false if the report lacks the instruction's bytes. */
bool insn_of(const struct incident *e, struct insn *ret);

/*
 * Computes the address of the memory operand. Returns false if it needs a register whose value is
 * not known.
 */
bool insn_address(const struct incident *e, const struct insn *in, uint64_t *ret);

/*
 * Returns whether a register still holds an argument of the function, as far as the bytes before
 * the faulting instruction tell. `offset`: that of the instruction in the function.
 */
bool holds_argument(const struct incident *e, int number, uint32_t offset);

/* Writes a register's name as the kernel prints it. */
void register_name(enum arch arch, int number, char *ret, size_t size);

#endif
