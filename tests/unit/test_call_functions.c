// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which kernel functions of system calls are found in a list like /proc/kallsyms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/call_functions.h"
#include "probe/calls.h"
#include "tap.h"

#ifdef __x86_64__
#define PREFIX "__x64_sys_"
#else
#define PREFIX "__arm64_sys_"
#endif

static struct call_functions f;

static void parse(const char *table)
{
	memset(&f, 0xff, sizeof(f));
	call_functions_parse(table, strlen(table), &f);
}

static bool has(const char *name)
{
	for (size_t i = 0; i < f.nr; i++)
		if (!strcmp(f.name[i], name))
			return true;
	return false;
}

static void test_names(void)
{
	parse("ffffffff81000010 T " PREFIX "openat\n"
	      "ffffffff81000020 t " PREFIX "munmap\n"
	      "ffffffff81000030 W " PREFIX "memfd_secret\n"
	      "ffffffff81000040 D " PREFIX "mmap\n"
	      "ffffffff81000050 T " PREFIX "getpid\n"
	      "ffffffff81000060 T " PREFIX "write\n"
	      "ffffffff81000070 T " PREFIX "close_\n"
	      "ffffffff81000080 T " PREFIX "clos\n"
	      "ffffffff81000090 T __do_sys_close\n"
	      "ffffffff810000a0 T " PREFIX "dup\t[module]\n"
	      "ffffffff810000b0 T " PREFIX "socket");
	is_u64(f.nr, 3, "functions");
	ok(has(PREFIX "openat") && has(PREFIX "munmap"), "global and local functions");
	ok(has(PREFIX "memfd_secret"), "a call that the kernel is built without");
	is_u64(f.hidden, 0, "all addresses are known");
	parse("0000000000000000 T " PREFIX "openat\n");
	ok(!f.nr && f.hidden == 1, "a hidden address");
	parse("");
	ok(!f.nr && !f.hidden, "no table");
}

#ifdef __x86_64__
static void test_32_bit(void)
{
	parse("ffffffff81000010 T __ia32_sys_mmap_pgoff\n"
	      "ffffffff81000020 T __ia32_compat_sys_openat\n"
	      "ffffffff81000030 T __ia32_compat_sys_ia32_clone\n"
	      "ffffffff81000040 T __ia32_sys_ia32_fallocate\n"
	      "ffffffff81000050 T __ia32_compat_sys_pwritev\n"
	      "ffffffff81000060 T __ia32_sys_openat\n"
	      "ffffffff81000070 T __x64_sys_mmap_pgoff\n"
	      "ffffffff81000080 T __x64_sys_fork\n"
	      "ffffffff81000080 T __ia32_sys_fork\n");
	is_u64(f.nr, 6, "functions of 32-bit programs");
	ok(has("__ia32_sys_mmap_pgoff") && has("__ia32_compat_sys_openat") &&
		   has("__ia32_compat_sys_ia32_clone") && has("__ia32_sys_ia32_fallocate"),
	   "each kind of name");
	ok(!has("__ia32_compat_sys_pwritev"), "writes are left out");
	ok(!has("__x64_sys_mmap_pgoff"), "a 32-bit call has no function of that kind");
	ok(has("__x64_sys_fork") && !has("__ia32_sys_fork"), "of two names of a function, one");
}
#else
static void test_32_bit(void)
{
	parse("ffffffff81000010 T __arm64_compat_sys_openat\n");
	is_u64(f.nr, 0, "32-bit calls are not counted");
}
#endif

/* All rows fit, also if the kernel has each of their functions. */
static void test_room(void)
{
	static char table[1 << 16];
	size_t len = 0, rows = 0;

	for (unsigned int i = 0; i < nr_call_rows; i++, rows++)
		len += snprintf(table + len, sizeof(table) - len, "%x T " PREFIX "%s\n",
				0x1000 + (unsigned int)rows, call_rows[i].name);
	for (unsigned int i = 0; i < nr_compat_call_rows; i++)
		for (int k = 0; k < 2 && compat_call_rows[i].call != CALL_WRITE; k++, rows++)
			len += snprintf(table + len, sizeof(table) - len, "%x T __ia32_%s%s\n",
					0x1000 + (unsigned int)rows, k ? "compat_sys_" : "sys_",
					compat_call_rows[i].name);
	parse(table);
	is_u64(f.nr, rows, "a function of each row");
	ok(rows < CALL_FUNCTIONS_MAX, "%zu functions, with room for others", rows);
	len = 0;
	for (unsigned int i = 0; i <= CALL_FUNCTIONS_MAX; i++) {
		if (i == CALL_FUNCTIONS_MAX) {
			parse(table);
			is_u64(f.nr, CALL_FUNCTIONS_MAX, "as many functions as have room");
		}
		len += snprintf(table + len, sizeof(table) - len, "%x T " PREFIX "openat\n",
				0x1000 + i);
	}
	parse(table);
	is_u64(f.nr, CALL_FUNCTIONS_MAX, "one more");
	is_u64(f.address[CALL_FUNCTIONS_MAX - 1], 0x1000 + CALL_FUNCTIONS_MAX - 1, "has none");
}

static void test_hostile(void)
{
	unsigned int seed = 7;
	char table[3000];

	for (int i = 0; i < 20000; i++) {
		size_t n = rand_r(&seed) % sizeof(table);

		for (size_t k = 0; k < n; k++)
			table[k] = "f0 T\n\t_x64sy"[rand_r(&seed) % 12];
		call_functions_parse(table, n, &f);
	}
	ok(true, "random tables");
}

/* Each call that this kernel has is found. */
static void test_here(void)
{
	static char table[32 << 20];
	FILE *in = fopen("/proc/kallsyms", "r");
	size_t n = in ? fread(table, 1, sizeof(table), in) : 0;

	if (in)
		fclose(in);
	call_functions_parse(table, n, &f);
	if (!f.nr) {
		ok(true, "addresses of this kernel # SKIP %zu are hidden", f.hidden);
		return;
	}
	ok(has(PREFIX "mmap") && has(PREFIX "openat") && has(PREFIX "close") && has(PREFIX "clone"),
	   "this kernel: %zu functions", f.nr);
}

int main(void)
{
	test_names();
	test_32_bit();
	test_room();
	test_hostile();
	test_here();
	return tap_done();
}
