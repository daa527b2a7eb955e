/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: what the instruction at a fault did to memory, from its bytes and the registers. */
#ifndef FS_TRIAGE_INSN_H
#define FS_TRIAGE_INSN_H

#include "triage/incident.h"

struct insn {
	enum access access; /* NONE: touches no memory, or not known */
	uint8_t size;	    /* bytes; 0: not known */
	bool memory;	    /* it has a memory operand */
	bool calls;	    /* an indirect call or jump: the operand is the pointer's place */
	bool copies;	    /* reads at one and writes at another pointer (movs) */
	bool traps;	    /* ud2 and the like */
	int8_t base, index; /* register numbers; -1: none */
	uint8_t scale;
	bool ip_relative;
	int64_t offset;
	int8_t target; /* register of an indirect call through a register; -1: none */
};

/* False where the bytes are not understood. */
bool x86_decode(const uint8_t *code, size_t n, bool is_64, struct insn *ret);
bool arm64_decode(uint32_t word, struct insn *ret);

/* The instruction of an event; false where it has none that is understood. */
bool insn_of(const struct incident *e, struct insn *ret);

/* Where it pointed, from the registers; false where one is not known. */
bool insn_address(const struct incident *e, const struct insn *in, uint64_t *ret);

/* A register's name, as the kernel prints it. */
void register_name(enum arch arch, int number, char *ret, size_t size);

#endif
