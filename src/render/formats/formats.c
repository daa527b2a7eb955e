// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/formats/formats.h"

#include <string.h>

#include "render/formats/format_makers.h"
#include "render/html/html.h"

const struct report_format report_formats[] = {
#define FORMAT(...) {__VA_ARGS__},
#include "render/formats/formats.def"
#undef FORMAT
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
