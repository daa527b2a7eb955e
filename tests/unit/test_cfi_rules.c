// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests call frame instructions, one at a time, and the rules of the states that they make, at the
 * bounds of what a rule can express.
 */
#include <errno.h>

#include "tap.h"
#include "unwind/cfi_expression.h"
#include "unwind/cfi_rule.h"

#define WITH(...) {__VA_ARGS__}, sizeof((const __u8[]){__VA_ARGS__})
#define RULE(...) ((struct fs_unwind_rule){__VA_ARGS__})
#define OPAQUE	  RULE(FS_UNWIND_CFA_OPAQUE)
#define PROGRAM	  40
#define ROWS	  8
#define START	  0x1000
#define FAR	  0x100000000ULL

struct rows {
	__u64 address[ROWS];
	struct cfi_state state[ROWS];
	bool known[ROWS];
	size_t n;
};

static void add_row(void *ctx, __u64 address, const struct cfi_state *s)
{
	struct rows *r = ctx;

	if (r->n == ROWS)
		return;
	r->address[r->n] = address;
	r->known[r->n] = s;
	if (s)
		r->state[r->n] = *s;
	r->n++;
}

static struct cfi_bytes all_of(const __u8 *bytes, size_t n)
{
	return (struct cfi_bytes){bytes, bytes + n, false};
}

/* The state after def_cfa rsp+8 and the return address at CFA-8; for arm64, def_cfa sp+0. */
static struct cfi_state usual(enum cfi_machine machine)
{
	struct cfi_state s = {.cfa_register = 7, .cfa_offset = 8};

	s.followed[CFI_RA] = (struct cfi_register){.place = CFI_AT_CFA, .offset = -8};
	if (machine == CFI_ARM64)
		s = (struct cfi_state){.cfa_register = 31};
	return s;
}

/* Runs a program from START on, with these factors, and `work` instructions at most. */
static int run_with(struct cfi_run *run, const struct cfi_cie *cie, const __u8 *program, size_t n,
		    __u64 bytes, struct rows *ret)
{
	struct cfi_state initial = usual(run->machine);
	__u64 left = 100;
	int err;

	*ret = (struct rows){};
	cfi_begin(run, cie, all_of(program, n), &initial, START, START + bytes);
	err = cfi_go_on(run, &left, add_row, ret);
	return err;
}

static int run_program(const __u8 *program, size_t n, struct rows *ret)
{
	struct cfi_cie cie = {.code_align = 2, .data_align = -8};
	struct cfi_run run = {.machine = CFI_X86_64, .work = 100};

	return run_with(&run, &cie, program, n, FAR, ret);
}

/* Tests how far the instructions advance. */
static void test_advance(void)
{
	static const struct {
		__u8 program[PROGRAM];
		size_t n;
		__u64 by;
	} t[] = {
		{WITH(0x41), 2},
		{WITH(0x7f), 2 * 0x3f},
		{WITH(0x02, 0xfe), 2 * 0xfe},
		{WITH(0x03, 0xfe, 1), 2 * 0x1fe},
		{WITH(0x04, 0xfe, 1, 0, 1), 2 * 0x10001feULL},
	};
	struct rows r;

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		is_u64(run_program(t[i].program, t[i].n, &r), 0, "an advance");
		is_u64(r.n, 2, "a row before it, and one behind it");
		ok(r.address[0] == START && r.address[1] == START + t[i].by, "by %#llx", t[i].by);
		is_u64(-run_program(t[i].program, t[i].n - 1, &r), t[i].n > 1 ? EBADMSG : 0,
		       "an advance without its last byte");
		ok(r.n == 1 && r.known[0] == (t[i].n == 1), "has no row but the last");
	}
	is_u64(run_program((const __u8[]){0x40, 0x02, 0}, 3, &r), 0, "an advance by nothing");
	is_u64(r.n, 1, "has no row of its own");
}

/* Tests that instructions for addresses behind the function are left out. */
static void test_end(void)
{
	static const __u8 program[] = {0x44, 0x0e, 16, 0x44, 0x0e, 24};
	struct cfi_cie cie = {.code_align = 1, .data_align = -8};
	static const struct {
		__u64 bytes;
		size_t rows;
	} t[] = {{3, 1}, {4, 1}, {5, 2}, {7, 2}, {8, 2}, {9, 3}};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_run run = {.machine = CFI_X86_64, .work = 100};
		struct rows r;

		is_u64(run_with(&run, &cie, program, sizeof(program), t[i].bytes, &r), 0,
		       "a function with two advances");
		ok(r.n == t[i].rows, "of %llu bytes has %zu rows", t[i].bytes, t[i].rows);
		is_u64(r.state[r.n - 1].cfa_offset, 8 * r.n, "the last one has its state");
	}
}

