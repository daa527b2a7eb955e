// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests small parsers with random inputs, which are put together from words that the parsers know.
 * Each input ends at a page that cannot be read, so that a parser that reads behind the end
 * crashes. The test compares checksums over all results.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/files/file_text.h"
#include "collect/limits/origin_pam.h"
#include "collect/limits/origin_sysctl.h"
#include "collect/limits/origin_unit.h"
#include "collect/limits/origin_user.h"
#include "collect/names/sockets.h"
#include "collect/python/python_lines.h"
#include "fixture.h"
#include "model/kernel_report.h"
#include "model/workload.h"
#include "sums.h"

#define ROUNDS 20000
#define ROOM   4096 /* bytes of an input, at most */

static uint64_t dice = 4711;
static char *room; /* ROOM bytes before a page that cannot be read */

static uint64_t below(uint64_t n)
{
	return roll(&dice) % n;
}

#define ANY(list) (list[below(sizeof(list) / sizeof(list[0]))])

/* Puts random words together, at most ROOM - 1 bytes. Returns the text, whose end is at a page. */
#define words_of(list, most) words_from(list, sizeof(list) / sizeof(list[0]), most)

static struct span words_from(const char *const *list, size_t n, size_t most)
{
	size_t words = below(most + 1), len = 0;
	char text[ROOM];

	for (size_t i = 0; i < words; i++) {
		const char *word = list[below(n)];

		if (len + strlen(word) < ROOM)
			len += snprintf(text + len, ROOM - len, "%s", word);
	}
	memcpy(room + ROOM - len, text, len);
	return (struct span){room + ROOM - len, len};
}

static void mix_span(uint64_t *sum, struct span s)
{
	mix(sum, s.len);
	for (size_t i = 0; i < s.len; i++)
		mix(sum, (unsigned char)s.s[i]);
}

static void mix_line(uint64_t *sum, const struct origin_line *line)
{
	mix(sum, line ? line->line * 2 + line->glob : 99);
	mix_text(sum, line ? line->text : "");
	mix_text(sum, line ? line->value : "");
}

static uint64_t sum_of_numbers(void)
{
	static const char *const words[] = {"0",
					    "1",
					    "9",
					    "65536",
					    "8",
					    "M",
					    "K",
					    "GiB",
					    "k",
					    "0x",
					    "a",
					    "-1",
					    ":",
					    " ",
					    "infinity",
					    "max",
					    "18446744073709551615",
					    "P",
					    "T",
					    "unlimited",
					    "+",
					    "%",
					    "MB",
					    "E"};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		struct span s = words_of(words, 4), left = {}, right = {};
		uint64_t soft = 7, hard = 8, number = 9;

		mix(&sum, text_number(s, &number));
		mix(&sum, number);
		mix(&sum, text_pair(s, &soft, &hard));
		mix(&sum, soft ^ hard << 1);
		mix(&sum, text_split(s, ':', &left, &right));
		mix_span(&sum, left);
		mix_span(&sum, right);
		mix_span(&sum, text_trim(s));
	}
	return sum;
}

static uint64_t sum_of_proc_files(void)
{
	static const char *const words[] = {"Max open files",
					    "            ",
					    "1024",
					    "unlimited",
					    "\n",
					    " ",
					    "files\n",
					    "Max processes",
					    "PPid",
					    ":",
					    "\t",
					    "Name:\tx\n",
					    "PPid:\t12\n",
					    "Max open files  1024  4096  files\n",
					    "Uid"};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < ROUNDS; i++) {
		struct span s = words_of(words, 12), value = {};
		uint64_t soft = 1, hard = 2;

		mix(&sum, text_rlimit(s, "Max open files", &soft, &hard));
		mix(&sum, soft ^ hard << 1);
		mix(&sum, text_status(s, "PPid", &value));
		mix_span(&sum, value);
	}
	return sum;
}

static uint64_t sum_of_sysctls(void)
{
	static const char *const words[] = {"vm.max_map_count",
					    "vm/max_map_count",
					    "=",
					    " = ",
					    "65530",
					    "\n",
					    "-",
					    "*",
					    "vm.*",
					    "?",
					    "#",
					    ";",
					    "\n",
					    "70000\n",
					    " ",
					    "x",
					    "sysctl.",
					    "sysctl.vm.max_map_count=1 ",
					    "\""};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < ROUNDS; i++) {
		struct sysctl_setting set = {.key = "vm/max_map_count"};
		struct origin_line line = {};
		struct span s = words_of(words, 14);

		sysctl_scan(&set, "f", s);
		mix_line(&sum, sysctl_line(&set));
		mix(&sum, set.excluded);
		mix(&sum, sysctl_scan_boot("vm/max_map_count", s, &line));
		mix_line(&sum, &line);
	}
	return sum;
}

