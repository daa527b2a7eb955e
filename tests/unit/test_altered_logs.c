// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests triage with the crash logs of tests/triage, each altered at random: lines are missing,
 * repeated or come from another log, and numbers and functions have other values. The test compares
 * checksums over all facts and diagnoses, and over the outputs, but over no words of triage.
 *
 * The test must run at the top of the source tree. If the environment variable
 * FS_SHOW_EXPECTED=FILE is set, the altered logs and their checksums are appended to FILE.
 */
#include <stdlib.h>

#include "crash_logs.h"
#include "render/crash/crash_view.h"
#include "triage/triage.h"
#include "triage_sums.h"

#define ROUNDS	   4800
#define PER_SUM	   600 /* rounds of one checksum */
#define PER_OUTPUT 3   /* one round of so many also writes the verdict */
#define LINES_MAX  1000

/* The lines of a log. */
struct log {
	size_t lines;
	char *line[LINES_MAX];
};

static struct log logs[CRASH_LOGS_MAX];
static size_t nr_logs;
static uint64_t dice = 20261123;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

/* Splits a log into lines. */
static void split(struct log *log, char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line && log->lines < LINES_MAX;
	     line = strtok_r(NULL, "\n", &save))
		log->line[log->lines++] = line;
}

/* Values at which an address, an error code or another number of a log changes its meaning. */
static const char *const bounds[] = {
	"0000000000000000", "0000000000000008", "0000000000000fff", "0000000000001000",
	"000000000000ffff", "0000000000010000", "00007ffffffff000", "0000800000000000",
	"dead000000000100", "dead000000000122", "6b6b6b6b6b6b6b6b", "6b6b6b6b6b6b6b7b",
	"5a5a5a5a5a5a5a5a", "ffff888000000000", "ffffc90000000000", "dffffc0000000001",
	"ffffffff81000000", "ffffffffc0000000", "ffffffffffffffea", "fffffffffffff000",
	"ffffffffffffffff", "0096000004",	"0096000044",	    "0086000004",
};

/* Functions to which triage gives a meaning, and others. */
static const char *const functions[] = {
	"panic",
	"kfree",
	"memcpy",
	"strlen",
	"__list_del_entry_valid",
	"kthread",
	"ret_from_fork",
	"do_idle",
	"schedule",
	"__x64_sys_ioctl",
	"ksys_write",
	"vfs_read",
	"asm_exc_nmi",
	"do_exit",
	"worker_thread",
	"_raw_spin_lock",
	"list_add",
	"call_timer_fn",
	"rcu_do_batch",
	"process_one_work",
	"nic_poll",
	"demo_write",
	"kasan_report",
	"ext4_readdir",
	"blocking_notifier_call_chain",
};

static bool is_word(char c)
{
	return c &&
	       (is_hex_digit(c) || strchr("ghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ", c));
}

/* Adds a hexadecimal number of `n` digits, which may be altered. */
static void put_number(struct buf *b, const char *s, size_t n)
{
	const char *bound = bounds[below(sizeof(bounds) / sizeof(bounds[0]))];
	size_t len = strlen(bound), at = b->len;
	uint64_t how = below(16);

	buf_add(b, s, n);
	if (how == 0 && n >= 4)
		memcpy(b->s + at, bound + (n < len ? len - n : 0), n < len ? n : len);
	else if (how == 1)
		b->s[at + below(n)] = "0123456789abcdef"[below(16)];
}

/* Adds a line in which some numbers and functions are altered. */
static void put_altered(struct buf *b, const char *s)
{
	while (*s) {
		size_t hex = 0, word = 0;

		while (is_hex_digit(s[hex]))
			hex++;
		while (is_word(s[word]))
			word++;
		if (hex && hex == word) {
			put_number(b, s, hex);
		} else if (word && !strncmp(s + word, "+0x", 3) && !below(12)) {
			buf_puts(b, functions[below(sizeof(functions) / sizeof(functions[0]))]);
		} else {
			word = word ?: 1;
			buf_add(b, s, word);
		}
		s += hex && hex == word ? hex : word;
	}
}

