// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

#include "render/completeness.h"
#include "render/crash/crash_view.h"
#include "render/crash/kernel_records.h"
#include "render/json/line_rows.h"
#include "render/utc.h"
#include "triage/next_steps.h"

#define TEXT_MAX 4096

static void put_str(struct json *j, const char *key, struct str s)
{
	struct buf b = {};

	s = str_first(s, TEXT_MAX);
	for (size_t i = 0; i < s.n; i++)
		if (s.s[i]) /* skip a NUL byte, which would end the text */
			buf_add(&b, s.s + i, 1);
	json_text(j, key, b.s ? b.s : "");
	buf_end_part(j->b, &b);
}

static void put_str_or_null(struct json *j, const char *key, struct str s)
{
	if (s.n)
		put_str(j, key, s);
	else
		json_null(j, key);
}

static void put_name(struct json *j, const char *key, const struct triage_view *tv, struct str s)
{
	struct buf b = {};

	triage_name(&b, tv, s);
	put_str_or_null(j, key, (struct str){b.s, b.len});
	buf_end_part(j->b, &b);
}

static const char *part_name(const struct frame *f)
{
	static const char *const parts[] = {"main", "other", "alloc", "free", "lock"};

	return parts[f->part];
}

static void put_steps(struct json *j, const char *key, const struct diagnosis *v)
{
	json_array(j, key);
	for (size_t i = 0; i < STEPS_MAX; i++) {
		struct buf step = {};
		bool any = remedy_at(v, i, &step);

		if (any)
			json_text(j, NULL, step.s ? step.s : "");
		buf_end_part(j->b, &step);
		if (!any)
			break;
	}
	json_end_array(j);
}

/*
 * Adds the bucket names (signatures) of secondary crashes in a log. Omits the primary crash and its
 * precursors.
 */
static void put_others(struct json *j, const char *key, const struct triage *t)
{
	json_array(j, key);
	for (uint32_t i = 0; i < t->verdicts; i++)
		if ((int32_t)i != t->primary && !t->verdict[i].announced)
			json_text(j, NULL, t->verdict[i].bucket);
	json_end_array(j);
}

static void put_seconds(struct json *j, const char *key, int64_t seconds)
{
	json_text_or_null(j, key, seconds ? as_utc_of_seconds(seconds).s : NULL);
}

static void put_crash_signs(struct json *j, const struct crash_signs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		json_object(j, NULL);
		blackbox_json_crash_sign(j, &p->one[i]);
		json_end(j);
	}
}

#include "render/json/triage_lines.def"

void triage_json(struct buf *b, const struct triage_view *tv, const struct triage *t)
{
	put_line_triage(b, tv, t, t->primary >= 0 ? &t->verdict[t->primary] : NULL);
}

void triage_buckets_json(struct buf *b, const struct triage_buckets *bs)
{
	for (size_t i = 0; i < bs->n; i++)
		put_line_triage_bucket(b, &bs->bucket[i]);
}
