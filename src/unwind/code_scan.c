// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "unwind/code_scan.h"

#include <errno.h>
#include <string.h>

#define SCAN_BYTES 16384
/* work of a read, and bytes of code that are searched with one more unit of work */
#define READ_WORK   50
#define FIND_BYTES  40
#define COUNT_BYTES 8
/* Linkers may pad before _init and _fini. Their code begins within this many bytes of a gap. */
#define INIT_BYTES 64
/* Code that keeps frame pointers has at least one function prologue per this many bytes. */
#define BYTES_A_PROLOGUE 1024
/* maximum bytes of a file in which prologues are counted */
#define PROLOGUE_SCAN_BYTES (4u << 20)

/* Called for overlapping pieces of code. Returns true to end the search. */
typedef bool piece_fn(struct code_scan *s, const __u8 *bytes, size_t n);

void code_scan_begin(struct code_scan *s, const struct byte_source *file,
		     const struct elf_headers *h, enum cfi_machine machine, __u64 start, __u64 end)
{
	*s = (struct code_scan){
		.file = file, .h = h, .machine = machine, .start = start, .end = end};
}

/* Finds the part of a segment that is to be searched. Returns false if there is none. */
static bool begin_load(struct code_scan *s)
{
	__u64 at = s->h->load[s->load].address, last = at + s->h->load[s->load].bytes;

	if (!s->h->load[s->load].executable || last < at)
		return false;
	s->at = at < s->start ? s->start : at;
	s->last = last > s->end ? s->end : last;
	if (s->last > s->at && s->last - s->at > CODE_SCAN_BYTES)
		s->last = s->at + CODE_SCAN_BYTES;
	return true;
}

/* Searches the next piece of a segment. Returns false at the end of the segment. */
static bool scan_piece(struct code_scan *s, size_t overlap, piece_fn *piece, bool *ret_ended)
{
	__u8 bytes[SCAN_BYTES];
	size_t want;
	ssize_t n;

	if (s->at >= s->last || s->last - s->at <= overlap)
		return false;
	want = s->last - s->at < sizeof(bytes) ? s->last - s->at : sizeof(bytes);
	n = bytes_read(s->file, s->at - s->h->load[s->load].address + s->h->load[s->load].offset,
		       bytes, want);
	if (n <= (ssize_t)overlap)
		return false;
	*ret_ended = piece(s, bytes, n);
	s->at += n - overlap;
	return true;
}

static int scan(struct code_scan *s, size_t overlap, piece_fn *piece, __u64 unit_bytes, __u64 *left)
{
	bool ended = false;
	__u64 from, work;

	while (!ended && s->load < s->h->nr_loads) {
		if (!*left)
			return -EAGAIN;
		if (!s->in_load)
			s->in_load = begin_load(s);
		from = s->at;
		if (!s->in_load || !scan_piece(s, overlap, piece, &ended)) {
			s->in_load = false;
			s->load++;
		}
		work = READ_WORK + (s->at - from) / unit_bytes;
		*left -= *left < work ? *left : work;
	}
	return 0;
}

static bool find_sigreturn(struct code_scan *s, const __u8 *bytes, size_t n)
{
	static const __u8 code[CODE_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0,
							0,    0,    0x0f, 0x05};
	const __u8 *found = memmem(bytes, n, code, sizeof(code));

	if (found)
		s->found = s->at + (found - bytes);
	return found;
}

int code_find_sigreturn(struct code_scan *s, __u64 *left)
{
	return scan(s, CODE_SIGRETURN_BYTES - 1, find_sigreturn, FIND_BYTES, left);
}

/* Code of _init or _fini; a bit of `any` is set for each byte that may have any value. */
struct init_code {
	__u8 bytes[24];
	__u32 any;
	__u8 size, from, until;
};

static const struct init_code init_codes[] = {
	/* glibc: sub $8, %rsp; mov N(%rip), %rax; test; je; call *%rax; add $8, %rsp; ret */
	{{0x48, 0x83, 0xec, 8, 0x48, 0x8b, 5,	 0,    0,    0, 0,   0x48,
	  0x85, 0xc0, 0x74, 2, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3},
	 0x780,
	 23,
	 4,
	 22},
	/* glibc: sub $8, %rsp; add $8, %rsp; ret */
	{{0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, 0xc3}, 0, 9, 4, 8},
	/* musl: push %rax; pop %rax; ret */
	{{0x50, 0x58, 0xc3}, 0, 3, 1, 2},
};

