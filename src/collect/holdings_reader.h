/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads the mappings and open fds of a process, grouped by kind and folded name: one
 * bounded read of /proc/PID/maps, one of /proc/PID/fd, on demand. Never reads smaps.
 */
#ifndef FS_COLLECT_HOLDINGS_READER_H
#define FS_COLLECT_HOLDINGS_READER_H

#include "probe/source.h"

#define HOLDINGS_TOLD 48 /* records per process for maps, and for fds: the largest groups */

/*
 * Sends RECORD_HOLDING records to the sink. `pid` is the process's pid in our /proc. Returns 0,
 * -errno of the read (-ESRCH: the process is gone, -EACCES), or what the sink returns.
 */
int holdings_read(__u32 pid, const struct process_key *of, enum what what, const struct sink *sink);

#endif
