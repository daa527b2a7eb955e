// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adds flight recorder records to a diagnosis: earlier events, and the owner of the address. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/units.h"
#include "triage/judge.h"

#define NEAR_SECONDS   10 /* maximum seconds between a crash in the log and its fault record */
#define MODULE_SECONDS 600
#define POINTS_OWNED   90
#define POINTS_GONE    95
#define POINTS_PANIC   45
#define FIELD	       160
#define SITES_MAX      256 /* maximum number of code locations with recovered kernel faults */

static double seconds_of(const struct bb_record *r)
{
	return r->boot_ns / 1e9;
}

static bool is_of(const struct bb_found *f, const struct bb_record *r, int boot)
{
	return !memcmp(r->boot_id, f->boot[boot].id, BB_BOOT_BYTES);
}

static bool is_crash_record(const struct bb_record *r)
{
	return r->class == BB_OOPS || r->class == BB_PANIC ||
	       (r->class == BB_FAULT && r->severity == BB_CRITICAL);
}

/*
 * Returns the boot with a fault record at the time of the crash. If that time is not known, returns
 * the boot of the last fault record. Returns -1 if there is no such boot.
 */
static int boot_of(const struct triage *t, const struct bb_found *f)
{
	const struct incident *e = t->primary >= 0 ? t->verdict[t->primary].event : NULL;
	int last = -1, near = -1;

	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];
		int boot = bb_boot_find(f, r->boot_id);

		if (!is_crash_record(r) && r->class != BB_FAULT)
			continue;
		last = boot;
		if (e && e->timed && fabs(seconds_of(r) - e->seconds) < NEAR_SECONDS)
			near = boot;
	}
	if (e && e->timed)
		return near;
	return last >= 0 ? last : (int)f->boots - 1;
}

/* Returns the time of the crash by the flight recorder's clock, in seconds since boot. */
static double crash_of(const struct triage *t, const struct bb_found *f, int boot)
{
	const struct incident *e = t->primary >= 0 ? t->verdict[t->primary].event : NULL;
	double at = -1;

	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		if (!is_of(f, r, boot) || (!is_crash_record(r) && r->class != BB_FAULT))
			continue;
		if (at < 0 || !e)
			at = seconds_of(r);
		else if (e->timed && fabs(seconds_of(r) - e->seconds) < fabs(at - e->seconds))
			at = seconds_of(r);
	}
	return at >= 0 ? at : e && e->timed ? e->seconds : f->boot[boot].alive_boot_ns / 1e9;
}

static const char *field(const struct bb_record *r, const char *key, char ret[FIELD])
{
	if (!bb_get(r, key, ret, FIELD))
		ret[0] = 0;
	return ret;
}

static void put(char *to, size_t size, const char *format, const char *a)
{
	size_t used = strlen(to);

	if (*a && used < size)
		snprintf(to + used, size - used, format, a);
}

static void write_place(char *to, size_t size, const struct bb_record *r, const char *format,
			const char *symbol_key, const char *module_key)
{
	char symbol[FIELD], module[FIELD];

	put(to, size, format, field(r, symbol_key, symbol));
	if (*symbol)
		put(to, size, " [%s]", field(r, module_key, module));
}

static void write_area(char *to, size_t size, const struct bb_record *r)
{
	char value[FIELD];
	uint64_t us;

	put(to, size, "; in a range of %s", field(r, "area", value));
	if (!*value)
		return;
	write_place(to, size, r, " that %s", "area_owner", "area_module");
	write_place(to, size, r, " had, released by %s", "area_freer", "freer_module");
	if (bb_get_u64(r, "area_freed_us_ago", &us)) {
		snprintf(value, sizeof(value), "%.3f", us / 1e3);
		put(to, size, " %s ms before", value);
	}
}

static void write_fault(char *to, size_t size, const struct bb_record *r)
{
	char value[FIELD];
	uint64_t ms;

	put(to, size, "%s", field(r, "verdict", value));
	put(to, size, " %s", field(r, "access", value));
	put(to, size, " of %s", field(r, "address", value));
	write_place(to, size, r, " at %s", "symbol", "module");
	write_place(to, size, r, ", for %s", "by", "by_module");
	put(to, size, "; the address was of module %s", field(r, "freed_module", value));
	if (*value && bb_get_u64(r, "unloaded_ms_ago", &ms)) {
		snprintf(value, sizeof(value), "%.3f", ms / 1e3);
		put(to, size, ", unloaded %s s before", value);
	}
	write_area(to, size, r);
}

static void write_module(char *to, size_t size, const struct bb_record *r)
{
	char value[FIELD];

	put(to, size, "module %s", field(r, "module", value));
	put(to, size, " %s", field(r, "event", value));
}

static struct recorded_note *note_add(struct recorded *c, enum bb_class class, double before)
{
	struct recorded_note *n;

