// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/limits/origin_rlimit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/names/process_names.h"
#include "collect/limits/origin_pam.h"
#include "collect/limits/origin_unit.h"

#define GENERATIONS_MOST 64

struct relative {
	struct origin_process p;
	uint32_t ppid;
};

static uint32_t status_number(struct span text, const char *key)
{
	struct span value;
	uint64_t number;

	if (!text_status(text, key, &value) || text_number(text_word(&value), &number))
		return 0;
	return number;
}

static bool read_process(struct files *f, uint32_t pid, const struct limit *l, struct relative *ret)
{
	char path[48], *s;
	struct span text, name;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (!pid || file_read(f, path, &s, &text.len))
		return false;
	text.s = s;
	ret->p.pid = pid;
	ret->p.uid = status_number(text, "Uid");
	ret->ppid = status_number(text, "PPid");
	if (text_status(text, "Name", &name))
		text_copy(name, ret->p.comm, sizeof(ret->p.comm));
	free(s);
	snprintf(path, sizeof(path), "/proc/%u/limits", pid);
	if (!file_read(f, path, &s, &text.len)) {
		text.s = s;
		ret->p.known = text_rlimit(text, l->title, &ret->p.soft, &ret->p.hard);
		free(s);
	}
	return true;
}

void origin_workload(struct files *f, uint32_t pid, struct workload *ret)
{
	char path[48], cgroup[512] = "", *s;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	if (pid && !file_read(f, path, &s, &len)) {
		cgroup_of(s, cgroup, sizeof(cgroup));
		free(s);
	}
	workload_of(cgroup, ret);
}

static bool has_same(const struct origin_process *a, const struct origin_process *b)
{
	return a->known && b->known && a->soft == b->soft && a->hard == b->hard;
}

/*
 * Finds the oldest ancestor that has the same limit as a process. Also finds the parent of that
 * ancestor, whose limit differs.
 */
static void climb(struct files *f, struct relative *at, struct origin *o)
{
	struct relative up;

	while (o->generations < GENERATIONS_MOST && read_process(f, at->ppid, o->limit, &up)) {
		if (!has_same(&at->p, &up.p)) {
			o->above = up.p;
			break;
		}
		*at = up;
		o->generations++;
	}
	o->holder = at->p;
}

static bool is_value(const struct origin_line *line, const struct origin *o)
{
	struct span text = {line->value, strlen(line->value)};
	const struct origin_process *p = &o->holder;
	uint64_t soft, hard;

	if (text_pair(text, &soft, &hard))
		return false;
	/* systemd lowers a value to fs.nr_open, the maximum for fds */
	if (o->most && soft != LIMIT_NONE)
		soft = soft < o->most ? soft : o->most;
	else if (o->most)
		soft = p->soft == o->most ? o->most : soft;
	if (o->most && (hard == LIMIT_NONE || hard > o->most) && p->hard == o->most)
		hard = o->most;
	return soft == p->soft && hard == p->hard;
}

/* Reads the unit files of the systemd that runs the unit: a container may have its own systemd. */
static bool find_in_unit(struct files *f, const struct origin *o, bool of_manager,
			 struct origin_line *ret)
{
	const struct workload *w = &o->at_holder;
	struct files inner, *where = f;
	bool found;

	if (w->unit_inside) {
		if (file_root_of(f, o->holder.pid, &inner))
			return false;
		where = &inner;
	}
	found = of_manager ? unit_find_default(where, w, o->limit->manager_key, ret)
			   : unit_find(where, w, w->unit, o->limit->unit_key, ret);
	if (w->unit_inside) {
		f->unread += inner.unread;
		close(inner.root);
	}
	return found;
}

/* Returns whether a limit is systemd's built-in default: 1024:524288 fds since version 240. */
static bool is_builtin(const struct origin *o)
{
	const struct origin_process *p = &o->holder;

	if (o->limit == &limit_table[LIMIT_NOFILE])
		return p->soft == 1024 && (p->hard == 524288 || p->hard == 4096);
	return o->limit == &limit_table[LIMIT_MEMLOCK] && p->soft == 8 << 20 && p->hard == 8 << 20;
}

static bool is_scope(const struct workload *w)
{
	return is_unit(w->unit, "scope");
}

/*
 * A process that systemd started has the limit of its unit, the manager's default, or systemd's
 * built-in default.
 */
static bool judge_unit(struct files *f, struct origin *o)
{
	const struct workload *w = &o->at_holder;
	struct origin_line line;

	/* systemd does not start the processes of a scope */
	if (!w->unit[0] || is_scope(w))
		return false;
	if (find_in_unit(f, o, false, &line)) {
		o->line = line;
		o->from = ORIGIN_FILE;
		return is_value(&line, o);
	}
	if (find_in_unit(f, o, true, &line) && is_value(&line, o)) {
		o->line = line;
		o->from = ORIGIN_FILE;
		return true;
	}
	o->from = ORIGIN_MANAGER;
	return is_builtin(o);
}

