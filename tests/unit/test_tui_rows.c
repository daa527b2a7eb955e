// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which rows the live view shows, and in which order: filter, trees, ended processes. */
#include <locale.h>

#include "model/ended.h"
#include "tui_fixture.h"

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

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_order();
	test_sort_option();
	test_filter();
	test_filter_by_finding();
	test_findings_of_places();
	test_tree();
	test_unknown_counter();
	test_ended();
	test_cleared();
	test_what_matters_first();
	test_sort_letters();
	test_who_it_is();
	test_process_tree();
	return tap_done();
}
