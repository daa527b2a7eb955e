// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/trace_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "blackbox/modules.h"

#define TRACE_HEAD "# tracer:"
#define MARK	   "faultscope! "
#define CONSOLE	   " console: "
#define RAW	   "msg=" /* prefix of messages of the previous boot */
#define LINE_MOST  1024

bool bb_is_trace(const char *text, size_t size)
{
	return size >= strlen(TRACE_HEAD) && !memcmp(text, TRACE_HEAD, strlen(TRACE_HEAD));
}

/* Gets the next line, NUL-terminated; a long line is cut. Returns false at the end of the text. */
static bool next_line(const char **at, const char *end, char ret[LINE_MOST])
{
	const char *newline;
	size_t n;

	if (*at >= end)
		return false;
	newline = memchr(*at, '\n', end - *at);
	n = (newline ? newline : end) - *at;
	memcpy(ret, *at, n < LINE_MOST ? n : LINE_MOST - 1);
	ret[n < LINE_MOST ? n : LINE_MOST - 1] = 0;
	*at += n + 1;
	return true;
}

/*
 * Finds the time stamp in a line such as " 12.345678: event: ". Returns false if the line has no
 * time stamp.
 */
static bool time_of(const char *line, double *ret_seconds)
{
	for (const char *s = line; (s = strstr(s, ": ")); s += 2) {
		const char *begin = s;
		char *end;

		while (begin > line && (begin[-1] == '.' || (begin[-1] >= '0' && begin[-1] <= '9')))
			begin--;
		if (begin == s || !memchr(begin, '.', s - begin))
			continue;
		*ret_seconds = strtod(begin, &end);
		return end == s;
	}
	return false;
}

struct marked {
	int what, verdict, pid, flags;
	uint64_t ip, address, error, area, bytes, owner, freer, freed_ns;
};

static bool mark_parse(const char *line, struct marked *ret)
{
	const char *s = strstr(line, MARK);

	return s && sscanf(s,
			   MARK "%d %d ip=%" SCNx64 " at=%" SCNx64 " error=%" SCNx64
				" pid=%d area=%" SCNx64 " bytes=%" SCNx64 " owner=%" SCNx64
				" freer=%" SCNx64 " freed=%" SCNu64 " flags=%d",
			   &ret->what, &ret->verdict, &ret->ip, &ret->address, &ret->error,
			   &ret->pid, &ret->area, &ret->bytes, &ret->owner, &ret->freer,
			   &ret->freed_ns, &ret->flags) == 12;
}

static void put_place(struct bb_record *r, const struct bb_modules *m, const char *key,
		      const char *module_key, uint64_t ip)
{
	const struct bb_module *of = ip ? bb_module_of(m, ip) : NULL;
	char text[32];

	if (!ip)
		return;
	snprintf(text, sizeof(text), of ? "+0x%" PRIx64 : "0x%" PRIx64,
		 of ? ip - of->start[0] : ip);
	bb_put(r, key, text);
	if (of)
		bb_put(r, module_key, of->name);
}

static void mark_record(const struct marked *k, const struct bb_modules *m, uint64_t boot_ns,
			struct bb_record *ret)
{
	const struct bb_module *was = bb_module_of(m, k->address);
	struct bb_record r = {.class = BB_FAULT,
			      .severity = k->verdict ? BB_CRITICAL : BB_WARNING,
			      .count = 1,
			      .boot_ns = boot_ns};

	bb_put(&r, "verdict", k->verdict ? "fatal" : "suspected");
	bb_put(&r, "access",
	       k->what == 3    ? "protection"
	       : k->error & 16 ? "exec"
	       : k->error & 2  ? "write"
			       : "read");
	bb_put_hex(&r, "address", k->address);
	put_place(&r, m, "symbol", "module", k->ip);
	bb_put_u64(&r, "pid", k->pid);
	bb_put_hex(&r, "error", k->error);
	if (was) {
		bb_put(&r, was->unloaded_ns ? "freed_module" : "data_of", was->name);
		if (was->unloaded_ns && boot_ns > was->unloaded_ns)
			bb_put_u64(&r, "unloaded_ms_ago", (boot_ns - was->unloaded_ns) / 1000000);
	}
	if (k->bytes) {
		bb_put(&r, "area", k->flags & 1 ? "ioremap" : "vmalloc");
		bb_put_hex(&r, "area_start", k->area);
		bb_put_u64(&r, "area_bytes", k->bytes);
		put_place(&r, m, "area_owner", "area_module", k->owner);
		put_place(&r, m, "area_freer", "freer_module", k->freer);
		if (boot_ns > k->freed_ns)
			bb_put_u64(&r, "area_freed_us_ago", (boot_ns - k->freed_ns) / 1000);
	}
	bb_put(&r, "from", "mark");
	*ret = r;
}

int bb_trace_scan(struct bb_found *f, const char *text, size_t size)
{
	struct bb_modules *m = calloc(1, sizeof(struct bb_modules)); /* too large for a stack */
	const char *at = text, *end = text + size;
	struct bb_record last = {};
	char line[LINE_MOST];
	struct marked k;
	double seconds;
	int err = 0;

	if (!m)
		return -ENOMEM;
	while (!err && next_line(&at, end, line)) {
		struct bb_record r;

		if (!bb_decode_line(line, strlen(line), &r)) {
			last = r;
			bb_modules_take(m, &r);
			continue;
		}
		if (!mark_parse(line, &k) || !time_of(line, &seconds))
			continue;
		mark_record(&k, m, count_of_real(seconds * 1e9), &r);
		memcpy(r.boot_id, last.boot_id, sizeof(r.boot_id));
		/*
		 * The sequence number places the fault after the recorder's last record and before
		 * its next record.
		 */
		r.sequence = last.sequence;
		r.wall_ns =
			last.wall_ns + (r.boot_ns > last.boot_ns ? r.boot_ns - last.boot_ns : 0);
		err = bb_found_add(f, &r);
	}
	free(m);
	return err;
}

/*
 * Returns whether a piece of text continues the line before it. Trace events do not show where
 * lines end.
 */
static bool continues(const char *before, const char *piece)
{
	size_t n = strlen(before);

	if (!n)
		return false;
	if (before[n - 1] == ' ' && *piece)
		return true;
	return *piece == ' ' && (!strncmp(before, "Modules linked in:", 18) ||
				 !strncmp(before, "Code:", 5) || !strncmp(before, "Hardware", 8));
}

static void flush_line(struct buf *b, double seconds, char *line)
{
	if (*line)
		buf_printf(b, "[%12.6f] %s\n", seconds, line);
	*line = 0;
}

void bb_trace_log(struct buf *b, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	char line[LINE_MOST], whole[4 * LINE_MOST] = "";
	double seconds, began = 0;

	while (next_line(&at, end, line)) {
		const char *piece = strstr(line, CONSOLE);

		if (!piece || !time_of(line, &seconds))
			continue;
		piece += strlen(CONSOLE);
		if (!strncmp(piece, RAW, strlen(RAW)))
			piece += strlen(RAW);
		if (!strncmp(piece, BB_LINE_BEGINS, strlen(BB_LINE_BEGINS)))
			continue; /* skip a record that another CPU wrote in the middle of a line */
		if (continues(whole, piece) && strlen(whole) + strlen(piece) < sizeof(whole)) {
			strcat(whole, piece);
			continue;
		}
		flush_line(b, began, whole);
		strcpy(whole, piece);
		began = seconds;
	}
	flush_line(b, began, whole);
}
