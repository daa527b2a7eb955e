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

/* Which register holds the pointer, and the kind and the size of the access. */
static void test_accesses(void)
{
	static const struct {
		const char *name;
		enum kind kind;
		enum arch arch;
		uint64_t rax, rdi, rsi, address;
		bool has_error;
		uint64_t error;
		enum access stated; /* by the kernel's report */
		uint8_t code[6];
		enum access access;
		uint32_t size;
		const char *base;
	} rows[] = {
		{"the pointer is in rax",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 DIRECT,
		 0,
		 0,
		 DIRECT + 0x10,
		 false,
		 0,
		 ACCESS_NONE,
		 {0x48, 0x8b, 0x50, 0x10},
		 ACCESS_READ,
		 8,
		 "rax"},
		{"rep movsb that reads",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 0,
		 0xffff888000000000,
		 DIRECT,
		 DIRECT,
		 true,
		 0,
		 ACCESS_NONE,
		 {0xf3, 0xa4},
		 ACCESS_READ,
		 1,
		 "rsi"},
		{"rep movsb that writes",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 0,
		 DIRECT,
		 0xffff888000000000,
		 DIRECT,
		 true,
		 2,
		 ACCESS_NONE,
		 {0xf3, 0xa4},
		 ACCESS_WRITE,
		 1,
		 "rdi"},
		{"an instruction fetch uses no operand",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 0,
		 DIRECT,
		 0,
		 DIRECT + 0x10,
		 true,
		 16,
		 ACCESS_NONE,
		 {LOAD},
		 ACCESS_EXEC,
		 0,
		 ""},
		{"the report's access counts",
		 KIND_GPF,
		 ARCH_X86_64,
		 0,
		 0x1234567812345000,
		 0,
		 0,
		 false,
		 0,
		 ACCESS_WRITE,
		 {LOAD},
		 ACCESS_WRITE,
		 8,
		 "rdi"},
		{"a load without an error code",
		 KIND_NULL_DEREF,
		 ARCH_X86_64,
		 0,
		 0,
		 0,
		 0x10,
		 false,
		 0,
		 ACCESS_NONE,
		 {LOAD},
		 ACCESS_READ,
		 8,
		 "rdi"},
		{"a store, of which the error code says more",
		 KIND_NULL_DEREF,
		 ARCH_X86_64,
		 0,
		 0,
		 0,
		 0x10,
		 true,
		 0,
		 ACCESS_NONE,
		 {STORE},
		 ACCESS_READ,
		 8,
		 "rdi"},
		{"a report that is no fault",
		 KIND_BUG,
		 ARCH_X86_64,
		 0,
		 DIRECT,
		 0,
		 0,
		 false,
		 0,
		 ACCESS_NONE,
		 {LOAD},
		 ACCESS_NONE,
		 0,
		 ""},
		{"a stack segment",
		 KIND_STACK_SEGMENT,
		 ARCH_X86_64,
		 0,
		 DIRECT,
		 0,
		 0,
		 false,
		 0,
		 ACCESS_NONE,
		 {LOAD},
		 ACCESS_READ,
		 8,
		 "rdi"},
		{"arm64: an address that is printed without its tag",
		 KIND_PAGING_REQUEST,
		 ARCH_ARM64,
		 0,
		 0xffff000012345000,
		 0,
		 0x00ff000012345010,
		 false,
		 0,
		 ACCESS_NONE,
		 {0xe0, 0x08, 0x40, 0xf9},
		 ACCESS_READ,
		 8,
		 "x7"},
		{"x86-64: such an address is another one",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 0,
		 0xffff000012345000,
		 0,
		 0x00ff000012345010,
		 false,
		 0,
		 ACCESS_NONE,
		 {LOAD},
		 ACCESS_READ,
		 8,
		 ""},
		{"arm64: up to 4.19, each fault is called a read",
		 KIND_PAGING_REQUEST,
		 ARCH_ARM64,
		 0,
		 0,
		 0,
		 DIRECT,
		 true,
		 0x21ull << 26,
		 ACCESS_READ,
		 {0},
		 ACCESS_EXEC,
		 0,
		 ""},
		{"x86-64: an error code is no status of arm64",
		 KIND_PAGING_REQUEST,
		 ARCH_X86_64,
		 0,
		 0,
		 0,
		 DIRECT,
		 true,
		 0x21ull << 26,
		 ACCESS_READ,
		 {0},
		 ACCESS_READ,
		 0,
		 ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.kind = rows[i].kind, .arch = rows[i].arch};
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.regs.known = 1u << RAX | 1u << 6 | 1u << RDI;
		e.regs.value[RAX] = rows[i].rax;
		e.regs.value[6] = rows[i].rsi;
		e.regs.value[RDI] = rows[i].rdi;
		e.has_address = rows[i].address;
		e.address = rows[i].address;
		e.has_error = rows[i].has_error;
		e.error = rows[i].error;
		e.access = rows[i].stated;
		e.has_code_at = rows[i].code[0];
		memcpy(e.code, rows[i].code, sizeof(rows[i].code));
		e.code_bytes = rows[i].arch == ARCH_ARM64 ? 4 : 6;
		judge_facts(&j);
		if (!ok(v.access == rows[i].access && v.size == rows[i].size &&
				!strcmp(v.base_register, rows[i].base),
			"%s", rows[i].name))
			printf("#   got %s of %u, base \"%s\"\n", access_name(v.access), v.size,
			       v.base_register);
	}
}

