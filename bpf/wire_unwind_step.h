/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of wire.h: one step of a stack walk, from a frame to its caller. The BPF program and user
 * space compile the same code. A file that includes this header must define the functions declared
 * here.
 */
#ifndef FS_WIRE_UNWIND_STEP_H
#define FS_WIRE_UNWIND_STEP_H

#include "wire_unwind.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/*
 * A frame pointer that no table confirms may point at most this many bytes above the stack pointer.
 */
#define FS_UNWIND_CHAIN_BYTES (1u << 20)

struct fs_unwind_cursor {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 saved; /* value of rbx (x86-64) or LR (arm64) in this frame */
	/* address of the registers in a signal frame; 0: the registers are the thread's own */
	__u64 context;
	/* mask of return address bits, without the pointer authentication code (arm64) */
	__u64 ra_bits;
	__u8 whole; /* nonzero: all registers are known, because this frame made no call */
	__u8 fp_lost;
	__u8 saved_lost;
	__u8 by_chain; /* nonzero: this frame was found with a frame pointer alone */
};

struct fs_unwind_memory;

/* Reads a word of the stack. Returns 0, or another value if it cannot be read. */
static int fs_unwind_read(struct fs_unwind_memory *m, __u64 at, __u64 *ret);

/*
 * Reads a register of the innermost frame by its DWARF number. Returns 0 if the register is known.
 */
static int fs_unwind_register(struct fs_unwind_memory *m, __u32 number, __u64 *ret);

/*
 * Returns the address to look up: for a return address the byte before it, because a call may be
 * the last instruction of its function.
 */
static __always_inline __u64 fs_unwind_lookup_pc(const struct fs_unwind_cursor *c)
{
	return c->whole ? c->pc : c->pc - 1;
}

/*
 * Returns `yes` if `a` is at most `b`, else `no`. The numbers are below 2^63. The code has no
 * branch, because the verifier checks each path through each step of a search.
 */
static __always_inline __u64 fs_unwind_choose(__u64 a, __u64 b, __u64 yes, __u64 no)
{
	__u64 above = (b - a) >> 63;

	/* a compiler that knows the value makes a branch */
	asm volatile("" : "+r"(above));
	return yes ^ ((yes ^ no) & -above);
}

/*
 * Returns the rule for an offset in a page whose rows begin at `first`. `mask` bounds the row index
 * for the verifier; user space passes ~0.
 */
static __always_inline __u32 fs_unwind_find(const struct fs_unwind_row *rows, __u32 first, __u32 n,
					    __u16 at, __u32 mask)
{
	__u32 low = 0, high = n;

	if (!n)
		return FS_UNWIND_RULE_GAP;
	for (int i = 0; i <= FS_UNWIND_PAGE_SHIFT && high - low > 1; i++) {
		__u32 mid = (low + high) / 2;
		__u64 pc = rows[(first + mid) & mask].pc;

		low = fs_unwind_choose(pc, at, mid, low);
		high = fs_unwind_choose(pc, at, high, mid);
	}
	return rows[(first + low) & mask].rule;
}

/* Returns why a mapping has no rows; STACK_END_GOES_ON: it has rows, or needs none. */
static __always_inline int fs_unwind_why_no_rows(const struct fs_unwind_area *a)
{
	switch (a->pages) {
	case FS_UNWIND_NO_TABLE:
		return STACK_END_MISSING;
	case FS_UNWIND_FILE_NO_ROOM:
		return STACK_END_NO_ROOM;
	case FS_UNWIND_FILE_UNREADABLE:
		return STACK_END_UNREADABLE;
	}
	return STACK_END_GOES_ON;
}

/*
 * Returns why a walk ends before the frame at its cursor, if `end` is the result of the search for
 * the frame's rule: an address outside of code is not a return address. Only the innermost or an
 * interrupted frame can be at such an address, after a jump to it. STACK_END_GOES_ON: the address
 * is one of a frame.
 */
