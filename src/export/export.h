/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations shared by the files of src/export. A collection is one scan of all processes; its
 * result is kept until the next collection.
 */
#ifndef FS_EXPORT_EXPORT_H
#define FS_EXPORT_EXPORT_H

#include "collect/names/process_identity.h"
#include "model/census.h"
#include "model/node.h"
#include "export/service_notify.h"
#include "render/prom/prom.h"
#include "serve/endpoint.h"
#include "session/session.h"

struct export_replay;

struct export
{
	struct session s;
	const struct options *o;
	struct census census;
	struct node node;
	struct identities *ids; /* workload names; NULL: a recording, which contains them */
	int root;		/* descriptor of the directory "/"; -1: not open */
	struct export_replay *replay;
	struct endpoint *endpoint; /* HTTP server; NULL: --textfile */
	struct notify notify;
	double start_s;
	uint64_t collected_ns; /* start of the last collection; 0: none yet */
	uint64_t deadline_ns;  /* time-out of the current collection, CLOCK_MONOTONIC; 0: none */
	bool up, partial;      /* whether the last collection succeeded, and whether it timed out */
};

int command_export(const struct options *o);

/* Scans, unless the last scan is at most 0.1 s old. With timeout_s > 0 a scan ends early. */
void export_collect(struct export *x, double timeout_s);

/* A sink for a source: takes one record of a scan or of a probe. */
int export_take(void *ctx, const struct record *h);

/* Takes a failed call, whose reason is counted with the next record of its process. */
void export_take_refused(struct export *x, const struct refused_record *r);

/* Writes the metrics of the last collection. */
void export_render(struct export *x, const struct exposition_format *format, struct buf *b);

/* --textfile: replaces a file atomically. Returns 0 or -errno. */
int export_write_file(struct export *x, const char *path);

/* --replay: reads a recording to its end. Returns 0 or an exit status. */
int export_replay_open(struct export *x);
/* Counts the processes of the recording as they were at its end. */
void export_replay_scan(struct export *x);
/* Appends why the recording is incomplete (render/completeness.h). */
void export_replay_gaps(const struct export *x, struct buf *gaps);
void export_replay_close(struct export *x);

/* Fills values of this process for process_*, and of its BPF programs if the kernel times them. */
void export_self(const struct export *x, struct prom_self *ret);
/* Fills the run statistics of faultscope's BPF programs, even if the kernel does not time them. */
void export_programs(const struct export *x, struct prom_self *ret);

#endif
