// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how many rows texts show, which ones, and what they say about others. */
#include "count_text.h"
#include "growth_fixture.h"
#include "render/memory_rows.h"
#include "render/render.h"
#include "render/text/text.h"
#include "triage/crash_signs.h"
#include "tap.h"

#define MIB (1ULL << 20)

static struct view view;
static struct buf text;

static void begin_view(void)
{
	begin();
	view = (struct view){.m = &m, .findings = &fs, .width = 100, .command = true};
}

static void end_view(void)
{
	buf_free(&text);
	end();
}

static void add_process(uint32_t pid, uint32_t maps, uint32_t fds)
{
	struct process_record r = process_record(pid, 1, now + SECOND / 2);

	r.g.map_count = r.g.map_high = maps;
	r.g.fds = r.g.fd_high = fds;
	model_take(&m, &r.h);
}

static const char *said_by(const struct renderer *r)
{
	buf_free(&text);
	judge_window();
	r->close(&text, &view);
	return text.s ? text.s : "";
}

static bool comes_before(const char *in, const char *one, const char *other)
{
	const char *a = strstr(in, one), *b = strstr(in, other);

	return a && b && a < b;
}

/* diagnose shows eight processes: those with most mappings and fds, then those with a lower pid. */
static void test_processes(void)
{
	for (uint32_t n = 7; n <= 10; n++) {
		const char *said;
		char more[64];

		begin_view();
		for (uint32_t pid = 20; pid < 20 + n; pid++)
			add_process(pid, 50, 5);
		said = said_by(&diagnosis_renderer);
		is_u64(count(said, "]  maps 50  fds 5"), n < 8 ? n : 8, "processes that are shown");
		ok(comes_before(said, "proc20[20]", "proc21[21]") &&
			   comes_before(said, "proc21[21]", "proc26[26]"),
		   "equal ones in the order of their pids");
		snprintf(more, sizeof(more), "and %u process%s more; --json has all\n", n - 8,
			 n == 9 ? "" : "es");
		ok(!strstr(said, " more; --json") == (n <= 8), "%u processes", n);
		ok(n <= 8 || strstr(said, more), "the others are counted");
		end_view();
	}
	begin_view();
	add_process(20, 50, 5);
	add_process(21, 50, 6);
	add_process(22, 49, 8);
	said_by(&diagnosis_renderer);
	ok(comes_before(text.s, "proc22[22]", "proc21[21]") &&
		   comes_before(text.s, "proc21[21]", "proc20[20]"),
	   "mappings and fds count alike");
	end_view();
}

/* The last line counts findings from the least severity on, and names the first of the worst. */
static void test_sum(void)
{
	static const struct {
		enum severity least;
		const char *sum;
	} cases[] = {
		{SEVERITY_INFO, "4 findings (2 critical, 1 warning, 1 info).  More: faultscope "
				"explain M02\n"},
		{SEVERITY_WARNING, "3 findings (2 critical, 1 warning, 0 info).  More: faultscope "
				   "explain M02\n"},
		{SEVERITY_CRITICAL, "2 findings (2 critical, 0 warning, 0 info).  More: faultscope "
				    "explain M02\n"},
	};
	static const struct {
		const char *id;
		enum severity severity;
	} given[] = {{"F01", SEVERITY_WARNING},
		     {"M02", SEVERITY_CRITICAL},
		     {"M01", SEVERITY_CRITICAL},
		     {"F02", SEVERITY_INFO}};
	struct finding *f = calloc(4, sizeof(*f));

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_view();
		add_process(10, 50, 5);
		judge_window();
		findings_free(&fs);
		memset(f, 0, 4 * sizeof(*f));
		for (size_t k = 0; k < 4; k++) {
			for (size_t r = 0; r < nr_rules; r++)
				if (!strcmp(rules[r].id, given[k].id))
					f[k].rule = &rules[r];
			f[k].severity = given[k].severity;
			f[k].open = true;
			f[k].subject = (struct process_key){.pid = 10, .start_ns = 1};
		}
		fs = (struct findings){.f = f, .n = 4, .room = 4};
		view.min_severity = cases[i].least;
		diagnosis_renderer.close(&text, &view);
		ok(strstr(text.s, cases[i].sum), "%s", cases[i].sum);
		f[1].severity = f[2].severity = SEVERITY_INFO;
		buf_free(&text);
		view.min_severity = SEVERITY_CRITICAL;
		diagnosis_renderer.close(&text, &view);
		ok(strstr(text.s, "no finding of critical or above; --min-severity leaves out 4 "
				  "lesser\n"),
		   "or how many are left out");
		fs = (struct findings){};
		end_view();
	}
	free(f);
}

