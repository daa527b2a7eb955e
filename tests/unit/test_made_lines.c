// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests source lines with debug information that the test makes: functions of the test take the
 * place of libdw's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lines/source_lines.h"
#include "tap.h"

#define FILE_MOST (1ULL << 30) /* greatest size of a file */
#define BLOCK	  0x0b	       /* DW_TAG_lexical_block */
#define SCOPES	  40

/* an address range of a compilation unit */
struct made_range {
	uint64_t start, end;
	const char *file; /* source file of its lines */
};

/* a function, an inlined function, or a block */
struct made_scope {
	int tag;
	const char *name, *linkage;
	uint64_t file, line; /* from where it was called */
};

static struct {
	struct made_range range[2][4]; /* of two compilation units; an end of 0 is the end */
	struct made_scope scope[SCOPES];
	int scopes;
	int inner; /* result of getscopes() */
	const char *file;
	int line;
	bool has_lines, has_files;
	size_t files;
	int opened, closed;
} made;

static void *begin_elf(void *elf, int command, void *group)
{
	made.opened += elf && !command && !group;
	return made.opened ? &made : NULL;
}

static int end_dwarf(void *dwarf)
{
	made.closed += dwarf == &made;
	return 0;
}

static int get_units(void *dwarf, void *unit, void **ret_next, uint16_t *ret_version,
		     uint8_t *ret_type, struct dw_die *ret_die, struct dw_die *ret_subdie)
{
	size_t i = unit ? (struct made_range(*)[4])unit - made.range + 1 : 0;

	(void)dwarf, (void)ret_version, (void)ret_type, (void)ret_subdie;
	if (i == 2)
		return 1;
	*ret_next = &made.range[i];
	*ret_die = (struct dw_die){.address = &made.range[i]};
	return 0;
}

static ptrdiff_t ranges(struct dw_die *die, ptrdiff_t offset, uint64_t *ret_base,
			uint64_t *ret_start, uint64_t *ret_end)
{
	const struct made_range *r = (const struct made_range *)die->address + offset;

	*ret_base = 0;
	*ret_start = r->start;
	*ret_end = r->end;
	return r->end ? offset + 1 : 0;
}

static void *getsrc_die(struct dw_die *unit, uint64_t address)
{
	const struct made_range *r = unit->address;

	(void)address;
	if (r->file)
		made.file = r->file;
	return made.has_lines ? &made : NULL;
}

static const char *linesrc(void *line, uint64_t *ret_time, uint64_t *ret_length)
{
	(void)line, (void)ret_time, (void)ret_length;
	return made.file;
}

static int lineno(void *line, int *ret)
{
	(void)line;
	*ret = made.line;
	return 0;
}

static int getscopes(struct dw_die *unit, uint64_t address, struct dw_die **ret)
{
	(void)unit, (void)address;
	if (made.inner > 0)
		*ret = calloc(1, sizeof(**ret));
	return made.inner;
}

static int getscopes_die(struct dw_die *die, struct dw_die **ret)
{
	if (!die || !made.scopes)
		return 0;
	*ret = calloc(made.scopes, sizeof(**ret));
	for (int i = 0; i < made.scopes; i++)
		(*ret)[i].address = &made.scope[i];
	return made.scopes;
}

static int tag(struct dw_die *die)
{
	return ((const struct made_scope *)die->address)->tag;
}

static struct dw_attribute *attr_integrate(struct dw_die *die, unsigned int code,
					   struct dw_attribute *ret)
{
	const struct made_scope *s = die->address;
	bool has = code == DW_AT_NAME		? s->name != NULL
		   : code == DW_AT_LINKAGE_NAME ? s->linkage != NULL
						: true;

	*ret = (struct dw_attribute){.code = code, .unit = die->address};
	return has ? ret : NULL;
}

static const char *formstring(struct dw_attribute *attribute)
{
	const struct made_scope *s = attribute->unit;

	return attribute->code == DW_AT_NAME ? s->name : s->linkage;
}

static int formudata(struct dw_attribute *attribute, uint64_t *ret)
{
	const struct made_scope *s = attribute->unit;

	*ret = attribute->code == DW_AT_CALL_FILE ? s->file : s->line;
	return *ret == UINT64_MAX; /* a number that cannot be read */
}

