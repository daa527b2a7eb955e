/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: what to do about a finding, as data: kind, scope, text, command and risk of each remedy.
 */
#ifndef FS_RULES_REMEDY_H
#define FS_RULES_REMEDY_H

#include <stdbool.h>

#include "model/origin.h"

#define REMEDY_MAX 10

enum remedy_kind {
	REMEDY_WORKAROUND, /* raises the limit, or lessens the effect */
	REMEDY_FIX,	   /* ends the cause */
	REMEDY_CHECK,	   /* shows more about the cause */
	NR_REMEDY_KINDS,
};

enum remedy_scope { SCOPE_PROCESS, SCOPE_CGROUP, SCOPE_HOST, NR_REMEDY_SCOPES };

struct remedy {
	enum remedy_kind kind;
	enum remedy_scope scope; /* what it changes: one process, one cgroup, or the whole host */
	bool persistent;	 /* it outlasts the next start of the program or the next boot */
	char text[384];		 /* what to do, as a sentence */
	char command[768];	 /* to be pasted into a shell; empty: none. Never cut. */
	char risk[320];		 /* what it costs or endangers; empty: nothing is known */
};

/* A remedy whose texts are constant, in a table or in a rule; NULL: none. */
struct remedy_row {
	enum remedy_kind kind;
	const char *text;
	const char *command, *risk;
	enum remedy_scope scope;
	bool persistent;
};

/* Rows of a kind: the text, then other members as .command = "ls". */
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

/* The names in JSON and in texts. */
const char *remedy_kind_name(enum remedy_kind kind);
const char *remedy_scope_name(enum remedy_scope scope);

/* Sets the command; one that does not fit whole is left out. NULL as `r` is accepted. */
void remedy_command(struct remedy *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct remedy_for {
	uint64_t want; /* LIMIT_NONE: unlimited; 0: twice what is in use, or else of the limit,
			* rounded up */
	uint64_t most; /* that this machine can use; 0: not known */
	uint32_t pid;  /* of a process' limit; 0: of the shell that asks */
	bool gone;     /* only the next one can be helped */
};

/* Fills ret, up to REMEDY_MAX, best first of each kind; returns how many. */
size_t remedies_for(const struct origin *o, const struct remedy_for *f, struct remedy *ret);

/* The first of a kind that is persistent, or not. NULL: there is none. */
const struct remedy *remedy_find(const struct remedy *r, size_t n, enum remedy_kind kind,
				 bool persistent);

#endif
