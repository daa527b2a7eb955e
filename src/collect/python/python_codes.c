// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/python_codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "collect/python/python_lines.h"

#define CHAINS		4096
#define INDEX_IN_BYTES	9 /* in CPython 3.N up to this N, the instruction index counts bytes */
#define DROPPED_AT_ONCE 16
#define SURROGATES	(0xd800 >> 11) /* upper bits of all surrogates */
#define LAST_PLANE	0x10	       /* upper bits of the last 65,536 characters */
#define REPLACEMENT	0xfffd

struct python_code {
	struct table_link link;
	struct process_key of;
	__u64 code, start, used;
	__u32 first_line;
	unsigned int minor;
	size_t table_bytes;
	char file[PYTHON_TEXT_BYTES];
	char name[PYTHON_TEXT_BYTES];
	__u8 table[];
};

static __u64 hash_of(const struct process_key *of, __u64 code)
{
	__u64 hash = (of->start_ns ^ of->pid ^ code >> 4) * 0x9e3779b97f4a7c15ULL;

	return hash >> 32 ^ hash;
}

static struct python_code *find(struct python_codes *c, const struct process_key *of, __u64 code)
{
	__u64 hash = hash_of(of, code);
	struct python_code *one;

	for (one = table_find(&c->table, hash); one; one = table_next(&one->link, hash))
		if (one->code == code && one->of.pid == of->pid && one->of.start_ns == of->start_ns)
			return one;
	return NULL;
}

static void drop(struct python_codes *c, struct python_code *one)
{
	table_remove(&c->table, &one->link);
	free(one);
	c->n--;
}

/* Drops the least recently used of a few code objects to make room for a new one. */
static void make_room(struct python_codes *c)
{
	__u64 oldest = c->clock - PYTHON_CODES_MAX;

	for (struct table_link *l = table_each(&c->table, NULL), *next; l; l = next) {
		next = table_each(&c->table, l);
		if (((struct python_code *)l)->used > oldest)
			continue;
		drop(c, (struct python_code *)l);
		c->dropped++;
	}
	for (int i = 0; i < DROPPED_AT_ONCE && c->n >= PYTHON_CODES_MAX; i++) {
		drop(c, (struct python_code *)table_each(&c->table, NULL));
		c->dropped++;
	}
}

/*
 * Encodes a character as UTF-8. Returns the number of bytes. A str may have surrogates, which have
 * no encoding.
 */
static size_t put_character(__u32 c, char ret[4])
{
	if (c >> 11 == SURROGATES || (c >> 20 && c >> 16 != LAST_PLANE))
		c = REPLACEMENT;
	return utf8_encode(ret, c);
}

/* Converts a Python str, whose characters have 1, 2 or 4 bytes, to UTF-8. */
static void put_text(char ret[PYTHON_TEXT_BYTES], const __u8 *from, size_t bytes, unsigned int kind)
{
	size_t at = 0;

	for (size_t i = 0; kind && i + kind <= bytes && at + 4 < PYTHON_TEXT_BYTES; i += kind) {
		__u32 c = 0;

		for (unsigned int k = 0; k < kind && k < sizeof(c); k++)
			c |= (__u32)from[i + k] << 8 * k;
		if (c)
			at += put_character(c, ret + at);
	}
	ret[at] = 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int python_codes_take(struct python_codes *c, const struct python_code_record *r)
{
	size_t bytes = least(r->table_bytes, sizeof(r->table));
	struct python_code *one = find(c, &r->subject, r->code);

	if (one)
		drop(c, one);
	if (table_make(&c->table, CHAINS))
		return -ENOMEM;
	if (c->n >= PYTHON_CODES_MAX)
		make_room(c);
	if (bytes > sizeof(r->table))
		return -EINVAL;
	one = malloc(sizeof(*one) + bytes); /* at most PYTHON_CODES_MAX of these are allocated */
	if (!one)
		return -ENOMEM;
	*one = (struct python_code){.of = r->subject,
				    .code = r->code,
				    .start = r->start,
				    .used = ++c->clock,
				    .first_line = r->first_line,
				    .minor = r->minor,
				    .table_bytes = bytes};
	put_text(one->file, r->file, least(r->file_bytes, sizeof(r->file)), r->file_kind);
	put_text(one->name, r->name, least(r->name_bytes, sizeof(r->name)), r->name_kind);
	memcpy(one->table, r->table, bytes);
	table_add(&c->table, &one->link, hash_of(&r->subject, r->code));
	c->n++;
	return 0;
}

/* Returns the byte offset of an instruction in its code object. */
static __u64 offset_of(const struct python_code *one, __u64 instr)
{
	if (one->start)
		return instr - one->start;
	return one->minor > INDEX_IN_BYTES ? instr * 2 : instr;
}

bool python_codes_find(struct python_codes *c, const struct process_key *of,
		       const struct python_frame *frame, struct python_line_name *ret)
{
	struct python_code *one = find(c, of, frame->code);
	struct python_lines lines;

	if (!one)
		return false;
	one->used = ++c->clock;
	lines = (struct python_lines){one->minor, one->table, one->table_bytes, one->first_line};
	ret->file = one->file;
	ret->name = one->name;
	ret->line = python_line(&lines, offset_of(one, frame->instr));
	return true;
}

bool python_file_is_users(const char *file)
{
	static const char *const others[] = {"/site-packages/", "/dist-packages/", "/lib/python3."};

	if (file[0] == '<')
		return false; /* not a file, such as <frozen importlib._bootstrap> or <string> */
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(file, others[i]))
			return false;
	return true;
}

static void free_code(struct table_link *entry)
{
	free(entry);
}

void python_codes_free(struct python_codes *c)
{
	table_free(&c->table, free_code);
	*c = (struct python_codes){};
}
