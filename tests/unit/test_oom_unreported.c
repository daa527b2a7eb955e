// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the values of an OOM kill that the kernel did not report: they are those of the last scan,
 * and what the victim took since. */
#include <string.h>

#include "collect/oom/oom_scene.h"
#include "fixture.h"
#include "records/oom_records.h"
#include "tap.h"

#define PAGE	4096ULL
#define MIB	(1ULL << 20)
#define KILLED	50
#define SCAN_S	10
#define KILL_NS (SCAN_S * SECOND + SECOND / 2)
#define RAM	(100 * MIB)

static struct model m;
static struct oom_scene_record scene;

static int keep(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_OOM_SCENE)
		memcpy(ctx, h, sizeof(struct oom_scene_record));
	return 0;
}

/* A scan: 30 MiB of RAM are in use, 12 MiB of them are anonymous, `of_victim` MiB of the victim. */
static void scan(uint64_t of_victim)
{
	struct tick_record tick = tick_record(SCAN_S * SECOND);
	struct process_record p = process_record(KILLED, SECOND, SCAN_S * SECOND);
	struct pressure_record host = RECORD(pressure_record, RECORD_SHORTAGE, SCAN_S * SECOND);

	begin_model(&m, NULL);
	p.g.rss_anon_pages = of_victim * MIB / PAGE;
	if (of_victim)
		model_take(&m, &p.h);
	memset(host.n, 0xff, sizeof(host.n));
	host.n[HOST_ANON] = 12 * MIB;
	host.n[HOST_SHMEM] = 15 * MIB;
	host.n[HOST_CACHED] = 15 * MIB;
	model_take(&m, &host.h);
	tick.limits.mem_total_bytes = RAM;
	tick.limits.mem_available_bytes = RAM - 30 * MIB;
	model_take(&m, &tick.h);
}

/* A program kills the victim, which has `mib` MiB of anonymous memory. */
static void kill_with(uint64_t mib)
{
	struct oom_scenes scenes = {.opened = true, .foreign = true, .root = -1};
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);
	struct sink sink = {.take = keep, .ctx = &scene};

	r.subject = (struct process_key){.pid = KILLED, .start_ns = SECOND};
	r.rss_anon_pages = mib * MIB / PAGE;
	r.sent = 9;
	memset(&scene, 0, sizeof(scene));
	is_u64(oom_scenes_take(&scenes, &m, &r, &sink), 0, "the kill is taken");
	is_u64(scene.source, OOM_FROM_SCAN, "values of the scan");
	is_u64(scene.values_ns, SCAN_S * SECOND, "their time");
	model_free(&m);
}

static uint32_t holders;

static int count(void *ctx, const struct record *h)
{
	holders += h->kind == RECORD_OOM_HOLDER;
	return keep(ctx, h);
}

/* A kill that the kernel did not report, in a cgroup whose path is not known. */
static void test_unknown_cgroup(void)
{
	struct oom_scenes scenes = {.opened = true, .foreign = true, .root = -1};
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);
	struct process_record other = process_record(60, SECOND, SCAN_S * SECOND);
	struct sink sink = {.take = count, .ctx = &scene};

	scan(0);
	other.g.rss_anon_pages = 50 * MIB / PAGE;
	model_take(&m, &other.h);
	r.subject = (struct process_key){.pid = KILLED, .start_ns = SECOND};
	r.memory = (struct level_room){.used = 2560, .limit = 2560, .known = 1};
	r.swap_limit = UINT64_MAX;
	is_u64(oom_scenes_take(&scenes, &m, &r, &sink), 0, "the kill is taken");
	is_u64(scene.source, OOM_FROM_NOTHING, "values of the machine are not those of the cgroup");
	is_u64(scene.limit, 10 * MIB, "the limit is known");
	is_str(scene.cgroup, "", "its path is not");
	is_u64(holders, 1, "processes of other cgroups are not listed");
	model_free(&m);
}

/* A kill of the whole machine: the limit of the victim's cgroup was not reached. */
static void test_machine(void)
{
	struct oom_scenes scenes = {.opened = true, .foreign = true, .root = -1};
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);
	struct sink sink = {.take = keep, .ctx = &scene};

	scan(5);
	r.subject = (struct process_key){.pid = KILLED, .start_ns = SECOND};
	r.memory = (struct level_room){.used = 10, .limit = 2560, .known = 1};
	r.swap_limit = UINT64_MAX;
	r.constraint = OOM_NONE;
	is_u64(oom_scenes_take(&scenes, &m, &r, &sink), 0, "the kill is taken");
	is_u64(scene.limit, RAM, "the memory of the machine");
	is_str(scene.cgroup, "", "no cgroup");
	model_free(&m);
}

int main(void)
{
	test_unknown_cgroup();
	test_machine();
	scan(5);
	kill_with(25);
	is_u64(scene.memory[OOM_ANON], 32 * MIB, "a victim that grew by 20 MiB after the scan");
	is_u64(scene.used, 50 * MIB, "memory in use");
	is_u64(scene.memory[OOM_SHMEM], 15 * MIB, "shared memory");
	scan(0);
	kill_with(25);
	is_u64(scene.memory[OOM_ANON], 37 * MIB, "a victim that started after the scan");
	scan(5);
	kill_with(3);
	is_u64(scene.memory[OOM_ANON], 12 * MIB, "a victim that shrank");
	scan(5);
	kill_with(95);
	is_u64(scene.used, RAM, "no more than the machine has");
	return tap_done();
}