/* The flight recorder's findings are told and counted if they are severe enough. */
static void test_recorded(void)
{
	static const size_t told[NR_SEVERITIES] = {
		[SEVERITY_INFO] = 2, [SEVERITY_WARNING] = 2, [SEVERITY_CRITICAL] = 1};
	static struct crash_signs signs = {
		.one = {{.id = "K01", .severity = BB_WARNING, .count = 1, .text = "first sign"},
			{.id = "K02", .severity = BB_CRITICAL, .count = 1, .text = "second sign"}},
		.n = 2};

	for (int least = SEVERITY_INFO; least < NR_SEVERITIES; least++) {
		char sum[64];

		begin_view();
		add_process(10, 50, 5);
		judge_window();
		view.recorded = &signs;
		view.min_severity = least;
		diagnosis_renderer.close(&text, &view);
		is_u64(count(text.s, "first sign") + count(text.s, "second sign"), told[least],
		       "signs that are told");
		snprintf(sum, sizeof(sum), "%zu finding%s (1 critical, %zu warning, 0 info)",
			 told[least], told[least] > 1 ? "s" : "", told[least] - 1);
		ok(strstr(text.s, sum) && strstr(text.s, "explain K02\n"), "%s", sum);
		end_view();
	}
}

/* From 64 mappings on, they are listed: six kinds, and how many others there are. */
static void test_holdings(void)
{
	for (uint64_t n = 63; n <= 65; n++) {
		char line[64];

		begin_view();
		add_process(10, n, 5);
		holds(WHAT_MAPS, 0, HOLDING_FILE, "a", n - 20);
		holds(WHAT_MAPS, 1, HOLDING_ANONYMOUS, "b", 20);
		said_by(&diagnosis_renderer);
		snprintf(line, sizeof(line), "  held at the start: %u mappings\n", (unsigned int)n);
		ok(!strstr(text.s, line) == (n < 64), "%u mappings", (unsigned int)n);
		ok(!strstr(text.s, "  others"), "all kinds are shown");
		end_view();
	}
	for (uint32_t kinds = 5; kinds <= 8; kinds++) {
		char rest[64];

		begin_view();
		add_process(10, 900, 5);
		for (uint32_t i = 0; i < kinds; i++) {
			char name[8];

			snprintf(name, sizeof(name), "kind%u", i);
			holds(WHAT_MAPS, i, HOLDING_FILE, name, 100);
		}
		said_by(&diagnosis_renderer);
		is_u64(count(text.s, "   |      100  kind"), kinds < 6 ? kinds : 6,
		       "kinds that are shown");
		snprintf(rest, sizeof(rest), "   | %8u  others\n", 100 * (kinds - 6));
		ok(!strstr(text.s, "  others\n") == (kinds <= 6), "%u kinds", kinds);
		ok(kinds <= 6 || strstr(text.s, rest), "the others are summed up");
		end_view();
	}
}

