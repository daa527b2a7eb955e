/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mremap() moves pages to another address, and realloc() uses it for large blocks. Other pages are
 * chosen at the new address. Each of them gets the owner of the chosen page before it.
 */
#ifndef FS_RESIDENT_MOVE_BPF_H
#define FS_RESIDENT_MOVE_BPF_H

#include "refusal.bpf.h"
#include "resident.bpf.h"

#ifndef FS_HASH

/*
 * Maximum number of pages of a move that are followed: 4 GiB. The owners of the pages behind them
 * are not known.
 */
#define MOVE_PAGES_MAX (1U << 20)

struct page_move {
	struct fs_resident_key key;
	struct fs_resident owner; /* of the last chosen page */
	__u64 start_ns, now_ns;
	__u64 from, to; /* first page numbers, or first numbers of ranges of 2 MiB */
	__u64 pages;	/* number of pages or of ranges */
	__u32 known;	/* 1: `owner` is set */
};

static __always_inline bool is_chosen_page(__u64 page)
{
	return fs_resident_chosen(config.resident.secret, page, shared.resident_below);
}

/* Reads the owner of a unit before the move. Returns its entry, or NULL. */
static __always_inline struct fs_resident *find_moved(struct page_move *m, __u64 number)
{
	struct fs_resident *e;

	m->key.number = number;
	e = bpf_map_lookup_elem(&resident, &m->key);
	m->known = e && e->start_ns == m->start_ns && e->how != FS_RESIDENT_LEFT;
	if (m->known)
		m->owner = *e;
	return m->known ? e : NULL;
}

/* Also notes that the unit leaves the old address, where other memory may come. */
static __always_inline void take_moved(struct page_move *m, __u64 number)
{
	struct fs_resident *e = find_moved(m, number);

	if (!e)
		return;
	e->how = FS_RESIDENT_LEFT;
	e->frame = m->now_ns;
}

/* Notes the owner of a unit after the move. */
static __always_inline void keep_moved(struct page_move *m, __u64 number)
{
	m->key.number = number;
	if (!m->known)
		bpf_map_delete_elem(&resident, &m->key);
	else if (bpf_map_update_elem(&resident, &m->key, &m->owner, BPF_ANY))
		bump(shared.resident_lost);
}

/* Finds the first chosen page of the old range: it is also the owner of the pages before it. */
static long find_first(__u32 i, struct page_move *m)
{
	if (!is_chosen_page(m->from + i))
		return 0;
	find_moved(m, m->from + i);
	return 1;
}

static long move_page(__u32 i, struct page_move *m)
{
	if (is_chosen_page(m->from + i))
		take_moved(m, m->from + i);
	if (is_chosen_page(m->to + i))
		keep_moved(m, m->to + i);
	return 0;
}

static long move_huge(__u32 i, struct page_move *m)
{
	take_moved(m, m->from + i);
	keep_moved(m, m->to + i);
	return 0;
}

static __always_inline __u32 at_most(__u64 n, __u32 most)
{
	return n < most ? n : most;
}

/* Huge pages stay huge if both addresses have the same offset in a range of 2 MiB. */
static __always_inline void move_all_huge(struct page_move *m)
{
	const __u64 rest = (1 << FS_RESIDENT_HUGE_SHIFT) - 1;
	__u64 end = (m->from + m->pages) >> FS_RESIDENT_HUGE_SHIFT;

	if ((m->from ^ m->to) & rest)
		return;
	m->key.unit = FS_RESIDENT_HUGE;
	m->from = (m->from + rest) >> FS_RESIDENT_HUGE_SHIFT;
	m->to = (m->to + rest) >> FS_RESIDENT_HUGE_SHIFT;
	if (end > m->from)
		bpf_loop(at_most(end - m->from, MOVE_PAGES_MAX >> FS_RESIDENT_HUGE_SHIFT),
			 move_huge, m, 0);
}

/* Called at the end of mremap(). */
static __noinline int note_move(struct call *c)
{
	struct page_move m = {};

	if (!config.resident.on)
		return 0;
	m.from = call_arg(c, 0) >> 12;
	m.to = (__u64)c->ret >> 12;
	m.pages = call_arg(c, 1) < call_arg(c, 2) ? call_arg(c, 1) : call_arg(c, 2);
	m.pages = (m.pages + 4095) >> 12;
	if (m.from == m.to || !m.pages || (unsigned long)c->ret > -4096UL)
		return 0;
	m.key.pid = get(c->leader, tgid);
	m.start_ns = get(c->leader, start_boottime);
	m.now_ns = bpf_ktime_get_ns();
	m.key.unit = FS_RESIDENT_PAGE;
	bpf_loop(at_most(m.pages, MOVE_PAGES_MAX), find_first, &m, 0);
	bpf_loop(at_most(m.pages, MOVE_PAGES_MAX), move_page, &m, 0);
	move_all_huge(&m);
	return 0;
}

#endif

#endif
