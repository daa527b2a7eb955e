/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * render: log lines about findings and incidents. The rows of json/log_lines.def are the fields of
 * a line in all formats.
 */
#ifndef FS_RENDER_LOG_LOG_EVENT_H
#define FS_RENDER_LOG_LOG_EVENT_H

#include "base/buf.h"
#include "model/model.h"
#include "rules/rules.h"

enum log_kind {
#define LOG_KIND(id, ...) LOG_##id,
#include "render/log/log_kinds.def"
#undef LOG_KIND
	NR_LOG_KINDS,
};

struct log_kind_row {
	const char *name;
	const char *message_id; /* MESSAGE_ID of the journal, 32 hexadecimal digits */
	int priority;		/* of syslog(3); -1: that of the finding's severity */
	const char *when;
};

extern const struct log_kind_row log_kinds[NR_LOG_KINDS];

/* The workload of a line. NULL or empty: not known. */
struct log_workload {
	const char *name, *unit, *namespace, *pod, *container;
};

/* A line. Pointers are NULL for what is not known; they are valid while the line is written. */
struct log_event {
	enum log_kind kind;
	uint64_t wall_ns; /* CLOCK_REALTIME */
	const struct host_record *host;
	const struct finding *finding;		/* NULL: the line is about an incident */
	const struct incident_record *incident; /* NULL: about a finding, or a removed file */
	const char *file;			/* path of the incident */
	const char *why;			/* reason of a removal or refusal, or error text */
	struct log_workload workload;
	/*
	 * true: leave out texts that may contain names: title, place and remedies of a finding. All
	 * other members are redacted already.
	 */
	bool redacted;
	uint64_t withheld; /* number of lines that were left out before this one */
	uint32_t pid;	   /* of faultscope, for formats that have such a field */
};

/* Returns the priority of syslog(3). */
int log_priority(const struct log_event *e);

/* Appends the message: one line for people, in which unsafe characters are escaped. */
void log_message(struct buf *b, const struct log_event *e);

/*
 * Append a line in a format: for people on standard error; a JSON line; a message of syslog
 * (RFC 5424); and a datagram of the journal's native protocol. Only log_journal() ends without a
 * newline character of its own.
 */
void log_text(struct buf *b, const struct log_event *e);
void log_json(struct buf *b, const struct log_event *e);
void log_rfc5424(struct buf *b, const struct log_event *e);
void log_journal(struct buf *b, const struct log_event *e);

/* Values of a line for the rows of log_lines.def; NULL or false: not known. */
const char *log_severity(const struct log_event *e);
const char *log_finding_id(const struct log_event *e);
const char *log_comm(const struct log_event *e);
uint32_t log_pid(const struct log_event *e); /* 0: no process */
const char *log_title(const struct log_event *e);
const char *log_place(const struct log_event *e);
const char *log_cause(const struct log_event *e);
const char *log_trigger(const struct log_event *e);
const struct evidence *log_limit(const struct log_event *e);
const struct remedy *log_remedy(const struct log_event *e);

#endif
