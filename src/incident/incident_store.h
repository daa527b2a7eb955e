/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: the store of incidents, a directory with one recording for each incident. The store
 * drops its oldest files when it has too many, too many bytes, or too old ones. A file is complete,
 * and on the disk, before it gets its name.
 */
#ifndef FS_INCIDENT_INCIDENT_STORE_H
#define FS_INCIDENT_INCIDENT_STORE_H

#include <limits.h>
#include <stdbool.h>

#include "incident/stored_files.h"
#include "probe/record_ring.h"
#include "records/incident_record.h"

#define INCIDENT_STORE_PLACE "/var/lib/faultscope/incidents"
/* the store of the systemd service faultscope-exporter, which may write only there */
#define INCIDENT_STORE_OF_SERVICE "/var/lib/faultscope-exporter/incidents"

/* What a store keeps; 0: no such bound. */
struct store_bounds {
	uint64_t count;	 /* maximum number of files */
	uint64_t bytes;	 /* maximum sum of the sizes of the files */
	uint64_t age_ns; /* maximum age of a file, by the time of its trigger */
};

struct incident_store {
	char dir[PATH_MAX]; /* empty: the store is not open */
	int fd;		    /* descriptor of the directory; -1: not open */
	struct store_bounds bounds;
	uint64_t stored, failed; /* number of files that were written, or could not be written */
	uint64_t dropped;	 /* number of files that were removed to keep the bounds */
	/* called with the name of each file that was removed to keep the bounds; NULL: nobody */
	void (*dropped_one)(void *ctx, const char *name);
	void *ctx; /* argument of dropped_one() */
};

#define INCIDENT_STORE_CLOSED ((struct incident_store){.fd = -1})

/*
 * Opens a store. Creates the directory (mode 0700) if it is missing, and removes unfinished files
 * that a crash has left. Call it before privileges are dropped. Returns 0 or -errno.
 */
int incident_store_open(struct incident_store *s, const char *dir,
			const struct store_bounds *bounds);
void incident_store_close(struct incident_store *s);

/*
 * Writes the ring as a file `name` of the store, or replaces this file, and then drops files beyond
 * the bounds. Returns 0 or -errno; on error, all earlier files are unchanged.
 */
int incident_store_put(struct incident_store *s, struct record_ring *ring,
		       const struct incident_record *head, const char *name);

/* Removes files beyond the bounds, but never the newest one. `wall_ns` is the present time. */
void incident_store_keep_bounds(struct incident_store *s, uint64_t wall_ns);

/* An incident of a store. */
struct stored_incident {
	char name[STORED_NAME_BYTES]; /* name of the file */
	uint64_t bytes;		      /* size of the file */
	char why[80];		      /* reason why the file gave no incident; "": it gave `r` */
	struct incident_record r;
};

/* The incidents of a store, the newest first. */
struct incident_list {
	struct stored_incident *one; /* owned; free it with incident_list_free() */
	size_t n;
};

/* Reads the list. Returns 0 or -errno; -ENOENT if there is no such directory. */
int incident_list_read(const char *dir, struct incident_list *ret);
void incident_list_free(struct incident_list *list);

#endif
