// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the post-mortem of an OOM kill for people: as plain text, or as Markdown. */
#include "render/oom_pages.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"
#include "render/text/text.h"
#include "render/utc.h"

#define LABEL_COLUMNS 14
#define PARTS_MOST    6 /* kinds of memory that a page lists */
#define ROWS_MOST     8 /* processes that a page lists */
#define BAR_CELLS     30

/* Where a page is written, and in which form. */
struct page_writer {
	struct buf *b;
	const struct view *v;
	const struct oom_page *p;
	bool markdown;
};

/* Appends text with the characters escaped that have a meaning in Markdown. */
static void put_markdown(struct buf *b, const struct view *v, const char *text)
{
	struct buf safe = {};

	buf_safe(&safe, text, v->unicode);
	for (const char *c = safe.s ? safe.s : ""; *c; c++) {
		if (strchr("`*_<>[]|\\#", *c))
			buf_putc(b, '\\');
		buf_putc(b, *c);
	}
	buf_end_part(b, &safe);
}

static void put_heading(const struct page_writer *w, const char *text)
{
	if (!w->markdown) {
		styled_wrap(w->b, w->v, STYLE_BOLD, 4, "%s", text);
		return;
	}
	buf_puts(w->b, "## ");
	put_markdown(w->b, w->v, text);
	buf_puts(w->b, "\n\n");
}

/* Writes a row "label  text", or in Markdown a list item. Empties the text. */
static void put_row(const struct page_writer *w, const char *label, struct buf *text)
{
	if (!text->len) {
		buf_next_part(w->b, text);
		return;
	}
	if (w->markdown) {
		if (*label)
			buf_printf(w->b, "* **%s**: ", label);
		else
			buf_puts(w->b, "  * ");
		put_markdown(w->b, w->v, text->s);
		buf_putc(w->b, '\n');
	} else {
		styled_wrap(w->b, w->v, STYLE_PLAIN, LABEL_COLUMNS, "%-*s%s", LABEL_COLUMNS, label,
			    text->s);
	}
	buf_next_part(w->b, text);
}

static void put_command(const struct page_writer *w, const char *command)
{
	if (!*command)
		return;
	if (w->markdown)
		buf_printf(w->b, "  * `%s`\n", command);
	else
		styled_line(w->b, w->v, STYLE_DIM, "%*s$ %s", LABEL_COLUMNS, "", command);
}

static void put_victim(struct buf *t, const struct oom_record *r)
{
	buf_printf(t, "%.15s[%u]", r->comm, r->subject.pid);
	if (r->pid_inside == 1 && r->subject.pid != 1)
		buf_puts(t, ", PID 1 of its container");
}

void oom_put_title(struct buf *b, const struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;
	const struct oom_scene_record *s = &p->kill->scene;
	char name[24];

	put_victim(b, r);
	if (p->kill->victims > 1)
		buf_printf(b, " and %s more", as_count(p->kill->victims - 1).s);
	switch (p->scope) {
	case OOM_SCOPE_CGROUP:
		buf_printf(b, " OOM-killed: %s of cgroup %s reached", p->limit_file,
			   s->cgroup[0] ? s->cgroup : "(unknown)");
		break;
	case OOM_SCOPE_HOST:
		buf_puts(b, " OOM-killed: the memory of the machine was exhausted");
		break;
	case OOM_SCOPE_NODES:
		buf_puts(b, " OOM-killed: the memory of its NUMA nodes was exhausted (cpuset or "
			    "memory policy)");
		break;
	case OOM_SCOPE_DAEMON:
		buf_printf(b, " killed by %.15s[%u] (%s), not by the kernel", r->by_comm, r->by,
			   signal_name(r->sent, name, sizeof(name)));
		break;
	default:
		buf_puts(b, " OOM-killed: the limit is not known");
	}
}

