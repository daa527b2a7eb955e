// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests lists of frames: what the lister writes is what the model reads, for any number of frames
 * and any texts.
 */
#include "collect/redact.h"
#include "collect/symbols/frame_lister.h"
#include "fixture.h"
#include "model/frame_list.h"
#include "model/growth.h"
#include "tap.h"

static const struct process_key process = {.pid = 10, .start_ns = 1};
static struct model m;
static struct redaction redaction;
static size_t records;
static bool redacts;

static int take(void *ctx, const struct record *h)
{
	struct frame_list_record copy = *(const struct frame_list_record *)h;

	records++;
	if (redacts)
		redact_record(&redaction, &copy.h);
	return model_take(&m, &copy.h);
}

static const struct sink sink = {.take = take};

static void begin(int32_t stack)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);

	r.subject = process;
	r.stack = stack;
	strcpy(r.text, "f (x)");
	model_take(&m, &r.h);
	records = 0;
}

static void test_frames(void)
{
	struct frame_lister l;
	const struct frames *f;
	const struct user_frame *one;
	struct user_symbol jit = {.name = "add", .module = "[jit]", .address = 0x7f0000001000};
	struct user_symbol none = {};

	begin(1);
	frame_lister_begin(&l, &sink, SECOND, &process, 1);
	frame_lister_add(&l, &(struct listed_frame){.function = "load",
						    .file = "/srv/x/train.py",
						    .line = 57,
						    .kind = FRAME_PYTHON,
						    .flags = FRAME_USER});
	frame_lister_add(&l, &(struct listed_frame){.function = "a\nb", .kind = FRAME_NATIVE});
	frame_lister_add_symbol(&l, &jit);
	frame_lister_add_symbol(&l, &none);
	frame_lister_end(&l);
	f = model_frames(&m, &process, 1);
	is_u64(frame_list_count(f), 4, "four frames");
	one = frame_list_at(f, 0);
	is_str(one->function, "load", "the function");
	is_str(one->file, "/srv/x/train.py", "the file");
	is_u64(one->line, 57, "the line");
	is_str(frame_kind_name(one), "python", "the kind");
	ok(one->flags == FRAME_USER && !one->module && !one->offset, "and no more");
	is_str(frame_list_at(f, 1)->function, "a?b", "a newline begins no other text");
	one = frame_list_at(f, 2);
	is_str(frame_kind_name(one), "jit", "code that was generated at run time");
	is_u64(one->offset, 0x7f0000001000, "and its address");
	one = frame_list_at(f, 3);
	ok(one->kind == FRAME_UNKNOWN && !one->function && !one->module, "an unknown frame");
	is_u64(records, 1, "in one record");
}

/* Tests a stack whose frames need several records. */
static void test_many(void)
{
	char function[400], module[16];
	struct frame_lister l;
	const struct frames *f;
	bool equal = true;

	begin(2);
	frame_lister_begin(&l, &sink, SECOND, &process, 2);
	for (int i = 0; i < 300; i++) {
		memset(function, 'a' + i % 26, sizeof(function) - 1);
		sprintf(function + 390, "%d", i % 40);
		sprintf(module, "lib%d.so", i);
		frame_lister_add(&l, &(struct listed_frame){.function = function,
							    .module = module,
							    .offset = i,
							    .kind = FRAME_NATIVE});
	}
	is_u64(frame_lister_end(&l), 0, "a list of long names");
	f = model_frames(&m, &process, 2);
	is_u64(frame_list_count(f), 300, "has all frames");
	ok(records > 20, "from many records");
	for (int i = 0; i < 300 && i < (int)frame_list_count(f); i++) {
		const struct user_frame *one = frame_list_at(f, i);

		memset(function, 'a' + i % 26, sizeof(function) - 1);
		sprintf(function + 390, "%d", i % 40);
		sprintf(module, "lib%d.so", i);
		equal = equal && one->offset == (uint64_t)i && one->function && one->module &&
			!strcmp(one->function, function) && !strcmp(one->module, module);
	}
	ok(equal, "and each its own texts");
}

/* Tests that a new list replaces an earlier one, and that records of hostile files are harmless. */
static void test_replaced(void)
{
	struct frame_list_record r = RECORD(frame_list_record, RECORD_FRAME_LIST, SECOND);
	struct frame_lister l;
	const struct frames *f;

	frame_lister_begin(&l, &sink, SECOND, &process, 2);
	frame_lister_add(&l, &(struct listed_frame){.function = "one"});
	frame_lister_end(&l);
	f = model_frames(&m, &process, 2);
	is_u64(frame_list_count(f), 1, "a new list replaces the former");
	r.subject = process;
	r.stack = 2;
	r.first = 7;
	r.n = 1;
	model_take(&m, &r.h);
	is_u64(frame_list_count(f), 1, "frames behind a gap are ignored");
	r.first = 0;
	r.n = ~0u;
	memset(r.frame, 0xff, sizeof(r.frame));
	memset(r.texts, 'x', sizeof(r.texts));
	model_take(&m, &r.h);
	is_u64(frame_list_count(f), LISTED_FRAMES, "a record has no more frames than it can hold");
	ok(!frame_list_at(f, 0)->function && frame_list_at(f, 0)->kind == FRAME_UNKNOWN,
	   "numbers without a meaning stand for unknown");
	r.stack = 9;
	is_u64(model_take(&m, &r.h), 0, "frames of an unknown stack are ignored");
}

static void test_redacted(void)
{
	struct frame_lister l;
	const struct frames *f;

	begin(3);
	redacts = true;
	frame_lister_begin(&l, &sink, SECOND, &process, 3);
	for (int i = 0; i < 2; i++)
		frame_lister_add(&l, &(struct listed_frame){.function = "net/http.(*Client).Do",
							    .file = "/home/alice/train.py",
							    .module = "server",
							    .line = 3 + i});
	frame_lister_end(&l);
	f = model_frames(&m, &process, 3);
	is_u64(frame_list_count(f), 2, "a redacted list has all frames");
	is_str(frame_list_at(f, 0)->file, "train.py", "without directories");
	is_str(frame_list_at(f, 1)->function, "net/http.(*Client).Do", "functions stay");
	is_str(frame_list_at(f, 1)->module, "server", "and modules");
}

int main(void)
{
	begin_model(&m, NULL);
	redaction_begin(&redaction);
	test_frames();
	test_many();
	test_replaced();
	test_redacted();
	model_free(&m);
	return tap_done();
}
