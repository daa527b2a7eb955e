// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/blame.h"
#include "triage/judge.h"
#include "triage/library.h"
#include "triage/match.h"

/*
 * Points of the reasons to suspect a module. The strongest reason decides. Further reasons only add
 * up to POINTS_MORE, so that several weak reasons never outweigh a strong one.
 */
#define POINTS_HERE	 100
#define POINTS_ARGUMENT	 100
#define POINTS_UNLOADED	 95
#define POINTS_NAMED	 88
#define POINTS_CALLER	 85
#define POINTS_CORE	 70
#define POINTS_WORK	 65
#define POINTS_LIBRARY	 60
#define POINTS_FREED	 72
#define POINTS_LOCK	 60
#define POINTS_ALLOCATED 60
#define POINTS_DOUBTED	 50 /* the caller, if no frame of the trace is reliable */
#define POINTS_TRACE	 42
#define POINTS_COMM	 40
#define POINTS_LEAST	 40 /* minimum points of a suspect to stand out */
#define POINTS_HARDWARE	 40
#define POINTS_ABSENCE	 41
#define POINTS_BEFORE	 30
#define POINTS_ASIDE	 25 /* a reason about the task, if the trace shows the module at fault */
#define POINTS_MOVING	 25
#define POINTS_FLIP	 60
#define POINTS_MACHINE	 20
#define POINTS_TAINT	 8
#define POINTS_MORE	 14

static const struct str hardware = {"hardware", 8};
static const struct str core = {"vmlinux", 7};
static const char in_trace[] = "it is in the trace";

/* Gives a reason its points. The function of the strongest reason is the one to look at. */
static void reason_set(struct suspect *s, uint32_t i, int points, struct str function)
{
	int strongest = 0, sum = 0;

	for (uint32_t k = 0; k < s->reasons; k++)
		strongest = s->reason[k].points > strongest ? s->reason[k].points : strongest;
	if (function.n && points > strongest)
		s->function = function;
	s->reason[i].points = points;
	strongest = points > strongest ? points : strongest;
	for (uint32_t k = 0; k <= i || k < s->reasons; k++)
		sum += s->reason[k].points;
	sum = (sum - strongest) / 4;
	s->points = strongest + (sum < POINTS_MORE ? sum : POINTS_MORE);
}

static void suspect_add(struct diagnosis *v, struct str module, struct str function, int points,
			const char *why)
{
	struct suspect *s = NULL;

	for (uint32_t i = 0; i < v->suspects && !s; i++)
		if (str_same(v->suspect[i].module, module))
			s = &v->suspect[i];
	if (!s) {
		if (v->suspects == SUSPECTS_MAX || points <= 0)
			return;
		s = &v->suspect[v->suspects++];
		*s = (struct suspect){.module = module, .function = function};
	}
	if (!s->function.n)
		s->function = function;
	for (uint32_t i = 0; i < s->reasons; i++)
		if (s->reason[i].why == why) { /* each reason counts once, with the most points */
			if (points > s->reason[i].points)
				reason_set(s, i, points, function);
			return;
		}
	if (s->reasons < REASONS_MAX) {
		s->reason[s->reasons] = (struct reason){0, why};
		reason_set(s, s->reasons++, points, function);
	}
}

static const struct module *module_of(const struct incident *e, struct str name)
{
	for (uint32_t i = 0; i < e->nr_modules; i++)
		if (str_same(e->module[i].name, name) && !e->module[i].gone)
			return &e->module[i];
	return NULL;
}

static bool is_freed(enum mechanism m)
{
	return m == MECH_FREED_TEXT || m == MECH_FREED_MODULE;
}

/* Returns whether the machine reports an error: what ran at this moment says nothing. */
static bool is_of_machine(enum kind k)
{
	return k == KIND_MCE || k == KIND_EDAC || k == KIND_AER;
}

/*
 * Adds points to the module of the reported instruction. A pointer that a library got from its
 * caller, and used at once, points to the caller.
 */
static void by_place(struct judged *j, const struct blame *b)
{
	struct diagnosis *v = j->v;
	const struct frame *f = b->place;

	if (!f || is_of_machine(j->v->kind))
		return;
	if (b->argument)
		suspect_add(v, b->caller->module, b->caller->function, POINTS_ARGUMENT,
			    "it passed the pointer to a function that used it at once");
	if (f->module.n)
		suspect_add(v, f->module, f->function,
			    b->argument || b->helped ? POINTS_LIBRARY : POINTS_HERE,
			    "the instruction is in it");
	else if (!is_freed(v->mechanism) && !b->helped)
		suspect_add(v, core, f->function, POINTS_CORE,
			    "the instruction is in the kernel's own code");
}