static int getsrcfiles(struct dw_die *unit, void **ret, size_t *ret_n)
{
	(void)unit;
	*ret = &made;
	*ret_n = made.files;
	return made.has_files ? 0 : -1;
}

static const char *filesrc(void *files, size_t i, uint64_t *ret_time, uint64_t *ret_length)
{
	static const char *const name[] = {"zero.c", "one.c", "two.c"};

	(void)files, (void)ret_time, (void)ret_length;
	return name[i];
}

static const struct libdw dw = {
	.begin_elf = begin_elf,
	.end = end_dwarf,
	.get_units = get_units,
	.ranges = ranges,
	.getsrc_die = getsrc_die,
	.linesrc = linesrc,
	.lineno = lineno,
	.getscopes = getscopes,
	.getscopes_die = getscopes_die,
	.tag = tag,
	.attr_integrate = attr_integrate,
	.formstring = formstring,
	.formudata = formudata,
	.getsrcfiles = getsrcfiles,
	.filesrc = filesrc,
};

/* One function that covers the addresses from 16 up to 32. */
static void begin(void)
{
	memset(&made, 0, sizeof(made));
	made.range[0][0] = (struct made_range){16, 32, "main.c"};
	made.scope[0] = (struct made_scope){.tag = DW_TAG_SUBPROGRAM, .name = "main"};
	made.scopes = 1;
	made.inner = 1;
	made.line = 7;
	made.has_lines = made.has_files = true;
	made.files = 3;
}

/* Opens the debug information, for a file of this size. Returns 0 or -errno. */
static int open_lines(uint64_t bytes, struct source_lines **ret)
{
	int fd = memfd_create("lines", MFD_CLOEXEC), err;

	if (fd < 0 || ftruncate(fd, bytes))
		abort();
	err = source_lines_open(&dw, fd, ret);
	close(fd);
	return err;
}

/* Opens the debug information and looks up an address. Returns the number of frames. */
static size_t find(uint64_t address, struct source_frame ret[SOURCE_FRAMES_MAX])
{
	struct source_lines *l = NULL;
	size_t n;

	memset(ret, 0xff, SOURCE_FRAMES_MAX * sizeof(*ret));
	if (!ok(!open_lines(64, &l), "debug information is opened"))
		return 0;
	n = source_lines_find(l, address, ret);
	source_lines_close(l);
	return n;
}

static void is_frame(const struct source_frame *f, const char *function, const char *file,
		     uint32_t line)
{
	is_str(f->function, function, "the function");
	is_str(f->file, file, "the file");
	is_u64(f->line, line, "the line");
}

static void test_open(void)
{
	struct source_lines *l = NULL;

	begin();
	is_u64(open_lines(FILE_MOST, &l), 0, "a file of 1 GiB");
	is_u64(made.opened, 1, "is read");
	source_lines_close(l);
	is_u64(made.closed, 1, "and closed");
	is_u64(-open_lines(FILE_MOST + 1, &l), E2BIG, "a larger file");
	is_u64(made.opened, 1, "is not read");
	begin();
	made.range[0][0].end = 16;
	is_u64(-open_lines(64, &l), ENOENT, "code of no bytes");
	is_u64(made.closed, 1, "the debug information is closed at once");
	made.range[0][0].end = 15;
	is_u64(-open_lines(64, &l), ENOENT, "code that ends before its begin");
	made.range[0][0].end = 17;
	is_u64(open_lines(64, &l), 0, "code of one byte");
	source_lines_close(l);
}

/* Tests addresses at the borders of several ranges, which are in no order. */
static void test_ranges(void)
{
	static const struct {
		uint64_t address;
		const char *file;
	} t[] = {
		{15, NULL},  {16, "b.c"}, {31, "b.c"},	 {32, "a.c"},  {39, "a.c"},
		{40, NULL},  {99, NULL},  {100, "a.c"},	 {100, "a.c"}, {109, "a.c"},
		{110, NULL}, {111, NULL}, {~0ULL, NULL}, {0, NULL},
	};
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.range[0][0] = (struct made_range){100, 110, "a.c"};
	made.range[0][1] = (struct made_range){50, 50, "a.c"};
	made.range[0][2] = (struct made_range){32, 40, "a.c"};
	made.range[1][0] = (struct made_range){16, 32, "b.c"};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		size_t n = find(t[i].address, f);

		ok(n == (t[i].file != NULL), "address %#llx", (unsigned long long)t[i].address);
		if (n)
			is_frame(&f[0], "main", t[i].file, 7);
	}
}

