/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: records packed small. What a record repeats (a process, a place of growth, a tick) is told
 * as the difference from the last of the same, and a chunk of them is deflated. A chunk stands on
 * those before it, back to the last key chunk, which stands alone: reading can begin there.
 */
#ifndef FS_PROBE_RECORD_PACKING_H
#define FS_PROBE_RECORD_PACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

#define CHUNK_RAW_MAX (1u << 20) /* before it is deflated: from here on a chunk is ended */

#define CHUNK_MAGIC  0x4b435346 /* "FSCK" */
#define CHUNK_KEY    1u
#define CHUNK_FIELDS 2u /* the list of fields, in front of all others */

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
struct field_record;

int packer_make(struct packer **ret);
void packer_free(struct packer *p);

/* -ENOMEM, -EINVAL for a record of a length that cannot be. */
int packer_add(struct packer *p, const struct record *h);

/* Whether the chunk holds anything; whether it is time to end it. */
bool packer_holds(const struct packer *p);
bool packer_is_full(const struct packer *p);

/* Drops what the chunk under way holds. The next one stands alone. */
void packer_begin_anew(struct packer *p);

/* The chunk that tells of the fields, to be written first; of no bytes where it was written. */
int packer_fields(struct packer *p, const unsigned char **ret, size_t *ret_len);

/* Ends the chunk: its header and payload, valid until the next call. */
int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len);

struct unpacker;

int unpacker_make(struct unpacker **ret);
void unpacker_free(struct unpacker *u);

/* Whether these bytes are a header that can be trusted for its lengths. */
bool chunk_header_is_good(const struct chunk_header *ch);

/* Takes a chunk. -EBADMSG for one that is damaged, or stands on one that was not taken. */
int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload);

/* The `nth` field that is not known here. False behind the last. */
bool unpacker_unknown(const struct unpacker *u, size_t nth, struct field_record *ret);

/* The next record of the chunk, valid until the next call. 1 at its end, -EBADMSG, -ENOMEM. */
int unpacker_next(struct unpacker *u, struct record **ret);

#endif
