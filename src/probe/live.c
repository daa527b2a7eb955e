// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/live.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "faultscope.skel.h"
#include "probe/btf.h"
#include "probe/calls.h"
#include "probe/host.h"
#include "probe/limits.h"
#include "probe/permission.h"

#define MAX_LINKS 1200

struct live {
	struct source src;
	struct live_options opt;
	struct faultscope_bpf *skel;
	struct ring_buffer *rb;
	const struct sink *sink; /* during a drain */
	struct hook_status status[LIVE_HOOKS];
	int choice[LIVE_HOOKS]; /* index of the alternate to try or in use */
	struct bpf_link *links[MAX_LINKS];
	int nr_links;
};

/* libbpf's log callback has no context: the lines of the load under way end up here. */
static char load_log[8192];

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	size_t len = strlen(load_log);

	if (level == LIBBPF_WARN && len + 1 < sizeof(load_log))
		vsnprintf(load_log + len, sizeof(load_log) - len, format, args);
	return 0;
}

static struct live *live_of(struct source *src)
{
	return (struct live *)src;
}

static const struct hook_alternate *chosen(const struct live *live, size_t h)
{
	return live->choice[h] < 0 ? NULL : &hooks[h].alternate[live->choice[h]];
}

static void note_refusal(struct live *live, size_t h, const char *mechanism, const char *answer)
{
	char *why = live->status[h].why;
	size_t len = strlen(why);

	snprintf(why + len, sizeof(live->status[h].why) - len, "%s%s: %s", len ? "; " : "",
		 mechanism, answer);
}

/* After a refusal: the next alternate, or blind. */
static void next_alternate(struct live *live, size_t h, const char *answer)
{
	const struct hook_alternate *alt = chosen(live, h);

	note_refusal(live, h, alt->mechanism, answer);
	live->choice[h]++;
	if (live->opt.forced[h] || !hooks[h].alternate[live->choice[h]].mechanism) {
		live->choice[h] = -1;
		live->status[h].state = FS_HOOK_BLIND;
	}
}

static void choose_first(struct live *live)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		const char *forced = live->opt.forced[h];

		live->choice[h] = 0;
		live->status[h].state = FS_HOOK_OFF;
		if (!(live->opt.tiers >> hooks[h].tier & 1)) {
			live->choice[h] = -1;
			note_refusal(live, h, "off", "its tier is not paid for in this mode");
		} else if (forced && !strcmp(forced, "none")) {
			live->choice[h] = -1;
			live->status[h].state = FS_HOOK_BLIND;
			note_refusal(live, h, "none", "switched off by --hook");
		} else if (forced) {
			while (strcmp(hooks[h].alternate[live->choice[h]].mechanism, forced))
				live->choice[h]++;
		}
	}
}

static bool uses(const struct hook_alternate *alt, const char *program)
{
	for (int i = 0; alt && i < HOOK_PROGRAMS && alt->program[i]; i++)
		if (!strcmp(alt->program[i], program))
			return true;
	return false;
}

static void select_programs(struct live *live)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, live->skel->obj) {
		bool wanted = false;

		for (size_t h = 0; h < nr_hooks; h++)
			wanted |= uses(chosen(live, h), bpf_program__name(prog));
		bpf_program__set_autoload(prog, wanted);
	}
}

static void set_knobs(struct live *live)
{
	struct faultscope_bpf *skel = live->skel;

	skel->rodata->watch_all = live->opt.watch_all;
	skel->rodata->time_faults = live->choice[hook_find("fault_end")] >= 0;
	skel->rodata->smap_enforced = host_has_smap();
#ifdef __x86_64__
	skel->rodata->compat_bits = 2; /* TS_COMPAT: arch/x86/include/asm/thread_info.h */
#endif
	for (unsigned int i = 0; i < nr_call_rows; i++) {
		const struct call_row *row = &call_rows[i];

		if (row->number < FS_SYSCALL_MAX) {
			skel->rodata->syscalls[row->number].call = row->call;
			skel->rodata->syscalls[row->number].shape = row->shape;
		}
	}
	skel->bss->knobs.max_map_count = limit_number("/proc/sys/vm/max_map_count");
}

/* The hook whose program the log names as the one that failed to load; -1 where it names none. */
static int find_failed_hook(const struct live *live)
{
	const char *at = strstr(load_log, "prog '");
	char name[64];

	if (!at || sscanf(at, "prog '%63[^']'", name) != 1)
		return -1;
	for (size_t h = 0; h < nr_hooks; h++)
		if (uses(chosen(live, h), name))
			return h;
	return -1;
}

