/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with the data structures of CPython 3.14 without the global interpreter lock. There,
 * each thread may run a copy of a function's instructions. Debian has no package of such an
 * interpreter, so this program takes its place. The offsets are compiled from CPython's headers.
 *
 * usage: python3.14t	prints its pid, waits for a line on stdin, opens a file in a function that
 *			runs its own instructions and one in a function that runs a copy, prints a
 *			line, and waits for the end of stdin.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FRAME_OWNED_BY_INTERPRETER 3
#define BOUND_GILSTATE		   8
#define UNIT_BYTES		   2

/* the table of offsets (_Py_DebugOffsets), by the index of the word */
uint64_t _PyRuntime[300] = {
	[0] = 0x7970677562656478, /* "xdebugpy" */
	[1] = 0x030e0af0,
	[2] = 1,
	[5] = 808,
	[8] = 7272,
	[9] = 7344,
	[24] = 8,
	[26] = 72,
	[27] = 152,
	[30] = 32,
	[32] = 8,
	[33] = 0,
	[34] = 56,
	[36] = 78,
	[38] = 72,
	[40] = 128,
	[41] = 136,
	[42] = 144,
	[43] = 152,
	[44] = 84,
	[48] = 232,
	[49] = 224,
	[75] = 32,
	[76] = 48,
	[78] = 48,
	[79] = 32,
	[80] = 56,
};

static uint64_t interpreter[1000], state[64], name[16], file[16], lines[16], code[64];
static struct {
	uint64_t size;
	char *entry[2];
} copies;
static char copy[16];

static void put(void *object, size_t offset, uint64_t value)
{
	memcpy((char *)object + offset, &value, sizeof(value));
}

static void make_text(void *object, const char *text)
{
	put(object, 32, strlen(text));
	put(object, 48, (1 | 1 << 3 | 1 << 4) << 8); /* kind 1, compact, ascii */
	strcpy((char *)object + 56, text);
}

static void make_code(void)
{
	/* two instructions of the first line, and four that are 7 lines below */
	static const unsigned char table[] = {0x80 | 13 << 3 | 1, 0, 0x80 | 13 << 3 | 3, 7 << 1};

	make_text(file, "/src/copies.py");
	make_text(name, "function");
	put(lines, 32, sizeof(table));
	memcpy((char *)lines + 48, table, sizeof(table));
	copies.size = 2;
	copies.entry[0] = (char *)code + 232;
	copies.entry[1] = copy;
	put(code, 84, 10); /* first line */
	put(code, 108, 1); /* version */
	put(code, 128, (uintptr_t)file);
	put(code, 144, (uintptr_t)name);
	put(code, 152, (uintptr_t)lines);
	put(code, 224, (uintptr_t)&copies);
}

static void make_runtime(void)
{
	put(_PyRuntime, 808, (uintptr_t)interpreter);
	put(interpreter, 7344, (uintptr_t)state);
	put(state, 32, BOUND_GILSTATE);
	put(state, 152, (uintptr_t)pthread_self());
}

/* Opens a file while the thread runs the instruction with this index, in this copy. */
__attribute__((noinline)) static int run(const char *what, uint64_t at, uint64_t copy_index)
{
	uint64_t shim[11] = {0}, frame[11] = {0};
	int fd;

	shim[9] = (uint64_t)FRAME_OWNED_BY_INTERPRETER << 48;
	frame[0] = (uintptr_t)code | 1; /* tagged */
	frame[1] = (uintptr_t)shim;
	frame[7] = (uintptr_t)copies.entry[copy_index] + at * UNIT_BYTES;
	frame[9] = copy_index;
	put(state, 72, (uintptr_t)frame);
	__asm__ volatile("" : : "r"(frame), "r"(shim) : "memory");
	fd = memfd_create(what, 0);
	put(state, 72, 0);
	return fd;
}

int main(void)
{
	make_code();
	make_runtime();
	printf("%d\n", getpid());
	fflush(stdout);
	getchar();
	if (run("own", 1, 0) < 0 || run("copied", 3, 1) < 0)
		return 1;
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
