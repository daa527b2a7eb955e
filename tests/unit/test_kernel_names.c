// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the names of kernel functions with lists like /proc/kallsyms and /proc/modules. This
 * machine may hide its addresses, so fopen() is replaced by a function that returns the lists of
 * the test.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/symbols/kernel_names.h"
#include "tap.h"

#define KERNEL	  0xffffffff81000000ULL
#define MODULE	  0xffffffffc0100000ULL
#define FUNCTIONS 700 /* of the kernel, and of each module; more than a step reads */
#define BYTES	  48  /* of a function */
#define MOST_TEXT (1 << 18)

static char kallsyms[MOST_TEXT], modules[1024];
static size_t symbols;
static bool missing; /* the files cannot be opened */

FILE *fopen(const char *path, const char *mode)
{
	char *text = strcmp(path, "/proc/kallsyms") ? modules : kallsyms;

	(void)mode;
	return missing ? NULL : fmemopen(text, strlen(text), "r");
}

static void add(uint64_t at, const char *type, const char *name, const char *module)
{
	symbols += snprintf(kallsyms + symbols, MOST_TEXT - symbols, "%016" PRIx64 " %s %s%s%s%s\n",
			    at, type, name, *module ? "\t[" : "", module, *module ? "]" : "");
}

/* Makes a list in which the kernel and two modules have functions, with data between them. */
static void make_lists(const char *prefix)
{
	static const char *const of[] = {"", "nf_tables", "xfs"};
	char name[32];

	symbols = 0;
	for (size_t m = 0; m < 3; m++)
		for (uint64_t i = 0; i < FUNCTIONS; i++) {
			uint64_t base = m ? MODULE + (m - 1) * 0x100000 : KERNEL;

			snprintf(name, sizeof(name), "%s_%zu_%" PRIu64, prefix, m, i);
			add(base + i * BYTES, i % 3 ? "t" : "T", name, of[m]);
			if (i % 7 == 0)
				add(base + i * BYTES + 8, "d", "data", of[m]);
		}
	add(KERNEL + (4 << 20), "T", "after_a_gap", "");
	add(0, "T", "without_an_address", "");
	snprintf(modules, sizeof(modules),
		 "nf_tables 65536 1 - Live 0x%016llx (E)\nxfs 131072 0 - Live 0x%016llx\n"
		 "hidden 4096 0 - Live 0x0000000000000000\nnonsense\n",
		 MODULE, MODULE + 0x100000);
}

static void check_name(const struct kernel_names *k, const struct bb_modules *m, uint64_t ip,
		       const char *name, const char *module)
{
	char got[128] = "old", of[BB_MODULE_NAME] = "old";
	bool found = kernel_names_find(k, m, ip, got, sizeof(got), of);

	ok(found == (*name != 0) && !strcmp(got, name) && !strcmp(of, module),
	   "0x%" PRIx64 " is \"%s\" of \"%s\"; expected \"%s\" of \"%s\"", ip, got, of, name,
	   module);
}

static void check_functions(const struct kernel_names *k, const struct bb_modules *m,
			    const char *prefix, const char *kernel_prefix)
{
	static const char *const of[] = {"", "nf_tables", "xfs"};
	static const uint64_t nth[] = {0, 1, 2, 255, 256, 257, 511, 512, 600, FUNCTIONS - 1};
	static const uint64_t offsets[] = {0, 1, BYTES - 1};
	char want[128];

	for (size_t mod = 0; mod < 3; mod++)
		for (size_t i = 0; i < sizeof(nth) / sizeof(nth[0]); i++)
			for (size_t o = 0; o < 3; o++) {
				uint64_t base = mod ? MODULE + (mod - 1) * 0x100000 : KERNEL;

				snprintf(want, sizeof(want), "%s_%zu_%" PRIu64 "+0x%" PRIx64,
					 mod ? prefix : kernel_prefix, mod, nth[i], offsets[o]);
				check_name(k, m, base + nth[i] * BYTES + offsets[o], want, of[mod]);
			}
}

static void test_read(struct kernel_names *k, struct bb_modules *m)
{
	make_lists("f");
	ok(kernel_names_read(k), "the list has addresses");
	kernel_modules_read(m);
	is_u64(m->n, 2, "modules with an address");
	ok(m->module[0].start[0] == MODULE && m->module[0].bytes[0] == 65536 &&
		   m->module[1].start[0] == MODULE + 0x100000 && m->module[1].bytes[0] == 131072,
	   "their ranges");
	check_functions(k, m, "f", "f");
	check_name(k, m, KERNEL - 1, "", "");
	check_name(k, m, KERNEL + (2 << 20), "", "");
	check_name(k, m, KERNEL + (4 << 20), "after_a_gap+0x0", "");
	check_name(k, m, KERNEL + (4 << 20) + 4095, "after_a_gap+0xfff", "");
	check_name(k, m, KERNEL + (4 << 20) + 4096, "", "");
	check_name(k, m, MODULE + 65535, "f_1_699+0x7cef", "nf_tables");
	check_name(k, m, MODULE + 65536, "", "");
	is_u64(kernel_names_lost(k), 0, "no name was left out");
}

