/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: remedies of a finding as data: kind, scope, text, command and risk of each. */
#ifndef FS_RULES_REMEDY_H
#define FS_RULES_REMEDY_H

#include <stdbool.h>

#include "model/origin.h"

#define REMEDY_MAX    10
#define COMMAND_BYTES 768

enum remedy_kind {
	REMEDY_WORKAROUND, /* a workaround raises the limit, or makes the problem less severe */
	REMEDY_FIX,	   /* a fix removes the cause */
	REMEDY_CHECK,	   /* a check shows more about the problem, changes nothing */
	NR_REMEDY_KINDS,
};

enum remedy_scope { SCOPE_PROCESS, SCOPE_CGROUP, SCOPE_HOST, NR_REMEDY_SCOPES };

struct remedy {
	enum remedy_kind kind;
	/* what the command changes: one process, one cgroup, or the host */
	enum remedy_scope scope;
	/* true: the change lasts beyond the next start of the program, or a reboot */
	bool persistent;
	char text[384];		     /* what to do, as a sentence for people */
	char command[COMMAND_BYTES]; /* shell command, never truncated; empty: none */
	char risk[320];		     /* cost or danger of the command; empty: none known */
};

/* A remedy with constant texts, for tables and rules. `text` NULL: no remedy. */
struct remedy_row {
	enum remedy_kind kind;
	const char *text;
	const char *command, *risk;
	enum remedy_scope scope;
	bool persistent;
};

/* Initializers for struct remedy_row: the text, then other members, such as .command = "ls". */
#define FIX(...)                                                                                   \
	{                                                                                          \
		REMEDY_FIX, __VA_ARGS__, .persistent = true                                        \
	}
#define WORKAROUND(...)                                                                            \
	{                                                                                          \
		REMEDY_WORKAROUND, __VA_ARGS__                                                     \
	}
#define CHECK_BY(...)                                                                              \
	{                                                                                          \
		REMEDY_CHECK, __VA_ARGS__                                                          \
	}

/* Return the names that JSON and the text output use. */
const char *remedy_kind_name(enum remedy_kind kind);
const char *remedy_scope_name(enum remedy_scope scope);

/* Returns the scope of a change of this limit: where a higher value applies. */
enum remedy_scope remedy_scope_of(const struct limit *l);

/* Sets the scope and returns `r`, which may be NULL. */
struct remedy *remedy_with_scope(struct remedy *r, enum remedy_scope scope);

/* Sets the command, or leaves it empty if it does not fit. `r` may be NULL. */
void remedy_command(struct remedy *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct remedy_for {
	/*
	 * value to set; LIMIT_NONE: unlimited; 0: choose a value (twice the current use or limit,
	 * rounded up)
	 */
	uint64_t want;
	uint64_t most; /* the largest value that this machine can use; 0: not known */
	/* pid of the process that has the limit; 0: the shell of the user who reads the remedy */
	uint32_t pid;
	bool gone; /* true: the process has exited, only its next start can get more */
};

/* Fills ret with up to REMEDY_MAX remedies; the best of each kind comes first. Returns how many. */
size_t remedies_for(const struct origin *o, const struct remedy_for *f, struct remedy *ret);

/* Returns the first remedy of a kind that has a command and is persistent or not; NULL: none. */
const struct remedy *remedy_find(const struct remedy *r, size_t n, enum remedy_kind kind,
				 bool persistent);

#endif
