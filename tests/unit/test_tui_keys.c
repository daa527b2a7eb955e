// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what keys and the mouse do in the live view, and how bytes become keys. */
#include <locale.h>

#include "tui_fixture.h"

static void test_cursor(void)
{
	begin();
	some_processes();
	draw();
	is_u64(t.chosen.pid, 12, "the cursor begins at the first");
	process((struct given){12, "files", NULL, 99999, 10, 50});
	for (int i = 0; i < 4; i++)
		look();
	draw();
	is_u64(t.chosen.pid, 11, "and stays there, whoever comes first");
	press("j");
	draw();
	is_u64(t.chosen.pid, t.chosen.pid, "moved, it is on a process");
	uint32_t on = t.chosen.pid;
	for (int i = 0; i < 3; i++) {
		process((struct given){13, "deep", NULL, 1000000 * (i + 1), 5, 60});
		look();
		draw();
	}
	is_u64(t.chosen.pid, on, "and goes with it");
	press("G");
	draw();
	is_u64(t.at, 4, "G: the last");
	press("j");
	is_u64(t.at, 4, "there it ends");
	press("k");
	is_u64(t.at, 3, "k: up");
	press_key(KEY_DOWN);
	is_u64(t.at, 4, "down");
	press_key(KEY_UP);
	is_u64(t.at, 3, "up");
	press_key(KEY_HOME);
	is_u64(t.at, 0, "Home");
	press_key(KEY_END);
	is_u64(t.at, 4, "End");
	press_key(KEY_PAGE_UP);
	is_u64(t.at, 0, "PgUp");
	press_key(KEY_PAGE_DOWN);
	is_u64(t.at, 4, "PgDn");
	press("g");
	is_u64(t.at, 0, "g");
	end();
}

static void test_scroll(void)
{
	begin();
	for (uint32_t pid = 100; pid < 200; pid++)
		process((struct given){pid, "many", NULL, pid, 5, 50});
	look();
	press("G");
	ok(line_with("    100 ") >= 0 && line_with("    199 ") < 0, "the cursor is always shown");
	press("g");
	ok(line_with("    199 ") >= 0 && line_with("    100 ") < 0, "at the top as well");
	press_key(KEY_RIGHT);
	ok(!strstr(draw(), "TREND"), "Right: the first column is scrolled away");
	ok(strstr(draw(), "▾MINFLT/s"), "but not the one by which the rows are sorted");
	press_key(KEY_LEFT);
	ok(strstr(draw(), "TREND"), "Left: it is back");
	press_key(KEY_LEFT);
	for (int i = 0; i < 100; i++)
		press_key(KEY_RIGHT);
	ok(fits("far right"), "there is an end to the right");
	end();
}

static void test_pages(void)
{
	begin();
	some_processes();
	draw();
	press("j\r");
	ok(strstr(draw(), "Process large[11]") && strstr(frame.s, "60,000 of 65,530"),
	   "Enter: one process");
	is_u64(t.where, TUI_PROCESS, "is where we are");
	press("d");
	ok(strstr(draw(), "Diagnosis of large[11]") && strstr(frame.s, "checked:"), "d: diagnosis");
	ok(line_with("large[11]: ") >= 0 && line_with("files[12]") < 0, "of this one alone");
	press_key(KEY_ESCAPE);
	is_u64(t.where, TUI_PROCESS, "Esc: back where it was");
	v.height = 12;
	draw();
	press("j");
	is_u64(t.scroll, 1, "a page scrolls");
	press("G");
	draw();
	ok(t.scroll > 1 && strstr(frame.s, "locked_bytes"), "to its end");
	press("g");
	is_u64(t.scroll, 0, "and back");
	press_key(KEY_ESCAPE);
	is_u64(t.where, TUI_TABLE, "Esc: the table");
	v.height = 30;
	press("6\r");
	ok(strstr(draw(), "Finding ") && strstr(frame.s, "workaround"), "Enter: a finding");
	press_key(KEY_ESCAPE);
	press("?");
	ok(strstr(draw(), "move the cursor"), "?: help");
	press("h");
	is_u64(t.where, TUI_TABLE, "h: and away");
	end();
}

static void test_tabs(void)
{
	static const char *const names[] = {"MINFLT", "CREATED", "OPENED",
					    "SWAP",   "Probes",	 "SEVERITY"};

	begin();
	some_processes();
	v.width = 200;
	for (size_t i = 0; i < 6; i++) {
		ok(strstr(draw(), names[i]), "tab %zu has %s", i + 1, names[i]);
		press("\t");
	}
	is_u64(t.tab, 0, "Tab goes round");
	press_key(KEY_BACK_TAB);
	is_u64(t.tab, 5, "Shift-Tab goes back");
	press("4");
	is_u64(t.tab, 3, "a number goes there");
	end();
}

