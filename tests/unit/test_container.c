// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the sizes of binary fields in the export format of the journal. Such a field is a name, a
 * line feed, eight bytes with the length of the value, and the value.
 */
#include <string.h>

#include "tap.h"
#include "triage/container.h"

#define NAME  "MESSAGE"
#define BEGIN (sizeof(NAME "\n") - 1 + 8) /* offset of the value */

/* Returns the size of a field whose length is given as `length`, with `bytes` bytes and `end`. */
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

int main(void)
{
	test_sizes();
	test_others();
	return tap_done();
}
