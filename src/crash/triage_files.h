/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads and decompresses logs: files, directories, standard input, the kernel, the journal. */
#ifndef FS_CRASH_TRIAGE_FILES_H
#define FS_CRASH_TRIAGE_FILES_H

#include <stddef.h>

#include "base/buf.h"
#include "blackbox/scan.h"
#include "triage/lines.h"

struct triage_files {
	struct triage_input input[TRIAGE_INPUTS_MAX];
	const char *name[TRIAGE_INPUTS_MAX];
	size_t n;
	size_t left_out; /* number of files that were not read because of the maximum */
	char error[512]; /* text of the last error */
	bool dump;	 /* true: a file was a memory dump, not a log */
	struct bb_found dumped; /* records of the flight recorder in memory dumps */
	struct buf gaps; /* list of input that was not read (render/completeness.h) */
};

/* Adds a file, "-", or a directory recursively. Returns 0, or -errno with `error` set. */
int triage_files_add(struct triage_files *f, const char *path);

/* Adds the kernel messages of the journal. Returns 0, or -errno with `error` set. */
int triage_files_add_journal(struct triage_files *f);

/* Frees all files that were read, and the gaps. */
void triage_files_free(struct triage_files *f);

#endif
