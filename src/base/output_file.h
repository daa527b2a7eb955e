/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: a file that the program writes. It is written beside its place, under a name of its own,
 * and renamed once it is whole: what has the name stays as it is until then, and stays for good
 * where writing fails. Symbolic links are not followed.
 */
#ifndef FS_BASE_OUTPUT_FILE_H
#define FS_BASE_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output_file {
	int fd;			 /* where to write; -1: none, or it is closed */
	int dir;		 /* the directory of both names */
	char draft[32];		 /* the name that it has meanwhile; empty: it is not renamed */
	char name[NAME_MAX + 1]; /* the name that it gets */
	bool made;		 /* it has that name, and is removed if it fails */
	bool waits; /* it replaces a file, and can be renamed later without any capability */
};

#define OUTPUT_NONE ((struct output_file){.fd = -1, .dir = -1})

/*
 * Opens `path`. The descriptors /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are
 * duplicated; devices, FIFOs and sockets are written in place. With `mode` 0 the file gets the
 * mode of a regular file of ours that it replaces, else 0600 for root, and what the umask leaves of
 * 0666 for others. Returns 0 or -errno, -ELOOP for a symbolic link; *f is OUTPUT_NONE then.
 */
int output_file_open(struct output_file *f, const char *path, mode_t mode);

/* The same for a file that must not exist: it has its name at once, and loses it where writing
 * fails. -EEXIST. */
int output_file_make(struct output_file *f, const char *path, mode_t mode);

/* Gives the file its name now, while it is still written. Returns 0 or -errno. */
int output_file_publish(struct output_file *f);

/*
 * The same unless `f->waits`: then the file that has the name stays until output_file_end(), so
 * that a disk that fills up later does not cost it.
 */
int output_file_publish_new(struct output_file *f);

/* Closes `f`, if it is open. With `err` 0 the file then has its name, else it is removed unless it
 * was published. Returns `err`, or -errno of closing and renaming. */
int output_file_end(struct output_file *f, int err);

/* Writes a whole file of these bytes. Returns 0 or -errno. */
int output_file_put(const char *path, mode_t mode, const char *bytes, size_t len);

/* The reason for an error of these functions, as strerror(). */
const char *output_file_error(int err);

#endif
