// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library for LD_PRELOAD: opendir() and fdopendir() fail for /proc, with EMFILE. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

DIR *opendir(const char *name)
{
	DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");

	if (strcmp(name, "/proc"))
		return real(name);
	errno = EMFILE;
	return NULL;
}

DIR *fdopendir(int fd)
{
	DIR *(*real)(int) = dlsym(RTLD_NEXT, "fdopendir");
	char link[64], path[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) < 0 || strcmp(path, "/proc"))
		return real(fd);
	errno = EMFILE;
	return NULL;
}
