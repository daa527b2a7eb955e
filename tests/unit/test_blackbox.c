// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests flight recorder records: both encodings, incomplete records, and the ring file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/scan.h"
#include "recorder/record_sinks.h"
#include "tap.h"

static struct bb_record example(uint64_t sequence)
{
	struct bb_record r = {.sequence = sequence,
			      .boot_ns = 1000000000ull * sequence,
			      .wall_ns = 1700000000000000000ull + sequence,
			      .class = BB_FAULT,
			      .severity = BB_CRITICAL,
			      .count = 65,
			      .dropped = 3};

	memset(r.boot_id, 0x5a, sizeof(r.boot_id));
	bb_put(&r, "symbol", "lab_null_read+0x5");
	bb_put_hex(&r, "address", 0xdead000000000100);
	bb_put(&r, "comm", "a \"b\"\n\xff");
	bb_put_u64(&r, "pid", 42);
	return r;
}

static bool same(const struct bb_record *a, const struct bb_record *b)
{
	return a->sequence == b->sequence && a->boot_ns == b->boot_ns && a->wall_ns == b->wall_ns &&
	       !memcmp(a->boot_id, b->boot_id, BB_BOOT_BYTES) && a->class == b->class &&
	       a->severity == b->severity && a->count == b->count && a->dropped == b->dropped &&
	       !strcmp(a->text, b->text);
}

/* Every number of a record keeps all of its bits, in both encodings. */
static void test_numbers(void)
{
	struct bb_record r = example(1), back = {};
	uint8_t bytes[BB_RECORD_MAX];
	char line[BB_LINE_MAX];

	r.sequence = 0xf1e2d3c4b5a69788;
	r.boot_ns = 0xf9e8d7c6b5a49382;
	r.wall_ns = 0xfafbfcfdfeff0102;
	r.count = 0xf1f2f3f4;
	r.dropped = 0xf5f6f7f8;
	r.class = NR_BB_CLASSES - 1;
	for (int i = 0; i < BB_BOOT_BYTES; i++)
		r.boot_id[i] = 0xf0 + i;
	bb_encode(&r, bytes);
	ok(bb_decode(bytes, sizeof(bytes), &back) > 0 && same(&r, &back), "large numbers");
	memset(&back, 0, sizeof(back));
	bb_encode_line(&r, line);
	ok(!bb_decode_line(line, strlen(line), &back) && same(&r, &back), "also in a line");
}

static void test_encodings(void)
{
	struct bb_record r = example(7), back = {};
	uint8_t bytes[BB_RECORD_MAX];
	char line[BB_LINE_MAX], more[BB_LINE_MAX + 64], value[64];
	size_t n = bb_encode(&r, bytes);
	uint64_t number;
	bool all = true;

	ok(n <= BB_RECORD_MAX, "a record is 512 bytes at most");
	is_u64(bb_decode(bytes, sizeof(bytes), &back), n, "decodes what it encoded");
	ok(same(&r, &back), "and it is the same");
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x10;
		all &= bb_decode(bytes, sizeof(bytes), &back) < 0;
		bytes[i] ^= 0x10;
	}
	ok(all, "one bit anywhere is noticed");
	for (size_t cut = 0; cut < n; cut++)
		all &= bb_decode(bytes, cut, &back) < 0;
	ok(all, "so is every cut");
	n = bb_encode_line(&r, line);
	snprintf(more, sizeof(more), "[   12.3] %s and more", line);
	memset(&back, 0, sizeof(back));
	is_u64(bb_decode_line(more, strlen(more), &back), 0, "a line is found in a line");
	ok(same(&r, &back), "and it is the same");
	line[n / 2] ^= 1;
	ok(bb_decode_line(line, n, &back) == -EILSEQ, "a line that was changed is torn");
	ok(bb_decode_line("nothing", 7, &back) == -EINVAL, "no line is none");
	ok(bb_get(&r, "comm", value, sizeof(value)) && !strcmp(value, "a \"b\"\n\xff"),
	   "hostile bytes come back");
	ok(!strchr(r.text, '\n'), "and are no line's end meanwhile");
	ok(bb_get_u64(&r, "address", &number) && number == 0xdead000000000100, "hexadecimal");
	ok(bb_get_u64(&r, "pid", &number) && number == 42, "decimal");
	ok(!bb_get(&r, "pi", value, sizeof(value)), "no key is taken for a longer one");
	ok(!bb_get(&r, "symbol", value, 4), "a value that has no room is not cut");
}

