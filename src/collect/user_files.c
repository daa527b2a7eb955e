// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/user_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/debug_file.h"

struct user_file *user_files_find(struct user_symbols *us, const struct user_file_id *id)
{
	for (size_t i = 0; i < USER_FILES_MAX; i++) {
		struct user_file *f = &us->files->f[i];

		if (f->serial && f->id.inode == id->inode && f->id.dev_major == id->dev_major &&
		    f->id.dev_minor == id->dev_minor)
			return f;
	}
	return NULL;
}

struct user_file *user_files_get(struct user_symbols *us, const struct user_map *m)
{
	struct user_file *f = &us->files->f[m->place];

	return m->serial && f->serial == m->serial ? f : NULL;
}

struct user_file *user_files_by_build_id(struct user_symbols *us, const __u8 *build_id)
{
	for (size_t i = 0; i < USER_FILES_MAX; i++) {
		struct user_file *f = &us->files->f[i];

		if (f->serial && f->elf.h.build_id_bytes &&
		    !memcmp(f->elf.h.build_id, build_id, BUILD_ID_BYTES))
			return f;
	}
	return NULL;
}

static struct user_file *make_place(struct user_symbols *us)
{
	struct user_file *oldest = &us->files->f[0];

	for (size_t i = 0; i < USER_FILES_MAX; i++) {
		struct user_file *f = &us->files->f[i];

		if (!f->serial)
			return f;
		if (f->used < oldest->used)
			oldest = f;
	}
	elf_symbols_close(&oldest->elf);
	us->lost.files++;
	oldest->serial = 0;
	return oldest;
}

struct user_file *user_files_add(struct user_symbols *us, const struct user_file_id *id, int fd,
				 const char *path, int its_root)
{
	const char *name = strrchr(path, '/');
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
	snprintf(f->module, sizeof(f->module), "%s", name ? name + 1 : path);
	return f;
}

/* Drops tables that were not used for longest, until the rest and `f` fit. */
static void keep_within(struct user_symbols *us, const struct user_file *f)
{
	for (;;) {
		struct user_file *oldest = NULL;
		size_t total = 0;

		for (size_t i = 0; i < USER_FILES_MAX; i++) {
			struct user_file *other = &us->files->f[i];

			if (!other->serial || !elf_symbols_bytes(&other->elf))
				continue;
			total += elf_symbols_bytes(&other->elf);
			if (other != f && (!oldest || other->used < oldest->used))
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
