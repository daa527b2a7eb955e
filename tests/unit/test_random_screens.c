// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the live view with random records, keys and sizes of the terminal. The test compares
 * checksums over what the keys do, and over the screens without their words. No plural follows the
 * number 1.
 *
 * If the environment variable FS_SHOW_EXPECTED=FILE is set, the screens are appended to FILE.
 */
#include <locale.h>

#include "model/ended.h"
#include "plurals.h"
#include "random_scene.h"

#define SEEDS	60
#define SCANS	6
#define PRESSES 24 /* keys after a scan */
#define OTHERS	20 /* further processes, for tables that are longer than the screen */

/* Bytes of keys. Those that move and change the view occur often. */
static const char *const keys[] = {
	"j",
	"j",
	"j",
	"k",
	"\033[B",
	"\033[A",
	"\033OB",
	"\033[C",
	"\033[D",
	"\033[5~",
	"\033[6~",
	"\033[H",
	"\033[F",
	"\033[1~",
	"\033[4~",
	"g",
	"G",
	"1",
	"2",
	"3",
	"4",
	"5",
	"6",
	"7",
	"\t",
	"\033[Z",
	"s",
	"s",
	"S",
	"I",
	"t",
	"t",
	"e",
	"e",
	" ",
	"c",
	"o",
	"o",
	"R",
	"L",
	"\033OQ",
	"?",
	"h",
	"/",
	"/",
	"J",
	"d",
	"m",
	"w",
	"+",
	"-",
	"\r",
	"\r",
	"\r",
	"\n",
	"\033",
	"\033",
	"\033\033",
	"q",
	"x",
	"]",
	"\177",
	"\010",
	"\xc3\xa4",
	"\xe2\x82\xac",
	"\xf0\x9f\x90\xa7",
	"\xff",
	"\033[99~",
	"\033x",
};

/* Words that are typed as a filter or a time. */
static const char *const words[] = {"work1\r", "2\r",	  "M00\r", "app other\r", "+90s\r",
				    "14:03\r", "name5\r", "\r",	   "A\177B\r",	  "web\033"};

static const char *const paths[] = {
	"",
	"/",
	"/system.slice/a.service",
	"/system.slice/b.service",
	"/system.slice",
	"/user.slice/user-1000.slice/app.scope",
	"/kubepods/pod1/c1",
	"/kubepods/pod1/c2",
};

static const struct tui_mark marks[] = {
	{2 * SECOND, MARK_OPENED}, {3 * SECOND, MARK_CRITICAL}, {5 * SECOND, MARK_TRIGGER}};

enum { SUM_TABLES, SUM_SMALL, SUM_ACTIONS, SUMS };

static void add_names(struct scene *s, uint32_t pid)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, s->t_ns);

	n.subject = (struct process_key){.pid = pid, .start_ns = pid};
	snprintf(n.cgroup, sizeof(n.cgroup), "%s",
		 paths[below(s, sizeof(paths) / sizeof(paths[0]))]);
	if (below(s, 2))
		snprintf(n.exe, sizeof(n.exe), "/usr/bin/web%" PRIu64, below(s, 5));
	give(s, &n.h);
}

/* Adds processes that start and end at random. */
static void add_others(struct scene *s, bool first)
{
	static const uint64_t steps[] = {0, 1, 5, 40, 100, 2000, 100000};

	for (uint32_t pid = 100; pid < 100 + OTHERS; pid++) {
		struct process_record p = process_record(pid, pid, s->t_ns);

		p.g.min_flt = steps[below(s, 7)] * (s->t_ns / SECOND);
		p.g.maj_flt = below(s, 4) * (s->t_ns / SECOND);
		p.g.fds = p.g.fd_high = below(s, 100);
		p.g.fd_soft = 100;
		p.g.map_count = p.g.map_high = below(s, 101);
		p.g.flags = PROC_BORN | (below(s, 20) ? 0 : PROC_FINAL);
		snprintf(p.g.comm, sizeof(p.g.comm), "name%u", pid % 7);
		give(s, &p.h);
		if (first)
			add_names(s, pid);
	}
}

/* Makes the view of a live source or of a replay. */
static void open_view(struct scene *s)
{
	struct tui *t = &s->tui;

	t->looks = below(s, 2);
	t->writes = below(s, 2);
	t->recording = below(s, 3) == 0;
	if (below(s, 2))
		return;
	snprintf(t->status, sizeof(t->status), "REPLAY x%" PRIu64, 1 + below(s, 20));
	t->timeline = (struct tui_timeline){.begin_ns = SECOND,
					    .end_ns = 8 * SECOND,
					    .read_ns = (2 + below(s, 7)) * SECOND,
					    .mark = marks,
					    .nr_marks = below(s, 4),
					    .from = "23:55:00",
					    .to = "23:55:07",
					    .now = "23:55:01"};
}

