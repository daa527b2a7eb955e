// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/ring_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

#define VERSION_OF_RECORDS 1
#define CRC_AT		   60

static const char *const class_names[] = {
#define X(id, name) [BB_##id] = name,
	BB_CLASSES(X)
#undef X
};

static const char *const severity_names[] = {"info", "warning", "critical"};

const char *bb_class_name(enum bb_class class)
{
	return class < NR_BB_CLASSES ? class_names[class] : "none";
}

const char *bb_severity_name(enum bb_severity severity)
{
	return severity < NR_BB_SEVERITIES ? severity_names[severity] : "info";
}

static void put_le(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = value >> (8 * i);
}

static uint64_t get_le(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/*
 * Computes the checksum of a record: it covers all bytes of the record except the checksum itself.
 */
static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t crc = crc32c(0, data, CRC_AT);

	return crc32c(crc, data + CRC_AT + 4, size - CRC_AT - 4);
}

size_t bb_encode(const struct bb_record *r, uint8_t ret[BB_RECORD_MAX])
{
	size_t text = strnlen(r->text, BB_TEXT_MAX), size = BB_HEAD_BYTES + text;

	memset(ret, 0, BB_RECORD_MAX);
	memcpy(ret, BB_MAGIC, 4);
	put_le(ret + 4, VERSION_OF_RECORDS, 2);
	put_le(ret + 6, size, 2);
	put_le(ret + 8, r->sequence, 8);
	put_le(ret + 16, r->boot_ns, 8);
	put_le(ret + 24, r->wall_ns, 8);
	memcpy(ret + 32, r->boot_id, BB_BOOT_BYTES);
	ret[48] = r->class;
	ret[49] = r->severity;
	put_le(ret + 52, r->count, 4);
	put_le(ret + 56, r->dropped, 4);
	memcpy(ret + BB_HEAD_BYTES, r->text, text);
	put_le(ret + CRC_AT, checksum(ret, size), 4);
	return size;
}

int bb_decode(const uint8_t *data, size_t size, struct bb_record *ret)
{
	struct bb_record r = {};
	size_t len;

	if (size < 4 || memcmp(data, BB_MAGIC, 4))
		return -EINVAL;
	if (size < BB_HEAD_BYTES)
		return -EILSEQ;
	len = get_le(data + 6, 2);
	if (get_le(data + 4, 2) != VERSION_OF_RECORDS || len < BB_HEAD_BYTES ||
	    len > BB_RECORD_MAX || len > size || checksum(data, len) != get_le(data + CRC_AT, 4))
		return -EILSEQ;
	r.sequence = get_le(data + 8, 8);
	r.boot_ns = get_le(data + 16, 8);
	r.wall_ns = get_le(data + 24, 8);
	memcpy(r.boot_id, data + 32, BB_BOOT_BYTES);
	r.class = data[48] < NR_BB_CLASSES ? data[48] : BB_NONE; /* class of a later version */
	r.severity = data[49] < NR_BB_SEVERITIES ? data[49] : BB_INFO;
	r.count = get_le(data + 52, 4);
	r.dropped = get_le(data + 56, 4);
	memcpy(r.text, data + BB_HEAD_BYTES, len - BB_HEAD_BYTES);
	*ret = r;
	return len;
}

/* ---- a record as a line of text ---- */

size_t bb_encode_line(const struct bb_record *r, char ret[BB_LINE_MAX])
{
	char id[2 * BB_BOOT_BYTES + 1];
	size_t n;

	for (int i = 0; i < BB_BOOT_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", r->boot_id[i]);
	n = snprintf(ret, BB_LINE_MAX,
		     BB_LINE_BEGINS "%" PRIu64 " %s %s %" PRIu64 " %" PRIu64 " %s %" PRIu32
				    " %" PRIu32 " %s",
		     r->sequence, bb_class_name(r->class), bb_severity_name(r->severity),
		     r->boot_ns, r->wall_ns, id, r->count, r->dropped, r->text);
	return n + snprintf(ret + n, BB_LINE_MAX - n, " ~%08" PRIx32, crc32c(0, ret, n));
}

static const char *find(const char *in, size_t size, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= size; i++)
		if (in[i] == *what && !memcmp(in + i, what, n))
			return in + i;
	return NULL;
}

static int name_at(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	return 0;
}

/* Finds the checksum of a line: its last " ~XXXXXXXX". */
static const char *find_sum(const char *at, size_t size, uint32_t *ret)
{
	for (size_t i = size; i >= 10; i--) {
		const char *s = at + i - 10;
		char digits[9] = {}, *end;

		if (s[0] != ' ' || s[1] != '~')
			continue;
		memcpy(digits, s + 2, 8);
		*ret = strtoul(digits, &end, 16);
		if (end == digits + 8)
			return s;
	}
	return NULL;
}

