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

#include "base/output_file.h"
#include "base/units.h"
#include "probe/record_packing.h"
#include "probe/record_layout.h"

#define FORMAT	   3
#define LAST_BYTES 256 /* reserved for the last chunk, which says that the recording is full */

struct file_header {
	char magic[8];
	__u32 format;
	__u32 byte_order; /* the number 0x01020304 in the writer's byte order */
};

static const char magic[] = "FSREC\r\n\032";

static void fill_file_header(struct file_header *fh)
{
	*fh = (struct file_header){.format = FORMAT, .byte_order = 0x01020304};
	memcpy(fh->magic, magic, sizeof(fh->magic));
}

void recording_header(unsigned char ret[RECORDING_HEADER_BYTES])
{
	struct file_header fh;

	_Static_assert(sizeof(fh) == RECORDING_HEADER_BYTES, "the header of the format");
	fill_file_header(&fh);
	memcpy(ret, &fh, sizeof(fh));
}

struct recorder {
	FILE *f;
	struct output_file file; /* the file being written; `f` owns its fd */
	struct packer *packer;
	unsigned long long max_bytes;
	off_t whole;   /* offset of the end of the last complete chunk */
	off_t fields;  /* bytes of the list of fields, written in front of the next chunk */
	__u64 last_ns; /* time of the last record written */
	int failed;    /* 0, or -errno of a failed write */
};

/* Closes the file through stdio, which owns its fd. Returns the result of output_file_end(). */
static int end_file(struct recorder *rec, int err)
{
	if (rec->f) {
		rec->file.fd = -1;
		if (fclose(rec->f) && !err)
			err = -errno;
	}
	return output_file_end(&rec->file, err);
}

static int recorder_make(const char *path, bool force, struct recorder **ret, char *error,
			 size_t size)
{
	struct recorder *rec = calloc(1, sizeof(*rec));
	struct file_header fh;
	int err;

	if (!rec)
		return -ENOMEM;
	err = (force ? output_file_open : output_file_make)(&rec->file, path, 0600);
	if (err) {
		if (err == -EEXIST)
			snprintf(error, size, "%s exists already\n  give another name, or --force",
				 path);
		else
			snprintf(error, size, "cannot make the recording %s: %s", path,
				 output_file_error(err));
		free(rec);
		return err;
	}
	rec->f = fdopen(rec->file.fd, "w");
	fill_file_header(&fh);
	if (!rec->f || fwrite(&fh, sizeof(fh), 1, rec->f) != 1 || fflush(rec->f)) {
		err = errno ? -errno : -EIO;
		snprintf(error, size, "cannot write the recording %s: %s", path, strerror(-err));
		end_file(rec, err);
		free(rec);
		return err;
	}
	rec->whole = sizeof(fh);
	*ret = rec;
	return 0;
}

int recorder_open_capped(const char *path, bool force, unsigned long long max_bytes,
			 struct recorder **ret, char *error, size_t size)
{
	struct packer *packer = NULL;
	int err = packer_make(&packer);

	if (!err)
		err = recorder_make(path, force, ret, error, size);
	if (err) {
		if (err == -ENOMEM)
			snprintf(error, size, "out of memory");
		packer_free(packer);
		return err;
	}
	(*ret)->packer = packer;
	(*ret)->max_bytes = max_bytes;
	return 0;
}

int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size)
{
	return recorder_open_capped(path, force, 0, ret, error, size);
}

static int put_chunk(struct recorder *rec)
{
	const unsigned char *bytes;
	size_t fields, len;
	int err = packer_fields(rec->packer, &bytes, &fields);

	if (!err && fields && fwrite(bytes, fields, 1, rec->f) != 1)
		err = errno ? -errno : -EIO;
	rec->fields += fields;
	if (!err)
		err = packer_end(rec->packer, &bytes, &len);
	if (err)
		return err;
	if (rec->max_bytes && rec->whole + rec->fields + len + LAST_BYTES > rec->max_bytes)
		return -EOVERFLOW;
	if (fwrite(bytes, len, 1, rec->f) != 1 || fflush(rec->f))
		return errno ? -errno : -EIO;
	rec->whole += rec->fields + len;
	rec->fields = 0;
	return 0;
}