	if (c->notes == RECORDED_MAX) { /* no room is left: drop the oldest note */
		memmove(&c->note[0], &c->note[1], sizeof(c->note) - sizeof(c->note[0]));
		c->notes--;
		c->left_out++;
	}
	n = &c->note[c->notes++];
	*n = (struct recorded_note){.class = class, .before = before};
	return n;
}

/* The recovered kernel faults of one code location. */
struct site {
	uint64_t symbol; /* hash of the code location's symbol */
	size_t last;	 /* index of the location's last record before the crash; SIZE_MAX: none */
	double first;	 /* time of the location's first fault, in seconds since boot */
	uint64_t count;
};

struct sites {
	struct site site[SITES_MAX];
	size_t n;
};

static struct site *site_find(struct sites *s, const struct bb_record *r)
{
	char symbol[FIELD];
	uint64_t hash;

	field(r, "symbol", symbol);
	hash = hash64_bytes(HASH64_BEGIN, symbol, strlen(symbol));
	for (size_t i = 0; i < s->n; i++)
		if (s->site[i].symbol == hash)
			return &s->site[i];
	if (s->n == SITES_MAX)
		return NULL;
	s->site[s->n] = (struct site){.symbol = hash, .last = SIZE_MAX, .first = seconds_of(r)};
	return &s->site[s->n++];
}

/*
 * Collects recovered faults by code location, the newest record first. If the table is full,
 * further locations are left out. They are older than the stored ones, and there would be no room
 * for their notes.
 */
static void sites_find(struct sites *s, struct recorded *c, const struct bb_found *f, int boot,
		       double crash)
{
	s->n = 0;
	for (size_t i = f->n; i--;) {
		const struct bb_record *r = &f->record[i];
		struct site *one;

		if (r->class != BB_FIXUP || !is_of(f, r, boot))
			continue;
		one = site_find(s, r);
		if (!one) {
			c->left_out++;
			continue;
		}
		if (one->last == SIZE_MAX && seconds_of(r) <= crash)
			one->last = i;
		one->count = r->count > one->count ? r->count : one->count;
		one->first = seconds_of(r) < one->first ? seconds_of(r) : one->first;
	}
}

/* Writes one note for all recovered faults of a code location, with the time of the last one. */
static void note_fixups(struct recorded *c, const struct bb_record *r, const struct site *one,
			double crash)
{
	struct recorded_note *n = note_add(c, BB_FIXUP, crash - seconds_of(r));
	char text[64];

	snprintf(n->text, sizeof(n->text), "%" PRIu64 " absorbed bad %s", one->count,
		 as_words(one->count, "access{|es}").s);
	write_place(n->text, sizeof(n->text), r, " at one site, %s", "symbol", "module");
	write_place(n->text, sizeof(n->text), r, ", for %s", "by", "by_module");
	snprintf(text, sizeof(text), "%.1f", crash - one->first);
	put(n->text, sizeof(n->text), ", in %s s before", text);
	c->absorbed += one->count;
}

static void note_site(struct recorded *c, const struct sites *s, const struct bb_found *f, size_t i,
		      double crash)
{
	for (size_t k = 0; k < s->n; k++)
		if (s->site[k].last == i)
			note_fixups(c, &f->record[i], &s->site[k], crash);
}

static void note_one(struct recorded *c, const struct sites *s, const struct bb_found *f, size_t i,
		     double crash)
{
	const struct bb_record *r = &f->record[i];
	double before = crash - seconds_of(r);
	struct recorded_note *n;
	char value[FIELD];

	switch (r->class) {
	case BB_FIXUP:
		note_site(c, s, f, i, crash);
		return;
	case BB_FAULT:
		n = note_add(c, r->class, before);
		write_fault(n->text, sizeof(n->text), r);
		c->fatal |= r->severity == BB_CRITICAL;
		return;
	case BB_MODULE:
		if (before < 0 || before > MODULE_SECONDS || !*field(r, "event", value))
			return;
		n = note_add(c, r->class, before);
		write_module(n->text, sizeof(n->text), r);
		return;
	case BB_REPORT:
	case BB_ALLOCATION:
	case BB_HARDWARE:
	case BB_IOMMU:
	case BB_TAINT:
	case BB_GPU:
	case BB_OOM:
		if (before < 0)
			return;
		n = note_add(c, r->class, before);
		snprintf(n->text, sizeof(n->text), "%s: ", bb_class_name(r->class));
		if (!bb_get(r, "line", n->text + strlen(n->text),
			    sizeof(n->text) - strlen(n->text)))
			snprintf(n->text + strlen(n->text), sizeof(n->text) - strlen(n->text),
				 "%.300s", r->text);
		return;
	default:
		return;
	}
}

