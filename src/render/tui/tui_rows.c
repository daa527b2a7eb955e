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

/*
 * Returns whether each of the words is in one of the texts, of which some may be NULL, or in the id
 * of an open finding about the process `s`, if it is not NULL.
 */
static bool has_words(const char *words, const char *const *texts, size_t n, const struct view *v,
		      const struct subject *s)
{
	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		bool found = !len || (s && has_finding(v, s, at, len));

		for (size_t i = 0; i < n && !found; i++)
			found = has_word(texts[i], at, len);
		if (!found)
			return false;
		at += len;
	}
	return true;
}

bool tui_matches(const struct view *v, const struct subject *s, const char *words)
{
	char pid[16];
	const char *texts[] = {s->now.g.comm, pid, s->cgroup, s->exe, s->command, s->user};

	snprintf(pid, sizeof(pid), "%u", s->id.pid);
	return has_words(words, texts, sizeof(texts) / sizeof(texts[0]), v, s);
}

bool tui_finding_matches(const struct finding *f, const char *words)
{
	char who[WHO_BYTES];
	const char *texts[] = {who, f->rule->id, f->title, severity_name(f->severity)};

	finding_who(f, who, sizeof(who));
	return has_words(words, texts, sizeof(texts) / sizeof(texts[0]), NULL, NULL);
}

static int by_rank(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	int order = rank_compare(&x->rank, &y->rank, x->inverted);

	if (order)
		return order;
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

/* What add_row() needs to make rows. */
struct row_maker {
	const struct tui *t;
	const struct view *v;
	struct columns c;
	struct ranking ranking;
	struct rows *to;
	size_t room;
};

static void add_row(struct row_maker *k, const struct subject *s)
{
	if (k->to->nr_all < k->room && !s->hidden && tui_matches(k->v, s, k->t->filter))
		k->to->all[k->to->nr_all++] = (struct row){
			.s = s,
			.rank = tui_rank(&k->ranking, k->t, k->v, &k->c, s),
			.inverted = k->t->inverted,
		};
}

/* Returns whether a process ended in this window or in the one before. */
static bool has_just_ended(const struct view *v, const struct subject *s)
{
	return s->window + 1 >= v->m->window;
}

/* Adds a row for each process that the tab shows. */
static void add_rows(struct row_maker *k)
{
	const struct view *v = k->v;
	bool any = v->m->subject.chain && v->m->subjects <= MODEL_SUBJECTS_MAX;

	for (const struct subject *s = any ? model_each(v->m, NULL) : NULL; s;
	     s = model_each(v->m, s))
		if (!k->t->ended || s->final)
			add_row(k, s);
	for (const struct subject *s = model_each_ended(v->m, NULL); s;
	     s = model_each_ended(v->m, s))
		/* those of the last interval are in the snapshot too, and have rates there */
		if ((k->t->ended || has_just_ended(v, s)) && !model_find(v->m, &s->id))
			add_row(k, s);
}

int tui_rows(const struct tui *t, const struct view *v, struct rows *ret)
{
	struct row_maker k = {.t = t, .v = v, .to = ret};
	int err = ranking_make(&k.ranking, t, v);

	k.room = v->m->subjects <= MODEL_SUBJECTS_MAX ? v->m->subjects : 0;
	k.room += v->m->ended ? v->m->ended->n : 0;
	*ret = (struct rows){.all = calloc(k.room + 1, sizeof(*ret->all))};
	if (!err && ret->all) {
		tui_columns(t, v, &k.c);
		add_rows(&k);
	}
	ranking_free(&k.ranking);
	if (err || !ret->all)
		return -ENOMEM;
	if (t->tree == TREE_OF_CGROUPS && ret->nr_all)
		err = make_tree(t, ret);
	else if (ret->nr_all)
		qsort(ret->all, ret->nr_all, sizeof(*ret->all), by_rank);
	if (t->tree == TREE_OF_PROCESSES && ret->nr_all)
		err = tui_parents(ret);
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
