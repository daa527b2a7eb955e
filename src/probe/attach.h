/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: attaches the BPF programs of an attach type, and owns the links to them. */
#ifndef FS_PROBE_ATTACH_H
#define FS_PROBE_ATTACH_H

#include "probe/hooks.h"
#include "probe/object.h"

#define LINKS_MAX 1200

struct links {
	struct bpf_link *link[LINKS_MAX];
	int nr;
	int keeper;   /* end of a pipe to the process that also holds the links; 0: none */
	int iterator; /* index of the link of the scan iterator; -1: none */
};

/* Attaches the programs of `alt`. Returns 0; or -errno, with none of the programs attached. */
int attach_alternate(struct links *links, const struct object *o, const struct hook_alternate *alt);

void detach_all(struct links *links);

#endif