/* Finds the suspect module in a fault record: it owned the address, freed it, or was unloaded. */
static void accuse(struct recorded *c, const struct bb_record *r)
{
	char module[FIELD];

	if (bb_get(r, "freed_module", module, sizeof(module)))
		snprintf(c->why, sizeof(c->why), "the address was its own until it was unloaded");
	else if (bb_get(r, "freer_module", module, sizeof(module)))
		snprintf(c->why, sizeof(c->why), "it had given the range back");
	else if (bb_get(r, "area_module", module, sizeof(module)))
		snprintf(c->why, sizeof(c->why), "the range was its own");
	else
		return;
	c->points = strstr(c->why, "unloaded") ? POINTS_GONE : POINTS_OWNED;
	snprintf(c->module, sizeof(c->module), "%.63s", module);
}

/* If a panic has no suspect, takes the module on the stack in the panic's record. */
static void accuse_caller(struct recorded *c, const struct diagnosis *v, const struct bb_record *r)
{
	char module[FIELD];

	if (*c->module || !v || !v->culprit_unknown ||
	    !bb_get(r, "by_module", module, sizeof(module)))
		return;
	c->points = POINTS_PANIC;
	snprintf(c->why, sizeof(c->why), "it is on the stack of the panic");
	snprintf(c->module, sizeof(c->module), "%.63s", module);
}

static void set_mechanism(struct diagnosis *v, enum mechanism m, const char *why)
{
	if (v->mechanism == m)
		return;
	v->mechanism = m;
	v->confidence = CONFIDENCE_HIGH;
	rule_fired(v, "K03", "%s", why);
	snprintf(v->text, sizeof(v->text), "%s", mechanism_meaning(m));
	judge_bucket(v);
}

static bool is_vague(enum mechanism m)
{
	return m == MECH_WILD_POINTER || m == MECH_VMALLOC_UAF || m == MECH_MMIO_UAF ||
	       m == MECH_VMALLOC_GUARD || m == MECH_AS_REPORTED || m == MECH_WILD_CALL ||
	       m == MECH_FREED_MODULE || m == MECH_FREED_TEXT || m == MECH_BIT_FLIP;
}

/* Replaces a vague mechanism: the record shows what was at the address before the fault. */
static void sharpen(struct diagnosis *v, const struct bb_record *r)
{
	char value[FIELD];

	if (!is_vague(v->mechanism))
		return;
	if (bb_get(r, "freed_module", value, sizeof(value)))
		set_mechanism(v, v->access == ACCESS_EXEC ? MECH_FREED_TEXT : MECH_FREED_MODULE,
			      "the record has whose the address was, and when it went");
	else if (bb_get(r, "area", value, sizeof(value)))
		set_mechanism(v, !strcmp(value, "ioremap") ? MECH_MMIO_UAF : MECH_VMALLOC_UAF,
			      "the record has who gave the range back");
}

static void take_fault(struct triage *t, const struct bb_record *r)
{
	struct diagnosis *v = t->primary >= 0 ? &t->verdict[t->primary] : NULL;
	uint64_t address;

	if (r->class == BB_REGISTERS) {
		snprintf(t->recorded.registers, sizeof(t->recorded.registers), "%.399s", r->text);
		return;
	}
	if (v && v->has_address && bb_get_u64(r, "address", &address) && address != v->address)
		return; /* this record is about another fault */
	accuse(&t->recorded, r);
	if (v)
		sharpen(v, r);
}

static void add_reasons(struct triage *t)
{
	struct recorded *c = &t->recorded;
	struct diagnosis *v = t->primary >= 0 ? &t->verdict[t->primary] : NULL;

	if (v && *c->module)
		suspect_accuse(v, str_of(c->module), c->points, c->why);
}

void triage_join(struct triage *t, const struct bb_found *f)
{
	struct recorded *c = &t->recorded;
	int boot = f->n ? boot_of(t, f) : -1;
	double crash, alive = -1;
	struct sites sites;

	c->torn = f->torn;
	c->silent = -1;
	if (boot < 0)
		return;
	c->any = true;
	crash = crash_of(t, f, boot);
	crash_signs_find(&c->crash_signs, f, boot);
	sites_find(&sites, c, f, boot, crash);
	for (int i = 0; i < BB_BOOT_BYTES; i++)
		snprintf(c->boot_id + 2 * i, 3, "%02x", f->boot[boot].id[i]);
	for (size_t i = 0; i < f->n; i++) {
		const struct bb_record *r = &f->record[i];

		if (!is_of(f, r, boot))
			continue;
		if (seconds_of(r) <= crash && seconds_of(r) > alive)
			alive = seconds_of(r);
		note_one(c, &sites, f, i, crash);
		if ((r->class == BB_FAULT || r->class == BB_REGISTERS) &&
		    fabs(seconds_of(r) - crash) < NEAR_SECONDS)
			take_fault(t, r);
		if (r->class == BB_PANIC)
			accuse_caller(c, t->primary >= 0 ? &t->verdict[t->primary] : NULL, r);
	}
	if (alive >= 0)
		c->silent = crash - alive;
	add_reasons(t);
}
