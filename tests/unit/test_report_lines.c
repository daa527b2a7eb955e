// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which access, address, error code, instruction pointer and page table triage reads from the
 * lines of a report, for each architecture. A header without an address precedes the lines.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/recognise.h"

#define OOPS  "BUG: unable to handle page fault\n"
#define KASAN "BUG: KASAN: slab-out-of-bounds in f+0x1/0x2\n"
#define HANG  "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!\n"
#define MIPS  "CPU 0 Unable to handle kernel paging request at virtual address 80001000\n"

static const struct row {
	const char *name, *log, *want;
} rows[] = {
	/* riscv: 1, 5 and 7 are access faults; 12, 13 and 15 page faults */
	{"riscv: cause 1", OOPS "status: 0 badaddr: 0000000000000018 cause: 1\n",
	 "exec at 0x18 error 0x1 riscv"},
	{"riscv: cause 2", OOPS "status: 0 badaddr: 0000000000000018 cause: 2\n",
	 "at 0x18 error 0x2 riscv"},
	{"riscv: cause 5", OOPS "status: 0 badaddr: 0000000000000018 cause: 5\n",
	 "read at 0x18 error 0x5 riscv"},
	{"riscv: cause 6", OOPS "status: 0 badaddr: 0000000000000018 cause: 6\n",
	 "at 0x18 error 0x6 riscv"},
	{"riscv: cause 7", OOPS "status: 0 badaddr: 0000000000000018 cause: 7\n",
	 "write at 0x18 error 0x7 riscv"},
	{"riscv: cause 12", OOPS "status: 0 badaddr: 0000000000000018 cause: c\n",
	 "exec at 0x18 error 0xc riscv"},
	{"riscv: cause 13", OOPS "status: 0 badaddr: 0000000000000018 cause: d\n",
	 "read at 0x18 error 0xd riscv"},
	{"riscv: cause 14", OOPS "status: 0 badaddr: 0000000000000018 cause: e\n",
	 "at 0x18 error 0xe riscv"},
	{"riscv: cause 15", OOPS "status: 0 badaddr: 0000000000000018 cause: f\n",
	 "write at 0x18 error 0xf riscv"},
	{"riscv: the instruction and the return address",
	 OOPS "epc : f+0x10/0x20 [m] ra : g+0x30/0x40\n", "riscv ip f [m] link g"},

	/* ppc: bit 25 of DSISR is set for stores */
	{"ppc: a store", OOPS "DAR: 0000000000000018, DSISR: 02000000\n", "write at 0x18 ppc"},
	{"ppc: a load", OOPS "DAR: 0000000000000018, DSISR: 40000000\n", "read at 0x18 ppc"},
	{"ppc: a load, with the bits beside it", OOPS "DAR: 0000000000000018 DSISR: 05000000\n",
	 "read at 0x18 ppc"},
	{"ppc: the instruction and the link register",
	 OOPS "NIP [c000000000012345] .f+0x10/0x20\nLR [c000000000054321] .g+0x30/0x40\n",
	 "ppc ip f link g"},

	/* s390: bits 10 and 11 of the failing address are the access */
	{"s390: a store", OOPS "Failing address: 0000000000001000 TEID: 0000000000001400\n",
	 "write at 0x1000 s390"},
	{"s390: a fetch", OOPS "Failing address: 0000000000001000 TEID: 0000000000001800\n",
	 "read at 0x1000 s390"},
	{"s390: an access of either kind",
	 OOPS "Failing address: 0000000000001000 TEID: 0000000000001c00\n", "at 0x1000 s390"},
	{"s390: an unknown access",
	 OOPS "Failing address: 0000000000001000 TEID: 0000000000001000\n", "at 0x1000 s390"},
	{"s390: the instruction",
	 OOPS "Krnl PSW : 0704c00180000000 0000000000123456 (f+0x10/0x20 [m])\n", "s390 ip f [m]"},

	/* mips and loongarch */
	{"mips: a load", MIPS "epc   : 80012345 f+0x10/0x20\nCause : 00800008 (ExcCode 02)\n",
	 "read at 0x80001000 mips ip f"},
	{"mips: a fetch", MIPS "epc   : 80001000 f+0x10/0x20\nCause : 00800008 (ExcCode 02)\n",
	 "exec at 0x80001000 mips ip f"},
	{"mips: a store",
	 MIPS "epc   : 80012345 f+0x10/0x20\nra    : 80054321 g+0x30/0x40\n"
	      "Cause : 0080000c (ExcCode 03)\n",
	 "write at 0x80001000 mips ip f link g"},
	{"loongarch: a store",
	 OOPS "ERA: 9000000000012345 f+0x10/0x20\nra: 9000000000054321 g+0x30/0x40\n"
	      "BADV: 0000000000000018\nESTAT: 00020000 [PIS] (IS= ECode=2 EsubCode=0)\n",
	 "write at 0x18 loongarch ip f link g"},

	/* arm64 and arm */
	{"arm64: the status of the exception", OOPS "  ESR = 0x96000046\n  WnR = 1\n",
	 "write error 0x96000046 arm64"},
	{"arm64: the instruction and the link register",
	 OOPS "pc : f+0x10/0x20 [m]\nlr : g+0x30/0x40\n", "ip f [m] link g"},
	{"arm: both on one line",
	 OOPS
	 "PC is at f+0x10/0x20\nLR is at g+0x30/0x40\npc : [<c0012345>]    lr : [<c0054321>]\n",
	 "ip f link g"},

	/* x86 */
	{"x86: the first error code counts",
	 OOPS
	 "#PF: supervisor write access in kernel mode\n#PF: error_code(0x0002) - not-present page\n"
	 "#PF: error_code(0x0003) - x\n",
	 "write error 0x2"},
	{"x86-64: the instruction", OOPS "RIP: 0010:f+0x10/0x20 [m]\n", "x86_64 ip f [m]"},
	{"x86-64: an instruction of user space is none", OOPS "RIP: 0033:0x7f0012345678\n", ""},
	{"i386: the instruction",
	 OOPS "EIP: 0060:[<c0012345>]\nEIP: [<c0012345>] f+0x10/0x20 [m]\n", "i386 ip f [m]"},
	{"i386: a kernel that is not tainted",
	 OOPS "EIP:    0060:[<c0012345>]    Not tainted VLI\nEFLAGS: 00010246   (2.6.17 #1)\n"
	      "EIP: [<c0012345>] f+0x10/0x20 [m] SS:ESP 0068:f70d1f50\n",
	 "i386 ip f [m]"},
	{"i386: a report that is cut off before its last line",
	 OOPS "EIP:    0060:[<c0012345>]    Not tainted VLI\nEIP is at f+0x10/0x20 [m]\n"
	      "eax: 00000018   ebx: c0012345   ecx: 00000001   edx: 00000000\n",
	 "i386 ip f [m]"},
	{"i386: only a line without an address names the instruction",
	 OOPS "EIP:    0060:[<c0012345>]    Not tainted VLI\n"
	      "EIP: [<c0054321>] f+0x10/0x20 [m] SS:ESP 0068:f70d1f50\n",
	 "i386 ip "},
	{"x86: the instruction before the number of the oops", OOPS "IP: f+0x10/0x20\n", "ip f"},
	{"x86-64: the first CR2 counts", OOPS "CR2: 0000000000000018\nCR2: 0000000000000020\n",
	 "cr2 0x18"},
	{"x86-64: CR2 of the registers",
	 OOPS "CR2: 0000000000000018 CR3: 0000000000001000 CR4: 00000000000006f0\n",
	 "weak cr2 0x18"},
	{"x86-64: no address in CR2", OOPS "CR2: ?\n", ""},
	{"x86-64: four levels of the page table",
	 OOPS "PGD 1067 P4D 2067 PUD 3067 PMD 4067 PTE 0\n", "walk 15: 0x1067 0x3067 0x4067 0"},
	{"x86-64: two levels of it", OOPS "PGD 1067 P4D 2067 PUD 0\n", "walk 3: 0x1067 0 0 0"},
	{"x86-64: the first of two dumps", OOPS "PGD 1067 P4D 0\nPGD 2067 PUD 3067\n",
	 "walk 3: 0x1067 0x3067 0 0"},
	{"i386: two levels of it", OOPS "*pde = 00004067 *pte = 00005000\n",
	 "walk 12: 0 0 0x4067 0x5000"},
	{"arm64: a dump with its address",
	 OOPS "[ffff0000c5b2d018] pgd=0800000043b0a003, pud=0000000000000000\n",
	 "walk 3: 0x800000043b0a003 0 0 0 of 0xffff0000c5b2d018"},

	/* KASAN and hangs */
	{"KASAN: a read", KASAN "Read of size 8 at addr ffff888012345678 by task tool/77\n",
	 "read of 8 at 0xffff888012345678 tool 77"},
	{"KASAN: a write before 4.0", KASAN "Write of size 1 by task tool/77\n",
	 "write of 1 tool 77"},
	{"KASAN: the first of two accesses",
	 KASAN "Write of size 4 at addr ffff888012345678 by task tool/77\n"
	       "Read of size 8 at addr ffff888012345680 by task other/78\n",
	 "write of 4 at 0xffff888012345678 tool 77"},
	{"KASAN: the object",
	 KASAN "The buggy address belongs to the object at ffff888012345600\n"
	       " which belongs to the cache kmalloc-64 of size 64\n",
	 "object 0xffff888012345600"},
	{"a hang: the first work item",
	 HANG "in-flight: 12:widget_work [m] for 30s\nin-flight: 13:other_work\n",
	 "says widget_work [m]"},
	{"a lock that was taken",
	 "WARNING: possible circular locking dependency detected\n"
	 "(&x->lock){+.+.}-{3:3}, at: f+0x1/0x2 [m]\n",
	 "lock f [m]"},
	{"a lock that is held is no fault",
	 "WARNING: possible circular locking dependency detected\n"
	 " #0: ffff888012345678 (&x->lock){+.+.}-{3:3}, at: f+0x1/0x2 [m]\n",
	 ""},
};

