// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests keys, typed text and the mouse in the live view at their bounds. */
#include <locale.h>

#include "tui_fixture.h"

static void test_keys(void)
{
	static const struct {
		const char *s;
		uint32_t key;
		size_t taken; /* bytes of the key; others follow */
	} keys[] = {
		{"\033[Axx", KEY_UP, 3},
		{"\033OAx", KEY_UP, 3},
		{"\033[Bx", KEY_DOWN, 3},
		{"\033OBx", KEY_DOWN, 3},
		{"\033[Cx", KEY_RIGHT, 3},
		{"\033OCx", KEY_RIGHT, 3},
		{"\033[Dx", KEY_LEFT, 3},
		{"\033ODx", KEY_LEFT, 3},
		{"\033[Hx", KEY_HOME, 3},
		{"\033OHx", KEY_HOME, 3},
		{"\033[1~x", KEY_HOME, 4},
		{"\033[7~x", KEY_HOME, 4},
		{"\033[Fx", KEY_END, 3},
		{"\033OFx", KEY_END, 3},
		{"\033[4~x", KEY_END, 4},
		{"\033[8~x", KEY_END, 4},
		{"\033[5~x", KEY_PAGE_UP, 4},
		{"\033[6~x", KEY_PAGE_DOWN, 4},
		{"\033[Zx", KEY_BACK_TAB, 3},
		{"\033OPx", '?', 3},
		{"\033OQx", 'o', 3},
		{"\033[11~x", '?', 5},
		{"\033[12~x", 'o', 5},
		{"\033[13~x", KEY_UNKNOWN, 5},
		{"\033[@x", KEY_UNKNOWN, 3}, /* @ and ~ are the first and last end of a sequence */
		{"\033[~x", KEY_UNKNOWN, 3},
		{"\033[?1x", KEY_UNKNOWN, 5},
		{"\033xx", KEY_UNKNOWN, 2},
		{"\033Nx", KEY_UNKNOWN, 2},
		{"\033[", KEY_NONE, 2},
		{"\033O", KEY_NONE, 2},
		{"\033[1", KEY_NONE, 3},
		{"\302\200x", 0x80, 2},
		{"\337\277x", 0x7ff, 2},
		{"\340\240\200x", 0x800, 3},
		{"\357\277\275x", 0xfffd, 3},
		{"\360\220\200\200x", 0x10000, 4},
		{"\364\217\277\277x", 0x10ffff, 4},
		{"\364\220\200\200x", KEY_UNKNOWN, 4}, /* beyond the last character */
		{"\365xxx", KEY_UNKNOWN, 1},
		{"\200x", KEY_UNKNOWN, 1},
		{"\277x", KEY_UNKNOWN, 1},
		{"\300\257x", KEY_UNKNOWN, 2}, /* too long for the character */
		{"\337", KEY_NONE, 1},
		{"\340\240", KEY_NONE, 2},
		{"\357\277", KEY_NONE, 2},
		{"\360\220\200", KEY_NONE, 3},
		{"\033[<0;10000;10000Mx", KEY_MOUSE, 17},
		{"\033[<10000;1;1Mx", KEY_MOUSE, 13},
		{"\033[<0;10001;1Mx", KEY_UNKNOWN, 13},
		{"\033[<0;1;10001Mx", KEY_UNKNOWN, 13},
		{"\033[<10001;1;1Mx", KEY_UNKNOWN, 13},
		{"\033[<0;1;1Mx", KEY_MOUSE, 9},
		{"\033[<0;0;1Mx", KEY_UNKNOWN, 9},
		{"\033[<0;1;0Mx", KEY_UNKNOWN, 9},
		{"\033[<9;9;9Mx", KEY_MOUSE, 9},
		{"\033[<:;1;1Mx", KEY_UNKNOWN, 9},
		{"\033[</;1;1Mx", KEY_UNKNOWN, 9},
		{"\033[<0,1;1Mx", KEY_UNKNOWN, 9},
		{"\033[<;1;1Mx", KEY_UNKNOWN, 8}, /* a number has digits, and nothing else */
		{"\033[<+0;1;1Mx", KEY_UNKNOWN, 10},
		{"\033[< 0;1;1Mx", KEY_UNKNOWN, 10},
		{"\033[?0;1;1Mx", KEY_UNKNOWN, 9}, /* another sequence */
		{"\033[0;1;1Mx", KEY_UNKNOWN, 8},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct tui_keys k = {};
		uint32_t key;
		size_t taken = tui_decode(&k, keys[i].s, strlen(keys[i].s), &key);

		ok(key == keys[i].key, "key %zu", i);
		is_u64(taken, keys[i].taken, "and its length");
		is_u64(k.n, key == KEY_NONE ? taken : 0, "bytes are kept until the key is whole");
		if (key != KEY_NONE)
			continue;
		tui_decode(&k, "", 0, &key);
		ok(key == KEY_UNKNOWN && !k.n, "and are no key if no byte follows");
	}
}

