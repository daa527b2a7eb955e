// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes up a machine from a seed, and prints the report of `doctor` for this machine, as text and
 * as JSON.
 *
 * usage: doctor_pages SEED WIDTH [colour]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "render/doctor_report.h"

static void make_cost(struct cost *c, unsigned int nth)
{
	static const char *const per[] = {"fault", "mapping_call", "process", "scan"};

	*c = (struct cost){.per = per[nth], .said = "an event", .measured = roll(3)};
	c->low = roll(5000) / 10.0;
	c->median = c->low + roll(9000) / 10.0;
	c->high = c->median + roll(20000) / 10.0;
	snprintf(c->why, sizeof(c->why), "below the noise of this machine");
}

static void make_hook(struct report_hook *h, unsigned int nth)
{
	static const char *const names[] = {"scan", "lifecycle",  "fault_begin", "signal",
					    "oom",  "calls", "fault_end",   "mmap_lock"};

	*h = (struct report_hook){.name = names[nth], .tier = roll(4), .state = roll(3)};
	h->core = nth < 2;
	h->degraded = h->core && h->state == HOOK_ON && roll(2);
	h->mechanism = h->state == HOOK_ON ? "tp_btf" : NULL;
	h->feeds = "page faults by class, and how long each of them took";
	h->lost = "faults that the kernel begins for the process";
	h->tried = roll(2) ? "" : "fentry: EPERM, kprobe: ENOENT";
	h->note = roll(2) ? NULL : "tells no access";
	h->remedy = roll(2) ? NULL : "sysctl -w kernel.perf_event_paranoid=1";
	for (unsigned int i = 0; i < roll(4); i++) {
		h->alternate[i].mechanism = i ? "kprobe" : "tracepoint";
		h->alternate[i].differs = roll(2) ? NULL : "counts twice what is tried again";
	}
	h->costs = roll(REPORT_COSTS + 1);
	for (unsigned int i = 0; i < h->costs; i++)
		make_cost(&h->cost[i], i);
}

static void make_overheads(struct report *r)
{
	static const char *const events[] = {"fault", "getppid"};

	r->overheads = 2 * roll(3);
	for (size_t i = 0; i < r->overheads; i++) {
		r->overhead[i].event = events[i / 2];
		r->overhead[i].title = "an event of this name";
		r->overhead[i].watched = i % 2 == 0;
		make_cost(&r->overhead[i].cost, 0);
	}
}

static void make_setting(struct report *r, const char *key, const char *of, enum setting_unit unit)
{
	struct setting *s = &r->setting[r->settings++];

	*s = (struct setting){.key = key, .name = key, .unit = unit, .of = of, .known = roll(6)};
	s->unlimited = !of && !roll(6);
	s->value = of ? (s - 1)->value * (int64_t)(50 + roll(51)) / 100
		      : (int64_t)((1 << 14) + roll(1 << 20));
	snprintf(s->text, sizeof(s->text), "/user.slice");
}

static void make_settings(struct report *r)
{
	make_setting(r, "max_map_count", NULL, SETTING_COUNT);
	make_setting(r, "file_max", NULL, SETTING_COUNT);
	make_setting(r, "file_nr", "file_max", SETTING_COUNT);
	make_setting(r, "nr_open", NULL, SETTING_COUNT);
	make_setting(r, "rlimit_nofile", NULL, SETTING_COUNT);
	make_setting(r, "rlimit_nofile_hard", NULL, SETTING_COUNT);
	make_setting(r, "rlimit_memlock_bytes", NULL, SETTING_BYTES);
	make_setting(r, "overcommit_memory", NULL, SETTING_COUNT);
	make_setting(r, "commit_limit_bytes", NULL, SETTING_BYTES);
	make_setting(r, "committed_bytes", "commit_limit_bytes", SETTING_BYTES);
	make_setting(r, "mem_total_bytes", NULL, SETTING_BYTES);
	make_setting(r, "swap_total_bytes", NULL, SETTING_BYTES);
	make_setting(r, "swap_used_bytes", "swap_total_bytes", SETTING_BYTES);
	make_setting(r, "inotify_instances", NULL, SETTING_COUNT);
	make_setting(r, "inotify_watches", NULL, SETTING_COUNT);
	make_setting(r, "pid_max", NULL, SETTING_COUNT);
	make_setting(r, "threads_max", NULL, SETTING_COUNT);
	make_setting(r, "threads", "threads_max", SETTING_COUNT);
	make_setting(r, "cgroup", NULL, SETTING_TEXT);
	make_setting(r, "cgroup_memory_max_bytes", NULL, SETTING_BYTES);
	make_setting(r, "cgroup_memory_bytes", "cgroup_memory_max_bytes", SETTING_BYTES);
	make_setting(r, "cgroup_pids_max", NULL, SETTING_COUNT);
	make_setting(r, "cgroup_pids", "cgroup_pids_max", SETTING_COUNT);
	make_setting(r, "kptr_restrict", NULL, SETTING_COUNT);
	make_setting(r, "lockdown", NULL, SETTING_TEXT);
}

