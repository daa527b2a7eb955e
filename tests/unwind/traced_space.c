// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "traced_space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "unwind/table_maker.h"

#define VDSO_BYTES 8192

bool traced_space_word(void *pid, __u64 at, __u64 *ret)
{
	struct iovec to = {ret, sizeof(*ret)}, from = {(void *)at, sizeof(*ret)};

	return process_vm_readv(*(pid_t *)pid, &to, 1, &from, 1, 0) == sizeof(*ret);
}

struct traced_files *traced_files_new(void)
{
	struct traced_files *f = calloc(1, sizeof(*f));

	if (!f || rule_set_init(&f->rules))
		abort();
	return f;
}

void traced_files_free(struct traced_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		unwind_table_free(&f->file[i]->table);
		free(f->file[i]);
	}
	rule_set_free(&f->rules);
	free(f);
}

struct traced_space *traced_space_new(pid_t pid, struct traced_files *files)
{
	struct traced_space *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->pid = pid;
	t->files = files;
	t->space = (struct unwind_space){
		.area = t->area, .rules = &files->rules, .read = traced_space_word, .ctx = &t->pid};
	return t;
}

static bool open_file(struct traced_files *t, struct traced_file *f, const char *link)
{
	struct byte_source s = {.fd = -1, .bytes = VDSO_BYTES};
	struct stat st;
	bool good;

	if (!strcmp(f->name, "[vdso]")) {
		s.mem = (const char *)getauxval(AT_SYSINFO_EHDR);
	} else {
		s.fd = open(link, O_RDONLY | O_CLOEXEC);
		if (s.fd < 0 || fstat(s.fd, &st))
			return false;
		s.bytes = st.st_size;
	}
	good = !unwind_table_read(&s, &t->rules, &f->table);
	if (s.fd >= 0)
		close(s.fd);
	return good;
}

static struct traced_file *find_file(struct traced_files *t, const char *name, const char *link)
{
	struct traced_file *f;

	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->file[i]->name, name))
			return t->file[i];
	f = calloc(1, sizeof(*f));
	if (!f || t->n == TRACED_FILES_MAX)
		abort();
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->readable = open_file(t, f, link);
	t->file[t->n++] = f;
	return f;
}

void traced_space_add(struct traced_space *t, __u64 start, __u64 end, __u64 offset,
		      const char *name, const char *path, const char *link)
{
	struct unwind_area *a = &t->area[t->space.areas];
	struct traced_file *f;

	if (t->space.areas == TRACED_AREAS_MAX)
		abort();
	*a = (struct unwind_area){.start = start, .end = end};
	snprintf(t->path[t->space.areas++], sizeof(t->path[0]), "%s", path);
	if (!name) {
		a->keeps_frame_pointers = true; /* a mapping of a JIT compiler */
		return;
	}
	f = find_file(t->files, name, link);
	if (f->readable && unwind_table_bias(&f->table, start, offset, &a->bias))
		a->table = &f->table;
}

static void add_line(struct traced_space *t, const char *line)
{
	unsigned long long start, end, offset, inode;
	char mode[5], device[16], link[96], name[64], path[96] = "";
	bool is_vdso;

	if (sscanf(line, "%llx-%llx %4s %llx %15s %llu %95s", &start, &end, mode, &offset, device,
		   &inode, path) < 6 ||
	    !strchr(mode, 'x') || !strcmp(path, "[vsyscall]"))
		return;
	is_vdso = !inode && !strcmp(path, "[vdso]");
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", t->pid, start, end);
	snprintf(name, sizeof(name), inode ? "%s:%llu" : "[vdso]", device, inode);
	traced_space_add(t, start, end, offset, inode || is_vdso ? name : NULL, path, link);
}

void traced_space_update(struct traced_space *t)
{
	char path[64], line[8192];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", t->pid);
	maps = fopen(path, "re");
	if (!maps)
		return;
	t->space.areas = 0;
	while (fgets(line, sizeof(line), maps))
		add_line(t, line);
	fclose(maps);
}

const char *traced_space_name(const struct traced_space *t, __u64 pc, __u64 *ret_address)
{
	for (size_t i = 0; i < t->space.areas; i++) {
		if (pc < t->area[i].start || pc >= t->area[i].end)
			continue;
		*ret_address = pc - t->area[i].bias;
		return t->path[i][0] ? t->path[i] : "(anonymous)";
	}
	*ret_address = pc;
	return "(none)";
}

void traced_space_free(struct traced_space *t)
{
	free(t);
}
