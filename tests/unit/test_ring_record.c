// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests flight recorder records at their bounds: lengths, characters, digits, cut values. */
#include <errno.h>

#include "base/crc32c.h"
#include "blackbox/log_lines.h"
#include "blackbox/ring_record.h"
#include "tap.h"

#define BOOT_ID "df3257f3605f4c8ca93937309a32a963"
#define CRC_AT	60

static uint8_t bytes[BB_RECORD_MAX + 64];

/* Writes the checksum of a record of `len` bytes. */
static void sign(size_t len)
{
	uint32_t crc = crc32c(crc32c(0, bytes, CRC_AT), bytes + CRC_AT + 4, len - CRC_AT - 4);

	for (int i = 0; i < 4; i++)
		bytes[CRC_AT + i] = crc >> (8 * i);
}

/* Makes a correctly signed record whose header says that it has `len` bytes. */
static void make(size_t len)
{
	struct bb_record r = {.sequence = 7};

	memset(bytes, 'x', sizeof(bytes));
	bb_encode(&r, bytes);
	memset(bytes + BB_HEAD_BYTES, 'x', sizeof(bytes) - BB_HEAD_BYTES);
	bytes[6] = len;
	bytes[7] = len >> 8;
	sign(len < BB_HEAD_BYTES ? BB_HEAD_BYTES : len);
}

static void test_lengths(void)
{
	struct bb_record r = {};

	make(BB_HEAD_BYTES);
	is_u64(bb_decode(bytes, BB_HEAD_BYTES, &r), BB_HEAD_BYTES, "a record without text");
	is_str(r.text, "", "its text");
	make(BB_HEAD_BYTES - 1);
	is_u64(bb_decode(bytes, sizeof(bytes), &r), (uint64_t)-EILSEQ, "shorter than its header");
	make(BB_RECORD_MAX);
	is_u64(bb_decode(bytes, BB_RECORD_MAX, &r), BB_RECORD_MAX, "the longest record");
	is_u64(strlen(r.text), BB_TEXT_MAX, "its text is whole");
	is_u64(bb_decode(bytes, BB_RECORD_MAX - 1, &r), (uint64_t)-EILSEQ, "its last byte is cut");
	make(BB_RECORD_MAX + 1);
	is_u64(bb_decode(bytes, sizeof(bytes), &r), (uint64_t)-EILSEQ, "a record that is too long");
	is_u64(bb_decode((const uint8_t *)"FSbb", 4, &r), (uint64_t)-EILSEQ, "only a magic number");
	is_u64(bb_decode((const uint8_t *)"FSbb", 3, &r), (uint64_t)-EINVAL, "less than that");
	make(BB_HEAD_BYTES);
	bytes[4] = 2;
	sign(BB_HEAD_BYTES);
	is_u64(bb_decode(bytes, sizeof(bytes), &r), (uint64_t)-EILSEQ, "another format");
	make(BB_HEAD_BYTES);
	bytes[5] = 1;
	sign(BB_HEAD_BYTES);
	is_u64(bb_decode(bytes, sizeof(bytes), &r), (uint64_t)-EILSEQ, "one with a large number");
	make(BB_HEAD_BYTES);
	bytes[3] = 'x';
	is_u64(bb_decode(bytes, sizeof(bytes), &r), (uint64_t)-EINVAL, "another magic number");
	memset(r.text, 'y', BB_TEXT_MAX + 1);
	is_u64(bb_encode(&r, bytes), BB_RECORD_MAX, "a text without an end is cut");
}

