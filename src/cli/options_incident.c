// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "cli/options_incident.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/options_table.h"

#define NS_PER_S 1000000000.0
/* The ring that `export` keeps by default. */
#define EXPORT_RING_BYTES (4ULL << 20)
#define EXPORT_RING_S	  900
/* `record --ring TIME` has a maximum of bytes too. */
#define RING_BYTES	 (64ULL << 20)
#define RING_BYTES_LEAST (64ULL << 10)
#define RING_BYTES_MOST	 (4ULL << 30)
#define RING_S_LEAST	 10

/* Takes SIZE, TIME or SIZE,TIME: a size ends in K, M or G, a time in a unit of time or a digit. */
int options_take_ring(struct options *o, const char *arg, char *error, size_t size)
{
	struct ring_bounds b = {};
	char copy[64], *save = NULL;
	double seconds;

	o->incident.ring_given = true;
	o->incident.ring_off = !strcmp(arg, "off");
	if (o->incident.ring_off)
		return 0;
	snprintf(copy, sizeof(copy), "%s", arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		bool is_size = strchr("KMG", one[strlen(one) - 1]);

		if (is_size ? parse_bytes(one, &b.bytes) != 0 : parse_seconds(one, &seconds) != 0)
			b.bytes = 1; /* refused below */
		else if (!is_size)
			b.ns = seconds * NS_PER_S;
	}
	if (strlen(arg) >= sizeof(copy) || (!b.bytes && !b.ns) ||
	    (b.bytes && (b.bytes < RING_BYTES_LEAST || b.bytes > RING_BYTES_MOST)) ||
	    (b.ns && b.ns < RING_S_LEAST * NS_PER_S))
		return options_refuse(error, size,
				      "--ring %s: expected a size from 64K to 4G, a time of 10s or "
				      "more, or both: 16M, 1h or 16M,1h; off: no ring",
				      arg);
	o->incident.ring = b;
	return 0;
}

int options_take_triggers(struct options *o, const char *arg, char *error, size_t size)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} known[] = {{"finding", INCIDENT_ON_FINDING},
		     {"oom", INCIDENT_ON_OOM},
		     {"pressure", INCIDENT_ON_PRESSURE},
		     {"none", 0}};
	char copy[64], *save = NULL;

	o->incident.on = 0;
	snprintf(copy, sizeof(copy), "%s", arg);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i].name, one))
			i++;
		if (i == sizeof(known) / sizeof(known[0]) || strlen(arg) >= sizeof(copy)) {
			options_refuse(error, size,
				       "--incident.on %s: expected a list of finding, oom and "
				       "pressure, or none",
				       arg);
			options_near_word(one, "finding, oom, pressure, none", error, size);
			return -EINVAL;
		}
		o->incident.on |= known[i].bit;
	}
	return 0;
}

static const char *cause_named(const char *name, size_t len)
{
	for (size_t i = 0; cause_names[i]; i++)
		if (strlen(cause_names[i]) == len && !strncmp(cause_names[i], name, len))
			return cause_names[i];
	return NULL;
}

int options_take_causes(struct options *o, const char *arg, char *error, size_t size)
{
	size_t n = 0, len;

	for (const char *one = arg; *one; one += len + (one[len] == ',')) {
		const char *cause;

		len = strcspn(one, ",");
		cause = cause_named(one, len);
		if (!cause || n == INCIDENT_CAUSES)
			return options_refuse(error, size,
					      "--incident.cause %s: expected a list of at most 16 "
					      "causes of failed calls, such as "
					      "max_map_count,rlimit_nofile (see the values of "
					      "`cause` in faultscope schema)",
					      arg);
		o->incident.cause[n++] = cause;
	}
	o->incident.cause[n] = NULL;
	return 0;
}

