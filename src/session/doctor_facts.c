// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/doctor_facts.h"

#include <string.h>

#include "probe/host_facts.h"
#include "probe/kernel_memory.h"
#include "render/completeness.h"
#include "session/drop_privileges.h"

/*
 * Ways to open or close fds without a system call that faultscope probes. Such fds are counted in
 * totals, but not in `by_call`.
 */
static const char *const only_counted[] = {
	"io_uring (openat, accept, socket)",
	"ioctl (KVM, DRM and dma-buf, loop, perf, userfaultfd)",
	"clone with CLONE_PIDFD",
	"seccomp listeners",
	"recvmmsg with SCM_RIGHTS",
	"inheritance over fork and exec; closing by exec and close_range",
#ifdef __x86_64__
	"32-bit calls: socketcall, ipc, and the mmap (90) that takes a structure",
#elif defined(__aarch64__)
	"calls of 32-bit processes",
#endif
	NULL,
};

/*
 * Since Linux 7.0 ("tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast"),
 * tracepoints run with preemption enabled, and the kernel may switch tasks within a BPF program.
 * Until the program ends, the per-CPU recursion guard skips events of the next task. This was seen
 * with Linux 7.2.
 */
static const char passed_over[] =
	"from Linux 7.0 on, the kernel may switch tasks while a BPF program runs, and skips events "
	"of the next task until the program ends: rare on idle CPUs, more frequent under load; "
	"`missed` in the losses of every output counts them";

int doctor_take_scan(void *ctx, const struct record *h)
{
	struct doctor_scan *look = ctx;
	const struct process_record *p = (const struct process_record *)h;
	const struct tick_record *tick = (const struct tick_record *)h;

	if (h->kind == RECORD_TICK) {
		look->tables_bytes = tick->own_tables_bytes;
		look->state_bytes = tick->own_state_bytes;
	}
	if (h->kind != RECORD_PROCESS)
		return 0;
	look->processes++;
	if (p->g.map_count > look->map_count_high && !(p->g.flags & PROC_NO_COUNT))
		look->map_count_high = p->g.map_count;
	return 0;
}

static void fill_hook(struct report_hook *ret, const struct hook *h, const struct hook_status *st,
		      bool within)
{
	const struct hook_alternate *a = h->alternate;

	*ret = (struct report_hook){.name = h->name,
				    .tier = h->tier,
				    .state = st->state,
				    .core = h->core,
				    .feeds = h->feeds,
				    .lost = h->lost,
				    .tried = st->why,
				    .remedy = st->remedy};
	if (st->state == HOOK_ON) {
		ret->mechanism = st->used->mechanism;
		ret->note = st->used->differs;
		ret->degraded = hook_is_degraded(h, st->used);
	}
	if (h->core && st->state == HOOK_ON && st->used->state == STATE_TASK &&
	    host_may_free_storage())
		ret->note = FREED_STORAGE;
	if (within)
		ret->note = "in a pid namespace, " LOOKS_WITHIN;
	for (size_t i = 0; i + 1 < REPORT_ALTERNATES && a[i].mechanism; i++) {
		ret->alternate[i].mechanism = a[i].mechanism;
		ret->alternate[i].differs = a[i].differs;
	}
}

static void add_costs(struct report_hook *ret, const struct calibration *c)
{
	for (size_t i = 0; i < c->rows && ret->costs < REPORT_COSTS; i++)
		if (!strcmp(c->row[i].hook, ret->name))
			ret->cost[ret->costs++] = c->row[i].cost;
}

/* Adds the highest map count that the first scan found. */
static void add_highest(struct report *r, const struct doctor_scan *look)
{
	if (r->settings < SETTINGS_MAX)
		r->setting[r->settings++] = (struct setting){.key = "map_count_high",
							     .name = "at most now",
							     .of = "max_map_count",
							     .known = look->map_count_high > 0,
							     .value = look->map_count_high};
}

/* Returns how to enable a probe that the user disabled by an option, or NULL. */
static const char *undo(const struct options *o, size_t hook, enum hook_use state)
{
	if (state == HOOK_BLIND && o->forced[hook])
		return "remove the --probe option for it";
	return state == HOOK_OFF ? "remove the --overhead option, or add this level to it" : NULL;
}

void doctor_fill_hooks(struct report *r, const struct options *o, const struct source *src)
{
	r->hooks = nr_hooks < REPORT_HOOKS ? nr_hooks : REPORT_HOOKS;
	for (size_t i = 0; i < r->hooks; i++) {
		fill_hook(&r->hook[i], &hooks[i], &live_hooks(src)[i],
			  hook_find("scan") == (int)i && live_scan_is_confined(src));
		if (!r->hook[i].remedy)
			r->hook[i].remedy = undo(o, i, r->hook[i].state);
	}
}

void doctor_fill_measured(struct report *r, const struct calibration *c,
			  const struct doctor_scan *look)
{
	for (size_t i = 0; i < r->hooks; i++)
		add_costs(&r->hook[i], c);
	for (size_t i = 0; i < c->overheads && i < REPORT_OVERHEADS; i++)
		r->overhead[r->overheads++] =
			(struct report_overhead){.event = c->overhead[i].event,
						 .title = c->overhead[i].title,
						 .watched = c->overhead[i].watched,
						 .cost = c->overhead[i].cost};
	r->only_counted = only_counted;
	if (host_kernel_major() >= 7)
		r->passed_over = passed_over;
	r->processes = look->processes;
	r->tables_bytes = look->tables_bytes;
	r->state_bytes = look->state_bytes;
	r->idle_bytes = look->state_bytes ? kernel_memory_of_idle() : 0;
	r->calibrated = c->done;
	r->seconds = c->seconds;
	r->rounds = c->rounds;
	add_highest(r, look);
	r->advices = advise(r->setting, r->settings, r->origin, r->origins, r->advice);
}

bool doctor_lacks_core(const struct report *r)
{
	for (size_t i = 0; i < r->hooks; i++)
		if (r->hook[i].core && r->hook[i].state == HOOK_BLIND)
			return true;
	return false;
}

void doctor_add_gaps(struct buf *gaps, const struct report *r)
{
	for (size_t i = 0; i < r->hooks; i++)
		if (r->hook[i].state == HOOK_BLIND && !hook_is_unwanted(r->hook[i].tried))
			gap_add(gaps, "not measured: %s (%s)", r->hook[i].name, r->hook[i].tried);
}
