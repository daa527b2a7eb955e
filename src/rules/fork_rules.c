// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rule about forked processes that copy the memory of their parent. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/pressure_rules.h"
#include "rules/runtime_hint.h"

#define COPIED_LEAST (128ULL << 20) /* bytes; if all children copied less, it is not reported */
/* Children that copy a smaller share of the parent's memory hardly need more memory for it. */
#define SHARE_OF_PARENT 0.2
/* A finding is a warning if the copies take this share of the memory that limits them. */
#define SHARE_OF_LIMIT 0.1
#define SOON_S	       600 /* it is a warning too if the copies fill the memory within this time */

/* What the living children of a process have copied since they were forked. */
struct copies {
	size_t children;	      /* those that have copied something */
	uint64_t bytes;		      /* sum of all children */
	uint64_t most_bytes;	      /* most bytes that one child has copied */
	double per_second;	      /* growth in the last window, in bytes */
	const struct subject *parent; /* NULL: faultscope does not watch it */
	const struct subject *teller; /* the child that the finding is about */
};

static uint64_t copied_pages(const struct facts *f)
{
	return count_served(facts_counters(f), CLASS_COW);
}

/* The kernel's count may be below 0 for a moment. */
static uint64_t anon_bytes(const struct occasion *o, const struct subject *s)
{
	return s->now.g.rss_anon_pages > 0 ? s->now.g.rss_anon_pages * o->m->tick.limits.page_bytes
					   : 0;
}

/* Returns true if `s` still has memory that it shares with its parent since the fork. */
static bool is_forked(const struct subject *s)
{
	return s->now.g.flags & PROC_BORN && !s->now.g.execs && !s->final &&
	       !(s->now.g.flags & PROC_SHARES_MM);
}

static double copies_per_second(const struct subject *s)
{
	if (!subject_prev(s)->t_ns || s->now.t_ns <= subject_prev(s)->t_ns)
		return 0;
	return (copied_pages(&s->now) - copied_pages(subject_prev(s))) * 1e9 /
	       (s->now.t_ns - subject_prev(s)->t_ns);
}

/* Adds up the children of o->s's parent. One of them tells: the first that had the finding. */
static void add_up(const struct occasion *o, const char *id, struct copies *ret)
{
	uint64_t page = o->m->tick.limits.page_bytes, bytes;
	uint32_t parent = o->s->now.g.ppid;

	for (struct subject *c = model_each(o->m, NULL); c; c = model_each(o->m, c)) {
		if (c->id.pid == parent && !c->final)
			ret->parent = c;
		if (c->now.g.ppid != parent || !is_forked(c))
			continue;
		bytes = copied_pages(&c->now) * page;
		if (!bytes)
			continue;
		ret->children++;
		ret->bytes += bytes;
		ret->per_second += copies_per_second(c) * page;
		if (bytes > ret->most_bytes)
			ret->most_bytes = bytes;
		if (!ret->teller || finding_open(o->findings, id, &c->id))
			ret->teller = c;
	}
	if (!ret->teller || !finding_open(o->findings, id, &ret->teller->id))
		ret->teller = o->s;
}

/*
 * Returns whether a finding that a child of the same parent had before says at least as much. Such
 * a finding is closed when its child ends before the others.
 */
static bool is_told(const struct occasion *o, const char *id, const struct copies *c)
{
	for (size_t i = 0; o->findings && i < o->findings->n; i++) {
		const struct finding *f = &o->findings->f[i];
		const struct subject *s =
			strcmp(f->rule->id, id) ? NULL : model_find(o->m, &f->subject);

		if (s && s != o->s && s->now.g.ppid == o->s->now.g.ppid &&
		    f->evidence[0].value >= c->bytes)
			return true;
	}
	return false;
}

