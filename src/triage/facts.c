// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/facts.h"

static void set_access(struct incident *e, enum access access)
{
	if (e->access == ACCESS_NONE)
		e->access = access;
}

static void on_error(struct incident *e, const struct captures *c)
{
	if (e->has_error)
		return;
	e->has_error = true;
	e->error = c->error;
}

static void on_esr(struct incident *e, const struct captures *c)
{
	e->has_error = e->has_esr = true;
	e->error = c->error;
	e->arch = ARCH_ARM64;
}

/*
 * Takes the address from the second line of a KASAN report. The address in the first line is that
 * of the function.
 */
static void on_access(struct incident *e, const struct captures *c)
{
	if (!e->has_address && c->has_address) {
		e->has_address = true;
		e->address = c->address;
	}
	if (!e->size && c->has_size)
		e->size = c->size;
	if (!e->comm.n)
		e->comm = c->comm;
	if (c->has_pid && !e->has_pid) {
		e->has_pid = true;
		e->pid = c->pid;
	}
}

static void on_address(struct incident *e, const struct captures *c)
{
	if (e->has_address)
		return;
	e->has_address = true;
	e->address = c->address;
}

static void on_cr2(struct incident *e, const struct captures *c)
{
	e->has_cr2 = true;
	e->cr2 = c->address;
}

static void on_object(struct incident *e, const struct captures *c)
{
	if (e->has_object)
		return;
	e->has_object = true;
	e->object = c->address;
	e->object_size = c->size;
}

static void on_printed(struct incident *e, const struct captures *c)
{
	if (e->has_printed_frame)
		return;
	e->has_printed_frame = true;
	e->printed_frame = c->function;
	e->said = c->function.function;
}

static void on_dsisr(struct incident *e, const struct captures *c)
{
	on_address(e, c);
	/* bit 25 (0x02000000) of the DSISR register: the access was a store */
	if (c->has_error)
		set_access(e, c->error & 0x02000000 ? ACCESS_WRITE : ACCESS_READ);
	e->arch = ARCH_PPC;
}

/*
 * Values of scause: 12 is an instruction page fault, 13 a load page fault, and 15 a store page
 * fault. The values 1, 5 and 7 are access faults.
 */
static void on_scause(struct incident *e, const struct captures *c)
{
	e->arch = ARCH_RISCV;
	on_address(e, c);
	e->has_error = true;
	e->error = c->error;
	if (c->error == 12 || c->error == 1)
		set_access(e, ACCESS_EXEC);
	else if (c->error == 13 || c->error == 5)
		set_access(e, ACCESS_READ);
	else if (c->error == 15 || c->error == 7)
		set_access(e, ACCESS_WRITE);
}

/* The low 12 bits of s390's failing address are a code for the reason. */
static void on_teid(struct incident *e, const struct captures *c)
{
	e->arch = ARCH_S390;
	on_address(e, c);
	if (c->has_error && (c->error & 0xc00) == 0x400)
		set_access(e, ACCESS_WRITE);
	else if (c->has_error && (c->error & 0xc00) == 0x800)
		set_access(e, ACCESS_READ);
}

/* On mips, exception codes 2 and 4 stand for loads and for instruction fetches. */
static void on_mips_load(struct incident *e, const struct captures *c)
{
	bool fetch = e->has_ip && e->ip.has_address && e->has_address &&
		     e->ip.address == e->address;

	set_access(e, fetch ? ACCESS_EXEC : ACCESS_READ);
}

static void on_in_flight(struct incident *e, const struct captures *c)
{
	if (e->kind != KIND_HANG || e->has_printed_frame || !c->function.function.n)
		return;
	e->has_printed_frame = true;
	e->printed_frame = c->function;
	e->said = c->function.function;
}

static void on_task(struct incident *e, const struct captures *c)
{
	if (e->kind != KIND_HANG || e->has_pid)
		return;
	e->comm = c->comm;
	e->pid = c->pid;
	e->has_pid = true;
}

