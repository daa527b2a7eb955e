// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the records of the flight recorder that are made from events of its BPF programs: each kind
 * of event, and the names of code and data in it. fopen() is replaced by a function that returns a
 * short /proc/kallsyms.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/precursor_names.h"
#include "tap.h"

#define KERNEL 0xffffffff81000000ULL
#define LAB    0xffffffffc0100000ULL
#define GONE   0xffffffffc0200000ULL
#define MS     1000000ULL

static char kallsyms[] = "ffffffff81000000 T do_work\n"
			 "ffffffff81000100 t run_queue\n"
			 "ffffffff81000200 T last_one\n"
			 "ffffffffc0100000 t lab_probe\t[lab]\n"
			 "ffffffffc0100080 t lab_read\t[lab]\n";

FILE *fopen(const char *path, const char *mode)
{
	(void)path;
	(void)mode;
	return fmemopen(kallsyms, strlen(kallsyms), "r");
}

/* Reads the functions, and notes one loaded and one unloaded module. */
static void begin(struct namer *n)
{
	struct bb_module lab = {.name = "lab", .start = {LAB}, .bytes = {0x2000}};
	struct bb_module gone = {.name = "gone", .start = {GONE}, .bytes = {0x1000}};

	memset(n, 0, sizeof(*n));
	ok(kernel_names_read(&n->names), "functions have addresses");
	bb_module_loaded(&n->modules, &lab);
	bb_module_loaded(&n->modules, &gone);
	bb_module_gone(&n->modules, &gone, 100 * MS);
}

static struct precursor_record event(enum precursor_kind what)
{
	return (struct precursor_record){.what = what,
					 .h.t_ns = 350 * MS,
					 .count = 3,
					 .tid = 77,
					 .pid = 70,
					 .cpu = 5,
					 .comm = "kworker/5:1"};
}

/* Compares the only record of an event. */
static void is_record(struct namer *n, const struct precursor_record *p, enum bb_class class,
		      enum bb_severity severity, const char *text)
{
	struct bb_record r[PRECURSOR_RECORDS];

	is_u64(precursor_records(n, p, r), 1, "one record");
	ok(r[0].class == class && r[0].severity == severity && r[0].boot_ns == 350 * MS, "%s, %s",
	   bb_class_name(r[0].class), bb_severity_name(r[0].severity));
	is_str(r[0].text, text, "its text");
}

static void test_kinds(struct namer *n)
{
	static const struct {
		enum precursor_kind what;
		enum bb_class class;
		enum bb_severity severity;
		const char *begin;
	} kinds[] = {
		{PRE_FAULT, BB_FAULT, BB_WARNING,
		 "verdict=suspected access=read address=0x0 region=null"},
		{PRE_FIXED, BB_FIXUP, BB_WARNING, "access=read address=0x0 region=null comm="},
		{PRE_PROBE, BB_PROBE, BB_INFO, "access=read address=0x0 region=null comm="},
		{PRE_PROTECTION, BB_FAULT, BB_CRITICAL,
		 "verdict=suspected access=protection address=0x0"},
		{PRE_REPORT, BB_REPORT, BB_CRITICAL, "detector=kfence address=0x0 comm="},
		{PRE_MODULE_LOAD, BB_MODULE, BB_INFO, "event=loaded module="},
		{PRE_MODULE_FREE, BB_MODULE, BB_INFO, "event=unloaded module="},
		{PRE_MCE, BB_HARDWARE, BB_WARNING, "event=mce a0=0x0 a1=0x0 a2=0x0"},
		{PRE_EDAC, BB_HARDWARE, BB_WARNING, "event=edac a0=0x0 a1=0x0 a2=0x0"},
		{PRE_AER, BB_HARDWARE, BB_WARNING, "event=aer a0=0x0 a1=0x0 a2=0x0"},
		{PRE_MEMORY_FAILURE, BB_HARDWARE, BB_WARNING, "event=memory_failure a0=0x0"},
		{PRE_IOMMU, BB_IOMMU, BB_WARNING, "event=iommu a0=0x0 a1=0x0 a2=0x0"},
		{PRE_PANIC, BB_PANIC, BB_CRITICAL,
		 "us=350000 line=\"Kernel panic - not syncing: \""},
	};
	struct bb_record r[PRECURSOR_RECORDS];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct precursor_record p = event(kinds[i].what);
		bool is_module = p.what == PRE_MODULE_LOAD || p.what == PRE_MODULE_FREE;

		is_u64(precursor_records(n, &p, r), 1, kinds[i].begin);
		ok(r[0].class == kinds[i].class && r[0].severity == kinds[i].severity &&
			   r[0].boot_ns == 350 * MS && r[0].count == (is_module ? 1 : 3),
		   "%s, %s, %u times", bb_class_name(r[0].class), bb_severity_name(r[0].severity),
		   r[0].count);
		ok(!strncmp(r[0].text, kinds[i].begin, strlen(kinds[i].begin)), "%s", r[0].text);
	}
	for (uint32_t what = NR_PRECURSORS; what < NR_PRECURSORS + 2; what++) {
		struct precursor_record p = event(what);

		is_u64(precursor_records(n, &p, r), 0, "an unknown kind has no record");
	}
}

