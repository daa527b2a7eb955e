/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder: a ring of records in a file of fixed size. The whole file is written once when it is
 * created. To add a record then costs one synchronous data write and no block allocation. The file
 * consists of slots of 512 bytes: first a header, then two heartbeats that are written in turn,
 * then the ring.
 */
#ifndef FS_RECORDER_RING_FILE_H
#define FS_RECORDER_RING_FILE_H

#include "blackbox/ring_record.h"

#define RING_SLOT	   BB_RECORD_MAX
#define RING_BYTES_DEFAULT (1u << 20)
#define RING_BYTES_LEAST   (16u * RING_SLOT)
#define RING_BYTES_MOST	   (64u << 20)
#define RING_PENDING	   64 /* maximum number of records per write */

struct ring_file {
	int fd;	       /* descriptor of the ring file; -1: not open */
	uint64_t slot; /* index of the next slot of the ring to write */
	uint64_t slots;
	uint64_t sequence; /* sequence number of the newest record */
	uint8_t *pending;  /* queued records: RING_PENDING slots; owned */
	size_t n;
	uint64_t lost; /* records and heartbeats whose write failed */
	unsigned int beats;
};

/*
 * Opens the file, or creates it with `bytes`. An existing file keeps its size. Returns 0 or -errno.
 * -ENOSPC: the disk is full. -EROFS: the file system is read-only. -EEXIST: the file is not a ring
 * file. -EBUSY: another recorder uses it.
 */
int ring_file_open(struct ring_file *r, const char *path, uint64_t bytes);

/* Queues a record for the next flush, and flushes when the queue is full. Returns 0 or -errno. */
int ring_file_add(struct ring_file *r, const struct bb_record *record);

/*
 * Writes all queued records to disk, and waits until the disk has stored them. Returns 0, or -errno
 * if the queued records are lost.
 */
int ring_file_flush(struct ring_file *r);

int ring_file_beat(struct ring_file *r, const struct bb_record *record);

void ring_file_close(struct ring_file *r);

#endif
