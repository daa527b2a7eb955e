/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: the list of incidents, and a page about one of them, as text and JSON. */
#ifndef FS_RENDER_INCIDENT_PAGES_H
#define FS_RENDER_INCIDENT_PAGES_H

#include "model/model.h"
#include "render/render.h"

/* An incident of a store, as it is shown. */
struct incident_page {
	size_t number; /* its number in the list; 1: the newest */
	const char *file;
	uint64_t bytes;			 /* size of the file */
	const struct incident_record *r; /* NULL: the file could not be read */
	const char *why;		 /* reason why `r` is NULL */
};

const char *incident_trigger_name(uint32_t trigger); /* returns a name such as "finding" */
/* Returns the severity of its finding, such as "critical"; NULL: none. */
const char *incident_severity_name(const struct incident_record *r);
/* Returns the id of the finding that triggered an incident, or the name of another trigger. */
const char *incident_kind(const struct incident_record *r);

/* Writes what happened: the title, or for want of one the slug of the finding or the trigger. */
void incident_title(const struct incident_record *r, char *ret, size_t size);

void incident_list_heading(struct buf *b, const struct view *v);
void incident_list_line(struct buf *b, const struct view *v, const struct incident_page *p);
void incident_page_text(struct buf *b, const struct view *v, const struct incident_page *p);
void incident_page_json(struct buf *b, const struct incident_page *p);

#endif
