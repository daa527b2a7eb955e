/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorder: records in a file of fixed size, written around and around. All of it is written once
 * when it is made, so that a record later costs one synchronous write of data, and no block of the
 * file system's. Slots of 512 bytes: the head, two for heartbeats in turn, then the ring.
 */
#ifndef FS_RECORDER_RING_FILE_H
#define FS_RECORDER_RING_FILE_H

#include "blackbox/ring_record.h"

#define RING_SLOT	   BB_RECORD_MAX
#define RING_BYTES_DEFAULT (1u << 20)
#define RING_BYTES_LEAST   (16u * RING_SLOT)
#define RING_BYTES_MOST	   (64u << 20)
#define RING_PENDING	   64 /* records that one write takes at most */

struct ring_file {
	int fd;	       /* -1: not open */
	uint64_t slot; /* of the ring, to be written next */
	uint64_t slots;
	uint64_t sequence; /* of the last record that it holds */
	uint8_t *pending;  /* RING_PENDING slots; owned */
	size_t n;
	uint64_t lost; /* records whose write failed */
	unsigned int beats;
};

/*
 * Opens, or makes it with `bytes`; one that is there keeps its size. Returns 0, -errno: -ENOSPC for
 * a full disk, -EROFS, -EEXIST where the file there is none of ours, -EBUSY where another recorder
 * has it.
 */
int ring_file_open(struct ring_file *r, const char *path, uint64_t bytes);

/* Keeps a record for the next flush, and flushes where there are too many. 0, -errno. */
int ring_file_add(struct ring_file *r, const struct bb_record *record);

/* Returns once all is on the disk. 0, -errno: then what was pending is gone. */
int ring_file_flush(struct ring_file *r);

int ring_file_beat(struct ring_file *r, const struct bb_record *record);

void ring_file_close(struct ring_file *r);

#endif
