// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests names of walked stacks with Python frames. Copies of this program are mapped as an
 * interpreter, the C library, an extension and an application.
 */
#define _GNU_SOURCE
#include "collect/python/walk_names.h"

#include <unistd.h>

#include "mapped_program.h"
#include "records/stack_ends.h"
#include "tap.h"

/* Functions of the mapped programs. They are never called. */
#define FUNCTION(name, n)                                                                          \
	__attribute__((noinline, noclone, used)) static int name(int x)                            \
	{                                                                                          \
		return x > (n) ? (n)*name(x - 1) : (n);                                            \
	}

FUNCTION(_start_thread, 3)
FUNCTION(_PyEval_EvalFrameDefault, 5)
FUNCTION(object_call, 7)
FUNCTION(work, 11)

enum { LOOP, CALL, WORK, NR_FUNCTIONS };
static const void *const functions[] = {_PyEval_EvalFrameDefault, object_call, work};

/* Mapped copies of this program, by the first letter of their name. */
static struct {
	const char *name;
	char *at;
	__u8 id[BUILD_ID_BYTES];
} copies[] = {{"app"}, {"libpython3.12.so.1.0"}, {"python3.11"}, {"libc.so.6"}, {"libc-2.28.so"},
	      {"ld-linux.so.2"}, {"_ext.so"}, {"pythonic.so"}};
enum { APP, LIBPYTHON, PYTHON, LIBC, OLD_LIBC, LD, EXT, OTHER };
#define COPIES (sizeof(copies) / sizeof(copies[0]))

static struct program program;
static struct user_symbols us;
static struct python_codes codes;
static struct process_key self;
static struct walk_names names; /* too large for the stack */
static struct walk_record walk;
static struct frames_record got;

static void begin(void)
{
	names = (struct walk_names){};
	walk = (struct walk_record){.subject = self, .end = STACK_END_ENTRY};
	got = (struct frames_record){};
}

/* Adds the next native frame. Frames after the innermost one have return addresses. */
static void native(int copy, int function)
{
	__u32 i = walk.frames++;

	walk.ip[i] = (unsigned long)copies[copy].at +
		     program_offset(&program, functions[function]) + (i > 0);
	walk.sp[i] = 1000 + 100 * i;
	if (!i)
		walk.interrupted[0] |= 1;
}

/* Adds the next Python frame: code object 1 is the user's, 2 is installed, 3 is not known. */
static void python(__u64 code, bool ends_run)
{
	walk.python[walk.pythons++] =
		(struct python_frame){.code = code, .at = 16 | (ends_run ? FRAME_ENDS_RUN : 0)};
}

static void is_text(const char *want, const char *what)
{
	walk_names_fill(&names, &us, &codes, &walk, &got);
	is_str(got.text, want, what);
}

static void add_code(__u64 code, const char *file, const char *name, __u32 line)
{
	struct python_code_record r = {.subject = self, .code = code, .minor = 8};

	r.first_line = line;
	r.file_kind = r.name_kind = 1;
	r.file_bytes = snprintf((char *)r.file, sizeof(r.file), "%s", file);
	r.name_bytes = snprintf((char *)r.name, sizeof(r.name), "%s", name);
	python_codes_take(&codes, &r);
}

static void test_native(void)
{
	begin();
	native(APP, WORK);
	native(LIBPYTHON, CALL);
	native(APP, LOOP);
	is_text("work (app)\nobject_call (libpython3.12.so.1.0)\n_PyEval_EvalFrameDefault (app)",
		"a stack without Python keeps the interpreter's frames");
	is_str(got.user_line, "", "no line of Python");
	is_u64(got.flags, 0, "it is complete");
	is_u64(got.end, STACK_END_ENTRY, "it ends where it began");
	walk.end = STACK_END_TOO_DEEP;
	walk.by_chain = 2;
	is_text(got.text, "a stack that was cut");
	is_u64(got.flags, FRAMES_SHORT, "is not complete");
	is_u64(got.end, STACK_END_TOO_DEEP, "for this reason");
	is_u64(got.by_chain, 2, "frames by frame pointers");
	walk.end = STACK_END_CHAIN_END;
	is_text(got.text, "a chain of frame pointers");
	is_u64(got.flags, FRAMES_SHORT, "that ends in a usual function");
	walk.ip[walk.frames++] = 16;
	got = (struct frames_record){};
	is_text("work (app)\nobject_call (libpython3.12.so.1.0)\n_PyEval_EvalFrameDefault (app)\n"
		"[unknown]",
		"an address that is no code");
	begin();
	is_text("", "no frames");
	walk.end = STACK_END_CHAIN_END;
	is_text("", "none at all");
	is_u64(got.flags, FRAMES_SHORT, "are no complete stack");
}

