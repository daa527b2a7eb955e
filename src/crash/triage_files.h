/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Logs from files, directories, standard input, the kernel and the journal, unpacked. */
#ifndef FS_CRASH_TRIAGE_FILES_H
#define FS_CRASH_TRIAGE_FILES_H

#include <stddef.h>

#include "base/buf.h"
#include "triage/lines.h"

struct triage_files {
	struct triage_input input[TRIAGE_INPUTS_MAX];
	const char *name[TRIAGE_INPUTS_MAX];
	size_t n;
	size_t left_out; /* files beyond the most */
	char error[512]; /* of the last failure */
	bool dump;	 /* it was that a file is a dump of memory, and no log */
	struct buf gaps; /* what of them was not read: render/completeness.h */
};

/* A file, "-", or a directory with all below it. Returns 0 or -errno with `error`. */
int triage_files_add(struct triage_files *f, const char *path);

/* The kernel's messages in the journal. */
int triage_files_add_journal(struct triage_files *f);

/* Frees all, the gaps too. */
void triage_files_free(struct triage_files *f);

#endif
