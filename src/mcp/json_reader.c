// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mcp/json_reader.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DEPTH 32

static bool parse(const char *s, size_t len, int flags, struct json_object **ret)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH);
	bool good;

	*ret = NULL;
	if (!t)
		return false;
	json_tokener_set_flags(t, flags);
	*ret = json_tokener_parse_ex(t, s, len);
	if (json_tokener_get_error(t) == json_tokener_continue) /* a number may go on */
		*ret = json_tokener_parse_ex(t, "", 1);
	good = json_tokener_get_error(t) == json_tokener_success;
	json_tokener_free(t);
	if (!good) {
		json_object_put(*ret);
		*ret = NULL;
	}
	return good;
}

/*
 * Returns a copy of a text in which each character beyond ASCII is replaced by letters, or NULL if
 * the text is no UTF-8. The caller frees it.
 */
static char *ascii_copy(const char *s, size_t len)
{
	char *copy = malloc(len + 1);
	uint32_t code;
	int n;

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = 0;
	for (size_t at = 0; at < len; at += n) {
		n = 1;
		if ((unsigned char)copy[at] < 0x80)
			continue;
		n = utf8_decode(copy + at, &code);
		if (!n) {
			free(copy);
			return NULL;
		}
		memset(copy + at, 'x', n);
	}
	return copy;
}

/*
 * Returns whether a text is JSON. The strict mode of json-c 0.18 takes all bytes beyond ASCII for
 * control characters, and refuses them. So it gets a copy in which they are letters, which are
 * valid only within a string, and not after a backslash.
 */
static bool is_json(const char *s, size_t len)
{
	struct json_object *o = NULL;
	char *copy = ascii_copy(s, len);
	bool good = copy && parse(copy, len, JSON_TOKENER_STRICT, &o);

	json_object_put(o);
	free(copy);
	return good;
}

bool json_read(const char *s, size_t len, struct json_object **ret)
{
	*ret = NULL;
	return is_json(s, len) && parse(s, len, 0, ret);
}

void json_free(struct json_object *o)
{
	json_object_put(o);
}

struct json_object *json_share(struct json_object *o)
{
	return json_object_get(o);
}

struct json_object *json_member(struct json_object *o, const char *name)
{
	return json_is_object(o) ? json_object_object_get(o, name) : NULL;
}

const char *json_text_of(struct json_object *o)
{
	const char *text;

	if (!json_object_is_type(o, json_type_string))
		return NULL;
	text = json_object_get_string(o);
	return strlen(text) == (size_t)json_object_get_string_len(o) ? text : NULL;
}

bool json_integer_of(struct json_object *o, int64_t *ret)
{
	if (!json_object_is_type(o, json_type_int))
		return false;
	*ret = json_object_get_int64(o);
	return true;
}

bool json_is_object(struct json_object *o)
{
	return json_object_is_type(o, json_type_object);
}

const char *json_name_of(struct json_object *o, size_t i)
{
	if (!json_is_object(o))
		return NULL;
	{
		json_object_object_foreach (o, name, value) {
			(void)value;
			if (!i--)
				return name;
		}
	}
	return NULL;
}

const char *json_element_text(struct json_object *o, size_t i)
{
	if (!json_object_is_type(o, json_type_array) || i >= json_object_array_length(o))
		return NULL;
	return json_text_of(json_object_array_get_idx(o, i));
}

const char *json_text_for(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
}

bool json_same(struct json_object *a, struct json_object *b)
{
	return json_object_equal(a, b);
}
