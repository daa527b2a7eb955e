// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/symbols/perf_map.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/files/target_file.h"

/* Up to this many new lines are searched one by one, so that a growing map is rarely sorted. */
#define NEW_LINES 1024

int perf_map_open(int proc, struct perf_map *ret)
{
	struct target_identity id;
	struct stat st;
	char path[40];
	int err = target_identity_read(proc, &id), root, fd;

	if (err)
		return err;
	root = target_root_open(proc);
	if (root < 0)
		return root;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", id.pid);
	fd = target_plain_open(root, path, &st);
	close(root);
	if (fd < 0)
		return fd;
	/* anyone can write to /tmp: trust only files of root or of the process's user */
	if (st.st_uid && st.st_uid != id.euid) {
		close(fd);
		return -EPERM;
	}
	*ret = (struct perf_map){.fd = fd};
	return 0;
}

bool perf_map_parse(const char *line, __u64 *ret_start, __u32 *ret_bytes, size_t *ret_name)
{
	unsigned long long start, bytes;
	char *end;

	if (!isxdigit((unsigned char)line[0]))
		return false;
	start = strtoull(line, &end, 16);
	if (*end != ' ' || !isxdigit((unsigned char)end[1]))
		return false;
	bytes = strtoull(end + 1, &end, 16);
	if (*end != ' ' || !end[1] || end[1] == '\n' || !bytes)
		return false;
	*ret_start = start;
	*ret_bytes = bytes < UINT32_MAX ? bytes : UINT32_MAX;
	*ret_name = end + 1 - line;
	return true;
}

/*
 * Adds the complete lines of `b`, whose first byte is at offset m->read of the file. The name of an
 * entry is its offset in the file. If entries have the same address, the one with the highest
 * offset is used.
 */
static void take_lines(struct perf_map *m, const char *b)
{
	const char *line = b, *end;

	while ((end = strchr(line, '\n'))) {
		__u64 start;
		__u32 bytes;
		size_t name;

		if (perf_map_parse(line, &start, &bytes, &name))
			symbol_table_add(&m->table, start, bytes, m->read + (line - b) + name);
		line = end + 1;
	}
	m->read += line - b;
}

static void start_over(struct perf_map *m)
{
	symbol_table_free(&m->table);
	m->table.cut = 0;
	m->read = 0;
}

static void read_lines(struct perf_map *m, __u64 bytes)
{
	struct byte_source s = {.fd = m->fd, .bytes = bytes};
	char b[32768];

	while (m->read < bytes && !m->table.cut) {
		ssize_t n = bytes_read(&s, m->read, b, sizeof(b) - 1);
		__u64 before = m->read;

		if (n <= 0)
			return;
		b[n] = 0;
		take_lines(m, b);
		if (m->read != before)
			continue;
		/* no newline: the line is still being written, or too long */
		if ((size_t)n < sizeof(b) - 1)
			return;
		m->read += n;
	}
}

static void update(struct perf_map *m)
{
	__u64 bytes;
	struct stat st;

	if (m->fd < 0 || fstat(m->fd, &st))
		return;
	bytes = st.st_size < PERF_MAP_BYTES ? st.st_size : PERF_MAP_BYTES;
	if (bytes < m->read)
		start_over(m);
	if (bytes == m->read)
		return;
	read_lines(m, bytes);
	if (m->table.n - m->table.sorted > NEW_LINES)
		symbol_table_sort(&m->table);
}

bool perf_map_find(struct perf_map *m, __u64 ip, char *ret, size_t size, __u64 *ret_offset)
{
	struct byte_source s = {.fd = m->fd};
	const struct symbol_entry *e;
	size_t n = 0;

	update(m);
	e = symbol_table_find_new(&m->table, ip);
	if (!e) {
		e = symbol_table_find(&m->table, ip, &n);
		e = e ? e + n - 1 : NULL;
	}
	s.bytes = m->read;
	if (!e || !bytes_text(&s, e->name, '\n', ret, size))
		return false;
	*ret_offset = ip - e->start;
	return true;
}

void perf_map_close(struct perf_map *m)
{
	symbol_table_free(&m->table);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct perf_map){.fd = -1};
}
