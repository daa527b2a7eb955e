/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints results in the Test Anything Protocol. main() ends with `return tap_done();`. */
#ifndef FS_TESTS_TAP_H
#define FS_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int tap_count, tap_failed;

/*
 * Tests run without standard input, so that a file may have the descriptor 0: only negative numbers
 * mean that there is none. A test that needs standard input defines TAP_KEEPS_INPUT.
 */
#ifndef TAP_KEEPS_INPUT
static void __attribute__((constructor)) tap_close_input(void)
{
	close(STDIN_FILENO);
}
#endif

static inline bool tap_result(bool good, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static inline bool tap_result(bool good, const char *file, int line, const char *format, ...)
{
	va_list ap;

	tap_count++;
	printf("%sok %d - ", good ? "" : "not ", tap_count);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("#   at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

static inline void tap_u64(uint64_t got, uint64_t want, const char *file, int line,
			   const char *name)
{
	if (!tap_result(got == want, file, line, "%s", name))
		printf("#   got %" PRIu64 ", want %" PRIu64 "\n", got, want);
}

static inline void tap_str(const char *got, const char *want, const char *file, int line,
			   const char *name)
{
	bool good = got && want ? !strcmp(got, want) : got == want;

	if (!tap_result(good, file, line, "%s", name))
		printf("#   got \"%s\", want \"%s\"\n", got ? got : "(null)",
		       want ? want : "(null)");
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed || !tap_count;
}

/* Each macro prints the result of one check and a description of the check. */
#define ok(good, ...)		tap_result(good, __FILE__, __LINE__, __VA_ARGS__)
#define is_u64(got, want, name) tap_u64(got, want, __FILE__, __LINE__, name)
#define is_str(got, want, name) tap_str(got, want, __FILE__, __LINE__, name)

#endif
