// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the rules of triage with the reports of the crash logs of tests/triage, whose facts are
 * altered at random. Numbers lie very often exactly at a bound of a rule, or one below or above it,
 * and registers hold values near the address of the fault. The test compares checksums over the
 * diagnoses, but over no words of triage.
 *
 * The test must run at the top of the source tree.
 */
#include "crash_logs.h"
#include "triage/judge.h"
#include "triage_sums.h"

#define ROUNDS	   24 /* for each report */
#define OTHER_KIND 6  /* one report of so many gets a random kind */
#define FRAMES	   24 /* maximum number of frames of a report */
#define LOG_PARTS  8  /* number of checksums, among which the logs are divided */
#define NR_IN(a)   (sizeof(a) / sizeof((a)[0]))

static uint64_t dice = 20261129;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

/* Values at which an address, a pointer or an offset changes its meaning. */
static const uint64_t bounds[] = {
	0,
	8,
	64,
	0xfff,
	0x1000,
	0x10000,
	0x100000,
	0x1000000,
	0x7ffffffff000,
	0x0000800000000000,
	0x6b6b6b6b6b6b6b6b,
	0x5a5a5a5a5a5a5a5a,
	0xa5a5a5a5a5a5a5a5,
	0xaaaaaaaaaaaaaaaa,
	0xbbbbbbbbbbbbbbbb,
	0xcccccccccccccccc,
	0x2e2e2e2e2e2e2e2e,
	0x6d6f632e6574706d,
	0xdead000000000000,
	0xdead000000000100,
	0xdead000000000122,
	0xdead4ead00000000,
	0xdffffc0000000000,
	0xff00000000000000,
	0xffff000000000000,
	0xffff800000000000,
	0xffff888000000000,
	0xffffc90000000000,
	0xffffea0000000000,
	0xffffffff80000000,
	0xffffffff81000000,
	0xffffffffa0000000,
	0xffffffffc0000000,
	0xffffffffff000000,
	-4096ull,
	-1024ull,
	-531ull,
	-512ull,
	-133ull,
	-110ull,
	-104ull,
	-32ull,
	-22ull,
	-12ull,
	-1ull,
};

/* Functions to which triage gives a meaning, and others. */
static const char *const functions[] = {
	"memcpy",
	"strlen",
	"_raw_spin_lock",
	"mutex_lock",
	"kfree",
	"kvfree",
	"kmem_cache_alloc",
	"__list_del_entry_valid",
	"list_add",
	"refcount_warn_saturate",
	"panic",
	"schedule",
	"process_one_work",
	"worker_thread",
	"kthread",
	"ret_from_fork",
	"__x64_sys_ioctl",
	"ksys_write",
	"vfs_read",
	"asm_exc_page_fault",
	"call_timer_fn",
	"rcu_do_batch",
	"do_idle",
	"nic_poll",
	"demo_write",
	"ext4_readdir",
	"blocking_notifier_call_chain",
};

static const char *const modules[] = {"", "", "nic", "demo", "ext4", "nvidia", "snd"};

/* First bytes of x86-64 instructions, of which some access memory. */
static const uint8_t opcodes[][3] = {
	{0x48, 0x8b, 0x07}, {0x48, 0x89, 0x07}, {0x48, 0x8b, 0x47}, {0x8b, 0x04, 0x8f},
	{0xf3, 0xa4, 0x90}, {0xf3, 0x48, 0xa5}, {0xff, 0xd0, 0x90}, {0xff, 0x50, 0x18},
	{0x0f, 0x0b, 0x90}, {0xf0, 0x0f, 0xb1}, {0xc3, 0x90, 0x90}, {0x48, 0x89, 0xfb},
};