static void test_pause(void)
{
	begin();
	some_processes();
	press(" ");
	ok(strstr(draw(), "PAUSED"), "Space: it is told");
	process((struct given){10, "renamed", NULL, 99999, 10, 100});
	look();
	ok(line_with("renamed") < 0 && line_with("small") >= 0, "paused: as it was");
	press(" ");
	look();
	ok(line_with("renamed") >= 0 && line_with("PAUSED") < 0, "and then as it is");
	end();
}

static void test_actions(void)
{
	/* keys that move or change the view; those that toggle come twice */
	static const uint32_t drawn[] = {
		KEY_NONE,    KEY_UNKNOWN,   KEY_DOWN,	'j',	   KEY_UP, 'k',	      KEY_PAGE_DOWN,
		KEY_PAGE_UP, KEY_END,	    'G',	KEY_HOME,  'g',	   KEY_RIGHT, KEY_LEFT,
		KEY_TAB,     KEY_BACK_TAB,  's',	'S',	   'I',	   'I',	      't',
		't',	     't',	    ' ',	' ',	   'c',	   'c',	      'C',
		'?',	     '?',	    'h',	'h',	   '2',	   '1',	      '/',
		'x',	     KEY_BACKSPACE, KEY_ESCAPE, KEY_ESCAPE};
	begin();
	some_processes();
	draw();
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
		ok(tui_press(&t, &v, drawn[i]) == TUI_DRAW, "key %#x: only draw again", drawn[i]);
	is_u64(tui_press(&t, &v, 'q'), TUI_QUIT, "q");
	is_u64(tui_press(&t, &v, 'Q'), TUI_QUIT, "Q");
	is_u64(tui_press(&t, &v, '+'), TUI_FASTER, "+");
	is_u64(tui_press(&t, &v, '-'), TUI_SLOWER, "-");
	is_u64(tui_press(&t, &v, ']'), TUI_OTHER, "a key that is none of ours");
	is_u64(tui_press(&t, &v, 'J'), TUI_OTHER, "J of a live view");
	is_u64(tui_press(&t, &v, 'w'), TUI_DRAW, "w, where there is nothing to write");
	t.writes = t.looks = true;
	is_u64(tui_press(&t, &v, 'w'), TUI_RECORD, "w");
	is_u64(tui_press(&t, &v, KEY_ENTER), TUI_READ, "Enter asks what it holds");
	is_u64(t.chosen.pid, 12, "of the one");
	press("C");
	is_u64(t.trends.window, 0, "C forgets trends");
	tui_forget(&t);
	ok(!strcmp(draw(), "faultscope: first scan\n"), "forgotten: nothing to show");
	press("jkGg\r\t td?/x\rsSI26");
	ok(true, "and no key needs anything");
	end();
}

static void test_mouse(void)
{
	begin();
	some_processes();
	draw();
	mouse(MOUSE_LEFT, 30, 9);
	is_u64(t.at, 2, "a click chooses a row");
	is_u64(t.where, TUI_TABLE, "and does not open it");
	mouse(MOUSE_LEFT, 30, 9);
	is_u64(t.where, TUI_PROCESS, "a second click does");
	v.height = 12;
	draw();
	mouse(MOUSE_WHEEL_DOWN, 1, 10);
	is_u64(t.scroll, 3, "the wheel scrolls a page");
	mouse(MOUSE_WHEEL_UP, 1, 10);
	is_u64(t.scroll, 0, "and back");
	v.height = 30;
	press_key(KEY_ESCAPE);
	mouse(MOUSE_WHEEL_DOWN, 1, 10);
	is_u64(t.at, 4, "the wheel moves the cursor in a table");
	mouse(MOUSE_LEFT, 8, 6);
	ok(strstr(draw(), "order: PID") && before("small", "large"), "a click on a title sorts");
	mouse(MOUSE_LEFT, 8, 6);
	ok(strstr(draw(), "order: PID, reversed") && before("large", "small"), "and reverses");
	mouse(MOUSE_LEFT, 14, 5);
	is_u64(t.tab, 1, "a click on a tab goes there");
	mouse(MOUSE_LEFT, 100, 5);
	mouse(MOUSE_LEFT, 1, 1);
	mouse(MOUSE_LEFT, 50, 30);
	mouse(MOUSE_LEFT, 500, 500);
	mouse(2, 8, 6);
	ok(t.tab == 1 && t.where == TUI_TABLE, "other places and buttons do nothing");
	press("6");
	mouse(MOUSE_LEFT, 20, 7);
	mouse(MOUSE_LEFT, 20, 7);
	is_u64(t.where, TUI_FINDING, "a finding opens, too");
	end();
}