/* The bytes of a record, which other versions read. */
static void test_bytes(void)
{
	static const uint8_t head[CRC_AT] = {
		'F',	  'S',	      'b',  'b',  1,	0,    66,   0,	  1,	2,    0,    0,
		0,	  0,	      0,    0,	  3,	0,    0,    0,	  0,	0,    0,    0,
		4,	  0,	      0,    0,	  0,	0,    0,    0,	  0xaa, 0xaa, 0xaa, 0xaa,
		0xaa,	  0xaa,	      0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa,
		BB_PROBE, BB_WARNING, 0,    0,	  5,	0,    0,    0,	  6,	0,    0,    0};
	struct bb_record r = {.sequence = 0x201,
			      .boot_ns = 3,
			      .wall_ns = 4,
			      .class = BB_PROBE,
			      .severity = BB_WARNING,
			      .count = 5,
			      .dropped = 6,
			      .text = "ab"};
	size_t zeros = 0;

	memset(r.boot_id, 0xaa, sizeof(r.boot_id));
	memset(bytes, 0xff, sizeof(bytes));
	is_u64(bb_encode(&r, bytes), BB_HEAD_BYTES + 2, "a short record");
	ok(!memcmp(bytes, head, sizeof(head)), "its header");
	ok(!memcmp(bytes + BB_HEAD_BYTES, "ab", 2), "its text");
	for (size_t i = BB_HEAD_BYTES + 2; i < BB_RECORD_MAX; i++)
		zeros += !bytes[i];
	is_u64(zeros, BB_TEXT_MAX - 2, "zeros follow up to the longest record");
	is_u64(bytes[BB_RECORD_MAX], 0xff, "and no byte more");
}

/* Returns the record `r` after both encodings, or an empty one if these differ. */
static struct bb_record decoded(const struct bb_record *r)
{
	struct bb_record back = {}, of_line = {};
	char line[BB_LINE_MAX];
	size_t len = bb_encode(r, bytes);

	bb_encode_line(r, line);
	if (bb_decode(bytes, len, &back) != (int)len ||
	    bb_decode_line(line, strlen(line), &of_line) || memcmp(&back, &of_line, sizeof(back)))
		return (struct bb_record){};
	return back;
}

static void test_names(void)
{
	struct bb_record r = {.sequence = 1, .count = 2};

	is_str(bb_class_name(NR_BB_CLASSES - 1), "panic", "the last class");
	is_str(bb_class_name(NR_BB_CLASSES), "none", "a class of a later version");
	is_str(bb_severity_name(NR_BB_SEVERITIES - 1), "critical", "the last severity");
	is_str(bb_severity_name(NR_BB_SEVERITIES), "info", "a severity of a later version");
	r.class = BB_PANIC;
	r.severity = BB_CRITICAL;
	r = decoded(&r);
	ok(r.class == BB_PANIC && r.severity == BB_CRITICAL && r.count == 2, "both are kept");
	r.class = NR_BB_CLASSES;
	r.severity = NR_BB_SEVERITIES;
	r = decoded(&r);
	ok(r.class == BB_NONE && r.severity == BB_INFO && r.count == 2,
	   "later ones become none and info");
}

/* ---- lines ---- */

/* Decodes a line with a correct checksum, which has `size` characters before the checksum. */
static int decode(const char *begin, size_t size, const char *end, struct bb_record *ret)
{
	char line[2 * BB_LINE_MAX];
	size_t n = size;

	memcpy(line, begin, size);
	n += snprintf(line + n, sizeof(line) - n, " ~%08x%s", crc32c(0, line, n), end);
	return bb_decode_line(line, n, ret);
}

/* Makes a line of `size` characters, whose text has `text` ones. Zeros precede its sequence. */
static void make_line(char *ret, size_t size, size_t text)
{
	static const char rest[] = " fault critical 5 6 " BOOT_ID " 7 8 ";
	size_t digits = size - text - strlen(BB_LINE_BEGINS) - strlen(rest);

	strcpy(ret, BB_LINE_BEGINS);
	memset(ret + strlen(BB_LINE_BEGINS), '0', digits);
	ret[strlen(BB_LINE_BEGINS) + digits - 1] = '9';
	strcpy(ret + strlen(BB_LINE_BEGINS) + digits, rest);
	memset(ret + size - text, 't', text);
	ret[size] = 0;
}

