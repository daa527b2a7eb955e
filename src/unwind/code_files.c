// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/code_files.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int code_files_open(struct code_files *c)
{
	memset(c, 0, sizeof(*c));
	return rule_set_init(&c->rules);
}

static void free_file(struct code_file *f)
{
	free(f->place.run);
	free(f);
}

void code_files_close(struct code_files *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_file(c->file[i]);
	free(c->file);
	rule_set_free(&c->rules);
	memset(c, 0, sizeof(*c));
}

static void drop_file(struct code_files *c, struct unwind_maps *m, size_t at, __u64 now_ns)
{
	c->freed += c->file[at]->state == CODE_TABLE;
	if (c->file[at]->state == CODE_TABLE)
		unwind_maps_drop_table(m, &c->file[at]->place, now_ns);
	free_file(c->file[at]);
	c->file[at] = c->file[--c->n];
}

/*
 * Returns the index of the file that was not mapped for the longest time; c->n: all files are
 * mapped.
 */
static size_t find_idle(const struct code_files *c)
{
	size_t idle = c->n;

	for (size_t i = 0; i < c->n; i++)
		if (!c->file[i]->users && c->file[i]->state == CODE_TABLE &&
		    (idle == c->n || c->file[i]->left_ns < c->file[idle]->left_ns))
			idle = i;
	return idle;
}

/*
 * Copies a table into the BPF maps. Freed memory must rest before it is used again, so the table
 * may have to wait. It is tried again when a process that maps the file is read again.
 */
static int place_table(struct code_files *c, struct unwind_maps *m, struct code_file *f,
		       __u64 now_ns)
{
	int err = unwind_maps_add_table(m, &f->table, now_ns, &f->place);
	size_t idle;

	while (err == -E2BIG && (idle = find_idle(c)) < c->n) {
		drop_file(c, m, idle, now_ns);
		err = unwind_maps_add_table(m, &f->table, now_ns, &f->place);
	}
	if (!err)
		unwind_maps_add_rules(m, &c->rules);
	return err;
}

static bool is_elf(const struct byte_source *source)
{
	char magic[SELFMAG];

	return bytes_get(source, 0, magic, sizeof(magic)) && !memcmp(magic, ELFMAG, SELFMAG);
}

static void make_table(struct code_files *c, struct unwind_maps *m, struct code_file *f,
		       const struct byte_source *source, __u64 now_ns)
{
	int err = unwind_table_read(source, &c->rules, &f->table);

	if (err) {
		f->state = err == -ENOEXEC && !is_elf(source) ? CODE_NO_ELF : CODE_UNREADABLE;
		c->unreadable += f->state == CODE_UNREADABLE;
		return;
	}
	err = place_table(c, m, f, now_ns);
	f->state = err ? CODE_NO_ROOM : CODE_TABLE;
	f->pages = f->table.rows.pages;
	c->no_room += err != 0;
	c->tables += !err;
	c->rows += err ? 0 : f->table.rows.rows;
	row_table_free_rows(&f->table.rows);
}

static bool is_same_file(const struct code_file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->inode == st->st_ino && f->bytes == st->st_size &&
	       f->changed.tv_sec == st->st_ctim.tv_sec && f->changed.tv_nsec == st->st_ctim.tv_nsec;
}

static struct code_file *find_by_inode(struct code_files *c, const struct stat *st)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_same_file(c->file[i], st))
			return c->file[i];
	return NULL;
}

/* Finds a file with the same build ID, such as the same library in another container image. */
static struct code_file *find_by_build_id(struct code_files *c, const struct code_file *like)
{
	for (size_t i = 0; like->has_build_id && i < c->n; i++)
		if (c->file[i]->has_build_id && c->file[i]->bytes == like->bytes &&
		    !memcmp(c->file[i]->build_id, like->build_id, BUILD_ID_BYTES))
			return c->file[i];
	return NULL;
}

static void identify(struct code_file *f, const struct byte_source *source, const struct stat *st)
{
	struct elf_headers h;

	f->dev = st->st_dev;
	f->inode = st->st_ino;
	f->bytes = st->st_size;
	f->changed = st->st_ctim;
	if (elf_headers_read(source, &h) || !h.build_id_bytes)
		return;
	memcpy(f->build_id, h.build_id, BUILD_ID_BYTES);
	f->has_build_id = true;
}

/* Tries to place the table of a file that found no room before. */
static struct code_file *try_again(struct code_files *c, struct unwind_maps *m, struct code_file *f,
				   const struct byte_source *source, __u64 now_ns)
{
	if (f->state == CODE_NO_ROOM)
		make_table(c, m, f, source, now_ns);
	return f;
}

struct code_file *code_files_get(struct code_files *c, struct unwind_maps *m,
				 const struct byte_source *source, const char *path,
				 const struct stat *st, __u64 now_ns)
{
	static const struct stat memory = {};
	struct code_file *f = find_by_inode(c, st ? st : &memory), **file;

	if (f)
		return try_again(c, m, f, source, now_ns);
	file = array_grow(c->file, c->n, &c->room, CODE_FILES_MAX, sizeof(struct code_file *));
	if (!file)
		return NULL;
	c->file = file;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	identify(f, source, st ? st : &memory);
	if (find_by_build_id(c, f)) {
		struct code_file *same = find_by_build_id(c, f);

		free(f);
		return try_again(c, m, same, source, now_ns);
	}
	f->left_ns = now_ns;
	python_file_read(source, path, &f->python);
	make_table(c, m, f, source, now_ns);
	/* dropping idle tables to place this one also made room in the array */
	c->file[c->n++] = f;
	return f;
}

void code_file_release(struct code_file *f, __u64 now_ns)
{
	f->users--;
	f->left_ns = now_ns;
}

bool code_file_bias(const struct code_file *f, __u64 start, __u64 offset, __u64 *ret)
{
	return f->state == CODE_TABLE && unwind_table_bias(&f->table, start, offset, ret);
}

void code_file_area(const struct code_file *f, __u64 offset, struct fs_unwind_area *area)
{
	__u64 bias;

	switch (f->state) {
	case CODE_NO_ELF:
		area->pages = FS_UNWIND_BY_CHAIN;
		return;
	case CODE_NO_ROOM:
		area->pages = FS_UNWIND_FILE_NO_ROOM;
		return;
	case CODE_UNREADABLE:
		break;
	case CODE_TABLE:
		if (!unwind_table_bias(&f->table, area->start, offset, &bias))
			break;
		area->origin = bias + f->table.rows.base;
		area->first = f->place.first;
		area->pages = f->pages;
		return;
	}
	area->pages = FS_UNWIND_FILE_UNREADABLE;
}

void code_files_expire(struct code_files *c, struct unwind_maps *m, __u64 now_ns)
{
	for (size_t i = 0; i < c->n;)
		if (!c->file[i]->users && now_ns - c->file[i]->left_ns >= CODE_IDLE_NS)
			drop_file(c, m, i, now_ns);
		else
			i++;
}