static void put_where(const struct page_writer *w, struct buf *t)
{
	const struct oom_scene_record *s = &w->p->kill->scene;

	buf_printf(t, "%s", as_utc(s->wall_ns).s);
	if (w->v->m->host.host[0])
		buf_printf(t, ", host %s", w->v->m->host.host);
	put_row(w, "when", t);
	if (s->pod[0] || s->container[0]) {
		buf_printf(t, "%s%s%s%s%s", s->namespace, s->namespace[0] ? "/" : "", s->pod,
			   s->pod[0] && s->container[0] ? ", container " : "", s->container);
		put_row(w, "container", t);
	}
	buf_puts(t, s->victim_cgroup);
	put_row(w, "cgroup", t);
}

static void put_limit_row(const struct page_writer *w, struct buf *t)
{
	const struct oom_page *p = w->p;
	const struct oom_scene_record *s = &p->kill->scene;

	if (p->scope == OOM_SCOPE_CGROUP)
		buf_printf(t, "%s of %s", p->limit_file, s->cgroup[0] ? s->cgroup : "(unknown)");
	else if (p->scope == OOM_SCOPE_HOST)
		buf_puts(t, "memory of the machine");
	else if (p->scope == OOM_SCOPE_NODES)
		buf_puts(t, "memory of the NUMA nodes of its cpuset or memory policy");
	else if (p->scope == OOM_SCOPE_DAEMON)
		buf_puts(t, "none: the program decided by its own settings");
	if (p->scope == OOM_SCOPE_DAEMON && p->limit != FIGURE_UNKNOWN) {
		if (p->used != FIGURE_UNKNOWN)
			buf_printf(t, "; %s had %s of %s in use",
				   s->cgroup[0] ? s->cgroup : "the machine", as_bytes(p->used).s,
				   as_bytes(p->limit).s);
	} else if (t->len && p->limit != FIGURE_UNKNOWN) {
		buf_printf(t, ": %s", as_bytes(p->limit).s);
		if (p->used != FIGURE_UNKNOWN)
			buf_printf(t, ", %s in use", as_bytes(p->used).s);
	}
	if (s->swap_limit != FIGURE_UNKNOWN && p->kill->first.version != 1)
		buf_printf(t, "; swap: %s of %s",
			   as_bytes(s->swap_used != FIGURE_UNKNOWN ? s->swap_used : 0).s,
			   as_bytes(s->swap_limit).s);
	if (t->len && !p->certain)
		buf_puts(t, " (inferred: the kernel's report of this kill is missing)");
	put_row(w, "limit", t);
	if (s->zone[0] && p->scope != OOM_SCOPE_CGROUP) {
		buf_printf(t, "%s: %s free, the kernel keeps %s", s->zone, as_bytes(s->zone_free).s,
			   as_bytes(s->zone_min).s);
		put_row(w, "zone", t);
	}
}

static void put_request(const struct page_writer *w, struct buf *t)
{
	const struct oom_record *r = &w->p->kill->first;
	const struct oom_scene_record *s = &w->p->kill->scene;
	const struct frames *f = oom_kills_stack(w->v->m, r);
	char name[24];

	buf_printf(t, "%.15s[%u]", r->by_comm, r->by);
	if (r->sent)
		buf_printf(t, " sent %s", signal_name(r->sent, name, sizeof(name)));
	else if (s->in_log)
		buf_printf(t, ": %s, %s", as_bytes((1ULL << (s->order & 31)) * w->p->page_bytes).s,
			   s->gfp);
	put_row(w, r->sent ? "sent by" : "requested by", t);
	if (f)
		text_frames(t, f);
	put_row(w, "stack", t);
	for (const char *at = s->path; *at; at++)
		buf_printf(t, *at == ' ' ? " <- " : "%c", *at);
	put_row(w, "kernel path", t);
}

