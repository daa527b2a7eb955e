// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/tui/tui.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/ended.h"
#include "render/completeness.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"

#define LEAST_WIDTH  24
#define LEAST_HEIGHT 6
#define ROOMY_HEIGHT 14 /* minimum height of a screen that shows the machine's state */

static bool has_column(const struct columns *c, const struct field *f)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].cell == CELL_FIELD && c->c[i].f == f)
			return true;
	return false;
}

void tui_open(struct tui *t, const struct view *v)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < nr_fields && t->trends.fields < TREND_FIELDS; i++)
		if (fields[i].trend)
			t->trends.field[t->trends.fields++] = &fields[i];
	tui_obey_sort(t, v);
}

void tui_obey_sort(struct tui *t, const struct view *v)
{
	struct columns c;

	for (size_t tab = 0; tab < nr_tui_tabs && v->sort; tab++) {
		tui_columns_of(&tui_tabs[tab], v, &c);
		if (tui_tabs[tab].kind != TAB_TABLE || !has_column(&c, v->sort))
			continue;
		tui_columns_at(t, tab, v, &c);
		if (!has_column(&c, v->sort)) /* the user hides this column otherwise */
			t->choice[tab].made = false;
		t->tab = tab;
		t->sort[tab] = (struct tui_sort){true, CELL_FIELD, v->sort};
		return;
	}
}

void tui_free(struct tui *t)
{
	snapshot_free(&t->shot);
	findings_free(&t->findings);
	findings_free(&t->cleared);
	trends_clear(&t->trends);
}

void tui_forget(struct tui *t)
{
	snapshot_free(&t->shot);
	findings_free(&t->findings);
	findings_free(&t->cleared);
	trends_clear(&t->trends);
	t->events = t->events_shown = 0;
	t->has_scanned = false;
}

/* Keeps the events and the cleared findings of an interval. */
static int keep_events(struct tui *t, const struct view *v)
{
	for (size_t i = 0; i < v->m->events; i++)
		t->event[t->events++ % TUI_EVENTS] = v->m->event[i];
	return tui_keep_cleared(t, v->findings);
}

int tui_pass(struct tui *t, const struct view *v)
{
	int err = keep_events(t, v);

	return err ? err : trends_update(&t->trends, v->m);
}

int tui_show_now(struct tui *t, const struct view *v)
{
	int err = snapshot_take(&t->shot, v->m);

	if (!err)
		err = findings_copy(&t->findings, v->findings);
	t->events_shown = t->events;
	t->has_scanned = !err;
	return err;
}

int tui_update(struct tui *t, const struct view *v)
{
	int err = keep_events(t, v);

	if (!err && t->paused && t->has_scanned)
		return 0;
	if (!err)
		err = trends_update(&t->trends, v->m);
	if (err)
		t->has_scanned = false;
	return err ? err : tui_show_now(t, v);
}

void tui_show(struct tui *t, const struct process_key *id)
{
	t->chosen = *id;
	t->chosen_group = 0;
	t->follows = true;
	t->where = TUI_PROCESS;
	t->scroll = 0;
}

struct view tui_view(const struct tui *t, const struct view *v)
{
	struct view copy = *v;

	copy.m = &t->shot.m;
	copy.findings = &t->findings;
	copy.sort = NULL;
	copy.light = t->theme == THEME_LIGHT;
	copy.colour = v->colour && t->theme != THEME_NONE;
	return copy;
}

size_t tui_head_lines(const struct view *v)
{
	return v->height >= ROOMY_HEIGHT ? 5 : 2;
}

static bool has_timeline(const struct tui *t, const struct view *v)
{
	return t->timeline.end_ns && tui_head_lines(v) > 2;
}

const struct subject *tui_find(const struct view *v, const struct process_key *id)
{
	return model_find_any(v->m, id);
}

size_t tui_room(const struct tui *t, const struct view *v)
{
	size_t others = tui_head_lines(v) + 1 + has_timeline(t, v);

	return v->height > (int)others ? v->height - others : 0;
}

/* Appends text at the right end of a line, if there is room. */
static void put_right(struct line *l, const char *s, enum style style)
{
	int at = line_columns(l), len = text_columns(s);

	if (!len || at + len + 1 > l->v->width)
		return;
	buf_repeat(&l->b, " ", l->v->width - len - at);
	line_style(l, style);
	buf_puts(&l->b, s);
	line_style(l, STYLE_PLAIN);
}

/* Appends a part of the first line, if the whole part and `spare` more columns fit. */
static void put_part(struct line *l, const char *text, int spare)
{
	int at = line_columns(l);

	if (at + 2 + text_columns(text) + spare > l->v->width)
		return;
	line_printf(l, "  %s", text);
}

