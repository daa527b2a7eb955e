/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the CPython frames of the current thread, from its thread state (python_state.bpf.h)
 * outwards.
 */
#ifndef FS_PYTHON_BPF_H
#define FS_PYTHON_BPF_H

#include "mix.h"
#include "python_state.bpf.h"
#include "records/python_slots.h"

#ifndef FS_HASH

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FS_PYTHONS);
	__type(key, __u32);
	__type(value, struct fs_python);
} unwind_pythons SEC(".maps");

#define PYTHON_WINDOW 1024 /* a power of two */
#define PYTHON_PAGE   4096
/* maximum number of frames that are read; Python's own limit of recursion is 1000 by default */
#define PYTHON_DEPTH_MAX 1024

struct python_walk {
	struct fs_python of;
	__u64 next; /* address of the next frame to read */
	__u64 hash;
	__u64 identified, identity; /* last code object that was hashed, and its identity */
	__u32 n;   /* number of frames that were read; `frame` keeps python_kept() of them */
	__u32 cut; /* true: a frame could not be read, or there are more than PYTHON_DEPTH_MAX */
	__u32 run_end; /* true: the frame at PYTHON_RUN_END ends a run */
	__u32 pad;
	/*
	 * The memory window ends with the frame that is read, because its callers are at lower
	 * addresses. One read of many bytes costs less than many reads.
	 */
	__u64 from, until;
	__u8 bytes[PYTHON_WINDOW];
	/* what tells a code object from another; a power of two above the identity's size */
	__u64 word[2 * FS_PYTHON_IDENTITY_MAX / sizeof(__u64)];
	struct python_frame frame[WALK_PYTHON];
	__u64 identity_of[WALK_PYTHON]; /* see code_identity(); valid for frames with code */
};

/*
 * Reads the memory window up to the end of the frame. The window does not cross a page border.
 * Returns 0 if the frame was read.
 */
static __noinline int read_python_frame(struct python_walk *w)
{
	__u64 at = w->next, end = at + (w->of.frame_bytes & FS_PYTHON_FRAME_MAX);
	__u64 from = end - (PYTHON_WINDOW - 8), page = at & ~(__u64)(PYTHON_PAGE - 1), bytes;

	if (at >= w->from && end <= w->until)
		return 0;
	if (from < page)
		from = page;
	w->from = w->until = 0;
	bytes = (end - from) & (PYTHON_WINDOW - 1);
	if (bpf_probe_read_user(w->bytes, bytes, (void *)from))
		return -1;
	w->from = from;
	w->until = end;
	return 0;
}

/* These macros read a word or a byte at an offset in a frame, from the memory window. */
#define frame_word(w, at, offset)                                                                  \
	(*(__u64 *)((w)->bytes + (((at) + (offset)) & (PYTHON_WINDOW - 8))))
#define frame_byte(w, at, offset) ((w)->bytes[((at) + (offset)) & (PYTHON_WINDOW - 1)])

/* A context for bpf_loop(), whose callbacks take only a pointer to memory on the stack. */
struct python_loop {
	struct python_walk *w;
};

/* Returns a kept frame, with a check of the index that the verifier can follow. */
static __always_inline struct python_frame *kept_frame(struct python_walk *w, __u32 slot)
{
	asm volatile("" : "+r"(slot)); /* the compiler would drop the mask, which changes nothing */
	return &w->frame[slot & (WALK_PYTHON - 1)];
}

/* Returns where the identity of the code object of a kept frame is. */
static __always_inline __u64 *identity_at(struct python_walk *w, __u32 slot)
{
	asm volatile("" : "+r"(slot));
	return &w->identity_of[slot & (WALK_PYTHON - 1)];
}

/* Adds the words that were read to a checksum. */
static __always_inline __u64 with_words(struct python_walk *w, __u64 sum)
{
	sum = mix(mix(sum, w->word[0]), w->word[1]);
	return mix(mix(sum, w->word[2]), w->word[3]);
}

/* Reads up to half of the size of `word`, and fills the rest of this half with 0. */
static __always_inline void read_words(struct python_walk *w, __u64 at, __u64 bytes)
{
	w->word[0] = w->word[1] = w->word[2] = w->word[3] = 0;
	bpf_probe_read_user(w->word, bytes & (sizeof(w->word) - 1), (void *)at);
}

/* Adds the length of a str object and its last characters to a checksum. */
static __always_inline __u64 with_text(struct python_walk *w, __u64 sum, __u64 text)
{
	__u64 length = user_word(text + w->of.text_length);
	__u64 bytes = length < FS_PYTHON_IDENTITY_MAX ? length : FS_PYTHON_IDENTITY_MAX;

	read_words(w, text + w->of.text_ascii + length - bytes, bytes);
	return with_words(w, mix(sum, length));
}

/*
 * Returns a checksum of what tells this code object from an older one at the same address.
 * Interpreters free code objects, and use their memory again: for example, exec() does for each
 * text. Code objects without a version number are told apart by their pointers. Since a new object
 * can have all pointers of a freed one, the checksum has what they point to, too.
 */