/* Functions that only report one kind of error. */
static void test_functions(void)
{
	static const struct {
		const char *function;
		enum kind kind, want;
	} rows[] = {
		{"__list_del_entry_valid", KIND_BUG, KIND_LIST_CORRUPTION},
		{"__list_add_valid_or_report", KIND_WARNING, KIND_LIST_CORRUPTION},
		{"refcount_warn_saturate", KIND_WARNING, KIND_REFCOUNT},
		{"usercopy_abort", KIND_INVALID_OPCODE, KIND_USERCOPY},
		{"__stack_chk_fail", KIND_UNKNOWN, KIND_STACK_CORRUPTION},
		{"__list_del_entry_valid", KIND_PAGING_REQUEST, KIND_PAGING_REQUEST},
		{"list_del", KIND_BUG, KIND_BUG},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int said = 0; said <= 1; said++) {
			struct incident e = {.kind = rows[i].kind, .arch = ARCH_X86_64};
			struct diagnosis v = {};
			struct judged j = {.e = &e, .v = &v};

			e.has_ip = !said;
			e.ip.function = str_of(said ? "other" : rows[i].function);
			e.said = str_of(said ? rows[i].function : "other");
			judge_facts(&j);
			ok(v.kind == rows[i].want, "%s in %s() of %s", kind_name(rows[i].want),
			   rows[i].function, said ? "the header" : "the instruction");
		}
}

