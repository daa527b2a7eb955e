/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: makes the unwind table of one ELF file from its .eh_frame. The file may be broken or
 * hostile. Memory and work are limited; call frame information that is not understood becomes a
 * rule that ends the walk.
 *
 * The table of a large file takes 100 ms and more. It is therefore made in pieces, between which
 * the event loop does other work. The size of the pieces does not change the table.
 */
#ifndef FS_UNWIND_TABLE_MAKER_H
#define FS_UNWIND_TABLE_MAKER_H

#include "unwind/unwind_table.h"

struct table_maker;

/*
 * Begins a table. Its rules are added to `rules`. A file without .eh_frame gets a table of gaps.
 * `rules`, and the descriptor or the memory of `file`, are borrowed until table_maker_free().
 * Returns 0, -ENOEXEC if the file is not an ELF file of a supported 64-bit machine, -ENOMEM, or
 * -E2BIG.
 */
int table_maker_new(const struct byte_source *file, struct rule_set *rules,
		    struct table_maker **ret);

/*
 * Does a piece of the work, and takes it off *left (about 10 ns a unit). Returns -EAGAIN if there
 * is more work, 0 when the table is complete, -ENOMEM, or -E2BIG.
 */
int table_maker_work(struct table_maker *m, __u64 *left);

/* Moves the complete table to *ret, for unwind_table_free(). */
void table_maker_take(struct table_maker *m, struct unwind_table *ret);

void table_maker_free(struct table_maker *m);

/* Makes a table in one piece. Returns 0 or the error of the functions above. */
int unwind_table_read(const struct byte_source *file, struct rule_set *rules,
		      struct unwind_table *ret);

#endif
