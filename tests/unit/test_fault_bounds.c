// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the class of fault signals just below, at and just above each bound: the distance from the
 * stack pointer, the size of the stack, the room of a tmpfs. Tests each privileged opcode, and the
 * constraint of the OOM killer.
 */
#include <signal.h>

#include "fixture.h"
#include "rules/fault.h"
#include "tap.h"
#include "finding_text.h"

#define PAGE  4096ULL
#define AT    0x7f0000001000ULL
#define REACH 65536ULL /* bytes by which one function call may move the stack pointer */
#define LIMIT (8ULL << 20)

/* The VM_* values are copied from include/linux/mm.h, PF_* from arch/x86/include/asm/trap_pf.h. */
#define VM_READ	     0x1
#define VM_WRITE     0x2
#define VM_EXEC	     0x4
#define VM_SHARED    0x8
#define VM_GROWSDOWN 0x100
#define PF_PROT	     1
#define PF_WRITE     2
#define PF_INSTR     16

#define REGULAR 0100644
#define TMPFS	0x01021994

/* si_code values that older C library headers lack. */
#define MTE_ASYNC 8
#define MTE_SYNC  9
#define SHADOW	  10

static struct signal_record r;
static struct host_limits l;
static struct verdict v;

static void begin(int signal, int code, uint64_t address)
{
	r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	r.signal = signal;
	r.code = code;
	r.address = address;
	r.sp = 0x7ffc00000000;
	r.stack_limit_bytes = LIMIT;
	l = tick_record(0).limits;
}

static void is_class(const char *class, bool certain, const char *name)
{
	fault_of(&r, &l, &v);
	is_str(v.cause, class, name);
	ok(v.certain == certain, "%s: %s", name, certain ? "certain" : "not certain");
}

static const char *evidence(const char *field)
{
	for (size_t i = 0; i < v.nr_evidence; i++)
		if (!strcmp(v.evidence[i].field, field))
			return evidence_str(&v.evidence[i]);
	return "none";
}

