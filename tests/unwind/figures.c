// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: prints sizes of unwind tables. `figures FILE...` prints one line per file, and the
 * sum. `figures -r FILE` prints the rows of the file: address, cfa, cfa_off, fp, fp_off.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "unwind/table_maker.h"

static double milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double percent(__u64 part, __u64 whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static int print_rows(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct byte_source file = {.fd = fd};
	struct unwind_table t;
	struct rule_set rules;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || rule_set_init(&rules))
		return 1;
	file.bytes = st.st_size;
	if (unwind_table_read(&file, &rules, &t))
		return 1;
	for (size_t i = 0; i < t.rows.pages; i++) {
		const struct fs_unwind_page *p = &t.rows.page[i];

		for (__u32 j = p->first; j < p->first + p->rows; j++) {
			const struct fs_unwind_rule *r = &rules.rule[t.rows.row[j].rule];

			printf("%llx %d %d %d %d\n",
			       t.rows.base + i * FS_UNWIND_PAGE_BYTES + t.rows.row[j].pc, r->cfa,
			       r->cfa_off, r->fp, r->fp_off);
		}
	}
	unwind_table_free(&t);
	rule_set_free(&rules);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	__u64 text = 0, rows = 0, fdes = 0, bytes = 0;
	struct rule_set rules;
	int files = 0, failed = 0;
	double all = 0;

	elf_version(EV_CURRENT);
	if (argc == 3 && !strcmp(argv[1], "-r"))
		return print_rows(argv[2]);
	if (rule_set_init(&rules))
		return 1;
	printf("%-40s %9s %8s %9s %8s %7s %7s %7s %6s %7s %s\n", "file", "text KiB", "FDEs", "rows",
	       "KiB", "covered", "framed", "opaque", "gaps", "ms", "dropped");
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC), err;
		struct byte_source file = {.fd = fd};
		struct unwind_table t;
		double begin = milliseconds(), took;
		struct stat st;

		if (fd < 0 || fstat(fd, &st)) {
			failed++;
			continue;
		}
		file.bytes = st.st_size;
		err = unwind_table_read(&file, &rules, &t);
		close(fd);
		took = milliseconds() - begin;
		if (err) {
			printf("%-40s %s\n", strrchr(argv[i], '/') + 1, strerror(-err));
			failed++;
			continue;
		}
		printf("%-40s %9llu %8zu %9zu %8zu %7.2f %7.2f %7.3f %6s %7.1f %zu%s\n",
		       strrchr(argv[i], '/') + 1, t.text_bytes >> 10, t.fdes, t.rows.rows,
		       row_table_bytes(&t.rows) >> 10, percent(t.covered_bytes, t.text_bytes),
		       percent(t.framed_bytes, t.covered_bytes),
		       percent(t.opaque_bytes, t.covered_bytes),
		       t.gap_rule == FS_UNWIND_RULE_CHAIN ? "chain" : "end", took, t.dropped,
		       t.cut ? " cut" : "");
		files++;
		text += t.text_bytes;
		rows += t.rows.rows;
		fdes += t.fdes;
		bytes += row_table_bytes(&t.rows);
		all += took;
		unwind_table_free(&t);
	}
	printf("%d files, %d not: text %llu KiB, %llu FDEs, %llu rows, %llu KiB, %zu rules, "
	       "%.1f ms\n",
	       files, failed, text >> 10, fdes, rows, bytes >> 10, rules.n, all);
	rule_set_free(&rules);
	return 0;
}