static void test_lines(void)
{
	static const char whole[] = BB_LINE_BEGINS "1 fault info 5 6 " BOOT_ID " 7 8 a=b";
	static const char cut[] = BB_LINE_BEGINS "1 fault info 5 6 " BOOT_ID " 7";
	static const char other[] = BB_LINE_BEGINS "1 newer unknown 5 6 " BOOT_ID " 7 8 a=b";
	static const char no_boot[] = BB_LINE_BEGINS "1 fault info 5 6 df32-x 7 8 a=b";
	static const char twice[] =
		BB_LINE_BEGINS "1 fault info 5 6 " BOOT_ID " 7 8 a=b ~00000000 c=d";
	char line[2 * BB_LINE_MAX], nul[sizeof(whole)];
	struct bb_record r = {};

	is_u64(decode(whole, strlen(whole), "", &r), 0, "a line");
	ok(r.sequence == 1 && r.class == BB_FAULT && r.boot_ns == 5 && r.wall_ns == 6 &&
		   r.boot_id[0] == 0xdf && r.boot_id[15] == 0x63 && r.count == 7 && r.dropped == 8,
	   "its values");
	is_str(r.text, "a=b", "its text");
	r.sequence = 0;
	bb_encode_line(&(struct bb_record){.sequence = 9}, line);
	memmove(line + 5, line, strlen(line) + 1);
	memcpy(line, "f fa ", 5);
	ok(!bb_decode_line(line, strlen(line), &r) && r.sequence == 9, "a line behind other text");
	is_u64(decode(whole, strlen(whole), " ~1234567", &r), 0, "what follows is no checksum");
	is_u64(decode(whole, strlen(whole), " ~1234567x", &r), 0, "nor is this");
	is_u64(decode(whole, strlen(whole), " -12345678", &r), 0, "nor this");
	is_u64(decode(twice, strlen(twice), "", &r), 0, "a text like a checksum");
	is_str(r.text, "a=b ~00000000 c=d", "stays in the text");
	is_u64(decode(cut, strlen(cut), "", &r), (uint64_t)-EILSEQ, "a number is missing");
	is_u64(decode(no_boot, strlen(no_boot), "", &r), (uint64_t)-EILSEQ, "no boot id");
	is_u64(decode(other, strlen(other), "", &r), 0, "words of a later version");
	ok(r.class == BB_NONE && r.severity == BB_INFO, "become none and info");
	memcpy(nul, whole, sizeof(whole));
	nul[strlen(whole) - 1] = 0;
	is_u64(decode(nul, strlen(whole), "", &r), (uint64_t)-EILSEQ, "a NUL in a line");
	is_u64(bb_decode_line(whole, strlen(whole), &r), (uint64_t)-EILSEQ, "no checksum");
	is_u64(bb_decode_line(BB_LINE_BEGINS, strlen(BB_LINE_BEGINS), &r), (uint64_t)-EILSEQ,
	       "only the begin of a line");
	is_u64(bb_decode_line(BB_LINE_BEGINS, strlen(BB_LINE_BEGINS) - 1, &r), (uint64_t)-EINVAL,
	       "less than that");

	make_line(line, 600, BB_TEXT_MAX);
	is_u64(decode(line, 600, "", &r), 0, "the longest text");
	is_u64(strlen(r.text), BB_TEXT_MAX, "is whole");
	make_line(line, 600, BB_TEXT_MAX + 1);
	is_u64(decode(line, 600, "", &r), (uint64_t)-EILSEQ, "a text that is too long");
	make_line(line, BB_LINE_MAX - 1, 5);
	is_u64(decode(line, BB_LINE_MAX - 1, "", &r), 0, "the longest line");
	is_u64(r.sequence, 9, "its number");
	make_line(line, BB_LINE_MAX, 5);
	is_u64(decode(line, BB_LINE_MAX, "", &r), (uint64_t)-EILSEQ, "a line that is too long");
}

/* ---- values ---- */

/* The text of a record with the value `value`. */
static const struct {
	const char *value, *text, *name;
} values[] = {
	{"", "k=\"\"", "an empty value is quoted"},
	{"!a~", "k=!a~", "the first and the last plain characters"},
	{"a b", "k=\"a b\"", "a space is quoted"},
	{"a\x1f", "k=\"a\\x1f\"", "the last control character is escaped"},
	{"a\x7f", "k=\"a\\x7f\"", "so is DEL"},
	{"a~ ", "k=\"a~ \"", "the last printable character is not"},
	{"\xff", "k=\"\\xff\"", "a byte of UTF-8 is escaped"},
	{"a=b", "k=\"a=b\"", "an equals sign is quoted"},
	{"a\"b", "k=\"a\\x22b\"", "a quote is escaped"},
	{"a\\b", "k=\"a\\x5cb\"", "so is a backslash"},
};

