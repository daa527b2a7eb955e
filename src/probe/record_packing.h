/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: packs records for recordings. A record is written as the difference from the last record
 * of the same process or growth entry. A tick record is written as the difference from the last
 * tick record. Records are deflated in chunks. A key chunk depends on no other chunk, so reading
 * can begin there. Other chunks depend on all chunks since the last key chunk.
 */
#ifndef FS_PROBE_RECORD_PACKING_H
#define FS_PROBE_RECORD_PACKING_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

#define CHUNK_RAW_MAX (1u << 20) /* approximate maximum of bytes in a chunk before deflation */

#define CHUNK_MAGIC  0x4b435346 /* the bytes "FSCK", with which each chunk begins */
#define CHUNK_KEY    1u
#define CHUNK_FIELDS 2u /* flag of the first chunk of a file, which lists the fields */

struct chunk_header {
	__u32 magic;
	__u32 header_crc;  /* CRC of the following members of this header */
	__u32 payload_crc; /* CRC of the deflated payload */
	__u32 packed_bytes;
	__u32 raw_bytes;
	__u32 flags; /* flags of the chunk: CHUNK_* */
	__u64 t_ns;  /* time of the last record in the chunk */
};

struct packer;
struct field_record;

int packer_make(struct packer **ret);
void packer_free(struct packer *p);

/* Adds a record to the current chunk. Returns 0, -ENOMEM, or -EINVAL for a wrong length. */
int packer_add(struct packer *p, const struct record *h);

/* packer_holds(): the current chunk has records; packer_is_full(): it is large enough. */
bool packer_holds(const struct packer *p);
bool packer_is_full(const struct packer *p);

/* Returns the bytes of the current chunk before deflation. */
size_t packer_bytes(const struct packer *p);

/* Drops the records of the current chunk. The next chunk will be a key chunk. */
void packer_begin_anew(struct packer *p);

/*
 * Returns the chunk with the list of fields, which comes first. If it was already written, the
 * length is 0.
 */
int packer_fields(struct packer *p, const unsigned char **ret, size_t *ret_len);

/* Ends the current chunk. Returns the chunk's header and payload, valid until the next call. */
int packer_end(struct packer *p, const unsigned char **ret, size_t *ret_len);

struct unpacker;

int unpacker_make(struct unpacker **ret);
void unpacker_free(struct unpacker *u);

/* Returns whether a chunk header has a correct CRC and possible lengths. */
bool chunk_header_is_good(const struct chunk_header *ch);

/* Reads a chunk. Returns 0; -EBADMSG if the chunk is damaged, or depends on an unread one. */
int unpacker_take(struct unpacker *u, const struct chunk_header *ch, const void *payload);

/*
 * Stores in *ret the nth field of the recording that this version does not know. Returns false if
 * there is none.
 */
bool unpacker_unknown(const struct unpacker *u, size_t nth, struct field_record *ret);

/* Gets the next record, valid until the next call. Returns 0, 1 at the chunk's end, or -errno. */
int unpacker_next(struct unpacker *u, struct record **ret);

#endif
