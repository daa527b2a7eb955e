// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests lists of frames: what the lister writes is what the model reads, for any number of frames
 * and any texts.
 */
#include <errno.h>

#include "collect/redact.h"
#include "collect/symbols/frame_lister.h"
#include "fixture.h"
#include "model/frames.h"
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

/* Texts are numbered from 1 on: 0 is none, and there is none behind the last. */
static void test_numbers(void)
{
	struct frame_list_record r = RECORD(frame_list_record, RECORD_FRAME_LIST, SECOND);
	const struct frames *f;

	begin(4);
	r.subject = process;
	r.stack = 4;
	r.n = 3;
	strcpy(r.texts, "one\ntwo\n\nfour");
	r.frame[0] = (struct frame_facts){.function = 1, .file = 2, .module = 3};
	r.frame[1] = (struct frame_facts){.function = 4, .file = 5, .module = 0};
	r.frame[1].kind = NR_FRAME_KINDS - 1;
	r.frame[2].kind = NR_FRAME_KINDS;
	is_u64(model_take(&m, &r.h), 0, "three frames");
	f = model_frames(&m, &process, 4);
	is_str(frame_list_at(f, 0)->function, "one", "the first text");
	is_str(frame_list_at(f, 0)->file, "two", "the second one");
	ok(!frame_list_at(f, 0)->module, "an empty one is none");
	is_str(frame_list_at(f, 1)->function, "four", "the last one");
	ok(!frame_list_at(f, 1)->file && !frame_list_at(f, 1)->module, "and no other");
	is_u64(frame_list_at(f, 1)->kind, NR_FRAME_KINDS - 1, "the last kind");
	is_u64(frame_list_at(f, 2)->kind, FRAME_UNKNOWN, "and none behind it");
}

/* A stack has 2048 frames at most. */
static void test_deep(void)
{
	struct frame_list_record r = RECORD(frame_list_record, RECORD_FRAME_LIST, SECOND);

	begin(5);
	r.subject = process;
	r.stack = 5;
	for (r.first = 0; r.first < 2048; r.first += LISTED_FRAMES) {
		r.n = r.first ? LISTED_FRAMES : LISTED_FRAMES + 1;
		model_take(&m, &r.h);
	}
	is_u64(frame_list_count(model_frames(&m, &process, 5)), 2048, "a deep stack");
	r.n = 1;
	is_u64(model_take(&m, &r.h), 0, "one frame more");
	is_u64(frame_list_count(model_frames(&m, &process, 5)), 2048, "is left out");
	is_u64(frame_list_count(NULL), 0, "no stack has no frames");
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

#define USERS(name, number)                                                                        \
	{                                                                                          \
		.function = name, .file = "/srv/train.py", .line = number, .kind = FRAME_PYTHON,   \
		.flags = FRAME_USER                                                                \
	}
#define LIBRARY(name)                                                                              \
	{                                                                                          \
		.function = name, .file = "torch/utils/data.py", .line = 9, .kind = FRAME_PYTHON   \
	}
#define NATIVE(name)                                                                               \
	{                                                                                          \
		.function = name, .module = "x.so", .offset = 0x10, .kind = FRAME_NATIVE           \
	}

/* Returns the texts of a stack with these frames: its beginning, and then all frames. */
static const char *said(const struct listed_frame *frame, size_t n, const char *user_line)
{
	static char text[4096];
	static int32_t stack = 100;
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);
	char user[FRAMES_USER_BYTES], one[FRAME_TEXT_BYTES];
	const struct frames *f;
	struct frame_lister l;

	r.subject = process;
	r.stack = ++stack;
	strcpy(r.text, "x");
	strcpy(r.user_line, user_line);
	model_take(&m, &r.h);
	frame_lister_begin(&l, &sink, SECOND, &process, stack);
	for (size_t i = 0; i < n; i++)
		frame_lister_add(&l, &frame[i]);
	frame_lister_end(&l);
	f = model_frames(&m, &process, stack);
	strcpy(text, frames_user_text(f, user, sizeof(user)));
	for (size_t i = 0; i < frames_count(f); i++) {
		frames_show(f, i, one, sizeof(one));
		strcat(strcat(text, i ? "|" : ""), one);
	}
	return text;
}

#define SAID(user_line, ...)                                                                       \
	said((const struct listed_frame[]){__VA_ARGS__},                                           \
	     sizeof((const struct listed_frame[]){__VA_ARGS__}) / sizeof(struct listed_frame),     \
	     user_line)

