/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: configuration files below a root directory that may be another one than ours, and may be
 * hostile: no link leads out of it, nothing but regular files is opened, and all has a cap.
 */
#ifndef FS_COLLECT_FILES_ROOTED_FILE_H
#define FS_COLLECT_FILES_ROOTED_FILE_H

#include "collect/files/file_text.h"

#define FILE_MOST_BYTES (256u << 10)
#define FILES_MOST	256 /* in a list */
#define FILE_NAME_BYTES 128
#define FILE_DIRS_MOST	64
#define FILE_PATH_BYTES 512

/* Where to look, and what could not be seen there. */
struct files {
	int root;	 /* of a directory */
	bool foreign;	 /* somebody else's, so that nothing is crossed that is mounted there */
	uint32_t unread; /* there, but not read; or too many to be */
};

/* A whole file; free() it. -ENOENT, -EACCES, -EFBIG … */
int file_read(struct files *f, const char *path, char **ret, size_t *ret_len);

/* Its number; of the kernel's files. */
int file_number(struct files *f, const char *path, uint64_t *ret);

bool file_exists(struct files *f, const char *path);

/* A root of somebody else, /proc/PID/root; to be closed. */
int file_root_of(struct files *f, uint32_t pid, struct files *ret);

/* Names of files in several directories, sorted: an equal name masks those in later ones. */
struct file_list {
	struct {
		char name[FILE_NAME_BYTES];
		unsigned int dir;
		bool empty; /* a link to /dev/null: it only masks */
	} * entry;	    /* owned */
	size_t n;
	char (*dir)[FILE_PATH_BYTES]; /* owned */
	size_t dirs;
};

/* First wins. Zero-initialise. */
void file_list_add_dir(struct files *f, struct file_list *l, const char *dir);
void file_list_sort(struct file_list *l);
void file_list_free(struct file_list *l);

/* Hands each to `each`, in order, as far as it can be read. */
typedef void file_text_fn(void *ctx, const char *path, struct span text);
void file_list_each(struct files *f, const struct file_list *l, file_text_fn *each, void *ctx);

/* One file, as above, if it is there. Returns whether it was. */
bool file_each(struct files *f, const char *path, file_text_fn *each, void *ctx);

#endif
