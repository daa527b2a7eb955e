/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays bpf(2) and perf_event_open(2): no program is loaded, and each program, map, link and event
 * is a file in memory. libbpf and the code of the live source run unchanged, without privileges. A
 * test reads which calls they made, and lets calls fail. A test includes this file once.
 */
#ifndef FS_TESTS_PLAYED_KERNEL_H
#define FS_TESTS_PLAYED_KERNEL_H

#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAYED_MAX  20000
#define PLAYED_CPUS 3
#define PLAYED_OFF  1 /* the CPU that is not online */

enum played_kind {
	PLAYED_MAP,
	PLAYED_PROGRAM,
	PLAYED_LINK, /* of any kind */
	PLAYED_EVENT,
	PLAYED_OTHER,
	NR_PLAYED
};

/* A call that succeeded. */
struct played {
	enum played_kind kind;
	int fd;
	char name[128]; /* of a program or map: at most 15 characters */
	uint32_t type;	/* of a program, map, link or event */
	uint32_t attach, id, instructions, entries, key, value, flags;
	uint64_t config; /* of an event */
	int cpu;
	int program;	/* file descriptor of the program of a link */
	uint32_t names; /* number of functions of a link */
	uint64_t cookie;
	ino_t file;  /* tells the file from others that get its descriptor later */
	bool closed; /* the file was found closed */
};

static struct played played[PLAYED_MAX];
static unsigned int played_n;

/* The call that fails: `left` calls of its kind succeed, the next one sets errno to `number`. */
static struct {
	bool on;
	enum played_kind kind;
	long left;
	int number;
	const char *name; /* if not NULL, only programs of this name count */
} played_fails;

/* Values of the kernel's statistics of each program and link. */
static struct {
	uint64_t run_ns, runs, recursions, missed;
} played_statistics;
static unsigned int played_runs; /* number of runs of a program by bpf(2) */
static int played_run_error;	 /* errno of such runs, and of new iterators; 0: they succeed */

/* Reads arguments that a caller may not have given, as the C library's syscall() does. */
#define READS_ALL_ARGUMENTS __attribute__((no_sanitize_address))

READS_ALL_ARGUMENTS static void played_arguments(va_list list, long *ret)
{
	for (int i = 0; i < 6; i++)
		ret[i] = va_arg(list, long);
}

