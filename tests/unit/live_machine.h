/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A machine for tests of the live source: tracefs, kallsyms and the types of kprobes are played,
 * the types of the kernel are its own, and can be edited. A source of all probes is opened as
 * asked.
 */
#ifndef FS_TESTS_LIVE_MACHINE_H
#define FS_TESTS_LIVE_MACHINE_H

#include "own_machine.h"
#include "played_kernel.h"
#include "probe/calls.h"
#include "probe/live.h"
#include "probe/live_load.h"
#include "tap.h"

#define LIVE_BTF     "/sys/kernel/btf/vmlinux"
#define LIVE_TRACING "/sys/kernel/tracing"
#define LIVE_EVENTS  "/sys/bus/event_source/devices/"

#define LIVE_FIRST_CALL 1000 /* number of the tracepoint of the first call */

static struct live_options wish; /* what the next source is asked for */
static struct source *src;
static char error[2048];
static char *live_types; /* the kernel's types */
static size_t live_types_size;

static inline const struct live *live_of_test(void)
{
	return (const struct live *)src;
}

static inline const struct hook_status *status(const char *hook)
{
	return &live_hooks(src)[hook_find(hook)];
}

/* Returns the attach type of a probe that is on, or "". */
static inline const char *used(const char *hook)
{
	return status(hook)->state == HOOK_ON ? status(hook)->used->mechanism : "";
}

static inline void begin(void)
{
	played_begin();
	memset(&wish, 0, sizeof(wish));
	memset(error, 0, sizeof(error));
	wish.watch_all = true;
	wish.tiers = TIER_ALL;
	wish.accepts = OPTIONAL_CALLS | ACCEPTS_ON_REQUEST;
}

static inline void force(const char *hook, const char *mechanism)
{
	wish.forced[hook_find(hook)] = mechanism;
}

static inline int load(void)
{
	src = NULL;
	return live_open(&wish, &src, error, sizeof(error));
}

static inline void unload(void)
{
	if (src)
		src->ops->close(src);
	src = NULL;
}

static inline void live_make_tracepoint(const char *category, const char *name, int id)
{
	char path[160], text[16];

	snprintf(path, sizeof(path), LIVE_TRACING "/events/%s", category);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), LIVE_TRACING "/events/%s/%s", category, name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), LIVE_TRACING "/events/%s/%s/id", category, name);
	snprintf(text, sizeof(text), "%d\n", id);
	machine_must(machine_write(path, text), path);
}

static inline bool live_read_types(void)
{
	struct stat st;
	int fd = open(LIVE_BTF, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && !fstat(fd, &st) && (live_types = malloc(st.st_size)) != NULL;

	while (good && live_types_size < (size_t)st.st_size) {
		ssize_t n = read(fd, live_types + live_types_size, st.st_size - live_types_size);

		good = n > 0;
		live_types_size += good ? n : 0;
	}
	if (fd >= 0)
		close(fd);
	return good;
}

/* Writes the types of the kernel to a file of this machine. Returns its path. */
static inline const char *live_types_file(const char *name)
{
	static char file[256];
	int fd;

	fd = open(machine_file(name, "", file), O_WRONLY | O_CLOEXEC);
	machine_must(fd >= 0 && write(fd, live_types, live_types_size) == (ssize_t)live_types_size,
		     file);
	close(fd);
	return file;
}

/* Returns where the kernel's types have a name, or NULL. */
static inline char *live_name(const char *name)
{
	const char *end = live_types + live_types_size;
	char *at = live_types;

	while ((at = memmem(at, end - at, name, strlen(name) + 1)) && at[-1])
		at++;
	return at;
}

/* The kernel's types have a name no more; NULL: they have all names again. */
static inline void live_remove_name(const char *name)
{
	static bool covered;
	char *at = name ? live_name(name) : NULL;
	const char *file;

	if (at)
		at[0] ^= 1;
	file = live_types_file("types");
	if (at)
		at[0] ^= 1;
	if (!covered)
		machine_must(!mount(file, LIVE_BTF, NULL, MS_BIND, NULL), LIVE_BTF);
	covered = true;
}

/* Returns false if this system lacks what the tests need. */
static inline bool live_make_machine(void)
{
	char name[64];

	if (access(LIVE_TRACING, F_OK) || !live_read_types() || !machine_enter())
		return false;
	machine_empty(LIVE_TRACING);
	mkdir(LIVE_TRACING "/events", 0755);
	for (unsigned int i = 0; i < nr_call_rows; i++) {
		snprintf(name, sizeof(name), "sys_exit_%s", call_rows[i].name);
		live_make_tracepoint("syscalls", name, LIVE_FIRST_CALL + i);
	}
	machine_empty("/sys/bus/event_source/devices");
	mkdir(LIVE_EVENTS "kprobe", 0755);
	mkdir(LIVE_EVENTS "kprobe/format", 0755);
	machine_write(LIVE_EVENTS "kprobe/type", "6\n");
	machine_write(LIVE_EVENTS "kprobe/format/retprobe", "config:0\n");
	live_make_tracepoint("exceptions", "page_fault_user", 7);
	machine_cover("/proc/kallsyms", "ffffffff81000000 T __x64_sys_mmap\n"
					"ffffffff81000010 T __x64_sys_munmap\n"
					"ffffffff81000020 T __x64_sys_close\n"
					"ffffffff82000000 D sysctl_max_map_count\n");
	return true;
}

#endif
