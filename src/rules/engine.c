// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "rules/event_count.h"
#include "rules/fault.h"
#include "rules/limits_rules.h"
#include "rules/refusal_rules.h"
#include "rules/stack_rules.h"
#include "rules/unsettled.h"

/* A finding about an event closes if no such event follows within this time. */
#define QUIET_NS 60000000000ULL

const char *severity_name(enum severity s)
{
	static const char *const name[] = {"info", "warning", "critical"};

	return name[s];
}

static struct evidence *add_evidence(struct finding *f, const char *field)
{
	struct evidence *e = &f->evidence[f->nr_evidence];

	if (f->nr_evidence < EVIDENCE_MAX)
		f->nr_evidence++;
	return evidence_init(e, field);
}

struct evidence *finding_number(struct finding *f, const char *field, enum evidence_unit unit,
				uint64_t value)
{
	struct evidence *e = add_evidence(f, field);

	evidence_set(e, unit, value);
	return e;
}

struct evidence *finding_real(struct finding *f, const char *field, enum evidence_unit unit,
			      double value)
{
	struct evidence *e = add_evidence(f, field);

	evidence_set_real(e, unit, value);
	return e;
}

struct evidence *finding_text(struct finding *f, const char *field, const char *format, ...)
{
	struct evidence *e = add_evidence(f, field);
	va_list ap;

	va_start(ap, format);
	vsnprintf(e->text, sizeof(e->text), format, ap);
	va_end(ap);
	return e;
}

void finding_take_evidence(struct finding *f, const struct verdict *v)
{
	for (size_t i = 0; i < v->nr_evidence; i++)
		*add_evidence(f, "") = v->evidence[i];
}

size_t finding_rows(struct finding *f, int n)
{
	f->starved |= n < 0;
	return n < 0 ? 0 : n;
}

void finding_title(struct finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->title, sizeof(f->title), format, ap);
	va_end(ap);
}

void finding_advise(struct finding *f)
{
	for (size_t i = 0; i < RULE_ADVICE_MAX && f->rule->advice[i].text; i++)
		finding_take_row(f, &f->rule->advice[i]);
}

struct remedy *finding_remedy(struct finding *f, enum remedy_kind kind, const char *format, ...)
{
	struct remedy *r = &f->remedy[f->nr_remedies];
	va_list ap;

	if (f->nr_remedies == REMEDIES_MAX)
		return NULL;
	f->nr_remedies++;
	*r = (struct remedy){.kind = kind, .persistent = kind == REMEDY_FIX};
	va_start(ap, format);
	vsnprintf(r->text, sizeof(r->text), format, ap);
	va_end(ap);
	return r;
}

struct remedy *finding_host_remedy(struct finding *f, enum remedy_kind kind, const char *text)
{
	return remedy_with_scope(finding_remedy(f, kind, "%s", text), SCOPE_HOST);
}

void finding_take_row(struct finding *f, const struct remedy_row *row)
{
	struct remedy *r = finding_remedy(f, row->kind, "%s", row->text);

	if (!r)
		return;
	r->scope = row->scope;
	r->persistent = row->persistent;
	if (row->command)
		remedy_command(r, "%s", row->command);
	if (row->risk)
		snprintf(r->risk, sizeof(r->risk), "%s", row->risk);
}

static void add_of_origin(struct finding *f, const struct origin_record *r, bool persistent,
			  const char *command)
{
	const struct limit *l = &limit_table[r->limit];
	struct remedy *one;

	if (!command[0])
		return;
	one = finding_remedy(f, REMEDY_WORKAROUND, "raise %s %s", l->name,
			     persistent ? "permanently" : "now");
	if (!one)
		return;
	one->persistent = persistent;
	one->scope = r->host_wide ? SCOPE_HOST : remedy_scope_of(l);
	remedy_command(one, "%s", command);
	snprintf(one->risk, sizeof(one->risk), "%s", r->cost);
}

