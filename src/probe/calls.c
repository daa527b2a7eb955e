// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/calls.h"

#include <stdbool.h>
#include <sys/syscall.h>

/* Numbers, equal on all machines, of system calls that the C library's headers may lack. */
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif

const struct call_row call_rows[] = {
#define CALL(name, what, how) {__NR_##name, CALL_##what, FS_SHAPE_##how, #name},
#include "probe/calls.def"
};

const unsigned int nr_call_rows = sizeof(call_rows) / sizeof(call_rows[0]);

static const struct call_row write_rows[] = {
#define CALL_WRITE(name, what, how) {__NR_##name, CALL_##what, FS_SHAPE_##how, #name},
#include "probe/calls.def"
};

#define TIF_32BIT (1 << 22) /* value from arch/arm64/include/asm/thread_info.h */

#ifdef __x86_64__
#define TS_COMPAT 2 /* value from arch/x86/include/asm/thread_info.h */

const struct call_row compat_call_rows[] = {
#define CALL_32(number, name, what, how) {number, CALL_##what, FS_SHAPE_##how, name},
#include "probe/calls.def"
};
const unsigned int nr_compat_call_rows = sizeof(compat_call_rows) / sizeof(compat_call_rows[0]);
#else
const struct call_row compat_call_rows[] = {{}};
const unsigned int nr_compat_call_rows = 0;
#endif

static void fill(struct fs_syscall *table, const struct call_row *rows, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (rows[i].number < FS_SYSCALL_MAX) {
			table[rows[i].number].call = rows[i].call;
			table[rows[i].number].shape = rows[i].shape;
		}
}

/* Returns whether a call of this form changes no counter if it succeeds. */
static bool is_failures_only(unsigned char shape)
{
	switch (shape) {
	case FS_SHAPE_NONE:
	case FS_SHAPE_WATCH:
	case FS_SHAPE_SPACE:
	case FS_SHAPE_SPACE2:
	case FS_SHAPE_SPACE_AT:
	case FS_SHAPE_SPACE_AT2:
	case FS_SHAPE_IPC:
	case FS_SHAPE_DEVICE:
	case FS_SHAPE_OBJECT:
	case FS_SHAPE_AGAIN:
	case FS_SHAPE_SEND:
	case FS_SHAPE_LENGTH:
	case FS_SHAPE_SHMCTL:
		return true;
	}
	return false;
}

static void fill_failures_only(struct fs_config *c)
{
	for (unsigned int i = 0; i < FS_SYSCALL_MAX; i++)
		c->failures_only[i] = is_failures_only(c->syscalls[i].shape) &&
				      is_failures_only(c->compat_syscalls[i].shape);
}

void calls_fill(struct fs_config *c)
{
	fill(c->syscalls, call_rows, nr_call_rows);
	fill(c->syscalls, write_rows, sizeof(write_rows) / sizeof(write_rows[0]));
#ifdef __x86_64__
	c->compat_bits = TS_COMPAT;
	fill(c->compat_syscalls, compat_call_rows, nr_compat_call_rows);
#elif defined(__aarch64__)
	c->compat_bits = TIF_32BIT; /* 32-bit calls have other numbers and are not counted */
#endif
	fill_failures_only(c);
}
