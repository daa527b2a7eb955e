// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests to which module an address belongs, which modules are forgotten, and lists in records. */
#include <stdio.h>

#include "blackbox/modules.h"
#include "tap.h"

#define BASE 0xffffffffc0000000ull

static struct bb_modules m;

static struct bb_module module(const char *name, uint64_t start, uint64_t bytes, uint64_t loaded_ns)
{
	struct bb_module one = {.loaded_ns = loaded_ns};

	snprintf(one.name, sizeof(one.name), "%s", name);
	one.start[0] = start;
	one.bytes[0] = bytes;
	return one;
}

static void load(const char *name, uint64_t start, uint64_t bytes, uint64_t loaded_ns)
{
	struct bb_module one = module(name, start, bytes, loaded_ns);

	bb_module_loaded(&m, &one);
}

static void unload(const char *name, uint64_t when_ns)
{
	struct bb_module one = module(name, 0, 0, 0);

	bb_module_gone(&m, &one, when_ns);
}

static void is_of(uint64_t address, const char *want, const char *what)
{
	const struct bb_module *one = bb_module_of(&m, address);

	is_str(one ? one->name : "none", want, what);
}

static void test_ranges(void)
{
	struct bb_module parts = module("parts", BASE, 0x1000, 7);

	parts.start[3] = BASE + 0x8000;
	parts.bytes[3] = 0x10;
	m = (struct bb_modules){};
	bb_module_loaded(&m, &parts);
	is_of(BASE - 1, "none", "before a module");
	is_of(BASE, "parts", "its first byte");
	is_of(BASE + 0xfff, "parts", "its last byte");
	is_of(BASE + 0x1000, "none", "behind it");
	is_of(BASE + 0x8000, "parts", "its last part");
	is_of(BASE + 0x800f, "parts", "the end of this part");
	is_of(BASE + 0x8010, "none", "behind this part");
	is_of(0, "none", "an empty part has no address");
}

/* Loads two modules whose ranges overlap, in both orders. */
static void is_likelier(uint64_t start, uint64_t loaded_ns, uint64_t unloaded_ns,
			uint64_t other_start, uint64_t other_loaded_ns, uint64_t other_unloaded_ns,
			const char *what)
{
	for (int turn = 0; turn < 2; turn++) {
		m = (struct bb_modules){};
		if (turn)
			load("other", other_start, 0x4000, other_loaded_ns);
		load("likely", start, 0x4000, loaded_ns);
		if (!turn)
			load("other", other_start, 0x4000, other_loaded_ns);
		if (unloaded_ns)
			unload("likely", unloaded_ns);
		if (other_unloaded_ns)
			unload("other", other_unloaded_ns);
		is_of(BASE + 0x2000, "likely", what);
	}
}

static void test_overlaps(void)
{
	is_likelier(BASE, 5, 0, BASE, 0, 0, "the exact range of a load that was seen");
	is_likelier(BASE, 5, 0, BASE, 3, 9, "one that is still loaded");
	is_likelier(BASE, 5, 6, BASE, 0, 0, "an unloaded one, if only the other's size is known");
	is_likelier(BASE, 1, 9, BASE, 2, 8, "the one that was unloaded last");
	is_likelier(BASE + 0x1000, 5, 0, BASE, 5, 0, "the one that begins next to the address");
	is_likelier(BASE + 0x1000, 0, 0, BASE, 0, 0, "also if only sizes are known");
	m = (struct bb_modules){};
	load("first", BASE, 0x1000, 5);
	load("second", BASE, 0x1000, 5);
	is_of(BASE, "first", "of two with equal ranges, the first");
}

static void test_names(void)
{
	struct bb_module again = module("lab", BASE + 0x8000, 0x10, 9);

	m = (struct bb_modules){};
	load("lab", BASE, 0x1000, 3);
	bb_module_loaded(&m, &again);
	is_u64(m.n, 1, "a loaded module is there once");
	is_of(BASE, "none", "where it was");
	is_of(BASE + 0x8000, "lab", "where it is");
	unload("lab", 12);
	load("lab", BASE, 0x1000, 13);
	is_u64(m.n, 2, "after an unload, it is there again");
	is_u64(bb_module_of(&m, BASE + 0x8000)->unloaded_ns, 12, "the unloaded one is kept");
	is_u64(bb_module_of(&m, BASE)->unloaded_ns, 0, "the other is loaded");
	again = module("never seen", BASE + 0x10000, 0x20, 0);
	bb_module_gone(&m, &again, 20);
	is_u64(bb_module_of(&m, BASE + 0x1001f)->unloaded_ns, 20, "an unload without a load");
	load("sized", BASE + 0x20000, 0x4000, 0);
	again = module("sized", BASE + 0x20000, 0x1000, 0);
	bb_module_gone(&m, &again, 30);
	is_of(BASE + 0x21000, "none", "an unload says the exact range");
	is_of(BASE + 0x20fff, "sized", "and this is known");
}

static void fill(size_t n)
{
	char name[32];

	m = (struct bb_modules){};
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "m%03zu", i);
		load(name, BASE + i * 0x1000, 0x1000, 1);
	}
}

