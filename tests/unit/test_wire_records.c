// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests records from the ring buffer: which are accepted, and how many bytes are copied. */
#include <string.h>

#include "probe/wire_records.h"
#include "tap.h"
#include "wire.h"

static const struct {
	__u32 kind, bytes;
	bool of_process;
} kinds[] = {
	{RECORD_PROCESS, sizeof(struct process_record), true},
	{RECORD_CROSSING, sizeof(struct crossing_record), true},
	{RECORD_REFUSED, sizeof(struct refused_record), true},
	{RECORD_SIGNAL, sizeof(struct signal_record), true},
	{RECORD_KERNEL_FAULT, sizeof(struct kernel_fault_record), true},
	{RECORD_FORK, sizeof(struct fork_record), true},
	{RECORD_EXEC, sizeof(struct exec_record), true},
	{RECORD_STACK, sizeof(struct stack_record), true},
	{RECORD_OOM, sizeof(struct oom_record), true},
	{RECORD_CGROUP, sizeof(struct cgroup_path_record), false},
	{RECORD_PRESSURE, sizeof(struct memory_wait_record), true},
	{RECORD_SLOW_FAULTS, sizeof(struct slow_faults_record), true},
	{RECORD_REPORT, sizeof(struct report_record), false},
	{RECORD_SAMPLE, sizeof(struct sample_record), true},
	{RECORD_RETRY, sizeof(struct retry_record), true},
	{RECORD_CODE, sizeof(struct code_record), true},
};

static unsigned char ring[WIRE_RECORD_MAX + 8] __attribute__((aligned(8)));
static union wire_record copy;

/* Writes a record into a simulated ring buffer. Other bytes follow the record. */
static const struct record *put(__u32 kind, __u32 len)
{
	struct record *h = (struct record *)ring;

	memset(ring, 0xa5, sizeof(ring));
	memset(&copy, 0, sizeof(copy));
	*h = (struct record){.kind = kind, .len = len, .t_ns = 77};
	return h;
}

static bool is_copied(__u32 len)
{
	return !memcmp(&copy, ring, len) && (len == sizeof(copy.bytes) || copy.bytes[len] == 0);
}

static void test_kinds(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		__u32 kind = kinds[i].kind, bytes = kinds[i].bytes;

		put(kind, bytes);
		ok(record_of_wire(ring, bytes, &copy) == &copy.h && is_copied(bytes),
		   "kind %u: a whole record is copied, and nothing behind it", kind);
		ok(process_of_wire(&copy) == (kinds[i].of_process ? &copy.process.subject : NULL),
		   "kind %u: whether it names a process", kind);
		put(kind, bytes);
		ok(!record_of_wire(ring, bytes - 1, &copy), "kind %u: the ring has less", kind);
		put(kind, bytes + 1);
		ok(!record_of_wire(ring, bytes + 1, &copy), "kind %u: longer than its struct",
		   kind);
	}
}

static void test_others(void)
{
	__u32 brief = offsetof(struct process_record, c);

	put(RECORD_PROCESS, brief);
	ok(record_of_wire(ring, brief, &copy) && is_copied(brief),
	   "a process without counters ends early");
	put(RECORD_PROCESS, sizeof(struct record) - 1);
	ok(!record_of_wire(ring, sizeof(struct process_record), &copy), "shorter than a header");
	put(RECORD_PROCESS, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(struct record) - 1, &copy),
	   "less than a header in the ring");
	put(RECORD_PROCESS, sizeof(struct record));
	ok(record_of_wire(ring, sizeof(struct record), &copy) && is_copied(sizeof(struct record)),
	   "only a header");
	put(0, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "kind 0");
	put(RECORD_TICK, sizeof(struct tick_record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "a kind that user space makes");
	put(~0u, sizeof(struct record));
	ok(!record_of_wire(ring, sizeof(ring), &copy), "a kind that is not known");
}

static struct fs_packed_process packed;

/* Adds a chunk with these words of the same value. */
static __u32 pack(__u32 words, __u32 chunk, __u16 mask, __u64 value)
{
	packed.mask[chunk] = mask;
	for (; mask; mask &= mask - 1)
		packed.word[words++] = value;
	return words;
}

