/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: output files. A file is written under a temporary name in its directory, and renamed when
 * it is complete. An existing file stays unchanged until the new file is renamed. Symbolic links
 * are not followed.
 */
#ifndef FS_BASE_OUTPUT_FILE_H
#define FS_BASE_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output_file {
	int fd;			 /* descriptor to write to; -1: none, or closed */
	int dir;		 /* descriptor of the directory of the file */
	char draft[32];		 /* temporary name; empty: the file is not renamed */
	char name[NAME_MAX + 1]; /* final name of the file */
	/* true: the file has its final name already; if writing fails, the file is removed */
	bool made;
	/* true: the file replaces another one when closed; no capabilities are needed for that */
	bool waits;
};

#define OUTPUT_NONE ((struct output_file){.fd = -1, .dir = -1})

/*
 * Opens `path`. /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N are duplicated; devices,
 * FIFOs and sockets are written in place. The file gets `mode`. If `mode` is 0 and the file
 * replaces a regular file of the user, it keeps the mode of that file. If `mode` is 0 otherwise,
 * the file gets 0600 for root, and 0666 less the umask for other users. Returns 0 or -errno; -ELOOP
 * means a symbolic link. On error, *f is OUTPUT_NONE.
 */
int output_file_open(struct output_file *f, const char *path, mode_t mode);

/* Opens the file `name` of an open directory in the same way. */
int output_file_open_in(struct output_file *f, int dir, const char *name, mode_t mode);

/*
 * Creates a file like output_file_open(), but the file must not exist. The new file has its final
 * name at once, and is removed if writing fails. Returns -EEXIST if the file exists.
 */
int output_file_make(struct output_file *f, const char *path, mode_t mode);

/*
 * Renames the temporary file to its final name now, before writing has ended. Returns 0 or -errno.
 */
int output_file_publish(struct output_file *f);

/*
 * Like output_file_publish(), but if `f->waits` is set, the existing file is replaced only in
 * output_file_end(): if the disk becomes full, the existing file is not lost.
 */
int output_file_publish_new(struct output_file *f);

/*
 * Closes `f`, if open. If `err` is 0, the file gets its final name. Otherwise the file is removed,
 * unless it was published. Returns `err`, or -errno of close and rename.
 */
int output_file_end(struct output_file *f, int err);

/* Writes a whole file. Returns 0 or -errno. */
int output_file_put(const char *path, mode_t mode, const char *bytes, size_t len);

/* Returns the text of an error of the output_file functions, like strerror(). */
const char *output_file_error(int err);

#endif
