// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests names of kernel addresses from a /proc/kallsyms that this test makes. */
#include <stdlib.h>
#include <string.h>

#include "collect/symbols/symbols.h"
#include "tap.h"

#define BASE 0xffffffff81000000ULL
#define MANY (16ULL << 20) /* bytes behind the last function that may be its code */

static const char *kallsyms; /* NULL: there is no such file */
static unsigned int opened;

FILE *fopen(const char *path, const char *mode)
{
	if (!kallsyms || strcmp(path, "/proc/kallsyms") || mode[0] != 'r')
		return NULL;
	opened++;
	return fmemopen((void *)kallsyms, strlen(kallsyms), "r");
}

static void begin(struct symbols *s, const char *text)
{
	kallsyms = text;
	opened = 0;
	symbols_open(s);
}

static const char text[] = "ffffffff81000000 D data_first\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81002000 t second\n"
			   "ffffffff81002000 T alias_of_second\n"
			   "ffffffff81001000 T first_function\n"
			   "ffffffff81001800 d data\n"
			   "ffffffffc0000000 t of_module\t[nf_tables]\n"
			   "damaged line\n"
			   "ffffffff81003000 t "
			   "a_name_that_is_longer_than_what_a_record_has_room_for_at_its_end\n";

static void test_names(void)
{
	static const struct {
		uint64_t ip;
		bool found;
		const char *symbol, *module, *name;
	} rows[] = {
		{BASE, true, "_stext+0x0", "", "the first function"},
		{BASE - 1, false, "", "", "below it"},
		{BASE + 0xfff, true, "_stext+0xfff", "", "its last byte"},
		{BASE + 0x1000, true, "first_function+0x0", "", "functions need not be sorted"},
		{BASE + 0x1801, true, "first_function+0x801", "", "data has no code"},
		{BASE + 0x2010, true, "second+0x10", "", "the first of two names"},
		{BASE + 0x3001, true, "a_name_that_is_longer_than_what_a_record_has+0x1", "",
		 "a long name is cut, its offset is not"},
		{0xffffffffc0000123, true, "of_module+0x123", "nf_tables", "a module"},
		{0xffffffffc0000000 + MANY - 1, true, "of_module+0xffffff", "nf_tables",
		 "far behind the last function"},
		{0xffffffffc0000000 + MANY, false, "", "", "too far"},
		{0, false, "", "", "no address"},
	};
	struct symbols s;

	begin(&s, text);
	ok(s.f != NULL, "names are available");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct symbol_record r = {};
		bool found = symbols_find(&s, rows[i].ip, &r);

		ok(found == rows[i].found, "%s", rows[i].name);
		if (!found)
			continue;
		is_str(r.symbol, rows[i].symbol, "its name");
		is_str(r.module, rows[i].module, "its module");
	}
	is_u64(opened, 1, "the file is opened once, with the privileges of the start");
	symbols_close(&s);
	ok(!s.f, "closed");
	symbols_close(&s);
	ok(!symbols_find(&s, BASE, &(struct symbol_record){}), "then nothing is found");
}

static void test_hidden(void)
{
	static const struct {
		const char *text;
		bool available;
		const char *name;
	} rows[] = {
		{NULL, false, "no file"},
		{"0000000000000000 T _stext\n0000000000000000 t b\n", false,
		 "addresses are hidden"},
		{"0000000000000000 T _stext\n0000000000000001 t b\n", true, "one is not"},
		{"0000000000000001 D data\n", false, "no functions"},
		{"damaged\n", false, "a damaged file"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct symbols s = {};
		struct symbol_record r = {};

		begin(&s, rows[i].text);
		ok(symbols_find(&s, 1, &r) == rows[i].available, "%s", rows[i].name);
		ok(i > 2 || (s.f != NULL) == rows[i].available, "whether the file stays open");
		symbols_close(&s);
	}
}

int main(void)
{
	test_names();
	test_hidden();
	return tap_done();
}
