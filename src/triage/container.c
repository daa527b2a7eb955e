// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/container.h"

#include <stdlib.h>

#include "base/buf.h"

#define MESSAGE_MAX	 (1u << 16)
#define RECORD_SEPARATOR 0x1e

/* A JSON value that is not decoded yet. */
struct json_value {
	struct str s; /* text between the quotes, or the number, or the array with its brackets */
	bool quoted;
};

static size_t string_end(struct str s, size_t at)
{
	while (at < s.n && s.s[at] != '"')
		at += s.s[at] == '\\' ? 2 : 1;
	return at < s.n ? at : s.n;
}

/* Finds the value of a JSON key. Quotes may be escaped (\"), as in a test robot's log. */
static bool json_find(struct str s, const char *key, struct json_value *ret)
{
	size_t n = strlen(key), at;
	long found;

	for (size_t from = 0; from < s.n; from = at) {
		found = str_find(str_from(s, from), key);
		if (found < 0)
			return false;
		at = from + found + n;
		if (!(from + found) || s.s[from + found - 1] != '"' || str_at(s, at) != '"')
			continue;
		at++;
		while (is_blank(str_at(s, at)))
			at++;
		if (str_at(s, at) != ':')
			continue;
		at++;
		while (is_blank(str_at(s, at)))
			at++;
		ret->quoted = str_at(s, at) == '"';
		if (ret->quoted) {
			ret->s = str_from(s, at + 1);
			ret->s.n = string_end(s, at + 1) - (at + 1);
		} else {
			size_t end = at;
			char stop = str_at(s, at) == '[' ? ']' : ',';

			while (end < s.n && s.s[end] != stop && s.s[end] != '}')
				end++;
			ret->s = str_first(str_from(s, at), end - at);
		}
		return true;
	}
	return false;
}

/* Decodes the escape sequence after a backslash. Returns the sequence's length in bytes. */
static size_t unescape(struct str s, char *to, size_t *n)
{
	static const char from[] = "ntrbf", into[] = "\n\t\r\b\f";
	char c = str_at(s, 0);
	const char *known = c ? strchr(from, c) : NULL;
	uint64_t code;

	if (c == 'u' && str_hex(str_first(str_from(s, 1), 4), &code) == 4) {
		*n += utf8_encode(to + *n, code);
		return 5;
	}
	to[(*n)++] = known ? into[known - from] : c;
	return 1;
}

/* Decodes a JSON string, or an array of bytes (journald's form of binary text), into *scratch. */
static struct str json_text(const struct json_value *v, char **scratch)
{
	struct str s = str_first(v->s, MESSAGE_MAX);
	uint64_t byte;
	size_t n = 0;

	free(*scratch);
	*scratch = malloc(s.n + 4); /* decoding never makes the text longer */
	if (!*scratch)
		return (struct str){};
	for (size_t at = 0; at < s.n;) {
		size_t digits;

		if (!v->quoted) {
			digits = str_decimal(str_from(s, at), &byte);
			if (digits)
				(*scratch)[n++] = byte;
			at += digits ? digits : 1;
		} else if (s.s[at] == '\\' && at + 1 < s.n) {
			at += 1 + unescape(str_from(s, at + 1), *scratch, &n);
		} else {
			(*scratch)[n++] = s.s[at++];
		}
	}
	return (struct str){*scratch, n};
}

static void set_usec(struct log_line *l, struct str digits)
{
	uint64_t usec;

	if (!str_decimal(digits, &usec))
		return;
	l->timed = true;
	l->seconds = usec / 1e6;
}

static void set_level(struct log_line *l, struct str digits)
{
	uint64_t level;

	if (str_decimal(digits, &level))
		l->level = level & 7;
}

/*
 * Reads a line with one JSON object: of journalctl -o json, {"dt": …, "msg": …} of LAVA, {"log": …}
 * of docker, or {"message": …} of log collectors.
 */
