// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/judge.h"

#include <stdarg.h>
#include <stdio.h>

/* bits of the x86 page-fault error code: arch/x86/include/asm/trap_pf.h */
#define PF_PRESENT 1
#define PF_WRITE   2
#define PF_EXEC	   16

/* fields of ESR_ELx: arch/arm64/include/asm/esr.h */
#define ESR_EC(esr)   ((esr) >> 26 & 0x3f)
#define ESR_WNR	      (1u << 6)
#define ESR_CM	      (1u << 8)
#define ESR_ISV	      (1u << 24)
#define ESR_SAS(esr)  ((esr) >> 22 & 3)
#define ESR_FSC(esr)  ((esr)&0x3f)
#define FSC_ALIGNMENT 0x21
#define FSC_TTW_LOW   0x14 /* external abort on a table walk: 0x14 to 0x17 */
#define FSC_TTW_HIGH  0x17
#define FSC_EXTERNAL  0x10
#define FSC_ECC	      0x18 /* parity or ECC error: 0x18, 0x1c to 0x1f */
#define FSC_ECC_LOW   0x1c
#define FSC_ECC_HIGH  0x1f
/* status in the FSR of arm: arch/arm/mm/fsr-2level.c, and with LPAE fsr-3level.c as on arm64 */
#define FSR_LPAE     0x200
#define FSR_STATUS   0xf
#define FSR_SECTION  0x5 /* no entry for the section; 0x7: for the page */
#define FSR_PAGE     0x7
#define FSR_DOMAIN   0x9 /* 0x9, 0xb: the domain forbids the access; 0xd, 0xf: the permissions */

/* program interruption codes of s390: arch/s390/kernel/pgm_check.S */
#define PGM_PROTECTION 0x04
#define PGM_SEGMENT    0x10 /* translation: 0x10 and 0x11, and of higher levels 0x38 to 0x3b */
#define PGM_PAGE       0x11
#define PGM_ASCE       0x38
#define PGM_REGION     0x3b

#define EC_IABT_LOWER 0x20
#define EC_IABT	      0x21
#define EC_DABT	      0x25

void rule_fired(struct diagnosis *v, const char *id, const char *format, ...)
{
	struct fired *f;
	va_list ap;

	if (v->nr_fired == FIRED_MAX)
		return;
	f = &v->fired[v->nr_fired++];
	f->id = id;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

/* Functions that report only one kind of error. Each reveals the kind of report. */
static const struct {
	const char *start;
	enum kind kind;
} telling[] = {
	{"__list_del_entry_valid", KIND_LIST_CORRUPTION},
	{"__list_add_valid", KIND_LIST_CORRUPTION},
	{"refcount_warn_saturate", KIND_REFCOUNT},
	{"usercopy_abort", KIND_USERCOPY},
	{"__stack_chk_fail", KIND_STACK_CORRUPTION},
};

static void kind_by_function(struct judged *j)
{
	const struct incident *e = j->e;
	struct str f = e->has_ip ? e->ip.function : e->said;

	if (j->v->kind != KIND_BUG && j->v->kind != KIND_WARNING && j->v->kind != KIND_UNKNOWN &&
	    j->v->kind != KIND_INVALID_OPCODE)
		return;
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++)
		if (str_starts(f, telling[i].start))
			j->v->kind = telling[i].kind;
}

static bool is_page_fault(enum kind k)
{
	return k == KIND_NULL_DEREF || k == KIND_PAGING_REQUEST || k == KIND_USER_ACCESS ||
	       k == KIND_NX_EXEC || k == KIND_RO_WRITE || k == KIND_RSVD_BIT ||
	       k == KIND_UNHANDLED_FAULT || k == KIND_EXT_ABORT || k == KIND_ALIGNMENT;
}

static bool is_x86(const struct incident *e)
{
	return e->arch == ARCH_X86_64 || e->arch == ARCH_I386 ||
	       (e->arch == ARCH_UNKNOWN && e->has_error && e->error < 0x100);
}

/* Returns whether a report's first line, which has the address, is missing. */
static bool lost_head(const struct incident *e)
{
	return e->headless ||
	       (e->kind == KIND_PAGING_REQUEST && !e->has_address && e->has_error && e->number);
}