/* Filter and search show their effect while the user types. */
static void test_incremental(void)
{
	begin();
	some_processes();
	press("/lar");
	ok(line_with("large[") < 0 && line_with(" large") > 0 && line_with(" small") < 0,
	   "the filter applies while it is typed");
	press_key(KEY_ESCAPE);
	ok(line_with(" small") > 0, "Esc restores the former filter");
	press("/db\r/x");
	press_key(KEY_ESCAPE);
	is_str(t.filter, "db", "also if there was one");
	press_key(KEY_ESCAPE);
	press("fbes");
	is_u64(t.chosen.pid, 14, "a search moves the cursor");
	ok(line_with(" small") > 0 && strstr(draw(), "find: bes"), "and hides nothing");
	press("\r");
	press("f");
	press("l");
	press_key(KEY_ENTER);
	uint32_t first = t.chosen.pid;
	press("n");
	ok(t.chosen.pid != first, "n: the next one");
	press("g");
	size_t at = t.at;
	press("fbes");
	press_key(KEY_ESCAPE);
	is_u64(t.at, at, "Esc goes back");
	press("6/F12\r");
	ok(line_with("files[12]") > 0 && line_with("large[11]") < 0, "findings are filtered, too");
	press("/nothing");
	ok(line_with("no finding matches") > 0, "and none may be left");
	end();
}

/* The cursor stays with its finding when rows above it go, also when it becomes the first. */
static void test_followed_finding(void)
{
	static const struct finding *list[TUI_LISTED];
	struct process_key chosen;

	begin();
	process((struct given){5, "below", NULL, 1, 1024, 50});
	process((struct given){6, "below", NULL, 1, 1024, 50});
	process((struct given){7, "above", NULL, 1, 1024, 50});
	look();
	press("6");
	draw();
	press("j");
	draw();
	chosen = t.chosen;
	is_u64(t.at, 1, "the cursor is in the second row");
	snprintf(t.filter, sizeof(t.filter), "below");
	is_u64(tui_place_finding(&t, &v, list), 2, "findings that match a filter");
	ok(t.at == 0 && same_subject(&t.chosen, &chosen), "the chosen one is the first of them");
	end();
}

/* Each command of a finding is alone on its lines, from the first column on. */
static void test_commands(void)
{
	begin();
	some_processes();
	press("6\r");
	is_u64(t.where, TUI_FINDING, "a finding");
	press_key(KEY_ENTER);
	ok(strstr(draw(), "Commands to copy of ") && strstr(draw(), "\nprlimit --pid 12 --nofile="),
	   "Enter: its commands");
	press("?");
	ok(strstr(draw(), "move the cursor"), "? from there");
	press("?");
	is_u64(t.where, TUI_COMMANDS, "and back");
	press_key(KEY_ESCAPE);
	is_u64(t.where, TUI_FINDING, "Esc: the finding");
	press_key(KEY_ESCAPE);
	press("1\r\r");
	ok(strstr(draw(), "Commands to copy of files[12]") &&
		   strstr(draw(), "\nprlimit --pid 12 --nofile="),
	   "those of a process");
	press_key(KEY_ESCAPE);
	is_u64(t.where, TUI_PROCESS, "Esc: the process");
	press_key(KEY_ESCAPE);
	press("G\r\r");
	ok(strstr(draw(), "has a command"), "none");
	end();
}

static void test_timeline(void)
{
	static const struct tui_mark marks[] = {{20 * SECOND, MARK_OPENED},
						{50 * SECOND, MARK_CRITICAL},
						{80 * SECOND, MARK_TRIGGER}};

	begin();
	some_processes();
	t.timeline = (struct tui_timeline){.begin_ns = SECOND,
					   .end_ns = 101 * SECOND,
					   .read_ns = 90 * SECOND,
					   .mark = marks,
					   .nr_marks = 3,
					   .from = "23:55:00",
					   .to = "23:56:40",
					   .now = "23:55:01"};
	for (v.width = 24; v.width < 210; v.width += 3)
		for (v.height = 6; v.height < 60; v.height += 9)
			ok(fits("timeline"), "fits %d by %d", v.width, v.height);
	v.width = 80;
	v.height = 24;
	v.unicode = false;
	ok(strstr(draw(), " 23:55:00 #---"), "where it is, at the begin");
	ok(strstr(draw(), "o---") && strstr(draw(), "!---") && strstr(draw(), "^---"), "marks");
	ok(strstr(draw(), "... 23:56:40"), "what was not read yet");
	ok(strstr(draw(), "23:55:01, 1.0 s of 100 s"), "time and length");
	t.timeline.mark = &(struct tui_mark){SECOND / 2, MARK_TRIGGER};
	t.timeline.nr_marks = 1;
	ok(strstr(draw(), " 23:55:00 #---") && !strchr(strstr(draw(), " 23:55:00 "), '^'),
	   "a mark before the begin is where the begin is");
	t.timeline.mark = marks;
	t.timeline.nr_marks = 3;
	ok(strstr(draw(), "] [ finding") && !strstr(draw(), "w record"), "its keys");
	is_u64(tui_press(&t, &v, 'J'), TUI_DRAW, "J asks");
	press("14:0x");
	press_key(KEY_BACKSPACE);
	ok(strstr(draw(), " go to: 14:0_"), "what was typed");
	press("3");
	is_u64(tui_press(&t, &v, KEY_ENTER), TUI_JUMP, "Enter goes there");
	is_str(t.typed, "14:03", "to that time");
	press("J");
	is_u64(tui_press(&t, &v, KEY_ENTER), TUI_DRAW, "without a time, nothing happens");
	press("J5");
	press_key(KEY_ESCAPE);
	ok(!strstr(draw(), "go to:"), "Esc leaves");
	end();
}

