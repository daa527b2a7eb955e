/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads configuration files below a root directory, which may belong to a hostile
 * container. Links cannot lead out of the root. Only regular files are opened. All sizes have a
 * maximum.
 */
#ifndef FS_COLLECT_FILES_ROOTED_FILE_H
#define FS_COLLECT_FILES_ROOTED_FILE_H

#include "collect/files/file_text.h"

#define FILE_MOST_BYTES (256u << 10)
#define FILES_MOST	256 /* maximum number of files in a list */
#define FILE_NAME_BYTES 128
#define FILE_DIRS_MOST	64
#define FILE_PATH_BYTES 512

/* The root directory below which files are read, and the number of files that could not be read. */
struct files {
	int root;	 /* file descriptor of the root directory */
	bool foreign;	 /* root of another process: no mount point is crossed */
	/*
	 * number of files that were not read, for lack of permission or because there were too many
	 */
	uint32_t unread;
};

/* Reads a whole file; the caller frees *ret. Returns 0, or -errno such as -ENOENT or -EFBIG. */
int file_read(struct files *f, const char *path, char **ret, size_t *ret_len);

/* Reads a file of the kernel that contains one number. Returns 0 or -errno. */
int file_number(struct files *f, const char *path, uint64_t *ret);

bool file_exists(struct files *f, const char *path);

/* Opens the root directory of another process, /proc/PID/root, which the caller closes. */
int file_root_of(struct files *f, uint32_t pid, struct files *ret);

/* Sorted names of files in several directories: an earlier directory hides names in later ones. */
struct file_list {
	struct {
		char name[FILE_NAME_BYTES];
		unsigned int dir;
		bool empty; /* the entry links to /dev/null: it only masks others */
	} * entry;	    /* array of `n` entries, owned */
	size_t n;
	char (*dir)[FILE_PATH_BYTES]; /* array of `dirs` paths, owned */
	size_t dirs;
};

/* Adds a directory to a zero-initialised list. The first directory has precedence. */
void file_list_add_dir(struct files *f, struct file_list *l, const char *dir);
void file_list_sort(struct file_list *l);
void file_list_free(struct file_list *l);

/* Called by file_list_each() for each readable file, in the order of the list. */
typedef void file_text_fn(void *ctx, const char *path, struct span text);
void file_list_each(struct files *f, const struct file_list *l, file_text_fn *each, void *ctx);

/* Calls `each` for a file if it exists. Returns whether the file exists. */
bool file_each(struct files *f, const char *path, file_text_fn *each, void *ctx);

#endif