void finding_take_origin(struct finding *f, const struct origin_record *r)
{
	size_t kept = 0;

	snprintf(f->set_by, sizeof(f->set_by), "%s", r->set_by);
	if (f->hopeless || (!r->at_once[0] && !r->for_good[0]))
		return;
	for (size_t i = 0; i < f->nr_remedies; i++)
		if (f->remedy[i].kind != REMEDY_WORKAROUND || !f->remedy[i].command[0])
			memmove(&f->remedy[kept++], &f->remedy[i], sizeof(f->remedy[0]));
	f->nr_remedies = kept;
	add_of_origin(f, r, false, r->at_once);
	add_of_origin(f, r, true, r->for_good);
}

static struct finding *find(struct findings *fs, const struct rule *rule,
			    const struct process_key *id)
{
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].rule == rule && same_subject(&fs->f[i].subject, id))
			return &fs->f[i];
	return NULL;
}

/* Returns a finding that is open, or that was last confirmed at `since_ns` or later. */
static const struct finding *open_since(const struct findings *fs, const char *id,
					const struct process_key *subject, uint64_t since_ns)
{
	for (size_t i = 0; i < fs->n; i++) {
		const struct finding *f = &fs->f[i];

		if ((f->open || f->seen_ns >= since_ns) && same_subject(&f->subject, subject) &&
		    !strcmp(f->rule->id, id))
			return f;
	}
	return NULL;
}

const struct finding *finding_open(const struct findings *fs, const char *id,
				   const struct process_key *subject)
{
	return open_since(fs, id, subject, UINT64_MAX);
}

static bool has_because(const struct finding *f, const struct rule *rule)
{
	for (size_t i = 0; i < f->nr_because; i++)
		if (f->because[i] == rule)
			return true;
	return f->rule == rule;
}

/*
 * Adds the findings that may have led to this one (rule->after). They must be open, or have closed
 * after this finding began. For example, an OOM kill frees memory, so the next scan closes the
 * finding about the memory shortage that led to the kill.
 */
static void add_because(const struct findings *fs, struct finding *f, const struct rule *rule)
{
	const char *at = rule->after ? rule->after : "";

	for (size_t len; *at && f->nr_because < BECAUSE_MAX; at += len + (at[len] == ' ')) {
		const struct finding *one;
		char id[8];

		len = strcspn(at, " ");
		snprintf(id, sizeof(id), "%.*s", (int)len, at);
		one = open_since(fs, id, &f->subject, f->since_ns);
		if (!one) /* a finding about the whole host may also be the cause */
			one = open_since(fs, id, &(struct process_key){}, f->since_ns);
		if (one && !has_because(f, one->rule))
			f->because[f->nr_because++] = one->rule;
	}
}

/*
 * Collects the findings that led to this one, those that led to them, and so on. If this chain
 * becomes longer, the finding is reported again.
 */
static void find_because(const struct findings *fs, struct finding *f)
{
	size_t known = f->nr_because;

	f->nr_because = 0;
	add_because(fs, f, f->rule);
	for (size_t i = 0; i < f->nr_because; i++)
		add_because(fs, f, f->because[i]);
	if (f->nr_because > known) {
		f->fresh = true;
		f->told = f->triggered = false;
	}
}

/*
 * If the table is full, returns the closed finding to overwrite: the least severe one. If several
 * are equally severe, returns the oldest of them. Returns NULL if no finding is closed.
 */
static struct finding *least_kept(struct findings *fs)
{
	struct finding *least = NULL;

	for (size_t i = 0; i < fs->n; i++) {
		struct finding *f = &fs->f[i];

		if (!f->open && !f->fresh &&
		    (!least || f->worst < least->worst ||
		     (f->worst == least->worst && f->seen_ns < least->seen_ns)))
			least = f;
	}
	return least;
}

static struct finding *add(struct findings *fs)
{
	struct finding *f;

	if (fs->n == FINDINGS_MAX) {
		f = least_kept(fs);
	} else {
		f = array_grow(fs->f, fs->n, &fs->room, FINDINGS_MAX, sizeof(*f));
		if (f) {
			fs->f = f;
			f = &fs->f[fs->n++];
		}
	}
	fs->lost += !f;
	return f;
}

static void count_severity(struct findings *fs, const struct finding *was,
			   const struct finding *now)
{
	int from = was ? (int)was->worst + 1 : 0;

	for (int s = from; s <= (int)now->severity; s++)
		fs->reached[s]++;
}