/* Tests the limits of instructions: of one call, and of a file. */
static void test_work(void)
{
	static const __u8 program[] = {0, 0x0e, 16, 0x0e, 24};
	struct cfi_cie cie = {.code_align = 1, .data_align = -8};
	struct cfi_run run = {.machine = CFI_X86_64, .work = 3};
	struct rows r = {};
	__u64 left = 2;

	cfi_begin(&run, &cie, all_of(program, sizeof(program)), NULL, START, START + 9);
	is_u64(-cfi_go_on(&run, &left, add_row, &r), EAGAIN, "two of three instructions");
	is_u64(left, 0, "no more may run");
	is_u64(-cfi_go_on(&run, &left, add_row, &r), EAGAIN, "so none does");
	is_u64(r.n, 0, "and there is no row");
	left = 2;
	is_u64(cfi_go_on(&run, &left, add_row, &r), 0, "the third one");
	is_u64(left, 1, "one more could run");
	is_u64(run.work, 0, "the file has used up its instructions");
	ok(r.n == 1 && r.known[0] && r.state[0].cfa_offset == 24, "the state of all three");
	run.work = 2;
	is_u64(-run_with(&run, &cie, program, sizeof(program), 9, &r), E2BIG, "one too many");
	ok(r.n == 1 && !r.known[0], "the state is not known");
	is_u64(run.work, 0, "none is left");
	is_u64(-run_with(&run, &cie, program, sizeof(program), 9, &r), E2BIG, "nor later");
	run.work = 2;
	left = 9;
	cfi_begin(&run, &cie, all_of(program, sizeof(program)), NULL, START, START + 9);
	is_u64(-cfi_go_on(&run, &left, NULL, NULL), E2BIG, "without rows it is the same");
}

/* Tests a CIE's own instructions, which have no earlier state. */
static void test_own_program(void)
{
	static const __u8 program[] = {0x0c, 7, 8, 0x90, 1, 0x86, 2, 0xc6, 0x04, 1, 0, 0, 0};
	struct cfi_cie cie = {.code_align = 1, .data_align = -8};
	struct cfi_run run = {.machine = CFI_X86_64, .work = 100, .depth = 3};
	__u64 left = 100;

	run.s.followed[CFI_SAVED].place = CFI_SAME;
	cfi_begin(&run, &cie, all_of(program, sizeof(program)), NULL, 0, 0);
	is_u64(run.depth, 0, "no state is remembered");
	is_u64(cfi_go_on(&run, &left, NULL, NULL), 0, "a CIE's own instructions");
	ok(run.s.cfa_register == 7 && run.s.cfa_offset == 8, "the CFA");
	ok(run.s.followed[CFI_RA].place == CFI_AT_CFA && run.s.followed[CFI_RA].offset == -8,
	   "the return address");
	is_u64(run.s.followed[CFI_FP].place, CFI_UNSPECIFIED, "a register that is restored");
	is_u64(run.s.followed[CFI_SAVED].place, CFI_UNSPECIFIED, "a register without instruction");
	is_u64(run.address, 0, "no address is counted");
}

static void test_remembered(void)
{
	__u8 program[2 * CFI_REMEMBERED_MAX + 2];
	struct rows r;
	size_t n = 0;

	for (int i = 0; i < CFI_REMEMBERED_MAX; i++)
		program[n++] = 0x0a;
	is_u64(run_program(program, n, &r), 0, "16 remembered states");
	program[n] = 0x0a;
	is_u64(-run_program(program, n + 1, &r), EOPNOTSUPP, "17 are too many");
	for (int i = 0; i < CFI_REMEMBERED_MAX; i++)
		program[n++] = 0x0b;
	is_u64(run_program(program, n, &r), 0, "16 are restored");
	program[n++] = 0x0b;
	is_u64(-run_program(program, n, &r), EBADMSG, "the 17th was never remembered");
	is_u64(run_program((const __u8[]){0x0e, 16, 0x0a, 0x0e, 24, 0x0a, 0x0e, 32, 0x0b}, 9, &r),
	       0, "two states are remembered, and one is restored");
	is_u64(r.state[0].cfa_offset, 24, "the later one");
}