static void make_rights(struct report_rights *r)
{
	r->nr_kept = roll(REPORT_KEPT);
	for (size_t i = 0; i < r->nr_kept; i++) {
		snprintf(r->kept[i].capability, sizeof(r->kept[i].capability), "cap_%zu", i);
		r->kept[i].why = "processes of other users are read";
	}
	r->no_new_privs = roll(2);
	r->landlock_abi = roll(2) * 4;
	r->landlock_off = r->landlock_abi ? NULL : "this kernel has none";
	r->kernel_symbols = roll(2);
	r->not_given_up = roll(2) ? NULL : "capabilities: EPERM";
}

static void make_recorder(struct report *r)
{
	r->recorders = roll(4);
	for (size_t i = 0; i < r->recorders; i++) {
		r->recorder[i] = (struct report_recorder){"fault", "bad accesses of the kernel",
							  "what precedes an oops", ""};
		if (roll(2))
			snprintf(r->recorder[i].refused, sizeof(r->recorder[i].refused), "EPERM");
	}
	if (!r->recorders)
		snprintf(r->recorder_lacks, sizeof(r->recorder_lacks), "no BTF of the kernel");
	r->recorder_holds = roll(2);
}

int main(int argc, char **argv)
{
	static const char *const counted[] = {"io_uring", "remap_file_pages", NULL};
	static struct host_record host = {.cpus = 8, .interval_ns = 1000000000};
	static struct report r;
	struct view v = {.unicode = true};
	struct buf b = {};

	if (argc != 3 && argc != 4)
		return 2;
	dice = 0x9e3779b97f4a7c15ULL * (strtoull(argv[1], NULL, 10) + 1);
	v.width = atoi(argv[2]);
	v.colour = argc == 4;
	snprintf(host.kernel, sizeof(host.kernel), "6.1.0-13-amd64");
	snprintf(host.arch, sizeof(host.arch), "x86_64");
	snprintf(host.host, sizeof(host.host), "db1");
	snprintf(host.boot_id, sizeof(host.boot_id), "1-2-3");
	r.version = "1.2.3";
	r.host = &host;
	r.hooks = 8;
	for (unsigned int i = 0; i < r.hooks; i++)
		make_hook(&r.hook[i], i);
	make_recorder(&r);
	r.only_counted = counted;
	r.passed_over = roll(2) ? NULL : "hooks that interrupt each other";
	make_settings(&r);
	r.advices = advise(r.setting, r.settings, r.origin, r.origins, r.advice);
	make_rights(&r.rights);
	make_overheads(&r);
	r.processes = 1 + roll(400);
	r.calibrated = roll(3);
	r.seconds = roll(90) / 10.0;
	r.rounds = roll(40);
	report_text_title(&b, &v, &r);
	report_text_summary(&b, &v, &r);
	report_text_rest(&b, &v, &r);
	report_json(&b, &r);
	fputs(b.s, stdout);
	buf_free(&b);
	return 0;
}
