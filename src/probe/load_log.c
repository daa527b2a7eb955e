// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/load_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The log is static, because libbpf's print callback has no context argument. */
static char kept[8192];

void load_log_add(const char *line)
{
	size_t len = strlen(kept), more = strlen(line);

	if (len + more >= sizeof(kept)) {
		size_t tail = more < sizeof(kept) / 2 ? more : sizeof(kept) / 2;

		if (len + tail >= sizeof(kept))
			len = sizeof(kept) - tail - 1;
		memcpy(kept + len, line + more - tail, tail);
		kept[len + tail] = 0;
	} else {
		memcpy(kept + len, line, more + 1);
	}
}

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char *line = NULL;

	if (level != LIBBPF_WARN || vasprintf(&line, format, args) < 0)
		return 0;
	/* libbpf says so of each program, since the build removes line numbers; nothing failed */
	if (!strstr(line, "missing .BTF.ext line info"))
		load_log_add(line);
	free(line);
	return 0;
}

void load_log_begin(void)
{
	kept[0] = 0;
	libbpf_set_print(keep_log);
}

const char *load_log(void)
{
	return kept;
}