/* If the first lines of a report are missing, finds its kind from the error code and CR2. */
static void infer_kind(struct judged *j)
{
	const struct incident *e = j->e;
	struct diagnosis *v = j->v;

	/* BUG() executes ud2; its line "kernel BUG at" is missing */
	if (v->kind == KIND_INVALID_OPCODE && j->has_insn && j->in.traps) {
		v->kind = KIND_BUG;
		rule_fired(v, "H5", "the instruction is that of BUG()");
		return;
	}
	if (!lost_head(e) || (v->kind != KIND_UNKNOWN && v->kind != KIND_PAGING_REQUEST &&
			      !(e->headless && v->kind == KIND_PANIC)))
		return;
	/*
	 * A page fault cannot have a non-canonical address. If the report has no error code, the
	 * fault was therefore a general protection fault.
	 */
	if (!e->has_error && !e->has_cr2 && e->arch == ARCH_X86_64 && j->has_address &&
	    j->a >> 47 && j->a >> 47 != 0x1ffff) {
		v->kind = KIND_GPF;
		rule_fired(v, "H2",
			   "the first lines are missing: no page fault has such an address");
		return;
	}
	if (e->has_error || e->has_cr2 || e->has_esr) {
		v->kind = KIND_PAGING_REQUEST;
		if (j->has_address && j->a < 4096)
			v->kind = KIND_NULL_DEREF;
		rule_fired(v, "H1", "the first lines are missing: kind from the error code");
	} else if (e->panicked) {
		v->kind = KIND_PANIC;
	} else if (j->has_insn && j->in.traps && !e->number) {
		/* an oops has a number; WARN() and BUG() execute the same instruction */
		v->kind = KIND_WARNING;
		rule_fired(v, "H4",
			   "the first lines are missing: the instruction is that of WARN()");
	}
}

static bool address_of_rest(const struct judged *j, uint64_t *ret)
{
	const struct incident *e = j->e;
	bool x86 = is_x86(e);

	if (x86 && (e->has_cr2 || (e->has_weak_cr2 && e->has_error))) {
		*ret = e->has_cr2 ? e->cr2 : e->weak_cr2;
		return true;
	}
	if (e->has_walk_address) {
		*ret = e->walk_address;
		return true;
	}
	if (j->has_insn && insn_address(e, &j->in, ret))
		return true;
	if (x86 && e->has_weak_cr2 && !j->in.traps) {
		*ret = e->weak_cr2;
		return true;
	}
	/* If an instruction fetch failed, the address is the instruction pointer. */
	if (e->has_esr && (ESR_EC(e->error) == EC_IABT) && e->has_ip && e->ip.has_address) {
		*ret = e->ip.address;
		return true;
	}
	return false;
}

/*
 * Takes the kind from the fault status: of arm64 in the ESR, of arm as the words in the header. The
 * kernel prints the same header for several statuses.
 */
static void kind_by_status(struct judged *j)
{
	const struct incident *e = j->e;
	uint32_t fsc = ESR_FSC(e->error), ec = ESR_EC(e->error);
	struct diagnosis *v = j->v;

	if (v->kind == KIND_UNHANDLED_FAULT) {
		if (str_has(e->detail, "lignment"))
			v->kind = KIND_ALIGNMENT;
		return;
	}
	if (e->arch != ARCH_ARM64 || !e->has_error || v->kind != KIND_PAGING_REQUEST ||
	    (ec != EC_DABT && ec != EC_IABT))
		return;
	if (fsc == FSC_ALIGNMENT)
		v->kind = KIND_ALIGNMENT;
	else if (fsc == FSC_EXTERNAL || fsc == FSC_ECC ||
		 (fsc >= FSC_TTW_LOW && fsc <= FSC_TTW_HIGH) ||
		 (fsc >= FSC_ECC_LOW && fsc <= FSC_ECC_HIGH))
		v->kind = KIND_EXT_ABORT;
	else
		return;
	rule_fired(v, "H3", "the fault status 0x%x says that the page was there", fsc);
}

/* Returns whether addresses in the report are hashed to 32 bits: KFENCE prints them with %p. */
static bool is_hashed(const struct incident *e)
{
	bool kfence = e->kind == KIND_KFENCE_UAF || e->kind == KIND_KFENCE_OOB ||
		      e->kind == KIND_KFENCE_CORRUPTION || e->kind == KIND_KFENCE_INVALID;

	return kfence && !(e->address >> 32) && e->arch != ARCH_I386 && e->arch != ARCH_ARM;
}

/* Returns whether the hexadecimal digits of `start` begin those of `whole`, which has more. */
static bool is_cut(uint64_t start, uint64_t whole)
{
	for (whole >>= 4; whole; whole >>= 4)
		if (whole == start)
			return start >> 8;
	return false;
}

