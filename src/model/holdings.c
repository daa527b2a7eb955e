// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/holdings.h"

#include <errno.h>
#include <stdlib.h>

int holdings_take(struct model *m, const struct holding_record *r)
{
	struct subject *s = model_find(m, &r->g.subject);
	struct holdings *h;

	if (!s || r->g.what > WHAT_FDS || r->nth >= HOLDINGS_MAX)
		return 0;
	h = &s->held[r->g.what];
	if (!h->sort)
		h->sort = calloc(HOLDINGS_MAX, sizeof(*h->sort));
	if (!h->sort)
		return -ENOMEM;
	/*
	 * records of one list are numbered from 0 without gaps; a record with number 0 begins a new
	 * list
	 */
	h->sort[r->nth] = r->g;
	h->n = r->nth + 1;
	return 0;
}

const char *holding_kind_name(uint32_t kind)
{
	static const char *const names[] = {
#define X(id, name) name,
		HOLDING_KINDS(X)
#undef X
	};

	return kind < NR_HOLDING_KINDS ? names[kind] : "?";
}
