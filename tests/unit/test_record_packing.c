// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "probe/record_packing.h"
#include "probe/recording.h"
#include "tap.h"

#define LOOKS	    40
#define PROCESSES   8
#define RECORDS_MAX 1024
#define FILE_HEADER 16
#define LAST_BYTES  256 /* room for the chunk that says that a recording is full */

static struct {
	size_t n;
	struct {
		uint32_t len;
		unsigned char *bytes;
	} rec[RECORDS_MAX];
} want, taken;

static unsigned char file[1 << 20];
static size_t file_size;
static char error[512];

static int take(void *ctx, const struct record *h)
{
	if (taken.n == RECORDS_MAX)
		return -ENOMEM;
	taken.rec[taken.n].len = h->len;
	taken.rec[taken.n].bytes = memcpy(malloc(h->len), h, h->len);
	taken.n++;
	return 0;
}

static void forget(void)
{
	while (taken.n)
		free(taken.rec[--taken.n].bytes);
}

static void record(struct recorder *rec, const struct record *h)
{
	if (recorder_take(rec, h) || want.n == RECORDS_MAX)
		abort();
	want.rec[want.n].len = h->len;
	want.rec[want.n].bytes = memcpy(malloc(h->len), h, h->len);
	want.n++;
}

static void put_file(const void *bytes, size_t n)
{
	int fd = open(fixture_path("bytes"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

static struct replay_facts facts;

static int replay(const char *path)
{
	struct sink sink = {.take = take};
	struct source *src = NULL;
	int err;

	forget();
	error[0] = 0;
	err = replay_open(path, &src, error, sizeof(error));
	if (err)
		return err;
	while (!err)
		err = src->ops->look(src, &sink);
	facts = *replay_facts(src);
	snprintf(error, sizeof(error), "%s", src->error);
	src->ops->close(src);
	return err;
}

static int replay_bytes(const void *bytes, size_t n)
{
	put_file(bytes, n);
	return replay(fixture_path("bytes"));
}

static bool is_same(size_t i, size_t k)
{
	return taken.rec[i].len == want.rec[k].len &&
	       !memcmp(taken.rec[i].bytes, want.rec[k].bytes, want.rec[k].len);
}

/*
 * Returns whether all records that were read are recorded ones, in the recorded order. Some of the
 * recorded ones may be missing.
 */
static bool is_part(void)
{
	size_t k = 0;

	for (size_t i = 0; i < taken.n; i++, k++) {
		while (k < want.n && !is_same(i, k))
			k++;
		if (k == want.n)
			return false;
	}
	return true;
}

static void record_look(struct recorder *rec, int look)
{
	uint64_t t = (look + 1) * SECOND;
	struct tick_record tick = tick_record(t);

	for (int i = 0; i < PROCESSES; i++) {
		struct process_record p = process_record(10 + i, 1 + i, t - i);

		if ((look + i) % 3 == 0)
			continue;
		p.g.min_flt = look * 1000 + i;
		p.g.rss_anon_pages = look % 2 ? -5 : 100000;
		p.u.cpu_ns = look * 123456789ULL;
		p.c.latency[0][5] = look * 7;
		p.c.fault_kind[3] = UINT64_MAX - look;
		if (look % 4 == 1)
			p.h.len = offsetof(struct process_record, c);
		record(rec, &p.h);
	}
	if (look % 5 == 0) {
		struct refused_record r = refused_record(10, CALL_MMAP, ENOMEM);

		record(rec, &r.h);
	}
	for (int i = 0; i < PROCESSES; i++) {
		struct sample_record s = sample_record(10 + i, 1 + i, t, 64 << look % 3);

		s.address += look * 4096;
		record(rec, &s.h);
	}
	record(rec, &tick.h);
}

static void test_round_trip(void)
{
	const char *path = fixture_path("whole");
	struct host_record host = host_record(1);
	struct recorder *rec = NULL;
	size_t whole = 0;
	struct stat st;
	FILE *f;

	if (!ok(!recorder_open_capped(path, false, 0, &rec, error, sizeof(error)),
		"a packed recording is made"))
		return;
	record(rec, &host.h);
	for (int look = 0; look < LOOKS; look++)
		record_look(rec, look);
	is_u64(-recorder_close(rec), 0, "and closed");
	is_u64(replay(path), 1, "it is read to its end");
	ok(is_part() && taken.n == want.n, "all records as they were");
	for (size_t i = 0; i < want.n; i++)
		whole += want.rec[i].len;
	is_u64(facts.record_bytes, whole, "their bytes are counted");
	is_u64(facts.chunks, LOOKS + 1, "a chunk a look, and one of the fields");
	ok(!stat(path, &st) && (size_t)st.st_size * 10 < whole, "they take less than a tenth");
	f = fopen(path, "r");
	file_size = f ? fread(file, 1, sizeof(file), f) : 0;
	if (f)
		fclose(f);
}

static void test_truncated(void)
{
	bool part = true, told = true, least = true;

	for (size_t n = FILE_HEADER; n < file_size; n += 7) {
		struct chunk_header ch;
		size_t at = FILE_HEADER, chunks = 0;
		int err = replay_bytes(file, n);

		for (; at + sizeof(ch) <= n; chunks++) {
			memcpy(&ch, file + at, sizeof(ch));
			if (at + sizeof(ch) + ch.packed_bytes > n)
				break;
			at += sizeof(ch) + ch.packed_bytes;
		}
		part &= is_part();
		told &= at == n ? err == 1
				: err == -EBADMSG && strstr(error, "truncated") &&
					  facts.lost_bytes == n - at;
		least &= facts.chunks == chunks;
	}
	ok(told, "cut anywhere within a chunk: it says so, and how much is lost");
	ok(least, "all whole chunks before it are delivered");
	ok(part, "and nothing that was not recorded");
}

static void test_flipped(void)
{
	bool part = true, told = true;

	for (size_t i = FILE_HEADER; i < file_size; i += 3) {
		file[i] ^= 0x41;
		told &= replay_bytes(file, file_size) < 0 && strstr(error, "offset");
		part &= is_part();
		file[i] ^= 0x41;
	}
	ok(told, "a byte changed anywhere: it says so, and where");
	ok(part, "and never another record than was recorded");
}

/* Tests that after a damaged chunk, reading continues at the second key chunk. */
static void test_resumed(void)
{
	const char *path = fixture_path("long");
	struct tick_record tick;
	struct chunk_header fields;
	struct recorder *rec = NULL;
	size_t n;
	FILE *f;

	if (recorder_open_capped(path, false, 0, &rec, error, sizeof(error)))
		abort();
	for (int look = 0; look < 800; look++) {
		tick = tick_record((look + 1) * SECOND);
		if (recorder_take(rec, &tick.h))
			abort();
	}
	recorder_close(rec);
	f = fopen(path, "r");
	n = f ? fread(file, 1, sizeof(file), f) : 0;
	if (f)
		fclose(f);
	is_u64(replay_bytes(file, n), 1, "many looks are read");
	is_u64(taken.n, 800, "all of them");
	memcpy(&fields, file + FILE_HEADER, sizeof(fields));
	file[FILE_HEADER + sizeof(fields) + fields.packed_bytes + 2000] ^= 1;
	ok(replay_bytes(file, n) == -EBADMSG && taken.n > 400 && taken.n < 800,
	   "behind a damage it goes on at the next chunk that stands alone");
	ok(strstr(error, "all but it was used") && facts.damages == 1, "and says so");
	unlink(path);
}

static void test_bounded(void)
{
	const char *path = fixture_path("bounded");
	struct recorder *rec = NULL;
	const struct end_record *end;
	int told = 0, err;
	struct stat st;

	if (recorder_open_capped(path, false, 20000, &rec, error, sizeof(error)))
		abort();
	for (int look = 0; look < 400; look++) {
		struct process_record p = process_record(10, 1, look * SECOND);
		struct tick_record tick = tick_record(look * SECOND + 1);

		for (size_t i = 0; i < sizeof(p.c) / 8; i++)
			((uint64_t *)&p.c)[i] = (look + 1) * (i + 1) * 0x9e3779b97f4a7c15ULL;
		told += recorder_take(rec, &p.h) == -EOVERFLOW;
		told += recorder_take(rec, &tick.h) == -EOVERFLOW;
	}
	err = recorder_close(rec);
	ok(told == 1 && !err, "a full recording is told, once, and is no failure");
	ok(!stat(path, &st) && st.st_size <= 20000 && st.st_size > 10000,
	   "it is not larger than was allowed");
	ok(replay(path) == 1 && taken.n > 3, "and can be read to its end");
	end = (const struct end_record *)taken.rec[taken.n - 1].bytes;
	ok(end->h.kind == RECORD_END && end->reason == END_FULL, "where it says why it ends");
	ok(facts.ended && facts.reason == END_FULL, "its reader tells that");
	unlink(path);
}

/* A maximum size has room for a chunk and, behind it, for the one that says why it ends. */
static void test_bound(void)
{
	const char *path = fixture_path("bound");
	struct tick_record tick = tick_record(SECOND);
	unsigned long long bytes = 0;

	for (int round = 0; round < 3; round++) {
		struct recorder *rec = NULL;
		int err;

		if (recorder_open_capped(path, true, round ? bytes + LAST_BYTES - (round == 2) : 0,
					 &rec, error, sizeof(error)))
			abort();
		ok(recorder_is_empty(rec), "a recording without a chunk");
		err = recorder_take(rec, &tick.h);
		if (!round)
			bytes = recorder_bytes(rec);
		is_u64(err, round == 2 ? (uint64_t)-EOVERFLOW : 0,
		       round == 2 ? "a chunk that is a byte too long" : "a chunk that has room");
		is_u64(recorder_close(rec), 0, "closed");
		ok(replay(path) == 1 && taken.n == 1, "the recording is whole");
		ok(((struct record *)taken.rec[0].bytes)->kind ==
			   (round == 2 ? RECORD_END : RECORD_TICK),
		   "its record");
	}
	unlink(path);
}

/* Tests that records after the last scan do not exceed the recording's maximum size. */
static void test_bounded_at_the_end(void)
{
	const char *path = fixture_path("bounded");
	struct tick_record tick = tick_record(SECOND);
	struct recorder *rec = NULL;
	const struct end_record *end;
	struct stat st;

	if (recorder_open_capped(path, false, 4000, &rec, error, sizeof(error)) ||
	    recorder_take(rec, &tick.h))
		abort();
	for (uint32_t pid = 1; pid < 100; pid++) {
		struct process_record p = process_record(pid, pid * 0x9e3779b9u, 2 * SECOND);

		for (size_t i = 0; i < sizeof(p.c) / 8; i++)
			((uint64_t *)&p.c)[i] = pid * (i + 1) * 0x9e3779b97f4a7c15ULL;
		if (recorder_take(rec, &p.h))
			abort();
	}
	is_u64(recorder_close(rec), 0, "no room for the end is no failure");
	ok(!stat(path, &st) && st.st_size <= 4000 && replay(path) == 1, "it stays small and whole");
	end = (const struct end_record *)taken.rec[taken.n - 1].bytes;
	ok(taken.n == 2 && end->h.kind == RECORD_END && end->reason == END_FULL,
	   "and says there that there was more");
	unlink(path);
}

static void test_hostile_chunks(void)
{
	struct unpacker *u = NULL;
	struct packer *p = NULL;
	struct chunk_header ch;
	const unsigned char *bytes;
	struct tick_record tick = tick_record(SECOND);
	struct record *h;
	size_t len;

	if (unpacker_make(&u) || packer_make(&p) || packer_fields(p, &bytes, &len))
		abort();
	memcpy(&ch, bytes, sizeof(ch));
	is_u64(-unpacker_take(u, &ch, bytes + sizeof(ch)), 0, "the fields are taken");
	is_u64(-unpacker_take(u, &ch, bytes + sizeof(ch)), EBADMSG, "once");
	if (packer_add(p, &tick.h) || packer_end(p, &bytes, &len))
		abort();
	memcpy(&ch, bytes, sizeof(ch));
	ok(!unpacker_take(u, &ch, bytes + sizeof(ch)) && !unpacker_next(u, &h) &&
		   !memcmp(h, &tick, sizeof(tick)) && unpacker_next(u, &h) == 1,
	   "a chunk gives its record back");
	ch.raw_bytes = UINT32_MAX;
	ok(!chunk_header_is_good(&ch) && unpacker_take(u, &ch, bytes + sizeof(ch)) == -EBADMSG,
	   "one that claims more than can be is refused");
	tick.h.len = 8;
	is_u64(-packer_add(p, &tick.h), EINVAL, "as is a record shorter than its header");
	packer_free(p);
	unpacker_free(u);
}

int main(void)
{
	test_round_trip();
	test_truncated();
	test_flipped();
	test_resumed();
	test_bounded();
	test_bounded_at_the_end();
	test_bound();
	test_hostile_chunks();
	forget();
	while (want.n)
		free(want.rec[--want.n].bytes);
	return tap_done();
}
