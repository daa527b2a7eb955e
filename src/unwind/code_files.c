// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/code_files.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

/* number of times that the table of a file is begun while the file changes */
#define BEGUN_MAX 3

int code_files_open(struct code_files *c)
{
	memset(c, 0, sizeof(*c));
	c->making.source.fd = -1;
	return rule_set_init(&c->rules);
}

static void free_file(struct code_file *f)
{
	free(f->place.run);
	free(f->rules.rule);
	unwind_table_free(&f->table);
	free(f);
}

static void close_source(const struct byte_source *source)
{
	if (source->fd >= 0)
		close(source->fd);
}

/* Ends the work for a table, complete or not. */
static void end_making(struct code_making *k)
{
	table_maker_free(k->maker);
	free(k->path);
	close_source(&k->source);
	*k = (struct code_making){.source.fd = -1};
}

void code_files_close(struct code_files *c)
{
	end_making(&c->making);
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
	rule_set_release(&c->rules, &c->file[at]->rules);
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
		if (c->file[i] != like && c->file[i]->has_build_id &&
		    c->file[i]->bytes == like->bytes &&
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

static bool is_elf(const struct byte_source *source)
{
	char magic[SELFMAG];

	return bytes_get(source, 0, magic, sizeof(magic)) && !memcmp(magic, ELFMAG, SELFMAG);
}

static void fail_table(struct code_files *c, struct code_file *f, int err)
{
	bool is_other = err == -ENOEXEC && !is_elf(&c->making.source);

	f->state = is_other ? CODE_NO_ELF : CODE_UNREADABLE;
	c->unreadable += f->state == CODE_UNREADABLE;
	end_making(&c->making);
}

static void begin_table(struct code_files *c, struct code_file *f)
{
	struct code_making *k = &c->making;
	int err;

	k->begun++;
	python_file_read(&k->source, k->path, &f->python);
	err = table_maker_new(&k->source, &c->rules, &k->maker);
	if (err)
		fail_table(c, f, err);
}

static void begin_making(struct code_files *c, struct code_file *f,
			 const struct byte_source *source, const char *path)
{
	struct code_making *k = &c->making;

	f->state = CODE_MAKING;
	*k = (struct code_making){.f = f, .source = *source};
	k->path = path ? strndup(path, CODE_PATH_BYTES) : NULL;
	if (path && !k->path)
		fail_table(c, f, -ENOMEM);
	else
		begin_table(c, f);
}

/*
 * Begins the table again if the file changed, because it may consist of old and new bytes. Returns
 * whether it did.
 */
static bool begin_again(struct code_files *c, struct code_file *f)
{
	struct code_making *k = &c->making;
	struct stat st;

	if (k->source.fd < 0 || fstat(k->source.fd, &st) || is_same_file(f, &st))
		return false;
	table_maker_free(k->maker);
	k->maker = NULL;
	unwind_table_free(&f->table);
	f->has_build_id = false;
	k->source.bytes = st.st_size;
	identify(f, &k->source, &st);
	if (k->begun < BEGUN_MAX)
		begin_table(c, f);
	else
		fail_table(c, f, -ESTALE);
	return true;
}

static void go_on_making(struct code_files *c, struct code_file *f, __u64 *left)
{
	struct code_making *k = &c->making;
	int err = table_maker_work(k->maker, left);

	if (err == -EAGAIN || begin_again(c, f))
		return;
	if (err) {
		fail_table(c, f, err);
		return;
	}
	table_maker_take(k->maker, &f->table);
	table_maker_free(k->maker);
	k->maker = NULL;
}

/*
 * Copies rows into the BPF maps. If there is no room, the idle table that was not mapped for the
 * longest time is dropped. Freed memory must rest before it is used again, so the table may have to
 * wait. It is tried again when a process that maps the file is read again.
 */
static int place_rows(struct code_files *c, struct unwind_maps *m, struct code_file *f,
		      __u64 now_ns, __u64 *left)
{
	struct code_making *k = &c->making;
	size_t idle;
	int err = 0;

	if (!k->has_place)
		err = unwind_maps_begin_table(m, &f->table, now_ns, &f->place);
	k->has_place = !err;
	if (!err)
		err = unwind_maps_go_on_table(m, &f->table, now_ns, &f->place, left);
	if (err == -EAGAIN || !err)
		return err;
	k->has_place = false;
	idle = find_idle(c);
	if (err != -E2BIG || idle == c->n)
		return err;
	drop_file(c, m, idle, now_ns);
	return -EAGAIN;
}

static void go_on_placing(struct code_files *c, struct unwind_maps *m, struct code_file *f,
			  __u64 now_ns, __u64 *left)
{
	int err = place_rows(c, m, f, now_ns, left);

	if (err == -EAGAIN)
		return;
	if (!err) {
		err = rule_set_use(&c->rules, f->table.rows.row, f->table.rows.rows, &f->rules);
		if (err)
			unwind_maps_drop_table(m, &f->place, now_ns);
	}
	f->state = err ? CODE_NO_ROOM : CODE_TABLE;
	f->pages = f->table.rows.pages;
	c->no_room += err != 0;
	c->tables += !err;
	c->rows += err ? 0 : f->table.rows.rows;
	row_table_free_rows(&f->table.rows);
	if (!err)
		unwind_maps_add_rules(m, &c->rules);
	end_making(&c->making);
}

bool code_files_work(struct code_files *c, struct unwind_maps *m, __u64 now_ns)
{
	struct code_file *f = c->making.f;
	__u64 left = CODE_WORK;

	if (f && c->making.maker)
		go_on_making(c, f, &left);
	else if (f)
		go_on_placing(c, m, f, now_ns, &left);
	return c->making.f != NULL;
}

/* Returns one more use of a file. The table of a file that found no room before is made again. */
static struct code_file *use(struct code_files *c, struct code_file *f,
			     const struct byte_source *source, const char *path)
{
	f->users++;
	if (f->state == CODE_NO_ROOM)
		begin_making(c, f, source, path);
	else
		close_source(source);
	return f;
}

/* Adds a file that is not known. Returns NULL if memory is short. */
static struct code_file *add_file(struct code_files *c, const struct byte_source *source,
				  const struct stat *st)
{
	struct code_file **file, *f;

	file = array_grow(c->file, c->n, &c->room, CODE_FILES_MAX, sizeof(struct code_file *));
	if (!file)
		return NULL;
	c->file = file;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	identify(f, source, st);
	c->file[c->n++] = f;
	return f;
}

struct code_file *code_files_get(struct code_files *c, const struct byte_source *source,
				 const char *path, const struct stat *st, __u64 now_ns)
{
	static const struct stat memory = {};
	struct code_file *f = find_by_inode(c, st ? st : &memory), *same;

	if (f)
		return use(c, f, source, path);
	f = add_file(c, source, st ? st : &memory);
	if (!f) {
		close_source(source);
		return NULL;
	}
	same = find_by_build_id(c, f);
	if (same) {
		free(f);
		c->n--;
		return use(c, same, source, path);
	}
	f->left_ns = now_ns;
	f->users++;
	begin_making(c, f, source, path);
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
	case CODE_MAKING:
		area->pages = FS_UNWIND_NO_TABLE;
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
	if (!c->making.f)
		rule_set_sweep(&c->rules);
}
