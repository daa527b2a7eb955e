// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/triage_command.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/units.h"
#include "crash/blackbox_live.h"
#include "crash/triage_verdict.h"
#include "render/completeness.h"
#include "render/crash/crash_view.h"
#include "cli/messages.h"
#include "live/terminal_view.h"
#include "crash/surviving_logs.h"
#include "crash/triage_files.h"
#include "crash/triage_gaps.h"

#define BUCKETS_MAX 4096
#define GROUP_MAX   200000
#define DEPTH_MAX   8

/* Reads all inputs. Returns 0 or an exit status. */
static int read_inputs(const struct options *o, struct triage_files *f)
{
	int err = 0;

	if (o->journal)
		err = triage_files_add_journal(f);
	if (!err && o->blackbox.file)
		err = triage_files_add(f, o->blackbox.file);
	for (int i = 0; i < o->argc && !err; i++)
		err = triage_files_add(f, o->argv[i]);
	if (err) {
		complain("%s", f->error[0] ? f->error : strerror(-err));
		return EXIT_FAILED;
	}
	if (f->left_out)
		complain("%zu %s left out: at most %d are read at once; "
			 "many logs are sorted by: faultscope triage --group DIR",
			 f->left_out, as_words(f->left_out, "file{ is|s are}").s,
			 TRIAGE_INPUTS_MAX);
	return 0;
}

static int triage_one(const struct options *o, const struct view *v)
{
	struct triage_files f = {};
	struct bb_found recorded = {};
	int status = read_inputs(o, &f);

	/* files of any format may contain records, and records may contain lines of the log */
	if (!status && (survivors_scan(&recorded, &f) || survivors_to_logs(&f))) {
		complain("cannot read the records: %s", strerror(ENOMEM));
		status = EXIT_FAILED;
	}
	if (!status)
		status = triage_judge(o, v, &f, &recorded, NULL);
	bb_found_free(&recorded);
	triage_files_free(&f);
	return status;
}

/* ---- triage of many logs, for --group ---- */

struct group {
	struct triage_buckets buckets;
	char newest[64]; /* newest kernel release in all logs */
	char **path;
	size_t paths, room;
};

static int keep_path(struct group *g, const char *path)
{
	char **more;

	if (g->paths == GROUP_MAX) {
		g->buckets.lost++;
		return 0;
	}
	more = array_grow(g->path, g->paths, &g->room, GROUP_MAX, sizeof(*more));
	if (!more)
		return -ENOMEM;
	g->path = more;
	g->path[g->paths] = strdup(path);
	return g->path[g->paths++] ? 0 : -ENOMEM;
}

/* Collects all files below a directory. Returns 0 or -errno. */
static int walk(struct group *g, const char *path, int depth)
{
	struct dirent **list;
	struct stat st;
	int n, err = 0;

	if (lstat(path, &st))
		return -errno;
	if (S_ISREG(st.st_mode))
		return keep_path(g, path);
	if (!S_ISDIR(st.st_mode) || depth > DEPTH_MAX)
		return 0;
	n = scandir(path, &list, NULL, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		char below[4096];

		if (!err && list[i]->d_name[0] != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", path, list[i]->d_name) <
			    (int)sizeof(below))
			err = walk(g, below, depth + 1);
		free(list[i]);
	}
	free(list);
	return err;
}

/* Compares kernel releases by their numbers: 6.12.9 is older than 6.12.10. */
static int release_compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

static void take_str(char *to, size_t size, struct str s)
{
	snprintf(to, size, "%.*s", STR_ARG(s));
}

static struct triage_bucket *bucket_of(struct triage_buckets *bs, const char *name)
{
	struct triage_bucket *k;

	for (size_t i = 0; i < bs->n; i++)
		if (!strcmp(bs->bucket[i].name, name))
			return &bs->bucket[i];
	if (bs->n == BUCKETS_MAX) {
		bs->lost++;
		return NULL;
	}
	k = &bs->bucket[bs->n++];
	memset(k, 0, sizeof(*k));
	snprintf(k->name, sizeof(k->name), "%s", name);
	return k;
}

static void kernel_add(struct triage_bucket *k, const char *kernel)
{
	for (size_t i = 0; i < k->kernels; i++)
		if (!strcmp(k->kernel[i], kernel))
			return;
	if (k->kernels == BUCKET_KERNELS)
		k->more_kernels++;
	else
		snprintf(k->kernel[k->kernels++], sizeof(k->kernel[0]), "%s", kernel);
}

