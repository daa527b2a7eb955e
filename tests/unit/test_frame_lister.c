// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the records that list the frames of a stack: the numbers of texts, how frames are divided
 * among records, places of source lines, and errors of the consumer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/symbols/frame_lister.h"
#include "tap.h"

#define RECORDS_MOST 16
#define TEXT_MOST    511 /* bytes of a text; longer texts are cut */

static struct frame_lister lister;
static struct frame_list_record sent[RECORDS_MOST];
static size_t records;
static size_t fails_at; /* number of the record with which the consumer fails; 0: none */

static int take(void *ctx, const struct record *h)
{
	if (ctx != sent || records == RECORDS_MOST)
		abort();
	memcpy(&sent[records++], h, sizeof(sent[0]));
	return records == fails_at ? -EPIPE : 0;
}

static void begin(void)
{
	static const struct sink sink = {.take = take, .ctx = sent};
	const struct process_key subject = {.pid = 10, .start_ns = 7};

	records = fails_at = 0;
	memset(&lister, 0x55, sizeof(lister));
	frame_lister_begin(&lister, &sink, 99, &subject, -3);
}

static void add(const char *function, const char *file, const char *module)
{
	frame_lister_add(&lister, &(struct listed_frame){
					  .function = function, .file = file, .module = module});
}

static void is_record(size_t i, uint32_t first, uint32_t n, const char *texts)
{
	const struct frame_list_record *r = &sent[i];

	ok(r->h.kind == RECORD_FRAME_LIST && r->h.len == sizeof(*r) && r->h.t_ns == 99 &&
		   r->subject.pid == 10 && r->subject.start_ns == 7 && r->stack == -3,
	   "record %zu is of the stack", i);
	is_u64(r->first, first, "its first frame");
	is_u64(r->n, n, "number of its frames");
	if (texts)
		is_str(r->texts, texts, "its texts");
	for (uint32_t k = n; k < LISTED_FRAMES; k++)
		if (r->frame[k].function || r->frame[k].offset || r->frame[k].kind)
			ok(false, "frame %u behind the last one is empty", k);
}

static void test_texts(void)
{
	const struct frame_facts *f = sent[0].frame;

	begin();
	frame_lister_add(&lister, &(struct listed_frame){.function = "main",
							 .file = "/a.c",
							 .module = "app",
							 .offset = 0x1234,
							 .line = 57,
							 .kind = FRAME_PYTHON,
							 .flags = FRAME_USER | FRAME_INLINED});
	add("mai", NULL, "app");
	add("", "main", "mainly");
	add("a\nb", "a?b", NULL);
	add(NULL, NULL, NULL);
	is_u64(frame_lister_end(&lister), 0, "a list");
	is_u64(records, 1, "is one record");
	is_record(0, 0, 5, "main\n/a.c\napp\nmai\nmainly\na?b\n");
	ok(f[0].function == 1 && f[0].file == 2 && f[0].module == 3 && f[0].offset == 0x1234 &&
		   f[0].line == 57 && f[0].kind == FRAME_PYTHON &&
		   f[0].flags == (FRAME_USER | FRAME_INLINED),
	   "a frame");
	ok(f[1].function == 4 && !f[1].file && f[1].module == 3, "a text that begins another one");
	ok(!f[2].function && f[2].file == 1 && f[2].module == 5, "a text that was there before");
	ok(f[3].function == 6 && f[3].file == 6, "a newline is replaced before texts are compared");
	ok(!f[4].function && !f[4].file && !f[4].module && !f[4].line, "unknown texts");
}

static void test_long_texts(void)
{
	char text[600];

	for (size_t len = TEXT_MOST - 1; len <= TEXT_MOST + 1; len++) {
		memset(text, 'x', sizeof(text));
		text[len] = 0;
		begin();
		add(text, "y", text);
		frame_lister_end(&lister);
		is_u64(strcspn(sent[0].texts, "\n"), len < TEXT_MOST ? len : TEXT_MOST,
		       "length of a text");
		ok(sent[0].frame[0].function == 1 && sent[0].frame[0].file == 2 &&
			   sent[0].frame[0].module == 1,
		   "it is found again");
	}
}

