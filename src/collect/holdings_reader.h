/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: what a process holds now, by kind and folded name: one bounded read of /proc/PID/maps
 * and one of /proc/PID/fd, on demand. Never smaps.
 */
#ifndef FS_COLLECT_HOLDINGS_READER_H
#define FS_COLLECT_HOLDINGS_READER_H

#include "probe/source.h"

#define HOLDINGS_TOLD 48 /* sorts a process and `what`, the most frequent first */

/*
 * Tells the sink of records (RECORD_HOLDING). `pid`: in our /proc. Returns 0, -errno of the read
 * (-ESRCH: it is gone, -EACCES), or what the sink said.
 */
int holdings_read(__u32 pid, const struct process_key *of, enum what what, const struct sink *sink);

#endif
