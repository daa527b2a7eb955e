/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the verdict on a crash log, as a card, as JSON, as Markdown; buckets of many logs. */
#ifndef FS_RENDER_CRASH_CRASH_VIEW_H
#define FS_RENDER_CRASH_CRASH_VIEW_H

#include "render/render.h"
#include "triage/triage.h"

/* How names become what their authors wrote; asked no more once a name was a bomb. */
struct triage_names {
	int (*decode)(const char *name, char *ret, size_t size); /* 0, or -E2BIG for a bomb */
	bool bomb;
};

struct triage_view {
	const struct view *v;	 /* width, colour, unicode */
	const char *const *name; /* of the inputs */
	size_t names;
	struct triage_names *names_of; /* functions; NULL: as they stand in the log */
	bool explain;		       /* each rule that fired */
	bool redact;		       /* no addresses, no names of hosts */
	const struct buf *gaps;	       /* what may have been missed; not NULL */
};

void triage_text(struct buf *b, const struct triage_view *tv, const struct triage *t);
void triage_json(struct buf *b, const struct triage_view *tv, const struct triage *t);
void triage_markdown(struct buf *b, const struct triage_view *tv, const struct triage *t);

/* What is said of a log without a crash; an all-clear only where there is no gap. */
const char *triage_no_crash(const struct triage_view *tv, const struct triage *t);

/* One bucket of a directory of logs. */
#define BUCKET_KERNELS 8

struct triage_bucket {
	char name[224];
	char kind[32], module[64];
	uint64_t count;
	int64_t first, last; /* seconds since 1970, of the files; 0: not known */
	char example[256];
	char kernel[BUCKET_KERNELS][64];
	size_t kernels;
	uint64_t more_kernels;
	bool fresh; /* seen on the newest kernel alone */
};

struct triage_buckets {
	struct triage_bucket *bucket;
	size_t n;
	uint64_t logs, quiet, unreadable, lost;
	uint64_t partial; /* logs without a crash in what was read of them, with gaps */
};

void triage_buckets_text(struct buf *b, const struct view *v, const struct triage_buckets *bs);
void triage_buckets_json(struct buf *b, const struct triage_buckets *bs);

/* A function's name, for an output. */
void triage_name(struct buf *b, const struct triage_view *tv, struct str function);

/* Text of a log for an output: without addresses where asked. */
void triage_redact(struct buf *b, struct str s);

#endif