/* Tests which instructions are known. */
static void test_known(void)
{
	static const struct {
		__u8 op;
		int err;
		const char *name;
	} t[] = {
		{0x00, 0, "nop"},
		{0x01, EOPNOTSUPP, "set_loc"},
		{0x16, 0, "val_expression"},
		{0x17, EOPNOTSUPP, "the first one that DWARF does not use"},
		{0x1d, EOPNOTSUPP, "one of another machine"},
		{0x2c, EOPNOTSUPP, "the one before negate_ra_state"},
		{0x2d, 0, "negate_ra_state"},
		{0x2e, 0, "GNU_args_size"},
		{0x2f, 0, "GNU_negative_offset_extended"},
		{0x30, EOPNOTSUPP, "the one behind"},
		{0x3f, EOPNOTSUPP, "the last one"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		const __u8 program[] = {t[i].op, 3, 0, 0};
		struct rows r;

		is_u64(-run_program(program, sizeof(program), &r), t[i].err, t[i].name);
		ok(r.n == 1 && r.known[0] == !t[i].err, "the state is known or not");
	}
}

struct one_rule {
	__u8 program[PROGRAM];
	size_t n;
	struct fs_unwind_rule want;
	const char *name;
};

static void is_rule(enum cfi_machine machine, const struct cfi_cie *cie, const struct one_rule *t)
{
	struct cfi_run run = {.machine = machine, .work = 100};
	struct fs_unwind_rule got = {};
	struct rows r;

	if (!ok(!run_with(&run, cie, t->program, t->n, 1, &r), "%s: the program runs", t->name))
		return;
	got = cfi_rule(machine, cie, &r.state[0]);
	if (!ok(!memcmp(&got, &t->want, sizeof(got)), "%s", t->name))
		printf("#   got cfa %d %d, fp %d %d\n", got.cfa, got.cfa_off, got.fp, got.fp_off);
}

static void are_rules(enum cfi_machine machine, const struct one_rule *t, size_t n)
{
	struct cfi_cie cie = {.code_align = 1, .data_align = -8};

	cie.ra_column = machine == CFI_X86_64 ? 16 : 30;
	for (size_t i = 0; i < n; i++)
		is_rule(machine, &cie, &t[i]);
}
#define ARE_RULES(machine, t) are_rules(machine, t, sizeof(t) / sizeof(*(t)))

#define SP(off) RULE(FS_UNWIND_CFA_SP, .cfa_off = off)

static void test_cfa(void)
{
	static const struct one_rule t[] = {
		{WITH(0x0c, 7, 16), SP(16), "def_cfa"},
		{WITH(0x0e, 0xff, 0xff, 0xff, 0xff, 7), SP(INT32_MAX), "the greatest offset"},
		{WITH(0x0e, 0x80, 0x80, 0x80, 0x80, 8), OPAQUE, "one more"},
		{WITH(0x13, 0x80, 0x80, 0x80, 0x80, 1), SP(INT32_MIN), "the least offset"},
		{WITH(0x13, 0x81, 0x80, 0x80, 0x80, 1), OPAQUE, "8 less"},
		{WITH(0x12, 7, 0x7d), SP(24), "def_cfa_sf"},
		{WITH(0x13, 0x7c), SP(32), "def_cfa_offset_sf"},
		{WITH(0x0d, 6), RULE(FS_UNWIND_CFA_FP, .cfa_off = 8), "def_cfa_register: rbp"},
		{WITH(0x0d, 3), RULE(FS_UNWIND_CFA_SAVED, .cfa_off = 8), "rbx"},
		{WITH(0x0d, 0), RULE(FS_UNWIND_CFA_REGISTER, .cfa_off = 8), "rax"},
		{WITH(0x0d, 15), RULE(FS_UNWIND_CFA_REGISTER + 15, .cfa_off = 8), "r15"},
		{WITH(0x0d, 16), OPAQUE, "rip"},
		{WITH(0x0d, 0x87, 0x80, 0x80, 0x80, 0x80, 0x20), OPAQUE, "a number above 32 bits"},
		{WITH(0x0f, 2, 0x77, 24, 0x0c, 7, 8), SP(8), "def_cfa after an expression"},
		{WITH(0x14, 7, 0), SP(8), "rsp is the CFA"},
		{WITH(0x14, 7, 1), OPAQUE, "rsp is 8 bytes off the CFA"},
		{WITH(0x87, 0), OPAQUE, "rsp is saved at the CFA"},
		{WITH(0x08, 7), SP(8), "rsp is the same"},
	};

	ARE_RULES(CFI_X86_64, t);
}

static void test_registers(void)
{
	static const struct one_rule t[] = {
		{WITH(0x08, 6), SP(8), "rbp is the same"},
		{WITH(0x07, 6), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp is undefined"},
		{WITH(0x86, 2), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -16, 8), "offset"},
		{WITH(0x05, 6, 3), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -24, 8),
		 "offset_extended"},
		{WITH(0x11, 6, 0x7c), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, 32, 8),
		 "offset_extended_sf"},
		{WITH(0x2f, 6, 3), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, 24, 8),
		 "GNU_negative_offset_extended"},
		{WITH(0x86, 3, 0x06, 6), SP(8), "restore_extended"},
		{WITH(0x14, 6, 2), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8), "val_offset"},
		{WITH(0x05, 6, 0x80, 0x20), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, -32768, 8),
		 "the farthest place below the CFA"},
		{WITH(0x05, 6, 0x81, 0x20), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp is too far below"},
		{WITH(0x2f, 6, 0xff, 0x1f), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA, 32760, 8),
		 "the farthest place above the CFA"},
		{WITH(0x2f, 6, 0x80, 0x20), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp is too far above"},
		{WITH(0x10, 6, 2, 0x76, 0x70), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_FP, -16, 8),
		 "rbp is saved at rbp - 16"},
		{WITH(0x10, 6, 4, 0x76, 0xff, 0xff, 1),
		 RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_FP, 32767, 8), "the farthest above rbp"},
		{WITH(0x10, 6, 4, 0x76, 0x80, 0x80, 2),
		 RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8), "too far above rbp"},
		{WITH(0x10, 6, 2, 0x77, 0), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp is saved at rsp"},
		{WITH(0x10, 6, 3, 0x76, 0, 6), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp is saved at *rbp"},
		{WITH(0x16, 6, 2, 0x76, 0), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_LOST, 0, 8),
		 "rbp has the value of an expression"},
		{WITH(0x83, 1), RULE(FS_UNWIND_CFA_SP, 1 << 3, 0, 8), "rbx is next to the CFA"},
		{WITH(0x83, 0), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
		 "rbx is at the CFA"},
		{WITH(0x83, 30), RULE(FS_UNWIND_CFA_SP, 30 << 3, 0, 8), "rbx is 30 words below"},
		{WITH(0x83, 31), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
		 "rbx is 31 words below"},
		{WITH(0x11, 3, 0x7f), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
		 "rbx is above the CFA"},
		{WITH(0x07, 3), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
		 "rbx is undefined"},
		{WITH(0x14, 3, 2), RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
		 "rbx is an address"},
		{WITH(0x86, 2, 0x83, 3),
		 RULE(FS_UNWIND_CFA_SP, FS_UNWIND_FP_AT_CFA | 3 << 3, -16, 8), "rbp and rbx"},
		{WITH(0x8c, 2, 0x8d, 3), SP(8), "registers that no walk needs"},
		{WITH(0x05, 0x86, 1, 2), SP(8), "register 134 is not register 6"},
		{WITH(0x05, 0x86, 0x80, 0x80, 0x80, 0x10, 2), SP(8), "nor is 2^32 + 6"},
	};

	ARE_RULES(CFI_X86_64, t);
}

