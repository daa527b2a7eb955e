// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests sources of function names: symbol tables, /proc, maps of JIT compilers, demangling. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "collect/symbols/demangle.h"
#include "collect/symbols/exec_maps.h"
#include "collect/symbols/mapped_file.h"
#include "collect/symbols/perf_map.h"
#include "collect/symbols/symbol_table.h"
#include "collect/files/target_file.h"
#include "collect/symbols/user_stack.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void is_found(const struct symbol_table *t, __u64 at, int want, const char *name)
{
	size_t n = 0;
	const struct symbol_entry *e = symbol_table_find(t, at, &n);

	is_u64(e ? e->name : 0, want, name);
}

static void test_table(void)
{
	struct symbol_table t = {};
	size_t n = 0;

	is_found(&t, 0, 0, "an empty table");
	symbol_table_sort(&t);
	symbol_table_add(&t, 0x3000, 0, 5);
	symbol_table_add(&t, 0x1000, 0x100, 1);
	symbol_table_add(&t, 0x1040, 0x10, 2);
	symbol_table_add(&t, 0x2000, 8, 4);
	symbol_table_add(&t, 0x2000, 16, 3);
	is_found(&t, 0x1000, 0, "nothing is found before it is sorted");
	symbol_table_sort(&t);
	is_found(&t, 0xfff, 0, "below all");
	is_found(&t, 0x1000, 1, "at a beginning");
	is_found(&t, 0x1045, 2, "in one that lies in another");
	is_found(&t, 0x1050, 1, "behind that, in the outer one");
	is_found(&t, 0x1100, 0, "just behind an end");
	is_found(&t, 0x2008, 3, "where the longer of two holds it");
	ok(symbol_table_find(&t, 0x2000, &n) && n == 2, "both names of an address");
	is_found(&t, 0x3fff, 5, "near behind one without a size");
	is_found(&t, 0x4000, 0, "far behind one without a size");
	symbol_table_add(&t, 0x1000, 0x100, 6);
	symbol_table_add(&t, 0x1000, 0x80, 7);
	is_u64(symbol_table_find_new(&t, 0x1001)->name, 7, "the newest of what was added since");
	is_u64(symbol_table_find_new(&t, 0x1081)->name, 6, "the newest that holds it");
	ok(!symbol_table_find_new(&t, 0x2000), "what was sorted is not new");
	symbol_table_free(&t);
	is_found(&t, 0x1000, 0, "a table that was freed");
}

static void test_full_table(void)
{
	struct symbol_table t = {};

	for (__u64 i = 0; i < SYMBOL_TABLE_MAX + 3; i++)
		symbol_table_add(&t, i * 4, 4, 1);
	is_u64(t.n, SYMBOL_TABLE_MAX, "entries up to the cap");
	is_u64(t.cut, 3, "those past it are counted");
	symbol_table_free(&t);
}

static const struct {
	const char *line;
	bool good;
	struct exec_map want;
} maps[] = {
	{"7f00-8000 r-xp 00001000 fe:01 1234                       /usr/lib/libx.so",
	 true,
	 {0x7f00, 0x8000, 0x1000, 1234, 0xfe, 1, "/usr/lib/libx.so"}},
	{"1000-2000 rwxs 00000000 00:1b 9 /memfd:jit (deleted)",
	 true,
	 {0x1000, 0x2000, 0, 9, 0, 0x1b, "/memfd:jit (deleted)"}},
	{"1000-2000 r-xp 00000000 08:01 9 /a b\\012c",
	 true,
	 {0x1000, 0x2000, 0, 9, 8, 1, "/a b\\012c"}},
	{"1000-2000 r--p 00000000 08:01 9 /lib/x.so"},
	{"1000-2000 rw-p 00000000 08:01 9 /lib/x.so"},
	{"1000-2000 r-xp 00000000 00:00 0 "},
	{"1000-2000 r-xp 00000000 00:00 0 [vdso]"},
	{"2000-1000 r-xp 00000000 08:01 9 /lib/x.so"},
	{"1000-1000 r-xp 00000000 08:01 9 /lib/x.so"},
	{"1000-2000 r-xp 00000000 08:01"},
	{"x"},
	{""},
};

