// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces libdw.c in the static program, which cannot load libraries. */
#include "lines/libdw.h"

bool libdw_load(struct libdw *ret)
{
	return false;
}

bool libdebuginfod_load(struct libdebuginfod *ret)
{
	return false;
}

const char *libdw_lack(void)
{
	return "the static program cannot load libdw";
}
