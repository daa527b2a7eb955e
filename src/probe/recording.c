// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FORMAT	  1
#define FRAME_MAX 16384 /* no wire record is longer */

struct file_header {
	char magic[8];
	__u32 format;
	__u32 wire_version;
	__u32 byte_order;   /* 0x01020304 as the writer has it */
	__u32 record_sizes; /* sum of the sizes of the wire structs: a changed layout shows */
};

struct frame {
	__u32 len;
	__u32 crc;
};

static const char magic[8] = "FSREC\r\n\032";

/* A process record of version 3: it only lacks what was added since. */
#define WHOLE_OF_3                                                                                 \
	(offsetof(struct fs_process_record, c) + offsetof(struct fs_counters, end_of_version_3))
#define MORE_THAN_3 (sizeof(struct fs_process_record) - WHOLE_OF_3)

static void fill_file_header(struct file_header *fh)
{
	memset(fh, 0, sizeof(*fh));
	memcpy(fh->magic, magic, sizeof(magic));
	fh->format = FORMAT;
	fh->wire_version = FS_WIRE_VERSION;
	fh->byte_order = 0x01020304;
	fh->record_sizes = sizeof(struct fs_process_record) + sizeof(struct fs_crossing_record) +
			   sizeof(struct fs_refused_record) + sizeof(struct fs_signal_record) +
			   sizeof(struct fs_kernel_fault_record) + sizeof(struct fs_host_record) +
			   sizeof(struct fs_hook_record) + sizeof(struct fs_tick_record) +
			   sizeof(struct fs_names_record) + sizeof(struct fs_symbol_record) +
			   sizeof(struct fs_end_record);
}

struct recorder {
	FILE *f;
	off_t whole; /* offset behind the last whole frame */
	int failed;  /* -errno once a write failed */
};

int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size)
{
	struct recorder *rec = calloc(1, sizeof(*rec));
	struct file_header fh;
	int fd, err = 0;

	if (!rec)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (force ? O_TRUNC : O_EXCL),
		  0600);
	if (fd < 0) {
		err = -errno;
		if (err == -EEXIST)
			snprintf(error, size, "%s exists already\n  give another name, or --force",
				 path);
		else
			snprintf(error, size, "cannot make the recording %s: %s", path,
				 strerror(errno));
		free(rec);
		return err;
	}
	rec->f = fdopen(fd, "w");
	fill_file_header(&fh);
	if (fwrite(&fh, sizeof(fh), 1, rec->f) != 1 || fflush(rec->f)) {
		err = -errno;
		snprintf(error, size, "cannot write the recording %s: %s", path, strerror(errno));
		fclose(rec->f);
		free(rec);
		return err;
	}
	rec->whole = sizeof(fh);
	*ret = rec;
	return 0;
}

int recorder_take(struct recorder *rec, const struct fs_header *h)
{
	struct frame fr = {.len = h->len, .crc = crc32(0, (const Bytef *)h, h->len)};

	if (rec->failed)
		return 0;
	if (fwrite(&fr, sizeof(fr), 1, rec->f) == 1 && fwrite(h, h->len, 1, rec->f) == 1 &&
	    (h->kind != FS_REC_TICK || !fflush(rec->f))) {
		if (h->kind == FS_REC_TICK)
			rec->whole = ftello(rec->f);
		return 0;
	}
	rec->failed = errno ? -errno : -EIO;
	return rec->failed;
}

int recorder_close(struct recorder *rec)
{
	int err = rec->failed;

	if (!err && fflush(rec->f))
		err = -errno;
	if (err) {
		int fd = fileno(rec->f);

		/* stdio may hold half a frame: cut back to what a look had flushed */
		if (ftruncate(fd, rec->whole))
			err = -errno;
	}
	fclose(rec->f);
	free(rec);
	return err;
}

struct replay {
	struct source src;
	FILE *f;
	unsigned long long offset, size;
	__u32 version; /* of its records */
	char *path;
	_Alignas(8) unsigned char block[FRAME_MAX];
};

/* Reads one frame. 0, 1 at the clean end, -EBADMSG with the error text set. */
static int read_frame(struct replay *rp)
{
	const struct fs_header *h = (const struct fs_header *)rp->block;
	unsigned long long left = rp->size - rp->offset;
	struct frame fr;

	if (!left)
		return 1;
	if (left < sizeof(fr) || fread(&fr, sizeof(fr), 1, rp->f) != 1) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: truncated at offset %llu: %llu bytes left of a frame header; all "
			 "before it was used",
			 rp->path, rp->offset, left);
		return -EBADMSG;
	}
	if (fr.len < sizeof(*h) || fr.len > FRAME_MAX) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: damaged at offset %llu: a frame claims %u bytes; all before it was "
			 "used",
			 rp->path, rp->offset, fr.len);
		return -EBADMSG;
	}
	if (left - sizeof(fr) < fr.len || fread(rp->block, fr.len, 1, rp->f) != 1) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: truncated at offset %llu: a frame of %u bytes has %llu left; all "
			 "before it was used",
			 rp->path, rp->offset, fr.len, left - sizeof(fr));
		return -EBADMSG;
	}
	if (crc32(0, rp->block, fr.len) != fr.crc || h->len != fr.len) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: damaged at offset %llu: checksum or length of a frame is wrong; all "
			 "before it was used",
			 rp->path, rp->offset);
		return -EBADMSG;
	}
	rp->offset += sizeof(fr) + fr.len;
	return 0;
}

