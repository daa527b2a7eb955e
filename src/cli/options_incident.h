/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of incidents: the ring in memory, its triggers, and what the store keeps. */
#ifndef FS_CLI_OPTIONS_INCIDENT_H
#define FS_CLI_OPTIONS_INCIDENT_H

#include "cli/options.h"

/* Take the arguments of --ring, --incident.on and --incident.cause, as struct option_row.take. */
int options_take_ring(struct options *o, const char *arg, char *error, size_t size);
int options_take_triggers(struct options *o, const char *arg, char *error, size_t size);
int options_take_causes(struct options *o, const char *arg, char *error, size_t size);

/* Checks the words of `incidents`: list, or an action and a number. Returns 0 or -EINVAL. */
int options_take_incidents(const struct options *o, char *error, size_t size);

/* Sets the defaults, before the command line is parsed. */
void options_incident_defaults(struct options *o);

/* Rejects options of incidents that exclude others. Returns 0, or -EINVAL with `error` set. */
int options_incident_check(const struct options *o, char *error, size_t size);

/* Returns the options as src/incident takes them. */
struct incident_options options_incident(const struct options *o);

/* Returns whether a command line asks for a ring in memory. */
bool options_has_ring(const struct options *o);

#endif
