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
}

/* Tests what the text of a fault contains, and when a second record has the registers. */
static void test_optional_parts(struct namer *n)
{
	static const struct {
		enum precursor_kind what;
		uint32_t verdict;
		uint64_t ip, sp; /* the stack pointer is 0 if the registers were not read */
		enum bb_severity severity;
		const char *verdict_text, *symbol; /* NULL: not in the text */
		bool has_code, has_registers;
		const char *name;
	} rows[] = {
		{PRE_FAULT, VERDICT_SUSPECTED, KERNEL + 1, 0x7000, BB_WARNING, "suspected",
		 "do_work+0x1", true, true, "a suspected fault"},
		{PRE_FAULT, VERDICT_FATAL, KERNEL + 1, 0x7000, BB_CRITICAL, "fatal", "do_work+0x1",
		 true, true, "a fatal fault"},
		{PRE_FAULT, VERDICT_SUSPECTED, 0, 0x7000, BB_WARNING, "suspected", NULL, false,
		 true, "a fault without an instruction"},
		{PRE_FAULT, VERDICT_SUSPECTED, KERNEL + 1, 0, BB_WARNING, "suspected",
		 "do_work+0x1", false, false, "a fault without registers"},
		{PRE_FAULT, VERDICT_SUSPECTED, 0x1234, 0, BB_WARNING, "suspected", "0x1234", false,
		 false, "a fault outside of known code"},
		{PRE_PROTECTION, VERDICT_SUSPECTED, LAB, 0x7000, BB_CRITICAL, "suspected",
		 "lab_probe+0x0", true, true, "a protection fault"},
		{PRE_PROTECTION, VERDICT_FATAL, LAB, 0, BB_CRITICAL, "fatal", "lab_probe+0x0",
		 false, false, "a fatal protection fault"},
		{PRE_FIXED, VERDICT_SUSPECTED, KERNEL + 1, 0x7000, BB_WARNING, NULL, "do_work+0x1",
		 true, false, "a recovered fault"},
		{PRE_FIXED, VERDICT_FATAL, KERNEL + 1, 0x7000, BB_CRITICAL, NULL, "do_work+0x1",
		 true, false, "a recovered fault with the verdict of another one"},
		{PRE_PROBE, VERDICT_SUSPECTED, KERNEL + 1, 0x7000, BB_INFO, NULL, "do_work+0x1",
		 true, false, "a deliberate fault"},
	};
	struct bb_record r[PRECURSOR_RECORDS];
	char got[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct precursor_record p = event(rows[i].what);
		bool has;

		memset(r, 0xff, sizeof(r));
		p.verdict = rows[i].verdict;
		p.ip = rows[i].ip;
		p.regs[17] = rows[i].sp;
		is_u64(precursor_records(n, &p, r), 1 + rows[i].has_registers, rows[i].name);
		ok(r[0].severity == rows[i].severity, "its severity is %s",
		   bb_severity_name(r[0].severity));
		has = bb_get(&r[0], "verdict", got, sizeof(got));
		is_str(has ? got : NULL, rows[i].verdict_text, "its verdict");
		has = bb_get(&r[0], "symbol", got, sizeof(got));
		is_str(has ? got : NULL, rows[i].symbol, "its function");
		ok(bb_get(&r[0], "code", got, sizeof(got)) == rows[i].has_code, "its code");
		ok(!bb_get(&r[0], "stack", got, sizeof(got)), "no stack was read");
		ok(!bb_get(&r[0], "area", got, sizeof(got)), "no area was freed");
		ok(!bb_get(&r[0], "freed_module", got, sizeof(got)) &&
			   !bb_get(&r[0], "data_of", got, sizeof(got)),
		   "the address is in no module");
		if (rows[i].has_registers)
			ok(r[1].severity == BB_INFO && r[1].class == BB_REGISTERS &&
				   bb_get(&r[1], "sp", got, sizeof(got)) && !strcmp(got, "0x7000"),
			   "the registers");
	}
}

