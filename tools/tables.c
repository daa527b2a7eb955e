// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints tables of the documents, generated from tables in the code. `make readme` writes them to
 * README.md and docs/, and a test compares them.
 *
 * usage: tables NAME, with a NAME from main()
 */
#include <stdio.h>
#include <string.h>

#include "base/overhead.h"
#include "model/fields.h"
#include "model/metrics.h"
#include "model/resources.h"
#include "cli/options_table.h"
#include "probe/hooks.h"
#include "render/log/log_event.h"
#include "render/tui/tui_parts.h"
#include "rules/gates.h"
#include "finding_pages.h"

static void put_probes(void)
{
	puts("| probe | overhead level | attach types, best first | what it measures | lost without it |");
	puts("| --- | --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_hooks; i++) {
		printf("| `%s` | %s | ", hooks[i].name, overhead_level_name(hooks[i].tier));
		for (const struct hook_alternate *a = hooks[i].alternate; a->mechanism; a++)
			printf("%s%s", a == hooks[i].alternate ? "" : ", ", a->mechanism);
		printf(" | %s | %s |\n", hooks[i].feeds, hooks[i].lost);
	}
}

/*
 * Maps each exported metric to its field. First in the table are metrics for counters, from
 * counters.def; gauges and sums of fields follow.
 */
static const struct {
	enum metric_id metric;
	const char *field;
} exported_as[] = {
/* clang-format off */
#define NOTHING(...)
#define FROM_NOT_EXPORTED	       NOTHING
#define FROM_EXPORTED(id, family, ...) {METRIC_ID_##family, NAME
#define FROM_OWN_FAMILY(id, ...)       {METRIC_ID_##id, NAME
#define NAME(group, key)	       group "." key},
#define COUNTER(id, group, key, unit, probe, export, ...)     FROM_##export(group, key)
#define KERNEL_TOTAL(id, base, group, key, unit, probe, export, ...) FROM_##export(group, key)
#include "records/counters.def"
/* clang-format on */
	{METRIC_ID_SIGNALS, "faults.failed"},
	{METRIC_ID_STALL, "faults.stall_ns"},
	{METRIC_ID_MAPPINGS, "maps.count"},
	{METRIC_ID_MAPPINGS_LIMIT, "maps.limit"},
	{METRIC_ID_MAPPING_FAILURES, "maps.failed"},
	{METRIC_ID_FDS, "fds.count"},
	{METRIC_ID_WORST_FDS_LIMIT, "fds.limit"},
	{METRIC_ID_FD_FAILURES, "fds.failed"},
	{METRIC_ID_SWAP, "memory.swap_bytes"},
	{METRIC_ID_RECLAIM, "memory.reclaim_ns"},
};

static const char *const units[] = {[UNIT_COUNT] = "", [UNIT_BYTES] = "bytes", [UNIT_NS] = "ns",
				    [UNIT_LIMIT] = ""};

/* Returns the suffix of a metric's name in text format 0.0.4. */
static const char *metric_end(const struct metric *m)
{
	return m->type == METRIC_COUNTER ? "_total" : m->type == METRIC_INFO ? "_info" : "";
}

static void put_values(void)
{
	puts("| JSON and CSV | unit | column | Prometheus | meaning | null without |");
	puts("| --- | --- | --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];
		char name[NEAREST_BYTES], title[32];

		field_name(f, name, sizeof(name));
		printf("| `%s` | %s | %s | ", name, units[f->unit],
		       field_column_title(f, title, sizeof(title)));
		for (size_t e = 0; e < sizeof(exported_as) / sizeof(exported_as[0]); e++)
			if (!strcmp(exported_as[e].field, name))
				printf("`%s%s`", metrics[exported_as[e].metric].name,
				       metric_end(&metrics[exported_as[e].metric]));
		printf(" | %s | %s%s%s |\n", f->help, f->hook ? "`" : "", f->hook ? f->hook : "",
		       f->hook ? "`" : "");
	}
}

static void put_gates(void)
{
	struct gate_row row;

	puts("| value | meaning |");
	puts("| --- | --- |");
	for (size_t i = 0; gate_row(i, &row); i++)
		printf("| `%s` | %s |\n", row.name, row.help);
}

/* Prints a column that a tab of the live view shows in addition to the fields of the tab. */
static void put_lead(const struct tab *tab, const struct column *c)
{
	char name[NEAREST_BYTES];

	if (c->cell == CELL_BAR)
		printf("| %s | %s | used share of `%s`, as a bar and in percent |\n", tab->name,
		       c->title, resources[c->of].limit);
	else if (c->cell == CELL_FULL)
		printf("| %s | %s | forecast: time until `%s` is reached |\n", tab->name,
		       c->title, resources[c->of].limit);
	else if (c->cell == CELL_SPARK)
		printf("| %s | %s | `%s` over the last scans |\n", tab->name, c->title,
		       field_name(c->f, name, sizeof(name)));
}

/*
 * Returns whether a field belongs to a tab. A field belongs to the tab of its group. If its group
 * has no tab, the field belongs to the tab without a group.
 */
static bool is_in(const struct tab *tab, const struct field *f)
{
	if (tab->groups)
		return !strcmp(tab->groups, f->group);
	for (size_t i = 0; i < nr_tui_tabs; i++)
		if (tui_tabs[i].groups && !strcmp(tui_tabs[i].groups, f->group))
			return false;
	return true;
}

