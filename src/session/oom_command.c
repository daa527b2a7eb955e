// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* oom: prints the post-mortems of OOM kills from the store, from recordings, or as they happen. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/error_text.h"
#include "base/units.h"
#include "live/terminal_view.h"
#include "probe/recording.h"
#include "render/oom_pages.h"
#include "session/commands.h"
#include "session/drop_privileges.h"
#include "session/oom_store.h"
#include "session/session.h"

#define TIERS_OOM     0x3u
#define WATCH_SECONDS 5.0 /* time between scans: the curve of a page has one point for each */
#define WIDTH	      100

/* What one run of the command has printed. */
struct printing {
	const struct options *o;
	struct view v;
	struct buf b;
	size_t pages;
	bool failed;
};

static void put_page(struct printing *p, const struct oom_page *page)
{
	if (p->o->format == &json_renderer) {
		oom_page_json(&p->b, &p->v, page);
	} else {
		if (p->pages)
			buf_putc(&p->b, '\n'); /* an empty line between two pages */
		(p->o->markdown ? oom_page_markdown : oom_page_text)(&p->b, &p->v, page);
	}
	p->pages++;
}

static void put_in_list(struct printing *p, const char *path, const struct oom_page *page)
{
	if (p->o->format == &json_renderer) {
		put_page(p, page);
		return;
	}
	if (!p->pages++)
		oom_list_heading(&p->b, &p->v);
	oom_list_line(&p->b, &p->v, path, page);
}

/* Prints the kills of a recording, the newest first if `newest_first`. */
static void put_kills(struct printing *p, const struct model *m, const char *path)
{
	size_t n = m->ooms ? m->ooms->n : 0;

	p->v.m = m;
	for (size_t i = 0; i < n; i++) {
		const struct oom_kill *k = &m->ooms->kill[p->o->oom.list ? n - 1 - i : i];
		struct oom_page page;

		oom_page_of(k, m->tick.limits.page_bytes, &page);
		if (p->o->oom.list)
			put_in_list(p, path, &page);
		else
			put_page(p, &page);
	}
}

/* Reads a recording up to its end, or up to where it is damaged. */
static int read_all(struct source *src, struct collector *c)
{
	struct sink sink = {.take = collector_take, .ctx = c};
	int err = src->ops->start(src, &sink);

	while (!err) {
		err = src->ops->look(src, &sink);
		if (!err)
			model_next_window(c->m);
	}
	return err == 1 ? 0 : err;
}

static void put_file(struct printing *p, const char *path)
{
	struct collector c = {};
	struct source *src = NULL;
	char error[512] = "";
	struct model m;
	int err = model_init(&m);

	c.m = &m;
	if (!err)
		err = replay_open(path, &src, error, sizeof(error));
	if (!err) {
		err = read_all(src, &c);
		put_kills(p, &m, path);
		snprintf(error, sizeof(error), "%s", src->error);
		src->ops->close(src);
	}
	if (err) {
		complain("%s", *error ? error : as_error(err).s);
		p->failed = true;
	}
	collector_free(&c);
	model_free(&m);
}

static void say_nothing_stored(const char *dir)
{
	complain("no OOM kill is stored in %s\n"
		 "  kills are stored while one of these runs:  faultscope export, faultscope oom "
		 "--watch\n"
		 "  a recording has kills too:  faultscope oom FILE.fsr\n"
		 "  earlier kills are only in the kernel log:  dmesg | grep -i 'killed process'",
		 dir);
}

/* Prints the newest kill of the store, or lists all. */
static int put_store(struct printing *p)
{
	const char *dir = p->o->oom.store ? p->o->oom.store : OOM_STORE_PLACE;
	char path[PATH_MAX + STORED_NAME_BYTES];
	struct stored_names names, others;
	int err = stored_names_read(dir, &names);

	if (!names.n && !p->o->oom.store && !stored_names_read(OOM_STORE_OF_SERVICE, &others) &&
	    others.n) {
		stored_names_free(&names);
		dir = OOM_STORE_OF_SERVICE;
		names = others;
	}
	if (err && err != -ENOENT) {
		complain("cannot read %s: %s", dir, strerror(-err));
		return EXIT_FAILED;
	}
	if (!names.n) {
		say_nothing_stored(dir);
		stored_names_free(&names);
		return EXIT_INCOMPLETE;
	}
	for (size_t i = 0; i < (p->o->oom.list ? names.n : 1); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names.name[i]);
		put_file(p, path);
	}
	if (names.n > 1 && !p->o->oom.list && p->o->format != &json_renderer && !p->o->markdown)
		buf_printf(&p->b, "\n%zu older %s stored: faultscope oom --list\n", names.n - 1,
			   as_words(names.n - 1, "kill{ is|s are}").s);
	stored_names_free(&names);
	return 0;
}

