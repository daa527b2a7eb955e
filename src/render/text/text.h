/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: functions that the text outputs and the live view share. */
#ifndef FS_RENDER_TEXT_TEXT_H
#define FS_RENDER_TEXT_TEXT_H

#include "base/units.h"
#include "render/style.h"

#define TEXT_BLOCKS_MAX 16 /* maximum number of processes that are written one by one */

/* Writes the process table, one row per process, the most active one first. */
void text_table(struct buf *b, const struct view *v);

/*
 * Returns the activity of a process: the faults in the interval, where a major fault counts 100,
 * plus the used shares of the process's limits.
 */
double text_activity(const struct view *v, const struct subject *s);

/*
 * as_field_figure() formats the rate of a counter, or the value of a gauge; as_field_total()
 * formats a total since faultscope began to watch the process.
 */
struct number_text as_field_figure(const struct field *f, double n);
struct number_text as_field_total(const struct field *f, uint64_t n);

/* Writes a block of lines per process: rates, totals, bars against limits, histograms. */
void text_blocks(struct buf *b, const struct view *v);

/* Does the same for processes that have not ended. */
void text_living_blocks(struct buf *b, const struct view *v);

/* Writes the block of lines of one process. */
void text_block(struct buf *b, const struct view *v, const struct subject *s);

/* Writes a limit's use, "NAME  1,004 of 1,024 [####  ] 98.0% …", or nothing if not known. */
void text_limit(struct buf *b, const struct view *v, const char *name, const struct subject *s,
		enum resource_id id);

/* Writes a process's mappings and fds, as last read, and the call stacks that created most. */
void text_holders(struct buf *b, const struct view *v, const struct subject *s);

/* Writes the log2 histograms (latency, mapping sizes) that are not empty. */
void text_histograms(struct buf *b, const struct view *v, const struct counters *c);

/*
 * Returns *ret_n visible processes, sorted; the caller frees the array. Returns NULL if there is no
 * memory.
 */
const struct subject **text_sorted(const struct view *v, size_t *ret_n);

/* Writes all findings that the view shows, most severe first: title, evidence, causes, remedies. */
void text_findings(struct buf *b, const struct view *v);

/* Writes the findings that opened, changed their severity or level, or cleared in this window. */
void text_new_findings(struct buf *b, const struct view *v);

/* Writes one line per open finding. */
void text_titles(struct buf *b, const struct view *v);

/*
 * Writes a window as one line, with rates and the use of limits; LAYOUT_BLOCKS: one line per
 * process, and the whole block of a process that ended in this window.
 */
void text_interval(struct buf *b, const struct view *v);

/* Writes one finding. */
void text_finding(struct buf *b, const struct view *v, const struct finding *f);

/* Writes the peak RSS, waits, and the processes with most faults. */
void text_summary(struct buf *b, const struct view *v, const struct totals *t);

/* Writes the values of the phases of `run --phases`; nothing if there was no phase. */
void text_phases(struct buf *b, const struct view *v);

/* Writes who holds resident memory, by process; nothing if no process was read. */
void text_memory(struct buf *b, const struct view *v);

/* Appends the number of lost events, as in "lost: 0 records, …". */
void text_losses(struct line *l);

/* Appends frames, innermost first: "share_tensor (lib.so) <- worker (python3) <- main". */
void text_frames(struct buf *b, const struct frames *f);

/*
 * Does the same. If one of the `n` stacks above it (NULL: no stack) shows the same frames, also
 * appends the first frames in which they differ.
 */
void text_frames_unlike(struct buf *b, const struct frames *f, const struct frames *const *above,
			size_t n);

#endif
