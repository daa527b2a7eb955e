/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of the option table, for code that generates help, manual pages and completions. */
#ifndef FS_CLI_OPTIONS_TABLE_H
#define FS_CLI_OPTIONS_TABLE_H

#include "cli/options.h"

enum option_type {
	OPTION_OTHER, /* the function `take` parses the argument */
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_COUNT,
	OPTION_BYTES,
	OPTION_SECONDS,
	OPTION_SECONDS_OR_0,
};

struct option_row {
	const char *name;
	char short_name;       /* letter of the short option; 0: none */
	const char *arg;       /* name of the argument in help; NULL: no argument */
	unsigned int commands; /* commands that have the option: bits of enum command */
	const char *help;
	int (*take)(struct options *o, const char *arg, char *error, size_t size);
	enum option_type type;
	size_t at;	      /* offset of the option's member in struct options */
	uint64_t least, most; /* permitted range of a number or size */
	double shortest;      /* permitted minimum of a time, in seconds */
	/* the values that the option accepts, as the error message lists them */
	const char *wanted;
};

struct command_row {
	const char *name; /* name of the command; "" for watching, the default command */
	const char *args;
	const char *help;
	const char *text;
};

struct example_row {
	enum command command;
	const char *line, *what;
};

/* Returns whether a command has an option. */
bool command_has(enum command command, const char *option);

/* Words that may come next on a command line: as the argument of an option, or after a command. */
struct words {
	enum { WORDS_ANY, WORDS_LISTED, WORDS_FILES, WORDS_DIRECTORIES, WORDS_PIDS } kind;
	/* true: a listed word is incomplete without its continuation, such as NAME= */
	bool open;
	struct buf list; /* the words, separated by blanks; owned */
};
void words_of_option(const struct option_row *o, enum command command, struct words *ret);
void words_of_command(enum command command, struct words *ret);

/* Writes an error message. Returns -EINVAL. */
int options_refuse(char *error, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Steps of options_parse(). options_take_words() parses arguments that are no options;
 * options_check() rejects options that exclude each other. Both functions return 0, or -EINVAL with
 * `error` set.
 */
int options_take_words(struct options *o, char *error, size_t size);
/* Handles the file name "-": standard output, or an error if a named file is required. */
int options_take_dash(struct options *o, char *error, size_t size);
int options_check(const struct options *o, char *error, size_t size);
int options_take_pids(struct options *o, const char *arg, char *error, size_t size);

/*
 * Appends "did you mean: …" to the message in `error` if a known word is similar. `words` is a list
 * such as "text, json or folded". `hook` is the probe whose attach types are searched; with -1, the
 * names of probes are searched.
 */
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
