// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests whom triage suspects if a module called the kernel shortly before a fault, and how sure it
 * is: by how many points a suspect must lead, and how damaged a log may be.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/exports.h"
#include "triage/judge.h"
#include "triage/library.h"

#define OOPS "BUG: kernel NULL pointer dereference, address: 0000000000000018\n"

/* Names of functions that 8, 39 and 40 modules of Debian import. */
#define OF_8  "acpi_walk_resources"
#define OF_39 "i2c_new_client_device"
#define OF_40 "ether_setup"

static void test_helpers(void)
{
	struct frame f = {.function = STR(OF_39)};

	is_u64(export_importers(f.function, (struct str){}), 39, "39 modules import a function");
	ok(!is_helper(&f), "which is not yet a helper");
	f.function = STR(OF_40);
	is_u64(export_importers(f.function, (struct str){}), 40, "40 modules import a function");
	ok(is_helper(&f), "which is a helper");
	f.module = STR("m");
	ok(!is_helper(&f), "but not a module's own function with this name");
}

/* A fault in the kernel, with functions of the kernel between it and the module that called it. */
static void test_interfaces(void)
{
	static const struct {
		const char *name, *trace, *suspect;
		bool direct;
	} rows[] = {
		{"the module called the function that faulted", " m_ioctl+0x1/0x2 [m]\n", "m",
		 false},
		{"one other function is between them", " inner+0x1/0x2\n m_ioctl+0x1/0x2 [m]\n",
		 "vmlinux", false},
		{"the module called a common interface, right before it",
		 " " OF_8 "+0x1/0x2\n m_ioctl+0x1/0x2 [m]\n", "m", false},
		{"one other function is between the interface and the fault",
		 " inner+0x1/0x2\n " OF_8 "+0x1/0x2\n m_ioctl+0x1/0x2 [m]\n", "m", false},
		{"two other functions are between the interface and the fault",
		 " inner+0x1/0x2\n outer+0x1/0x2\n " OF_8 "+0x1/0x2\n m_ioctl+0x1/0x2 [m]\n",
		 "vmlinux", false},
		{"a thread began in between", " kthread+0x1/0x2\n m_ioctl+0x1/0x2 [m]\n", "vmlinux",
		 false},
		{"no module", " inner+0x1/0x2\n", "vmlinux", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triage_input in = {.name = "log"};
		const struct diagnosis *v;
		struct buf b = {};
		struct triage t;

		buf_printf(&b, OOPS "RIP: 0010:widget_reset+0x14/0x40\nCall Trace:\n%s",
			   rows[i].trace);
		in.data = b.s;
		in.size = b.len;
		if (triage_run(&t, &in, 1))
			abort();
		v = &t.verdict[0];
		if (!ok(t.verdicts == 1 && v->suspects &&
				str_is(v->suspect[0].module, rows[i].suspect) &&
				v->culprit_direct == rows[i].direct,
			"%s", rows[i].name))
			printf("#   got %.*s, %d points%s\n", STR_ARG(v->suspect[0].module),
			       v->suspect[0].points, v->culprit_direct ? ", direct" : "");
		triage_free(&t);
		buf_free(&b);
	}
}

/* A fault with a known base and one direct suspect of 100 points, unless a row says otherwise. */
static const struct certain {
	const char *name;
	enum confidence want;
	int second;	  /* points of another suspect; 0: none */
	uint32_t strange; /* lines that no rule understands; the trace has 3 frames */
	enum mechanism mechanism;
	enum kind kind;
	bool no_base, present, indirect, unknown, cut, core, headless, interleaved;
	const char *taint, *freed, *allocated;
} certain[] = {
	{"a direct suspect alone", CONFIDENCE_HIGH},
	{"another suspect, 15 points behind", CONFIDENCE_HIGH, .second = 85},
	{"another suspect, 14 points behind", CONFIDENCE_MEDIUM, .second = 86},
	{"an indirect suspect", CONFIDENCE_MEDIUM, .indirect = true},
	{"no suspect stands out", CONFIDENCE_MEDIUM, .unknown = true},
	{"a suspect of whose name the log has the begin", CONFIDENCE_LOW, .cut = true},
	{"12 lines more than the trace has frames", CONFIDENCE_HIGH, .strange = 15},
	{"13 lines more than the trace has frames", CONFIDENCE_MEDIUM, .strange = 16},
	{"a log without the begin of the report", CONFIDENCE_MEDIUM, .headless = true},
	{"another CPU printed at the same time", CONFIDENCE_LOW, .interleaved = true},
	{"after an oops", CONFIDENCE_MEDIUM, .taint = "G D"},
	{"after a machine check", CONFIDENCE_MEDIUM, .taint = "G M"},
	{"after a warning", CONFIDENCE_HIGH, .taint = "G W"},
	{"the suspect freed the object", CONFIDENCE_HIGH, .freed = "m"},
	{"another module freed the object", CONFIDENCE_MEDIUM, .freed = "n"},
	{"the suspect allocated the object", CONFIDENCE_HIGH, .allocated = "m"},
	{"another module allocated the object", CONFIDENCE_MEDIUM, .allocated = "n"},
	{"NULL without the instruction", CONFIDENCE_MEDIUM, .no_base = true},
	{"NULL without the instruction, and the page is not there", CONFIDENCE_HIGH,
	 .no_base = true, .present = true},
	{"a wild pointer", CONFIDENCE_MEDIUM, .mechanism = MECH_WILD_POINTER},
	{"a wild pointer without the instruction", CONFIDENCE_LOW, .mechanism = MECH_WILD_POINTER,
	 .no_base = true},
	{"poison in a module", CONFIDENCE_HIGH, .mechanism = MECH_SLAB_POISON},
	{"poison in the kernel's own code", CONFIDENCE_MEDIUM, .mechanism = MECH_SLAB_POISON,
	 .core = true},
	{"poison without the instruction", CONFIDENCE_LOW, .mechanism = MECH_SLAB_POISON,
	 .no_base = true},
	{"NULL in the kernel's own code", CONFIDENCE_HIGH, .core = true},
	{"two locks that wait for each other", CONFIDENCE_MEDIUM, .kind = KIND_LOCKDEP},
	{"a panic", CONFIDENCE_MEDIUM, .kind = KIND_PANIC},
	{"a report of an unknown kind", CONFIDENCE_LOW, .mechanism = MECH_AS_REPORTED,
	 .kind = KIND_UNKNOWN},
	{"a fault without a rule", CONFIDENCE_MEDIUM, .mechanism = MECH_AS_REPORTED,
	 .kind = KIND_NULL_DEREF},
};

static void test_confidence(void)
{
	for (size_t i = 0; i < sizeof(certain) / sizeof(certain[0]); i++) {
		const struct certain *c = &certain[i];
		struct frame frames[3] = {};
		struct log_line line = {.text = STR("text")};
		struct lines ls = {.line = &line, .n = 1};
		struct incident e = {.frame = frames, .nr_frames = 3};
		struct diagnosis v = {.kind = c->kind ? c->kind : KIND_NULL_DEREF};
		struct judged j = {.e = &e, .v = &v, .ls = &ls, .fault = true};

		if (c->freed)
			frames[1] = (struct frame){.part = PART_FREE, .module = str_of(c->freed)};
		if (c->allocated)
			frames[2] =
				(struct frame){.part = PART_ALLOC, .module = str_of(c->allocated)};
		e.strange = c->strange;
		e.headless = c->headless;
		e.interleaved = c->interleaved;
		e.taint = str_of(c->taint ? c->taint : "");
		j.has_base = !c->no_base;
		j.has_present = c->present;
		v.mechanism = c->mechanism ? c->mechanism : MECH_NULL_DEREF;
		if (c->kind && !c->mechanism)
			v.mechanism = MECH_AS_REPORTED;
		j.fault = !c->kind || c->kind == KIND_NULL_DEREF;
		v.suspects = c->second ? 2 : 1;
		v.suspect[0] = (struct suspect){.module = c->core ? STR("vmlinux") : STR("m")};
		v.suspect[0].points = 100;
		v.suspect[0].cut = c->cut;
		v.suspect[1].points = c->second;
		v.culprit_direct = !c->indirect;
		v.culprit_unknown = c->unknown;
		judge_confidence(&j);
		is_str(confidence_name(v.confidence), confidence_name(c->want), c->name);
	}
}

/* Reasons of one suspect: the strongest counts, the others add up to 14 points. */
static void test_points(void)
{
	static const char *const why[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
	static const struct {
		int n, first, others, want;
	} rows[] = {
		{1, 100, 0, 100},  {2, 100, 4, 101},  {2, 100, 3, 100},	 {2, 100, 56, 114},
		{2, 100, 52, 113}, {2, 100, 60, 114}, {3, 100, 28, 114}, {3, 100, 27, 113},
		{8, 100, 4, 107},  {9, 100, 4, 107},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct diagnosis v = {};

		for (int k = 0; k < rows[i].n; k++)
			suspect_accuse(&v, STR("m"), k ? rows[i].others : rows[i].first, why[k]);
		if (!ok(v.suspects == 1 && v.suspect[0].points == rows[i].want &&
				v.suspect[0].reasons == (uint32_t)(rows[i].n < REASONS_MAX
									   ? rows[i].n
									   : REASONS_MAX),
			"a reason of %d points, and %d of %d points", rows[i].first, rows[i].n - 1,
			rows[i].others))
			printf("#   got %d\n", v.suspect[0].points);
	}
}

static void test_ranks(void)
{
	struct diagnosis v = {};

	suspect_accuse(&v, STR("a"), 39, "x");
	ok(v.culprit_unknown, "39 points do not stand out");
	suspect_accuse(&v, STR("b"), 39, "x");
	ok(str_is(v.suspect[0].module, "a"), "of equal suspects, the first stays the first");
	suspect_accuse(&v, STR("b"), 40, "x");
	ok(!v.culprit_unknown && str_is(v.suspect[0].module, "b") && v.suspect[0].points == 40 &&
		   v.suspect[0].reasons == 1,
	   "40 points for the same reason do");
	suspect_accuse(&v, STR("b"), 30, "x");
	ok(v.suspect[0].points == 40, "fewer points for the same reason change nothing");
	suspect_accuse(&v, STR("c"), 0, "x");
	ok(v.suspects == 2, "a module without points is no suspect");
	suspect_accuse(&v, STR("d"), 1, "x");
	ok(v.suspects == 3 && !v.hardware, "a module with one point is one");
	suspect_accuse(&v, STR("hardware"), 41, "x");
	ok(v.hardware && str_is(v.suspect[0].module, "hardware"), "the hardware is the culprit");
	suspect_accuse(&v, STR("e"), 1, "x");
	suspect_accuse(&v, STR("f"), 1, "x");
	suspect_accuse(&v, STR("g"), 99, "x");
	ok(v.suspects == SUSPECTS_MAX && str_is(v.suspect[0].module, "hardware"),
	   "there is no room for a seventh suspect");
}

/* Of two functions with reasons of as many points, the first is the one to look at. */
static void test_ties(void)
{
	static const char log[] = "BUG: KASAN: slab-out-of-bounds in f+0x1/0x2\n"
				  "Allocated by task 7:\n alloc_it+0x1/0x2 [m]\n"
				  "(&x->lock){+.+.}-{3:3}, at: lock_it+0x1/0x2 [m]\n";
	struct triage_input in = {.name = "log", .data = log, .size = sizeof(log) - 1};
	const struct suspect *s;
	struct triage t;

	if (triage_run(&t, &in, 1) || !t.verdicts)
		abort();
	s = &t.verdict[0].suspect[0];
	ok(str_is(s->module, "m") && s->reasons == 2 && s->reason[0].points == 60 &&
		   s->reason[1].points == 60 && s->points == 74,
	   "a module that allocated the object and holds a lock");
	ok(str_is(s->function, "alloc_it"), "the function that allocated it is named");
	triage_free(&t);
}

int main(void)
{
	test_helpers();
	test_interfaces();
	test_confidence();
	test_points();
	test_ranks();
	test_ties();
	return tap_done();
}
