// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests findings K01 to K12, for which records of the flight recorder suffice. */
#include "tap.h"
#include "triage/crash_signs.h"

#define BOOT_ID "11112222-3333-4444-5555-666677778888"

struct told {
	struct bb_found f;
	struct crash_signs p;
};

static struct bb_record of(enum bb_class class, enum bb_severity severity)
{
	return (struct bb_record){.class = class, .severity = severity, .count = 1};
}

static void add(struct told *t, struct bb_record r, double seconds)
{
	r.sequence = t->f.n + 1;
	r.boot_ns = seconds * 1e9;
	bb_boot_id(BOOT_ID, r.boot_id);
	bb_found_add(&t->f, &r);
}

static void line(struct told *t, enum bb_class class, enum bb_severity severity, const char *text,
		 double seconds)
{
	struct bb_record r = of(class, severity);

	bb_put(&r, "line", text);
	add(t, r, seconds);
}

static struct bb_record fault(enum bb_severity severity, uint64_t address, const char *module)
{
	struct bb_record r = of(BB_FAULT, severity);

	bb_put(&r, "access", "read");
	bb_put_hex(&r, "address", address);
	bb_put(&r, "symbol", "lab_get+0xe");
	bb_put(&r, "module", module);
	return r;
}

/* Checks the ids of all findings that the records cause. Deletes the records afterwards. */
static void is_ids(struct told *t, const char *ids, const char *name)
{
	char found[8 * PORTENTS_MAX] = "";

	bb_found_settle(&t->f);
	crash_signs_find(&t->p, &t->f, 0);
	for (size_t i = 0; i < t->p.n; i++) {
		strcat(found, i ? " " : "");
		strcat(found, t->p.one[i].id);
	}
	is_str(found, ids, name);
	bb_found_free(&t->f);
}

static void test_accesses(void)
{
	static struct told t;
	struct bb_record r = of(BB_FIXUP, BB_WARNING);

	bb_put_hex(&r, "address", 0xffffc90000010000);
	bb_put(&r, "module", "lab");
	r.count = 3;
	add(&t, r, 5);
	r.count = 65;
	add(&t, r, 6);
	is_ids(&t, "K01", "near misses");
	ok(t.p.n && t.p.one[0].count == 65 && t.p.one[0].first_ns == 5000000000 &&
		   !strcmp(t.p.one[0].place, "lab"),
	   "with their sum, since when, and whose");

	add(&t, fault(BB_WARNING, 0xffffc90000010000, "lab"), 5);
	is_ids(&t, "", "what may yet be made good is none");
	add(&t, fault(BB_CRITICAL, 0x40, "lab"), 5);
	is_ids(&t, "K02", "a fatal fault");

	r = fault(BB_CRITICAL, 0xffffffffc0100010, "kernel");
	bb_put(&r, "freed_module", "gone");
	add(&t, r, 5);
	is_ids(&t, "K02 K03", "an address of a module that is gone");
	ok(t.p.n == 2 && !strcmp(t.p.one[1].place, "gone"), "whose it was");

	add(&t, fault(BB_CRITICAL, 0xdead000000000110, "lab"), 5);
	is_ids(&t, "K02 K04", "list poison");
	add(&t, fault(BB_CRITICAL, 0x6b6b6b6b6b6b6b93, "lab"), 5);
	is_ids(&t, "K02 K04", "slab poison");
	add(&t, fault(BB_CRITICAL, 0x1234567812345678, "lab"), 5);
	is_ids(&t, "K02", "an address of no pattern");

	r = fault(BB_WARNING, 0xffffc90000010020, "lab");
	bb_put(&r, "area", "ioremap");
	bb_put(&r, "area_module", "owner");
	bb_put(&r, "freer_module", "freer");
	add(&t, r, 5);
	is_ids(&t, "K05", "a range that was given back");
	ok(t.p.n && !strcmp(t.p.one[0].place, "freer"), "by whom");
}