static size_t count_shown(const struct model *m)
{
	size_t n = 0;

	for (const struct subject *s = model_each(m, NULL); s; s = model_each(m, s))
		n += !s->hidden;
	return n;
}

static void write_first(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct host_record *h = &v->m->host;
	double window = model_window_seconds(v->m);
	struct line l = {.v = v};
	struct buf target = {}, count = {};
	char state[128], part[80];
	size_t shown;
	int spare;

	snprintf(state, sizeof(state), "%s%s%s%s%s", t->status, t->status[0] ? " " : "",
		 t->recording ? "REC" : "", t->recording && t->paused ? " " : "",
		 t->paused ? "PAUSED" : "");
	spare = state[0] ? text_columns(state) + 1 : 0;
	line_style(&l, STYLE_BOLD);
	line_printf(&l, "faultscope %s", h->version);
	buf_safe(&target, h->target[0] ? h->target : h->host, v->unicode);
	put_part(&l, target.s ? target.s : "", spare);
	buf_end_part(b, &target);
	put_part(&l, as_clock(view_seconds(v, v->m->last_ns)).s, spare);
	line_style(&l, STYLE_PLAIN);
	shown = count_shown(v->m);
	buf_printf(&count, "%s %s", as_count(shown).s, as_words(shown, "process{|es}").s);
	put_part(&l, count.s ? count.s : "", spare);
	buf_end_part(b, &count);
	if (window > 0) {
		snprintf(part, sizeof(part), "last %.*f s", window < 9.95 ? 1 : 0, window);
		put_part(&l, part, spare);
	}
	if (window > 0 && v->m->prev_own_cpu_ns) {
		snprintf(part, sizeof(part), "cost %.1f%% of a CPU",
			 (v->m->tick.own_cpu_ns - v->m->prev_own_cpu_ns) / (window * 1e7));
		put_part(&l, part, spare);
	}
	put_right(&l, state, STYLE_WARNING);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the fault rates summed over all processes, with their trends. */
static void write_rates(const struct tui *t, const struct view *v, struct buf *b)
{
	static const struct {
		const struct field *f;
		const char *name;
	} shown[] = {{FIELD(min_flt), " faults/s minor"},
		     {FIELD(maj_flt), "   major"},
		     {FIELD(stall), "   stalled"}};
	int cells = v->width < 96 ? 8 : v->width / 10;
	struct line l = {.v = v};

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const struct field *f = shown[i].f;
		double last = 0;

		if (!is_available(v->m, f->hook, f->lacks) ||
		    line_columns(&l) + cells + 20 > v->width)
			continue;
		trends_read(&t->trends, NULL, f, &last, 1);
		line_printf(&l, "%s ", shown[i].name);
		line_cell(&l, as_field_figure(f, last).s, f->unit == UNIT_NS ? 7 : i ? 6 : 9, true);
		line_printf(&l, "%s ", f->unit == UNIT_NS ? "/s" : "");
		tui_spark(t, &l, NULL, f, cells, 0);
	}
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the use of the machine's resources, the fullest first. */
static void write_machine(const struct view *v, struct buf *b)
{
	int cells = v->width < 96 ? 6 : 10;
	bool said[NR_RESOURCES] = {};
	struct line l = {.v = v};

	line_printf(&l, " machine ");
	for (int n = 0; n < NR_RESOURCES; n++) {
		double most = -1;
		int which = -1;
		struct use u;

		for (int i = 0; i < NR_RESOURCES; i++) {
			if (resources[i].scope != OF_HOST || said[i] ||
			    !resource_use(v->m, NULL, i, &u) || !use_is_bounded(&u))
				continue;
			if ((double)u.value / u.limit > most) {
				most = (double)u.value / u.limit;
				which = i;
			}
		}
		if (which < 0)
			break;
		said[which] = true;
		if (line_columns(&l) + cells + (int)strlen(resources[which].what) + 12 > v->width)
			break;
		line_printf(&l, " %s [", resources[which].what);
		line_style(&l, share_style(most));
		line_bar(&l, most, cells);
		line_style(&l, STYLE_PLAIN);
		line_printf(&l, "] %.1f%% ", 100 * most);
	}
	line_end(&l, b, STYLE_PLAIN);
}

/*
 * Writes the number of findings and the most severe finding. If there is no finding, writes the
 * gaps (reasons why the result is incomplete).
 */
static void write_findings(const struct view *v, struct buf *b)
{
	const struct finding *f[FINDINGS_MAX];
	size_t n = tui_findings(v, f, FINDINGS_MAX), of[NR_SEVERITIES] = {};
	struct line l = {.v = v};
	struct buf title = {}, gaps = {};

	for (size_t i = 0; i < n && i < FINDINGS_MAX; i++)
		of[f[i]->severity]++;
	if (!n) {
		gaps_of(&gaps, v);
		line_printf(&l, " no finding");
		if (has_gaps(&gaps)) {
			line_printf(&l, "   incomplete: ");
			gaps_join(&l.b, &gaps);
		}
		buf_free(&gaps);
		line_end(&l, b, STYLE_DIM);
		return;
	}
	for (int s = NR_SEVERITIES - 1; s >= 0; s--)
		if (of[s])
			line_printf(&l, " %zu %s", of[s], severity_name(s));
	line_printf(&l, ":  %s ", f[0]->rule->id);
	if (f[0]->rule->trigger != ON_HOST) {
		char who[WHO_BYTES];

		finding_who(f[0], who, sizeof(who));
		line_printf(&l, "%s: ", who);
	}
	buf_safe(&title, f[0]->title, v->unicode);
	line_printf(&l, "%s", title.s ? title.s : "");
	buf_end_part(b, &title);
	line_end(&l, b, severity_style(f[0]->severity));
}

const char *tui_tab_name(const struct view *v, size_t tab, char *ret, size_t size)
{
	const struct finding *f[1];
	size_t found = tui_tabs[tab].kind == TAB_FINDINGS ? tui_findings(v, f, 1) : 0;

	if (found)
		snprintf(ret, size, "%s %zu", tui_tabs[tab].name, found);
	else
		snprintf(ret, size, "%s", tui_tabs[tab].name);
	return ret;
}

static void write_tabs(const struct tui *t, const struct view *v, struct buf *b)
{
	struct line l = {.v = v};
	struct buf right = {};

	for (size_t i = 0; i < nr_tui_tabs; i++) {
		bool here = i == t->tab;
		char name[TUI_TAB_NAME];

		tui_tab_name(v, i, name, sizeof(name));
		line_style(&l, here ? STYLE_SELECTED : STYLE_DIM);
		line_printf(&l, here && !v->colour ? "[%s]" : " %s ", name);
		line_style(&l, STYLE_PLAIN);
	}
	if (t->filter[0]) {
		buf_puts(&right, "filter: ");
		buf_safe(&right, t->filter, v->unicode);
	} else if (tui_tabs[t->tab].kind == TAB_TABLE) {
		if (t->ended)
			buf_puts(&right, "ended");
		if (t->tree)
			buf_printf(&right, "%s%s", t->ended ? ", " : "",
				   t->tree == TREE_OF_CGROUPS ? "by cgroup" : "by parent");
		if (!t->ended && !t->tree) {
			buf_puts(&right, "order: ");
			tui_put_order(&right, t, v);
		}
	}
	put_right(&l, right.s ? right.s : "", STYLE_ACCENT);
	buf_end_part(b, &right);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the name of the current page, in place of the tabs. */
static void write_where(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct subject *s = tui_find(v, &t->chosen);
	struct line l = {.v = v};
	bool has_process = t->where != TUI_HELP && t->where != TUI_COLUMNS;
	size_t at = t->lines ? t->scroll + 1 : 0, of = t->lines;
	char lines[48];

	if (t->where == TUI_HELP)
		line_printf(&l, " Help");
	else if (t->where == TUI_COLUMNS)
		line_printf(&l, " Columns of the tab %s", tui_tabs[t->tab].name);
	else if (t->where == TUI_FINDING)
		line_printf(&l, " Finding %s", t->chosen_rule ? t->chosen_rule->id : "");
	else if (t->where == TUI_COMMANDS)
		line_printf(&l, " Commands to copy");
	else
		line_printf(&l, "%s",
			    t->where == TUI_DIAGNOSIS ? " Diagnosis of "
			    : t->where == TUI_MEMORY  ? " Memory of "
						      : " Process ");
	if (t->where == TUI_COLUMNS) {
		at = t->column_at + 1;
		of = t->choice[t->tab].n;
	}
	if (has_process && t->chosen.pid) {
		line_printf(&l, t->where == TUI_FINDING || t->where == TUI_COMMANDS ? " of " : "");
		if (s)
			line_printf(&l, "%s", s->now.g.comm);
		line_printf(&l, "[%u]%s", t->chosen.pid, s && !s->final ? "" : " (ended)");
	}
	snprintf(lines, sizeof(lines), "line %zu of %zu ", at, of);
	put_right(&l, lines, STYLE_PLAIN);
	l.flat = true;
	line_end(&l, b, STYLE_SELECTED);
}

/* Writes the keys that fit. The least important ones, at the end, are dropped first. */
static void write_hints(const struct tui *t, struct line *l)
{
	static const char *const live[] = {
		"? help",   "q quit",	  "Enter open", "6 findings",  "/ filter",
		"s sort",   "d diagnose", "t tree",	"e ended",     "o columns",
		"c commands", "Tab view", "w record",	  "f find",	"Space pause", NULL,
	};
	static const char *const replay[] = {
		"? help",   "q quit",	   "] [ finding", "J time",	"Enter open", "6 findings",
		"e ended",  "Space pause", "/ filter",	  "d diagnose", "Tab view",   "s sort",
		". , scan", "} { minute",  "0 $ ends",	  "t tree",	"o columns",  "c commands",
		NULL,
	};
	static const char *const page[] = {
		"? help",     "q quit",		"Esc back", "Enter commands",
		"d diagnose", "Up Down scroll", NULL,
	};
	static const char *const replay_page[] = {
		"? help",     "q quit",		"Esc back",   "] [ finding",
		"J time",     "Enter commands", "d diagnose", ". , scan",
		"} { minute", "Up Down scroll", NULL,
	};
	static const char *const last_page[] = {"? help", "q quit", "Esc back", "Up Down scroll",
						NULL};
	static const char *const columns[] = {"? help",		 "q quit",     "Esc back",
					      "Space show/hide", "Left Right move",
					      "R as before",	 "Up Down",    NULL};
	bool replays = t->timeline.end_ns;
	bool is_last = t->where == TUI_HELP || t->where == TUI_COMMANDS;
	const char *const *hint = t->where == TUI_TABLE ? (replays ? replay : live)
				  : t->where == TUI_COLUMNS ? columns
				  : is_last		? last_page
				  : replays		? replay_page
							: page;

	for (; *hint && line_columns(l) + (int)strlen(*hint) + 2 <= l->v->width; hint++)
		line_printf(l, " %s ", *hint);
}

static void write_foot(const struct tui *t, const struct view *v, struct buf *b)
{
	const char *cursor = v->unicode ? "\u2588" : "_";
	struct line l = {.v = v};

	if (t->asks == ASKS_FILTER)
		line_printf(&l, "/%s%s  (words; Enter: keep the filter, Esc: leave it)", t->typed,
			    cursor);
	else if (t->asks == ASKS_SEARCH)
		line_printf(&l, "find: %s%s  (words; Enter: stay here, n: next, Esc: back)",
			    t->typed, cursor);
	else if (t->asks == ASKS_TIME)
		line_printf(&l,
			    " go to: %s%s  (14:03, 14:03:20; +90s: from the beginning; -30s: from "
			    "the end)",
			    t->typed, cursor);
	else if (t->say[0])
		line_printf(&l, " %s", t->say);
	else
		write_hints(t, &l);
	line_end(&l, b, t->say[0] ? STYLE_BOLD : STYLE_DIM);
}

static void draw_body(struct tui *t, const struct view *v, struct buf *b, size_t height)
{
	struct buf page = {};

	if (t->where == TUI_COLUMNS) {
		write_where(t, v, b);
		tui_draw_columns(t, v, b, height);
		return;
	}
	if (t->where == TUI_TABLE && tui_tabs[t->tab].kind != TAB_TEXT) {
		write_tabs(t, v, b);
		if (tui_tabs[t->tab].kind == TAB_TABLE)
			tui_draw_table(t, v, b, height);
		else
			tui_draw_findings(t, v, b, height);
		return;
	}
	/* draw the page first: this sets the number of lines, which the title shows */
	tui_draw_page(t, v, &page, height);
	if (t->where == TUI_TABLE)
		write_tabs(t, v, b);
	else
		write_where(t, v, b);
	buf_add(b, page.s ? page.s : "", page.len);
	buf_end_part(b, &page);
}

void tui_frame(struct tui *t, const struct view *given, struct buf *b)
{
	struct view v = tui_view(t, given);

	if (v.width < LEAST_WIDTH || v.height < LEAST_HEIGHT) {
		buf_puts(b, "too small\n");
		return;
	}
	if (!t->has_scanned) {
		buf_printf(b, "faultscope: %s\n", t->status[0] ? t->status : "first scan");
		return;
	}
	write_first(t, &v, b);
	if (tui_head_lines(&v) > 2) {
		write_rates(t, &v, b);
		write_machine(&v, b);
		write_findings(&v, b);
	}
	draw_body(t, &v, b, tui_room(t, &v));
	if (has_timeline(t, &v))
		tui_draw_timeline(t, &v, b);
	write_foot(t, &v, b);
}