static void test_maps(void)
{
	for (size_t i = 0; i < COUNT(maps); i++) {
		struct exec_map m = {.path = ""};
		const struct exec_map *w = &maps[i].want;
		char line[128];
		bool good;

		snprintf(line, sizeof(line), "%s", maps[i].line);
		good = exec_map_parse(line, &m);
		ok(good == maps[i].good &&
			   (!good ||
			    (m.start == w->start && m.end == w->end && m.offset == w->offset &&
			     m.inode == w->inode && m.dev_major == w->dev_major &&
			     m.dev_minor == w->dev_minor && !strcmp(m.path, w->path))),
		   "a mapping: \"%s\"", maps[i].line);
	}
}

static int count_map(void *ctx, const struct exec_map *m)
{
	unsigned long long *sum = ctx;

	sum[0]++;
	sum[1] += m->start ^ m->offset;
	return 0;
}

static int stop_at_map(void *ctx, const struct exec_map *m)
{
	return -EXDEV;
}

static int each_file(int proc, bool text_only, exec_map_fn *each, void *ctx, bool *ret_cut)
{
	return exec_maps_each(proc, EXEC_MAPS_FILES, text_only, each, ctx, ret_cut);
}

static int find_vdso(void *ctx, const struct exec_map *m)
{
	*(int *)ctx += !strcmp(m->path, "[vdso]") && !m->inode;
	return 0;
}

/* Tests that the query ioctl and the text of /proc/PID/maps return the same mappings. */
static void test_own_maps(void)
{
	int vdso[2] = {};
	unsigned long long asked[2] = {}, text[2] = {};
	int proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool cut = false;

	is_u64(each_file(proc, false, count_map, asked, &cut), 0, "our own mappings");
	is_u64(each_file(proc, true, count_map, text, &cut), 0, "the same as text");
	ok(asked[0] > 2 && asked[0] == text[0] && asked[1] == text[1], "both ways agree");
	ok(each_file(proc, false, stop_at_map, NULL, &cut) == -EXDEV, "an error ends it");
	ok(each_file(proc, true, stop_at_map, NULL, &cut) == -EXDEV, "as text, too");
	ok(!cut, "nothing was cut");
	exec_maps_each(proc, EXEC_MAPS_ALL, false, find_vdso, &vdso[0], &cut);
	exec_maps_each(proc, EXEC_MAPS_ALL, true, find_vdso, &vdso[1], &cut);
	ok(vdso[0] == 1 && vdso[1] == 1, "those without a file are among all");
	close(proc);
}

static const struct {
	const char *line;
	bool good;
	unsigned long long start;
	unsigned int bytes;
	const char *name;
} lines[] = {
	{"7f0012340000 40 py::f:/x y.py\n", true, 0x7f0012340000, 0x40, "py::f:/x y.py\n"},
	{"10 ffffffffff LazyCompile:~a\n", true, 0x10, 0xffffffff, "LazyCompile:~a\n"},
	{"0x10 0x20 f\n", true, 0x10, 0x20, "f\n"},
	{"ffffffffffffffffff 1 f\n", true, ~0ULL, 1, "f\n"},
	{"10 0 f\n"},
	{"10 20 \n"},
	{"10 20\n"},
	{"10\n"},
	{" 10 20 f\n"},
	{"-10 20 f\n"},
	{"10 -20 f\n"},
	{"f\n"},
	{"\n"},
	{""},
};

static void test_perf_lines(void)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		__u64 start = 0;
		__u32 bytes = 0;
		size_t name = 0;
		bool good = perf_map_parse(lines[i].line, &start, &bytes, &name);

		ok(good == lines[i].good &&
			   (!good || (start == lines[i].start && bytes == lines[i].bytes &&
				      !strcmp(lines[i].line + name, lines[i].name))),
		   "a line of a perf map: \"%.*s\"", (int)strcspn(lines[i].line, "\n"),
		   lines[i].line);
	}
}

static void is_identity(const char *status, bool good, __u32 euid, __u32 pid, const char *name)
{
	struct target_identity id = {7, 7};

	ok(target_identity_parse(status, &id) == good && id.euid == (good ? euid : 7) &&
		   id.pid == (good ? pid : 7),
	   "%s", name);
}

