// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "unwind/code_scan.h"

#include <string.h>

#define SCAN_BYTES 16384
/* Linkers may pad before _init and _fini. Their code begins within this many bytes of a gap. */
#define INIT_BYTES 64
/* Code that keeps frame pointers has at least one function prologue per this many bytes. */
#define BYTES_A_PROLOGUE 1024
/* maximum bytes of a file in which prologues are counted */
#define PROLOGUE_SCAN_BYTES (4u << 20)

/* Called for overlapping pieces of code. Returns true to stop; the search then returns true. */
typedef bool piece_fn(void *ctx, const __u8 *bytes, size_t n, __u64 address);

static bool each_piece(const struct byte_source *file, const struct elf_headers *h, __u64 start,
		       __u64 end, size_t overlap, piece_fn *piece, void *ctx)
{
	__u8 bytes[SCAN_BYTES];

	for (unsigned int i = 0; i < h->nr_loads; i++) {
		__u64 at = h->load[i].address, last = at + h->load[i].bytes;

		if (!h->load[i].executable || last < at)
			continue;
		at = at < start ? start : at;
		last = last > end ? end : last;
		if (last > at && last - at > CODE_SCAN_BYTES)
			last = at + CODE_SCAN_BYTES;
		while (at < last && last - at > overlap) {
			size_t want = last - at < sizeof(bytes) ? last - at : sizeof(bytes);
			ssize_t n = bytes_read(file, at - h->load[i].address + h->load[i].offset,
					       bytes, want);

			if (n <= (ssize_t)overlap)
				break;
			if (piece(ctx, bytes, n, at))
				return true;
			at += n - overlap;
		}
	}
	return false;
}

static bool find_sigreturn(void *ctx, const __u8 *bytes, size_t n, __u64 address)
{
	static const __u8 code[CODE_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0,
							0,    0,    0x0f, 0x05};
	const __u8 *found = memmem(bytes, n, code, sizeof(code));

	if (found)
		*(__u64 *)ctx = address + (found - bytes);
	return found;
}

bool code_find_sigreturn(const struct byte_source *file, const struct elf_headers *h, __u64 start,
			 __u64 end, __u64 *ret)
{
	return each_piece(file, h, start, end, CODE_SIGRETURN_BYTES - 1, find_sigreturn, ret);
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

static bool find_init(void *ctx, const __u8 *bytes, size_t n, __u64 address)
{
	struct code_init *ret = ctx;

	for (size_t at = 0; at < n; at++) {
		for (size_t i = 0; i < sizeof(init_codes) / sizeof(*init_codes); i++) {
			const struct init_code *c = &init_codes[i];

			if (!is_init(c, bytes + at, n - at))
				continue;
			*ret = (struct code_init){address + at + c->from, address + at + c->until,
						  address + at + c->size};
			return true;
		}
	}
	return false;
}

bool code_find_init(const struct byte_source *file, const struct elf_headers *h, __u64 start,
		    __u64 end, struct code_init *ret)
{
	if (end - start > INIT_BYTES)
		end = start + INIT_BYTES;
	return each_piece(file, h, start, end, 0, find_init, ret);
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

static bool count_prologues(void *ctx, const __u8 *bytes, size_t n, __u64 address)
{
	struct code_prologues *p = ctx;

	p->bytes += n;
	p->found += p->machine == CFI_X86_64 ? count_x86(bytes, n) : count_arm64(bytes, n);
	return false;
}

void code_count_prologues(const struct byte_source *file, const struct elf_headers *h, __u64 start,
			  __u64 end, struct code_prologues *p)
{
	if (p->bytes >= PROLOGUE_SCAN_BYTES)
		return;
	if (end - start > PROLOGUE_SCAN_BYTES - p->bytes)
		end = start + PROLOGUE_SCAN_BYTES - p->bytes;
	each_piece(file, h, start, end, p->machine == CFI_X86_64 ? 3 : 0, count_prologues, p);
}

bool code_has_frame_pointers(const struct code_prologues *p)
{
	return p->found && p->bytes / p->found <= BYTES_A_PROLOGUE;
}
