// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "render/json_out.h"
#include "render/crash/crash_view.h"
#include "triage/next_steps.h"

#define TEXT_MAX 4096

static void json_str(struct json *j, const char *key, struct str s)
{
	struct buf b = {};

	s = str_first(s, TEXT_MAX);
	for (size_t i = 0; i < s.n; i++)
		if (s.s[i]) /* a NUL would end it */
			buf_add(&b, s.s + i, 1);
	json_text(j, key, b.s ? b.s : "");
	buf_free(&b);
}

static void json_str_or_null(struct json *j, const char *key, struct str s)
{
	if (s.n)
		json_str(j, key, s);
	else
		json_null(j, key);
}

static void json_hex(struct json *j, const char *key, bool known, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_text_or_null(j, key, known ? text : NULL);
}

static void json_count_or_null(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json_count(j, key, value);
	else
		json_null(j, key);
}

static void json_name(struct json *j, const struct triage_view *tv, const char *key, struct str s)
{
	struct buf b = {};

	triage_name(&b, tv, s);
	json_str_or_null(j, key, (struct str){b.s, b.len});
	buf_free(&b);
}

static void say_functions(struct json *j, const struct triage_view *tv, const struct diagnosis *v)
{
	json_name(j, tv, "function", v->functions ? v->function[0] : (struct str){});
	json_array(j, "functions");
	for (uint32_t i = 0; i < v->functions; i++)
		json_name(j, tv, NULL, v->function[i]);
	json_end_array(j);
	json_str_or_null(j, "module", v->module);
}

static void say_suspects(struct json *j, const struct triage_view *tv, const struct diagnosis *v)
{
	json_str_or_null(j, "culprit", v->culprit_unknown ? (struct str){} : v->suspect[0].module);
	json_array(j, "culprits");
	for (uint32_t i = 0; i < v->suspects; i++)
		json_str(j, NULL, v->suspect[i].module);
	json_end_array(j);
	json_flag(j, "hardware_likely", v->hardware);
	json_array(j, "suspects");
	for (uint32_t i = 0; i < v->suspects; i++) {
		const struct suspect *s = &v->suspect[i];

		json_object(j, NULL);
		json_str(j, "module", s->module);
		json_name(j, tv, "function", s->function);
		json_flag(j, "name_cut_off", s->cut);
		json_signed(j, "points", s->points);
		json_array(j, "reasons");
		for (uint32_t r = 0; r < s->reasons; r++) {
			json_object(j, NULL);
			json_signed(j, "points", s->reason[r].points);
			json_text(j, "why", s->reason[r].why);
			json_end(j);
		}
		json_end_array(j);
		json_end(j);
	}
	json_end_array(j);
}

static void say_line(struct json *j, const struct triage_view *tv, const struct triage *t,
		     uint32_t index)
{
	const struct log_line *l = &t->lines.line[index];

	json_text_or_null(j, "file", l->input < tv->names ? tv->name[l->input] : NULL);
	json_count(j, "line", l->number);
	json_str(j, "text", l->text);
}

static void say_evidence(struct json *j, const struct triage_view *tv, const struct triage *t,
			 const struct diagnosis *v)
{
	json_array(j, "evidence");
	for (uint32_t i = 0; i < v->event->nr_stated; i++) {
		json_object(j, NULL);
		say_line(j, tv, t, v->event->stated[i]);
		json_end(j);
	}
	json_end_array(j);
	json_array(j, "rules");
	for (uint32_t i = 0; i < v->nr_fired; i++) {
		json_object(j, NULL);
		json_text(j, "id", v->fired[i].id);
		json_text(j, "text", v->fired[i].text);
		json_end(j);
	}
	json_end_array(j);
}

static void say_trace(struct json *j, const struct triage_view *tv, const struct diagnosis *v)
{
	static const char *const parts[] = {"main", "other", "alloc", "free", "lock"};
	const struct incident *e = v->event;

	json_array(j, "trace");
	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];

		json_object(j, NULL);
		json_text(j, "part", parts[f->part]);
		json_name(j, tv, "function", f->function);
		json_str_or_null(j, "module", f->module);
		json_count(j, "offset", f->offset);
		json_count(j, "size", f->size);
		json_flag(j, "reliable", !f->unreliable);
		json_end(j);
	}
	json_end_array(j);
}

static void say_order(struct json *j, const struct triage_view *tv, const struct triage *t,
		      const struct diagnosis *v)
{
	json_array(j, "precursors");
	for (uint32_t i = 0; i < v->precursors; i++) {
		const struct incident *e = &t->seen.event[v->precursor[i].event];

		json_object(j, NULL);
		json_text(j, "kind", kind_name(e->kind));
		if (v->precursor[i].timed)
			json_real(j, "seconds_before", v->precursor[i].before);
		else
			json_null(j, "seconds_before");
		say_line(j, tv, t, e->first);
		json_end(j);
	}
	json_end_array(j);
	json_count(j, "consequences", v->consequences);
}

static void say_machine(struct json *j, const struct diagnosis *v)
{
	const struct incident *e = v->event;

	json_str_or_null(j, "kernel", e->kernel);
	json_text_or_null(j, "arch", *arch_name(e->arch) ? arch_name(e->arch) : NULL);
	json_str_or_null(j, "taint", e->taint);
	json_str_or_null(j, "comm", e->comm);
	json_count_or_null(j, "pid", e->has_pid, e->pid);
	json_count_or_null(j, "cpu", e->has_cpu, e->cpu);
	json_str_or_null(j, "hardware", e->hardware);
}