static void test_identity(void)
{
	is_identity("Name:\tx\nUid:\t0\t1000\t0\t0\nNSpid:\t44\t3\t1\n", true, 1000, 1,
		    "in a pid namespace");
	is_identity("Name:\tx\nUid:\t5\t6\t7\t8\nNSpid:\t44\n", true, 6, 44, "in ours");
	is_identity("Name:\tUid: 9\nUid:\t5\t6\nNSpid:\t44\n", true, 6, 44, "a name that pretends");
	is_identity("Name:\tx\nUid:\t5\t6\t7\t8\n", false, 0, 0, "no NSpid");
	is_identity("Name:\tx\nUid:\nNSpid:\t44\n", false, 0, 0, "no user");
	is_identity("", false, 0, 0, "nothing");
}

static const struct {
	const char *name;
	const char *want; /* expected name; NULL means that demangle() must fail with -EINVAL */
} mangled[] = {
	{"_ZN2at6native3addERKNS_6TensorES3_", "at::native::add"},
	{"_ZN5outer5innerIiEEvT_", "outer::inner<int>"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
	{"_ZN46_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$X$GT$4drop17h0123456789abcdefE",
	 "<alloc::vec::Vec<T> as X>::drop"},
	{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	{"_RNvCs_5crateu8gdel_5qa", "crate::g\303\266del"},
	{"main", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_ZN2at6native3ad", NULL},
	{"_ZZZZZZZZ", NULL},
	{"", NULL},
};

static void test_demangle(void)
{
	char got[256], tiny[8];

	for (size_t i = 0; i < COUNT(mangled); i++) {
		int err = demangle(mangled[i].name, got, sizeof(got));

		if (mangled[i].want && !err)
			is_str(got, mangled[i].want, mangled[i].name);
		else
			ok(err == (mangled[i].want ? 0 : -EINVAL), "\"%s\"", mangled[i].name);
	}
	is_u64(demangle("_ZN2at6native3addERKNS_6TensorES3_", tiny, sizeof(tiny)), 0,
	       "little room");
	is_str(tiny, "at::nat", "as much as fits");
}

/* Tests mangled names that become exponentially long: f<A, B<A, A>, B<B<A, A>, …>, …>. */
static void test_bomb(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[2048] = "_Z1fI1A", got[64] = "untouched";
	size_t len = strlen(name);

	for (int i = 0; i < 36; i += 2)
		len += snprintf(name + len, sizeof(name) - len, "1BIS%c_S%c_E", digits[i],
				digits[i]);
	snprintf(name + len, sizeof(name) - len, "EvT_");
	ok(demangle(name, got, sizeof(got)) == -E2BIG, "a bomb is stopped");
	is_str(got, "untouched", "and leaves nothing");
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	name[sizeof(name) - 1] = 0;
	ok(demangle(name, got, sizeof(got)) != 0, "a tower of pointers");
}

static const struct {
	const char *what;
	/* expected frames: a frame without a module ends the list; the module "?" is not known */
	struct user_symbol frame[3];
	bool is_short;
} stacks[] = {
	{"nothing", {}, true},
	{"down to _start", {{"f", "x"}, {"main", "x"}, {"_start", "x"}}, false},
	{"a thread", {{"f", "x"}, {"start_thread", "libc.so.6"}, {"clone3", "libc.so.6"}}, false},
	{"ends in a function", {{"mmap", "libc.so.6"}, {"f", "x"}}, true},
	{"one frame", {{"mmap", "libc.so.6"}}, true},
	{"a stripped libc's beginning", {{"main", "x"}, {"", "libc.so.6"}}, false},
	{"nameless in the libc itself", {{"mmap", "libc.so.6"}, {"", "libc.so.6"}}, true},
	{"calls from a named function of libc", {{"cmp", "x"}, {"qsort", "libc.so.6"}}, true},
	{"nameless elsewhere", {{"f", "x"}, {"", "y"}}, true},
	{"led astray", {{"f", "x"}, {"", "?"}}, true},
	{"Go", {{"main.main", "x"}, {"runtime.main", "x"}, {"runtime.goexit.abi0", "x"}}, false},
};

static void test_short(void)
{
	struct user_symbol many[4] = {{"f", "x"}, {"f", "x"}, {"main", "x"}, {"_start", "x"}};

	for (size_t i = 0; i < COUNT(stacks); i++) {
		struct user_symbol frame[3];
		size_t n = 0;

		for (; n < 3 && stacks[i].frame[n].module[0]; n++) {
			frame[n] = stacks[i].frame[n];
			if (frame[n].module[0] == '?')
				frame[n].module[0] = 0;
		}
		ok(user_stack_may_be_short(frame, n, 48) == stacks[i].is_short, "%s",
		   stacks[i].what);
	}
	ok(user_stack_may_be_short(many, 4, 4), "as deep as can be told");
	ok(!user_stack_may_be_short(many, 4, 5), "not quite");
}

static void test_text(void)
{
	struct user_symbol s = {.module = "libx.so", .address = 0x1234};
	char text[64];

	user_symbol_text(&s, text, sizeof(text));
	is_str(text, "libx.so+0x1234", "a file without the name");
	strcpy(s.name, "ns::f");
	user_symbol_text(&s, text, sizeof(text));
	is_str(text, "ns::f", "a name");
	user_symbol_text(&(struct user_symbol){}, text, sizeof(text));
	is_str(text, "[unknown]", "nothing");
	user_symbol_text(&s, text, 3);
	is_str(text, "ns", "cut");
}

/* A name is cut to its room. A demangled name of more than 64 KiB is malicious. */
static void test_lengths(void)
{
	static const struct {
		size_t size;
		const char *want;
	} rows[] = {{17, "at::native::add"},
		    {16, "at::native::add"},
		    {15, "at::native::ad"},
		    {2, "a"},
		    {1, ""}};
	static char name[2048], got[DEMANGLE_TEXT_BYTES + 64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[32];

		memset(text, '#', sizeof(text));
		is_u64(demangle("_ZN2at6native3addERKNS_6TensorES3_", text, rows[i].size), 0,
		       "a name");
		is_str(text, rows[i].want, "as much as fits");
		is_u64(text[rows[i].size], '#', "nothing is written behind its room");
	}
	/* f<A, A, …>, where f has 16 or 17 bytes, and each of the 140 A has 466 bytes */
	for (size_t more = 0; more <= 1; more++) {
		size_t at =
			snprintf(name, sizeof(name), "_Z%zu%0*dI466", 16 + more, 16 + (int)more, 0);

		memset(name + 4, 'f', 16 + more);
		memset(name + at, 'A', 466);
		at += 466;
		for (int i = 1; i < 140; i++)
			at += snprintf(name + at, sizeof(name) - at, "S0_");
		snprintf(name + at, sizeof(name) - at, "EvT_");
		ok(demangle(name, got, sizeof(got)) == (more ? -E2BIG : 0), "a name of %zu bytes",
		   DEMANGLE_TEXT_BYTES + more);
	}
	is_u64(strlen(got), DEMANGLE_TEXT_BYTES, "the longest name");
}

/* The mark of a deleted file is no part of its path. */
static void test_deleted(void)
{
	static const struct {
		const char *path;
		bool deleted;
		const char *want;
	} rows[] = {{"/a (deleted)", true, "/a"},
		    {"/lib/x.so (deleted)", true, "/lib/x.so"},
		    {"/ (deleted)", false, "/ (deleted)"},
		    {" (deleted)", false, " (deleted)"},
		    {"/a (deleted).so", false, "/a (deleted).so"},
		    {"/a(deleted)", false, "/a(deleted)"},
		    {"/a", false, "/a"},
		    {"", false, ""}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct exec_map m = {.path = rows[i].path};
		char path[32];

		ok(mapped_file_path(&m, path, sizeof(path)) == rows[i].deleted, "whether \"%s\" is",
		   rows[i].path);
		is_str(path, rows[i].want, "its path");
	}
}

int main(void)
{
	test_table();
	test_full_table();
	test_maps();
	test_own_maps();
	test_perf_lines();
	test_identity();
	test_demangle();
	test_bomb();
	test_short();
	test_text();
	test_lengths();
	test_deleted();
	return tap_done();
}
