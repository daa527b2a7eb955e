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
#include "probe/packed.h"

#define FORMAT_PLAIN  1
#define FORMAT_PACKED 2
#define FRAME_MAX     RECORD_BYTES_MAX
#define LAST_BYTES    256 /* kept free for a last chunk, which says that there was no more room */

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

static const char magic[] = "FSREC\r\n\032";

#define UP_TO(member)                                                                              \
	(offsetof(struct process_record, c) + offsetof(struct counters, member))

/* A process record only lacks what was added since. */
static size_t whole_of(__u32 version)
{
	return version <= 3   ? UP_TO(end_of_version_3)
	       : version <= 7 ? UP_TO(end_of_version_7)
			      : sizeof(struct process_record);
}

static void fill_file_header(struct file_header *fh, __u32 format)
{
	memset(fh, 0, sizeof(*fh));
	memcpy(fh->magic, magic, sizeof(fh->magic));
	fh->format = format;
	fh->wire_version = RECORDS_VERSION;
	fh->byte_order = 0x01020304;
	fh->record_sizes = sizeof(struct process_record) + sizeof(struct crossing_record) +
			   sizeof(struct refused_record) + sizeof(struct signal_record) +
			   sizeof(struct kernel_fault_record) + sizeof(struct host_record) +
			   sizeof(struct hook_record) + sizeof(struct tick_record) +
			   sizeof(struct names_record) + sizeof(struct symbol_record) +
			   sizeof(struct end_record) + sizeof(struct retry_record);
}

struct recorder {
	FILE *f;
	struct output_file file; /* whose descriptor is that of f */
	struct packer *packer;	 /* NULL: plain */
	unsigned long long max_bytes;
	off_t whole;   /* offset behind the last whole frame */
	__u64 last_ns; /* of what was taken */
	int failed;    /* -errno once a write failed */
};

/* Closes the file, by stdio, which owns its descriptor. Returns as output_file_end(). */
static int end_file(struct recorder *rec, int err)
{
	if (rec->f) {
		rec->file.fd = -1;
		if (fclose(rec->f) && !err)
			err = -errno;
	}
	return output_file_end(&rec->file, err);
}

static int recorder_make(const char *path, bool force, __u32 format, struct recorder **ret,
			 char *error, size_t size)
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
	fill_file_header(&fh, format);
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

int recorder_open(const char *path, bool force, struct recorder **ret, char *error, size_t size)
{
	return recorder_make(path, force, FORMAT_PLAIN, ret, error, size);
}

int recorder_open_packed(const char *path, bool force, unsigned long long max_bytes,
			 struct recorder **ret, char *error, size_t size)
{
	struct packer *packer = NULL;
	int err = packer_make(&packer);