static void test_full(void)
{
	struct bb_record r = {}, back = {};
	uint8_t bytes[BB_RECORD_MAX];
	char line[BB_LINE_MAX], big[1000];
	int i = 0;

	memset(big, '\n', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	ok(!bb_put(&r, "key", big) && !*r.text, "what has no room is not put");
	bb_put_cut(&r, "key", big);
	ok(strlen(r.text) > BB_TEXT_MAX - 8 && strlen(r.text) <= BB_TEXT_MAX, "or is cut to it");
	ok(r.text[strlen(r.text) - 1] == '"', "and ends its quotes");
	ok(bb_encode_line(&r, line) < BB_LINE_MAX - 1, "the longest line fits");
	is_u64(bb_decode_line(line, strlen(line), &back), 0, "and decodes");
	ok(bb_encode(&r, bytes) <= BB_RECORD_MAX && bb_decode(bytes, sizeof(bytes), &back) > 0,
	   "so do the bytes");
	r.text[0] = 0;
	while (bb_put_u64(&r, "k", i))
		i++;
	ok(i > 20 && strlen(r.text) <= BB_TEXT_MAX, "a full record takes no more");
}

static void test_scan(void)
{
	uint8_t data[4096] = {};
	struct bb_found f = {};
	struct bb_record r = example(1);
	size_t at = 100;

	for (uint64_t i = 5; i > 0; i--) {
		r = example(i);
		at += bb_encode(&r, data + at);
	}
	r = example(9);
	r.boot_id[0] = 1;
	r.wall_ns -= 1000;
	at += bb_encode_line(&r, (char *)data + at);
	data[at++] = '\n';
	memcpy(data + at, data + 100, 300);
	data[at + 70] ^= 1;
	is_u64(bb_scan(&f, data, sizeof(data)), 0, "bytes are scanned");
	is_u64(bb_scan(&f, data, sizeof(data)), 0, "and again");
	bb_found_settle(&f);
	is_u64(f.n, 6, "records that are there twice are kept once");
	is_u64(f.torn, 2, "the torn one is counted, each time");
	is_u64(f.boots, 2, "two boots");
	ok(f.record[0].sequence == 9 && f.record[1].sequence == 1 && f.record[5].sequence == 5,
	   "in the order of boots and sequence");
	is_u64(f.boot[1].missing, 0, "none missing");
	is_u64(f.boot[0].missing, 8, "but what the ring wrote over");
	bb_found_free(&f);
	r = example(3);
	bb_found_add(&f, &r);
	r = example(8);
	bb_found_add(&f, &r);
	bb_found_settle(&f);
	is_u64(f.boot[0].missing, 2 + 4, "a gap in the sequence is counted");
	bb_found_free(&f);
}

/* Scans `size` bytes, and compares how many records are found and torn. */
static void scans(const void *data, size_t size, size_t n, size_t torn, const char *name)
{
	struct bb_found f = {};

	if (bb_scan(&f, data, size))
		abort();
	ok(f.n == n && f.torn == torn, "%s: %zu found, %zu torn", name, f.n, (size_t)f.torn);
	bb_found_free(&f);
}

/* Records that follow damaged ones at once are found. */
static void test_scan_places(void)
{
	uint8_t data[4096] = {};
	struct bb_record r = example(1);
	char line[BB_LINE_MAX], *text = (char *)data;
	size_t n;

	memcpy(data, BB_MAGIC, 4);
	n = 4 + bb_encode(&r, data + 4);
	scans(data, n, 1, 1, "behind the begin of a record");
	data[0] = 0;
	scans(data, n, 1, 0, "behind the end of one");
	data[3] = 'F';
	scans(data, n, 1, 0, "behind its first letter");
	scans(data, n - 1, 0, 1, "a record that the end cuts");
	scans(data + 4, 4, 0, 1, "all but its first bytes");
	scans(data + 4, 3, 0, 0, "or less");
	memset(data, 0, sizeof(data));
	n = bb_encode_line(&r, line);
	sprintf(text, "%s\n%s", line, line);
	scans(data, strlen(text), 2, 0, "two lines");
	text[n] = 0;
	scans(data, 2 * n + 1, 2, 0, "with a NUL between them");
	scans(data, n, 1, 0, "a line without an end");
	scans(data, n - 1, 0, 1, "a line that the end cuts");
	scans(data, strlen(BB_LINE_BEGINS), 0, 1, "only the begin of a line");
	scans(data, strlen(BB_LINE_BEGINS) - 1, 0, 0, "or less");
	sprintf(text, "%.20s\n%s\n", line, line);
	scans(data, strlen(text), 1, 1, "a line behind one that is cut");
}

/* Records of equal number are the same only if all else is equal. */
static void test_doubles(void)
{
	struct bb_found f = {};
	struct bb_record r = example(5);

	bb_found_settle(&f);
	ok(!f.n && !f.boots, "no record");
	bb_found_add(&f, &r);
	bb_found_add(&f, &r);
	r.class = BB_STOP;
	bb_found_add(&f, &r);
	r.boot_ns++;
	bb_found_add(&f, &r);
	r.boot_id[15]++;
	bb_found_add(&f, &r);
	bb_found_settle(&f);
	is_u64(f.n, 4, "another class, time or boot makes another record");
	bb_found_free(&f);
}

/* A boot begins with its first record, lives until its last one, and may end in order. */
static void test_boots(void)
{
	struct bb_found f = {};
	struct bb_record r = example(3), first = example(2);

	first.wall_ns = r.wall_ns - 5; /* the clock was set while the recorder ran */
	bb_found_add(&f, &first);
	r.class = BB_STOP;
	bb_found_add(&f, &r);
	bb_found_settle(&f);
	ok(f.boot[0].first_wall_ns == first.wall_ns && f.boot[0].alive_boot_ns == r.boot_ns &&
		   f.boot[0].alive_wall_ns == r.wall_ns,
	   "the first and the last time");
	ok(f.boot[0].stopped && f.boot[0].records == 2 && f.boot[0].missing == 1,
	   "a recorder that stopped in order");
	r = example(4);
	r.class = BB_START;
	bb_found_add(&f, &r);
	r = example(0);
	r.class = BB_HEARTBEAT;
	r.boot_ns = 99 * 1000000000ull;
	r.wall_ns = 7;
	bb_found_add(&f, &r);
	bb_found_settle(&f);
	ok(!f.boot[0].stopped && f.boot[0].records == 3, "and was started again");
	ok(f.boot[0].alive_boot_ns == r.boot_ns && f.boot[0].alive_wall_ns == 7 &&
		   f.boot[0].first_wall_ns == 7,
	   "a heartbeat is a sign of life");
	bb_found_free(&f);
}

/* Heartbeats have no sequence number, and are sorted by time behind the other records. */
static void test_order(void)
{
	static const uint64_t at[] = {7, 3, 5, 1, 6, 2};
	struct bb_found f = {};
	struct bb_record r;

	for (size_t i = 0; i < 6; i++) {
		r = example(0);
		r.class = BB_HEARTBEAT;
		r.boot_ns = at[i];
		bb_found_add(&f, &r);
	}
	r = example(4);
	bb_found_add(&f, &r);
	bb_found_settle(&f);
	ok(f.n == 7 && f.record[0].sequence == 4, "a record with a number comes first");
	for (size_t i = 2; i < f.n; i++)
		ok(f.record[i - 1].boot_ns < f.record[i].boot_ns, "heartbeat %zu", i);
	bb_found_free(&f);
}

/* Scans the records in a file. */
static void scan_path(const char *path, struct bb_found *f)
{
	static uint8_t data[RING_BYTES_DEFAULT];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, data, sizeof(data));

	close(fd);
	memset(f, 0, sizeof(*f));
	bb_scan(f, data, n > 0 ? n : 0);
	bb_found_settle(f);
}

