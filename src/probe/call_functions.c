// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/call_functions.h"

#include <stdbool.h>
#include <string.h>

#include "probe/calls.h"
#include "probe/kernel_symbols.h"

/* The beginnings of the functions' names. A longer one comes before its own beginning. */
static const struct {
	const char *text;
	bool compat; /* functions of 32-bit programs */
} prefixes[] = {
#ifdef __x86_64__
	{"__x64_sys_", false},
	{"__ia32_compat_sys_ia32_", true},
	{"__ia32_compat_sys_", true},
	{"__ia32_sys_ia32_", true},
	{"__ia32_sys_", true},
#elif defined(__aarch64__)
	{"__arm64_sys_", false},
#endif
};

static bool is_row(const struct call_row *rows, unsigned int n, const char *name, size_t len)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strncmp(rows[i].name, name, len) && !rows[i].name[len])
			return rows[i].call != CALL_WRITE;
	return false;
}

static bool is_function(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i].text);

		if (len > n && !strncmp(prefixes[i].text, name, n))
			return prefixes[i].compat ? is_row(compat_call_rows, nr_compat_call_rows,
							   name + n, len - n)
						  : is_row(call_rows, nr_call_rows, name + n,
							   len - n);
	}
	return false;
}

/*
 * Adds a function. The function of a call without arguments has one name for each kind of program,
 * but it must be traced once.
 */
static void add(struct call_functions *f, const char *name, size_t len, __u64 address)
{
	f->hidden += !address;
	if (!address || len >= CALL_FUNCTION_NAME || f->nr == CALL_FUNCTIONS_MAX)
		return;
	for (size_t i = 0; i < f->nr; i++)
		if (f->address[i] == address)
			return;
	memcpy(f->name[f->nr], name, len);
	f->name[f->nr][len] = '\0';
	f->address[f->nr++] = address;
}

/* Modules have no system calls. */
static void take_symbol(void *ctx, const struct kernel_symbol *s)
{
	if (strchr("tTW", s->kind) && s->name[0] == '_' && s->name[1] == '_' &&
	    is_function(s->name, s->len))
		add(ctx, s->name, s->len, kernel_symbol_address(s));
}

void call_functions_parse(const char *table, size_t size, struct call_functions *ret)
{
	memset(ret, 0, sizeof(*ret));
	kernel_symbols_each(table, size, take_symbol, ret);
}