static void test_texts(void)
{
	is_str(SAID("", NATIVE("mmap"), {.module = "x.so", .offset = 0x1f, .kind = FRAME_NATIVE},
		    {}, {.kind = FRAME_PYTHON}),
	       "mmap (x.so)|x.so+0x1f|[unknown]|[python]", "frames without source lines");
	is_str(SAID("",
		    {.function = "add",
		     .file = "src/a.cpp",
		     .module = "x.so",
		     .line = 3,
		     .kind = FRAME_NATIVE,
		     .flags = FRAME_INLINED},
		    {.function = "main",
		     .file = "src/a.cpp",
		     .module = "x.so",
		     .kind = FRAME_NATIVE}),
	       "add (a.cpp:3, inlined)|main (a.cpp:?)", "native frames with source lines");
}

static void test_user_caller(void)
{
	is_str(SAID("train.py:5 load", NATIVE("mmap"), USERS("load", 5), USERS("main", 19)),
	       "train.py:5 load: mmap (x.so)|load (train.py:5)|main (train.py:19)",
	       "the user's code called itself: one line is enough");
	is_str(SAID("train.py:5 load", USERS("load", 5), LIBRARY("fetch"), USERS("main", 19)),
	       "train.py:5 load (called from train.py:19 main): load (train.py:5)|fetch "
	       "(data.py:9)|main (train.py:19)",
	       "a library called the user's code: both lines");
	is_str(SAID("train.py:5 load", USERS("load", 5), LIBRARY("call"), USERS("load", 7),
		    LIBRARY("call"), USERS("<module>", 30)),
	       "train.py:5 load (called from train.py:30 <module>): load (train.py:5)|call "
	       "(data.py:9)|load (train.py:7)|call (data.py:9)|<module> (train.py:30)",
	       "the function itself is no caller of it");
	is_str(SAID("train.py:5 load", USERS("load", 5), LIBRARY("run")),
	       "train.py:5 load: load (train.py:5)|run (data.py:9)", "a library began it");
	is_str(SAID("", NATIVE("mmap"), LIBRARY("run")), "mmap (x.so)|run (data.py:9)",
	       "none of the user's code");
}