/* What was not counted yet is zero; the hooks of the recording tell that it is not known. */
static void complete_record(struct replay *rp)
{
	struct fs_header *h = (struct fs_header *)rp->block;

	if (rp->version != 3 || h->kind != FS_REC_PROCESS || h->len != WHOLE_OF_3)
		return;
	memset(rp->block + WHOLE_OF_3, 0, MORE_THAN_3);
	h->len = sizeof(struct fs_process_record);
}

static struct replay *replay_of(struct source *src)
{
	return (struct replay *)src;
}

static int replay_look(struct source *src, const struct sink *sink)
{
	struct replay *rp = replay_of(src);
	const struct fs_header *h = (const struct fs_header *)rp->block;

	for (;;) {
		unsigned long long at = rp->offset;
		int err = read_frame(rp);

		if (err)
			return err;
		complete_record(rp);
		err = sink->take(sink->ctx, h);
		if (err == -EBADMSG)
			snprintf(src->error, sizeof(src->error),
				 "%s: damaged at offset %llu: record of kind %u has a wrong size; "
				 "all before it was used",
				 rp->path, at, h->kind);
		if (err)
			return err;
		if (h->kind == FS_REC_TICK)
			return 0;
	}
}

static int replay_nothing(struct source *src, const struct sink *sink)
{
	return 0;
}

static int replay_fd(struct source *src)
{
	return -1;
}

static void replay_close(struct source *src)
{
	struct replay *rp = replay_of(src);

	fclose(rp->f);
	free(rp->path);
	free(rp);
}

static const struct source_ops replay_ops = {
	.start = replay_nothing,
	.look = replay_look,
	.drain = replay_nothing,
	.fd = replay_fd,
	.close = replay_close,
};

static bool is_known_layout(const struct file_header *fh, const struct file_header *want)
{
	if (fh->wire_version == 3)
		return fh->record_sizes == want->record_sizes - MORE_THAN_3;
	return fh->wire_version == want->wire_version && fh->record_sizes == want->record_sizes;
}

/* Says in `error` why a file is no recording of ours. */
static int check_header(const char *path, const struct file_header *fh, size_t got, char *error,
			size_t size)
{
	struct file_header want;

	fill_file_header(&want);
	if (got < sizeof(*fh))
		snprintf(error, size,
			 "%s: truncated at offset %zu: a recording's header takes %zu bytes", path,
			 got, sizeof(*fh));
	else if (memcmp(fh->magic, want.magic, sizeof(want.magic)))
		snprintf(error, size, "%s: not a faultscope recording (offset 0: no magic)", path);
	else if (fh->byte_order != want.byte_order)
		snprintf(error, size,
			 "%s: recorded on a machine of the other byte order (offset 16)", path);
	else if (fh->format != want.format || !is_known_layout(fh, &want))
		snprintf(error, size,
			 "%s: format %u, records %u.%u (offset 8); this faultscope reads %u, %u.%u",
			 path, fh->format, fh->wire_version, fh->record_sizes, want.format,
			 want.wire_version, want.record_sizes);
	else
		return 0;
	return -EINVAL;
}

int replay_open(const char *path, struct source **ret, char *error, size_t size)
{
	struct replay *rp = calloc(1, sizeof(*rp));
	struct file_header fh = {};
	int err = -ENOMEM, fd;
	struct stat st;
	size_t got;

	if (!rp)
		return -ENOMEM;
	rp->src.ops = &replay_ops;
	rp->path = strdup(path);
	/* a FIFO without a writer is to be refused, not waited for */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rp->f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!rp->f || fstat(fd, &st)) {
		err = -errno;
		snprintf(error, size, "cannot read the recording %s: %s", path, strerror(errno));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		err = -EINVAL;
		snprintf(error, size, "%s: not a regular file: a recording is one", path);
		goto fail;
	}
	got = fread(&fh, 1, sizeof(fh), rp->f);
	err = check_header(path, &fh, got, error, size);
	if (err)
		goto fail;
	rp->version = fh.wire_version;
	rp->offset = sizeof(fh);
	rp->size = st.st_size;
	*ret = &rp->src;
	return 0;
fail:
	if (rp->f)
		fclose(rp->f);
	free(rp->path);
	free(rp);
	return err;
}
