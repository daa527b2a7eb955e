// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the records that the flight recorder would write in three boots: a ring file, and lines of
 * a log. The data of the BPF programs is made up from a seed, and the code of the flight recorder
 * adds names.
 *
 * usage: ring_writer SEED RECORDS RING LOG [RING_KIB]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "collect/precursor_names.h"
#include "recorder/ring_file.h"

#define SECOND	1000000000ULL
#define KERNEL	0xffffffff81000000ULL
#define MODULES 0xffffffffc0000000ULL

static struct namer namer;
static struct ring_file ring;
static FILE *lines;
static uint64_t sequence, boot, now_ns;

static void put(struct bb_record *r)
{
	char line[BB_LINE_MAX];

	/* some sequence numbers are left out, so that a reader must report lost records */
	sequence += roll(30) ? 1 : 2;
	r->sequence = sequence;
	r->boot_ns = r->boot_ns ?: now_ns;
	r->wall_ns = (1700000000 + boot * 5000) * SECOND + now_ns;
	r->dropped = roll(9) ? 0 : roll(5);
	memset(r->boot_id, 0x10 + boot, sizeof(r->boot_id));
	if (!r->count)
		r->count = 1;
	bb_encode_line(r, line);
	fprintf(lines, "[%5llu.%06llu] %s\n", (unsigned long long)(now_ns / SECOND),
		(unsigned long long)(now_ns % SECOND / 1000), line);
	if (r->class == BB_HEARTBEAT ? ring_file_beat(&ring, r) : ring_file_add(&ring, r))
		exit(1);
}

static void name_function(struct name_table *t, uint64_t at, const char *name, const char *module)
{
	int n = snprintf(t->text + t->used, t->room - t->used, "%s [%s", name, module);

	symbol_table_add(&t->table, at, 0x1000, t->used);
	t->used += n + 1;
}

static void name_functions(void)
{
	struct kernel_names *k = &namer.names;
	char name[32];

	k->kernel.room = k->modules.room = 4096;
	k->kernel.text = calloc(1, 4096);
	k->modules.text = calloc(1, 4096);
	for (unsigned int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "kernel_%u", i);
		name_function(&k->kernel, KERNEL + i * 0x1000, name, "");
		snprintf(name, sizeof(name), "nic_%u", i);
		name_function(&k->modules, MODULES + i * 0x1000, name, i < 8 ? "nic" : "gpu");
	}
	symbol_table_sort(&k->kernel.table);
	symbol_table_sort(&k->modules.table);
}

static uint64_t code(void)
{
	return ONE_OF(KERNEL, MODULES, MODULES + 0x9000, 0) + roll(0x7000);
}

static void take_module(struct precursor_record *p)
{
	bool nic = roll(2);

	snprintf(p->text, 64, "%s", nic ? "nic" : "gpu");
	snprintf(p->text + 64, 33, "%s", roll(2) ? "0123456789ABCDEF01234567" : "");
	p->arg[0] = MODULES + !nic * 0x8000;
	p->arg[1] = 0x8000;
	p->arg[2] = p->arg[0] + 0x100000;
	p->arg[3] = 0x3000;
	p->error_code = ONE_OF(0, 0x1000, 0x3001);
}

static void take_panic(struct precursor_record *p)
{
	static const char *const formats[] = {
		"Fatal exception%s\n", "stack-protector: stack is corrupted in: %pB",
		"Attempted to kill init! exitcode=0x%08x", "%d of %u at %lx, 100%% sure"};

	snprintf(p->text, PRE_WORD_AT, "%s", formats[roll(4)]);
	snprintf(p->text + PRE_WORD_AT, PRE_WORD_BYTES, " in interrupt");
	p->arg[0] = ONE_OF(11, MODULES + 0x2010, KERNEL + 5);
}

static struct precursor_record precursor(void)
{
	struct precursor_record p = {.h = {.t_ns = now_ns}};

	p.what = roll(NR_PRECURSORS);
	p.verdict = roll(2);
	p.pid = 100 + roll(9);
	p.tid = p.pid + roll(2);
	p.cpu = roll(4);
	p.ip = code();
	p.address = ONE_OF(0, 0x18, 0x10000, 0x7f0000001000, 0xdead000000000100, 0x6b6b6b6b6b6b6b6b,
			   MODULES + 0x100010, 0xffff888012345678, 0x0080000000000000,
			   0xffffffff81234567);
	p.error_code = roll(32);
	p.count = 1 + roll(70);
	for (int i = 0; i < 8; i++)
		p.arg[i] = roll(4);
	for (int i = 0; i < PRE_REGS; i++)
		p.regs[i] = roll(1ULL << 40);
	p.regs[17] *= roll(2);
	if (!roll(4))
		p.area = (struct freed_area){.start = p.address & ~0xfffULL,
					     .bytes = 0x4000,
					     .owner = code(),
					     .freer = code(),
					     .freed_ns = now_ns - roll(SECOND),
					     .flags = roll(4)};
	for (int i = 0; i < PRE_CODE; i++)
		p.code[i] = roll(256);
	p.stack_bytes = 8 * roll(8);
	for (int i = 0; i < 8; i++)
		p.stack[i] = i == 2 && roll(2) ? p.ip : code();
	snprintf(p.comm, sizeof(p.comm), "task%u", p.pid % 4);
	if (p.what == PRE_MODULE_LOAD || p.what == PRE_MODULE_FREE)
		take_module(&p);
	else if (p.what == PRE_PANIC)
		take_panic(&p);
	else
		snprintf(p.text, sizeof(p.text), "%s", roll(2) ? "0000:03:00.0" : "");
	return p;
}

