// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/remedy_parts.h"

static bool is_memory(const struct limit *l)
{
	return l == &limit_table[LIMIT_CGROUP_MEMORY];
}

/*
 * Returns the value for --memory-swap. This option limits memory and swap together, and must not be
 * below --memory. The container keeps its amount of swap. If this amount is not known, the
 * container gets Docker's default: as much swap as memory.
 */
static uint64_t with_swap(const struct remedies *all)
{
	uint64_t swap = all->o->swap_known ? all->o->swap : all->o->value;

	return all->want < UINT64_MAX - swap ? all->want + swap : all->want;
}

static bool update_container(struct remedies *all, const char *program)
{
	const struct limit *l = all->o->limit;
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	if (is_memory(l) && all->o->swap_known && all->o->swap == LIMIT_NONE)
		buf_printf(&c, "%s update --memory %" PRIu64 " --memory-swap -1 ", program,
			   all->want);
	else if (is_memory(l))
		buf_printf(&c, "%s update --memory %" PRIu64 " --memory-swap %" PRIu64 " ", program,
			   all->want, with_swap(all));
	else if (l == &limit_table[LIMIT_CGROUP_PIDS])
		buf_printf(&c, "%s update --pids-limit %" PRIu64 " ", program, all->want);
	else
		return false;
	buf_shell(&c, all->o->at_holder.container);
	remedy_add(all, REMEDY_WORKAROUND, false,
		   "now, until the container is recreated; to make it permanent, change the "
		   "definition of the container (compose: mem_limit, pids_limit)",
		   &c);
	return true;
}

static void set_for_pod(struct remedies *all)
{
	const struct limit *l = all->o->limit;
	const char *pod = all->o->at_holder.pod;
	char command[COMMAND_BYTES], find_text[COMMAND_BYTES];
	struct buf c = BUF_IN(command), find = BUF_IN(find_text);

	if (is_memory(l)) {
		buf_printf(&c,
			   "kubectl set resources deployment/NAME --limits=memory=%" PRIu64 "Mi",
			   (all->want + (1 << 20) - 1) >> 20);
		remedy_add(all, REMEDY_WORKAROUND, true,
			   "permanently, in the definition of the pod (resources.limits.memory); "
			   "this recreates the pod",
			   &c);
	} else if (l == &limit_table[LIMIT_CGROUP_PIDS]) {
		buf_printf(&c, "podPidsLimit: %" PRIu64, all->want);
		remedy_add(all, REMEDY_WORKAROUND, true,
			   "permanently, in the kubelet's configuration, for all pods of the node",
			   &c)
			->scope = SCOPE_HOST;
	}
	buf_puts(&find, "kubectl get pods -A -o custom-columns=UID:.metadata.uid,"
			"NAMESPACE:.metadata.namespace,NAME:.metadata.name | grep ");
	buf_shell(&find, pod);
	remedy_add(all, REMEDY_CHECK, false, "find the name of the pod", &find);
}

static void set_property(struct remedies *all)
{
	const struct workload *w = &all->o->at_holder;
	bool scope = is_unit(w->unit, "scope");
	char command[COMMAND_BYTES];
	struct buf c = BUF_IN(command);

	buf_printf(&c, "systemctl%s set-property ", w->user_manager ? " --user" : "");
	buf_shell(&c, w->unit);
	buf_printf(&c, " %s=%" PRIu64, all->o->limit->unit_key, all->want);
	remedy_add(all, REMEDY_WORKAROUND, !scope,
		   scope ? "now, until this scope ends"
			 : "now and permanently; with --runtime until the next boot",
		   &c);
}

static void write_file(struct remedies *all)
{
	const struct origin *o = all->o;
	char path_text[COMMAND_BYTES], command[COMMAND_BYTES];
	struct buf path = BUF_IN(path_text), c = BUF_IN(command);

	buf_printf(&path, "%s/%s", o->dir, o->file);
	buf_printf(&c, "echo %" PRIu64 " > ", all->want);
	put_word(&c, &path);
	remedy_add(all, REMEDY_WORKAROUND, false,
		   "now, until the cgroup is removed or its manager sets the limit again", &c);
}

static bool set_by_runtime(struct remedies *all)
{
	const struct workload *w = &all->o->at_holder;

	if (all->o->from != ORIGIN_RUNTIME)
		return false;
	if (w->pod[0])
		set_for_pod(all);
	else if (w->runtime == RUNTIME_DOCKER)
		return update_container(all, "docker");
	else if (w->runtime == RUNTIME_PODMAN)
		return update_container(all, "podman");
	else if (w->runtime == RUNTIME_CONTAINERD)
		return update_container(all, "nerdctl");
	/*
	 * a change in Kubernetes applies only to new containers: the running container needs
	 * another command
	 */
	return false;
}

static bool is_managed(const struct origin *o)
{
	const char *unit = o->at_holder.unit;
	const char *name = strrchr(o->dir, '/');

	return o->limit->unit_key && !o->at_holder.unit_inside && *unit && name &&
	       !strcmp(name + 1, unit);
}

static void check(struct remedies *all)
{
	const struct origin *o = all->o;
	char path_text[COMMAND_BYTES], command[COMMAND_BYTES];
	struct buf path = BUF_IN(path_text), c = BUF_IN(command);

	buf_printf(&path, "%s/%s", o->dir,
		   o->limit == &limit_table[LIMIT_CGROUP_PIDS] ? "cgroup.procs" : "memory.stat");
	buf_puts(&c, o->limit == &limit_table[LIMIT_CGROUP_PIDS]
			     ? "ps -o nlwp,pid,comm -p $(paste -sd, "
			     : "sort -k2 -n -r ");
	put_word(&c, &path);
	buf_puts(&c, o->limit == &limit_table[LIMIT_CGROUP_PIDS] ? ")" : " | head -n 20");
	remedy_add(all, REMEDY_CHECK, false, "show what the cgroup contains", &c);
}

void remedy_cgroup(struct remedies *all)
{
	if (!all->o->file[0])
		return; /* neither the cgroup nor one of its parents has a limit */
	if (!set_by_runtime(all)) {
		if (is_managed(all->o))
			set_property(all);
		else
			write_file(all);
	}
	check(all);
}
