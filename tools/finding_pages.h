/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Generates the pages of docs/findings from the texts of `faultscope explain`. */
#ifndef FS_TOOLS_FINDING_PAGES_H
#define FS_TOOLS_FINDING_PAGES_H

/* Prints a page for each family and for each finding, each after a line "%%% NAME". */
void put_findings(void);

/* Prints a table row for each family, for the index page. */
void put_families(void);

#endif