static void test_ring(const char *path)
{
	struct ring_file ring, other;
	struct bb_record r;
	struct bb_found f;
	uint8_t byte = 0xff;
	struct stat st;
	int fd;

	is_u64(ring_file_open(&ring, path, RING_BYTES_LEAST), 0, "a ring is made");
	ok(!stat(path, &st) && st.st_size == RING_BYTES_LEAST && st.st_blocks * 512 >= st.st_size &&
		   (st.st_mode & 077) == 0,
	   "all of it is on the disk, for its owner alone");
	ok(ring_file_open(&other, path, RING_BYTES_LEAST) == -EBUSY, "one recorder has it");
	for (uint64_t i = 1; i <= 40; i++) {
		r = example(i);
		ring_file_add(&ring, &r);
		if (i % 3 == 0)
			ring_file_flush(&ring);
	}
	ring_file_flush(&ring);
	r = example(40);
	r.class = BB_HEARTBEAT;
	ring_file_beat(&ring, &r);
	ring_file_close(&ring);
	scan_path(path, &f);
	is_u64(f.n, 13 + 1, "the newest are there after it went around, and the heartbeat");
	ok(f.record[0].sequence == 28 && f.record[12].sequence == 40, "without a gap");
	is_u64(f.torn, 0, "none torn");
	bb_found_free(&f);
	ring_file_open(&ring, path, RING_BYTES_LEAST * 4);
	is_u64(ring.sequence, 40, "the next recorder goes on behind the last record");
	is_u64(ring.slots, RING_BYTES_LEAST / RING_SLOT, "in the size that is there");
	r = example(41);
	ring_file_add(&ring, &r);
	ring_file_flush(&ring);
	ring_file_close(&ring);
	scan_path(path, &f);
	ok(f.n == 14 && f.record[12].sequence == 41 && f.record[0].sequence == 29,
	   "over the oldest");
	bb_found_free(&f);
	fd = open(path, O_WRONLY);
	ok(pwrite(fd, &byte, 1, 5 * RING_SLOT + 80) == 1, "a record is damaged");
	close(fd);
	scan_path(path, &f);
	ok(f.n == 13 && f.torn == 1, "a torn record is told, and costs no other");
	bb_found_free(&f);
	fd = open(path, O_WRONLY | O_TRUNC);
	dprintf(fd, "somebody's letters");
	close(fd);
	ok(ring_file_open(&ring, path, RING_BYTES_LEAST) == -EEXIST, "what is no ring stays");
	unlink(path);
}

