/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: records packed small. What a record repeats (a process, a place of growth, a tick) is told
 * as the difference from the last of the same, and a chunk of them is deflated. A chunk stands on
 * those before it, back to the last key chunk, which stands alone: reading can begin there.
 */
#ifndef FS_PROBE_PACKED_H
#define FS_PROBE_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

#define RECORD_BYTES_MAX 16384	    /* no wire record is longer */
#define CHUNK_RAW_MAX	 (1u << 20) /* before it is deflated: from here on a chunk is ended */

#define CHUNK_MAGIC 0x4b435346 /* "FSCK" */
#define CHUNK_KEY   1u

struct chunk_header {
	__u32 magic;
	__u32 header_crc;  /* of what follows it in the header */
	__u32 payload_crc; /* of the deflated bytes */
	__u32 packed_bytes;
	__u32 raw_bytes;
	__u32 flags; /* CHUNK_* */
	__u64 t_ns;  /* of its last record */
};

struct packer;

int packer_make(struct packer **ret);
void packer_free(struct packer *p);

/* -ENOMEM, -EINVAL for a record of a length that cannot be. */
int packer_add(struct packer *p, const struct record *h);

/* Whether the chunk holds anything; whether it is time to end it. */
bool packer_holds(const struct packer *p);
bool packer_is_full(const struct packer *p);

/* Ends the chunk: its header and payload, valid until the next call. */
int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len);

struct unpacker;

int unpacker_make(struct unpacker **ret);
void unpacker_free(struct unpacker *u);

/* Whether these bytes are a header that can be trusted for its lengths. */
bool chunk_header_is_good(const struct chunk_header *ch);

/* Takes a chunk. -EBADMSG for one that is damaged, or stands on one that was not taken. */
int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload);

/* The next record of the chunk, valid until the next call. 1 at its end, -EBADMSG, -ENOMEM. */
int unpacker_next(struct unpacker *u, struct record **ret);

#endif
