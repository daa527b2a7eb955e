/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: where the fields of a recording are in memory. Those known here are in the struct of their
 * record; the others stand behind it, so that they are carried along.
 */
#ifndef FS_PROBE_RECORD_LAYOUT_H
#define FS_PROBE_RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "records/record_fields.h"
#include "records/records.h"

#define RECORD_BYTES_MAX 16384 /* of a record with what stands behind it */
#define ELEMENTS_MAX	 8192  /* of a kind of record: each has an id */
#define KINDS_MAX	 128

/* Elements with ids from `id` on: numbers in a row, or one text. */
struct part {
	uint32_t id, count;
	uint32_t offset, stride;
	uint32_t size;
	uint8_t type; /* enum value_type */
	bool is_known;
	char name[64], unit[16];
	uint32_t from; /* elements before these, in other parts */
};

struct kind_layout {
	uint32_t kind;
	uint32_t len, short_len; /* as struct record_fields has them */
	uint32_t bytes;		 /* len, and what stands behind it */
	uint32_t ids;		 /* given so far */
	char name[32];
	struct part *part;
	size_t parts;
	unsigned char *first; /* what a record without any field is */
	unsigned char *last;  /* the last record of this kind; empty (len 0) at the begin */
};

struct record_layout {
	struct kind_layout *kind[KINDS_MAX];
	size_t kinds;
};

void record_layout_clear(struct record_layout *l);

/* All that is known here, in its order. Returns 0 or -ENOMEM. */
int record_layout_own(struct record_layout *l);

/* Appends a field that is not known here. Returns 0, -EINVAL (no room for it) or -ENOMEM. */
int record_layout_add(struct record_layout *l, const struct field_record *f);

/* Reads what record_layout_text() wrote, here or elsewhere. Returns 0, -EINVAL or -ENOMEM. */
int record_layout_read(struct record_layout *l, const char *text, size_t size);

/* After the last record_layout_add(). Returns 0 or -ENOMEM. */
int record_layout_finish(struct record_layout *l);

/* A line for each kind and field. */
void record_layout_text(const struct record_layout *l, struct buf *to);

/* NULL: there is no such kind. */
struct kind_layout *record_layout_of(const struct record_layout *l, uint32_t kind);

/* The `nth` field that is not known here, of all kinds. False behind the last. */
bool record_layout_unknown(const struct record_layout *l, size_t nth, struct field_record *ret);

#endif
