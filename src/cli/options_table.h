/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the option table, for what is generated from it. */
#ifndef FS_CLI_OPTIONS_TABLE_H
#define FS_CLI_OPTIONS_TABLE_H

#include "cli/options.h"

struct option_row {
	const char *name;
	char short_name;       /* 0: none */
	const char *arg;       /* NULL: none */
	unsigned int commands; /* bits of enum command */
	const char *help;
	int (*set)(struct options *o, const char *arg, char *error, size_t size);
};

struct command_row {
	const char *name; /* "" for the main job */
	const char *args;
	const char *help;
	const char *text;
};

/* Of the flight recorder, in a file of their own. */
int set_live(struct options *o, const char *arg, char *error, size_t size);
int set_ring(struct options *o, const char *arg, char *error, size_t size);
int set_ring_bytes(struct options *o, const char *arg, char *error, size_t size);
int set_keep(struct options *o, const char *arg, char *error, size_t size);
int set_instance(struct options *o, const char *arg, char *error, size_t size);
int set_heartbeat(struct options *o, const char *arg, char *error, size_t size);

/* For options_parse(): what is no option, and what does not go together. As options_parse(). */
int options_take_words(struct options *o, char *error, size_t size);
/* What - stands for where a file is to be named: standard output, or nothing that it can be. */
int options_take_dash(struct options *o, char *error, size_t size);
int options_check(const struct options *o, char *error, size_t size);
int options_take_pids(struct options *o, const char *arg, char *error, size_t size);

/* Each appends "did you mean: …" to a message in `error`, where a known word is near; `words` is a
 * list such as "text, json or folded", and `hook` an index, or -1: hooks are meant. */
void options_near_command(const char *typed, char *error, size_t size);
void options_near_option(const char *typed, enum command command, char *error, size_t size);
void options_near_word(const char *typed, const char *words, char *error, size_t size);
void options_near_field(const char *typed, char *error, size_t size);
void options_near_resource(const char *typed, char *error, size_t size);
void options_near_format(const char *typed, char *error, size_t size);
void options_near_hook(const char *typed, int hook, char *error, size_t size);

extern const struct option_row option_rows[];
extern const size_t nr_option_rows;
extern const struct command_row command_rows[NR_COMMANDS];

#endif