/* A sequence without an end is no key as soon as its room is full. */
static void test_long_sequence(void)
{
	struct tui_keys k = {};
	char s[64] = "\033[";
	uint32_t key;

	memset(s + 2, '1', sizeof(s) - 2);
	is_u64(tui_decode(&k, s, sizeof(k.s) - 2, &key), sizeof(k.s) - 2, "all bytes are taken");
	is_u64(key, KEY_NONE, "a long sequence may go on");
	is_u64(tui_decode(&k, s + sizeof(k.s) - 2, 10, &key), 1, "one byte more");
	is_u64(key, KEY_UNKNOWN, "fills the room");
	is_u64(k.n, 0, "which is empty then");
}

static void test_mouse_place(void)
{
	struct tui_keys k = {};
	uint32_t key;

	tui_decode(&k, "\033[<64;123;45M", 13, &key);
	ok(key == KEY_MOUSE && k.mouse.button == MOUSE_WHEEL_UP && k.mouse.x == 123 &&
		   k.mouse.y == 45,
	   "button, column and line");
}

/* Typed text never exceeds its room, and is never cut within a character. */
static void test_typed(void)
{
	static const struct {
		size_t before; /* bytes that were typed before */
		uint32_t key;
		const char *bytes; /* what the key adds; NULL: nothing */
	} rows[] = {
		{0, ' ', " "},
		{0, ' ' - 1, NULL},
		{0, 1, NULL},
		{0, '~', "~"},
		{0, 0x80, "\302\200"},
		{0, 0x7ff, "\337\277"},
		{0, 0x800, "\340\240\200"},
		{0, 0xffff, "\357\277\277"},
		{0, 0x10000, "\360\220\200\200"},
		{0, 0x10ffff, "\364\217\277\277"},
		{0, KEY_FIRST_NAMED, NULL},
		{0, KEY_DOWN, NULL},
		{TUI_FILTER - 2, 'z', "z"},
		{TUI_FILTER - 1, 'z', NULL},
		{TUI_FILTER - 3, 0xe9, "\303\251"},
		{TUI_FILTER - 2, 0xe9, NULL},
		{TUI_FILTER - 4, 0x20ac, "\342\202\254"},
		{TUI_FILTER - 3, 0x20ac, NULL},
		{TUI_FILTER - 5, 0x1f600, "\360\237\230\200"},
		{TUI_FILTER - 4, 0x1f600, NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		some_processes();
		press("/");
		for (size_t n = 0; n < rows[i].before; n++)
			press("f");
		press_key(rows[i].key);
		is_u64(strlen(t.typed),
		       rows[i].before + (rows[i].bytes ? strlen(rows[i].bytes) : 0),
		       "length of what was typed");
		is_str(t.typed + rows[i].before, rows[i].bytes ? rows[i].bytes : "",
		       "the bytes of the character");
		is_str(t.filter, t.typed, "it is the filter");
		press_key(KEY_BACKSPACE);
		is_u64(strlen(t.typed),
		       rows[i].bytes ? rows[i].before : rows[i].before - (rows[i].before > 0),
		       "Backspace takes a whole character back");
		end();
	}
}

static void many(uint32_t n)
{
	begin();
	for (uint32_t pid = 100; pid < 100 + n; pid++)
		process((struct given){pid, "many", NULL, 1000 - pid, 5, 50});
	look();
	draw();
}

/* PgDn leaves two lines of the screen in sight, and always moves. */
static void test_screenful(void)
{
	static const struct {
		int height;
		size_t room, moves;
	} screens[] = {{30, 24, 22}, {7, 4, 2}, {6, 3, 1}, {5, 2, 1}, {4, 1, 1}, {3, 0, 1}};

	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		many(60);
		v.height = screens[i].height;
		draw();
		is_u64(tui_room(&t, &v), screens[i].room, "lines between head and foot");
		press_key(KEY_PAGE_DOWN);
		is_u64(t.at, screens[i].moves, "PgDn");
		press_key(KEY_PAGE_DOWN);
		press_key(KEY_PAGE_UP);
		is_u64(t.at, screens[i].moves, "PgUp");
		press_key(KEY_PAGE_UP);
		press_key(KEY_PAGE_UP);
		is_u64(t.at, 0, "ends at the first row");
		end();
	}
}

