// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "survivors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackbox_command.h"

static const char *const pstore_places[] = {"/sys/fs/pstore", "/var/lib/systemd/pstore"};

static void add_if_there(struct triage_files *files, const char *path)
{
	if (!access(path, R_OK))
		triage_files_add(files, path);
}

void survivors_add(struct triage_files *files, const struct options *o)
{
	const char *instance = o->blackbox.instance ?: BLACKBOX_INSTANCE;
	char path[512];

	add_if_there(files, o->blackbox.file ?: BLACKBOX_FILE);
	for (size_t i = 0; i < sizeof(pstore_places) / sizeof(pstore_places[0]); i++)
		add_if_there(files, pstore_places[i]);
	snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/%s/trace", instance);
	add_if_there(files, path);
}

int survivors_scan_dump(struct bb_found *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	void *at = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		err = -EINVAL;
	else
		at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!err && at == MAP_FAILED)
		err = -errno;
	if (!err) {
		err = bb_scan(f, at, st.st_size);
		munmap(at, st.st_size);
	}
	close(fd);
	return err;
}

int survivors_scan(struct bb_found *f, const struct triage_files *files)
{
	int err = 0;

	for (size_t i = 0; i < files->n && !err; i++)
		err = bb_scan(f, files->input[i].data, files->input[i].size);
	if (!err)
		bb_found_settle(f);
	return err;
}