static bool begins(struct str s, struct str with)
{
	return s.n > with.n && !memcmp(s.s, with.s, with.n);
}

/*
 * Stores `name` in `whole` if it begins with `start`. Returns false if another such name was stored
 * before.
 */
static bool completes(struct str *whole, struct str start, struct str name)
{
	if (!begins(name, start) || str_same(*whole, name))
		return true;
	if (whole->n)
		return false;
	*whole = name;
	return true;
}

/* Returns the word before a colon, as most modules print their name: "name: …"; empty: none. */
static struct str speaker(struct str line)
{
	struct str s = str_word(&line);

	return str_ends(s, ":") ? str_first(s, s.n - 1) : (struct str){};
}

/* Returns the only module in the log whose name begins with `start`; empty: none, or several. */
static struct str complete(const struct triage *t, struct str start)
{
	struct str whole = {};
	bool one = true;

	for (size_t i = 0; i < t->seen.n && one; i++) {
		const struct incident *e = &t->seen.event[i];

		for (uint32_t k = 0; k < e->nr_modules && one; k++)
			one = e->module[k].cut || completes(&whole, start, e->module[k].name);
		for (uint32_t k = 0; k < e->nr_frames && one; k++)
			one = completes(&whole, start, e->frame[k].module);
	}
	for (size_t i = 0; i < t->lines.n && one; i++)
		one = completes(&whole, start, speaker(t->lines.line[i].text));
	return one ? whole : (struct str){};
}

static void by_unload(struct judged *j, const struct triage *t)
{
	const struct incident *e = j->e;
	int points = is_freed(j->v->mechanism) ? POINTS_UNLOADED : POINTS_TAINT;

	for (uint32_t i = 0; i < e->nr_modules; i++) {
		const struct module *m = &e->module[i];
		struct str whole = m->cut ? complete(t, m->name) : m->name;

		if (!m->gone)
			continue;
		suspect_add(j->v, whole.n ? whole : m->name, (struct str){}, points,
			    is_freed(j->v->mechanism)
				    ? "it was unloaded, and what it left behind was used"
				    : "it was unloaded before");
		for (uint32_t k = 0; k < j->v->suspects && !whole.n; k++)
			j->v->suspect[k].cut |= str_same(j->v->suspect[k].module, m->name);
	}
}

/*
 * Adds points to the caller of a helper, and less to all modules in the trace. Code that an
 * interrupt stopped has nothing to do with what the interrupt reports, unless it is a hang.
 */
static void by_trace(struct judged *j, const struct blame *b)
{
	const struct incident *e = j->e;
	double weight = POINTS_TRACE;
	bool interrupted = false;
	const char *called = j->fault ? "it called what faulted" : "it called what is reported";

	if (b->helped && b->caller && b->caller->module.n)
		suspect_add(j->v, b->caller->module, b->caller->function,
			    b->doubted ? POINTS_DOUBTED : POINTS_CALLER, called);
	else if (b->helped && b->caller && !is_freed(j->v->mechanism))
		suspect_add(j->v, core, b->caller->function, POINTS_CORE,
			    "the first function of the trace is the kernel's own");
	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];
		bool believed = !f->unreliable || b->doubted;

		if (f->part != PART_MAIN || !f->function.n)
			continue;
		interrupted |= believed && library_of_frame(f) == LIBRARY_ENTRY;
		if (!f->module.n)
			continue;
		believed &= !interrupted || j->v->kind == KIND_HANG;
		suspect_add(j->v, f->module, f->function, believed ? weight : weight / 4, in_trace);
		if (believed)
			weight *= 0.85;
	}
}

/* Adds points to the module whose function is the first of a part that is no helper. */
static void by_part(struct judged *j, enum part part, int points, const char *why)
{
	const struct incident *e = j->e;

	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == part && e->frame[i].function.n &&
		    !is_helper(&e->frame[i])) {
			if (e->frame[i].module.n)
				suspect_add(j->v, e->frame[i].module, e->frame[i].function, points,
					    why);
			return;
		}
}

/* Adds points to the driver in "NETDEV WATCHDOG: eth0 (driver): …": net/sched/sch_generic.c. */
static void by_queue(struct judged *j)
{
	struct str note = j->e->note, driver;
	long open = str_find(note, " ("), shut = str_find(note, "): ");

	if (!str_starts(note, "NETDEV WATCHDOG: ") || open < 0 || shut < open + 3)
		return;
	driver = str_first(str_from(note, open + 2), shut - open - 2);
	suspect_add(j->v, driver, (struct str){}, POINTS_CALLER, "its transmit queue timed out");
}