/*
 * Tests which of the interpreter's frames are left out: those between Python frames, and those that
 * lead from the innermost Python frame to an extension.
 */
static void test_python(void)
{
	begin();
	native(EXT, WORK);
	native(LIBPYTHON, CALL);
	native(LIBPYTHON, LOOP);
	native(LIBPYTHON, CALL);
	native(LIBPYTHON, LOOP);
	native(LIBPYTHON, WORK);
	native(APP, WORK);
	python(2, true);
	python(1, true);
	is_text("work (_ext.so)\nload (data.py:40)\nmain (train.py:7)\n"
		"work (libpython3.12.so.1.0)\nwork (app)",
		"an extension that Python code called");
	is_str(got.user_line, "train.py:7 main", "the first line of the user's own code");
	python(3, true);
	walk.python[1].at = 16;
	is_text("work (_ext.so)\nload (data.py:40)\nmain (train.py:7)\n[python]\n"
		"work (libpython3.12.so.1.0)\nwork (app)",
		"a function whose code is not known");
	begin();
	native(LIBC, WORK);
	native(PYTHON, CALL);
	native(PYTHON, LOOP);
	python(2, true);
	is_text("work (libc.so.6)\nobject_call (python3.11)\nload (data.py:40)",
		"the interpreter's call of the C library is shown");
	is_str(got.user_line, "", "no code of the user");
	for (int copy = OLD_LIBC; copy <= OTHER; copy++) {
		char want[128];

		begin();
		native(copy, WORK);
		native(PYTHON, CALL);
		native(PYTHON, LOOP);
		python(1, true);
		snprintf(want, sizeof(want), "work (%s)\n%smain (train.py:7)", copies[copy].name,
			 copy <= LD ? "object_call (python3.11)\n" : "");
		is_text(want, copies[copy].name);
	}
	begin();
	native(PYTHON, CALL);
	native(PYTHON, LOOP);
	python(1, true);
	is_text("object_call (python3.11)\nmain (train.py:7)", "the interpreter at work");
	begin();
	native(PYTHON, LOOP);
	python(1, true);
	is_text("main (train.py:7)", "its loop alone is not shown");
	begin();
	native(OTHER, LOOP);
	native(OTHER, CALL);
	python(1, false);
	walk.python_cut = 1;
	is_text("main (train.py:7)\n[more Python frames]\nobject_call (pythonic.so)",
		"Python frames that could not be read");
}

static void test_names_and_lines(void)
{
	add_code(4, "/srv/a/b.py", "f\ng", 0);
	begin();
	native(PYTHON, LOOP);
	python(4, true);
	is_text("f?g (b.py:?)", "no line, and a newline in a name");
	is_str(got.user_line, "b.py:? f\ng", "of the user");
	add_code(4, "b.py", "h", 12);
	got = (struct frames_record){};
	is_text("h (b.py:12)", "a file without a directory");
	got = (struct frames_record){};
	python(1, true);
	walk.python[0].at = 16;
	is_text("h (b.py:12)\nmain (train.py:7)", "two frames of the user");
	is_str(got.user_line, "b.py:12 h", "the innermost is the line");
}

static bool place_in_ext(void *ctx, __u32 generation, __u64 ip, __u8 *ret_build_id,
			 __u64 *ret_offset)
{
	if (generation != 5 || ip != 0x1234 || ctx != &program)
		return false;
	memcpy(ret_build_id, copies[EXT].id, BUILD_ID_BYTES);
	*ret_offset = program_offset(&program, work);
	return true;
}

