/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces malloc() and its relatives by functions that can fail. A test includes this file once.
 *
 * Many allocations are made by the same code, so failing each one of them takes too long. Between
 * memory_watch() and memory_watched(), the numbers of the allocations that are the first ones with
 * their call stack are collected. The test then repeats the same calls, and fails one of these
 * allocations each time: memory_fail_after(memory_first[i]).
 */
#ifndef FS_TESTS_FAILING_MEMORY_H
#define FS_TESTS_FAILING_MEMORY_H

#include <errno.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

/* AddressSanitizer has an allocator of its own, with these names for its functions. */
#if defined(__SANITIZE_ADDRESS__)
#define REAL(function) __interceptor_##function
#else
#define REAL(function) __libc_##function
#endif

void *REAL(malloc)(size_t n);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *old, size_t n);

#define MEMORY_FIRST_MAX 4096
#define MEMORY_CALLERS	 9  /* number of callers that are compared */
#define MEMORY_SHOWN	 12 /* number of callers that are shown */

/* number of allocations that succeed before one fails; -1: none fails */
static long memory_left = -1;
static bool memory_failed; /* an allocation has failed */
static struct {
	void *caller[MEMORY_SHOWN];
	int n;
} memory_failed_at; /* where an allocation has failed */
/* number of the next allocation while they are watched; -1: they are not */
static long memory_next = -1;
static long memory_first[MEMORY_FIRST_MAX];
static uint64_t memory_stack[MEMORY_FIRST_MAX]; /* hashes of the call stacks */
static size_t memory_firsts;

struct memory_callers {
	void **caller;
	int n, most;
};

static inline _Unwind_Reason_Code memory_note_caller(struct _Unwind_Context *context, void *to)
{
	struct memory_callers *all = to;

	if (all->n == all->most)
		return _URC_END_OF_STACK;
	all->caller[all->n++] = (void *)_Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* Fills in the callers, innermost first. Returns their number. (backtrace() allocates memory.) */
static inline int memory_callers(void **ret, int most)
{
	struct memory_callers all = {ret, 0, most};

	_Unwind_Backtrace(memory_note_caller, &all);
	return all.n;
}

static inline uint64_t memory_hash_stack(void)
{
	void *caller[MEMORY_CALLERS] = {};
	uint64_t hash = 0xcbf29ce484222325;
	int n = memory_callers(caller, MEMORY_CALLERS);

	for (int i = 0; i < n; i++)
		hash = (hash ^ (uintptr_t)caller[i]) * 0x100000001b3;
	return hash;
}

/* Stores the number of an allocation if it is the first one with its call stack. */
static inline void memory_note(void)
{
	long number = memory_next;
	uint64_t hash;

	memory_next = -1;
	hash = memory_hash_stack();
	memory_next = number + 1;
	for (size_t i = 0; i < memory_firsts; i++)
		if (memory_stack[i] == hash)
			return;
	if (memory_firsts == MEMORY_FIRST_MAX)
		return;
	memory_stack[memory_firsts] = hash;
	memory_first[memory_firsts++] = number;
}

static inline bool memory_fails(void)
{
	if (memory_next >= 0)
		memory_note();
	if (memory_left < 0 || memory_left-- > 0)
		return false;
	memory_failed_at.n = memory_callers(memory_failed_at.caller, MEMORY_SHOWN);
	errno = ENOMEM;
	return memory_failed = true;
}

void *malloc(size_t n)
{
	return memory_fails() ? NULL : REAL(malloc)(n);
}

void *calloc(size_t n, size_t size)
{
	return memory_fails() ? NULL : REAL(calloc)(n, size);
}

void *realloc(void *old, size_t n)
{
	return memory_fails() ? NULL : REAL(realloc)(old, n);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

static inline void memory_watch(void)
{
	memory_firsts = 0;
	memory_next = 0;
}

static inline void memory_watched(void)
{
	memory_next = -1;
}

/* The allocation after the next `n` ones fails. */
static inline void memory_fail_after(long n)
{
	memory_failed = false;
	memory_left = n;
}

/* Prints where the last allocation failed. */
static inline void memory_show_failed(void)
{
	fflush(stdout);
	for (int i = 1; i < memory_failed_at.n; i++) {
		fprintf(stderr, "#   ");
		backtrace_symbols_fd(&memory_failed_at.caller[i], 1, STDERR_FILENO);
	}
}

/* Allocations succeed again. Returns whether one has failed. */
static inline bool memory_recovers(void)
{
	memory_left = -1;
	return memory_failed;
}

#endif