static __always_inline int fs_unwind_no_frame(const struct fs_unwind_cursor *c, int end)
{
	if (end != STACK_END_OUTSIDE || c->whole)
		return STACK_END_GOES_ON;
	return c->by_chain ? STACK_END_GAP : STACK_END_OUTSIDE;
}

/*
 * Returns the offset of a register in the x86-64 kernel's struct sigcontext. `number` is the DWARF
 * number of the register.
 */
static __always_inline __u32 fs_unwind_x86_context(__u32 number)
{
	switch (number) {
	case 0: /* rax */
		return 104;
	case 1: /* rdx */
		return 96;
	case 2: /* rcx */
		return 112;
	case 3: /* rbx */
		return 88;
	case 4: /* rsi */
		return 72;
	case 5: /* rdi */
		return 64;
	case 6: /* rbp */
		return 80;
	case 7: /* rsp */
		return 120;
	}
	return (number - 8) * 8;
}

/* distance from the stack pointer to the registers in a signal frame */
#define FS_UNWIND_X86_UCONTEXT	 40
#define FS_UNWIND_X86_RIP	 128
#define FS_UNWIND_ARM64_UCONTEXT 312
#define FS_UNWIND_ARM64_SP	 248
#define FS_UNWIND_ARM64_PC	 256

/* Reads any register of a frame that made no call. Returns enum stack_end. */
static __always_inline int fs_unwind_any_register(const struct fs_unwind_cursor *c, __u32 number,
						  int arm64, struct fs_unwind_memory *m, __u64 *ret)
{
	if (!c->whole || (!arm64 && number > 15) || number > 30)
		return STACK_END_OPAQUE;
	if (!c->context)
		return fs_unwind_register(m, number, ret) ? STACK_END_OPAQUE : STACK_END_GOES_ON;
	number = arm64 ? number * 8 : fs_unwind_x86_context(number);
	return fs_unwind_read(m, c->context + number, ret) ? STACK_END_READ_FAILED
							   : STACK_END_GOES_ON;
}

static __always_inline int fs_unwind_cfa(const struct fs_unwind_cursor *c,
					 const struct fs_unwind_rule *r, int arm64,
					 struct fs_unwind_memory *m, __u64 *ret)
{
	__s16 low = r->cfa_off, high = r->cfa_off >> 16;
	__u64 base;
	int end;

	switch (r->cfa) {
	case FS_UNWIND_CFA_SP:
		*ret = c->sp + (__s64)r->cfa_off;
		return STACK_END_GOES_ON;
	case FS_UNWIND_CFA_FP:
		*ret = c->fp + (__s64)r->cfa_off;
		return c->fp_lost ? STACK_END_LOST : STACK_END_GOES_ON;
	case FS_UNWIND_CFA_SAVED:
		*ret = c->saved + (__s64)r->cfa_off;
		return c->saved_lost ? STACK_END_LOST : STACK_END_GOES_ON;
	case FS_UNWIND_CFA_PLT:
		*ret = c->sp + (__s64)low + ((__s64)(c->pc & 15) >= high ? 8 : 0);
		return STACK_END_GOES_ON;
	case FS_UNWIND_CFA_SP_DEREF:
	case FS_UNWIND_CFA_FP_DEREF:
		if (r->cfa == FS_UNWIND_CFA_FP_DEREF && c->fp_lost)
			return STACK_END_LOST;
		base = r->cfa == FS_UNWIND_CFA_SP_DEREF ? c->sp : c->fp;
		if (fs_unwind_read(m, base + (__s64)low, ret))
			return STACK_END_READ_FAILED;
		*ret += (__s64)high;
		return STACK_END_GOES_ON;
	case FS_UNWIND_CFA_GAP:
		return STACK_END_GAP;
	case FS_UNWIND_CFA_END:
		return STACK_END_ENTRY;
	}
	if (r->cfa < FS_UNWIND_CFA_REGISTER)
		return STACK_END_OPAQUE;
	end = fs_unwind_any_register(c, r->cfa - FS_UNWIND_CFA_REGISTER, arm64, m, ret);
	*ret += (__s64)r->cfa_off;
	return end;
}

