// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/pressure_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/memory_holders.h"

#define EATERS_SAID 2
/* bytes, or bytes per second; evidence leaves out amounts below this */
#define WORTH_BYTES (1u << 20)
/* A remedy suggests fewer workers only if at most this share of the workers must stop. */
#define FEWER_MOST_SHARE 0.8

void evidence_bytes(struct finding *f, const char *field, uint64_t bytes, uint64_t limit)
{
	struct evidence *e = finding_number(f, field, IN_BYTES, bytes);

	if (limit != FIGURE_UNKNOWN)
		evidence_limit(e, limit);
}

const char *path_as_word(const char *path, char text[PATH_WORD])
{
	char word[PATH_WORD];
	struct buf b = BUF_IN(word);

	buf_shell(&b, path);
	snprintf(text, PATH_WORD, "%s", b.failed ? "DIR" : b.s);
	return text;
}

static void say_eater(struct finding *f, const struct top_consumer *e)
{
	char who[96], more[40] = "";

	if (e->processes > 1)
		snprintf(more, sizeof(more), " and %zu like it", e->processes - 1);
	snprintf(who, sizeof(who), "%.15s[%u]%s", e->root->now.g.comm, e->root->id.pid, more);
	evidence_about(finding_number(f, "most resident memory", IN_BYTES, e->rss_bytes), "%s",
		       who);
	if (e->swap_bytes > WORTH_BYTES)
		evidence_about(finding_number(f, "swap of this process", IN_BYTES, e->swap_bytes),
			       "%s", who);
	if (e->per_second > WORTH_BYTES)
		evidence_about(finding_real(f, "growth of this process", IN_BYTES_PER_SECOND,
					    e->per_second),
			       "%s", who);
}

static void say_next_victim(struct finding *f, const struct model *m)
{
	const struct pressure *p = m->pressure;
	const struct subject *s = NULL;

	for (size_t i = 0; p && i < p->scores && !s; i++) {
		s = model_find(m, &p->score[i].subject);
		if (!s || s->final)
			continue;
		evidence_about(
			finding_number(f, "next victim of the OOM killer", IN_BYTES,
				       gauges_rss_pages(&s->now.g) * m->tick.limits.page_bytes),
			"%.15s[%u], oom_score %u, oom_score_adj %d, resident", s->now.g.comm,
			s->id.pid, p->score[i].score, p->score[i].adj);
	}
}

void pressure_say_who(struct finding *f, const struct model *m)
{
	struct top_consumer e[EATERS_SAID];
	size_t n = finding_rows(f, top_consumers_of(m, e, EATERS_SAID));

	for (size_t i = 0; i < n; i++)
		if (!i || e[i].rss_bytes > e[0].rss_bytes / 4)
			say_eater(f, &e[i]);
	say_next_victim(f, m);
}

/* Writes a size in whole GiB or MiB, rounded up, as people type it: "4G". */
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
	finding_remedy(
		f, REMEDY_WORKAROUND,
		"more memory only delays the failure: %s more %s would last about %s, at the "
		"observed growth of %s/s",
		as_bytes(more_bytes).s, what, as_span(more_bytes / per_second).s,
		as_bytes(count_of_real(per_second)).s);
}

void pressure_help_room(struct finding *f, const struct model *m, uint64_t short_bytes,
			const char *what)
{
	char size[24], fewer[160] = "";
	struct remedy *r;
	struct top_consumer e;

	if (!short_bytes)
		return;
	if (finding_rows(f, top_consumers_of(m, &e, 1)) && e.processes > 1 && e.child_bytes) {
		size_t n = (short_bytes + e.child_bytes - 1) / e.child_bytes;

		if (n <= (e.processes - 1) * FEWER_MOST_SHARE)
			snprintf(fewer, sizeof(fewer),
				 ", or %zu fewer of the %zu children of %.15s[%u] (%s each)", n,
				 e.processes - 1, e.root->now.g.comm, e.root->id.pid,
				 as_bytes(e.child_bytes).s);
	}
	put_round(size, sizeof(size), short_bytes);
	if (!strcmp(what, "swap"))
		r = finding_remedy(f, REMEDY_WORKAROUND, "add %s of swap%s",
				   as_bytes(short_bytes).s, fewer);
	else
		r = finding_remedy(f, REMEDY_WORKAROUND, "needed: %s more %s%s",
				   as_bytes(short_bytes).s, what, fewer);
	if (!strcmp(what, "swap"))
		remedy_command(r,
			       "fallocate -l %s /swapfile2 && chmod 600 /swapfile2 && mkswap "
			       "/swapfile2 && swapon /swapfile2",
			       size);
	if (r)
		r->scope = strstr(what, "limit") ? SCOPE_CGROUP : SCOPE_HOST;
}
