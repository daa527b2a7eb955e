/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the verdict on a crash log as text, JSON or Markdown; crashes of many logs, by bucket. */
#ifndef FS_RENDER_CRASH_CRASH_VIEW_H
#define FS_RENDER_CRASH_CRASH_VIEW_H

#include "render/render.h"
#include "triage/triage.h"

/*
 * Demangler of function names. Once a name has expanded without end (a demangling bomb), `decode`
 * is not called again.
 */
struct triage_names {
	/* demangles a name; returns 0 or -errno */
	int (*decode)(const char *name, char *ret, size_t size);
	bool bomb;
};

struct triage_view {
	const struct view *v;	 /* style of the output: width, colour, unicode */
	const char *const *name; /* names of the input files */
	size_t names;
	struct triage_names *names_of; /* demangler of function names; NULL: none */
	bool explain;		       /* print each rule that fired */
	bool redact;		       /* omit memory addresses and IPv4 addresses */
	const struct buf *gaps;	       /* why the result may be incomplete; never NULL */
};

void triage_text(struct buf *b, const struct triage_view *tv, const struct triage *t);
void triage_json(struct buf *b, const struct triage_view *tv, const struct triage *t);
/* Writes an HTML page, which also has the text and the JSON. */
void triage_html(struct buf *b, const struct triage_view *tv, const struct triage *t);
void triage_markdown(struct buf *b, const struct triage_view *tv, const struct triage *t);

/* Returns the text for a log without a crash: "no crash found" only if the log has no gap. */
const char *triage_no_crash(const struct triage_view *tv, const struct triage *t);

/* A bucket is the group of all logs in a directory that have the same crash. */
#define BUCKET_KERNELS 8

struct triage_bucket {
	char name[224];
	char kind[32], module[64];
	uint64_t count;
	int64_t first, last; /* oldest and newest file, in seconds since 1970; 0: not known */
	char example[256];
	char kernel[BUCKET_KERNELS][64];
	size_t kernels;
	uint64_t more_kernels;
	/* true: the logs are of several kernel versions, and only the newest has this crash */
	bool fresh;
};

struct triage_buckets {
	struct triage_bucket *bucket;
	size_t n;
	uint64_t logs, quiet, unreadable, lost;
	/* number of logs that could be read only in part, and have no crash in that part */
	uint64_t partial;
	bool has_text; /* at least one of the logs without a crash has text */
};

void triage_buckets_text(struct buf *b, const struct view *v, const struct triage_buckets *bs);
void triage_buckets_json(struct buf *b, const struct triage_buckets *bs);

/* Appends the name of a function, demangled if tv->names_of is set. */
void triage_name(struct buf *b, const struct triage_view *tv, struct str function);

/* Appends text of a log without its memory addresses and IPv4 addresses. */
void triage_redact(struct buf *b, struct str s);

#endif
