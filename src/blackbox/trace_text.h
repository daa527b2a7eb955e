/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: reads the text of a trace instance. The text contains records and the kernel log. It
 * also contains faults that BPF programs wrote themselves, because user space could no longer run.
 */
#ifndef FS_BLACKBOX_TRACE_TEXT_H
#define FS_BLACKBOX_TRACE_TEXT_H

#include "base/buf.h"
#include "blackbox/scan.h"

/* Returns whether a text is the content of a `trace` file in tracefs. */
bool bb_is_trace(const char *text, size_t size);

/*
 * Adds the kernel faults that a trace contains. Module names come from the records in the trace.
 * Returns 0 or -ENOMEM.
 */
int bb_trace_scan(struct bb_found *f, const char *text, size_t size);

/*
 * Writes the kernel log lines in a trace as dmesg prints them. Trace events that are pieces of one
 * log line are joined.
 */
void bb_trace_log(struct buf *b, const char *text, size_t size);

#endif