static uint64_t sum_of_units(void)
{
	static const char *const words[] = {"[Service]\n",
					    "[Unit]\n",
					    "LimitNOFILE",
					    "=",
					    "1024",
					    "\n",
					    "\n",
					    ":",
					    "4096",
					    " \\\n",
					    "#",
					    ";",
					    " ",
					    "LimitNOFILE=5\n",
					    "LimitNPROC=6\n",
					    "[Slice]",
					    "infinity"};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < ROUNDS; i++) {
		struct unit_limit u = {.key = "LimitNOFILE"};

		unit_scan(&u, "f", words_of(words, 14));
		mix_line(&sum, &u.line);
	}
	return sum;
}

static uint64_t sum_of_logins(void)
{
	static const char *const names[] = {"ann",
					    ":",
					    "x",
					    ":",
					    "1000",
					    ":",
					    "1001",
					    "\n",
					    "root:x:0:0::/:/x\n",
					    "ann:x:1000:1001:A:/home/ann:/bin/sh\n",
					    "dev:x:50:bob,ann\n",
					    ","};
	static const char *const words[] = {"ann",
					    "*",
					    "@",
					    "dev",
					    " ",
					    " ",
					    "soft",
					    "hard",
					    "-",
					    " ",
					    "nofile",
					    " ",
					    "1",
					    "2",
					    "\n",
					    "\n",
					    "#",
					    "1000:",
					    ":1001",
					    "%",
					    "ann - nofile 9\n",
					    "@dev hard nofile 8\n",
					    "root"};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < ROUNDS; i++) {
		struct user u = {.uid = below(2) * 1000, .gid = 1001};
		struct pam_limit p = {.user = &u, .item = "nofile"};

		user_scan(&u, words_of(names, 12));
		user_scan_groups(&u, words_of(names, 12));
		mix_text(&sum, u.name);
		mix_text(&sum, u.home);
		mix(&sum, u.gid);
		for (size_t k = 0; k < u.groups; k++) {
			mix_text(&sum, u.group[k].name);
			mix(&sum, u.group[k].gid);
		}
		pam_scan(&p, "f", words_of(words, 20));
		mix_line(&sum, &p.soft);
		mix_line(&sum, &p.hard);
		mix(&sum, p.soft_rank * 100 + p.hard_rank);
	}
	return sum;
}

static uint64_t sum_of_cgroups(void)
{
	static const char *const words[] = {
		"/",
		"/",
		"system.slice",
		"user.slice",
		"user-1000.slice",
		"user@1000.service",
		"b.service",
		"docker-",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		".scope",
		"libpod-",
		"crio-",
		"cri-containerd-",
		"kubepods.slice",
		"kubepods",
		"besteffort",
		"pod",
		"01234567-89ab-cdef-0123-456789abcdef",
		"01234567_89ab_cdef_0123_456789abcdef",
		"lxc",
		"lxc.payload.",
		"machine-x\\x2dy.scope",
		"init.scope",
		"session-3.scope",
		"docker",
		".slice",
		"inner",
		"app.slice",
		"kubepods-pod",
		"machine.slice",
		"\\x2d",
		"\\x00",
		"garden",
		"ecs",
		"actions_job"};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		struct span s = words_of(words, 12);
		char path[ROOM];
		struct workload w;

		text_copy(s, path, sizeof(path));
		workload_of(path, &w);
		mix(&sum, w.runtime | w.unit_inside << 8 | w.user_manager << 9 | w.kubepods << 10 |
				  w.delegated << 11 | w.of_user << 12);
		mix(&sum, w.uid);
		mix_text(&sum, w.container);
		mix_text(&sum, w.pod);
		mix_text(&sum, w.unit);
		mix(&sum, is_unit(path, "service") | is_unit(path, "scope") << 1);
	}
	return sum;
}

