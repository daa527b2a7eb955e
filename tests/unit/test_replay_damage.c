// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what is read of a recording in which bytes were added, changed or cut off: each record that
 * is left, where and how large the damage is, and what is said of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <zlib.h>

#include "failing_memory.h"
#include "fixture.h"
#include "open_files.h"
#include "probe/record_packing.h"
#include "probe/recording.h"
#include "tap.h"

#define CHUNK_MOST 4096
#define WINDOW	   65536 /* bytes of the file that are searched at once for a key chunk */

struct chunk {
	unsigned char bytes[CHUNK_MOST];
	size_t len;
};

/* The list of fields; two key chunks, each with two chunks behind it; and one with an end record.
 */
static struct chunk fields, a, a2, a3, b, b2, b3, end_of_all;

static unsigned char file[8 * WINDOW];
static size_t len;
static char path[160], error[512];

static struct replay_facts facts;
static char times[256]; /* of the records that were read, in seconds */
static unsigned int unknown;
static int sink_error; /* result of the reader for the second record; 0: it takes all */

/* ---- recordings ---- */

static void keep(struct packer *p, struct chunk *to, bool list)
{
	const unsigned char *bytes;
	size_t n;

	if (list ? packer_fields(p, &bytes, &n) : packer_end(p, &bytes, &n))
		abort();
	if (n > sizeof(to->bytes))
		abort();
	memcpy(to->bytes, bytes, n);
	to->len = n;
}

static void pack_tick(struct packer *p, struct chunk *to, uint64_t s)
{
	struct tick_record tick = tick_record(s * SECOND);

	if (packer_add(p, &tick.h))
		abort();
	keep(p, to, false);
}

static void make_chunks(void)
{
	struct end_record end = RECORD(end_record, RECORD_END, 9 * SECOND);
	static struct chunk *const all[] = {&a, &a2, &a3, &b, &b2, &b3};
	struct packer *p;

	if (packer_make(&p))
		abort();
	keep(p, &fields, true);
	for (size_t i = 0; i < 6; i++) {
		if (i == 3)
			packer_begin_anew(p);
		pack_tick(p, all[i], i + 1);
	}
	end.reason = END_FULL;
	packer_begin_anew(p);
	if (packer_add(p, &end.h))
		abort();
	keep(p, &end_of_all, false);
	packer_free(p);
}

static void begin(void)
{
	recording_header(file);
	len = RECORDING_HEADER_BYTES;
	sink_error = 0;
}

static void put(const struct chunk *c)
{
	memcpy(file + len, c->bytes, c->len);
	len += c->len;
}

static void put_garbage(size_t n)
{
	memset(file + len, 0xa5, n);
	len += n;
}

static struct chunk_header *header_of(struct chunk *c)
{
	return (struct chunk_header *)c->bytes;
}

/* Corrects the checksums of a chunk that was changed. */
static void sign(struct chunk *c)
{
	const size_t from = offsetof(struct chunk_header, payload_crc);
	struct chunk_header *ch = header_of(c);

	ch->payload_crc = crc32(0, c->bytes + sizeof(*ch), c->len - sizeof(*ch));
	ch->header_crc = crc32(0, c->bytes + from, sizeof(*ch) - from);
}

/* ---- reading ---- */

static int take(void *ctx, const struct record *h)
{
	size_t n = strlen(times);

	(void)ctx;
	if (h->kind == RECORD_FIELD) {
		unknown++;
		return 0;
	}
	if (*times && sink_error)
		return sink_error;
	snprintf(times + n, sizeof(times) - n, "%llu ", (unsigned long long)(h->t_ns / SECOND));
	return 0;
}

static void write_file(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, file, len) != (ssize_t)len)
		abort();
	close(fd);
}

/* Reads the file. Returns the last result, which ended the reading. */
static int replay(uint64_t *ret_last_ns)
{
	const struct sink sink = {.take = take};
	size_t fds = open_fds();
	struct source *src;
	int err;

	write_file();
	times[0] = error[0] = 0;
	unknown = 0;
	if (replay_open(path, &src, error, sizeof(error)))
		abort();
	*ret_last_ns = replay_last_ns(src);
	do
		err = src->ops->look(src, &sink);
	while (!err);
	facts = *replay_facts(src);
	snprintf(error, sizeof(error), "%s", src->error);
	src->ops->close(src);
	if (open_fds() != fds)
		ok(false, "a file stays open");
	return err;
}

/* What is expected of a file with damage. */
struct want {
	const char *times;
	unsigned int chunks, damages;
	size_t offset, lost; /* of the first damage; of all */
	const char *text;    /* what follows the path in the message */
};

static void damaged(const struct want *w, const char *name)
{
	uint64_t last_ns;
	char text[256];

	is_u64(-replay(&last_ns), EBADMSG, name);
	is_str(times, w->times, "records that are read");
	ok(facts.chunks == w->chunks && facts.records == strlen(w->times) / 2, "chunks: %llu",
	   facts.chunks);
	ok(facts.damages == w->damages && facts.damage_offset == w->offset &&
		   facts.lost_bytes == w->lost,
	   "%llu damages, the first at %llu, %llu bytes", facts.damages, facts.damage_offset,
	   facts.lost_bytes);
	ok(facts.bytes == len && !facts.at_end && !facts.ended, "the end is not reached");
	snprintf(text, sizeof(text), "%s: %s", path, w->text);
	is_str(error, text, "the message");
}

