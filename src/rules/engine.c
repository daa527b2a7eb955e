// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/limits_rules.h"

/* Findings of events that came once stay open for this long. */
#define QUIET_NS 60000000000ULL

const char *severity_name(enum severity s)
{
	static const char *const name[] = {"info", "warning", "critical"};

	return name[s];
}

void finding_evidence(struct finding *f, const char *field, const char *value, const char *limit)
{
	struct evidence *e;

	if (f->nr_evidence == EVIDENCE_MAX)
		return;
	e = &f->evidence[f->nr_evidence++];
	snprintf(e->field, sizeof(e->field), "%s", field);
	snprintf(e->value, sizeof(e->value), "%s", value);
	snprintf(e->limit, sizeof(e->limit), "%s", limit ? limit : "");
}

void finding_remedy(struct finding *f, const char *format, ...)
{
	va_list ap;

	if (f->nr_remedies == REMEDIES_MAX)
		return;
	va_start(ap, format);
	vsnprintf(f->remedy[f->nr_remedies++], sizeof(f->remedy[0]), format, ap);
	va_end(ap);
}

static struct finding *find(struct findings *fs, const struct rule *rule,
			    const struct fs_subject *id)
{
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].rule == rule && fs->f[i].subject.pid == id->pid &&
		    fs->f[i].subject.start_ns == id->start_ns)
			return &fs->f[i];
	return NULL;
}

static struct finding *add(struct findings *fs)
{
	if (fs->n == FINDINGS_MAX) {
		fs->lost++;
		return NULL;
	}
	if (fs->n == fs->room) {
		size_t room = fs->room ? fs->room * 2 : 8;
		struct finding *f = realloc(fs->f, room * sizeof(*f));

		if (!f)
			return NULL;
		fs->f = f;
		fs->room = room;
	}
	return &fs->f[fs->n++];
}

/* Opens or refreshes what a rule said. */
static void keep(struct findings *fs, const struct occasion *o, const struct finding *said)
{
	struct finding *f = find(fs, said->rule, &said->subject);
	uint64_t since = o->t_ns;
	bool news = !f || !f->open || f->level != said->level || f->severity != said->severity;

	if (!f) {
		f = add(fs);
		if (!f)
			return;
		fs->opened[said->severity]++;
	} else if (f->open) {
		since = f->since_ns;
		news |= f->fresh;
	}
	*f = *said;
	f->open = true;
	f->fresh = news;
	f->since_ns = since;
	f->seen_ns = o->t_ns;
}

static void clear(struct finding *f, uint64_t t_ns)
{
	f->seen_ns = t_ns;
	f->open = false;
	f->fresh = true;
	f->told = false;
}

/* Judged by what is, not by an event that came once. */
static bool is_state(const struct rule *rule)
{
	return rule->trigger == ON_SUBJECT || rule->trigger == ON_HOST;
}

static void judge(struct findings *fs, const struct rule *rule, const struct occasion *o,
		  const struct fs_subject *id, const char *comm)
{
	struct finding said = {.rule = rule, .subject = *id}, *open = find(fs, rule, id);

	if (rule->needs && !model_hook_on(o->m, rule->needs))
		return;
	if (rule->test(o, open && open->open ? open : NULL, &said)) {
		snprintf(said.comm, sizeof(said.comm), "%.*s", FS_COMM_LEN - 1, comm);
		keep(fs, o, &said);
	} else if (is_state(rule) && open && open->open) {
		clear(open, o->t_ns);
	}
}

static void judge_event(struct findings *fs, const struct model *m, const union event *e)
{
	struct occasion o = {.m = m, .t_ns = e->h.t_ns};
	struct verdict v;

	if (e->h.kind == FS_REC_REFUSED) {
		cause_of(&e->refused, &m->tick.limits, m->host.arch, &v);
		o.s = model_find(m, &e->refused.subject);
		o.refused = &e->refused;
		o.verdict = &v;
		if (o.s && o.s->hidden)
			return;
		for (size_t i = 0; i < nr_rules; i++)
			if (rules[i].trigger == ON_REFUSED)
				judge(fs, &rules[i], &o, &e->refused.subject, e->refused.comm);
	} else if (e->h.kind == FS_REC_KERNEL_FAULT) {
		o.kernel_fault = &e->kernel_fault;
		for (size_t i = 0; i < nr_rules; i++)
			if (rules[i].trigger == ON_KERNEL_FAULT)
				judge(fs, &rules[i], &o, &e->kernel_fault.subject,
				      e->kernel_fault.comm);
	}
}

static void judge_subject(struct findings *fs, const struct model *m, const struct subject *s)
{
	struct occasion o = {.m = m, .s = s, .t_ns = m->last_ns};

	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == ON_SUBJECT && !limit_is_far(&rules[i], m, s))
			judge(fs, &rules[i], &o, &s->id, s->now.g.comm);
}

static void judge_host(struct findings *fs, const struct model *m)
{
	struct occasion o = {.m = m, .t_ns = m->last_ns};

	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == ON_HOST)
			judge(fs, &rules[i], &o, &(struct fs_subject){}, "");
}

/* An open finding that this window said nothing about: without growth, time passed all the same. */
static void judge_quiet(struct findings *fs, const struct model *m, struct finding *f)
{
	const struct subject *s = model_find(m, &f->subject);
	struct occasion o = {.m = m, .s = s, .t_ns = m->last_ns};

	if (is_state(f->rule) && s && !s->final)
		judge(fs, f->rule, &o, &s->id, s->now.g.comm);
	else if (is_state(f->rule) || m->last_ns > f->seen_ns + QUIET_NS)
		clear(f, m->last_ns);
}

void findings_judge_events(struct findings *fs, const struct model *m)
{
	while (fs->judged < m->events)
		judge_event(fs, m, &m->event[fs->judged++]);
}

void findings_judge(struct findings *fs, const struct model *m)
{
	findings_judge_events(fs, m);
	for (struct subject *s = model_each_changed(m, NULL); s; s = model_each_changed(m, s))
		if (!s->hidden)
			judge_subject(fs, m, s);
	judge_host(fs, m);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].open && fs->f[i].seen_ns != m->last_ns)
			judge_quiet(fs, m, &fs->f[i]);
}

void findings_next_window(struct findings *fs)
{
	size_t kept = 0;

	fs->judged = 0;
	for (size_t i = 0; i < fs->n; i++) {
		fs->f[i].fresh = false;
		if (fs->f[i].open)
			fs->f[kept++] = fs->f[i];
	}
	fs->n = kept;
}

void findings_free(struct findings *fs)
{
	free(fs->f);
	memset(fs, 0, sizeof(*fs));
}
