// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests parts of collect each of whose allocations fails once: they return an error and can be used
 * again later. It also tests how many code objects of Python are dropped for lack of room.
 */
#define _GNU_SOURCE
#include "failing_memory.h"
#include "fakeroot.h"

#include "collect/names/process_identity.h"
#include "collect/python/python_codes.h"
#include "collect/symbols/kernel_names.h"
#include "collect/symbols/user_files.h"
#include "collect/symbols/user_procs.h"
#include "collect/symbols/user_symbols.h"
#include "open_files.h"
#include "tap.h"

static const struct process_key key = {.pid = 10, .start_ns = 7};

static struct python_code_record code_record(__u64 code)
{
	struct python_code_record r = {.subject = key, .code = code, .minor = 8, .first_line = 3};

	r.file_kind = r.name_kind = 1;
	r.file_bytes = snprintf((char *)r.file, sizeof(r.file), "a.py");
	r.name_bytes = snprintf((char *)r.name, sizeof(r.name), "f%llu", (unsigned long long)code);
	return r;
}

static bool knows(struct python_codes *c, __u64 code)
{
	struct python_frame frame = {.code = code};
	struct python_line_name p;
	char name[32];

	snprintf(name, sizeof(name), "f%llu", (unsigned long long)code);
	return python_codes_find(c, &key, &frame, &p) && !strcmp(p.name, name) && p.line == 3;
}

static void test_codes(void)
{
	struct python_code_record r = code_record(16);
	struct python_codes c = {};

	for (long fails = 0; fails < 2; fails++) {
		memory_fail_after(fails);
		is_u64(-python_codes_take(&c, &r), ENOMEM, "a code object without memory for it");
		ok(memory_recovers(), "an allocation has failed");
		ok(!c.n && !knows(&c, 16), "it is not known");
		python_codes_free(&c);
	}
	is_u64(-python_codes_take(&c, &r), 0, "later there is memory");
	ok(c.n == 1 && knows(&c, 16), "it is known");
	memory_fail_after(0);
	is_u64(-python_codes_take(&c, &r), ENOMEM, "a new version of it without memory");
	memory_recovers();
	ok(!c.n && !knows(&c, 16), "the old version is not kept");
	python_codes_free(&c);
}

/* If no code object is old, 16 of them are dropped at once for a new one. */
static void test_full_store(void)
{
	struct python_codes c = {};
	struct python_code_record r;

	for (__u64 i = 0; i < PYTHON_CODES_MAX; i++) {
		r = code_record(16 * (i + 1));
		if (python_codes_take(&c, &r))
			abort();
	}
	ok(c.n == PYTHON_CODES_MAX && !c.dropped, "a full store");
	r = code_record(16 * (PYTHON_CODES_MAX + 1));
	is_u64(python_codes_take(&c, &r), 0, "one more");
	ok(c.n <= PYTHON_CODES_MAX && c.n == PYTHON_CODES_MAX + 1 - c.dropped,
	   "code objects in the store: %zu", c.n);
	ok(c.dropped >= 1 && c.dropped <= 16, "dropped code objects: %llu",
	   (unsigned long long)c.dropped);
	ok(knows(&c, r.code), "the new one is known");
	python_codes_free(&c);
	ok(!c.n && !c.dropped && !c.clock, "an empty store");
}

static void test_user_symbols(void)
{
	size_t before = open_fds();

	for (long fails = 0; fails < 3; fails++) {
		struct user_symbols us;

		memory_fail_after(fails);
		is_u64(-user_symbols_open(&us), fails < 2 ? ENOMEM : 0, "tables of user symbols");
		ok(memory_recovers() == (fails < 2), "whether an allocation has failed");
		user_symbols_close(&us);
		is_u64(open_fds(), before, "all files are closed");
	}
}

/* Reads the mappings of this process, with each allocation failing once. */
static void test_own_mappings(void)
{
	struct process_key self = {.pid = getpid()};
	unsigned int errors = 0, wrong = 0;
	size_t before = open_fds();
	bool failed = true;

	for (long fails = 0; failed && fails < 2000; fails++) {
		struct user_symbols us;
		int err;

		if (user_symbols_open(&us))
			abort();
		memory_fail_after(fails);
		err = user_symbols_learn(&us, &self);
		failed = memory_recovers();
		errors += err == -ENOMEM;
		wrong += err && err != -ENOMEM;
		wrong += err && user_procs_find(&us, &self);
		user_symbols_close(&us);
	}
	ok(errors > 0, "an array of mappings without memory is an error");
	ok(!failed, "at last no allocation fails");
	is_u64(wrong, 0, "no other error, and no process without its mappings");
	is_u64(open_fds(), before, "all files are closed");
}

static void test_identities(void)
{
	struct fakeroot root = fakeroot_make();
	struct identity_options opt = {.root = root.fd};
	struct identities *ids;
	char error[64];

	for (long fails = 0; fails < 4; fails++) {
		memory_fail_after(fails);
		ids = NULL;
		is_u64(-identities_open(&opt, &ids, error, sizeof(error)), fails < 3 ? ENOMEM : 0,
		       "caches of identities");
		memory_recovers();
		ok(!ids == (fails < 3), "they are returned if all of them have memory");
		identities_close(ids);
	}
	fakeroot_free(&root);
}

static char kallsyms[] = "ffffffff81000000 T first\nffffffff81000100 t second\n"
			 "ffffffffc0100000 t third\t[lab]\n";
static FILE *kallsyms_file;

FILE *fopen(const char *path, const char *mode)
{
	(void)path, (void)mode;
	return kallsyms_file;
}

/* A function whose name has no memory is left out, and counted. */
static void test_kernel_names(void)
{
	for (long fails = 0; fails < 5; fails++) {
		struct bb_modules m = {};
		struct kernel_names k = {};
		char name[64], module[BB_MODULE_NAME];
		size_t known = 0;
		bool failed;

		kallsyms_file = fmemopen(kallsyms, strlen(kallsyms), "r");
		memory_fail_after(fails);
		kernel_names_read(&k);
		failed = memory_recovers();
		for (int i = 0; i < 2; i++)
			known += kernel_names_find(&k, &m, 0xffffffff81000000 + 0x100 * i, name,
						   sizeof(name), module);
		known += k.modules.table.n;
		if (failed && fails)
			ok(kernel_names_lost(&k) + k.kernel.table.n + k.modules.table.n == 3,
			   "each function is known or counted as lost");
		if (!failed)
			ok(!kernel_names_lost(&k) && known == 3, "all functions are known");
		kernel_names_free(&k);
	}
}

int main(void)
{
	test_codes();
	test_full_store();
	test_user_symbols();
	test_own_mappings();
	test_identities();
	test_kernel_names();
	return tap_done();
}