static void test_regions(struct namer *n)
{
	static const struct {
		uint64_t address;
		const char *x86, *other;
	} of[] = {
		{0, "null", "null"},
		{0xffff, "null", "null"},
		{0x10000, "user", "user"},
		{0x7fffffffffff, "user", "user"},
		{0x800000000000, "non_canonical_or_user", "non_canonical_or_user"},
		{(1ULL << 56) - 1, "non_canonical_or_user", "non_canonical_or_user"},
		{1ULL << 56, "user", "user"},
		{1ULL << 63, "non_canonical", "kernel"},
		{0xfeffffffffffffff, "non_canonical", "kernel"},
		{0xff00000000000000, "kernel", "kernel"},
		{0xffff888000000000, "kernel", "kernel"},
		{0xffffffff7fffffff, "kernel", "kernel"},
		{0xffffffff80000000, "image", "kernel"},
		{0xffffffff9fffffff, "image", "kernel"},
		{0xffffffffa0000000, "module", "kernel"},
		{0xfffffffffeffffff, "module", "kernel"},
		{0xffffffffff000000, "image", "kernel"},
	};
	struct bb_record r[PRECURSOR_RECORDS];
	char got[64];

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct precursor_record p = event(PRE_FIXED);

		p.address = of[i].address;
		precursor_records(n, &p, r);
		ok(bb_get(r, "region", got, sizeof(got)), "0x%" PRIx64 " has a region",
		   of[i].address);
#ifdef __x86_64__
		is_str(got, of[i].x86, "region");
#else
		is_str(got, of[i].other, "region");
#endif
	}
}

/* Tests the access, by the error code of x86's page faults: 2 is a write, 16 a fetch of code. */
static void test_accesses(struct namer *n)
{
	static const char *const want[][2] = {{"0", "read"},  {"1", "read"},  {"2", "write"},
					      {"3", "write"}, {"16", "exec"}, {"18", "exec"},
					      {"8", "read"},  {"32", "read"}};
	struct bb_record r[PRECURSOR_RECORDS];
	char got[32];

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct precursor_record p = event(PRE_FAULT);

		p.error_code = strtoul(want[i][0], NULL, 10);
		p.verdict = VERDICT_FATAL;
		precursor_records(n, &p, r);
		bb_get(r, "access", got, sizeof(got));
		is_str(got, want[i][1], want[i][0]);
		bb_get(r, "verdict", got, sizeof(got));
		is_str(got, "fatal", "the kernel cannot handle it");
		ok(r[0].severity == BB_CRITICAL, "and so it is critical");
	}
}

/*
 * Tests a fault of a driver at an address in a range that was freed: the frames of the fault
 * handler are left out, a return address is named by the byte before it, and the first module on
 * the stack is said to have caused the fault.
 */
