// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes triage: the bytes are read as kernel logs, and the diagnosis is passed to every renderer.
 * With `make fuzz`, libFuzzer makes the bytes; with `make check`, the seed files are the input. The
 * first byte is the number of logs. The other bytes are divided among them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "render/completeness.h"
#include "render/crash/crash_view.h"
#include "triage/condense.h"

#define INPUTS_MAX 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const struct triage *t, size_t inputs)
{
	static const char *const names[INPUTS_MAX] = {"a", "b", "c", "d"};
	struct view v = {.width = 100, .unicode = true};
	struct buf b = {}, gaps = {};
	struct triage_view tv = {
		.v = &v, .name = names, .names = inputs, .explain = true, .gaps = &gaps};

	triage_text(&b, &tv, t);
	triage_json(&b, &tv, t);
	gap_add(&gaps, "not read: %s", "more than 64 MiB");
	triage_text(&b, &tv, t);
	triage_json(&b, &tv, t);
	tv.redact = true;
	triage_markdown(&b, &tv, t);
	buf_free(&gaps);
	buf_free(&b);
}

/* Reads the bytes as a log that does not fit into memory, and the condensed log. */
static void run_condensed(const char *data, size_t size)
{
	struct condenser c;
	struct triage t;

	condenser_make(&c);
	if (!condense(&c, data, size / 2) && !condense(&c, data + size / 2, size - size / 2) &&
	    !condense_end(&c)) {
		struct triage_input in = {"log", c.kept, c.kept_bytes, c.skip, c.skips};

		if (!triage_run(&t, &in, 1))
			triage_free(&t);
	}
	condenser_free(&c);
}

/* Decodes the bytes as each compressed format. */
static void run_unpackers(const char *data, size_t size)
{
	static const enum packing packings[] = {PACKING_BZIP2, PACKING_LZ4};
	const struct unpack_caps caps = {1 << 20, 32 << 20};

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		char *made = NULL;
		size_t length;
		bool partial;

		if (!unpack(packings[i], data, size, &caps, &made, &length, &partial))
			free(made);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triage_input in[INPUTS_MAX] = {};
	size_t inputs = size ? data[0] % INPUTS_MAX + 1 : 1, each;
	struct triage t;

	if (size) {
		data++;
		size--;
	}
	run_condensed((const char *)data, size);
	run_unpackers((const char *)data, size);
	each = size / inputs;
	for (size_t i = 0; i < inputs; i++)
		in[i] = (struct triage_input){"log", (const char *)data + i * each, each};
	if (triage_run(&t, in, inputs))
		return 0;
	render(&t, inputs);
	triage_free(&t);
	return 0;
}

#ifndef FUZZER
static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	static uint8_t data[4 << 20];
	uint8_t *exact;
	size_t size;

	if (!f)
		return 1;
	size = fread(data + 1, 1, sizeof(data) - 1, f) + 1;
	fclose(f);
	/* each round cuts more bytes off the end of the log */
	for (size_t cut = size; cut; cut -= cut / 7 + 1) {
		exact = malloc(cut);
		if (!exact)
			return 1;
		memcpy(exact, data, cut);
		exact[0] = cut;
		LLVMFuzzerTestOneInput(exact, cut);
		free(exact);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		bool good = !run_file(argv[i]);

		failed += !good;
		printf("%sok %d - %s\n", good ? "" : "not ", i, strrchr(argv[i], '/') + 1);
	}
	printf("1..%d\n", argc - 1);
	return failed > 0 || argc < 2;
}
#endif
