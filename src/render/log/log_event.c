// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/log/log_event.h"

#include <stdio.h>
#include <string.h>

#include "base/text_format.h"
#include "base/units.h"
#include "render/incident_pages.h"
#include "render/json_out.h"
#include "render/render.h"
#include "rules/diagnoses.h"

const struct log_kind_row log_kinds[NR_LOG_KINDS] = {
#define LOG_KIND(id, name, message_id, priority, when) {#name, message_id, priority, when},
#include "render/log/log_kinds.def"
#undef LOG_KIND
};

const char *log_severity(const struct log_event *e)
{
	if (e->finding)
		return severity_name(e->finding->severity);
	return e->incident ? incident_severity_name(e->incident) : NULL;
}

const char *log_finding_id(const struct log_event *e)
{
	if (e->finding)
		return e->finding->rule->id;
	return e->incident ? unless_empty(e->incident->finding) : NULL;
}

uint32_t log_pid(const struct log_event *e)
{
	if (e->finding)
		return finding_has_process(e->finding) ? e->finding->subject.pid : 0;
	return e->incident ? e->incident->subject.pid : 0;
}

const char *log_comm(const struct log_event *e)
{
	if (!log_pid(e))
		return NULL;
	return unless_empty(e->finding ? e->finding->comm : e->incident->comm);
}

const char *log_title(const struct log_event *e)
{
	if (e->finding)
		return e->redacted ? NULL : e->finding->title;
	return e->incident ? unless_empty(e->incident->title) : NULL;
}

const char *log_place(const struct log_event *e)
{
	return e->finding && !e->redacted ? unless_empty(e->finding->place) : NULL;
}

const char *log_cause(const struct log_event *e)
{
	if (e->finding)
		return e->finding->cause;
	return e->incident ? unless_empty(e->incident->cause) : NULL;
}

const char *log_trigger(const struct log_event *e)
{
	return e->incident ? incident_trigger_name(e->incident->trigger) : NULL;
}

/* Returns the first evidence that is a count with a limit. */
const struct evidence *log_limit(const struct log_event *e)
{
	for (size_t i = 0; e->finding && i < e->finding->nr_evidence; i++) {
		const struct evidence *one = &e->finding->evidence[i];

		if (one->has_limit && one->unit != IN_TEXT && !unit_is_real(one->unit) &&
		    one->limit != UINT64_MAX)
			return one;
	}
	return NULL;
}

/* Returns the first remedy with a command, or for want of one the first remedy. */
const struct remedy *log_remedy(const struct log_event *e)
{
	const struct finding *f = e->finding;

	if (!f || !f->open || !f->nr_remedies || e->redacted)
		return NULL;
	for (size_t i = 0; i < f->nr_remedies; i++)
		if (f->remedy[i].command[0] && f->remedy[i].kind != REMEDY_CHECK)
			return &f->remedy[i];
	return &f->remedy[0];
}

int log_priority(const struct log_event *e)
{
	static const int of_severity[NR_SEVERITIES] = {
		[SEVERITY_INFO] = 6, [SEVERITY_WARNING] = 4, [SEVERITY_CRITICAL] = 2};
	int priority = log_kinds[e->kind].priority;

	return priority < 0 && e->finding ? of_severity[e->finding->severity] : priority;
}

static void escape(struct buf *b, const char *text, const void *ctx)
{
	buf_safe(b, text, true);
}

static void put(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vformat(b, escape, NULL, format, ap);
	va_end(ap);
}

static void put_finding(struct buf *b, const struct log_event *e)
{
	const struct finding *f = e->finding;
	const char *title = log_title(e);
	char who[WHO_BYTES];

	if (log_comm(e) || !e->redacted)
		finding_who(f, who, sizeof(who));
	else
		snprintf(who, sizeof(who), "%s", e->workload.name ? e->workload.name : "");
	put(b, "%s%s: %s%s%s%s (%s %s)",
	    e->kind == LOG_FINDING_CHANGED   ? "now "
	    : e->kind == LOG_FINDING_CLEARED ? "cleared: "
					     : "",
	    severity_name(f->severity), who, *who && title ? ": " : "", title ? title : "",
	    *who || title ? "" : "redacted", f->rule->id, diagnosis_slug(f->rule->id));
}

static void put_incident(struct buf *b, const struct log_event *e)
{
	char title[256] = "";

	if (e->incident)
		incident_title(e->incident, title, sizeof(title));
	switch (e->kind) {
	case LOG_INCIDENT_STORED:
		put(b, "incident stored: %s: %s", title, e->file);
		break;
	case LOG_INCIDENT_COMPLETED:
		put(b, "incident complete: %s: %s", title, e->file);
		break;
	case LOG_INCIDENT_DROPPED:
		put(b, "incident removed: %s: %s", e->file, e->why);
		break;
	case LOG_INCIDENT_REFUSED:
		put(b, "no incident was stored: %s: %s", title, e->why);
		break;
	case LOG_INCIDENT_FAILED:
		put(b,
		    "cannot store an incident in %s: %s; earlier incidents are unchanged, watching "
		    "continues",
		    e->file, e->why);
		break;
	default:
		put(b, "%llu %s left out, because there were too many",
		    (unsigned long long)e->withheld,
		    as_words(e->withheld, "log line{ was|s were}").s);
	}
}

void log_message(struct buf *b, const struct log_event *e)
{
	if (e->finding)
		put_finding(b, e);
	else
		put_incident(b, e);
	if (e->withheld && e->kind != LOG_LINES_WITHHELD)
		put(b, " [%llu %s left out]", (unsigned long long)e->withheld,
		    as_words(e->withheld, "line{|s} before this one {was|were}").s);
}