static int try_load(struct live *live)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo, .btf_custom_path = live->opt.btf_path);
	int err;

	faultscope_bpf__destroy(live->skel);
	load_log[0] = 0;
	live->skel = faultscope_bpf__open_opts(&oo);
	if (!live->skel)
		return -errno;
	select_programs(live);
	set_knobs(live);
	err = faultscope_bpf__load(live->skel);
	return err;
}

static int keep_link(struct live *live, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (live->nr_links == MAX_LINKS) {
		bpf_link__destroy(link);
		return -E2BIG;
	}
	live->links[live->nr_links++] = link;
	return 0;
}

static void drop_links(struct live *live, int from)
{
	while (live->nr_links > from)
		bpf_link__destroy(live->links[--live->nr_links]);
}

static int attach_perf(struct live *live, struct bpf_program *prog, unsigned long long config)
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
		struct bpf_link *link;

		if (fd < 0 && errno == ENODEV)
			continue; /* not online */
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(prog, fd);
		err = keep_link(live, link);
		if (!link)
			close(fd);
	}
	return err;
}

static int attach_call_exits(struct live *live, struct bpf_program *prog)
{
	char name[64];
	int err, attached = 0;

	for (unsigned int i = 0; i < nr_call_rows; i++) {
		snprintf(name, sizeof(name), "sys_exit_%s", call_rows[i].name);
		err = keep_link(live, bpf_program__attach_tracepoint(prog, "syscalls", name));
		if (err && err != -ENOENT)
			return err;
		if (!err)
			attached++;
		else if (!attached)
			return err; /* not even the first: no tracefs */
	}
	return 0;
}

static struct bpf_program *program(struct live *live, const char *name)
{
	return bpf_object__find_program_by_name(live->skel->obj, name);
}

static int attach_alternate(struct live *live, const struct hook_alternate *alt)
{
	int err = 0;

	switch (alt->attach) {
	case ATTACH_RUN:
		return 0;
	case ATTACH_TRACEPOINT:
		for (int i = 0; i < HOOK_PROGRAMS && alt->program[i] && !err; i++)
			err = keep_link(live, bpf_program__attach(program(live, alt->program[i])));
		return err;
	case ATTACH_PERF_FAULTS:
		err = attach_perf(live, program(live, alt->program[0]),
				  PERF_COUNT_SW_PAGE_FAULTS_MIN);
		return err
			       ?: attach_perf(live, program(live, alt->program[1]),
					      PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_MEMCG_FAULTS:
		err = keep_link(live, bpf_program__attach(program(live, alt->program[0])));
		return err
			       ?: attach_perf(live, program(live, alt->program[1]),
					      PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	case ATTACH_CALL_EXITS:
		return attach_call_exits(live, program(live, alt->program[0]));
	}
	return -EINVAL;
}

/* Attaches all that is chosen. Returns 1 when a refusal changed a choice: load again. */
static int attach_all(struct live *live)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = chosen(live, h);
		int before = live->nr_links, err;

		if (!alt)
			continue;
		load_log[0] = 0;
		err = attach_alternate(live, alt);
		if (err) {
			drop_links(live, before);
			next_alternate(live, h, permission_attach_reason(alt->mechanism, err));
			drop_links(live, 0);
			return 1;
		}
		live->status[h].state = FS_HOOK_ON;
		live->status[h].used = alt;
	}
	return 0;
}

static int take_record(void *ctx, void *data, size_t size)
{
	struct live *live = ctx;
	const struct fs_header *h = data;

	if (size < sizeof(*h) || h->len > size)
		return 0;
	return live->sink->take(live->sink->ctx, h);
}

static int live_drain(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);
	int n;

	live->sink = sink;
	n = ring_buffer__consume(live->rb);
	return n < 0 ? n : 0;
}

static int take_losses(struct live *live, struct fs_losses *ret)
{
	*ret = live->skel->bss->losses;
	return 0;
}

unsigned long long live_bpf_ns(const struct source *src)
{
	const struct live *live = (const struct live *)src;
	unsigned long long sum = 0;
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, live->skel->obj) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			sum += info.run_time_ns;
	}
	return sum;
}

/* One pass over the processes; the ring is drained as often as it fills up on the way. */
static int look_all(struct live *live, const struct sink *sink)
{
	int fd = bpf_program__fd(live->skel->progs.look_syscall), err;

	if (live->status[hook_find("look")].state != FS_HOOK_ON)
		return live_drain(&live->src, sink);
	live->skel->bss->knobs.epoch++;
	do {
		LIBBPF_OPTS(bpf_test_run_opts, run);

		live->skel->bss->look_more = 0;
		err = bpf_prog_test_run_opts(fd, &run);
		if (!err)
			err = live_drain(&live->src, sink);
	} while (!err && live->skel->bss->look_more);
	return err;
}