static void test_whole(void)
{
	uint64_t last_ns;

	begin();
	put(&fields);
	put(&a);
	put(&a2);
	put(&a3);
	put(&b);
	put(&b2);
	is_u64(replay(&last_ns), 1, "a whole file");
	is_str(times, "1 2 3 4 5 ", "all records");
	is_u64(last_ns, 5 * SECOND, "the time of the last one");
	ok(facts.chunks == 6 && facts.records == 5 && !facts.damages && !facts.lost_bytes,
	   "chunks and records");
	is_u64(facts.raw_bytes,
	       header_of(&fields)->raw_bytes + header_of(&a)->raw_bytes +
		       header_of(&a2)->raw_bytes + header_of(&a3)->raw_bytes +
		       header_of(&b)->raw_bytes + header_of(&b2)->raw_bytes,
	       "bytes before compression");
	ok(facts.at_end && !facts.ended && facts.read_bytes == len && facts.bytes == len,
	   "all bytes are read, but there is no end record");
	is_u64(facts.record_bytes, 5 * sizeof(struct tick_record), "bytes of records");
	is_str(error, "", "no message");
	put(&end_of_all);
	is_u64(replay(&last_ns), 1, "a file with an end record");
	ok(facts.ended && facts.reason == END_FULL && facts.records == 6, "is complete");
	is_u64(last_ns, 9 * SECOND, "the time of the end");
	put(&b);
	is_u64(replay(&last_ns), 1, "records behind it");
	ok(!facts.ended && !facts.reason, "it was not the end");
	is_u64(last_ns, 4 * SECOND, "the time of the last one");
}

/* Reading goes on at the next key chunk, wherever it begins. */
static void test_garbage(void)
{
	static const size_t bytes[] = {1,
				       2,
				       31,
				       32,
				       33,
				       64,
				       WINDOW - 34,
				       WINDOW - 33,
				       WINDOW - 32,
				       WINDOW - 31,
				       WINDOW - 1,
				       WINDOW,
				       WINDOW + 1,
				       WINDOW + 2,
				       2 * WINDOW - 64,
				       2 * WINDOW - 32,
				       2 * WINDOW};
	char text[128];

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct want w = {"1 4 5 ", 4, 1, .lost = bytes[i], .text = text};

		begin();
		put(&fields);
		put(&a);
		w.offset = len;
		put_garbage(bytes[i]);
		put(&b);
		put(&b2);
		snprintf(text, sizeof(text),
			 "damaged at offset %zu: %zu %s lost; all but it was used", w.offset,
			 bytes[i], bytes[i] > 1 ? "bytes were" : "byte was");
		damaged(&w, "garbage before a key chunk");
	}
	/* a chunk that depends on another one is no place to go on, nor is one without checksum */
	for (int i = 0; i < 2; i++) {
		struct want w = {"1 4 ", 3, 1, .text = text};
		struct chunk wrong = b;

		begin();
		put(&fields);
		put(&a);
		w.offset = len;
		put_garbage(100);
		header_of(&wrong)->t_ns++;
		put(i ? &wrong : &a2);
		put_garbage(100);
		w.lost = len - w.offset;
		put(&b);
		snprintf(text, sizeof(text),
			 "damaged at offset %zu: %zu bytes were lost; all but it was used",
			 w.offset, w.lost);
		damaged(&w, i ? "a header that was changed" : "a chunk that depends on another");
	}
}

static void test_chunks(void)
{
	struct chunk wrong = a2;
	struct want w = {"1 4 5 ", 4, 1};
	char text[128];

	begin();
	put(&fields);
	put(&a);
	w.offset = len;
	wrong.bytes[wrong.len - 1] ^= 1;
	put(&wrong);
	put(&a3);
	w.lost = len - w.offset;
	put(&b);
	put(&b2);
	snprintf(text, sizeof(text),
		 "damaged at offset %zu: %zu bytes were lost; all but it was used", w.offset,
		 w.lost);
	w.text = text;
	damaged(&w, "a payload that was changed");
	/* a chunk whose checksums are right, but whose record is none */
	wrong = a2;
	wrong.len = sizeof(struct chunk_header);
	{
		const unsigned char raw[] = {0x7f, 0, 0, 0};
		uLongf n = sizeof(wrong.bytes) - wrong.len;

		compress(wrong.bytes + wrong.len, &n, raw, sizeof(raw));
		wrong.len += n;
		header_of(&wrong)->packed_bytes = n;
		header_of(&wrong)->raw_bytes = sizeof(raw);
		sign(&wrong);
	}
	begin();
	put(&fields);
	put(&a);
	put(&wrong);
	w.offset = len;
	put(&a3);
	w.lost = len - w.offset;
	w.chunks = 5;
	put(&b);
	put(&b2);
	snprintf(text, sizeof(text),
		 "damaged at offset %zu: %zu bytes were lost; all but it was used", w.offset,
		 w.lost);
	damaged(&w, "a record of no kind");
}

