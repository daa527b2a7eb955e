// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/line_rows.h"
#include "render/log/log_event.h"
#include "rules/diagnoses.h"

#include "render/json/log_lines.def"

void log_json(struct buf *b, const struct log_event *e)
{
	struct buf message = {};

	log_message(&message, e);
	put_line_log(b, e, &message);
	buf_end_part(b, &message);
}