static uint32_t decoded(const char *s, size_t len, size_t *ret_taken)
{
	struct tui_keys k = {};
	uint32_t key;

	*ret_taken = tui_decode(&k, s, len, &key);
	return key;
}

static void test_decode(void)
{
	static const struct {
		const char *s;
		uint32_t key;
	} keys[] = {
		{"q", 'q'},
		{"\t", KEY_TAB},
		{"\r", KEY_ENTER},
		{"\n", KEY_ENTER},
		{"\177", KEY_BACKSPACE},
		{"\b", KEY_BACKSPACE},
		{"\033[A", KEY_UP},
		{"\033OB", KEY_DOWN},
		{"\033[5~", KEY_PAGE_UP},
		{"\033[6~", KEY_PAGE_DOWN},
		{"\033[H", KEY_HOME},
		{"\033[4~", KEY_END},
		{"\033[Z", KEY_BACK_TAB},
		{"\033OP", '?'},
		{"\033[<0;12;7M", KEY_MOUSE},
		{"\033[<65;1000;500M", KEY_MOUSE},
		{"\033[<0;12;7m", KEY_UNKNOWN},
		{"\033[<0;0;7M", KEY_UNKNOWN},
		{"\033[<0;99999;7M", KEY_UNKNOWN},
		{"\033[<0;-1;7M", KEY_UNKNOWN},
		{"\033[1;5A", KEY_UNKNOWN},
		{"\033x", KEY_UNKNOWN},
		{"\303\251", 0xe9},
		{"\360\237\230\200", 0x1f600},
		{"\377", KEY_UNKNOWN},
		{"\033[9999999999999999999999999999999", KEY_UNKNOWN},
	};
	struct tui_keys k = {};
	uint32_t key;
	size_t taken;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		ok(decoded(keys[i].s, strlen(keys[i].s), &taken) == keys[i].key, "key %zu", i);
	for (const char *c = "\033[6~"; *c; c++)
		tui_decode(&k, c, 1, &key);
	is_u64(key, KEY_PAGE_DOWN, "a key in pieces");
	tui_decode(&k, "\033", 1, &key);
	is_u64(key, KEY_NONE, "Esc may be the beginning of one");
	tui_decode(&k, "", 0, &key);
	is_u64(key, KEY_ESCAPE, "or, with nothing behind it, itself");
	tui_decode(&k, "\033", 1, &key);
	taken = tui_decode(&k, "\033", 1, &key);
	ok(key == KEY_ESCAPE && taken == 0, "Esc twice is two");
	for (int i = 0; i < 100000; i++) {
		char c = i * 7 ^ i >> 3;

		tui_decode(&k, &c, 1, &key);
		if (k.n >= sizeof(k.s))
			break;
	}
	ok(k.n < sizeof(k.s), "whatever comes, it stays in its room");
}

/* Each key of the view asks for a frame. A key that the view does not know is left to the caller.
 */
static void test_answers(void)
{
	static const char draws[] = "PMDNFjkgGot/123456dh?";

	for (const char *key = draws; *key; key++) {
		begin();
		some_processes();
		draw();
		ok(tui_press(&t, &v, *key) == TUI_DRAW, "%c draws a frame", *key);
		end();
	}
	begin();
	some_processes();
	draw();
	is_u64(tui_press(&t, &v, 'q'), TUI_QUIT, "q");
	is_u64(tui_press(&t, &v, 'Z'), TUI_OTHER, "Z has no meaning");
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_cursor();
	test_answers();
	test_scroll();
	test_pages();
	test_tabs();
	test_pause();
	test_actions();
	test_mouse();
	test_incremental();
	test_followed_finding();
	test_commands();
	test_timeline();
	test_decode();
	return tap_done();
}
