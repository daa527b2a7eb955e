// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/names/sockets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SOCKETS_MAX    131072
#define EPHEMERAL_PORT 32768 /* ports from this number on are mostly chosen by the kernel */

/* names of TCP states, in the order of include/net/tcp_states.h */
static const char *const states[] = {"",	   "ESTABLISHED", "SYN_SENT",  "SYN_RECV",
				     "FIN_WAIT1",  "FIN_WAIT2",	  "TIME_WAIT", "CLOSE",
				     "CLOSE_WAIT", "LAST_ACK",	  "LISTEN",    "CLOSING"};

static void add(struct sockets *s, uint64_t inode, const char *text)
{
	struct socket_label *label;

	if (!inode)
		return; /* a socket in TIME_WAIT belongs to no process */
	label = array_grow(s->label, s->n, &s->room, SOCKETS_MAX, sizeof(*label));
	if (!label) {
		s->cut = 1;
		return;
	}
	s->label = label;
	s->label[s->n].inode = inode;
	snprintf(s->label[s->n].text, sizeof(s->label[0].text), "%s", text);
	s->n++;
}

/* Formats an address of 8 or 32 hex digits: 32-bit words in host byte order, as "0100007F". */
static int address_of(const char *hex, char *ret, size_t size)
{
	uint32_t word[4] = {};
	size_t words = strspn(hex, "0123456789ABCDEF") / 8;

	if (words != 1 && words != 4)
		return -1;
	for (size_t i = 0; i < words; i++)
		if (sscanf(hex + i * 8, "%8" SCNx32, &word[i]) != 1)
			return -1;
	if (words == 4 && !word[0] && !word[1] && word[2] == htonl(0xffff))
		return inet_ntop(AF_INET, &word[3], ret, size) ? 0 : -1;
	return inet_ntop(words == 1 ? AF_INET : AF_INET6, word, ret, size) ? 0 : -1;
}

/*
 * Adds a line of net/tcp or net/udp. The label has the remote address and port. If the remote port
 * is ephemeral (chosen by the kernel), the label has the local port instead. If both ports are
 * ephemeral, the label has only the remote address, because pairs of such ports rarely repeat.
 */
static void add_inet(struct sockets *s, const char *line, const char *protocol)
{
	char local[40], remote[40], address[INET6_ADDRSTRLEN], text[72];
	unsigned int local_port, remote_port, state;
	uint64_t inode;

	if (sscanf(line, " %*u: %39[0-9A-F]:%X %39[0-9A-F]:%X %X %*s %*s %*s %*s %*s %" SCNu64,
		   local, &local_port, remote, &remote_port, &state, &inode) != 6)
		return;
	if (state >= sizeof(states) / sizeof(states[0]) || !strncmp(protocol, "udp", 3))
		state = 0;
	if (remote_port && (remote_port < EPHEMERAL_PORT || local_port >= EPHEMERAL_PORT) &&
	    !address_of(remote, address, sizeof(address)))
		snprintf(text, sizeof(text),
			 remote_port < EPHEMERAL_PORT ? "%s %s%sto %s:%u" : "%s %s%sto %s",
			 protocol, states[state], state ? " " : "", address, remote_port);
	else
		snprintf(text, sizeof(text), "%s %s%son port %u", protocol, states[state],
			 state ? " " : "", local_port);
	add(s, inode, text);
}

/* Adds a line "Num: RefCount Protocol Flags Type St Inode Path". Only bound sockets have a path. */
static void add_unix(struct sockets *s, const char *line, const char *protocol)
{
	char text[72], path[64] = "";
	uint64_t inode;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 " %63s", &inode, path) < 1)
		return;
	snprintf(text, sizeof(text), "%s%s%.60s", protocol, *path ? " " : "", path);
	add(s, inode, text);
}

static void add_netlink(struct sockets *s, const char *line, const char *protocol)
{
	uint64_t inode;

	if (sscanf(line, "%*x %*u %*u %*x %*u %*u %*u %*u %*u %" SCNu64, &inode) == 1)
		add(s, inode, protocol);
}

static int by_inode(const void *a, const void *b)
{
	const struct socket_label *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static const struct table {
	const char *file, *protocol;
	void (*add)(struct sockets *s, const char *line, const char *protocol);
} tables[] = {
	{"tcp", "tcp", add_inet},  {"tcp6", "tcp", add_inet},  {"udp", "udp", add_inet},
	{"udp6", "udp", add_inet}, {"unix", "unix", add_unix}, {"netlink", "netlink", add_netlink},
};
#define NR_TABLES (sizeof(tables) / sizeof(tables[0]))

static void read_table(struct sockets *s, const struct table *t, FILE *f)
{
	char line[512];

	while (fgets(line, sizeof(line), f))
		t->add(s, line, t->protocol);
}

static void sort(struct sockets *s)
{
	if (s->n)
		qsort(s->label, s->n, sizeof(s->label[0]), by_inode);
}

void sockets_parse(struct sockets *s, const char *file, FILE *f)
{
	for (size_t i = 0; i < NR_TABLES; i++)
		if (!strcmp(tables[i].file, file))
			read_table(s, &tables[i], f);
	sort(s);
}

void sockets_read(struct sockets *s, uint32_t pid)
{
	char path[48];

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < NR_TABLES; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, tables[i].file);
		f = fopen(path, "re");
		if (!f)
			continue;
		read_table(s, &tables[i], f);
		fclose(f);
	}
	sort(s);
}

const char *sockets_find(const struct sockets *s, uint64_t inode)
{
	struct socket_label key = {.inode = inode}, *found;

	found = s->n ? bsearch(&key, s->label, s->n, sizeof(key), by_inode) : NULL;
	return found ? found->text : NULL;
}

void sockets_free(struct sockets *s)
{
	free(s->label);
	memset(s, 0, sizeof(*s));
}
