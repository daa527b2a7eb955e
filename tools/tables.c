// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints the tables of the README, and docs/diagnoses.md, from the tables of the code: `make
 * readme` puts them in, and a test compares.
 *
 * usage: tables {hooks|rules|fields|commands|diagnoses|metrics|limits|formats|classes|keys}
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/fields.h"
#include "model/metrics.h"
#include "model/resources.h"
#include "cli/options_table.h"
#include "probe/hooks.h"
#include "render/tui/tui.h"
#include "rules/diagnoses.h"
#include "triage/portents.h"

static void put_hooks(void)
{
	puts("| hook | tier | mechanisms, best first | what it gives | lost without it |");
	puts("| --- | --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_hooks; i++) {
		printf("| `%s` | %d | ", hooks[i].name, hooks[i].tier);
		for (const struct hook_alternate *a = hooks[i].alternate; a->mechanism; a++)
			printf("%s%s", a == hooks[i].alternate ? "" : ", ", a->mechanism);
		printf(" | %s | %s |\n", hooks[i].feeds, hooks[i].lost);
	}
}

static void put_rules(void)
{
	const struct diagnosis *d;

	puts("| id | finding | at worst | needs |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; (d = diagnosis_at(i)); i++) {
		const struct rule *r = diagnosis_rule(d);

		if (r)
			printf("| %s | %s | %s | %s%s%s |\n", d->id, d->title,
			       severity_name(d->severity), r->needs ? "`" : "",
			       r->needs ? r->needs : "the look", r->needs ? "`" : "");
	}
}

