// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which processes use most memory, and the findings that name them. */
#include "model/memory_holders.h"

#include "pressure_fixture.h"
#include "finding_text.h"

static void born(uint32_t pid, uint32_t ppid, const char *comm, uint64_t mib, uint64_t t_s)
{
	struct process_record r = process_record(pid, 100 + pid, t_s * SECOND);

	r.g.ppid = ppid;
	r.g.rss_anon_pages = mib * 256;
	r.g.data_vm_pages = mib * 512;
	snprintf(r.g.comm, sizeof(r.g.comm), "%s", comm);
	model_take(&m, &r.h);
}

static void test_eaters(void)
{
	const struct finding *f;
	struct top_consumer e[4];
	uint64_t ns;
	size_t n;

	begin();
	born(10, 1, "sh", 1, 1);
	born(11, 10, "python3", 100, 1);
	for (uint32_t i = 0; i < 4; i++)
		born(20 + i, 11, "python3", 200, 1);
	born(30, 11, "gcc", 300, 1);
	n = top_consumers_of(&m, e, 4);
	is_u64(n, 3, "a program and its children are one");
	ok(e[0].root->id.pid == 11 && e[0].processes == 5, "the largest first");
	is_u64(e[0].rss_bytes, 900 * MIB, "with what they have together");
	is_u64(e[0].child_bytes, 200 * MIB, "a child of it in the mean");
	is_u64(e[0].commit_bytes, 1800 * MIB, "and what they may write");
	is_u64(top_consumers_of(&m, e, 1), 1, "no more than asked for");
	for (uint64_t t = 2; t < 70; t++)
		born(30, 11, "gcc", 300 + t, t);
	n = top_consumers_of(&m, e, 4);
	ok(e[1].root->id.pid == 30 && e[1].per_second > 0.9 * MIB && e[1].per_second < 1.1 * MIB,
	   "and how fast: %f", e[1].per_second);
	subject_growth(&m, e[1].root, &ns);
	ok(ns >= 30 * SECOND && ns <= 62 * SECOND, "in the last half to whole minute");
	now_s = 70;
	live(&(struct rates){.available = 300 * MIB, .swap_free = 100 * MIB}, 2);
	f = open_of("P24");
	ok(f && strstr(remedy_str(f, 0), "of swap"), "remedy %s", remedy_str(f, 0));
	end();
}

static bool has_evidence(const struct finding *f, const char *field)
{
	for (size_t i = 0; i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field))
			return true;
	return false;
}

/* Sets the cgroup of the process that test_oom() simulates as killed. */
static void in_cgroup(const char *path)
{
	struct names_record n = RECORD(names_record, RECORD_NAMES, now_s * SECOND);

	n.subject = (struct process_key){.start_ns = 120, .pid = 20};
	strcpy(n.cgroup, path);
	model_take(&m, &n.h);
}

/* Sends the record of a cgroup with a limit of 1 GiB. `shmem` bytes are in tmpfs. */
static void limited(const char *path, uint64_t shmem)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, now_s * SECOND);

	memset(c.n, 0xff, sizeof(c.n));
	c.n[CGROUP_LIMIT] = GIB;
	c.n[CGROUP_SHMEM] = shmem;
	strcpy(c.path, path);
	model_take(&m, &c.h);
}

