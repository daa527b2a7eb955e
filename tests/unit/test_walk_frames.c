// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the frames of a walked stack are named: which place is looked up for each address,
 * which native frames of a Python interpreter are left out, and whether the stack is complete.
 * Functions come from a table of the test.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "collect/python/walk_names.h"
#include "collect/symbols/elf_headers.h"
#include "records/stack_ends.h"
#include "tap.h"

#define LOOP "_PyEval_EvalFrameDefault"

static struct user_symbols us;
static struct python_codes codes;
static struct walk_names names; /* too large for the stack */
static struct walk_record walk;
static struct frames_record got;
static const struct process_key self = {.pid = 10, .start_ns = 7};
static const char *frame_of[WALK_FRAMES]; /* "function@module" of the address 1000 + index */
static char asked[8192];
static bool missed;

bool user_symbols_resolve(struct user_symbols *of_us, const struct process_key *of,
			  const struct bpf_stack_build_id *frame, bool innermost,
			  struct user_symbol *ret)
{
	__u64 ip = frame->status == BPF_STACK_BUILD_ID_VALID ? frame->offset - 50000 : frame->ip;
	const char *spec = ip >= 1000 && ip < 1000 + WALK_FRAMES ? frame_of[ip - 1000] : NULL;
	size_t len = strlen(asked);

	if (of_us != &us || of->pid != self.pid)
		abort();
	snprintf(asked + len, sizeof(asked) - len, "%s%s%llu", innermost ? "!" : " ",
		 frame->status == BPF_STACK_BUILD_ID_VALID ? "file+" : "", (unsigned long long)ip);
	if (frame->status == BPF_STACK_BUILD_ID_VALID && frame->build_id[19] != 0x77)
		abort();
	memset(ret, 0, sizeof(*ret));
	if (!spec)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(spec, "@"), spec);
	snprintf(ret->module, sizeof(ret->module), "%s", strchr(spec, '@') + 1);
	ret->address = 0x100;
	return true;
}

bool user_symbols_missed(struct user_symbols *of_us, const struct process_key *of)
{
	return of_us == &us && of->pid == self.pid && missed;
}

static void begin(void)
{
	memset(&names, 0x55, sizeof(names));
	names.place = NULL;
	memset(&walk, 0, sizeof(walk));
	memset(&got, 0, sizeof(got));
	memset(frame_of, 0, sizeof(frame_of));
	asked[0] = 0;
	missed = false;
	walk.subject = self;
	walk.end = STACK_END_ENTRY;
	walk.stack = 3;
}

static void native(const char *spec)
{
	frame_of[walk.frames] = spec;
	walk.ip[walk.frames] = 1000 + walk.frames;
	walk.sp[walk.frames] = 100000 + 100 * walk.frames;
	walk.frames++;
}

static void python(__u64 code, bool ends_run)
{
	walk.python[walk.pythons++] =
		(struct python_frame){.code = code, .at = 16 | (ends_run ? FRAME_ENDS_RUN : 0)};
}

static void add_code(__u64 code, const char *file, const char *name)
{
	struct python_code_record r = {.subject = self, .code = code, .minor = 8, .first_line = 5};

	r.file_kind = r.name_kind = 1;
	r.file_bytes = snprintf((char *)r.file, sizeof(r.file), "%s", file);
	r.name_bytes = snprintf((char *)r.name, sizeof(r.name), "%s", name);
	if (python_codes_take(&codes, &r))
		abort();
}

static void fill(void)
{
	walk_names_fill(&names, &us, &codes, &walk, &got);
}

static bool find_place(void *ctx, __u32 generation, __u64 ip, __u8 *ret_build_id, __u64 *ret_offset)
{
	if (ctx != &names || generation != 4 || ip == 1001)
		return false;
	memset(ret_build_id, 0x77, BUILD_ID_BYTES);
	*ret_offset = 50000 + ip;
	return true;
}

