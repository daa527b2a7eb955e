// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which counts and limits of a failed call are read from /proc. Files of this test cover
 * those of /proc.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <unistd.h>

#include "collect/counts.h"
#include "own_machine.h"
#include "tap.h"

#define UNKNOWN UINT64_MAX
#define OWNER	1000

static char mountinfo[48]; /* of this process */

static struct counted_objects counted(enum counted_kind what, bool foreign)
{
	struct counted_objects c = {
		.used = UNKNOWN, .limit = UNKNOWN, .what = what, .owner = OWNER};

	counts_complete(&c, getpid(), foreign);
	return c;
}

static void counts_are(const struct counted_objects *c, uint64_t used, uint64_t limit,
		       uint64_t asked, const char *name)
{
	ok(c->used == used && c->limit == limit && c->asked == asked,
	   "%s: %" PRIu64 " of %" PRIu64 ", asked for %" PRIu64, name, (uint64_t)c->used,
	   (uint64_t)c->limit, (uint64_t)c->asked);
}

static void test_keys(void)
{
	static const struct {
		const char *line;
		uint64_t used, limit, asked;
		enum counted_kind what;
	} rows[] = {
		{"1000: 9 8/7 199/200 300/20000", 300, 20000, 0, COUNTED_KEY_BYTES},
		{"1000: 9 8/7 200/200 300/20000", 200, 200, 1, COUNTED_KEYS},
		{"1000: 9 8/7 201/200 300/20000", 201, 200, 1, COUNTED_KEYS},
		{"1000: 9 8/7 199/200 300", UNKNOWN, UNKNOWN, 0, COUNTED_KEYS},
		{"1001: 9 8/7 199/200 300/20000", UNKNOWN, UNKNOWN, 0, COUNTED_KEYS},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct counted_objects c;

		snprintf(text, sizeof(text),
			 "    0: 1 1/1 1000/1000 25/25000\n%s\n  100: 1 1/1 2/3\n", rows[i].line);
		machine_cover("/proc/key-users", text);
		c = counted(COUNTED_KEYS, false);
		counts_are(&c, rows[i].used, rows[i].limit, rows[i].asked, rows[i].line);
		is_u64(c.what, rows[i].what, "what is counted");
	}
}

static void test_settings(void)
{
	struct counted_objects c;

	machine_cover("/proc/sys/fs/aio-nr", "65536\n");
	machine_cover("/proc/sys/fs/aio-max-nr", "65537\n");
	machine_cover("/proc/sys/fs/mount-max", "100000\n");
	machine_cover("/proc/sys/kernel/pid_max", "32768\n");
	c = counted(COUNTED_AIO_REQUESTS, false);
	counts_are(&c, 65536, 65537, 0, "asynchronous requests");
	c = counted(COUNTED_MOUNTS, false);
	counts_are(&c, UNKNOWN, 100000, 0, "mounts");
	c = counted(COUNTED_PIDS, false);
	counts_are(&c, UNKNOWN, 32767, 0, "pids are below the limit of the host");
	c = (struct counted_objects){.used = 5, .limit = 7, .what = COUNTED_PIDS};
	counts_complete(&c, getpid(), false);
	counts_are(&c, 5, 7, 0, "a limit that the kernel told");
	c = (struct counted_objects){
		.used = 5, .limit = UNKNOWN, .what = COUNTED_PIDS, .inside = 1};
	counts_complete(&c, getpid(), false);
	counts_are(&c, 5, UNKNOWN, 0, "a limit of a pid namespace");
	c = (struct counted_objects){.used = 5, .limit = 7, .what = COUNTED_SIGNALS};
	counts_complete(&c, getpid(), false);
	counts_are(&c, 5, 7, 0, "what the kernel counts is not changed");
	machine_cover("/proc/sys/fs/aio-nr", "x\n");
	machine_cover("/proc/sys/kernel/pid_max", "\n");
	c = counted(COUNTED_AIO_REQUESTS, false);
	counts_are(&c, UNKNOWN, 65537, 0, "a file without a number");
	c = counted(COUNTED_PIDS, false);
	counts_are(&c, UNKNOWN, UNKNOWN, 0, "no limit of pids");
}

