/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The store of OOM kills: a directory with one small recording for each kill. The store keeps the
 * newest kills, up to a maximum. A file is complete as soon as it has its name.
 */
#ifndef FS_SESSION_OOM_STORE_H
#define FS_SESSION_OOM_STORE_H

#include <limits.h>

#include "incident/stored_files.h"
#include "model/oom_kills.h"

#define OOM_STORE_PLACE "/var/lib/faultscope/oom"
/* the store of the systemd service faultscope-exporter, which may write only there */
#define OOM_STORE_OF_SERVICE "/var/lib/faultscope-exporter/oom"

struct oom_store {
	char dir[PATH_MAX]; /* empty: nothing is stored */
	uint64_t keep;	    /* maximum number of files */
	uint32_t serial;    /* serial number of the last kill that was stored */
	uint32_t victims;   /* number of its victims when it was stored */
	uint64_t stored;    /* number of kills that were stored */
	uint64_t failed;    /* number of kills that could not be stored */
};

/*
 * Creates the directory (mode 0700) if it is missing; call it before privileges are dropped. `dir`
 * NULL is OOM_STORE_PLACE. Returns 0 or -errno. With `keep` 0, stores nothing and returns 0.
 */
int oom_store_open(struct oom_store *s, const char *dir, uint64_t keep);

/*
 * Stores the kills of the model that are not stored yet, and removes the oldest files. Stores a
 * kill again if it got more victims. Returns 0, or -errno of the first file that could not be
 * written.
 */
int oom_store_write(struct oom_store *s, const struct model *m);

#endif
