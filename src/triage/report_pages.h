/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: pages of `explain`, and advice, for kinds of reports. */
#ifndef FS_TRIAGE_REPORT_PAGES_H
#define FS_TRIAGE_REPORT_PAGES_H

#include <stdbool.h>

struct judged;

/* Returns whether triage refers to a page of `explain`, given its id. */
bool report_page_exists(const char *id);

/* Sets `page` and `next` of the diagnosis. */
void report_page_find(struct judged *j);

#endif
