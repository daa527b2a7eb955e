/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * incident: a directory of small recordings, whose names begin with the time of what they record.
 * The stores of incidents and of OOM kills are such directories.
 */
#ifndef FS_INCIDENT_STORED_FILES_H
#define FS_INCIDENT_STORED_FILES_H

#include <stddef.h>
#include <stdint.h>

#define STORED_NAME_BYTES 64

/* The names of the recordings in a store, the newest first. */
struct stored_names {
	char (*name)[STORED_NAME_BYTES]; /* owned; free it with stored_names_free() */
	size_t n, room;
};

/*
 * Creates a directory (mode 0700), and its parent (0755), if they are missing. Returns 0 or -errno.
 */
int stored_directory_make(const char *dir);

/* Writes a name such as "20261128T142632.120Z-4207.fsr": names sort by time. */
void stored_name(uint64_t wall_ns, const char *what, char ret[STORED_NAME_BYTES]);

/* Lists the files of a store. Returns 0 or -errno; -ENOENT if there is no such directory. */
int stored_names_read(const char *dir, struct stored_names *ret);
void stored_names_free(struct stored_names *names);

#endif
