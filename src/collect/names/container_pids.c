// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/names/container_pids.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "collect/files/file_text.h"
#include "model/workload.h"
#include "records/records.h"

/* Returns the ID without the name of a runtime, or NULL if the text is no ID of a container. */
static const char *plain_id(const char *id)
{
	const char *slashes = strstr(id, "://");
	size_t n = 0;

	if (slashes)
		id = slashes + 3;
	/* an ID of AWS Fargate contains a dash */
	while (isxdigit((unsigned char)id[n]) || (n && id[n] == '-'))
		n++;
	return strnlen(id, SHORT_ID) == SHORT_ID && !id[n] ? id : NULL;
}

/* Returns whether a text of /proc/PID/cgroup has a path of a container. */
static bool is_in(const char *text, size_t len, const char *id)
{
	struct text_lines lines = {.rest = {text, len}};
	struct span line, number, list, path;
	char one[CGROUP_PATH_LEN];

	while (text_line(&lines, &line)) {
		struct workload w;

		if (!text_split(line, ':', &number, &list) || !text_split(list, ':', &list, &path))
			continue;
		text_copy(path, one, sizeof(one));
		workload_of(one, &w);
		if (!strncmp(w.container, id, strlen(id)))
			return true;
	}
	return false;
}

int container_pids_find(int proc, const char *id, uint32_t *ret, size_t most)
{
	char path[48], text[8192];
	struct dirent *de;
	size_t n = 0;
	ssize_t len;
	int fd, err;
	DIR *d;

	id = plain_id(id);
	if (!id)
		return -EINVAL;
	fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	err = d ? 0 : -errno;
	while (d && (de = io_next_entry(d, &err))) {
		uint32_t pid = strtoul(de->d_name, NULL, 10);

		snprintf(path, sizeof(path), "%u/cgroup", pid);
		len = pid ? io_read(proc, path, text, sizeof(text)) : 0;
		if (len <= 0 || !is_in(text, len, id))
			continue;
		if (n < most)
			ret[n] = pid;
		n++;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return err ? err : (int)n;
}
