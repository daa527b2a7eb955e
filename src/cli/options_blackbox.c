// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options of the flight recorder. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/options_table.h"
#include "recorder/keepers.h"

int set_live(struct options *o, const char *arg, char *error, size_t size)
{
	o->blackbox.live = true;
	return 0;
}

int set_ring(struct options *o, const char *arg, char *error, size_t size)
{
	o->blackbox.file = arg;
	return 0;
}

int set_ring_bytes(struct options *o, const char *arg, char *error, size_t size)
{
	uint64_t bytes;

	if (parse_bytes(arg, &bytes) || bytes < RING_BYTES_LEAST || bytes > RING_BYTES_MOST) {
		snprintf(error, size, "--ring-bytes %s: a size from 8K to 64M", arg);
		return -EINVAL;
	}
	o->blackbox.file_bytes = bytes / RING_SLOT * RING_SLOT;
	return 0;
}

int set_keep(struct options *o, const char *arg, char *error, size_t size)
{
	char copy[64], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		int id = keeper_find(one);

		if (id < 0) {
			snprintf(error, size,
				 "--keep %s: of file, instance, pmsg, kmsg and map, as: --keep "
				 "file,kmsg",
				 arg);
			options_near_word(one, "file, instance, pmsg, kmsg, map", error, size);
			return -EINVAL;
		}
		o->blackbox.keepers |= 1u << id;
	}
	return 0;
}

int set_instance(struct options *o, const char *arg, char *error, size_t size)
{
	if (!*arg || strchr(arg, '/') || arg[0] == '.') {
		snprintf(error, size, "--instance %s: the name of a trace instance", arg);
		return -EINVAL;
	}
	o->blackbox.instance = arg;
	return 0;
}

int set_heartbeat(struct options *o, const char *arg, char *error, size_t size)
{
	if (parse_seconds(arg, &o->blackbox.heartbeat) || o->blackbox.heartbeat < 0.1) {
		snprintf(error, size, "--heartbeat %s: a time of 100ms or more: 1, 10s, 1m", arg);
		return -EINVAL;
	}
	return 0;
}