/* Tests stacks of more frames than a record has, and places that were mapped at the time. */
static void test_many_frames(void)
{
	char *line, want[64];
	int lines = 1;

	begin();
	names.place = place_in_ext;
	names.ctx = &program;
	walk.generation = 5;
	native(APP, WORK);
	walk.ip[0] = 0x1234;
	native(APP, CALL);
	is_text("work (_ext.so)\nobject_call (app)", "a place that was mapped at the time");
	walk.generation = 6;
	got = (struct frames_record){};
	is_text("[unknown]\nobject_call (app)", "and not at another time");

	begin();
	for (int i = 0; i < WALK_FRAMES; i++)
		native(APP, i == 70 ? LOOP : CALL);
	walk.frames = WALK_FRAMES + 1;
	walk_names_fill(&names, &us, &codes, &walk, &got);
	line = got.text;
	for (char *c = got.text; *c; c++)
		lines += *c == '\n';
	is_u64(lines, WALK_FRAMES + 1, "each frame, and a line for those that are left out");
	for (int i = 0; i < 70; i++)
		line = strchr(line, '\n') + 1;
	snprintf(want, sizeof(want), "%.*s", (int)strcspn(line, "\n"), line);
	is_str(want, "_PyEval_EvalFrameDefault (app)", "in order");
	for (int i = 70; i < WALK_INNER; i++)
		line = strchr(line, '\n') + 1;
	snprintf(want, sizeof(want), "%.*s", (int)strcspn(line, "\n"), line);
	is_str(want, "[more native frames]", "where frames are missing");

	begin();
	for (int i = 0; i < WALK_FRAMES; i++)
		native(EXT, i == 70 ? LOOP : CALL);
	python(1, true);
	walk_names_fill(&names, &us, &codes, &walk, &got);
	is_u64(names.merge.first_host, 70, "the frame that runs the Python code");
	is_u64(names.merge.n, WALK_FRAMES, "is replaced");
}

/* Tests that the text ends with a whole line if it has no room for all frames. */
static void test_full_text(void)
{
	char name[121];
	size_t each, len;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	each = strlen(name) + strlen(" (long.py:1)\n");
	add_code(5, "long.py", name, 1);
	begin();
	native(PYTHON, LOOP);
	for (int i = 0; i < WALK_PYTHON; i++)
		python(5, i == WALK_PYTHON - 1);
	walk_names_fill(&names, &us, &codes, &walk, &got);
	len = strlen(got.text);
	is_u64((len + 1) % each, 0, "only whole lines");
	is_u64((len + 1) / each, sizeof(got.text) / each, "as many as fit");
	is_u64(got.flags, FRAMES_SHORT, "the stack is not complete");
	is_u64(got.end, STACK_END_TOO_DEEP, "because it is too deep");
	is_u64(strlen(got.user_line), strlen("long.py:1 ") + 76, "a long name is cut in the line");
}

/* A last line fits if its end is the last byte of the text but one. */
static void test_last_line(void)
{
	for (int more = -1; more <= 1; more++) {
		struct user_symbol s = {.name = "f"};
		size_t at = 0, room;
		bool added;

		begin();
		memset(s.name, 'n', 30);
		while (at + 62 < sizeof(got.text))
			walk_names_add(&got, &at, &s);
		is_u64(strlen(got.text), at, "the end of the text is told");
		room = sizeof(got.text) - 1 - at - 1; /* without NUL and newline */
		memset(s.name, 'x', sizeof(s.name) - 1);
		s.name[room + more] = 0;
		room = at;
		added = walk_names_add(&got, &at, &s);
		ok(added == (more <= 0), "a line with %d bytes more than there is room for", more);
		is_u64(at, added ? sizeof(got.text) - 1 + more : room, "the end of the text");
		is_u64(strlen(got.text), at, "no part of a line");
	}
}

/* The interpreter's frames that called the outermost Python frame are shown. */
static void test_outer_frames(void)
{
	begin();
	native(APP, WORK);
	native(PYTHON, LOOP);
	native(PYTHON, CALL);
	python(1, true);
	is_text("work (app)\nmain (train.py:7)\nobject_call (python3.11)",
		"frames outside of the outermost Python frame are shown");
	is_u64(got.flags, 0, "the stack is complete");
	is_u64(got.by_chain, 0, "no frame by frame pointers");
}

