// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces web_libraries.c in static builds and unit tests, which are linked with the libraries. */
#include "serve/web_libraries.h"

#include <stddef.h>

const char *web_libraries_load(void)
{
	return NULL;
}

const char *config_libraries_load(void)
{
	return NULL;
}