/* Tests functions that keep their return address in a register. */
static void test_return_address(void)
{
	static const struct one_rule t[] = {
		{WITH(0x09, 16, 0), RULE(FS_UNWIND_CFA_RA_REGISTER, 0, 0, 8), "in rax"},
		{WITH(0x09, 16, 15), RULE(FS_UNWIND_CFA_RA_REGISTER, 0, 15, 8), "in r15"},
		{WITH(0x09, 16, 16), OPAQUE, "in rip"},
		{WITH(0x09, 16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), OPAQUE,
		 "in a register with a number of 64 bits"},
		{WITH(0x0e, 0, 0x09, 16, 5), RULE(FS_UNWIND_CFA_RA_REGISTER, 0, 5, 0),
		 "in a frame of no bytes"},
		{WITH(0x13, 1, 0x09, 16, 5), OPAQUE, "in a frame below the stack pointer"},
		{WITH(0x0d, 6, 0x09, 16, 5), OPAQUE, "in a frame by rbp"},
		{WITH(0x0d, 3, 0x09, 16, 5), OPAQUE, "in a frame by rbx"},
		{WITH(0x86, 2, 0x09, 16, 5), OPAQUE, "and rbp is saved"},
		{WITH(0x83, 2, 0x09, 16, 5), OPAQUE, "and rbx is saved"},
		{WITH(0x90, 0), OPAQUE, "at the CFA"},
		{WITH(0x90, 2), OPAQUE, "a word too low"},
		{WITH(0x14, 16, 1), OPAQUE, "an address"},
		{WITH(0x08, 16), OPAQUE, "the same as the caller's"},
	};
	static const struct one_rule plain = {WITH(0), SP(8), "in its column"};
	static const struct one_rule other = {WITH(0), OPAQUE, "in another column"};
	static const struct one_rule signal = {WITH(0x90, 2), RULE(FS_UNWIND_CFA_SIGNAL),
					       "a signal frame"};
	static const struct one_rule last = {WITH(0x07, 16, 0x0d, 20), RULE(FS_UNWIND_CFA_END),
					     "an outermost function"};
	struct cfi_cie cie = {.code_align = 1, .data_align = -8, .ra_column = 16};

	ARE_RULES(CFI_X86_64, t);
	is_rule(CFI_X86_64, &cie, &plain);
	is_rule(CFI_X86_64, &cie, &last);
	cie.ra_column = 15;
	is_rule(CFI_X86_64, &cie, &other);
	cie.ra_column = 17;
	is_rule(CFI_X86_64, &cie, &other);
	cie.signal = true;
	is_rule(CFI_X86_64, &cie, &signal);
}

