// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes the reader of recordings, and the reports made from them. The first input byte sets how
 * the other input bytes are used:
 *
 * R: They are a recording file, and are read unchanged.
 *
 * F: They are a recording file whose checksums are corrected first, so that the code after the
 * checksum tests runs.
 *
 * C: They are the uncompressed content of a chunk, which follows a valid list of fields.
 *
 * L: They are a list of fields, a NUL, and the uncompressed content of a chunk.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "collect/collector.h"
#include "probe/record_packing.h"
#include "model/samples.h"
#include "probe/recording.h"
#include "render/diff.h"
#include "render/formats/formats.h"

#define FILE_HEADER 16
#define LOOKS_MAX   64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

/* The start of a valid recording, including its list of fields. */
static unsigned char begin[16384];
static size_t begin_size;

static void make_begin(void)
{
	char path[] = "/tmp/recording_fuzz_XXXXXX", error[512];
	struct end_record end = {.h = {RECORD_END, sizeof(end), 1}};
	struct chunk_header ch;
	struct recorder *rec;
	int fd = mkstemp(path);

	if (fd < 0 || recorder_open(path, true, &rec, error, sizeof(error)) ||
	    recorder_take(rec, &end.h) || recorder_close(rec))
		abort();
	close(fd);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, begin, sizeof(begin)) < (ssize_t)(FILE_HEADER + sizeof(ch)))
		abort();
	close(fd);
	unlink(path);
	memcpy(&ch, begin + FILE_HEADER, sizeof(ch));
	begin_size = FILE_HEADER + sizeof(ch) + ch.packed_bytes;
}

static void repair_chunk(unsigned char *s, size_t packed)
{
	struct chunk_header ch;

	memcpy(&ch, s, sizeof(ch));
	ch.magic = CHUNK_MAGIC;
	ch.packed_bytes = packed;
	ch.payload_crc = crc32(0, s + sizeof(ch), packed);
	memcpy(s, &ch, sizeof(ch));
	ch.header_crc = crc32(0, s + 8, sizeof(ch) - 8);
	memcpy(s, &ch, sizeof(ch));
}

static void repair_chunks(unsigned char *s, size_t size)
{
	struct chunk_header ch;

	for (size_t at = FILE_HEADER; at + sizeof(ch) <= size; at += sizeof(ch) + ch.packed_bytes) {
		memcpy(&ch, s + at, sizeof(ch));
		if (ch.packed_bytes > size - at - sizeof(ch))
			return;
		repair_chunk(s + at, ch.packed_bytes);
	}
}

/* Writes a chunk with `data` as its content at offset `at`. Returns the offset after the chunk. */
static size_t put_chunk(unsigned char *to, size_t at, size_t room, uint32_t flags,
			const uint8_t *data, size_t size)
{
	struct chunk_header ch = {.raw_bytes = size, .flags = flags};
	uLongf packed = room - at - sizeof(ch);

	memcpy(to + at, &ch, sizeof(ch));
	if (compress2(to + at + sizeof(ch), &packed, data, size, 1) != Z_OK)
		return at;
	repair_chunk(to + at, packed);
	return at + sizeof(ch) + packed;
}

/*
 * Writes two chunks. The first has the bytes before the first NUL, as a list of fields; the second
 * has the other bytes, as records.
 */
static size_t put_fields(unsigned char *to, size_t room, const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size);
	size_t fields = nul ? (size_t)(nul - data) : size, at;

	at = put_chunk(to, FILE_HEADER, room, CHUNK_FIELDS, data, fields);
	return nul ? put_chunk(to, at, room, CHUNK_KEY, nul + 1, size - fields - 1) : at;
}

static size_t make_file(unsigned char *to, size_t room, const uint8_t *data, size_t size)
{
	if (!begin_size)
		make_begin();
	memcpy(to, begin, begin_size);
	if (data[0] == 'C')
		return put_chunk(to, begin_size, room, CHUNK_KEY, data + 1, size - 1);
	if (data[0] == 'L')
		return put_fields(to, room, data + 1, size - 1);
	memcpy(to, data + 1, size - 1);
	if (data[0] != 'F' || size - 1 < FILE_HEADER)
		return size - 1;
	memcpy(to, begin, FILE_HEADER);
	repair_chunks(to, size - 1);
	return size - 1;
}

struct reading {
	struct model m;
	struct collector c;
	struct findings findings;
	struct history h;
	struct samples samples;
	struct view view;
	struct story_view story;
	struct buf out;
};

static void take_window(struct reading *r)
{
	findings_judge_events(&r->findings, &r->m);
	findings_judge(&r->findings, &r->m);
	for (size_t i = 0; i < r->m.events; i++)
		json_renderer.event(&r->out, &r->view, &r->m.event[i]);
	json_renderer.frame(&r->out, &r->view);
	if (history_add_scan(&r->h, &r->m))
		abort();
	model_next_window(&r->m);
	findings_next_window(&r->findings);
	buf_clear(&r->out);
}

static void tell(struct reading *r)
{
	struct diff *d = NULL;

	if (history_end(&r->h, &r->m) || diff_make(&d, &r->story, &r->story))
		abort();
	diff_text(&r->out, d, &r->view, 20);
	diff_json(&r->out, d, &r->view);
	diff_free(d);
	info_text(&r->out, &r->story);
	info_json(&r->out, &r->story);
	json_renderer.open(&r->out, &r->view);
	json_renderer.close(&r->out, &r->view);
	diagnosis_renderer.close(&r->out, &r->view);
	for (size_t i = 0; i < nr_report_formats; i++)
		if (report_formats[i].make) {
			buf_clear(&r->out);
			report_formats[i].make(&r->out, &r->story);
		}
}

static void read_all(struct source *src)
{
	struct reading *r = calloc(1, sizeof(*r));
	struct sink sink = {.take = collector_take};
	int looks = 0;

	if (!r || model_init(&r->m) || history_init(&r->h))
		abort();
	r->c.m = &r->m;
	r->m.samples = &r->samples;
	sink.ctx = &r->c;
	r->findings.keep_cleared = true;
	r->view = (struct view){.m = &r->m,
				.findings = &r->findings,
				.width = 100,
				.top = 20,
				.unicode = true,
				.command = true};
	r->story =
		(struct story_view){.v = &r->view, .h = &r->h, .file = {.name = "f", .error = ""}};
	while (looks++ < LOOKS_MAX && !src->ops->look(src, &sink))
		take_window(r);
	tell(r);
	buf_free(&r->out);
	collector_free(&r->c);
	findings_free(&r->findings);
	history_free(&r->h);
	samples_free(&r->samples);
	model_free(&r->m);
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char bytes[1 << 18];
	struct source *src = NULL;
	char path[64], error[512];
	size_t n;

	if (!size || size > sizeof(bytes) / 2)
		return 0;
	if (file < 0)
		file = memfd_create("recording", 0);
	n = make_file(bytes, sizeof(bytes), data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (file < 0 || ftruncate(file, 0) || pwrite(file, bytes, n, 0) != (ssize_t)n)
		abort();
	if (replay_open(path, &src, error, sizeof(error)))
		return 0;
	read_all(src);
	src->ops->close(src);
	return 0;
}