static int print_stored(const struct options *o)
{
	struct printing p = {.o = o};
	int status = 0, err;

	privileges_drop_to_store(CAP_DAC_READ_SEARCH);
	view_make(&p.v, o);
	if (!o->width && p.v.width > WIDTH)
		p.v.width = WIDTH;
	for (int i = 0; i < o->argc; i++)
		put_file(&p, o->argv[i]);
	if (!o->argc)
		status = put_store(&p);
	else if (!p.pages && !p.failed) {
		complain("no OOM kill is in the recording%s", o->argc > 1 ? "s" : "");
		status = EXIT_INCOMPLETE;
	}
	err = p.b.len ? say_all(o, &p.b) : 0;
	buf_free(&p.b);
	return err ? err : p.failed ? EXIT_FAILED : status;
}

/* State of --watch, beside the session. */
struct watching {
	struct oom_store store;
	bool told; /* that a kill could not be stored */
};

static const struct oom_kill *kill_of_event(const struct view *v, const union event *e)
{
	const struct oom_kills *o = v->m->ooms;

	for (size_t i = 0; e->h.kind == RECORD_OOM && o && i < o->n; i++)
		if (o->kill[i].first.h.t_ns == e->h.t_ns &&
		    same_subject(&o->kill[i].first.subject, &e->oom.subject))
			return &o->kill[i];
	return NULL;
}

static void put_event(struct buf *b, const struct view *v, const union event *e,
		      void (*put)(struct buf *b, const struct view *v, const struct oom_page *p))
{
	const struct oom_kill *k = kill_of_event(v, e);
	struct oom_page page;

	if (!k)
		return;
	oom_page_of(k, v->m->tick.limits.page_bytes, &page);
	put(b, v, &page);
}

static void event_text(struct buf *b, const struct view *v, const union event *e)
{
	size_t len = b->len;

	put_event(b, v, e, oom_page_text);
	if (b->len > len)
		buf_putc(b, '\n');
}

static void event_markdown(struct buf *b, const struct view *v, const union event *e)
{
	put_event(b, v, e, oom_page_markdown);
}

static void event_json(struct buf *b, const struct view *v, const union event *e)
{
	put_event(b, v, e, oom_page_json);
}

#define RENDERER(way)                                                                              \
	{                                                                                          \
		.name = #way, .open = render_nothing, .event = event_##way,                        \
		.finding = render_no_finding, .frame = render_nothing, .close = render_nothing     \
	}

static const struct renderer text_pages = RENDERER(text), markdown_pages = RENDERER(markdown),
			     json_pages = RENDERER(json);

static void store_kills(struct session *s)
{
	struct watching *w = s->plan.ctx;
	int err = oom_store_write(&w->store, &s->in.m);

	if (err && !w->told)
		complain("cannot store a page in %s: %s", w->store.dir, strerror(-err));
	w->told |= !!err;
}

static void open_scope(struct session *s)
{
	struct watching *w = s->plan.ctx;

	s->in.scope.writable[0] = w->store.dir[0] ? w->store.dir : NULL;
}

static int watch(const struct options *o)
{
	struct watching w = {};
	struct run_plan plan;
	struct session s;
	int err = oom_store_open(&w.store, o->oom.store, o->oom.keep);

	if (err) {
		complain("cannot make %s: %s", o->oom.store ? o->oom.store : OOM_STORE_PLACE,
			 strerror(-err));
		return EXIT_FAILED;
	}
	plan_init(&plan, o);
	plan.tiers = TIERS_OOM;
	plan.interval = WATCH_SECONDS;
	plan.renderer = o->format == &json_renderer ? &json_pages
			: o->markdown		    ? &markdown_pages
						    : &text_pages;
	plan.before_drop = open_scope;
	plan.after_events = store_kills;
	plan.ctx = &w;
	if (!o->quiet)
		complain("watching for OOM kills%s%s; Ctrl-C ends it",
			 w.store.dir[0] ? ", pages are stored in " : "", w.store.dir);
	session_measure(&s, &plan);
	return session_end(&s);
}

int command_oom(const struct options *o)
{
	return o->oom.watch ? watch(o) : print_stored(o);
}
