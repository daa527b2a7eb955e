/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads which limit of a socket setsockopt() reached: members and sources of multicast groups, or
 * memory for options. Kernel sources: net/ipv4/igmp.c, net/ipv6/mcast.c, net/core/sock.c.
 */
#ifndef FS_SOCKET_OPTION_BPF_H
#define FS_SOCKET_OPTION_BPF_H

#include "evidence.bpf.h"

/* Values of include/uapi/linux/in.h, in6.h and include/uapi/asm-generic/socket.h */
#define SOL_IP			 0
#define SOL_SOCKET		 1
#define SOL_IPV6		 41
#define IPV6_JOIN_GROUP		 20
#define IP_ADD_MEMBERSHIP	 35
#define IP_BLOCK_SOURCE		 38
#define IP_ADD_SOURCE_MEMBERSHIP 39
#define IP_MSFILTER		 41
#define MCAST_JOIN_GROUP	 42
#define MCAST_BLOCK_SOURCE	 43
#define MCAST_JOIN_SOURCE_GROUP	 46
#define MCAST_MSFILTER		 48
#define SO_ATTACH_FILTER	 26
#define SO_ATTACH_REUSEPORT_CBPF 51
#define FILTER_INSN_BYTES	 8 /* struct sock_filter */

/* Offsets in struct group_req, group_source_req, group_filter and ip_msfilter of 64-bit programs */
#define GROUP_ADDRESS	     12 /* gr_group of sockaddr_in; the older options begin with it */
#define GROUP_ADDRESS6	     16
#define FILTER_SOURCES	     12 /* imsf_numsrc */
#define GROUP_FILTER_SOURCES 140
#define MORE_SOURCES	     10 /* IP_SFBLOCK of include/linux/igmp.h, and SFBLOCK of mcast.c */
#define SOURCE_BYTES	     4

enum group_request { REQUEST_OTHER, REQUEST_JOIN, REQUEST_SOURCE, REQUEST_FILTER };

static __always_inline enum group_request group_request(const struct refused_record *r)
{
	bool old = r->args[1] == SOL_IP;

	if (!old && r->args[1] != SOL_IPV6)
		return REQUEST_OTHER;
	switch (r->args[2]) {
	case IPV6_JOIN_GROUP:
		return old ? REQUEST_OTHER : REQUEST_JOIN;
	case IP_ADD_MEMBERSHIP:
		return old ? REQUEST_JOIN : REQUEST_OTHER;
	case IP_BLOCK_SOURCE:
	case IP_ADD_SOURCE_MEMBERSHIP:
		return old ? REQUEST_SOURCE : REQUEST_OTHER;
	case IP_MSFILTER:
		return old ? REQUEST_FILTER : REQUEST_OTHER;
	case MCAST_JOIN_GROUP:
		return REQUEST_JOIN;
	case MCAST_BLOCK_SOURCE:
	case MCAST_JOIN_SOURCE_GROUP:
		return REQUEST_SOURCE;
	case MCAST_MSFILTER:
		return REQUEST_FILTER;
	}
	return REQUEST_OTHER;
}

#ifdef FS_HASH
#define MOST_GROUPS 24 /* the verifier checks each; net.ipv4.igmp_max_memberships is 20 */
#else
#define MOST_GROUPS 4096
#endif

/* A context for repeat(): a walk over the multicast groups of a socket. */
struct group_walk {
	__u64 at;	  /* address of the next membership */
	__u64 address[2]; /* of the group that the call names */
	__u32 groups;	  /* number of memberships */
	__u32 found;	  /* number of memberships of this group: one for each interface */
	__u32 sources;	  /* of this group */
	__u32 room;	  /* for how many sources this group has memory */
};

static __always_inline void count_group(struct group_walk *w, __u64 differs)
{
	w->found += is_zero(differs);
	forget_value(w->found);
	w->groups++;
	forget_value(w->groups);
}

