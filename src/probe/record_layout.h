/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the position of a recording's fields in memory. Known fields are in the C struct of the
 * record. Unknown fields follow the struct, so that a copy of the recording contains them.
 */
#ifndef FS_PROBE_RECORD_LAYOUT_H
#define FS_PROBE_RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "records/record_fields.h"
#include "records/records.h"

#define RECORD_BYTES_MAX 16384 /* maximum length of a record with its unknown fields */
#define ELEMENTS_MAX	 8192  /* maximum number of element ids of a record kind */
#define KINDS_MAX	 128

/* Elements of a record with consecutive ids, from `id` on: an array of numbers, or one text. */
struct part {
	uint32_t id, count;
	uint32_t offset, stride;
	uint32_t size;
	uint8_t type; /* value of enum value_type */
	bool is_known;
	char name[64], unit[16];
	uint32_t from; /* index in the whole array of this part's first element */
};

struct kind_layout {
	uint32_t kind;
	uint32_t len, short_len; /* lengths of the record, as in struct record_fields */
	uint32_t bytes;		 /* length of the record with its unknown fields */
	uint32_t ids;		 /* number of element ids assigned so far */
	char name[32];
	struct part *part;
	size_t parts;
	/* the following are NULL until the layout is complete, and if memory ran out */
	unsigned char *first; /* a record in which no field was written */
	unsigned char *last;  /* the last record of this kind; initially a copy of `first` */
};

struct record_layout {
	struct kind_layout *kind[KINDS_MAX];
	size_t kinds;
};

void record_layout_clear(struct record_layout *l);

/* Adds all fields that this version of faultscope knows. Returns 0 or -ENOMEM. */
int record_layout_own(struct record_layout *l);

/* Adds a field of another version of faultscope. Returns 0, -EINVAL (no room) or -ENOMEM. */
int record_layout_add(struct record_layout *l, const struct field_record *f);

/* Reads the text that any version's record_layout_text() wrote. Returns 0, -EINVAL or -ENOMEM. */
int record_layout_read(struct record_layout *l, const char *text, size_t size);

/* Completes the layout after the last record_layout_add(). Returns 0 or -ENOMEM. */
int record_layout_finish(struct record_layout *l);

/* Appends to `to` one line for each kind of record and each field. */
void record_layout_text(const struct record_layout *l, struct buf *to);

/* Returns the layout of a kind of record, or NULL if the kind is unknown. */
struct kind_layout *record_layout_of(const struct record_layout *l, uint32_t kind);

/*
 * Stores in *ret the nth of all fields that this version does not know. Returns false if there are
 * fewer.
 */
bool record_layout_unknown(const struct record_layout *l, size_t nth, struct field_record *ret);

#endif