/* Tests the description of a freed area. Bit 0 of the flags means ioremap(). */
static void test_areas(struct namer *n)
{
	static const struct {
		struct freed_area area;
		const char *want, *name;
	} rows[] = {
		{{0xffffc90000012000, 0, LAB, LAB, MS, 1}, "", "an empty area"},
		{{0xffffc90000012000, 1, 0, 0, 350 * MS, 0},
		 " area=vmalloc area_start=0xffffc90000012000 area_bytes=1 area_freed_us_ago=0",
		 "an area that is being freed, of unknown functions"},
		{{0xffffc90000012000, 4096, KERNEL + 0x104, KERNEL + 0x208, 349 * MS, 2},
		 " area=vmalloc area_start=0xffffc90000012000 area_bytes=4096 "
		 "area_owner=run_queue+0x4 area_freer=last_one+0x8 area_freed_us_ago=1000",
		 "an area of the kernel itself"},
		{{0xffffc90000012000, 4096, KERNEL, LAB, 350 * MS - 999, 3},
		 " area=ioremap area_start=0xffffc90000012000 area_bytes=4096 "
		 "area_owner=do_work+0x0 area_freer=lab_probe+0x0 freer_module=lab "
		 "area_freed_us_ago=0",
		 "an area that a module freed, less than 1 us ago"},
		{{0xffffc90000012000, 4096, GONE + 1, 0, 350 * MS - 2000, 1},
		 " area=ioremap area_start=0xffffc90000012000 area_bytes=4096 area_owner=+0x1 "
		 "area_module=gone area_freed_us_ago=2",
		 "an area of a module that was unloaded"},
	};
	struct bb_record r[PRECURSOR_RECORDS];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct precursor_record p = event(PRE_FIXED);
		char want[400];

		p.address = 0xffffc90000012008;
		p.area = rows[i].area;
		snprintf(want, sizeof(want),
			 "access=read address=0xffffc90000012008 region=kernel comm=kworker/5:1 "
			 "pid=77 cpu=5 error=0x0%s",
			 rows[i].want);
		is_u64(precursor_records(n, &p, r), 1, rows[i].name);
		is_str(r[0].text, want, "its text");
	}
}

/*
 * Tests the functions of a stack: frames before the faulting instruction are left out, addresses
 * without a name are skipped, and the first module is named apart.
 */