/* A text, and the value of its key `k`; NULL: none. */
static const struct {
	const char *text, *value, *name;
} texts[] = {
	{"k=\"\\x0a\\x9f\"", "\n\x9f", "hexadecimal digits"},
	{"k=\"\\xA0\\xF9\"", "\xa0\xf9", "also capitals"},
	{"k=\"\\xg0\"", "\\xg0", "g is none"},
	{"k=\"\\x`0\"", "\\x`0", "nor is the character before a"},
	{"k=\"\\x0@\"", "\\x0@", "nor the one before A"},
	{"k=\"\\xG0\"", "\\xG0", "nor G"},
	{"k=\"\\x/0\"", "\\x/0", "nor the one before 0"},
	{"k=\"\\x:0\"", "\\x:0", "nor the one behind 9"},
	{"a=\"k=1\" k=2", "2", "no key is in a quoted value"},
	{"a=\"b c\" k=3", "3", "a space in quotes ends no pair"},
	{"kk=1 k=4", "4", "a longer key is another one"},
	{"a=k k=5 k=6", "5", "the first pair counts"},
	{"k=\"x", "x", "a quote that does not end"},
	{"a=1 k", NULL, "a key without a value"},
	{"", NULL, "no text"},
};

static void test_values(void)
{
	char got[64];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct bb_record r = {};

		ok(bb_put(&r, "k", values[i].value), "%s", values[i].name);
		is_str(r.text, values[i].text, "its text");
		ok(bb_get(&r, "k", got, sizeof(got)) && !strcmp(got, values[i].value),
		   "and it is read again");
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct bb_record r = {};
		bool there;

		strcpy(r.text, texts[i].text);
		there = bb_get(&r, "k", got, sizeof(got));
		is_str(there ? got : NULL, texts[i].value, texts[i].name);
	}
}

/* Puts a value of `n` characters, quoted or plain, into a record that has `used` characters. */
static struct bb_record put(size_t used, size_t n, bool quoted, bool cut, bool *ret)
{
	static struct bb_record r;
	char value[BB_RECORD_MAX] = "";

	memset(value, 'v', n);
	if (quoted)
		value[0] = ' ';
	memset(r.text, 0, sizeof(r.text));
	memset(r.text, 'u', used);
	if (cut)
		bb_put_cut(&r, "k", value);
	else
		*ret = bb_put(&r, "k", value);
	return r;
}

static void test_room(void)
{
	struct bb_record r;
	bool fits = false;

	/* "k=" and a character that is not used */
	r = put(0, BB_TEXT_MAX - 3, false, false, &fits);
	ok(fits && strlen(r.text) == BB_TEXT_MAX - 1, "the longest plain value");
	r = put(0, BB_TEXT_MAX - 2, false, false, &fits);
	ok(!fits && !*r.text, "one that is too long is not put");
	r = put(0, BB_TEXT_MAX - 2, false, true, &fits);
	is_u64(strlen(r.text), BB_TEXT_MAX - 1, "or is cut");
	r = put(0, BB_TEXT_MAX - 4, true, false, &fits);
	ok(fits && strlen(r.text) == BB_TEXT_MAX, "the longest quoted value");
	r = put(0, BB_TEXT_MAX - 3, true, false, &fits);
	ok(!fits && !*r.text, "one that is too long is not put");
	r = put(0, BB_TEXT_MAX - 3, true, true, &fits);
	ok(strlen(r.text) == BB_TEXT_MAX && r.text[BB_TEXT_MAX - 1] == '"', "or is cut");
	/* " k=" and 8 characters */
	r = put(BB_TEXT_MAX - 11, 1, false, false, &fits);
	ok(fits && !strcmp(r.text + BB_TEXT_MAX - 11, " k=v"), "the last value of a record");
	r = put(BB_TEXT_MAX - 11, 7, false, false, &fits);
	ok(fits && !strcmp(r.text + BB_TEXT_MAX - 11, " k=vvvvvvv"), "the longest last value");
	put(BB_TEXT_MAX - 11, 8, false, false, &fits);
	ok(!fits, "and one that is longer");
	r = put(BB_TEXT_MAX - 10, 1, false, false, &fits);
	ok(!fits && strlen(r.text) == BB_TEXT_MAX - 10, "a record that is nearly full");
	r = put(BB_TEXT_MAX - 10, 1, false, true, &fits);
	is_u64(strlen(r.text), BB_TEXT_MAX - 10, "does not take a cut value either");
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t value;
	} numbers[] = {
		{"k=12", true, 12},
		{"k=0x1f", true, 31},
		{"k=12x", false, 0},
		{"k=\"\"", false, 0},
		{"k=x", false, 0},
		{"k=00000000000000000000007", true, 7},
		{"k=000000000000000000000007", false, 0},
		{"k=18446744073709551615", true, UINT64_MAX},
	};
	struct bb_record r = {};
	char got[5];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t value = 99;

		strcpy(r.text, numbers[i].text);
		ok(bb_get_u64(&r, "k", &value) == numbers[i].good &&
			   value == (numbers[i].good ? numbers[i].value : 99),
		   "number %s", r.text);
	}
	r.text[0] = 0;
	ok(bb_put_u64(&r, "k", UINT64_MAX) && bb_put_hex(&r, "h", UINT64_MAX), "large numbers");
	is_str(r.text, "k=18446744073709551615 h=0xffffffffffffffff", "are whole");
	strcpy(r.text, "k=1234");
	ok(bb_get(&r, "k", got, 5) && !strcmp(got, "1234"), "a value that just fits");
	ok(!bb_get(&r, "k", got, 4), "and one that does not");
}

