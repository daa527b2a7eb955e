// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/report_pages.h"

#include "triage/judge.h"
#include "triage/match.h"

static const struct {
	enum kind kind;
	const char *pattern, *page, *next;
} pages[] = {
#define REPORT_PAGE(kind, ...) {KIND_##kind, __VA_ARGS__},
#include "triage/report_pages.def"
#undef REPORT_PAGE
};

bool report_page_exists(const char *id)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].page, id))
			return true;
	return false;
}

static bool fits_line(const char *pattern, struct str text)
{
	struct captures c = {};

	return match(pattern, str_trim(text), &c);
}

static bool fits(const struct judged *j, const char *pattern)
{
	if (*pattern != '+')
		return !*pattern || fits_line(pattern, j->ls->line[j->e->first].text);
	for (uint32_t i = j->e->first; i <= j->e->last && i < j->ls->n; i++)
		if (fits_line(pattern + 1, j->ls->line[i].text))
			return true;
	return false;
}

void report_page_find(struct judged *j)
{
	j->v->page = j->v->next = "";
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (pages[i].kind != j->v->kind || !fits(j, pages[i].pattern))
			continue;
		j->v->page = pages[i].page;
		j->v->next = pages[i].next;
		return;
	}
}