READS_ALL_ARGUMENTS static long played_real(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	played_arguments(list, a);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The kernel keeps 15 characters of a name. */
static inline bool played_is(const char *kept, const char *name)
{
	return !strncmp(kept, name, BPF_OBJ_NAME_LEN - 1);
}

static inline bool played_refuses(enum played_kind kind, const char *name)
{
	if (!played_fails.on || kind != played_fails.kind ||
	    (played_fails.name && !played_is(name, played_fails.name)))
		return false;
	if (__atomic_fetch_sub(&played_fails.left, 1, __ATOMIC_SEQ_CST) > 0)
		return false;
	errno = played_fails.number;
	return true;
}

static inline void played_fail(enum played_kind kind, const char *name, long left, int number)
{
	played_fails = (typeof(played_fails)){true, kind, left, number, name};
}

static inline void played_begin(void)
{
	played_n = 0;
	memset(&played_fails, 0, sizeof(played_fails));
	memset(&played_statistics, 0, sizeof(played_statistics));
	played_runs = played_run_error = 0;
}

/* Adds a call, and returns its file: in memory, of `bytes` bytes. */
static inline int played_add(struct played p, size_t bytes)
{
	struct stat st;
	unsigned int at = __atomic_fetch_add(&played_n, 1, __ATOMIC_SEQ_CST);
	int low = memfd_create(p.name, MFD_CLOEXEC);

	if (at >= PLAYED_MAX)
		abort();
	/* libbpf itself moves a descriptor below 3: its number would differ from that here */
	p.fd = low < 3 ? fcntl(low, F_DUPFD_CLOEXEC, 3) : low;
	if (p.fd < 0)
		return -1;
	if (p.fd != low)
		close(low);
	if (ftruncate(p.fd, bytes) || fstat(p.fd, &st))
		abort();
	p.file = st.st_ino;
	played[at] = p;
	return p.fd;
}

static inline bool played_is_open(struct played *p)
{
	struct stat st;

	if (!p->closed)
		p->closed = fstat(p->fd, &st) || st.st_ino != p->file;
	return !p->closed;
}

/* Returns the call that made the file of a descriptor; NULL: the file is no played one. */
static inline const struct played *played_by_fd(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return NULL;
	for (unsigned int i = played_n; i--;)
		if (played[i].file == st.st_ino)
			return &played[i];
	return NULL;
}

static int played_make_map(const union bpf_attr *attr)
{
	struct played p = {.kind = PLAYED_MAP,
			   .type = attr->map_type,
			   .key = attr->key_size,
			   .value = attr->value_size,
			   .entries = attr->max_entries,
			   .flags = attr->map_flags};
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = p.type == BPF_MAP_TYPE_RINGBUF ? 2 * page + p.entries
						      : (size_t)p.entries * ((p.value + 7) & ~7U);

	snprintf(p.name, sizeof(p.name), "%.15s", attr->map_name);
	return played_refuses(p.kind, p.name) ? -1 : played_add(p, bytes);
}

static int played_load(const union bpf_attr *attr)
{
	static const char said[] = "0: (95) exit\nR0 !read_ok\nprocessed 1 insns\n";
	struct played p = {.kind = PLAYED_PROGRAM,
			   .type = attr->prog_type,
			   .attach = attr->expected_attach_type,
			   .id = attr->attach_btf_id,
			   .flags = attr->prog_flags,
			   .instructions = attr->insn_cnt};

	snprintf(p.name, sizeof(p.name), "%.15s", attr->prog_name);
	if (!played_refuses(p.kind, p.name))
		return played_add(p, 0);
	if (attr->log_level && attr->log_buf && attr->log_size > sizeof(said))
		memcpy((void *)(uintptr_t)attr->log_buf, said, sizeof(said));
	/* the second load of a program, for the reason, fails too */
	played_fails.left = 0;
	return -1;
}

static int played_link(const union bpf_attr *attr)
{
	struct played p = {.kind = PLAYED_LINK,
			   .type = attr->link_create.attach_type,
			   .program = attr->link_create.prog_fd};

	if (p.type == BPF_TRACE_KPROBE_MULTI) {
		const char **syms = (const char **)(uintptr_t)attr->link_create.kprobe_multi.syms;
		const uint64_t *cookies =
			(const uint64_t *)(uintptr_t)attr->link_create.kprobe_multi.cookies;

		p.names = attr->link_create.kprobe_multi.cnt;
		p.flags = attr->link_create.kprobe_multi.flags;
		if (!p.names) {
			errno = EINVAL;
			return -1;
		}
		if (cookies)
			p.cookie = cookies[0];
		snprintf(p.name, sizeof(p.name), "%s", syms[0]);
	} else if (p.type == BPF_PERF_EVENT) {
		const struct played *event = played_by_fd(attr->link_create.target_fd);

		if (!event) {
			errno = EBADF; /* libbpf asks so whether there are such links */
			return -1;
		}
		p.config = event->config;
		p.cpu = event->cpu;
	}
	return played_refuses(p.kind, p.name) ? -1 : played_add(p, 0);
}

static int played_raw(const union bpf_attr *attr)
{
	struct played p = {.kind = PLAYED_LINK,
			   .type = BPF_TRACE_RAW_TP,
			   .program = attr->raw_tracepoint.prog_fd};

	if (attr->raw_tracepoint.name)
		snprintf(p.name, sizeof(p.name), "%s",
			 (const char *)(uintptr_t)attr->raw_tracepoint.name);
	return played_refuses(p.kind, p.name) ? -1 : played_add(p, 0);
}

static int played_info(union bpf_attr *attr)
{
	const struct played *p = played_by_fd(attr->info.bpf_fd);
	void *to = (void *)(uintptr_t)attr->info.info;
	size_t room = attr->info.info_len, have;
	union {
		struct bpf_map_info map;
		struct bpf_prog_info program;
		struct bpf_link_info link;
		unsigned char bytes[512];
	} info = {};

	if (!p) {
		errno = EBADF;
		return -1;
	}
	if (p->kind == PLAYED_MAP) {
		info.map.type = p->type;
		info.map.key_size = p->key;
		info.map.value_size = p->value;
		info.map.max_entries = p->entries;
		info.map.map_flags = p->flags;
		memcpy(info.map.name, p->name, sizeof(info.map.name) - 1);
	} else if (p->kind == PLAYED_PROGRAM) {
		info.program.type = p->type;
		info.program.run_time_ns = played_statistics.run_ns;
		info.program.run_cnt = played_statistics.runs;
		info.program.recursion_misses = played_statistics.recursions;
	} else if (p->kind == PLAYED_LINK) {
		/* struct bpf_link_info of Linux 6.7 for functions: `missed` is at byte 32 */
		memcpy(info.bytes + 32, &played_statistics.missed, 8);
	}
	have = room < sizeof(info) ? room : sizeof(info);
	memcpy(to, &info, have);
	return 0;
}

/* libbpf 1.5 maps global data from the map after it has written the first values into the map. */
static int played_update(const union bpf_attr *attr)
{
	const struct played *p = played_by_fd(attr->map_fd);
	const uint32_t *key = (const uint32_t *)(uintptr_t)attr->key;
	const void *value = (const void *)(uintptr_t)attr->value;

	if (!p || p->kind != PLAYED_MAP || !(p->flags & BPF_F_MMAPABLE))
		return 0;
	if (pwrite(attr->map_fd, value, p->value, (off_t)*key * ((p->value + 7) & ~7U)) < 0)
		abort();
	return 0;
}

#define PLAYED_TOKEN_CREATE 36 /* BPF_TOKEN_CREATE of Linux 6.9: libbpf 1.5 asks for a token */

static long played_bpf(int command, union bpf_attr *attr)
{
	switch (command) {
	case PLAYED_TOKEN_CREATE:
		errno = EPERM;
		return -1;
	case BPF_MAP_UPDATE_ELEM:
		return played_update(attr);
	case BPF_MAP_CREATE:
		return played_make_map(attr);
	case BPF_PROG_LOAD:
		return played_load(attr);
	case BPF_LINK_CREATE:
		return played_link(attr);
	case BPF_RAW_TRACEPOINT_OPEN:
		return played_raw(attr);
	case BPF_OBJ_GET_INFO_BY_FD:
		return played_info(attr);
	case BPF_BTF_LOAD:
	case BPF_ITER_CREATE:
		if (command == BPF_ITER_CREATE && played_run_error) {
			errno = played_run_error;
			return -1;
		}
		played_runs += command == BPF_ITER_CREATE;
		return played_add((struct played){.kind = PLAYED_OTHER}, 0);
	case BPF_PROG_TEST_RUN:
		errno = played_run_error;
		played_runs++;
		return played_run_error ? -1 : 0;
	case BPF_MAP_LOOKUP_ELEM:
	case BPF_MAP_GET_NEXT_KEY:
	case BPF_MAP_LOOKUP_BATCH:
	case BPF_MAP_DELETE_ELEM:
		errno = ENOENT;
		return -1;
	default:
		return 0;
	}
}

static long played_event(const struct perf_event_attr *attr, int cpu)
{
	struct played p = {.kind = PLAYED_EVENT,
			   .type = attr->type,
			   .config = attr->config,
			   .value = attr->sample_period,
			   .cpu = cpu};

	if (cpu == PLAYED_OFF) {
		errno = ENODEV;
		return -1;
	}
	return played_refuses(p.kind, "") ? -1 : played_add(p, 0);
}

READS_ALL_ARGUMENTS long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	played_arguments(list, a);
	va_end(list);
	if (number == SYS_bpf)
		return played_bpf(a[0], (union bpf_attr *)a[1]);
	/* privileges stay, since the calls that play the kernel need them */
	if (number == SYS_seccomp || number == SYS_landlock_restrict_self)
		return 0;
	if (number == SYS_perf_event_open)
		return played_event((const struct perf_event_attr *)a[0], a[2]);
	return played_real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Events are enabled and given a program by ioctl(2). */
READS_ALL_ARGUMENTS int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	long argument;

	va_start(list, request);
	argument = va_arg(list, long);
	va_end(list);
	if ((request >> 8 & 0xff) == '$')
		return 0;
	return played_real(SYS_ioctl, fd, request, argument, 0, 0, 0);
}

/* A file in memory cannot be waited for: the ring never becomes readable. */
int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (played_by_fd(fd))
		return 0;
	return played_real(SYS_epoll_ctl, epoll, operation, fd, event, 0, 0);
}

int libbpf_num_possible_cpus(void)
{
	return PLAYED_CPUS;
}

/* Returns how many of the files of one kind are open. */
static inline unsigned int played_open(enum played_kind kind)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < played_n; i++)
		n += played[i].kind == kind && played_is_open(&played[i]);
	return n;
}

/* Returns the name of the program of a link, or "". */
static inline const char *played_program(const struct played *link)
{
	const struct played *p = NULL;

	for (const struct played *at = played; at < link; at++)
		if (at->kind == PLAYED_PROGRAM && at->fd == link->program)
			p = at;
	return p ? p->name : "";
}

static inline size_t played_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