static void resize(struct scene *s, struct view *v)
{
	static const int widths[] = {23, 24, 40, 60, 79, 80, 95, 96, 100, 120, 149, 150, 200, 250};
	static const int heights[] = {5, 6, 7, 9, 13, 14, 15, 20, 24, 40, 60};

	v->width = widths[below(s, 14)];
	v->height = heights[below(s, 11)];
	v->colour = below(s, 2);
	v->unicode = below(s, 3);
	v->addresses = below(s, 4) == 0;
}

static void press_bytes(struct scene *s, const struct view *v, const char *bytes, uint64_t *sum)
{
	size_t len = strlen(bytes);
	struct tui *t = &s->tui;
	uint32_t key;

	do {
		size_t n = tui_decode(&t->keys, bytes, len, &key);

		bytes += n;
		len -= n;
		mix(sum, key);
		if (key != KEY_NONE)
			mix(sum, tui_press(t, v, key));
	} while (len);
	if (t->keys.n && below(s, 4)) { /* no further byte follows in time */
		tui_decode(&t->keys, "", 0, &key);
		mix(sum, key);
		mix(sum, tui_press(t, v, key));
	}
	mix(sum, t->where << 8 | t->tab << 4 | t->asks << 1 | t->follows);
	mix(sum, t->at * 1000 + t->top);
	mix(sum, t->chosen.pid);
	mix_text(sum, t->typed);
	mix_text(sum, t->filter);
}

/* What the test sees in all screens. */
struct seen {
	struct sum *sums;
	unsigned int plurals; /* number of plurals after the number 1 */
	FILE *shown;	      /* NULL: do not write the screens to a file */
};

static void draw(struct scene *s, const struct view *v, struct seen *seen)
{
	bool small = v->width < 80 || v->height < 14;
	struct buf frame = {};

	tui_frame(&s->tui, v, &frame);
	note(s, frame.failed ? -ENOMEM : 0);
	mix_shape(&seen->sums[small ? SUM_SMALL : SUM_TABLES].got, frame.s ? frame.s : "",
		  frame.len);
	seen->plurals += plurals_after_one(&frame);
	if (seen->shown && frame.s)
		fprintf(seen->shown, "%s\n", frame.s);
	buf_free(&frame);
}

static void use_keys(struct scene *s, struct seen *seen)
{
	struct view v = s->view;

	resize(s, &v);
	for (int i = 0; i < PRESSES; i++) {
		const char *bytes = s->tui.asks && below(s, 3)
					    ? words[below(s, sizeof(words) / sizeof(words[0]))]
					    : keys[below(s, sizeof(keys) / sizeof(keys[0]))];

		press_bytes(s, &v, bytes, &seen->sums[SUM_ACTIONS].got);
		draw(s, &v, seen);
		if (!below(s, 8))
			resize(s, &v);
	}
}

static void play(uint64_t seed, struct seen *seen)
{
	static struct scene s;

	begin(&s, seed);
	note(&s, model_keep_ended(&s.m, 30));
	open_view(&s);
	for (unsigned int nth = 0; !s.err && nth < SCANS; nth++) {
		pass_second(&s, nth);
		add_others(&s, !nth);
		scan_and_judge(&s, nth);
		if (below(&s, 10)) {
			note(&s, tui_update(&s.tui, &s.view));
		} else {
			tui_forget(&s.tui); /* a jump in a replay */
			note(&s, tui_pass(&s.tui, &s.view));
			note(&s, below(&s, 2) ? tui_show_now(&s.tui, &s.view) : 0);
		}
		use_keys(&s, seen);
		next_window(&s);
	}
	if (s.err)
		abort();
	end_scene(&s);
}

int main(void)
{
	struct sum sums[SUMS] = {
		{"screens", SUM_BEGINS, 0x2f3910702b3f078b},
		{"small screens", SUM_BEGINS, 0xf739ab1112066cc3},
		{"what keys do", SUM_BEGINS, 0x44b3088e351ff2fc},
	};
	const char *path = getenv("FS_SHOW_EXPECTED");
	struct seen seen = {.sums = sums, .shown = path ? fopen(path, "a") : NULL};

	setlocale(LC_ALL, "C.UTF-8");
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(seed, &seen);
	if (seen.shown)
		fclose(seen.shown);
	are_rounded_sums(sums, SUMS);
	is_u64(seen.plurals, 0, "no plural follows the number 1");
	return tap_done();
}