static long next_group(__u32 i, struct group_walk *w)
{
	struct ip_mc_socklist *at = (struct ip_mc_socklist *)w->at;
	__u64 differs;

	if (!at)
		return 1;
	differs = BPF_CORE_READ(at, multi.imr_multiaddr.s_addr) ^ w->address[0];
	count_group(w, differs);
	if (!differs && BPF_CORE_READ(at, sflist)) {
		w->sources = BPF_CORE_READ(at, sflist, sl_count);
		w->room = BPF_CORE_READ(at, sflist, sl_max);
	}
	w->at = (__u64)BPF_CORE_READ(at, next_rcu);
	return 0;
}

static long next_group6(__u32 i, struct group_walk *w)
{
	struct ipv6_mc_socklist *at = (struct ipv6_mc_socklist *)w->at;
	__u64 address[2] = {}, differs;

	if (!at)
		return 1;
	BPF_CORE_READ_INTO(&address, at, addr);
	differs = (address[0] ^ w->address[0]) | (address[1] ^ w->address[1]);
	count_group(w, differs);
	if (!differs && BPF_CORE_READ(at, sflist))
		w->sources = BPF_CORE_READ(at, sflist, sl_count);
	w->at = (__u64)BPF_CORE_READ(at, next);
	return 0;
}

/* Reads the memberships of a socket, and its sources of the group that the call names. */
static __always_inline void walk_groups(const struct refused_record *r, struct sock *sk,
					struct group_walk *w)
{
	struct inet_sock *inet = (struct inet_sock *)sk;
	bool old = r->args[1] == SOL_IP;
	__u64 at = r->args[3];

	if (r->args[2] >= MCAST_JOIN_GROUP)
		at += old ? GROUP_ADDRESS : GROUP_ADDRESS6;
	if (old) {
		bpf_probe_read_user(w->address, 4, (void *)at);
		w->at = (__u64)BPF_CORE_READ(inet, mc_list);
		repeat(MOST_GROUPS, next_group, w);
	} else if (bpf_core_type_exists(struct ipv6_mc_socklist)) {
		bpf_probe_read_user(w->address, 16, (void *)at);
		w->at = (__u64)BPF_CORE_READ(inet, pinet6, ipv6_mc_list);
		repeat(MOST_GROUPS, next_group6, w);
	}
}

/*
 * Stores that the call needs `bytes` of the memory for options of a socket. The kernel compares the
 * sum with net.core.optmem_max, which each network namespace has since 6.8; before, user space
 * reads it.
 */
static __always_inline void read_option_memory(struct refused_record *r, struct sock *sk,
					       __u64 bytes)
{
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);

	count_as(r, COUNTED_OPTION_BYTES, BPF_CORE_READ(sk, sk_omem_alloc.counter), bytes,
		 NOT_KNOWN);
	if (bpf_core_field_exists(net->core.sysctl_optmem_max))
		r->counted.limit = BPF_CORE_READ(net, core.sysctl_optmem_max);
	else
		r->counted.inside = COUNTED_BY_HOST;
}

/* Returns the memory for this number of sources of a group. The kernel copies a list that grows. */
static __always_inline __u64 source_bytes(__u32 sources)
{
	return bpf_core_type_size(struct ip_sf_socklist) + (__u64)sources * SOURCE_BYTES;
}

static __always_inline __u32 most_sources(struct net *net)
{
	return BPF_CORE_READ(net, ipv4.sysctl_igmp_max_msf);
}

/* net.ipv6.mld_max_msf is host-wide. User space reads it. */
static __always_inline void count_sources(struct refused_record *r, struct net *net, __u64 used,
					  __u64 asked)
{
	if (r->args[1] == SOL_IP) {
		count_as(r, COUNTED_MULTICAST_SOURCES, used, asked, most_sources(net));
		return;
	}
	count_as(r, COUNTED_LISTENER_SOURCES, used, asked, NOT_KNOWN);
	r->counted.inside = COUNTED_BY_HOST;
}