static int list_frame(void *ctx, const struct record *h)
{
	*(struct frame_list_record *)ctx = *(const struct frame_list_record *)h;
	return 0;
}

/* Returns a text of a list by its number. */
static const char *text_of(const struct frame_list_record *r, __u32 number)
{
	static char text[4][256];
	static int at;
	const char *line = r->texts;

	at = (at + 1) % 4;
	if (!number)
		return "";
	while (--number)
		line = strchr(line, '\n') + 1;
	snprintf(text[at], sizeof(text[at]), "%.*s", (int)strcspn(line, "\n"), line);
	return text[at];
}

static void test_list(void)
{
	static const struct {
		const char *function, *file, *module;
		__u32 line;
		int kind, flags;
	} want[] = {
		{"work", "", "_ext.so", 0, FRAME_NATIVE, 0},
		{"load", "/usr/lib/python3.12/data.py", "", 40, FRAME_PYTHON, 0},
		{"main", "/home/me/train.py", "", 7, FRAME_PYTHON, FRAME_USER},
		{"", "", "", 0, FRAME_PYTHON, 0},
		{"[more Python frames]", "", "", 0, FRAME_GAP, 0},
		{"work", "", "app", 0, FRAME_NATIVE, 0},
		{"", "", "", 0, FRAME_UNKNOWN, 0},
	};
	static struct frame_list_record r;
	static struct frame_lister list;
	struct sink sink = {.take = list_frame, .ctx = &r};

	begin();
	native(EXT, WORK);
	native(PYTHON, LOOP);
	native(APP, WORK);
	walk.ip[walk.frames++] = 16;
	python(2, false);
	python(1, false);
	python(3, false);
	walk.python_cut = 1;
	walk_names_fill(&names, &us, &codes, &walk, &got);
	frame_lister_begin(&list, &sink, 77, &self, 9);
	walk_names_list(&names, &codes, &list);
	is_u64(frame_lister_end(&list), 0, "a list");
	is_u64(r.n, sizeof(want) / sizeof(want[0]), "of all frames");
	ok(r.h.t_ns == 77 && r.stack == 9 && r.subject.pid == self.pid && !r.first, "of a stack");
	for (size_t i = 0; i < r.n; i++) {
		const struct frame_facts *f = &r.frame[i];

		is_str(text_of(&r, f->function), want[i].function, "function");
		is_str(text_of(&r, f->file), want[i].file, "file");
		is_str(text_of(&r, f->module), want[i].module, "module");
		ok(f->line == want[i].line && f->kind == want[i].kind && f->flags == want[i].flags,
		   "frame %zu: line %u, kind %u, flags %u", i, f->line, f->kind, f->flags);
	}
	is_u64(list.nr_code, 2, "two frames may have lines of source code");
	ok(list.code[0].index == 0 && list.code[1].index == 5, "with their indices in the stack");
	ok(list.code[0].code.serial && list.code[1].code.serial &&
		   list.code[0].code.serial != list.code[1].code.serial,
	   "in different files");
}

int main(void)
{
	_Static_assert(sizeof(functions) / sizeof(functions[0]) == NR_FUNCTIONS, "all functions");
	self.pid = getpid();
	program_read(&program);
	for (size_t i = 0; i < COPIES; i++)
		copies[i].at = program_copy(&program, copies[i].name, i + 1, copies[i].id);
	if (user_symbols_open(&us) || user_symbols_learn(&us, &self))
		return 1;
	add_code(1, "/home/me/train.py", "main", 7);
	add_code(2, "/usr/lib/python3.12/data.py", "load", 40);
	test_native();
	test_python();
	test_names_and_lines();
	test_many_frames();
	test_full_text();
	test_last_line();
	test_outer_frames();
	test_list();
	python_codes_free(&codes);
	user_symbols_close(&us);
	for (size_t i = 0; i < COPIES; i++)
		program_forget(&program, copies[i].name, copies[i].at);
	program_free(&program);
	return tap_done();
}
