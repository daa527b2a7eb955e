// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that sockets are found in the tables of /proc/PID/net by their inode number. */
#include <stdlib.h>
#include <unistd.h>

#include "collect/names/sockets.h"
#include "tap.h"

#define TCP_HEAD                                                                                   \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"

static struct sockets s;

static void parse(const char *file, const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");

	if (!f)
		abort();
	sockets_parse(&s, file, f);
	fclose(f);
}

static void test_tcp(void)
{
	parse("tcp", TCP_HEAD
	      "   0: 0100007F:0277 00000000:0000 0A 00000000:00000000 00:00000000 00000000 "
	      "    0        0 1001 1 0000000000000000 100 0 0 10 0\n"
	      "   1: 0500040A:D431 0900040A:18EB 08 00000000:00000000 00:00000000 00000000 "
	      " 1000        0 1002 1 0000000000000000 20 4 30 10 -1\n"
	      "   2: 0500040A:0050 0900040A:D431 01 00000000:00000000 00:00000000 00000000 "
	      " 1000        0 1003 1 0000000000000000 20 4 30 10 -1\n"
	      "   4: 0500040A:D435 0900040A:D434 08 00000000:00000000 00:00000000 00000000 "
	      " 1000        0 1004 1 0000000000000000 20 4 30 10 -1\n"
	      "   3: 0500040A:0050 0900040A:D432 06 00000000:00000000 03:00000F3C 00000000 "
	      "    0        0 0 3 0000000000000000\n");
	is_str(sockets_find(&s, 1001), "tcp LISTEN on port 631", "one that listens");
	is_str(sockets_find(&s, 1002), "tcp CLOSE_WAIT to 10.4.0.9:6379",
	       "a client's, by where it goes to");
	is_str(sockets_find(&s, 1003), "tcp ESTABLISHED on port 80", "a server's, by its own port");
	is_str(sockets_find(&s, 1004), "tcp CLOSE_WAIT to 10.4.0.9",
	       "where neither port was chosen, by the address alone");
	ok(!sockets_find(&s, 0), "in TIME_WAIT: nobody's");
	ok(!sockets_find(&s, 9999), "not there");
}

static void test_others(void)
{
	parse("tcp6",
	      "   0: 00000000000000000000000001000000:1F90 00000000000000000000000000000000:0000 "
	      "0A "
	      "00000000:00000000 00:00000000 00000000     0        0 2001 1 0000000000000000 100 "
	      "0\n"
	      "   1: 0000000000000000FFFF00000500040A:D431 0000000000000000FFFF00000900040A:01BB "
	      "01 "
	      "00000000:00000000 00:00000000 00000000     0        0 2002 1 0000000000000000 20 4\n"
	      "   2: 000080FE00000000FFFFFFFF01000000:D431 B80D01200000000000000000000000AB:01BB "
	      "01 "
	      "00000000:00000000 00:00000000 00000000     0        0 2003 1 0000000000000000 20 "
	      "4\n");
	is_str(sockets_find(&s, 2001), "tcp LISTEN on port 8080", "IPv6");
	is_str(sockets_find(&s, 2002), "tcp ESTABLISHED to 10.4.0.9:443", "IPv4 within IPv6");
	is_str(sockets_find(&s, 2003), "tcp ESTABLISHED to 2001:db8::ab00:0:443",
	       "an address of IPv6");
	parse("udp",
	      "  12: 00000000:0044 00000000:0000 07 00000000:00000000 00:00000000 00000000   "
	      "  0        0 3001 2 0000000000000000 0\n");
	is_str(sockets_find(&s, 3001), "udp on port 68", "UDP has no states");
	parse("unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"
		      "0000000000000000: 00000002 00000000 00010000 0001 01 4001 /run/dbus/socket\n"
		      "0000000000000000: 00000003 00000000 00000000 0001 03 4002\n"
		      "0000000000000000: 00000002 00000000 00000000 0002 01 4003 @abstract\n");
	is_str(sockets_find(&s, 4001), "unix /run/dbus/socket", "a bound one by its path");
	is_str(sockets_find(&s, 4002), "unix", "an unbound one");
	is_str(sockets_find(&s, 4003), "unix @abstract", "an abstract one");
	parse("netlink",
	      "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    "
	      "Inode\n0000000000000000 0   1234       00000000 0        0        0     2        0  "
	      "      "
	      "5001\n");
	is_str(sockets_find(&s, 5001), "netlink", "netlink");
	is_str(sockets_find(&s, 1001), "tcp LISTEN on port 631", "what was there is found yet");
}

