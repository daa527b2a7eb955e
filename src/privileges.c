// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "privileges.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/capability.h>

#include "probe/host.h"

/* What this kernel and this mode cannot do without. */
static size_t choose_kept(struct session *s, struct right *ret)
{
	size_t n = 0;

	if (live_needs_rights(s->src))
		ret[n++] =
			(struct right){CAP_BPF, CAP_SYS_ADMIN,
				       "kernel.unprivileged_bpf_disabled: before 5.19 it refuses "
				       "looks and map commands too"};
	if (host_hides_processes())
		ret[n++] = (struct right){CAP_SYS_PTRACE, -1,
					  "/proc is mounted with hidepid: other users' processes"};
	if (live_looks_at_proc(s->src) && !host_counts_fds())
		ret[n++] = (struct right){CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE,
					  "before 6.2 descriptors are counted by reading "
					  "/proc/PID/fd"};
	if (s->child)
		ret[n++] = (struct right){
			CAP_KILL, -1, "signals are passed on to the command, whoever it becomes"};
	return n;
}

void privileges_drop(struct session *s)
{
	struct right keep[RIGHTS_KEPT_MAX];
	size_t n = choose_kept(s, keep);

	rights_drop(keep, n, &s->rights);
	if (s->rights.failed[0])
		complain("not all privileges could be given up, and it goes on with them: %s",
			 s->rights.failed);
}

static void name_one(struct session *s, pid_t pid)
{
	struct fs_names_record names = {.h = {FS_REC_NAMES, sizeof(names), host_monotonic_ns()}};
	pid_t initial = live_pid_of(s->src, pid);

	for (struct subject *one = model_each(&s->m, NULL); one; one = model_each(&s->m, one)) {
		if (one->id.pid != (uint32_t)initial || one->final)
			continue;
		names.subject = one->id;
		if (names_read(pid, &names))
			collector_take(&s->collector, &names.h);
		return;
	}
}

void privileges_name_namespace(struct session *s)
{
	const struct filter *f = &s->o->filter;
	struct dirent *de;
	DIR *d;

	if (!host_is_in_pid_namespace())
		return;
	d = host_has_own_proc() ? opendir("/proc") : NULL;
	while (d && (de = readdir(d)))
		if (atoi(de->d_name) > 0)
			name_one(s, atoi(de->d_name));
	if (d)
		closedir(d);
	if (!f->pids)
		complain("in a pid namespace: pids are told as the initial namespace has them");
	for (size_t i = 0; i < f->pids; i++)
		complain("in a pid namespace: pids are told as the initial namespace has them: "
			 "%u here is %d",
			 f->pid[i], live_pid_of(s->src, f->pid[i]));
}

static const char no_symbols[] = "kernel.kptr_restrict hides them: 1 shows them to CAP_SYSLOG";

void privileges_say(struct buf *b, const struct session *s)
{
	const struct rights *r = &s->rights;
	char name[32];

	buf_puts(b, "\nprivileges, once all is attached\n");
	if (!r->nr_kept)
		buf_puts(b, "  capabilities    none is kept; `run` keeps cap_kill: its command may "
			    "change its user\n");
	for (size_t i = 0; i < r->nr_kept; i++)
		buf_printf(b, "  capabilities    %s is kept: %s\n",
			   rights_name(r->kept[i].capability, name, sizeof(name)), r->kept[i].why);
	buf_printf(b, "  no_new_privs    %s\n", r->no_new_privs ? "on" : "off");
	if (r->landlock)
		buf_printf(
			b,
			"  landlock        opens /proc and /sys to read, nothing else (ABI %d)\n",
			r->landlock);
	else
		buf_printf(b, "  landlock        off: %s\n", r->no_landlock);
	buf_printf(b, "  kernel symbols  %s\n",
		   s->collector.symbols.f ? "can be read" : no_symbols);
	if (r->failed[0])
		buf_printf(b, "  not given up    %s\n", r->failed);
}

void privileges_say_json(struct json *j, const struct session *s)
{
	const struct rights *r = &s->rights;
	char name[32];

	json_object(j, "privileges");
	json_array(j, "kept");
	for (size_t i = 0; i < r->nr_kept; i++) {
		json_object(j, NULL);
		json_text(j, "capability", rights_name(r->kept[i].capability, name, sizeof(name)));
		json_text(j, "why", r->kept[i].why);
		json_end(j);
	}
	json_end_array(j);
	json_flag(j, "no_new_privs", r->no_new_privs);
	json_count(j, "landlock_abi", r->landlock);
	json_text_or_null(j, "landlock_off", r->landlock ? NULL : r->no_landlock);
	json_flag(j, "kernel_symbols", s->collector.symbols.f != NULL);
	json_text_or_null(j, "not_given_up", r->failed[0] ? r->failed : NULL);
	json_end(j);
}
