// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/formats/formats.h"

#include <string.h>

#include "render/formats/format_makers.h"
#include "render/html/html.h"

const struct report_format report_formats[] = {
	{"text", ".txt", "the verdict, and who grew, as diagnose says it", "people", WAY_LINES,
	 false, &diagnosis_renderer, NULL},
	{"html", ".html", "a page that needs no network: verdict, charts, tables", "browsers",
	 WAY_WHOLE, false, NULL, html_report},
	{"jsonl", ".jsonl", "JSON Lines: all that is known, look by look (faultscope schema)",
	 "jq, Loki, scripts", WAY_LINES, false, &json_renderer, NULL},
	{"folded", ".folded", "folded stacks of what made mappings and descriptors that are left",
	 "flamegraph.pl, inferno, speedscope", WAY_LINES, false, &folded_renderer, NULL},
	{"folded-faults", NULL, "folded stacks of page faults, by workload, process and user stack",
	 "flamegraph.pl, inferno, speedscope", WAY_WHOLE, false, NULL, format_folded_faults},
	{"folded-stall", NULL, "the same of the time stalled in them, ns",
	 "flamegraph.pl, inferno, speedscope", WAY_WHOLE, false, NULL, format_folded_stall},
	{"perf", ".perf", "the text of perf script: faults, mappings, descriptors",
	 "stackcollapse-perf.pl, speedscope, Firefox Profiler", WAY_WHOLE, false, NULL,
	 format_perf_script},
	{"pprof", ".pb.gz", "a profile of five measures",
	 "go tool pprof, Pyroscope, Parca, speedscope", WAY_WHOLE, true, NULL, format_pprof},
	{"speedscope", ".speedscope.json", "a profile a measure", "speedscope", WAY_WHOLE, false,
	 NULL, format_speedscope},
	{"trace", ".trace.json", "counters and instants over time", "Perfetto, Chrome", WAY_WHOLE,
	 false, NULL, format_trace},
	{"csv", ".csv", "a row a process with all its figures", "spreadsheets, pandas, SQLite",
	 WAY_WHOLE, false, NULL, format_csv},
	{"csv-time", NULL, "a row a moment, of all processes", "spreadsheets, pandas, SQLite",
	 WAY_WHOLE, false, NULL, format_csv_time},
	{"textfile", ".prom", "the exporter's page as of the end of it",
	 "node_exporter's textfile collector, promtool", WAY_TEXTFILE, false, NULL, NULL},
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