static int live_look(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);
	struct fs_tick_record tick = {};
	unsigned long long begin;
	int err;

	limits_read(&tick.limits);
	if (tick.limits.max_map_count)
		live->skel->bss->knobs.max_map_count = tick.limits.max_map_count;
	/* What hooks sent before the look goes first: it is older than the look's figures. */
	err = live_drain(src, sink);
	if (err)
		return err;
	begin = host_monotonic_ns();
	err = look_all(live, sink);
	if (err) {
		snprintf(src->error, sizeof(src->error), "looking at the processes failed: %s",
			 strerror(-err));
		return err;
	}
	tick.h.kind = FS_REC_TICK;
	tick.h.len = sizeof(tick);
	tick.h.t_ns = host_monotonic_ns();
	tick.look_ns = tick.h.t_ns - begin;
	tick.wall_ns = host_wall_ns();
	take_losses(live, &tick.losses);
	host_own_cost(&tick.own_cpu_ns, &tick.own_rss_bytes);
	tick.own_bpf_ns = live_bpf_ns(src);
	return sink->take(sink->ctx, &tick.h);
}

static int live_start(struct source *src, const struct sink *sink)
{
	struct live *live = live_of(src);

	for (size_t h = 0; h < nr_hooks; h++) {
		struct fs_hook_record r = {.h = {FS_REC_HOOK, sizeof(r), host_monotonic_ns()}};
		const struct hook_status *st = &live->status[h];
		int err;

		r.tier = hooks[h].tier;
		r.state = st->state;
		snprintf(r.name, sizeof(r.name), "%s", hooks[h].name);
		snprintf(r.mechanism, sizeof(r.mechanism), "%s",
			 st->used ? st->used->mechanism : "");
		snprintf(r.why, sizeof(r.why), "%s", st->why);
		err = sink->take(sink->ctx, &r.h);
		if (err)
			return err;
	}
	return 0;
}

static int live_fd(struct source *src)
{
	return ring_buffer__epoll_fd(live_of(src)->rb);
}

static void live_close(struct source *src)
{
	struct live *live = live_of(src);

	drop_links(live, 0);
	ring_buffer__free(live->rb);
	faultscope_bpf__destroy(live->skel);
	free(live);
}

static const struct source_ops live_ops = {
	.start = live_start,
	.look = live_look,
	.drain = live_drain,
	.fd = live_fd,
	.close = live_close,
};

static int load_and_attach(struct live *live, char *error, size_t size)
{
	for (;;) {
		int err = try_load(live), h;

		if (err) {
			h = find_failed_hook(live);
			if (h < 0 || permission_is_total(err))
				return permission_explain(err, load_log, error, size);
			next_alternate(live, h, permission_load_reason(err, load_log));
			continue;
		}
		if (!attach_all(live))
			return 0;
	}
}

int live_open(const struct live_options *opt, struct source **ret, char *error, size_t size)
{
	struct live *live = calloc(1, sizeof(*live));
	struct btf_view view;
	int err;

	if (!live)
		return -ENOMEM;
	live->src.ops = &live_ops;
	live->src.live = 1;
	live->opt = *opt;
	libbpf_set_print(keep_log);
	choose_first(live);
	err = btf_show(&view, opt->btf_path, error, size);
	if (err)
		goto out;
	err = load_and_attach(live, error, size);
	btf_hide(&view);
	if (err)
		goto out;
	live->rb = ring_buffer__new(bpf_map__fd(live->skel->maps.ring), take_record, live, NULL);
	if (!live->rb) {
		err = -errno;
		snprintf(error, size, "cannot map the ring buffer: %s", strerror(errno));
		goto out;
	}
	malloc_trim(0); /* the kernel's BTF, parsed for the load, is megabytes */
	*ret = &live->src;
	live = NULL;
out:
	if (live)
		live_close(&live->src);
	return err;
}

int live_watch(struct source *src, pid_t pid, bool follow)
{
	struct live *live = live_of(src);
	int pidfd = syscall(SYS_pidfd_open, pid, 0), err = 0;
	struct fs_state *st;

	if (pidfd < 0)
		return -errno;
	st = calloc(1, sizeof(*st));
	if (!st) {
		err = -ENOMEM;
		goto out;
	}
	st->flags = FS_PROC_WATCHED | (follow ? FS_PROC_FOLLOW : 0);
	if (bpf_map_update_elem(bpf_map__fd(live->skel->maps.procs), &pidfd, st, BPF_NOEXIST))
		err = errno == EEXIST ? 0 : -errno;
out:
	free(st);
	close(pidfd);
	return err;
}

void live_run_parent(struct source *src, pid_t pid)
{
	live_of(src)->skel->bss->knobs.run_parent = pid;
}

const struct hook_status *live_hooks(const struct source *src)
{
	return ((const struct live *)src)->status;
}
