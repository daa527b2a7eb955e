// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/formats.h"

#include <string.h>

const struct report_format report_formats[] = {
	{"text", ".txt", "the verdict, and who grew, as diagnose says it", "people", WAY_LINES,
	 false, &diagnosis_renderer, NULL},
	{"jsonl", ".jsonl", "JSON Lines: all that is known, look by look (faultscope schema)",
	 "jq, Loki, scripts", WAY_LINES, false, &json_renderer, NULL},
	{"recording", ".fsr",
	 "a recording: packed, or with --redact without what is not for others", "faultscope",
	 WAY_RECORDING, false, NULL, NULL},
};
const size_t nr_report_formats = sizeof(report_formats) / sizeof(report_formats[0]);

const struct report_format *report_format_find(const char *name)
{
	for (size_t i = 0; i < nr_report_formats; i++)
		if (!strcmp(report_formats[i].name, name))
			return &report_formats[i];
	return NULL;
}

const struct report_format *report_format_of(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < nr_report_formats; i++) {
		const char *suffix = report_formats[i].suffix;
		size_t n = suffix ? strlen(suffix) : 0;

		if (n && len > n && !strcmp(path + len - n, suffix))
			return &report_formats[i];
	}
	return NULL;
}
