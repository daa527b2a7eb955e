// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/promtext.h"

#define CHAINS 1024

/* A family, and the figure of a workload that it is. With a label, of this value alone. */
static const struct family {
	const char *name, *label, *value;
	enum fleet_figure figure;
} families[] = {
	{"faultscope_worst_process_mappings", NULL, NULL, FLEET_MAPS},
	{"faultscope_worst_process_open_fds", NULL, NULL, FLEET_FDS},
	{"faultscope_worst_process_fds_limit", NULL, NULL, FLEET_FDS_LIMIT},
	{"faultscope_page_faults_total", "severity", "major", FLEET_MAJORS},
	{"faultscope_major_fault_stall_seconds_total", NULL, NULL, FLEET_STALL_S},
};

static bool is_counter(enum fleet_figure figure)
{
	return figure == FLEET_MAJORS || figure == FLEET_STALL_S;
}

int fleet_init(struct fleet *f, const char *const *names, uint32_t n)
{
	memset(f, 0, sizeof(*f));
	if (n > FLEET_HOSTS_MAX)
		return -E2BIG;
	/* n <= FLEET_HOSTS_MAX */
	f->host = calloc(n, sizeof(*f->host));
	if (!f->host)
		return -ENOMEM;
	f->hosts = n;
	for (uint32_t i = 0; i < n; i++)
		label_copy(f->host[i].name, sizeof(f->host[i].name), names[i]);
	return 0;
}

void fleet_free(struct fleet *f)
{
	for (uint32_t i = 0; i < f->hosts; i++) {
		free(f->host[i].row);
		free(f->host[i].chain);
	}
	free(f->host);
	memset(f, 0, sizeof(*f));
}

static uint32_t chain_of(const char *name)
{
	return hash_text(HASH_BEGIN, name) % CHAINS;
}

/* NULL: beyond the cap. */
static struct fleet_row *row_of(struct fleet_host *h, const char *workload)
{
	uint32_t *chain = &h->chain[chain_of(workload)];
	struct fleet_row *row;

	for (uint32_t i = *chain; i; i = h->row[i - 1].next)
		if (!strcmp(h->row[i - 1].workload, workload))
			return &h->row[i - 1];
	row = array_grow(h->row, h->rows, &h->room, FLEET_ROWS_MAX, sizeof(*row));
	if (!row)
		return NULL;
	h->row = row;
	row = &h->row[h->rows++];
	memset(row, 0, sizeof(*row));
	array_copy(row->workload, sizeof(row->workload), workload);
	row->next = *chain;
	*chain = h->rows;
	return row;
}

static void take_figure(struct fleet_host *h, const struct family *family,
			const struct prom_sample *s)
{
	char raw[LABEL_BYTES * 2], workload[LABEL_BYTES];
	struct fleet_row *row;

	if (!prom_label(s, "workload", raw, sizeof(raw)))
		return;
	if (family->label && (!prom_label(s, family->label, workload, sizeof(workload)) ||
			      strcmp(workload, family->value)))
		return;
	label_copy(workload, sizeof(workload), raw);
	row = row_of(h, workload);
	if (!row) {
		h->lost++;
		return;
	}
	row->seen = true;
	row->figure[family->figure] = isfinite(s->value) && s->value > 0 ? s->value : 0;
}

static void take_sample(struct fleet_host *h, const struct prom_sample *s)
{
	if (prom_is(s->name, "faultscope_build_info"))
		h->told = true;
	if (prom_is(s->name, "faultscope_mappings_limit") && isfinite(s->value))
		h->maps_limit = s->value;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (prom_is(s->name, families[i].name))
			take_figure(h, &families[i], s);
}

