/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: writes records of the flight recorder as lines of text or JSON. */
#ifndef FS_RENDER_CRASH_KERNEL_RECORDS_H
#define FS_RENDER_CRASH_KERNEL_RECORDS_H

#include "blackbox/scan.h"
#include "render/render.h"
#include "render/style.h"
#include "triage/crash_signs.h"

void blackbox_text(struct buf *b, const struct view *v, const struct bb_found *f);
void blackbox_json(struct buf *b, const struct bb_found *f);

/* Writes a record as one line of text. */
void blackbox_text_record(struct buf *b, const struct view *v, const struct bb_record *r);

/* Write the findings about a boot's records: as JSON keys, JSON Lines or text. */
struct json;
void blackbox_json_crash_sign(struct json *j, const struct crash_sign *one);
void blackbox_json_crash_signs(struct buf *b, const struct crash_signs *p);
/* Converts the severity of a crash sign to that of a finding. */
enum severity blackbox_severity(const struct crash_sign *one);
void blackbox_text_crash_signs(struct buf *b, const struct view *v, const struct crash_signs *p);
void blackbox_line_crash_sign(struct line *l, const struct crash_sign *one);
void blackbox_text_crash_sign(struct buf *b, const struct view *v, const struct crash_sign *one);

#endif
