// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests each conversion of the patterns that match lines of the kernel log: what it takes, what it
 * does not match, and what it stores.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/match.h"

/* `want` has what the match stores; NULL: the pattern does not match. */
static const struct row {
	const char *pattern, *text, *want;
} rows[] = {
	{"", "", ""},
	{"", "a", ""},
	{"a", "", NULL},
	{"a", "ab", ""},
	{"ab", "a", NULL},
	{"%%a", "%a", ""},
	{"%%a", "a", NULL},

	{"at %A", "at 18", "address 0x18"},
	{"at %A", "at (null)", "address 0"},
	{"at %A", "at <NULL>", "address 0"},
	{"at %A", "at (nil)", "address 0"},
	{"at %A", "at   18", "address 0x18"},
	{"at %A", "at 18x", NULL},
	{"at %A", "at 18,", "address 0x18"},
	{"at %A", "at 18_", NULL},
	{"at %A", "at ", NULL},
	{"at %A.", "at 18.", NULL},
	{"%E", "0x9f", "error 0x9f"},
	{"%E", "x", NULL},
	{"%X-%X", "0x1-0x2", ""},
	{"%X", "", NULL},
	{"[%R-%R]", "[0x10-0x1f]", "range 0x10 0x1f"},
	{"[%R-%R]", "[0x10-]", NULL},

	{"pid %P", "pid 7", "pid 7"},
	{"pid %P", "pid x", NULL},
	{"CPU#%C", "CPU#3", "cpu 3"},
	{"CPU#%C", "CPU#", NULL},
	{"[#%N]", "[#2]", "number 2"},
	{"size %Z", "size 8", "size 8"},
	{"size %Z", "size -8", NULL},
	{"%D UE", "5 UE", ""},
	{"%D UE", "UE", NULL},

	{"in %F", "in f+0x1/0x2 [m]", "function f m"},
	{"in %F", "in f", "function f"},
	{"in %F", "in drivers/a.c:12", NULL},
	{"in %F", "in a.c:12", NULL},
	{"in %F", "in a.c: 12", "function a.c"},
	{"in %F", "in 12", NULL},
	{"%F / %G", "f / g+0x1/0x2", "function f, second g"},
	{"%F / %G", "f / 1", NULL},
	{"at %L %F", "at a.c:3 f", "function f, place a.c:3"},
	{"at %L", "at a.c:3!", "place a.c:3"},
	{"at %L", "at !", NULL},

	{"task %W/%P", "task a/b/7", "comm a/b, pid 7"},
	{"task %W:%P", "task a:b:7", "comm a:b, pid 7"},
	{"task %W/%P", "task a b/7", NULL},
	{"task %W/%P", "task /7", NULL},
	{"%S in", "a b in", "text a b"},
	{"%S in", " in", NULL},
	{"%S", "ab", "text a"},
	{"%S%$", "ab", "text ab"},
	{"%S%$", "", NULL},
	{"a%*b", "ab", ""},
	{"a%*b", "acb", ""},
	{"a%*b", "ac", NULL},
	{"a%*", "a", ""},
	{"%*%P", "pid 12", "pid 12"},
	{"%*bc", "abbc", ""},
	{"%*bc", "abb", NULL},

	{"a%$", "a", ""},
	{"a%$", "a  ", ""},
	{"a%$", "a b", NULL},
	{"a%_b", "ab", ""},
	{"a%_b", "a \tb", ""},
	{"a%_b", "acb", NULL},
	{"%!x", "BUG: x", ""},
	{"%!x", "[ INFO: x", ""},
	{"%!x", "WARNING: x", ""},
	{"%!x", "NOTE: x", NULL},
	{"%!x", "x", NULL},
};

static void write_captures(struct buf *b, const struct captures *c)
{
	if (c->has_address)
		buf_printf(b, ", address %#jx", (uintmax_t)c->address);
	if (c->has_error)
		buf_printf(b, ", error %#jx", (uintmax_t)c->error);
	if (c->ranges)
		buf_printf(b, ", range %#jx %#jx", (uintmax_t)c->range[0], (uintmax_t)c->range[1]);
	if (c->has_function)
		buf_printf(b, ", function %.*s%s%.*s", STR_ARG(c->function.function),
			   c->function.module.n ? " " : "", STR_ARG(c->function.module));
	if (c->has_second)
		buf_printf(b, ", second %.*s", STR_ARG(c->second.function));
	if (c->place.n)
		buf_printf(b, ", place %.*s", STR_ARG(c->place));
	if (c->comm.n)
		buf_printf(b, ", comm %.*s", STR_ARG(c->comm));
	if (c->text.n)
		buf_printf(b, ", text %.*s", STR_ARG(c->text));
	if (c->has_pid)
		buf_printf(b, ", pid %ju", (uintmax_t)c->pid);
	if (c->has_cpu)
		buf_printf(b, ", cpu %ju", (uintmax_t)c->cpu);
	if (c->has_number)
		buf_printf(b, ", number %ju", (uintmax_t)c->number);
	if (c->has_size)
		buf_printf(b, ", size %ju", (uintmax_t)c->size);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct captures c = {};
		struct buf b = {};
		char name[128];

		snprintf(name, sizeof(name), "\"%s\" of \"%s\"", rows[i].pattern, rows[i].text);
		buf_printf(&b, "  ");
		if (match(rows[i].pattern, str_of(rows[i].text), &c)) {
			b.len = 0;
			buf_printf(&b, "%s", "");
			write_captures(&b, &c);
			is_str(b.s + (b.len ? 2 : 0), rows[i].want, name);
		} else {
			is_str(NULL, rows[i].want, name);
		}
		buf_free(&b);
	}
	return tap_done();
}