static uint64_t sum_of_sockets(void)
{
	static const char *const words[] = {
		"sl local_address rem_address st tx_queue rx_queue tr tm->when retrnsmt uid "
		"timeout inode\n",
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 "
		"       0 12345 1\n",
		"   1: 0100007F:0016 0200007F:01BB 01 00000000:00000000 00:00000000 00000000     0 "
		"       0 777 1\n",
		"   2: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 "
		"0A "
		"00000000:00000000 00:00000000 00000000     0        0 778 1\n",
		"Num RefCount Protocol Flags Type St Inode Path\n",
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/x.sock\n",
		"0000000000000000: 00000003 00000000 00000000 0002 03 777 @abstract\n",
		"0000000000000000: 00000003 00000000 00000000 0005 03 778\n",
		"\n",
		" ",
		":",
		"x",
		"12345 "};
	static const char *const files[] = {"tcp",  "tcp6", "udp",     "udp6",
					    "unix", "raw",  "netlink", "packet"};
	static const uint64_t inodes[] = {0, 777, 778, 12345};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < ROUNDS; i++) {
		struct span s = words_of(words, 8);
		const char *file = ANY(files);
		FILE *f = s.len ? fmemopen((void *)s.s, s.len, "r") : NULL;
		struct sockets sockets = {};

		if (!f)
			continue;
		sockets_parse(&sockets, file, f);
		fclose(f);
		for (size_t k = 0; k < sizeof(inodes) / sizeof(inodes[0]); k++)
			mix_text(&sum, sockets_find(&sockets, inodes[k]) ?: "-");
		sockets_free(&sockets);
	}
	return sum;
}

static uint64_t sum_of_python_lines(void)
{
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		size_t bytes = below(40);
		struct python_lines l = {.bytes = bytes,
					 .table = (const __u8 *)room + ROOM - bytes};

		l.minor = 8 + below(7);
		l.first_line = below(300);
		for (size_t k = 0; k < bytes; k++)
			room[ROOM - bytes + k] = below(3) ? below(256) : 0x80 | below(128);
		for (uint64_t offset = 0; offset < 64; offset += 1 + below(6))
			mix(&sum, python_line(&l, offset));
	}
	return sum;
}

static uint64_t sum_of_reports(void)
{
	static const char *const words[] = {
		"BUG: KASAN: slab-use-after-free in nic_poll+0x12/0x90 [nic]",
		"WARNING: CPU: 1 PID: 7 at ",
		"fs/ext4/inode.c:12 ",
		"ext4_x+0x1/0x2 [ext4]",
		"BUG: unable to handle page fault for address: 18",
		"RIP: 0010:",
		"nic_poll+0x12/0x90",
		" [nic]",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 23s!",
		"INFO: task proc:7 blocked for more than 120 seconds.",
		"BUG: KFENCE: out-of-bounds read in f+0x1",
		"UBSAN: array-index-out-of-bounds in drivers/x.c:1:2",
		"pc : ",
		"Oops: 0002 [#1] SMP",
		" ",
		"]",
		"[",
		"kernel BUG at mm/slab.c:1!",
		"Internal error: Oops: 96000004 [#1]",
		"\t",
		"general protection fault"};
	struct pending_report pending = {};
	uint64_t sum = SUM_BEGINS;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		struct report_record r = RECORD(report_record, RECORD_REPORT, i * (SECOND / 8));
		struct kernel_report found[2] = {};
		int n;

		text_copy(words_of(words, 3), r.line, sizeof(r.line));
		n = kernel_report_take(&pending, &r, found);
		mix(&sum, n);
		for (int k = 0; k < n; k++) {
			mix(&sum, found[k].kind);
			mix_text(&sum, found[k].module);
		}
		mix(&sum, pending.is);
		if (!below(5) &&
		    kernel_report_expire(&pending, r.h.t_ns + below(20) * SECOND / 4, found)) {
			mix(&sum, found[0].kind);
			mix_text(&sum, found[0].module);
		}
	}
	return sum;
}

int main(void)
{
	struct sum sums[] = {
		{"numbers of limits", 0, 0x47e59c72332f2b31},
		{"limits and status of processes", 0, 0xe0bbbf30492995a9},
		{"sysctl files", 0, 0x6627dd1af1fc585c},
		{"units", 0, 0x9a3fd36bbcd212d2},
		{"users, groups and limits.conf", 0, 0x924628ad7b24bfc8},
		{"paths of cgroups", 0, 0xc357157d8d1343a5},
		{"lists of sockets", 0, 0x243ccdb6e65ef3ee},
		{"line tables of Python", 0, 0x0faa92761900ed7a},
		{"reports in the kernel log", 0, 0xb1451d0193021a82},
	};
	static uint64_t (*const sum_of[])(void) = {
		sum_of_numbers, sum_of_proc_files,   sum_of_sysctls,
		sum_of_units,	sum_of_logins,	     sum_of_cgroups,
		sum_of_sockets, sum_of_python_lines, sum_of_reports};
	long page = sysconf(_SC_PAGESIZE);

	room = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED || ROOM % page || mprotect(room + ROOM, page, PROT_NONE))
		abort();
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		sums[i].got = sum_of[i]();
	are_sums(sums, sizeof(sums) / sizeof(sums[0]));
	return tap_done();
}
