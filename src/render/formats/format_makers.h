/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: functions that write the formats of formats.def, called only by formats.c. */
#ifndef FS_RENDER_FORMATS_FORMAT_MAKERS_H
#define FS_RENDER_FORMATS_FORMAT_MAKERS_H

#include "render/recording_story.h"

void format_folded_faults(struct buf *b, const struct story_view *s);
void format_folded_memory(struct buf *b, const struct story_view *s);
void format_folded_stall(struct buf *b, const struct story_view *s);
void format_perf_script(struct buf *b, const struct story_view *s);
void format_speedscope(struct buf *b, const struct story_view *s);
void format_pprof(struct buf *b, const struct story_view *s);
void format_trace(struct buf *b, const struct story_view *s);
void format_csv_row(struct buf *b, const struct view *v, const struct history_row *r);
void format_csv(struct buf *b, const struct story_view *s);
void format_csv_time(struct buf *b, const struct story_view *s);

#endif
