// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/triage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "triage/judge.h"
#include "triage/signature.h"

/* Within this time in seconds after a crash, a report is a consequence of the crash. */
#define AFTERMATH_SECONDS 60

const char *confidence_name(enum confidence c)
{
	static const char *const names[] = {"low", "medium", "high"};

	return names[c];
}

static bool within(const struct incident *first, const struct incident *later, double seconds)
{
	if (!first->timed || !later->timed)
		return later->first - first->last < 200;
	return later->seconds - first->seconds <= seconds;
}

static bool died_before(const struct incident *e)
{
	return str_has(e->taint, "D");
}

/*
 * Returns whether a report is no crash: it is of the OOM killer, or of an error that the kernel
 * handled.
 */
static bool is_no_crash(const struct incident *e)
{
	return e->kind == KIND_OOM || e->kind == KIND_AER || e->kind == KIND_IOMMU ||
	       e->kind == KIND_IO_ERROR;
}

/*
 * Returns whether two texts name one device: "PCI:0000:3b:00" and "0000:3b:00.0", "sdb: state A"
 * and "sdb: state EA", "dm-1" and its journal "dm-1-8". An empty text may be any device.
 */
static bool same_device(struct str a, struct str b)
{
	size_t n;

	a = str_starts(a, "PCI:") ? str_from(a, 4) : a;
	b = str_starts(b, "PCI:") ? str_from(b, 4) : b;
	n = a.n < b.n ? a.n : b.n;
	if (str_has(a, ": ") && str_has(b, ": "))
		n = str_find(a, ": ") + 1;
	return str_same(str_first(a, n), str_first(b, n)) && !is_digit(str_at(a, n)) &&
	       !is_digit(str_at(b, n));
}

/* Returns whether a report repeats an earlier report of the same task. */
static bool is_again(const struct incident *first, const struct incident *e)
{
	if (e->kind == KIND_HANG && first->kind == KIND_HANG)
		return e->detail.n && str_same(e->detail, first->detail);
	if (e->kind == first->kind && (e->kind == KIND_OOM || e->kind == KIND_IOMMU))
		return within(first, e, AFTERMATH_SECONDS);
	if (e->kind == first->kind && kind_is_of_device(e->kind))
		return same_device(e->detail, first->detail);
	return e->kind == first->kind && !e->fatal && e->has_pid && first->has_pid &&
	       e->pid == first->pid && within(first, e, AFTERMATH_SECONDS);
}

/*
 * Marks consequences of the first oops: later oopses, hangs of tasks that wait for its locks, and
 * the panic.
 */
static void mark_aftermath(struct recognised *r)
{
	const struct incident *first = NULL;

	for (size_t i = 0; i < r->n; i++) {
		struct incident *e = &r->event[i];

		if (!first) {
			if (e->fatal && e->kind != KIND_PANIC)
				first = e;
			continue;
		}
		if (e->number > 1 && e->number > first->number)
			e->consequence = true;
		else if (died_before(e) || e->kind == KIND_PANIC)
			e->consequence = true;
		else if (!kind_is_precursor(e->kind) && !e->fatal &&
			 within(first, e, AFTERMATH_SECONDS))
			e->consequence = true;
		else if (e->kind == KIND_HANG)
			e->consequence = true;
	}
}

static void mark_consequences(struct recognised *r)
{
	for (size_t i = 1; i < r->n; i++)
		for (size_t k = 0; k < i && !r->event[i].consequence; k++)
			r->event[i].consequence = is_again(&r->event[k], &r->event[i]);
	mark_aftermath(r);
}

/* Writes the kernel's own message. A Rust panic prints its message on the next line. */
static void write_reported(struct judged *j)
{
	const struct incident *e = j->e;
	struct str said = str_trim(e->note.n ? e->note : j->ls->line[e->first].text), message = {};

	if (str_starts(said, "rust_kernel: panicked at ") && e->first + 1 < j->ls->n)
		message = str_trim(j->ls->line[e->first + 1].text);
	snprintf(j->v->text, sizeof(j->v->text), "%.*s%s%.*s", STR_ARG(said), message.n ? " " : "",
		 STR_ARG(message));
}

