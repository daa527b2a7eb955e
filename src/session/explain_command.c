// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "cli/explain_message.h"
#include "cli/messages.h"
#include "live/terminal_view.h"
#include "render/text/explain_text.h"
#include "session/commands.h"

#define NEAR_MOST 6
#define WIDTH	  100 /* maximum default width in columns, because longer lines are hard to read */

static void complain_of(const char *word)
{
	const struct diagnosis *near[NEAR_MOST];
	size_t n = diagnoses_near(word, near, NEAR_MOST);
	struct buf said = {};
	char head[33];

	snprintf(head, sizeof(head), "%s", word);
	buf_safe(&said, head, false);
	buf_puts(&said, ": no finding has this id");
	for (size_t i = 0; i < n; i++)
		buf_printf(&said, "%s%s", i ? ", " : "\n  similar: ", near[i]->id);
	complain("explain %s\n  all:  faultscope explain", said.s ? said.s : "");
	buf_free(&said);
}

static void say(struct buf *b, const struct options *o, const struct view *v,
		const struct diagnosis *d)
{
	if (o->format == &json_renderer)
		explain_json(b, d);
	else
		explain_text(b, v, d);
}

static void put_all(struct buf *b, const struct options *o, const struct view *v)
{
	const struct diagnosis *d;

	if (o->format != &json_renderer) {
		explain_list(b, v);
		return;
	}
	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		explain_json(b, d);
}

/*
 * Returns whether all words are ids of findings or look like ids. If not, the words are an error
 * message to explain.
 */
static bool names_ids(const struct options *o)
{
	for (int i = 0; i < o->argc; i++)
		if (!diagnosis_find(o->argv[i]) && !is_diagnosis_id(o->argv[i]))
			return false;
	return true;
}

int command_explain(const struct options *o, struct buf *b)
{
	struct view v = {};

	view_make(&v, o);
	if (!o->width && v.width > WIDTH)
		v.width = WIDTH;
	if (!names_ids(o))
		return explain_message(o, &v, b);
	for (int i = 0; i < o->argc; i++)
		if (!diagnosis_find(o->argv[i])) {
			complain_of(o->argv[i]);
			return EXIT_USAGE;
		}
	if (!o->argc)
		put_all(b, o, &v);
	for (int i = 0; i < o->argc; i++) {
		if (i && o->format != &json_renderer)
			buf_putc(b, '\n');
		say(b, o, &v, diagnosis_find(o->argv[i]));
	}
	return EXIT_DONE;
}
