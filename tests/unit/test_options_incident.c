// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the options of incidents: sizes and times of the ring, triggers, causes, the words of
 * `incidents`, and options that exclude one another.
 */
#include <errno.h>
#include <string.h>

#include "cli/options_incident.h"
#include "tap.h"

#define SECOND 1000000000ULL

static struct options o;
static char error[1024];

static void begin(enum command command)
{
	memset(&o, 0, sizeof(o));
	o.command = command;
	options_incident_defaults(&o);
	error[0] = 0;
}

static void test_ring(void)
{
	static const struct {
		const char *arg;
		uint64_t bytes, ns;
	} good[] = {
		{"16M", 16 << 20, 0},
		{"64K", 64 << 10, 0},
		{"4G", 4ULL << 30, 0},
		{"1h", 0, 3600 * SECOND},
		{"10", 0, 10 * SECOND},
		{"10s", 0, 10 * SECOND},
		{"16M,1h", 16 << 20, 3600 * SECOND},
		{"1h,16M", 16 << 20, 3600 * SECOND},
	};
	static const char *const bad[] = {"63K", "64k", "5G", "4097M",	"9s",	  "9.9",  "",
					  ",",	 "x",	"xM", "16M,9s", "63K,1h", "1h,x", "16M,x"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		begin(CMD_RECORD);
		ok(!options_take_ring(&o, good[i].arg, error, sizeof(error)), "--ring %s",
		   good[i].arg);
		is_u64(o.incident.ring.bytes, good[i].bytes, "bytes");
		is_u64(o.incident.ring.ns, good[i].ns, "time");
		ok(o.incident.ring_given && !o.incident.ring_off, "a ring is given");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		begin(CMD_RECORD);
		ok(options_take_ring(&o, bad[i], error, sizeof(error)) == -EINVAL, "--ring %s",
		   bad[i]);
		ok(strstr(error, "expected a size from 64K to 4G"), "says what is expected");
	}
	begin(CMD_RECORD);
	ok(options_take_ring(&o,
			     "16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M,16M",
			     error, sizeof(error)) == -EINVAL,
	   "an argument that is too long");
	begin(CMD_EXPORT);
	ok(!options_take_ring(&o, "off", error, sizeof(error)) && o.incident.ring_off,
	   "no ring is asked for");
}

static void test_triggers(void)
{
	static const struct {
		const char *arg;
		unsigned int on;
	} good[] = {
		{"finding", INCIDENT_ON_FINDING},
		{"oom,pressure", INCIDENT_ON_OOM | INCIDENT_ON_PRESSURE},
		{"none", 0},
	};

	begin(CMD_RECORD);
	is_u64(o.incident.on, INCIDENT_ON_DEFAULT, "triggers by default");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ok(!options_take_triggers(&o, good[i].arg, error, sizeof(error)), "triggers %s",
		   good[i].arg);
		is_u64(o.incident.on, good[i].on, "bits");
	}
	ok(options_take_triggers(&o, "oom,presure", error, sizeof(error)) == -EINVAL,
	   "an unknown trigger");
	ok(strstr(error, "expected a list of finding") && strstr(error, "did you mean: pressure"),
	   "and a similar one: %.40s", error);
	ok(options_take_triggers(
		   &o, "oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom,oom", error,
		   sizeof(error)) == -EINVAL,
	   "a list that is too long");
}

/* A list of 63 bytes is read as a whole; a longer one is refused, and not cut. */
static void test_long_lists(void)
{
	char ring[80] = "16M", triggers[80] = "oom";

	for (int i = 1; i < 16; i++) {
		strcat(ring, ",16M");
		strcat(triggers, ",oom");
	}
	begin(CMD_RECORD);
	is_u64(strlen(ring), 63, "the longest list");
	ok(!options_take_ring(&o, ring, error, sizeof(error)) && o.incident.ring.bytes == 16 << 20,
	   "of sizes");
	ok(!options_take_triggers(&o, triggers, error, sizeof(error)) &&
		   o.incident.on == INCIDENT_ON_OOM,
	   "of triggers");
	strcat(ring, ",");
	strcat(triggers, ",");
	ok(options_take_ring(&o, ring, error, sizeof(error)) == -EINVAL, "one byte more");
	ok(options_take_triggers(&o, triggers, error, sizeof(error)) == -EINVAL, "of both");
}

static void test_causes(void)
{
	char many[1024] = "";

	begin(CMD_RECORD);
	ok(!options_take_causes(&o, "max_map_count,rlimit_nofile", error, sizeof(error)), "causes");
	is_str(o.incident.cause[0], "max_map_count", "the first");
	is_str(o.incident.cause[1], "rlimit_nofile", "the second");
	is_str(o.incident.cause[2], NULL, "no more");
	ok(options_take_causes(&o, "max_map", error, sizeof(error)) == -EINVAL, "a part of a name");
	ok(strstr(error, "expected a list of at most 16 causes"), "says what is expected");
	ok(options_take_causes(&o, "max_map_count,", error, sizeof(error)) == 0,
	   "a comma at the end");
	for (int i = 0; i < INCIDENT_CAUSES; i++)
		strcat(many, i ? ",max_map_count" : "max_map_count");
	ok(!options_take_causes(&o, many, error, sizeof(error)), "as many as there may be");
	is_str(o.incident.cause[INCIDENT_CAUSES], NULL, "the list has an end");
	strcat(many, ",max_map_count");
	ok(options_take_causes(&o, many, error, sizeof(error)) == -EINVAL, "one more");
}

