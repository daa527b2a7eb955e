// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/redact.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/sha1.h"
#include "model/pressure.h"
#include "records/incident_record.h"
#include "records/oom_records.h"

#define LOW_BYTES (1ULL << 20) /* lower addresses are kept, because they are near NULL */
#define USER_GAP  (3ULL << 45) /* 96 TiB: between heap and mappings, no process has memory here */
#define USER_END  (1ULL << 47)
/* user addresses of 48 bits (arm64), except those that a shift could move below USER_END */
#define USER_48_BEGIN (USER_END + (1ULL << 40))
#define USER_48_END   (1ULL << 48)
#define SHIFT_MASK    ((1ULL << 40) - (1ULL << 21)) /* shifts are multiples of 2 MiB, a huge page */
#define KERNEL_BEGIN  (1ULL << 63)

void redaction_begin(struct redaction *r)
{
	__u64 secret[3];

	memset(r, 0, sizeof(*r));
	/* getrandom(2) returns up to 256 bytes completely, or not at all */
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		secret[0] = secret[1] = secret[2] = (__u64)(unsigned long)r;
	r->user_shift = secret[0] & SHIFT_MASK;
	r->kernel_shift = secret[1] & SHIFT_MASK;
	r->salt = secret[2];
	if (io_read(AT_FDCWD, "/etc/machine-id", r->machine, sizeof(r->machine)) <= 0)
		snprintf(r->machine, sizeof(r->machine), "%016llx", (unsigned long long)r->salt);
}

/*
 * Shifts an address, but keeps it in the user or kernel half of the address space. User addresses
 * below USER_GAP move up, and those above it move down. No mapping lies across USER_GAP, so all
 * addresses of a mapping move alike. No address moves across USER_END.
 */
static void hide_address(const struct redaction *r, __u64 *a)
{
	if (*a >= LOW_BYTES && *a < USER_GAP)
		*a += r->user_shift;
	else if ((*a >= USER_GAP && *a < USER_END) || (*a >= USER_48_BEGIN && *a <= USER_48_END))
		*a -= r->user_shift;
	else if (*a >= KERNEL_BEGIN && *a < UINT64_MAX - LOW_BYTES)
		*a = KERNEL_BEGIN + (*a - KERNEL_BEGIN + r->kernel_shift) % (KERNEL_BEGIN - 1);
}

static __u32 hash_of(const struct redaction *r, const char *s, size_t n)
{
	__u64 x = hash64_bytes(r->salt ^ HASH64_BEGIN, s, n);

	x = (x ^ x >> 29) * 0x9e3779b97f4a7c15ULL;
	return x >> 32;
}

/* Returns whether many machines have a file of this name, such as a system library. */
static bool is_common(const struct redaction *r, const char *name)
{
	static const char *const kept[] = {"torch_", "[",    "rw",    "r-",	 "--",	 "socket",
					   "pipe",   "anon", "memfd", "eventfd", "heap", "stack"};

	if (!*name)
		return true;
	if (r->all_names)
		return *name == '[' && name[strlen(name) - 1] == ']';
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strncmp(name, kept[i], strlen(kept[i])))
			return true;
	return strstr(name, ".so") != NULL;
}

/*
 * Replaces a path by its last component. If this component may identify somebody, replaces it by a
 * hash.
 */
static void hide_path(const struct redaction *r, char *path, size_t size)
{
	char *last = strrchr(path, '/');
	char name[CGROUP_PATH_LEN];

	snprintf(name, sizeof(name), "%s", last ? last + 1 : path);
	if (is_common(r, name))
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "name-%08x", hash_of(r, name, strlen(name)));
}

/* Removes the directory from a program's path. */
static void hide_place(char *path, size_t size)
{
	const char *last = strrchr(path, '/');

	if (last && last[1])
		memmove(path, last + 1, strlen(last));
	path[size - 1] = 0;
}

static bool is_file(const struct frame_list_record *l, __u32 text)
{
	for (__u32 i = 0; i < l->n && i < LISTED_FRAMES; i++)
		if (l->frame[i].file == text)
			return true;
	return false;
}