/* fds that were all closed are no growth; of mappings, what is gone is not known exactly. */
static void test_growers(void)
{
	static const struct {
		enum what what;
		uint64_t removed;
		const char *row;
	} cases[] = {
		{WHAT_FDS, 69, "   |       +1  log.#  (70 made, 69 gone)\n"},
		{WHAT_FDS, 70, NULL},
		{WHAT_FDS, 71, NULL},
		{WHAT_MAPS, 69, "   |       +1  log.#  (70 made, at most 69 gone)\n"},
		{WHAT_MAPS, 70, "   |       +0  log.#  (70 made, at most 70 gone)\n"},
		{WHAT_MAPS, 0, "   |      +70  log.#\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_view();
		add_process(10, 50, 5);
		made_file(cases[i].what, 4, "log.#", 70, cases[i].removed);
		said_by(&diagnosis_renderer);
		if (cases[i].row)
			ok(strstr(text.s, cases[i].row), "%s", cases[i].row);
		ok(!strstr(text.s, "  created while watched") == !cases[i].row,
		   "70 made, %u gone: case %zu", (unsigned int)cases[i].removed, i);
		end_view();
	}
	begin_view();
	add_process(10, 50, 5);
	made_file(WHAT_FDS, 4, "log.#", 70, 60);
	made_file(WHAT_FDS, 5, "tmp.#", 80, 80);
	made_file(WHAT_FDS, 6, "one.#", 80, 79);
	said_by(&diagnosis_renderer);
	ok(strstr(text.s, "      +10  log.#") && strstr(text.s, "       +1  one.#") &&
		   !strstr(text.s, "tmp.#"),
	   "only what is still there has a row");
	end_view();
}

static void test_folded(void)
{
	begin_view();
	add_process(10, 50, 5);
	made_file(WHAT_FDS, 4, "log.#", 70, 69);
	made_file(WHAT_FDS, 5, "tmp.#", 70, 70);
	made_file(WHAT_MAPS, 6, "a;b", 3, 0);
	stack_reads(4, "open;at\nmain", 0);
	said_by(&folded_renderer);
	is_str(text.s, "proc10;main;open:at;[fds] log.# 1\nproc10;[maps] a:b 3\n",
	       "folded stacks of what grew");
	end_view();
}

/* The text shows sixteen processes one by one. */
static void test_blocks(void)
{
	for (uint32_t n = 15; n <= 18; n++) {
		char more[64];

		begin_view();
		for (uint32_t pid = 100; pid < 100 + n; pid++)
			add_process(pid, 50, 5);
		judge_window();
		text_blocks(&text, &view);
		is_u64(count(text.s, "proc1"), n < 16 ? n : 16, "processes that are shown");
		snprintf(more, sizeof(more), "%u more process%s: see them all with --json\n",
			 n - 16, n == 17 ? "" : "es");
		ok(!strstr(text.s, " all with --json") == (n <= 16), "%u processes", n);
		ok(n <= 16 || strstr(text.s, more), "others are counted");
		buf_free(&text);
		text_living_blocks(&text, &view);
		is_u64(count(text.s, "proc1"), n < 16 ? n : 16, "of living ones too");
		end_view();
	}
}

/* The table shows as many rows as the user asked for. */
static void test_table(void)
{
	for (uint32_t n = 2; n <= 5; n++) {
		char more[64];

		begin_view();
		view.top = 3;
		for (uint32_t pid = 100; pid < 100 + n; pid++)
			add_process(pid, 50, 5);
		judge_window();
		text_table(&text, &view);
		is_u64(count(text.s, " proc1"), n < 3 ? n : 3, "rows");
		ok(comes_before(text.s, "proc100", "proc101"), "equal ones by pid");
		snprintf(more, sizeof(more), "%u more (--top N)\n", n - 3);
		ok(n > 3 ? strstr(text.s, more) != NULL : !strstr(text.s, "more"), "%u processes",
		   n);
		buf_free(&text);
		view.height = 20;
		text_table(&text, &view);
		ok(!strstr(text.s, "more"), "a screen has no room for it");
		end_view();
	}
}

static void read_row(uint32_t pid, uint32_t nth, uint64_t bytes, const char *file)
{
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, now);

	r.subject = r.toucher = (struct process_key){.pid = pid, .start_ns = 1};
	r.nth = nth;
	r.stack = -1;
	r.bytes = r.low = r.high = bytes;
	r.kind = HOLDING_FILE;
	snprintf(r.file, sizeof(r.file), "%s", file);
	model_take(&m, &r.h);
}

static void read_sum(uint32_t pid, uint32_t rows, uint64_t bytes)
{
	struct resident_sum_record r = RECORD(resident_sum_record, RECORD_RESIDENT_SUM, now);

	r.subject = (struct process_key){.pid = pid, .start_ns = 1};
	r.rows = rows;
	r.each = 64;
	r.anon_bytes = bytes;
	r.watched_ns = 2 * SECOND;
	model_take(&m, &r.h);
}