#define ARM(place, fp, fp_off, off) RULE(FS_UNWIND_CFA_SP, (fp) | (place) << 3, fp_off, off)

static void test_arm64(void)
{
	static const struct one_rule t[] = {
		{WITH(0), SP(0), "nothing is saved"},
		{WITH(0x0d, 29), RULE(FS_UNWIND_CFA_FP), "the CFA by x29"},
		{WITH(0x0d, 0), RULE(FS_UNWIND_CFA_REGISTER), "the CFA by x0"},
		{WITH(0x0d, 30), RULE(FS_UNWIND_CFA_REGISTER + 30), "the CFA by x30"},
		{WITH(0x0d, 32), OPAQUE, "the CFA by the program counter"},
		{WITH(0x0d, 3), RULE(FS_UNWIND_CFA_REGISTER + 3), "x3 is a register like others"},
		{WITH(0x9d, 4, 0x9e, 3), ARM(FS_UNWIND_RA_WITH_FP, FS_UNWIND_FP_AT_CFA, -32, 0),
		 "a frame record"},
		{WITH(0x9d, 4, 0x9e, 1), ARM(FS_UNWIND_RA_AT_CFA, FS_UNWIND_FP_AT_CFA, -32, 0),
		 "x30 is in the word below the CFA"},
		{WITH(0x9d, 4, 0x9e, 0), OPAQUE, "x30 is at the CFA"},
		{WITH(0x9d, 4, 0x9e, 29),
		 ARM(FS_UNWIND_RA_AT_CFA_LAST, FS_UNWIND_FP_AT_CFA, -32, 0),
		 "x30 is 29 words below"},
		{WITH(0x9d, 4, 0x9e, 30), OPAQUE, "x30 is 30 words below"},
		{WITH(0x9e, 2), ARM(FS_UNWIND_RA_AT_FP_OFF, FS_UNWIND_FP_SAME, -16, 0),
		 "x30 alone is saved"},
		{WITH(0x05, 30, 0x80, 0x20),
		 ARM(FS_UNWIND_RA_AT_FP_OFF, FS_UNWIND_FP_SAME, -32768, 0),
		 "the farthest place below the CFA"},
		{WITH(0x05, 30, 0x81, 0x20), OPAQUE, "x30 is too far below"},
		{WITH(0x07, 29, 0x9e, 2), ARM(FS_UNWIND_RA_AT_CFA + 1, FS_UNWIND_FP_LOST, 0, 0),
		 "x29 is lost"},
		{WITH(0x09, 30, 5), OPAQUE, "x30 is in another register"},
		{WITH(0x07, 30), RULE(FS_UNWIND_CFA_END), "an outermost function"},
		{WITH(0x2d), SP(0), "the return address is signed"},
	};
	struct cfi_cie bytes = {.code_align = 1, .data_align = -4, .ra_column = 30};
	static const struct one_rule odd = {WITH(0x9d, 4, 0x9e, 3), OPAQUE,
					    "x30 is in half a word"};

	ARE_RULES(CFI_ARM64, t);
	is_rule(CFI_ARM64, &bytes, &odd);
}