static void test_fault(struct namer *n)
{
	struct precursor_record p = event(PRE_FAULT);
	struct bb_record r[PRECURSOR_RECORDS];
	static const uint64_t stack[] = {KERNEL + 0x210, KERNEL + 0x10, KERNEL + 0x100, 0,
					 0x1234,	 LAB + 0x80,	LAB + 0xa0};

	p.ip = KERNEL + 0x10;
	p.address = 0xffffc90000012008;
	p.error_code = 2;
	p.area = (struct freed_area){0xffffc90000012000, 8192, LAB + 4, LAB + 0x84, 349 * MS, 1};
	memcpy(p.stack, stack, sizeof(stack));
	p.stack_bytes = sizeof(stack);
	for (int i = 0; i < PRE_CODE; i++)
		p.code[i] = i * 11;
	for (int i = 0; i < PRE_REGS; i++)
		p.regs[i] = 0x100 + i;
	is_u64(precursor_records(n, &p, r), 2, "a record of the fault, and one of its registers");
	is_str(r[0].text,
	       "verdict=suspected access=write address=0xffffc90000012008 region=kernel "
	       "symbol=do_work+0x10 comm=kworker/5:1 pid=77 cpu=5 error=0x2 area=ioremap "
	       "area_start=0xffffc90000012000 area_bytes=8192 area_owner=lab_probe+0x4 "
	       "area_module=lab area_freer=lab_read+0x4 freer_module=lab area_freed_us_ago=1000 "
	       "code=000b16212c37424d<58>636e79848f9aa5b0bbc6d1dce7f2fd by=lab_probe+0x80 "
	       "by_module=lab stack=do_work+0x10<do_work+0x100<lab_probe+0x80[lab]<lab_read+0",
	       "the fault");
	ok(r[1].class == BB_REGISTERS && r[1].boot_ns == 350 * MS && r[1].count == 3,
	   "the registers");
	is_str(r[1].text,
	       "ip=0xffffffff81000010 r15=0x100 r14=0x101 r13=0x102 r12=0x103 bp=0x104 bx=0x105 "
	       "r11=0x106 r10=0x107 r9=0x108 r8=0x109 ax=0x10a cx=0x10b dx=0x10c si=0x10d "
	       "di=0x10e flags=0x110 sp=0x111",
	       "all registers but that of the system call's number");
}

/* Tests a protection fault in a module, on memory of a module that was unloaded. */
static void test_protection(struct namer *n)
{
	struct precursor_record p = event(PRE_PROTECTION);

	p.ip = LAB + 0x88;
	p.address = GONE + 16;
	p.stack[0] = LAB + 0x88;
	p.stack[1] = GONE + 0x20;
	p.stack_bytes = 2 * sizeof(p.stack[0]);
	is_record(n, &p, BB_FAULT, BB_CRITICAL,
		  "verdict=suspected access=protection address=0xffffffffc0200010 region=module "
		  "symbol=lab_read+0x8 module=lab comm=kworker/5:1 pid=77 cpu=5 error=0x0 "
		  "freed_module=gone unloaded_ms_ago=250 by=lab_read+0x8 by_module=lab "
		  "stack=lab_read+0x8[lab]<+0x20[gone]");
	p.address = LAB + 0x1000;
	p.area = (struct freed_area){.start = LAB, .bytes = 4096, .owner = 0x1234, .freed_ns = MS};
	p.stack_bytes = -14;
	is_record(n, &p, BB_FAULT, BB_CRITICAL,
		  "verdict=suspected access=protection address=0xffffffffc0101000 region=module "
		  "symbol=lab_read+0x8 module=lab comm=kworker/5:1 pid=77 cpu=5 error=0x0 "
		  "data_of=lab area=vmalloc area_start=0xffffffffc0100000 area_bytes=4096 "
		  "area_owner=0x1234 area_freed_us_ago=349000");
}