/*
 * If a chunk would make the file larger than its maximum, a last key chunk with END_FULL is written
 * instead.
 */
static int put_full(struct recorder *rec)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), rec->last_ns}, .reason = END_FULL};
	int err;

	packer_begin_anew(rec->packer);
	rec->max_bytes = 0;
	err = packer_add(rec->packer, &end.h);
	return err ? err : put_chunk(rec);
}

unsigned long long recorder_bytes(const struct recorder *rec)
{
	return rec->whole;
}

bool recorder_is_empty(const struct recorder *rec)
{
	return rec->whole <= (off_t)sizeof(struct file_header);
}

int recorder_take(struct recorder *rec, const struct record *h)
{
	int err;

	if (rec->failed)
		return 0;
	err = packer_add(rec->packer, h);
	rec->last_ns = h->t_ns;
	if (!err && (h->kind == RECORD_TICK || packer_is_full(rec->packer)))
		err = put_chunk(rec);
	rec->failed = err;
	if (err == -EOVERFLOW) {
		err = put_full(rec);
		rec->failed = err ? err : -EOVERFLOW;
	}
	return rec->failed;
}

int recorder_close(struct recorder *rec)
{
	int err = rec->failed;

	if (!err && packer_holds(rec->packer))
		err = put_chunk(rec);
	if (err == -EOVERFLOW) /* no error: the last chunk says that the recording is full */
		err = rec->failed ? 0 : put_full(rec);
	if (!err && fflush(rec->f))
		err = -errno;
	if (err) {
		int fd = fileno(rec->f);

		/* Truncates to the last complete chunk: stdio may have written half of one. */
		if (ftruncate(fd, rec->whole))
			err = -errno;
	}
	err = end_file(rec, err);
	packer_free(rec->packer);
	free(rec);
	return err;
}

int recorder_publish(struct recorder *rec)
{
	return output_file_publish(&rec->file);
}

void recorder_discard(struct recorder *rec)
{
	end_file(rec, -ECANCELED);
	packer_free(rec->packer);
	free(rec);
}

struct replay {
	struct source src;
	FILE *f;
	struct unpacker *unpacker;
	bool has_reported_unknown; /* fields that are unknown to this version were already sent */
	unsigned char *payload;	   /* deflated payload of the current chunk */
	size_t payload_room;
	struct replay_facts facts;
	unsigned long long offset, size;
	char *path;
	_Alignas(8) unsigned char block[RECORD_BYTES_MAX];
};

/* Counts a damaged part, and keeps the offset of the first one. Returns -EBADMSG. */
static int note_damage(struct replay *rp, unsigned long long at, unsigned long long next)
{
	struct replay_facts *f = &rp->facts;

	if (!f->damages++)
		f->damage_offset = at;
	f->lost_bytes += next - at;
	return -EBADMSG;
}

static void note_lost_chunks(struct replay *rp, unsigned long long at, unsigned long long next)
{
	const struct replay_facts *f = &rp->facts;
	bool cut = next == rp->size && !f->damages;

	note_damage(rp, at, next);
	snprintf(rp->src.error, sizeof(rp->src.error),
		 "%s: %s at offset %llu: %llu %s lost%s; all %s it was used", rp->path,
		 cut ? "truncated or damaged" : "damaged", f->damage_offset, f->lost_bytes,
		 as_words(f->lost_bytes, "byte{ was|s were}").s,
		 f->damages > 1 ? ", in several places" : "", cut ? "before" : "but");
}

static struct replay *replay_of(struct source *src)
{
	return (struct replay *)src;
}

static int seek_to(struct replay *rp, unsigned long long offset)
{
	rp->offset = offset;
	return fseeko(rp->f, offset, SEEK_SET) ? -errno : 0;
}

