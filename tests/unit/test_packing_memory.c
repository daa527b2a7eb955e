// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how much memory packed records may take, and what follows if memory runs out at any step of
 * packing and unpacking: an error, or the same records in more bytes.
 */
#include <errno.h>
#include <zlib.h>

#include "failing_memory.h"
#include "fixture.h"
#include "open_files.h"
#include "probe/record_layout.h"
#include "probe/record_packing.h"
#include "probe/recording.h"
#include "tap.h"

#define SLOTS_MAX  65536       /* entries whose last record is kept */
#define BYTES_MAX  (64u << 20) /* of these records, of which one more must have room */
#define FAILED_MAX 100000
#define KIND	   5000 /* of a later version */

static struct packer *packer;
static struct unpacker *unpacker;

/* ---- how many last records are kept ---- */

static void add_entry(uint32_t place)
{
	struct growth_record r = RECORD(growth_record, RECORD_GROWTH, SECOND);

	r.place = place;
	r.g.added = place;
	if (packer_add(packer, &r.h))
		abort();
}

/* Ends the chunk. Returns its flags. */
static uint32_t ended(void)
{
	const unsigned char *bytes;
	struct chunk_header ch;
	size_t len;

	if (packer_end(packer, &bytes, &len))
		abort();
	memcpy(&ch, bytes, sizeof(ch));
	return ch.flags;
}

/* A full memory is emptied at the end of the chunk, so that the next one depends on no other. */
static void test_entries(void)
{
	uint32_t place = 0;
	size_t keys = 0;

	if (packer_make(&packer))
		abort();
	while (place < SLOTS_MAX - 1) {
		add_entry(place++);
		if (packer_is_full(packer) || place % 10000 == 0)
			keys += ended() == CHUNK_KEY;
	}
	is_u64(keys, 1, "the first chunk alone is a key chunk");
	ended();
	add_entry(5);
	is_u64(ended(), 0, "nearly as many entries as are kept");
	add_entry(place);
	is_u64(ended(), 0, "one more, in the same memory");
	add_entry(place + 1);
	is_u64(ended(), CHUNK_KEY, "then the memory is empty");
	add_entry(place + 2);
	is_u64(ended(), 0, "and the next chunk depends on this one");
	packer_free(packer);
}

/* Makes records of growth as large as records can be, by a field of a later version. */
static void enlarge(void)
{
	struct field_record field = RECORD(field_record, RECORD_FIELD, 0);
	const unsigned char *bytes;
	size_t len;

	field.of = RECORD_GROWTH;
	field.type = VALUE_TEXT;
	field.size = RECORD_BYTES_MAX - sizeof(struct growth_record);
	field.count = 1;
	strcpy(field.record, "growth");
	strcpy(field.name, "later");
	if (packer_make(&packer) || packer_add(packer, &field.h) ||
	    packer_fields(packer, &bytes, &len))
		abort();
}

static void test_bytes(void)
{
	const uint32_t most = BYTES_MAX / RECORD_BYTES_MAX - 1;

	for (uint32_t n = most; n <= most + 1; n++) {
		enlarge();
		for (uint32_t place = 0; place < n; place++)
			add_entry(place);
		is_u64(ended(), CHUNK_KEY, "large records");
		add_entry(0);
		is_u64(ended(), n > most ? CHUNK_KEY : 0,
		       n > most ? "with one too many, the memory is emptied"
				: "are kept while one more has room");
		packer_free(packer);
	}
}

/* Records behind the last one that is kept are packed without it. */
static void test_beyond(void)
{
	const uint32_t n = SLOTS_MAX + 100;
	const unsigned char *bytes;
	struct chunk_header ch;
	uint32_t place = 0, read = 0, wrong = 0;
	struct record *h;
	size_t len;

	if (packer_make(&packer) || unpacker_make(&unpacker))
		abort();
	if (packer_fields(packer, &bytes, &len))
		abort();
	memcpy(&ch, bytes, sizeof(ch));
	if (unpacker_take(unpacker, &ch, bytes + sizeof(ch)))
		abort();
	while (place < n) {
		do
			add_entry(place++);
		while (place < n && (!packer_is_full(packer) && place % 40000));
		if (packer_end(packer, &bytes, &len))
			abort();
		memcpy(&ch, bytes, sizeof(ch));
		if (unpacker_take(unpacker, &ch, bytes + sizeof(ch)))
			abort();
		for (; !unpacker_next(unpacker, &h); read++) {
			const struct growth_record *r = (const struct growth_record *)h;

			wrong += r->place != read || r->g.added != read;
		}
	}
	ok(read == n && !wrong, "%u of %u records are unpacked, %u are wrong", read, n, wrong);
	packer_free(packer);
	unpacker_free(unpacker);
}

/* ---- chunks of another program ---- */

static unsigned char raw[1 << 20], packed[1 << 20];
static size_t raw_bytes;

static void number(uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		raw[raw_bytes++] = v | 0x80;
	raw[raw_bytes++] = v;
}

static void put_record(uint32_t kind, unsigned int ref)
{
	number(kind);
	number(0);
	number(ref << 1);
	number(0);
}