static void test_click_rows(void)
{
	size_t head, room;

	many(60);
	head = tui_head_lines(&v);
	room = tui_room(&t, &v);
	is_u64(head, 5, "lines above the table");
	mouse(MOUSE_LEFT, 30, head + room);
	is_u64(t.at, room - 2, "a click on the last line chooses its row");
	mouse(MOUSE_LEFT, 30, head + room + 1);
	is_u64(t.at, room - 2, "the line below it is no row");
	mouse(MOUSE_LEFT, 30, head + 2);
	is_u64(t.at, 0, "the first row is below the titles");
	ok(!t.sort[0].chosen, "the order is that of the tab");
	mouse(MOUSE_LEFT, 3, head + 1);
	ok(t.sort[0].chosen && t.at == 0, "a click on the titles sorts");
	mouse(MOUSE_LEFT, 30, head - 1);
	ok(t.tab == 0 && t.at == 0, "a click above the tabs does nothing");
	mouse(MOUSE_WHEEL_DOWN, 1, 1);
	is_u64(t.at, 3, "the wheel moves by three rows");
	mouse(MOUSE_WHEEL_UP, 1, 1);
	is_u64(t.at, 0, "and back");
	mouse(MOUSE_LEFT, 30, head + 4);
	is_u64(t.at, 2, "a click moves the cursor down");
	mouse(MOUSE_LEFT, 30, head + 3);
	ok(t.at == 1 && t.where == TUI_TABLE, "and up, without opening a row");
	mouse(MOUSE_LEFT, 30, head + 3);
	is_u64(t.where, TUI_PROCESS, "a second click on it does");
	end();
}

/* Each tab ends two columns behind its name, where the next one begins. */
static void test_click_tabs(void)
{
	unsigned int at = 1;
	char name[TUI_TAB_NAME];
	size_t tab = 99;

	many(3);
	for (size_t i = 0; i < nr_tui_tabs; i++) {
		ok(tui_tab_at(&t, &v, at, &tab) && tab == i, "first column of tab %zu", i + 1);
		at += strlen(tui_tab_name(&v, i, name, sizeof(name))) + 2;
		ok(tui_tab_at(&t, &v, at - 1, &tab) && tab == i, "last column of tab %zu", i + 1);
	}
	ok(!tui_tab_at(&t, &v, at, &tab), "behind the last tab, there is none");
	end();
}

static void test_click_columns(void)
{
	struct columns c;
	bool shown[COLUMNS_MAX + 1];
	unsigned int at = 1;
	size_t last = 0, seen = 0;

	many(3);
	tui_columns(&t, &v, &c);
	tui_visible(&t, &v, &c, shown);
	for (size_t i = 0; i < c.n; i++) {
		if (!shown[i])
			continue;
		is_u64(tui_column_at(&t, &v, &c, at), i, "the first place of a column");
		at += c.c[i].width + 1;
		if (c.c[i].cell != CELL_NAME)
			is_u64(tui_column_at(&t, &v, &c, at - 1), i, "and its last one");
		last = i;
		seen++;
	}
	ok(seen > 3 && c.c[last].cell == CELL_NAME, "the last column has the name");
	is_u64(tui_column_at(&t, &v, &c, 1000), last, "which has no end");
	c.n--; /* without it */
	ok(tui_column_at(&t, &v, &c, 1000) == -1, "behind other columns, there is none");
	end();
}