/* Opens the finding that a rule returned (`said`), or updates it if it is open. */
static void keep(struct findings *fs, const struct occasion *o, const struct finding *said)
{
	struct finding *f = find(fs, said->rule, &said->subject), was = {};
	bool news;

	if (f)
		was = *f;
	count_severity(fs, f, said);
	if (!f)
		f = add(fs);
	if (!f)
		return;
	fs->opened[said->severity] += !was.open;
	news = !was.open || was.level != said->level || was.severity != said->severity;
	*f = *said;
	if (was.open && was.limit == f->limit && was.want > f->want)
		/*
		 * the suggested limit must be enough for the largest request of the failed calls so
		 * far
		 */
		f->want = was.want;
	f->open = true;
	f->said = true;
	f->fresh = news || was.fresh;
	f->told = !news && was.told;
	f->triggered = !news && was.triggered;
	f->logged = was.logged;
	f->since_ns = was.open ? was.since_ns : o->t_ns;
	f->seen_ns = o->t_ns;
	f->worst = was.worst > said->severity ? was.worst : said->severity;
	f->nr_because = was.open ? was.nr_because : 0;
	if (was.open && was.call == f->call && was.times > f->times)
		/* each record has its own count of events: keep the highest count */
		f->times = was.times;
	find_because(fs, f);
}

/* Closes a finding. What was forecast while it was open is no forecast any more. */
static void clear(struct finding *f, uint64_t t_ns)
{
	limit_drop_forecast(f);
	f->seen_ns = t_ns;
	f->open = false;
	f->fresh = true;
	f->told = f->triggered = false;
}

/* Ends the title with the line of the user's code, if there is one and the title has room. */
static void end_title(struct finding *f)
{
	size_t len = strlen(f->title), by = strlen(f->by);

	if (!by || strstr(f->title, f->by) || len + strlen(", ") + by >= sizeof(f->title))
		return;
	strcpy(f->title + len, ", ");
	memcpy(f->title + len + strlen(", "), f->by, by + 1);
}

/* Begins a finding that the rule may fill. The rest of its empty texts and arrays has no value. */
static void begin(struct finding *f, const struct rule *rule, const struct process_key *id)
{
	memset(f, 0, offsetof(struct finding, place));
	f->place[0] = f->title[0] = f->by[0] = f->set_by[0] = 0;
	f->rule = rule;
	f->subject = *id;
}

static void judge(struct findings *fs, const struct rule *rule, const struct occasion *o,
		  const struct process_key *id, const char *comm)
{
	struct finding said, *open = find(fs, rule, id);

	if (open && !open->open)
		open = NULL;
	begin(&said, rule, id);
	if (rule->test(o, open, &said)) {
		if (o->refused)
			refusal_add_stack(o, &said);
		end_title(&said);
		if (o->refused)
			refusal_settle(o, open, &said);
		snprintf(said.comm, sizeof(said.comm), "%.*s", COMM_LEN - 1, comm);
		if (o->level || o->mount)
			snprintf(said.place, sizeof(said.place), "%.159s",
				 o->level ? o->level->now.path : o->mount->now.path);
		keep(fs, o, &said);
	} else if (rule_is_state(rule) && open && !said.starved) {
		clear(open, o->t_ns);
	}
	fs->lost += said.starved;
}

/* Returns whether the probe is on without which the rule cannot work. */
static bool works(const struct rule *rule, const struct model *m)
{
	return !rule->needs || model_hook_on(m, rule->needs);
}

/*
 * Calls the rules of a trigger. If the user's filter hides a process, the process gets no findings,
 * except findings about faults of the kernel.
 */
static void judge_all(struct findings *fs, enum trigger trigger, struct occasion *o,
		      const struct process_key *id, const char *comm)
{
	if (trigger != ON_KERNEL_FAULT)
		o->s = model_find(o->m, id);
	if (o->s && o->s->hidden)
		return;
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == trigger && works(&rules[i], o->m))
			judge(fs, &rules[i], o, id, comm);
}

