// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/crash_signs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "triage/address.h"

#define NEWCOMER       "K12"
#define FIELD	       160
#define NULL_BYTES     65536 /* maximum offset in bytes of a member accessed through NULL */
#define DRIVER_NULL_NS 60000000000ull
#define NEW_MODULE_NS  600000000000ull
#define TAINT_BAD_PAGE (1ull << 5)
#define TAINTS_OF_MODULE                                                                           \
	0x400b003ull /* taint flags P F … O E: Documentation/admin-guide/tainted-kernels.rst */

/* A record under examination, with fields that several rules need. */
struct look {
	const struct bb_found *f;
	size_t at;
	const struct bb_record *r;
	bool access; /* the record is of a bad memory access, fatal or recovered */
	uint64_t address;
	char module[CRASH_SIGN_PLACE];
	char line[BB_TEXT_MAX + 1]; /* log line that the record quotes; empty: none */
};

static bool has(const struct bb_record *r, const char *key)
{
	char value[FIELD];

	return bb_get(r, key, value, sizeof(value));
}

static void take(const struct bb_record *r, const char *key, char *ret, size_t size)
{
	char value[FIELD];

	if (bb_get(r, key, value, sizeof(value)))
		snprintf(ret, size, "%.*s", (int)size - 1, value);
}

static bool says(const struct look *l, const char *text)
{
	return strstr(l->line, text) != NULL;
}

/* ---- rules: each returns whether a record matches, and sets the responsible module ---- */

static bool survived(struct look *l, enum bb_severity *severity)
{
	return l->r->class == BB_FIXUP;
}

static bool died(struct look *l, enum bb_severity *severity)
{
	*severity = BB_CRITICAL;
	return (l->r->class == BB_FAULT && l->r->severity == BB_CRITICAL) || l->r->class == BB_OOPS;
}

static bool was_unloaded(struct look *l, enum bb_severity *severity)
{
	take(l->r, "freed_module", l->module, sizeof(l->module));
	*severity = BB_CRITICAL;
	return l->access && has(l->r, "freed_module");
}

static bool is_poison(struct look *l, enum bb_severity *severity)
{
	static const struct incident any = {.arch = ARCH_X86_64};
	enum poison p = l->access ? poison_of(&any, l->address) : POISON_NONE;

	*severity = BB_CRITICAL;
	return p != POISON_NONE && p != POISON_TEXT;
}

static bool was_given_back(struct look *l, enum bb_severity *severity)
{
	take(l->r, "area_module", l->module, sizeof(l->module));
	take(l->r, "freer_module", l->module, sizeof(l->module));
	*severity = BB_CRITICAL;
	return l->access && has(l->r, "area");
}

/* Returns whether the kernel reported corruption. (There are separate findings for lockups.) */
static bool was_reported(struct look *l, enum bb_severity *severity)
{
	if (l->r->class != BB_REPORT || says(l, "BUG: Bad "))
		return false;
	*severity = l->r->severity;
	return !*l->line || l->r->severity == BB_CRITICAL || says(l, "WARNING: ") ||
	       says(l, "refcount_t: ") || says(l, "UBSAN: ");
}

static bool books_are_bad(struct look *l, enum bb_severity *severity)
{
	uint64_t added = 0;

	*severity = BB_CRITICAL;
	if (l->r->class == BB_TAINT && bb_get_u64(l->r, "added", &added))
		return added & TAINT_BAD_PAGE;
	return l->r->class == BB_REPORT && says(l, "BUG: Bad ");
}

/* Returns whether NULL was dereferenced within a minute after an allocation had failed. */
static bool got_nothing(struct look *l, enum bb_severity *severity)
{
	if (!l->access || l->address >= NULL_BYTES)
		return false;
	for (size_t i = l->at; i--;) {
		const struct bb_record *before = &l->f->record[i];

		if (memcmp(before->boot_id, l->r->boot_id, BB_BOOT_BYTES) != 0 ||
		    l->r->boot_ns - before->boot_ns > DRIVER_NULL_NS)
			return false;
		if (before->class == BB_ALLOCATION)
			return true;
	}
	return false;
}

static bool stack_is_full(struct look *l, enum bb_severity *severity)
{
	*severity = BB_CRITICAL;
	return says(l, "stack guard page") || says(l, "kernel stack overflow") ||
	       says(l, "Insufficient stack space") || says(l, "Thread overran stack");
}

static bool gpu_faulted(struct look *l, enum bb_severity *severity)
{
	return l->r->class == BB_GPU;
}

static bool hardware_erred(struct look *l, enum bb_severity *severity)
{
	*severity = l->r->severity;
	return l->r->class == BB_HARDWARE;
}

static const struct {
	const char *id;
	bool (*is)(struct look *l, enum bb_severity *severity);
} rules[] = {
	{"K01", survived},	{"K02", died},		 {"K03", was_unloaded},
	{"K04", is_poison},	{"K05", was_given_back}, {"K06", was_reported},
	{"K07", books_are_bad}, {"K08", got_nothing},	 {"K09", stack_is_full},
	{"K10", gpu_faulted},	{"K11", hardware_erred},
};