/* s goes through all columns that can be sorted, and back to the order of the tab. */
static void test_sort_keys(void)
{
	struct columns c;
	int order[COLUMNS_MAX], n = 0;

	many(3);
	tui_columns(&t, &v, &c);
	for (size_t i = 0; i < c.n; i++)
		if (c.c[i].cell != CELL_SPARK)
			order[n++] = i;
	ok(n > 3 && n < (int)c.n, "some columns, and a trend");
	for (int i = 0; i < n; i++) {
		press("s");
		ok(tui_sorted_by(&t, &c) == order[i], "s: column %d", order[i]);
	}
	press("s");
	ok(!t.sort[0].chosen, "then the tab's own order");
	for (int i = n - 1; i >= 0; i--) {
		press("S");
		ok(tui_sorted_by(&t, &c) == order[i], "S: column %d", order[i]);
	}
	press("S");
	ok(!t.sort[0].chosen, "then the tab's own order as well");
	end();
}

static void test_aside(void)
{
	many(3);
	press_key(KEY_LEFT);
	is_u64(t.aside, 0, "there is nothing to the left");
	for (int i = 0; i < COLUMNS_MAX + SCROLLED_MAX; i++)
		press_key(KEY_RIGHT);
	is_u64(t.aside, COLUMNS_MAX + SCROLLED_MAX, "each key scrolls by one");
	press_key(KEY_RIGHT);
	is_u64(t.aside, COLUMNS_MAX + SCROLLED_MAX, "up to an end");
	press_key(KEY_LEFT);
	is_u64(t.aside, COLUMNS_MAX + SCROLLED_MAX - 1, "and back");
	end();
}

static void test_folded(void)
{
	begin();
	some_processes();
	t.tree = TREE_OF_CGROUPS;
	draw();
	press("g");
	ok(t.chosen_group, "the first row is a cgroup");
	t.nr_folded = TUI_FOLDED_MAX - 1;
	press("\r");
	is_u64(t.nr_folded, TUI_FOLDED_MAX, "the last cgroup that can be folded");
	press("\r");
	is_u64(t.nr_folded, TUI_FOLDED_MAX - 1, "is unfolded");
	t.folded[TUI_FOLDED_MAX - 1] = 0;
	t.nr_folded = TUI_FOLDED_MAX;
	press("\r");
	is_u64(t.nr_folded, TUI_FOLDED_MAX, "one more has no room");
	t.nr_folded = 0;
	end();
}

/* Processes that are deeper than 32 levels are indented as those of that level. */
static void test_depth(void)
{
	struct rows r;
	size_t wrong = 0;

	begin();
	for (uint32_t pid = 100; pid < 140; pid++)
		process((struct given){pid, "deep", NULL, 5, 5, 50, pid - 1});
	look();
	t.tree = TREE_OF_PROCESSES;
	ok(!tui_rows(&t,
		     &(struct view){
			     .m = &t.shot.m, .findings = &t.findings, .width = 120, .height = 30},
		     &r),
	   "rows");
	is_u64(r.nr_all, 40, "each process has a row");
	for (size_t i = 0; i < r.nr_all; i++)
		wrong += r.all[i].s->id.pid != 100 + i || r.all[i].depth != (int)(i < 32 ? i : 32);
	is_u64(wrong, 0, "each below its parent");
	rows_free(&r);
	end();
}

static size_t chosen_columns(void)
{
	return t.choice[t.tab].n;
}

/* Returns the number of lines in reverse video below the head of the screen. */
static size_t reversed_lines(const char *screen)
{
	size_t n = 0;

	for (const char *at = screen; (at = strstr(at, "\033[7m [")); at++)
		n++;
	return n;
}

