// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "unwind/mapped_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/array.h"
#include "collect/files/target_file.h"
#include "collect/symbols/mapped_file.h"

/*
 * The vDSO's text and tables are in its first two pages. Later pages are not mapped on all kernels.
 */
#define VDSO_BYTES 8192

static int add_mapping(void *ctx, const struct exec_map *m)
{
	struct mapped_code *c = ctx;
	bool has_file = m->inode && m->path[0] == '/';
	struct code_mapping *grown;
	char *path = NULL;

	if (c->n == MAPPED_CODE_MAX) {
		c->cut = true;
		return 0;
	}
	grown = array_grow(c->m, c->n, &c->room, MAPPED_CODE_MAX, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->m = grown;
	if (has_file) {
		path = strndup(m->path, CODE_PATH_BYTES);
		if (!path)
			return -ENOMEM;
	}
	c->m[c->n++] = (struct code_mapping){.start = m->start,
					     .end = m->end,
					     .offset = m->offset,
					     .inode = m->inode,
					     .path = path,
					     .is_vdso = !has_file && !strcmp(m->path, "[vdso]")};
	return 0;
}

int mapped_code_read(struct mapped_code *c, const struct process_key *of,
		     const struct fs_unwind_epoch *begun)
{
	bool cut = false;
	int err;

	*c = (struct mapped_code){.of = *of, .begun = *begun, .root = -1};
	c->proc = target_open(of);
	if (c->proc < 0)
		return c->proc;
	c->root = target_root_open(c->proc);
	err = exec_maps_each(c->proc, EXEC_MAPS_ALL, false, add_mapping, c, &cut);
	c->cut = c->cut || cut;
	if (err)
		return err;
	c->area = calloc(MAPPED_CODE_MAX, sizeof(*c->area));
	c->file = calloc(MAPPED_CODE_MAX, sizeof(struct code_file *));
	return c->area && c->file ? 0 : -ENOMEM;
}

/*
 * Makes the table of the vDSO from this process's own vDSO, which is the same in all processes of
 * one architecture. A 32-bit process has another vDSO; such processes are not walked.
 */
static struct code_file *read_vdso(struct code_files *files, __u64 now_ns)
{
	struct byte_source source = {.fd = -1, .bytes = VDSO_BYTES};

	source.mem = (const char *)getauxval(AT_SYSINFO_EHDR);
	return source.mem ? code_files_get(files, &source, NULL, NULL, now_ns) : NULL;
}

static struct code_file *read_file(struct mapped_code *c, const struct code_mapping *of,
				   struct code_files *files, __u64 now_ns)
{
	const struct exec_map map = {.start = of->start,
				     .end = of->end,
				     .offset = of->offset,
				     .inode = of->inode,
				     .path = of->path};
	char path[CODE_PATH_BYTES];
	bool deleted, unproven;
	struct stat st;
	int fd;

	deleted = mapped_file_path(&map, path, sizeof(path));
	fd = mapped_file_open(c->proc, c->root, &map, path, &unproven);
	if (fd < 0)
		return NULL;
	/* a file that replaced a deleted file at the same path has other tables */
	if (!(deleted && unproven) && !fstat(fd, &st)) {
		struct byte_source source = {.fd = fd, .bytes = st.st_size};

		return code_files_get(files, &source, path, &st, now_ns);
	}
	close(fd);
	return NULL;
}

bool mapped_code_python(const struct mapped_code *c, struct fs_python *ret)
{
	const struct python_file *interpreter = NULL, *libc = NULL;
	__u64 bias = 0;

	for (size_t i = 0; i < c->at; i++) {
		const struct code_file *f = c->file[i];

		if (f && f->python.specific)
			libc = &f->python;
		if (f && f->python.is_interpreter &&
		    code_file_bias(f, c->m[i].start, c->m[i].offset, &bias))
			interpreter = &f->python;
	}
	if (interpreter)
		python_file_join(interpreter, bias, libc, ret);
	return interpreter != NULL;
}

enum mapped_step mapped_code_step(struct mapped_code *c, struct code_files *files,
				  struct unwind_maps *m, __u64 now_ns)
{
	const struct code_mapping *of = &c->m[c->at];
	struct fs_unwind_area *area = &c->area[c->at];
	struct code_file **file = &c->file[c->at];

	if (c->at == c->n)
		return MAPPED_END;
	/* a use of the file is kept, so that no other file takes its place during the read */
	if (!*file && of->is_vdso)
		*file = read_vdso(files, now_ns);
	else if (!*file && of->path)
		*file = read_file(c, of, files, now_ns);
	if (*file && (*file)->state == CODE_MAKING && code_files_work(files, m, now_ns))
		return MAPPED_MAKING;
	*area = (struct fs_unwind_area){
		.start = of->start, .end = of->end, .pages = FS_UNWIND_BY_CHAIN};
	if (of->path || of->is_vdso)
		area->pages = FS_UNWIND_FILE_UNREADABLE;
	if (*file)
		code_file_area(*file, of->offset, area);
	c->at++;
	return MAPPED_NEXT;
}

bool mapped_code_find(const struct mapped_code *c, __u64 ip, __u8 ret_build_id[BUILD_ID_BYTES],
		      __u64 *ret_offset)
{
	for (size_t i = 0; i < c->at; i++) {
		const struct code_file *f = c->file[i];

		if (ip < c->m[i].start || ip >= c->m[i].end)
			continue;
		if (!f || !f->has_build_id)
			return false;
		memcpy(ret_build_id, f->build_id, BUILD_ID_BYTES);
		*ret_offset = ip - c->m[i].start + c->m[i].offset;
		return true;
	}
	return false;
}

void mapped_code_free(struct mapped_code *c, __u64 now_ns)
{
	for (size_t i = 0; c->file && i < c->n; i++)
		if (c->file[i])
			code_file_release(c->file[i], now_ns);
	for (size_t i = 0; c->m && i < c->n; i++)
		free(c->m[i].path);
	free(c->m);
	free(c->area);
	free(c->file);
	if (c->proc >= 0)
		close(c->proc);
	if (c->root >= 0)
		close(c->root);
	*c = (struct mapped_code){.proc = -1, .root = -1};
}
