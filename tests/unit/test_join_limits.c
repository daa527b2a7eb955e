// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which records of the flight recorder triage adds to a crash of a log: how near in time they
 * must be, how many notes are kept, and which module they accuse.
 */
#include <stdlib.h>

#include "tap.h"
#include "triage/triage.h"

#define BOOT "11112222-3333-4444-5555-666677778888"
#define NEXT "99992222-3333-4444-5555-666677778888"

/* A wild pointer of a module, at 1000 s. */
#define CRASH                                                                                      \
	"[ 1000.000000] BUG: unable to handle page fault for address: ffffc90000b38000\n"          \
	"[ 1000.000000] RIP: 0010:widget_reset+0x14/0x40 [widget]\n"

static struct bb_record of(enum bb_class class)
{
	return (struct bb_record){.class = class, .severity = BB_WARNING, .count = 1};
}

static void add(struct bb_found *f, struct bb_record r, const char *boot, double seconds)
{
	r.sequence = f->n + 1;
	r.boot_ns = seconds * 1e9 + 0.5;
	bb_boot_id(boot, r.boot_id);
	bb_found_add(f, &r);
}

static struct bb_record fault(uint64_t address, const char *key, const char *module)
{
	struct bb_record r = of(BB_FAULT);

	r.severity = BB_CRITICAL;
	bb_put(&r, "verdict", "fatal");
	bb_put_hex(&r, "address", address);
	if (key)
		bb_put(&r, key, module);
	return r;
}

/* Joins the records with a log. The caller frees both. */
static void join(struct triage *t, struct bb_found *f, const char *log)
{
	struct triage_input in = {.name = "log", .data = log, .size = strlen(log)};

	bb_found_settle(f);
	if (triage_run(t, &in, 1))
		abort();
	triage_join(t, f);
}

static void done(struct triage *t, struct bb_found *f)
{
	triage_free(t);
	bb_found_free(f);
}

static void test_near(void)
{
	static const struct {
		double at;
		bool any;
	} rows[] = {{1000, true}, {990.5, true},  {990, false},
		    {989, false}, {1009.5, true}, {1010, false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_found f = {};
		struct triage t;

		add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, rows[i].at);
		join(&t, &f, CRASH);
		ok(t.recorded.any == rows[i].any && t.recorded.fatal == rows[i].any,
		   "a crash at 1000 s, and a fault record at %.1f s", rows[i].at);
		done(&t, &f);
	}
}

/* The boot whose fault is at the time of the crash. Without a time, the last one counts. */
static void test_boots(void)
{
	static const struct {
		const char *name, *log, *want;
	} rows[] = {
		{"a crash with its time", CRASH, "1111222233334444555566667777"},
		{"a crash without a time", "BUG: kernel NULL pointer dereference, address: 8\n",
		 "9999222233334444555566667777"},
		{"no crash", "text\n", "9999222233334444555566667777"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_found f = {};
		struct triage t;

		add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, 1000);
		add(&f, fault(8, NULL, NULL), NEXT, 50);
		join(&t, &f, rows[i].log);
		ok(t.recorded.any && !strncmp(t.recorded.boot_id, rows[i].want, 28), "%s",
		   rows[i].name);
		done(&t, &f);
	}
}

static void test_modules(void)
{
	static const struct {
		double before;
		bool told;
	} rows[] = {{0, true}, {600, true}, {600.5, false}, {-0.5, false}, {1, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_record r = of(BB_MODULE);
		struct bb_found f = {};
		struct triage t;

		bb_put(&r, "event", "loaded");
		bb_put(&r, "module", "widget");
		add(&f, r, BOOT, 1000 - rows[i].before);
		add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, 1000);
		join(&t, &f, CRASH);
		ok(t.recorded.notes == (rows[i].told ? 2 : 1) &&
			   (!rows[i].told ||
			    (t.recorded.note[0].before == rows[i].before &&
			     !strcmp(t.recorded.note[0].text, "module widget loaded"))),
		   "a module that was loaded %.1f s before the crash", rows[i].before);
		done(&t, &f);
	}
}

static void test_reports(void)
{
	static const struct {
		double before;
		uint32_t notes;
	} rows[] = {{900, 2}, {0, 2}, {-0.5, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_record r = of(BB_HARDWARE);
		struct bb_found f = {};
		struct triage t;

		bb_put(&r, "line", "mce: [Hardware Error]: Machine check events logged");
		add(&f, r, BOOT, 1000 - rows[i].before);
		add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, 1000);
		join(&t, &f, CRASH);
		ok(t.recorded.notes == rows[i].notes,
		   "an error of the hardware %.1f s before the crash: %u notes", rows[i].before,
		   t.recorded.notes);
		done(&t, &f);
	}
}