/* The end of a file that is cut off: only if nothing else is damaged, it may be truncated. */
static void test_cut(void)
{
	uint64_t last_ns;
	char text[128];

	for (size_t cut = 1; cut < a2.len; cut += cut == 1 ? 1 : a2.len - 3) {
		struct want w = {"1 ", 2, 1, .lost = a2.len - cut, .text = text};

		begin();
		put(&fields);
		put(&a);
		w.offset = len;
		put(&a2);
		len -= cut;
		snprintf(text, sizeof(text),
			 "truncated or damaged at offset %zu: %zu %s lost; all before it was used",
			 w.offset, w.lost, w.lost > 1 ? "bytes were" : "byte was");
		damaged(&w, "a chunk that is cut off");
		replay(&last_ns);
		is_u64(last_ns, SECOND, "it does not count");
	}
	for (int places = 1; places <= 2; places++) {
		struct want w = {places > 1 ? "1 4 4 " : "1 4 ", 2 + places, places + 1};

		begin();
		put(&fields);
		put(&a);
		w.offset = len;
		for (int i = 0; i < places; i++) {
			put_garbage(10);
			put(&b);
		}
		put(&a2);
		len -= 5;
		w.lost = places * 10 + a2.len - 5;
		snprintf(
			text, sizeof(text),
			"damaged at offset %zu: %zu bytes were lost, in several places; all but it "
			"was used",
			w.offset, w.lost);
		w.text = text;
		damaged(&w, "several places, and the last chunk is cut off");
		replay(&last_ns);
		is_u64(last_ns, SECOND, "the last time before the damage");
	}
}

/* Fields that this version does not know are sent once, before all records. */
static void test_unknown(void)
{
	static const char more[] = "r 5000 later\nf u 8 1 0 a -\nf u 8 2 0 b ns\n";
	struct chunk longer = fields;
	unsigned char raw[65536];
	uLongf n = sizeof(raw), packed = sizeof(longer.bytes) - sizeof(struct chunk_header);
	uint64_t last_ns;

	uncompress(raw, &n, fields.bytes + sizeof(struct chunk_header),
		   fields.len - sizeof(struct chunk_header));
	memcpy(raw + n, more, sizeof(more) - 1);
	n += sizeof(more) - 1;
	if (compress(longer.bytes + sizeof(struct chunk_header), &packed, raw, n) != Z_OK)
		abort();
	longer.len = sizeof(struct chunk_header) + packed;
	header_of(&longer)->packed_bytes = packed;
	header_of(&longer)->raw_bytes = n;
	sign(&longer);
	begin();
	put(&longer);
	put(&a);
	put(&a2);
	is_u64(replay(&last_ns), 1, "fields of a later version");
	is_u64(unknown, 2, "are sent once");
	is_str(times, "1 2 ", "with the records");
}

static void test_reader(void)
{
	uint64_t last_ns;
	char text[256];
	size_t second;

	begin();
	put(&fields);
	put(&a);
	second = len;
	put(&a2);
	sink_error = -EIO;
	is_u64(-replay(&last_ns), EIO, "an error of the reader");
	ok(!facts.damages && !*error, "is no damage");
	sink_error = -EBADMSG;
	is_u64(-replay(&last_ns), EBADMSG, "a record that the reader does not take");
	snprintf(text, sizeof(text),
		 "%s: damaged at offset %zu: record of kind %u has a wrong size; all before it was "
		 "used",
		 path, second, RECORD_TICK);
	is_str(error, text, "is damage");
	ok(facts.damages == 1 && facts.damage_offset == second && facts.lost_bytes == len - second,
	   "up to the end");
}

static void test_memory(void)
{
	const struct sink sink = {.take = take};
	size_t fds = open_fds(), failures = 0, wrong = 0;
	struct source *src;
	bool failed;

	begin();
	put(&fields);
	put(&a);
	write_file();
	do {
		int err;

		src = NULL;
		times[0] = 0;
		memory_fail_after(failures);
		err = replay_open(path, &src, error, sizeof(error));
		while (!err)
			err = src->ops->look(src, &sink);
		failed = memory_recovers();
		/* stdio reads without a buffer if it has no memory for one */
		wrong += failed && err == -ENOMEM ? 0 : err != 1 || strcmp(times, "1 ") != 0;
		if (src) {
			wrong += replay_facts(src)->damages != 0;
			src->ops->close(src);
		}
		failures += failed;
	} while (failed && failures < 10000);
	ok(failures > 20 && !wrong, "%zu allocations that fail, %zu wrong results", failures,
	   wrong);
	is_u64(open_fds(), fds, "no file is left");
}

int main(void)
{
	snprintf(path, sizeof(path), "%s", fixture_path("recording"));
	make_chunks();
	test_whole();
	test_garbage();
	test_chunks();
	test_cut();
	test_unknown();
	test_reader();
	test_memory();
	unlink(path);
	return tap_done();
}