static const struct process_record *unpacked(__u32 words)
{
	__u32 len = offsetof(struct fs_packed_process, word) + words * sizeof(__u64);

	packed.h = (struct record){.kind = RECORD_PACKED_PROCESS, .len = len, .t_ns = 77};
	memset(&copy, 0xa5, sizeof(copy));
	return record_of_wire(&packed, len, &copy) ? &copy.process : NULL;
}

#define FIRST_MAPPINGS	  FS_CHUNKS_OF(struct event_counters)
#define FIRST_DESCRIPTORS (FIRST_MAPPINGS + FS_CHUNKS_OF(struct mapping_counters))
#define FIRST_STALLS	  (FIRST_DESCRIPTORS + FS_CHUNKS_OF(struct descriptor_counters))
#define FIRST_CLASSES	  (FIRST_STALLS + FS_CHUNKS_OF(struct stall_counters))
#define PENDING		  (FIRST_CLASSES + FS_CHUNKS_OF(struct class_counters))

static void test_packed(void)
{
	const struct process_record *p;
	struct counters none = {};
	__u32 n;

	packed.subject.pid = 5;
	packed.g.fds = 6;
	packed.u.cpu_ns = 7;
	p = unpacked(0);
	ok(p && p->h.kind == RECORD_PROCESS && p->h.len == sizeof(*p) && p->h.t_ns == 77,
	   "packed: it becomes a whole record of a process");
	ok(p && p->subject.pid == 5 && p->g.fds == 6 && p->u.cpu_ns == 7, "packed: its values");
	ok(p && !memcmp(&p->c, &none, sizeof(none)), "packed: counters that are not sent are 0");

	n = pack(0, 0, 1 << 3, 11);
	n = pack(n, FIRST_MAPPINGS, 1 << 0 | 1 << 5, 12);
	n = pack(n, FIRST_DESCRIPTORS + 2, 1 << 10, 13);
	n = pack(n, FIRST_STALLS, 1 << 1, 14);
	n = pack(n, FIRST_CLASSES, 1 << NR_CLASSES, 15);
	p = unpacked(n);
	ok(p && p->c.fault_kind[3] == 11 && !p->c.fault_kind[2], "packed: a kind of fault");
	ok(p && p->c.map_call[0].calls == 12 && p->c.map_call[1].refused == 12,
	   "packed: calls that change mappings");
	ok(p && p->c.fd_call[NR_FD_CALLS - 1].calls == 13, "packed: the last call on descriptors");
	ok(p && p->c.stall_ns[END_MAJOR] == 14, "packed: time in faults");
	ok(p && p->c.served[0].stall_ns == 15, "packed: time of a class of faults");
	ok(!unpacked(n - 1), "packed: fewer words than the masks name");
	ok(!unpacked(n + 1), "packed: more words than the masks name");
	packed.mask[FIRST_DESCRIPTORS + 2] |= 1 << 15;
	ok(!unpacked(n + 1), "packed: a word behind the last counter");
}

/* Sets all bits that name a word of this part. Returns the number of words so far. */
static __u32 fill_part(__u32 words, __u32 first, size_t bytes)
{
	__u32 n = bytes / sizeof(__u64);

	for (__u32 i = 0; i < n; i += FS_CHUNK) {
		__u32 rest = n - i < FS_CHUNK ? n - i : FS_CHUNK;

		words = pack(words, first + i / FS_CHUNK, (1u << rest) - 1, 3);
	}
	return words;
}

/* Adds the bit behind the last word of a part, if the last mask of the part has room for it. */
static bool takes_more(__u32 words, __u32 first, size_t bytes)
{
	__u32 n = bytes / sizeof(__u64);
	__u16 *mask = &packed.mask[first + n / FS_CHUNK], was = *mask;
	bool takes;

	if (n % FS_CHUNK == 0)
		return false;
	*mask |= 1u << n % FS_CHUNK;
	packed.word[words] = 3;
	takes = unpacked(words + 1);
	*mask = was;
	return takes;
}