static void test_reports(void)
{
	static struct told t;
	struct bb_record r = of(BB_REPORT, BB_CRITICAL);

	bb_put(&r, "detector", "kfence");
	add(&t, r, 5);
	is_ids(&t, "K06", "KFENCE");
	line(&t, BB_REPORT, BB_WARNING, "WARNING: CPU: 0 PID: 7 at lib/x.c:1 f+0x1/0x2 [lab]", 5);
	is_ids(&t, "K06", "a warning");
	ok(t.p.n && t.p.one[0].severity == BB_WARNING, "that is no more than one");
	line(&t, BB_REPORT, BB_WARNING, "INFO: task x:1 blocked for more than 120 seconds.", 5);
	line(&t, BB_CONSOLE, BB_INFO, "ata1: error", 5);
	is_ids(&t, "", "what hangs is not corrupt");
	line(&t, BB_REPORT, BB_CRITICAL, "BUG: Bad page state in process x  pfn:1234", 5);
	is_ids(&t, "K07", "a bad page");
	r = of(BB_TAINT, BB_INFO);
	bb_put_hex(&r, "added", 0x20);
	add(&t, r, 5);
	is_ids(&t, "K07", "the taint of one");
	r = of(BB_TAINT, BB_INFO);
	bb_put_hex(&r, "added", 0x3000);
	add(&t, r, 5);
	is_ids(&t, "", "another taint");
	line(&t, BB_OOPS, BB_CRITICAL, "BUG: TASK stack guard page was hit at 00000000", 5);
	is_ids(&t, "K02 K09", "a stack that overflowed");
	line(&t, BB_GPU, BB_WARNING, "NVRM: Xid (PCI:0000:01:00): 31, pid=7", 5);
	is_ids(&t, "K10", "a GPU's fault");
	line(&t, BB_HARDWARE, BB_WARNING, "mce: [Hardware Error]: Machine check events logged", 5);
	is_ids(&t, "K11", "a machine check");
}

static void test_order(void)
{
	static struct told t;
	struct bb_record r = of(BB_MODULE, BB_INFO);

	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	is_ids(&t, "", "an allocation that failed");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0x40, "lab"), 30);
	is_ids(&t, "K02 K08", "and NULL used within a minute");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0x40, "lab"), 70);
	is_ids(&t, "K02", "after more than a minute");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0x40, "lab"), 65);
	is_ids(&t, "K02 K08", "after a minute");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0x40, "lab"), 65.000000001);
	is_ids(&t, "K02", "a nanosecond later");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0xffff, "lab"), 6);
	is_ids(&t, "K02 K08", "the last field that a driver may have");
	line(&t, BB_ALLOCATION, BB_INFO, "x: page allocation failure: order:9", 5);
	add(&t, fault(BB_CRITICAL, 0x10000, "lab"), 6);
	is_ids(&t, "K02", "an address that is further away");

	bb_put(&r, "event", "loaded");
	bb_put(&r, "module", "lab");
	bb_put_hex(&r, "taints", 0x3000);
	add(&t, r, 5);
	is_ids(&t, "", "a module of others' making alone");
	add(&t, r, 5);
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 6);
	is_ids(&t, "K02 K12", "and trouble soon after");
	ok(t.p.n == 2 && !strcmp(t.p.one[1].place, "lab") && t.p.one[1].severity == BB_INFO,
	   "as a hint");
	add(&t, r, 5);
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 700);
	is_ids(&t, "K02", "trouble long after");
	add(&t, r, 5);
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 605);
	is_ids(&t, "K02 K12", "trouble after ten minutes");
	add(&t, r, 5);
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 605.000000001);
	is_ids(&t, "K02", "a nanosecond later");
	add(&t, r, 5);
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 5);
	is_ids(&t, "K02 K12", "trouble at the same time");
	add(&t, fault(BB_CRITICAL, 0x40, "other"), 5);
	add(&t, r, 6);
	is_ids(&t, "K02", "a module that was loaded after the trouble");
}

static void test_cap(void)
{
	static struct told t;
	char module[16];

	for (int i = 0; i < 2 * PORTENTS_MAX; i++) {
		snprintf(module, sizeof(module), "lab%d", i);
		add(&t, fault(BB_CRITICAL, 0x40, module), 5);
	}
	bb_found_settle(&t.f);
	crash_signs_find(&t.p, &t.f, 0);
	ok(t.p.n == PORTENTS_MAX && t.p.lost == PORTENTS_MAX, "what is beyond the cap is counted");
	bb_found_free(&t.f);
	for (int i = 1; i <= 12; i++) {
		char id[16];

		snprintf(id, sizeof(id), "K%02d", i);
		ok(crash_signs_flag(id), "%s is told", id);
	}
	ok(!crash_signs_flag("K13") && !crash_signs_flag("M01"), "and no other");
}

int main(void)
{
	test_accesses();
	test_reports();
	test_order();
	test_cap();
	return tap_done();
}
