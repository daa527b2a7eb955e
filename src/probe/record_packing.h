/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: packs records for recordings. A record is written as the difference from the last record
 * of the same process, growth entry or tick; a chunk of records is deflated. A chunk depends on
 * earlier chunks back to the last key chunk, which depends on none: reading can begin there.
 */
#ifndef FS_PROBE_RECORD_PACKING_H
#define FS_PROBE_RECORD_PACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

#define CHUNK_RAW_MAX (1u << 20) /* approximate maximum of bytes in a chunk before deflation */

#define CHUNK_MAGIC  0x4b435346 /* the bytes "FSCK" at the start of each chunk */
#define CHUNK_KEY    1u
#define CHUNK_FIELDS 2u /* flag of the first chunk of a file, which lists the fields */

struct chunk_header {
	__u32 magic;
	__u32 header_crc;  /* CRC of the members of this header that follow */
	__u32 payload_crc; /* CRC of the deflated payload */
	__u32 packed_bytes;
	__u32 raw_bytes;
	__u32 flags; /* flags of the chunk: CHUNK_* */
	__u64 t_ns;  /* time of the chunk's last record */
};

struct packer;
struct field_record;

int packer_make(struct packer **ret);
void packer_free(struct packer *p);

/* Adds a record to the chunk. Returns 0, -ENOMEM, or -EINVAL for a wrong length. */
int packer_add(struct packer *p, const struct record *h);

/* Return whether the chunk has records, and whether it is time for packer_end(). */
bool packer_holds(const struct packer *p);
bool packer_is_full(const struct packer *p);

/* Drops the current chunk. The next one will be a key chunk. */
void packer_begin_anew(struct packer *p);

/* Returns the chunk with the list of fields, to be written first; length 0: already written. */
int packer_fields(struct packer *p, const unsigned char **ret, size_t *ret_len);

/* Ends the chunk. Returns its header and payload, which are valid until the next call. */
int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len);

struct unpacker;

int unpacker_make(struct unpacker **ret);
void unpacker_free(struct unpacker *u);

/* Returns whether the bytes are a header with a correct CRC and possible lengths. */
bool chunk_header_is_good(const struct chunk_header *ch);

/* Takes a chunk. Returns -EBADMSG if it is damaged or depends on a chunk that was not taken. */
int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload);

/* Returns the nth field that this version does not know; false: there are fewer. */
bool unpacker_unknown(const struct unpacker *u, size_t nth, struct field_record *ret);

/* Returns the next record, valid until the next call; 1: end of the chunk; -EBADMSG, -ENOMEM. */
int unpacker_next(struct unpacker *u, struct record **ret);

#endif
