/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the user stack of the current thread with the unwind tables of user space (wire_unwind.h).
 * The walk needs bpf_loop(), so Linux 5.17 or later.
 */
#ifndef FS_UNWIND_BPF_H
#define FS_UNWIND_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "records/walk_slot.h"
#include "mix.h"
#include "wire_unwind_step.h"

#define UNWIND_PAGE 4096
/* words of stack memory per read: one read of many words costs less than many reads */
#define UNWIND_WINDOW_WORDS 64
/* bytes below the wanted address in a read: the saved registers are below the return address */
#define UNWIND_WINDOW_BELOW 64
#define UNWIND_CACHED	    1024

/*
 * The first registers of the kernel's struct pt_regs, in the order that ptrace(2) and core files
 * also use.
 */
struct unwind_registers {
#ifdef __TARGET_ARCH_x86
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs;
	__u64 flags, sp, ss;
#else
	__u64 regs[31], sp, pc;
#endif
};

struct fs_unwind_memory {
	__u64 base; /* user address of the first word of the window */
	__u32 bytes;
	__u64 word[UNWIND_WINDOW_WORDS];
	struct unwind_registers regs;
};

struct unwind_walk {
	struct fs_unwind_cursor c;
	struct fs_unwind_proc proc;
	__u32 n;    /* number of frames of the stack; see walk_slot.h */
	__u32 end;  /* why the walk ended: enum stack_end */
	__u64 hash; /* hash of the addresses of all frames that are kept, and of `end` */
	/*
	 * bit set of frames that made no call: the innermost frame, and frames that a signal
	 * interrupted
	 */
	__u64 interrupted[FS_UNWIND_FRAMES / 64];
	__u32 by_chain; /* number of frames that were found with a frame pointer alone */
	__s32 copy;	/* number of the stack that was copied to user space; < 0: none */
	__u64 pc[FS_UNWIND_FRAMES];
	__u64 sp[FS_UNWIND_FRAMES];
	struct fs_unwind_memory m;
};

/*
 * An entry of the cache from address to rule. Programs of one CPU share the cache, and one program
 * may interrupt another between two stores. The tag therefore also covers the rule: an entry whose
 * two words come from different programs matches no address.
 */
struct unwind_cached {
	/* hash of the address, of the generation of the process's mappings, and of the rule */
	__u64 tag;
	__u64 rule;
};

struct unwind_cache {
	struct unwind_cached of[UNWIND_CACHED];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_UNWIND_PROCS);
	__type(key, __u32); /* key: process ID (tgid) */
	__type(value, struct fs_unwind_proc);
} unwind_procs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FS_UNWIND_PROCS);
	__type(key, __u32); /* key: process ID (tgid) */
	__type(value, struct fs_unwind_epoch);
} unwind_epochs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FS_UNWIND_AREAS);
	__type(key, __u32);
	__type(value, struct fs_unwind_area);
} unwind_areas SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FS_UNWIND_PAGES);
	__type(key, __u32);
	__type(value, struct fs_unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FS_UNWIND_RULES);
	__type(key, __u32);
	__type(value, struct fs_unwind_rule);
} unwind_rules SEC(".maps");

/*
 * A chunk of rows is an array map with one large value. After one map lookup, rows are read with
 * plain loads.
 */
struct unwind_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, FS_UNWIND_CHUNK_ROWS * sizeof(struct fs_unwind_row));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, FS_UNWIND_CHUNKS);
	__type(key, __u32);
	__array(values, struct unwind_chunk);
} unwind_rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_cache);
} unwind_cache SEC(".maps");

/*
 * Reads a window of stack words around an address. The window does not cross a page border, because
 * a read that faults takes 12 µs.
 */
static __noinline int unwind_read_window(struct fs_unwind_memory *m, __u64 at)
{
	__u64 page = at & ~(__u64)(UNWIND_PAGE - 1), start = at - UNWIND_WINDOW_BELOW;
	__u64 bytes;

	if (start < page)
		start = page;
	bytes = page + UNWIND_PAGE - start;
	if (bytes > sizeof(m->word))
		bytes = sizeof(m->word);
	m->bytes = 0;
	if (bpf_probe_read_user(m->word, bytes, (void *)start))
		return -1;
	m->base = start;
	m->bytes = bytes;
	return 0;
}

static __noinline int fs_unwind_read(struct fs_unwind_memory *m, __u64 at, __u64 *ret)
{
	if (at & 7)
		return bpf_probe_read_user(ret, sizeof(*ret), (void *)at);
	if (at - m->base >= m->bytes && unwind_read_window(m, at))
		return -1;
	*ret = m->word[((at - m->base) >> 3) & (UNWIND_WINDOW_WORDS - 1)];
	return 0;
}