static bool json_line(struct str *raw, struct log_line *l, char **scratch)
{
	struct json_value v;

	if (json_find(*raw, "MESSAGE", &v)) {
		struct json_value other;

		if (json_find(*raw, "_SOURCE_MONOTONIC_TIMESTAMP", &other))
			set_usec(l, other.s);
		if (json_find(*raw, "PRIORITY", &other))
			set_level(l, other.s);
		if (json_find(*raw, "SYSLOG_IDENTIFIER", &other))
			l->user = !str_is(other.s, "kernel");
		if (json_find(*raw, "_TRANSPORT", &other))
			l->user = !str_is(other.s, "kernel");
	} else if (!json_find(*raw, "msg", &v) && !json_find(*raw, "log", &v) &&
		   !json_find(*raw, "message", &v)) {
		return false;
	}
	*raw = json_text(&v, scratch);
	while (raw->n && (raw->s[raw->n - 1] == '\n' || raw->s[raw->n - 1] == '\r'))
		raw->n--;
	return true;
}

/* Reads a line of the output of dmesg --json, which has one key per line. */
static bool dmesg_line(struct container *c, struct str *raw, struct log_line *l, char **scratch)
{
	struct json_value v;

	if (json_find(*raw, "pri", &v))
		set_level(&c->about, v.s);
	if (json_find(*raw, "time", &v)) {
		uint64_t whole = 0, part = 0;
		struct str s = str_trim(v.s);
		size_t n = str_decimal(s, &whole);

		c->about.timed = n && str_at(s, n) == '.';
		if (c->about.timed)
			str_decimal(str_from(s, n + 1), &part);
		c->about.seconds = whole + part / 1e6;
	}
	if (!json_find(*raw, "msg", &v))
		return false;
	l->level = c->about.level;
	l->timed = c->about.timed;
	l->seconds = c->about.seconds;
	*raw = json_text(&v, scratch);
	return true;
}

/* Ends the current journal record. Returns whether the record has a message. */
static bool record_end(struct container *c, struct str *raw, struct log_line *l)
{
	bool held = c->held;

	if (held) {
		*raw = c->message;
		l->level = c->about.level;
		l->timed = c->about.timed;
		l->seconds = c->about.seconds;
		l->user = c->about.user;
	}
	c->held = false;
	c->about = (struct log_line){.level = -1};
	return held;
}

/* Reads a line of journalctl -o export: one field, or an empty line that ends a record. */
static bool export_line(struct container *c, struct str *raw, struct log_line *l)
{
	if (!raw->n)
		return record_end(c, raw, l);
	container_field(c, *raw);
	return false;
}

/*
 * Reads a line of journalctl -o verbose: a heading "Fri 2026-11-20 09:41:02.123456 UTC [s=…;i=…]",
 * or an indented "FIELD=value". A record ends at the next heading.
 */
static bool verbose_line(struct container *c, struct str *raw, struct log_line *l)
{
	if (!raw->n || (!is_blank(raw->s[0]) && str_has(*raw, " [s=")))
		return record_end(c, raw, l);
	container_field(c, str_trim(*raw));
	return false;
}

/* Reads a line of journalctl -o json-pretty: "{", one key per line, "}". */
static bool pretty_line(struct container *c, struct str *raw, struct log_line *l, char **scratch)
{
	struct json_value v;

	if (str_starts(str_trim(*raw), "}")) {
		struct json_value message = {c->message, c->quoted};

		if (!record_end(c, raw, l))
			return false;
		*raw = json_text(&message, scratch);
		return true;
	}
	if (json_find(*raw, "MESSAGE", &v)) {
		c->message = v.s;
		c->quoted = v.quoted;
		c->held = true;
	} else if (json_find(*raw, "_SOURCE_MONOTONIC_TIMESTAMP", &v)) {
		set_usec(&c->about, v.s);
	} else if (json_find(*raw, "PRIORITY", &v)) {
		set_level(&c->about, v.s);
	} else if (json_find(*raw, "_TRANSPORT", &v)) {
		c->about.user = !str_is(v.s, "kernel");
	}
	return false;
}