/* Every word of each part is there, and no word behind a part. */
static void test_whole(void)
{
	const struct process_record *p;
	const __u64 *word;
	size_t equal = 0;
	__u32 n = 0;

	memset(packed.mask, 0, sizeof(packed.mask));
	n = fill_part(n, 0, sizeof(struct event_counters));
	n = fill_part(n, FIRST_MAPPINGS, sizeof(struct mapping_counters));
	n = fill_part(n, FIRST_DESCRIPTORS, sizeof(struct descriptor_counters));
	n = fill_part(n, FIRST_STALLS, sizeof(struct stall_counters));
	n = fill_part(n, FIRST_CLASSES, sizeof(struct class_counters));
	is_u64(n, sizeof(struct counters) / sizeof(__u64), "whole: the parts have all counters");
	p = unpacked(n);
	word = (const __u64 *)&p->c;
	for (__u32 i = 0; p && i < n; i++)
		equal += word[i] == 3;
	is_u64(equal, n, "whole: each of them is sent");
	ok(!takes_more(n, 0, sizeof(struct event_counters)) &&
		   !takes_more(n, FIRST_MAPPINGS, sizeof(struct mapping_counters)) &&
		   !takes_more(n, FIRST_DESCRIPTORS, sizeof(struct descriptor_counters)) &&
		   !takes_more(n, FIRST_STALLS, sizeof(struct stall_counters)) &&
		   !takes_more(n, FIRST_CLASSES, sizeof(struct class_counters)),
	   "whole: no part has a word more");
	n = pack(n, PENDING, 0xffff, 0);
	ok(n <= FS_PACKED_WORDS && unpacked(n), "whole: and the leader's last fault");
	memset(packed.mask, 0, sizeof(packed.mask));
}

/* The leader's last fault is sent apart. It counts like one that is in the counters. */
static void test_pending(void)
{
	const __u64 fault[] = {3000, END_MAJOR, 4, CLASS_FILE_MAJOR, 4096, 0, 0, 70, 80};
	const struct process_record *p;

	memset(packed.mask, 0, sizeof(packed.mask));
	packed.mask[PENDING] = 0x1ff;
	memcpy(packed.word, fault, sizeof(fault));
	p = unpacked(9);
	ok(p && p->c.latency[END_MAJOR][4] == 1 && p->c.stall_ns[END_MAJOR] == 3000 &&
		   p->c.latency_max_ns[END_MAJOR] == 3000,
	   "pending: its latency");
	ok(p && p->c.served[CLASS_FILE_MAJOR].band[2] == 1 &&
		   p->c.served[CLASS_FILE_MAJOR].stall_ns == 3000 &&
		   p->c.served_max_ns[CLASS_FILE_MAJOR] == 3000 && p->c.fault_read_bytes == 4096,
	   "pending: its class");
	ok(p && p->c.wait[WAIT_LOCK].in_faults_ns == 70 && p->c.wait[WAIT_DISK].in_faults_ns == 80,
	   "pending: its waits");
	packed.word[3] = NR_CLASSES;
	p = unpacked(9);
	ok(p && p->c.latency[END_MAJOR][4] == 1 && !p->c.fault_read_bytes,
	   "pending: a fault that was not classified");
	packed.word[1] = NR_ENDS;
	ok(unpacked(9), "pending: an end that does not exist is no index");
	packed.mask[PENDING + 1] = 0;
	packed.mask[PENDING] = 0;
}

static union {
	struct fs_packed_walk w;
	unsigned char bytes[WIRE_RECORD_MAX];
} walk;

static const struct walk_record *unpacked_walk(__u32 frames, __u32 room, __u32 pythons,
					       __u32 python_room, int more)
{
	__u32 len = sizeof(walk.w) + room * 2 * sizeof(__u64) +
		    python_room * sizeof(struct python_frame) + more;

	memset(&walk, 0, sizeof(walk));
	walk.w.h = (struct record){.kind = RECORD_PACKED_WALK, .len = len};
	walk.w.subject.pid = 5;
	walk.w.frames = frames;
	walk.w.room = room;
	walk.w.pythons = pythons;
	walk.w.python_room = python_room;
	walk.w.interrupted[0] = 6;
	for (__u32 i = 0; sizeof(walk.w) + (i + 1) * sizeof(__u64) <= len; i++)
		((__u64 *)walk.w.data)[i] = 100 + i;
	memset(&copy, 0xa5, sizeof(copy));
	return record_of_wire(&walk, len, &copy) ? (struct walk_record *)&copy : NULL;
}

