// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/match.h"
#include "triage/particulars.h"

#include <inttypes.h>
#include <stdio.h>

/* bits of MCi_STATUS: arch/x86/include/asm/mce.h */
#define MCI_OVER  (1ull << 62)
#define MCI_UC	  (1ull << 61)
#define MCI_PCC	  (1ull << 57)
#define MCA_LEVEL 3

static const struct {
	uint64_t number;
	bool hardware;
	const char *means;
} xids[] = {
#define XID(number, hardware, means) {number, hardware, means},
#include "triage/xids.def"
#undef XID
};

static void explain_xid(struct judged *j)
{
	static const struct reason bad = {100, "this error is of the GPU, its memory or its link"};
	struct captures c = {};
	struct str text = str_trim(j->ls->line[j->e->first].text);

	/* %P is a decimal number */
	if (!match("NVRM: Xid (%*): %P,", text, &c))
		return;
	for (size_t i = 0; i < sizeof(xids) / sizeof(xids[0]); i++) {
		if (xids[i].number != c.pid)
			continue;
		particular_add(j->v, "Xid", "%" PRIu64 ": %s", c.pid, xids[i].means);
		if (xids[i].hardware)
			suspect_accuse(j->v, STR("hardware"), bad.points, bad.why);
		return;
	}
	particular_add(j->v, "Xid", "%" PRIu64, c.pid);
}

/*
 * Names the class of a machine check from its error code, the low 16 bits of the status: Intel SDM
 * volume 3, "Machine-Check Architecture"; AMD uses the same classes.
 */
static void name_error(uint64_t status, char *ret, size_t size)
{
	static const char *const level[] = {"L0", "L1", "L2", "generic level"};
	static const char *const request[] = {"",	    " read",	   " write",
					      " data read", " data write", " instruction fetch",
					      " prefetch",  " eviction",   " snoop"};
	static const char *const memory[] = {"", " read", " write", " address or command",
					     " scrubbing"};
	uint32_t code = status & 0xefff, ask = code >> 4 & 15;
	const char *asked = ask < sizeof(request) / sizeof(request[0]) ? request[ask] : "";

	if (code >= 0x800)
		snprintf(ret, size, "bus or interconnect error, %s%s%s", level[code & MCA_LEVEL],
			 asked, code & 0x100 ? ", time-out" : "");
	else if (code == 0x400)
		snprintf(ret, size, "internal timer error (the CPU was stuck)");
	else if (code > 0x400)
		snprintf(ret, size, "internal error of the CPU");
	else if (code >= 0x100 && code < 0x200)
		snprintf(ret, size, "cache error, %s%s", level[code & MCA_LEVEL], asked);
	else if (code >= 0x80 && code < 0x100)
		snprintf(ret, size, "memory controller error%s, channel %u",
			 (code >> 4 & 7) < 5 ? memory[code >> 4 & 7] : "", code & 15);
	else if (code >= 0x10 && code < 0x20)
		snprintf(ret, size, "TLB error, %s", level[code & MCA_LEVEL]);
	else if (code >= 0x0c && code < 0x10)
		snprintf(ret, size, "cache error, %s", level[code & MCA_LEVEL]);
	else if (code == 5)
		snprintf(ret, size, "internal parity error of the CPU");
	else
		snprintf(ret, size, "error code 0x%x", code);
}

static void decode_bank(struct judged *j, const struct extent *x)
{
	for (uint32_t i = x->first; i < x->end; i++) {
		struct captures c = {};
		char name[96];

		/* print_mce(): "CPU %d: Machine Check%s: %Lx Bank %d: %016Lx" */
		if (!match("%*CPU %C: Machine Check%*: %X Bank %P: %E", extent_line(x, i), &c))
			continue;
		name_error(c.error, name, sizeof(name));
		particular_add(j->v, "bank", "%" PRIu64 " of CPU %" PRIu64 ": %s; %s%s%s", c.pid,
			       c.cpu, name,
			       c.error & MCI_UC ? "not corrected" : "corrected by the hardware",
			       c.error & MCI_PCC ? ", the CPU's state is corrupt" : "",
			       c.error & MCI_OVER ? ", earlier errors were overwritten" : "");
		return;
	}
}

/* Explains the wait status in "Attempted to kill init! exitcode=0x%08x": kernel/exit.c. */
static void explain_exit(struct judged *j)
{
	static const struct {
		uint64_t number;
		const char *name;
	} signals[] = {{4, "SIGILL"},  {6, "SIGABRT"},	{7, "SIGBUS"},
		       {9, "SIGKILL"}, {11, "SIGSEGV"}, {15, "SIGTERM"}};
	struct captures c = {};
	struct str text = str_trim(j->ls->line[j->e->first].text);
	uint64_t signal, status;

	if (!match("%*Attempted to kill init! exitcode=0x%E", text, &c))
		return;
	signal = c.error & 0x7f;
	status = c.error >> 8 & 0xff;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i].number == signal)
			particular_add(j->v, "exit", "init was ended by %s", signals[i].name);
	if (signal)
		particular_add(j->v, "exit", "init was ended by signal %" PRIu64, signal);
	else
		particular_add(j->v, "exit", "init exited with status %" PRIu64 "%s", status,
			       status == 127   ? ": a program or a library was not found"
			       : status == 126 ? ": a program could not be executed"
					       : "");
}

void particulars_of_codes(struct judged *j, const struct extent *x)
{
	if (j->v->kind == KIND_GPU_XID)
		explain_xid(j);
	else if (j->v->kind == KIND_MCE)
		decode_bank(j, x);
	else if (j->v->kind == KIND_PANIC)
		explain_exit(j);
}
