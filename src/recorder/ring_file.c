// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "recorder/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/output_file.h"

#define HEAD	   "FSringv1"
#define BEAT_SLOTS 2
#define FIRST_SLOT (1 + BEAT_SLOTS)

static int write_all(int fd, const uint8_t *data, size_t size, off_t at)
{
	while (size) {
		ssize_t n = pwrite(fd, data, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data += n;
		size -= n;
		at += n;
	}
	return 0;
}

static void head_make(uint8_t head[RING_SLOT], uint64_t slots)
{
	uint32_t crc;

	memset(head, 0, RING_SLOT);
	memcpy(head, HEAD, 8);
	for (int i = 0; i < 8; i++)
		head[8 + i] = slots >> (8 * i);
	crc = crc32c(0, head, 16);
	for (int i = 0; i < 4; i++)
		head[16 + i] = crc >> (8 * i);
}

/*
 * Writes zeros to the whole file, so that later writes need not allocate blocks. Writes the header
 * last, so that an unfinished file is invalid. Returns 0 or -errno.
 */
static int fill(int fd, uint64_t slots)
{
	static const uint8_t zero[64 * RING_SLOT];
	uint8_t head[RING_SLOT];
	int err = -posix_fallocate(fd, 0, slots * RING_SLOT);

	for (uint64_t i = 0; i < slots && !err; i += 64)
		err = write_all(fd, zero, (slots - i < 64 ? slots - i : 64) * RING_SLOT,
				i * RING_SLOT);
	head_make(head, slots);
	err = err ?: write_all(fd, head, sizeof(head), 0);
	return err ?: (fsync(fd) ? -errno : 0);
}

/* Finds the slot after the newest record of an existing file. Returns 0 or -errno. */
static int resume(struct ring_file *r, off_t size)
{
	uint8_t head[RING_SLOT], slot[RING_SLOT];
	struct bb_record record;

	r->slots = size / RING_SLOT;
	head_make(head, r->slots);
	if (size % RING_SLOT || size < RING_BYTES_LEAST || size > RING_BYTES_MOST ||
	    pread(r->fd, slot, RING_SLOT, 0) != RING_SLOT || memcmp(head, slot, RING_SLOT))
		return -EEXIST;
	r->slot = FIRST_SLOT;
	for (uint64_t i = FIRST_SLOT; i < r->slots; i++) {
		if (pread(r->fd, slot, RING_SLOT, i * RING_SLOT) != RING_SLOT)
			return -EIO;
		if (bb_decode(slot, RING_SLOT, &record) < 0 || record.sequence < r->sequence)
			continue;
		r->sequence = record.sequence;
		r->slot = i + 1 == r->slots ? FIRST_SLOT : i + 1;
	}
	return 0;
}

/* Flushes the directory. Only then does the name of a new file survive a crash. */
static int sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, err = 0;

	if (fd < 0 || fsync(fd))
		err = -errno;
	if (fd >= 0)
		close(fd);
	free(copy);
	return err;
}

/* Creates the file under a temporary name, so that it is either complete or absent. */
static int make(const char *path, uint64_t bytes)
{
	struct output_file f;
	int err = output_file_open(&f, path, 0600);

	if (!err)
		err = output_file_end(&f, fill(f.fd, bytes / RING_SLOT));
	return err ? err : sync_directory(path);
}

int ring_file_open(struct ring_file *r, const char *path, uint64_t bytes)
{
	struct stat st;
	int err = 0;

	*r = (struct ring_file){.fd = -1};
	if (stat(path, &st))
		err = errno == ENOENT ? make(path, bytes) : -errno;
	if (err)
		return err;
	r->fd = open(path, O_RDWR | O_DSYNC | O_CLOEXEC | O_NOFOLLOW);
	if (r->fd < 0)
		return -errno;
	r->pending = calloc(RING_PENDING, RING_SLOT);
	if (!r->pending)
		err = -ENOMEM;
	else if (fstat(r->fd, &st))
		err = -errno;
	else if (flock(r->fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	err = err ?: resume(r, st.st_size);
	if (err)
		ring_file_close(r);
	return err;
}

int ring_file_flush(struct ring_file *r)
{
	size_t n = r->n;
	int err;

	if (!n)
		return 0;
	r->n = 0;
	err = write_all(r->fd, r->pending, n * RING_SLOT, r->slot * RING_SLOT);
	if (err)
		r->lost += n;
	r->slot += n;
	if (r->slot >= r->slots)
		r->slot = FIRST_SLOT;
	return err;
}

int ring_file_add(struct ring_file *r, const struct bb_record *record)
{
	bb_encode(record, r->pending + r->n++ * RING_SLOT);
	r->sequence = record->sequence;
	if (r->n == RING_PENDING || r->slot + r->n == r->slots)
		return ring_file_flush(r);
	return 0;
}

int ring_file_beat(struct ring_file *r, const struct bb_record *record)
{
	uint8_t slot[RING_SLOT];
	int err;

	bb_encode(record, slot);
	err = write_all(r->fd, slot, sizeof(slot), (1 + r->beats++ % BEAT_SLOTS) * RING_SLOT);
	r->lost += err != 0;
	return err;
}

void ring_file_close(struct ring_file *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->pending);
	*r = (struct ring_file){.fd = -1};
}
