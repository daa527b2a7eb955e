/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the option table, for what is generated from it. */
#ifndef FS_CLI_OPTIONS_TABLE_H
#define FS_CLI_OPTIONS_TABLE_H

#include "cli/options.h"

enum option_type {
	OPTION_OTHER, /* take() does it */
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_COUNT,
	OPTION_BYTES,
	OPTION_SECONDS,
	OPTION_SECONDS_OR_0,
};

struct option_row {
	const char *name;
	char short_name;       /* 0: none */
	const char *arg;       /* NULL: none */
	unsigned int commands; /* bits of enum command */
	const char *help;
	int (*take)(struct options *o, const char *arg, char *error, size_t size);
	enum option_type type;
	size_t at;	      /* of the member of struct options that it is for */
	uint64_t least, most; /* of a number or a size */
	double shortest;      /* seconds */
	const char *wanted;   /* what to say where it is none of that type, or out of range */
};

struct command_row {
	const char *name; /* "" for the main job */
	const char *args;
	const char *help;
	const char *text;
};

struct example_row {
	enum command command;
	const char *line, *what;
};

/* Whether a command has an option. */
bool command_has(enum command command, const char *option);

/* What can stand where a word is expected: of an option's argument, or behind a command. */
struct words {
	enum { WORDS_ANY, WORDS_LISTED, WORDS_FILES, WORDS_DIRECTORIES, WORDS_PIDS } kind;
	bool open;	 /* more has to follow a listed word */
	struct buf list; /* a blank between two; owned */
};
void words_of_option(const struct option_row *o, enum command command, struct words *ret);
void words_of_command(enum command command, struct words *ret);

/* Writes a message; returns -EINVAL. */
int options_refuse(char *error, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

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
extern const struct example_row example_rows[];
extern const size_t nr_example_rows;

#endif