static void test_walks(void)
{
	const struct walk_record *w = unpacked_walk(3, 4, 1, 2, 0);

	ok(w && w->h.kind == RECORD_WALK && w->h.len == sizeof(*w), "walk: a whole record");
	ok(w && w->subject.pid == 5 && w->frames == 3 && w->interrupted[0] == 6 && w->pythons == 1,
	   "walk: its values");
	ok(w && w->ip[0] == 100 && w->ip[3] == 103 && w->ip[4] == 0, "walk: addresses of code");
	ok(w && w->sp[0] == 104 && w->sp[3] == 107 && w->sp[4] == 0, "walk: stack pointers");
	ok(w && w->python[0].code == 108 && w->python[1].at == 113 && w->python[2].at == 0,
	   "walk: frames of CPython");
	w = unpacked_walk(700, WALK_FRAMES, 700, WALK_PYTHON, 0);
	ok(w && w->frames == 700 && w->ip[WALK_FRAMES - 1] == 100 + WALK_FRAMES - 1,
	   "walk: deeper than a record");
	ok(unpacked_walk(4, 4, 2, 2, 0), "walk: as many frames as it has room");
	ok(unpacked_walk(0, 0, 0, 0, 0), "walk: no frames");
	ok(!unpacked_walk(0, 0, 0, 0, -8), "walk: shorter than its struct");
	ok(unpacked_walk(WALK_FRAMES - 1, WALK_FRAMES - 1, WALK_PYTHON - 1, WALK_PYTHON - 1, 0),
	   "walk: room for all frames but one");
	ok(!unpacked_walk(WALK_FRAMES, WALK_FRAMES - 1, 0, 0, 0), "walk: one frame more");
	ok(!unpacked_walk(0, 0, WALK_PYTHON, WALK_PYTHON - 1, 0), "walk: or one of CPython");
	ok(!unpacked_walk(0, 0, 0, WALK_PYTHON + 1, 0), "walk: too much room for CPython");
	ok(!unpacked_walk(5, 4, 0, 0, 0), "walk: more frames than it has room");
	ok(!unpacked_walk(1, 4, 3, 2, 0), "walk: more frames of CPython than it has room");
	ok(!unpacked_walk(1, 4, 1, 2, -8) && !unpacked_walk(1, 4, 1, 2, 8), "walk: another length");
	ok(!unpacked_walk(1, WALK_FRAMES + 1, 0, 0, 0), "walk: too much room");
}

static void test_codes(void)
{
	static struct python_code_record code;
	const __u32 begin = offsetof(struct python_code_record, table);
	const struct python_code_record *got = (const void *)&copy;

	code.h = (struct record){.kind = RECORD_PYTHON_CODE, .len = begin + 128};
	code.table_bytes = 100;
	memset(code.table, 7, 128);
	memset(&copy, 0xa5, sizeof(copy));
	ok(record_of_wire(&code, code.h.len, &copy) && got->h.len == sizeof(*got) &&
		   got->table[99] == 7 && got->table[128] == 0,
	   "code: a short table");
	code.table_bytes = 128;
	ok(record_of_wire(&code, code.h.len, &copy) && got->table[127] == 7,
	   "code: a table up to the end");
	code.table_bytes = 129;
	ok(!record_of_wire(&code, code.h.len, &copy), "code: a table that is longer than it says");
	code.h.len = sizeof(code);
	code.table[PYTHON_TABLE - 1] = 9;
	code.table_bytes = PYTHON_TABLE;
	ok(record_of_wire(&code, code.h.len, &copy) && got->table[PYTHON_TABLE - 1] == 9,
	   "code: the longest table");
	code.table_bytes++;
	ok(!record_of_wire(&code, code.h.len, &copy), "code: longer than the longest");
	code.table_bytes = 0;
	code.h.len = begin;
	ok(record_of_wire(&code, code.h.len, &copy) && got->h.len == sizeof(*got) &&
		   got->table[0] == 0,
	   "code: an empty table");
	code.h.len = sizeof(code) + 8;
	ok(!record_of_wire(&code, code.h.len, &copy), "code: longer than its struct");
	code.h.len = begin - 8;
	ok(!record_of_wire(&code, code.h.len, &copy), "code: no table at all");
}

int main(void)
{
	test_walks();
	test_codes();
	test_kinds();
	test_others();
	test_packed();
	test_whole();
	test_pending();
	return tap_done();
}
