// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/live_load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "probe/calls.h"
#include "probe/host_facts.h"
#include "probe/layout.h"
#include "probe/load_log.h"
#include "probe/load_shortage.h"
#include "probe/page_table.h"
#include "probe/permission.h"
#include "probe/rights.h"
#include "probe/ring.h"

#define SLOW_NS 1000000
/* `memory` needs room for many copies of stacks after an exec (bpf/stack_copy.bpf.h) */
#define RING_FACTOR_RESIDENT 4

bool live_is_on(const struct live *live, const char *hook)
{
	return live->choice.status[hook_find(hook)].state == HOOK_ON;
}

bool live_scans_with(const struct live *live, const char *mechanism)
{
	return choice_is(&live->choice, "scan", mechanism);
}

static bool is_chosen(const struct live *live, const char *hook)
{
	return choice_of(&live->choice, hook_find(hook));
}

static void select_programs(struct live *live)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, live->obj.obj)
		bpf_program__set_autoload(
			prog, choice_hook_of(&live->choice, bpf_program__name(prog)) >= 0 ||
				      (live->nested && !strcmp(bpf_program__name(prog), OWN_PID)) ||
				      (is_chosen(live, "resident") &&
				       page_table_has_program(bpf_program__name(prog))));
}

static void fill_config(struct live *live)
{
	const struct hook_alternate *begin = choice_of(&live->choice, hook_find("fault_begin"));
	const struct hook_alternate *end = choice_of(&live->choice, hook_find("fault_end"));
	const struct hook_alternate *kernel = choice_of(&live->choice, hook_find("fault_kernel"));
	static const __u32 percent[FS_NR_MARKS] = {50, 80, 95};
	struct fs_config *c = live->obj.config;

	c->watch_all = live->opt.watch_all;
	c->time_faults = end != NULL;
	c->majors_alone = end && end->lacks & LACKS_MINOR;
	c->files_begin = end && end->attach == ATTACH_FILE_MAJORS;
	c->in_seconds = live->opt.majors;
	c->attribute = live->opt.attribute;
	c->classify = begin && c->time_faults && !c->majors_alone && !live->areas_foreign &&
		      choice_of(&live->choice, hook_find("fault_class"));
	c->slow_ns = choice_is_hash(&live->choice) ? UINT64_MAX : SLOW_NS;
	c->samples = c->classify && c->attribute && !choice_is_hash(&live->choice);
	c->disk_by_counters = choice_is(&live->choice, "disk_wait", SCHEDULER_COUNTERS);
	c->numa = host_balances_numa();
	c->huge_by_rss = end && strcmp(end->mechanism, "memcg");
	c->begins_both = begin && begin->lacks & SEES_KERNEL;
	/*
	 * Metrics contain no CPU time, which changes even without faults. Sums over threads can
	 * therefore be skipped while no faults are counted.
	 */
	c->sums_spared = live->opt.majors && begin &&
			 (c->begins_both || (kernel && !(kernel->lacks & LACKS_COPIES)));
	c->smap_enforced = host_has_smap();
	memcpy(c->mark_percent, percent, sizeof(percent));
	/* without lifecycle, a process that a scan finds is new, not one that lost its state */
	c->clones_free_storage = host_may_free_storage() && is_chosen(live, "lifecycle");
	c->attribute_maps = live->opt.attribute_maps;
	c->attribute_fds = live->opt.attribute_fds;
	c->ring_bytes = ring_bytes_for(sysconf(_SC_NPROCESSORS_ONLN));
	calls_fill(c);
	page_table_fill(&live->resident, is_chosen(live, "resident"));
	if (live->resident.on)
		c->ring_bytes *= RING_FACTOR_RESIDENT;
	c->resident = live->resident;
}

/* Returns whether a program belongs to a core probe, which is attached before the others. */
static bool is_of_core(void *ctx, const struct bpf_program *prog)
{
	const struct live *live = ctx;
	int h = choice_hook_of(&live->choice, bpf_program__name(prog));

	return h < 0 || hooks[h].core;
}

static enum object_build build_of(const struct live *live)
{
	if (choice_is_hash(&live->choice))
		return OBJECT_HASH;
	return live->choice.no_kfuncs ? OBJECT_PLAIN : OBJECT_FULL;
}

/*
 * Skips the attach type of `calls` at the returns of functions, if this kernel has no such thing.
 * Until 6.13, fprobe_init_rethook() makes a pool of two entries for each function and CPU, which
 * all threads of the host that wait in a traced function share. So it is then used on request only.
 */
static void ask_returns(struct live *live, const struct btf *kernel)
{
	const char *why = NULL;

	if (!kernel_traces_returns())
		why = NO_RETURNS;
	else if (layout_returns_unlimited(kernel))
		;
	else if (!host_kernel_since(6, 7))
		why = UNCOUNTED_RETURNS;
	else if (!live->choice.forced[hook_find("calls")])
		why = FEW_RETURNS;
	if (why)
		choice_forbid(&live->choice, "calls", CALL_RETURNS, why);
}