/* Each address is looked up by its file, if that is known, and as interrupted or as a call. */
static void test_lookups(void)
{
	begin();
	native("a@app");
	native("b@app");
	native("c@app");
	walk.interrupted[0] = 5;
	fill();
	is_str(asked, "!1000 1001!1002", "addresses, and which of them made no call");
	asked[0] = 0;
	names.place = find_place;
	names.ctx = &names;
	walk.generation = 4;
	memset(&got, 0, sizeof(got));
	fill();
	is_str(asked, "!file+1000 1001!file+1002", "places in files, where they are known");
	is_str(got.text, "a (app)\nb (app)\nc (app)", "the functions");
	walk.generation = 5;
	asked[0] = 0;
	fill();
	is_str(asked, "!1000 1001!1002", "places of another generation do not count");
}

/* The bit of a frame is found in each word of the bit set. */
static void test_interrupted(void)
{
	static const int at[] = {0, 1, 62, 63, 64, 65, WALK_FRAMES - 1};

	for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
		char want[64];

		begin();
		for (int i = 0; i < WALK_FRAMES; i++)
			native("f@app");
		walk.interrupted[at[k] / 64] = 1ULL << at[k] % 64;
		fill();
		snprintf(want, sizeof(want), "!%d", 1000 + at[k]);
		ok(strstr(asked, want) && strchr(asked, '!') == strrchr(asked, '!'),
		   "frame %d alone is interrupted", at[k]);
	}
}

/* The loop of the interpreter is found by its name, of which compilers make parts. */
static void test_loops(void)
{
	static const struct {
		const char *name;
		bool runs_python;
	} rows[] = {
		{LOOP, true},
		{LOOP ".cold", true},
		{LOOP ".part.0", true},
		{LOOP "2", true},
		{"_PyEval_EvalFrameDefaul", false},
		{"PyEval_EvalFrameDefault", false},
		{"x" LOOP, false},
		{"", false},
	};
	static const int at[] = {0, 63, 64, WALK_FRAMES - 1};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			char spec[64];

			begin();
			snprintf(spec, sizeof(spec), "%s@app", rows[i].name);
			for (int n = 0; n < WALK_FRAMES; n++)
				native(n == at[k] ? spec : "f@app");
			python(1, true);
			fill();
			ok(names.merge.has_python == rows[i].runs_python &&
				   (!rows[i].runs_python ||
				    names.merge.first_host == (size_t)at[k]),
			   "\"%s\" as frame %d", rows[i].name, at[k]);
		}
}

