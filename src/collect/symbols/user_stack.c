// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/user_stack.h"

#include <stdio.h>
#include <string.h>

static const char *const entries[] = {
#define ENTRY(name) name,
#include "collect/symbols/user_stack.def"
#undef ENTRY
};

static bool is_libc(const char *module)
{
	return !strncmp(module, "libc.so.", 8) || !strncmp(module, "libc-", 5) ||
	       !strncmp(module, "libpthread", 10) || !strncmp(module, "ld-musl-", 8);
}

bool user_stack_may_be_short(const struct user_symbol *frame, size_t n, size_t most)
{
	const struct user_symbol *last = frame + n - 1;

	if (!n || n >= most)
		return true;
	if (last->name[0]) {
		for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
			if (!strcmp(last->name, entries[i]))
				return false;
		return true;
	}
	/*
	 * glibc exports neither start_thread nor __libc_start_call_main. In a stripped glibc, a
	 * frame without a name that calls into another file is most likely one of these functions.
	 */
	return n < 2 || !is_libc(last->module) || !strcmp(last->module, last[-1].module) ||
	       !last[-1].module[0];
}

void user_symbol_text(const struct user_symbol *s, char *ret, size_t size)
{
	if (s->name[0])
		snprintf(ret, size, "%s", s->name);
	else if (s->module[0])
		snprintf(ret, size, "%s+0x%llx", s->module, s->address);
	else
		snprintf(ret, size, "[unknown]");
}