/* A record has up to 64 frames. An empty list is one record. */
static void test_many_frames(void)
{
	static const struct {
		uint32_t frames;
		size_t records;
		uint32_t last; /* frames of the last record */
	} rows[] = {{0, 1, 0},	{1, 1, 1},    {63, 1, 63}, {64, 1, 64},
		    {65, 2, 1}, {128, 2, 64}, {129, 3, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		for (uint32_t k = 0; k < rows[i].frames; k++)
			add(k % 2 ? "odd" : "even", NULL, NULL);
		is_u64(frame_lister_end(&lister), 0, "a list");
		is_u64(records, rows[i].records, "number of records");
		for (size_t k = 0; k < records; k++)
			is_record(k, 64 * k, k + 1 < records ? 64 : rows[i].last,
				  !rows[i].frames			? ""
				  : k + 1 < records || rows[i].last > 1 ? "even\nodd\n"
									: "even\n");
	}
}

/* A further record begins if the three texts of a frame might not fit. */
static void test_many_texts(void)
{
	const size_t room = sizeof(sent[0].texts) - 3 * (TEXT_MOST + 1);
	char text[600];

	for (int more = -1; more <= 1; more++) {
		size_t used = 0, n = 0;

		begin();
		/* texts with their newlines take `room` + `more` bytes */
		while (used < room + more) {
			size_t left = room + more - used, len = left > 300 ? 100 : left - 1;

			memset(text, 'a' + n % 26, sizeof(text));
			snprintf(text, sizeof(text), "%c%0*d", 'a' + (int)(n % 26), (int)len - 1,
				 (int)n);
			if (len == 1)
				strcpy(text, "z");
			add(text, NULL, NULL);
			used += strlen(text) + 1;
			n++;
		}
		add("last", NULL, NULL);
		frame_lister_end(&lister);
		is_u64(records, more < 0 ? 1 : 2, "number of records");
		is_u64(sent[records - 1].first + sent[records - 1].n, n + 1, "number of frames");
		if (records == 2)
			is_record(1, n, 1, "last\n");
	}
}

static void test_symbols(void)
{
	struct user_symbol native = {.name = "f", .module = "app", .offset = 5, .address = 0x500},
			   jit = {.name = "j", .module = "[jit]", .address = 0x600},
			   nowhere = {.name = "n", .address = 0x700},
			   coded = {.module = "lib", .code = {.place = 4, .serial = 9}};
	const struct frame_facts *f = sent[0].frame;

	begin();
	frame_lister_add_symbol(&lister, &native);
	frame_lister_add_symbol(&lister, &coded);
	frame_lister_add_symbol(&lister, &jit);
	frame_lister_add_symbol(&lister, &nowhere);
	for (int i = 0; i < LISTED_FRAMES; i++)
		add("x", NULL, NULL);
	coded.code.serial = 10;
	frame_lister_add_symbol(&lister, &coded);
	frame_lister_end(&lister);
	ok(f[0].kind == FRAME_NATIVE && f[0].offset == 0x500 && f[0].function && f[0].module &&
		   !f[0].line && !f[0].flags,
	   "a native frame");
	ok(f[1].kind == FRAME_NATIVE && !f[1].function && f[1].module, "a frame without function");
	ok(f[2].kind == FRAME_JIT && f[2].offset == 0x600, "generated code");
	ok(f[3].kind == FRAME_UNKNOWN && f[3].function && !f[3].module && f[3].offset == 0x700,
	   "a frame without module");
	is_u64(lister.nr_code, 2, "frames in the code of files");
	ok(lister.code[0].index == 1 && lister.code[0].code.place == 4 &&
		   lister.code[0].code.serial == 9,
	   "the first one");
	ok(lister.code[1].index == LISTED_FRAMES + 4 && lister.code[1].code.serial == 10,
	   "one in the second record");
}

static void test_many_codes(void)
{
	struct user_symbol coded = {.module = "lib", .code = {.place = 4, .serial = 9}};

	begin();
	for (int i = 0; i < WALK_FRAMES + 1; i++)
		frame_lister_add_symbol(&lister, &coded);
	is_u64(frame_lister_end(&lister), 0, "a list");
	is_u64(lister.nr_code, WALK_FRAMES, "frames whose places are kept");
	is_u64(lister.code[WALK_FRAMES - 1].index, WALK_FRAMES - 1, "the last one");
}

/* After an error of the consumer, no record follows, and the error is returned. */
static void test_errors(void)
{
	for (fails_at = 1; fails_at <= 3;) {
		size_t at = fails_at;

		begin();
		fails_at = at;
		for (int i = 0; i < 2 * LISTED_FRAMES + 1; i++)
			add("x", NULL, NULL);
		is_u64(-frame_lister_end(&lister), EPIPE, "an error of the consumer");
		is_u64(records, at, "records until then");
		fails_at = at + 1;
	}
}

int main(void)
{
	test_texts();
	test_long_texts();
	test_many_frames();
	test_many_texts();
	test_symbols();
	test_many_codes();
	test_errors();
	return tap_done();
}