static void judge_event(struct findings *fs, const struct model *m, const union event *e,
			bool cut_short)
{
	struct occasion o = {.m = m, .findings = fs, .t_ns = e->h.t_ns, .cut_short = cut_short};
	struct verdict v;

	switch (e->h.kind) {
	case RECORD_REFUSED:
		cause_of(&e->refused, &m->tick.limits, m->host.arch, &v);
		o.refused = &e->refused;
		o.verdict = &v;
		event_count_refused(fs, &e->refused);
		judge_all(fs, ON_REFUSED, &o, &e->refused.subject, e->refused.comm);
		break;
	case RECORD_SIGNAL:
		fault_of(&e->signal, &m->tick.limits, &v);
		o.signal = &e->signal;
		o.verdict = &v;
		judge_all(fs, ON_SIGNAL, &o, &e->signal.subject, e->signal.comm);
		stack_fault_take(fs, &e->signal, &v);
		break;
	case RECORD_OOM:
		oom_of(&e->oom, &v);
		o.oom = &e->oom;
		o.verdict = &v;
		judge_all(fs, ON_OOM, &o, &e->oom.subject, e->oom.comm);
		break;
	case RECORD_KERNEL_FAULT:
		o.kernel_fault = &e->kernel_fault;
		event_count_kernel_fault(fs, &e->kernel_fault);
		judge_all(fs, ON_KERNEL_FAULT, &o, &e->kernel_fault.subject, e->kernel_fault.comm);
		break;
	}
}

/* Counters of a process for the rules: most rules read some of them. */
struct room {
	struct counters now, was;
};

/* Returns an occasion to judge the state of a process. It is valid as long as `room`. */
static struct occasion state_of(struct findings *fs, const struct model *m, const struct subject *s,
				struct room *room)
{
	memset(room, 0, sizeof(*room));
	return (struct occasion){.m = m,
				 .findings = fs,
				 .s = s,
				 .now = facts_read_counters(&s->now, &room->now),
				 .was = facts_read_counters(subject_prev(s), &room->was),
				 .t_ns = m->last_ns};
}

/* Rules about the state of a process that work now: chosen once for all processes of a scan. */
struct subject_rules {
	const struct rule *rule[RULES_MAX];
	size_t n;
};

static void choose_subject_rules(const struct model *m, struct subject_rules *ret)
{
	ret->n = 0;
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == ON_SUBJECT && works(&rules[i], m))
			ret->rule[ret->n++] = &rules[i];
}

static void judge_subject(struct findings *fs, const struct model *m, const struct subject *s,
			  const struct subject_rules *r)
{
	struct room room;
	struct occasion o = state_of(fs, m, s, &room);

	for (size_t i = 0; i < r->n; i++)
		if (!limit_is_far(r->rule[i], m, s))
			judge(fs, r->rule[i], &o, &s->id, s->now.g.comm);
}

/*
 * Also calls the rules for processes without activity: their cgroup may fill up, or a limit of the
 * host may change.
 */
static void judge_sleeping(struct findings *fs, const struct model *m,
			   const struct subject_rules *r)
{
	bool all = m->limits_window == m->window;

	if (!all && m->levels_window != m->window)
		return;
	for (struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		if ((all || s->levels_window == m->window) && !s->final && !subject_changed(m, s) &&
		    !s->hidden)
			judge_subject(fs, m, s, r);
}

/*
 * After a scan, completes findings about events. When an event is judged, faultscope has not yet
 * read two things: the scan that shows what led to the event, and the counter with the exact number
 * of events.
 */
static void complete(struct findings *fs, const struct model *m)
{
	for (size_t i = 0; i < fs->n; i++) {
		if (fs->f[i].open)
			event_count_complete(fs, m, &fs->f[i]);
		if (fs->f[i].open && fs->f[i].said)
			find_because(fs, &fs->f[i]);
	}
}

static void judge_host(struct findings *fs, const struct model *m)
{
	struct occasion o = {.m = m, .findings = fs, .t_ns = m->last_ns};

	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == ON_HOST && works(&rules[i], m))
			judge(fs, &rules[i], &o, &(struct process_key){}, "");
}

static void judge_place(struct findings *fs, enum trigger trigger, const struct occasion *o,
			const struct process_key *id)
{
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].trigger == trigger && works(&rules[i], o->m))
			judge(fs, &rules[i], o, id, "");
}