	if (!err)
		err = recorder_make(path, force, FORMAT_PACKED, ret, error, size);
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

static int put_chunk(struct recorder *rec)
{
	const unsigned char *bytes;
	size_t len;
	int err = packer_end(rec->packer, &bytes, &len);

	if (err)
		return err;
	if (rec->max_bytes && rec->whole + len + LAST_BYTES > rec->max_bytes)
		return -EOVERFLOW;
	if (fwrite(bytes, len, 1, rec->f) != 1 || fflush(rec->f))
		return errno ? -errno : -EIO;
	rec->whole += len;
	return 0;
}

/* No more room: a chunk that stands alone says so. What it would have followed is not there. */
static int put_full(struct recorder *rec)
{
	struct end_record end = {.h = {RECORD_END, sizeof(end), rec->last_ns}, .reason = END_FULL};
	int err;

	packer_free(rec->packer);
	rec->packer = NULL;
	rec->max_bytes = 0;
	err = packer_make(&rec->packer);
	if (!err)
		err = packer_add(rec->packer, &end.h);
	return err ? err : put_chunk(rec);
}

static int take_packed(struct recorder *rec, const struct record *h)
{
	int err = packer_add(rec->packer, h);

	rec->last_ns = h->t_ns;
	if (!err && (h->kind == RECORD_TICK || packer_is_full(rec->packer)))
		err = put_chunk(rec);
	if (err == -EOVERFLOW) {
		err = put_full(rec);
		rec->failed = err ? err : -EOVERFLOW;
	} else {
		rec->failed = err;
	}
	return rec->failed;
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
	struct frame fr = {.len = h->len, .crc = crc32(0, (const Bytef *)h, h->len)};

	if (rec->failed)
		return 0;
	if (rec->packer)
		return take_packed(rec, h);
	if (fwrite(&fr, sizeof(fr), 1, rec->f) == 1 && fwrite(h, h->len, 1, rec->f) == 1 &&
	    (h->kind != RECORD_TICK || !fflush(rec->f))) {
		if (h->kind == RECORD_TICK)
			rec->whole = ftello(rec->f);
		return 0;
	}
	rec->failed = errno ? -errno : -EIO;
	return rec->failed;
}

int recorder_close(struct recorder *rec)
{
	int err = rec->failed;

	if (!err && rec->packer && packer_holds(rec->packer))
		err = put_chunk(rec);
	if (err == -EOVERFLOW) /* as asked: it says so at its end */
		err = rec->failed ? 0 : put_full(rec);
	if (!err && fflush(rec->f))
		err = -errno;
	if (err) {
		int fd = fileno(rec->f);

		/* stdio may hold half a frame: cut back to what a look had flushed */
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
	struct unpacker *unpacker; /* NULL: plain */
	unsigned char *payload;	   /* of a chunk */
	size_t payload_room;
	struct replay_facts facts;
	unsigned long long offset, size;
	char *path;
	_Alignas(8) unsigned char block[FRAME_MAX];
};

/* The first damage is told; all is counted. Returns -EBADMSG. */
static int note_damage(struct replay *rp, unsigned long long at, unsigned long long next)
{
	struct replay_facts *f = &rp->facts;

	if (!f->damages++)
		f->damage_offset = at;
	f->lost_bytes += next - at;
	return -EBADMSG;
}

/* Of packed recordings. */
static void note_lost_chunks(struct replay *rp, unsigned long long at, unsigned long long next)
{
	const struct replay_facts *f = &rp->facts;
	bool cut = next == rp->size && !f->damages;

	note_damage(rp, at, next);
	snprintf(rp->src.error, sizeof(rp->src.error),
		 "%s: %s at offset %llu: %llu bytes were lost%s; all %s it was used", rp->path,
		 cut ? "truncated or damaged" : "damaged", f->damage_offset, f->lost_bytes,
		 f->damages > 1 ? ", in several places" : "", cut ? "before" : "but");
}

/* Reads one frame. 0, 1 at the clean end, -EBADMSG with the error text set. */
static int read_frame(struct replay *rp)
{
	const struct record *h = (const struct record *)rp->block;
	unsigned long long left = rp->size - rp->offset;
	struct frame fr;

	if (!left)
		return 1;
	if (left < sizeof(fr) || fread(&fr, sizeof(fr), 1, rp->f) != 1) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: truncated at offset %llu: %llu bytes left of a frame header; all "
			 "before it was used",
			 rp->path, rp->offset, left);
		return note_damage(rp, rp->offset, rp->size);
	}
	if (fr.len < sizeof(*h) || fr.len > FRAME_MAX) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: damaged at offset %llu: a frame claims %u bytes; all before it was "
			 "used",
			 rp->path, rp->offset, fr.len);
		return note_damage(rp, rp->offset, rp->size);
	}
	if (left - sizeof(fr) < fr.len || fread(rp->block, fr.len, 1, rp->f) != 1) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: truncated at offset %llu: a frame of %u bytes has %llu left; all "
			 "before it was used",
			 rp->path, rp->offset, fr.len, left - sizeof(fr));
		return note_damage(rp, rp->offset, rp->size);
	}
	if (crc32(0, rp->block, fr.len) != fr.crc || h->len != fr.len) {
		snprintf(rp->src.error, sizeof(rp->src.error),
			 "%s: damaged at offset %llu: checksum or length of a frame is wrong; all "
			 "before it was used",
			 rp->path, rp->offset);
		return note_damage(rp, rp->offset, rp->size);
	}
	rp->offset += sizeof(fr) + fr.len;
	return 0;
}

