// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Notes which comparisons met equal values. clang's option -fsanitize-coverage=trace-cmp calls
 * these functions before each comparison of integers.
 *
 * The file that FAULTSCOPE_BOUNDS names has one byte for each byte of the library's code. All
 * processes map it, so that nothing needs to be written when a process ends.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES (16 << 20) /* size of the file; the library is smaller */

enum { SEEN = 1, EQUAL = 2 };

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* set by the linker */

static volatile uint8_t *table;

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("FAULTSCOPE_BOUNDS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED
			  : mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		table = at;
}

static void met(const void *caller, bool equal)
{
	uintptr_t at = (uintptr_t)caller - (uintptr_t)__ehdr_start;

	if (table && at < CODE_BYTES)
		table[at] |= SEEN | (equal ? EQUAL : 0);
}

/* The names are those that clang uses. */
#define COMPARISONS(bits, type)                                                                    \
	void __sanitizer_cov_trace_cmp##bits(type a, type b);                                      \
	void __sanitizer_cov_trace_const_cmp##bits(type a, type b);                                \
	void __sanitizer_cov_trace_cmp##bits(type a, type b)                                       \
	{                                                                                          \
		met(__builtin_return_address(0), a == b);                                          \
	}                                                                                          \
	void __sanitizer_cov_trace_const_cmp##bits(type a, type b)                                 \
	{                                                                                          \
		met(__builtin_return_address(0), a == b);                                          \
	}

COMPARISONS(1, int8_t)
COMPARISONS(2, int16_t)
COMPARISONS(4, int32_t)
COMPARISONS(8, int64_t)

/* clang calls these too, if it is told to trace comparisons. */
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
	(void)value;
	(void)cases;
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
	(void)start;
	(void)stop;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
}