static void put_columns(void)
{
	const struct model m = {};
	const struct view v = {.m = &m, .width = 80};
	struct columns c;
	char title[32];

	puts("| tab | column | value |");
	puts("| --- | --- | --- |");
	for (size_t t = 0; t < nr_tui_tabs; t++) {
		const struct tab *tab = &tui_tabs[t];

		tui_columns(&(struct tui){.tab = t}, &v, &c);
		for (size_t i = 0; i < c.n; i++)
			put_lead(tab, &c.c[i]);
		for (size_t i = 0; i < nr_fields && tab->kind == TAB_TABLE; i++)
			if (is_in(tab, &fields[i]))
				printf("| %s | %s | %s |\n", tab->name,
				       field_column_title(&fields[i], title, sizeof(title)),
				       fields[i].help);
	}
}

static void put_classes(void)
{
	puts("| class | what |");
	puts("| --- | --- |");
#define X(id, name, help) puts("| `" name "` | " help " |");
	FAULT_CLASSES(X)
#undef X
}

/* Prints a table cell. Bars in the text are escaped, since a bar would end the cell. */
static void put_cell(const char *text)
{
	for (; *text; text++)
		printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static void put_commands(void)
{
	puts("| command | what |");
	puts("| --- | --- |");
	for (int i = 0; i < NR_COMMANDS; i++) {
		const struct command_row *c = &command_rows[i];

		printf("| `faultscope%s%s%s", *c->name ? " " : "", c->name, *c->args ? " " : "");
		put_cell(c->args);
		printf("` | %s |\n", c->help);
	}
}

static void put_limits(void)
{
	static const char *const of[] = {[OF_PROCESS] = "a process",
					 [OF_CGROUP] = "a process's cgroup",
					 [OF_HOST] = "the host"};

	puts("| name | of | what is used up | unit | watched from |");
	puts("| --- | --- | --- | --- | ---: |");
	for (int i = 0; i < NR_RESOURCES; i++)
		printf("| `%s` | %s | %s | %s | %u %% |\n", resources[i].limit,
		       of[resources[i].scope], resources[i].what,
		       resources[i].bytes ? "bytes" : "count", resources[i].watch_percent);
}

static void put_formats(void)
{
	puts("| format | by the name of `-o` | what | opened by |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_report_formats; i++) {
		const struct report_format *f = &report_formats[i];

		printf("| `%s` | %s%s%s | %s | %s |\n", f->name, f->suffix ? "`" : "",
		       f->suffix ? f->suffix : "", f->suffix ? "`" : "", f->help, f->readers);
	}
}

static void put_metric(const struct metric *m)
{
	static const char *const types[] = {[METRIC_GAUGE] = "gauge",
					    [METRIC_COUNTER] = "counter",
					    [METRIC_INFO] = "gauge",
					    [METRIC_HISTOGRAM] = "histogram"};

	printf("| `%s%s` | %s | ", m->name, metric_end(m), types[m->type]);
	for (size_t i = 0; i < METRIC_LABELS && m->label[i]; i++)
		printf("%s`%s`", i ? ", " : "", m->label[i]);
	printf(" | ");
	put_cell(m->help);
	puts(" |");
}

static void put_metrics(void)
{
	puts("| metric | type | labels | help |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; i < NR_METRICS; i++)
		put_metric(&metrics[i]);
}

static void put_keys(void)
{
	puts("| key | what |");
	puts("| --- | --- |");
	for (size_t i = 0; i < nr_tui_help; i++)
		printf("| %s | %s |\n", tui_help[i].keys, tui_help[i].what);
}

/*
 * Prints the options of each command. Later versions must keep these options: see
 * docs/compatibility.md.
 */
static void put_options(void)
{
	for (int c = 0; c < NR_COMMANDS; c++)
		for (size_t i = 0; i < nr_option_rows; i++)
			if (option_rows[i].commands >> c & 1)
				printf("%s --%s%s%s\n", c ? command_rows[c].name : "faultscope",
				       option_rows[i].name, option_rows[i].arg ? " " : "",
				       option_rows[i].arg ? option_rows[i].arg : "");
}

static void put_log_kinds(void)
{
	puts("| event | when | `MESSAGE_ID` | priority |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; i < NR_LOG_KINDS; i++) {
		const struct log_kind_row *k = &log_kinds[i];

		printf("| `%s` | %s | `%s` | ", k->name, k->when, k->message_id);
		if (k->priority < 0)
			puts("2 critical, 4 warning, 6 info |");
		else
			printf("%d |\n", k->priority);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} tables[] = {
		{"probes", put_probes},	    {"values", put_values},	{"columns", put_columns},
		{"limits", put_limits},	    {"commands", put_commands}, {"classes", put_classes},
		{"formats", put_formats},   {"metrics", put_metrics},	{"keys", put_keys},
		{"gates", put_gates},	    {"options", put_options},	{"findings", put_findings},
		{"families", put_families}, {"log_kinds", put_log_kinds},
	};
	const size_t n = sizeof(tables) / sizeof(tables[0]);

	for (size_t i = 0; argc == 2 && i < n; i++)
		if (!strcmp(argv[1], tables[i].name)) {
			tables[i].put();
			return 0;
		}
	fprintf(stderr, "usage: tables NAME; names are:");
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %s", tables[i].name);
	fprintf(stderr, "\n");
	return 2;
}
