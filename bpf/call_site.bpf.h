/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples the user stacks of calls that one call site makes at a high rate. A call site is known by
 * the stack pointer and by the code addresses at the top of the stack. Each call is still counted:
 * a call whose stack is not walked counts for the stack that was found last at its call site.
 */
#ifndef FS_CALL_SITE_BPF_H
#define FS_CALL_SITE_BPF_H

#include "mix.h"
#include "refusal.bpf.h"

#define SITE_WALKS  64 /* number of calls of a site per second whose stacks are always walked */
#define SITE_EACH   16 /* of the other calls, one in SITE_EACH is drawn; a power of two */
#define SITE_WORDS  10 /* number of words at the top of the stack that belong to the site */
#define NEARBY_BITS 36 /* libraries lie within 2^NEARBY_BITS bytes */
/* One of these bits is set in the addresses of a program that is linked to a fixed address. */
#define FIXED_BITS 0x3fc00000

struct site_key {
	struct process_key subject;
	__u64 hash;
};
struct call_site {
	__u32 second; /* time of the last call, in units of 2^30 ns */
	__u32 calls;  /* number of calls in this second */
	__s32 stack;  /* number of the stack that was walked last */
	__u32 pad;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct site_key);
	__type(value, struct call_site);
} call_sites SEC(".maps");

/*
 * Returns whether a word may be a return address: near the system call's own code (libraries), in a
 * program at a random address, or, if the process has such code, in a program at a fixed address.
 */
static __always_inline bool may_be_code(__u64 word, __u64 ip, bool has_fixed)
{
	__u64 top = word >> 40;

	return word >> NEARBY_BITS == ip >> NEARBY_BITS || top == 0x55 || top == 0x56 ||
	       top == 0xaa || (has_fixed && !(word >> 32) && word & FIXED_BITS);
}

/*
 * Returns a hash of a call site, or 0 if the stack cannot be read. Words that may be return
 * addresses are part of the hash. If such a word is data that changes, the site is new each time,
 * and each stack is walked.
 */
once_verified __u64 hash_site(__u64 sp, __u64 ip, __u64 call, bool has_fixed)
{
	__u64 word[SITE_WORDS] = {}, hash = sp ^ call << 56;

	if (bpf_probe_read_user(word, sizeof(word), (void *)sp))
		return 0;
	for (int i = 0; i < SITE_WORDS; i++)
		if (may_be_code(word[i], ip, has_fixed))
			hash = mix(hash, word[i]);
	return hash;
}

/* Returns whether the stack of a call need not be walked, because its site calls often. */
static __always_inline bool is_frequent(struct call_site *site)
{
	__u32 second = current_second();

	if (site->second != second) {
		site->second = second;
		site->calls = 0;
	}
	return ++site->calls > SITE_WALKS && bpf_get_prandom_u32() & (SITE_EACH - 1);
}

/*
 * Returns whether a process has code below 4 GiB. If it has none, small words of its stack are
 * numbers, for example of nanoseconds, and no return addresses.
 */
static __always_inline bool has_fixed_code(const struct fs_unwind_proc *proc)
{
	__u32 first = proc->first; /* the mappings are sorted by address */
	struct fs_unwind_area *area = bpf_map_lookup_elem(&unwind_areas, &first);

	return area && !(area->start >> 32);
}

/*
 * Fills the key of a call's site. Returns false if the stack of the call must be walked. A Python
 * program makes calls of many lines at the same place of the native stack, so each of its stacks is
 * walked.
 */
static __always_inline bool fill_site_key(struct site_key *key, const struct call *c)
{
	struct fs_unwind_proc *proc = code_find(bpf_get_current_pid_tgid() >> 32);

	if (c->compat || !proc || !proc->areas || proc->python)
		return false;
	key->hash = hash_site(regs_sp(c->regs), regs_ip(c->regs), c->call, has_fixed_code(proc));
	fill_subject(&key->subject, leader_of(c));
	return key->hash;
}

/*
 * Sets the stack of a call to the one that was walked last at its site. Returns 0 if the stack must
 * be walked. This function and keep_site() are not called below each other or find_stack(), because
 * the chain of calls of find_stack() needs the kernel stack.
 */
static __noinline int take_site_stack(struct call *c)
{
	struct site_key key = {};
	struct call_site *site;

	if (!fill_site_key(&key, c))
		return 0;
	site = bpf_map_lookup_elem(&call_sites, &key);
	if (!site || site->stack < 0 || !is_frequent(site))
		return 0;
	c->stack = site->stack;
	bump(shared.walk_ends[STACK_END_ASSUMED]);
	return 1;
}

/* Stores the stack that was walked at the site of a call. */
returns_unread int keep_site(struct call *c)
{
	struct call_site new = {.stack = c->stack}, *site;
	struct site_key key = {};

	if (!fill_site_key(&key, c))
		return 0;
	site = bpf_map_lookup_elem(&call_sites, &key);
	if (site)
		site->stack = c->stack;
	else
		bpf_map_update_elem(&call_sites, &key, &new, BPF_ANY);
	return 0;
}

#endif