static bool is_init(const struct init_code *c, const __u8 *bytes, size_t n)
{
	if (n < c->size)
		return false;
	for (size_t i = 0; i < c->size; i++)
		if (bytes[i] != c->bytes[i] && !(c->any >> i & 1))
			return false;
	return true;
}

static bool find_init(struct code_scan *s, const __u8 *bytes, size_t n)
{
	for (size_t at = 0; at < n; at++) {
		for (size_t i = 0; i < sizeof(init_codes) / sizeof(*init_codes); i++) {
			const struct init_code *c = &init_codes[i];

			if (!is_init(c, bytes + at, n - at))
				continue;
			s->found = s->at + at;
			s->init = i;
			return true;
		}
	}
	return false;
}

bool code_find_init(const struct byte_source *file, const struct elf_headers *h, __u64 start,
		    __u64 end, struct code_init *ret)
{
	const struct init_code *c;
	struct code_scan s;
	__u64 all = ~0ULL;

	if (end - start > INIT_BYTES)
		end = start + INIT_BYTES;
	code_scan_begin(&s, file, h, CFI_X86_64, start, end);
	if (scan(&s, 0, find_init, FIND_BYTES, &all) || !s.found)
		return false;
	c = &init_codes[s.init];
	*ret = (struct code_init){s.found + c->from, s.found + c->until, s.found + c->size};
	return true;
}

/* Returns whether `push %rbp; mov %rsp, %rbp` is here, in either encoding of the mov. */
static bool is_push(const __u8 *b)
{
	return b[0] == 0x55 && b[1] == 0x48 &&
	       ((b[2] == 0x89 && b[3] == 0xe5) || (b[2] == 0x8b && b[3] == 0xec));
}

/* Returns whether a prologue of Go up to 1.20 is here: `mov %rbp, N(%rsp); lea N(%rsp), %rbp`. */
static bool is_store(const __u8 *b)
{
	return b[0] == 0x48 && b[1] == 0x8d && (b[2] == 0x6c || b[2] == 0xac) && b[3] == 0x24;
}

static size_t count_x86(const __u8 *bytes, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= n; i++)
		found += is_push(bytes + i) || is_store(bytes + i);
	return found;
}

/* Counts the arm64 prologues `stp x29, x30, [sp, #-n]!` and `stp x29, x30, [sp, #n]`. */
static size_t count_arm64(const __u8 *bytes, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i + 4 <= n; i += 4) {
		__u32 code = bytes[i] | bytes[i + 1] << 8 | bytes[i + 2] << 16 |
			     (__u32)bytes[i + 3] << 24;

		found += (code & 0xffc07fff) == 0xa9807bfd || (code & 0xffc07fff) == 0xa9007bfd;
	}
	return found;
}

static bool count_prologues(struct code_scan *s, const __u8 *bytes, size_t n)
{
	s->bytes += n;
	s->found += s->machine == CFI_X86_64 ? count_x86(bytes, n) : count_arm64(bytes, n);
	return false;
}

void code_count_prologues(const struct byte_source *file, const struct elf_headers *h, __u64 start,
			  __u64 end, struct code_prologues *p, __u64 *left)
{
	struct code_scan s;
	__u64 all = ~0ULL;

	if (p->bytes >= PROLOGUE_SCAN_BYTES)
		return;
	if (end - start > PROLOGUE_SCAN_BYTES - p->bytes)
		end = start + PROLOGUE_SCAN_BYTES - p->bytes;
	code_scan_begin(&s, file, h, p->machine, start, end);
	scan(&s, p->machine == CFI_X86_64 ? 3 : 0, count_prologues, COUNT_BYTES, &all);
	p->bytes += s.bytes;
	p->found += s.found;
	all = ~0ULL - all;
	*left -= *left < all ? *left : all;
}

bool code_has_frame_pointers(const struct code_prologues *p)
{
	return p->found && p->bytes / p->found <= BYTES_A_PROLOGUE;
}