/* The command memory shows four processes: those with most memory, then those read first. */
static void test_memory_processes(void)
{
	struct memory_process all[RESIDENT_PROCESSES_MAX];

	for (uint32_t n = 3; n <= 6; n++) {
		begin_view();
		for (uint32_t pid = 20 + n - 1; pid >= 20; pid--) {
			add_process(pid, 50, 5);
			read_row(pid, 0, 3 * MIB, "data");
			read_sum(pid, 1, 3 * MIB);
		}
		said_by(&memory_renderer);
		is_u64(count(text.s, " resident: "), n < 4 ? n : 4, "processes that are shown");
		ok(strstr(text.s, n == 6 ? "2 other processes have at most 3.00 MiB each, and 6.00 "
					   "MiB together; --json has all\n"
				  : n == 5 ? "1 other process has at most 3.00 MiB each, and 3.00 "
					     "MiB together; --json has all\n"
					   : ""),
		   "others are summed up");
		ok(!strstr(text.s, " other process") == (n <= 4), "%u processes", n);
		is_u64(memory_processes(&view, all), n, "all are there");
		for (uint32_t i = 0; i < n; i++)
			is_u64(all[i].of->id.pid, 20 + n - 1 - i, "equal ones as they were read");
		end_view();
	}
	begin_view();
	for (uint32_t pid = 20; pid < 23; pid++) {
		add_process(pid, 50, 5);
		read_row(pid, 0, pid * MIB, "data");
		read_sum(pid, 1, pid * MIB);
	}
	judge_window();
	memory_processes(&view, all);
	ok(all[0].of->id.pid == 22 && all[2].of->id.pid == 20 && all[0].bytes == 22 * MIB,
	   "those with most memory first");
	end_view();
}

/* Rows below 1/100 of the memory of a process are summed up. */
static void test_memory_rows(void)
{
	static const uint64_t small[] = {999, 1000, 1001};
	struct memory_process all[RESIDENT_PROCESSES_MAX];
	struct memory_rows rows;

	for (size_t i = 0; i < 3; i++) {
		begin_view();
		add_process(20, 50, 5);
		read_row(20, 0, 60000, "large");
		read_row(20, 1, small[i], "small");
		read_sum(20, 2, 100000);
		judge_window();
		memory_processes(&view, all);
		memory_rows_fill(&rows, &view, &all[0], 12);
		is_u64(rows.n, small[i] < 1000 ? 1 : 2, "rows");
		is_u64(rows.rest, small[i] < 1000 ? small[i] : 0, "bytes without a row");
		is_u64(rows.rest_records, small[i] < 1000, "and records");
		memory_rows_fill(&rows, &view, &all[0], 1);
		is_u64(rows.n, 1, "at most as many rows as there is room for");
		is_u64(rows.rest, small[i], "the others are summed up");
		end_view();
	}
	for (uint32_t n = MEMORY_ROWS_MAX - 1; n <= MEMORY_ROWS_MAX + 1; n++) {
		begin_view();
		add_process(20, 50, 5);
		for (uint32_t k = 0; k < n; k++) {
			char file[16];

			snprintf(file, sizeof(file), "file%u", k);
			read_row(20, k, 1000, file);
		}
		read_sum(20, n, 1000);
		judge_window();
		memory_processes(&view, all);
		memory_rows_fill(&rows, &view, &all[0], MEMORY_ROWS_MAX);
		is_u64(rows.n, n < MEMORY_ROWS_MAX ? n : MEMORY_ROWS_MAX, "rows");
		is_u64(rows.rest_records, n > MEMORY_ROWS_MAX, "records without a row");
		is_u64(rows.rest, n > MEMORY_ROWS_MAX ? 1000 : 0, "and their bytes");
		is_str(rows.row[0].sum.file, "file0", "equal rows in the order of the reading");
		is_str(rows.row[5].sum.file, "file5", "also the sixth one");
		end_view();
	}
}

static void read_kind(uint32_t pid, uint32_t nth, uint32_t kind, uint32_t by, const char *file)
{
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, now);

	r.subject = r.toucher = (struct process_key){.pid = pid, .start_ns = 1};
	r.nth = nth;
	r.stack = -1;
	r.bytes = 10;
	r.low = 7;
	r.high = 14;
	r.kind = kind;
	r.by = by;
	snprintf(r.file, sizeof(r.file), "%s", file);
	model_take(&m, &r.h);
}

