// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library for LD_PRELOAD: opendir("/proc") fails with EMFILE. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

DIR *opendir(const char *name)
{
	DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");

	if (strcmp(name, "/proc"))
		return real(name);
	errno = EMFILE;
	return NULL;
}