/*
 * Adds points to the module whose function the kernel's message names, as in "irq 19 handler
 * f+0x0/0x80 [mod] enabled interrupts" and "ODEBUG: free active object type: timer_list hint:
 * f+0x0/0x90 [mod]". The trace is often that of a bystander.
 */
static void by_message(struct judged *j)
{
	struct str rest = j->e->message;
	struct frame f = {};

	for (; rest.n; str_word(&rest)) {
		rest = str_trim(rest);
		if (frame_parse(rest, &f) && f.size && f.module.n) {
			suspect_add(j->v, f.module, f.function, POINTS_NAMED,
				    "the kernel's message names its function");
			return;
		}
	}
}

/* Returns the module of the first reliable frame that is in a module; empty: none. */
static struct str nearest_module(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == PART_MAIN && e->frame[i].module.n &&
		    !e->frame[i].unreliable)
			return e->frame[i].module;
	return (struct str){};
}

/*
 * Adds points to the module of a work item: "Workqueue: events fn [mod]". If the trace shows which
 * other module is at fault, the owner of the work item only lent its thread.
 */
static void by_work(struct judged *j, const struct blame *b)
{
	bool shown = (b->place && b->place->module.n) || (b->caller && b->caller->module.n);
	struct str s = j->e->workqueue, module, nearest = nearest_module(j->e);
	long at = str_find(s, "[");

	if (at < 0)
		return;
	module = str_from(s, at + 1);
	at = str_find(module, "]");
	if (at <= 0)
		return;
	module = str_first(module, at);
	shown |= nearest.n && !str_same(nearest, module);
	suspect_add(j->v, module, (struct str){}, shown ? POINTS_ASIDE : POINTS_WORK,
		    "its work was running");
}

/*
 * Adds points to the module after which the kernel thread is named, as in "xhci_wq" and
 * "nouveau/0".
 */
static void by_comm(struct judged *j, const struct blame *b)
{
	const struct incident *e = j->e;
	bool shown = (b->place && b->place->module.n) || (b->caller && b->caller->module.n);

	for (uint32_t i = 0; i < e->nr_modules; i++) {
		struct str name = e->module[i].name;

		if (name.n >= 3 && e->comm.n >= name.n && !memcmp(e->comm.s, name.s, name.n) &&
		    !e->module[i].gone)
			suspect_add(j->v, name, (struct str){}, shown ? POINTS_ASIDE : POINTS_COMM,
				    "the task is named after it");
	}
}

/* Adds points to suspects that were loading or unloading, or that taint the kernel. */
static void by_state(struct judged *j)
{
	static const struct {
		const char *flag, *why;
	} taints[] = {{"O", "it is from outside the kernel's tree"},
		      {"P", "it is proprietary"},
		      {"C", "it is from staging"},
		      {"F", "it was loaded by force"}};

	for (uint32_t i = 0; i < j->v->suspects; i++) {
		const struct module *m = module_of(j->e, j->v->suspect[i].module);

		if (!m)
			continue;
		if (m->loading)
			suspect_add(j->v, m->name, (struct str){}, POINTS_MOVING,
				    "it was being loaded");
		if (m->unloading)
			suspect_add(j->v, m->name, (struct str){}, POINTS_MOVING,
				    "it was being unloaded");
		for (size_t k = 0; k < sizeof(taints) / sizeof(taints[0]); k++)
			if (str_has(m->flags, taints[k].flag))
				suspect_add(j->v, m->name, (struct str){}, POINTS_TAINT,
					    taints[k].why);
	}
}

/* Adds points to suspects, or to the hardware, for reports before the crash that name them. */
static void by_history(struct judged *j, const struct triage *t)
{
	for (uint32_t i = 0; i < j->v->index && i < t->seen.n; i++) {
		const struct incident *e = &t->seen.event[i];
		const struct frame *f = e->has_ip ? &e->ip : &e->printed_frame;

		if (is_of_machine(e->kind))
			suspect_add(j->v, hardware, (struct str){}, POINTS_HARDWARE,
				    "the machine reported errors before");
		else if (f->module.n)
			for (uint32_t k = 0; k < j->v->suspects; k++)
				if (str_same(j->v->suspect[k].module, f->module))
					suspect_add(j->v, f->module, f->function, POINTS_BEFORE,
						    "it was warned about before");
	}
}

static void by_hardware(struct judged *j, const struct triage *t)
{
	struct diagnosis *v = j->v;

	if (v->mechanism == MECH_HARDWARE)
		suspect_add(v, hardware, (struct str){}, POINTS_HERE,
			    "the machine reports it itself");
	if (v->mechanism == MECH_BIT_FLIP)
		suspect_add(v, hardware, (struct str){}, POINTS_FLIP,
			    "one bit of a pointer is wrong");
	if (str_has(j->e->taint, "M"))
		suspect_add(v, hardware, (struct str){}, POINTS_MACHINE,
			    "a machine check came before (taint M)");
}