/* Records are one row if kind, origin, file and code are the same. */
static void test_memory_sums(void)
{
	struct memory_process all[RESIDENT_PROCESSES_MAX];
	struct memory_rows rows;

	begin_view();
	add_process(20, 50, 5);
	read_kind(20, 0, HOLDING_FILE, RESIDENT_BEFORE, "a");
	read_kind(20, 1, HOLDING_FILE, RESIDENT_BEFORE, "a");
	read_kind(20, 2, HOLDING_FILE, RESIDENT_COPIED, "a");
	read_kind(20, 3, HOLDING_HEAP, RESIDENT_BEFORE, "a");
	read_kind(20, 4, HOLDING_FILE, RESIDENT_BEFORE, "b");
	read_sum(20, 5, 50);
	judge_window();
	memory_processes(&view, all);
	memory_rows_fill(&rows, &view, &all[0], 12);
	is_u64(rows.n, 4, "rows");
	is_u64(rows.row[0].records, 2, "two records are one row");
	is_u64(rows.row[0].sum.bytes, 20, "with their bytes");
	/* the errors are 3 and 4 each: 20 - 4.24 and 20 + 5.66 */
	ok(rows.row[0].sum.low >= 15 && rows.row[0].sum.low <= 16, "and a narrower interval below");
	ok(rows.row[0].sum.high >= 25 && rows.row[0].sum.high <= 26, "and above");
	is_u64(rows.rest_records, 0, "each record has a row");
	ok(strstr(memory_kind(&rows.row[0].sum).s, " a") &&
		   strstr(memory_kind(&rows.row[1].sum).s, " a, copied after a fork"),
	   "what kind of memory it is");
	end_view();

	/* a process with so little memory that 1/100 of it is 0 */
	begin_view();
	add_process(20, 50, 5);
	read_kind(20, 0, HOLDING_FILE, RESIDENT_BEFORE, "a");
	read_sum(20, 1, 10);
	judge_window();
	memory_processes(&view, all);
	memory_rows_fill(&rows, &view, &all[0], 12);
	is_u64(rows.n, 1, "there are no rows without memory");
	end_view();
}

/* The code of a row is the innermost function that is not of a standard library, if any. */
static void test_memory_lines(void)
{
	static const struct {
		const char *frames, *line;
	} cases[] = {
		{"operator new (app)\nload (app)\nmain (app)", "load (app)"},
		{"load (app)\nmain (app)", "load (app)"},
		{"operator new (app)\nstd::vector (app)", "operator new (app)"},
	};

	begin_view();
	add_process(10, 50, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct memory_row row = {};
		struct process_key of = {.pid = 10, .start_ns = 1};

		stack_reads(i, cases[i].frames, 0);
		row.f = model_frames(&m, &of, i);
		is_str(memory_line(&row).s, cases[i].line, "the code of a row");
	}
	end_view();
}

/* If more than half of the memory is in rows that are not shown, a note says how to see it. */
static void test_memory_note(void)
{
	static const uint64_t bytes[] = {23999, 24000, 24001, 24002};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		begin_view();
		add_process(20, 50, 5);
		for (uint32_t k = 0; k < 24; k++) {
			char file[16];

			snprintf(file, sizeof(file), "file%u", k);
			read_row(20, k, 1000, file);
		}
		read_sum(20, 24, bytes[i]);
		said_by(&memory_renderer);
		ok(strstr(text.s, "in 12 other stacks; --json has all"), "twelve rows are shown");
		ok(!strstr(text.s, "note: many stacks") == (bytes[i] >= 24000), "half of %u bytes",
		   (unsigned int)bytes[i]);
		end_view();
	}
}

static void test_memory_folded(void)
{
	begin_view();
	add_process(20, 50, 5);
	read_row(20, 0, 2000, "a;b");
	read_row(20, 1, 1, "one");
	read_row(20, 2, 0, "none");
	read_sum(20, 3, 2001);
	said_by(&folded_memory_renderer);
	is_u64(count(text.s, "\n"), 2, "memory of 0 bytes has no line");
	ok(strstr(text.s, "a:b] 2000\n") && strstr(text.s, "one] 1\n"), "others have one");
	end_view();
}

int main(void)
{
	test_processes();
	test_sum();
	test_recorded();
	test_holdings();
	test_growers();
	test_folded();
	test_blocks();
	test_table();
	test_memory_processes();
	test_memory_rows();
	test_memory_sums();
	test_memory_lines();
	test_memory_note();
	test_memory_folded();
	return tap_done();
}