#ifdef __TARGET_ARCH_x86
#define UNWIND_IS_ARM64 0
#define UNWIND_RA_BITS	~0ULL
static int fs_unwind_register(struct fs_unwind_memory *m, __u32 number, __u64 *ret)
{
	const struct unwind_registers *r = &m->regs;

	switch (number) {
	case 0:
		*ret = r->ax;
		return 0;
	case 1:
		*ret = r->dx;
		return 0;
	case 2:
		*ret = r->cx;
		return 0;
	case 4:
		*ret = r->si;
		return 0;
	case 5:
		*ret = r->di;
		return 0;
	case 8:
		*ret = r->r8;
		return 0;
	case 9:
		*ret = r->r9;
		return 0;
	case 10:
		*ret = r->r10;
		return 0;
	case 11:
		*ret = r->r11;
		return 0;
	case 12:
		*ret = r->r12;
		return 0;
	case 13:
		*ret = r->r13;
		return 0;
	case 14:
		*ret = r->r14;
		return 0;
	case 15:
		*ret = r->r15;
		return 0;
	}
	return -1;
}

static __always_inline void unwind_begin(struct unwind_walk *w)
{
	w->c.pc = w->m.regs.ip;
	w->c.sp = w->m.regs.sp;
	w->c.fp = w->m.regs.bp;
	w->c.saved = w->m.regs.bx;
}
#else
#define UNWIND_IS_ARM64 1
/* bits of an arm64 return address; the bits above may hold a pointer authentication code */
#define UNWIND_RA_BITS	((1ULL << 48) - 1)
static int fs_unwind_register(struct fs_unwind_memory *m, __u32 number, __u64 *ret)
{
	*ret = m->regs.regs[number & 31];
	return number > 30;
}

static __always_inline void unwind_begin(struct unwind_walk *w)
{
	w->c.pc = w->m.regs.pc;
	w->c.sp = w->m.regs.sp;
	w->c.fp = w->m.regs.regs[29];
	w->c.saved = w->m.regs.regs[30];
}
#endif

/*
 * Returns the executable mapping that contains an address; NULL: none does. The order of addresses
 * above 2^63, which no mapping contains, does not matter.
 */
static __always_inline struct fs_unwind_area *unwind_find_area(const struct fs_unwind_proc *proc,
							       __u64 pc)
{
	__u32 low = proc->first, high = low + proc->areas;
	struct fs_unwind_area *a = NULL;

	for (int i = 0; i < 14 && low < high; i++) {
		__u32 mid = (low + high) / 2;

		a = bpf_map_lookup_elem(&unwind_areas, &mid);
		if (!a)
			return NULL;
		if (pc - a->start < a->end - a->start)
			return a;
		low = fs_unwind_choose(a->start, pc, mid + 1, low);
		high = fs_unwind_choose(a->start, pc, high, mid);
	}
	return NULL;
}

/*
 * Returns whether an executable mapping contains an address. This is a global function so that the
 * verifier checks it only once per program.
 */
__noinline int unwind_has_area(const struct fs_unwind_proc *proc, __u64 pc)
{
	return proc && unwind_find_area(proc, pc);
}

/* Returns the index of the rule for an address of a mapping with an unwind table. */
static __always_inline __u32 unwind_find_row(const struct fs_unwind_area *a, __u64 pc)
{
	__u64 into = pc - a->origin;
	__u32 number = a->first + (into >> FS_UNWIND_PAGE_SHIFT), chunk, zero = 0;
	struct fs_unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &number);
	struct fs_unwind_row *rows;
	void *inner;

	if (!page || into >> FS_UNWIND_PAGE_SHIFT >= a->pages)
		return FS_UNWIND_RULE_GAP;
	chunk = page->first / FS_UNWIND_CHUNK_ROWS;
	inner = bpf_map_lookup_elem(&unwind_rows, &chunk);
	rows = inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
	if (!rows)
		return FS_UNWIND_RULE_GAP;
	return fs_unwind_find(rows, page->first, page->rows, into, FS_UNWIND_CHUNK_ROWS - 1);
}

static __always_inline __u64 unwind_tag(__u64 pc, __u32 generation, __u64 rule)
{
	__u64 tag = (pc ^ (__u64)generation << 32) * 0x9e3779b97f4a7c15ULL;

	return (tag ^ tag >> 32) + generation + rule * 0xd6e8feb86659fd93ULL;
}

/*
 * Finds the rule for an address. Returns enum stack_end. This is a global function so that the
 * verifier checks it only once per program.
 */
