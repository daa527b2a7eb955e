/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: assembles the counters of a process from the parts that BPF programs keep or send. */
#ifndef FS_PROBE_COUNTER_PARTS_H
#define FS_PROBE_COUNTER_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"
#include "wire.h"

/* Copies the counters of a state, without the leader's last fault. */
void counters_of_state(const struct fs_whole_state *whole, struct counters *ret);

/* Adds a leader's last fault, which BPF programs add only at the thread's next fault. */
void counters_add_pending(struct counters *c, const struct fs_pending *pending);

/*
 * Converts a RECORD_PACKED_PROCESS of `size` bytes to a whole RECORD_PROCESS. Returns false if the
 * record is damaged.
 */
bool counters_unpack(const struct fs_packed_process *packed, size_t size,
		     struct process_record *ret);

#endif