static const struct {
	const char *pattern;
	void (*take)(struct incident *e, const struct captures *c);
	enum access access;
	bool quoted;
} facts[] = {
#define FACT(pattern, take, access, quoted) {pattern, take, ACCESS_##access, quoted},
#include "triage/facts.def"
};

/* Parses a dump of page tables: "PGD 0 P4D 0 PUD 1234067 …", "*pdpt = … *pde = …", "[a] pgd=…". */
static bool walk_take(struct incident *e, struct str s)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {{"PGD ", 0}, {"PUD ", 1}, {"PMD ", 2}, {"PTE ", 3},    {"pgd=", 0},
		      {"pud=", 1}, {"pmd=", 2}, {"pte=", 3}, {"*pde = ", 2}, {"*pte = ", 3}};
	uint64_t *into[] = {&e->pgd, &e->pud, &e->pmd, &e->pte};
	bool found = false;

	if (!str_starts_any(s, "PGD |*pd|P4D |PUD |PMD |PTE ") &&
	    !(str_at(s, 0) == '[' && str_has(s, "pgd=")))
		return false;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		long at = str_find(s, levels[i].name);
		uint64_t value;

		if (at < 0 || !str_hex(str_from(s, at + strlen(levels[i].name)), &value))
			continue;
		if (e->walk_levels >> levels[i].level & 1)
			continue;
		*into[levels[i].level] = value;
		e->walk_levels |= 1u << levels[i].level;
		found = e->has_walk = true;
	}
	if (str_at(s, 0) == '[' && !e->has_walk_address &&
	    str_hex(str_from(s, 1), &e->walk_address))
		e->has_walk_address = true;
	return found;
}

static bool is_user_selector(struct str s)
{
	return str_starts_any(s, "0033:|0023:|002b:|001b:|0073:|0x33:");
}

/*
 * Returns whether the report comes from a check in the kernel's code, not from an exception. Such a
 * report has no registers of a fault.
 */
static bool has_no_ip(enum kind k)
{
	switch (k) {
	case KIND_KASAN_UAF:
	case KIND_KASAN_OOB:
	case KIND_KASAN_OTHER:
	case KIND_INVALID_FREE:
	case KIND_KMSAN:
	case KIND_KCSAN:
	case KIND_UBSAN:
	case KIND_LOCKDEP:
	case KIND_ATOMIC_SLEEP:
	case KIND_LEAK:
		return true;
	default:
		return false;
	}
}

/*
 * Returns whether a line names the function of the instruction whose address is known. On i386 up
 * to 2.6, a line "EIP is at f" without an address does.
 */
static bool names_ip(const struct reading *r, const struct frame *ip)
{
	const struct incident *e = r->e;

	if (!e->ip.has_address || e->ip.function.n || !ip->function.n)
		return false;
	return ip->has_address ? ip->address == e->ip.address
			       : e->arch == ARCH_I386 && r->section != SECTION_TRACE;
}

static void set_ip(struct reading *r, const struct frame *f, enum arch arch, uint32_t line)
{
	struct incident *e = r->e;
	struct frame ip = *f;

	ip.line = line;
	if (e->arch == ARCH_UNKNOWN && arch != ARCH_UNKNOWN)
		e->arch = arch;
	if (e->has_ip || (has_no_ip(e->kind) && r->section == SECTION_TRACE && ip.function.n)) {
		struct frame *added;

		if (e->has_ip && names_ip(r, &ip)) {
			ip.address = e->ip.address;
			ip.has_address = true;
			e->ip = ip;
			return;
		}
		if (!ip.function.n && !(r->section == SECTION_TRACE)) {
			/*
			 * Some kernels print the function in "PC is at f", and the address in a
			 * later line "pc : [<address>]".
			 */
			if (!e->ip.has_address) {
				e->ip.address = ip.address;
				e->ip.has_address = ip.has_address;
			}
			return;
		}
		/* Two instructions before the first trace are of two reports in one. */
		if (e->caller == -1 && e->fatal && !e->ended && !r->main_seen && ip.size &&
		    e->ip.function.n && !str_same(e->ip.function, ip.function))
			e->interleaved = true;
		/*
		 * In the trace of an interrupt handler, this is the instruction that was
		 * interrupted.
		 */
		r->regs_shut = true;
		if (e->ended || r->section != SECTION_TRACE || r->part != PART_MAIN ||
		    !ip.function.n || str_same(e->ip.function, ip.function))
			return;
		added = incident_frame_add(e);
		if (!added)
			return;
		*added = ip;
		added->part = r->part;
		r->irq = false;
		return;
	}
	e->has_ip = true;
	e->ip = ip;
	incident_state(e, line);
}

