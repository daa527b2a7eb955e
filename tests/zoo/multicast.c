/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of multicast groups: their number, the sources of one group, and the memory that both
 * need. Each case has a network namespace of its own.
 */
#include "zoo.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <sys/socket.h>

#define OPTMEM	    "/proc/sys/net/core/optmem_max"
#define MEMBERSHIPS "/proc/sys/net/ipv4/igmp_max_memberships"
#define SOURCES	    "/proc/sys/net/ipv4/igmp_max_msf"
#define SOURCES6    "/proc/sys/net/ipv6/mld_max_msf"
#define FEW	    3
#define MANY	    200
#define LOOPBACK    1 /* index of the interface lo in a new network namespace */

static int sock;

static void open_socket(int family)
{
	if (unshare(CLONE_NEWNET))
		skip("no network namespaces: %s", strerror(errno));
	sock = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		skip("socket: %s", strerror(errno));
}

static struct group_source_req by_group;

static void name_by_group(int family, int n)
{
	struct sockaddr_in *group = (void *)&by_group.gsr_group;
	struct sockaddr_in *from = (void *)&by_group.gsr_source;
	struct sockaddr_in6 *group6 = (void *)group, *from6 = (void *)from;

	by_group = (struct group_source_req){ .gsr_interface = LOOPBACK };
	if (family == AF_INET) {
		group->sin_family = from->sin_family = AF_INET;
		group->sin_addr.s_addr = htonl(0xef000000);
		from->sin_addr.s_addr = htonl(0x0a000001 + n);
		return;
	}
	group6->sin6_family = from6->sin6_family = AF_INET6;
	if (inet_pton(AF_INET6, "ff12::1", &group6->sin6_addr) != 1 ||
	    inet_pton(AF_INET6, "2001:db8::1", &from6->sin6_addr) != 1)
		die("inet_pton");
	from6->sin6_addr.s6_addr[15] = n;
}

static void add_by_group(int family, int level, int n)
{
	name_by_group(family, n);
	if (setsockopt(sock, level, MCAST_JOIN_SOURCE_GROUP, &by_group, sizeof(by_group)))
		skip("MCAST_JOIN_SOURCE_GROUP: %s", strerror(errno));
}

static void join_group(void)
{
	struct group_req group = { .gr_interface = LOOPBACK };

	name_by_group(AF_INET, 0);
	memcpy(&group.gr_group, &by_group.gsr_group, sizeof(group.gr_group));
	if (setsockopt(sock, IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof(group)))
		skip("MCAST_JOIN_GROUP: %s", strerror(errno));
}

static void too_many_sources(void)
{
	open_socket(AF_INET);
	for (int i = 0; i < FEW; i++)
		add_by_group(AF_INET, IPPROTO_IP, i);
	name_by_group(AF_INET, FEW);
	ASK(setsockopt, sock, IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, P(&by_group), sizeof(by_group));
	write_number(SOURCES, FEW);
}

static void allow_sources(void)
{
	write_number(SOURCES, 100);
}

/* A source of a group that the socket is not yet in: the limit of groups is reached. */
static void source_of_new_group(void)
{
	open_socket(AF_INET);
	for (int i = 0; i < FEW; i++) {
		struct ip_mreqn group = { .imr_multiaddr.s_addr = htonl(0xef000001 + i),
					  .imr_ifindex = LOOPBACK };

		if (setsockopt(sock, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)))
			skip("IP_ADD_MEMBERSHIP: %s", strerror(errno));
	}
	name_by_group(AF_INET, 0);
	ASK(setsockopt, sock, IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, P(&by_group), sizeof(by_group));
	write_number(MEMBERSHIPS, FEW);
}

static void allow_groups(void)
{
	write_number(MEMBERSHIPS, 20);
}

/* Blocks senders of a group, one by one. */
static void blocks_too_many(void)
{
	open_socket(AF_INET);
	join_group();
	for (int i = 0; i < FEW; i++) {
		name_by_group(AF_INET, i);
		if (setsockopt(sock, IPPROTO_IP, MCAST_BLOCK_SOURCE, &by_group, sizeof(by_group)))
			skip("MCAST_BLOCK_SOURCE: %s", strerror(errno));
	}
	name_by_group(AF_INET, FEW);
	ASK(setsockopt, sock, IPPROTO_IP, MCAST_BLOCK_SOURCE, P(&by_group), sizeof(by_group));
	write_number(SOURCES, FEW);
}