/* Reads the payload of the chunk at rp->offset. Returns 0, -ENOMEM, or -EBADMSG if damaged. */
static int read_payload(struct replay *rp, const struct chunk_header *ch)
{
	unsigned long long left = rp->size - rp->offset - sizeof(*ch);

	if (ch->packed_bytes > left)
		return -EBADMSG;
	if (ch->packed_bytes > rp->payload_room) {
		unsigned char *more = realloc(rp->payload, ch->packed_bytes);

		if (!more)
			return -ENOMEM;
		rp->payload = more;
		rp->payload_room = ch->packed_bytes;
	}
	if (fread(rp->payload, 1, ch->packed_bytes, rp->f) != ch->packed_bytes)
		return -EBADMSG;
	return unpacker_take(rp->unpacker, ch, rp->payload);
}

/* Returns the offset of the next key chunk, or rp->size if there is none. */
static unsigned long long find_key(struct replay *rp, unsigned long long from)
{
	unsigned char window[65536];
	struct chunk_header ch;

	while (from + sizeof(ch) <= rp->size && !fseeko(rp->f, from, SEEK_SET)) {
		size_t n = fread(window, 1, sizeof(window), rp->f);

		if (n < sizeof(ch))
			break;
		for (size_t i = 0; i + sizeof(ch) <= n; i++) {
			memcpy(&ch, window + i, sizeof(ch));
			if (ch.magic == CHUNK_MAGIC && chunk_header_is_good(&ch) &&
			    ch.flags & CHUNK_KEY)
				return from + i;
		}
		from += n - sizeof(ch) + 1;
	}
	return rp->size;
}

/* Reads the next readable chunk. Returns 0, 1 at the end of the file, -EBADMSG at a damaged end. */
static int read_chunk(struct replay *rp)
{
	struct chunk_header ch;
	int err;

	for (;;) {
		unsigned long long left = rp->size - rp->offset, next;

		if (!left)
			return rp->facts.damages ? -EBADMSG : 1;
		err = left < sizeof(ch) || fread(&ch, sizeof(ch), 1, rp->f) != 1 ||
				      !chunk_header_is_good(&ch)
			      ? -EBADMSG
			      : read_payload(rp, &ch);
		if (!err) {
			rp->facts.raw_bytes += ch.raw_bytes;
			rp->facts.chunks++;
			rp->offset += sizeof(ch) + ch.packed_bytes;
			return 0;
		}
		if (err != -EBADMSG)
			return err;
		next = find_key(rp, rp->offset + 1);
		note_lost_chunks(rp, rp->offset, next);
		err = seek_to(rp, next);
		if (err)
			return err;
	}
}

/* Reads the next record into rp->block. Returns 0, 1 or -errno, as read_chunk() does. */
static int read_packed(struct replay *rp)
{
	struct record *h;
	int err;

	while ((err = unpacker_next(rp->unpacker, &h))) {
		unsigned long long at = rp->offset;

		if (err == -EBADMSG) {
			unsigned long long next = find_key(rp, at);

			note_lost_chunks(rp, at, next);
			err = seek_to(rp, next);
		}
		if (err < 0)
			return err;
		err = read_chunk(rp);
		if (err)
			return err;
	}
	memcpy(rp->block, h, h->len + h->extra);
	return 0;
}

/* Notes whether the last record was an end record. */
static void note_end(struct replay *rp)
{
	const struct end_record *end = (const struct end_record *)rp->block;

	rp->facts.ended = end->h.kind == RECORD_END && end->h.len == sizeof(*end);
	rp->facts.reason = rp->facts.ended ? end->reason : 0;
}

static int read_record(struct replay *rp)
{
	const struct record *h = (const struct record *)rp->block;
	int err = read_packed(rp);

	rp->facts.read_bytes = rp->offset;
	rp->facts.at_end = err == 1;
	if (!err) {
		rp->facts.records++;
		rp->facts.record_bytes += h->len;
		note_end(rp);
	}
	return err;
}

