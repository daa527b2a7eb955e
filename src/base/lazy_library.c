// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/lazy_library.h"

#include <dlfcn.h>
#include <stddef.h>

const char *lazy_load(const char *library, const struct lazy_function *function)
{
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!loaded)
		return library;
	for (; function->name; function++) {
		*function->address = dlsym(loaded, function->name);
		if (!*function->address)
			return function->name;
	}
	return NULL;
}