/* Returns the address of the header. If a line break cut it, other lines have it whole. */
static uint64_t whole_address(const struct incident *e)
{
	if (e->has_walk_address && is_cut(e->address, e->walk_address))
		return e->walk_address;
	if (e->has_cr2 && is_cut(e->address, e->cr2))
		return e->cr2;
	return e->address;
}

/*
 * Returns the address whose shadow was read. KASAN's shadow of an address is at
 * (address >> 3) + 0xdffffc0000000000. The lowest bits of the address are only in rdi: compilers
 * compute the address there, because it is the argument of __asan_report_load8_noabort().
 */
static uint64_t of_shadow(const struct incident *e, uint64_t shadow)
{
	uint64_t meant = (shadow - 0xdffffc0000000000ull) << 3;
	bool known = e->regs.known >> 7 & 1;

	return known && (e->regs.value[7] & ~7ull) == meant ? e->regs.value[7] : meant;
}

static void take_address(struct judged *j)
{
	const struct incident *e = j->e;
	uint64_t computed;

	if (e->has_address && !is_hashed(e)) {
		j->a = whole_address(e);
		j->has_address = true;
	} else if (lost_head(e) && address_of_rest(j, &j->a)) {
		j->has_address = true;
	} else if ((e->kind == KIND_DOUBLE_FAULT || e->kind == KIND_STACK_OVERFLOW) &&
		   (e->has_cr2 || e->has_weak_cr2)) {
		j->a = e->has_cr2 ? e->cr2 : e->weak_cr2;
		j->has_address = true;
	} else if (e->kind == KIND_GPF && j->has_insn && insn_address(e, &j->in, &computed)) {
		if (e->arch == ARCH_X86_64 && region_of(e, computed) == REGION_SHADOW)
			computed = of_shadow(e, computed);
		j->a = computed;
		j->has_address = true;
		rule_fired(j->v, "A1",
			   "the address follows from the instruction and the registers");
	} else if (e->kind == KIND_GPF && e->has_range) {
		j->a = e->range_low;
		j->has_address = true;
	}
	/* since 4.15 (ad67b74d2469), the address in "stack guard page was hit at %p" is hashed */
	if (e->kind == KIND_STACK_OVERFLOW && (e->has_cr2 || e->has_weak_cr2)) {
		j->a = e->has_cr2 ? e->cr2 : e->weak_cr2;
		j->has_address = true;
	}
}

static enum access esr_access(uint64_t esr)
{
	uint32_t ec = ESR_EC(esr);

	if (ec == EC_IABT || ec == EC_IABT_LOWER)
		return ACCESS_EXEC;
	if (ec != EC_DABT && ec != EC_DABT - 1)
		return ACCESS_NONE;
	return (esr & ESR_WNR) && !(esr & ESR_CM) ? ACCESS_WRITE : ACCESS_READ;
}

static enum access error_access(const struct incident *e)
{
	if (e->arch == ARCH_ARM64)
		return esr_access(e->error);
	if (e->arch == ARCH_ARM) {
		if (e->error &
		    0x80000000u) /* bit FSR_LNX_PF, set for a prefetch abort: arch/arm/mm/fault.h */
			return ACCESS_EXEC;
		return e->error & 0x800 ? ACCESS_WRITE : ACCESS_READ;
	}
	if (!is_x86(e))
		return ACCESS_NONE;
	if (e->error & PF_EXEC)
		return ACCESS_EXEC;
	return e->error & PF_WRITE ? ACCESS_WRITE : ACCESS_READ;
}

static void take_access(struct judged *j)
{
	const struct incident *e = j->e;

	j->v->access = e->access;
	if (j->v->access == ACCESS_NONE && e->has_error && is_page_fault(j->v->kind))
		j->v->access = error_access(e);
	/* Up to 4.19, arm64 calls each fault on an unreadable page a read. */
	if (e->arch == ARCH_ARM64 && e->has_error && esr_access(e->error) == ACCESS_EXEC)
		j->v->access = ACCESS_EXEC;
	if (j->v->access == ACCESS_NONE && j->has_insn && j->v->kind == KIND_GPF)
		j->v->access = j->in.calls ? ACCESS_EXEC : j->in.access;
	if (j->v->access == ACCESS_NONE && !e->has_error && j->fault) {
		if (e->has_ip && !e->ip.function.n)
			j->v->access = ACCESS_EXEC;
		else if (j->has_insn && !j->in.traps)
			j->v->access = j->in.access;
	}
	j->v->size = e->size;
	if (!j->v->size && e->has_esr && (e->error & ESR_ISV))
		j->v->size = 1u << ESR_SAS(e->error);
	if (!j->v->size && j->has_insn && j->in.memory && j->fault && j->v->access != ACCESS_EXEC)
		j->v->size = j->in.size;
}