/* Tests rbx in half a word, which a data alignment factor of -4 allows. */
static void test_half_word(void)
{
	static const struct one_rule odd = {WITH(0x83, 3, 0x90, 2),
					    RULE(FS_UNWIND_CFA_SP, FS_UNWIND_SAVED_LOST << 3, 0, 8),
					    "rbx is in half a word"};
	struct cfi_cie bytes = {.code_align = 1, .data_align = -4, .ra_column = 16};

	is_rule(CFI_X86_64, &bytes, &odd);
}

#define PAIR(low, high) ((__s32)((__u32)(high) << 16 | (__u16)(low)))
#define PLT(n)		0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + (n), 0x2a, 0x33, 0x24, 0x22

static void test_cfa_expressions(void)
{
	static const struct one_rule t[] = {
		{WITH(0x0f, 2, 0x77, 24), SP(24), "rsp + 24"},
		{WITH(0x0f, 2, 0x70, 8), RULE(FS_UNWIND_CFA_REGISTER, .cfa_off = 8), "rax + 8"},
		{WITH(0x0f, 2, 0x7f, 8), RULE(FS_UNWIND_CFA_REGISTER + 15, .cfa_off = 8),
		 "r15 + 8"},
		{WITH(0x0f, 2, 0x80, 8), OPAQUE, "rip + 8"},
		{WITH(0x0f, 3, 0x77, 8, 6), RULE(FS_UNWIND_CFA_SP_DEREF, .cfa_off = 8),
		 "*(rsp + 8)"},
		{WITH(0x0f, 3, 0x76, 8, 6), RULE(FS_UNWIND_CFA_FP_DEREF, .cfa_off = 8),
		 "*(rbp + 8)"},
		{WITH(0x0f, 3, 0x73, 8, 6), OPAQUE, "*(rbx + 8)"},
		{WITH(0x0f, 5, 0x77, 0xff, 0xff, 1, 6),
		 RULE(FS_UNWIND_CFA_SP_DEREF, .cfa_off = 32767), "*(rsp + 32767)"},
		{WITH(0x0f, 5, 0x77, 0x80, 0x80, 2, 6), OPAQUE, "*(rsp + 32768)"},
		{WITH(0x0f, 8, 0x77, 8, 6, 0x0a, 0xff, 0x7f, 0x22, 0x30), OPAQUE,
		 "a constant is left over"},
		{WITH(0x0f, 7, 0x77, 8, 6, 0x0a, 0xff, 0x7f, 0x22),
		 RULE(FS_UNWIND_CFA_SP_DEREF, .cfa_off = PAIR(8, 32767)), "*(rsp + 8) + 32767"},
		{WITH(0x0f, 7, 0x77, 8, 6, 0x0a, 0, 0x80, 0x22), OPAQUE, "*(rsp + 8) + 32768"},
		{WITH(PLT(0)), RULE(FS_UNWIND_CFA_PLT, .cfa_off = PAIR(8, 0)), "a PLT from 0 on"},
		{WITH(PLT(15)), RULE(FS_UNWIND_CFA_PLT, .cfa_off = PAIR(8, 15)),
		 "a PLT from 15 on"},
		{WITH(PLT(16)), OPAQUE, "a PLT from 16 on"},
		{WITH(PLT(-1)), OPAQUE, "a PLT from -1 on"},
		{WITH(0x0f, 11, 0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), OPAQUE,
		 "a PLT by rbp"},
		{WITH(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22), OPAQUE,
		 "a PLT with words of 4 bytes"},
		{WITH(0x0f, 12, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22, 0x96),
		 OPAQUE, "a PLT and one more operation"},
	};
	static const struct one_rule arm = {
		WITH(0x0f, 11, 0x8f, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), OPAQUE,
		"a PLT of x86-64 in a file of arm64"};
	struct cfi_cie cie = {.code_align = 1, .data_align = -8, .ra_column = 30};

	ARE_RULES(CFI_X86_64, t);
	is_rule(CFI_ARM64, &cie, &arm);
}

