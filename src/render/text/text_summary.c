// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the page at the end of `run --summary`: peak RSS, waits, processes with most faults. */
#include <stdio.h>

#include "base/units.h"
#include "model/most_faults.h"
#include "render/style.h"
#include "render/text/text.h"

static void write_titles(struct buf *b, const struct view *v)
{
	styled_line(b, v, STYLE_DIM, "  %8s %10s %8s %8s %9s %7s %7s %8s  %s", "PID", "MINFLT",
		    "MAJFLT", "STALL", "RSS SEEN", "MAPS", "FDS", "CPU", "PROCESS");
}

static void write_fault_totals(struct buf *b, const struct view *v, const struct fault_totals *t)
{
	bool timed = is_available(v->m, "fault_end", LACKS_MINOR);

	styled_line(b, v, STYLE_PLAIN, "  %8u %10s %8s %8s %9s %7s %7s %8s  %s", t->pid,
		    as_count(t->minor).s, as_count(t->major).s,
		    timed ? as_duration(t->stall_ns).s : "-", as_bytes(t->rss_high_bytes).s,
		    as_count(t->map_high).s, as_count(t->fd_high).s, as_duration(t->cpu_ns).s,
		    t->comm);
}

/* Writes what threads waited for in page faults and in system calls. */
static void write_waits(struct buf *b, const struct view *v, const struct totals *t)
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
		if (!is_available(v->m, of[i].hook, 0))
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
	uint64_t rows = t->fault_totals_table.n;
	uint64_t others = t->processes > rows ? t->processes - rows : 0;
	struct line l = {.v = v};

	if (t->rss.value) {
		line_printf(&l, "  resident ");
		if (v->child_rss_bytes > t->rss.value)
			line_printf(&l, "peak of a process %s; ", as_bytes(v->child_rss_bytes).s);
		line_printf(&l, "most seen %s in %s[%u]", as_bytes(t->rss.value).s, t->rss.comm,
			    t->rss.pid);
		line_end(&l, b, STYLE_PLAIN);
	}
	write_waits(b, v, t);
	if (rows)
		write_titles(b, v);
	for (size_t i = 0; i < rows; i++)
		write_fault_totals(b, v, &t->fault_totals_table.fault_totals[i]);
	if (others)
		styled_line(b, v, STYLE_DIM, "  and %s %s more, that faulted less",
			    as_count(others).s, as_words(others, "process{|es}").s);
}