/*
 * Before the load, skips programs whose function or tracepoint this kernel lacks. Otherwise the
 * load would fail, and the verifier's work for a failed load takes most of the time of a start.
 * ask_btf() also sets layouts that programs read without relocation.
 */
static void ask_btf(struct live *live)
{
	const struct answer answer = permission_load_answer(-ESRCH, "");
	/* without BTF, the load will fail with an explanation */
	struct btf *kernel = *live->btf_path ? NULL : object_read_types(&live->obj);

	for (size_t h = 0; kernel && h < nr_hooks; h++)
		while (choice_of(&live->choice, h) &&
		       object_lacks_one(&live->obj, choice_of(&live->choice, h)->program,
					HOOK_PROGRAMS, kernel))
			choice_refused(&live->choice, h, &answer);
	if (kernel) {
		if (!layout_counts_delays(kernel))
			choice_forbid(&live->choice, "disk_wait", SCHEDULER_COUNTERS, NO_DELAYS);
		if (choice_is(&live->choice, "tlb", "fentry") &&
		    !kernel_traces_function(kernel_types_traced(&live->obj.types, FLUSH_FUNCTION)))
			choice_forbid(&live->choice, "tlb", "fentry", NO_FUNCTIONS);
		if (choice_is(&live->choice, "calls", CALL_RETURNS))
			ask_returns(live, kernel);
		live->areas_foreign = layout_areas_foreign(kernel);
		live->obj.config->lock_success = layout_lock_success(kernel);
	}
	live->obj.config->areas_foreign = live->areas_foreign;
}

static int try_load(struct live *live)
{
	struct host_limits now;
	int err;

	object_close(&live->obj);
	if (live->before.obj && live->before.build != build_of(live))
		return -EOPNOTSUPP;
	load_log_begin();
	err = object_open(&live->obj, build_of(live), *live->btf_path ? live->btf_path : NULL);
	if (err)
		return err;
	ask_btf(live);
	select_programs(live);
	err = exhausted_files(object_files(&live->obj));
	if (err)
		return err;
	fill_config(live);
	object_size_tables(&live->obj, live->obj.config->ring_bytes,
			   live->opt.watch_all ? host_processes() * 2 : 0);
	if (live->before.obj)
		err = object_adopt(&live->obj, &live->before);
	if (!err)
		err = object_load(&live->obj, live->opt.attribute,
				  live->opt.defers && !live->begun ? is_of_core : NULL, live);
	if (err && !*live->btf_path)
		err = is_exhausted(live->obj.types.err) ? live->obj.types.err
							: exhausted_by_btf(err);
	if (!err) {
		limits_read(&live->limits, &now);
		live->obj.shared->max_map_count = now.max_map_count;
		if (is_chosen(live, "resident"))
			page_table_check(live->obj.obj, &live->resident, live->obj.shared);
		live->obj.shared->has_swap = host_has_swap();
		live->growth.row = live->obj.growth;
		live->growth.rows = live->obj.growth_rows;
		live->growth.spare = live->obj.spares;
		live->growth.shared = live->obj.shared;
	}
	return err;
}

/*
 * Returns the probe that failed, or -1 if there is none. It is the probe of the first program in
 * the load log that belongs to a chosen attach type. The log also names functions that programs
 * share.
 */
static int find_failed_hook(const struct live *live)
{
	const char *at = load_log();
	char name[64];
	int h = -1;

	while (h < 0 && (at = strstr(at, "prog '"))) {
		if (sscanf(at, "prog '%63[^']'", name) == 1)
			h = choice_hook_of(&live->choice, name);
		at++;
	}
	return h;
}

/*
 * Without the kernel's own BTF, no program can attach to a kernel function or tracepoint by its
 * type, because a BTF file cannot give the type's id. Chooses the next attach type for all probes
 * that need such ids. Returns false if there is no such probe.
 */
static bool refuse_typed(struct live *live)
{
	const struct answer answer = {.text = "needs the kernel's own BTF"};
	bool refused = false;

	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = choice_of(&live->choice, h);

		if (!alt || !alt->program[0] || !object_is_typed(&live->obj, alt->program[0]))
			continue;
		choice_refused(&live->choice, h, &answer);
		refused = true;
	}
	return refused;
}

int live_attach(struct live *live, const struct hook_alternate *alt)
{
	cap_t had = rights_raise(RIGHTS_FOR_TRACEFS);
	int err = attach_alternate(&live->links, &live->obj, alt);

	rights_lower(had);
	return err;
}

/*
 * Gives BPF programs the addresses of variables, which they need only for failed calls, and the
 * attach types of `calls` the functions of calls. `calls` is the last probe that is attached.
 */
static void give_variables(struct live *live, size_t hook)
{
	if ((int)hook != hook_find("calls"))
		return;
	variables_take(&live->variables, live->obj.shared->variable);
	live->links.functions = &live->variables.functions;
}

