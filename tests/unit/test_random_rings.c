// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how random records of the flight recorder are written, found again in damaged bytes, read
 * from a trace, turned into a kernel log and joined with it. The test compares checksums.
 */
#include <stdlib.h>

#include "blackbox/log_lines.h"
#include "blackbox/log_records.h"
#include "blackbox/trace_text.h"
#include "sums.h"
#include "triage/triage.h"

#define RINGS	1200
#define RECORDS 14 /* most records of a ring */

static uint64_t dice = 31;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

#define ANY(list) (list[below(sizeof(list) / sizeof(list[0]))])

static const uint64_t places[] = {0,
				  8,
				  0x1000,
				  0xffffffffc0100000,
				  0xffffffffc0100040,
				  0xffffffffc0101fff,
				  0xffffffffc0102000,
				  0xffff888012345678,
				  0xffffffff81234567,
				  0xdead000000000100,
				  0x6b6b6b6b6b6b6b6b};

static void put_random(struct bb_record *r)
{
	static const char *const keys[] = {"access",
					   "address",
					   "area",
					   "area_module",
					   "by",
					   "by_module",
					   "code",
					   "comm",
					   "data_of",
					   "error",
					   "event",
					   "freed_module",
					   "freer_module",
					   "level",
					   "line",
					   "loaded",
					   "module",
					   "pid",
					   "stack",
					   "symbol",
					   "taints",
					   "text",
					   "unloaded",
					   "verdict",
					   "cpu",
					   "ax",
					   "r9",
					   "added",
					   "area_freed_us_ago",
					   "unloaded_ms_ago",
					   "area_start",
					   "area_bytes",
					   "us"};
	static const char *const texts[] = {
		"read",
		"write",
		"exec",
		"protection",
		"lab",
		"other",
		"lab_write+0x9c/0x110",
		"fatal",
		"suspected",
		"loaded",
		"unloaded",
		"8b7040<0f>0b",
		"ioremap",
		"vmalloc",
		"+0x40",
		"rodata",
		"BUG: kernel NULL pointer dereference, address: 0000000000000008",
		"bash",
		"panic",
		"lab:0xffffffffc0100000:0x2000 other:0xffffffffc0200000:0x1000",
		"kworker/0:1 x",
		"a\"b\\c",
		"RIP: 0010:lab_write+0x9c/0x110 [lab]",
		"O",
		"lab_write+0x9c lab_read+0x1",
		""};
	const char *key = ANY(keys);

	switch (below(4)) {
	case 0:
		bb_put_hex(r, key, ANY(places));
		break;
	case 1:
		bb_put_u64(r, key, below(3) ? below(20) : below(1 << 30));
		break;
	default:
		bb_put(r, key, ANY(texts));
	}
}

static struct bb_record random_record(uint64_t nth)
{
	struct bb_record r = {.wall_ns = 1700000000000000000 + nth * 1500000000};
	uint64_t keys = 1 + below(10);

	r.sequence = nth + below(2);
	r.boot_ns = nth * 1500000000 + below(1000);
	r.class = below(NR_BB_CLASSES);
	r.severity = below(NR_BB_SEVERITIES);
	r.count = 1 + below(3);
	r.dropped = below(4) ? 0 : below(9);
	memset(r.boot_id, 1 + below(5) / 4, sizeof(r.boot_id));
	if (!below(3))
		bb_put(&r, "event", below(2) ? "loaded" : "unloaded");
	for (uint64_t i = 0; i < keys; i++)
		put_random(&r);
	return r;
}

/* Adds a line as BPF programs write it to a trace instance. */
static void put_mark(struct buf *b, uint64_t nth)
{
	uint64_t what = below(4), verdict = below(2), ip = ANY(places), at = ANY(places);
	uint64_t error = below(32), area = ANY(places), bytes = below(3) * 4096,
		 owner = ANY(places);
	uint64_t freer = ANY(places), freed = below(3) * 1500000, flags = below(3);

	buf_printf(b,
		   "          <...>-%" PRIu64 "   [001] d..1. %9" PRIu64
		   ".345678: bpf_trace_printk: faultscope! %d %d ip=%" PRIx64 " at=%" PRIx64
		   " error=%" PRIx64 " pid=%d area=%" PRIx64 " bytes=%" PRIx64 " owner=%" PRIx64
		   " freer=%" PRIx64 " freed=%" PRIu64 " flags=%d\n",
		   100 + nth, nth, (int)what, (int)verdict, ip, at, error, 4711, area, bytes, owner,
		   freer, freed, (int)flags);
}

/* Writes a trace with marks, records and lines of the console. */
static void make_trace(struct buf *b)
{
	static const char *const lines[] = {"Oops: 0002 [#1] SMP",
					    "BUG: unable to handle ",
					    "msg=page fault",
					    "RIP: 0010:lab_write+0x9c/0x110 [lab]",
					    " Call Trace:",
					    "\x01"
					    "4x"};
	uint64_t n = below(12);

	buf_puts(b, "# tracer: nop\n#\n");
	for (uint64_t i = 0; i < n; i++) {
		struct bb_record r = random_record(i);
		const char *text = ANY(lines);
		char line[BB_LINE_MAX];

		switch (below(3)) {
		case 0:
			put_mark(b, i);
			break;
		case 1:
			buf_printf(b,
				   "          <...>-%d   [000] d..1. %9" PRIu64 ".5: console: %s%s",
				   7, i, text, below(4) ? "\n" : "");
			break;
		default:
			bb_encode_line(&r, line);
			buf_printf(b,
				   "          <...>-%d   [000] d..1. %9" PRIu64
				   ".25: tracing_mark_write: %s\n",
				   9, i, line);
		}
	}
}

