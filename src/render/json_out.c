// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json_out.h"

#include <inttypes.h>
#include <math.h>

#include "model/pressure.h"
#include "render/utc.h"
#include "model/pressure.h"

static void key_of(struct json *j, const char *key)
{
	if (j->comma)
		buf_putc(j->b, ',');
	j->comma = true;
	if (key) {
		buf_json(j->b, key);
		buf_putc(j->b, ':');
	}
}

void json_begin(struct json *j, struct buf *b)
{
	j->b = b;
	j->comma = false;
	buf_putc(b, '{');
}

void json_finish(struct json *j)
{
	buf_puts(j->b, "}\n");
}

void json_object(struct json *j, const char *key)
{
	key_of(j, key);
	buf_putc(j->b, '{');
	j->comma = false;
}

void json_end(struct json *j)
{
	buf_putc(j->b, '}');
	j->comma = true;
}

void json_array(struct json *j, const char *key)
{
	key_of(j, key);
	buf_putc(j->b, '[');
	j->comma = false;
}

void json_end_array(struct json *j)
{
	buf_putc(j->b, ']');
	j->comma = true;
}

void json_text(struct json *j, const char *key, const char *value)
{
	key_of(j, key);
	buf_json(j->b, value);
}

void json_count(struct json *j, const char *key, uint64_t value)
{
	key_of(j, key);
	buf_printf(j->b, "%" PRIu64, value);
}

void json_signed(struct json *j, const char *key, int64_t value)
{
	key_of(j, key);
	buf_printf(j->b, "%" PRId64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	key_of(j, key);
	buf_printf(j->b, "%.6f", value);
}

void json_flag(struct json *j, const char *key, bool value)
{
	key_of(j, key);
	buf_puts(j->b, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	key_of(j, key);
	buf_puts(j->b, "null");
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	key_of(j, key);
	buf_printf(j->b, "\"0x%" PRIx64 "\"", value);
}

void json_text_or_null(struct json *j, const char *key, const char *value)
{
	if (value)
		json_text(j, key, value);
	else
		json_null(j, key);
}

void json_time(struct json *j, const char *key, uint64_t wall_ns)
{
	json_text_or_null(j, key, wall_ns ? as_utc_ms(wall_ns).s : NULL);
}

void json_count_or_null(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json_count(j, key, value);
	else
		json_null(j, key);
}

void json_figure(struct json *j, const char *key, uint64_t value)
{
	json_count_or_null(j, key, value != FIGURE_UNKNOWN, value);
}

void json_real_or_null(struct json *j, const char *key, bool known, double value)
{
	json_real(j, key, known ? value : NAN);
}

void json_flag_or_null(struct json *j, const char *key, bool known, bool value)
{
	if (known)
		json_flag(j, key, value);
	else
		json_null(j, key);
}

void json_hex_or_null(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json_hex(j, key, value);
	else
		json_null(j, key);
}

const char *unless_empty(const char *text)
{
	return *text ? text : NULL;
}