static void test_line(void)
{
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.has_lines = false;
	is_u64(find(16, f), 0, "an address without a line");
	made.has_lines = true;
	made.line = 0;
	if (ok(find(16, f) == 1, "line 0"))
		is_frame(&f[0], "main", "main.c", 0);
	made.line = -1;
	if (ok(find(16, f) == 1, "a negative line"))
		is_frame(&f[0], "main", "main.c", 0);
	made.line = 1;
	if (ok(find(16, f) == 1, "line 1"))
		is_frame(&f[0], "main", "main.c", 1);
	made.range[0][0].file = NULL;
	made.file = NULL;
	if (ok(find(16, f) == 1, "a line without a file"))
		is_frame(&f[0], "main", "", 0);
}

static void test_scopes(void)
{
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.scope[0] = (struct made_scope){.tag = BLOCK, .name = "block"};
	made.scope[1] = (struct made_scope){DW_TAG_INLINED_SUBROUTINE, "inner", NULL, 1, 20};
	made.scope[2] = (struct made_scope){.tag = BLOCK, .name = "block"};
	made.scope[3] = (struct made_scope){DW_TAG_INLINED_SUBROUTINE, "middle", NULL, 2, 30};
	made.scope[4] = (struct made_scope){.tag = DW_TAG_SUBPROGRAM, .name = "outer"};
	made.scope[5] = (struct made_scope){.tag = DW_TAG_INLINED_SUBROUTINE, .name = "no"};
	made.scopes = 6;
	if (ok(find(16, f) == 3, "two inlined functions")) {
		is_frame(&f[0], "inner", "main.c", 7);
		is_frame(&f[1], "middle", "one.c", 20);
		is_frame(&f[2], "outer", "two.c", 30);
	}
	made.inner = 0;
	if (ok(find(16, f) == 1, "no scope"))
		is_frame(&f[0], "", "main.c", 7);
	made.inner = -1;
	is_u64(find(16, f), 1, "an error in place of scopes");
	made.inner = 1;
	made.scopes = 0;
	is_u64(find(16, f), 1, "no scopes around it");
	made.scopes = 2;
	if (ok(find(16, f) == 2, "no function around an inlined one")) {
		is_frame(&f[0], "inner", "main.c", 7);
		is_frame(&f[1], "", "one.c", 20);
	}
}

/* Tests the file and the line from which a function was called. */
static void test_call(void)
{
	static const struct {
		uint64_t file, line;
		const char *want;
		uint32_t want_line;
		const char *name;
	} t[] = {
		{2, 9, "two.c", 9, "the last file"},
		{3, 9, "", 0, "a file that is not listed"},
		{UINT64_MAX, 9, "zero.c", 9, "a number that cannot be read"},
		{1, UINT32_MAX, "one.c", UINT32_MAX, "the greatest line"},
		{1, (uint64_t)UINT32_MAX + 1, "one.c", 0, "a greater line"},
		{1, UINT64_MAX, "one.c", 0, "a line that cannot be read"},
	};
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.scopes = 2;
	made.scope[1] = made.scope[0];
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		made.scope[0] = (struct made_scope){DW_TAG_INLINED_SUBROUTINE, "inner", NULL,
						    t[i].file, t[i].line};
		if (ok(find(16, f) == 2, "%s", t[i].name))
			is_frame(&f[1], "main", t[i].want, t[i].want_line);
	}
	made.has_files = false;
	if (ok(find(16, f) == 2, "no list of files"))
		is_frame(&f[1], "main", "", 0);
}