static union {
	struct group_filter all;
	char room[sizeof(struct group_filter) + MANY * sizeof(struct sockaddr_storage)];
} filter;

/* Names all sources of a group at once. */
static void filters_too_many(void)
{
	open_socket(AF_INET);
	join_group();
	filter.all.gf_interface = LOOPBACK;
	filter.all.gf_group = by_group.gsr_group;
	filter.all.gf_fmode = MCAST_INCLUDE;
	filter.all.gf_numsrc = 20;
	for (int i = 0; i < 20; i++) {
		name_by_group(AF_INET, i);
		((struct sockaddr_storage *)(filter.room + offsetof(struct group_filter, gf_slist)))
			[i] = by_group.gsr_source;
	}
	ASK(setsockopt, sock, IPPROTO_IP, MCAST_MSFILTER, P(&filter), GROUP_FILTER_SIZE(20));
}

/* There is room for one more source, but the memory for options is used up. */
static void source_without_memory(void)
{
	open_socket(AF_INET);
	add_by_group(AF_INET, IPPROTO_IP, 0);
	for (int i = 1; i < 10; i++) /* the kernel adds memory for 10 sources at a time */
		add_by_group(AF_INET, IPPROTO_IP, i);
	name_by_group(AF_INET, 10);
	ASK(setsockopt, sock, IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, P(&by_group), sizeof(by_group));
	write_number(SOURCES, 100);
	if (!write_text(OPTMEM, "200"))
		skip("%s: %s", OPTMEM, strerror(errno));
}

static void allow_memory(void)
{
	if (!write_text(OPTMEM, "131072"))
		die(OPTMEM);
}

/* The limit of IPv6 is that of the whole machine, which other network namespaces do not show. */
static long most_sources6;

static void too_many_sources6(void)
{
	if (access(SOURCES6, R_OK))
		skip("no IPv6");
	most_sources6 = read_number(SOURCES6);
	if (most_sources6 > MANY)
		skip("%s is %ld", SOURCES6, most_sources6);
	open_socket(AF_INET6);
	for (int i = 0; i < most_sources6; i++)
		add_by_group(AF_INET6, IPPROTO_IPV6, i);
	name_by_group(AF_INET6, most_sources6);
	ASK(setsockopt, sock, IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, P(&by_group),
	    sizeof(by_group));
}

static void drop_source6(void)
{
	name_by_group(AF_INET6, 0);
	if (setsockopt(sock, IPPROTO_IPV6, MCAST_LEAVE_SOURCE_GROUP, &by_group, sizeof(by_group)))
		die("MCAST_LEAVE_SOURCE_GROUP");
	name_by_group(AF_INET6, most_sources6);
}

/* The socket belongs to another network namespace than the process. */
static void socket_of_other_namespace(void)
{
	too_many_sources();
	if (unshare(CLONE_NEWNET))
		die("unshare");
	write_number(SOURCES, 100);
}

static void leave_source(void)
{
	name_by_group(AF_INET, 0);
	if (setsockopt(sock, IPPROTO_IP, MCAST_LEAVE_SOURCE_GROUP, &by_group, sizeof(by_group)))
		die("MCAST_LEAVE_SOURCE_GROUP");
	name_by_group(AF_INET, FEW);
}

#define LIMIT(cause, prepare, lift) { "setsockopt", ENOBUFS, cause }, prepare, NULL, lift

const struct zoo_case multicast_cases[] = {
	{ "igmp-sources", LIMIT("igmp_max_msf", too_many_sources, allow_sources) },
	{ "igmp-blocked-sources", LIMIT("igmp_max_msf", blocks_too_many, allow_sources) },
	{ "igmp-source-filter", LIMIT("igmp_max_msf", filters_too_many, allow_sources) },
	{ "igmp-source-of-new-group",
	  LIMIT("igmp_max_memberships", source_of_new_group, allow_groups) },
	{ "igmp-other-namespace", LIMIT("igmp_max_msf", socket_of_other_namespace, leave_source) },
	{ "optmem-source", LIMIT("optmem_max", source_without_memory, allow_memory) },
	{ "mld-sources", LIMIT("mld_max_msf", too_many_sources6, drop_source6) },
	{ 0 },
};
