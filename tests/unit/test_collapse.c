// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which parts of names of pods and units count as variable, at the bounds of their lengths.
 */
#include "model/collapse.h"
#include "tap.h"

#define REPLICAS  COLLAPSE_REPLICAS
#define JOBS	  COLLAPSE_JOBS
#define TRANSIENT COLLAPSE_TRANSIENT
#define INSTANCES COLLAPSE_INSTANCES

static const struct {
	const char *what, *pod;
	unsigned int collapse;
	const char *name;
} pods[] = {
	{"a suffix of five random characters", "cart-x2x9v", REPLICAS, "cart"},
	{"of four", "cart-x2x9", REPLICAS, "cart-x2x9"},
	{"of six", "cart-x2x9vb", REPLICAS, "cart-x2x9vb"},
	{"with a character that is never random", "cart-x2x9a", REPLICAS, "cart-x2x9a"},
	{"it stays with jobs alone", "cart-x2x9v", JOBS, "cart-x2x9v"},
	{"and with what is for units", "cart-x2x9v", TRANSIENT | INSTANCES, "cart-x2x9v"},
	{"a hash of four characters", "cart-45bc-x2x9v", REPLICAS, "cart"},
	{"of three", "cart-45b-x2x9v", REPLICAS, "cart-45b"},
	{"of ten", "cart-456789bcdf-x2x9v", REPLICAS, "cart"},
	{"of eleven", "cart-456789bcdf4-x2x9v", REPLICAS, "cart-456789bcdf4"},
	{"a word of such letters is none", "cart-bcdf-x2x9v", REPLICAS, "cart-bcdf"},
	{"a name that is a hash alone", "-45bc-x2x9v", REPLICAS, "-45bc"},
	{"a time of eight digits", "dump-29231040-x2x9v", JOBS, "dump"},
	{"that begins with 1", "dump-19231040-x2x9v", JOBS, "dump"},
	{"that begins with 3", "dump-39231040-x2x9v", JOBS | REPLICAS, "dump-39231040"},
	{"of seven", "dump-2923104-x2x9v", JOBS | REPLICAS, "dump-2923104"},
	{"of ten", "dump-1607817600-x2x9v", JOBS, "dump"},
	{"of eleven", "dump-16078176000-x2x9v", JOBS | REPLICAS, "dump-16078176000"},
	{"a time stays without the flag", "dump-29231040-x2x9v", REPLICAS, "dump-29231040"},
	{"no time, jobs alone", "dump-2923104-x2x9v", JOBS, "dump-2923104-x2x9v"},
};

static const struct {
	const char *what, *unit;
	unsigned int collapse;
	const char *name;
} units[] = {
	{"16 hex digits", "a-0123456789abcdef.service", TRANSIENT, "a-#.service"},
	{"15", "a-0123456789abcde.service", TRANSIENT, "a-0123456789abcde.service"},
	{"16 letters", "a-abcdefabcdefabcd.service", TRANSIENT, "a-abcdefabcdefabcd.service"},
	{"one digit is enough", "a-abcdefabcdefabc1.service", TRANSIENT, "a-#.service"},
	{"within a word", "x0123456789abcdef.service", TRANSIENT, "x0123456789abcdef.service"},
	{"a UUID", "a-11111111-2222-3333-4444-555555555555.service", TRANSIENT, "a-#.service"},
	{"as systemd writes it", "a-11111111_2222_3333_4444_555555555555.service", TRANSIENT,
	 "a-#.service"},
	{"one digit too few", "a-11111111-2222-3333-4444-55555555555.service", TRANSIENT,
	 "a-11111111-2222-3333-4444-55555555555.service"},
	{"a dash is missing", "a-11111111-2222-3333x4444-555555555555.service", TRANSIENT,
	 "a-11111111-2222-3333x4444-555555555555.service"},
	{"a name of D-Bus", "dbus-:1.42-x.service", TRANSIENT, "dbus-#-x.service"},
	{"of one digit", "dbus-:1.4.service", TRANSIENT, "dbus-#.service"},
	{"without its number", "dbus-:1.-x.service", TRANSIENT, "dbus-:1.-x.service"},
	{"without its dot", "dbus-:142-x.service", TRANSIENT, "dbus-:142-x.service"},
	{"an instance that counts", "a@3-4-5.service", TRANSIENT, "a@#.service"},
	{"one that counts connections", "a@3-10.0.0.1:22.service", TRANSIENT, "a@#.service"},
	{"one with an address alone", "a@3-10.0.0.1.service", TRANSIENT, "a@3-10.0.0.1.service"},
	{"nothing after the number", "a@3-.service", TRANSIENT, "a@3-.service"},
	{"a number alone", "a@3.service", TRANSIENT, "a@3.service"},
	{"no number", "a@-4-5.service", TRANSIENT, "a@-4-5.service"},
	{"all instances", "a@3.service", INSTANCES, "a@#.service"},
	{"a type of 15 bytes", "a@b.abcdefghijklmn", INSTANCES, "a@#.abcdefghijklmn"},
	{"one that is longer is none", "a@b.abcdefghijklmno", INSTANCES, "a@#"},
	{"no type", "a@b", INSTANCES, "a@#"},
	{"a command of systemd-run", "run-u1.service", TRANSIENT, "run-#.service"},
	{"without a number", "run-.service", TRANSIENT, "run-.service"},
	{"with other letters", "run-u1x.service", TRANSIENT, "run-u1x.service"},
	{"a word that begins alike", "runu1.service", TRANSIENT, "runu1.service"},
	{"the pid of a scope", "a-1.scope", TRANSIENT, "a-#.scope"},
	{"no pid", "a-.scope", TRANSIENT, "a-.scope"},
	{"a pid and more", "a-12b.scope", TRANSIENT, "a-12b.scope"},
	{"the last number alone", "a-12-13.scope", TRANSIENT, "a-12-#.scope"},
	{"no dash", "a12.scope", TRANSIENT, "a12.scope"},
	{"a service has no pid", "a-12.service", TRANSIENT, "a-12.service"},
	{"nothing is wanted", "a-12.scope", REPLICAS | JOBS, "a-12.scope"},
	{"nothing of a service", "run-u1.service", 0, "run-u1.service"},
};

int main(void)
{
	char name[64], small[8];

	for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
		pod_collapse(pods[i].pod, pods[i].collapse, name, sizeof(name));
		is_str(name, pods[i].name, pods[i].what);
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		unit_collapse(units[i].unit, units[i].collapse, name, sizeof(name));
		is_str(name, units[i].name, units[i].what);
	}
	pod_collapse("abcdefghi", REPLICAS, small, sizeof(small));
	is_str(small, "abcdefg", "a name of a pod that does not fit is cut");
	unit_collapse("a-12345.scope", TRANSIENT, small, sizeof(small));
	is_str(small, "a-#.sco", "and so is one of a unit");
	return tap_done();
}