/* ---- findings from records that match a rule ---- */

static void describe(const struct look *l, char *ret, size_t size)
{
	char symbol[FIELD] = "", access[FIELD] = "access";

	if (*l->line) {
		snprintf(ret, size, "%.*s", (int)size - 1, l->line);
		return;
	}
	if (!l->access) {
		snprintf(ret, size, "%.*s", (int)size - 1, l->r->text);
		return;
	}
	take(l->r, "access", access, sizeof(access));
	take(l->r, "symbol", symbol, sizeof(symbol));
	snprintf(ret, size, "%s of 0x%" PRIx64 "%s%s", access, l->address, *symbol ? " at " : "",
		 symbol);
}

static struct crash_sign *crash_sign_of(struct crash_signs *p, const char *id, const char *place)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->one[i].id, id) && !strcmp(p->one[i].place, place))
			return &p->one[i];
	if (p->n == PORTENTS_MAX) {
		p->lost++;
		return NULL;
	}
	p->one[p->n] = (struct crash_sign){.id = id};
	snprintf(p->one[p->n].place, CRASH_SIGN_PLACE, "%s", place);
	return &p->one[p->n++];
}

static void add(struct crash_signs *p, const char *id, const struct look *l,
		enum bb_severity severity)
{
	struct crash_sign *one = crash_sign_of(p, id, l->module);
	/*
	 * The count in a record of recovered faults is the total of the code location so far, so
	 * counts of several records are not added.
	 */
	bool sums = l->r->class == BB_FIXUP;

	if (!one)
		return;
	if (!one->count || severity > one->severity)
		describe(l, one->text, sizeof(one->text));
	if (!one->count)
		one->first_ns = l->r->boot_ns;
	if (severity > one->severity)
		one->severity = severity;
	one->last_ns = l->r->boot_ns;
	one->last_wall_ns = l->r->wall_ns;
	if (!sums)
		one->count++;
	else if (l->r->count > one->count)
		one->count = l->r->count;
}

static void look_at(struct look *l)
{
	const struct bb_record *r = l->r;

	l->access = r->class == BB_FAULT || r->class == BB_FIXUP;
	l->address = 0;
	l->access &= bb_get_u64(r, "address", &l->address);
	l->module[0] = l->line[0] = 0;
	take(r, "by_module", l->module, sizeof(l->module));
	take(r, "module", l->module, sizeof(l->module));
	bb_get(r, "line", l->line, sizeof(l->line));
}

/* Adds findings for tainting modules that were loaded up to 10 minutes before the first sign. */
static void blame_newcomers(struct crash_signs *p, const struct bb_found *f, const uint8_t *boot_id)
{
	uint64_t first = UINT64_MAX, taints;
	char event[FIELD];

	for (size_t i = 0; i < p->n; i++)
		if (p->one[i].severity > BB_INFO && p->one[i].first_ns < first)
			first = p->one[i].first_ns;
	for (size_t i = 0; i < f->n && first != UINT64_MAX; i++) {
		struct look l = {.f = f, .at = i, .r = &f->record[i]};

		if (memcmp(l.r->boot_id, boot_id, BB_BOOT_BYTES) != 0 || l.r->class != BB_MODULE ||
		    l.r->boot_ns > first || first - l.r->boot_ns > NEW_MODULE_NS ||
		    !bb_get(l.r, "event", event, sizeof(event)) || strcmp(event, "loaded") != 0 ||
		    !bb_get_u64(l.r, "taints", &taints) || !(taints & TAINTS_OF_MODULE))
			continue;
		look_at(&l);
		snprintf(l.line, sizeof(l.line), "loaded %.1f s before the first sign of trouble",
			 (first - l.r->boot_ns) / 1e9);
		add(p, NEWCOMER, &l, BB_INFO);
	}
}

void crash_signs_take(struct crash_signs *p, const struct bb_found *f, size_t at)
{
	struct look seen = {.f = f, .at = at, .r = &f->record[at]};

	look_at(&seen);
	for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++) {
		enum bb_severity severity = BB_WARNING;
		struct look l = seen; /* a copy, because each rule may set its module */

		if (rules[k].is(&l, &severity))
			add(p, rules[k].id, &l, severity);
	}
}

bool crash_signs_flag(const char *id)
{
	for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++)
		if (!strcmp(rules[k].id, id))
			return true;
	return !strcmp(id, NEWCOMER);
}

static int by_id(const void *a, const void *b)
{
	const struct crash_sign *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ?: (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

void crash_signs_find(struct crash_signs *ret, const struct bb_found *f, size_t boot)
{
	const uint8_t *boot_id = f->boot[boot].id;

	*ret = (struct crash_signs){};
	memcpy(ret->boot_id, boot_id, BB_BOOT_BYTES);
	for (size_t i = 0; i < f->n; i++)
		if (!memcmp(f->record[i].boot_id, boot_id, BB_BOOT_BYTES))
			crash_signs_take(ret, f, i);
	blame_newcomers(ret, f, boot_id);
	qsort(ret->one, ret->n, sizeof(ret->one[0]), by_id);
}
