/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads the mappings and open file descriptors of a process. Groups them by kind and by
 * name; numbers in names become "#". Reads /proc/PID/maps and /proc/PID/fd once, on request; never
 * reads smaps.
 */
#ifndef FS_COLLECT_HOLDINGS_READER_H
#define FS_COLLECT_HOLDINGS_READER_H

#include "probe/source.h"

#define HOLDINGS_TOLD 48 /* maximum records per process for maps, and for fds */

/*
 * Returns the kind of a mapping with a name, from its permissions ("rw-p") and its name in
 * /proc/PID/maps (Documentation/filesystems/proc.rst).
 */
enum holding_kind holding_kind_of_map(const char *rights, const char *name);

/*
 * Sends RECORD_HOLDING records to the consumer `sink`. `pid` is the process's pid in the /proc that
 * faultscope sees. Returns 0, -errno of the read (-ESRCH: the process is gone; -EACCES), or the
 * consumer's error.
 */
int holdings_read(__u32 pid, const struct process_key *of, enum what what, const struct sink *sink);

#endif
