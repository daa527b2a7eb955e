/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the crash logs of tests/triage. Tests that do so must run at the top of the source tree. */
#ifndef FS_TESTS_CRASH_LOGS_H
#define FS_TESTS_CRASH_LOGS_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define CRASH_LOGS_MAX 256

struct crash_logs {
	size_t n;
	char *text[CRASH_LOGS_MAX];
};

static inline void crash_log_add(struct crash_logs *logs, char *text)
{
	if (!text || logs->n == CRASH_LOGS_MAX)
		abort();
	logs->text[logs->n++] = text;
}

/* Returns the content of a file, which the caller frees. */
static inline char *crash_log_content(const char *path)
{
	struct buf b = {};
	char part[4096];
	FILE *file = fopen(path, "r");
	size_t n;

	while (file && (n = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(&b, part, n);
	if (file)
		fclose(file);
	return b.s;
}

static inline int is_crash_log(const struct dirent *d)
{
	return strstr(d->d_name, ".log") != NULL;
}

static inline void crash_logs_of_folder(struct crash_logs *logs, const char *folder)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, is_crash_log, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		crash_log_add(logs, crash_log_content(path));
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

/* Reads the reports in formats.txt: after a line "== TITLE" and a line with the expected result. */
static inline void crash_logs_of_formats(struct crash_logs *logs)
{
	char *text = crash_log_content("tests/triage/formats.txt");
	char *at = text ? strstr(text, "\n== ") : NULL;

	while (at) {
		char *next = strstr(at + 4, "\n== "), *body = strchr(at + 4, '\n');

		body = body ? strchr(body + 1, '\n') : NULL;
		if (body && (!next || body < next))
			crash_log_add(logs, strndup(body + 1,
						    next ? (size_t)(next - body) : strlen(body)));
		at = next;
	}
	free(text);
}

/* Reads all logs, always in the same order. */
static inline void crash_logs_read(struct crash_logs *ret)
{
	ret->n = 0;
	crash_logs_of_folder(ret, "tests/triage/corpus");
	crash_logs_of_folder(ret, "tests/triage/logs");
	crash_logs_of_formats(ret);
}

static inline void crash_logs_free(struct crash_logs *logs)
{
	for (size_t i = 0; i < logs->n; i++)
		free(logs->text[i]);
}

#endif
