// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces json_library.c in static builds, which are linked with the library. */
#include "mcp/json_library.h"

#include <stddef.h>

const char *json_library_load(void)
{
	return NULL;
}