/* Applies the rules for cgroups with a limit, and for mounts. */
static void judge_places(struct findings *fs, const struct model *m)
{
	struct occasion o = {.m = m, .findings = fs, .t_ns = m->last_ns};

	for (size_t i = 0; m->pressure && i < m->pressure->levels; i++) {
		o.level = &m->pressure->level[i];
		if (level_is_there(m, o.level))
			judge_place(fs, ON_CGROUP, &o, &o.level->id);
	}
	o.level = NULL;
	for (size_t i = 0; m->pressure && i < m->pressure->mounts; i++) {
		o.mount = &m->pressure->mount[i];
		if (mount_is_there(m, o.mount))
			judge_place(fs, ON_MOUNT, &o, &o.mount->id);
	}
}

/*
 * Decides whether a finding that no rule confirmed in this window stays open. Findings about events
 * close QUIET_NS after the last event.
 */
static void judge_quiet(struct findings *fs, const struct model *m, struct finding *f)
{
	const struct subject *s = model_find(m, &f->subject);

	if (rule_is_state(f->rule) && s && !s->final) {
		struct room room;
		struct occasion o = state_of(fs, m, s, &room);

		if (works(f->rule, m))
			judge(fs, f->rule, &o, &s->id, s->now.g.comm);
	} else if (rule_is_state(f->rule) || m->last_ns > f->seen_ns + QUIET_NS) {
		clear(f, m->last_ns);
	}
}

/*
 * Some failed calls of the last interval were kept. Judges those for which it is now known whether
 * the program repeated them with success. With `all`, also judges the others. Returns true if any
 * call was judged.
 */
static bool judge_unsettled(struct findings *fs, const struct model *m, bool all)
{
	union event e;
	bool any = false;

	for (; unsettled_next(fs, m, all, &e); any = true)
		judge_event(fs, m, &e, all);
	return any;
}

void findings_judge_events(struct findings *fs, const struct model *m)
{
	judge_unsettled(fs, m, false);
	while (fs->judged < m->events && !unsettled_is(m, &m->event[fs->judged]))
		judge_event(fs, m, &m->event[fs->judged++], false);
}

bool findings_judge_rest(struct findings *fs, const struct model *m)
{
	return judge_unsettled(fs, m, true);
}

void findings_judge(struct findings *fs, const struct model *m)
{
	struct subject_rules r;

	judge_unsettled(fs, m, false);
	for (; fs->judged < m->events; fs->judged++)
		if (!unsettled_keep(fs, m, &m->event[fs->judged]))
			judge_event(fs, m, &m->event[fs->judged], false);
	choose_subject_rules(m, &r);
	for (struct subject *s = model_each_changed(m, NULL); s; s = model_each_changed(m, s))
		if (!s->hidden)
			judge_subject(fs, m, s, &r);
	judge_sleeping(fs, m, &r);
	judge_places(fs, m);
	judge_host(fs, m);
	complete(fs, m);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->f[i].open && fs->f[i].seen_ns != m->last_ns)
			judge_quiet(fs, m, &fs->f[i]);
}

void findings_next_window(struct findings *fs)
{
	size_t kept = 0;

	fs->judged = 0;
	for (size_t i = 0; i < fs->n; i++) {
		fs->f[i].fresh = fs->f[i].said = false;
		if (fs->f[i].open || fs->keep_cleared)
			fs->f[kept++] = fs->f[i];
	}
	fs->n = kept;
}

void findings_free(struct findings *fs)
{
	free(fs->f);
	memset(fs, 0, sizeof(*fs));
}

int findings_copy(struct findings *to, const struct findings *from)
{
	struct findings copy = *from;

	copy.f = to->f;
	copy.room = to->room;
	if (copy.room < from->n && from->n <= FINDINGS_MAX) {
		free(copy.f);
		copy.f = malloc(from->room * sizeof(*copy.f));
		copy.room = copy.f ? from->room : 0;
	}
	if (copy.n > copy.room)
		copy.n = 0;
	if (copy.n)
		memcpy(copy.f, from->f, copy.n * sizeof(*copy.f));
	*to = copy;
	return copy.n == from->n ? 0 : -ENOMEM;
}