/* Checks the words after `incidents`. Returns the message, or "" if they are right. */
static const char *words(const char *a, const char *b, const char *c)
{
	static char *argv[4];
	int err;

	begin(CMD_INCIDENTS);
	argv[0] = (char *)a;
	argv[1] = (char *)b;
	argv[2] = (char *)c;
	o.argv = argv;
	while (o.argc < 3 && argv[o.argc])
		o.argc++;
	err = options_take_incidents(&o, error, sizeof(error));
	ok(err == (error[0] ? -EINVAL : 0), "%s %s: %d", a ? a : "", b ? b : "", err);
	return error;
}

static void test_words(void)
{
	static const char *const actions[] = {"show", "report", "compare"};

	is_str(words(NULL, NULL, NULL), "", "nothing lists");
	is_str(words("list", NULL, NULL), "", "list");
	ok(strstr(words("list", "1", NULL), "too many arguments"), "list has no number");
	for (size_t i = 0; i < 3; i++) {
		is_str(words(actions[i], NULL, NULL), "", "the newest incident");
		is_str(words(actions[i], "2", NULL), "", "a number");
		is_str(words(actions[i], "a.fsr", NULL), "", "a file");
		ok(strstr(words(actions[i], "0", NULL), "expected a number"), "0 is no number");
		ok(strstr(words(actions[i], "x", NULL), "expected a number"), "nor is a word");
		ok(strstr(words(actions[i], "1", "2"), "too many arguments"), "two numbers");
	}
	is_str(words("delete", "1", NULL), "", "one is deleted");
	is_str(words("delete", "1", "2"), "", "two are deleted");
	ok(strstr(words("delete", "1", "x"), "expected a number"), "each needs a number");
	ok(strstr(words("delete", NULL, NULL), "name an incident"), "all are not");
	ok(strstr(words("shew", NULL, NULL), "did you mean: show"), "an unknown action");
	o.help = true;
	is_u64(options_take_incidents(&o, error, sizeof(error)), 0, "but --help is printed");
}

static bool excluded(const char *why)
{
	error[0] = 0;
	return options_incident_check(&o, error, sizeof(error)) == -EINVAL && strstr(error, why);
}

static void test_excluded(void)
{
	begin(CMD_EXPORT);
	o.textfile = "x";
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "a file without --ring");
	o.incident.ring_given = true;
	ok(excluded("add INTERVAL"), "a file that is written once");
	o.interval = 5;
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "a file that is written often");
	o.resident_pattern = "x";
	ok(excluded("--export.resident"), "resident memory");
	o.interval = 0;
	o.incident.ring_off = true;
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "no ring");
	begin(CMD_RECORD);
	o.incident.ring_given = true;
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "record with a ring");
	o.max_bytes = 1;
	ok(excluded("--max-size or --force"), "a maximum size");
	o.max_bytes = 0;
	o.force = true;
	ok(excluded("--max-size or --force"), "a file to overwrite");
	o.incident.ring_given = false;
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "of a recording");
	o.incident.ring_off = true;
	ok(excluded("--ring off"), "record without a ring");
	o.command = CMD_WATCH;
	is_u64(options_incident_check(&o, error, sizeof(error)), 0, "other commands have none");
}

static void test_ring_of_commands(void)
{
	begin(CMD_RECORD);
	ok(!options_has_ring(&o), "record has no ring by default");
	o.incident.ring_given = true;
	ok(options_has_ring(&o), "but on request");
	o.replay = "x";
	ok(!options_has_ring(&o), "a replay has none");
	begin(CMD_EXPORT);
	ok(options_has_ring(&o), "export has one by default");
	o.textfile = "x";
	ok(!options_has_ring(&o), "unless it writes a file once");
	o.interval = 5;
	ok(options_has_ring(&o), "a file that is written often");
	o.resident_pattern = "x";
	ok(!options_has_ring(&o), "not with --export.resident");
	begin(CMD_EXPORT);
	o.incident.ring_off = true;
	ok(!options_has_ring(&o), "--ring off");
	begin(CMD_WATCH);
	o.incident.ring_given = true;
	ok(!options_has_ring(&o), "other commands have none");
}

static void test_values(void)
{
	struct incident_options got;

	begin(CMD_EXPORT);
	o.incident.cause[0] = "a";
	o.incident.cause[1] = "b";
	o.incident.signal = "^job";
	got = options_incident(&o);
	is_u64(got.ring.bytes, 4 << 20, "ring of export: bytes");
	is_u64(got.ring.ns, 900 * SECOND, "ring of export: time");
	is_u64(got.store.count, 50, "incidents to keep");
	is_u64(got.store.bytes, 256 << 20, "bytes to keep");
	is_u64(got.store.age_ns, 30 * 86400 * SECOND, "age to keep");
	is_u64(got.on, INCIDENT_ON_DEFAULT, "triggers");
	is_u64(got.after_ns, 10 * SECOND, "time after a trigger");
	is_u64(got.rest_ns, 3600 * SECOND, "time between equal triggers");
	is_u64(got.per_hour, 12, "incidents per hour");
	is_str(got.signal_pattern, "^job", "workloads whose signals count");
	ok(!strcmp(got.cause[0], "a") && !strcmp(got.cause[1], "b") && !got.cause[2], "causes");
	o.incident.ring_given = true;
	o.incident.ring.ns = SECOND;
	got = options_incident(&o);
	is_u64(got.ring.bytes, 64 << 20, "a time has a maximum of bytes too");
	is_u64(got.ring.ns, SECOND, "the time");
	o.incident.ring.bytes = 5;
	is_u64(options_incident(&o).ring.bytes, 5, "bytes that are given");
}

int main(void)
{
	test_ring();
	test_triggers();
	test_long_lists();
	test_causes();
	test_words();
	test_excluded();
	test_ring_of_commands();
	test_values();
	return tap_done();
}