__noinline int unwind_find_rule(const struct unwind_walk *w, __u64 pc, struct fs_unwind_rule *ret)
{
	__u32 zero = 0, index = FS_UNWIND_RULE_CHAIN, generation;
	struct unwind_cache *cache = bpf_map_lookup_elem(&unwind_cache, &zero);
	struct unwind_cached *cached;
	struct fs_unwind_area *a;
	__u64 *rule, known;
	int end;

	if (!cache || !w || !ret)
		return STACK_END_MISSING;
	generation = w->proc.generation;
	cached = &cache->of[(pc ^ pc >> 10) & (UNWIND_CACHED - 1)];
	known = *(volatile __u64 *)&cached->rule;
	if (*(volatile __u64 *)&cached->tag == unwind_tag(pc, generation, known)) {
		*(__u64 *)ret = known;
		return STACK_END_GOES_ON;
	}
	a = unwind_find_area(&w->proc, pc);
	if (!a)
		return STACK_END_OUTSIDE;
	end = fs_unwind_why_no_rows(a);
	if (end)
		return end;
	if (a->pages != FS_UNWIND_BY_CHAIN)
		index = unwind_find_row(a, pc);
	rule = bpf_map_lookup_elem(&unwind_rules, &index);
	if (!rule)
		return STACK_END_OPAQUE;
	known = *rule;
	*(__u64 *)ret = known;
	*(volatile __u64 *)&cached->rule = known;
	*(volatile __u64 *)&cached->tag = unwind_tag(pc, generation, known);
	return STACK_END_GOES_ON;
}

struct unwind_loop {
	struct unwind_walk *w;
};

/*
 * Returns the place of frame number `i` in the arrays of a walk. The compiler must not know the
 * range of walk_slot(), or else it removes the mask, and the verifier of Linux 6.1 does not know
 * the range.
 */
static __always_inline __u32 unwind_slot(__u32 i)
{
	__u32 slot = walk_slot(i);

	barrier_var(slot);
	return slot & (FS_UNWIND_FRAMES - 1);
}

static __always_inline void unwind_keep(struct unwind_walk *w, __u32 i)
{
	__u32 slot = unwind_slot(i);
	__u64 bit = 1ULL << (slot & 63);

	w->pc[slot] = w->c.pc;
	w->sp[slot] = w->c.sp;
	w->n = i + 1;
	w->by_chain += w->c.by_chain;
	if (w->c.whole)
		w->interrupted[slot >> 6] |= bit;
	else
		w->interrupted[slot >> 6] &= ~bit;
	if (i < WALK_INNER)
		w->hash = mix(w->hash, w->c.pc);
}

/* Adds one frame to the walk. Returns 1 to stop the loop at the last frame. */
static int unwind_one(__u32 i, struct unwind_loop *l)
{
	struct unwind_walk *w = l->w;
	struct fs_unwind_rule rule = {};
	int end = unwind_find_rule(w, fs_unwind_lookup_pc(&w->c), &rule);
	int none = fs_unwind_no_frame(&w->c, end);

	if (none) {
		w->end = none;
		return 1;
	}
	unwind_keep(w, i);
	if (!end && UNWIND_IS_ARM64)
		end = fs_unwind_step_arm64(&w->c, &rule, &w->m);
	else if (!end)
		end = fs_unwind_step_x86(&w->c, &rule, &w->m);
	if (end)
		w->end = end;
	return end != 0;
}

/* Adds the outermost frames that are kept to the hash. Returns 1 after the last one. */
static int unwind_hash_outer(__u32 k, struct unwind_loop *l)
{
	struct unwind_walk *w = l->w;
	__u32 i = walk_first_outer(w->n) + k;

	if (i >= w->n)
		return 1;
	w->hash = mix(w->hash, w->pc[unwind_slot(i)]);
	return 0;
}

/*
 * Walks the stack from the registers in `w`, with the mappings in `w`. This is a global function so
 * that the verifier checks it only once per program. The return value has no meaning.
 */
__noinline int unwind_from_registers(struct unwind_walk *w)
{
	struct unwind_loop l = {w};

	if (!w)
		return 0;
	w->c = (struct fs_unwind_cursor){.whole = 1, .ra_bits = UNWIND_RA_BITS};
	unwind_begin(w);
	w->m.bytes = 0;
	w->n = w->by_chain = 0;
	for (int i = 0; i < FS_UNWIND_FRAMES / 64; i++)
		w->interrupted[i] = 0;
	w->hash = 0;
	w->end = STACK_END_TOO_DEEP;
	bpf_loop(FS_UNWIND_STEPS, unwind_one, &l, 0);
	/* the last frames of a walk that was ended are somewhere in the stack */
	if (w->end == STACK_END_TOO_DEEP)
		w->n = WALK_INNER;
	if (w->n > WALK_INNER)
		bpf_loop(WALK_OUTER, unwind_hash_outer, &l, 0);
	w->hash = mix(w->hash, w->end);
	return 0;
}

#endif
