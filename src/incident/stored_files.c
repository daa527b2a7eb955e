// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "incident/stored_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/io.h"
#include "render/utc.h"

#define SUFFIX	   ".fsr"
#define NAMES_MOST 100000 /* maximum number of files that are listed */

int stored_directory_make(const char *dir)
{
	char parent[PATH_MAX];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", dir);
	slash = strrchr(parent, '/');
	if (slash && slash != parent) {
		*slash = 0;
		if (mkdir(parent, 0755) && errno != EEXIST)
			return -errno;
	}
	return mkdir(dir, 0700) && errno != EEXIST ? -errno : 0;
}

void stored_name(uint64_t wall_ns, const char *what, char ret[STORED_NAME_BYTES])
{
	struct number_text when = as_utc_ms(wall_ns);
	char plain[sizeof(when.s)];
	size_t n = 0;

	for (const char *c = when.s; *c; c++)
		if (*c != '-' && *c != ':')
			plain[n++] = *c;
	plain[n] = 0;
	snprintf(ret, STORED_NAME_BYTES, "%s-%.16s" SUFFIX, plain, what);
}

static int is_newer(const void *a, const void *b)
{
	return strcmp(b, a);
}

/* Returns whether a file name is that of a store. */
static bool is_of_store(const char *name)
{
	size_t len = strlen(name);

	return len < STORED_NAME_BYTES && name[0] >= '0' && name[0] <= '9' && strchr(name, 'T') &&
	       len > strlen(SUFFIX) && !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

int stored_names_read(const char *dir, struct stored_names *ret)
{
	DIR *d = opendir(dir);
	struct dirent *de;
	int err = 0;

	memset(ret, 0, sizeof(*ret));
	if (!d)
		return -errno;
	while (!err && (de = io_next_entry(d, &err))) {
		void *more;

		if (!is_of_store(de->d_name))
			continue;
		more = array_grow(ret->name, ret->n, &ret->room, NAMES_MOST, sizeof(*ret->name));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		ret->name = more;
		strcpy(ret->name[ret->n++], de->d_name);
	}
	closedir(d);
	if (ret->n)
		qsort(ret->name, ret->n, sizeof(*ret->name), is_newer);
	return err;
}

void stored_names_free(struct stored_names *names)
{
	free(names->name);
	*names = (struct stored_names){};
}