static void write_frame(struct buf *b, const char *what, const struct frame *f)
{
	buf_printf(b, " %s %.*s", what, STR_ARG(f->function));
	if (f->module.n)
		buf_printf(b, " [%.*s]", STR_ARG(f->module));
}

static void write_report(struct buf *b, const struct incident *e)
{
	if (e->access)
		buf_printf(b, " %s", access_name(e->access));
	if (e->size)
		buf_printf(b, " of %u", e->size);
	if (e->has_address)
		buf_printf(b, " at %#jx", (uintmax_t)e->address);
	if (e->has_error)
		buf_printf(b, " error %#jx", (uintmax_t)e->error);
	if (e->arch)
		buf_printf(b, " %s", arch_name(e->arch));
	if (e->has_cr2)
		buf_printf(b, " cr2 %#jx", (uintmax_t)e->cr2);
	if (e->has_weak_cr2)
		buf_printf(b, " weak cr2 %#jx", (uintmax_t)e->weak_cr2);
	if (e->has_ip)
		write_frame(b, "ip", &e->ip);
	if (e->has_link)
		write_frame(b, "link", &e->link);
	if (e->has_walk)
		buf_printf(b, " walk %u: %#jx %#jx %#jx %#jx", e->walk_levels, (uintmax_t)e->pgd,
			   (uintmax_t)e->pud, (uintmax_t)e->pmd, (uintmax_t)e->pte);
	if (e->has_walk_address)
		buf_printf(b, " of %#jx", (uintmax_t)e->walk_address);
	if (e->has_object)
		buf_printf(b, " object %#jx", (uintmax_t)e->object);
	if (e->kind == KIND_HANG && e->has_printed_frame)
		write_frame(b, "says", &e->printed_frame);
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_LOCK)
			write_frame(b, "lock", &e->frame[i]);
	if (e->comm.n)
		buf_printf(b, " %.*s %u", STR_ARG(e->comm), e->pid);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triage_input in = {.name = "log"};
		struct recognised r;
		struct lines ls;
		struct buf b = {};

		in.data = rows[i].log;
		in.size = strlen(in.data);
		if (lines_read(&ls, &in, 1) || recognise(&r, &ls) || !r.n)
			abort();
		buf_printf(&b, "%s", "");
		write_report(&b, &r.event[0]);
		is_str(b.s + (*b.s == ' '), rows[i].want, rows[i].name);
		recognised_free(&r);
		lines_free(&ls);
		buf_free(&b);
	}
	return tap_done();
}