static void put_blame(const struct page_writer *w, struct buf *t)
{
	const struct oom_page *p = w->p;

	oom_put_blame(t, p);
	if (p->grown_ns)
		buf_printf(t, "; it grew by %s in %s", as_bytes(p->grown_bytes).s,
			   as_span(p->grown_ns / 1e9).s);
	put_row(w, "to blame", t);
	if (p->kind_known) {
		buf_printf(t, "%s", oom_kind_text(p->kind));
		if (p->part[0].bytes)
			buf_printf(t, ", %s", as_bytes(p->part[0].bytes).s);
		put_row(w, "filled by", t);
	}
}

static void put_age(const struct page_writer *w, struct buf *t)
{
	const struct oom_scene_record *s = &w->p->kill->scene;

	switch (s->source) {
	case OOM_FROM_LOG:
		buf_puts(t, "values that the kernel logged just before the kill");
		break;
	case OOM_FROM_SCAN:
		buf_printf(t,
			   "values of the last scan, %s before the kill, and what %.15s took since",
			   as_span((s->kill_ns - s->values_ns) / 1e9).s, w->p->kill->first.comm);
		break;
	default:
		buf_puts(t, "not known: neither the kernel log nor an earlier scan has them");
	}
}

static void put_parts(const struct page_writer *w, struct buf *t)
{
	const struct oom_page *p = w->p;
	const struct oom_scene_record *s = &p->kill->scene;
	uint64_t waits = 0;

	put_age(w, t);
	put_row(w, "memory", t);
	for (size_t i = 0; i < p->parts && i < PARTS_MOST; i++) {
		buf_printf(t, "%10s  %s", as_bytes(p->part[i].bytes).s,
			   oom_kind_text(p->part[i].kind));
		put_row(w, "", t);
	}
	if (s->memory[OOM_DIRTY] != FIGURE_UNKNOWN && s->memory[OOM_WRITEBACK] != FIGURE_UNKNOWN)
		waits = s->memory[OOM_DIRTY] + s->memory[OOM_WRITEBACK];
	if (p->kill->has_scene && waits) {
		buf_printf(t, "%10s  of the page cache was dirty or being written",
			   as_bytes(waits).s);
		put_row(w, "", t);
	}
	if (p->unmapped_bytes) {
		buf_printf(t, "%10s  %sof shared memory and tmpfs is mapped by no listed process",
			   as_bytes(p->unmapped_bytes).s, p->unmapped_at_least ? "at least, " : "");
		put_row(w, "", t);
	}
}

static const char *or_dash(uint64_t bytes, struct number_text *room)
{
	*room = as_bytes(bytes);
	return bytes != FIGURE_UNKNOWN ? room->s : "-";
}

static void put_process(const struct page_writer *w, const struct oom_holder_record *h)
{
	struct number_text rss, anon, shmem, swap, tables;
	const char *mark = h->pid == w->p->kill->first.subject.pid ? "killed" : "";

	if (w->markdown) {
		buf_printf(w->b, "| %u | ", h->pid);
		put_markdown(w->b, w->v, h->comm);
		buf_printf(w->b, " | %s | %s | %s | %s | %s | %d | %s |\n", or_dash(h->rss, &rss),
			   or_dash(h->anon, &anon), or_dash(h->shmem, &shmem),
			   or_dash(h->swap, &swap), or_dash(h->page_tables, &tables), h->score_adj,
			   mark);
		return;
	}
	styled_line(w->b, w->v, STYLE_PLAIN, "  %8u %-15s %9s %9s %9s %9s %11s %5d %s", h->pid,
		    h->comm, or_dash(h->rss, &rss), or_dash(h->anon, &anon),
		    or_dash(h->shmem, &shmem), or_dash(h->swap, &swap),
		    or_dash(h->page_tables, &tables), h->score_adj, mark);
}