static void say(struct judged *j)
{
	struct diagnosis *v = j->v;
	const char *says = mechanism_meaning(v->mechanism);
	size_t n;

	if (!*says) {
		write_reported(j);
		return;
	}
	n = snprintf(v->text, sizeof(v->text), "%s", says);
	if (v->has_base && j->fault && n < sizeof(v->text) && v->mechanism != MECH_NULL_CALL)
		snprintf(v->text + n, sizeof(v->text) - n, ": %s held 0x%" PRIx64 ", %s 0x%" PRIx64,
			 v->base_register, v->base, v->offset < 0 ? "minus" : "plus",
			 v->offset < 0 ? -(uint64_t)v->offset : (uint64_t)v->offset);
}

/*
 * Returns whether a report is minor. If the log also has a crash, a minor report is only its
 * precursor.
 */
static bool is_minor(const struct incident *e)
{
	return kind_is_precursor(e->kind) || (e->signature && e->signature->flags & SIG_ASIDE);
}

#define SAME_SECONDS 1

/* If a warning has no address, takes the address from the next report of its task. */
static void borrow_address(const struct triage *t, struct diagnosis *v)
{
	const struct incident *e = v->event, *next;

	if (v->has_address || v->index + 1 >= t->seen.n || v->kind == KIND_GPF)
		return;
	next = &t->seen.event[v->index + 1];
	if (!next->has_address || !next->has_pid || next->pid != e->pid || !e->has_pid ||
	    !within(e, next, SAME_SECONDS))
		return;
	v->has_address = true;
	v->address = next->address;
	v->region = region_of(next, next->address);
	v->size = next->size;
	v->access = v->access == ACCESS_NONE ? next->access : v->access;
	rule_fired(v, "O1", "the address is of the next report, of the same task");
}

void judge_report(struct triage *t, uint32_t index, struct diagnosis *v)
{
	struct judged j;

	memset(v, 0, sizeof(*v));
	v->event = &t->seen.event[index];
	v->index = index;
	j = (struct judged){.e = v->event, .ls = &t->lines, .v = v};
	judge_facts(&j);
	borrow_address(t, v);
	judge_functions(&j);
	judge_mechanism(&j);
	judge_suspects(&j, t);
	judge_particulars(&j, t);
	judge_confidence(&j);
	judge_bucket(v);
	say(&j);
}

static void judge(struct triage *t, uint32_t index)
{
	if (t->verdicts == DIAGNOSES_MAX)
		t->lost_verdicts++;
	else
		judge_report(t, index, &t->verdict[t->verdicts++]);
}

/* Analyses the first reports that are no crash, if the log has no crash. */
static int judge_notices(struct triage *t)
{
	if (t->verdicts)
		return 0;
	t->notice = calloc(NOTICES_MAX, sizeof(*t->notice));
	if (!t->notice)
		return -ENOMEM;
	for (size_t i = 0; i < t->seen.n && t->notices < NOTICES_MAX; i++)
		if (!t->seen.event[i].consequence)
			judge_report(t, i, &t->notice[t->notices++]);
	return 0;
}

static struct str module_of(const struct diagnosis *v)
{
	return v->suspects && !v->culprit_unknown ? v->suspect[0].module : (struct str){};
}

/* Rates a report: 1 if it is minor, 2 if it shows that the kernel is broken. */
static int gravity(const struct incident *e)
{
	return is_minor(e) ? 1 : 2;
}

/* Returns whether a report is only a complaint. A machine may run for days after it. */
static bool is_complaint(const struct incident *e)
{
	/* lockdep sees that memory is freed while it is in use: the crash follows from this */
	if (e->signature && str_has(str_of(e->signature->pattern), "held lock freed"))
		return false;
	switch (e->kind) {
	case KIND_WARNING:
	case KIND_LOCKDEP:
	case KIND_ATOMIC_SLEEP:
	case KIND_UBSAN:
	case KIND_KCSAN:
	case KIND_LEAK:
	case KIND_HANG:
	case KIND_OTHER:
		return !e->fatal && !e->panicked;
	default:
		return false;
	}
}

/* Returns whether a report shows damage: an oops, or memory that was found to be corrupt. */
static bool is_damage(const struct incident *e)
{
	switch (e->kind) {
	case KIND_KASAN_UAF:
	case KIND_KASAN_OOB:
	case KIND_KASAN_OTHER:
	case KIND_INVALID_FREE:
	case KIND_KFENCE_UAF:
	case KIND_KFENCE_OOB:
	case KIND_KFENCE_CORRUPTION:
	case KIND_SLAB_CORRUPTION:
		return true;
	default:
		return e->fatal;
	}
}

/* Returns whether KASAN made the report: it says which bug led to the crash. */
static bool is_explanation(enum kind k)
{
	return k == KIND_KASAN_UAF || k == KIND_KASAN_OOB || k == KIND_KASAN_OTHER ||
	       k == KIND_INVALID_FREE;
}

