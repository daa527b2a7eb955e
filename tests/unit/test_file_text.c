// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the readers of lines, words, numbers and mounts in files of /proc and /etc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "collect/files/byte_source.h"
#include "collect/files/file_text.h"
#include "collect/files/mountinfo.h"
#include "tap.h"

static struct span span_of(const char *s)
{
	return (struct span){s, strlen(s)};
}

static bool same(struct span s, const char *want)
{
	return s.len == strlen(want) && !memcmp(s.s, want, s.len);
}

static void test_blanks(void)
{
	ok(same(text_trim(span_of(" \t\r\f\va b \t\r\f\v")), "a b"), "blanks at both ends are cut");
	ok(same(text_trim(span_of("a")), "a"), "a text without blanks stays");
	ok(same(text_trim(span_of(" \t ")), ""), "nothing is left of blanks");
	ok(same(text_trim(span_of("\na\n")), "\na\n"), "a line feed is no blank");
	ok(same(text_trim((struct span){"ab  ", 1}), "a"),
	   "what is behind the text is not looked at");
	ok(text_is(span_of("max"), "max"), "equal texts");
	ok(!text_is(span_of("maxi"), "max") && !text_is(span_of("ma"), "max") &&
		   !text_is(span_of("mix"), "max"),
	   "different texts");
	ok(text_is((struct span){"maxi", 3}, "max"), "a part of a longer text");
}

static void test_lines(void)
{
	struct text_lines l = {.rest = span_of(" a \n\nb\n c")};
	struct span line;

	ok(text_line(&l, &line) && same(line, "a") && l.line == 1, "a line without its blanks");
	ok(text_line(&l, &line) && same(line, "") && l.line == 2, "an empty line");
	ok(text_line(&l, &line) && same(line, "b") && l.line == 3, "a line that is not the last");
	ok(text_line(&l, &line) && same(line, "c") && l.line == 4, "a line without a line feed");
	ok(!text_line(&l, &line) && l.line == 4, "the end");
	l = (struct text_lines){.rest = span_of("\n")};
	ok(text_line(&l, &line) && same(line, ""), "a line feed is an empty line");
	ok(!text_line(&l, &line), "and no other one");
}

static void test_words(void)
{
	struct span line = span_of("one two\t  three"), left, right;

	ok(same(text_word(&line), "one") && same(line, "two\t  three"), "the first word");
	ok(same(text_word(&line), "two") && same(line, "three"), "the second");
	ok(same(text_word(&line), "three") && !line.len, "the last");
	ok(same(text_word(&line), ""), "no further one");
	ok(text_split(span_of(" a : b : c "), ':', &left, &right) && same(left, "a") &&
		   same(right, "b : c"),
	   "a text is split at the first colon");
	ok(text_split(span_of(":"), ':', &left, &right) && !left.len && !right.len,
	   "parts may be empty");
	ok(!text_split(span_of("ab"), ':', &left, &right), "a text without a colon");
	ok(!text_split((struct span){}, ':', &left, &right), "no text");
	ok(!text_split((struct span){"a:b", 1}, ':', &left, &right), "a colon behind the text");
}

static void test_copy(void)
{
	char ret[6] = "zzzzz";

	text_copy(span_of("abcd"), ret, 5);
	is_str(ret, "abcd", "a text that fits exactly");
	ok(ret[5] == 0, "nothing is written behind it");
	text_copy(span_of("abcdef"), ret, 5);
	is_str(ret, "abcd", "a longer one is cut");
	text_copy((struct span){"a\0b", 3}, ret, 5);
	is_str(ret, "a b", "a NUL becomes a blank");
	text_copy(span_of("a"), ret, 1);
	is_str(ret, "", "room for nothing");
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} rows[] = {
		{"9", true, 9},
		{"1K", true, 1ULL << 10},
		{"1M", true, 1ULL << 20},
		{"1G", true, 1ULL << 30},
		{"1T", true, 1ULL << 40},
		{"1P", true, 1ULL << 50},
		{"1E", true, 1ULL << 60},
		{"1KB", true, 1ULL << 10},
		{"1KiB", true, 1ULL << 10},
		{"3e", true, 3ULL << 60},
		{"15E", true, 15ULL << 60},
		{"16E", true, LIMIT_NONE},
		{"18014398509481983K", true, 18014398509481983ULL << 10},
		{"18014398509481984K", true, LIMIT_NONE},
		{"010", true, 8},
		{"1KiBx", false, 0},
		{"1Ki", false, 0},
		{"1Bi", false, 0},
		{"1B", false, 0},
		{"1X", false, 0},
		{"1!", false, 0},
		{"/1", false, 0},
		{":1", false, 0},
		{"00000000000000000000000000000000000000000000007", true, 7},
		{"000000000000000000000000000000000000000000000007", false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 77;
		int err = text_number(span_of(rows[i].text), &value);

		ok(rows[i].good ? !err && value == rows[i].value : err == -EINVAL && value == 77,
		   "number %s", rows[i].text);
	}
}

