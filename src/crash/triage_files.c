// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/triage_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "live/progress.h"
#include "render/completeness.h"
#include "crash/decompress.h"
#include "crash/triage_gaps.h"
#include "crash/vmcore/vmcore.h"
#include "triage/condense.h"
#include "base/compress.h"

#define CHUNK		  (64u << 10)
#define CONDENSED_AT_ONCE (1u << 20)
#define DEPTH_MAX	  6

extern char **environ;

static int fail(struct triage_files *f, const char *name, const char *what, int err)
{
	snprintf(f->error, sizeof(f->error), "cannot read %s: %s%s%s", name, what,
		 *what && err ? ": " : "", err ? strerror(err) : "");
	return err ? -err : -EINVAL;
}

/* Adds a gap (input that was not read) with the name of the file, made safe to print. */
static void add_gap(struct triage_files *f, const char *name, const char *what)
{
	struct buf safe = {};

	buf_safe(&safe, name, false);
	gap_add(&f->gaps, "not read: %s of %s", what, safe.s ? safe.s : "a file");
	buf_free(&safe);
}

static void add_lost_gap(struct triage_files *f, const char *name, uint64_t bytes)
{
	struct buf what = {};

	buf_printf(&what, "%s of later reports", as_bytes(bytes).s);
	add_gap(f, name, what.s ? what.s : "later reports");
	buf_free(&what);
}

struct bytes {
	char *data;
	size_t size, room;
	struct condenser *condenser; /* NULL: the log fits into memory */
};

static int bytes_room(struct bytes *b, size_t more)
{
	size_t room = b->room ? b->room * 2 : CHUNK;
	char *data;

	while (room < b->size + more)
		room *= 2;
	if (room == b->room || b->size + more <= b->room)
		return 0;
	data = realloc(b->data, room);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->room = room;
	return 0;
}

/* Begins to keep only the reports of a log that does not fit into memory. */
static int condense_begin(struct bytes *b)
{
	if (!triage_is_text(b->data, b->size))
		return -EILSEQ;
	b->condenser = malloc(sizeof(*b->condenser));
	if (!b->condenser)
		return -ENOMEM;
	condenser_make(b->condenser);
	return 0;
}

/* Passes what was read to the condenser. */
static int condense_bytes(struct bytes *b)
{
	int err = b->condenser ? 0 : condense_begin(b);

	if (!err)
		err = condense(b->condenser, b->data, b->size);
	b->size = 0;
	return err;
}

/* Returns whether the log must be condensed now. Compressed data must stay together. */
static bool is_full(const struct bytes *b)
{
	return b->condenser ? b->size + CHUNK > CONDENSED_AT_ONCE
			    : b->size + CHUNK > TRIAGE_BYTES_MAX;
}

/* Reads a file to its end. /dev/kmsg has no end: reads the records that exist now. */
static int read_all(int fd, struct bytes *b)
{
	struct progress progress;
	struct stat st;
	double total = !fstat(fd, &st) && S_ISREG(st.st_mode) ? st.st_size : 0, done = 0;
	int err = 0;

	progress_begin(&progress, "reading");
	while (!err) {
		ssize_t n;

		if (is_full(b) && !b->condenser && packing_of(b->data, b->size))
			err = -EFBIG;
		else if (is_full(b))
			err = condense_bytes(b);
		if (!err)
			err = bytes_room(b, CHUNK);
		n = err ? 0 : read(fd, b->data + b->size, CHUNK);
		if (n > 0)
			b->size += n;
		else if (!n || errno == EAGAIN)
			break;
		else if (errno != EINTR && errno != EPIPE) /* EPIPE: /dev/kmsg lost records */
			err = -errno;
		done += n > 0 ? n : 0;
		progress_at(&progress, done, total);
	}
	progress_end(&progress);
	if (!err && b->condenser) {
		err = condense_bytes(b);
		if (!err)
			err = condense_end(b->condenser);
	}
	return err;
}

static void bytes_free(struct bytes *b)
{
	if (b->condenser)
		condenser_free(b->condenser);
	free(b->condenser);
	free(b->data);
}

/* Takes over the bytes, or the condensed log. */
static int keep(struct triage_files *f, const char *name, struct bytes *b)
{
	struct triage_input in = {.data = b->data, .size = b->size};
	char *kept;

	if (f->n == TRIAGE_INPUTS_MAX) {
		f->left_out++;
		bytes_free(b);
		return 0;
	}
	kept = strdup(name);
	if (!kept) {
		bytes_free(b);
		return -ENOMEM;
	}
	if (b->condenser) {
		struct condenser *c = b->condenser;

		in = (struct triage_input){
			.data = c->kept, .size = c->kept_bytes, .skip = c->skip, .skips = c->skips};
		if (c->lost_bytes)
			add_lost_gap(f, name, c->lost_bytes);
		free(c->fresh);
		free(c);
		free(b->data);
	}
	in.name = f->name[f->n] = kept;
	f->input[f->n++] = in;
	return 0;
}