/* The page before is what this one is compared with; rows that it did not have are dropped. */
static void begin(struct fleet_host *h, uint64_t t_ns)
{
	uint32_t kept = 0;

	memset(h->chain, 0, CHAINS * sizeof(*h->chain));
	for (uint32_t i = 0; i < h->rows; i++) {
		struct fleet_row row = h->row[i];
		uint32_t *chain = &h->chain[chain_of(row.workload)];

		if (!row.seen)
			continue;
		memcpy(row.before, row.figure, sizeof(row.before));
		memset(row.figure, 0, sizeof(row.figure));
		row.was_seen = true;
		row.seen = false;
		row.next = *chain;
		h->row[kept++] = row;
		*chain = kept;
	}
	h->rows = kept;
	h->before_ns = h->t_ns;
	h->t_ns = t_ns;
	h->maps_limit = h->bad_lines = h->lost = 0;
	h->told = false;
	h->why[0] = 0;
}

int fleet_take(struct fleet *f, uint32_t host, const char *page, size_t len, uint64_t t_ns)
{
	struct fleet_host *h = &f->host[host];
	const char *at = page, *end = page + len;
	struct prom_sample s;
	int got;

	if (!h->chain)
		h->chain = calloc(CHAINS, sizeof(*h->chain));
	if (!h->chain)
		return -ENOMEM;
	begin(h, t_ns);
	while ((got = prom_next(&at, end, &s))) {
		if (got > 0)
			take_sample(h, &s);
		else
			h->bad_lines++;
	}
	if (h->told)
		return 0;
	fleet_down(f, host, "no page of faultscope export");
	return -EBADMSG;
}

void fleet_down(struct fleet *f, uint32_t host, const char *why)
{
	struct fleet_host *h = &f->host[host];

	label_copy(h->why, sizeof(h->why), *why ? why : "no answer");
	h->rows = 0;
	h->t_ns = h->before_ns = 0;
}

/* A counter that went back began anew. */
static double rate_of(const struct fleet_host *h, const struct fleet_row *row,
		      enum fleet_figure figure)
{
	double now = row->figure[figure], before = row->before[figure];

	if (!row->was_seen || !h->before_ns || h->t_ns <= h->before_ns || !is_counter(figure))
		return -1;
	return (now < before ? now : now - before) / ((h->t_ns - h->before_ns) / 1e9);
}

static double share(double value, double limit)
{
	return limit > 0 ? value / limit : value > 0 ? 1 : 0;
}

static struct fleet_entry entry_of(const struct fleet_host *h, const struct fleet_row *row)
{
	const double *g = row->figure;
	struct fleet_entry e = {
		.host = h,
		.row = row,
		.maps_share = h->maps_limit > 0 ? g[FLEET_MAPS] / h->maps_limit : -1,
		.fds_share = share(g[FLEET_FDS], g[FLEET_FDS_LIMIT]),
		.majors_per_s = rate_of(h, row, FLEET_MAJORS),
		.stall_share = rate_of(h, row, FLEET_STALL_S),
	};

	e.pressure = fmax(fmax(e.maps_share, e.fds_share), fmin(e.stall_share, 1));
	return e;
}

static int by_pressure(const void *a, const void *b)
{
	const struct fleet_entry *x = a, *y = b;
	int order;

	if (x->pressure != y->pressure)
		return x->pressure > y->pressure ? -1 : 1;
	order = strcmp(x->host->name, y->host->name);
	return order ? order : strcmp(x->row->workload, y->row->workload);
}

struct fleet_entry *fleet_sorted(const struct fleet *f, size_t *ret_n)
{
	struct fleet_entry *e;
	size_t n = 0, most = 0;

	for (uint32_t i = 0; i < f->hosts; i++)
		most += f->host[i].rows < FLEET_ROWS_MAX ? f->host[i].rows : FLEET_ROWS_MAX;
	e = calloc(most + 1, sizeof(*e));
	if (!e)
		return NULL;
	for (uint32_t i = 0; i < f->hosts; i++)
		for (uint32_t k = 0; k < f->host[i].rows; k++)
			if (f->host[i].row[k].seen)
				e[n++] = entry_of(&f->host[i], &f->host[i].row[k]);
	qsort(e, n, sizeof(*e), by_pressure);
	*ret_n = n;
	return e;
}
