/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `export`: what its files share. A collection is one look; what it gave is kept for the next. */
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
	struct identities *ids; /* NULL: of a recording, whose names say it */
	int root;		/* the directory "/"; -1: not open */
	struct export_replay *replay;
	struct endpoint *endpoint; /* NULL: --textfile */
	struct notify notify;
	double start_s;
	uint64_t collected_ns; /* when the last collection began; 0: never */
	uint64_t deadline_ns;  /* of the one at hand; 0: none */
	bool up, partial;      /* of the last one */
};

int command_export(const struct options *o);

/* Looks, unless that was just done; with a time-out, as far as it gets. */
void export_collect(struct export *x, double timeout_s);

/* Takes one record: of a look, or of what hooks tell in between. A sink for a source. */
int export_take(void *ctx, const struct record *h);

/* A refused call, whose reason is counted with the next record of its process. */
void export_take_refused(struct export *x, const struct refused_record *r);

/* The page, of what was collected last. */
void export_render(struct export *x, const struct exposition_format *format, struct buf *b);

/* --textfile: writes the page to a file that is there whole or not at all. 0, -errno. */
int export_write_file(struct export *x, const char *path);

/* --replay: reads a recording to its end. 0, or an exit status. */
int export_replay_open(struct export *x);
/* Its processes as they were. */
void export_replay_scan(struct export *x);
/* Why what the recording says is incomplete: render/completeness.h. */
void export_replay_gaps(const struct export *x, struct buf *gaps);
void export_replay_close(struct export *x);

/* Of this process, for process_*; and of its programs where the kernel times them. */
void export_self(const struct export *x, struct prom_self *ret);
/* Of its programs, whether they are timed or not. */
void export_programs(const struct export *x, struct prom_self *ret);

#endif
