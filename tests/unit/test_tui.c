// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the live view without a terminal: layout at each width, sorting, filter, tree, keys. */
#include <locale.h>
#include <stdlib.h>

#include "fixture.h"
#include "model/ended.h"
#include "model/pressure.h"
#include "render/tui/tui_parts.h"
#include "tap.h"

static struct model m;
static struct findings fs;
static struct tui t;
static struct view v;
static struct buf frame;
static uint64_t now;

static void begin(void)
{
	begin_model(&m, NULL);
	now = SECOND;
	memset(&fs, 0, sizeof(fs));
	v = (struct view){.m = &m, .findings = &fs, .width = 120, .height = 30, .unicode = true};
	tui_open(&t, &v);
}

static void end(void)
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

static void process(struct given g)
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

static void look(void)
{
	struct tick_record r = tick_record(now += SECOND);

	model_take(&m, &r.h);
	findings_judge(&fs, &m);
	tui_update(&t, &v);
	model_next_window(&m);
	findings_next_window(&fs);
}

static const char *draw(void)
{
	buf_clear(&frame);
	tui_frame(&t, &v, &frame);
	return frame.s ? frame.s : "";
}

static void press(const char *keys)
{
	for (uint32_t key; *keys;) {
		keys += tui_decode(&t.keys, keys, strlen(keys), &key);
		tui_press(&t, &v, key);
	}
}

static void press_key(uint32_t key)
{
	tui_press(&t, &v, key);
}

/* Draws the screen. Returns the lines below the head, which shows the most severe finding. */
static const char *body(void)
{
	const char *at = draw();

	for (int i = 0; i < 4 && at; i++)
		at = strchr(at, '\n') + 1;
	return at;
}

/* Returns the number of the first line below the head that contains a word; -1 if none does. */
static int line_with(const char *word)
{
	const char *from = body(), *at = strstr(from, word);
	int line = 0;

	for (const char *c = from; at && c < at; c++)
		line += *c == '\n';
	return at ? line : -1;
}

static bool before(const char *one, const char *other)
{
	int a = line_with(one), b = line_with(other);

	return a >= 0 && b >= 0 && a < b;
}

static void some_processes(void)
{
	process((struct given){10, "small", "/user.slice/a.scope", 10, 10, 100});
	process((struct given){11, "large", "/user.slice/a.scope", 500, 20, 60000});
	process((struct given){12, "files", "/system.slice/db.service", 20, 1000, 50});
	process((struct given){13, "deep", "/system.slice/db.service/x/y", 30, 5, 60});
	process((struct given){14, "besides", "/system.slice-2", 40, 5, 70});
	look();
}

/* Checks that no line is wider than the screen, and that the screen has no unused line. */
static bool fits(const char *what)
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

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static void test_order(void)
{
	begin();
	some_processes();
	ok(before("files", "large") && before("large", "besides"), "findings come first");
	ok(before("besides", "deep") && before("deep", "small"), "then processes by faults");
	ok(strstr(draw(), "order: findings, then faults"), "the order is shown");
	ok(strstr(draw(), "▾MINFLT/s"), "its column is marked");
	is_u64(count_of(draw(), "▾"), 1, "and no other one");
	press("I");
	ok(before("deep", "large"), "I inverts");
	press("I2");
	ok(before("large", "small"), "maps: by how near the limit is");
	press("3");
	ok(before("files", "large"), "descriptors: as well");
	press("1s");
	ok(strstr(draw(), "order: PID"), "s: the first column");
	ok(before("small", "large") && before("large", "files"), "by pid, the oldest first");
	press("sss");
	ok(strstr(draw(), "order: MAJFLT"), "trends are passed over");
	press("S");
	ok(strstr(draw(), "order: MINFLT/s"), "S goes back");
	press("SSS");
	ok(strstr(draw(), "order: findings, then faults"),
	   "before the first it is the tab's own order");
	press("S");
	ok(before("besides", "deep") && before("deep", "files") && before("large", "small"),
	   "by name");
	end();
}

