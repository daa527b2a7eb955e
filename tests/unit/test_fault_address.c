// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which address of a fault triage takes from a report, whether the decoded instruction leads
 * to it, and the kind of a report whose first lines are missing. Encodings are from objdump.
 */
#include "tap.h"
#include "triage/judge.h"

#define DIRECT 0xffff888012345000ull
#define SHADOW 0xdffffc0000000003ull

#define RAX 0
#define RDI 7

#define LOAD	0x48, 0x8b, 0x47, 0x10	     /* mov 0x10(%rdi),%rax */
#define STORE	0x48, 0x89, 0x47, 0x10	     /* mov %rax,0x10(%rdi) */
#define INDEXED 0x48, 0x8b, 0x54, 0x07, 0x10 /* mov 0x10(%rdi,%rax,1),%rdx */
#define CHECK	0x80, 0x38, 0x00	     /* cmpb $0x0,(%rax) */
#define UD2	0x0f, 0x0b

struct fault {
	enum kind kind;
	enum arch arch;
	bool has_rdi, has_rax;
	uint64_t rdi, rax;
	uint8_t code[6];
};

static struct incident incident_of(const struct fault *f)
{
	struct incident e = {.kind = f->kind, .arch = f->arch};

	e.regs.known = f->has_rdi << RDI | f->has_rax << RAX;
	e.regs.value[RDI] = f->rdi;
	e.regs.value[RAX] = f->rax;
	memcpy(e.code, f->code, sizeof(f->code));
	e.code_bytes = sizeof(f->code);
	e.has_code_at = true;
	return e;
}

/*
 * Prefetching and unaligned accesses may move the address that the CPU reports, but not by 64 bytes
 * or more.
 */
static void test_base(void)
{
	static const struct {
		int64_t away;
		bool has_base;
	} rows[] = {{0, true}, {63, true}, {64, false}, {-63, true}, {-64, true}, {-65, false}};
	const struct fault load = {KIND_PAGING_REQUEST, ARCH_X86_64, .has_rdi = true, .rdi = DIRECT,
				   .code = {LOAD}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = incident_of(&load);
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.has_address = true;
		e.address = DIRECT + 0x10 - rows[i].away;
		judge_facts(&j);
		ok(v.has_base == rows[i].has_base && v.address == e.address &&
			   (!v.has_base || (v.base == DIRECT && v.offset == 0x10 &&
					    !strcmp(v.base_register, "rdi"))),
		   "an address %+d bytes from the one of the instruction", (int)-rows[i].away);
	}
}

static void test_index(void)
{
	const struct fault indexed = {
		KIND_PAGING_REQUEST, ARCH_X86_64, true, true, DIRECT, 0x2000, {INDEXED}};
	struct incident e = incident_of(&indexed);
	struct diagnosis v = {};
	struct judged j = {.e = &e, .v = &v};

	e.has_address = true;
	e.address = DIRECT + 0x2010;
	judge_facts(&j);
	ok(v.has_base && v.base == DIRECT && v.offset == 0x2010 && !strcmp(v.base_register, "rdi"),
	   "with an index in rax, the base register is the pointer");

	e = incident_of(&indexed);
	e.has_address = true;
	e.address = DIRECT + 0x2010;
	e.regs.known &= ~1u;
	v = (struct diagnosis){};
	j = (struct judged){.e = &e, .v = &v};
	judge_facts(&j);
	ok(!v.has_base && v.has_address, "no base without the value of the index");
}

/* A general protection fault without an address: the instruction has it. */
static void test_computed(void)
{
	static const struct {
		const char *name;
		struct fault f;
		bool has_address;
		uint64_t address;
		enum access access;
	} rows[] = {
		{"a load",
		 {KIND_GPF, ARCH_X86_64, .has_rdi = true, .rdi = 0x1234567812345000,
		  .code = {LOAD}},
		 true,
		 0x1234567812345010,
		 ACCESS_READ},
		{"a store",
		 {KIND_GPF, ARCH_X86_64, .has_rdi = true, .rdi = 0x1234567812345000,
		  .code = {STORE}},
		 true,
		 0x1234567812345010,
		 ACCESS_WRITE},
		{"a register without a value",
		 {KIND_GPF, ARCH_X86_64, .code = {LOAD}},
		 false,
		 0,
		 ACCESS_READ},
		{"KASAN's shadow, and the pointer in rdi",
		 {KIND_GPF, ARCH_X86_64, true, true, 0x1f, SHADOW, {CHECK}},
		 true,
		 0x1f,
		 ACCESS_READ},
		{"KASAN's shadow, and a pointer that does not fit",
		 {KIND_GPF, ARCH_X86_64, true, true, 0x20, SHADOW, {CHECK}},
		 true,
		 0x18,
		 ACCESS_READ},
		{"KASAN's shadow, without rdi",
		 {KIND_GPF, ARCH_X86_64, false, true, 0x1f, SHADOW, {CHECK}},
		 true,
		 0x18,
		 ACCESS_READ},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = incident_of(&rows[i].f);
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		judge_facts(&j);
		if (!ok(v.has_address == rows[i].has_address && v.address == rows[i].address &&
				v.access == rows[i].access && v.nr_fired == rows[i].has_address,
			"%s", rows[i].name))
			printf("#   got %#jx, %s\n", (uintmax_t)v.address, access_name(v.access));
	}
}