/* Tests sums in expressions. */
static void test_sums(void)
{
	static const struct {
		__u8 bytes[PROGRAM];
		size_t n;
		bool good;
		__s64 offset;
		const char *name;
	} t[] = {
		{WITH(0x77, 8), true, 8, "no summand"},
		{WITH(0x77), false, 0, "no offset"},
		{WITH(0x77, 8, 0x08, 0xff, 0x22), true, 8 + 255, "const1u"},
		{WITH(0x77, 8, 0x09, 0xff, 0x22), true, 8 - 1, "const1s"},
		{WITH(0x77, 8, 0x0a, 0, 0xff, 0x22), true, 8 + 0xff00, "const2u"},
		{WITH(0x77, 8, 0x0b, 0, 0xff, 0x22), true, 8 - 0x100, "const2s"},
		{WITH(0x77, 8, 0x0c, 0, 0, 0, 0xff, 0x22), true, 8 + 0xff000000LL, "const4u"},
		{WITH(0x77, 8, 0x0d, 0, 0, 0, 0xff, 0x22), true, 8 - 0x1000000, "const4s"},
		{WITH(0x77, 8, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0x22), false, 0, "const8u"},
		{WITH(0x77, 8, 0x10, 0x7f, 0x22), true, 8 + 127, "constu"},
		{WITH(0x77, 8, 0x11, 0x7f, 0x22), true, 8 - 1, "consts"},
		{WITH(0x77, 8, 0x23, 0x7f), true, 8 + 127, "plus_uconst"},
		{WITH(0x77, 8, 0x23, 0x80), false, 0, "plus_uconst, cut"},
		{WITH(0x77, 8, 0x23), false, 0, "plus_uconst without its number"},
		{WITH(0x77, 8, 0x30, 0x22), true, 8, "lit0"},
		{WITH(0x77, 8, 0x4f, 0x22), true, 8 + 31, "lit31"},
		{WITH(0x77, 8, 0x50, 0x22), false, 0, "reg0"},
		{WITH(0x77, 8, 0x2f, 1, 0, 0x22), false, 0, "skip"},
		{WITH(0x77, 8, 0x38, 0x1c), false, 0, "minus"},
		{WITH(0x77, 8, 0x38), false, 0, "a constant that nothing is done with"},
		{WITH(0x77, 8, 0x08, 1, 0x22, 0x38, 0x22), true, 8 + 1 + 8, "two summands"},
		{WITH(0x77, 8, 0x10, 0xf7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x22),
		 true, INT64_MAX, "the greatest sum"},
		{WITH(0x77, 8, 0x10, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x22),
		 false, 0, "a sum above 63 bits"},
		{WITH(0x6f, 8), false, 0, "reg31"},
		{WITH(0x90, 8, 8), false, 0, "regx"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct cfi_expression e;
		bool good = cfi_expression_read(all_of(t[i].bytes, t[i].n), &e);

		ok(good == t[i].good, "%s: %s", t[i].name, t[i].good ? "known" : "not known");
		if (good)
			ok(e.form == CFI_FORM_REGISTER && e.number == 7 && e.offset == t[i].offset,
			   "%s: its offset", t[i].name);
	}
}

static void test_derefs(void)
{
	static const __u8 all[] = {0x8f, 8, 0x38, 0x22, 6, 0x34, 0x22, 0x35, 0x22, 6};
	struct cfi_expression e;

	ok(cfi_expression_read(all_of(all, 9), &e), "*(r31 + 8 + 8) + 4 + 5");
	ok(e.form == CFI_FORM_DEREF && e.number == 31 && e.offset == 16 && e.added == 9,
	   "its numbers");
	ok(!cfi_expression_read(all_of(all, 10), &e), "a second read of memory");
	ok(!cfi_expression_read(all_of(all, 0), &e), "no bytes at all");
}

int main(void)
{
	test_advance();
	test_end();
	test_work();
	test_own_program();
	test_remembered();
	test_known();
	test_cfa();
	test_registers();
	test_return_address();
	test_arm64();
	test_half_word();
	test_cfa_expressions();
	test_sums();
	test_derefs();
	return tap_done();
}
