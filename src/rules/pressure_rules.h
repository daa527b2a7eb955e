/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: short of memory, of what kind, and who was killed or crashed of it: the machine, its
 * cgroups and file systems, victims of the OOM killer, faults that ended in a signal.
 */
#ifndef FS_RULES_PRESSURE_RULES_H
#define FS_RULES_PRESSURE_RULES_H

#include "rules/rules.h"

/*
 * Whether there is little room for pages of files: the machine's memory or that of the process'
 * cgroup is nearly all kept, or swapped in and out. What is read again then was driven out.
 */
bool memory_is_short(const struct model *m, const struct subject *s);

/* The evidence of a signal's own record; critical. */
void pressure_say_signal(const struct occasion *o, struct finding *f);

/* Evidence: who has most, and who would be killed first. */
void pressure_say_who(struct finding *f, const struct model *m);

/* A remedy in figures: so much more of `what`, or so many workers fewer. */
void pressure_help_room(struct finding *f, const struct model *m, uint64_t short_bytes,
			const char *what);

/*
 * The same of what grows: more room is only time. Says how long it would last; never more than the
 * machine has left, where that is known.
 */
void pressure_help_growth(struct finding *f, const struct model *m, uint64_t more_bytes,
			  double per_second, const char *what);

/* Evidence in bytes; a limit of FIGURE_UNKNOWN is none. */
void evidence_bytes(struct finding *f, const char *field, uint64_t bytes, uint64_t limit);

/* A path of a record as one word of a command: it may hold anything. */
#define PATH_WORD 520
const char *path_as_word(const char *path, char text[PATH_WORD]);

#endif
