/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcp: reads JSON with libjson-c. Only json_reader.c includes its header, since a type of the
 * library has the name of a function of render/json_out.h.
 */
#ifndef FS_MCP_JSON_READER_H
#define FS_MCP_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object; /* a JSON value; NULL is null */

/*
 * Reads one JSON value, which fills the text. Returns false if the text is no valid JSON in UTF-8,
 * or is nested more than 32 times. The caller frees *ret with json_free().
 */
bool json_read(const char *s, size_t len, struct json_object **ret);
void json_free(struct json_object *o);
/* Returns `o`, which is then to be freed once more. */
struct json_object *json_share(struct json_object *o);

/* Returns a member of an object; NULL if it is null or missing, or if `o` is no object. */
struct json_object *json_member(struct json_object *o, const char *name);
/* Returns the value of a text; NULL if it is no text, or contains a NUL. */
const char *json_text_of(struct json_object *o);
/* Returns whether `o` is an integer, and sets *ret to its value. */
bool json_integer_of(struct json_object *o, int64_t *ret);
bool json_is_object(struct json_object *o);
/* Returns the name of member number `i` of an object, or NULL. */
const char *json_name_of(struct json_object *o, size_t i);
/* Returns element number `i` of an array as a text; NULL if there is none. */
const char *json_element_text(struct json_object *o, size_t i);
/* Returns the JSON text of a value, valid until the value is freed. */
const char *json_text_for(struct json_object *o);
/* Returns whether two values are equal. */
bool json_same(struct json_object *a, struct json_object *b);

#endif
