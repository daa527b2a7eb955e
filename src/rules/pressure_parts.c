// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/pressure_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/memory_holders.h"

#define EATERS_SAID	 2
#define WORTH_BYTES	 (1u << 20) /* growth a second that is worth a word */
#define FEWER_MOST_SHARE 0.8	    /* of the workers: fewer are no remedy */

void evidence_bytes(struct finding *f, const char *field, uint64_t bytes, uint64_t limit)
{

	finding_evidence(f, field, as_bytes(bytes).s,
			 limit == FIGURE_UNKNOWN ? NULL : as_bytes(limit).s);
}

const char *path_as_word(const char *path, char text[PATH_WORD])
{
	struct buf b = {};

	buf_shell(&b, path);
	snprintf(text, PATH_WORD, "%s", b.s && b.len < PATH_WORD ? b.s : "DIR");
	buf_free(&b);
	return text;
}

void evidence_printf(struct finding *f, const char *field, const char *format, ...)
{
	char text[sizeof(f->evidence[0].value)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	finding_evidence(f, field, text, NULL);
}

static void say_eater(struct finding *f, const struct top_consumer *e)
{
	char more[48] = "", grows[48] = "", swapped[48] = "";

	if (e->processes > 1)
		snprintf(more, sizeof(more), " and %zu like it", e->processes - 1);
	if (e->swap_bytes > WORTH_BYTES)
		snprintf(swapped, sizeof(swapped), ", %s swapped out", as_bytes(e->swap_bytes).s);
	if (e->per_second > WORTH_BYTES)
		snprintf(grows, sizeof(grows), ", grows by %s/s", as_bytes(e->per_second).s);
	evidence_printf(f, "who has most", "%.15s[%u]%s: %s resident%s%s", e->root->now.g.comm,
			e->root->id.pid, more, as_bytes(e->rss_bytes).s, swapped, grows);
}

static void say_next_victim(struct finding *f, const struct model *m)
{
	const struct pressure *p = m->pressure;
	const struct subject *s = NULL;

	for (size_t i = 0; p && i < p->scores && !s; i++) {
		s = model_find(m, &p->score[i].subject);
		if (!s || s->final)
			continue;
		evidence_printf(
			f, "next of the OOM killer",
			"%.15s[%u]: oom_score %u, oom_score_adj %d, %s resident", s->now.g.comm,
			s->id.pid, p->score[i].score, p->score[i].adj,
			as_bytes(gauges_rss_pages(&s->now.g) * m->tick.limits.page_bytes).s);
	}
}

void pressure_say_who(struct finding *f, const struct model *m)
{
	struct top_consumer e[EATERS_SAID];
	size_t n = top_consumers_of(m, e, EATERS_SAID);

	for (size_t i = 0; i < n; i++)
		if (!i || e[i].rss_bytes > e[0].rss_bytes / 4)
			say_eater(f, &e[i]);
	say_next_victim(f, m);
}

/* Whole GiB or MiB, rounded up: what people type. */
static void put_round(char *ret, size_t size, uint64_t bytes)
{
	const uint64_t gib = 1ULL << 30, mib = 1ULL << 20;

	if (bytes > gib)
		snprintf(ret, size, "%" PRIu64 "G", (bytes + gib - 1) / gib);
	else
		snprintf(ret, size, "%" PRIu64 "M", (bytes + mib - 1) / mib);
}

void pressure_help_growth(struct finding *f, const struct model *m, uint64_t more_bytes,
			  double per_second, const char *what)
{
	const struct host_limits *l = &m->tick.limits;

	if (strcmp(what, "swap") && l->mem_available_bytes && more_bytes > l->mem_available_bytes)
		more_bytes = l->mem_available_bytes;
	if (more_bytes < WORTH_BYTES || per_second <= 0)
		return;
	finding_remedy(f,
		       "more room only delays it: %s more %s would last about %s, at the %s/s that "
		       "it grew by",
		       as_bytes(more_bytes).s, what, as_span(more_bytes / per_second).s,
		       as_bytes(per_second).s);
}

void pressure_help_room(struct finding *f, const struct model *m, uint64_t short_bytes,
			const char *what)
{
	char size[24], fewer[160] = "";
	struct top_consumer e;

	if (!short_bytes)
		return;
	if (top_consumers_of(m, &e, 1) && e.processes > 1 && e.child_bytes) {
		size_t n = (short_bytes + e.child_bytes - 1) / e.child_bytes;

		if (n <= (e.processes - 1) * FEWER_MOST_SHARE)
			snprintf(fewer, sizeof(fewer),
				 ", or %zu fewer of the %zu children of %.15s[%u] (%s each)", n,
				 e.processes - 1, e.root->now.g.comm, e.root->id.pid,
				 as_bytes(e.child_bytes).s);
	}
	put_round(size, sizeof(size), short_bytes);
	if (!strcmp(what, "swap"))
		finding_remedy(f,
			       "needs %s more swap (fallocate -l %s /swapfile2 && chmod "
			       "600 /swapfile2 && mkswap /swapfile2 && swapon /swapfile2)%s",
			       as_bytes(short_bytes).s, size, fewer);
	else
		finding_remedy(f, "needs %s more %s%s", as_bytes(short_bytes).s, what, fewer);
}
