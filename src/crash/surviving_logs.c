// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/surviving_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox/log_records.h"
#include "blackbox/trace_text.h"
#include "crash/blackbox_places.h"
#include "crash/vmcore/vmcore.h"

static const char *const pstore_places[] = {"/sys/fs/pstore", "/var/lib/systemd/pstore"};

static void add_if_there(struct triage_files *files, const char *path)
{
	if (!access(path, R_OK))
		triage_files_add(files, path);
}

void survivors_trace_path(const struct options *o, char *ret, size_t size)
{
	snprintf(ret, size, "%s.trace", o->blackbox.file ?: BLACKBOX_FILE);
}

void survivors_add(struct triage_files *files, const struct options *o)
{
	const char *instance = o->blackbox.instance ?: BLACKBOX_INSTANCE;
	char path[512];

	add_if_there(files, o->blackbox.file ?: BLACKBOX_FILE);
	for (size_t i = 0; i < sizeof(pstore_places) / sizeof(pstore_places[0]); i++)
		add_if_there(files, pstore_places[i]);
	survivors_trace_path(o, path, sizeof(path));
	add_if_there(files, path);
	snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s/trace", instance);
	add_if_there(files, path);
}

int survivors_scan_fd(struct bb_found *f, int fd)
{
	void *at = MAP_FAILED;
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		err = -EINVAL;
	else
		at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err && at == MAP_FAILED)
		err = -errno;
	if (!err) {
		err = bb_scan(f, at, st.st_size);
		munmap(at, st.st_size);
	}
	return err;
}

int survivors_scan_dump(struct bb_found *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	/* the bytes of a compressed dump are not the memory's */
	err = vmcore_is(fd) ? vmcore_records(f, fd) : -ENOTSUP;
	if (err && err != -ENOMEM)
		err = survivors_scan_fd(f, fd);
	close(fd);
	return err;
}

int survivors_scan(struct bb_found *f, const struct triage_files *files)
{
	int err = 0;

	for (size_t i = 0; i < files->n && !err; i++) {
		const struct triage_input *in = &files->input[i];

		err = bb_scan(f, in->data, in->size);
		if (!err && bb_is_trace(in->data, in->size))
			err = bb_trace_scan(f, in->data, in->size);
	}
	for (size_t i = 0; i < files->dumped.n && !err; i++)
		err = bb_found_add(f, &files->dumped.record[i]);
	f->torn += files->dumped.torn;
	if (!err)
		bb_found_settle(f);
	return err;
}

/*
 * Writes the log in a ring file. This is the log of the newest boot with a crash or, if no boot
 * crashed, of the newest boot.
 */
static void ring_log(struct buf *b, const struct triage_input *in)
{
	struct bb_found f = {};
	size_t boot;

	if (!bb_scan(&f, in->data, in->size))
		bb_found_settle(&f);
	boot = f.boots;
	for (size_t i = 0; i < f.n; i++)
		if (f.record[i].class == BB_OOPS || f.record[i].class == BB_PANIC ||
		    f.record[i].class == BB_FAULT)
			boot = bb_boot_find(&f, f.record[i].boot_id);
	if (f.boots)
		bb_relog(b, &f, f.boot[boot < f.boots ? boot : f.boots - 1].id);
	bb_found_free(&f);
}

static bool is_ring(const struct triage_input *in)
{
	return memchr(in->data, 0, in->size < 64 ? in->size : 64) &&
	       memmem(in->data, in->size, BB_MAGIC, strlen(BB_MAGIC));
}

static int replace(struct triage_input *in, struct buf *b)
{
	char *text = b->s ?: strdup("");

	if (b->failed || !text) {
		buf_free(b);
		return -ENOMEM;
	}
	free((char *)in->data);
	in->data = text;
	in->size = b->len;
	return 0;
}

int survivors_to_logs(struct triage_files *files)
{
	/* true: a log already contains the crash, so the records do not repeat it */
	bool told = false;
	int err = 0;

	for (size_t i = 0; i < files->n && !err; i++) {
		struct triage_input *in = &files->input[i];
		struct buf b = {};

		if (bb_is_trace(in->data, in->size)) {
			bb_trace_log(&b, in->data, in->size);
			err = replace(in, &b);
		}
		told |= !err && !is_ring(in) && memmem(in->data, in->size, "Call Trace:", 11);
	}
	for (size_t i = 0; i < files->n && !err; i++) {
		struct triage_input *in = &files->input[i];
		struct buf b = {};

		if (!is_ring(in))
			continue;
		if (!told)
			ring_log(&b, in);
		err = replace(in, &b);
	}
	return err;
}
