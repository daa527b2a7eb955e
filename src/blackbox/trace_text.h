/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: what the text of a trace instance has beside records: faults that the kernel side
 * marked by itself, for which user space had no time any more, and the kernel's log.
 */
#ifndef FS_BLACKBOX_TRACE_TEXT_H
#define FS_BLACKBOX_TRACE_TEXT_H

#include "base/buf.h"
#include "blackbox/scan.h"

/* Whether it is the text of a trace. */
bool bb_is_trace(const char *text, size_t size);

/* Adds the faults that were marked, named by the modules that records of the trace tell of. */
int bb_trace_scan(struct bb_found *f, const char *text, size_t size);

/* The lines of the log that it holds, continuation pieces joined, as dmesg prints them. */
void bb_trace_log(struct buf *b, const char *text, size_t size);

#endif