static void test_sort_option(void)
{
	begin();
	tui_free(&t);
	v.sort = FIELD(fds);
	tui_open(&t, &v);
	some_processes();
	ok(t.tab == 2 && before("files", "large"), "--sort fds.count: the tab that has the column");
	end();
}

static void test_filter(void)
{
	begin();
	some_processes();
	press("/LAR\r");
	ok(line_with("large") >= 0 && line_with("small") < 0, "a part of a name, in any case");
	ok(strstr(draw(), "filter: LAR"), "the filter is told");
	press_key(KEY_ESCAPE);
	ok(line_with("small") >= 0, "Esc forgets it");
	press("/db.service de\r");
	ok(line_with("deep") >= 0 && line_with("files") < 0, "all words, of the cgroup too");
	press("/");
	for (int i = 0; i < 13; i++)
		press("\177");
	press("12\r");
	ok(line_with("files") >= 0 && line_with("deep") < 0, "a pid; typed text is taken back");
	press("/xyz\r");
	ok(line_with("no process matches") >= 0, "nothing matches");
	press("/ab\303\251\177\177\r");
	is_str(t.filter, "12xyza", "a character of two bytes is taken back whole");
	for (int i = 0; i < 300; i++)
		press("/z\r");
	ok(strlen(t.filter) < TUI_FILTER, "it has an end");
	end();
}

