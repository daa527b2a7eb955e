// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/user_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/symbols/debug_file.h"

int user_files_open(struct user_symbols *us)
{
	struct rlimit limit;

	us->files = calloc(1, sizeof(*us->files));
	if (!us->files)
		return -ENOMEM;
	us->files->most = USER_FILES_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 2 < USER_FILES_MAX)
		us->files->most = limit.rlim_cur < 2 ? 1 : limit.rlim_cur / 2;
	return 0;
}

void user_files_close(struct user_symbols *us)
{
	for (size_t i = 0; us->files && i < us->files->n; i++)
		if (us->files->f[i].serial)
			elf_symbols_close(&us->files->f[i].elf);
	free(us->files);
	us->files = NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct user_file *user_files_find(struct user_symbols *us, const struct user_file_id *id,
				  const char *path)
{
	const char *name = last_part(path);

	for (size_t i = 0; i < us->files->n; i++) {
		struct user_file *f = &us->files->f[i];

		if (f->serial && f->id.inode == id->inode && f->id.dev_major == id->dev_major &&
		    f->id.dev_minor == id->dev_minor &&
		    !strncmp(f->module, name, sizeof(f->module) - 1))
			return f;
	}
	return NULL;
}

struct user_file *user_files_get(struct user_symbols *us, __u32 place, __u32 serial)
{
	struct user_file *f = &us->files->f[place];

	return serial && f->serial == serial ? f : NULL;
}

struct user_file *user_files_by_build_id(struct user_symbols *us, const __u8 *build_id)
{
	for (size_t i = 0; i < us->files->n; i++) {
		struct user_file *f = &us->files->f[i];

		if (f->serial && f->elf.h.build_id_bytes &&
		    !memcmp(f->elf.h.build_id, build_id, BUILD_ID_BYTES))
			return f;
	}
	return NULL;
}

static bool goes_before(const struct user_file *a, const struct user_file *b)
{
	return a->named != b->named ? b->named : a->used < b->used;
}

/*
 * Returns a free entry. Closes files until another fd is allowed. One fd is kept free for a debug
 * file.
 */
static struct user_file *make_place(struct user_symbols *us)
{
	struct user_files *files = us->files;

	for (;;) {
		struct user_file *free_place = NULL, *first = NULL;
		size_t open = 0;

		for (size_t i = 0; i < files->n; i++) {
			struct user_file *f = &files->f[i];

			open += f->serial ? 1 + (f->elf.held >= 0) : 0;
			if (!f->serial)
				free_place = f;
			else if (!first || goes_before(f, first))
				first = f;
		}
		if (open < files->most)
			return free_place ? free_place : &files->f[files->n++];
		elf_symbols_close(&first->elf);
		first->serial = 0;
		us->lost.files++;
	}
}

struct user_file *user_files_add(struct user_symbols *us, const struct user_file_id *id, int fd,
				 const char *path, int its_root)
{
	struct elf_symbols elf;
	struct user_file *f;

	if (elf_symbols_open(fd, &elf)) {
		us->lost.malformed++;
		close(fd);
		return NULL;
	}
	if (elf_symbols_wants_debug(&elf))
		debug_file_find(&elf, path, us->our_root, its_root);
	f = make_place(us);
	*f = (struct user_file){.id = *id, .elf = elf, .used = ++us->clock};
	f->serial = ++us->files->serials;
	snprintf(f->module, sizeof(f->module), "%s", last_part(path));
	return f;
}

/* Drops the least recently used symbol tables, except that of `f`, until all fit. */
static void keep_within(struct user_symbols *us, const struct user_file *f)
{
	for (;;) {
		struct user_file *oldest = NULL;
		size_t total = 0;

		for (size_t i = 0; i < us->files->n; i++) {
			struct user_file *other = &us->files->f[i];

			if (!other->serial)
				continue;
			total += elf_symbols_bytes(&other->elf);
			if (other != f && elf_symbols_bytes(&other->elf) &&
			    (!oldest || other->used < oldest->used))
				oldest = other;
		}
		if (total <= USER_TABLE_BYTES || !oldest)
			return;
		elf_symbols_drop(&oldest->elf);
	}
}

void user_file_name(struct user_symbols *us, struct user_file *f, __u64 address,
		    struct user_symbol *ret)
{
	bool made = !f->elf.known;

	f->used = ++us->clock;
	f->named = true;
	if (!elf_symbols_find(&f->elf, address, ret->name, sizeof(ret->name), &ret->offset))
		ret->name[0] = 0;
	if (!made)
		return;
	us->lost.tables += f->had_table;
	us->lost.symbols += f->elf.table.cut != 0;
	us->lost.malformed += f->elf.broken;
	f->had_table = true;
	keep_within(us, f);
}