/* Returns a value at or near a bound, near `about`, or any value. */
static uint64_t number(uint64_t about)
{
	uint64_t value = below(3) ? bounds[below(NR_IN(bounds))] : about;

	switch (below(8)) {
	case 0:
		return roll(&dice) << 16 ^ roll(&dice);
	case 1:
		return value + below(0x2000) - 0x1000;
	case 2:
	case 3:
		return value;
	case 4:
		return value + 8 * below(32);
	case 5:
		return value ^ 1ull << below(64);
	default:
		return value + below(5) - 2;
	}
}

static void alter_registers(struct incident *e)
{
	for (int i = 0; i < REGS_MAX; i++)
		if (!below(3))
			e->regs.value[i] = number(below(2) ? e->address : e->regs.value[i]);
	if (!below(6))
		e->regs.known ^= 1u << below(REGS_MAX);
	if (!below(6))
		e->sp = number(e->address);
	if (!below(6))
		e->flags ^= 1ull << below(20);
}

/* Changes the base register of the instruction, and the address of the fault accordingly. */
static void alter_base(struct incident *e)
{
	struct insn in;
	uint64_t computed;

	if (!insn_of(e, &in) || !in.memory || in.base < 0 || in.base >= REGS_MAX)
		return;
	e->regs.value[in.base] = number(e->regs.value[in.base]);
	e->regs.known |= 1u << in.base;
	if (insn_address(e, &in, &computed))
		e->address = computed + (below(8) ? 0 : below(128) - 64);
}

static void alter_code(struct incident *e)
{
	size_t at = e->code_at + below(2);

	if (!e->code_bytes)
		return;
	if (!below(4))
		e->code[below(e->code_bytes)] = below(256);
	if (!below(4) && at + 3 <= e->code_bytes)
		memcpy(e->code + at, opcodes[below(NR_IN(opcodes))], 3);
	if (!below(12))
		e->code_at = below(e->code_bytes);
}

static void alter_frame(struct frame *f)
{
	const char *module = modules[below(NR_IN(modules))];

	switch (below(8)) {
	case 0:
		f->module = str_of(module);
		break;
	case 1:
		f->function = str_of(functions[below(NR_IN(functions))]);
		f->module = str_of(below(2) ? "" : module);
		break;
	case 2:
		f->unreliable = !f->unreliable;
		break;
	case 3:
		f->part = below(PART_LOCK + 1);
		break;
	case 4:
		f->offset = below(4) ? below(0x110) : f->size;
		break;
	case 5:
		f->irq = !f->irq;
		break;
	case 6:
		f->function = below(3) ? f->function : (struct str){};
		break;
	default:
		f->inlined = !f->inlined;
	}
}

/* Alters some frames, and leaves some out. */
static void alter_frames(struct incident *e)
{
	uint32_t kept = 0, first = below(6) ? 0 : below(3);

	for (uint32_t i = first; i < e->nr_frames; i++) {
		if (!below(12))
			continue;
		e->frame[kept] = e->frame[i];
		if (!below(8))
			alter_frame(&e->frame[kept]);
		kept++;
	}
	e->nr_frames = kept;
	if (e->has_ip && !below(4))
		alter_frame(&e->ip);
	if (e->has_ip && kept && !below(12))
		e->ip = e->frame[0];
	if (e->has_ip && !below(6))
		e->ip.function = str_of(functions[below(NR_IN(functions))]);
	if (e->has_link && !below(4))
		alter_frame(&e->link);
}

static void alter_flags(struct incident *e)
{
	bool *const flags[] = {
		&e->fatal,	 &e->consequence, &e->headless,	 &e->panicked,
		&e->interleaved, &e->has_address, &e->has_error, &e->has_esr,
		&e->has_range,	 &e->has_walk,	  &e->has_cr2,	 &e->has_weak_cr2,
		&e->has_ip,	 &e->has_link,	  &e->has_sp,	 &e->has_flags,
		&e->has_code_at, &e->has_object,  &e->has_pid,	 &e->debug_pagealloc};
	bool *flag = flags[below(NR_IN(flags))];

	*flag = !*flag;
}