/* Returns whether `first` is a warning of the module that crashed later: it announced the crash. */
static bool announces(const struct diagnosis *first, const struct diagnosis *later)
{
	struct str module = module_of(first);

	return !first->event->fatal && !is_explanation(first->event->kind) && later->event->fatal &&
	       module.n && !str_is(module, "vmlinux") && str_same(module, module_of(later));
}

/* Returns whether two diagnoses name different suspects first. */
static bool disagree(const struct diagnosis *a, const struct diagnosis *b)
{
	return !str_same(module_of(a), module_of(b));
}

/*
 * Returns whether damage matters more than an earlier complaint. A hang may itself be the cause of
 * a crash soon after it. A hang also matters more than a complaint about another module, after
 * which the machine continued. Any report says more than the rest of one whose first lines are
 * missing.
 */
static bool outweighs(const struct diagnosis *first, const struct diagnosis *later)
{
	if (first->kind == KIND_UNKNOWN && first->event->headless)
		return later->kind != KIND_UNKNOWN;
	if (is_complaint(first->event) && first->kind != KIND_HANG && later->kind == KIND_HANG)
		return disagree(first, later);
	return is_complaint(first->event) && is_damage(later->event) &&
	       (first->event->kind != KIND_HANG ||
		!within(first->event, later->event, AFTERMATH_SECONDS));
}

/*
 * Lowers the confidence in the headline if the log has another complaint, which is no consequence
 * and names another suspect: either of the two may be what the reader looks for.
 */
static void doubt(struct triage *t)
{
	struct diagnosis *v = t->primary < 0 ? NULL : &t->verdict[t->primary];

	for (uint32_t i = 0; v && is_complaint(v->event) && i < t->verdicts; i++)
		if (disagree(v, &t->verdict[i]) && v->confidence == CONFIDENCE_HIGH)
			v->confidence = CONFIDENCE_MEDIUM;
}

static void find_order(struct triage *t)
{
	int best = 0;

	t->primary = -1;
	for (uint32_t i = 0; i < t->verdicts; i++) {
		int g = gravity(t->verdict[i].event);

		if (g > best ||
		    (t->primary >= 0 && outweighs(&t->verdict[t->primary], &t->verdict[i]))) {
			best = g;
			t->primary = i;
		}
	}
	for (uint32_t i = t->primary + 1; t->primary >= 0 && i < t->verdicts; i++)
		if (announces(&t->verdict[t->primary], &t->verdict[i])) {
			t->verdict[t->primary].announced = true;
			t->primary = i;
			break;
		}
	doubt(t);
	for (uint32_t i = 0; i < t->verdicts; i++) {
		struct diagnosis *v = &t->verdict[i];

		for (uint32_t k = 0; k < t->seen.n; k++) {
			const struct incident *e = &t->seen.event[k];

			if (k < v->index && v->precursors < PRECURSORS_MAX)
				v->precursor[v->precursors++] = (struct precursor){
					.event = k,
					.timed = e->timed && v->event->timed,
					.before = v->event->seconds - e->seconds};
			if (k > v->index && e->consequence && !v->consequences++)
				v->first_consequence = k;
		}
	}
}

int triage_run(struct triage *ret, const struct triage_input *input, size_t inputs)
{
	struct triage t = {.primary = -1};
	bool serious = false;
	int err = lines_read(&t.lines, input, inputs);

	if (err)
		return err;
	err = recognise(&t.seen, &t.lines);
	if (err)
		goto out;
	t.verdict = calloc(DIAGNOSES_MAX, sizeof(*t.verdict));
	if (!t.verdict) {
		err = -ENOMEM;
		goto out;
	}
	mark_consequences(&t.seen);
	for (size_t i = 0; i < t.seen.n; i++)
		serious |= !is_minor(&t.seen.event[i]);
	for (size_t i = 0; i < t.seen.n; i++)
		if (!t.seen.event[i].consequence && !is_no_crash(&t.seen.event[i]) &&
		    (!is_minor(&t.seen.event[i]) || !serious))
			judge(&t, i);
	find_order(&t);
	err = judge_notices(&t);
	*ret = t;
out:
	if (err)
		triage_free(&t);
	return err;
}

void triage_free(struct triage *t)
{
	recognised_free(&t->seen);
	lines_free(&t->lines);
	free(t->verdict);
	free(t->notice);
	memset(t, 0, sizeof(*t));
}
