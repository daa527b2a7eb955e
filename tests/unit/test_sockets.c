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

int main(void)
{
	test_tcp();
	test_others();
	test_hostile();
	sockets_free(&s);
	ok(!s.n && !sockets_find(&s, 1001), "freed");
	sockets_read(&s, getpid());
	sockets_free(&s);
	return tap_done();
}