/*
 * Takes from the page table dump of x86-64 whether the page is present: the last level that is
 * printed has no entry, or bit 0 of the entry for the page says so.
 */
static void take_present_of_walk(struct judged *j)
{
	const struct incident *e = j->e;
	const uint64_t level[] = {e->pgd, e->pud, e->pmd, e->pte};
	int last = 3;

	if (!e->has_walk || e->arch != ARCH_X86_64)
		return;
	while (last && !(e->walk_levels >> last & 1))
		last--;
	j->has_present = last == 3 || !level[last];
	j->present = last == 3 && (e->pte & 1);
}

static void take_present_of_s390(struct judged *j)
{
	uint64_t code = j->e->error;

	j->present = code == PGM_PROTECTION;
	j->has_present = j->present || code == PGM_SEGMENT || code == PGM_PAGE ||
			 (code >= PGM_ASCE && code <= PGM_REGION);
}

static void take_present_of_arm(struct judged *j)
{
	uint64_t status = j->e->error & FSR_STATUS;

	j->present = status >= FSR_DOMAIN && status % 2;
	if (j->e->error & FSR_LPAE) /* as on arm64: 4 to 7: translation; 8 to 15: permission */
		j->present = status >= 8;
	j->has_present = j->present || status == FSR_SECTION || status == FSR_PAGE ||
			 ((j->e->error & FSR_LPAE) && status >= 4);
}

static void take_present(struct judged *j)
{
	const struct incident *e = j->e;

	if (!is_page_fault(j->v->kind))
		return;
	if (!e->has_error) {
		take_present_of_walk(j);
		return;
	}
	if (e->arch == ARCH_ARM64) {
		uint32_t fsc = ESR_FSC(e->error);

		/* fault status: 4 to 7: translation; 8 to 15: access flag or permission */
		j->has_present = fsc >= 4 && fsc <= 15;
		j->present = fsc >= 8;
	} else if (e->arch == ARCH_S390) {
		take_present_of_s390(j);
	} else if (e->arch == ARCH_ARM) {
		take_present_of_arm(j);
	} else if (is_x86(e)) {
		j->has_present = true;
		j->present = e->error & PF_PRESENT;
	}
}

/* Finds the pointer from which the address was computed, if the decoded instruction leads to it. */
static void take_base(struct judged *j)
{
	const struct incident *e = j->e;
	uint64_t computed, mask = e->arch == ARCH_ARM64 ? 0x00ffffffffffffffull : ~0ull;

	if (!j->has_insn || !j->in.memory || j->v->access == ACCESS_EXEC)
		return;
	if (j->in.copies && j->v->access == ACCESS_WRITE)
		j->in.base = 7;
	if (!insn_address(e, &j->in, &computed) || j->in.base < 0)
		return;
	if (j->has_address) {
		uint64_t away = (computed - j->a) & mask;

		if (away >= 64 && away <= mask - 64)
			return;
	}
	j->b = computed - j->in.offset;
	if (j->in.index >= 0) { /* with an index register, the base register is the pointer */
		uint64_t base = j->in.base < REGS_MAX ? e->regs.value[j->in.base] : 0;

		j->b = base;
	}
	j->o = (int64_t)(computed - j->b);
	j->has_base = true;
	register_name(e->arch, j->in.base, j->base_name, sizeof(j->base_name));
}

void judge_facts(struct judged *j)
{
	struct diagnosis *v = j->v;

	v->kind = j->e->kind;
	j->has_insn = insn_of(j->e, &j->in);
	take_address(j);
	infer_kind(j);
	kind_by_function(j);
	kind_by_status(j);
	j->fault = is_page_fault(v->kind) || v->kind == KIND_GPF || v->kind == KIND_STACK_SEGMENT;
	take_access(j);
	take_present(j);
	if (j->fault)
		take_base(j);
	v->has_address = j->has_address;
	v->address = j->a;
	if (j->has_address)
		j->region = region_of(j->e, j->a);
	v->region = j->region;
	v->has_base = j->has_base;
	v->base = j->b;
	v->offset = j->o;
	memcpy(v->base_register, j->base_name, sizeof(v->base_register));
}