/* Parses x86's instruction pointer: "RIP: 0010:f+0x1/0x2", "EIP is at f" or "IP: [<a>] f". */
static bool x86_ip(struct reading *r, struct str s, uint32_t line)
{
	enum arch arch = ARCH_X86_64;
	struct frame f = {};
	size_t n;
	long taint;

	if (str_starts(s, "RIP !INEXACT! ")) {
		s = str_from(s, 14);
	} else if (str_starts_any(s, "RIP: |RIP  |RIP:")) {
		s = str_from(s, 4);
	} else if (str_starts_any(s, "EIP: |EIP:|EIP is at ")) {
		arch = ARCH_I386;
		s = str_from(s, str_at(s, 3) == ':' ? 4 : 10);
	} else if (str_starts(s, "IP: ")) {
		arch = ARCH_UNKNOWN;
		s = str_from(s, 4);
	} else {
		return false;
	}
	s = str_trim(s);
	if (is_user_selector(s)) {
		/* The lines after this one show registers of user space. */
		if (r->e->has_ip || r->section == SECTION_TRACE)
			r->regs_shut = true;
		return true;
	}
	if (is_hex(str_at(s, 0)) && (str_at(s, 4) == ':' || str_at(s, 2) == ':'))
		s = str_trim(str_from(s, str_at(s, 4) == ':' ? 5 : 3));
	/* "EIP:    0060:[<c0123456>]    Not tainted VLI": these words are no function */
	taint = str_find(s, "Not tainted");
	if (taint >= 0)
		s = str_first(s, taint);
	n = frame_parse(s, &f);
	if (n && !f.function.n && arch == ARCH_I386 && r->e->has_ip)
		return true;
	if (n)
		set_ip(r, &f, arch, line);
	return true;
}

static void set_link(struct incident *e, const struct frame *f, uint32_t line)
{
	if (e->has_link && (e->link.function.n || !f->function.n))
		return;
	e->has_link = true;
	e->link = *f;
	e->link.line = line;
}

/* Parses a code location: "f+0x1/0x2 [mod]", "<address> f+0x1/0x2" or "<address> sp : …". */
static bool place_parse(struct str s, struct frame *ret)
{
	uint64_t raw = 0;
	size_t n = str_hex(s, &raw);

	if (n < 8 || (n < s.n && s.s[n] != ' '))
		return frame_parse(s, ret) > 0;
	if (!frame_parse(str_trim(str_from(s, n)), ret) || !ret->size)
		*ret = (struct frame){};
	ret->address = raw;
	ret->has_address = true;
	return true;
}

/* Parses instruction pointers of other architectures: "pc : f+0x1/0x2", "PC is at f", "epc : f". */
static bool other_ip(struct reading *r, struct str s, uint32_t line)
{
	static const struct {
		const char *name;
		enum arch arch;
		bool link;
	} names[] = {
		{"pc : ", ARCH_UNKNOWN, false},	  {"PC is at ", ARCH_UNKNOWN, false},
		{"lr : ", ARCH_UNKNOWN, true},	  {"LR is at ", ARCH_UNKNOWN, true},
		{"epc : ", ARCH_RISCV, false},	  {"epc: ", ARCH_RISCV, false},
		{"NIP [", ARCH_PPC, false},	  {"LR [", ARCH_PPC, true},
		{"ERA: ", ARCH_LOONGARCH, false}, {"epc   : ", ARCH_MIPS, false},
		{"ra    : ", ARCH_MIPS, true},	  {"ra: ", ARCH_LOONGARCH, true},
		{"ra : ", ARCH_RISCV, true},
	};
	struct frame f = {};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct str rest = str_from(s, strlen(names[i].name));
		long other;

		if (!str_starts(s, names[i].name))
			continue;
		if (names[i].arch == ARCH_PPC)
			rest = str_from(s, strlen(names[i].name) - 1);
		if (!place_parse(rest, &f))
			return false;
		if (names[i].link)
			set_link(r->e, &f, line);
		else
			set_ip(r, &f, names[i].arch, line);
		other = str_find(s, " ra : ");
		if (other < 0)
			other = str_find(s, "lr : ") > 0 ? str_find(s, "lr : ") - 1 : -1;
		if (other > 0 && place_parse(str_trim(str_from(s, other + 6)), &f))
			set_link(r->e, &f, line);
		return true;
	}
	if (str_starts(s, "Krnl PSW : ")) {
		long at = str_find(s, "(");

		r->e->arch = ARCH_S390;
		if (at > 0 && frame_parse(str_from(s, at + 1), &f))
			set_ip(r, &f, ARCH_S390, line);
		return true;
	}
	return false;
}

