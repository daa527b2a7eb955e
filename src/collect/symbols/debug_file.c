// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/files/target_file.h"

#define DEBUG_PLACE "/usr/lib/debug"

static bool try_path(struct elf_symbols *s, int root, const char *path)
{
	struct stat st;
	int fd = root < 0 ? -1 : target_path_open(root, path, &st);

	if (fd < 0)
		return false;
	if (!elf_symbols_add_debug(s, fd))
		return true;
	close(fd);
	return false;
}

/* Tries the debug file for a build-id: DEBUG_PLACE/.build-id/01/2345….debug */
static bool find_by_id(struct elf_symbols *s, int our_root, int its_root)
{
	char path[sizeof(DEBUG_PLACE "/.build-id//.debug") + 2 * BUILD_ID_BYTES];
	int len = snprintf(path, sizeof(path), DEBUG_PLACE "/.build-id/");

	if (s->h.build_id_bytes < 2)
		return false;
	for (__u32 i = 0; i < s->h.build_id_bytes; i++)
		len += snprintf(path + len, sizeof(path) - len, "%02x%s", s->h.build_id[i],
				i ? "" : "/");
	snprintf(path + len, sizeof(path) - len, ".debug");
	return try_path(s, our_root, path) || try_path(s, its_root, path);
}

/*
 * Tries the file that .gnu_debuglink names: in the directory of `path`, in its subdirectory .debug,
 * and in the same directory below DEBUG_PLACE.
 */
static bool find_by_link(struct elf_symbols *s, const char *path, int root)
{
	static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {DEBUG_PLACE, ""}};
	const char *slash = strrchr(path, '/');
	char other[PATH_MAX];

	if (!s->h.debuglink[0] || !slash)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int len = snprintf(other, sizeof(other), "%s%.*s%s/%s", places[i][0],
				   (int)(slash - path), path, places[i][1], s->h.debuglink);

		if (len < (int)sizeof(other) && try_path(s, root, other))
			return true;
	}
	return false;
}

bool debug_file_find(struct elf_symbols *s, const char *path, int our_root, int its_root)
{
	return find_by_id(s, our_root, its_root) || find_by_link(s, path, its_root);
}
