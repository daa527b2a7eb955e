// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what the programs of the flight recorder are told about the machine: where the kernel's
 * code is, and whether it has SMAP. The files in /proc are those of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "made_precursors.h"
#include "open_files.h"
#include "tap.h"

#define SMAP "flags\t\t: fpu smep smap\n"

static const char *symbols, *cpu; /* texts of files; NULL: there is no such file */

FILE *fopen(const char *path, const char *mode)
{
	const char *text = !strcmp(path, "/proc/kallsyms")  ? symbols
			   : !strcmp(path, "/proc/cpuinfo") ? cpu
							    : NULL;
	int fd;

	errno = ENOENT;
	if (!text)
		return NULL;
	fd = memfd_create("text", MFD_CLOEXEC);
	if (write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET))
		abort();
	return fdopen(fd, mode);
}

/* Loads the programs. Their settings are in `config` afterwards. */
static void load(void)
{
	char error[1024] = "";
	struct precursors *p = NULL;
	size_t before;

	made_begin();
	before = open_fds();
	if (!ok(!precursors_open(&p, NULL, error, sizeof(error)), "they are loaded: %s", error))
		abort();
	is_u64(open_fds(), before, "no file stays open");
	precursors_close(p);
}

static void test_code(void)
{
	static const struct {
		const char *symbols;
		uint64_t start, end;
		const char *name;
	} rows[] = {
		{NULL, 0, 0, "no table"},
		{"", 0, 0, "an empty one"},
		{"1000 T _text\n9000 T _etext\n", 0x1000, 0x9000, "the kernel's code"},
		{"1000 T _stext\n9000 T _etext\n", 0x1000, 0x9000, "without a head"},
		{"1000 T _text\n2000 T _stext\n9000 T _etext\n", 0x1000, 0x9000, "with both"},
		{"1000 T _stext\n2000 T _text\n9000 T _etext\n", 0x1000, 0x9000,
		 "the first one counts"},
		{"9000 T _etext\n1000 T _text\n", 0x1000, 0x9000, "in any order"},
		{"1000 T _text\n9000 T _etext\na000 T _etext\n", 0x1000, 0x9000,
		 "names of modules follow"},
		{"1000 T _texts\n9000 T x_etext\n", 0, 0, "other names"},
		{"1000 T\n1001 T _text\nx y z\n9000 T _etext\n", 0x1001, 0x9000,
		 "lines that are no symbols"},
		{"0 T _text\n0 T _etext\n", 0, 0, "addresses that are hidden"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		symbols = rows[i].symbols;
		load();
		ok(config.text_start == rows[i].start && config.text_end == rows[i].end,
		   "%s: %llx to %llx", rows[i].name, (unsigned long long)config.text_start,
		   (unsigned long long)config.text_end);
	}
}

static void test_smap(void)
{
	cpu = SMAP;
	load();
	is_u64(config.smap, 1, "a CPU with SMAP");
	cpu = "flags\t\t: fpu smep\n";
	load();
	is_u64(config.smap, 0, "one without");
	cpu = NULL;
	load();
	is_u64(config.smap, 0, "one that is not known");
}

int main(void)
{
	test_code();
	test_smap();
	return tap_done();
}
