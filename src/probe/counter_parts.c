// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/counter_parts.h"

#include <string.h>

/* The first member of each part in struct counters. */
#define FIRST_OF_EVENTS	     offsetof(struct counters, fault_kind)
#define FIRST_OF_MAPPINGS    offsetof(struct counters, map_call)
#define FIRST_OF_DESCRIPTORS offsetof(struct counters, fd_call)
#define FIRST_OF_STALLS	     offsetof(struct counters, stall_ns)
#define FIRST_OF_CLASSES     offsetof(struct counters, served_max_ns)

#define ALL_PARTS(X) X(events, EVENTS, struct event_counters) FS_PARTS(X)

#define X(part, PART, group) +sizeof(group)
_Static_assert(0 ALL_PARTS(X) == sizeof(struct counters), "the parts have all counters");
#undef X

static const struct {
	size_t first, words; /* words of struct counters */
} parts[] = {
#define X(part, PART, group) {FIRST_OF_##PART / sizeof(__u64), sizeof(group) / sizeof(__u64)},
	ALL_PARTS(X)
#undef X
};

void counters_of_state(const struct fs_whole_state *whole, struct counters *ret)
{
	memcpy(ret, &whole->st.events, sizeof(struct event_counters));
#define X(part, PART, group) memcpy((char *)ret + FIRST_OF_##PART, &whole->part, sizeof(group));
	FS_PARTS(X)
#undef X
}

static void keep_max(__u64 *max, __u64 ns)
{
	if (ns > *max)
		*max = ns;
}

void counters_add_pending(struct counters *c, const struct fs_pending *p)
{
	__u64 band = p->bucket / BAND_STEP < NR_BANDS ? p->bucket / BAND_STEP : NR_BANDS - 1;

	if (!p->ns || p->end >= NR_ENDS || p->bucket >= NR_LATENCY)
		return;
	c->latency[p->end][p->bucket]++;
	c->stall_ns[p->end] += p->ns;
	keep_max(&c->latency_max_ns[p->end], p->ns);
	if (p->class >= NR_CLASSES)
		return;
	c->served[p->class].band[band]++;
	c->served[p->class].stall_ns += p->ns;
	keep_max(&c->served_max_ns[p->class], p->ns);
	if (p->end == END_MAJOR)
		c->fault_read_bytes += p->read_bytes;
	for (int i = 0; i < NR_WAITS; i++)
		c->wait[i].in_faults_ns += p->waited_ns[i];
}

/* Copies the words that a mask names. Returns false if `ret` or `word` has no room for them. */
static bool unpack_chunk(__u32 mask, __u64 *ret, size_t room, const __u64 **word, const __u64 *end)
{
	for (size_t i = 0; i < FS_CHUNK; i++) {
		if (!(mask >> i & 1))
			continue;
		if (i >= room || *word == end)
			return false;
		ret[i] = *(*word)++;
	}
	return true;
}

static bool unpack_part(const __u16 *mask, __u64 *ret, size_t words, const __u64 **word,
			const __u64 *end)
{
	for (size_t at = 0; at < words; at += FS_CHUNK)
		if (!unpack_chunk(*mask++, ret + at, words - at, word, end))
			return false;
	return true;
}

bool counters_unpack(const struct fs_packed_process *packed, size_t size,
		     struct process_record *ret)
{
	const size_t begin = offsetof(struct fs_packed_process, word);
	const __u16 *mask = packed->mask;
	struct fs_pending pending = {};
	const __u64 *word, *end;

	if (size < begin || size > sizeof(*packed) || (size - begin) % sizeof(__u64))
		return false;
	word = packed->word;
	end = word + (size - begin) / sizeof(__u64);
	memcpy(ret, packed, offsetof(struct process_record, c));
	memset(&ret->c, 0, sizeof(ret->c));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!unpack_part(mask, (__u64 *)&ret->c + parts[i].first, parts[i].words, &word,
				 end))
			return false;
		mask += (parts[i].words + FS_CHUNK - 1) / FS_CHUNK;
	}
	if (!unpack_chunk(*mask, (__u64 *)&pending, FS_CHUNK, &word, end) || word != end)
		return false;
	counters_add_pending(&ret->c, &pending);
	ret->h.kind = RECORD_PROCESS;
	ret->h.len = sizeof(*ret);
	return true;
}