/* Reads the functions of modules again: the old names stay until the last step. */
static void test_steps(struct kernel_names *k, struct bb_modules *m)
{
	int steps = 0;

	make_lists("g");
	while (!kernel_names_step(k) && steps < 100) {
		steps++;
		check_name(k, m, MODULE, "f_1_0+0x0", "nf_tables");
	}
	/* a step reads 256 lines; 700 functions and 100 data symbols of each of three lists */
	is_u64(steps, (3 * (FUNCTIONS + FUNCTIONS / 7) + 2) / 256, "steps before the last one");
	check_functions(k, m, "g", "f");
	missing = true;
	ok(kernel_names_step(k), "a step without the file is the last one");
	missing = false;
	check_name(k, m, MODULE, "g_1_0+0x0", "nf_tables");
	is_u64(kernel_names_lost(k), 0, "no name was left out");
}

/* A module that was unloaded, or loaded after the names were read, has offsets but no names. */
static void test_changes(struct kernel_names *k, struct bb_modules *m)
{
	struct bb_module one = {.name = "late", .start = {MODULE + 0x300000}, .bytes = {8192}};

	bb_module_loaded(m, &one);
	check_name(k, m, MODULE + 0x300000 + 0x123, "+0x123", "late");
	one = m->module[0];
	bb_module_gone(m, &one, 5);
	check_name(k, m, MODULE + 0x30, "+0x30", "nf_tables");
	one = (struct bb_module){
		.name = "other", .start = {MODULE}, .bytes = {65536}, .loaded_ns = 6};
	bb_module_loaded(m, &one);
	check_name(k, m, MODULE + 0x31, "+0x31", "other");
}

static void test_nothing(void)
{
	struct bb_modules m = {};
	struct kernel_names k = {};

	missing = true;
	ok(!kernel_names_read(&k), "no file");
	kernel_modules_read(&m);
	is_u64(m.n, 0, "no modules");
	missing = false;
	symbols = 0;
	add(0, "T", "hidden", "");
	ok(!kernel_names_read(&k), "a list whose addresses are hidden");
	kernel_names_free(&k);
}

#define FORTY	 "f234567890123456789012345678901234567890"
#define FAR	 (KERNEL + (16 << 20))
#define MODULE55 "m234567890123456789012345678901234567890123456789012345"

/* Tests lines just inside and just outside of what is kept. */
static void test_lines(void)
{
	struct bb_modules m = {};
	struct kernel_names k = {};
	struct bb_module one = {.name = MODULE55, .start = {MODULE}, .bytes = {4096}};

	symbols = 0;
	add(FAR, "T", FORTY FORTY, "");
	add(FAR + 0x10, "T", FORTY FORTY "x", "");
	add(FAR + 0x20, "t", "small", "");
	add(FAR + 0x30, "W", "weak", "");
	add(FAR + 0x38, "s", "before_t", "");
	add(FAR + 0x40, "u", "behind_t", "");
	add(FAR + (4 << 20), "T", "alias", "");
	add(FAR + (4 << 20), "T", "alias_2", "");
	add(FAR + (8 << 20), "T", "last", "");
	add(1, "T", "first", "");
	add(MODULE, "t", "g", MODULE55);
	ok(kernel_names_read(&k), "the list has addresses");
	bb_module_loaded(&m, &one);
	check_name(&k, &m, FAR, FORTY FORTY "+0x0", "");
	check_name(&k, &m, FAR + 0x10, FORTY FORTY "+0x0", "");
	check_name(&k, &m, FAR + 0x3f, "small+0x1f", "");
	check_name(&k, &m, FAR + 0x20 + (1 << 20) - 1, "small+0xfffff", "");
	check_name(&k, &m, FAR + 0x20 + (1 << 20), "", "");
	check_name(&k, &m, FAR + (4 << 20) + 5, "alias+0x5", "");
	check_name(&k, &m, 1, "first+0x0", "");
	check_name(&k, &m, 0, "", "");
	check_name(&k, &m, MODULE + 4095, "g+0xfff", MODULE55);
	check_name(&k, &m, MODULE + 4096, "", "");
	is_u64(kernel_names_lost(&k), 0, "no name was left out");
	kernel_names_free(&k);
	ok(!k.kernel.table.n && !k.modules.table.n && !k.kernel.text, "freed");
}

/* Functions that are left out are counted in both tables, and for two reasons. */
static void test_lost(void)
{
	struct kernel_names k = {};

	k.kernel.lost = 1;
	k.kernel.table.cut = 20;
	k.modules.lost = 300;
	k.modules.table.cut = 4000;
	k.next.lost = 50000; /* of a list that is not read to its end */
	is_u64(kernel_names_lost(&k), 4321, "functions that were left out");
}

int main(void)
{
	struct kernel_names k = {};
	static struct bb_modules m;

	test_read(&k, &m);
	test_steps(&k, &m);
	test_changes(&k, &m);
	kernel_names_free(&k);
	test_nothing();
	test_lines();
	test_lost();
	return tap_done();
}
