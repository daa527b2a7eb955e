/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: checks each record, whether it comes from the kernel or from a file. On a live machine,
 * looks up names and symbols and adds them as records. A replay therefore shows the names that were
 * recorded.
 */
#ifndef FS_COLLECT_COLLECTOR_H
#define FS_COLLECT_COLLECTOR_H

#include "collect/cgroup/cgroup_levels.h"
#include "collect/filter.h"
#include "collect/names/process_names.h"
#include "collect/oom/oom_scene.h"
#include "collect/redact.h"
#include "collect/python/walk_names.h"
#include "collect/symbols/symbols.h"
#include "collect/symbols/user_symbols.h"
#include "collect/withhold.h"
#include "model/model.h"
#include "probe/record_layout.h"
#include "probe/record_ring.h"
#include "probe/recording.h"
#include "probe/source.h"

#define RECORD_KINDS_MAX 48
#define RECORD_TEXTS_MAX 8 /* maximum number of text fields in a kind of record */

/* Is told which frames of a listed stack may have source lines. */
typedef void want_lines_fn(void *ctx, const struct process_key *subject, __s32 stack,
			   const struct frame_code *code, size_t n);

struct collector {
	struct model *m;
	const struct filter *filter;	   /* which processes to show; NULL: all */
	struct recorder *rec;		   /* recorder, owned by the caller; NULL: not recording */
	struct record_ring *ring; /* recording in memory, owned by the caller; NULL: none */
	const struct redaction *redaction; /* redaction of recorded data; NULL: none */
	struct withholding withholding;	   /* hides data of other users in all incoming records */
	int rec_error; /* -errno if recording failed; the caller reports it once */
	bool live;     /* the source is this machine, not a recording: look up names here */
	struct names names;
	struct symbols symbols;
	struct user_symbols user_symbols;
	bool names_stacks; /* `user_symbols` is open: name the frames of user stacks */
	struct python_codes python_codes;
	/* finds files of stack addresses; the owner sets it; may be NULL */
	walk_place_fn *walk_place;
	void *walk_ctx;
	/* called after a stack was listed that has frames in the code of files; may be NULL */
	want_lines_fn *want_lines;
	void *lines_ctx;
	/* working memory for naming stacks; owned; NULL: no stack was walked with tables yet */
	struct walk_names *walk_names;
	struct oom_scenes oom; /* what explains OOM kills; live only */
	struct cgroup_levels levels;
	bool reads_levels; /* `levels` is open: read limits and usage of cgroups */
	/* offset of each text field's last byte, by kind of record; 0: no text field */
	__u16 text_end[RECORD_KINDS_MAX][RECORD_TEXTS_MAX];
	bool knows_texts;
	/* unknown fields at the end of the last record */
	const unsigned char *unknown;
	size_t extra; /* size of `unknown` in bytes */
	__u32 extra_of;
	/* the record as it is written to the recording */
	_Alignas(8) unsigned char copy[RECORD_BYTES_MAX];
};

/* Processes a record; `ctx` is a struct collector. Returns 0, -EBADMSG (wrong size) or -ENOMEM. */
int collector_take(void *ctx, const struct record *h);

/*
 * Passes a record on as collector_take() does, but adds nothing to it: for records of checked size
 * that user space made.
 */
int collector_pass(struct collector *c, const struct record *h);

/*
 * Sends what the collector knows, as the records of a scan, redacted if recordings are; `ctx` is a
 * struct collector. For record_ring_make().
 */
int collector_tell(void *ctx, const struct sink *sink);

void collector_free(struct collector *c);

#endif
