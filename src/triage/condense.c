// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/condense.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "blackbox/ring_record.h"
#include "triage/prefix.h"

#define BEFORE_BYTES (64u << 10) /* kept before a line that looks like a report */
#define AFTER_BYTES                                                                                \
	(128u << 10) /* kept after it: a report has at most 128 KiB between its lines              \
		      */
#define BLOCK_BYTES (1u << 20)
#define ROOM_MOST   (40u << 20)
#define KEPT_MOST   (32u << 20)
#define SKIPS_MOST  (1u << 20)
#define LINE_BYTES  1024 /* bytes of a line that are examined */

/* Words of reports. In JSON, no row of signatures.def matches, because a quotation mark precedes.
 */
static const char words[] = "BUG: |Oops|Kernel panic|Unable to handle kernel|Call Trace:|"
			    "Call trace:|Internal error: |general protection|WARNING: CPU|"
			    "cut here|Linux version |Modules linked in|INFO: task |"
			    "detected stall|Hardware Error";

void condenser_make(struct condenser *ret)
{
	memset(ret, 0, sizeof(*ret));
	signature_index_make(&ret->index);
}

static bool is_report(const struct condenser *c, struct str line)
{
	struct log_line unused = {};
	struct captures got;

	line = str_first(line, LINE_BYTES);
	if (str_has(line, BB_LINE_BEGINS))
		return true;
	if (str_at(str_trim(line), 0) == '{' || str_starts(line, "MESSAGE=") ||
	    str_has(line, "\"MESSAGE\""))
		return str_has_any(line, words);
	line = str_from(line, shape_length(&c->shapes, line));
	prefix_strip(&line, &unused);
	return signature_find(&c->index, line, &got) || str_starts_any(str_trim(line), words);
}

static int room_for(char **data, size_t *room, size_t size)
{
	size_t wanted = *room ? *room : BLOCK_BYTES;
	char *more;

	if (size > ROOM_MOST)
		return -ENOMEM;
	while (wanted < size)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	if (wanted > ROOM_MOST)
		wanted = ROOM_MOST;
	more = realloc(*data, wanted);
	if (!more)
		return -ENOMEM;
	*data = more;
	*room = wanted;
	return 0;
}

static int skip_add(struct condenser *c)
{
	struct triage_skip *more;

	if (!c->passed)
		return 0;
	more = array_grow(c->skip, c->skips, &c->skip_room, SKIPS_MOST, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->skip = more;
	c->skip[c->skips++] = (struct triage_skip){c->kept_bytes, c->passed};
	c->passed = 0;
	return 0;
}

static uint32_t lines_in(const char *s, size_t n)
{
	const char *end = s + n;
	uint32_t lines = 0;

	while (s < end && (s = memchr(s, '\n', end - s))) {
		lines++;
		s++;
	}
	return lines;
}

/* Drops the first bytes of `fresh`, which nothing needs. */
static void drop(struct condenser *c, size_t n)
{
	c->passed += lines_in(c->fresh, n);
	memmove(c->fresh, c->fresh + n, c->fresh_bytes - n);
	c->fresh_bytes -= n;
	c->scanned -= n;
}

/* Moves the first bytes of `fresh` to the kept ones. */
static int keep(struct condenser *c, size_t n)
{
	int err;

	if (c->kept_bytes + n > KEPT_MOST) {
		c->lost_bytes += n;
		return 0; /* the lines are counted when the bytes are dropped */
	}
	err = skip_add(c);
	if (!err)
		err = room_for(&c->kept, &c->kept_room, c->kept_bytes + n);
	if (err)
		return err;
	memcpy(c->kept + c->kept_bytes, c->fresh, n);
	c->kept_bytes += n;
	memmove(c->fresh, c->fresh + n, c->fresh_bytes - n);
	c->fresh_bytes -= n;
	c->scanned -= n;
	return 0;
}

/* Returns the offset of the first line that begins in the last BEFORE_BYTES before `at`. */
static size_t begin_before(const struct condenser *c, size_t at)
{
	size_t from = at > BEFORE_BYTES ? at - BEFORE_BYTES : 0;
	const char *nl = from ? memchr(c->fresh + from, '\n', at - from) : NULL;

	return nl ? (size_t)(nl + 1 - c->fresh) : from;
}

/* Examines the line of `n` bytes at `scanned`. */
static int line_take(struct condenser *c, size_t n)
{
	bool report = is_report(c, (struct str){c->fresh + c->scanned, n});

	if (report) {
		size_t begin = c->after ? 0 : begin_before(c, c->scanned);

		if (begin)
			drop(c, begin);
		c->after = AFTER_BYTES;
	}
	c->scanned += n;
	if (!c->after)
		return 0;
	c->after = !report && c->after < n ? 0 : c->after - (report ? 0 : n);
	return keep(c, c->scanned);
}

static int lines_take(struct condenser *c, bool end)
{
	int err = 0;

	while (!err && c->scanned < c->fresh_bytes) {
		size_t rest = c->fresh_bytes - c->scanned;
		const char *nl = memchr(c->fresh + c->scanned, '\n', rest);

		if (!nl && !end && rest < BLOCK_BYTES)
			break;
		err = line_take(c, nl ? (size_t)(nl + 1 - c->fresh) - c->scanned : rest);
	}
	return err;
}

static int block_take(struct condenser *c, const char *data, size_t n)
{
	int err = room_for(&c->fresh, &c->fresh_room, c->fresh_bytes + n);

	if (err)
		return err;
	memcpy(c->fresh + c->fresh_bytes, data, n);
	c->fresh_bytes += n;
	if (!c->shapes.n)
		shapes_learn(&c->shapes, (struct str){c->fresh, c->fresh_bytes});
	err = lines_take(c, false);
	if (c->scanned > BEFORE_BYTES)
		drop(c, begin_before(c, c->scanned));
	return err;
}

int condense(struct condenser *c, const char *data, size_t n)
{
	int err = 0;

	for (size_t at = 0; at < n && !err; at += BLOCK_BYTES)
		err = block_take(c, data + at, n - at < BLOCK_BYTES ? n - at : BLOCK_BYTES);
	return err;
}

int condense_end(struct condenser *c)
{
	int err = lines_take(c, true);

	if (!err && c->fresh_bytes)
		drop(c, c->fresh_bytes);
	return err ? err : skip_add(c);
}

void condenser_free(struct condenser *c)
{
	free(c->fresh);
	free(c->kept);
	free(c->skip);
	memset(c, 0, sizeof(*c));
}
