// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/names/pod_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES_MOST 16384 /* maximum directory entries read; a node has some hundred pods */

/* Calls `is_it` for each name in a directory until it returns true. */
static bool each_name(int root, const char *path, bool (*is_it)(void *ctx, const struct dirent *de),
		      void *ctx)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int left = ENTRIES_MOST;
	struct dirent *de;
	bool found = false;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && left-- && (de = readdir(d)))
		if (de->d_name[0] != '.')
			found = is_it(ctx, de);
	closedir(d);
	return found;
}

static void keep(char *ret, size_t size, const char *s, size_t len)
{
	snprintf(ret, size, "%.*s", (int)len, s);
}

struct search {
	const char *wanted;
	struct pod_names *ret;
	char dir[300];
	int containers;
};

/* Parses a file name "POD_NAMESPACE_CONTAINER-ID.log", whose parts contain no underscore. */
static bool is_containers_log(void *ctx, const struct dirent *de)
{
	struct search *s = ctx;
	const char *name = de->d_name, *end = strrchr(name, '-');
	const char *namespace = strchr(name, '_');
	const char *container = namespace ? strchr(namespace + 1, '_') : NULL;
	size_t len = strlen(s->wanted);

	if (!end || strncmp(end + 1, s->wanted, len) || strcmp(end + 1 + len, ".log") ||
	    !container || end < container)
		return false;
	keep(s->ret->pod, sizeof(s->ret->pod), name, namespace - name);
	keep(s->ret->namespace, sizeof(s->ret->namespace), namespace + 1,
	     container - namespace - 1);
	keep(s->ret->container, sizeof(s->ret->container), container + 1, end - container - 1);
	return true;
}

/* Parses a directory name "NAMESPACE_POD_UID". */
static bool is_pods_directory(void *ctx, const struct dirent *de)
{
	struct search *s = ctx;
	const char *name = de->d_name, *pod = strchr(name, '_'), *uid = strrchr(name, '_');

	if (!pod || uid == pod || strcmp(uid + 1, s->wanted))
		return false;
	keep(s->ret->namespace, sizeof(s->ret->namespace), name, pod - name);
	keep(s->ret->pod, sizeof(s->ret->pod), pod + 1, uid - pod - 1);
	snprintf(s->dir, sizeof(s->dir), "var/log/pods/%s", name);
	return true;
}

static bool is_second_container(void *ctx, const struct dirent *de)
{
	struct search *s = ctx;

	if (de->d_type != DT_DIR && de->d_type != DT_UNKNOWN)
		return false;
	if (s->containers++)
		return true;
	keep(s->ret->container, sizeof(s->ret->container), de->d_name, strlen(de->d_name));
	return false;
}

void pod_names_find(int root, const char *uid, const char *container_id, struct pod_names *ret)
{
	struct search s = {.ret = ret};

	memset(ret, 0, sizeof(*ret));
	s.wanted = container_id;
	if (*container_id && each_name(root, "var/log/containers", is_containers_log, &s))
		return;
	s.wanted = uid;
	if (!*uid || !each_name(root, "var/log/pods", is_pods_directory, &s) || !*container_id)
		return;
	ret->guessed = true;
	if (each_name(root, s.dir, is_second_container, &s) || !s.containers)
		ret->container[0] = 0;
}
