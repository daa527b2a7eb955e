/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: pages about OOM kills, as text, Markdown and JSON, and a list of kills. */
#ifndef FS_RENDER_OOM_PAGES_H
#define FS_RENDER_OOM_PAGES_H

#include "render/render.h"
#include "rules/oom_page.h"

/*
 * Writes one page. `v->m` must be the model that contains the kill: it has the names of the host
 * and of stacks.
 */
void oom_page_text(struct buf *b, const struct view *v, const struct oom_page *p);
void oom_page_markdown(struct buf *b, const struct view *v, const struct oom_page *p);
void oom_page_json(struct buf *b, const struct view *v, const struct oom_page *p);

/* Writes the heading of a list of kills, and a line for one kill. */
void oom_list_heading(struct buf *b, const struct view *v);
void oom_list_line(struct buf *b, const struct view *v, const char *name, const struct oom_page *p);

/* Writes a sentence: what was killed, and why. */
void oom_put_title(struct buf *b, const struct oom_page *p);

#endif
