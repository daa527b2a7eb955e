// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the columns of the live view: titles, help, and those that the user chooses. */
#include <locale.h>

#include "tui_fixture.h"

static void test_every_field_is_shown(void)
{
	bool good = true;

	begin();
	some_processes();
	v.width = 2000;
	v.height = 200;
	draw();
	press("\r");
	draw();
	for (size_t i = 0; i < nr_fields; i++)
		if (!strstr(frame.s, fields[i].key)) {
			printf("# %s.%s\n", fields[i].group, fields[i].key);
			good = false;
		}
	ok(good, "the page of a process has every field of the table");
	for (size_t i = 0; i < nr_fields; i++) {
		bool found = !is_available(&m, fields[i].hook, fields[i].lacks);

		for (t.tab = 0; t.tab < nr_tui_tabs; t.tab++) {
			struct columns c;

			tui_columns(&t, &v, &c);
			for (size_t k = 0; k < c.n; k++)
				found |= c.c[k].f == &fields[i];
		}
		if (!found) {
			printf("# %s.%s\n", fields[i].group, fields[i].key);
			good = false;
		}
	}
	t.tab = 0;
	ok(good, "and some tab has it as a column");
	end();
}

/* Help explains each column of each tab by its title, those of the current tab first. */
static void test_help(void)
{
	bool good = true;
	const char *maps, *faults;

	begin();
	some_processes();
	v.height = 400;
	press("2?");
	draw();
	maps = strstr(frame.s, "Columns of the tab Maps");
	faults = strstr(frame.s, "Columns of the tab Faults");
	ok(maps && faults && maps < faults, "the current tab comes first");
	for (size_t i = 0; i < nr_tui_tabs; i++) {
		struct columns c;

		if (tui_tabs[i].kind != TAB_TABLE)
			continue;
		tui_columns_of(&tui_tabs[i], &v, &c);
		for (size_t k = 0; k < c.n; k++) {
			char line[64];

			snprintf(line, sizeof(line), "\n  %s ", c.c[k].title);
			good = good && strstr(frame.s, line);
		}
	}
	ok(good, "each column is explained by its title");
	end();
}

/* No title is cut, with or without the mark of the sort column. */
static void test_titles(void)
{
	bool good = true;

	begin();
	some_processes();
	v.width = 2000;
	for (t.tab = 0; t.tab < nr_tui_tabs; t.tab++) {
		struct columns c;

		tui_columns(&t, &v, &c);
		for (size_t i = 0; i < c.n && tui_tabs[t.tab].kind == TAB_TABLE; i++) {
			char marked[64];

			t.sort[t.tab] = (struct tui_sort){true, c.c[i].cell, c.c[i].f};
			bool left = c.c[i].cell == CELL_USER || c.c[i].cell == CELL_NAME;

			snprintf(marked, sizeof(marked), left ? "%s▾" : "▾%s ", c.c[i].title);
			if (c.c[i].cell == CELL_SPARK || strstr(draw(), marked))
				continue;
			printf("# no title %s\n", marked);
			good = false;
		}
	}
	ok(good, "each title is whole, also with the mark");
	t.tab = 0;
	t.sort[0] = (struct tui_sort){};
	v.width = 80;
	press("SS");
	ok(strstr(draw(), "▾"), "a column that did not fit is shown if the rows are sorted by it");
	ok(strstr(draw(), "TREND"), "and the first columns are still there");
	end();
}

static bool is_left_of(const char *one, const char *other)
{
	const char *titles = draw(), *at = strstr(titles, one);

	return at && strstr(at, other);
}

/* The user chooses columns and their order. */
static void test_choice(void)
{
	begin();
	some_processes();
	v.width = 120;
	press("o");
	ok(strstr(draw(), "Columns of the tab Faults") && strstr(draw(), "[x] MINFLT/s"),
	   "o: the list");
	ok(strstr(draw(), "minor faults, from the counter"), "with what each column shows");
	ok(fits("the list"), "it fits");
	press("j");
	press_key(KEY_RIGHT); /* MINFLT is now behind its trend */
	press_key(KEY_ESCAPE);
	ok(is_left_of("TREND≤", "▾MINFLT/s"), "Right moves a column");
	press("o");
	press("jj ");
	ok(strstr(draw(), "[ ] MINFLT/s"), "Space hides one");
	press("o");
	ok(!strstr(draw(), "▾") && strstr(draw(), "order: findings, then faults"),
	   "no other column has its mark");
	press("oGkkk ");
	press("\033OQ");
	ok(t.where == TUI_TABLE, "F2 leaves the list too");
	press("oR");
	press("\r");
	ok(is_left_of("▾MINFLT/s", "TREND≤"), "R: all as before");
	press("P");
	ok(strstr(draw(), "▾CPU"), "sorted by a column");
	press("o");
	for (size_t i = 0; i < t.choice[0].n; i++)
		if (t.choice[0].cell[i].f == FIELD(cpu) && t.choice[0].cell[i].cell == CELL_FIELD)
			t.column_at = i;
	press(" ");
	ok(strstr(draw(), "which is hidden"), "the user is told that the order changes");
	press("o");
	ok(strstr(draw(), "order: findings"), "to the tab's own order");
	press("5o");
	ok(strstr(draw(), "o chooses the columns of a table"), "a page without columns");
	for (size_t tab = 0; tab < 4; tab++) {
		t.tab = tab;
		t.where = TUI_TABLE;
		press("oG ");
		ok(t.choice[tab].n < COLUMNS_MAX && !t.choice[tab].cell[t.column_at].hidden,
		   "all columns are in the list: %zu", t.choice[tab].n);
	}
	end();
}

/* A click moves the cursor of the list of columns, and another one shows or hides the column. */
static void test_choice_by_mouse(void)
{
	begin();
	some_processes();
	press("o");
	mouse(MOUSE_LEFT, 10, 8);
	is_u64(t.column_at, 2, "a click moves the cursor");
	ok(!t.choice[0].cell[2].hidden, "and changes nothing");
	mouse(MOUSE_LEFT, 10, 8);
	ok(t.choice[0].cell[2].hidden, "the second one hides the column");
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_every_field_is_shown();
	test_titles();
	test_choice();
	test_choice_by_mouse();
	test_help();
	return tap_done();
}