/*
 * Finds the caller's frame pointer. If it cannot be read, it is marked lost, which matters only if
 * a later rule needs it. In epilogues of realigned functions, GCC still describes the frame pointer
 * as a pointer to the saved one when it already has the caller's value. It then points outside of
 * the frame.
 */
static __always_inline void fs_unwind_caller_fp(struct fs_unwind_cursor *c,
						const struct fs_unwind_rule *r, __u64 cfa,
						struct fs_unwind_memory *m)
{
	switch (r->fp & FS_UNWIND_FP_MASK) {
	case FS_UNWIND_FP_SAME:
		return;
	case FS_UNWIND_FP_AT_CFA:
		c->fp_lost = fs_unwind_read(m, cfa + (__s64)r->fp_off, &c->fp) != 0;
		return;
	case FS_UNWIND_FP_AT_FP:
		if (!c->fp_lost && c->fp >= c->sp && c->fp < cfa)
			c->fp_lost = fs_unwind_read(m, c->fp + (__s64)r->fp_off, &c->fp) != 0;
		return;
	}
	c->fp_lost = 1;
}

/*
 * Follows a frame record at the frame pointer: the caller's frame pointer and the return address.
 */
static __always_inline int fs_unwind_chain(struct fs_unwind_cursor *c,
					   const struct fs_unwind_rule *r,
					   struct fs_unwind_memory *m)
{
	__u64 fp, pc;

	if (c->fp_lost)
		return STACK_END_LOST;
	if (!c->fp)
		return STACK_END_CHAIN_END;
	if (c->fp & 7 || (r->cfa_off != FS_UNWIND_OTHER_STACK &&
			  (c->fp < c->sp || c->fp - c->sp >= FS_UNWIND_CHAIN_BYTES)))
		return STACK_END_GAP;
	if (fs_unwind_read(m, c->fp, &fp) || fs_unwind_read(m, c->fp + 8, &pc))
		return STACK_END_READ_FAILED;
	c->pc = pc & c->ra_bits;
	c->sp = c->fp + 16;
	c->fp = fp;
	c->saved_lost = 1;
	c->whole = 0;
	c->by_chain = 1;
	return c->pc ? STACK_END_GOES_ON : STACK_END_CHAIN_END;
}

static __always_inline int fs_unwind_signal_x86(struct fs_unwind_cursor *c,
						struct fs_unwind_memory *m)
{
	__u64 at = c->sp + FS_UNWIND_X86_UCONTEXT;

	if (fs_unwind_read(m, at + fs_unwind_x86_context(7), &c->sp) ||
	    fs_unwind_read(m, at + fs_unwind_x86_context(6), &c->fp) ||
	    fs_unwind_read(m, at + fs_unwind_x86_context(3), &c->saved) ||
	    fs_unwind_read(m, at + FS_UNWIND_X86_RIP, &c->pc))
		return STACK_END_READ_FAILED;
	c->context = at;
	c->whole = 1;
	c->fp_lost = c->saved_lost = 0;
	return STACK_END_GOES_ON;
}

/* Moves the cursor to the caller of a function that keeps its return address in a register. */
static __always_inline int fs_unwind_ra_register(struct fs_unwind_cursor *c,
						 const struct fs_unwind_rule *r,
						 struct fs_unwind_memory *m)
{
	int end = fs_unwind_any_register(c, r->fp_off, 0, m, &c->pc);

	c->sp += r->cfa_off;
	c->whole = 0;
	return end;
}

/*
 * Moves the cursor to the caller. Returns enum stack_end: STACK_END_GOES_ON if there is a caller.
 */
static __always_inline int fs_unwind_step_x86(struct fs_unwind_cursor *c,
					      const struct fs_unwind_rule *r,
					      struct fs_unwind_memory *m)
{
	__u8 saved = FS_UNWIND_SAVED(r->fp);
	__u64 cfa = 0;
	int end;