/* The last 16 notes are kept; the others are counted. */
static void test_most(void)
{
	for (uint32_t n = 14; n <= 17; n++) {
		struct bb_record r = of(BB_REPORT);
		struct bb_found f = {};
		struct triage t;

		bb_put(&r, "line", "WARNING: x");
		for (uint32_t i = 0; i < n; i++)
			add(&f, r, BOOT, 500 + i);
		add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, 1000);
		join(&t, &f, CRASH);
		ok(t.recorded.notes == (n < 15 ? n + 1 : RECORDED_MAX) &&
			   t.recorded.left_out == (n < 16 ? 0 : n - 15) &&
			   t.recorded.note[t.recorded.notes - 1].class == BB_FAULT &&
			   t.recorded.note[0].before == 500 - t.recorded.left_out,
		   "%u reports before a fault: %u notes", n, t.recorded.notes);
		done(&t, &f);
	}
}

/* Recovered faults are told by place, with the time of the last one. */
static void test_fixups(void)
{
	struct bb_record r = of(BB_FIXUP);
	struct bb_found f = {};
	struct triage t;

	bb_put(&r, "symbol", "widget_poll+0x10");
	bb_put(&r, "module", "widget");
	r.count = 1;
	add(&f, r, BOOT, 980);
	r.count = 5;
	add(&f, r, BOOT, 990);
	add(&f, fault(0xffffc90000b38000, NULL, NULL), BOOT, 1000);
	r.count = 9;
	add(&f, r, BOOT, 1001);
	join(&t, &f, CRASH);
	ok(t.recorded.notes == 2 && t.recorded.note[0].before == 10 && t.recorded.absorbed == 9,
	   "one note for all faults of a place, at the last one before the crash");
	is_str(t.recorded.note[0].text,
	       "9 absorbed bad accesses at one site, widget_poll+0x10 [widget], in 20.0 s before",
	       "with their number and since when");
	ok(t.recorded.silent == 0, "the recorder was alive until the crash");
	done(&t, &f);
}

static void test_silence(void)
{
	struct bb_record r = of(BB_REPORT), panic = of(BB_PANIC);
	struct bb_found f = {};
	struct triage t;

	bb_put(&r, "line", "WARNING: x");
	add(&f, r, BOOT, 990);
	add(&f, r, BOOT, 997);
	add(&f, panic, BOOT, 1002);
	join(&t, &f, CRASH);
	ok(t.recorded.any && t.recorded.silent == 0, "a panic after the crash is its record");
	done(&t, &f);

	f = (struct bb_found){};
	join(&t, &f, CRASH);
	ok(!t.recorded.any && t.recorded.silent == -1, "no record");
	done(&t, &f);
}

/* The module that a fault's record accuses, its points, and the mechanism that follows. */
static void test_accused(void)
{
	static const struct {
		const char *name, *key, *area;
		uint64_t address;
		double at;
		const char *module;
		int points;
		const char *mechanism;
	} rows[] = {
		{"a module that was unloaded", "freed_module", NULL, 0xffffc90000b38000, 1000,
		 "gone", 95, "freed_module"},
		{"the module that gave the range back", "freer_module", "vmalloc",
		 0xffffc90000b38000, 1000, "gone", 90, "vmalloc_uaf"},
		{"the module that had the registers", "area_module", "ioremap", 0xffffc90000b38000,
		 1000, "gone", 90, "mmio_uaf"},
		{"a record without a module", NULL, NULL, 0xffffc90000b38000, 1000, "", 0,
		 "wild_ptr"},
		{"a fault at another address", "freed_module", NULL, 0xffffc90000b38001, 1000, "",
		 0, "wild_ptr"},
		{"a record of the last 10 s", "freed_module", NULL, 0xffffc90000b38000, 1009.5,
		 "gone", 95, "freed_module"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bb_record r = fault(rows[i].address, rows[i].key, "gone");
		struct bb_found f = {};
		struct triage t;

		if (rows[i].area)
			bb_put(&r, "area", rows[i].area);
		add(&f, r, BOOT, rows[i].at);
		join(&t, &f, CRASH);
		if (!ok(!strcmp(t.recorded.module, rows[i].module) &&
				t.recorded.points == rows[i].points &&
				!strcmp(verdict_mechanism(&t.verdict[0]), rows[i].mechanism),
			"%s", rows[i].name))
			printf("#   got \"%s\", %d points, %s\n", t.recorded.module,
			       t.recorded.points, verdict_mechanism(&t.verdict[0]));
		done(&t, &f);
	}
}

int main(void)
{
	test_near();
	test_boots();
	test_modules();
	test_reports();
	test_most();
	test_fixups();
	test_silence();
	test_accused();
	return tap_done();
}
