// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json_out.h"
#include "render/doctor_report.h"

const char *hook_state_name(enum hook_use state)
{
	return state == HOOK_ON ? "on" : state == HOOK_OFF ? "off" : "blind";
}

static void say_figure(struct json *j, const char *key, bool known, double value)
{
	if (known)
		json_real(j, key, value);
	else
		json_null(j, key);
}

static void say_number(struct json *j, const char *key, uint64_t value)
{
	if (value)
		json_count(j, key, value);
	else
		json_null(j, key);
}

static void say_cost(struct json *j, const struct cost *c)
{
	json_object(j, NULL);
	json_text(j, "per", c->per);
	json_text(j, "unit", "ns");
	say_figure(j, "low", c->measured, c->low);
	say_figure(j, "median", c->measured, c->median);
	say_figure(j, "high", c->measured, c->high);
	json_text_or_null(j, "why", c->measured ? NULL : c->why);
	json_end(j);
}

const struct origin *report_origin(const struct report *r, const struct setting *s)
{
	const struct limit *l = limit_find(s->key);

	for (size_t i = 0; i < r->origins; i++)
		if (r->origin[i].limit == l)
			return &r->origin[i];
	return NULL;
}

static void say_recorder(struct json *j, const struct report_recorder *one)
{
	json_object(j, NULL);
	json_text(j, "name", one->name);
	json_text(j, "feeds", one->feeds);
	json_text(j, "lost_without", one->lost);
	json_text_or_null(j, "refused", *one->refused ? one->refused : NULL);
	json_end(j);
}

static void say_hook(struct json *j, const struct report_hook *h)
{
	json_object(j, NULL);
	json_text(j, "name", h->name);
	json_count(j, "tier", h->tier);
	json_flag(j, "core", h->core);
	json_flag(j, "degraded", h->degraded);
	json_text(j, "state", hook_state_name(h->state));
	json_text_or_null(j, "mechanism", h->mechanism);
	json_text(j, "tried", h->tried);
	json_array(j, "alternates");
	for (int i = 0; h->alternate[i].mechanism; i++)
		json_text(j, NULL, h->alternate[i].mechanism);
	json_end_array(j);
	json_object(j, "differs");
	for (int i = 0; h->alternate[i].mechanism; i++)
		if (h->alternate[i].differs)
			json_text(j, h->alternate[i].mechanism, h->alternate[i].differs);
	json_end(j);
	json_text(j, "feeds", h->feeds);
	json_text(j, "lost_without", h->lost);
	json_text_or_null(j, "note", h->note);
	json_text_or_null(j, "remedy", h->remedy);
	json_array(j, "costs");
	for (size_t i = 0; i < h->costs; i++)
		say_cost(j, &h->cost[i]);
	json_end_array(j);
	json_end(j);
}

static void say_setting(struct json *j, const struct setting *s)
{
	if (!s->known || s->unlimited)
		json_null(j, s->key);
	else if (s->unit == SETTING_TEXT)
		json_text(j, s->key, s->text);
	else
		json_signed(j, s->key, s->value);
}

static void say_settings(struct json *j, const struct report *r)
{
	json_object(j, "limits");
	for (size_t i = 0; i < r->settings; i++)
		say_setting(j, &r->setting[i]);
	json_end(j);
	json_array(j, "unlimited");
	for (size_t i = 0; i < r->settings; i++)
		if (r->setting[i].known && r->setting[i].unlimited)
			json_text(j, NULL, r->setting[i].key);
	json_end_array(j);
}

static void say_origin(struct json *j, const struct setting *s, const struct origin *o)
{
	const struct origin_line *l = &o->line;
	struct buf text = {};

	origin_say(o, &text);
	json_object(j, NULL);
	json_text(j, "limit", s->key);
	json_text(j, "from", origin_name(o->from));
	json_text(j, "text", text.s ? text.s : "");
	json_text_or_null(j, "file", l->line ? l->file : NULL);
	say_number(j, "line", l->line);
	json_text_or_null(j, "says", l->line ? l->text : NULL);
	say_number(j, "pid", o->holder.pid);
	json_flag(j, "host_wide", o->limit->kind == LIMIT_OF_MACHINE);
	json_end(j);
	buf_free(&text);
}

static void say_origins(struct json *j, const struct report *r)
{
	json_array(j, "set_by");
	for (size_t i = 0; i < r->settings; i++) {
		const struct origin *o = report_origin(r, &r->setting[i]);

		if (o)
			say_origin(j, &r->setting[i], o);
	}
	json_end_array(j);
}

static void say_advice(struct json *j, const struct advice *a)
{
	json_object(j, NULL);
	json_text(j, "limit", a->key);
	json_text(j, "why", a->why);
	json_text(j, "command", a->command);
	json_text_or_null(j, "lasting", a->lasting[0] ? a->lasting : NULL);
	json_text_or_null(j, "cost", a->cost);
	json_end(j);
}

static void say_calibration(struct json *j, const struct report *r)
{
	if (!r->calibrated) {
		json_null(j, "calibration");
		return;
	}
	json_object(j, "calibration");
	json_real(j, "seconds", r->seconds);
	json_count(j, "rounds", r->rounds);
	json_end(j);
}

static void say_rights(struct json *j, const struct report_rights *r)
{
	json_object(j, "privileges");
	json_array(j, "kept");
	for (size_t i = 0; i < r->nr_kept; i++) {
		json_object(j, NULL);
		json_text(j, "capability", r->kept[i].capability);
		json_text(j, "why", r->kept[i].why);
		json_end(j);
	}
	json_end_array(j);
	json_flag(j, "no_new_privs", r->no_new_privs);
	json_count(j, "landlock_abi", r->landlock_abi);
	json_text_or_null(j, "landlock_off", r->landlock_off);
	json_flag(j, "kernel_symbols", r->kernel_symbols);
	json_text_or_null(j, "not_given_up", r->not_given_up);
	json_end(j);
}

void report_json(struct buf *b, const struct report *r)
{
	struct json j;

	json_begin(&j, b);
	json_text(&j, "type", "doctor");
	json_text(&j, "version", r->version);
	json_text(&j, "kernel", r->host->kernel);
	json_text(&j, "arch", r->host->arch);
	json_array(&j, "hooks");
	for (size_t i = 0; i < r->hooks; i++)
		say_hook(&j, &r->hook[i]);
	json_end_array(&j);
	json_array(&j, "recorder");
	for (size_t i = 0; i < r->recorders; i++)
		say_recorder(&j, &r->recorder[i]);
	json_end_array(&j);
	json_flag(&j, "recorder_holds", r->recorder_holds);
	json_count(&j, "processes", r->processes);
	say_calibration(&j, r);
	json_array(&j, "only_counted");
	for (size_t i = 0; r->only_counted[i]; i++)
		json_text(&j, NULL, r->only_counted[i]);
	json_end_array(&j);
	json_text_or_null(&j, "passed_over", r->passed_over);
	say_settings(&j, r);
	say_origins(&j, r);
	json_array(&j, "advice");
	for (size_t i = 0; i < r->advices; i++)
		say_advice(&j, &r->advice[i]);
	json_end_array(&j);
	say_rights(&j, &r->rights);
	json_finish(&j);
}
