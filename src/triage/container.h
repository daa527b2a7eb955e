/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: log formats that wrap each message in a record: journal export and JSON, dmesg's JSON,
 * and the JSON of test robots.
 */
#ifndef FS_TRIAGE_CONTAINER_H
#define FS_TRIAGE_CONTAINER_H

#include "triage/lines.h"

enum container_form {
	FORM_PLAIN,
	FORM_EXPORT,	 /* journalctl -o export */
	FORM_DMESG_JSON, /* dmesg --json: one document, a key per line */
	FORM_VERBOSE,	 /* journalctl -o verbose: a heading, then a field per line */
	FORM_PRETTY,	 /* journalctl -o json-pretty: an object, a key per line */
};

struct container {
	enum container_form form;
	struct str message; /* message of the current record */
	struct log_line about;
	bool held;
	bool quoted; /* the message is a JSON string, otherwise an array of bytes */
};

/* Detects the log format from the start of the data. */
void container_begin(struct container *c, struct str data);

/*
 * Reads a raw line. Returns true if the line contains a message, or ends a record that has a
 * message. In this case `raw` is the message, and `l` has the other fields. `raw` may point into
 * `scratch`.
 */
bool container_record(struct container *c, struct str *raw, struct log_line *l, char **scratch);

/* Returns the size of a binary field of journal export at the start of `data`; 0: none. */
size_t container_binary(const struct container *c, struct str data);
void container_field(struct container *c, struct str field);

/* Returns whether `rest` is the end of the input, and a record with a message is still open. */
bool container_at_end(const struct container *c, struct str rest);

#endif
