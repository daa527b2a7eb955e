// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests triage with crash reports whose lines are wrapped at each width, as terminals and mail
 * programs do. The test compares a checksum over the facts that are found at all widths.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "triage/triage.h"
#include "triage_sums.h"

#define LEAST_WIDTH 30
#define MOST_WIDTH  130

static const char *const reports[] = {
	/* modules with build IDs, as since 5.16 with CONFIG_STACKTRACE_BUILD_ID */
	"[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
	"[   12.345680] #PF: supervisor write access in kernel mode\n"
	"[   12.345681] #PF: error_code(0x0002) - not-present page\n"
	"[   12.345682] Oops: 0002 [#1] PREEMPT SMP NOPTI\n"
	"[   12.345683] CPU: 2 PID: 611 Comm: tool Tainted: G           OE      6.12.9-amd64 #1\n"
	"[   12.345684] RIP: 0010:widget_reset+0x14/0x40 [widget "
	"0123456789abcdef0123456789abcdef01234567]\n"
	"[   12.345685] Code: 48 89 e5 41 54 53 48 8b 1d 00 00 00 00 <c7> 43 18 07 00 00 00 5b c3\n"
	"[   12.345686] RSP: 0018:ffffc90000123e48 EFLAGS: 00010246\n"
	"[   12.345687] RAX: 0000000000000000 RBX: 0000000000000000 RCX: ffff888012345678\n"
	"[   12.345688] Call Trace:\n"
	"[   12.345689]  <TASK>\n"
	"[   12.345690]  widget_ioctl+0x58/0x120 [widget "
	"0123456789abcdef0123456789abcdef01234567]\n"
	"[   12.345691]  ? __pfx_widget_ioctl+0x10/0x10 [widget]\n"
	"[   12.345692]  __x64_sys_ioctl+0x97/0xd0\n"
	"[   12.345693]  do_syscall_64+0x5d/0x90\n"
	"[   12.345694]  entry_SYSCALL_64_after_hwframe+0x6e/0xd8\n"
	"[   12.345695]  </TASK>\n"
	"[   12.345696] Modules linked in: widget(OE) virtio_net net_failover failover nls_ascii\n"
	"[   12.345697] CR2: 0000000000000018\n"
	"[   12.345698] ---[ end trace 0000000000000000 ]---\n",
	"[   42.500001] Unable to handle kernel paging request at virtual address "
	"ffff0000c5b2d018\n"
	"[   42.500105]   ESR = 0x0000000096000046\n"
	"[   42.500107]   EC = 0x25: DABT (current EL), IL = 32 bits\n"
	"[   42.500125] [ffff0000c5b2d018] pgd=0800000043b0a003, p4d=0800000043b0a003, "
	"pud=0800000043b0b003, pmd=0000000000000000\n"
	"[   42.500131] Internal error: Oops: 0000000096000046 [#1] PREEMPT SMP\n"
	"[   42.500140] CPU: 2 UID: 0 PID: 611 Comm: tool Tainted: G  O  6.12.9-arm64 #1\n"
	"[   42.500149] pc : widget_reset+0x14/0x40 [widget]\n"
	"[   42.500155] lr : widget_ioctl+0x58/0x120 [widget]\n"
	"[   42.500157] sp : ffff8000833dbcb0\n"
	"[   42.500159] x29: ffff8000833dbcb0 x28: ffff0000c1ab8000 x27: 0000000000000000\n"
	"[   42.500177] x2 : 0000000000000001 x1 : 0000000000000007 x0 : ffff0000c5b2d000\n"
	"[   42.500179] Call trace:\n"
	"[   42.500181]  widget_reset+0x14/0x40 [widget] (P)\n"
	"[   42.500183]  widget_ioctl+0x58/0x120 [widget] (L)\n"
	"[   42.500185]  __arm64_sys_ioctl+0xb4/0x100\n"
	"[   42.500197]  el0t_64_sync+0x190/0x198\n"
	"[   42.500199] Code: d503201f d503233f d2800001 528000e1 (b9001801)\n"
	"[   42.500201] ---[ end trace 0000000000000000 ]---\n",
	"[  120.000001] INFO: task tool:77 blocked for more than 120 seconds.\n"
	"[  120.000002]       Not tainted 6.12.9-amd64 #1\n"
	"[  120.000003] task:tool            state:D stack:0     pid:77    ppid:1      "
	"flags:0x4002\n"
	"[  120.000004] Call Trace:\n"
	"[  120.000005]  __schedule+0x3f1/0xb50\n"
	"[  120.000006]  rwsem_down_write_slowpath+0x2a1/0x620\n"
	"[  120.000007] 1 lock held by tool/77:\n"
	"[  120.000008]  #0: ffff888012345678 (&mm->mmap_lock){++++}-{3:3}, at: "
	"widget_map+0x2a/0x90 [widget]\n",
};

/* Writes a report whose lines are cut after `width` characters, or at the blank before. */
static void wrap(struct buf *b, const char *s, int width, bool at_blanks)
{
	while (*s) {
		const char *end = strchr(s, '\n');

		while (end - s > width) {
			int n = width;

			while (at_blanks && n && s[n] != ' ')
				n--;
			n = n ? n : width;
			buf_add(b, s, n);
			buf_putc(b, '\n');
			s += n + (at_blanks && s[n] == ' ');
		}
		buf_add(b, s, end + 1 - s);
		s = end + 1;
	}
}

static void mix_frame(uint64_t *sum, const struct frame *f)
{
	mix_str(sum, f->function);
	mix_str(sum, f->module);
	mix(sum, f->offset ^ (uint64_t)f->size << 32);
}

static void mix_report(uint64_t *sum, const char *text, size_t size)
{
	struct triage_input in = {.name = "log", .data = text, .size = size};
	struct triage t;

	if (triage_run(&t, &in, 1))
		abort();
	mix(sum, t.seen.n << 8 | t.verdicts);
	for (size_t i = 0; i < t.seen.n; i++) {
		const struct incident *e = &t.seen.event[i];

		mix(sum, e->kind << 16 | e->nr_frames << 8 | e->nr_modules);
		mix(sum, e->regs.known ^ (uint64_t)e->code_bytes << 32);
		mix(sum, e->has_address ? e->address : 1);
		mix_str(sum, e->comm);
		mix_frame(sum, &e->ip);
		mix_frame(sum, &e->link);
		for (uint32_t k = 0; k < e->nr_frames; k++)
			mix_frame(sum, &e->frame[k]);
		for (uint32_t k = 0; k < e->nr_modules; k++)
			mix_str(sum, e->module[k].name);
	}
	triage_free(&t);
}

int main(void)
{
	struct sum sums[] = {
		{"a null dereference of x86-64", SUM_BEGINS, 0x88afa0ecd6a1599a},
		{"a paging request of arm64", SUM_BEGINS, 0x34228c8571189ee8},
		{"a task that hangs", SUM_BEGINS, 0x9c3958cb63368613},
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		for (int width = 2 * LEAST_WIDTH; width < 2 * MOST_WIDTH; width++) {
			struct buf b = {};

			wrap(&b, reports[i], width / 2, width % 2);
			if (b.failed)
				abort();
			mix_report(&sums[i].got, b.s, b.len);
			buf_free(&b);
		}
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