/* Adds points to the kernel's own code if the report shows no module. */
static void by_absence(struct judged *j)
{
	const struct incident *e = j->e;
	bool any = false;

	for (uint32_t i = 0; i < e->nr_frames; i++) {
		if (e->frame[i].module.n)
			return;
		any |= e->frame[i].function.n && !e->frame[i].unreliable;
	}
	if (any && !e->ip.module.n && !str_has(e->workqueue, "["))
		suspect_add(j->v, core, (struct str){}, POINTS_ABSENCE,
			    "the report shows no module");
}

static void rank(struct diagnosis *v)
{
	for (uint32_t i = 1; i < v->suspects; i++)
		for (uint32_t k = i; k && v->suspect[k].points > v->suspect[k - 1].points; k--) {
			struct suspect s = v->suspect[k];

			v->suspect[k] = v->suspect[k - 1];
			v->suspect[k - 1] = s;
		}
	v->culprit_unknown = !v->suspects || v->suspect[0].points < POINTS_LEAST;
	v->hardware =
		v->suspects && str_same(v->suspect[0].module, hardware) && !v->culprit_unknown;
}

/*
 * Returns whether the report has its whole trace: the end of the report, or where the thread or the
 * interrupt began. The missing end of a trace may show a module.
 */
static bool is_whole(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames && !e->ended; i++)
		if (e->frame[i].part == PART_MAIN &&
		    library_of_frame(&e->frame[i]) == LIBRARY_ENTRY)
			return true;
	return e->ended;
}

/*
 * Returns whether the trace shows the first suspect directly: the reported instruction is in it, or
 * it called the helper that failed. If modules and the kernel's own code are both in the trace, the
 * kernel's own code is only the more probable of them.
 */
static bool is_direct(const struct judged *j, const struct blame *b)
{
	const struct diagnosis *v = j->v;
	struct str first = v->suspects ? v->suspect[0].module : (struct str){};
	const struct frame *f = b->helped ? b->caller : b->place;

	if (str_same(first, hardware))
		return v->mechanism == MECH_HARDWARE;
	if (is_freed(v->mechanism))
		return v->suspect[0].points >= POINTS_UNLOADED;
	if (!f || b->doubted || b->argument || b->remote || b->shared || b->used)
		return false;
	if (str_same(first, core))
		return !f->module.n && !nearest_module(j->e).n && is_whole(j->e) &&
		       !str_has(j->e->workqueue, "[");
	return str_same(first, f->module);
}

/*
 * If the first suspect called a check that failed, or a helper, puts its function before the
 * others: this function is the one to look at. Deep in an interface, the function that faulted says
 * more.
 */
static void name_after(const struct judged *j, const struct blame *b)
{
	struct diagnosis *v = j->v;
	struct str name;
	uint32_t at = 0;

	if (!b->helped || b->shared || (j->fault && b->remote) || !b->caller ||
	    !b->caller->module.n || v->culprit_unknown ||
	    !str_same(b->caller->module, v->suspect[0].module))
		return;
	name = function_plain(b->caller->function);
	while (at < v->functions && !str_same(v->function[at], name))
		at++;
	if (at == v->functions && v->functions < FUNCTIONS_MAX)
		v->functions++;
	for (at = at < FUNCTIONS_MAX ? at : FUNCTIONS_MAX - 1; at; at--)
		v->function[at] = v->function[at - 1];
	v->function[0] = name;
	v->frame = *b->caller;
}

void judge_suspects(struct judged *j, const struct triage *t)
{
	struct blame b = blame_of(j);

	by_place(j, &b);
	by_unload(j, t);
	by_trace(j, &b);
	by_work(j, &b);
	by_queue(j);
	by_message(j);
	by_comm(j, &b);
	by_part(j, PART_FREE, POINTS_FREED, "it freed the object");
	by_part(j, PART_ALLOC, POINTS_ALLOCATED, "it allocated the object");
	by_part(j, PART_LOCK, POINTS_LOCK, "it took the lock");
	by_state(j);
	by_history(j, t);
	by_hardware(j, t);
	rank(j->v);
	if (j->v->culprit_unknown && !is_freed(j->v->mechanism) && j->v->kind != KIND_PANIC) {
		by_absence(j);
		rank(j->v);
	}
	name_after(j, &b);
	j->v->culprit_direct = is_direct(j, &b);
}

void suspect_accuse(struct diagnosis *v, struct str module, int points, const char *why)
{
	suspect_add(v, module, (struct str){}, points, why);
	rank(v);
}
