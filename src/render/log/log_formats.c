// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes log lines for people, for syslog and for the journal. The journal's native protocol is in
 * systemd's document JOURNAL_NATIVE_PROTOCOL, and its field names are in systemd.journal-fields(7).
 */
#include <stdio.h>
#include <string.h>

#include "render/json_out.h"
#include "render/log/log_event.h"
#include "render/utc.h"
#include "rules/diagnoses.h"

#define FACILITY_DAEMON 3
/*
 * The number in the name of the structured data: faultscope has no enterprise number of its own, so
 * it uses the one of RFC 5612 for examples.
 */
#define SD_ID	       "faultscope@32473"
#define HOST_NAME_MOST 255 /* RFC 5424, 6: maximum length of HOSTNAME */

void log_text(struct buf *b, const struct log_event *e)
{
	buf_printf(b, "faultscope: %s ", as_utc(e->wall_ns).s);
	log_message(b, e);
	buf_putc(b, '\n');
}

/* Writes a field; `ctx` is that of put_fields(). */
typedef void put_field_fn(struct buf *b, const char *key, const char *value);

static void put_number(struct buf *b, put_field_fn *put, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	put(b, key, text);
}

/* Each row of log_lines.def writes one field, or nothing if its value is not known. */
#define ALONE(type, help, ...)                                                                     \
	static void put_fields(struct buf *b, put_field_fn *put, __VA_ARGS__)                      \
	{
#define KEY(key, type, help, ...) field_##type(b, put, #key, __VA_ARGS__);
#define END_LINE		  }

static void field_text(struct buf *b, put_field_fn *put, const char *key, const char *value)
{
	put(b, key, value);
}

static void field_text_or_null(struct buf *b, put_field_fn *put, const char *key, const char *value)
{
	if (value)
		put(b, key, value);
}

static void field_count(struct buf *b, put_field_fn *put, const char *key, uint64_t value)
{
	put_number(b, put, key, value);
}

static void field_count_or_null(struct buf *b, put_field_fn *put, const char *key, bool known,
				uint64_t value)
{
	if (known)
		put_number(b, put, key, value);
}

static void field_time(struct buf *b, put_field_fn *put, const char *key, uint64_t wall_ns)
{
	put(b, key, as_utc_ms(wall_ns).s);
}

#include "render/json/log_lines.def"

/* Values of structured data: RFC 5424, 6.3.3. Characters that are unsafe become \xNN before. */
static void put_sd_param(struct buf *b, const char *key, const char *value)
{
	struct buf safe = {};

	if (!strcmp(key, "message"))
		return; /* MSG */
	buf_safe(&safe, value, true);
	buf_printf(b, " %s=\"", key);
	for (const char *c = safe.s ? safe.s : ""; *c; c++) {
		if (strchr("\"\\]", *c))
			buf_putc(b, '\\');
		buf_putc(b, *c);
	}
	buf_putc(b, '"');
	buf_end_part(b, &safe);
}

/* Writes HOSTNAME: printable ASCII without blanks, or "-". */
static void put_host_name(struct buf *b, const char *name)
{
	size_t n = 0;

	for (; name[n] && n < HOST_NAME_MOST; n++)
		buf_putc(b, name[n] > ' ' && name[n] < 127 ? name[n] : '?');
	if (!n)
		buf_putc(b, '-');
}

void log_rfc5424(struct buf *b, const struct log_event *e)
{
	struct buf message = {};

	log_message(&message, e);
	buf_printf(b, "<%d>1 %s ", FACILITY_DAEMON * 8 + log_priority(e), as_utc_ms(e->wall_ns).s);
	put_host_name(b, e->host->host);
	buf_printf(b, " faultscope %u %s [" SD_ID, e->pid, log_kinds[e->kind].name);
	put_fields(b, put_sd_param, e, &message);
	buf_puts(b, "] ");
	buf_add(b, message.s ? message.s : "", message.len);
	buf_putc(b, '\n');
	buf_end_part(b, &message);
}

/*
 * Writes a field as NAME=VALUE, or with its length if the value has a newline: the value then needs
 * no escape, and cannot be taken for another field.
 */
static void put_assignment(struct buf *b, const char *name, const char *value)
{
	uint64_t len = strlen(value);

	buf_puts(b, name);
	buf_putc(b, strchr(value, '\n') ? '\n' : '=');
	for (int shift = 0; strchr(value, '\n') && shift < 64; shift += 8)
		buf_putc(b, len >> shift);
	buf_add(b, value, len);
	buf_putc(b, '\n');
}

static void put_journal_field(struct buf *b, const char *key, const char *value)
{
	char name[64] = "FAULTSCOPE_";
	size_t len = strlen(name);

	if (!strcmp(key, "message"))
		len = 0;
	for (; *key && len < sizeof(name) - 1; key++)
		name[len++] = *key >= 'a' && *key <= 'z' ? *key - 'a' + 'A' : *key;
	name[len] = 0;
	put_assignment(b, name, value);
}

void log_journal(struct buf *b, const struct log_event *e)
{
	struct buf message = {};
	char priority[] = {'0' + log_priority(e), 0};

	log_message(&message, e);
	put_assignment(b, "MESSAGE_ID", log_kinds[e->kind].message_id);
	put_assignment(b, "PRIORITY", priority);
	put_assignment(b, "SYSLOG_IDENTIFIER", "faultscope");
	put_fields(b, put_journal_field, e, &message);
	buf_end_part(b, &message);
}