/*
 * Tests writes to a full file system. The limit RLIMIT_FSIZE makes the writes fail, as if the file
 * system were full.
 */
static void test_full_disk(const char *path)
{
	struct sink_options o = {.record_sinks = 1u << SINK_FILE | 1u << SINK_MAP,
				 .file = path,
				 .file_bytes = RING_BYTES_DEFAULT};
	static uint8_t map[8 * RING_SLOT];
	struct rlimit was, little = {RING_BYTES_LEAST, RING_BYTES_LEAST};
	struct bb_record r = {.class = BB_REPORT};
	struct bb_found f = {};
	struct record_sinks rec;

	o.map = map;
	o.map_slots = 8;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	little.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_FSIZE, &little);
	sinks_open(&rec, &o);
	ok(!rec.record_sink[SINK_FILE].on && rec.record_sink[SINK_FILE].error == EFBIG,
	   "a ring that has no room is off, with its error");
	ok(access(path, F_OK), "and leaves no half of a file");
	for (int i = 0; i < 20; i++)
		sinks_write(&rec, &r);
	sinks_flush(&rec);
	is_u64(rec.record_sink[SINK_MAP].written, 20, "other keepers go on");
	bb_scan(&f, map, sizeof(map));
	bb_found_settle(&f);
	ok(f.n == 8 && f.record[7].sequence == 20, "the map is a ring too");
	bb_found_free(&f);
	setrlimit(RLIMIT_FSIZE, &was);
	sinks_beat(&rec, &r);
	ok(rec.record_sink[SINK_FILE].on, "it is tried again with the next sign of life");
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){1024, was.rlim_max});
	r.class = BB_REPORT;
	for (int i = 0; i < 5; i++)
		sinks_write(&rec, &r);
	sinks_flush(&rec);
	is_u64(rec.record_sink[SINK_FILE].failed, 5, "each record that a write lost is counted");
	setrlimit(RLIMIT_FSIZE, &was);
	sinks_close(&rec);
	unlink(path);
}