static bool fact_row(struct reading *r, struct str s, uint32_t line)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *p = facts[i].pattern;
		struct captures c;

		if (p[0] != '%' && (p[0] != str_at(s, 0) || p[1] != str_at(s, 1)))
			continue;
		memset(&c, 0, sizeof(c));
		if (!match(p, s, &c))
			continue;
		if (facts[i].take)
			facts[i].take(r->e, &c);
		set_access(r->e, facts[i].access);
		if (facts[i].quoted)
			incident_state(r->e, line);
		return true;
	}
	return false;
}

/* Parses where a lock was taken: "(lock){+.+.}, at: [<a>] f+0x1/0x2", "#0: (lock){..}, at: f". */
static bool lock_take(struct reading *r, struct str s, uint32_t line)
{
	struct frame f = {}, *added;
	long at = str_find(s, "at: ");

	if (str_at(s, 0) == '#') /* a held lock is no fault */
		return at > 0;
	if (at <= 0 || (!str_has_any(s, "}, at: |} at: |, at: ")))
		return false;
	if (!frame_parse(str_from(s, at + 4), &f) || !f.function.n)
		return false;
	added = incident_frame_add(r->e);
	if (!added)
		return true;
	*added = f;
	added->part = PART_LOCK;
	added->line = line;
	incident_state(r->e, line);
	return true;
}

/* Parses the fault address "CR2: a". A register dump may contain a newer CR2. */
static bool cr2_take(struct incident *e, struct str s)
{
	struct captures c = {};

	if (!str_starts(s, "CR2: "))
		return false;
	if (str_has(s, "CR3")) {
		if (match("CR2: %A", s, &c) && !e->has_weak_cr2) {
			e->has_weak_cr2 = true;
			e->weak_cr2 = c.address;
		}
		return false;
	}
	if (!match("CR2: %A", s, &c))
		return true;
	if (!e->has_cr2)
		on_cr2(e, &c);
	return true;
}

bool facts_take(struct reading *r, struct str text, uint32_t line)
{
	struct incident *e = r->e;
	struct str s = str_trim(text);
	uint32_t known;

	if (!s.n)
		return true;
	if (modules_take(r, s, line)) {
		r->body = true;
		return true;
	}
	if (identity_take(e, s)) {
		r->body = true;
		return true;
	}
	if (x86_ip(r, s, line) || other_ip(r, s, line)) {
		r->body |= !str_starts(s, "IP: "); /* up to 4.18, "IP: " precedes the oops number */
		return true;
	}
	if (code_take(e, s)) {
		r->body = true;
		return true;
	}
	if (trace_section(r, s, line)) {
		if (r->part == PART_MAIN && e->has_ip && e->nr_frames)
			r->regs_shut = true;
		r->body = true;
		return true;
	}
	if (cr2_take(e, s) || walk_take(e, s) || lock_take(r, s, line))
		return true;
	if (fact_row(r, s, line))
		return true;
	known = e->regs.known;
	if (!registers_take(r, s))
		return false;
	r->body |= known != e->regs.known;
	return true;
}
