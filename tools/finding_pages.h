/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pages of docs/findings, made of what `faultscope explain` says. */
#ifndef FS_TOOLS_FINDING_PAGES_H
#define FS_TOOLS_FINDING_PAGES_H

/* Each page behind a line "%%% NAME": a page for each family, and one for each finding. */
void put_findings(void);

/* A row for each family, for the index. */
void put_families(void);

#endif
