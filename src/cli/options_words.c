// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words that shells offer as completions of option arguments and commands. */
#include <string.h>

#include "cli/options_table.h"
#include "model/resources.h"
#include "rules/diagnoses.h"

static void add_word(struct words *w, const char *word, const char *end)
{
	w->kind = WORDS_LISTED;
	buf_printf(&w->list, "%s%s%s", w->list.len ? " " : "", word, end);
}

static void add_formats(struct words *w, enum command command)
{
	if (command != CMD_REPORT && command != CMD_DIFF) {
		add_word(w, "text json folded", "");
		return;
	}
	for (size_t i = 0; i < nr_report_formats; i++)
		add_word(w, report_formats[i].name, "");
}

static void add_named(struct words *w, const char *option)
{
	char name[NEAREST_BYTES];
	struct gate_row gate;

	for (size_t i = 0; i < nr_fields && !strcmp(option, "sort"); i++)
		add_word(w, field_name(&fields[i], name, sizeof(name)), "");
	for (size_t i = 0; i < nr_hooks && !strcmp(option, "probe"); i++)
		add_word(w, hooks[i].name, "=");
	for (int i = 0; i < NR_RESOURCES && !strcmp(option, "assume"); i++)
		add_word(w, resources[i].limit, "=");
	for (size_t i = 0; !strcmp(option, "fail-on") && gate_row(i, &gate); i++)
		add_word(w, gate.name, "");
	w->open =
		!strcmp(option, "probe") || !strcmp(option, "assume") || !strcmp(option, "fail-on");
}

void words_of_option(const struct option_row *o, enum command command, struct words *ret)
{
	static const struct {
		const char *option, *list;
	} lists[] = {
		{"color", "auto always never"},
		{"min-severity", "info warning critical"},
		{"export.detail", "host workload full"},
		{"log-format", "text json rfc5424 rfc5424:/dev/log journal off"},
		{"keep", "file instance pmsg kmsg map"},
		{"incident.on", "finding oom pressure none"},
		{"overhead", "low all scan events latency syscalls 0-2 0-3"},
		{"workload.collapse", "instances none"},
	};

	*ret = (struct words){};
	if (!strcmp(o->arg, "FILE"))
		ret->kind = WORDS_FILES;
	else if (!strcmp(o->arg, "DIR"))
		ret->kind = WORDS_DIRECTORIES;
	else if (!strcmp(o->name, "pid"))
		ret->kind = WORDS_PIDS;
	else if (!strcmp(o->name, "format"))
		add_formats(ret, command);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(lists[i].option, o->name) && o->type == OPTION_OTHER)
			add_word(ret, lists[i].list, "");
	add_named(ret, o->name);
}

void words_of_command(enum command command, struct words *ret)
{
	*ret = (struct words){};
	switch (command) {
	case CMD_TRIAGE:
	case CMD_OOM:
	case CMD_INFO:
	case CMD_REPLAY:
	case CMD_REPORT:
	case CMD_DIFF:
		ret->kind = WORDS_FILES;
		break;
	case CMD_RECORD:
		ret->kind = WORDS_PIDS;
		break;
	case CMD_EXPLAIN:
		for (size_t i = 0; diagnosis_at(i); i++)
			add_word(ret, diagnosis_at(i)->id, "");
		for (size_t i = 0; diagnosis_at(i); i++)
			add_word(ret, diagnosis_at(i)->slug, "");
		break;
	case CMD_BLACKBOX:
		add_word(ret, "run arm status read", "");
		break;
	case CMD_INCIDENTS:
		add_word(ret, "list show open report compare delete", "");
		break;
	case CMD_COMPLETION:
		add_word(ret, "bash zsh fish", "");
		break;
	case CMD_WATCH:
	case CMD_MAN:
		for (int i = CMD_RUN; i < NR_COMMANDS; i++)
			add_word(ret, command_rows[i].name, "");
		break;
	default:
		break;
	}
}
