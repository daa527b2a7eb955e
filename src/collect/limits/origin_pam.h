/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the line that sets a limit at login, by the rules of pam_limits(8) and
 * limits.conf(5).
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_PAM_H
#define FS_COLLECT_LIMITS_ORIGIN_PAM_H

#include "collect/limits/origin_user.h"

/* Lines of limits.conf and limits.d that set one item. Initialise `user` and `item`. */
struct pam_limit {
	const struct user *user;
	const char *item;	       /* item of limits.conf, such as "nofile" */
	struct origin_line soft, hard; /* lines that match best so far */
	/* how specifically the lines `soft` and `hard` match the user; 0: no match yet */
	int soft_rank, hard_rank;
};

void pam_scan(struct pam_limit *s, const char *file, struct span text);
void pam_find(struct files *f, struct pam_limit *s);

#endif