static void alter_numbers(struct incident *e)
{
	if (below(2))
		e->address = number(below(6) ? e->address : e->sp);
	if (!below(3))
		e->error = below(2) ? e->error ^ 1ull << below(32) : number(e->error);
	if (!below(6))
		e->access = below(ACCESS_EXEC + 1);
	if (!below(6))
		e->size = 1u << below(8);
	e->cr2 = below(4) ? e->cr2 : number(e->address);
	e->weak_cr2 = below(4) ? e->weak_cr2 : number(e->address);
	e->range_low = below(4) ? e->range_low : number(e->address);
	e->pte = below(4) ? e->pte : below(2);
	e->walk_levels = below(8) ? e->walk_levels : below(16);
	e->object = below(8) ? e->object : number(e->address);
	e->object_size = below(8) ? e->object_size : 1u << below(12);
	e->number = below(8) ? e->number : below(3);
	e->strange = below(8) ? e->strange : e->nr_frames + 10 + below(5);
}

static void alter(struct incident *e)
{
	if (!below(OTHER_KIND))
		e->kind = below(NR_KINDS);
	if (!below(8))
		e->arch = below(2) ? ARCH_ARM64 : (enum arch)below(NR_ARCHES);
	alter_registers(e);
	alter_code(e);
	if (below(2))
		alter_base(e);
	alter_frames(e);
	alter_numbers(e);
	if (!below(3))
		alter_flags(e);
}

/* Adds the diagnoses of a report to a checksum. The report is the same again afterwards. */
static void mix_report(uint64_t *sum, struct triage *t, uint32_t index)
{
	struct incident *e = &t->seen.event[index];
	const struct incident kept = *e;
	static struct diagnosis v;
	struct frame frames[FRAMES];

	for (int round = 0; round < ROUNDS; round++) {
		*e = kept;
		e->frame = frames;
		e->nr_frames = kept.nr_frames < FRAMES ? kept.nr_frames : FRAMES;
		if (e->nr_frames)
			memcpy(frames, kept.frame, e->nr_frames * sizeof(frames[0]));
		alter(e);
		judge_report(t, index, &v);
		mix_diagnosis(sum, &v);
	}
	*e = kept;
}

static size_t mix_log(uint64_t *sum, const char *text)
{
	struct triage_input in = {.name = "log", .data = text, .size = strlen(text)};
	struct triage t;
	size_t reports;

	if (triage_run(&t, &in, 1))
		abort();
	reports = t.seen.n < 4 ? t.seen.n : 4; /* a log of many reports repeats itself */
	for (uint32_t i = 0; i < reports; i++)
		mix_report(sum, &t, i);
	triage_free(&t);
	return reports;
}

int main(void)
{
	struct sum sums[LOG_PARTS] = {
		{"logs 0, 8, 16 ...", SUM_BEGINS, 0x6e40f04ae82081d3},
		{"logs 1, 9, 17 ...", SUM_BEGINS, 0x6aecaea8130f0ccc},
		{"logs 2, 10, 18 ...", SUM_BEGINS, 0x5bd4659340658cf7},
		{"logs 3, 11, 19 ...", SUM_BEGINS, 0xa046eacbd97273dc},
		{"logs 4, 12, 20 ...", SUM_BEGINS, 0xfb9390644b030760},
		{"logs 5, 13, 21 ...", SUM_BEGINS, 0xc2a34a9df2262410},
		{"logs 6, 14, 22 ...", SUM_BEGINS, 0x77748a08389e5b86},
		{"logs 7, 15, 23 ...", SUM_BEGINS, 0xc96afff19247eb21},
	};
	static struct crash_logs all;
	size_t reports = 0;

	crash_logs_read(&all);
	for (size_t i = 0; i < all.n; i++)
		reports += mix_log(&sums[i % LOG_PARTS].got, all.text[i]);
	ok(reports > 100, "%zu reports of %zu logs", reports, all.n);
	are_sums(sums, NR_IN(sums));
	crash_logs_free(&all);
	return tap_done();
}
