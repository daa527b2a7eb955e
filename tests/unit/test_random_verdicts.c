// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the causes of failed calls and of fault signals, with random records. Values and limits are
 * the same few small numbers, so that very often a value is exactly at its limit, or one below or
 * above it. The test compares checksums over the verdicts and the suggested limits.
 */
#include <errno.h>
#include <signal.h>

#include "fixture.h"
#include "kept_verdicts.h"
#include "records/record_fields.h"
#include "rules/fault.h"
#include "rules/need.h"

#define CALLS	 150000 /* failed calls */
#define SIGNALS	 80000
#define PAGE	 4096ULL
#define DISTANCE 2 /* numbers of pages, fds, … lie so near to another number */

static uint64_t dice = 1;

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

static const struct record_fields *fields_of(uint32_t kind)
{
	for (size_t i = 0; i < record_fields_count; i++)
		if (record_fields[i].kind == kind)
			return &record_fields[i];
	abort();
}

/* Returns a number near `about`, in the unit of a field. Bytes are mostly whole pages. */
static uint64_t near_to(uint64_t about, const struct record_field *f)
{
	uint64_t n = about + below(2 * DISTANCE + 1) - DISTANCE;

	if (!strcmp(f->unit, "bytes"))
		n = n * PAGE + (below(8) ? 0 : below(3) - 1);
	return n;
}

static uint64_t number(uint64_t about, const struct record_field *f)
{
	switch (below(16)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return near_to(1, f);
	case 3:
		return near_to(2 * about, f);
	default:
		return near_to(about, f);
	}
}

/* Sets all numbers of a record. Fields whose name ends with one of `kept` keep their value. */
static void fill(char *record, const struct record_fields *fields, uint64_t about,
		 const char *const *kept)
{
	for (size_t i = 0; i < fields->fields; i++) {
		const struct record_field *f = &fields->field[i];
		bool keeps = f->type == VALUE_TEXT || below(3) == 0;

		for (size_t k = 0; kept[k] && !keeps; k++)
			keeps = strstr(f->name, kept[k]) != NULL;
		for (uint16_t k = 0; k < f->count && !keeps; k++) {
			uint64_t n = number(about, f);

			memcpy(record + f->offset + k * f->stride, &n, f->size);
		}
	}
}

/* Sets the bits of flags, of which mostly few are set. */
static uint64_t flags(const uint64_t *bits, size_t n)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < n; i++)
		ret |= below(4) ? 0 : bits[i];
	return ret;
}

static void set_arguments(struct refused_record *r, uint64_t about)
{
	static const uint64_t map_flags[] = {1,	     2,	     0x10,    0x20,	0x100,
					     0x2000, 0x4000, 0x40000, 0x100000, 21ULL << 26};
	static const uint64_t prots[] = {1, 2, 4};
	static const uint64_t vm_flags[] = {1,	  2,	  4,	    8,	      0x20,
					    0x40, 0x2000, 0x100000, 0x200000, 0x400000};
	static const uint64_t modes[] = {0, 0100644, 0010600, 0140777, 0040755};
	static const struct record_field bytes = {.name = "bytes", .unit = "bytes"};

	for (size_t i = 0; i < 6; i++)
		r->args[i] = below(2) ? number(about, &bytes) : below(8);
	if (below(2)) {
		r->args[2] = flags(prots, 3);
		r->args[3] = flags(map_flags, sizeof(map_flags) / sizeof(map_flags[0]));
	}
	r->range.flags_all = flags(vm_flags, sizeof(vm_flags) / sizeof(vm_flags[0]));
	r->range.flags_any =
		r->range.flags_all | flags(vm_flags, sizeof(vm_flags) / sizeof(vm_flags[0]));
	r->file.mode = modes[below(5)];
	r->counted.what = below(COUNTED_MAX + 1);
}