/* Native frames of the interpreter that are left out or shown. */
static void test_left_out(void)
{
	static const struct {
		const char *frame[6]; /* innermost first */
		int pythons;
		const char *want, *name;
	} rows[] = {
		{{"f@app", LOOP "@python3.12"},
		 1,
		 "f (app)\nmain (train.py:5)",
		 "the loop is replaced"},
		{{"f@app", "call@python3.12", LOOP "@python3.12"},
		 1,
		 "f (app)\nmain (train.py:5)",
		 "a call of an extension"},
		{{"f@app", "call@libpython3.so", "c@python3", LOOP "@libpython3.12.so.1"},
		 1,
		 "f (app)\nmain (train.py:5)",
		 "several frames of the interpreter"},
		{{"f@libpython", "call@python3.12", LOOP "@python3.12"},
		 1,
		 "f (libpython)\nmain (train.py:5)",
		 "a library with a similar name"},
		{{"f@python2.7", LOOP "@python2.7"},
		 1,
		 "f (python2.7)\nmain (train.py:5)",
		 "an older interpreter"},
		{{"f@cpython3", LOOP "@python3"},
		 1,
		 "f (cpython3)\nmain (train.py:5)",
		 "a name that contains the interpreter's"},
		{{"read@libc.so.6", "call@python3", LOOP "@python3"},
		 1,
		 "read (libc.so.6)\ncall (python3)\nmain (train.py:5)",
		 "a call of the C library"},
		{{"read@libc-2.28.so", "call@python3", LOOP "@python3"},
		 1,
		 "read (libc-2.28.so)\ncall (python3)\nmain (train.py:5)",
		 "an older C library"},
		{{"tls@ld-linux.so.2", "call@python3", LOOP "@python3"},
		 1,
		 "tls (ld-linux.so.2)\ncall (python3)\nmain (train.py:5)",
		 "the dynamic loader"},
		{{"f@libcrypto.so", "call@python3", LOOP "@python3"},
		 1,
		 "f (libcrypto.so)\nmain (train.py:5)",
		 "a library that is not the C library"},
		{{"f@libc.sx", "call@python3", LOOP "@python3"},
		 1,
		 "f (libc.sx)\nmain (train.py:5)",
		 "a name that begins like that of the C library"},
		{{"f@libc_x", "call@python3", LOOP "@python3"},
		 1,
		 "f (libc_x)\nmain (train.py:5)",
		 "a name that begins like that of an older C library"},
		{{"f@ld", "call@python3", LOOP "@python3"},
		 1,
		 "f (ld)\nmain (train.py:5)",
		 "a program with a short name"},
		{{"call@python3", LOOP "@python3"},
		 1,
		 "call (python3)\nmain (train.py:5)",
		 "the interpreter itself"},
		{{"f@app", LOOP "@python3", "run@python3", "m@app"},
		 1,
		 "f (app)\nmain (train.py:5)\nrun (python3)\nm (app)",
		 "frames outside of the outermost Python frame"},
		{{LOOP "@python3", "call@python3", "x@app", LOOP "@python3", "run@python3"},
		 2,
		 "main (train.py:5)\nx (app)\nmain (train.py:5)\nrun (python3)",
		 "frames between two Python frames"},
		{{"f@app", "call@python3", LOOP "@python3"},
		 0,
		 "f (app)\ncall (python3)\n" LOOP " (python3)",
		 "no Python frames"},
		{{"f@", "@app", "@", LOOP "@python3"},
		 1,
		 "f\napp+0x100\n[unknown]\nmain (train.py:5)",
		 "names that are not known"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		for (int k = 0; k < 6 && rows[i].frame[k]; k++)
			native(rows[i].frame[k]);
		for (int k = 0; k < rows[i].pythons; k++)
			python(1, true);
		fill();
		is_str(got.text, rows[i].want, rows[i].name);
	}
}

/* Whether a stack is complete depends on how its walk ended, and on its outermost frames. */
static void test_ends(void)
{
	static const struct {
		__u32 end;
		const char *frame[3];
		bool missed;
		__u32 flags;
		const char *name;
	} rows[] = {
		{STACK_END_ENTRY, {"a@app", "b@app"}, false, 0, "a walk to the end"},
		{STACK_END_ENTRY, {NULL}, false, 0, "a walk without frames"},
		{STACK_END_TOO_DEEP,
		 {"a@app", "_start@app"},
		 false,
		 FRAMES_SHORT,
		 "a walk that was cut"},
		{STACK_END_CHAIN_END, {"a@app", "_start@app"}, false, 0, "a chain to the entry"},
		{STACK_END_CHAIN_END, {"_start@app"}, false, 0, "the entry alone"},
		{STACK_END_CHAIN_END,
		 {"_start@app", "a@app"},
		 false,
		 FRAMES_SHORT,
		 "a chain to a usual function"},
		{STACK_END_CHAIN_END,
		 {"a@app", "b@app", "@libc.so.6"},
		 false,
		 0,
		 "a chain to a function of the C library that has no name"},
		{STACK_END_CHAIN_END, {"@libc.so.6"}, false, FRAMES_SHORT, "this function alone"},
		{STACK_END_CHAIN_END,
		 {"b@app", "@libc.so.6", "@libc.so.6"},
		 false,
		 FRAMES_SHORT,
		 "a chain inside of the C library"},
		{STACK_END_CHAIN_END, {NULL}, false, FRAMES_SHORT, "a chain without frames"},
		{STACK_END_ENTRY, {"a@app"}, true, FRAMES_UNREAD, "mappings that were not read"},
		{STACK_END_TOO_DEEP, {"a@app"}, true, FRAMES_SHORT | FRAMES_UNREAD, "both"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		for (int k = 0; k < 3 && rows[i].frame[k]; k++)
			native(rows[i].frame[k]);
		walk.end = rows[i].end;
		walk.by_chain = 6;
		missed = rows[i].missed;
		fill();
		is_u64(got.flags, rows[i].flags, rows[i].name);
		ok(got.end == rows[i].end && got.by_chain == 6, "how the walk ended");
	}
}

/* The line of the user's code is the innermost Python frame in a file of the user. */
static void test_user_lines(void)
{
	static const struct {
		__u64 code[3];
		const char *want, *name;
	} rows[] = {
		{{1}, "train.py:5 main", "a file of the user"},
		{{2, 1}, "train.py:5 main", "a library before it"},
		{{1, 3}, "train.py:5 main", "another file of the user behind it"},
		{{3, 1}, "b.py:5 f", "another file of the user before it"},
		{{2}, "", "a library alone"},
		{{9, 1}, "train.py:5 main", "an unknown function before it"},
		{{9}, "", "an unknown function alone"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		native(LOOP "@python3");
		for (int k = 0; k < 3 && rows[i].code[k]; k++)
			python(rows[i].code[k], k == 2 || !rows[i].code[k + 1]);
		fill();
		is_str(got.user_line, rows[i].want, rows[i].name);
	}
}

static struct frame_list_record list;

static int keep(void *ctx, const struct record *h)
{
	(void)ctx;
	list = *(const struct frame_list_record *)h;
	return 0;
}

/* The list has the same frames as the text, and lines for frames that are missing. */
static void test_lists(void)
{
	static struct frame_lister lister;
	const struct sink sink = {.take = keep};

	begin();
	native("f@app");
	native("call@python3");
	native(LOOP "@python3");
	python(1, false);
	python(9, false);
	walk.python_cut = 1;
	fill();
	is_str(got.text, "f (app)\nmain (train.py:5)\n[python]\n[more Python frames]", "the text");
	frame_lister_begin(&lister, &sink, 1, &self, 3);
	walk_names_list(&names, &codes, &lister);
	is_u64(frame_lister_end(&lister), 0, "the list");
	is_u64(list.n, 4, "number of frames");
	is_str(list.texts, "f\napp\nmain\n/home/me/train.py\n[more Python frames]\n", "its texts");
	ok(list.frame[0].kind == FRAME_NATIVE && list.frame[0].function == 1 &&
		   list.frame[0].module == 2 && list.frame[0].offset == 0x100,
	   "a native frame");
	ok(list.frame[1].kind == FRAME_PYTHON && list.frame[1].function == 3 &&
		   list.frame[1].file == 4 && list.frame[1].line == 5 &&
		   list.frame[1].flags == FRAME_USER,
	   "a Python frame");
	ok(list.frame[2].kind == FRAME_PYTHON && !list.frame[2].function && !list.frame[2].file &&
		   !list.frame[2].flags,
	   "an unknown Python frame");
	ok(list.frame[3].kind == FRAME_GAP && list.frame[3].function == 5, "missing frames");

	begin();
	for (int i = 0; i < WALK_FRAMES; i++)
		native(i == WALK_INNER ? "g@app" : "f@app");
	walk.frames += 5;
	fill();
	ok(strstr(got.text, "\n[more native frames]\n"), "native frames are missing");
	frame_lister_begin(&lister, &sink, 1, &self, 3);
	walk_names_list(&names, &codes, &lister);
	frame_lister_end(&lister);
	is_u64(list.first + list.n, WALK_FRAMES + 1, "each frame, and one line for the others");
}

int main(void)
{
	add_code(1, "/home/me/train.py", "main");
	add_code(2, "/usr/lib/python3.12/data.py", "load");
	add_code(3, "/srv/a/b.py", "f");
	test_lookups();
	test_interrupted();
	test_loops();
	test_left_out();
	test_ends();
	test_user_lines();
	test_lists();
	python_codes_free(&codes);
	return tap_done();
}
