/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: keeps a ring in memory, and writes it to a store when something serious happens. An
 * incident is written at once, so that a crash of the machine does not take it. It is written again
 * some seconds later, with what came after the trigger.
 */
#ifndef FS_INCIDENT_INCIDENTS_H
#define FS_INCIDENT_INCIDENTS_H

#include <regex.h>

#include "base/allowance.h"
#include "incident/incident_store.h"
#include "rules/rules.h"

/* Triggers that come by themselves; bits of incident_options.on. */
#define INCIDENT_ON_FINDING  1u
#define INCIDENT_ON_OOM	     2u
#define INCIDENT_ON_PRESSURE 4u
#define INCIDENT_ON_DEFAULT  (INCIDENT_ON_FINDING | INCIDENT_ON_OOM | INCIDENT_ON_PRESSURE)

/* Maximum number of incidents that wait for what comes after them; one more completes another. */
#define INCIDENTS_AT_ONCE 34
#define INCIDENTS_BY_HAND 2  /* of these, kept free for incidents that somebody requests */
#define INCIDENTS_SEEN	  64 /* if the table is full, a new entry overwrites the oldest one */
#define INCIDENT_CAUSES	  16 /* maximum number of chosen causes of failed calls */

struct incident_options {
	struct ring_bounds ring;
	struct store_bounds store;
	unsigned int on; /* INCIDENT_ON_* bits */
	/* causes of failed calls that trigger an incident, of cause_names[]; NULL at the end */
	const char *cause[INCIDENT_CAUSES + 1];
	/* workloads whose fatal signals trigger an incident: a regular expression; NULL: none */
	const char *signal_pattern;
	uint64_t after_ns; /* time after a trigger that its incident contains */
	/* after an incident, equal triggers of the same workload are ignored for this time */
	uint64_t rest_ns;
	uint64_t per_hour; /* maximum number of incidents per hour that come by themselves */
};

/* What triggered an incident. */
struct incident_cause {
	enum incident_trigger trigger;
	const struct finding *finding;	   /* NULL: none */
	const struct process_key *subject; /* NULL: no process */
	const char *comm;
	const char *cause;    /* name of the cause of a failed call or signal; NULL: none */
	const char *workload; /* NULL: the host */
	const char *title;    /* text; NULL: that of the finding */
	uint64_t at_ns;	      /* time of the trigger, CLOCK_MONOTONIC */
};

/* An incident that was written once, and will be written again. */
struct incident_waiting {
	struct incident_record r;
	char name[STORED_NAME_BYTES];
	uint64_t due_ns; /* CLOCK_MONOTONIC time at which it is written again; 0: unused */
	bool of_state;	 /* its finding is about a state: a limit is near, or will be reached */
};

struct incident_counts {
	uint64_t triggers;  /* all triggers */
	uint64_t merged;    /* triggers that an incident contains in addition to its first one */
	uint64_t repeated;  /* ignored: an equal trigger came less than rest_ns before */
	uint64_t over_rate; /* ignored: there were too many */
	uint64_t by[NR_INCIDENT_TRIGGERS]; /* incidents, by trigger */
};

/* What happened to an incident, for those who follow the store. */
enum incident_event {
	INCIDENT_STORED,       /* its file was written at the trigger */
	INCIDENT_COMPLETED,    /* its file now has what came after the trigger */
	INCIDENT_DROPPED,      /* its file was removed */
	INCIDENT_REFUSED_RATE, /* a trigger was ignored, because there were too many */
	INCIDENT_FAILED,       /* its file could not be written; reported once until one can */
};

struct incident_news {
	enum incident_event event;
	const struct incident_record *r; /* NULL: a removed file is not read */
	const char *name;		 /* name of the file in the store; NULL: none */
	const char *why;		 /* reason of a removal or refusal; NULL: none */
	int err;			 /* -errno of a failure; 0: none */
};

struct incidents {
	struct incident_options o;
	struct incident_store store;
	struct record_ring *ring;
	regex_t signal_regex;
	bool has_signal_regex;
	struct incident_waiting waiting[INCIDENTS_AT_ONCE];
	struct {
		uint64_t hash, at_ns;
	} seen[INCIDENTS_SEEN]; /* finding or event, workload and program, of the last incidents */
	size_t nr_seen;
	struct allowance automatic, manual;
	struct incident_counts counts;
	size_t judged; /* number of events of this window that were looked at */
	bool failing;  /* the last write failed, and this was reported */
	/*
	 * Callbacks of the owner; NULL: none. `raise` is called when an incident begins, before it
	 * is written: it records more detail about the process, and fills raised and not_raised.
	 * `lower` is called when no incident waits any more. `news` gets what happened to
	 * incidents; its argument is valid during the call.
	 */
	void (*raise)(void *ctx, struct incident_record *r);
	void (*lower)(void *ctx);
	void (*news)(void *ctx, const struct incident_news *one);
	void *ctx;
};

/*
 * Opens the store, and makes the ring with tell() as for record_ring_make(). Set the callbacks
 * after this call. Returns 0 or -errno with `error` set.
 */
int incidents_open(struct incidents *in, const struct incident_options *o, const char *dir,
		   int (*tell)(void *ctx, const struct sink *sink), void *ctx, char *error,
		   size_t size);
/* Writes incidents that still wait, and frees everything. */
void incidents_close(struct incidents *in);

/*
 * Looks at findings and events that are new in this window, after the rules were evaluated. Call it
 * after each drain and scan.
 */
void incidents_look(struct incidents *in, const struct model *m, struct findings *fs);
/* Call it with model_next_window(). */
void incidents_next_window(struct incidents *in);

/*
 * Begins an incident, or adds the trigger to one that waits. Returns the name of its file, which is
 * valid until the next call; NULL: the trigger was ignored, or the file could not be written.
 */
const char *incidents_trigger(struct incidents *in, const struct incident_cause *c);

/*
 * Writes incidents whose time after the trigger is over. Call it after each scan, so that they
 * contain a scan from after this time.
 */
void incidents_work(struct incidents *in);
/* Returns whether an incident waits for what comes after its trigger. */
bool incidents_wait(const struct incidents *in);

#endif