/* One function call moves the stack pointer by at most 64 KiB, in both directions. */
static void test_reach_of_stack_pointer(void)
{
	static const struct {
		int64_t away;
		bool near;
		const char *name;
	} rows[] = {
		{-(int64_t)REACH - 1, false, "64 KiB and a byte below the stack pointer"},
		{-(int64_t)REACH, true, "64 KiB below the stack pointer"},
		{(int64_t)REACH, true, "64 KiB above the stack pointer"},
		{(int64_t)REACH + 1, false, "64 KiB and a byte above the stack pointer"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(SIGSEGV, SEGV_ACCERR, AT);
		r.area = MAPPED_FOUND;
		r.sp = AT - rows[i].away;
		is_class(rows[i].near ? "guard page" : "no access", true, rows[i].name);
		r.code = SEGV_MAPERR;
		r.area = MAPPED_NONE;
		is_class(rows[i].near ? "stack overflow" : "unmapped", !rows[i].near, rows[i].name);
	}
	begin(SIGSEGV, SEGV_ACCERR, REACH);
	r.area = MAPPED_FOUND;
	r.sp = 0;
	is_class("no access", true, "a low address is not near a stack pointer that is not known");
}

/* The stack pointer may be far away if it is in the same gap between two mappings. */
static void test_gap_below_stack(void)
{
	static const struct {
		uint64_t sp;
		const char *class;
		const char *name;
	} rows[] = {
		{AT - (1 << 20) - 1, "unmapped", "the stack pointer is a byte below the gap"},
		{AT - (1 << 20), "stack overflow", "the stack pointer is at the start of the gap"},
		{AT + (1 << 20) - 1, "stack overflow", "the stack pointer is the gap's last byte"},
		{AT + (1 << 20), "unmapped", "the stack pointer is at the end of the gap"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(SIGSEGV, SEGV_MAPERR, AT);
		r.area = MAPPED_NONE;
		r.area_start = AT - (1 << 20);
		r.area_end = AT + (1 << 20);
		r.above_flags = VM_READ | VM_WRITE | VM_GROWSDOWN;
		r.above_end = AT + 2 * LIMIT;
		r.sp = rows[i].sp;
		is_class(rows[i].class, true, rows[i].name);
	}
	r.above_flags = VM_READ | VM_WRITE;
	r.sp = AT + 2 * REACH;
	is_class("unmapped", true, "the mapping above is no stack");
	r.above_flags |= VM_GROWSDOWN;
	r.area = MAPPED_UNKNOWN;
	is_class("unmapped", false, "it is not known whether something is mapped");
}

/* Without a stack pointer, the address counts if it is within RLIMIT_STACK and 64 KiB. */
static void test_reach_of_limit(void)
{
	begin(SIGSEGV, SEGV_MAPERR, AT);
	r.area = MAPPED_NONE;
	r.above_flags = VM_GROWSDOWN;
	r.sp = 0;
	r.above_end = AT + LIMIT + REACH;
	is_class("stack overflow", true, "the limit and 64 KiB below the end of the stack");
	is_str(evidence("stack_bytes"), "8.06 MiB of 8.00 MiB", "what the stack would be");
	r.above_end++;
	is_class("unmapped", true, "a byte further");
	r.above_end = AT + LIMIT;
	r.address += 5;
	is_class("stack overflow", false, "from the accessed page on, just the limit");
	r.above_end = AT + LIMIT + PAGE;
	is_class("stack overflow", true, "a page more than the limit");
	r.address = AT + PAGE - 1;
	is_class("stack overflow", true, "the last byte of that page");
	r.address = AT + PAGE;
	is_class("stack overflow", false, "the first byte of the next page");
	l.page_bytes = 65536;
	is_class("stack overflow", true, "where pages have 64 KiB");
	l.page_bytes = 0;
	is_class("stack overflow", false, "a page of unknown size has 4 KiB");
}

static void test_codes(void)
{
	static const struct {
		int code;
		const char *class;
		bool certain;
	} rows[] = {
		{SEGV_PKUERR, "protection key", true}, {MTE_ASYNC - 1, "unmapped", true},
		{MTE_ASYNC, "memory tag", true},       {MTE_SYNC, "memory tag", true},
		{SHADOW, "control flow", true},	       {SHADOW + 1, "unmapped", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(SIGSEGV, rows[i].code, AT);
		r.area = MAPPED_NONE;
		is_class(rows[i].class, rows[i].certain, "a si_code of SIGSEGV");
	}
	begin(SIGSEGV, SEGV_MAPERR, (1ULL << 63) - 1);
	r.area = MAPPED_NONE;
	is_class("unmapped", true, "the last address of the lower half");
	begin(SIGSEGV, SI_TKILL, AT);
	is_class("abort", true, "a SIGSEGV that a thread sent");
	begin(SIGABRT, SI_USER, 0);
	is_class("abort", true, "SIGABRT from another process");
	begin(SIGBUS, BUS_MCEERR_AO, AT);
	is_class("hardware poison", true, "poison that no instruction has read yet");
	begin(SIGBUS, SI_KERNEL, 0);
	is_class("general protection", false, "a stack fault");
}

static void test_rights(void)
{
	static const struct {
		uint64_t flags;
		uint64_t error_code;
		const char *class, *rights;
		bool certain;
	} rows[] = {
		{VM_READ | VM_WRITE | VM_EXEC, 0, "protection", "rwx", false},
		{VM_WRITE, PF_INSTR, "no-exec", "-w-", true},
		{VM_EXEC, PF_INSTR, "protection", "--x", false},
		{VM_EXEC, PF_WRITE, "read-only", "--x", true},
		{VM_READ | VM_EXEC, PF_WRITE, "read-only", "r-x", true},
		{VM_READ, PF_PROT, "protection", "r--", false},
		{VM_SHARED, 0, "no access", "---", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(SIGSEGV, SEGV_ACCERR, AT);
		r.area = MAPPED_FOUND;
		r.area_flags = rows[i].flags;
		r.error_code = rows[i].error_code;
		is_class(rows[i].class, rows[i].certain, rows[i].rights);
		is_str(evidence("the mapping allows"), rows[i].rights, "its rights");
	}
	r.code = SEGV_MAPERR;
	is_class("guard page", false, "a guard region of madvise()");
	is_str(evidence("the mapping allows"), "---", "the rights of its mapping");
	begin(SIGSEGV, SEGV_ACCERR, AT);
	r.error_code = PF_WRITE | PF_INSTR;
	is_class("protection", false, "the mapping is not known");
	is_str(evidence("the mapping allows"), "none", "nor its rights");
}

/* Instructions that only the kernel may run: cli, hlt, in, out, lgdt, wrmsr and the like. */
static void test_opcodes(void)
{
	static const uint8_t one[] = {0x6c, 0x6d, 0x6e, 0x6f, 0xe4, 0xe5, 0xe6, 0xe7,
				      0xec, 0xed, 0xee, 0xef, 0xf4, 0xfa, 0xfb};
	static const uint8_t two[] = {0x00, 0x01, 0x06, 0x07, 0x08, 0x09, 0x20,
				      0x21, 0x22, 0x23, 0x30, 0x32, 0x33, 0x35};

	for (unsigned int op = 1; op < 256; op++) {
		bool is_return = op == 0xc2 || op == 0xc3;
		const char *want = memchr(one, (int)op, sizeof(one)) ? "privileged instruction"
				   : is_return			     ? "non-canonical"
								     : "general protection";

		begin(SIGSEGV, SI_KERNEL, 0);
		r.ip_bytes = 0x9000 | op;
		fault_of(&r, &l, &v);
		ok(!strcmp(v.cause, want), "opcode %02x: %s", op, want);
	}
	for (unsigned int op = 0; op < 256; op++) {
		bool privileged = memchr(two, (int)op, sizeof(two));

		begin(SIGSEGV, SI_KERNEL, 0);
		r.ip_bytes = op << 8 | 0x0f;
		fault_of(&r, &l, &v);
		ok(!strcmp(v.cause, privileged ? "privileged instruction" : "general protection"),
		   "opcode 0f %02x is %sprivileged", op, privileged ? "" : "not ");
		ok(v.certain == privileged, "opcode 0f %02x: %scertain", op,
		   privileged ? "" : "not ");
	}
	begin(SIGSEGV, SI_KERNEL, 0);
	is_class("general protection", false, "an instruction that could not be read");
	is_str(evidence("instruction"), "none", "and is not shown");
	r.flags = SIGNAL_ODD;
	r.ip_bytes = 0xff04030201;
	is_class("non-canonical", false, "a register that holds no address");
	is_str(evidence("a register holds"), "a non-canonical address", "which is said");
	is_str(evidence("instruction"), "01 02 03 04", "four bytes of the instruction");
}

/* Begins a SIGBUS in the second page of a shared mapping of a file of `size` bytes. */
static void begin_file(uint64_t size, uint64_t magic)
{
	begin(SIGBUS, BUS_ADRERR, AT + PAGE);
	r.area = MAPPED_FOUND;
	r.area_start = AT;
	r.area_end = AT + 4 * PAGE;
	r.area_flags = VM_READ | VM_WRITE | VM_SHARED;
	r.file.flags = FILE_KNOWN;
	r.file.size_bytes = size;
	r.file.mode = REGULAR;
	r.file.magic = magic;
	strcpy(r.file.name, "data");
}

static void test_files(void)
{
	begin_file(PAGE, 0xef53);
	is_class("past end of file", true, "the first byte after a file of one page");
	is_str(evidence("file"), "data", "the file");
	is_str(evidence("offset_bytes"), "4.00 KiB of 4.00 KiB", "the offset and the size");
	r.address--;
	is_class("read error", false, "the last byte of the file");
	is_str(evidence("offset_bytes"), "none", "which is not past its end");
	r.file_page = 2;
	is_class("past end of file", true, "mapped from its third page on");
	is_str(evidence("offset_bytes"), "12.0 KiB of 4.00 KiB", "the offset in the file");
}

/* The counter of a tmpfs lags by up to 1024 pages. */
static void test_tmpfs(void)
{
	static const struct {
		uint64_t used;
		const char *class;
		bool certain;
		const char *name;
	} rows[] = {
		{5001, "tmpfs full", true, "a page more than its size"},
		{5000, "tmpfs full", true, "each page is used"},
		{4999, "tmpfs full", false, "one page is free"},
		{5000 - 1024, "tmpfs full", false, "1024 pages are free"},
		{5000 - 1025, "unknown", false, "1025 pages are free"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_file(1 << 20, TMPFS);
		r.tmpfs_pages = 5000;
		r.tmpfs_pages_used = rows[i].used;
		is_class(rows[i].class, rows[i].certain, rows[i].name);
		is_u64(v.evidence[v.nr_evidence - 1].value, rows[i].used, "the pages in use");
		is_u64(v.evidence[v.nr_evidence - 1].limit, 5000, "the size of the tmpfs");
	}
}

static void test_mappings(void)
{
	begin_file(1, TMPFS);
	is_str(fault_mapping(&r), "shared memory", "a shared file of tmpfs");
	r.area_flags &= ~(uint64_t)VM_SHARED;
	is_str(fault_mapping(&r), "private file", "a private file of tmpfs");
	r.area_flags |= VM_GROWSDOWN;
	is_str(fault_mapping(&r), "stack", "a mapping that grows down");
	r.area = MAPPED_NONE;
	ok(!fault_mapping(&r), "no mapping at the address");
	r.area = MAPPED_FOUND;
	r.file.flags = 0;
	r.area_flags = VM_WRITE;
	is_str(fault_mapping(&r), "anonymous", "memory that can only be written");
	r.area_flags = VM_EXEC;
	is_str(fault_mapping(&r), "anonymous", "memory that can only be executed");
	r.area_flags = VM_SHARED;
	is_str(fault_mapping(&r), "guard", "memory without rights");
}

/* The kernel does not always say why it ran the OOM killer. A full cgroup makes it likely. */
static void test_constraints(void)
{
	static const struct {
		uint32_t constraint;
		const char *cause;
	} rows[] = {
		{OOM_NONE, "none"},
		{OOM_CPUSET, "cpuset"},
		{OOM_POLICY, "memory_policy"},
		{OOM_MEMCG, "memcg"},
	};
	struct oom_record o = RECORD(oom_record, RECORD_OOM, SECOND);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		o.constraint = rows[i].constraint;
		oom_of(&o, &v);
		is_str(v.cause, rows[i].cause, "the constraint of the record");
		ok(v.certain, "%s: certain", rows[i].cause);
		is_u64(v.nr_evidence, 0, "no limit of a cgroup is known");
	}
	o.constraint = OOM_MEMCG + 1;
	oom_of(&o, &v);
	ok(!v.cause && !v.certain, "a constraint that this version does not know");
	o.constraint = OOM_UNKNOWN;
	oom_of(&o, &v);
	ok(!v.cause, "no constraint, and no cgroup");
	o.memory = (struct level_room){.used = 936, .limit = 1000, .known = 1};
	oom_of(&o, &v);
	is_str(v.cause, "memcg", "64 pages of its cgroup are free: one batch of charges");
	ok(!v.certain, "the message is missing: not certain");
	is_str(evidence("cgroup_memory_pages"), "936 of 1,000 pages", "its pages");
	is_u64(v.nr_evidence, 1, "the limit is that of its own cgroup");
	o.memory.used = 935;
	oom_of(&o, &v);
	ok(!v.cause, "65 pages of its cgroup are free");
	o.memory.used = 1000;
	o.memory.known = 0;
	oom_of(&o, &v);
	ok(!v.cause && !v.nr_evidence, "the cgroup is not known");
	o.memory.known = 1;
	o.memory.limit = UINT64_MAX;
	o.memory.used = UINT64_MAX - 64;
	oom_of(&o, &v);
	ok(!v.cause && !v.nr_evidence, "no cgroup has a limit");
}

static void test_constraint_evidence(void)
{
	struct oom_record o = RECORD(oom_record, RECORD_OOM, SECOND);

	o.constraint = OOM_NONE;
	o.memory = (struct level_room){.used = 1000, .limit = 1000, .known = 1, .up = 2};
	oom_of(&o, &v);
	is_str(v.cause, "none", "the machine had no memory, although a cgroup was full");
	is_str(evidence("levels_above_own_cgroup"), "2",
	       "the limit is that of a cgroup two levels up");
	is_str(evidence("oom_score_adj"), "none", "nobody set the score");
	o.score_adj = 1;
	oom_of(&o, &v);
	is_str(evidence("oom_score_adj"), "raised", "a score of 1");
	o.score_adj = -1;
	oom_of(&o, &v);
	is_str(evidence("oom_score_adj"), "lowered", "a score of -1");
}

int main(void)
{
	test_reach_of_stack_pointer();
	test_gap_below_stack();
	test_reach_of_limit();
	test_codes();
	test_rights();
	test_opcodes();
	test_files();
	test_tmpfs();
	test_mappings();
	test_constraints();
	test_constraint_evidence();
	return tap_done();
}
