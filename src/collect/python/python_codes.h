/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: code objects of CPython. The BPF program reads each code object when it first appears in
 * a stack. faultscope therefore knows names and lines of Python functions without the right to read
 * the process, and after the process ended.
 */
#ifndef FS_COLLECT_PYTHON_PYTHON_CODES_H
#define FS_COLLECT_PYTHON_PYTHON_CODES_H

#include <stdbool.h>

#include "base/table.h"
#include "records/records.h"

#define PYTHON_CODES_MAX  16384
#define PYTHON_TEXT_BYTES 512

/* Zero-initialise. */
struct python_codes {
	struct table table;
	size_t n;
	__u64 clock;
	__u64 dropped; /* number of code objects that were dropped to make room for newer ones */
};

/* Stores a code object from its record. Returns 0 or -ENOMEM. */
int python_codes_take(struct python_codes *c, const struct python_code_record *r);

struct python_line_name {
	/* last part of the path of the source file; valid until the next record */
	const char *file;
	const char *name;
	__u32 line; /* line number; 0: not known */
};

/* Finds names and line of an instruction. Returns false if the code object is not known. */
bool python_codes_find(struct python_codes *c, const struct process_key *of,
		       const struct python_frame *frame, struct python_line_name *ret);

/*
 * Returns whether a source file is the user's own: not part of the standard library, an installed
 * package, or the interpreter.
 */
bool python_file_is_users(const char *file);

void python_codes_free(struct python_codes *c);

#endif