static struct chunk_header header(uint32_t flags)
{
	struct chunk_header ch = {.magic = CHUNK_MAGIC, .flags = flags, .raw_bytes = raw_bytes};
	const size_t from = offsetof(struct chunk_header, payload_crc);
	uLongf size = sizeof(packed);

	compress(packed, &size, raw, raw_bytes);
	ch.packed_bytes = size;
	ch.payload_crc = crc32(0, packed, size);
	ch.header_crc = crc32(0, (unsigned char *)&ch + from, sizeof(ch) - from);
	return ch;
}

static int give(uint32_t flags)
{
	struct chunk_header ch = header(flags);

	raw_bytes = 0;
	return unpacker_take(unpacker, &ch, packed);
}

static void begin_reading(void)
{
	static const char fields[] = "r 5000 later\nf u 8 1 0 word -\nr 5001 other\n";

	if (unpacker_make(&unpacker))
		abort();
	raw_bytes = sizeof(fields) - 1;
	memcpy(raw, fields, raw_bytes);
	if (give(CHUNK_FIELDS))
		abort();
}

static void test_foreign(void)
{
	struct record *h;
	size_t n = 0;
	int err;

	begin_reading();
	for (int i = 0; i <= SLOTS_MAX; i++)
		put_record(KIND, 1);
	is_u64(give(CHUNK_KEY), 0, "a chunk with one entry too many");
	while (!(err = unpacker_next(unpacker, &h)))
		n++;
	ok(n == SLOTS_MAX && err == -EBADMSG, "%zu entries are read, then %d", n, err);
	is_u64(unpacker_next(unpacker, &h), 1, "the rest of the chunk is left out");
	put_record(KIND, 1);
	is_u64(-give(0), EBADMSG, "a chunk that depends on it cannot be read");
	put_record(KIND, 1);
	put_record(KIND + 1, 2 + 1);
	is_u64(give(CHUNK_KEY), 0, "a reference to a record of another kind");
	is_u64(unpacker_next(unpacker, &h), 0, "the record itself");
	is_u64(-unpacker_next(unpacker, &h), EBADMSG, "is no record before it");
	unpacker_free(unpacker);
}

/* ---- memory runs out ---- */

/* Calls a function with each of its allocations failing once. Counts wrong results. */
static void fails_each(int (*call)(void), bool (*good)(int err, bool failed), const char *name)
{
	size_t n = 0, wrong = 0;
	bool failed;

	do {
		int err;

		memory_fail_after(n);
		err = call();
		failed = memory_recovers();
		wrong += !good(err, failed);
		n += failed;
	} while (failed && n < FAILED_MAX);
	ok(n > 0 && n < FAILED_MAX && !wrong, "%s: %zu failures, %zu wrong results", name, n,
	   wrong);
}

static int make_packer(void)
{
	return packer_make(&packer);
}

static bool is_packer(int err, bool failed)
{
	bool good = failed ? err == -ENOMEM && !packer : !err && packer;

	packer_free(packer);
	packer = NULL;
	return good;
}

static int make_unpacker(void)
{
	return unpacker_make(&unpacker);
}

static bool is_unpacker(int err, bool failed)
{
	bool good = failed ? err == -ENOMEM && !unpacker : !err && unpacker;

	unpacker_free(unpacker);
	unpacker = NULL;
	return good;
}

static struct record_layout layout;

static int own_layout(void)
{
	return record_layout_own(&layout);
}

static int read_layout(void)
{
	static const char text[] = "r 5000 later\nf u 8 3 0 a -\nf t 9 1 0 b ns\nr 5001 other\n";

	return record_layout_read(&layout, text, sizeof(text) - 1);
}

static int add_to_layout(void)
{
	struct field_record f = {.of = KIND, .type = VALUE_UNSIGNED, .size = 8, .count = 1};
	int err;

	strcpy(f.record, "later");
	strcpy(f.name, "a");
	err = record_layout_add(&layout, &f);
	return err ? err : record_layout_finish(&layout);
}

static bool is_layout(int err, bool failed)
{
	record_layout_clear(&layout);
	return failed ? err == -ENOMEM : !err;
}

static void test_making(void)
{
	packer = NULL;
	unpacker = NULL;
	fails_each(make_packer, is_packer, "a packer");
	fails_each(make_unpacker, is_unpacker, "an unpacker");
	fails_each(own_layout, is_layout, "the fields of this version");
	fails_each(read_layout, is_layout, "fields that are read");
	fails_each(add_to_layout, is_layout, "a field that is added");
}