/* What was not counted yet is zero, where hooks tell that it is not known; else NOT_COUNTED. */
static void complete_record(struct replay *rp)
{
	struct record *h = (struct record *)rp->block;
	size_t has = whole_of(rp->facts.wire_version), counted = UP_TO(end_of_version_7);

	if (h->kind != RECORD_PROCESS || h->len != has || has == sizeof(struct process_record))
		return;
	if (has < counted)
		memset(rp->block + has, 0, counted - has);
	memset(rp->block + counted, 0xff, sizeof(struct process_record) - counted);
	h->len = sizeof(struct process_record);
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

/* Reads the payload of a chunk whose header is at rp->offset. 0, -EBADMSG where it is not whole. */
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

/* Where the next chunk begins that stands alone; rp->size where there is none. */
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

/* Reads the next chunk that can be read. 0, 1 at the clean end, -EBADMSG at one that is not. */
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

/* The next record, into rp->block. As read_frame(). */
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
	memcpy(rp->block, h, h->len);
	return 0;
}

/* Whether the last record is one that says that it is. */
static void note_end(struct replay *rp)
{
	const struct end_record *end = (const struct end_record *)rp->block;

	rp->facts.ended = end->h.kind == RECORD_END && end->h.len == sizeof(*end);
	rp->facts.reason = rp->facts.ended ? end->reason : 0;
}

static int read_record(struct replay *rp)
{
	const struct record *h = (const struct record *)rp->block;
	int err = rp->unpacker ? read_packed(rp) : read_frame(rp);

	rp->facts.read_bytes = rp->offset;
	rp->facts.at_end = err == 1;
	if (!err) {
		rp->facts.records++;
		rp->facts.record_bytes += h->len;
		note_end(rp);
	}
	return err;
}

static int replay_look(struct source *src, const struct sink *sink)
{
	struct replay *rp = replay_of(src);
	const struct record *h = (const struct record *)rp->block;

	for (;;) {
		unsigned long long at = rp->offset;
		int err = read_record(rp);

		if (err)
			return err;
		complete_record(rp);
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

static const struct source_ops replay_ops = {
	.start = replay_nothing,
	.look = replay_look,
	.drain = replay_nothing,
	.fd = replay_fd,
	.close = replay_close,
};

static bool is_known_layout(const struct file_header *fh, const struct file_header *want)
{
	__u32 version = fh->wire_version, sizes = want->record_sizes;

	sizes -= sizeof(struct process_record) - whole_of(version);
	if (version < 7)
		sizes -= sizeof(struct retry_record); /* there were none */
	return version >= 3 && version != 4 && version <= want->wire_version &&
	       fh->record_sizes == sizes;
}

/* Says in `error` why a file is no recording of ours. */
static int check_header(const char *path, const struct file_header *fh, size_t got, char *error,
			size_t size)
{
	struct file_header want;

	fill_file_header(&want, fh->format);
	if (!got)
		snprintf(error, size, "%s: truncated at offset 0: the file is empty", path);
	else if (memcmp(fh->magic, want.magic, got < sizeof(magic) ? got : sizeof(magic)))
		snprintf(error, size, "%s: not a faultscope recording (offset 0: no magic)", path);
	else if (got < sizeof(*fh))
		snprintf(error, size,
			 "%s: truncated at offset %zu: a recording's header takes %zu bytes", path,
			 got, sizeof(*fh));
	else if (fh->byte_order != want.byte_order)
		snprintf(error, size,
			 "%s: recorded on a machine of the other byte order (offset 16)", path);
	else if (fh->format < FORMAT_PLAIN || fh->format > FORMAT_PACKED ||
		 !is_known_layout(fh, &want))
		snprintf(error, size,
			 "%s: format %u, records %u.%u (offset 8); this faultscope reads %u to %u, "
			 "%u.%u",
			 path, fh->format, fh->wire_version, fh->record_sizes, FORMAT_PLAIN,
			 FORMAT_PACKED, want.wire_version, want.record_sizes);
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
	if (fh.format == FORMAT_PACKED) {
		err = unpacker_make(&rp->unpacker);
		if (err) {
			snprintf(error, size, "out of memory");
			goto fail;
		}
	}
	rp->offset = sizeof(fh);
	rp->size = rp->facts.bytes = st.st_size;
	rp->facts.format = fh.format;
	rp->facts.wire_version = fh.wire_version;
	*ret = &rp->src;
	return 0;
fail:
	if (rp->f)
		fclose(rp->f);
	free(rp->path);
	free(rp);
	return err;
}
