// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mcp/json_reader.h"

#include <json-c/json.h>
#include <string.h>

#define DEPTH 32

bool json_read(const char *s, size_t len, struct json_object **ret)
{
	struct json_tokener *t = json_tokener_new_ex(DEPTH);
	bool good;

	*ret = NULL;
	if (!t)
		return false;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
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
