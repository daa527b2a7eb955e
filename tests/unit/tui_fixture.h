/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A live view without a terminal, for its tests: a model, and what the keys and the screen do. */
#ifndef FS_TESTS_TUI_FIXTURE_H
#define FS_TESTS_TUI_FIXTURE_H

#include <stdlib.h>

#include "fixture.h"
#include "render/tui/tui_parts.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct tui t;
static struct view v;
static struct buf frame;
static uint64_t now;

static inline void begin(void)
{
	begin_model(&m, NULL);
	now = SECOND;
	memset(&fs, 0, sizeof(fs));
	v = (struct view){.m = &m, .findings = &fs, .width = 120, .height = 30, .unicode = true};
	tui_open(&t, &v);
}

static inline void end(void)
{
	tui_free(&t);
	findings_free(&fs);
	model_free(&m);
	buf_free(&frame);
}

struct given {
	uint32_t pid;
	const char *comm, *cgroup;
	uint64_t minor;
	uint32_t fds, maps, parent;
	const char *command, *user;
};

static inline void process(struct given g)
{
	struct process_record r = process_record(g.pid, 1, now + SECOND / 2);
	struct names_record names = RECORD(names_record, RECORD_NAMES, now);

	r.g.min_flt = g.minor;
	r.g.fds = r.g.fd_high = g.fds;
	r.g.map_count = r.g.map_high = g.maps;
	r.g.flags = PROC_BORN;
	r.g.ppid = g.parent;
	snprintf(r.g.comm, sizeof(r.g.comm), "%s", g.comm);
	model_take(&m, &r.h);
	names.subject = r.subject;
	snprintf(names.cgroup, sizeof(names.cgroup), "%s", g.cgroup ? g.cgroup : "");
	snprintf(names.command, sizeof(names.command), "%s", g.command ? g.command : "");
	snprintf(names.user, sizeof(names.user), "%s", g.user ? g.user : "");
	model_take(&m, &names.h);
}

static inline void look(void)
{
	struct tick_record r = tick_record(now += SECOND);

	model_take(&m, &r.h);
	findings_judge(&fs, &m);
	tui_update(&t, &v);
	model_next_window(&m);
	findings_next_window(&fs);
}

static inline const char *draw(void)
{
	buf_clear(&frame);
	tui_frame(&t, &v, &frame);
	return frame.s ? frame.s : "";
}

static inline void press(const char *keys)
{
	for (uint32_t key; *keys;) {
		keys += tui_decode(&t.keys, keys, strlen(keys), &key);
		tui_press(&t, &v, key);
	}
}

static inline void press_key(uint32_t key)
{
	tui_press(&t, &v, key);
}

/* Draws the screen. Returns the lines below the head, which shows the most severe finding. */
static inline const char *body(void)
{
	const char *at = draw();

	for (int i = 0; i < 4 && at; i++)
		at = strchr(at, '\n') + 1;
	return at;
}

/* Returns the number of the first line below the head that contains a word; -1 if none does. */
static inline int line_with(const char *word)
{
	const char *from = body(), *at = strstr(from, word);
	int line = 0;

	for (const char *c = from; at && c < at; c++)
		line += *c == '\n';
	return at ? line : -1;
}

static inline bool before(const char *one, const char *other)
{
	int a = line_with(one), b = line_with(other);

	return a >= 0 && b >= 0 && a < b;
}

static inline void some_processes(void)
{
	process((struct given){10, "small", "/user.slice/a.scope", 10, 10, 100});
	process((struct given){11, "large", "/user.slice/a.scope", 500, 20, 60000});
	process((struct given){12, "files", "/system.slice/db.service", 20, 1000, 50});
	process((struct given){13, "deep", "/system.slice/db.service/x/y", 30, 5, 60});
	process((struct given){14, "besides", "/system.slice-2", 40, 5, 70});
	look();
}

/* Checks that no line is wider than the screen, and that the screen has no unused line. */
static inline bool fits(const char *what)
{
	const char *at = draw(), *end;
	int lines = 0;
	bool good = true;

	for (; (end = strchr(at, '\n')); at = end + 1, lines++) {
		char *one = strndup(at, end - at);

		if (text_columns(one) > v.width) {
			printf("# %s, %d columns: %s\n", what, v.width, one);
			good = false;
		}
		free(one);
	}
	if (lines != v.height) {
		printf("# %s, %d by %d: %d lines\n", what, v.width, v.height, lines);
		good = false;
	}
	return good && !*at;
}

/* Presses a button of the mouse, or turns its wheel, at a place of the screen. */
static inline void mouse(unsigned int button, unsigned int x, unsigned int y)
{
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "\033[<%u;%u;%uM", button, x, y);
	press(bytes);
}

#endif