/* Where a frame is: its source line, or its address. */
static void test_places(void)
{
	static const struct {
		const char *what, *place, *shown;
		struct listed_frame frame;
	} rows[] = {
		{"a source line",
		 "/srv/train.py:57",
		 "load (train.py:57)",
		 {.function = "load", .file = "/srv/train.py", .line = 57}},
		{"a line that is not known",
		 "a.c:?",
		 "f (a.c:?)",
		 {.function = "f", .file = "a.c"}},
		{"an address",
		 "x.so+0x1f",
		 "f (x.so)",
		 {.function = "f", .module = "x.so", .offset = 0x1f}},
		{"an address without a name",
		 "x.so+0xfedcba9876543210",
		 "x.so+0xfedcba9876543210",
		 {.module = "x.so", .offset = 0xfedcba9876543210}},
		{"no address", "", "x.so+0x0", {.module = "x.so"}},
		{"a name alone", "", "f", {.function = "f", .offset = 3}},
		{"nothing", "", "[unknown]", {}},
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	char text[FRAME_TEXT_BYTES], cut[5];
	struct frame_lister l;
	const struct frames *f;

	begin(6);
	frame_lister_begin(&l, &sink, SECOND, &process, 6);
	for (size_t i = 0; i < n; i++)
		frame_lister_add(&l, &rows[i].frame);
	frame_lister_add(&l, &(struct listed_frame){.function = "g", .flags = FRAME_INLINED});
	frame_lister_end(&l);
	f = model_frames(&m, &process, 6);
	is_u64(frames_count(f), n + 1, "all frames");
	for (size_t i = 0; i < n; i++) {
		frames_show_place(f, i, text, sizeof(text));
		is_str(text, rows[i].place, rows[i].what);
		frames_show(f, i, text, sizeof(text));
		is_str(text, rows[i].shown, "as it is shown");
		ok(!frames_is_inlined(f, i), "a function of its own");
	}
	ok(frames_is_inlined(f, n), "a function within another");
	frames_show(f, 0, cut, sizeof(cut));
	is_str(cut, "load", "a text is cut to its room");
	frames_show_place(f, 0, cut, sizeof(cut));
	is_str(cut, "/srv", "and so is a place");
}

/* Which frames are code of the C library, of an allocator, or of a standard library. */
static void test_libraries(void)
{
	static const struct {
		const char *function, *module, *file;
		bool library;
	} rows[] = {
		{"malloc", "libc.so.6", NULL, true},
		{"malloc", "libc-2.31.so", NULL, true},
		{"curl_easy_perform", "libcurl.so.4", NULL, false},
		{"_dl_map", "ld-linux-x86-64.so.2", NULL, true},
		{"_dl_map", "ld.so", NULL, true},
		{"f", "ldap.so", NULL, false},
		{"f", "libstdc++.so.6", NULL, true},
		{"f", "libc++abi.so.1", NULL, true},
		{"f", "libjemalloc.so.2", NULL, true},
		{"f", "libtcmalloc.so.4", NULL, true},
		{"f", "libmimalloc.so.2", NULL, true},
		{"f", "app", NULL, false},
		{"std::fill", "app", NULL, true},
		{"operator new(unsigned long)", "app", NULL, true},
		{"operator+", "app", NULL, false},
		{"core::ptr::write", "app", NULL, true},
		{"corex::f", "app", NULL, false},
		{"f", "app", "/usr/include/c++/12/bits/stl_vector.h", true},
		{"f", "app", "/usr/src/app.c", false},
		{"f", "app", "/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/x.rs", true},
		{"f", "app", "/usr/lib/gcc/x86_64/12/include/x.h", true},
		{"f", "app", "/usr/lib/gtk/x.h", false},
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	struct frame_lister l;
	const struct frames *f;

	begin(8);
	frame_lister_begin(&l, &sink, SECOND, &process, 8);
	for (size_t i = 0; i < n; i++)
		frame_lister_add(&l, &(struct listed_frame){.function = rows[i].function,
							    .module = rows[i].module,
							    .file = rows[i].file,
							    .line = 3,
							    .kind = FRAME_NATIVE});
	frame_lister_end(&l);
	f = model_frames(&m, &process, 8);
	for (size_t i = 0; i < n; i++)
		ok(frames_are_library(f, i) == rows[i].library, "%s of %s is code of %s",
		   rows[i].function, rows[i].file ? rows[i].file : rows[i].module,
		   rows[i].library ? "a library" : "the program");
}

/* Without a list, frames are the lines of a text. */
static void test_lines(void)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, SECOND);
	char text[FRAME_TEXT_BYTES], cut[3];
	const struct frames *f;

	r.subject = process;
	r.stack = 7;
	strcpy(r.text, "first\nsecond\nthird");
	model_take(&m, &r.h);
	f = model_frames(&m, &process, 7);
	is_u64(frames_count(f), 3, "three lines");
	frames_show(f, 0, text, sizeof(text));
	is_str(text, "first", "the first line");
	frames_show(f, 2, text, sizeof(text));
	is_str(text, "third", "the last line");
	frames_show(f, 3, text, sizeof(text));
	is_str(text, "", "there is no other");
	frames_show(f, 1, cut, sizeof(cut));
	is_str(cut, "se", "a line is cut to its room");
	frames_show_place(f, 0, text, sizeof(text));
	is_str(text, "", "a line has no place");
	ok(!frames_is_inlined(f, 0), "and is not inlined");
}

static struct frame_list_record kept[4];
static size_t nr_kept;

static int keep(void *ctx, const struct record *h)
{
	if (nr_kept < 4)
		kept[nr_kept] = *(const struct frame_list_record *)h;
	nr_kept++;
	return 0;
}

static const struct sink keeper = {.take = keep};

/* A text of up to 511 bytes is kept as a whole. */
static void test_long_texts(void)
{
	for (size_t len = 510; len <= 514; len++) {
		struct listed_frame f = {.kind = FRAME_NATIVE, .file = "end"};
		struct frame_lister l;
		char name[600];

		memset(name, 'x', sizeof(name));
		name[len] = 0;
		f.function = name;
		nr_kept = 0;
		frame_lister_begin(&l, &keeper, SECOND, &process, 1);
		frame_lister_add(&l, &f);
		frame_lister_end(&l);
		is_u64(strspn(kept[0].texts, "x"), len < 511 ? len : 511, "bytes of the text");
		is_str(kept[0].texts + strspn(kept[0].texts, "x"), "\nend\n", "the next text");
		ok(kept[0].frame[0].function == 1 && kept[0].frame[0].file == 2, "their numbers");
	}
}