/* A field of a later version, for which memory runs out, leaves a packer that can be freed. */
static void test_adding_fields(void)
{
	struct field_record field = RECORD(field_record, RECORD_FIELD, 0);
	struct tick_record tick = tick_record(SECOND);
	size_t n = 0, wrong = 0;
	bool failed;

	field.of = RECORD_TICK;
	field.type = VALUE_UNSIGNED;
	field.size = 8;
	field.count = 1;
	strcpy(field.record, "tick");
	strcpy(field.name, "later");
	do {
		int err;

		if (packer_make(&packer))
			abort();
		memory_fail_after(n);
		err = packer_add(packer, &field.h);
		failed = memory_recovers();
		wrong += err != (failed ? -ENOMEM : 0);
		err = packer_add(packer, &tick.h);
		wrong += failed ? err && err != -ENOMEM : err != 0;
		packer_begin_anew(packer);
		packer_free(packer);
		n += failed;
	} while (failed && n < FAILED_MAX);
	ok(n > 2 && n < FAILED_MAX && !wrong, "a field: %zu failures, %zu wrong results", n, wrong);
	packer = NULL;
}

/* Packs a record while memory runs out after `left` allocations. Returns whether it did. */
static bool add_without(const struct record *h, long left, int *err)
{
	memory_fail_after(left);
	*err = packer_add(packer, h);
	return memory_recovers();
}

/* The state of the packer stays: a later try has the same result as the first one would have. */
static void test_packing(void)
{
	struct process_record r = process_record(5, 1, SECOND);
	const unsigned char *bytes;
	size_t len, want, before;
	int err;

	if (packer_make(&packer))
		abort();
	for (int i = 0; i < 2; i++) {
		memory_fail_after(i);
		err = packer_fields(packer, &bytes, &len);
		ok(memory_recovers() && err == -ENOMEM && !len, "no memory for the list of fields");
	}
	ok(!packer_fields(packer, &bytes, &len) && len, "later, there is");
	ok(!packer_fields(packer, &bytes, &len) && !len, "it comes once");
	if (!ok(add_without(&r.h, 0, &err), "no memory for the last record of a process"))
		return;
	ok(!err && packer_holds(packer), "the record is added nevertheless");
	before = packer_bytes(packer);
	ok(!add_without(&r.h, 1, &err) && !err, "with memory, it is kept");
	want = packer_bytes(packer);
	ok(want > before, "in another record");
	for (int i = 0; i < 2; i++) {
		memory_fail_after(i);
		err = packer_end(packer, &bytes, &len);
		ok(memory_recovers() && err == -ENOMEM, "no memory to end the chunk");
		is_u64(packer_bytes(packer), want, "which stays");
	}
	is_u64(packer_end(packer, &bytes, &len), 0, "later, there is");
	is_u64(((const struct chunk_header *)bytes)->flags, CHUNK_KEY, "the first chunk");
	ok(!packer_holds(packer), "is ended");
	packer_free(packer);
}

static void test_unpacking(void)
{
	struct chunk_header ch;
	struct record *h;
	size_t failures = 0;
	int err;

	if (unpacker_make(&unpacker))
		abort();
	raw_bytes = snprintf((char *)raw, sizeof(raw), "r 5000 later\nf u 8 1 0 word -\n");
	ch = header(CHUNK_FIELDS);
	do {
		memory_fail_after(failures);
		err = unpacker_take(unpacker, &ch, packed);
		failures += memory_recovers();
	} while (err == -ENOMEM && failures < 100);
	ok(!err && failures > 3, "fields are read after %zu failures", failures);
	is_u64(-unpacker_take(unpacker, &ch, packed), EBADMSG, "once");
	raw_bytes = 0;
	put_record(KIND, 1);
	ch = header(CHUNK_KEY);
	memory_fail_after(0);
	err = unpacker_take(unpacker, &ch, packed);
	ok(memory_recovers() && err == -ENOMEM, "no memory to inflate a chunk");
	is_u64(unpacker_next(unpacker, &h), 1, "it has no record");
	is_u64(unpacker_take(unpacker, &ch, packed), 0, "later, there is");
	memory_fail_after(0);
	err = unpacker_next(unpacker, &h);
	ok(memory_recovers() && err == -ENOMEM, "no memory for a last record is no damage");
	is_u64(unpacker_next(unpacker, &h), 1, "the rest of the chunk is left out");
	is_u64(unpacker_take(unpacker, &ch, packed), 0, "later, there is");
	ok(!unpacker_next(unpacker, &h) && h->kind == KIND, "the record");
	unpacker_free(unpacker);
}

/* A new recording for which there is no memory: the error says so, and nothing is open. */
static void test_new_recording(void)
{
	char path[64];
	size_t before = open_fds(), failed = 0;
	struct recorder *rec = NULL;
	int err = -ENOMEM;

	snprintf(path, sizeof(path), "/tmp/faultscope-packing-%d.fsr", (int)getpid());
	while (err == -ENOMEM && failed < FAILED_MAX) {
		char error[64] = "";

		memory_fail_after(failed++);
		err = recorder_open_capped(path, true, 0, &rec, error, sizeof(error));
		memory_recovers();
		if (err == -ENOMEM && (strcmp(error, "out of memory") || open_fds() != before))
			break;
	}
	ok(!err && failed > 2, "an error is told after each of %zu failures", failed - 1);
	if (!err)
		recorder_close(rec);
	unlink(path);
}

int main(void)
{
	test_entries();
	test_bytes();
	test_beyond();
	test_foreign();
	test_making();
	test_adding_fields();
	test_packing();
	test_unpacking();
	test_new_recording();
	return tap_done();
}
