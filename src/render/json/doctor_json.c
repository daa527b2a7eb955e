// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/overhead.h"
#include "render/doctor_report.h"
#include "render/json/line_rows.h"

const char *hook_state_name(enum hook_use state)
{
	return state == HOOK_ON ? "on" : state == HOOK_OFF ? "off" : "unavailable";
}

const struct origin *report_origin(const struct report *r, const struct setting *s)
{
	const struct limit *l = limit_find(s->key);

	for (size_t i = 0; i < r->origins; i++)
		if (r->origin[i].limit == l)
			return &r->origin[i];
	return NULL;
}

static void put_alternates(struct json *j, const char *key, const struct report_hook *h)
{
	json_array(j, key);
	for (int i = 0; h->alternate[i].mechanism; i++)
		json_text(j, NULL, h->alternate[i].mechanism);
	json_end_array(j);
}

static void put_differences(struct json *j, const char *key, const struct report_hook *h)
{
	json_object(j, key);
	for (int i = 0; h->alternate[i].mechanism; i++)
		if (h->alternate[i].differs)
			json_text(j, h->alternate[i].mechanism, h->alternate[i].differs);
	json_end(j);
}

static void put_only_counted(struct json *j, const char *key, const struct report *r)
{
	json_array(j, key);
	for (size_t i = 0; r->only_counted[i]; i++)
		json_text(j, NULL, r->only_counted[i]);
	json_end_array(j);
}

static void write_setting(struct json *j, const struct setting *s)
{
	if (!s->known || s->unlimited)
		json_null(j, s->key);
	else if (s->unit == SETTING_TEXT)
		json_text(j, s->key, s->text);
	else
		json_signed(j, s->key, s->value);
}

static void put_settings(struct json *j, const char *key, const struct report *r)
{
	json_object(j, key);
	for (size_t i = 0; i < r->settings; i++)
		write_setting(j, &r->setting[i]);
	json_end(j);
}

static void put_unlimited(struct json *j, const char *key, const struct report *r)
{
	json_array(j, key);
	for (size_t i = 0; i < r->settings; i++)
		if (r->setting[i].known && r->setting[i].unlimited)
			json_text(j, NULL, r->setting[i].key);
	json_end_array(j);
}

static void put_origins(struct json *j, const struct report *r);

#include "render/json/doctor_lines.def"

static void put_origins(struct json *j, const struct report *r)
{
	for (size_t i = 0; i < r->settings; i++) {
		const struct origin *o = report_origin(r, &r->setting[i]);
		struct buf text = {};

		if (!o)
			continue;
		origin_describe(o, &text);
		json_object(j, NULL);
		put_set_by(j, &r->setting[i], o, text.s ? text.s : "");
		json_end(j);
		buf_end_part(j->b, &text);
	}
}

void report_json(struct buf *b, const struct report *r)
{
	put_line_doctor(b, r);
}
