/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * blackbox: reads the text of a trace instance: besides records it has the kernel log, and faults
 * that the kernel side wrote itself when user space could no longer run.
 */
#ifndef FS_BLACKBOX_TRACE_TEXT_H
#define FS_BLACKBOX_TRACE_TEXT_H

#include "base/buf.h"
#include "blackbox/scan.h"

/* Returns whether a text is the content of a `trace` file in tracefs. */
bool bb_is_trace(const char *text, size_t size);

/* Adds the faults of a trace, with module names from its records. Returns 0 or -ENOMEM. */
int bb_trace_scan(struct bb_found *f, const char *text, size_t size);

/* Writes the log lines of a trace as dmesg prints them, with continuations joined. */
void bb_trace_log(struct buf *b, const char *text, size_t size);

#endif
