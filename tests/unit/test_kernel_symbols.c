// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which lines of a table like /proc/kallsyms are symbols. */
#include "base/buf.h"
#include "probe/kernel_symbols.h"
#include "tap.h"

static struct buf text;

static void take(void *ctx, const struct kernel_symbol *s)
{
	(void)ctx;
	buf_printf(&text, "%c %llx %.*s;", s->kind, (unsigned long long)kernel_symbol_address(s),
		   (int)s->len, s->name);
}

static const struct {
	const char *table, *want, *name;
} tables[] = {
	{"ffffffff81000010 T name\n", "T ffffffff81000010 name;", "a symbol"},
	{"1 d a\n2 b bb\n", "d 1 a;b 2 bb;", "two symbols, with short names"},
	{"1 d a\n2 b bb", "d 1 a;", "a line without an end is none"},
	{"1 d \n2 b bb\n", "b 2 bb;", "a line without a name"},
	{"1 d\n2 b bb\n", "b 2 bb;", "nor space"},
	{"1\n\n2 b bb\n", "b 2 bb;", "a line without spaces, and an empty one"},
	{"1 dd a\n2 b bb\n", "b 2 bb;", "a kind of two letters"},
	{"ffffffffc0000000 t f\t[lab]\n", "t ffffffffc0000000 f\t[lab];", "a symbol of a module"},
	{"0000000000000000 T f\n", "T 0 f;", "a hidden address"},
	{"", "", "an empty table"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		kernel_symbols_each(tables[i].table, strlen(tables[i].table), take, NULL);
		is_str(text.s ? text.s : "", tables[i].want, tables[i].name);
		buf_free(&text);
	}
	return tap_done();
}
