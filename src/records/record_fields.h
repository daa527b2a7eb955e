/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: the fields of each kind of record, with their names in recordings. */
#ifndef FS_RECORDS_RECORD_FIELDS_H
#define FS_RECORDS_RECORD_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum value_type { VALUE_UNSIGNED, VALUE_SIGNED, VALUE_TEXT };

/* A field of a record: a number, a text, or an array of numbers. */
struct record_field {
	const char *name, *unit;
	uint16_t offset; /* offset of the first element in the record */
	uint16_t size;	 /* bytes of an element of the field */
	uint16_t stride; /* bytes from one element of the field to the next */
	uint16_t count;
	uint8_t type; /* type of the values of the field: enum value_type */
	/* value of the field if a recording lacks the field: 1: ~0 (unknown); 0: 0 */
	uint8_t unknown_is_max;
};

struct record_fields {
	uint32_t kind;
	const char *name;
	uint32_t len;
	/* length of a record whose counters are left out; 0: counters are never left out */
	uint32_t short_len;
	const struct record_field *field;
	size_t fields;
};

extern const struct record_fields record_fields[];
extern const size_t record_fields_count;

#endif
