/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: pauses between calls that hold the mmap_lock of another process for reading. A thread
 * that waits to write is woken when the lock is released. But if a reader takes the lock again
 * before this thread runs, the kernel lets the reader in, for up to 4 ms (reader lock stealing in
 * rwsem_down_read_slowpath(), and RWSEM_WAIT_TIMEOUT, kernel/locking/rwsem.c). So calls that follow
 * each other without a pause make threads wait, also if each call takes only microseconds.
 */
#ifndef FS_RESIDENT_LOCK_PAUSE_H
#define FS_RESIDENT_LOCK_PAUSE_H

#include <stdint.h>

/* Begins with zeros. */
struct lock_pause {
	uint64_t since_ns; /* end of the last pause, CLOCK_MONOTONIC; 0: none yet */
};

/*
 * Call it between two such calls, while no lock is held. Sleeps for about 0.1 ms, if the calls have
 * gone on for 0.2 ms.
 */
void lock_pause_if_due(struct lock_pause *p);

#endif