/* Setting all sources of a group at once: ip_set_mcast_msfilter(). */
static __always_inline void read_source_filter(struct refused_record *r, struct sock *sk,
					       struct net *net)
{
	bool old = r->args[1] == SOL_IP;
	__u64 at = r->args[3] + (r->args[2] == IP_MSFILTER ? FILTER_SOURCES : GROUP_FILTER_SOURCES);
	__u64 length = (__u32)r->args[4];
	__u32 sources = 0;

	/* first, the length of the option is compared with net.core.optmem_max */
	if (bpf_core_field_exists(net->core.sysctl_optmem_max) &&
	    length > (__u32)BPF_CORE_READ(net, core.sysctl_optmem_max)) {
		read_option_memory(r, sk, length);
		r->counted.used = 0;
		return;
	}
	if (bpf_probe_read_user(&sources, sizeof(sources), (void *)at))
		return;
	if (!old || sources > most_sources(net))
		count_sources(r, net, 0, sources);
	else
		read_option_memory(r, sk, source_bytes(sources));
}

#define KIND_SOCKET 0140000

/* Returns the address of the socket of the current task's fd, or 0. */
once_verified __u64 sock_of_fd(__u32 fd)
{
	struct file *file = (struct file *)file_of_fd(as_task(current_task()), fd);
	struct socket *socket;

	if (!file || KIND_OF(BPF_CORE_READ(file, f_inode, i_mode)) != KIND_SOCKET)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	return (__u64)BPF_CORE_READ(socket, sk);
}

/*
 * The kernel returns ENOBUFS for a new membership if the socket has net.ipv4.igmp_max_memberships
 * groups; and for a new source of a group if the group has net.ipv4.igmp_max_msf sources. If
 * neither is reached, the socket has no room for options.
 */
record_part(read_group_limits)
{
	struct sock *sk = (struct sock *)sock_of_fd(with);
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	__u32 request = group_request(r);
	bool old = r->args[1] == SOL_IP;
	struct group_walk w = {};
	__u32 most;

	if (request == REQUEST_FILTER) {
		read_source_filter(r, sk, net);
		return;
	}
	walk_groups(r, sk, &w);
	if (request == REQUEST_SOURCE && w.found) {
		/* on several interfaces, it is not known which one the call names */
		if (w.found > 1) {
			count_sources(r, net, NOT_KNOWN, 1);
			return;
		}
		if (!old || w.sources >= most_sources(net))
			count_sources(r, net, w.sources, 1);
		else
			read_option_memory(r, sk, source_bytes(w.room + MORE_SOURCES));
		return;
	}
	if (!old) {
		read_option_memory(r, sk, bpf_core_type_size(struct ipv6_mc_socklist));
		return;
	}
	most = BPF_CORE_READ(net, ipv4.sysctl_igmp_max_memberships);
	if (w.at)
		/* more memberships than were read */
		count_as(r, COUNTED_MULTICAST_GROUPS, NOT_KNOWN, 1, most);
	else if (w.groups >= most)
		count_as(r, COUNTED_MULTICAST_GROUPS, w.groups, 1, most);
	else
		read_option_memory(r, sk, bpf_core_type_size(struct ip_mc_socklist));
}

/* Reads what any option needs; the caller reads the limits of multicast groups. */
record_part(read_socket_option)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct sock *sk = (struct sock *)sock_of_fd(with);
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	__u16 insns = 0;

	if (!sk)
		return;
	r->counted.inside =
		net == BPF_CORE_READ(task, nsproxy, net_ns) ? COUNTED_INSIDE : COUNTED_ELSEWHERE;
	r->counted.namespace = BPF_CORE_READ(net, ns.inum);
	if (r->args[1] == SOL_SOCKET &&
	    (r->args[2] == SO_ATTACH_FILTER || r->args[2] == SO_ATTACH_REUSEPORT_CBPF))
		bpf_probe_read_user(&insns, sizeof(insns), (void *)r->args[3]);
	read_option_memory(r, sk, insns * FILTER_INSN_BYTES);
}

#endif