static void test_hostile(void)
{
	static const char *const files[] = {"tcp", "tcp6", "udp", "unix", "netlink", "other"};
	unsigned int seed = 3;
	char text[2000];
	size_t before = s.n;

	parse("tcp", "\n: \n0:\n0: 0:0 0:0\n   0: FF:FFFFFFFFFFFFFFFFF 0:0 FF\n"
		     "   0: 0100007F:0277 0100007F:0050 FF 0:0 0:0 0 0 0 6001\n");
	is_str(sockets_find(&s, 6001), "tcp to 127.0.0.1:80", "a state that there is not");
	is_u64(s.n, before + 1, "lines that are none");
	for (int i = 0; i < 20000; i++) {
		size_t n = 1 + rand_r(&seed) % (sizeof(text) - 2);

		for (size_t k = 0; k < n; k++)
			text[k] = " 0:AF\n%x/@19"[rand_r(&seed) % 12];
		text[n] = 0;
		parse(files[i % 6], text);
	}
	ok(s.n <= 131072 && sockets_find(&s, 1001), "random lines");
}

/* Adds a TCP socket of 10.4.0.5 that is connected to 10.4.0.9. */
static void parse_ports(struct sockets *to, const char *file, unsigned int local,
			unsigned int remote, unsigned int state)
{
	char line[256];
	FILE *f;

	snprintf(line, sizeof(line),
		 "   1: 0500040A:%04X 0900040A:%04X %02X 00000000:00000000 00:00000000 00000000 "
		 "    0        0 77 1\n",
		 local, remote, state);
	f = fmemopen(line, strlen(line), "r");
	if (!f)
		abort();
	sockets_parse(to, file, f);
	fclose(f);
}

/* The kernel mostly chooses ports from 32,768 on: such a port says nothing about a service. */
static void test_ports(void)
{
	static const struct {
		const char *file;
		unsigned int local, remote, state;
		const char *want;
	} rows[] = {
		{"tcp", 32768, 32767, 1, "tcp ESTABLISHED to 10.4.0.9:32767"},
		{"tcp", 32767, 32767, 1, "tcp ESTABLISHED to 10.4.0.9:32767"},
		{"tcp", 32768, 32768, 1, "tcp ESTABLISHED to 10.4.0.9"},
		{"tcp", 32767, 32768, 1, "tcp ESTABLISHED on port 32767"},
		{"tcp", 32768, 1, 1, "tcp ESTABLISHED to 10.4.0.9:1"},
		{"tcp", 32768, 0, 1, "tcp ESTABLISHED on port 32768"},
		{"udp", 32768, 53, 1, "udp to 10.4.0.9:53"},
		{"udp6", 32768, 32768, 7, "udp to 10.4.0.9"},
		{"tcp6", 80, 40000, 11, "tcp CLOSING on port 80"},
		{"tcp", 80, 40000, 12, "tcp on port 80"},
		{"tcp", 80, 40000, 0, "tcp on port 80"},
		{"tcp", 80, 40000, 2, "tcp SYN_SENT on port 80"},
		{"tcp", 80, 40000, 3, "tcp SYN_RECV on port 80"},
		{"tcp", 80, 40000, 4, "tcp FIN_WAIT1 on port 80"},
		{"tcp", 80, 40000, 5, "tcp FIN_WAIT2 on port 80"},
		{"tcp", 80, 40000, 6, "tcp TIME_WAIT on port 80"},
		{"tcp", 80, 40000, 7, "tcp CLOSE on port 80"},
		{"tcp", 80, 40000, 9, "tcp LAST_ACK on port 80"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sockets one = {};

		parse_ports(&one, rows[i].file, rows[i].local, rows[i].remote, rows[i].state);
		is_str(sockets_find(&one, 77), rows[i].want, rows[i].want);
		sockets_free(&one);
	}
}

#define LINE(remote) "0: 0500040A:D431 " remote ":0050 01 0:0 0:0 0 0 0 77\n"

/* An address has one or four words; others are not shown. */
static void test_addresses(void)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{LINE("0900040A"), "tcp ESTABLISHED to 10.4.0.9:80"},
		{LINE("0900040"), "tcp ESTABLISHED on port 54321"},
		{LINE("0900040A0900040A"), "tcp ESTABLISHED on port 54321"},
		{LINE("0900040A0900040A0900040A"), "tcp ESTABLISHED on port 54321"},
		{LINE("0000000000000000FFFF00000900040A"), "tcp ESTABLISHED to 10.4.0.9:80"},
		{LINE("0000000001000000FFFF00000900040A"),
		 "tcp ESTABLISHED to ::1:0:ffff:a04:9:80"},
		{LINE("0100000000000000FFFF00000900040A"), "tcp ESTABLISHED to 0:1::ffff:a04:9:80"},
		{LINE("0000000000000000FFFE00000900040A"), "tcp ESTABLISHED to ::feff:a04:9:80"},
		{LINE("00000000000000000000000001000000"), "tcp ESTABLISHED to ::1:80"},
		{"0: 0500040A:D431 0900040A:0050 01 0:0 0:0 0 0 0\n", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sockets one = {};
		FILE *f = fmemopen((void *)rows[i].line, strlen(rows[i].line), "r");

		if (!f)
			abort();
		sockets_parse(&one, "tcp", f);
		fclose(f);
		is_str(sockets_find(&one, 77), rows[i].want,
		       rows[i].want ? rows[i].want : "no inode");
		sockets_free(&one);
	}
}