static void test_stacks(struct namer *n)
{
	static const struct {
		uint64_t ip;
		int64_t bytes;
		uint64_t stack[4];
		const char *want, *name;
	} rows[] = {
		{0, 0, {KERNEL + 1}, "", "no frames"},
		{0, -1, {KERNEL + 1}, "", "an error in place of a length"},
		{0, 7, {KERNEL + 1}, "", "less than one frame"},
		{0, 8, {KERNEL + 1, KERNEL + 2}, " stack=do_work+0x1", "one frame"},
		{0, 15, {KERNEL + 1, KERNEL + 2}, " stack=do_work+0x1", "one frame and a part"},
		{0, 16, {KERNEL + 1, KERNEL + 2}, " stack=do_work+0x1<do_work+0x2", "two frames"},
		{KERNEL + 2,
		 16,
		 {KERNEL + 1, KERNEL + 2},
		 " stack=do_work+0x2",
		 "the second one is the faulting instruction"},
		{KERNEL + 3,
		 16,
		 {KERNEL + 1, KERNEL + 2, KERNEL + 3},
		 " stack=do_work+0x1<do_work+0x2",
		 "the faulting instruction is behind the end"},
		{0, 16, {0, KERNEL + 2}, " stack=do_work+0x2", "an empty frame"},
		{0, 16, {0x1234, KERNEL + 2}, " stack=do_work+0x2", "an address outside of code"},
		{0, 8, {0x1234}, "", "no name at all"},
		{0,
		 16,
		 {KERNEL + 0x100, KERNEL + 0x100},
		 " stack=run_queue+0x0<do_work+0x100",
		 "a return address at the end of a function"},
		{0,
		 32,
		 {KERNEL + 1, GONE + 0x10, LAB + 0x81, KERNEL + 2},
		 " by=+0x10 by_module=gone "
		 "stack=do_work+0x1<+0x10[gone]<lab_read+0x1[lab]<do_work+0x2",
		 "two modules"},
		{0,
		 8,
		 {LAB + 0x80},
		 " by=lab_read+0x0 by_module=lab stack=lab_read+0x0[lab]",
		 "a module alone"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct precursor_record p = event(PRE_REPORT);
		char symbol[64] = "", want[400];

		p.arg[0] = 2;
		p.ip = rows[i].ip;
		memcpy(p.stack, rows[i].stack, sizeof(rows[i].stack));
		p.stack_bytes = rows[i].bytes;
		if (p.ip)
			snprintf(symbol, sizeof(symbol), "symbol=do_work+0x%llx ", p.ip - KERNEL);
		snprintf(want, sizeof(want), "detector=warning %scomm=kworker/5:1 pid=77 cpu=5%s",
			 symbol, rows[i].want);
		printf("# %s\n", rows[i].name);
		is_record(n, &p, BB_REPORT, BB_WARNING, want);
	}
}

/* Tests that a stack of the maximum length is shown to its last frame. */
static void test_full_stack(struct namer *n)
{
	struct precursor_record p = event(PRE_REPORT);
	char want[400] = "detector=warning comm=kworker/5:1 pid=77 cpu=5 stack=";

	p.arg[0] = 2;
	for (int i = 0; i < PRE_STACK; i++) {
		p.stack[i] = KERNEL + 1 + i % 15;
		sprintf(want + strlen(want), "%sdo_work+0x%x", i ? "<" : "", 1 + i % 15);
	}
	p.stack_bytes = sizeof(p.stack);
	is_record(n, &p, BB_REPORT, BB_WARNING, want);
}

/* Tests texts that fill their fields to the last byte, and so have no NUL. */
static void test_full_texts(struct namer *n)
{
	struct precursor_record p = event(PRE_REPORT);
	const struct bb_module *m;
	char want[400], text[160];

	p.arg[0] = 3;
	memset(p.comm, 'c', sizeof(p.comm));
	is_record(n, &p, BB_REPORT, BB_WARNING,
		  "detector=unknown comm=cccccccccccccccc pid=77 cpu=5");

	p = event(PRE_IOMMU);
	memset(p.text, 'd', sizeof(p.text));
	memset(text, 'd', sizeof(text));
	snprintf(want, sizeof(want), "event=iommu a0=0x0 a1=0x0 a2=0x0 device=%.127s", text);
	is_record(n, &p, BB_IOMMU, BB_WARNING, want);

	p = event(PRE_MODULE_LOAD);
	memset(p.text, 'm', 64);
	memset(p.text + 64, '7', 64);
	for (int i = 0; i < 2 * BB_MODULE_PARTS; i++)
		p.arg[i] = i % 2 ? 0x100ULL * i : 0xffffffffc0400000 + 0x10000 * i;
	memset(text, 'm', sizeof(text));
	snprintf(want, sizeof(want),
		 "event=loaded module=%.55s text=ffffffffc0400000+100 data=ffffffffc0420000+300 "
		 "rodata=ffffffffc0440000+500 ro_after=ffffffffc0460000+700 "
		 "srcversion=77777777777777777777777777777777",
		 text);
	is_record(n, &p, BB_MODULE, BB_INFO, want);
	m = bb_module_of(&n->modules, 0xffffffffc0460000);
	ok(m && m->bytes[3] == 0x700 && strlen(m->name) == 55, "its last range is known");
	ok(n->stale, "its functions have to be read");
	p.what = PRE_MODULE_FREE;
	precursor_records(n, &p, &(struct bb_record[PRECURSOR_RECORDS]){}[0]);
	ok(n->stale, "they still have to be read after an unload");
}

/* Tests the messages of panic(): conversions that printk() knows, and the arguments they show. */
static void test_panics(struct namer *n)
{
	static const struct {
		const char *format, *word;
		uint64_t arg[3];
		const char *want;
	} rows[] = {
		{"", "", {}, ""},
		{"VFS: no root", "", {1, 2, 3}, "VFS: no root"},
		{"first\nsecond", "", {}, "first"},
		{"\n", "", {}, ""},
		{"%s", "lab", {5}, "lab"},
		{"in %s: %s.", "lab", {}, "in lab: ."},
		{"%d %s", "lab", {5}, "5 "},
		{"%s", "1234567890123456789012345678901", {}, "1234567890123456789012345678901"},
		{"%d", "", {-1ULL}, "-1"},
		{"%i", "", {-2ULL}, "-2"},
		{"%u", "", {7}, "7"},
		{"%lld%%", "", {100}, "100%"},
		{"%%d %d", "", {9}, "%d 9"},
		{"%x", "", {0xabc}, "abc"},
		{"%#x.", "", {0xabc}, "abc."},
		{"%08lx,", "", {0xabc}, "abc,"},
		{"%-5d+%+d", "", {1, 2}, "1+2"},
		{"% d|%hhx|%zx|%jx", "", {1, 2, 3}, "1|2|3|0"},
		{"%d %d %d %d", "", {1, 2, 3}, "1 2 3 0"},
		{"%*d", "", {1}, "1d"},
		{"%p", "", {KERNEL + 0x11}, "do_work+0x11"},
		{"%pS!", "", {KERNEL + 0x100}, "do_work+0x100!"},
		{"%pB at", "", {LAB + 0x90}, "lab_read+0x10 [lab] at"},
		{"%ps%pf", "", {KERNEL + 1, KERNEL + 2}, "do_work+0x1do_work+0x2"},
		{"%pF end", "", {0x1234}, "0x1234 end"},
		{"%pB", "", {GONE + 0x20}, "0xffffffffc0200020 [gone]"},
		{"%dSBs", "", {4}, "4SBs"},
	};
	char want[300];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct precursor_record p = event(PRE_PANIC);

		strcpy(p.text, rows[i].format);
		memcpy(p.text + PRE_WORD_AT, rows[i].word, strlen(rows[i].word));
		memcpy(p.arg, rows[i].arg, sizeof(rows[i].arg));
		p.arg[3] = 77; /* no argument of panic() */
		snprintf(
			want, sizeof(want),
			"us=350000 line=\"Kernel panic - not syncing: %s\" comm=kworker/5:1 pid=77 "
			"cpu=5",
			rows[i].want);
		is_record(n, &p, BB_PANIC, BB_CRITICAL, want);
	}
}

