// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "render/json_out.h"
#include "tap.h"

static struct buf b;
static struct json j;

static void begin(void)
{
	buf_free(&b);
	b = (struct buf){};
	json_begin(&j, &b);
}

static const char *line(void)
{
	json_finish(&j);
	return b.s;
}

static void test_numbers(void)
{
	begin();
	json_count(&j, "most", UINT64_MAX);
	json_signed(&j, "least", INT64_MIN);
	json_real(&j, "half", 0.5);
	json_real(&j, "negative", -1.25);
	json_real(&j, "zero", 0);
	is_str(line(),
	       "{\"most\":18446744073709551615,\"least\":-9223372036854775808,"
	       "\"half\":0.500000,\"negative\":-1.250000,\"zero\":0.000000}\n",
	       "numbers keep all their digits");
}

/* Tests that NaN and infinity are written as null, since JSON has no such numbers. */
static void test_no_numbers(void)
{
	const double none[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0 / 0.0 * 2, 1e308 * 10};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		begin();
		json_real(&j, "a", none[i]);
		json_count(&j, "b", 1);
		is_str(line(), "{\"a\":null,\"b\":1}\n", "what is no number is null");
	}
	begin();
	json_array(&j, "list");
	json_real(&j, NULL, INFINITY);
	json_real(&j, NULL, 1);
	json_end_array(&j);
	is_str(line(), "{\"list\":[null,1.000000]}\n", "in an array, too");
}

static void test_texts(void)
{
	begin();
	json_text(&j, "t", "a\"b\\c\n\t\001");
	json_text_or_null(&j, "none", NULL);
	json_text_or_null(&j, "some", "");
	json_flag(&j, "yes", true);
	json_flag(&j, "no", false);
	json_null(&j, "null");
	is_str(line(),
	       "{\"t\":\"a\\\"b\\\\c\\n\\t\\u0001\",\"none\":null,\"some\":\"\",\"yes\":true,"
	       "\"no\":false,\"null\":null}\n",
	       "texts, flags and nulls");
}

static void test_nested(void)
{
	begin();
	json_object(&j, "o");
	json_array(&j, "a");
	json_object(&j, NULL);
	json_count(&j, "n", 1);
	json_end(&j);
	json_object(&j, NULL);
	json_end(&j);
	json_end_array(&j);
	json_end(&j);
	json_count(&j, "n", 2);
	is_str(line(), "{\"o\":{\"a\":[{\"n\":1},{}]},\"n\":2}\n", "objects and arrays in others");
}

int main(void)
{
	test_numbers();
	test_no_numbers();
	test_texts();
	test_nested();
	buf_free(&b);
	return tap_done();
}
