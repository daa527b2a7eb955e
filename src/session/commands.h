/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that measure or read a measurement. Each command_*() function returns an exit status. */
#ifndef FS_SESSION_COMMANDS_H
#define FS_SESSION_COMMANDS_H

#include "cli/options.h"

int command_watch(const struct options *o);
int command_run(const struct options *o);
int command_diagnose(const struct options *o);
int command_memory(const struct options *o);
int command_host(const struct options *o);
int command_doctor(const struct options *o);
int command_oom(const struct options *o);
int command_record(const struct options *o);
int command_info(const struct options *o);
int command_replay(const struct options *o);
/* Shows a recording as `replay` does. The live view opens, paused, at a time of CLOCK_MONOTONIC. */
int replay_at(const struct options *o, const char *path, uint64_t at_ns);
/* write_metrics() writes the file for --format textfile; callers pass command_export(). */
int command_report(const struct options *o, int (*write_metrics)(const struct options *o));
int command_diff(const struct options *o);
/* Prints the difference of two recordings; `name` is what the output calls them, NULL: the file. */
int diff_print(const struct options *o, const char *const path[2], const char *const name[2]);
/* the arguments of these functions are as for command_report() */
int command_incidents(const struct options *o, int (*write_metrics)(const struct options *o));
int command_snapshot(const struct options *o);
int command_settings(const struct options *o);
/* appends the text of the explanation to b */
int command_explain(const struct options *o, struct buf *b);

#endif