static void test_room(void)
{
	fill(BB_MODULES_MAX);
	is_u64(m.forgotten, 0, "as many modules as are kept");
	unload("m007", 9);
	unload("m005", 10);
	load("new", BASE + 0x10000000, 0x1000, 11);
	is_u64(m.n, BB_MODULES_MAX, "one more");
	is_u64(m.forgotten, 1, "one is forgotten");
	is_of(BASE + 0x5000, "none", "the oldest of the unloaded ones");
	is_of(BASE + 0x4000, "m004", "not the one before it");
	is_of(BASE + 0x7000, "m007", "nor the other unloaded one");
	is_of(BASE + 0x10000000, "new", "the new one is there");
	load("new2", BASE + 0x20000000, 0x1000, 11);
	is_of(BASE + 0x7000, "none", "then the other unloaded one");
	load("new3", BASE + 0x30000000, 0x1000, 11);
	is_of(BASE, "none", "without unloaded ones, the oldest");
	is_of(BASE + 0x1000, "m001", "and no other");
	is_u64(m.forgotten, 3, "three are forgotten");
	is_of(BASE + (BB_MODULES_MAX - 1) * 0x1000, "m511", "the last one moved");
}

static void test_lists(void)
{
	static struct bb_modules back;
	size_t at = 0, records = 0;

	fill(100);
	back = (struct bb_modules){};
	while (at < m.n) {
		struct bb_record r = {.class = BB_MODULE};
		size_t some = bb_modules_put(&r, &m, at);

		if (!ok(some, "%zu modules in a record", some))
			return;
		bb_modules_take(&back, &r);
		at += some;
		records++;
	}
	ok(records > 2, "the list has %zu records", records);
	is_u64(at, 100, "all modules are in it");
	is_u64(back.n, 100, "and all are read again");
	for (size_t i = 0; i < back.n; i++)
		ok(!strcmp(back.module[i].name, m.module[i].name) &&
			   back.module[i].start[0] == m.module[i].start[0] &&
			   back.module[i].bytes[0] == 0x1000 && !back.module[i].loaded_ns,
		   "module %zu", i);
}

#define LIST_MAX 392 /* characters of a list of modules in a record */

/* Two modules whose list has `len` characters. Returns how many of them are in one record. */
static size_t listed(size_t len)
{
	struct bb_record r = {.class = BB_MODULE};
	char name[32];
	size_t n = 0;

	m = (struct bb_modules){};
	for (; len >= 2 * 28; len -= 28) { /* " m00@ffffffffc0000000+10000" has 27 characters */
		snprintf(name, sizeof(name), "%0*zu", n ? 4 : 5, n);
		load(name, BASE, 0x10000, 1);
		n++;
	}
	snprintf(name, sizeof(name), "%0*zu", (int)len - 24, n);
	load(name, BASE, 0x10000, 1);
	return bb_modules_put(&r, &m, 0);
}

static void test_full_record(void)
{
	struct bb_record r = {.class = BB_MODULE};
	size_t n = listed(LIST_MAX);

	is_u64(n, m.n, "the longest list");
	n = listed(LIST_MAX + 1);
	is_u64(n, m.n - 1, "a list that is longer lacks the last module");
	memset(r.text, 'x', BB_TEXT_MAX - 30);
	is_u64(bb_modules_put(&r, &m, 0), 0, "a record without room");
	is_u64(strlen(r.text), BB_TEXT_MAX - 30, "is not changed");
	m = (struct bb_modules){};
	r = (struct bb_record){.class = BB_MODULE};
	bb_put(&r, "text", "10+20");
	bb_modules_take(&m, &r);
	is_u64(m.n, 0, "a record without a module's name");
	r = (struct bb_record){.class = BB_MODULE};
	bb_put(&r, "modules", "one@10+20 two@30 three@+40 @50+60 four@70+80");
	bb_modules_take(&m, &r);
	is_u64(m.n, 2, "a list with damaged entries");
	is_of(0x2f, "one", "has the whole ones");
	is_of(0x70, "four", "up to the last");
	is_of(0x30, "none", "but no others");
}

static void test_records(void)
{
	struct bb_module one = module("lab", BASE, 0x1000, 0);
	struct bb_record r = {.class = BB_MODULE, .boot_ns = 77};
	struct bb_module *back = &m.module[0];

	one.start[1] = BASE + 0x8000;
	one.bytes[1] = 0x20;
	one.start[3] = BASE + 0x9000;
	one.bytes[3] = 0x30;
	bb_put(&r, "event", "loaded");
	bb_module_put(&r, &one);
	m = (struct bb_modules){};
	bb_modules_take(&m, &r);
	is_u64(m.n, 1, "a record of a load");
	is_str(back->name, "lab", "its name");
	is_u64(back->loaded_ns, 77, "its time");
	for (int i = 0; i < BB_MODULE_PARTS; i++)
		ok(back->start[i] == one.start[i] && back->bytes[i] == one.bytes[i], "part %d", i);
	r = (struct bb_record){.class = BB_MODULE, .boot_ns = 99};
	bb_put(&r, "event", "unloaded");
	bb_module_put(&r, &one);
	bb_modules_take(&m, &r);
	is_u64(m.n, 1, "a record of its unload");
	is_u64(back->unloaded_ns, 99, "its time");
	r.class = BB_CONSOLE;
	r.boot_ns = 111;
	bb_modules_take(&m, &r);
	is_u64(m.n, 1, "a record of another class is ignored");
	is_u64(back->unloaded_ns, 99, "the time stays");
}

int main(void)
{
	test_ranges();
	test_overlaps();
	test_names();
	test_room();
	test_lists();
	test_full_record();
	test_records();
	return tap_done();
}