static uint64_t sum_of_calls(void)
{
	static const char *const kept[] = {"subject", "call", "error", "args",	"ret",
					   "flags",   "mode", "stack", "count", NULL};
	static const char *const kept_limits[] = {"page_bytes", "overcommit_memory", NULL};
	static const int errors[] = {ENOMEM, EMFILE, ENFILE, EAGAIN, EPERM,
				     ENOSPC, EINVAL, EACCES, EBADF,  0};
	static const char *const archs[] = {"x86_64", "aarch64", "riscv64"};
	struct verdict v;
	struct need need;

	sum_of_verdicts = SUM_BEGINS;
	for (int i = 0; i < CALLS; i++) {
		uint64_t about = 3 + below(6);
		int error = errors[below(below(2) ? 1 : sizeof(errors) / sizeof(errors[0]))];
		struct refused_record r =
			refused_record(7, CALL_NONE + 1 + below(CALL_MAX - 1), error);
		struct limits_record l = {.limits = tick_record(0).limits};

		fill((char *)&r, fields_of(RECORD_REFUSED), about, kept);
		fill((char *)&l, fields_of(RECORD_LIMITS), about, kept_limits);
		set_arguments(&r, about);
		l.limits.overcommit_memory = below(3);
		cause_of(&r, &l.limits, archs[below(3)], &v); /* also adds the verdict to the sum */
		need_of(&v, &l.limits, &need);
		mix_text(&sum_of_verdicts, need.limit ? need.limit->name : "");
		mix(&sum_of_verdicts, need.want);
		mix_digits(need.never);
	}
	return sum_of_verdicts;
}

static uint64_t sum_of_signals(void)
{
	static const char *const kept[] = {"subject", "signal", "code", "flags", "mode",
					   "stack",   "area",	"ip",	NULL};
	static const uint64_t vm_flags[] = {1, 2, 4, 8, 0x100, 0x400000};
	static const uint64_t errors[] = {1, 2, 4, 16};
	static const uint64_t modes[] = {0, 0100644, 0020666};
	const struct host_limits limits = tick_record(0).limits;
	struct verdict v;

	sum_of_verdicts = SUM_BEGINS;
	for (int i = 0; i < SIGNALS; i++) {
		struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
		uint64_t about = 40 + below(4);
		static const struct record_field bytes = {.name = "", .unit = "bytes"};

		fill((char *)&r, fields_of(RECORD_SIGNAL), about, kept);
		r.signal = below(3) ? SIGSEGV : SIGBUS;
		r.code = below(4) ? 1 + below(10) : SI_KERNEL;
		r.area = below(3);
		r.address = number(about, &bytes);
		r.area_start = number(about, &bytes);
		r.area_end = r.area_start + below(3) * PAGE;
		r.sp = number(about, &bytes);
		r.flags = below(4);
		r.error_code = flags(errors, 4);
		r.area_flags = flags(vm_flags, 6);
		r.above_flags = flags(vm_flags, 6);
		r.file.mode = modes[below(3)];
		r.ip_bytes = below(4) ? below(1 << 16) : 0x0f | below(256) << 8;
		fault_of(&r, &limits, &v);
		note_verdict(&v);
		mix_text(&sum_of_verdicts, fault_mapping(&r) ? fault_mapping(&r) : "");
	}
	return sum_of_verdicts;
}

/* Returns a checksum over the causes of general protection faults at every opcode. */
static uint64_t sum_of_opcodes(void)
{
	const struct host_limits limits = tick_record(0).limits;
	struct verdict v;

	sum_of_verdicts = SUM_BEGINS;
	for (uint32_t bytes = 0; bytes < 1 << 16; bytes++) {
		struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, SECOND);

		r.signal = SIGSEGV;
		r.code = SI_KERNEL;
		r.ip_bytes = bytes;
		fault_of(&r, &limits, &v);
		note_verdict(&v);
	}
	return sum_of_verdicts;
}

int main(void)
{
	const struct sum sums[] = {
		{"causes of failed calls", sum_of_calls(), 0xfaa174c7c804786f},
		{"causes of fault signals", sum_of_signals(), 0x7802511f18b5c781},
		{"causes of faults at each opcode", sum_of_opcodes(), 0x891b4b4143b65cd6},
	};

	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
