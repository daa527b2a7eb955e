// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/incident_pages.h"
#include "render/json/line_rows.h"
#include "rules/diagnoses.h"

#include "render/json/incident_lines.def"

void incident_page_json(struct buf *b, const struct incident_page *p)
{
	put_line_incident(b, p);
}