static void test_oom(void)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, 3 * SECOND);
	const struct finding *f;

	begin();
	born(11, 1, "python3", 100, 1);
	for (uint32_t i = 0; i < 4; i++)
		born(20 + i, 11, "python3", 200, 1);
	r.subject = (struct process_key){.start_ns = 120, .pid = 20};
	r.constraint = OOM_MEMCG;
	r.rss_anon_pages = 200 * 256;
	r.memory = (struct level_room){.used = 1000, .limit = 1000, .known = 1};
	strcpy(r.comm, "python3");
	strcpy(r.by_comm, "sh");
	live(&(struct rates){.available = 300 * MIB, .swap_free = 100 * MIB}, 2);
	next();
	in_cgroup("/a/bc");
	limited("/a/b", 900 * MIB);
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	f = open_of("P17");
	ok(f && !has_evidence(f, "shared memory and tmpfs in its cgroup"),
	   "a cgroup whose name begins alike is another one");
	ok(f && f->nr_because == 1 && !strcmp(f->because[0]->id, "P24"),
	   "because of what was near");
	ok(f && f->severity == SEVERITY_CRITICAL && f->subject.pid == 20, "a kill is told of");
	is_str(f && f->cause ? f->cause : "", "cgroup_memory", "by what limit");
	ok(f && strstr(remedy_str(f, 0), "needed: 200 MiB more in memory.max") &&
		   strstr(remedy_str(f, 0), "1 fewer of the 4 children of python3[11]"),
	   "and what helps, in figures: %s", remedy_str(f, 0));
	tick(6 * GIB, GIB);
	f = open_of("P17");
	ok(!open_of("P24"), "what the kill freed ends the want");
	ok(f && f->nr_because == 1 && !strcmp(f->because[0]->id, "P24"),
	   "which it was because of all the same");
	limited("/a/bc", 900 * MIB);
	next();
	model_take(&m, &r.h);
	findings_judge_events(&fs, &m);
	f = open_of("P17");
	ok(f && has_evidence(f, "shared memory and tmpfs in its cgroup"),
	   "of its own cgroup it is told what fills it");
	end();
}

/*
 * Tests two processes whose memory grows by these numbers of MiB in a minute. The first one is then
 * OOM-killed.
 */
static void test_who_grew(void)
{
	static const struct {
		const char *what, *cgroup, *says, *never;
		uint64_t victim, other;
		enum oom_constraint constraint;
	} cases[] = {
		{"itself", "/a", "the killed process itself grew", "limit of its own", 600, 0,
		 OOM_MEMCG},
		{"itself among others alike", "/a", "the killed process itself grew",
		 "limit of its own", 500, 600, OOM_MEMCG},
		{"another of its cgroup", "/a", "other[30] grew, not the killed",
		 "the killed process itself grew", 10, 600, OOM_MEMCG},
		{"one elsewhere is not to blame", "/b", "the killed process itself grew",
		 "other[30]", 60, 600, OOM_MEMCG},
		{"of the machine's memory it is", "/b", "other[30] grew",
		 "the killed process itself grew", 60, 600, OOM_NONE},
		{"nobody", "/a", "no process grew", "limit of its own", 0, 0, OOM_MEMCG},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oom_record r = RECORD(oom_record, RECORD_OOM, 70 * SECOND);
		struct names_record n = RECORD(names_record, RECORD_NAMES, 70 * SECOND);
		const struct finding *f;

		begin();
		for (uint64_t t = 1; t < 70; t++) {
			born(20, 1, "python3", 100 + cases[i].victim * t / 60, t);
			born(30, 1, "other", 50 + cases[i].other * t / 60, t);
		}
		now_s = 70;
		in_cgroup("/a");
		n.subject = (struct process_key){.start_ns = 130, .pid = 30};
		strcpy(n.cgroup, cases[i].cgroup);
		model_take(&m, &n.h);
		limited("/a", 0);
		r.subject = (struct process_key){.start_ns = 120, .pid = 20};
		r.constraint = cases[i].constraint;
		r.rss_anon_pages = 100 * 256;
		strcpy(r.comm, "python3");
		model_take(&m, &r.h);
		findings_judge_events(&fs, &m);
		f = open_of("P17");
		ok(f && strstr(remedy_str(f, 1), cases[i].says) &&
			   !strstr(remedy_str(f, 1), cases[i].never),
		   "%s: %s", cases[i].what, remedy_str(f, 1));
		ok(f && (cases[i].victim + cases[i].other
				 ? strstr(remedy_str(f, 0), "more memory only delays the failure")
				 : strstr(remedy_str(f, 0), "needed: 100 MiB more")),
		   "and what more room would do: %s", remedy_str(f, 0));
		end();
	}
}