void container_field(struct container *c, struct str field)
{
	static const char message[] = "MESSAGE";

	if (str_starts(field, message) && str_at(field, 7) == '\n' && field.n > 16) {
		c->message = str_from(field, 16);
		while (c->message.n && c->message.s[c->message.n - 1] == '\n')
			c->message.n--;
		c->held = true;
	} else if (str_starts(field, "MESSAGE=")) {
		c->message = str_from(field, 8);
		c->held = true;
	} else if (str_starts(field, "PRIORITY=")) {
		set_level(&c->about, str_from(field, 9));
	} else if (str_starts(field, "_SOURCE_MONOTONIC_TIMESTAMP=")) {
		set_usec(&c->about, str_from(field, 28));
	} else if (str_starts(field, "_TRANSPORT=")) {
		c->about.user = !str_is(str_from(field, 11), "kernel");
	}
}

size_t container_binary(const struct container *c, struct str data)
{
	uint64_t size = 0;
	size_t name = 0;

	if (c->form != FORM_EXPORT)
		return 0;
	while (name < data.n && name < 64 && data.s[name] != '=' && data.s[name] != '\n')
		name++;
	if (!name || str_at(data, name) != '\n' || data.n < name + 9)
		return 0;
	for (int i = 7; i >= 0; i--)
		size = size << 8 | (unsigned char)data.s[name + 1 + i];
	if (size > data.n - name - 9)
		return 0;
	size += name + 9;
	return size < data.n && data.s[size] == '\n' ? size + 1 : size;
}

void container_begin(struct container *c, struct str data)
{
	struct str head = str_first(data, 4096);
	size_t at = 0;

	*c = (struct container){.about = {.level = -1}};
	while (at < head.n && (is_blank(head.s[at]) || head.s[at] == '\n' || head.s[at] == '\r'))
		at++;
	head = str_from(head, at);
	if (str_starts(head, "__CURSOR=") || str_starts(head, "__REALTIME_TIMESTAMP="))
		c->form = FORM_EXPORT;
	else if (str_starts(head, "{") && str_has(str_first(head, 64), "\"dmesg\""))
		c->form = FORM_DMESG_JSON;
	else if (str_starts(head, "{\n") &&
		 (str_has(head, "\"MESSAGE\"") || str_has(head, "\"__CURSOR\"")))
		c->form = FORM_PRETTY;
	else if (str_has(head, " [s=") && str_has(head, "\n    PRIORITY="))
		c->form = FORM_VERBOSE;
}

/* Removes the end of a test robot's JSON string from a truncated line: …"}, or …\n"} */
static void strip_quotes(struct str *raw)
{
	static const char *const ends[] = {"\"}", "\"},", "\\n\"}", "\\n"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (str_ends(*raw, ends[i]))
			raw->n -= strlen(ends[i]);
}

bool container_record(struct container *c, struct str *raw, struct log_line *l, char **scratch)
{
	struct str s = str_trim(*raw);

	if (str_at(s, 0) == RECORD_SEPARATOR) /* journalctl -o json-seq: RFC 7464 */
		s = str_from(s, 1);
	if (c->form == FORM_EXPORT)
		return export_line(c, raw, l);
	if (c->form == FORM_VERBOSE)
		return verbose_line(c, raw, l);
	if (c->form == FORM_PRETTY)
		return pretty_line(c, raw, l, scratch);
	if (c->form == FORM_DMESG_JSON)
		return dmesg_line(c, raw, l, scratch);
	if (str_starts(s, "- {"))
		s = str_from(s, 2);
	if (str_at(s, 0) == '{' && s.n > 2 && json_line(&s, l, scratch)) {
		*raw = s;
		return true;
	}
	strip_quotes(raw);
	return true;
}

bool container_at_end(const struct container *c, struct str rest)
{
	return (c->form == FORM_EXPORT || c->form == FORM_VERBOSE) && c->held && !rest.n;
}
