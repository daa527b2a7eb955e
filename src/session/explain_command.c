// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "render/text/explain_text.h"
#include "session/session.h"

#define NEAR_MOST 6
#define WIDTH	  100 /* longer lines are hard to read */

static void complain_of(const char *word)
{
	const struct diagnosis *near[NEAR_MOST];
	size_t n = diagnoses_near(word, near, NEAR_MOST);
	struct buf said = {};
	char head[33];

	snprintf(head, sizeof(head), "%s", word);
	buf_safe(&said, head, false);
	buf_puts(&said, ": no such diagnosis");
	for (size_t i = 0; i < n; i++)
		buf_printf(&said, "%s%s", i ? ", " : "\n  near: ", near[i]->id);
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

int command_explain(const struct options *o, struct buf *b)
{
	struct session s; /* of which only the view is of use */
	int err;

	for (int i = 0; i < o->argc; i++)
		if (!diagnosis_find(o->argv[i])) {
			complain_of(o->argv[i]);
			return EXIT_USAGE;
		}
	err = session_begin(&s, o);
	if (!o->width && s.view.width > WIDTH)
		s.view.width = WIDTH;
	if (!err && !o->argc)
		put_all(b, o, &s.view);
	for (int i = 0; !err && i < o->argc; i++) {
		if (i && o->format != &json_renderer)
			buf_putc(b, '\n');
		say(b, o, &s.view, diagnosis_find(o->argv[i]));
	}
	s.status = err;
	return session_end(&s);
}