/* Removes the directories from the names of source files. */
static void hide_frame_list(struct frame_list_record *l)
{
	const char *from = l->texts;
	char *to = l->texts;

	l->texts[sizeof(l->texts) - 1] = 0;
	for (__u32 text = 1; *from; text++) {
		const char *end = from + strcspn(from, "\n"), *next = end + (*end == '\n');

		for (const char *c = from; is_file(l, text) && c < end; c++)
			if (*c == '/')
				from = c + 1;
		memmove(to, from, next - from);
		to += next - from;
		from = next;
	}
	memset(to, 0, l->texts + sizeof(l->texts) - to);
}

/* Replaces components of a cgroup path by hashes with their suffix: "name-0123abcd.service". */
static void hide_cgroup(const struct redaction *r, char *path, size_t size)
{
	char from[CGROUP_PATH_LEN], one[32];
	size_t at = 0;

	snprintf(from, sizeof(from), "%s", path);
	path[0] = 0;
	for (const char *c = from; *c;) {
		size_t n = strcspn(c, "/");
		const char *dot = memchr(c, '.', n);

		while (dot && memchr(dot + 1, '.', c + n - dot - 1))
			dot = memchr(dot + 1, '.', c + n - dot - 1);
		if (n) {
			int type = dot ? c + n - dot : 0;

			snprintf(one, sizeof(one), "name-%08x", hash_of(r, c, n));
			if (type > 10)
				type = 0;
			at += snprintf(path + at, size - at, "/%s%.*s", one, type, dot ? dot : "");
			if (at >= size)
				break;
		}
		c += n + (c[n] == '/');
	}
	if (!path[0] && from[0])
		snprintf(path, size, "/");
}

/*
 * Keeps the mount points that most machines have, and the /dev/shm of processes. Redacts all
 * others.
 */
static void hide_mount(const struct redaction *r, char *path, size_t size)
{
	static const char *const kept[] = {"/", "/dev/shm", "/tmp", "/run"};
	const char *own = strstr(path, "/root/dev/shm");

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strcmp(path, kept[i]))
			return;
	if (!own || strncmp(path, "/proc/", strlen("/proc/")))
		hide_cgroup(r, path, size);
}

static void hide_signal(const struct redaction *r, struct signal_record *s)
{
	__u64 *addresses[] = {&s->address, &s->sp, &s->area_start, &s->area_end, &s->above_end};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		hide_address(r, addresses[i]);
	s->ip_bytes = 0;
	hide_path(r, s->file.name, sizeof(s->file.name));
}

/* Returns the index of a system call's argument that is an address; -1: none. */
static int address_argument(__u32 call)
{
	switch (call) {
	case CALL_MMAP:
	case CALL_MUNMAP:
	case CALL_MREMAP:
	case CALL_MPROTECT:
	case CALL_MADVISE:
	case CALL_BRK:
	case CALL_MLOCK:
	case CALL_MUNLOCK:
	case CALL_SHMDT:
	case CALL_MSYNC:
	case CALL_MINCORE:
	case CALL_MBIND:
		return 0;
	case CALL_SHMAT:
		return 1;
	}
	return -1;
}

static void hide_refused(const struct redaction *r, struct refused_record *f)
{
	__u64 *addresses[] = {&f->range.hole, &f->range.start, &f->range.end, &f->range.above,
			      &f->file.mmap_ip};
	int at = address_argument(f->call);

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		hide_address(r, addresses[i]);
	if (at >= 0)
		hide_address(r, &f->args[at]);
	if (f->call == CALL_MREMAP)
		hide_address(r, &f->args[4]);
	hide_path(r, f->file.name, sizeof(f->file.name));
}

static void hide_sample(const struct redaction *r, struct sample_record *s)
{
	hide_address(r, &s->address);
	hide_address(r, &s->area_from);
	hide_address(r, &s->area_to);
	hide_path(r, s->file, sizeof(s->file));
}

/*
 * Replaces the host name by a name that is the same in all recordings which this machine redacts.
 * The id of the machine is secret (machine-id(5)), so nobody can find the host name by trial.
 */
