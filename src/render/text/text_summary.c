// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page that `run --summary` ends with, beside what every run says: who cost what. */
#include <stdio.h>

#include "base/units.h"
#include "model/most_faults.h"
#include "render/style.h"
#include "render/text/text.h"

static void put_cell(struct line *l, struct buf *cell, int columns)
{
	line_printf(l, " ");
	line_cell(l, cell->s ? cell->s : "", columns, true);
	buf_free(cell);
}

static void say_titles(struct buf *b, const struct view *v)
{
	static const struct {
		const char *title;
		int columns;
	} of[] = {{"MINFLT", 10}, {"MAJFLT", 8}, {"STALL", 8}, {"RSS SEEN", 9},
		  {"MAPS", 7},	  {"FDS", 7},	 {"CPU", 8}};
	struct line l = {.v = v};

	line_printf(&l, "  %8s", "PID");
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		line_printf(&l, " %*s", of[i].columns, of[i].title);
	line_printf(&l, "  PROCESS");
	line_end(&l, b, STYLE_DIM);
}

static void say_toll(struct buf *b, const struct view *v, const struct toll *t)
{
	bool timed = is_told(v->m, "fault_end", LACKS_MINOR);
	struct line l = {.v = v};
	struct buf cell = {};

	line_printf(&l, "  %8u", t->pid);
	put_count(&cell, t->minor);
	put_cell(&l, &cell, 10);
	put_count(&cell, t->major);
	put_cell(&l, &cell, 8);
	if (timed)
		put_duration(&cell, t->stall_ns);
	else
		buf_putc(&cell, '-');
	put_cell(&l, &cell, 8);
	put_bytes(&cell, t->rss_high_bytes);
	put_cell(&l, &cell, 9);
	put_count(&cell, t->map_high);
	put_cell(&l, &cell, 7);
	put_count(&cell, t->fd_high);
	put_cell(&l, &cell, 7);
	put_duration(&cell, t->cpu_ns);
	put_cell(&l, &cell, 8);
	line_printf(&l, "  %s", t->comm);
	line_end(&l, b, STYLE_PLAIN);
}

/* What threads waited for: of faults and calls alike. */
static void say_waits(struct buf *b, const struct view *v, const struct totals *t)
{
	static const struct {
		const char *name, *hook;
		int wait;
	} of[] = {{"reclaim", "reclaim", WAIT_RECLAIM},
		  {"compaction", "compaction", WAIT_COMPACTION},
		  {"mmap_lock", "mmap_lock", WAIT_LOCK}};
	struct line l = {.v = v};
	bool any = false;

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (!is_told(v->m, of[i].hook, 0))
			continue;
		line_printf(&l, any ? ", %s " : "  waited: %s ", of[i].name);
		line_printf(&l, "%s", as_duration(t->c.wait[of[i].wait].ns).s);
		any = true;
	}
	if (any)
		line_end(&l, b, STYLE_PLAIN);
}

void text_summary(struct buf *b, const struct view *v, const struct totals *t)
{
	struct line l = {.v = v};

	if (t->rss.value) {
		line_printf(&l, "  resident ");
		if (v->child_rss_bytes > t->rss.value)
			line_printf(&l, "peak of a process %s; ", as_bytes(v->child_rss_bytes).s);
		line_printf(&l, "most seen %s in %s[%u]", as_bytes(t->rss.value).s, t->rss.comm,
			    t->rss.pid);
		line_end(&l, b, STYLE_PLAIN);
	}
	say_waits(b, v, t);
	if (t->tolls.n)
		say_titles(b, v);
	for (size_t i = 0; i < t->tolls.n; i++)
		say_toll(b, v, &t->tolls.toll[i]);
	if (t->processes > t->tolls.n) {
		line_printf(&l, "  and %s processes more, that faulted less",
			    as_count(t->processes - t->tolls.n).s);
		line_end(&l, b, STYLE_DIM);
	}
}