/* Tests that findings about a cgroup or file system show its name in place of a process name. */
static void test_findings_of_places(void)
{
	struct mount_record u = RECORD(mount_record, RECORD_MOUNT, 0);

	begin();
	some_processes();
	strcpy(u.path, "/dev/shm");
	u.flags = MOUNT_IN_MEMORY;
	u.size_bytes = 64 << 20;
	u.used_bytes = 63 << 20;
	u.h.t_ns = now + SECOND / 2;
	model_take(&m, &u.h);
	look();
	press("6");
	ok(line_with("P21") >= 0 && line_with("file system /dev/shm") >= 0, "by its path");
	ok(line_with("[0]") < 0, "not by the pid 0");
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

static void test_filter_by_finding(void)
{
	begin();
	some_processes();
	press("6");
	ok(line_with("files[12]") >= 0, "a finding");
	press("1/F\r");
	ok(line_with("files") >= 0 && line_with("large") < 0,
	   "processes by what was found of them");
	end();
}

static void test_tree(void)
{
	begin();
	some_processes();
	press("t");
	ok(before("system.slice (3)", "db.service (2)") == false, "a sum counts all below");
	ok(before("system.slice (2)", "db.service (2)"), "cgroups before what is in them");
	ok(before("db.service (2)", "files") && before("files", " x (1)") &&
		   before(" x (1)", "deep"),
	   "processes of a cgroup before its parts");
	ok(before("deep", "system.slice-2 (1)"), "a neighbour of a longer name comes after");
	ok(before("user.slice (2)", "large") && before("large", "small"), "and by faults within");
	press("g\r");
	ok(line_with("system.slice (2)") >= 0 && line_with("files") < 0 && line_with("deep") < 0 &&
		   line_with("besides") >= 0,
	   "Enter folds a cgroup");
	press("\r");
	ok(line_with("files") >= 0, "and unfolds it");
	ok(strstr(draw(), "by cgroup"), "it is told");
	press("t");
	ok(line_with("db.service (2)") < 0, "t again: flat");
	end();
}

/* Returns the last character of a column's cell in the line that contains `word`. */
static char cell_end(const char *title, const char *word)
{
	const char *head = strstr(draw(), title), *line = strstr(draw(), word);
	size_t at = 0;

	if (!head || !line)
		return 0;
	at = strlen(title) - 1;
	while (head > frame.s && head[-1] != '\n')
		head--, at++;
	while (line > frame.s && line[-1] != '\n')
		line--;
	return line[at];
}

/* Tests a counter whose value is first missing for one of two processes, and later for both. */
static void test_unknown_counter(void)
{
	struct process_record r = process_record(11, 1, SECOND);

	begin();
	some_processes();
	v.width = 400;
	v.unicode = false;
	r.c.discarded_bytes = NOT_COUNTED;
	model_take(&m, &r.h);
	look();
	press("4t");
	ok(cell_end("DISCARDED/s", "proc11") == '-', "a process without the counter: unknown");
	ok(cell_end("DISCARDED/s", "small") == '0', "one with it: 0");
	ok(cell_end("DISCARDED/s", "a.scope (2)") == '0',
	   "a cgroup with one that is known: its sum");
	r = process_record(10, 1, SECOND);
	r.c.discarded_bytes = NOT_COUNTED;
	model_take(&m, &r.h);
	look();
	ok(cell_end("DISCARDED/s", "a.scope (2)") == '-', "a cgroup without any: unknown");
	ok(cell_end("DISCARDED/s", "db.service (2)") == '0', "others are not");
	end();
}

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

/* Ends a process that was seen before: its last record, and the scan after it. */
static void end_process(uint32_t pid)
{
	struct process_record r = process_record(pid, 1, now + SECOND / 2);
	struct signal_record sig = RECORD(signal_record, RECORD_SIGNAL, now + SECOND / 4);

	sig.subject = r.subject;
	sig.signal = 11;
	snprintf(r.g.comm, sizeof(r.g.comm), "ends%u", pid);
	r.g.flags = PROC_BORN | PROC_FINAL;
	model_take(&m, &sig.h);
	model_take(&m, &r.h);
	look();
	model_next_window(&m);
	findings_next_window(&fs);
}

static void test_ended(void)
{
	begin();
	ok(!model_keep_ended(&m, 3), "keeps three ended processes");
	some_processes();
	model_next_window(&m);
	findings_next_window(&fs);
	ok(line_with("no process has ended") < 0, "live processes are listed");
	press("e");
	ok(line_with("no process has ended") > 0 && line_with("large") < 0, "none has ended yet");
	for (uint32_t pid = 10; pid < 14; pid++)
		end_process(pid);
	look();
	ok(before("ends13", "ends12") && before("ends12", "ends11"), "the latest comes first");
	ok(line_with("ends10") < 0, "only three are kept");
	ok(line_with("SIGSEGV") > 0 && line_with("(ended 00:00:") > 0, "when, and by which fault");
	ok(line_with("besides") < 0, "those that live are not among them");
	is_u64(m.ended->dropped, 1, "one was dropped");
	press("/ends11\r");
	press_key(KEY_ENTER);
	ok(strstr(draw(), "Process ends11[11] (ended)") && strstr(draw(), "ended at "),
	   "an ended process can be opened");
	ok(strstr(draw(), "; at the scan before: RSS"), "with what it had");
	press("d");
	ok(strstr(draw(), "cleared[M25 max-map-count-near]"), "and diagnosed");
	press_key(KEY_ESCAPE);
	press_key(KEY_ESCAPE);
	press_key(KEY_ESCAPE);
	t.chosen.pid = 13;
	tui_show(&t, &t.chosen);
	press("d");
	ok(strstr(draw(), "no finding about it opened"), "also one without a finding");
	press_key(KEY_ESCAPE);
	press_key(KEY_ESCAPE);
	for (uint32_t pid = 20; pid < 24; pid++)
		end_process(pid);
	look();
	press("e");
	ok(line_with("besides") > 0 && line_with("ends") < 0, "back to what is there now");
	t.chosen = (struct process_key){.pid = 11, .start_ns = 1};
	tui_show(&t, &t.chosen);
	ok(strstr(draw(), "process 11 is not there at this time"), "a process that is not kept");
	end();
}

/* Returns a time series of a process whose file descriptors grow to `count` of 1,024. */
static void grow_fds(uint32_t pid, const char *comm, uint32_t count)
{
	for (uint32_t part = 1; part <= 8; part++) {
		process((struct given){pid, comm, "", 10, count * part / 8, 50});
		look();
	}
}

/* Processes that will fail first come first, and those that have ended come last, and go. */
static void test_what_matters_first(void)
{
	begin();
	ok(!model_keep_ended(&m, 600), "keeps ended processes");
	process((struct given){5, "full", NULL, 1, 1024, 50});
	grow_fds(7, "slow", 960);
	for (uint32_t pid = 100; pid < 600; pid++)
		process((struct given){pid, "brief", NULL, 100000, 5, 50});
	process((struct given){6, "lively", NULL, 90, 5, 50});
	look();
	ok(before(" full", " slow") && before(" slow", " brief"), "by severity and time left");
	for (uint32_t pid = 100; pid < 600; pid++) {
		struct process_record r = process_record(pid, 1, now + SECOND / 2);

		snprintf(r.g.comm, sizeof(r.g.comm), "brief");
		r.g.min_flt = 900000;
		r.g.flags = PROC_BORN | PROC_FINAL;
		model_take(&m, &r.h);
	}
	v.colour = true;
	look();
	ok(before(" lively", " brief"), "ended processes come last, in spite of their faults");
	ok(strstr(draw(), "\033[2m     100 "), "and are dim");
	look();
	ok(line_with(" brief") > 0, "they stay for a second window");
	look();
	ok(line_with(" brief") < 0 && line_with(" lively") > 0, "and are gone after it");
	end();
}

/* Thirty processes of one name are told apart by their arguments, at each width. */
static void test_who_it_is(void)
{
	char command[64], rest[COMMAND_LINE_MAX] = "python3 ";
	bool good = true;

	begin();
	for (uint32_t i = 0; i < 30; i++) {
		snprintf(command, sizeof(command), "/usr/bin/python3 shard-%02u.py", i);
		process((struct given){.pid = 100 + i,
				       .comm = "python3",
				       .command = command,
				       .minor = 100,
				       .user = "anna"});
	}
	look();
	v.height = 50;
	for (v.width = 80; v.width <= 200; v.width += 40)
		for (uint32_t i = 0; i < 30; i++) {
			snprintf(command, sizeof(command), "shard-%02u.py", i);
			good = good && line_with(command) > 0;
		}
	ok(good, "each of them is shown with its script");
	ok(line_with("/usr/bin/python3") < 0 && line_with("USER") > 0 && line_with("anna") > 0,
	   "and the user");
	press("c");
	ok(line_with("/usr/bin/python3 shard-07.py") > 0, "c: the whole command line");
	press("/anna shard-07\r");
	ok(line_with("shard-07.py") > 0 && line_with("shard-08.py") < 0, "a filter finds both");
	press("\r");
	ok(strstr(draw(), "user      anna (uid ") &&
		   strstr(draw(), "command   /usr/bin/python3 sh"),
	   "its page has both, too");
	press_key(KEY_ESCAPE);
	press_key(KEY_ESCAPE);
	press("/long\r");
	for (int i = 0; i < 20; i++)
		strcat(rest, "argument-of-twenty-2 ");
	strcat(rest, "the-end");
	process((struct given){.pid = 500, .comm = "long", .command = rest, .minor = 1});
	look();
	ok(line_with("the-end") < 0, "a long command line does not fit");
	for (int i = 0; i < 80; i++)
		press_key(KEY_RIGHT);
	ok(line_with("the-end") > 0, "Right scrolls to its end");
	ok(line_with("…") > 0, "and marks that it is scrolled");
	end();
}

/* Returns the number of blanks before a word of the drawn tables. */
static long column_of(const char *word)
{
	const char *at = strstr(body(), word), *line = at;

	while (line && line[-1] != '\n')
		line--;
	return at ? at - line : -1;
}

static void test_process_tree(void)
{
	begin();
	process((struct given){.pid = 1, .comm = "init", .minor = 1});
	process((struct given){.pid = 20, .comm = "idle", .minor = 900, .parent = 1});
	process((struct given){.pid = 32, .comm = "leaks", .fds = 1020, .parent = 30});
	process((struct given){.pid = 30, .comm = "shell", .minor = 2, .parent = 1});
	process((struct given){.pid = 31, .comm = "other", .minor = 3, .parent = 30});
	process((struct given){.pid = 40, .comm = "alone", .parent = 7});
	look();
	press("tt");
	ok(strstr(draw(), "by parent"), "the tree of processes");
	ok(before(" init", " shell") && before(" shell", " leaks") && before(" leaks", " other"),
	   "a parent comes before its children");
	ok(before(" other", " idle"), "the family of a process with a finding comes first");
	ok(before(" idle", " alone") && line_with(" alone") > 0, "without a parent: a root");
	ok(column_of("idle") == column_of("shell") && column_of("other") == column_of("shell") + 2,
	   "children are indented");
	press("t");
	ok(strstr(draw(), "order: "), "t again: a list");
	end();
}

/* Presses a button of the mouse, or turns its wheel, at a place of the screen. */
static void mouse(unsigned int button, unsigned int x, unsigned int y)
{
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "\033[<%u;%u;%uM", button, x, y);
	press(bytes);
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

static void test_sort_letters(void)
{
	begin();
	some_processes();
	press("N");
	ok(strstr(draw(), "order: PID") && before("small", "large"), "N: by pid");
	press("M");
	ok(strstr(draw(), "order: RSS"), "M: by memory");
	press("2M");
	is_u64(t.tab, 0, "in the first tab that has the column");
	press("P");
	ok(strstr(draw(), "order: CPU/s"), "P: by CPU time");
	press("D");
	ok(t.tab == 2 && strstr(draw(), "order: FDS") && before("files", "large"), "D: by fds");
	press("IF");
	ok(strstr(draw(), "order: findings, then use of RLIMIT_NOFILE") &&
		   !strstr(frame.s, "reversed"),
	   "F: findings first");
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

/* Findings that cleared can be listed and opened. */
static void test_cleared(void)
{
	struct finding f = {.rule = &rules[0], .subject = {.pid = 11, .start_ns = 1}};

	f.fresh = true;
	begin();
	some_processes();
	snprintf(f.title, sizeof(f.title), "it was so");
	fs.f = calloc(1, sizeof(f)); /* as the rules would leave it */
	fs.room = fs.n = 1;
	fs.f[0] = f;
	look();
	press("6");
	ok(line_with("it was so") < 0, "a cleared finding is not among the open ones");
	press("e");
	ok(line_with("cleared") > 0 && line_with("it was so") > 0, "e lists it");
	press_key(KEY_ENTER);
	ok(strstr(draw(), "cleared: it was open from"), "and it can be opened");
	press("\x1b");
	for (size_t i = 1; i < nr_rules; i++) {
		for (uint32_t pid = 1; pid < 4; pid++) {
			fs.n = 1;
			fs.f[0] = f;
			fs.f[0].rule = &rules[i];
			fs.f[0].subject.pid = pid;
			fs.f[0].worst = i == 1 ? SEVERITY_CRITICAL : SEVERITY_INFO;
			look();
		}
	}
	is_u64(t.cleared.n, TUI_CLEARED, "a number of cleared findings is kept");
	f.subject.pid = 1;
	ok(tui_find_in(&t.cleared, &rules[1], &f.subject) != NULL, "the severe ones stay");
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

static void is_spark(double *values, int n, double low, double high, bool unicode, const char *want)
{
	struct view how = {.unicode = unicode};
	struct line l = {.v = &how};

	line_spark(&l, values, n, low, high);
	is_str(l.b.s ? l.b.s : "", want, want);
	buf_free(&l.b);
}

static void test_sparks(void)
{
	double ramp[] = {0, 1, 2, 3, 4, 5, 6, 7}, none[] = {0, 0, 0}, flat[] = {100, 100, 100},
	       slight[] = {500, 1001, 500}, spike[] = {0, 1e6, 1}, out[] = {-5, 99};

	is_spark(ramp, 8, 0, 7, true, "▁▂▃▄▅▆▇█");
	is_spark(ramp, 8, 0, 7, false, "_.:-=+*#");
	is_spark(ramp, 8, 0, 70, true, "▁▂▂▂▂▂▂▂");
	is_spark(none, 3, 0, 0, true, "   ");
	is_spark(flat, 3, 100, 100, true, "───");
	is_spark(flat, 3, 0, 100, false, "---");
	is_spark(slight, 3, 0, 1001, true, "▄█▄");
	is_spark(spike, 3, 0, 1e6, true, "▁█▂");
	is_spark(out, 2, 1, 7, true, "▁█");
}

/* All trends of a column have one scale, and the page of a process has a range and a time axis. */
static void test_trends(void)
{
	begin();
	for (int i = 1; i <= 20; i++) {
		process((struct given){.pid = 10, .comm = "large", .minor = 8000 * i, .fds = 7});
		process((struct given){
			.pid = 11, .comm = "small", .minor = 800 * i + 100 * (i % 2)});
		look();
	}
	ok(strstr(draw(), "TREND≤8,000 "), "the title has the top of the scale");
	ok(strstr(frame.s, "───── ") != NULL, "a constant rate is a flat line");
	char *small = strstr(frame.s, "small"), *line = small;
	while (line[-1] != '\n')
		line--;
	*small = 0;
	ok(strstr(line, "▂") && !strstr(line, "▆"), "a small rate is low on the scale of all");
	press("\r");
	ok(strstr(draw(), "constant  ") && strstr(frame.s, "fds      count "), "a constant value");
	ok(strstr(frame.s, "19 s ago ──") && strstr(frame.s, "── now\n"), "the time axis");
	end();
}

static void is_cell(const char *s, int columns, bool right, const char *want)
{
	struct view how = {.width = 80, .unicode = true};
	struct line l = {.v = &how};

	line_cell(&l, s, columns, right);
	is_str(l.b.s ? l.b.s : "", want, want);
	buf_free(&l.b);
}

static void test_cells(void)
{
	is_cell("ab", 4, true, "  ab");
	is_cell("ab", 4, false, "ab  ");
	is_cell("abcdef", 4, false, "abcd");
	is_cell("漢字", 4, false, "漢字");
	is_cell("漢字", 3, false, "漢 ");
	is_cell("漢字", 3, true, " 漢");
	is_cell("e\xcc\x81te", 3, false, "e\xcc\x81te");
	is_cell("\033[1mabc\033[0m", 2, false, "\033[1mab");
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
	test_order();
	test_sort_option();
	test_filter();
	test_losses();
	test_filter_by_finding();
	test_findings_of_places();
	test_tree();
	test_unknown_counter();
	test_cursor();
	test_scroll();
	test_pages();
	test_every_field_is_shown();
	test_tabs();
	test_pause();
	test_actions();
	test_ended();
	test_cleared();
	test_what_matters_first();
	test_titles();
	test_choice();
	test_choice_by_mouse();
	test_mouse();
	test_incremental();
	test_followed_finding();
	test_sort_letters();
	test_commands();
	test_themes();
	test_footer();
	test_help();
	test_who_it_is();
	test_process_tree();
	test_timeline();
	test_decode();
	test_sparks();
	test_trends();
	test_cells();
	test_hostile();
	return tap_done();
}