static void say_steps(struct json *j, const struct diagnosis *v)
{
	json_array(j, "remedy");
	for (size_t i = 0; i < STEPS_MAX; i++) {
		struct buf step = {};
		bool any = remedy_at(v, i, &step);

		if (any)
			json_text(j, NULL, step.s);
		buf_free(&step);
		if (!any)
			break;
	}
	json_end_array(j);
}

static void say_verdict(struct json *j, const struct triage_view *tv, const struct triage *t,
			const struct diagnosis *v)
{
	json_text(j, "kind", kind_name(v->kind));
	json_text(j, "semantic", verdict_semantic(v));
	json_text(j, "mechanism", verdict_mechanism(v));
	json_text(j, "says", v->text);
	json_text(j, "confidence", confidence_name(v->confidence));
	json_text_or_null(j, "access", v->access ? access_name(v->access) : NULL);
	json_count_or_null(j, "size", v->size, v->size);
	json_hex(j, "address", v->has_address, v->address);
	json_text_or_null(j, "region", v->has_address ? region_name(v->region) : NULL);
	json_hex(j, "base", v->has_base, v->base);
	say_functions(j, tv, v);
	say_suspects(j, tv, v);
	json_text(j, "bucket", v->bucket);
	json_text(j, "exact", v->exact);
	json_text(j, "stack", v->stack);
	say_machine(j, v);
	say_evidence(j, tv, t, v);
	say_trace(j, tv, v);
	say_order(j, tv, t, v);
	say_steps(j, v);
}

static void say_recorded(struct json *j, const struct recorded *c)
{
	json_object(j, "recorded");
	json_text(j, "boot_id", c->boot_id);
	json_flag(j, "fatal", c->fatal);
	json_count(j, "absorbed", c->absorbed);
	json_count(j, "left_out", c->left_out);
	json_count(j, "torn", c->torn);
	json_text_or_null(j, "accused", *c->module ? c->module : NULL);
	json_text_or_null(j, "why", *c->module ? c->why : NULL);
	json_text_or_null(j, "registers", *c->registers ? c->registers : NULL);
	json_array(j, "notes");
	for (uint32_t i = 0; i < c->notes; i++) {
		json_object(j, NULL);
		json_text(j, "class", bb_class_name(c->note[i].class));
		json_real(j, "before", c->note[i].before);
		json_text(j, "text", c->note[i].text);
		json_end(j);
	}
	json_end_array(j);
	json_array(j, "findings");
	for (size_t i = 0; i < c->portents.n; i++) {
		json_object(j, NULL);
		blackbox_json_portent(j, &c->portents.one[i]);
		json_end(j);
	}
	json_end_array(j);
	json_end(j);
}

void triage_json(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	struct json j;

	json_begin(&j, b);
	json_text(&j, "type", "triage");
	json_array(&j, "files");
	for (size_t i = 0; i < tv->names; i++)
		json_text(&j, NULL, tv->name[i]);
	json_end_array(&j);
	json_flag(&j, "crash", t->primary >= 0);
	if (t->primary >= 0)
		say_verdict(&j, tv, t, &t->verdict[t->primary]);
	json_array(&j, "others");
	for (uint32_t i = 0; i < t->verdicts; i++)
		if ((int32_t)i != t->primary && !t->verdict[i].announced)
			json_text(&j, NULL, t->verdict[i].bucket);
	json_end_array(&j);
	if (t->recorded.any)
		say_recorded(&j, &t->recorded);
	gaps_json(&j, tv->gaps);
	json_count(&j, "lines", t->lines.n);
	json_object(&j, "losses");
	json_count(&j, "bytes", t->lines.lost_bytes);
	json_count(&j, "lines", t->lines.lost_lines);
	json_count(&j, "reports", t->seen.lost + t->lost_verdicts);
	json_count(&j, "dropped_by_kernel", t->lines.dropped);
	json_count(&j, "not_understood", t->seen.unknown);
	json_end(&j);
	json_finish(&j);
}

static void json_time(struct json *j, const char *key, int64_t seconds)
{
	time_t when = seconds;
	char text[32];
	struct tm tm;

	if (seconds && gmtime_r(&when, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		json_text(j, key, text);
	else
		json_null(j, key);
}

void triage_buckets_json(struct buf *b, const struct triage_buckets *bs)
{
	for (size_t i = 0; i < bs->n; i++) {
		const struct triage_bucket *k = &bs->bucket[i];
		struct json j;

		json_begin(&j, b);
		json_text(&j, "type", "triage_bucket");
		json_text(&j, "bucket", k->name);
		json_text(&j, "kind", k->kind);
		json_text(&j, "module", k->module);
		json_count(&j, "count", k->count);
		json_time(&j, "first_seen", k->first);
		json_time(&j, "last_seen", k->last);
		json_text(&j, "example", k->example);
		json_array(&j, "kernels");
		for (size_t n = 0; n < k->kernels; n++)
			json_text(&j, NULL, k->kernel[n]);
		json_end_array(&j);
		json_flag(&j, "new", k->fresh);
		json_finish(&j);
	}
}
