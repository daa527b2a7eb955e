/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps shared by all BPF programs: the ring buffer, loss counters, and counters of equal events. */
#ifndef FS_MAPS_BPF_H
#define FS_MAPS_BPF_H

#include "clock.h"
#include "compat.bpf.h"
#include "wire.h"

const volatile struct fs_config config SEC(".rodata.config") = {};
struct fs_shared shared SEC(".data.shared") = {};

/* Key under which equal events are counted: failed calls or kernel faults. */
struct coalesce_key {
	struct process_key subject;
	__u64 what;
	__u64 group; /* distinguishes events of the kind `what` */
};
struct coalesced {
	__u64 count;
	__u64 emitted_ns;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct coalesce_key);
	__type(value, struct coalesced);
} equal SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* size in bytes, which the loader sets */
} ring SEC(".maps");

#define PF_KTHREAD 0x200000 /* value from include/linux/sched.h */

#define bump(counter) atomic_add(&(counter), 1)

/* Adds to a counter of a process, and marks the process as changed for the next scan. */
#define tally(st, counter, n)                                                                      \
	do {                                                                                       \
		atomic_add(&(st)->events.c.counter, n);                                            \
		(st)->counted = 1;                                                                 \
	} while (0)

/* Adds to a counter in a part of the state, which is NULL if it could not be created. */
#define tally_part(st, part, counter, n)                                                           \
	do {                                                                                       \
		if (part) {                                                                        \
			atomic_add(&(part)->c.counter, n);                                         \
			(st)->counted = 1;                                                         \
		}                                                                                  \
	} while (0)

static __always_inline __u64 ns_since(__u64 since)
{
	return ns_between(since, bpf_ktime_get_ns());
}

/*
 * Returns the number of the current period of 2^30 ns, which is about a second. A shift costs less
 * than a division.
 */
static __always_inline __u32 current_second(void)
{
	return bpf_ktime_get_ns() >> 30;
}

/*
 * Makes the verifier forget what it knows about a number, which keeps its value. The verifier
 * checks the code that follows a branch once for each value that the branch can give a number,
 * unless all are equally unknown to it. It does not know that two XORs with one unknown number
 * cancel out.
 */
#define forget_value(number) forget_as(__u32, number)
#define forget_wide(number)  forget_as(__u64, number)
#define forget_as(type, number)                                                                    \
	do {                                                                                       \
		type any__ = *(volatile type *)&shared.orphans;                                    \
		type value__ = (type)(number) ^ any__;                                             \
                                                                                                   \
		barrier_var(value__);                                                              \
		(number) = value__ ^ any__;                                                        \
	} while (0)

/*
 * Returns the number of the highest set bit, or 0 if `v` is 0. The code has no branches: the
 * verifier would check all code that follows once for each of the 64 results.
 */
static __always_inline __u32 log2_of(__u64 v)
{
	__u64 at = 0, more;

#pragma clang loop unroll(full)
	for (int shift = 5; shift >= 0; shift--) {
		more = is_not_zero(v >> (1 << shift)) << shift;
		at |= more;
		v >>= more;
	}
	return at;
}

static __always_inline void fill_header(struct record *h, __u32 kind, __u32 len)
{
	h->kind = kind;
	h->len = len;
	h->extra = 0;
	h->t_ns = bpf_ktime_get_ns();
}

/*
 * Wakes the reader, unless an earlier wake-up is still on its way: each wake-up raises an
 * interrupt, which takes microseconds, and more in a virtual machine.
 */
static __always_inline __u64 wake_once(void)
{
	return swap(&shared.woken, 1) ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
}

/* Wakes the reader only if the ring is at least an eighth full. */
static __always_inline __u64 wake_when_filling(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.ring_bytes / 8
		       ? wake_once()
		       : BPF_RB_NO_WAKEUP;
}

/*
 * Counts one of several equal events. Returns the count of equal events if this event should be
 * sent, else 0. The event should be sent in two cases: its count is a power of two (1, 2, 4 …), or
 * the last sent event is more than 200 ms old.
 */
static __always_inline __u64 coalesce(const struct process_key *subject, __u64 what, __u64 group)
{
	struct coalesce_key key = {.subject = *subject, .what = what, .group = group};
	struct coalesced first = {.count = 1, .emitted_ns = bpf_ktime_get_ns()};
	struct coalesced *seen = bpf_map_lookup_elem(&equal, &key);
	__u64 count;

	if (!seen) {
		if (!bpf_map_update_elem(&equal, &key, &first, BPF_NOEXIST))
			return 1;
		seen = bpf_map_lookup_elem(&equal, &key);
		if (!seen) {
			bump(shared.losses.map);
			return 1;
		}
	}
	count = add_fetch(&seen->count, 1);
	if ((count & (count - 1)) == 0 ||
	    ns_between(seen->emitted_ns, first.emitted_ns) > 200000000) {
		seen->emitted_ns = first.emitted_ns;
		return count;
	}
	bump(shared.losses.coalesced);
	return 0;
}

#endif
