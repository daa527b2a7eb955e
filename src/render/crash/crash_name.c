// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "render/crash/crash_view.h"

#define MANGLED_MAX 512

/*
 * Returns whether a symbol may be mangled by Rust: it begins with _R (the scheme of Rust 1.37) or
 * with _ZN.
 */
static bool is_mangled(struct str s)
{
	return str_starts(s, "_R") || str_starts(s, "_ZN");
}

void triage_name(struct buf *b, const struct triage_view *tv, struct str function)
{
	char name[MANGLED_MAX], plain[2 * MANGLED_MAX];
	struct triage_names *names = tv->names_of;
	int err;

	if (!function.n)
		return;
	if (!names || names->bomb || !is_mangled(function) || function.n >= sizeof(name)) {
		buf_add(b, function.s, function.n);
		return;
	}
	memcpy(name, function.s, function.n);
	name[function.n] = 0;
	err = names->decode(name, plain, sizeof(plain));
	names->bomb = err == -E2BIG;
	buf_puts(b, err ? name : plain);
}
