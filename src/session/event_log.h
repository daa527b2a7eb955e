/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: writes log lines about findings and incidents (--log-format): to standard error, to
 * standard output, to a syslog socket or to the journal. The number of lines is bounded, and a
 * reader who does not read never blocks faultscope: lines that are left out are counted, and the
 * next line has their number.
 */
#ifndef FS_SESSION_EVENT_LOG_H
#define FS_SESSION_EVENT_LOG_H

#include "incident/incidents.h"
#include "render/log/log_event.h"

struct session;
struct event_log;

/*
 * Finds the workload of a process's finding. The texts in *ret are valid until the next call; `ctx`
 * is that of event_log_identify_by().
 */
typedef void log_identify_fn(void *ctx, const struct finding *f, struct log_workload *ret);

/*
 * Opens the log that the options name; without --log-format, the journal if standard error is
 * connected to it, else standard error. Call it before privileges are dropped. Prints errors.
 * Returns 0 or an exit status.
 */
int event_log_open(struct session *s);
/* Writes how many lines were left out, and closes the log. */
void event_log_close(struct session *s);

/* Says that standard error shows progress in its last line, which a log line has to replace. */
void event_log_replaces_progress(struct session *s);
/* Finds workloads by a function, not by the cgroups in the model. */
void event_log_identify_by(struct session *s, log_identify_fn *identify, void *ctx);

/* These functions do nothing if the session has no log. */

/* Writes lines about findings that are new in this window. Call it after rules were evaluated. */
void event_log_look(struct session *s);
/* Writes a line about an incident. */
void event_log_incident(struct session *s, const struct incident_news *news);
/* Says how many lines were left out, if this has not been said for a minute. */
void event_log_work(struct session *s);

#endif