/* A record has a fixed number of frames; further frames follow in the next record. */
static void test_full_records(void)
{
	for (int more = 0; more <= 1; more++) {
		struct frame_lister l;

		nr_kept = 0;
		frame_lister_begin(&l, &keeper, 5 * SECOND, &process, 3);
		for (int i = 0; i < LISTED_FRAMES + more; i++)
			frame_lister_add(&l, &(struct listed_frame){.line = i + 1});
		is_u64(nr_kept, more, "records that were sent before the end");
		is_u64(frame_lister_end(&l), 0, "the end");
		is_u64(nr_kept, 1 + more, "records in all");
		ok(!kept[0].first && kept[0].n == LISTED_FRAMES, "the first record is full");
		is_u64(kept[0].frame[LISTED_FRAMES - 1].line, LISTED_FRAMES, "its last frame");
		if (more) {
			is_u64(kept[1].first, LISTED_FRAMES, "the second one begins behind it");
			is_u64(kept[1].n, 1, "with one frame");
			is_u64(kept[1].frame[0].line, LISTED_FRAMES + 1, "the next one");
			is_u64(kept[1].frame[1].line, 0, "and no other");
			ok(kept[1].h.t_ns == 5 * SECOND && kept[1].stack == 3, "of the same stack");
		}
	}
}

static void test_no_frames(void)
{
	struct frame_lister l;

	nr_kept = 0;
	frame_lister_begin(&l, &keeper, SECOND, &process, 1);
	frame_lister_end(&l);
	ok(nr_kept == 1 && !kept[0].n, "a list without frames is one record");
}

/* As many frames as a walk has can have lines of source code. */
static void test_frames_with_code(void)
{
	struct user_symbol s = {.name = "f", .module = "x", .code.serial = 7}, none = s;
	static struct frame_lister l;

	none.code.serial = 0;
	nr_kept = 0;
	frame_lister_begin(&l, &keeper, SECOND, &process, 1);
	frame_lister_add_symbol(&l, &none);
	for (int i = 0; i < WALK_FRAMES; i++)
		frame_lister_add_symbol(&l, &s);
	is_u64(l.nr_code, WALK_FRAMES, "frames with code");
	ok(l.code[0].index == 1 && l.code[WALK_FRAMES - 1].index == WALK_FRAMES,
	   "with their indices in the stack");
	frame_lister_add_symbol(&l, &s);
	is_u64(l.nr_code, WALK_FRAMES, "one more is left out");
	frame_lister_end(&l);
	is_u64(l.sent, WALK_FRAMES + 2, "but listed");
}

/* A record has each text once. Texts that begin alike are different ones. */
static void test_equal_texts(void)
{
	static const struct {
		const char *function, *file;
		uint32_t function_number, file_number;
	} rows[] = {{"main", "main", 1, 1}, {"main.c", "mai", 2, 3}, {"mai", "main.c", 3, 2},
		    {"main", NULL, 1, 0},   {"", "main.c", 0, 2},    {"x", "mai", 4, 3}};
	struct frame_lister l;

	nr_kept = 0;
	frame_lister_begin(&l, &keeper, SECOND, &process, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		frame_lister_add(&l, &(struct listed_frame){.function = rows[i].function,
							    .file = rows[i].file});
	frame_lister_end(&l);
	is_str(kept[0].texts, "main\nmain.c\nmai\nx\n", "the texts");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(kept[0].frame[i].function == rows[i].function_number &&
			   kept[0].frame[i].file == rows[i].file_number,
		   "numbers of the texts of frame %zu", i);
}

static int refuse(void *ctx, const struct record *h)
{
	nr_kept++;
	return nr_kept == 2 ? -EPIPE : 0;
}

/* The first error of the consumer is returned at the end. */
static void test_errors(void)
{
	const struct sink refusing = {.take = refuse};
	struct frame_lister l;

	nr_kept = 0;
	frame_lister_begin(&l, &refusing, SECOND, &process, 1);
	for (int i = 0; i < 3 * LISTED_FRAMES; i++)
		frame_lister_add(&l, &(struct listed_frame){.line = 1});
	ok(frame_lister_end(&l) == -EPIPE, "an error");
	is_u64(nr_kept, 2, "no record follows it");
}

int main(void)
{
	begin_model(&m, NULL);
	redaction_begin(&redaction);
	test_frames();
	test_many();
	test_replaced();
	test_numbers();
	test_deep();
	test_places();
	test_libraries();
	test_lines();
	test_texts();
	test_user_caller();
	test_redacted();
	model_free(&m);
	test_equal_texts();
	test_long_texts();
	test_full_records();
	test_no_frames();
	test_frames_with_code();
	test_errors();
	return tap_done();
}