static const char *any_line(void)
{
	const struct log *log = &logs[below(nr_logs)];

	return log->lines ? log->line[below(log->lines)] : "";
}

/* Writes an altered log. */
static void alter(struct buf *b, const struct log *log)
{
	uint64_t missing = 4 + below(60), foreign = 4 + below(200), kept = below(4);
	size_t from = below(6) ? 0 : below(log->lines + 1);

	for (size_t i = from; i < log->lines; i++) {
		if (!below(missing))
			continue;
		if (!below(foreign)) {
			put_altered(b, any_line());
			buf_putc(b, '\n');
		}
		if (kept)
			put_altered(b, log->line[i]);
		else
			buf_puts(b, log->line[i]);
		buf_putc(b, '\n');
		if (!below(200))
			put_altered(b, log->line[i]);
	}
}

static void mix_frame(uint64_t *sum, const struct frame *f)
{
	mix_str(sum, f->function);
	mix_str(sum, f->module);
	mix(sum, f->address);
	mix(sum, (uint64_t)f->offset << 32 | f->size);
	mix(sum, (uint64_t)f->line << 8 | f->part);
	mix(sum, f->unreliable | f->inlined << 1 | f->has_address << 2 | f->irq << 3);
}

static void mix_registers(uint64_t *sum, const struct incident *e)
{
	mix(sum, e->regs.known);
	for (int i = 0; i < REGS_MAX; i++)
		if (e->regs.known >> i & 1)
			mix(sum, e->regs.value[i]);
	mix(sum, e->has_sp ? e->sp : 1);
	mix(sum, e->has_flags ? e->flags : 1);
	mix(sum, e->code_bytes << 8 | (e->has_code_at ? e->code_at : 255));
	for (int i = 0; i < e->code_bytes; i++)
		mix(sum, e->code[i]);
}