/* The places in a report that may have the address, if the header has none. */
static void test_places(void)
{
	static const struct {
		const char *name;
		struct incident e;
		uint64_t want; /* 1: no address */
	} rows[] = {
		{"CR2, without the first lines",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_X86_64,
		  .headless = true,
		  .has_cr2 = true,
		  .cr2 = DIRECT},
		 DIRECT},
		{"CR2 of i386",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_I386,
		  .headless = true,
		  .has_cr2 = true,
		  .cr2 = 0x18},
		 0x18},
		{"arm64 has no CR2",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_ARM64,
		  .headless = true,
		  .has_cr2 = true,
		  .cr2 = DIRECT},
		 1},
		{"CR2 of the registers, with an error code",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_X86_64,
		  .headless = true,
		  .has_error = true,
		  .has_weak_cr2 = true,
		  .weak_cr2 = DIRECT},
		 DIRECT},
		{"CR2 itself counts more",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_X86_64,
		  .headless = true,
		  .has_cr2 = true,
		  .cr2 = DIRECT,
		  .has_weak_cr2 = true,
		  .weak_cr2 = 0x18},
		 DIRECT},
		{"the dump of the page table",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_ARM64,
		  .headless = true,
		  .has_walk_address = true,
		  .walk_address = DIRECT},
		 DIRECT},
		{"CR2 of the registers, without an error code",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_X86_64,
		  .headless = true,
		  .has_weak_cr2 = true,
		  .weak_cr2 = DIRECT},
		 DIRECT},
		{"the instruction pointer of an instruction fetch",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_ARM64,
		  .headless = true,
		  .has_error = true,
		  .has_esr = true,
		  .error = 0x21ull << 26,
		  .has_ip = true,
		  .ip = {.has_address = true, .address = DIRECT}},
		 DIRECT},
		{"not that of a data access",
		 {.kind = KIND_UNKNOWN,
		  .arch = ARCH_ARM64,
		  .headless = true,
		  .has_error = true,
		  .has_esr = true,
		  .error = 0x25ull << 26,
		  .has_ip = true,
		  .ip = {.has_address = true, .address = DIRECT}},
		 1},
		{"CR2 of a whole page fault is not asked",
		 {.kind = KIND_PAGING_REQUEST, .arch = ARCH_X86_64, .has_cr2 = true, .cr2 = DIRECT},
		 1},
		{"CR2, if only the number of the oops is known",
		 {.kind = KIND_PAGING_REQUEST,
		  .arch = ARCH_X86_64,
		  .has_error = true,
		  .number = 1,
		  .has_cr2 = true,
		  .cr2 = DIRECT},
		 DIRECT},
		{"CR2 of a double fault",
		 {.kind = KIND_DOUBLE_FAULT, .arch = ARCH_X86_64, .has_cr2 = true, .cr2 = DIRECT},
		 DIRECT},
		{"CR2 of a double fault in the registers",
		 {.kind = KIND_DOUBLE_FAULT,
		  .arch = ARCH_X86_64,
		  .has_weak_cr2 = true,
		  .weak_cr2 = DIRECT},
		 DIRECT},
		{"CR2 of a stack overflow, whose address is hashed",
		 {.kind = KIND_STACK_OVERFLOW,
		  .arch = ARCH_X86_64,
		  .has_address = true,
		  .address = 0xdeadbeef,
		  .has_cr2 = true,
		  .cr2 = DIRECT},
		 DIRECT},
		{"the range that KASAN prints",
		 {.kind = KIND_GPF, .arch = ARCH_X86_64, .has_range = true, .range_low = 0x18},
		 0x18},
		{"a range of another report",
		 {.kind = KIND_BUG, .arch = ARCH_X86_64, .has_range = true, .range_low = 0x18},
		 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diagnosis v = {};
		struct judged j = {.e = &rows[i].e, .v = &v};

		judge_facts(&j);
		if (!ok(v.has_address ? v.address == rows[i].want : rows[i].want == 1, "%s",
			rows[i].name))
			printf("#   got %#jx\n", (uintmax_t)v.address);
	}
}

/* Whether the page was there, by the dump of the page table: pgd 1, pud 2, pmd 4, pte 8. */
static void test_present(void)
{
	static const struct {
		uint8_t levels;
		uint64_t pgd, pud, pmd, pte;
		bool known, present;
	} rows[] = {
		{15, 1, 1, 1, 1, true, true},  {15, 1, 1, 1, 0, true, false},
		{15, 1, 1, 1, 2, true, false}, {7, 1, 1, 0, 0, true, false},
		{7, 1, 1, 1, 0, false, false}, {3, 1, 0, 0, 0, true, false},
		{3, 1, 1, 0, 0, false, false}, {1, 0, 0, 0, 0, true, false},
		{1, 1, 0, 0, 0, false, false}, {0, 1, 0, 0, 0, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct incident e = {.kind = KIND_PAGING_REQUEST, .arch = ARCH_X86_64};
		struct diagnosis v = {};
		struct judged j = {.e = &e, .v = &v};

		e.has_walk = true;
		e.walk_levels = rows[i].levels;
		e.pgd = rows[i].pgd;
		e.pud = rows[i].pud;
		e.pmd = rows[i].pmd;
		e.pte = rows[i].pte;
		judge_facts(&j);
		ok(j.has_present == rows[i].known && j.present == rows[i].present,
		   "page table, levels %u: the page is %s", rows[i].levels,
		   !rows[i].known    ? "perhaps there"
		   : rows[i].present ? "there"
				     : "not there");
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
	test_accesses();
	test_functions();
	test_places();
	test_present();
	test_rules();
	return tap_done();
}
