// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/user_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"

#define PASSWD	   "etc/passwd"
#define PASSWD_MAX (1u << 20) /* maximum number of bytes of the file that are read */
#define USERS_MAX  16384

static int by_uid(const void *a, const void *b)
{
	const struct user_name *x = a, *y = b;

	return x->uid < y->uid ? -1 : x->uid > y->uid;
}

/* Parses a line "name:password:uid:..." of `len` bytes. Returns false if it is not valid. */
static bool parse(const char *line, size_t len, struct user_name *ret)
{
	const char *name_end = memchr(line, ':', len), *uid;
	char *end;
	unsigned long n;

	if (!name_end || name_end == line || (size_t)(name_end - line) > sizeof(ret->name) - 1)
		return false;
	uid = memchr(name_end + 1, ':', line + len - name_end - 1);
	if (!uid || uid[1] < '0' || uid[1] > '9')
		return false;
	n = strtoul(uid + 1, &end, 10);
	if (*end != ':' || n > UINT32_MAX)
		return false;
	ret->uid = n;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)(name_end - line), line);
	return true;
}

static void parse_all(struct user_names *u, const char *text)
{
	size_t room = 0;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		struct user_name one;

		if (parse(line, len, &one)) {
			struct user_name *more =
				array_grow(u->user, u->n, &room, USERS_MAX, sizeof(*more));

			if (!more)
				break; /* users of later lines are shown by their number */
			u->user = more;
			u->user[u->n++] = one;
		}
		line += len + (line[len] != 0);
	}
	if (u->n)
		qsort(u->user, u->n, sizeof(*u->user), by_uid);
}

static void read_file(struct user_names *u, int root)
{
	struct stat st;
	int fd = openat(root, PASSWD, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = malloc(PASSWD_MAX);

	if (fd >= 0 && text && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    io_read_again(fd, text, PASSWD_MAX) >= 0) {
		user_names_free(u);
		u->modified_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
		u->inode = st.st_ino;
		u->bytes = st.st_size;
		parse_all(u, text);
	}
	free(text);
	if (fd >= 0)
		close(fd);
}

static bool has_changed(const struct user_names *u, int root)
{
	struct stat st;

	return !fstatat(root, PASSWD, &st, 0) &&
	       (st.st_ino != u->inode || (uint64_t)st.st_size != u->bytes ||
		st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec != u->modified_ns);
}

static const struct user_name *find(const struct user_names *u, uint32_t uid)
{
	const struct user_name key = {.uid = uid};

	return u->n ? bsearch(&key, u->user, u->n, sizeof(key), by_uid) : NULL;
}

const char *user_name_find(struct user_names *u, int root, uint32_t uid)
{
	const struct user_name *found = find(u, uid);

	if (!found && has_changed(u, root)) {
		read_file(u, root);
		found = find(u, uid);
	}
	return found ? found->name : NULL;
}

void user_names_free(struct user_names *u)
{
	free(u->user);
	*u = (struct user_names){};
}
