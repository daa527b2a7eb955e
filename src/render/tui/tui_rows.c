// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes the rows of the live view's tables: processes, their order, and their cgroups. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/ended.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"

#define ROWS_MAX (2 * MODEL_SUBJECTS_MAX)

static bool has_word(const char *text, const char *word, size_t len)
{
	for (; text && *text; text++) {
		size_t i = 0;

		while (i < len &&
		       tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

static bool has_finding(const struct view *v, const struct subject *s, const char *word, size_t len)
{
	for (size_t i = 0; i < v->findings->n; i++) {
		const struct finding *f = &v->findings->f[i];

		if (f->open && same_subject(&f->subject, &s->id) &&
		    has_word(f->rule->id, word, len))
			return true;
	}
	return false;
}

static bool tui_matches(const struct tui *t, const struct view *v, const struct subject *s)
{
	char pid[16];

	if (s->hidden)
		return false;
	snprintf(pid, sizeof(pid), "%u", s->id.pid);
	for (const char *at = t->filter; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		if (len && !has_word(s->now.g.comm, at, len) && !has_word(pid, at, len) &&
		    !has_word(s->cgroup, at, len) && !has_word(s->exe, at, len) &&
		    !has_finding(v, s, at, len))
			return false;
		at += len;
	}
	return true;
}

static int by_rank(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->s->id.pid < y->s->id.pid ? -1 : x->s->id.pid > y->s->id.pid;
}

static const char *path_of(const struct subject *s)
{
	return s->cgroup && s->cgroup[0] ? s->cgroup : "/";
}

/* Compares by path. A cgroup precedes its members, and its members precede the next cgroup. */
static int by_path(const void *a, const void *b)
{
	const char *x = path_of(((const struct row *)a)->s),
		   *y = path_of(((const struct row *)b)->s);

	while (*x && *x == *y)
		x++, y++;
	if (*x == *y)
		return by_rank(a, b);
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
}

static double rank_of(const struct tui *t, const struct view *v, const struct columns *c,
		      const struct subject *s)
{
	const struct tab *tab = &tui_tabs[t->tab];
	int sort = t->sort[t->tab];
	double rank;
	struct use u;

	if (sort < 0 && t->ended) /* the latest first */
		rank = s->last_ns;
	else if (sort >= 0 && sort < (int)c->n)
		rank = tui_value(v, s, &c->c[sort]);
	else if (tab->near < 0)
		rank = text_activity(v, s);
	else
		rank = resource_use(v->m, s, tab->near, &u) && use_is_bounded(&u)
			       ? (double)u.value / u.limit
			       : -1;
	return t->inverted ? -rank : rank;
}

static uint64_t hash_of(const char *s, size_t len)
{
	uint64_t h = hash64_bytes(HASH64_BEGIN, s, len);

	return h ? h : 1;
}

static bool is_folded(const struct tui *t, uint64_t hash)
{
	for (size_t i = 0; i < t->nr_folded; i++)
		if (t->folded[i] == hash)
			return true;
	return false;
}

/* Adds rows for the cgroups in `path` that are not in `before`. Returns the depth of `path`. */
static int add_groups(const struct tui *t, struct rows *r, const char *path, const char *before,
		      size_t most)
{
	size_t len = strlen(path), from = 0;
	int depth = 0;

	while (from < len) {
		size_t end = from + 1 + strcspn(path + from + 1, "/");
		bool known = before && !strncmp(path, before, end) &&
			     (before[end] == '/' || !before[end]);

		if (!known && r->nr_all < most) {
			struct row *g = &r->all[r->nr_all++];

			*g = (struct row){
				.path = path, .len = end, .name = from + (end > from + 1)};
			g->depth = depth;
			g->hash = hash_of(path, end);
			g->folded = is_folded(t, g->hash);
		}
		from = end;
		depth++;
	}
	return depth;
}

/* Returns the maximum number of rows for cgroups: one for each slash in each path. */
static size_t count_groups(const struct row *s, size_t n)
{
	size_t parts = 0;

	for (size_t i = 0; i < n; i++) {
		const char *before = i ? path_of(s[i - 1].s) : NULL, *path = path_of(s[i].s);

		if (before && !strcmp(before, path))
			continue;
		for (const char *at = path; *at; at++)
			parts += *at == '/';
	}
	return parts;
}

static void count_below(struct rows *r)
{
	for (size_t i = 0; i < r->nr_all; i++) {
		size_t to = i + 1;

		if (r->all[i].s)
			continue;
		while (to < r->nr_all && r->all[to].depth > r->all[i].depth)
			to++;
		r->all[i].below = to - i - 1;
	}
}

static int make_tree(const struct tui *t, struct rows *r)
{
	struct row *flat = r->all;
	size_t n = r->nr_all, most = n + count_groups(flat, n);

	qsort(flat, n, sizeof(*flat), by_path);
	r->all = calloc(most < ROWS_MAX ? most : ROWS_MAX, sizeof(*r->all));
	r->nr_all = 0;
	for (size_t i = 0; r->all && i < n && r->nr_all + 1 < ROWS_MAX; i++) {
		const char *before = i ? path_of(flat[i - 1].s) : NULL;
		int depth = add_groups(t, r, path_of(flat[i].s), before, most);

		flat[i].depth = depth;
		if (r->nr_all < most)
			r->all[r->nr_all++] = flat[i];
	}
	free(flat);
	count_below(r);
	return r->all ? 0 : -ENOMEM;
}

static void show_rows(struct rows *r)
{
	r->n = 0;
	for (size_t i = 0; i < r->nr_all; i++) {
		r->shown[r->n++] = i;
		if (r->all[i].folded)
			i += r->all[i].below;
	}
}

static void add_row(const struct tui *t, const struct view *v, const struct columns *c,
		    const struct subject *s, struct rows *ret, size_t room)
{
	if (ret->nr_all < room && tui_matches(t, v, s))
		ret->all[ret->nr_all++] = (struct row){.s = s, .rank = rank_of(t, v, c, s)};
}

int tui_rows(const struct tui *t, const struct view *v, struct rows *ret)
{
	bool any = v->m->subject.chain && v->m->subjects <= MODEL_SUBJECTS_MAX;
	size_t kept = t->ended && v->m->ended ? v->m->ended->n : 0;
	size_t room = (any ? v->m->subjects : 0) + kept;
	struct columns c;
	int err = 0;

	*ret = (struct rows){.all = calloc(room + 1, sizeof(*ret->all))};
	if (!ret->all)
		return -ENOMEM;
	tui_columns(t, v, &c);
	for (const struct subject *s = any ? model_each(v->m, NULL) : NULL; s;
	     s = model_each(v->m, s))
		if (!t->ended || s->final)
			add_row(t, v, &c, s, ret, room);
	for (const struct subject *s = kept ? model_each_ended(v->m, NULL) : NULL; s;
	     s = model_each_ended(v->m, s))
		/* those of the last interval are in the snapshot too, and have rates there */
		if (!model_find(v->m, &s->id))
			add_row(t, v, &c, s, ret, room);
	if (t->tree && ret->nr_all)
		err = make_tree(t, ret);
	else if (ret->nr_all)
		qsort(ret->all, ret->nr_all, sizeof(*ret->all), by_rank);
	if (!err)
		/* overflow is impossible: nr_all is at most ROWS_MAX */
		ret->shown = calloc(ret->nr_all + 1, sizeof(*ret->shown));
	if (err || !ret->shown)
		return -ENOMEM;
	show_rows(ret);
	return 0;
}

void rows_free(struct rows *r)
{
	free(r->all);
	free(r->shown);
	*r = (struct rows){};
}

static bool is_chosen(const struct tui *t, const struct row *r)
{
	if (!r->s)
		return t->chosen_group == r->hash;
	return !t->chosen_group && same_subject(&r->s->id, &t->chosen);
}

void tui_choose(struct tui *t, const struct rows *r, size_t at)
{
	const struct row *row;

	t->at = at < r->n ? at : r->n ? r->n - 1 : 0;
	if (!r->n)
		return;
	row = &r->all[r->shown[t->at]];
	t->chosen_group = row->s ? 0 : row->hash;
	t->chosen = row->s ? row->s->id : (struct process_key){};
}

void tui_place(struct tui *t, const struct rows *r, size_t height)
{
	for (size_t i = 0; t->follows && i < r->n; i++)
		if (is_chosen(t, &r->all[r->shown[i]])) {
			t->at = i;
			break;
		}
	tui_choose(t, r, t->at);
	if (t->at < t->top)
		t->top = t->at;
	if (height && t->at >= t->top + height)
		t->top = t->at - height + 1;
	if (t->top + height > r->n)
		t->top = r->n > height ? r->n - height : 0;
}
