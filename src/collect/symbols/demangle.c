// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/demangle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <libiberty/demangle.h>

struct text {
	char *s;
	size_t size;
	size_t len; /* length of the whole text, of which `size` bytes are stored */
	jmp_buf enough;
};

/* Stores a part of the demangled name. Only longjmp() can stop the demangler early. */
static void take(const char *s, size_t len, void *ctx)
{
	struct text *t = ctx;

	if (t->len < t->size) {
		size_t room = t->size - t->len;

		memcpy(t->s + t->len, s, len < room ? len : room);
	}
	t->len += len;
	if (t->len > DEMANGLE_TEXT_BYTES)
		longjmp(t->enough, 1);
}

/* Old Rust names look like C++ names: try Rust first. */
static bool demangle_into(const char *name, struct text *t)
{
	if (rust_demangle_callback(name, DMGL_NO_OPTS, take, t))
		return true;
	t->len = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take, t);
}

int demangle(const char *name, char *ret, size_t size)
{
	char s[size];
	struct text t = {.s = s, .size = size - 1};
	volatile int err = -EINVAL;

	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return -EINVAL;
	if (setjmp(t.enough))
		return -E2BIG;
	if (demangle_into(name, &t)) {
		size_t len = t.len < t.size ? t.len : t.size;

		memcpy(ret, s, len);
		ret[len] = 0;
		err = 0;
	}
	return err;
}