int options_take_incidents(const struct options *o, char *error, size_t size)
{
	static const char actions[] = "list, show, open, report, compare or delete";
	const char *action = o->argc ? o->argv[0] : "list";
	bool lists = !strcmp(action, "list"), deletes = !strcmp(action, "delete");
	uint64_t number;

	if (o->help || (lists && o->argc <= 1))
		return 0;
	if (!lists && !deletes && strcmp(action, "show") && strcmp(action, "open") &&
	    strcmp(action, "report") && strcmp(action, "compare")) {
		options_refuse(error, size, "incidents %.64s: expected %s", action, actions);
		options_near_word(action, actions, error, size);
		return -EINVAL;
	}
	for (int i = 1; i < o->argc && !lists; i++)
		if (parse_u64(o->argv[i], 1, UINT64_MAX, &number) && !strchr(o->argv[i], '.'))
			return options_refuse(
				error, size,
				"incidents %s %.64s: expected a number of the list: "
				"1 is the newest incident\n  see: faultscope incidents",
				action, o->argv[i]);
	if (lists || o->argc > 2)
		return deletes ? 0
			       : options_refuse(error, size,
						"incidents %s: too many arguments\n  see: "
						"faultscope incidents --help",
						action);
	return !deletes || o->argc == 2
		       ? 0
		       : options_refuse(error, size,
					"incidents delete: name an incident\n  try: faultscope "
					"incidents delete 1");
}

void options_incident_defaults(struct options *o)
{
	o->incident.on = INCIDENT_ON_DEFAULT;
	o->incident.after = 10;
	o->incident.rest = 3600;
	o->incident.age = 30 * 86400.0;
	o->incident.keep = 50;
	o->incident.bytes = 256ULL << 20;
	o->incident.per_hour = 12;
}

int options_incident_check(const struct options *o, char *error, size_t size)
{
	if (o->command == CMD_EXPORT && o->textfile && !o->interval && o->incident.ring_given &&
	    !o->incident.ring_off)
		return options_refuse(error, size,
				      "--ring needs an exporter that keeps running: add INTERVAL "
				      "to --textfile");
	if (o->command == CMD_EXPORT && o->resident_pattern && o->incident.ring_given &&
	    !o->incident.ring_off)
		return options_refuse(error, size,
				      "--ring cannot be combined with --export.resident: run "
				      "faultscope record --ring beside the exporter");
	if (o->command == CMD_EXPORT && o->profiles && (!options_has_ring(o) || o->textfile))
		return options_refuse(error, size,
				      "--export.profiles needs --ring and a web address: it "
				      "cannot be combined with --ring off, --textfile, --replay or "
				      "--export.resident");
	if (o->command == CMD_EXPORT && o->log.given && !options_has_ring(o))
		return options_refuse(error, size,
				      "--log-format needs the findings of --ring, which this "
				      "command line turns off");
	if (o->command == CMD_RECORD && o->incident.ring_off)
		return options_refuse(error, size, "--ring off: record without a ring is record");
	if (o->command == CMD_RECORD && options_has_ring(o) && (o->max_bytes || o->force))
		return options_refuse(error, size,
				      "--ring cannot be combined with --max-size or --force: see "
				      "--incident.max-size");
	return 0;
}

bool options_has_ring(const struct options *o)
{
	if (o->replay || o->incident.ring_off)
		return false;
	/* --export.resident keeps only the processes that it reads; a ring needs all of them */
	if (o->command == CMD_EXPORT)
		return (!o->textfile || o->interval) && !o->resident_pattern;
	return o->command == CMD_RECORD && o->incident.ring_given;
}

struct incident_options options_incident(const struct options *o)
{
	struct incident_options ret = {
		.ring = o->incident.ring,
		.store = {.count = o->incident.keep,
			  .bytes = o->incident.bytes,
			  .age_ns = o->incident.age * NS_PER_S},
		.on = o->incident.on,
		.signal_pattern = o->incident.signal,
		.after_ns = o->incident.after * NS_PER_S,
		.rest_ns = o->incident.rest * NS_PER_S,
		.per_hour = o->incident.per_hour,
	};

	if (!o->incident.ring_given)
		ret.ring = (struct ring_bounds){EXPORT_RING_BYTES, EXPORT_RING_S * NS_PER_S};
	if (!ret.ring.bytes)
		ret.ring.bytes = RING_BYTES;
	memcpy(ret.cause, o->incident.cause, sizeof(ret.cause));
	return ret;
}
