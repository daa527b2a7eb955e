// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lines/libdw.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define DOWNLOAD_SECONDS "20" /* maximum time for a file */

static bool load(void *library, const char *name, void *ret)
{
	void *function = library ? dlsym(library, name) : NULL;

	memcpy(ret, &function, sizeof(function));
	return function;
}

bool libdw_load(struct libdw *ret)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	*ret = (struct libdw){.library = library};
	return load(library, "dwarf_begin_elf", &ret->begin_elf) &&
	       load(library, "dwarf_end", &ret->end) &&
	       load(library, "dwarf_get_units", &ret->get_units) &&
	       load(library, "dwarf_ranges", &ret->ranges) &&
	       load(library, "dwarf_getsrc_die", &ret->getsrc_die) &&
	       load(library, "dwarf_linesrc", &ret->linesrc) &&
	       load(library, "dwarf_lineno", &ret->lineno) &&
	       load(library, "dwarf_getscopes", &ret->getscopes) &&
	       load(library, "dwarf_getscopes_die", &ret->getscopes_die) &&
	       load(library, "dwarf_tag", &ret->tag) &&
	       load(library, "dwarf_attr_integrate", &ret->attr_integrate) &&
	       load(library, "dwarf_formstring", &ret->formstring) &&
	       load(library, "dwarf_formudata", &ret->formudata) &&
	       load(library, "dwarf_getsrcfiles", &ret->getsrcfiles) &&
	       load(library, "dwarf_filesrc", &ret->filesrc);
}

bool libdebuginfod_load(struct libdebuginfod *ret)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	void *(*begin)(void);

	*ret = (struct libdebuginfod){.library = library};
	if (!load(library, "debuginfod_find_debuginfo", &ret->find_debuginfo) ||
	    !load(library, "debuginfod_begin", &begin))
		return false;
	/* the user's own limits take precedence over these */
	setenv("DEBUGINFOD_TIMEOUT", DOWNLOAD_SECONDS, 0);
	setenv("DEBUGINFOD_MAXTIME", DOWNLOAD_SECONDS, 0);
	ret->client = begin();
	return ret->client;
}

const char *libdw_lack(void)
{
	return "libdw is not installed (package libdw1 or elfutils-libs)";
}
