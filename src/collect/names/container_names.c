// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/container_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "collect/files/json_text.h"
#include "collect/files/rooted_file.h"

#define ANCESTORS_MOST 8

/* Docker writes a slash before a container's name. */
static bool docker_name(int root, const char *id, char *ret, size_t size)
{
	static const char *const path_of_name[] = {"Name", NULL};
	struct files f = {.root = root};
	char path[160], name[256], *text;
	bool found;
	size_t len;

	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
	if (file_read(&f, path, &text, &len))
		return false;
	found = json_string_find((struct span){text, len}, path_of_name, name, sizeof(name)) &&
		name[0] == '/' && name[1];
	if (found)
		snprintf(ret, size, "%s", name + 1);
	free(text);
	return found;
}

static ssize_t read_proc(int root, uint32_t pid, const char *file, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/%s", pid, file);
	return io_read(root, path, ret, size);
}

static uint32_t parent_of(int root, uint32_t pid)
{
	struct span value;
	char text[2048];
	uint64_t ppid = 0;
	ssize_t len = read_proc(root, pid, "status", text, sizeof(text));

	if (len > 0 && text_status((struct span){text, len}, "PPid", &value))
		text_number(value, &ppid);
	return ppid;
}

/*
 * `words` contains words that NULs separate. Returns the word after an option, or NULL if the
 * option is missing.
 */
static const char *word_behind(const char *words, size_t len, const char *option)
{
	for (size_t i = 0; i < len; i += strlen(words + i) + 1) {
		size_t next = i + strlen(words + i) + 1;

		if (!strcmp(words + i, option))
			return next < len ? words + next : NULL;
	}
	return NULL;
}

/* Finds a container's name in the command line of Podman's monitor, conmon(8): -c ID -n NAME. */
static bool podman_name(int root, const char *id, uint32_t pid, char *ret, size_t size)
{
	char text[4096];

	for (int i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
		ssize_t len = read_proc(root, pid, "cmdline", text, sizeof(text));
		const char *of, *name;

		pid = parent_of(root, pid);
		if (len <= 0 || !strstr(text, "conmon"))
			continue;
		of = word_behind(text, len, "-c");
		name = word_behind(text, len, "-n");
		if (!of || !name || strcmp(of, id))
			continue;
		snprintf(ret, size, "%s", name);
		return *ret != 0;
	}
	return false;
}

bool container_name_find(int root, const struct workload *w, uint32_t pid, char *ret, size_t size)
{
	if (w->runtime == RUNTIME_DOCKER)
		return docker_name(root, w->container, ret, size);
	if (w->runtime == RUNTIME_PODMAN && pid)
		return podman_name(root, w->container, pid, ret, size);
	return false;
}