/* Processes of equal size come in the order in which they started, not in that of their records. */
static void test_equal(void)
{
	static const uint32_t pids[] = {41, 39, 43, 40, 42};
	struct top_consumer e[5];

	begin();
	for (size_t i = 0; i < 5; i++)
		born(pids[i], 1, "equal", 10, 1);
	is_u64(top_consumers_of(&m, e, 5), 5, "five programs");
	for (uint32_t i = 0; i < 5; i++)
		is_u64(e[i].root->id.pid, 39 + i, "the older one first");
	end();
}

/* Of processes that started at the same time, the one with the lower pid comes first. */
static void test_equal_age(void)
{
	static const uint32_t pids[] = {42, 40, 41};
	struct top_consumer e[3];

	begin();
	for (size_t i = 0; i < 3; i++) {
		struct process_record r = process_record(pids[i], 7, SECOND);

		r.g.ppid = 1;
		r.g.rss_anon_pages = 256;
		model_take(&m, &r.h);
	}
	is_u64(top_consumers_of(&m, e, 3), 3, "three programs");
	for (uint32_t i = 0; i < 3; i++)
		is_u64(e[i].root->id.pid, 40 + i, "by pid");
	end();
}

/* Parents that run the same program are one consumer, up to 64 levels. */
static void test_deep(void)
{
	const struct process_key last = {.start_ns = 100 + 264, .pid = 264};
	const struct process_key next = {.start_ns = 100 + 265, .pid = 265};
	struct top_consumer e[4];
	struct process_tree k;

	begin();
	for (uint32_t pid = 200; pid < 266; pid++)
		born(pid, pid - 1, "deep", 1, 1);
	is_u64(top_consumers_of(&m, e, 4), 2, "the last process is too deep");
	ok(e[0].root->id.pid == 200 && e[0].processes == 65, "64 levels");
	ok(e[1].root->id.pid == 201 && e[1].processes == 1, "of its own, as far up");
	is_u64(e[1].child_bytes, MIB, "which is no child of itself");
	ok(!process_tree_of(&m, &k) && top_consumer_has(&k, &e[0], model_find(&m, &last)) &&
		   !top_consumer_has(&k, &e[0], model_find(&m, &next)),
	   "the first consumer has those of 64 levels");
	process_tree_free(&k);
	end();
}

/* What a consumer has: resident, swapped and shared memory. */
static void test_sums(void)
{
	struct process_record r = process_record(50, 7, SECOND);
	struct top_consumer e[2];
	uint64_t ns;

	begin();
	r.g.ppid = 1;
	r.g.rss_anon_pages = 10;
	r.g.rss_file_pages = 20;
	r.g.rss_shmem_pages = 40;
	r.g.swap_pages = 80;
	model_take(&m, &r.h);
	r.subject.pid = 51;
	r.g.ppid = 50;
	strcpy(r.g.comm, "proc50");
	r.g.rss_shmem_pages = 39;
	model_take(&m, &r.h);
	r.subject.pid = 52;
	r.g.rss_shmem_pages = -1;
	model_take(&m, &r.h);
	r.subject.pid = 53;
	r.g.flags = PROC_SHARES_MM;
	model_take(&m, &r.h);
	is_u64(top_consumers_of(&m, e, 2), 1, "one program");
	is_u64(e[0].processes, 3, "of three processes: a vfork child shares its memory");
	is_u64(e[0].shmem_bytes, 40 * 4096, "shared memory counts once, as the most of one");
	is_u64(e[0].swap_bytes, 240 * 4096, "swap of all");
	is_u64(e[0].child_bytes, (149 + 109) * 4096 / 2, "and the mean of the children");
	subject_growth(&m, e[0].root, &ns);
	is_u64(ns, 0, "after one reading, growth is not known");
	end();
}

int main(void)
{
	test_equal_age();
	test_deep();
	test_sums();
	test_eaters();
	test_equal();
	test_oom();
	test_who_grew();
	numbers_are(0x50b04198);
	return tap_done();
}
