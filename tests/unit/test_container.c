// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where binary fields of journal export end: a name, a line feed, eight bytes of length. Also
 * tests which boot messages are reports.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "triage/container.h"
#include "triage/triage.h"

#define NAME  "MESSAGE"
#define BEGIN (sizeof(NAME "\n") - 1 + 8) /* offset of the value */

/* Returns the size of a field that says to have `length` bytes, and has `bytes` and an end. */
static size_t size_of(uint64_t length, size_t bytes, const char *end)
{
	const struct container c = {.form = FORM_EXPORT};
	char data[512] = NAME "\n";

	for (int i = 0; i < 8; i++)
		data[BEGIN - 8 + i] = length >> 8 * i;
	memset(data + BEGIN, 'x', bytes);
	strcpy(data + BEGIN + bytes, end);
	return container_binary(&c, (struct str){data, BEGIN + bytes + strlen(end)});
}

static void test_sizes(void)
{
	is_u64(size_of(20, 20, "\n"), BEGIN + 21, "with the line feed behind it");
	is_u64(size_of(20, 20, ""), BEGIN + 20, "at the end of the data");
	is_u64(size_of(20, 20, "y"), BEGIN + 20, "with something else behind it");
	is_u64(size_of(0, 0, "\n"), BEGIN + 1, "an empty field");
	is_u64(size_of(0, 0, ""), BEGIN, "an empty field at the end");
	is_u64(size_of(21, 20, ""), 0, "one byte more than there is");
	is_u64(size_of(UINT64_MAX, 20, ""), 0, "a length without bounds");
	is_u64(size_of(256, 256, "\n"), BEGIN + 257, "a length of two bytes");
}

static void test_others(void)
{
	const struct container export = {.form = FORM_EXPORT}, plain = {};
	char data[] = NAME "\n\1\0\0\0\0\0\0\0x\n";

	is_u64(container_binary(&export, (struct str){data, sizeof(data) - 1}), BEGIN + 2,
	       "one byte");
	is_u64(container_binary(&plain, (struct str){data, sizeof(data) - 1}), 0, "another format");
	is_u64(container_binary(&export, (struct str){data, BEGIN - 1}), 0, "half a length");
	is_u64(container_binary(&export, (struct str){data + 7, sizeof(data) - 8}), 0, "no name");
	data[3] = '=';
	is_u64(container_binary(&export, (struct str){data, sizeof(data) - 1}), 0, "a text field");
}

#define BOOT "[    0.000000] Booting the kernel.\n"

/* A boot message shows that the kernel died if it had run for more than ten seconds before. */
static void test_boots(void)
{
	static const struct {
		const char *what, *log;
		size_t reports;
	} cases[] = {
		{"it ran for a second", "[    1.000000] a\n" BOOT, 0},
		{"for ten", "[   10.000000] a\n" BOOT, 0},
		{"for longer", "[   10.000001] a\n" BOOT, 1},
		{"and then shut down",
		 "[   99.000000] a\n[   99.500000] reboot: Restarting system\n" BOOT, 0},
	};
	struct triage t;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct triage_input in = {
			.name = "log", .data = cases[i].log, .size = strlen(cases[i].log)};

		if (triage_run(&t, &in, 1))
			abort();
		is_u64(t.seen.n, cases[i].reports, cases[i].what);
		triage_free(&t);
	}
}

int main(void)
{
	test_sizes();
	test_others();
	test_boots();
	return tap_done();
}