int bb_decode_line(const char *line, size_t size, struct bb_record *ret)
{
	const char *at = find(line, size, BB_LINE_BEGINS), *end;
	char copy[BB_LINE_MAX], class[16], severity[16], id[40];
	struct bb_record r = {};
	uint32_t sum;
	int text = 0;
	size_t n;

	if (!at)
		return -EINVAL;
	size -= at - line;
	end = find_sum(at, size, &sum);
	if (!end || end - at >= BB_LINE_MAX)
		return -EILSEQ;
	n = end - at;
	memcpy(copy, at, n);
	copy[n] = 0;
	if (crc32c(0, copy, n) != sum || strlen(copy) != n)
		return -EILSEQ;
	if (sscanf(copy,
		   BB_LINE_BEGINS "%" SCNu64 " %15s %15s %" SCNu64 " %" SCNu64 " %39s %" SCNu32
				  " %" SCNu32 " %n",
		   &r.sequence, class, severity, &r.boot_ns, &r.wall_ns, id, &r.count, &r.dropped,
		   &text) < 8 ||
	    !text || !bb_boot_id(id, r.boot_id) || n - text > BB_TEXT_MAX)
		return -EILSEQ;
	r.class = name_at(class_names, NR_BB_CLASSES, class);
	r.severity = name_at(severity_names, NR_BB_SEVERITIES, severity);
	memcpy(r.text, copy + text, n - text);
	*ret = r;
	return 0;
}

/* ---- key=value pairs ---- */

static bool is_plain(const char *value)
{
	if (!*value)
		return false;
	for (; *value; value++)
		if (*value <= ' ' || *value >= 0x7f || strchr("\"\\=", *value))
			return false;
	return true;
}

/* Writes one byte of a quoted value. Returns the number of characters written. */
static size_t put_byte(char *at, unsigned char c)
{
	if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
		at[0] = c;
		return 1;
	}
	snprintf(at, 5, "\\x%02x", c);
	return 4;
}

/*
 * Adds a key=value pair. Returns false if the value did not fit. With `cut`, adds the part of the
 * value that fits.
 */
static bool put_pair(struct bb_record *r, const char *key, const char *value, bool cut)
{
	char pair[BB_TEXT_MAX + 8];
	size_t used = strlen(r->text), room = BB_TEXT_MAX - used, n;
	bool plain = is_plain(value), whole = true;

	n = snprintf(pair, sizeof(pair), "%s%s=%s", used ? " " : "", key, plain ? "" : "\"");
	if (n + 8 > room)
		return false;
	for (; *value && whole; value++) {
		char one[5];
		size_t len = put_byte(one, *value);

		whole = n + len + 1 <= room;
		if (whole) {
			memcpy(pair + n, one, len);
			n += len;
		}
	}
	if (!whole && !cut)
		return false;
	if (!plain)
		pair[n++] = '"';
	memcpy(r->text + used, pair, n);
	r->text[used + n] = 0;
	return whole;
}

bool bb_put(struct bb_record *r, const char *key, const char *value)
{
	return put_pair(r, key, value, false);
}

void bb_put_cut(struct bb_record *r, const char *key, const char *value)
{
	put_pair(r, key, value, true);
}

bool bb_put_hex(struct bb_record *r, const char *key, uint64_t value)
{
	char s[24];

	snprintf(s, sizeof(s), "0x%" PRIx64, value);
	return bb_put(r, key, s);
}

bool bb_put_u64(struct bb_record *r, const char *key, uint64_t value)
{
	char s[24];

	snprintf(s, sizeof(s), "%" PRIu64, value);
	return bb_put(r, key, s);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads one byte of a quoted value, and moves *s to the next byte. */
static char take_byte(const char **s)
{
	const char *at = *s;

	if (at[0] == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 && hex_digit(at[3]) >= 0) {
		*s += 4;
		return hex_digit(at[2]) << 4 | hex_digit(at[3]);
	}
	*s += 1;
	return *at;
}

/* Returns the start of the next key=value pair. */
static const char *skip_pair(const char *s)
{
	bool quoted = false;

	for (; *s && (quoted || *s != ' '); s++)
		if (*s == '"')
			quoted = !quoted;
	return *s ? s + 1 : s;
}

bool bb_get(const struct bb_record *r, const char *key, char *ret, size_t size)
{
	size_t len = strlen(key), n = 0;
	const char *s = r->text;
	char copy[BB_TEXT_MAX + 1], ends;

	while (*s && (strncmp(s, key, len) || s[len] != '='))
		s = skip_pair(s);
	if (!*s)
		return false;
	s += len + 1;
	ends = *s == '"' ? *s++ : ' ';
	while (*s && *s != ends)
		copy[n++] = take_byte(&s);
	if (n >= size)
		return false;
	memcpy(ret, copy, n);
	ret[n] = 0;
	return true;
}

bool bb_get_u64(const struct bb_record *r, const char *key, uint64_t *ret)
{
	char s[24], *end;
	uint64_t value;

	if (!bb_get(r, key, s, sizeof(s)) || !*s)
		return false;
	value = strtoull(s, &end, 0);
	if (*end)
		return false;
	*ret = value;
	return true;
}

bool bb_boot_id(const char *text, uint8_t ret[BB_BOOT_BYTES])
{
	uint8_t id[BB_BOOT_BYTES] = {};
	int digits = 0;

	for (; *text && digits < 2 * BB_BOOT_BYTES; text++) {
		int d = hex_digit(*text);

		if (d >= 0) {
			id[digits / 2] |= d << (digits % 2 ? 0 : 4);
			digits++;
		} else if (*text != '-') {
			return false;
		}
	}
	if (digits < 2 * BB_BOOT_BYTES)
		return false;
	memcpy(ret, id, BB_BOOT_BYTES);
	return true;
}