/* Reports without their first lines. */
static void test_headless(void)
{
	static const struct {
		const char *name;
		uint64_t rdi; /* the load is 0x10 behind it */
		bool has_error;
		enum kind want;
	} rows[] = {
		{"the last address of user space", 0x00007fffffffffef, false, KIND_UNKNOWN},
		{"the first address that no page fault has", 0x00007ffffffffff0, false, KIND_GPF},
		{"the last address that no page fault has", 0xffff7fffffffffef, false, KIND_GPF},
		{"the first address of the kernel", 0xffff7ffffffffff0, false, KIND_UNKNOWN},
		{"an error code, and an address in the first page", 0xfef, true, KIND_NULL_DEREF},
		{"an error code, and an address behind it", 0xff0, true, KIND_PAGING_REQUEST},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct fault f = {KIND_UNKNOWN, ARCH_X86_64, .has_rdi = true,
					.rdi = rows[i].rdi, .code = {LOAD}};
		struct incident e = incident_of(&f);
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.headless = true;
		e.has_error = rows[i].has_error;
		judge_facts(&j);
		if (!ok(v.kind == rows[i].want && v.address == rows[i].rdi + 0x10, "%s",
			rows[i].name))
			printf("#   got %s at %#jx\n", kind_name(v.kind), (uintmax_t)v.address);
	}
}

static void test_traps(void)
{
	static const struct {
		const char *name;
		enum kind kind;
		bool headless, panicked;
		uint32_t number;
		enum kind want;
	} rows[] = {
		{"BUG() without its line", KIND_INVALID_OPCODE, false, false, 1, KIND_BUG},
		{"an oops has a number", KIND_UNKNOWN, true, false, 1, KIND_UNKNOWN},
		{"WARN() has none", KIND_UNKNOWN, true, false, 0, KIND_WARNING},
		{"a panic after lines that are missing", KIND_UNKNOWN, true, true, 0, KIND_PANIC},
		{"a report with its first lines", KIND_OTHER, false, false, 0, KIND_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct fault f = {rows[i].kind, ARCH_X86_64, .code = {UD2}};
		struct incident e = incident_of(&f);
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.headless = rows[i].headless;
		e.panicked = rows[i].panicked;
		e.number = rows[i].number;
		judge_facts(&j);
		if (!ok(v.kind == rows[i].want, "%s", rows[i].name))
			printf("#   got %s\n", kind_name(v.kind));
	}
}

/* A line break may cut the address of the header. Another line then has the whole address. */
static void test_cut(void)
{
	static const struct {
		const char *name;
		uint64_t header, walk, cr2, want;
	} rows[] = {
		{"the first half of the page table dump's address", 0xffff8880, 0xffff888012345678,
		 0, 0xffff888012345678},
		{"three digits that begin it", 0xabc, 0xabcdef0123456789, 0, 0xabcdef0123456789},
		{"two digits that begin it", 0xab, 0xabcdef0123456789, 0, 0xab},
		{"all digits of it", 0xffff888012345678, 0xffff888012345678, 0, 0xffff888012345678},
		{"the begin of CR2", 0xffff8880, 0, 0xffff888012345678, 0xffff888012345678},
		{"another address than CR2", 0xffff8881, 0, 0xffff888012345678, 0xffff8881},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.kind = KIND_PAGING_REQUEST, .arch = ARCH_X86_64};
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.has_address = true;
		e.address = rows[i].header;
		e.has_walk_address = rows[i].walk;
		e.walk_address = rows[i].walk;
		e.has_cr2 = rows[i].cr2;
		e.cr2 = rows[i].cr2;
		judge_facts(&j);
		if (!ok(v.has_address && v.address == rows[i].want, "%s", rows[i].name))
			printf("#   got %#jx\n", (uintmax_t)v.address);
	}
}

/* KFENCE prints hashed addresses, which have 32 bits. */
static void test_hashed(void)
{
	static const struct {
		const char *name;
		enum kind kind;
		enum arch arch;
		uint64_t address;
		bool has_address;
	} rows[] = {
		{"32 bits are a hash", KIND_KFENCE_UAF, ARCH_X86_64, 0xffffffff, false},
		{"33 bits are an address", KIND_KFENCE_UAF, ARCH_X86_64, 0x100000000, true},
		{"an access out of bounds", KIND_KFENCE_OOB, ARCH_X86_64, 0x12345678, false},
		{"a corruption", KIND_KFENCE_CORRUPTION, ARCH_ARM64, 0x12345678, false},
		{"an invalid access", KIND_KFENCE_INVALID, ARCH_X86_64, 0x12345678, false},
		{"i386 has no more bits", KIND_KFENCE_UAF, ARCH_I386, 0x12345678, true},
		{"arm has no more bits", KIND_KFENCE_UAF, ARCH_ARM, 0x12345678, true},
		{"KASAN prints addresses", KIND_KASAN_UAF, ARCH_X86_64, 0x12345678, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.kind = rows[i].kind, .arch = rows[i].arch};
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.has_address = true;
		e.address = rows[i].address;
		judge_facts(&j);
		ok(v.has_address == rows[i].has_address, "%s", rows[i].name);
	}
}

/* At most 12 rules are kept. */
static void test_rules(void)
{
	struct diagnosis v = {};

	for (int i = 0; i < FIRED_MAX + 1; i++)
		rule_fired(&v, i < FIRED_MAX ? "X1" : "X2", "number %d", i);
	ok(v.nr_fired == FIRED_MAX && !strcmp(v.fired[FIRED_MAX - 1].id, "X1") &&
		   !strcmp(v.fired[FIRED_MAX - 1].text, "number 11"),
	   "rules beyond the last are not kept");
}

int main(void)
{
	test_base();
	test_index();
	test_computed();
	test_headless();
	test_traps();
	test_cut();
	test_hashed();
	test_rules();
	return tap_done();
}
