// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "reference_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traced_space.h"

static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			 const char *file, const char *link, GElf_Word crc, char **ret)
{
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debug_file,
};

static pid_t next_thread(Dwfl *dwfl, void *ctx, void **thread)
{
	const struct reference *r = ctx;

	if (*thread)
		return 0;
	*thread = ctx;
	return r->tid;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *ret, void *ctx)
{
	struct reference *r = ctx;
	__u64 word;

	if (!traced_space_word(&r->pid, at, &word))
		return false;
	*ret = word;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *ctx)
{
	const struct reference *r = ctx;
	Dwarf_Word words[17];

	for (int i = 0; i < 17; i++)
		words[i] = r->registers[i];
	return dwfl_thread_state_registers(thread, 0, 17, words);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

void reference_update(struct reference *r, pid_t pid)
{
	if (!r->dwfl)
		r->dwfl = dwfl_begin(&callbacks);
	r->pid = pid;
	dwfl_report_begin(r->dwfl);
	if (dwfl_linux_proc_report(r->dwfl, pid) < 0)
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
	dwfl_report_end(r->dwfl, NULL, NULL);
}

static int take_frame(Dwfl_Frame *frame, void *ctx)
{
	struct reference *r = ctx;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || r->n == REFERENCE_FRAMES_MAX)
		return DWARF_CB_ABORT;
	r->exact[r->n] = exact;
	r->pc[r->n++] = pc;
	return DWARF_CB_OK;
}

void reference_walk(struct reference *r, pid_t tid, const __u64 registers[UNWIND_REGISTERS])
{
	int found;

	r->tid = tid;
	r->registers = registers;
	r->n = 0;
	r->error[0] = 0;
	if (!r->attached && !dwfl_attach_state(r->dwfl, NULL, r->pid, &thread_callbacks, r)) {
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
		exit(1);
	}
	r->attached = true;
	dwfl_errno();
	found = dwfl_getthread_frames(r->dwfl, tid, take_frame, r);
	r->whole = !found;
	if (found)
		snprintf(r->error, sizeof(r->error), "%s", dwfl_errmsg(-1));
}

void reference_close(struct reference *r)
{
	if (r->dwfl)
		dwfl_end(r->dwfl);
}
