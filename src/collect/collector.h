/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: wire bytes become facts. Every record is checked here, whether the kernel sent it or a
 * file; what only the live machine knows (names, symbols) is looked up and becomes a record too,
 * so that a recording holds all a replay needs.
 */
#ifndef FS_COLLECT_COLLECTOR_H
#define FS_COLLECT_COLLECTOR_H

#include "collect/cgroup/cgroup_levels.h"
#include "collect/filter.h"
#include "collect/names/process_names.h"
#include "collect/redact.h"
#include "collect/symbols/symbols.h"
#include "collect/symbols/user_symbols.h"
#include "collect/withhold.h"
#include "model/model.h"
#include "probe/record_layout.h"
#include "probe/recording.h"
#include "probe/source.h"

#define RECORD_KINDS_MAX 48
#define RECORD_TEXTS_MAX 8 /* of a kind, at most */

struct collector {
	struct model *m;
	const struct filter *filter;	   /* NULL: shows all */
	struct recorder *rec;		   /* NULL: not recording; the caller's */
	const struct redaction *redaction; /* of what is recorded; NULL: none */
	struct withholding withholding;	   /* from all that comes in */
	int rec_error; /* -errno: the recording failed; told once by the caller */
	bool live;     /* look names up */
	struct names names;
	struct symbols symbols;
	struct user_symbols user_symbols;
	bool names_stacks; /* user_symbols is open */
	struct cgroup_levels levels;
	bool reads_levels; /* levels is open */
	/* last bytes of the texts of each kind of record, in the order of record_fields[]; 0: none
	 */
	__u16 text_end[RECORD_KINDS_MAX][RECORD_TEXTS_MAX];
	bool knows_texts;
	/* fields that are not known here, of the record that was taken last */
	const unsigned char *unknown;
	size_t extra; /* their bytes */
	__u32 extra_of;
	_Alignas(8) unsigned char copy[RECORD_BYTES_MAX]; /* of what is recorded */
};

/* A sink for a source: -EBADMSG for a record of a wrong size, -ENOMEM. */
int collector_take(void *ctx, const struct record *h);

void collector_free(struct collector *c);

#endif