static void hide_host(const struct redaction *r, struct host_record *h)
{
	char text[sizeof(r->machine) + sizeof(h->host) + 1], hash[SHA1_HEX_LEN];
	int n = snprintf(text, sizeof(text), "%s\n%s", r->machine, h->host);

	sha1_hex(text, n, hash);
	snprintf(h->host, sizeof(h->host), "host-%.16s", hash);
	memset(h->boot_id, 0, sizeof(h->boot_id));
	memset(h->target, 0, sizeof(h->target));
	h->zone_s = h->zone_known = 0; /* a time zone tells where the machine is */
}

static void hide_origin(struct origin_record *o)
{
	o->set_by[0] = o->at_once[0] = o->for_good[0] = 0;
}

/* The title of a finding may name files; a reader of the recording makes it again. */
static void hide_incident(const struct redaction *r, struct incident_record *i)
{
	memset(i->title, 0, sizeof(i->title));
	if (i->workload[0])
		snprintf(i->workload, sizeof(i->workload), "name-%08x",
			 hash_of(r, i->workload, strlen(i->workload)));
}

static void hide_oom_scene(const struct redaction *r, struct oom_scene_record *s)
{
	hide_cgroup(r, s->cgroup, sizeof(s->cgroup));
	hide_cgroup(r, s->victim_cgroup, sizeof(s->victim_cgroup));
	s->namespace[0] = s->pod[0] = s->container[0] = 0;
}

void redact_record(const struct redaction *r, struct record *h)
{
	switch (h->kind) {
	case RECORD_HOST:
		hide_host(r, (struct host_record *)h);
		break;
	case RECORD_NAMES: {
		struct names_record *n = (struct names_record *)h;

		hide_place(n->exe, sizeof(n->exe));
		hide_cgroup(r, n->cgroup, sizeof(n->cgroup));
		memset(n->command, 0, sizeof(n->command));
		memset(n->user, 0, sizeof(n->user));
		break;
	}
	case RECORD_SIGNAL:
		hide_signal(r, (struct signal_record *)h);
		break;
	case RECORD_REFUSED:
		hide_refused(r, (struct refused_record *)h);
		break;
	case RECORD_KERNEL_FAULT: {
		struct kernel_fault_record *k = (struct kernel_fault_record *)h;

		hide_address(r, &k->ip);
		hide_address(r, &k->address);
		break;
	}
	case RECORD_SYMBOL:
		hide_address(r, &((struct symbol_record *)h)->ip);
		break;
	case RECORD_GROWTH: {
		struct growth *g = &((struct growth_record *)h)->g;

		hide_path(r, g->name, sizeof(g->name));
		break;
	}
	case RECORD_HOLDING: {
		struct holding *g = &((struct holding_record *)h)->g;

		hide_path(r, g->name, sizeof(g->name));
		break;
	}
	case RECORD_RESIDENT: {
		struct resident_record *held = (struct resident_record *)h;

		if (held->file[0])
			hide_path(r, held->file, sizeof(held->file));
		break;
	}
	case RECORD_FRAME_LIST:
		hide_frame_list((struct frame_list_record *)h);
		break;
	case RECORD_SLOW_FAULTS: {
		struct slow_faults_record *f = (struct slow_faults_record *)h;

		hide_path(r, f->file, sizeof(f->file));
		break;
	}
	case RECORD_SAMPLE:
		hide_sample(r, (struct sample_record *)h);
		break;
	case RECORD_ORIGIN:
		hide_origin((struct origin_record *)h);
		break;
	case RECORD_INCIDENT:
		hide_incident(r, (struct incident_record *)h);
		break;
	case RECORD_OOM_SCENE:
		hide_oom_scene(r, (struct oom_scene_record *)h);
		break;
	case RECORD_OOM_HOLDER: {
		struct oom_holder_record *o = (struct oom_holder_record *)h;

		hide_cgroup(r, o->cgroup, sizeof(o->cgroup));
		break;
	}
	case RECORD_LEVEL: {
		struct cgroup_record *c = (struct cgroup_record *)h;

		hide_cgroup(r, c->path, sizeof(c->path));
		break;
	}
	case RECORD_MOUNT: {
		struct mount_record *u = (struct mount_record *)h;

		hide_mount(r, u->path, sizeof(u->path));
		if (u->largest[0])
			hide_path(r, u->largest, sizeof(u->largest));
		break;
	}
	}
}
