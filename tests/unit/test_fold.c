// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that names which differ only in numbers or random characters are folded to one name. */
#include <stdlib.h>

#include "base/fold.h"
#include "tap.h"

static void test_names(void)
{
	static const struct {
		const char *name, *folded;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"/dev/shm/torch_2653_91_7", "/dev/shm/torch_#"},
		{"/dev/shm/torch_2653_913_7 (deleted)", "/dev/shm/torch_# (deleted)"},
		{"/tmp/x-3f9ac1d2.db", "/tmp/x-#.db"},
		{"/tmp/tmp.aB3xZ9qK", "/tmp/tmp.#"},
		{"segment-000123.log", "segment-#.log"},
		{"12345", "#"},
		{"1-2-3", "#"},
		{"10:20:30", "#"},
		{"10.4.0.9", "#"},
		{"log.12345", "log.#"},
		{"/proc/4711/fd/9", "/proc/#/fd/#"},
		{"/usr/lib/libc.so.6", "/usr/lib/libc.so.6"},
		{"/usr/bin/python3.11", "/usr/bin/python3.11"},
		{"libssl.so.1.1", "libssl.so.1.1"},
		{"anon_inode:[eventfd]", "anon_inode:[eventfd]"},
		{"deadbeef", "deadbeef"}, /* hex digits, but also a word */
		{"deadbeef01", "#"},
		{"x86", "x86"},
		{"/usr/lib/x86_64-linux-gnu/libQt5Core.so.5.15.8",
		 "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5.15.8"},
		{"libnetty_x86_641234567890.so", "libnetty_x86_#.so"},
		{"x86_648", "x86_#"},
		{"utf8", "utf8"},
		{"\x01\xff\n1", "\x01\xff\n#"},
	};
	char folded[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		name_fold(rows[i].name, folded, sizeof(folded));
		if (!ok(!strcmp(folded, rows[i].folded), "name %zu", i))
			printf("#   got \"%s\", want \"%s\"\n", folded, rows[i].folded);
	}
}

/* Tests that a truncated result ends with a NUL, and that no byte after the NUL is changed. */
static void test_cut(void)
{
	static const char *const names[] = {"/dev/shm/torch_2653_91_7 (deleted)", "1-2-3-4-5-6",
					    "plainplainplain", "a1b2c3d4e5f6"};
	bool good = true;
	char b[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t size = 0; size < 40; size++) {
			memset(b, '~', sizeof(b));
			name_fold(names[i], b, size);
			good &= b[size] == '~' && (!size || strnlen(b, size) < size);
		}
	ok(good, "cut to any size");
}

static void test_random(void)
{
	bool good = true;
	unsigned int seed = 7;
	char name[80], once[80], twice[80];

	for (int i = 0; i < 100000; i++) {
		size_t n = rand_r(&seed) % (sizeof(name) - 1);

		for (size_t k = 0; k < n; k++)
			name[k] = 1 + rand_r(&seed) % 255;
		name[n] = 0;
		name_fold(name, once, sizeof(once));
		name_fold(once, twice, sizeof(twice));
		good &= strlen(once) <= n && !strcmp(once, twice);
	}
	ok(good, "random bytes: never longer, and folded again the same");
}

int main(void)
{
	test_names();
	test_cut();
	test_random();
	return tap_done();
}
