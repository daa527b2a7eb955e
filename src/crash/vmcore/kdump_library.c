// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "crash/vmcore/kdump_library.h"

#include <stddef.h>

#include "base/lazy_library.h"

/* clang-format off */
#define KDUMP_FUNCTIONS(X) \
	X(kdump_bmp_find_clear) X(kdump_bmp_find_set) X(kdump_get_attr) X(kdump_get_typed_attr) \
	X(kdump_new) X(kdump_open_fdset) X(kdump_read) X(kdump_set_attr)
/* clang-format on */

LAZY_FUNCTIONS(KDUMP_FUNCTIONS)

static const struct lazy_function functions[] = {KDUMP_FUNCTIONS(LAZY_ROW){}};

const char *kdump_library_load(void)
{
	return lazy_load(SONAME_KDUMPFILE, functions);
}
