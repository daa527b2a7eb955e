/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: incidents of a live session: connects the ring and the triggers of src/incident with the
 * event loop. `record --ring` and `export` use it. All functions but incident_watch_open() do
 * nothing if the session has no ring.
 */
#ifndef FS_SESSION_INCIDENT_WATCH_H
#define FS_SESSION_INCIDENT_WATCH_H

#include "incident/incidents.h"

struct session;

struct incident_watch {
	struct incidents in;
	int pressure, socket; /* descriptors of the triggers; -1: not open */
	/* -errno: why memory pressure triggers nothing; 0: it does, or was not requested */
	int no_pressure;
	/* time between timer events while nothing is raised, in ns; the owner sets it */
	uint64_t calm_ns;
	bool raised;	   /* scans come every second, because an incident waits */
	/*
	 * Callback of the owner, with the argument of incidents.ctx: reads what the kernel has
	 * reported meanwhile, so that an incident that somebody requests is complete; NULL: none
	 */
	void (*catch_up)(void *ctx);
	const char *lacks; /* detail that the probes of this session do not have; NULL: none */
};

/*
 * Opens store, ring and triggers. Call it before the source is opened. `dir` is the store. Returns
 * 0, or -errno with `error` set.
 */
int incident_watch_open(struct session *s, const struct incident_options *o, const char *dir,
			char *error, size_t size);
/* Writes the incidents that wait, and closes everything. Call it before the model is freed. */
void incident_watch_close(struct session *s);

/* Adds the triggers to the event loop. The loop's `ctx` must begin with the session. */
int incident_watch_begin(struct session *s);

/* Looks for triggers after a drain or scan, when the rules were evaluated. */
void incident_watch_look(struct session *s);
void incident_watch_next_window(struct session *s);
/* Completes incidents whose time after the trigger is over. Call it after each scan. */
void incident_watch_work(struct session *s);

/*
 * Begins an incident that somebody requested. Returns the path of its file in `ret`, or what
 * prevents it; the result says whether there is a file.
 */
bool incident_watch_request(struct session *s, enum incident_trigger trigger, const char *reason,
			    char *ret, size_t size);

#endif