#define PMSG_ZONE 2000

/*
 * Tests records in /dev/pmsg0. pstore returns the last bytes of its buffer, oldest first
 * (persistent_ram_save_old() of fs/pstore/ram_core.c). The beginning of the first record may
 * therefore be missing.
 */
static void test_pmsg(const char *path)
{
	struct sink_options o = {.record_sinks = 1u << SINK_PMSG, .pmsg = path};
	struct bb_record r = {.class = BB_FAULT, .severity = BB_CRITICAL};
	uint8_t zone[PMSG_ZONE];
	struct bb_found f = {};
	struct record_sinks rec;
	FILE *file = fopen(path, "we");

	fclose(file);
	bb_put(&r, "symbol", "lab_get+0xe");
	sinks_open(&rec, &o);
	for (int i = 0; i < 50; i++)
		sinks_write(&rec, &r);
	sinks_close(&rec);
	file = fopen(path, "re");
	ok(file && !fseek(file, -PMSG_ZONE, SEEK_END) &&
		   fread(zone, 1, PMSG_ZONE, file) == PMSG_ZONE,
	   "more was written to pmsg than its zone has room for");
	if (file)
		fclose(file);
	bb_scan(&f, zone, sizeof(zone));
	bb_found_settle(&f);
	ok(f.n > 10 && f.record[f.n - 1].sequence == 50 && f.record[0].sequence == 50 - (f.n - 1) &&
		   f.record[0].class == BB_FAULT,
	   "the last records come back, in order, without a gap");
	bb_found_free(&f);
	unlink(path);
}

/*
 * Tests more boots than the table holds. If a boot is dropped, its records must be dropped as well.
 */
static void test_many_boots(void)
{
	struct bb_found f = {};
	bool housed = true, ordered = true;
	int last = 0;

	for (size_t i = 0; i < 3 * BB_BOOTS_MAX; i++) {
		struct bb_record r = example(1 + i % 2);

		r.boot_id[0] = i / 2;
		/* the order of the boot ids is not the order of the boots */
		r.boot_id[1] = 0xa5 ^ r.boot_id[0];
		r.wall_ns -= r.boot_id[0];
		bb_found_add(&f, &r);
	}
	bb_found_settle(&f);
	is_u64(f.boots, BB_BOOTS_MAX, "so many boots");
	is_u64(f.n, 2 * BB_BOOTS_MAX, "all records of each");
	is_u64(f.lost, BB_BOOTS_MAX, "others are counted");
	for (size_t i = 0; i < f.n; i++) {
		int boot = bb_boot_find(&f, f.record[i].boot_id);

		housed &= boot >= 0;
		ordered &= boot >= last && f.record[i].sequence == 1 + i % 2;
		last = boot;
	}
	ok(housed, "none is of another");
	ok(ordered, "boots are in the order of time, and records in each");
	bb_found_free(&f);
}

/* Tests that records beyond the maximum number are counted, but not stored. */
static void test_many_records(void)
{
	struct bb_record r = example(1);
	struct bb_found f = {};
	int err = 0;

	for (size_t i = 0; i < BB_FOUND_MAX + 3; i++)
		err |= bb_found_add(&f, &r);
	ok(!err && f.n == BB_FOUND_MAX && f.lost == 3, "records beyond the most are counted");
	bb_found_free(&f);
}

int main(void)
{
	test_many_boots();
	test_many_records();
	char dir[] = "/tmp/faultscope-unit-XXXXXX", path[64];

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/ring", dir);
	test_numbers();
	test_encodings();
	test_full();
	test_scan();
	test_scan_places();
	test_doubles();
	test_boots();
	test_order();
	test_ring(path);
	test_full_disk(path);
	test_pmsg(path);
	rmdir(dir);
	return tap_done();
}