/* Sends the fields that this version does not know, so that a copy of the recording keeps them. */
static int tell_unknown(struct replay *rp, const struct sink *sink)
{
	struct field_record r;
	int err = 0;

	for (size_t i = 0;
	     !err && !rp->has_reported_unknown && unpacker_unknown(rp->unpacker, i, &r); i++)
		err = sink->take(sink->ctx, &r.h);
	rp->has_reported_unknown = true;
	return err;
}

static int replay_scan(struct source *src, const struct sink *sink)
{
	struct replay *rp = replay_of(src);
	const struct record *h = (const struct record *)rp->block;

	for (;;) {
		unsigned long long at = rp->offset;
		int err = read_record(rp);

		if (err)
			return err;
		err = tell_unknown(rp, sink);
		if (!err)
			err = sink->take(sink->ctx, h);
		if (err == -EBADMSG) {
			snprintf(src->error, sizeof(src->error),
				 "%s: damaged at offset %llu: record of kind %u has a wrong size; "
				 "all before it was used",
				 rp->path, at, h->kind);
			note_damage(rp, at, rp->size);
		}
		if (err)
			return err;
		if (h->kind == RECORD_TICK)
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
	unpacker_free(rp->unpacker);
	free(rp->payload);
	free(rp->path);
	free(rp);
}

const struct replay_facts *replay_facts(const struct source *src)
{
	return &((const struct replay *)src)->facts;
}

__u64 replay_last_ns(const struct source *src)
{
	const struct replay *rp = (const struct replay *)src;
	unsigned long long at = sizeof(struct file_header);
	int fd = fileno(rp->f);
	struct chunk_header ch;
	__u64 last = 0;

	while (pread(fd, &ch, sizeof(ch), at) == sizeof(ch) && chunk_header_is_good(&ch) &&
	       at + sizeof(ch) + ch.packed_bytes <= rp->size) {
		last = ch.flags & CHUNK_FIELDS ? last : ch.t_ns;
		at += sizeof(ch) + ch.packed_bytes;
	}
	return last;
}

static const struct source_ops replay_ops = {
	.start = replay_nothing,
	.look = replay_scan,
	.drain = replay_nothing,
	.fd = replay_fd,
	.close = replay_close,
};

/* Checks that this version can read the file. Returns 0, or -EINVAL with the reason in `error`. */
static int check_header(const char *path, const struct file_header *fh, size_t got, char *error,
			size_t size)
{
	struct file_header want;

	fill_file_header(&want);
	if (!got)
		snprintf(error, size, "%s: truncated at offset 0: the file is empty", path);
	else if (memcmp(fh->magic, want.magic, got < sizeof(fh->magic) ? got : sizeof(fh->magic)))
		snprintf(error, size, "%s: not a faultscope recording (offset 0: no magic)", path);
	else if (got < sizeof(*fh))
		snprintf(error, size,
			 "%s: truncated at offset %zu: a recording's header takes %zu bytes", path,
			 got, sizeof(*fh));
	else if (fh->byte_order == 0x04030201)
		snprintf(error, size,
			 "%s: recorded on a machine of the other byte order (offset 12)", path);
	else if (fh->format != FORMAT || fh->byte_order != want.byte_order)
		snprintf(error, size, "%s: format %u (offset 8); this faultscope reads %u", path,
			 fh->format, FORMAT);
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
	if (!rp->path) {
		free(rp);
		return -ENOMEM;
	}
	/* without O_NONBLOCK, open() of a FIFO would wait for a writer */
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
	err = unpacker_make(&rp->unpacker);
	if (err) {
		snprintf(error, size, "out of memory");
		goto fail;
	}
	rp->offset = sizeof(fh);
	rp->size = rp->facts.bytes = st.st_size;
	rp->facts.format = fh.format;
	*ret = &rp->src;
	return 0;
fail:
	if (rp->f)
		fclose(rp->f);
	else if (fd >= 0)
		close(fd);
	free(rp->path);
	free(rp);
	return err;
}