static void mix_facts(uint64_t *sum, const struct incident *e)
{
	const struct str texts[] = {e->detail, e->place,  e->note,     e->said,	     e->comm,
				    e->taint,  e->kernel, e->hardware, e->workqueue, e->bug_task};
	const uint64_t numbers[] = {e->kind,
				    e->first,
				    e->last,
				    e->timed ? e->seconds * 1000 : 1,
				    e->arch,
				    e->fatal | e->consequence << 1 | e->ended << 2 |
					    e->headless << 3 | e->panicked << 4,
				    e->has_address ? e->address : 1,
				    e->access,
				    e->size,
				    e->has_error ? e->error : 1,
				    e->has_esr,
				    e->number,
				    e->has_range ? e->range_low ^ e->range_high << 1 : 1,
				    e->has_walk ? e->pgd ^ e->pud << 1 ^ e->pmd << 2 ^ e->pte << 3
						: 1,
				    e->has_walk_address ? e->walk_address : 1,
				    e->walk_levels,
				    e->has_object ? e->object ^ e->object_size : 1,
				    e->has_cr2 ? e->cr2 : 1,
				    e->has_weak_cr2 ? e->weak_cr2 : 1,
				    e->has_cpu ? e->cpu : 9999,
				    e->has_pid ? e->pid : 1,
				    e->nr_frames,
				    e->nr_modules};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		mix(sum, numbers[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		mix_str(sum, texts[i]);
	mix_registers(sum, e);
	if (e->has_ip)
		mix_frame(sum, &e->ip);
	if (e->has_link)
		mix_frame(sum, &e->link);
	for (uint32_t i = 0; i < e->nr_frames; i++)
		mix_frame(sum, &e->frame[i]);
	for (uint32_t i = 0; i < e->nr_modules; i++) {
		const struct module *m = &e->module[i];

		mix_str(sum, m->name);
		mix_str(sum, m->flags);
		mix(sum, m->loading | m->unloading << 1 | m->gone << 2 | m->cut << 3);
	}
	for (uint32_t i = 0; i < e->nr_stated; i++)
		mix(sum, e->stated[i]);
}

/* Writes the verdict in each format, in a style that depends on the round. */
static void mix_outputs(uint64_t *sum, const struct triage *t, int round)
{
	static const int widths[] = {60, 80, 100, 160};
	static const char *const names[] = {"log"};
	static const struct buf no_gaps;
	const struct view v = {
		.width = widths[round / 2 % 4], .unicode = round % 3, .colour = round % 5 == 0};
	const struct triage_view tv = {.v = &v,
				       .name = names,
				       .names = 1,
				       .explain = round % 4 < 2,
				       .redact = round % 7 < 3,
				       .gaps = &no_gaps};
	struct buf b = {};

	triage_text(&b, &tv, t);
	triage_json(&b, &tv, t);
	triage_markdown(&b, &tv, t);
	if (b.failed)
		abort();
	mix_shape(sum, b.s, b.len);
	buf_free(&b);
}

static uint64_t sum_of(const struct buf *b, int round, uint64_t *sum_of_outputs)
{
	struct triage_input in = {.name = "log", .data = b->s ? b->s : "", .size = b->len};
	uint64_t sum = SUM_BEGINS;
	struct triage t;

	if (triage_run(&t, &in, 1))
		abort();
	mix(&sum, t.primary);
	mix(&sum, t.seen.unknown);
	for (size_t i = 0; i < t.seen.n; i++)
		mix_facts(&sum, &t.seen.event[i]);
	for (uint32_t i = 0; i < t.verdicts; i++)
		mix_diagnosis(&sum, &t.verdict[i]);
	if (round % PER_OUTPUT == 0)
		mix_outputs(sum_of_outputs, &t, round / PER_OUTPUT);
	triage_free(&t);
	return sum;
}

static void show(int round, const struct buf *b, uint64_t sum)
{
	const char *path = getenv("FS_SHOW_EXPECTED");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "== round %d: 0x%016" PRIx64 "\n%s", round, sum, b->s ? b->s : "");
	fclose(file);
}

int main(void)
{
	static struct crash_logs texts;
	struct sum sums[] = {
		{"rounds 0 to 599", SUM_BEGINS, 0xc947cef666eba832},
		{"rounds 600 to 1199", SUM_BEGINS, 0xe5572c34867464db},
		{"rounds 1200 to 1799", SUM_BEGINS, 0xdedc9ca8de303170},
		{"rounds 1800 to 2399", SUM_BEGINS, 0x959b5d2623b67720},
		{"rounds 2400 to 2999", SUM_BEGINS, 0xa1fc902336f058a0},
		{"rounds 3000 to 3599", SUM_BEGINS, 0x0e3e9a367e90dd42},
		{"rounds 3600 to 4199", SUM_BEGINS, 0x3b4a04a4b19ed3ee},
		{"rounds 4200 to 4799", SUM_BEGINS, 0x06637658ebebe4ec},
		{"marks of outputs", SUM_BEGINS, 0xa9269e74b38a44b2},
	};

	crash_logs_read(&texts);
	nr_logs = texts.n;
	for (size_t i = 0; i < nr_logs; i++)
		split(&logs[i], texts.text[i]);
	if (!ok(nr_logs > 100, "%zu crash logs", nr_logs))
		return tap_done();
	for (int round = 0; round < ROUNDS; round++) {
		struct buf b = {};
		uint64_t sum;

		alter(&b, &logs[round % nr_logs]);
		sum = sum_of(&b, round, &sums[ROUNDS / PER_SUM].got);
		mix(&sums[round / PER_SUM].got, sum);
		show(round, &b, sum);
		buf_free(&b);
	}
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	crash_logs_free(&texts);
	return tap_done();
}