#define TEN "abcdefghij"

/* A label has the first 60 bytes of the path of a socket. */
static void test_paths(void)
{
	struct sockets one = {};
	char text[] = "0: 0 0 0 0 0 1 " TEN TEN TEN TEN TEN TEN "\n"
		      "0: 0 0 0 0 0 2 " TEN TEN TEN TEN TEN TEN "x\n"
		      "0: 0 0 0 0 0 3 " TEN TEN TEN TEN TEN TEN TEN "\n"
		      "0: 0 0 0 0 0 0 /of/no/inode\n"
		      "0: 0 0 0 0 0\n"
		      "0: 0 0 0 0 0 x /no/number\n";
	FILE *f = fmemopen(text, strlen(text), "r");

	if (!f)
		abort();
	sockets_parse(&one, "unix", f);
	fclose(f);
	is_u64(one.n, 3, "sockets with an inode");
	is_str(sockets_find(&one, 1), "unix " TEN TEN TEN TEN TEN TEN, "a path of 60 bytes");
	is_str(sockets_find(&one, 2), "unix " TEN TEN TEN TEN TEN TEN, "a longer one is cut");
	is_str(sockets_find(&one, 3), "unix " TEN TEN TEN TEN TEN TEN, "one of 70 bytes too");
	sockets_free(&one);
}

#define SOCKETS_MOST 131072

/* Sockets that find no room are left out, and the list says so. */
static void test_most(void)
{
	struct sockets all = {};
	char *text = malloc(SOCKETS_MOST * 24), more[] = "0: 0 0 0 0 0 999999\n";
	size_t n = 0;
	FILE *f;

	if (!text)
		abort();
	for (int i = SOCKETS_MOST; i; i--)
		n += sprintf(text + n, "0: 0 0 0 0 0 %d\n", i);
	f = fmemopen(text, n, "r");
	sockets_parse(&all, "unix", f);
	fclose(f);
	ok(all.n == SOCKETS_MOST && !all.cut, "as many sockets as there is room for");
	ok(sockets_find(&all, 1) && sockets_find(&all, SOCKETS_MOST), "the first and the last");
	f = fmemopen(more, strlen(more), "r");
	sockets_parse(&all, "unix", f);
	fclose(f);
	ok(all.n == SOCKETS_MOST && all.cut, "one more is left out");
	ok(!sockets_find(&all, 999999), "and not found");
	sockets_free(&all);
	free(text);
}

int main(void)
{
	test_tcp();
	test_others();
	test_hostile();
	test_ports();
	test_addresses();
	test_paths();
	test_most();
	sockets_free(&s);
	ok(!s.n && !sockets_find(&s, 1001), "freed");
	sockets_read(&s, getpid());
	sockets_free(&s);
	return tap_done();
}
