// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how triage reads files and directories, and what it says about input that it did not read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "crash/decompress.h"
#include "crash/surviving_logs.h"
#include "crash/triage_files.h"
#include "crash/triage_gaps.h"
#include "open_files.h"
#include "render/completeness.h"
#include "tap.h"

static char place[64]; /* directory of this test's files */

#define BELOW(name) below(name, (char[256]){})

static const char *below(const char *name, char ret[256])
{
	snprintf(ret, 256, "%s/%s", place, name);
	return ret;
}

/* Writes a file and the directories above it. */
static void put(const char *name, const char *bytes, size_t size)
{
	char path[256];
	int fd;

	below(name, path);
	for (char *slash = path + strlen(place) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

/* ---- text ---- */

/* Returns whether `odd` bytes of a kind in `size` bytes are still text. */
static bool is_text(char kind, size_t odd, size_t size)
{
	char bytes[256];

	memset(bytes, 'a', sizeof(bytes));
	memset(bytes, kind, odd);
	return triage_is_text(bytes, size);
}

static void test_text(void)
{
	ok(!is_text('a', 0, 0), "nothing is no text");
	ok(is_text('a', 0, 1), "one letter is");
	ok(is_text(0, 9, 100), "9 odd bytes of 100");
	ok(!is_text(0, 10, 100), "10 of 100 are too many");
	ok(is_text(0, 19, 200), "19 of 200");
	ok(!is_text(0, 20, 200), "20 of 200");
	ok(!is_text(0, 1, 9), "1 of 9");
	ok(is_text(0, 1, 20), "1 of 20");
	ok(!is_text(0x7f, 100, 200), "DEL is odd");
	ok(!is_text(0x1f, 100, 200), "so are control characters");
	ok(is_text(0x7e, 100, 200) && is_text(' ', 100, 200), "printable ones are not");
	for (const char *blank = "\t\n\v\f\r\b\x1b"; *blank; blank++)
		ok(is_text(*blank, 200, 200), "control character %d is of a text", *blank);
	ok(!is_text((char)0xff, 100, 200), "no UTF-8");
	ok(triage_is_text("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 xxxx", 14), "UTF-8");
	ok(triage_is_text("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa4", 33), "at the end too");
	ok(triage_is_text("\xf0\x9f\x98", 3), "a character that the end cuts");
	ok(!triage_is_text("\xf0\x9f\x98x", 4), "but not before other bytes");
}

/* ---- gaps ---- */

static void gaps_are(const struct triage_files *f, const struct triage *t, size_t records,
		     const char *want)
{
	struct buf gaps = {}, joined = {};

	triage_gaps_of(&gaps, f, t, records);
	gaps_join(&joined, &gaps);
	is_str(joined.s ? joined.s : "", want, *want ? want : "no gap");
	buf_free(&gaps);
	buf_free(&joined);
}

static void test_gaps(void)
{
	struct incident reports[] = {{.lost_frames = 2, .lost_modules = 3},
				     {.lost_frames = 5, .lost_modules = 7}};
	char noise[100] = "";
	struct triage_files f = {};
	struct triage t = {};

	gaps_are(&f, &t, 0, "nothing was read: there is no log");
	gaps_are(&f, &t, 1, "");
	f.n = 1;
	f.name[0] = "dmesg";
	f.input[0] = (struct triage_input){.data = "", .size = 0};
	gaps_are(&f, &t, 0, "nothing was read: the log has no line");
	t.lines.passed = 1;
	gaps_are(&f, &t, 0, "");
	t.lines.passed = 0;
	t.lines.n = 1;
	gaps_are(&f, &t, 0, "");
	f.n = 2;
	f.name[1] = "a\nb";
	f.input[1] = (struct triage_input){.data = noise, .size = sizeof(noise)};
	gaps_are(&f, &t, 0, "not read: a\\x0ab is no text (100 of 100 bytes)");
	f.n = 1;
	f.left_out = 4;
	gaps_are(&f, &t, 0, "lost: 4 files beyond the most that are read at once");
	f.left_out = 0;
	t.lines.lost_bytes = 11;
	t.lines.lost_lines = 12;
	gaps_are(&f, &t, 0,
		 "lost: 11 bytes beyond the most that is read; "
		 "lost: 12 lines beyond the most that are read");
	t.lines.lost_bytes = t.lines.lost_lines = 0;
	t.seen.lost = 3;
	t.lost_verdicts = 2;
	gaps_are(&f, &t, 0, "lost: 5 reports beyond the most that are judged");
	t.seen.lost = t.lost_verdicts = 0;
	t.seen.event = reports;
	t.seen.n = 2;
	gaps_are(&f, &t, 0,
		 "lost: 7 frames of call traces beyond the most that are kept; "
		 "lost: 10 modules beyond the most that are kept");
	t.seen.n = 0;
	t.seen.unknown = 6;
	gaps_are(&f, &t, 0, "lost: 6 lines that look like a crash and fit no rule");
	t.seen.unknown = 0;
	t.lines.dropped = 8;
	t.recorded.torn = 9;
	gaps_are(&f, &t, 0,
		 "lost: 8 times the kernel dropped messages; "
		 "lost: 9 records of the flight recorder that are torn");
}

static void test_has_text(void)
{
	static const struct triage_skip skip;
	char noise[100] = "";
	struct triage_files f = {.n = 2};
	struct triage t = {};

	f.input[0] = (struct triage_input){.data = noise, .size = sizeof(noise)};
	f.input[1] = f.input[0];
	t.lines.n = 1;
	ok(!triage_has_text(&f, &t, 0), "no file has text");
	ok(triage_has_text(&f, &t, 1), "a record is enough");
	f.input[1] = (struct triage_input){.data = "text", .size = 4};
	ok(triage_has_text(&f, &t, 0), "one of two has");
	t.lines.n = 0;
	ok(!triage_has_text(&f, &t, 0), "but no line");
	t.lines.passed = 1;
	ok(triage_has_text(&f, &t, 0), "lines that were passed count");
	f.input[1] = (struct triage_input){.data = noise, .size = 100, .skip = &skip, .skips = 1};
	ok(triage_has_text(&f, &t, 0), "so does a log of which only parts are kept");
	f.n = 0;
	ok(!triage_has_text(&f, &t, 0), "no file");
}

/* ---- files ---- */

static void reads(const char *name, const char *want, const char *gaps)
{
	struct triage_files f = {};
	struct buf got = {}, joined = {};
	size_t fds = open_fds();
	int err = triage_files_add(&f, BELOW(name));

	for (size_t i = 0; i < f.n; i++)
		buf_printf(&got, "%s=%.*s;", f.name[i] + strlen(place) + 1, (int)f.input[i].size,
			   f.input[i].data);
	gaps_join(&joined, &f.gaps);
	ok(!err && !f.error[0], "%s: %s", name, f.error);
	is_str(got.s ? got.s : "", want, name);
	is_str(joined.s ? joined.s : "", gaps, "what was not read");
	buf_free(&got);
	buf_free(&joined);
	triage_files_free(&f);
	is_u64(open_fds(), fds, "no file stays open");
}

static void test_directories(void)
{
	char deep[256] = "tree/a";

	put_text("tree/b", "two");
	put_text("tree/a/c", "one");
	put_text("tree/.hidden", "no");
	put_text("tree/empty", "");
	mkfifo(BELOW("tree/fifo"), 0600);
	reads("tree", "tree/a/c=one;tree/b=two;tree/empty=;", "");
	for (int i = 0; i < 5; i++)
		strcat(deep, "/d");
	strcat(deep, "/last");
	put_text(deep, "deep");
	reads("tree", "tree/a/c=one;tree/b=two;tree/empty=;",
	      "not read: too deep a place, all of last");
	unlink(BELOW(deep));
	*strrchr(deep, '/') = 0;
	rmdir(BELOW(deep));
	put_text(deep, "less");
	snprintf(deep + strlen(deep), 128, "=less;tree/b=two;tree/empty=;");
	memmove(deep + strlen("tree/a/c=one;"), deep, strlen(deep) + 1);
	memcpy(deep, "tree/a/c=one;", strlen("tree/a/c=one;"));
	reads("tree", deep, "");
}

static void test_too_many_files(void)
{
	struct triage_files f = {};
	char name[32];

	for (int i = 0; i < TRIAGE_INPUTS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "many/%03d", i);
		put_text(name, name);
	}
	is_u64(triage_files_add(&f, BELOW("many")), 0, "a directory of many files");
	is_u64(f.n, TRIAGE_INPUTS_MAX, "as many as are read at once");
	is_u64(f.left_out, 3, "the others are counted");
	ok(!strncmp(f.input[TRIAGE_INPUTS_MAX - 1].data, "many/255", 8), "the last one");
	triage_files_free(&f);
}

static void fails(const char *name, int err, const char *error)
{
	struct triage_files f = {};
	char want[512];
	size_t fds = open_fds();

	snprintf(want, sizeof(want), "cannot read %s: %s", BELOW(name), error);
	is_u64(triage_files_add(&f, BELOW(name)), err, name);
	is_str(f.error, want, "the reason");
	is_u64(f.n, 0, "nothing is kept");
	triage_files_free(&f);
	is_u64(open_fds(), fds, "no file stays open");
}

static void test_errors(void)
{
	static const char damaged[] = "\x1f\x8b\x08\0\0\0\0\0\0\3 no deflate";

	fails("none", -ENOENT, "No such file or directory");
	put("damaged.gz", damaged, sizeof(damaged));
	fails("damaged.gz", -EINVAL, "it is compressed, and damaged");
	put("tree2/1.gz", damaged, sizeof(damaged));
	put_text("tree2/2", "text");
	ok(triage_files_add(&(struct triage_files){}, BELOW("tree2")) == -EINVAL,
	   "a damaged file of a directory is an error");
}

/* Compresses a text. Returns the number of bytes. */
static size_t packed(const char *text, int window, char *ret, size_t size)
{
	z_stream z = {.next_in = (void *)text,
		      .avail_in = strlen(text),
		      .next_out = (void *)ret,
		      .avail_out = size};

	deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return z.total_out;
}

#define ZLIB 15
#define GZIP 31
#define RAW  -15

/* Unpacks `head` followed by a compressed text. */
static void unpacks(const char *head, int window, bool good)
{
	char bytes[512], *data;
	const char *why = NULL;
	size_t size = strlen(head);
	bool partial = true;
	int err;

	memcpy(bytes, head, size);
	size += packed("Linux version 6.1", window, bytes + size, sizeof(bytes) - size);
	data = malloc(size);
	memcpy(data, bytes, size);
	err = decompress(&data, &size, 1000, &partial, &why);
	ok(!err && !partial && good == (size == 17 && !memcmp(data, "Linux version 6.1", 17)),
	   "header %.*s: %zu bytes", (int)strcspn(head, "\n"), head, size);
	free(data);
}

static void test_headers_of_ramoops(void)
{
	unpacks("", GZIP, true);
	unpacks("====1234567890.123456-C\n", ZLIB, true);
	unpacks("====1234567890.123456-C\n", GZIP, true);
	unpacks("====1234567890.123456-C\n", RAW, true);
	unpacks("====12-C\n", RAW, true);
	unpacks("====12-D\n", RAW, false);
	unpacks("====12C\n", RAW, false);
	unpacks("===x12-C\n", RAW, false);
	unpacks("====-C\n", RAW, true);
	unpacks("====C\n", RAW, false);
	unpacks("====00000000001111111111222222222233333333334444444444555555555-C\n", RAW, false);
	unpacks("====0000000000111111111122222222223333333333444444444455555555-C\n", RAW, true);
}

static void test_nested(void)
{
	char inner[1024], outer[1024], *data;
	const char *why = NULL;
	bool partial;
	size_t size;

	size = packed("a log", GZIP, inner, sizeof(inner));
	put("nested.gz", inner, size);
	reads("nested.gz", "nested.gz=a log;", "");
	for (int times = 2; times <= 5; times++) {
		z_stream z = {.next_in = (void *)inner,
			      .avail_in = size,
			      .next_out = (void *)outer,
			      .avail_out = sizeof(outer)};

		deflateInit2(&z, 9, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY);
		deflate(&z, Z_FINISH);
		deflateEnd(&z);
		size = z.total_out;
		memcpy(inner, outer, size);
		data = malloc(size);
		memcpy(data, inner, size);
		z.total_in = size;
		is_u64(decompress(&data, (size_t *)&z.total_in, 1000, &partial, &why), 0,
		       "packed again");
		ok((z.total_in == 5 && !memcmp(data, "a log", 5)) == (times <= 4), "%d times",
		   times);
		free(data);
	}
	size = packed("a log", GZIP, inner, sizeof(inner));
	data = malloc(size);
	memcpy(data, inner, size);
	is_u64(decompress(&data, &size, 4, &partial, &why), 0, "more than may be read");
	ok(partial && size == 4, "is cut, and said");
	free(data);
}

/* ---- records ---- */

#define TRACE                                                                                      \
	"# tracer: nop\n#\n"                                                                       \
	"  <...>-1 [000] d..1. 1.000000: console: Linux version 6.1\n"                             \
	"  <...>-1 [000] d..1. 2.000000: console: Call Trace:\n"

static void test_traces_become_logs(void)
{
	struct triage_files f = {};

	put_text("trace", TRACE);
	put_text("log", "a log\n");
	triage_files_add(&f, BELOW("trace"));
	triage_files_add(&f, BELOW("log"));
	is_u64(survivors_to_logs(&f), 0, "a trace and a log");
	ok(f.input[0].size == strlen(f.input[0].data) && strstr(f.input[0].data, "Linux version") &&
		   !strstr(f.input[0].data, "# tracer"),
	   "a trace becomes a log");
	ok(f.input[1].size == 6 && !memcmp(f.input[1].data, "a log\n", 6), "a log stays");
	triage_files_free(&f);
}

static void test_no_records(void)
{
	struct bb_found found = {};
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	is_u64(survivors_scan_fd(&found, fd), (uint64_t)-EINVAL, "a directory has no records");
	close(fd);
	fd = open(BELOW("tree/empty"), O_RDONLY | O_CLOEXEC);
	is_u64(survivors_scan_fd(&found, fd), (uint64_t)-EINVAL, "nor has an empty file");
	close(fd);
	fd = open(BELOW("log"), O_RDONLY | O_CLOEXEC);
	is_u64(survivors_scan_fd(&found, fd), 0, "a log can be scanned");
	is_u64(found.n, 0, "and has none");
	close(fd);
	is_u64(survivors_scan_dump(&found, BELOW("none")), (uint64_t)-ENOENT, "no file");
	bb_found_free(&found);
}

/* Adds a record with a line of the log to a ring, whose records begin at multiples of 512 bytes. */
static void add_line(char *ring, size_t at, uint8_t boot, enum bb_class class, const char *line)
{
	struct bb_record r = {.sequence = at + 1, .boot_ns = at + 1, .class = class, .count = 1};

	r.wall_ns = (uint64_t)boot * 1000000000 + at;
	memset(r.boot_id, boot, sizeof(r.boot_id));
	bb_put_u64(&r, "us", 2000000 + at);
	bb_put(&r, "line", line);
	bb_encode(&r, (uint8_t *)ring + BB_RECORD_MAX * at);
}

/* Writes a ring with the classes of one record in each of three boots. */
static void put_ring(const char *name, enum bb_class one, enum bb_class two, enum bb_class three)
{
	char ring[3 * BB_RECORD_MAX] = "";

	add_line(ring, 0, 1, one, "in the first boot");
	add_line(ring, 1, 2, two, "in the second boot");
	add_line(ring, 2, 3, three, "in the third boot");
	put(name, ring, sizeof(ring));
}

static void becomes(const char *name, const char *other, const char *want, const char *what)
{
	struct triage_files f = {};
	struct bb_found found = {};

	triage_files_add(&f, BELOW(name));
	if (other)
		triage_files_add(&f, BELOW(other));
	is_u64(survivors_scan(&found, &f), 0, name);
	is_u64(found.n, 3, "has all records");
	is_u64(found.boots, 3, "of all boots");
	is_u64(survivors_to_logs(&f), 0, "becomes a log");
	is_str(f.input[0].data, want, what);
	is_u64(f.input[0].size, strlen(want), "its size");
	bb_found_free(&found);
	triage_files_free(&f);
}

static void test_rings_become_logs(void)
{
	struct bb_found found = {};

	put_text("other", "a log\n");
	put_text("crash", "x\nCall Trace:\n");
	put_ring("quiet", BB_CONSOLE, BB_CONSOLE, BB_CONSOLE);
	put_ring("oops", BB_CONSOLE, BB_OOPS, BB_CONSOLE);
	put_ring("panic", BB_PANIC, BB_PANIC, BB_CONSOLE);
	put_ring("fixup", BB_FIXUP, BB_CONSOLE, BB_CONSOLE);
	becomes("quiet", NULL, "[    2.000002] in the third boot\n", "the newest boot");
	becomes("fixup", NULL, "[    2.000002] in the third boot\n", "the newest boot, no crash");
	becomes("oops", NULL, "[    2.000001] in the second boot\n", "the boot with an oops");
	becomes("panic", NULL, "[    2.000001] in the second boot\n", "the newest panic");
	becomes("oops", "other", "[    2.000001] in the second boot\n", "a log without a crash");
	becomes("oops", "crash", "", "another log has the crash already");

	is_u64(survivors_scan_dump(&found, BELOW("oops")), 0, "a file that is no dump is scanned");
	is_u64(found.n, 3, "for its records");
	bb_found_free(&found);
}

/* A ring begins with binary data: a log with a NUL somewhere is none. */
static void test_log_with_a_nul(void)
{
	for (size_t at = 62; at < 66; at++) {
		struct triage_files f = {};
		char bytes[200];

		memset(bytes, 'a', sizeof(bytes));
		memcpy(bytes + 100, BB_MAGIC, strlen(BB_MAGIC));
		bytes[at] = 0;
		put("nul", bytes, sizeof(bytes));
		triage_files_add(&f, BELOW("nul"));
		is_u64(survivors_to_logs(&f), 0, "a file with a NUL");
		is_u64(f.input[0].size, at < 64 ? 0 : sizeof(bytes),
		       at < 64 ? "in its first 64 bytes is a ring" : "behind them is a log");
		triage_files_free(&f);
	}
}

int main(void)
{
	strcpy(place, "/tmp/test_triage_inputs.XXXXXX");
	if (!mkdtemp(place))
		return 1;
	test_text();
	test_gaps();
	test_has_text();
	test_directories();
	test_too_many_files();
	test_errors();
	test_headers_of_ramoops();
	test_nested();
	test_traces_become_logs();
	test_no_records();
	test_rings_become_logs();
	test_log_with_a_nul();
	nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