/* Writes records as bytes and as lines, and damages some bytes. */
static void make_ring(struct buf *b)
{
	uint64_t n = 1 + below(RECORDS);

	for (uint64_t i = 0; i < n; i++) {
		struct bb_record r = random_record(i);
		uint8_t bytes[BB_RECORD_MAX];
		char line[BB_LINE_MAX];
		size_t from = b->len;

		if (below(2)) {
			buf_add(b, (char *)bytes, bb_encode(&r, bytes));
		} else {
			bb_encode_line(&r, line);
			buf_printf(b, "<4>[   12.5] faultscope: %s\n", line);
		}
		if (!below(6)) {
			size_t at = from + below(b->len - from);

			b->s[at] ^= 1 << below(8);
		}
		if (!below(9)) { /* the ring's beginning once more */
			struct buf again = {};

			buf_add(&again, b->s, below(b->len));
			buf_add(b, again.s ? again.s : "", again.len);
			buf_free(&again);
		}
	}
}

static void mix_bytes(uint64_t *sum, const char *s, size_t n)
{
	mix(sum, n);
	for (size_t i = 0; i < n; i++)
		mix(sum, (unsigned char)s[i]);
}

static void mix_found(uint64_t *sum, const struct bb_found *f)
{
	mix(sum, f->n);
	mix(sum, f->torn << 32 | f->lost);
	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		mix(sum, r->sequence ^ r->boot_ns << 1 ^ r->wall_ns << 2);
		mix(sum, r->class | r->severity << 8 | r->boot_id[0] << 16);
		mix(sum, (uint64_t)r->count << 32 | r->dropped);
		mix_text(sum, r->text);
	}
	for (size_t i = 0; i < f->boots; i++) {
		const struct bb_boot *boot = &f->boot[i];

		mix(sum, boot->id[0] | boot->stopped << 8);
		mix(sum, boot->first_wall_ns ^ boot->alive_boot_ns << 1 ^ boot->alive_wall_ns << 2);
		mix(sum, boot->records << 32 | boot->missing);
	}
}

static void mix_signs(uint64_t *sum, const struct crash_signs *p)
{
	mix(sum, p->n << 32 | p->lost);
	for (size_t i = 0; i < p->n; i++) {
		mix_text(sum, p->one[i].id);
		mix_text(sum, p->one[i].place);
		mix(sum, p->one[i].severity | p->one[i].count << 8);
		mix(sum, p->one[i].first_ns ^ p->one[i].last_ns << 1 ^ p->one[i].last_wall_ns << 2);
	}
}

static void mix_recorded(uint64_t *sum, const struct recorded *r)
{
	mix(sum, r->any | r->fatal << 1);
	mix(sum, (uint64_t)r->notes << 32 | r->left_out);
	mix(sum, r->absorbed ^ r->torn << 1);
	mix(sum, (int64_t)(r->silent * 1000));
	mix(sum, r->points);
	mix_text(sum, r->module);
	mix_text(sum, r->registers);
	mix_text(sum, r->boot_id);
	for (uint32_t i = 0; i < r->notes; i++) {
		mix(sum, r->note[i].class);
		mix(sum, (int64_t)(r->note[i].before * 1000));
		mix(sum, strlen(r->note[i].text));
	}
	mix_signs(sum, &r->crash_signs);
}

/* Joins the records with the kernel log that is made from them. */
static void mix_joined(uint64_t *sum, const struct bb_found *f, const struct buf *log)
{
	struct triage_input in = {.name = "log", .data = log->s ? log->s : "", .size = log->len};
	struct triage t;

	if (triage_run(&t, &in, 1))
		abort();
	triage_join(&t, f);
	mix(sum, t.primary);
	mix_recorded(sum, &t.recorded);
	for (uint32_t i = 0; i < t.verdicts; i++) {
		mix(sum, t.verdict[i].mechanism | t.verdict[i].confidence << 16);
		mix_text(sum, t.verdict[i].bucket);
		mix(sum, t.verdict[i].suspects ? t.verdict[i].suspect[0].points : 0);
	}
	triage_free(&t);
}

static void try_ring(uint64_t *sum)
{
	struct buf ring = {}, trace = {}, log = {};
	static struct crash_signs signs;
	struct bb_found f = {};

	make_ring(&ring);
	make_trace(&trace);
	bb_scan(&f, ring.s, ring.len);
	if (below(2)) {
		bb_scan(&f, trace.s, trace.len);
		bb_trace_scan(&f, trace.s, trace.len);
	}
	bb_found_settle(&f);
	mix_found(sum, &f);
	bb_trace_log(&log, trace.s, trace.len);
	for (size_t i = 0; i < f.boots; i++) {
		bb_relog(&log, &f, f.boot[i].id);
		crash_signs_find(&signs, &f, i);
		mix_signs(sum, &signs);
	}
	mix_bytes(sum, log.s ? log.s : "", log.len);
	mix_joined(sum, &f, &log);
	bb_found_free(&f);
	buf_free(&ring);
	buf_free(&trace);
	buf_free(&log);
}

int main(void)
{
	struct sum sums[] = {{"rings 0 to 399", SUM_BEGINS, 0x2eed8bf7065eb12a},
			     {"rings 400 to 799", SUM_BEGINS, 0x321297b59851b76b},
			     {"rings 800 to 1199", SUM_BEGINS, 0xcaf9e6e3ee7a094e}};
	const int each = RINGS / (sizeof(sums) / sizeof(sums[0]));

	for (int i = 0; i < RINGS; i++)
		try_ring(&sums[i / each].got);
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