static void put_processes(const struct page_writer *w)
{
	const struct oom_kill *k = w->p->kill;
	uint32_t rows = k->holders < ROWS_MOST ? k->holders : ROWS_MOST;

	if (!rows)
		return;
	if (w->markdown)
		buf_puts(w->b,
			 "\n| pid | program | RSS | anonymous | shared | swap | page tables | "
			 "adj | |\n|---:|---|---:|---:|---:|---:|---:|---:|---|\n");
	else
		styled_line(w->b, w->v, STYLE_DIM, "  %8s %-15s %9s %9s %9s %9s %11s %5s", "pid",
			    "program", "RSS", "anonymous", "shared", "swap", "page tables", "adj");
	for (uint32_t i = 0; i < rows; i++)
		put_process(w, &k->holder[i]);
	if (k->scene.tasks > rows) {
		if (w->markdown)
			buf_putc(w->b, '\n'); /* ends the table */
		styled_wrap(w->b, w->v, STYLE_PLAIN, 2, "%s%s of %s processes are listed",
			    w->markdown ? "" : "  ", as_count(rows).s,
			    as_count(k->scene.tasks).s);
	}
	if (w->markdown)
		buf_putc(w->b, '\n');
}

static void put_curve(const struct page_writer *w)
{
	const struct oom_page *p = w->p;
	const struct oom_scene_record *s = &p->kill->scene;
	size_t n = oom_curve_points(s);
	uint64_t most = p->limit != FIGURE_UNKNOWN ? p->limit : 0;
	struct buf t = {};

	for (size_t i = 0; i < n; i++)
		if (s->curve_bytes[i] > most)
			most = s->curve_bytes[i];
	if (!n) {
		buf_puts(&t, "no scan saw the memory of this cgroup before the kill");
		put_row(w, "before", &t);
	}
	for (size_t i = 0; i < n && most; i++) {
		buf_printf(&t, "%8s earlier %9s  ", as_span((s->kill_ns - s->curve_ns[i]) / 1e9).s,
			   as_bytes(s->curve_bytes[i]).s);
		buf_repeat(&t, "#", s->curve_bytes[i] * BAR_CELLS / most);
		put_row(w, i ? "" : "before", &t);
	}
	if (n && most && p->used != FIGURE_UNKNOWN) {
		buf_printf(&t, "%16s %9s  ", "at the kill", as_bytes(p->used).s);
		buf_repeat(&t, "#", p->used * BAR_CELLS / most);
		put_row(w, "", &t);
	}
	buf_end_part(w->b, &t);
}

static void put_advice(const struct page_writer *w, struct buf *t)
{
	for (size_t i = 0; i < w->p->advices; i++) {
		buf_puts(t, w->p->advice[i].text);
		put_row(w, i ? "" : "would help", t);
		put_command(w, w->p->advice[i].command);
	}
}

static void put_page(const struct page_writer *w)
{
	struct buf t = {};

	oom_put_title(&t, w->p);
	put_heading(w, t.s ? t.s : "");
	buf_next_part(w->b, &t);
	put_blame(w, &t);
	put_limit_row(w, &t);
	put_request(w, &t);
	put_where(w, &t);
	put_parts(w, &t);
	put_processes(w);
	put_curve(w);
	put_advice(w, &t);
	buf_end_part(w->b, &t);
}

void oom_page_text(struct buf *b, const struct view *v, const struct oom_page *p)
{
	put_page(&(struct page_writer){b, v, p, false});
}

void oom_page_markdown(struct buf *b, const struct view *v, const struct oom_page *p)
{
	put_page(&(struct page_writer){b, v, p, true});
}

void oom_list_heading(struct buf *b, const struct view *v)
{
	styled_line(b, v, STYLE_DIM, "%-22s %-24s %-8s %-16s %s", "when", "killed", "where",
		    "filled by", "page");
}

void oom_list_line(struct buf *b, const struct view *v, const char *name, const struct oom_page *p)
{
	const struct oom_record *r = &p->kill->first;
	char who[40];

	snprintf(who, sizeof(who), "%.15s[%u]", r->comm, r->subject.pid);
	styled_wrap(b, v, STYLE_PLAIN, 4, "%-22s %-24s %-8s %-16s %s",
		    as_utc(p->kill->scene.wall_ns).s, who, oom_scope_key(p->scope),
		    p->kind_known ? oom_kind_key(p->kind) : "-", name);
}
