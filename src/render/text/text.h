/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: functions that the text outputs and the live view share. */
#ifndef FS_RENDER_TEXT_TEXT_H
#define FS_RENDER_TEXT_TEXT_H

#include "base/units.h"
#include "render/style.h"

/* Writes the process table: one row per process, the most active first. */
void text_table(struct buf *b, const struct view *v);

/*
 * Returns the activity of a process: faults in the interval (a major one counts 100), plus the used
 * shares of its limits.
 */
double text_activity(const struct view *v, const struct subject *s);

/*
 * as_field_figure() formats a counter's rate or a gauge's value, as_field_total() a total since the
 * process was first watched.
 */
struct number_text as_field_figure(const struct field *f, double n);
struct number_text as_field_total(const struct field *f, uint64_t n);

/* Writes a block per process: rates, totals, bars against limits, histograms. */
void text_blocks(struct buf *b, const struct view *v);

/* Writes the block of one process. */
void text_block(struct buf *b, const struct view *v, const struct subject *s);

/* Writes "NAME  1,004 of 1,024 [####  ] 98.0% …" for a limit; nothing if the value is unknown. */
void text_limit(struct buf *b, const struct view *v, const char *name, const struct subject *s,
		enum resource_id id);

/* Writes what a process held when this was read, and the stacks that made it grow. */
void text_holders(struct buf *b, const struct view *v, const struct subject *s);

/* Writes the log2 histograms (latency, mapping sizes) that are not empty. */
void text_histograms(struct buf *b, const struct view *v, const struct counters *c);

/* Returns *ret_n visible processes, sorted; the caller frees the array. NULL: out of memory. */
const struct subject **text_sorted(const struct view *v, size_t *ret_n);

/* Writes all findings that the view shows, by severity: title, evidence, causes, remedies. */
void text_findings(struct buf *b, const struct view *v);

/* Writes one finding. */
void text_finding(struct buf *b, const struct view *v, const struct finding *f);

/* Writes peak RSS, waits, and the processes that faulted most. */
void text_summary(struct buf *b, const struct view *v, const struct totals *t);

/* Appends "lost: 0 records, …". */
void text_losses(struct line *l);

/* Appends "share_tensor (lib.so) <- worker (python3) <- main", innermost frame first. */
void text_frames(struct buf *b, const struct frames *f);

#endif