static void test_boot_ids(void)
{
	static const struct {
		const char *text;
		bool good;
	} ids[] = {
		{"df3257f3605f4c8ca93937309a32a963", true},
		{"df3257f3-605f-4c8c-a939-37309a32a963\n", true},
		{"DF3257F3-605F-4C8C-A939-37309A32A963", true},
		{"df3257f3605f4c8ca93937309a32a96", false},
		{"df3257f3605f4c8ca93937309a32a96g", false},
		{"df3257f3605f4c8c_93937309a32a963", false},
		{"", false},
	};
	static const uint8_t want[] = {0xdf, 0x32, 0x57, 0xf3, 0x60, 0x5f, 0x4c, 0x8c,
				       0xa9, 0x39, 0x37, 0x30, 0x9a, 0x32, 0xa9, 0x63};
	static const uint8_t none[BB_BOOT_BYTES];

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		uint8_t id[BB_BOOT_BYTES] = {};

		ok(bb_boot_id(ids[i].text, id) == ids[i].good &&
			   !memcmp(id, ids[i].good ? want : none, sizeof(id)),
		   "boot id \"%s\"", ids[i].text);
	}
}

/* ---- lines of /dev/kmsg ---- */

static void test_kmsg(void)
{
	static const char head[] = "12,1234,5678901,-;";
	char record[sizeof(head) + BB_LINE_MAX + 8] = "";
	enum bb_severity severity = BB_CRITICAL;
	struct bb_line line = {};

	strcpy(record, head);
	memset(record + strlen(head), 't', BB_LINE_MAX - 1);
	strcpy(record + strlen(record), "\n KEY=x\n");
	ok(bb_line_parse(record, strlen(record), &line) && line.us == 5678901, "a long line");
	is_u64(line.level, 4, "its level, without the facility");
	is_u64(strlen(line.text), BB_LINE_MAX - 1, "its text is whole");
	record[strlen(head) + BB_LINE_MAX - 1] = 't';
	ok(bb_line_parse(record, strlen(record), &line), "a longer line");
	is_u64(strlen(line.text), BB_LINE_MAX - 1, "its text is cut");
	ok(bb_line_parse("7,1,99", 6, &line) && line.level == 7 && line.us == 99, "no text");
	is_str(line.text, "", "has an empty text");
	ok(!bb_line_parse("7,1", 3, &line), "no time");
	ok(bb_line_parse("3,1,99,-;abc", 11, &line), "a record that is cut");
	is_str(line.text, "ab", "has the text so far");
	is_u64(bb_line_class(BB_LEVEL_WARNING, "any text", &severity), BB_CONSOLE, "a warning");
	is_u64(severity, BB_INFO, "of no known kind");
	is_u64(bb_line_class(BB_LEVEL_WARNING + 1, "any text", &severity), BB_NONE, "a notice");
	ok(bb_line_ends_oops("---[ end trace 0000000000000000 ]---"), "an oops ends");
	ok(bb_line_ends_oops("---[ end Kernel panic - not syncing: x ]---"), "a panic ends");
	ok(!bb_line_ends_oops("Call Trace:"), "neither ends");
}

int main(void)
{
	test_lengths();
	test_bytes();
	test_names();
	test_lines();
	test_values();
	test_room();
	test_numbers();
	test_boot_ids();
	test_kmsg();
	return tap_done();
}
