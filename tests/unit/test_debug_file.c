// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests where the debug file of an ELF file is searched, in which order, and which file is used.
 * Opening and reading files is replaced: the test says which files exist and fit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/files/target_file.h"
#include "collect/symbols/debug_file.h"
#include "open_files.h"
#include "tap.h"

#define OURS 500 /* root directories, which are only passed on */
#define ITS  501

static char tried[1024];
static const char *exists; /* the path that exists, after the letter of its root; NULL: none */
static bool fits;	   /* the file is the debug file of the ELF file */
static int given;	   /* descriptor that was given away; -1: none */

int target_path_open(int root, const char *path, struct stat *ret)
{
	char one[512];
	size_t len = strlen(tried);

	(void)ret;
	snprintf(one, sizeof(one), "%s%s", root == OURS ? "o" : root == ITS ? "i" : "?", path);
	snprintf(tried + len, sizeof(tried) - len, "%s%s", len ? " " : "", one);
	return exists && !strcmp(one, exists) ? open("/", O_RDONLY | O_CLOEXEC) : -ENOENT;
}

int elf_symbols_add_debug(struct elf_symbols *s, int fd)
{
	(void)s;
	if (!fits)
		return -EINVAL;
	given = fd;
	return 0;
}

#define BY_ID	  "/usr/lib/debug/.build-id/01/ab00ff.debug"
#define TWO_BYTES "/usr/lib/debug/.build-id/01/ab.debug"
#define IDS	  "o" BY_ID " i" BY_ID
#define LINKS	  "i/lib/x/y.debug i/lib/x/.debug/y.debug i/usr/lib/debug/lib/x/y.debug"

static const struct {
	unsigned int id_bytes;
	const char *link, *path;
	int ours, its;
	const char *exists;
	bool fits, found;
	const char *tried, *name;
} rows[] = {
	{4, "", "/lib/x/y.so", OURS, ITS, "o" BY_ID, true, true, "o" BY_ID, "our own debug file"},
	{4, "", "/lib/x/y.so", OURS, ITS, "i" BY_ID, true, true, IDS, "that of the process"},
	{4, "", "/lib/x/y.so", OURS, ITS, NULL, true, false, IDS, "no file and no link"},
	{4, "y.debug", "/lib/x/y.so", OURS, ITS, NULL, true, false, IDS " " LINKS,
	 "no file at all"},
	{4, "y.debug", "/lib/x/y.so", OURS, ITS, "o" BY_ID, false, false, IDS " " LINKS,
	 "a file that does not fit"},
	{4, "y.debug", "/lib/x/y.so", OURS, ITS, "i/lib/x/y.debug", true, true,
	 IDS " i/lib/x/y.debug", "a file in the same directory"},
	{4, "y.debug", "/lib/x/y.so", OURS, ITS, "i/lib/x/.debug/y.debug", true, true,
	 IDS " i/lib/x/y.debug i/lib/x/.debug/y.debug", "a file in a subdirectory"},
	{0, "y.debug", "/lib/x/y.so", OURS, ITS, "i/usr/lib/debug/lib/x/y.debug", true, true, LINKS,
	 "a file in the directory of debug files, without a build-id"},
	{1, "", "/lib/x/y.so", OURS, ITS, NULL, true, false, "", "a build-id of one byte"},
	{2, "", "/lib/x/y.so", OURS, -1, "o" TWO_BYTES, true, true, "o" TWO_BYTES,
	 "a build-id of two bytes"},
	{2, "y.debug", "/lib/x/y.so", -1, -1, NULL, true, false, "", "no root directory"},
	{2, "", "/lib/x/y.so", -1, ITS, NULL, true, false, "i" TWO_BYTES,
	 "only that of the process"},
	{0, "y.debug", "y.so", OURS, ITS, NULL, true, false, "", "a path without a directory"},
	{0, "y.debug", "/y.so", OURS, ITS, NULL, true, false,
	 "i/y.debug i/.debug/y.debug i/usr/lib/debug/y.debug", "a file in the root directory"},
};

static void test_places(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		static struct elf_symbols s;
		size_t before = open_fds();
		bool found;

		memset(&s, 0, sizeof(s));
		memcpy(s.h.build_id, "\x01\xab\x00\xff", 4);
		s.h.build_id_bytes = rows[i].id_bytes;
		strcpy(s.h.debuglink, rows[i].link);
		tried[0] = 0;
		exists = rows[i].exists;
		fits = rows[i].fits;
		given = -1;
		found = debug_file_find(&s, rows[i].path, rows[i].ours, rows[i].its);
		is_u64(found, rows[i].found, rows[i].name);
		is_str(tried, rows[i].tried, "the files that were tried");
		is_u64(given >= 0, found, "the file is passed on");
		is_u64(open_fds(), before + found, "no other file is open");
		if (given >= 0)
			close(given);
	}
}

/* A path that is too long for a debug file is not tried. */
static void test_long_paths(void)
{
	static struct elf_symbols s;
	char path[4200];

	memset(path, 'd', sizeof(path));
	path[0] = '/';
	strcpy(s.h.debuglink, "y");
	for (int more = 0; more < 2; more++) {
		/* with /y and a NUL, the path has 4096 bytes */
		strcpy(path + 4093 + more, "/x");
		tried[0] = 0;
		exists = NULL;
		ok(!debug_file_find(&s, path, OURS, ITS), "a long path");
		ok(!tried[0] == (more == 1), "is tried if it fits");
		memset(path + 4093, 'd', 16);
	}
}

int main(void)
{
	test_places();
	test_long_paths();
	return tap_done();
}
