// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fuzzes the search for flight recorder records. Renderers print all records that it finds. */
#include <stdlib.h>
#include <string.h>

#include "render/crash/kernel_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Checks that a record is unchanged after it is encoded and decoded: once in binary form, once as a
 * line of a log.
 */
static void check_record(const struct bb_record *r)
{
	struct bb_record back;
	uint8_t bytes[BB_RECORD_MAX];
	char line[BB_LINE_MAX], value[64];
	size_t n = bb_encode(r, bytes);

	if (bb_decode(bytes, n, &back) != (int)n || strcmp(back.text, r->text))
		abort();
	bb_get(r, "symbol", value, sizeof(value));
	bb_encode_line(r, line);
	if (!strpbrk(r->text, "\n~") && bb_decode_line(line, strlen(line), &back))
		abort();
}

/*
 * Corrects the checksum of each record whose header is valid, because random bytes rarely have a
 * matching checksum.
 */
static void mend(uint8_t *data, size_t size)
{
	struct bb_record r = {.sequence = 1};

	for (size_t i = 0; i + BB_RECORD_MAX <= size; i++)
		if (data[i] == 'F' && data[i + 1] == 'S') {
			r.sequence += data[i + 2];
			r.boot_id[0] = data[i + 3] & 3;
			r.class = data[i + 4] % NR_BB_CLASSES;
			memcpy(r.text, data + i + 5, 64);
			r.text[64] = 0;
			bb_encode(&r, data + i);
			i += BB_HEAD_BYTES;
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct view v = {.width = 100};
	uint8_t *copy = malloc(size + 1);
	struct bb_found f = {};
	struct buf b = {};

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mend(copy, size);
	bb_scan(&f, copy, size);
	bb_found_settle(&f);
	for (size_t i = 0; i < f.n; i++)
		check_record(&f.record[i]);
	blackbox_text(&b, &v, &f);
	blackbox_json(&b, &f);
	buf_free(&b);
	bb_found_free(&f);
	free(copy);
	return 0;
}
