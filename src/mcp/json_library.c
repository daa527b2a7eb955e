// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mcp/json_library.h"

#include "base/lazy_library.h"

/* clang-format off */
#define JSON_FUNCTIONS(X) \
	X(json_object_array_get_idx) X(json_object_array_length) X(json_object_equal) \
	X(json_object_get) X(json_object_get_int64) X(json_object_get_object) \
	X(json_object_get_string) X(json_object_get_string_len) X(json_object_is_type) \
	X(json_object_object_get) X(json_object_put) X(json_object_to_json_string_ext) \
	X(json_tokener_free) X(json_tokener_get_error) X(json_tokener_get_parse_end) \
	X(json_tokener_new_ex) X(json_tokener_parse_ex) X(json_tokener_set_flags)
/* clang-format on */

LAZY_FUNCTIONS(JSON_FUNCTIONS)

const char *json_library_load(void)
{
	static const struct lazy_function functions[] = {JSON_FUNCTIONS(LAZY_ROW){}};

	return lazy_load(SONAME_JSON, functions);
}
