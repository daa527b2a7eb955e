// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the live view without a terminal: layout at each width, colours, footer, hostile texts. */
#include <locale.h>

#include "tui_fixture.h"

static void test_sizes(void)
{
	static const char *const states[] = {"", "2", "3", "4", "5", "6", "1t", "t\r", "d", "?"};
	bool good = true;

	begin();
	some_processes();
	process((struct given){20, "\xe6\xbc\xa2\xe5\xad\x97", "/\xe6\xbc\xa2", 5000, 5, 60});
	look();
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		press(states[i]);
		press_key(KEY_NONE);
		for (v.width = 24; v.width <= 320; v.width++)
			for (int mode = 0; mode < 4; mode++) {
				v.colour = mode & 1;
				v.unicode = mode & 2;
				v.height = 6 + v.width % 50;
				good = fits(states[i]) && good;
			}
		v.width = 120;
		v.height = 30;
	}
	ok(good, "every state fits every size, with colour and without, in ASCII and not");
	v.width = 10;
	ok(!strcmp(draw(), "too small\n"), "less is said to be too small");
	end();
}

static void test_no_escape_in_mono(void)
{
	begin();
	some_processes();
	v.colour = false;
	draw();
	for (char *at = frame.s; (at = strchr(at, '\033')); at++)
		if (strncmp(at, "\033[7m", 4) && strncmp(at, "\033[0m", 4))
			break;
	ok(strstr(frame.s, "\033[7m"), "without colour the cursor is reversed");
	ok(!strstr(frame.s, "\033[3"), "and there is no colour");
	v.unicode = false;
	draw();
	for (const char *c = frame.s; *c; c++)
		if ((unsigned char)*c >= 0x80) {
			ok(false, "ASCII alone: 0x%02x", (unsigned char)*c);
			break;
		}
	end();
}

static void test_losses(void)
{
	struct buf json = {};

	begin();
	some_processes();
	press("5");
	ok(strstr(draw(), "0 fault starts, 0 events"), "what was not lost is told, too");
	fs.lost = 3;
	m.events_lost = 2;
	process((struct given){20, "late", NULL, 1, 1, 1});
	look();
	v.height = 60;
	ok(strstr(draw(), "2 events of one scan, 3 findings"), "and all else where it was");
	json_renderer.close(&json, &v);
	ok(json.s && strstr(json.s, "\"events\":2,\"findings\":3,"), "in JSON too");
	buf_free(&json);
	end();
}

/* Yellow and cyan, which are pale on a light background, are other colours there. */
static void test_themes(void)
{
	begin();
	some_processes();
	v.colour = true;
	draw();
	ok(strstr(frame.s, "\033[36m") && !strstr(frame.s, "\033[34m"), "a dark background");
	press("L");
	draw();
	ok(strstr(frame.s, "\033[34m") && !strstr(frame.s, "\033[36m") &&
		   !strstr(frame.s, "\033[1;33m"),
	   "L: a light one");
	press("L");
	draw();
	ok(!strstr(frame.s, "\033[3") && !strstr(frame.s, "\033[1;3"), "L: no colours");
	press("L");
	draw();
	ok(strstr(frame.s, "\033[36m"), "L: a dark one again");
	v.colour = false;
	draw();
	ok(!strstr(frame.s, "\033[3") && !strstr(frame.s, "\033[1;3"), "none without colours");
	end();
}

static void test_footer(void)
{
	static const char *const order[] = {"? help",	  "q quit",   "Enter open",
					    "6 findings", "/ filter", "s sort"};
	bool good = true;

	begin();
	some_processes();
	for (v.width = 24; v.width < 120; v.width++) {
		bool ended = false;

		draw();
		for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
			bool there = strstr(frame.s, order[i]) != NULL;

			good = good && !(there && ended);
			ended |= !there;
		}
	}
	ok(good, "the footer drops the least important keys first");
	end();
}

static void test_hostile(void)
{
	bool good = true;

	begin();
	process((struct given){.pid = 10,
			       .comm = "\033[2J\033[31m",
			       .cgroup = "/\033]0;x\a/\nb",
			       .minor = 5,
			       .command = "x \033[2J\r\n\x9b\x31mtitle\xe2\x80\xae",
			       .user = "\033[1m"});
	process((struct given){11, "\xe2\x80\xaetxt.exe", "/\xff\xfe", 5, 5, 50});
	look();
	for (int i = 0; i < 9; i++) {
		press(i < 6 ? "\t" : i < 8 ? "1c" : "1\r");
		draw();
		for (const char *c = frame.s; *c; c++)
			if (((unsigned char)*c < ' ' && *c != '\n' && *c != '\033') ||
			    (*c == '\033' && strncmp(c, "\033[7m", 4) && strncmp(c, "\033[0m", 4)))
				good = false;
		good = good && !strstr(frame.s, "\xe2\x80\xae");
	}
	ok(good, "names say nothing to the terminal");
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_sizes();
	test_no_escape_in_mono();
	test_losses();
	test_themes();
	test_footer();
	test_hostile();
	return tap_done();
}
