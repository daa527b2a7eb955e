/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: formats that wrap each message in a record: journal export and JSON, dmesg's, a robot's.
 */
#ifndef FS_TRIAGE_CONTAINER_H
#define FS_TRIAGE_CONTAINER_H

#include "triage/lines.h"

enum container_form {
	FORM_PLAIN,
	FORM_EXPORT,	 /* journalctl -o export */
	FORM_DMESG_JSON, /* dmesg --json: one document, a key a line */
	FORM_VERBOSE,	 /* journalctl -o verbose: a heading, then a field a line */
	FORM_PRETTY,	 /* journalctl -o json-pretty: an object, a key a line */
};

struct container {
	enum container_form form;
	struct str message; /* of the record under construction */
	struct log_line about;
	bool held;
	bool quoted; /* the message is a string of JSON, not an array of bytes */
};

/* Looks at the beginning of the data. */
void container_begin(struct container *c, struct str data);

/*
 * A raw line of the data: where it holds a message, or ends a record that did, true and the message
 * in `raw` and what else is known of it in `l`. `scratch` may get what `raw` then points into.
 */
bool container_record(struct container *c, struct str *raw, struct log_line *l, char **scratch);

/* Bytes of a binary field of journal export that begins here; 0: it is none. */
size_t container_binary(const struct container *c, struct str data);
void container_field(struct container *c, struct str field);

/* Whether a record is under construction when the data ends. */
bool container_at_end(const struct container *c, struct str rest);

#endif