/* Adds records that the flight recorder makes from lines of the kernel log and from settings. */
static void of_the_log(void)
{
	static const struct {
		enum bb_class class;
		enum bb_severity severity;
		const char *line;
	} some[] = {
		{BB_REPORT, BB_CRITICAL, "BUG: KASAN: slab-out-of-bounds in nic_3+0x1/0x2 [nic]"},
		{BB_REPORT, BB_WARNING, "WARNING: CPU: 1 PID: 2 at drivers/net/nic.c:7"},
		{BB_REPORT, BB_INFO, "watchdog: BUG: soft lockup - CPU#1 stuck for 23s!"},
		{BB_REPORT, BB_CRITICAL, "BUG: Bad page state in process cat  pfn:12345"},
		{BB_REPORT, BB_WARNING, "refcount_t: underflow; use-after-free."},
		{BB_CONSOLE, BB_INFO, "eth0: link is down"},
		{BB_OOM, BB_WARNING, "Out of memory: Killed process 7 (java)"},
		{BB_OOPS, BB_CRITICAL, "Oops: 0002 [#1] PREEMPT SMP"},
		{BB_GPU, BB_WARNING, "amdgpu: [gfxhub] page fault"},
		{BB_ALLOCATION, BB_WARNING, "page allocation failure: order:4"},
		{BB_HARDWARE, BB_CRITICAL, "mce: [Hardware Error]: Machine check events logged"},
		{BB_PANIC, BB_CRITICAL, "Kernel panic: corrupted stack: stack guard page was hit"},
	};
	struct bb_record r = {};
	size_t i = roll(sizeof(some) / sizeof(some[0]));

	r.class = some[i].class;
	r.severity = some[i].severity;
	r.count = 1 + roll(3);
	bb_put_u64(&r, "us", now_ns / 1000);
	bb_put_cut(&r, "line", some[i].line);
	put(&r);
}

static void of_itself(enum bb_class class)
{
	struct bb_record r = {.class = class};

	if (class == BB_START) {
		bb_put(&r, "version", "1.2.3");
		bb_put(&r, "kernel", "6.1.0");
	} else if (class == BB_TAINT) {
		bb_put_hex(&r, "taint", 0x20);
		bb_put_hex(&r, "added", ONE_OF(0x20, 0x1000));
	} else if (class == BB_HEARTBEAT) {
		bb_put_u64(&r, "fault", roll(9));
		bb_put_u64(&r, "dropped.fault", roll(2));
		bb_put_u64(&r, "failed.kmsg", roll(3));
		bb_put_u64(&r, "cpu_ms", 10 + roll(9));
	}
	put(&r);
}

static void happen(void)
{
	struct bb_record r[PRECURSOR_RECORDS];
	struct precursor_record p = precursor();
	size_t n;

	now_ns += 1 + roll(40 * SECOND);
	switch (roll(8)) {
	case 0:
		of_the_log();
		break;
	case 1:
		of_itself(roll(3) ? BB_HEARTBEAT : BB_TAINT);
		break;
	case 2:
		precursor_again(&namer, code(), 2 + roll(100), &r[0]);
		put(&r[0]);
		break;
	default:
		n = precursor_records(&namer, &p, r);
		for (size_t i = 0; i < n; i++)
			put(&r[i]);
	}
}

int main(int argc, char **argv)
{
	uint64_t n, ring_kib = 64;

	if (argc != 5 && argc != 6)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	n = strtoull(argv[2], NULL, 10);
	if (argc == 6)
		ring_kib = strtoull(argv[5], NULL, 10);
	lines = fopen(argv[4], "w");
	if (!lines || ring_file_open(&ring, argv[3], ring_kib << 10))
		return 1;
	name_functions();
	for (boot = 0; boot < 3; boot++) {
		now_ns = 3 * SECOND;
		of_itself(BB_START);
		for (uint64_t i = 0; i < n; i++)
			happen();
		if (boot == 1)
			of_itself(BB_STOP);
	}
	if (ring_file_flush(&ring) || fclose(lines))
		return 1;
	ring_file_close(&ring);
	kernel_names_free(&namer.names);
	return 0;
}