	c->by_chain = 0;
	if (r->cfa == FS_UNWIND_CFA_SIGNAL)
		return fs_unwind_signal_x86(c, m);
	if (r->cfa == FS_UNWIND_CFA_CHAIN)
		return fs_unwind_chain(c, r, m);
	if (r->cfa == FS_UNWIND_CFA_RA_REGISTER)
		return fs_unwind_ra_register(c, r, m);
	end = fs_unwind_cfa(c, r, 0, m, &cfa);
	if (end)
		return end;
	if (cfa <= c->sp)
		return STACK_END_NO_PROGRESS;
	if (fs_unwind_read(m, cfa - 8, &c->pc))
		return STACK_END_READ_FAILED;
	fs_unwind_caller_fp(c, r, cfa, m);
	if (saved > FS_UNWIND_SAVED_MAX)
		c->saved_lost = 1;
	else if (saved)
		c->saved_lost = fs_unwind_read(m, cfa - 8 * (__u64)saved, &c->saved) != 0;
	c->sp = cfa;
	c->whole = 0;
	return c->pc ? STACK_END_GOES_ON : STACK_END_ENTRY;
}

static __always_inline int fs_unwind_signal_arm64(struct fs_unwind_cursor *c,
						  struct fs_unwind_memory *m)
{
	__u64 at = c->sp + FS_UNWIND_ARM64_UCONTEXT;

	if (fs_unwind_read(m, at + FS_UNWIND_ARM64_SP, &c->sp) ||
	    fs_unwind_read(m, at + 29 * 8, &c->fp) || fs_unwind_read(m, at + 30 * 8, &c->saved) ||
	    fs_unwind_read(m, at + FS_UNWIND_ARM64_PC, &c->pc))
		return STACK_END_READ_FAILED;
	c->context = at;
	c->whole = 1;
	c->fp_lost = 0;
	return STACK_END_GOES_ON;
}

/* Returns the address of the saved return address; 0: the return address is in LR. */
static __always_inline __u64 fs_unwind_ra_arm64(const struct fs_unwind_rule *r, __u64 cfa)
{
	__u8 place = FS_UNWIND_SAVED(r->fp);

	switch (place) {
	case FS_UNWIND_RA_IN_LR:
		return 0;
	case FS_UNWIND_RA_WITH_FP:
		return cfa + (__s64)r->fp_off + 8;
	case FS_UNWIND_RA_AT_FP_OFF:
		return cfa + (__s64)r->fp_off;
	}
	return cfa - 8 * (__u64)(place - FS_UNWIND_RA_AT_CFA + 1);
}

static __always_inline int fs_unwind_step_arm64(struct fs_unwind_cursor *c,
						const struct fs_unwind_rule *r,
						struct fs_unwind_memory *m)
{
	__u64 cfa = 0, at;
	int end;

	c->by_chain = 0;
	if (r->cfa == FS_UNWIND_CFA_SIGNAL)
		return fs_unwind_signal_arm64(c, m);
	if (r->cfa == FS_UNWIND_CFA_CHAIN)
		return fs_unwind_chain(c, r, m);
	end = fs_unwind_cfa(c, r, 1, m, &cfa);
	if (end)
		return end;
	at = fs_unwind_ra_arm64(r, cfa);
	/* Only the innermost frame can have a size of 0. */
	if (cfa < c->sp || (cfa == c->sp && !c->whole))
		return STACK_END_NO_PROGRESS;
	if (!at && !c->whole)
		return STACK_END_LOST;
	if (!at)
		c->pc = c->saved;
	else if (fs_unwind_read(m, at, &c->pc))
		return STACK_END_READ_FAILED;
	c->pc &= c->ra_bits;
	fs_unwind_caller_fp(c, r, cfa, m);
	c->sp = cfa;
	c->whole = 0;
	return c->pc ? STACK_END_GOES_ON : STACK_END_ENTRY;
}

#endif
