/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads kernel error reports in the kernel log: WARN, KASAN, KFENCE, UBSAN, oops, hung task, soft
 * lockup. BPF programs select lines by their first word; user space interprets them.
 */
#ifndef FS_REPORT_BPF_H
#define FS_REPORT_BPF_H

#include "maps.bpf.h"

#define REPORT_STAMP	   40 /* maximum length of the time stamp of a line */
#define BEGINS(a, b, c, d) ((__u32)(a) << 24 | (__u32)(b) << 16 | (__u32)(c) << 8 | (__u32)(d))

static __always_inline bool is_of_report(const char *s)
{
	switch (BEGINS(s[0], s[1], s[2], s[3])) {
	case BEGINS('W', 'A', 'R', 'N'):
	case BEGINS('B', 'U', 'G', ':'):
	case BEGINS('U', 'B', 'S', 'A'):
	case BEGINS('I', 'N', 'F', 'O'): /* a line such as "INFO: task … blocked" */
	case BEGINS('w', 'a', 't', 'c'): /* a line "watchdog: BUG: soft lockup" */
	case BEGINS('O', 'o', 'p', 's'):
	case BEGINS('I', 'n', 't', 'e'): /* a line "Internal error", on arm64 */
	/* Before 6.9, x86 prints no "Oops:" at the start of these lines. */
	case BEGINS('g', 'e', 'n', 'e'): /* a line "general protection fault" */
	case BEGINS('i', 'n', 'v', 'a'): /* a line "invalid opcode" */
	case BEGINS('d', 'i', 'v', 'i'): /* a line "divide error" */
	case BEGINS('s', 't', 'a', 'c'): /* a line "stack segment" */
	/* Lines with the code location of a report begin with these words. */
	case BEGINS('R', 'I', 'P', ':'):
	case BEGINS('p', 'c', ' ', ':'):
	case BEGINS('e', 'p', 'c', ' '):
		return true;
	}
	return false;
}

struct line_start {
	char text[REPORT_STAMP];
};

/*
 * Returns the length of the time stamp of a log line. Until 701850dc0c31 (5.19), the tracepoint
 * receives lines with their time stamp (if time stamps are enabled), as consoles do.
 */
once_verified __u32 stamp_of(const struct line_start *s)
{
	if (!s || s->text[0] != '[')
		return 0;
	for (__u32 i = 1; i < REPORT_STAMP - 1; i++)
		if (s->text[i] == ']' && s->text[i + 1] == ' ')
			return i + 2;
	return 0;
}

/* Copies a log line, which is followed by other text in its buffer. */
static __always_inline void read_line(char *ret, unsigned long size, const char *text,
				      unsigned long len)
{
	/* Without a barrier, clang copies the length, and the verifier does not know the bound. */
	barrier_var(len);
	if (len > size - 1)
		len = size - 1;
	bpf_probe_read_kernel(ret, len, text);
}

static __always_inline void report_line(struct task_struct *task, const char *text,
					unsigned long len)
{
	struct line_start start = {};
	struct report_record *r;
	__u32 stamp;

	read_line(start.text, sizeof(start.text), text, len);
	stamp = stamp_of(&start);
	forget_value(stamp);
	if (stamp && stamp < len) {
		text += stamp;
		len -= stamp;
		read_line(start.text, sizeof(start.text), text, len);
	}
	if (!is_of_report(start.text))
		return;
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		bump(shared.losses.ring);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	fill_header(&r->h, RECORD_REPORT, sizeof(*r));
	r->pid = get(task, tgid);
	r->tid = get(task, pid);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), task->comm);
	read_line(r->line, sizeof(r->line), text, len);
	bpf_ringbuf_submit(r, wake_when_filling());
}

#endif