static __always_inline __u64 code_identity(struct python_walk *w, __u64 code)
{
	__u64 sum;

	read_words(w, code + w->of.code_identity, w->of.identity_bytes);
	sum = with_words(w, 0);
	if (w->of.identity_bytes <= sizeof(__u32))
		return sum;
	sum = mix(sum, (__u32)user_word(code + w->of.code_line));
	sum = mix(sum, user_word(user_word(code + w->of.code_table) + w->of.bytes_size));
	sum = with_text(w, sum, user_word(code + w->of.code_file));
	return with_text(w, sum, user_word(code + w->of.code_name));
}

/*
 * Without the global interpreter lock, each thread may run a copy of the instructions of its own.
 * Returns the address of the instruction in the code object.
 */
static __always_inline __u64 instruction_of(const struct fs_python *of, __u64 code, __u64 instr,
					    __u32 copy)
{
	__u64 copies = user_word(code + of->code_copies), start;

	/* the array of copies: {Py_ssize_t size; char *entries[]} */
	if (!copy || copy >= user_word(copies))
		return instr;
	start = user_word(copies + sizeof(__u64) + copy * sizeof(__u64));
	return instr - start + code + of->code_start;
}

/* Adds a kept frame to the hash of the walk, and keeps the identity of its code object. */
static long hash_frame(__u32 i, struct python_loop *l)
{
	struct python_walk *w = l->w;
	__u32 slot = python_kept_slot(w->n, i);
	const struct python_frame *f = kept_frame(w, slot);

	if (i >= python_kept(w->n))
		return 1;
	/* recursion repeats code objects, which are read once then */
	if (f->code && f->code != w->identified) {
		w->identified = f->code;
		w->identity = code_identity(w, f->code);
	}
	w->hash = (w->hash ^ f->code ^ f->instr << 1) * 0x9e3779b97f4a7c15ULL;
	if (f->code)
		w->hash ^= w->identity << 8;
	*identity_at(w, slot) = w->identity;
	return 0;
}
static long python_one(__u32 i, struct python_loop *l)
{
	struct python_walk *w = l->w;
	struct python_frame *f = kept_frame(w, python_slot(i));
	__u8 flag = 1;
	__u64 at;

	if (!w->next)
		return 1;
	if (w->next & 7 || read_python_frame(w)) {
		w->cut = 1;
		return 1;
	}
	if (i == WALK_PYTHON)
		w->run_end = w->frame[PYTHON_RUN_END].at & FRAME_ENDS_RUN;
	if (i >= WALK_PYTHON && f->at & FRAME_ENDS_RUN && !w->run_end) {
		w->frame[PYTHON_RUN_END] = *f;
		w->run_end = 1;
	}
	at = w->next - w->from;
	/* from CPython 3.14 on, the low bits of the pointer are tags */
	f->code = frame_word(w, at, w->of.frame_code) & ~3ULL;
	f->instr = frame_word(w, at, w->of.frame_instr);
	f->at = w->next;
	if (!w->of.code_start)
		f->instr = (__u32)f->instr;
	if (w->of.frame_flag != FS_PYTHON_NONE)
		flag = frame_byte(w, at, w->of.frame_flag);
	/*
	 * This frame is the last of the Python frames that one native frame runs. A shim frame
	 * (from CPython 3.12 on) marks this place and is not a Python function.
	 */
	if (w->of.shim ? flag == w->of.shim : flag)
		f->at |= FRAME_ENDS_RUN;
	if (w->of.shim && flag == w->of.shim)
		f->code = 0;
	else if (w->of.code_copies)
		f->instr = instruction_of(&w->of, f->code, f->instr,
					  frame_word(w, at, w->of.frame_copy));
	w->next = frame_word(w, at, w->of.frame_back);
	w->n = i + 1;
	return 0;
}
/*
 * Walks the CPython frames of the current thread; without a PyThreadState, the walk has no frames.
 * The return value has no meaning.
 */
__noinline int python_frames(struct python_walk *w)
{
	struct python_loop l = {.w = w};
	__u64 state;

	if (!w)
		return 0;
	w->n = w->cut = w->run_end = 0;
	w->hash = w->from = w->until = w->identified = 0;
	state = python_state(&w->of);
	if (!state)
		return 0;
	w->next = innermost_frame(&w->of, state);
	bpf_loop(PYTHON_DEPTH_MAX, python_one, &l, 0);
	if (w->next)
		w->cut = 1;
	bpf_loop(WALK_PYTHON, hash_frame, &l, 0);
	return 0;
}

/* Identifies a code object whose names were sent to user space. */
struct python_code_key {
	struct process_key subject;
	__u64 code;
	__u64 identity;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct python_code_key);
	__type(value, __u8);
} told_codes SEC(".maps");

