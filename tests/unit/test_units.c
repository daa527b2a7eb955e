// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "base/units.h"
#include "tap.h"

#define IS_PUT(call, arg, want)                                                                    \
	do {                                                                                       \
		struct buf b = {};                                                                 \
		call(&b, arg);                                                                     \
		is_str(b.s, want, #call " " #arg);                                                 \
		buf_free(&b);                                                                      \
	} while (0)

static void test_words(void)
{
	is_str(as_words(0, "file{|s}").s, "files", "0 files");
	is_str(as_words(1, "file{|s} {is|are} left").s, "file is left", "1 file is left");
	is_str(as_words(2, "file{|s} {is|are} left").s, "files are left", "2 files are left");
	is_str(as_words(1, "{child|children}").s, "child", "1 child");
	is_str(as_words(UINT64_MAX, "{child|children}").s, "children", "many children");
	is_str(as_words(1, "plain").s, "plain", "words without alternatives");
	is_u64(strlen(as_words(1, "{"
				  "a long text a long text a long text a long text a long text "
				  "a long text a long text a long text a long text a long text "
				  "a long text a long text a long text a long text a long text "
				  "a long text a long text a long text a long text a long text"
				  "|s}").s),
	       sizeof(struct words_text) - 1, "a text that is too long is cut off");
}

static void test_put(void)
{
	IS_PUT(put_count, 0, "0");
	IS_PUT(put_count, 999, "999");
	IS_PUT(put_count, 1000, "1,000");
	IS_PUT(put_count, 12480, "12,480");
	IS_PUT(put_count, 999999, "999,999");
	IS_PUT(put_count, 1000000, "1,000,000");
	IS_PUT(put_count, UINT64_MAX, "18,446,744,073,709,551,615");

	IS_PUT(put_rate, 0, "0");
	IS_PUT(put_rate, -3, "0");
	IS_PUT(put_rate, 0.4, "0.4");
	IS_PUT(put_rate, 9.94, "9.9");
	IS_PUT(put_rate, 9.96, "10");
	IS_PUT(put_rate, 12480.4, "12,480");
	IS_PUT(put_rate, NAN, "0");

	IS_PUT(put_bytes, 0, "0 B");
	IS_PUT(put_bytes, 1, "1 B");
	IS_PUT(put_bytes, 1023, "1023 B");
	IS_PUT(put_bytes, 1024, "1.00 KiB");
	IS_PUT(put_bytes, 1536, "1.50 KiB");
	IS_PUT(put_bytes, 10240, "10.0 KiB");
	IS_PUT(put_bytes, 102400, "100 KiB");
	IS_PUT(put_bytes, 1048575, "1.00 MiB");
	IS_PUT(put_bytes, 412ULL << 20, "412 MiB");
	IS_PUT(put_bytes, UINT64_MAX, "16.0 EiB");

	IS_PUT(put_duration, 0, "0 ns");
	IS_PUT(put_duration, 999, "999 ns");
	IS_PUT(put_duration, 1000, "1.00 us");
	IS_PUT(put_duration, 1300, "1.30 us");
	IS_PUT(put_duration, 99949, "99.9 us");
	IS_PUT(put_duration, 99950, "100 us");
	IS_PUT(put_duration, 999499, "999 us");
	IS_PUT(put_duration, 999500, "1.00 ms");
	IS_PUT(put_duration, 31000000, "31.0 ms");
	IS_PUT(put_duration, 60000000000, "60.0 s");
	IS_PUT(put_duration, 999999999, "1.00 s");

	IS_PUT(put_span, 0, "0.0 s");
	IS_PUT(put_span, -5, "0.0 s");
	IS_PUT(put_span, 9.94, "9.9 s");
	IS_PUT(put_span, 9.96, "10 s");
	IS_PUT(put_span, 119.4, "119 s");
	IS_PUT(put_span, 119.6, "2m 00s");
	IS_PUT(put_span, 7199, "119m 59s");
	IS_PUT(put_span, 7200, "2h 00m");
	IS_PUT(put_span, 172799, "47h 59m");
	IS_PUT(put_span, 172800, "2d 00h");

	IS_PUT(put_limit, 0, "0");
	IS_PUT(put_limit, 65530, "65,530");
	IS_PUT(put_limit, UINT64_MAX - 1, "18,446,744,073,709,551,614");
	IS_PUT(put_limit, UINT64_MAX, "unlimited");
}

static void test_names(void)
{
	char b[32];

	is_str(errno_name(ENOMEM, b, sizeof(b)), "ENOMEM", "errno_name");
	is_str(errno_name(4242, b, sizeof(b)), "errno 4242", "errno_name of none");
	is_str(errno_name(0, b, sizeof(b)), "errno 0", "errno_name of 0");
	is_str(errno_name(-1, b, sizeof(b)), "errno -1", "errno_name of -1");
	is_str(signal_name(SIGSEGV, b, sizeof(b)), "SIGSEGV", "signal_name");
	is_str(signal_name(4242, b, sizeof(b)), "signal 4242", "signal_name of none");
	is_str(signal_name(-1, b, sizeof(b)), "signal -1", "signal_name of -1");
}

static void test_seconds(void)
{
	static const struct {
		const char *text;
		double want;
	} good[] = {{"2", 2},  {"0.5", 0.5},   {"1m", 60},     {"2h", 7200}, {"500ms", 0.5},
		    {"3s", 3}, {"10ms", 0.01}, {"0.01", 0.01}, {"1.5m", 90}, {"100000000", 1e8}};
	static const char *const bad[] = {"",	   "x",	 "1x",	 "1d",	"nan",	 "inf",
					  "-1",	   "0",	 "1e9",	 "1 s", "1ss",	 "0.001",
					  "1e400", "ms", "-0.5", "5mm", "27778h"};
	double v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = -1;
		ok(!parse_seconds(good[i].text, &v) && fabs(v - good[i].want) < 1e-9,
		   "parse_seconds '%s'", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = -1;
		ok(parse_seconds(bad[i], &v) < 0 && v == -1, "parse_seconds refuses '%s'", bad[i]);
	}
	ok(parse_seconds("0.001", &v) == -ERANGE && parse_seconds("1q", &v) == -EINVAL,
	   "parse_seconds tells range from form");
}

static void test_u64(void)
{
	static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1x", "0x10", "x", "1.0"};
	uint64_t v = 7;

	ok(!parse_u64("0", 0, 10, &v) && v == 0, "parse_u64 0");
	ok(!parse_u64("18446744073709551615", 0, UINT64_MAX, &v) && v == UINT64_MAX,
	   "parse_u64 the most");
	is_u64(-parse_u64("18446744073709551616", 0, UINT64_MAX, &v), ERANGE, "parse_u64 one more");
	ok(!parse_u64("10", 10, 20, &v) && !parse_u64("20", 10, 20, &v), "parse_u64 at both ends");
	ok(parse_u64("9", 10, 20, &v) == -ERANGE && parse_u64("21", 10, 20, &v) == -ERANGE,
	   "parse_u64 past both ends");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_u64(-parse_u64(bad[i], 0, UINT64_MAX, &v), EINVAL, bad[i]);
	is_u64(v, 20, "parse_u64 leaves the value where it fails");
}

static void test_bytes(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = {{"1", 1},
		    {"65536", 65536},
		    {"64K", 65536},
		    {"512M", 512 << 20},
		    {"8G", 8ULL << 30},
		    {"2T", 2ULL << 40},
		    {"00000000000000000000001", 1},
		    {"0000000000000000000001K", 1024},
		    {"8388607T", 8388607ULL << 40},
		    {"9223372036854775807", INT64_MAX}};
	static const char *const bad[] = {"",	      "x",
					  "K",	      "1k",
					  "1KB",      "1 K",
					  "-1",	      "0",
					  "0G",	      "1.5G",
					  "+1",	      "1P",
					  "1GG",      "9223372036854775808",
					  "8388608T", "99999999999999999999999",
					  "000000000000000000000001"};
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		v = 7;
		ok(!parse_bytes(good[i].text, &v), "parse_bytes '%s'", good[i].text);
		is_u64(v, good[i].want, good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v = 7;
		ok(parse_bytes(bad[i], &v) < 0 && v == 7, "parse_bytes refuses '%s'", bad[i]);
	}
}

int main(void)
{
	test_words();
	test_put();
	test_names();
	test_seconds();
	test_u64();
	test_bytes();
	return tap_done();
}