/* Attaches the chosen attach type of a probe. Returns 0 or -errno. */
static int attach_one(struct live *live, size_t hook, const struct hook_alternate *alt)
{
	int err;

	load_log_begin();
	give_variables(live, hook);
	err = live_attach(live, alt);
	if (err)
		return err;
	live->choice.status[hook].state = HOOK_ON;
	live->choice.status[hook].used = alt;
	live->choice.status[hook].pending = false;
	return 0;
}

/*
 * Attaches all chosen attach types that are not attached yet; those of core probes only, if the
 * others are deferred. Returns 0 if all are attached. Returns 1 if an attach type failed and
 * another was chosen, which needs a new load. Returns -errno if files or memory run out.
 */
static int attach_all(struct live *live)
{
	for (size_t h = 0; h < nr_hooks; h++) {
		const struct hook_alternate *alt = choice_of(&live->choice, h);
		int err = 0;

		if (!alt || live->choice.status[h].state == HOOK_ON)
			continue;
		if (object_has_rest(&live->obj) && !hooks[h].core) {
			live->choice.status[h].pending = true;
			live->choice.status[h].used = alt;
		} else
			err = attach_one(live, h, alt);
		if (is_exhausted(err))
			return err;
		if (err) {
			struct answer answer = permission_attach_answer(alt->mechanism, err);

			choice_refused(&live->choice, h, &answer);
			return 1;
		}
	}
	if (!object_has_rest(&live->obj))
		choice_settle_classes(&live->choice, live->areas_foreign);
	return 0;
}

/* Detaches the probes of the object before, whose programs the new object has too. */
static void detach_before(struct live *live)
{
	detach_all(&live->links);
	object_close(&live->before);
	for (size_t h = 0; h < nr_hooks; h++)
		if (live->choice.status[h].state == HOOK_ON)
			live->choice.status[h].state = HOOK_OFF;
}

/*
 * Under lockdown, no program can be loaded. For `doctor`, continues without programs. Returns false
 * if the load must end.
 */
static bool leave_programs(struct live *live)
{
	if (!live->opt.examines || live->locked)
		return false;
	live->locked = true;
	choice_refuse_programs(&live->choice, &permission_locked);
	return true;
}

/*
 * After a failed load, chooses another build, or the next attach type of one probe. Returns false
 * if no build or attach type is left to try.
 */
static bool choose_again(struct live *live, int err)
{
	struct features *f = &live->features;
	const char *lacking;
	struct answer answer;
	int h;

	if (is_exhausted(err) || permission_is_total(err))
		return false;
	features_ask(f);
	if (f->lacks_iterators && choice_leave_kfuncs(&live->choice))
		return true;
	if (permission_is_locked(true))
		return leave_programs(live);
	lacking = features_lack_task_build(f);
	if (lacking && choice_fall_back(&live->choice, lacking))
		return true;
	if (f->lacks_btf && refuse_typed(live))
		return true;
	h = find_failed_hook(live);
	if (h < 0)
		return false;
	answer = permission_load_answer(err, load_log());
	choice_refused(&live->choice, h, &answer);
	return true;
}

/* Begins a new object, which takes over the maps of the present one. */
static void leave_object(struct live *live)
{
	live->before = live->obj;
	memset(&live->obj, 0, sizeof(live->obj));
}

/* Loads and attaches until no attach type fails. Returns 0 or -errno. */
static int load_and_attach(struct live *live, char *error, size_t size)
{
	int err;

	do {
		while ((err = try_load(live)))
			if (!choose_again(live, err))
				return permission_explain(err, load_log(), error, size);
		detach_before(live);
		err = attach_all(live);
		if (err < 0)
			return permission_explain(err, "", error, size);
		if (err && live->begun)
			leave_object(live);
	} while (err);
	return 0;
}

int live_load(struct live *live, char *error, size_t size)
{
	int err;

	if (permission_is_locked(false) && !leave_programs(live))
		return permission_explain(-EPERM, "", error, size);
	err = load_and_attach(live, error, size);
	if (err)
		return err;
	live->exact_ns = live_is_on(live, "lifecycle") ? host_boottime_ns() : UINT64_MAX;
	if (!live->nested || !live_scans_with(live, "/proc"))
		return 0;
	snprintf(error, size,
		 "in a pid namespace processes are looked at by BPF iterators, and none "
		 "works here: %s\n"
		 "  try:  outside of it, or nsenter -t 1 -p -m faultscope … "
		 "(docker: --pid=host)",
		 live->choice.status[hook_find("scan")].why);
	return -ENOSYS;
}

int live_load_rest(struct live *live, char *error, size_t size)
{
	int err;

	live->begun = true;
	load_log_begin();
	err = object_load_rest(&live->obj);
	if (err && !choose_again(live, err))
		return permission_explain(err, load_log(), error, size);
	err = err ? 1 : attach_all(live);
	if (err < 0)
		return permission_explain(err, "", error, size);
	if (!err)
		return 0;
	leave_object(live);
	return load_and_attach(live, error, size);
}