/*
 * Returns the bits of a str's state from `kind` on: 3 bits of kind, then `compact`, then `ascii`.
 * The field `interned` before them is at most 3 and has 2 bits. In some releases of CPython 3.14 it
 * has 16 bits, and in builds without the global interpreter lock 8. `kind` is never 0.
 */
static __always_inline __u32 text_state(__u32 bits)
{
	if (bits >> 2 & 7)
		return bits >> 2;
	return bits >> 8 & 7 ? bits >> 8 : bits >> 16;
}

/* Copies the last characters of a Python str. */
static __always_inline void read_text(const struct fs_python *of, __u64 object, __u8 *to,
				      __u32 room, __u32 *ret_bytes, __u8 *ret_kind)
{
	__u64 length = user_word(object + of->text_length);
	__u32 state = text_state(user_word(object + of->text_state));
	__u64 kind = state & 7, ascii = state >> 4 & 1, bytes, from = 0;

	*ret_kind = kind;
	*ret_bytes = 0;
	if (kind != 1 && kind != 2 && kind != 4)
		return;
	bytes = length * kind;
	if (bytes > room - 1) {
		from = (bytes - room + kind) / kind * kind;
		bytes -= from;
	}
	bytes &= room - 1;
	if (!bpf_probe_read_user(to, bytes,
				 (void *)object + (ascii ? of->text_ascii : of->text_other) + from))
		*ret_bytes = bytes;
}

/* Copies the line table. `room` is a power of two, and constant at each call. */
static __always_inline void read_table(const struct fs_python *of, __u64 object, __u64 bytes,
				       struct python_code_record *r, __u32 room)
{
	r->table_bytes = 0;
	barrier_var(bytes); /* clang would drop the comparison or the mask */
	if (bytes > room - 1)
		bytes = room - 1;
	bytes &= room - 1;
	if (!bpf_probe_read_user(r->table, bytes, (void *)object + of->bytes_data))
		r->table_bytes = bytes;
}

struct python_telling {
	struct python_walk *w;
	struct process_key subject;
	/*
	 * true: no map may be updated in this context, so a code object may be sent more than once
	 */
	bool forgets;
};

/*
 * Sends a code object in a record whose line table has room for `room` bytes. The size of a record
 * must be a constant, so there are a few sizes. Returns false if the ring is full.
 */
static __always_inline bool send_python_code(const struct python_telling *t, __u64 code,
					     __u64 table, __u64 bytes, __u32 room)
{
	const __u32 len = __builtin_offsetof(struct python_code_record, table) + room;
	struct python_code_record *r = bpf_ringbuf_reserve(&ring, len, 0);
	const struct fs_python *of = &t->w->of;

	if (!r)
		return false;
	fill_header(&r->h, RECORD_PYTHON_CODE, len);
	r->subject = t->subject;
	r->code = code;
	r->start = of->code_start ? code + of->code_start : 0;
	r->first_line = user_word(code + of->code_line);
	r->minor = of->minor;
	read_text(of, user_word(code + of->code_file), r->file, sizeof(r->file), &r->file_bytes,
		  &r->file_kind);
	read_text(of, user_word(code + of->code_name), r->name, sizeof(r->name), &r->name_bytes,
		  &r->name_kind);
	read_table(of, table, bytes, r, room);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

#define TABLE_SHORT  128
#define TABLE_MIDDLE 1024

/*
 * Sends the names and the line table of a code object to user space, if they were not sent before.
 */
static long tell_code(__u32 i, struct python_telling *t)
{
	const struct fs_python *of = &t->w->of;
	struct python_code_key key = {.subject = t->subject};
	__u64 table, bytes;
	__u8 one = 1;
	bool sent;

	if (i >= t->w->n)
		return 1;
	key.code = t->w->frame[i & (WALK_PYTHON - 1)].code;
	if (!key.code)
		return 0;
	key.identity = *identity_at(t->w, i);
	if (bpf_map_lookup_elem(&told_codes, &key))
		return 0;
	table = user_word(key.code + of->code_table);
	bytes = user_word(table + of->bytes_size);
	if (bytes < TABLE_SHORT)
		sent = send_python_code(t, key.code, table, bytes, TABLE_SHORT);
	else if (bytes < TABLE_MIDDLE)
		sent = send_python_code(t, key.code, table, bytes, TABLE_MIDDLE);
	else
		sent = send_python_code(t, key.code, table, bytes, PYTHON_TABLE);
	if (!sent) {
		bump(shared.losses.ring);
		return 1;
	}
	if (!t->forgets)
		bpf_map_update_elem(&told_codes, &key, &one, BPF_ANY);
	return 0;
}

/* Sends the code objects of a stack before the stack itself, if the stack is new to user space. */
once_verified int tell_codes(struct python_walk *w, const struct process_key *s, bool forgets)
{
	struct python_telling t = {.w = w, .forgets = forgets};

	if (!w || !s)
		return 0;
	t.subject = *s;
	bpf_loop(WALK_PYTHON, tell_code, &t, 0);
	return 0;
}

#endif

#endif
