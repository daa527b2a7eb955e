/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: memory shortage of the machine, of its cgroups and of file systems; processes that the OOM
 * killer killed; page faults that ended in a signal.
 */
#ifndef FS_RULES_PRESSURE_RULES_H
#define FS_RULES_PRESSURE_RULES_H

#include "rules/rules.h"

/*
 * Returns true if there is little room for page cache: almost all memory of the machine or of the
 * process's cgroup is not reclaimable, or pages are swapped in and out. Files that are read again
 * were then evicted from the page cache.
 */
bool memory_is_short(const struct model *m, const struct subject *s);

/* Makes the finding critical and adds the evidence of the signal's own record. */
void pressure_say_signal(const struct occasion *o, struct finding *f);

/* Adds evidence: the processes with the most memory, and the next victim of the OOM killer. */
void pressure_say_who(struct finding *f, const struct model *m);

/* Adds a remedy with numbers: how much more of `what` is needed, or how many fewer workers. */
void pressure_help_room(struct finding *f, const struct model *m, uint64_t short_bytes,
			const char *what);

/*
 * Like pressure_help_room(), but for memory use that grows: says how long the additional memory
 * would last. Never suggests more than the machine has available, where that is known.
 */
void pressure_help_growth(struct finding *f, const struct model *m, uint64_t more_bytes,
			  double per_second, const char *what);

/* Adds evidence in bytes. A limit of FIGURE_UNKNOWN means no limit. */
void evidence_bytes(struct finding *f, const char *field, uint64_t bytes, uint64_t limit);

/*
 * Quotes a path of a record, which may have any bytes, as one word of a shell command. Returns
 * `text`; it is "DIR" if the path is too long.
 */
#define PATH_WORD 520
const char *path_as_word(const char *path, char text[PATH_WORD]);

#endif
