// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests source lines and inlined functions, with the debug information of this program. Without
 * libdw, there is nothing to test.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "lines/source_lines.h"
#include "tap.h"

extern const char __ehdr_start[]; /* the linker defines it: the start of the program in memory */

#if defined(__x86_64__)
#define HERE(to) __asm__ volatile("lea 0f(%%rip), %0\n0:" : "=r"(to))
#else
#define HERE(to) __asm__ volatile("adr %0, ." : "=r"(to))
#endif

static uintptr_t in_outer, in_middle, in_inner;

enum { INNER_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) void inner(void)
{
	HERE(in_inner);
}

enum { MIDDLE_LINE = __LINE__ + 3, CALL_INNER };
static inline __attribute__((always_inline)) void middle(void)
{
	HERE(in_middle);
	inner();
}

enum { OUTER_LINE = __LINE__ + 3, CALL_MIDDLE };
static __attribute__((noinline)) void outer(void)
{
	HERE(in_outer);
	middle();
	__asm__ volatile("");
}

static void is_frame(const struct source_frame *f, const char *function, uint32_t line)
{
	const char *slash = strrchr(f->file, '/');

	is_str(f->function, function, "the function");
	is_u64(f->line, line, "the line");
	is_str(slash ? slash + 1 : f->file, "test_source_lines.c", "the file");
}

static void test_frames(struct source_lines *l)
{
	struct source_frame f[SOURCE_FRAMES_MAX];
	uintptr_t base = (uintptr_t)__ehdr_start;

	memset(f, 0xff, sizeof(f));
	if (ok(source_lines_find(l, in_outer - base, f) == 1, "one function"))
		is_frame(&f[0], "outer", OUTER_LINE);
	memset(f, 0xff, sizeof(f));
	if (ok(source_lines_find(l, in_middle - base, f) == 2, "one inlined function")) {
		is_frame(&f[0], "middle", MIDDLE_LINE);
		is_frame(&f[1], "outer", CALL_MIDDLE);
	}
	memset(f, 0xff, sizeof(f));
	if (ok(source_lines_find(l, in_inner - base, f) == 3, "two inlined functions")) {
		is_frame(&f[0], "inner", INNER_LINE);
		is_frame(&f[1], "middle", CALL_INNER);
		is_frame(&f[2], "outer", CALL_MIDDLE);
	}
	is_u64(source_lines_find(l, 1, f), 0, "an address before all code");
	is_u64(source_lines_find(l, 1ULL << 40, f), 0, "an address behind all code");
}

int main(void)
{
	int self = open("/proc/self/exe", O_RDONLY), none = open("/dev/null", O_RDONLY);
	struct source_lines *l = NULL;
	struct libdw dw;

	if (!libdw_load(&dw)) {
		ok(true, "# SKIP libdw is not there: %s", libdw_lack());
		return tap_done();
	}
	outer();
	is_u64(-source_lines_open(&dw, none, &l), ENOENT, "a file that is no ELF file");
	is_u64(-source_lines_open(&dw, -1, &l), EBADF, "no file");
	ok(!l, "nothing was opened");
	if (ok(!source_lines_open(&dw, self, &l), "this program has debug information"))
		test_frames(l);
	source_lines_close(l);
	source_lines_close(NULL);
	close(self);
	close(none);
	return tap_done();
}