static void test_pairs(void)
{
	uint64_t soft = 1, hard = 2;

	ok(!text_pair(span_of("5:6"), &soft, &hard) && soft == 5 && hard == 6, "two values");
	ok(!text_pair(span_of("7"), &soft, &hard) && soft == 7 && hard == 7, "one for both");
	ok(text_pair(span_of("8:x"), &soft, &hard) == -EINVAL && soft == 7 && hard == 7,
	   "the second is no number");
	ok(text_pair(span_of("x:8"), &soft, &hard) == -EINVAL && soft == 7 && hard == 7,
	   "the first is none");
}

static void test_proc_files(void)
{
	static const char limits[] = "Limit            Soft Limit  Hard Limit  Units\n"
				     "Max open files limit 1 2\n"
				     "Max open filesystems 3 4 files\n"
				     "Max open files       1024        4096        files\n"
				     "Max open files       5           6           files\n"
				     "Max cpu time         unlimited   10          seconds\n"
				     "Max processes        many        10          processes\n"
				     "Max nice priority    0           none\n"
				     "Max file size";
	static const char status[] = "Name:\ta:b\nUid:\t7\t8\nnothing\nUid:\t9\n";
	uint64_t soft = 77, hard = 78;
	struct span value = {};

	ok(!text_rlimit(span_of(limits), "Max open files", &soft, &hard) && soft == 77,
	   "the first line of a title decides");
	ok(text_rlimit(span_of(limits), "Max cpu time", &soft, &hard) && soft == LIMIT_NONE &&
		   hard == 10,
	   "both limits of a line");
	ok(!text_rlimit(span_of(limits), "Max processes", &soft, &hard) && hard == 10,
	   "a soft limit that is no number");
	ok(!text_rlimit(span_of(limits), "Max nice priority", &soft, &hard) && hard == 10,
	   "a hard limit that is none");
	ok(!text_rlimit(span_of(limits), "Max file size", &soft, &hard),
	   "a line of the title alone");
	ok(!text_rlimit(span_of(limits), "Max", &soft, &hard), "the begin of other titles");
	ok(!text_rlimit(span_of(limits), "Max stack size", &soft, &hard), "a missing title");
	ok(text_rlimit(span_of(strstr(limits, "Max open filesystems")), "Max open files", &soft,
		       &hard) &&
		   soft == 1024 && hard == 4096,
	   "a longer title is another one");
	ok(text_status(span_of(status), "Uid", &value) && same(value, "7\t8"), "the first value");
	ok(text_status(span_of(status), "Name", &value) && same(value, "a:b"),
	   "a value with a colon");
	ok(!text_status(span_of(status), "Ui", &value) && same(value, "a:b"), "a missing key");
	ok(!text_status(span_of(status), "nothing", &value), "a line without a colon");
}

static void test_kept_line(void)
{
	struct origin_line line = {.glob = true};

	text_keep(&line, "/etc/a.conf", 7, span_of("a = 5"), span_of("5"));
	is_str(line.file, "/etc/a.conf", "the file of a line");
	is_u64(line.line, 7, "its number");
	is_str(line.text, "a = 5", "its text");
	is_str(line.value, "5", "its value");
	ok(!line.glob, "it is without a wildcard");
}