/* Tests the greatest number of frames. */
static void test_most(void)
{
	struct source_frame f[SOURCE_FRAMES_MAX + 1];

	begin();
	for (int inlined = SOURCE_FRAMES_MAX - 2; inlined <= SOURCE_FRAMES_MAX; inlined++) {
		bool cut = inlined == SOURCE_FRAMES_MAX;

		for (int i = 0; i < inlined; i++)
			made.scope[i] = (struct made_scope){DW_TAG_INLINED_SUBROUTINE, "inner",
							    NULL, 1, 1 + i};
		made.scope[inlined] =
			(struct made_scope){.tag = DW_TAG_SUBPROGRAM, .name = "outer"};
		made.scopes = inlined + 1;
		memset(&f[SOURCE_FRAMES_MAX], 0x55, sizeof(*f));
		is_u64(find(16, f), cut ? SOURCE_FRAMES_MAX : inlined + 1,
		       "many inlined functions");
		is_u64(f[SOURCE_FRAMES_MAX - 2].line, SOURCE_FRAMES_MAX - 2,
		       "the last line but one");
		is_u64((unsigned char)f[SOURCE_FRAMES_MAX].file[0], 0x55,
		       "no frame behind the last");
	}
}

/* Tests a name of C++ that would become exponentially long. */
static void test_bomb(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct source_frame f[SOURCE_FRAMES_MAX];
	char name[2048] = "_Z1fI1A";
	size_t n = strlen(name);

	for (int i = 0; i < 36; i += 2)
		n += snprintf(name + n, sizeof(name) - n, "1BIS%c_S%c_E", digits[i], digits[i]);
	snprintf(name + n, sizeof(name) - n, "EvT_");
	begin();
	made.scopes = 3;
	made.scope[0] =
		(struct made_scope){DW_TAG_INLINED_SUBROUTINE, "first", "_ZN5place5firstEv", 1, 1};
	made.scope[1] = (struct made_scope){DW_TAG_INLINED_SUBROUTINE, "bomb", name, 1, 1};
	made.scope[2] = (struct made_scope){
		.tag = DW_TAG_SUBPROGRAM, .name = "last", .linkage = "_ZN5place4lastEv"};
	if (!ok(find(16, f) == 3, "three functions"))
		return;
	is_str(f[0].function, "place::first", "a name of C++");
	is_str(f[1].function, "bomb", "a malicious name is not shown");
	is_str(f[2].function, "last", "and no further name of this file is demangled");
}

/* Tests two names of C++ in one file. */
static void test_two_names(void)
{
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.scopes = 2;
	made.scope[0] =
		(struct made_scope){DW_TAG_INLINED_SUBROUTINE, "first", "_ZN5place5firstEv", 1, 1};
	made.scope[1] = (struct made_scope){
		.tag = DW_TAG_SUBPROGRAM, .name = "last", .linkage = "_ZN5place4lastEv"};
	if (!ok(find(16, f) == 2, "two functions"))
		return;
	is_str(f[0].function, "place::first", "the first name");
	is_str(f[1].function, "place::last", "the second name");
}

static void test_names(void)
{
	char longest[SOURCE_TEXT_BYTES + 1];
	struct source_frame f[SOURCE_FRAMES_MAX];

	begin();
	made.scope[0].linkage = "_ZN5place8functionEv";
	find(16, f);
	is_str(f[0].function, "place::function", "a name of C++");
	made.scope[0].linkage = "main_alias";
	find(16, f);
	is_str(f[0].function, "main", "a linkage name that is not mangled");
	made.scope[0].name = NULL;
	find(16, f);
	is_str(f[0].function, "main_alias", "and no other name");
	made.scope[0].linkage = NULL;
	find(16, f);
	is_str(f[0].function, "", "no name at all");
	memset(longest, 'x', sizeof(longest));
	longest[SOURCE_TEXT_BYTES] = 0;
	made.scope[0].name = longest;
	made.range[0][0].file = longest;
	find(16, f);
	is_u64(strlen(f[0].function), SOURCE_TEXT_BYTES - 1, "a long name is cut");
	is_u64(strlen(f[0].file), SOURCE_TEXT_BYTES - 1, "and a long path");
}

int main(void)
{
	test_open();
	test_ranges();
	test_line();
	test_scopes();
	test_call();
	test_most();
	test_two_names();
	test_bomb();
	test_names();
	return tap_done();
}