static void bucket_fill(struct group *g, const struct diagnosis *v, const char *path, int64_t when)
{
	struct triage_bucket *k = bucket_of(&g->buckets, v->bucket);
	char kernel[64];

	if (!k)
		return;
	if (!k->count++) {
		snprintf(k->kind, sizeof(k->kind), "%s", kind_name(v->kind));
		take_str(k->module, sizeof(k->module), v->module);
		snprintf(k->example, sizeof(k->example), "%s", path);
	}
	if (!k->first || when < k->first)
		k->first = when;
	if (when > k->last)
		k->last = when;
	if (!v->event->kernel.n)
		return;
	take_str(kernel, sizeof(kernel), v->event->kernel);
	kernel_add(k, kernel);
	if (release_compare(kernel, g->newest) > 0)
		memcpy(g->newest, kernel, sizeof(g->newest));
}

/* Counts a log without a crash. Logs that were read only in part are counted separately. */
static void take_quiet(struct group *g, const struct triage_files *f, const struct triage *t)
{
	struct buf gaps = {};

	triage_gaps_of(&gaps, f, t, 0);
	g->buckets.has_text |= triage_has_text(f, t, 0);
	if (has_gaps(&gaps))
		g->buckets.partial++;
	else
		g->buckets.quiet++;
	buf_free(&gaps);
}

static int group_take(struct group *g, const char *path)
{
	struct triage_files f = {};
	struct triage t = {};
	struct stat st = {};
	int err = triage_files_add(&f, path);

	if (f.dump) { /* the log of a memory dump is usually in a file beside the dump */
		err = 0;
		goto out;
	}
	g->buckets.logs++;
	if (err) {
		g->buckets.unreadable++;
		complain("%s", f.error);
		err = 0;
		goto out;
	}
	err = triage_run(&t, f.input, f.n);
	if (err)
		goto out;
	stat(path, &st);
	if (t.primary >= 0)
		bucket_fill(g, &t.verdict[t.primary], path, st.st_mtime);
	else
		take_quiet(g, &f, &t);
	triage_free(&t);
out:
	triage_files_free(&f);
	return err;
}

static int by_count(const void *a, const void *b)
{
	const struct triage_bucket *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Marks groups of crashes as new if only the newest of several kernel releases has them. */
static void mark_new(struct group *g)
{
	bool several = false;

	for (size_t i = 0; i < g->buckets.n; i++)
		for (size_t k = 0; k < g->buckets.bucket[i].kernels; k++)
			several |= strcmp(g->buckets.bucket[i].kernel[k], g->newest) != 0;
	for (size_t i = 0; i < g->buckets.n; i++) {
		struct triage_bucket *k = &g->buckets.bucket[i];

		k->fresh = several && k->kernels == 1 && !strcmp(k->kernel[0], g->newest);
	}
}

static void group_gaps(struct buf *gaps, const struct triage_buckets *bs)
{
	if (!bs->logs)
		gap_add(gaps, "nothing was read: there is no log");
	if (bs->partial)
		gap_add(gaps,
			"not read wholly, and without a crash in what was read: %" PRIu64
			" of %" PRIu64 " %s (triage LOG says why)",
			bs->partial, bs->logs, as_words(bs->logs, "log{|s}").s);
	gap_lost(gaps, bs->lost, "log{|s} or bucket{|s} beyond the most that is kept");
}

static int triage_group(const struct options *o, const struct view *v)
{
	struct group g = {};
	struct buf b = {}, gaps = {};
	int status = EXIT_DONE, err;

	g.buckets.bucket = calloc(BUCKETS_MAX, sizeof(*g.buckets.bucket));
	err = g.buckets.bucket ? walk(&g, o->group, 0) : -ENOMEM;
	if (err) {
		complain("cannot read %s: %s", o->group, strerror(-err));
		status = EXIT_FAILED;
		goto out;
	}
	for (size_t i = 0; i < g.paths && !err; i++)
		err = group_take(&g, g.path[i]);
	if (err) {
		complain("cannot judge the logs of %s: %s", o->group, strerror(-err));
		status = EXIT_FAILED;
		goto out;
	}
	mark_new(&g);
	qsort(g.buckets.bucket, g.buckets.n, sizeof(*g.buckets.bucket), by_count);
	if (o->format == &json_renderer)
		triage_buckets_json(&b, &g.buckets);
	else
		triage_buckets_text(&b, v, &g.buckets);
	status = say_all(o, &b);
	if (!status && g.buckets.unreadable)
		status = EXIT_FAILED;
	if (!status && g.buckets.n)
		status = EXIT_GATE;
	group_gaps(&gaps, &g.buckets);
	if (!status && !g.buckets.quiet && !g.buckets.has_text)
		status = fail_of_gaps(&gaps);
	status = status_of_gaps(status, &gaps);
out:
	for (size_t i = 0; i < g.paths; i++)
		free(g.path[i]);
	free(g.path);
	free(g.buckets.bucket);
	buf_free(&gaps);
	buf_free(&b);
	return status;
}

int command_triage(const struct options *o)
{
	struct view v = {};

	if (o->blackbox.live)
		return triage_live(o);
	view_make(&v, o);
	return o->group ? triage_group(o, &v) : triage_one(o, &v);
}