static void test_choose_columns(void)
{
	size_t n, head, room;
	struct tui_cell first, second;

	many(3);
	v.height = 14;
	press("o");
	draw();
	is_u64(t.where, TUI_COLUMNS, "o: the columns of the tab");
	n = chosen_columns();
	head = tui_head_lines(&v);
	room = tui_room(&t, &v);
	ok(n > 2 * room, "more columns than lines");
	ok(fits("columns"), "no line too many");
	is_u64(reversed_lines(draw()), 1, "one line has the cursor");
	press("k");
	is_u64(t.column_at, 0, "there is none above the first");
	press("j");
	is_u64(t.column_at, 1, "j: down");
	press("k");
	is_u64(t.column_at, 0, "k: up");
	press_key(KEY_PAGE_DOWN);
	is_u64(t.column_at, room - 2, "PgDn");
	press_key(KEY_PAGE_UP);
	is_u64(t.column_at, 0, "PgUp");
	mouse(MOUSE_WHEEL_DOWN, 1, 1);
	is_u64(t.column_at, 3, "the wheel");
	mouse(MOUSE_WHEEL_UP, 1, 1);
	is_u64(t.column_at, 0, "and back");
	press("j");
	mouse(MOUSE_WHEEL_UP, 1, 1);
	is_u64(t.column_at, 0, "to the first at most");
	press("G");
	is_u64(t.column_at, n - 1, "G: the last");
	draw();
	is_u64(t.scroll, n - room, "is in the last line");
	press("j");
	is_u64(t.column_at, n - 1, "there is none below it");
	press_key(KEY_RIGHT);
	ok(t.column_at == n - 1 && !t.choice[t.tab].made, "nor can it move there");
	press("g");
	draw();
	is_u64(t.scroll, 0, "g: the first");
	press_key(KEY_LEFT);
	ok(t.column_at == 0 && !t.choice[t.tab].made, "which cannot move up");

	mouse(MOUSE_LEFT, 1, head + room);
	is_u64(t.column_at, room - 1, "a click on the last line");
	mouse(MOUSE_LEFT, 1, head + room + 1);
	is_u64(t.column_at, room - 1, "the line below it is no column");
	mouse(MOUSE_LEFT, 1, head);
	is_u64(t.column_at, room - 1, "nor is the one above the first");
	draw();
	is_u64(t.scroll, 0, "the cursor in the last line needs no scrolling");
	press("j");
	draw();
	is_u64(t.scroll, 1, "one more needs one line");
	press("k");
	mouse(MOUSE_LEFT, 1, head + 1);
	is_u64(t.column_at, 1, "a click on the first line");
	ok(!t.choice[t.tab].made, "chooses a column");
	mouse(MOUSE_LEFT, 1, head + 1);
	ok(t.choice[t.tab].made && t.choice[t.tab].cell[1].hidden, "and hides it if repeated");
	mouse(MOUSE_LEFT, 1, head + 1);
	ok(!t.choice[t.tab].cell[1].hidden, "or shows it");
	press("g");
	first = t.choice[t.tab].cell[0];
	second = t.choice[t.tab].cell[1];
	press_key(KEY_RIGHT);
	ok(t.column_at == 1 && t.choice[t.tab].cell[1].f == first.f &&
		   t.choice[t.tab].cell[1].cell == first.cell &&
		   t.choice[t.tab].cell[0].f == second.f,
	   "Right moves a column, and the cursor with it");
	press_key(KEY_LEFT);
	ok(t.column_at == 0 && t.choice[t.tab].cell[0].f == first.f &&
		   t.choice[t.tab].cell[0].cell == first.cell,
	   "Left moves it back");
	press("R");
	ok(!t.choice[t.tab].made && chosen_columns() == n, "R: as the tab has them");
	v.height = n + 40;
	ok(fits("all columns"), "the lines below the columns are empty");
	mouse(MOUSE_LEFT, 1, tui_head_lines(&v) + n);
	is_u64(t.column_at, n - 1, "the line of the last column");
	mouse(MOUSE_LEFT, 1, tui_head_lines(&v) + n + 1);
	ok(t.column_at == n - 1 && !t.choice[t.tab].made, "an empty line is no column");
	press("o");
	is_u64(t.where, TUI_TABLE, "o: back to the table");
	end();
}

/* Hiding a column changes the order only if the rows are sorted by it. */
static void test_hide_columns(void)
{
	many(3);
	press("N");
	ok(t.sort[0].chosen && t.sort[0].cell == CELL_PID, "sorted by pid");
	press("o ");
	ok(t.choice[0].cell[0].hidden && t.sort[0].chosen, "hiding another column keeps this");
	press("o");
	press("F");
	t.sort[0] = (struct tui_sort){true, t.choice[0].cell[1].cell, t.choice[0].cell[1].f};
	press("oj ");
	ok(t.choice[0].cell[1].hidden && !t.sort[0].chosen, "hiding the column itself does not");
	ok(strstr(t.say, "no longer sorted"), "and is told");
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_keys();
	test_long_sequence();
	test_mouse_place();
	test_typed();
	test_screenful();
	test_click_rows();
	test_click_tabs();
	test_click_columns();
	test_sort_keys();
	test_aside();
	test_folded();
	test_depth();
	test_choose_columns();
	test_hide_columns();
	return tap_done();
}