/* Tests a format and a word that fill their fields, and a panic with a stack. */
static void test_long_panics(struct namer *n)
{
	struct precursor_record p = event(PRE_PANIC);
	char want[400], text[PRE_WORD_AT];

	memset(p.text, 'f', PRE_WORD_AT);
	memset(p.text + PRE_WORD_AT, 'w', PRE_WORD_BYTES);
	memset(text, 'f', sizeof(text));
	snprintf(
		want, sizeof(want),
		"us=350000 line=\"Kernel panic - not syncing: %.*s\" comm=kworker/5:1 pid=77 cpu=5",
		PRE_WORD_AT, text);
	is_record(n, &p, BB_PANIC, BB_CRITICAL, want);
	memset(p.text, 0, PRE_WORD_AT);
	strcpy(p.text, "%s");
	p.h.t_ns = 350 * MS;
	p.stack[0] = KERNEL + 5;
	p.stack[1] = LAB + 0x8f;
	p.stack_bytes = 2 * sizeof(p.stack[0]);
	is_record(n, &p, BB_PANIC, BB_CRITICAL,
		  "us=350000 line=\"Kernel panic - not syncing: wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww\" "
		  "comm=kworker/5:1 pid=77 cpu=5 by=lab_read+0xf by_module=lab "
		  "stack=do_work+0x5<lab_read+0xf[lab]");
}

static void test_again(struct namer *n)
{
	struct bb_record r;

	precursor_again(n, LAB + 0x84, 12, &r);
	ok(r.class == BB_FIXUP && r.severity == BB_WARNING && r.count == 12, "12 recovered faults");
	is_str(r.text, "how=again symbol=lab_read+0x4 module=lab", "at this place");
	is_u64(r.boot_ns, 0, "the time is not known");
	precursor_again(n, 0x1234, 1, &r);
	is_str(r.text, "how=again symbol=0x1234", "outside of known code");
	precursor_again(n, 0, 1, &r);
	is_str(r.text, "how=again", "without an address");
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
	test_optional_parts(&n);
	test_areas(&n);
	test_stacks(&n);
	test_full_stack(&n);
	test_panics(&n);
	test_long_panics(&n);
	test_modules(&n);
	test_full_texts(&n);
	test_kinds(&n);
	kernel_names_free(&n.names);
	return tap_done();
}