/* Returns the memory that limits the process, of its cgroup or of the machine, and what is left. */
static uint64_t memory_of(const struct occasion *o, uint64_t *ret_left)
{
	const struct host_limits *l = &o->m->tick.limits;
	const struct level_room *cgroup = &o->s->memory;

	*ret_left = l->mem_available_bytes;
	if (cgroup->limit && cgroup->limit != UINT64_MAX &&
	    cgroup->limit * l->page_bytes < l->mem_total_bytes) {
		*ret_left = cgroup->limit > cgroup->used
				    ? (cgroup->limit - cgroup->used) * l->page_bytes
				    : 0;
		return cgroup->limit * l->page_bytes;
	}
	return l->mem_total_bytes;
}

/* Workers of PyTorch may have other names than their program. */
static bool may_run_python(const struct subject *s)
{
	return runs_python(s) || !strncmp(s->now.g.comm, "pt_", 3) ||
	       !strncmp(s->now.g.comm, "python", 6);
}

/* Returns how many bytes of the parent's memory the children have not copied yet; 0: not known. */
static uint64_t rest_of(const struct occasion *o, const struct copies *c)
{
	uint64_t all = c->parent ? anon_bytes(o, c->parent) * c->children : 0;

	return all > c->bytes ? all - c->bytes : 0;
}

static void say_copies(const struct occasion *o, const struct copies *c, struct finding *f)
{
	uint64_t left, all = memory_of(o, &left), rest = rest_of(o, c);
	/* The copies end when the children have copied all that they share. */
	bool soon = rest > left && c->per_second > 0 && left / c->per_second < SOON_S;
	uint64_t parent_bytes = c->parent ? anon_bytes(o, c->parent) : FIGURE_UNKNOWN;
	char parent[48] = "";
	bool one = c->children == 1;

	if (c->parent)
		snprintf(parent, sizeof(parent), " of %.15s[%u]", c->parent->now.g.comm,
			 c->parent->id.pid);
	f->severity =
		(all && c->bytes > all * SHARE_OF_LIMIT) || soon ? SEVERITY_WARNING : SEVERITY_INFO;
	f->level = f->severity + 1;
	finding_title(f, "%zu forked %s%s %s copied %s of memory that %s shared, %s each",
		      c->children, one ? "child" : "children", parent, one ? "has" : "have",
		      as_bytes(c->bytes).s, one ? "it" : "they",
		      as_bytes(c->bytes / c->children).s);
	evidence_bytes(f, "copied by all children", c->bytes, FIGURE_UNKNOWN);
	evidence_bytes(f, "most copied by one child, of the parent's memory", c->most_bytes,
		       parent_bytes);
	if (c->per_second > 0)
		finding_real(f, "growth of the copies", IN_BYTES_PER_SECOND, c->per_second);
	if (rest)
		evidence_bytes(f, "memory that they still share", rest, FIGURE_UNKNOWN);
	evidence_bytes(f, "memory left", left, all ? all : FIGURE_UNKNOWN);
	if (soon)
		finding_real(f, "at this rate, memory is full in", IN_SECONDS,
			     left / c->per_second);
	if (may_run_python(o->s))
		finding_text(f, "what copies",
			     "CPython writes a reference count into each object that it reads");
}

bool children_copy(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t page = o->m->tick.limits.page_bytes;
	struct copies c = {};

	if (!is_forked(o->s) || copied_pages(&o->s->now) * page < COPIED_LEAST / 32)
		return false;
	add_up(o, f->rule->id, &c);
	if (c.teller != o->s || (c.bytes < COPIED_LEAST && !open))
		return false;
	if (!open && is_told(o, f->rule->id, &c))
		return false;
	/* Children that end free their copies: the finding keeps the peak. */
	if (open && open->evidence[0].value > c.bytes) {
		*f = *open;
		return true;
	}
	if (c.parent && c.most_bytes < SHARE_OF_PARENT * anon_bytes(o, c.parent))
		return false;
	say_copies(o, &c, f);
	finding_advise(f);
	finding_remedy(f, REMEDY_WORKAROUND,
		       "start fewer workers: each worker fewer saves about %s so far",
		       as_bytes(c.bytes / c.children).s);
	return true;
}