static void put_fields(void)
{
	puts("| key | column | what | null without |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; i < nr_fields; i++)
		printf("| `%s%s%s` | %s | %s | %s%s%s |\n", fields[i].group,
		       *fields[i].group ? "." : "", fields[i].key,
		       fields[i].column ? fields[i].column : "", fields[i].help,
		       fields[i].hook ? "`" : "", fields[i].hook ? fields[i].hook : "",
		       fields[i].hook ? "`" : "");
}

static void put_classes(void)
{
	puts("| class | what |");
	puts("| --- | --- |");
	for (int i = 0; i < NR_CLASSES; i++)
		printf("| `%s` | %s |\n", class_name(i), class_help(i));
}

/* A bar would end its cell. */
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

/* What Markdown would take for markup. */
static void put_markdown(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%s%c", strchr("*_`<>|[]\\", text[i]) ? "\\" : "", text[i]);
}

/* Paragraphs; commands one below the other are one block. */
static void put_section(const char *heading, const char *text)
{
	bool block = false;

	printf("\n**%c%s**\n", toupper((unsigned char)heading[0]), heading + 1);
	while (*text) {
		size_t len = strcspn(text, "\n");
		bool command = !strncmp(text, "$ ", 2);

		if (command != block)
			puts(command ? "\n```" : "```");
		block = command;
		if (command) {
			printf("%.*s\n", (int)len - 2, text + 2);
		} else {
			puts("");
			put_markdown(text, len);
			puts("");
		}
		text += len + (text[len] == '\n');
	}
	if (block)
		puts("```");
}

static void put_sources(const char *sources)
{
	if (!*sources)
		return;
	printf("\n**Where it happened**\n\n");
	while (*sources) {
		size_t len = strcspn(sources, " "), name = strcspn(sources, "#");

		printf("[%.*s](https://github.com/%.*s/issues/%.*s)%s\n", (int)len, sources,
		       (int)name, sources, (int)(len - name - 1), sources + name + 1,
		       sources[len] ? "," : "");
		sources += len + (sources[len] == ' ');
	}
}

static void put_diagnosis(const struct diagnosis *d)
{
	const struct rule *rule = diagnosis_rule(d);

	printf("\n## %s: %s\n\n", d->id, d->title);
	if (!rule && portents_flag(d->id))
		printf("%s at worst. Flagged by the flight recorder (`faultscope blackbox "
		       "status`).\n",
		       severity_name(d->severity));
	else if (!rule)
		printf("%s at worst. Not flagged by this version: look for it by hand.\n",
		       severity_name(d->severity));
	else if (rule->needs)
		printf("%s at worst. Flagged where the hook `%s` works%s.\n",
		       severity_name(d->severity), rule->needs,
		       portents_flag(d->id) ? ", and by the flight recorder" : "");
	else
		printf("%s at worst. Flagged at every look.\n", severity_name(d->severity));
	for (size_t i = 0; i < NR_ABOUTS; i++)
		put_section(abouts[i].heading, d->about[i]);
	put_sources(d->sources);
}

static void put_diagnoses(void)
{
	const struct diagnosis *d;

	puts("# Diagnoses\n\nWhat `faultscope explain ID` says, of each. `make readme` makes this "
	     "file of the program's table.\n");
	puts("| id | diagnosis | at worst | flagged |");
	puts("| --- | --- | --- | --- |");
	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		printf("| %s | %s | %s | %s |\n", d->id, d->title, severity_name(d->severity),
		       diagnosis_rule(d)      ? "yes"
		       : portents_flag(d->id) ? "by the flight recorder"
					      : "not by this version");
	for (size_t i = 0; (d = diagnosis_at(i)); i++)
		put_diagnosis(d);
}

/* As text format 0.0.4 names it. */
static void put_metric(const struct metric *m)
{
	static const struct {
		const char *name, *end;
	} types[] = {
		[METRIC_GAUGE] = {"gauge", ""},
		[METRIC_COUNTER] = {"counter", "_total"},
		[METRIC_INFO] = {"gauge", "_info"},
		[METRIC_HISTOGRAM] = {"histogram", ""},
	};

	printf("| `%s%s` | %s | ", m->name, types[m->type].end, types[m->type].name);
	for (size_t i = 0; i < METRIC_LABELS && m->label[i]; i++)
		printf("%s`%s`", i ? ", " : "", m->label[i]);
	printf(" | ");
	put_cell(m->help);
	puts(" |");
}

static void put_metrics(void)
{
	puts("# Metrics\n\nWhat `faultscope export` tells. `make readme` makes this file of the "
	     "program's table.\n\nWhat cannot be measured on a kernel, or was not asked for, is "
	     "left "
	     "out, never zero.\n");
	puts("Counters of failures, signals and fixups, and the slow buckets, have exemplars where "
	     "the "
	     "format can: `pid` and\n`comm` of the last one, and `site`: the call of a refusal, "
	     "what "
	     "a bad access was (`near-null`, `stack overflow`, …),\nthe kernel function of a "
	     "fixup, what a slow fault was for (with `--export.faults`). Never an address.\n");
	puts("`--export.faults` hooks the end of each page fault: that classifies faults, and "
	     "times minor ones too. Backing is told\nof faults that ended, access of those that "
	     "began: the two are counted apart. Of a class that may be of two\nbackings it is "
	     "the likelier: copies on write and pages read from swap are `anon`. `stack` is the "
	     "growth of a stack\nalone; `other` are drivers' memory, NUMA hints, userfaultfd, "
	     "and mappings that were changing.\n");
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

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(void);
	} tables[] = {
		{"hooks", put_hooks},	    {"rules", put_rules},	  {"fields", put_fields},
		{"commands", put_commands}, {"diagnoses", put_diagnoses}, {"limits", put_limits},
		{"classes", put_classes},   {"formats", put_formats},	  {"metrics", put_metrics},
		{"keys", put_keys},
	};

	for (size_t i = 0; argc == 2 && i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(argv[1], tables[i].name)) {
			tables[i].put();
			return 0;
		}
	fprintf(stderr, "usage: tables "
			"{hooks|rules|fields|commands|diagnoses|metrics|limits|formats|classes|"
			"keys}\n");
	return 2;
}
