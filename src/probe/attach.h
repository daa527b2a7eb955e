/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: attaches the BPF programs of an attach type, and owns the links to them. */
#ifndef FS_PROBE_ATTACH_H
#define FS_PROBE_ATTACH_H

#include "probe/call_functions.h"
#include "probe/hooks.h"
#include "probe/object.h"

#define LINKS_MAX 1200

struct links {
	struct bpf_link *link[LINKS_MAX];
	int nr;
	int keeper;   /* see probe/keeper.h; 0: not started, < 0: it could not be started */
	int iterator; /* index of the link of the scan iterator; -1: none */
	/* where ATTACH_CALL_RETURNS attaches, owned by the caller; NULL: not known */
	const struct call_functions *functions;
	bool filtered; /* it also attaches to FILTER_FUNCTION */
	int first_return, returns; /* index and number of the links to returns of functions */
};

/* Starts the keeper, if it does not run: the earlier, the less memory it takes. */
void links_keep(struct links *links);

/* Attaches the programs of `alt`. Returns 0; or -errno, with none of the programs attached. */
int attach_alternate(struct links *links, const struct object *o, const struct hook_alternate *alt);

/*
 * Returns how often the kernel could not trace the return of a function, although it called the
 * function (since 6.7).
 */
__u64 links_missed(const struct links *links);

void detach_all(struct links *links);

#endif