static void test_reports(struct namer *n)
{
	static const char *const detectors[] = {"kfence", "kasan", "warning", "unknown"};
	char want[200];

	for (uint64_t i = 0; i < 4; i++) {
		struct precursor_record p = event(PRE_REPORT);

		p.arg[0] = i;
		p.ip = LAB + 0x90;
		p.stack[0] = LAB + 0x90;
		p.stack_bytes = sizeof(p.stack[0]);
		snprintf(want, sizeof(want),
			 "detector=%s %s comm=kworker/5:1 pid=77 cpu=5 by=lab_read+0x10 "
			 "by_module=lab stack=lab_read+0x10[lab]",
			 detectors[i],
			 i < 2 ? "address=0xffffffffc0100090" : "symbol=lab_read+0x10 module=lab");
		is_record(n, &p, BB_REPORT, i < 2 ? BB_CRITICAL : BB_WARNING, want);
	}
}

static void test_modules(struct namer *n)
{
	struct precursor_record p = event(PRE_MODULE_LOAD);
	const struct bb_module *m;

	strcpy(p.text, "fresh");
	strcpy(p.text + 64, "0123456789ABCDEF01234567");
	p.error_code = 0x3000;
	p.arg[0] = 0xffffffffc0300000;
	p.arg[1] = 0x4000;
	p.arg[4] = 0xffffffffc0310000;
	p.arg[5] = 0x1000;
	n->stale = false;
	is_record(n, &p, BB_MODULE, BB_INFO,
		  "event=loaded module=fresh text=ffffffffc0300000+4000 "
		  "rodata=ffffffffc0310000+1000 taints=0x3000 srcversion=0123456789ABCDEF01234567");
	ok(n->stale, "its functions have to be read");
	m = bb_module_of(&n->modules, 0xffffffffc0303fff);
	ok(m && !strcmp(m->name, "fresh") && m->loaded_ns == 350 * MS && !m->unloaded_ns,
	   "its code is known");
	n->stale = false;
	p.what = PRE_MODULE_FREE;
	p.text[64] = 0;
	p.error_code = 0;
	is_record(n, &p, BB_MODULE, BB_INFO,
		  "event=unloaded module=fresh text=ffffffffc0300000+4000 "
		  "rodata=ffffffffc0310000+1000");
	ok(!n->stale, "there is nothing to read");
	m = bb_module_of(&n->modules, 0xffffffffc0310fff);
	ok(m && !strcmp(m->name, "fresh") && m->unloaded_ns == 350 * MS, "its memory was freed");
}

static void test_hardware(struct namer *n)
{
	struct precursor_record p = event(PRE_AER);

	p.arg[0] = 0x4000;
	p.arg[1] = 2;
	p.arg[2] = 9;
	p.arg[3] = 5;
	strcpy(p.text, "0000:01:00.0");
	is_record(n, &p, BB_HARDWARE, BB_WARNING,
		  "event=aer a0=0x4000 a1=0x2 a2=0x9 device=0000:01:00.0");
	memset(p.text, 'x', sizeof(p.text));
	p.what = PRE_EDAC;
	ok(precursor_records(n, &p, &(struct bb_record[PRECURSOR_RECORDS]){}[0]) == 1,
	   "a name that fills its field");
}

static void test_again(struct namer *n)
{
	struct bb_record r;

	precursor_again(n, LAB + 0x84, 12, &r);
	ok(r.class == BB_FIXUP && r.severity == BB_WARNING && r.count == 12, "12 recovered faults");
	is_str(r.text, "how=again symbol=lab_read+0x4 module=lab", "at this place");
}

int main(void)
{
	static struct namer n;

	begin(&n);
	test_regions(&n);
	test_accesses(&n);
	test_fault(&n);
	test_protection(&n);
	test_reports(&n);
	test_hardware(&n);
	test_again(&n);
	test_modules(&n);
	test_kinds(&n);
	kernel_names_free(&n.names);
	return tap_done();
}