static bool judge_login(struct files *f, struct origin *o)
{
	struct pam_limit said = {.item = o->limit->word};
	struct user user;
	const struct origin_line *best;
	uint64_t unit = o->limit->ulimit_by, soft, hard, *value;
	struct span text;

	user_find(f, o->holder.uid, &user);
	said.user = &user;
	pam_find(f, &said);
	for (int i = 0; i < 2; i++) {
		best = i ? &said.hard : &said.soft;
		value = i ? &hard : &soft;
		*value = i ? o->holder.hard : o->holder.soft;
		text = (struct span){best->value, strlen(best->value)};
		if (!best->line || text_number(text, value))
			continue;
		if (*value != LIMIT_NONE)
			*value *= unit;
		if (*value != (i ? o->holder.hard : o->holder.soft))
			continue;
		o->line = *best;
		o->from = ORIGIN_FILE;
		return true;
	}
	return false;
}

/*
 * Returns whether o->holder, the oldest ancestor with the limit, is the first process of a
 * container. This is true if its parent is in another container, or in none.
 */
static bool judge_container(const struct origin *o, const struct workload *above)
{
	const struct workload *w = &o->at_holder;

	return w->runtime != RUNTIME_NONE && !w->unit[0] && strcmp(w->container, above->container);
}

static bool is_kernels(const struct origin *o)
{
	const struct origin_process *p = &o->holder;
	const struct limit *l = o->limit;

	if (l == &limit_table[LIMIT_MEMLOCK] && p->soft == 64 << 10 && p->hard == 64 << 10)
		return true; /* the kernel's default before 5.16 */
	return (l->initial == LIMIT_COMPUTED || p->soft == l->initial) &&
	       (l->initial_hard == LIMIT_COMPUTED || p->hard == l->initial_hard);
}

/* Returns whether a process raised its own soft limit to the inherited hard limit. */
static bool is_raised(const struct origin *o)
{
	const struct origin_process *p = &o->holder;
	struct span text = {o->line.value, strlen(o->line.value)};
	uint64_t soft, hard;

	if (p->soft != p->hard)
		return false;
	if (o->above.known && o->above.hard == p->hard)
		return true;
	if (o->line.line)
		return !text_pair(text, &soft, &hard) && hard == p->hard && soft < hard;
	return o->limit == &limit_table[LIMIT_NOFILE] && o->at_holder.unit[0] && p->hard == 524288;
}

/* Decides for a process without a known parent: it is pid 1, or its parent cannot be read. */
static void judge_first(struct origin *o)
{
	if (o->outside)
		o->from = ORIGIN_OUTSIDE;
	else if (o->holder.pid != 1)
		o->from = ORIGIN_UNKNOWN; /* its parent cannot be read */
	else
		o->from = is_kernels(o) ? ORIGIN_KERNEL : ORIGIN_PROCESS;
}

/* Finds who set the limit of o->holder, the oldest ancestor with the limit of the process. */
static void judge(struct files *f, struct origin *o)
{
	struct origin_line tried = {};
	struct workload above;

	origin_workload(f, o->above.pid, &above);
	if (strcmp(above.unit, o->at_holder.unit) || o->above.pid <= 1) {
		if (judge_unit(f, o))
			return;
		tried = o->line;
	}
	if (judge_login(f, o))
		return;
	o->line = tried;
	if (judge_container(o, &above))
		o->from = ORIGIN_RUNTIME;
	else if (o->above.pid && o->above.known)
		o->from = ORIGIN_PROCESS;
	else
		judge_first(o);
	o->raised = o->from == ORIGIN_PROCESS && is_raised(o);
}

/*
 * If the unit of the process itself sets the limit, chooses this unit: an ancestor outside of the
 * unit may have the same limit by chance.
 */
static bool judge_own_unit(struct files *f, struct origin *o, const struct relative *self)
{
	struct origin own = *o;

	own.holder = self->p;
	own.at_holder = o->workload;
	if (!judge_unit(f, &own) || own.from != ORIGIN_FILE)
		return false;
	own.above = (struct origin_process){};
	own.generations = 0;
	*o = own;
	return true;
}

void origin_of_rlimit(struct files *f, uint32_t pid, uint32_t ppid, struct origin *o)
{
	struct relative self, at;

	if (o->limit == &limit_table[LIMIT_NOFILE] &&
	    file_number(f, "/proc/sys/fs/nr_open", &o->most))
		o->most = 0;
	o->known = read_process(f, pid, o->limit, &self) && self.p.known;
	if (!o->known && !(read_process(f, ppid, o->limit, &self) && self.p.known))
		return;
	if (o->known) {
		o->value = self.p.soft;
		o->hard = self.p.hard;
	}
	at = self;
	climb(f, &at, o);
	if (judge_own_unit(f, o, &self))
		return;
	origin_workload(f, o->holder.pid, &o->at_holder);
	judge(f, o);
}