/* Limits of the network, which the kernel tells since 6.8 only. */
static void test_network(void)
{
	struct counted_objects c;

	if (access("/proc/sys/net/core/optmem_max", F_OK) ||
	    access("/proc/sys/net/ipv6/mld_max_msf", F_OK)) {
		ok(true, "# SKIP the kernel has no such limits");
		return;
	}
	machine_cover("/proc/sys/net/core/optmem_max", "20480\n");
	machine_cover("/proc/sys/net/ipv6/mld_max_msf", "64\n");
	c = counted(COUNTED_OPTION_BYTES, false);
	counts_are(&c, UNKNOWN, 20480, 0, "bytes of options of a socket");
	c = (struct counted_objects){.used = 5, .limit = 7, .what = COUNTED_OPTION_BYTES};
	counts_complete(&c, getpid(), false);
	counts_are(&c, 5, 7, 0, "a limit that the kernel told");
	c = counted(COUNTED_LISTENER_SOURCES, false);
	counts_are(&c, UNKNOWN, 64, 0, "sources of a multicast group");
}

#define MOUNT(type, options) "25 1 0:22 / /mnt/%s rw,nosuid - " type " none " options "\n"

static void test_terminals(void)
{
	static const struct {
		const char *nr, *max, *reserve, *mounts;
		bool foreign;
		uint64_t used, limit, asked;
	} rows[] = {
		/* the reserve is reached */
		{"3071", "4096", "1024", "", false, 3071, 4096, 1025},
		{"4096", "4096", "1024", "", false, 4096, 4096, 1},
		{"4097", "4096", "1024", "", false, 4097, 4096, 1},
		{"4095", "4096", "0", "", true, 4095, 4096, 1},
		{"4094", "4096", "1", "", true, 4094, 4096, 2},
		/* it is not: a mount has a limit */
		{"3070", "4096", "1024", MOUNT("devpts", "rw,mode=600,max=20,ptmxmode=0"), false,
		 UNKNOWN, 20, 1},
		{"3070", "4096", "1024", MOUNT("devpts", "max=21"), false, UNKNOWN, 21, 1},
		{"3070", "4096", "1024", MOUNT("devpts", "rw,max=x,mode=1"), false, UNKNOWN,
		 UNKNOWN, 1},
		{"3070", "4096", "1024", MOUNT("tmpfs", "rw,max=20"), false, UNKNOWN, UNKNOWN, 1},
		{"3070", "4096", "1024",
		 MOUNT("devpts", "rw,max=22") MOUNT("devpts", "rw") MOUNT("tmpfs", "max=9"), false,
		 UNKNOWN, 22, 1},
		{"3070", "4096", "1024", MOUNT("devpts", "max=20"), true, UNKNOWN, UNKNOWN, 1},
		/* settings that cannot be read */
		{"x", "4096", "1024", MOUNT("devpts", "max=20"), false, UNKNOWN, 4096, 1},
		{"10", "x", "1024", MOUNT("devpts", "max=20"), false, 10, UNKNOWN, 1},
		{"10", "4096", "x", MOUNT("devpts", "max=20"), false, 10, 4096, 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct counted_objects c;
		char name[64];

		machine_cover("/proc/sys/kernel/pty/nr", rows[i].nr);
		machine_cover("/proc/sys/kernel/pty/max", rows[i].max);
		machine_cover("/proc/sys/kernel/pty/reserve", rows[i].reserve);
		machine_cover(mountinfo, rows[i].mounts);
		c = counted(COUNTED_PTYS, rows[i].foreign);
		snprintf(name, sizeof(name), "terminals, row %zu", i);
		counts_are(&c, rows[i].used, rows[i].limit, rows[i].asked, name);
	}
}

int main(void)
{
	if (!machine_enter()) {
		ok(true, "# SKIP user namespaces are not permitted");
		return tap_done();
	}
	snprintf(mountinfo, sizeof(mountinfo), "/proc/%d/mountinfo", getpid());
	if (access("/proc/key-users", F_OK))
		ok(true, "# SKIP the kernel has no keys");
	else
		test_keys();
	test_settings();
	test_network();
	test_terminals();
	return tap_done();
}