static void test_mounts(void)
{
	static const struct {
		const char *line;
		bool good;
	} rows[] = {
		{"36 35 98:5 /root /point rw,noatime shared:1 master:2 - ext4 /dev/sda rw,max=7",
		 true},
		{"36 35 98:5 /root /point rw,noatime - ext4 /dev/sda rw,max=7", true},
		{"36 35 98 /root /point rw,noatime - ext4 /dev/sda rw,max=7", false},
		{"36 35 98:x /root /point rw,noatime - ext4 /dev/sda rw,max=7", false},
		{"36 35 x:5 /root /point rw,noatime - ext4 /dev/sda rw,max=7", false},
		{"36 35 98:5 /root /point rw,noatime shared:1", false},
		{"36 35 98:5 /root /point rw,noatime -", false},
		{"", false},
	};
	struct mount_line m;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool good = mountinfo_parse(span_of(rows[i].line), &m);

		ok(good == rows[i].good, "mount \"%s\"", rows[i].line);
		if (good)
			ok(same(m.point, "/point") && same(m.type, "ext4") &&
				   same(m.options, "rw,max=7") && m.device == (98 << 20 | 5),
			   "its point, type, options and device");
	}
	ok(mountinfo_parse(span_of("1 2 0:22 / /p rw - tmpfs none"), &m) && !m.options.len,
	   "a mount without options of its file system");
}

static void test_mount_points(void)
{
	static const struct {
		const char *point, *want; /* NULL: too long for 8 bytes */
	} rows[] = {
		{"/a\\040b", "/a b"},
		{"/a\\134", "/a\\"},
		{"\\101\\377", "A\xff"},
		{"/a\\04", "/a\\04"},
		{"/\\08a", "/\\08a"},
		{"/\\800", "/\\800"},
		{"/\\0a0", "/\\0a0"},
		{"/123456", "/123456"},
		{"/1234567", NULL},
		{"/12345\\040", "/12345 "},
		{"", ""},
	};
	char ret[8];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool good = mountinfo_path(span_of(rows[i].point), ret, sizeof(ret));

		ok(good == (rows[i].want != NULL) && (!good || !strcmp(ret, rows[i].want)),
		   "mount point %s", rows[i].point);
	}
	ok(!mountinfo_path(span_of(""), ret, 0), "room for nothing");
	ok(mountinfo_path((struct span){"/\\040", 4}, ret, sizeof(ret)) && !strcmp(ret, "/\\04"),
	   "a digit behind the point is not read");
}

/* The bytes of a file, or of memory: fd -1. */
static void test_bytes_of(int fd, const char *what)
{
	static const char text[] = "0123456789";
	struct byte_source s = {.fd = fd, .mem = (const void *)text, .bytes = 10};
	char ret[16] = "";

	ok(bytes_read(&s, 2, ret, 3) == 3 && !memcmp(ret, "234", 3), "%s: bytes in the middle",
	   what);
	ok(bytes_read(&s, 7, ret, 8) == 3 && !memcmp(ret, "789", 3), "%s: up to the end", what);
	ok(bytes_read(&s, 10, ret, 1) == 0 && bytes_read(&s, UINT64_MAX, ret, 1) == 0,
	   "%s: none behind the end", what);
	ok(bytes_get(&s, 7, ret, 3) && !bytes_get(&s, 7, ret, 4) && !bytes_get(&s, 10, ret, 1),
	   "%s: all bytes or none", what);
	ok(bytes_text(&s, 3, '7', ret, sizeof(ret)) == 4 && !strcmp(ret, "3456"),
	   "%s: a text up to a character", what);
	ok(bytes_text(&s, 3, 'x', ret, sizeof(ret)) == 7 && !strcmp(ret, "3456789"),
	   "%s: up to the end", what);
	ok(bytes_text(&s, 3, 'x', ret, 4) == 3 && !strcmp(ret, "345"), "%s: up to the room", what);
	ok(bytes_text(&s, 10, 'x', ret, 4) == 0 && !*ret, "%s: no text behind the end", what);
}

static void test_bytes(void)
{
	struct byte_source bad = {.fd = 1000, .bytes = 10};
	int fd = memfd_create("bytes", MFD_CLOEXEC);
	char ret[4] = "abc";

	if (fd < 0 || write(fd, "0123456789more", 14) != 14)
		abort();
	test_bytes_of(fd, "file");
	close(fd);
	test_bytes_of(-1, "memory");
	ok(bytes_read(&bad, 0, ret, 4) == -EBADF, "a file that cannot be read");
	ok(!bytes_get(&bad, 0, ret, 4), "has no bytes");
	ok(bytes_text(&bad, 0, 'x', ret, 4) == 0 && !*ret, "and no text");
}

int main(void)
{
	test_blanks();
	test_lines();
	test_words();
	test_copy();
	test_numbers();
	test_pairs();
	test_proc_files();
	test_kept_line();
	test_mounts();
	test_mount_points();
	test_bytes();
	return tap_done();
}