/* Reads a file from its current position, decompresses it and stores it. */
static int take(struct triage_files *f, const char *name, int fd)
{
	const char *why = NULL;
	struct bytes b = {};
	bool partial = false;
	int err = read_all(fd, &b);

	if (err) {
		bytes_free(&b);
		return err == -EILSEQ ? fail(f, name, "it is no text", 0) : fail(f, name, "", -err);
	}
	if (!b.condenser)
		err = decompress(&b.data, &b.size, TRIAGE_BYTES_MAX, &partial, &why);
	if (err) {
		bytes_free(&b);
		return fail(f, name, why, 0);
	}
	if (partial)
		add_gap(f, name, "what is compressed beyond the damage, or the most that is read,");
	return keep(f, name, &b);
}

/* Adds the names of modules as the kernel prints them, if the log does not have such a line. */
static void add_modules(struct vmcore *v)
{
	if (v->modules.len && v->log.s && !strstr(v->log.s, "Modules linked in:"))
		buf_printf(&v->log, "Modules linked in: %s\n", v->modules.s);
}

/* Adds the log and the records of a memory dump. */
static int add_dump(struct triage_files *f, const char *path, int fd)
{
	struct vmcore v;
	struct bytes b;
	int err = vmcore_read(&v, fd);

	if (err && !v.records.n) {
		err = fail(f, path, v.why, 0);
		goto out;
	}
	if (err) /* the records alone may show the crash */
		add_gap(f, path, v.why);
	err = 0;
	for (size_t i = 0; i < v.records.n && !err; i++)
		err = bb_found_add(&f->dumped, &v.records.record[i]);
	f->dumped.torn += v.records.torn;
	if (err)
		goto out;
	add_modules(&v);
	b = (struct bytes){.data = v.log.s ?: strdup(""), .size = v.log.len};
	v.log = (struct buf){};
	err = b.data ? keep(f, path, &b) : -ENOMEM;
out:
	vmcore_free(&v);
	return err;
}

static int add_at(struct triage_files *f, const char *path, int depth);

static int add_directory(struct triage_files *f, const char *path, int depth)
{
	struct dirent **list;
	int n = scandir(path, &list, NULL, alphasort), err = 0;

	if (n < 0)
		return fail(f, path, "", errno);
	for (int i = 0; i < n; i++) {
		bool hidden = list[i]->d_name[0] == '.';
		char below[4096];

		if (!err && !hidden &&
		    (depth == DEPTH_MAX || snprintf(below, sizeof(below), "%s/%s", path,
						    list[i]->d_name) >= (int)sizeof(below)))
			add_gap(f, list[i]->d_name, "too deep a place, all");
		else if (!err && !hidden)
			err = add_at(f, below, depth + 1);
		free(list[i]);
	}
	free(list);
	return err;
}

static int add_at(struct triage_files *f, const char *path, int depth)
{
	struct stat st;
	int fd, err = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(f, path, "", errno);
	if (fstat(fd, &st)) {
		err = fail(f, path, "", errno);
	} else if (S_ISDIR(st.st_mode)) {
		err = add_directory(f, path, depth);
	} else if (depth && !S_ISREG(st.st_mode)) {
		err = 0; /* ignore sockets and pipes in a directory of logs */
	} else if (S_ISREG(st.st_mode) && vmcore_is(fd)) {
		f->dump = true;
		/* in a directory, the log of the crash is in a file beside the memory dump */
		if (depth)
			add_gap(f, path, "the memory");
		else
			err = add_dump(f, path, fd);
	} else {
		if (!S_ISCHR(st.st_mode)) /* wait for data from a pipe, but not from /dev/kmsg */
			fcntl(fd, F_SETFL, 0);
		err = take(f, path, fd);
	}
	close(fd);
	return err;
}

int triage_files_add(struct triage_files *f, const char *path)
{
	if (!strcmp(path, "-"))
		return take(f, "-", STDIN_FILENO);
	return add_at(f, path, 0);
}

int triage_files_add_journal(struct triage_files *f)
{
	char *argv[] = {"journalctl",
			"--no-pager",
			"--quiet",
			"--output=export",
			"--lines=200000",
			"--output-fields=MESSAGE,PRIORITY,_SOURCE_MONOTONIC_TIMESTAMP,_TRANSPORT",
			"_TRANSPORT=kernel",
			NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status = 0, err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return fail(f, "the journal", "", errno);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (err) {
		close(ends[0]);
		return fail(f, "the journal", "journalctl", err);
	}
	err = take(f, "journal", ends[0]);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		return fail(f, "the journal", "journalctl failed", 0);
	if (!err && f->n && !f->input[f->n - 1].size)
		return fail(f, "the journal",
			    "nothing was read: it has no kernel messages, or this user may not see "
			    "them (root and the group systemd-journal may)",
			    0);
	return err;
}

void triage_files_free(struct triage_files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free((char *)f->input[i].data);
		free((struct triage_skip *)f->input[i].skip);
		free((char *)f->name[i]);
	}
	f->n = 0;
	bb_found_free(&f->dumped);
	buf_free(&f->gaps);
}
