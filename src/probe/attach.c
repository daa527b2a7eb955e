// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/calls.h"
#include "probe/keeper.h"
#include "probe/parallel_load.h"
#include "probe/tracefs.h"

void links_keep(struct links *links)
{
	if (!links->keeper)
		links->keeper = keeper_start();
}

static int keep(struct links *links, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (links->nr == LINKS_MAX) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	links->link[links->nr++] = link;
	return 0;
}

static void detach_from(struct links *links, int from)
{
	while (links->nr > from)
		bpf_link__destroy(links->link[--links->nr]);
	if (!links->nr) {
		if (links->keeper > 0)
			close(links->keeper);
		links->keeper = 0;
	}
	if (links->iterator >= from)
		links->iterator = -1;
	if (links->first_return >= links->nr)
		links->returns = 0;
}

static int attach_auto(struct links *links, struct bpf_program *prog)
{
	return keep(links, parallel_load_attach(prog));
}

/* Attaches a program to an open event, which the link closes. Closes the event on error, too. */
static int attach_event(struct links *links, struct bpf_program *prog, int fd)
{
	struct bpf_link *link = bpf_program__attach_perf_event(prog, fd);
	int err = keep(links, link);

	if (!link)
		close(fd);
	return err;
}

/* Attaches a program to a software event of each online CPU. */
static int attach_perf(struct links *links, struct bpf_program *prog, unsigned long long config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
	};
	int err = 0;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus() && !err; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0 && errno == ENODEV)
			continue; /* no such CPU is online */
		err = fd < 0 ? -errno : attach_event(links, prog, fd);
	}
	return err;
}

/* Attaches a program to a tracepoint, on all CPUs: for BPF programs, the CPU does not matter. */
static int attach_tracepoint(struct links *links, struct bpf_program *prog, int tracefs,
			     const char *name)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	int number = tracefs_tracepoint(tracefs, name), fd;

	if (number < 0)
		return number;
	attr.config = number;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : attach_event(links, prog, fd);
}

/* Lets the keeper hold the links from number `from` on, too. */
static void give_to_keeper(struct links *links, int from)
{
	int files[LINKS_MAX], n = 0;

	links_keep(links);
	for (int i = from; i < links->nr; i++)
		files[n++] = bpf_link__fd(links->link[i]);
	if (links->keeper > 0)
		keeper_hold(links->keeper, files, n);
}

static int attach_call_exits(struct links *links, struct bpf_program *prog)
{
	int err = 0, before = links->nr, tracefs = tracefs_open();
	char name[64];

	if (tracefs < 0)
		return tracefs;
	for (unsigned int i = 0; i < nr_call_rows; i++) {
		snprintf(name, sizeof(name), "syscalls/sys_exit_%s", call_rows[i].name);
		err = attach_tracepoint(links, prog, tracefs, name);
		if (err && (err != -ENOENT || links->nr == before))
			break; /* refused, or this kernel has no tracepoints of system calls */
	}
	close(tracefs);
	if (err && err != -ENOENT)
		return err;
	if (links->nr == before)
		return -ENOENT;
	give_to_keeper(links, before);
	return 0;
}

/* Attaches a program to the returns of functions. With a cookie, there is one function. */
static int attach_returns(struct links *links, struct bpf_program *prog, const char **names,
			  size_t n, const __u64 *cookie)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = names, .cnt = n, .cookies = cookie,
		    .retprobe = true);

	return keep(links, bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts));
}

static int attach_call_returns(struct links *links, struct bpf_program *prog)
{
	const struct call_functions *f = links->functions;
	const char *names[CALL_FUNCTIONS_MAX], *filter = FILTER_FUNCTION;
	const __u64 filter_cookie = 1;
	int err;

	if (!f || f->hidden)
		return -EACCES;
	if (!f->nr || f->nr == CALL_FUNCTIONS_MAX)
		return -ESRCH;
	for (size_t i = 0; i < f->nr; i++)
		names[i] = f->name[i];
	links->first_return = links->nr;
	err = attach_returns(links, prog, names, f->nr, NULL);
	if (!err && links->filtered)
		err = attach_returns(links, prog, &filter, 1, &filter_cookie);
	links->returns = links->nr - links->first_return;
	return err;
}

static int attach(struct links *links, const struct object *o, const struct hook_alternate *alt)
{
	struct bpf_program *first = NULL, *second = NULL;
	int err = 0;

	if (alt->program[0])
		first = object_program(o, alt->program[0]);
	if (alt->program[0] && alt->program[1])
		second = object_program(o, alt->program[1]);
	switch (alt->attach) {
	case ATTACH_NOTHING:
		return 0;
	case ATTACH_AUTO:
		for (int i = 0; i < HOOK_PROGRAMS && alt->program[i] && !err; i++)
			err = attach_auto(links, object_program(o, alt->program[i]));
		return err;
	case ATTACH_ITERATOR:
		err = keep(links, bpf_program__attach_iter(first, NULL));
		if (!err)
			links->iterator = links->nr - 1;
		return err;
	case ATTACH_PERF_BEGIN:
		return attach_perf(links, first, PERF_COUNT_SW_PAGE_FAULTS);
	case ATTACH_PERF_MAJORS:
		return attach_perf(links, first, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_PERF_FAULTS:
		err = attach_perf(links, first, PERF_COUNT_SW_PAGE_FAULTS_MIN);
		return err ?: attach_perf(links, second, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_MEMCG_FAULTS:
		err = attach_auto(links, first);
		return err ?: attach_perf(links, second, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_FILE_MAJORS:
		err = attach_auto(links, second);
		return err ?: attach_perf(links, first, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_CALL_EXITS:
		return attach_call_exits(links, first);
	case ATTACH_CALL_RETURNS:
		return attach_call_returns(links, first);
	}
	return -EINVAL;
}

int attach_alternate(struct links *links, const struct object *o, const struct hook_alternate *alt)
{
	int before = links->nr, err = attach(links, o, alt);

	if (err)
		detach_from(links, before);
	return err;
}

void detach_all(struct links *links)
{
	detach_from(links, 0);
}

/* Returns the number of missed returns of one link. */
static __u64 missed_by(int fd)
{
	/* struct bpf_link_info of Linux 6.7; that of libbpf may be older */
	struct {
		__u32 type, id, prog_id, pad;
		__u64 addrs;
		__u32 count, flags;
		__u64 missed;
	} info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, (void *)&info, &len) ? 0 : info.missed;
}

__u64 links_missed(const struct links *links)
{
	__u64 sum = 0;

	for (int i = 0; i < links->returns; i++)
		sum += missed_by(bpf_link__fd(links->link[links->first_return + i]));
	return sum;
}
