// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/advice.h"
#include "tap.h"

static struct setting figure(const char *key, int64_t value)
{
	return (struct setting){.key = key, .name = key, .known = true, .value = value};
}

static struct setting use_of(const char *key, const char *limit, int64_t value)
{
	struct setting s = figure(key, value);

	s.of = limit;
	return s;
}

static void test_nothing(void)
{
	struct setting s[] = {figure("max_map_count", 1048576), figure("pid_max", 4194304)};
	struct advice a[ADVICE_MAX];

	is_u64(advise(NULL, 0, NULL, 0, a), 0, "nothing known, nothing advised");
	is_u64(advise(s, 2, NULL, 0, a), 0, "roomy limits need no advice");
	s[0].value = 65530;
	s[0].known = false;
	is_u64(advise(s, 2, NULL, 0, a), 0, "what is not told is not judged");
}

static void test_low(void)
{
	struct setting s[] = {figure("max_map_count", 65530),
			      use_of("map_count_high", "max_map_count", 60000)};
	struct advice a[ADVICE_MAX];

	is_u64(advise(s, 2, NULL, 0, a), 1, "a low default, and used up too: one advice");
	is_str(a[0].key, "max_map_count", "of which limit");
	ok(strstr(a[0].command, "sysctl -w vm.max_map_count="), "a command: %s", a[0].command);
}

static void test_used(void)
{
	struct setting s[] = {figure("file_max", 1000), use_of("file_nr", "file_max", 799)};
	struct advice a[ADVICE_MAX];

	is_u64(advise(s, 2, NULL, 0, a), 0, "79 % in use is no news");
	s[1].value = 800;
	is_u64(advise(s, 2, NULL, 0, a), 1, "80 % is");
	is_str(a[0].command, "sysctl -w fs.file-max=2000", "twice as much");
	is_str(a[0].why, "80 % of it is in use", "why");
	ok(strstr(a[0].lasting, "/etc/sysctl.d/") && a[0].cost, "for good, and what it costs");
}

static void test_nofile(void)
{
	struct setting s[] = {figure("rlimit_nofile", 1024), figure("rlimit_nofile_hard", 524288)};
	struct origin o = {
		.limit = &limit_table[LIMIT_NOFILE], .known = true, .value = 1024, .hard = 524288};
	struct advice a[ADVICE_MAX];

	is_u64(advise(s, 2, &o, 1, a), 1, "the soft default of a shell");
	is_str(a[0].command, "ulimit -Sn 524288", "up to the hard limit");
	s[1].value = 1024;
	is_u64(advise(s, 2, NULL, 0, a), 1, "the hard limit is in the way");
	ok(strstr(a[0].command, "prlimit --pid $$ --nofile="), "then prlimit: %s", a[0].command);
	s[0].unlimited = true;
	is_u64(advise(s, 2, NULL, 0, a), 0, "unlimited is never tight");
}

static void test_cgroup(void)
{
	struct setting s[] = {figure("cgroup_pids_max", 100),
			      use_of("cgroup_pids", "cgroup_pids_max", 95)};
	struct origin o = {.limit = &limit_table[LIMIT_CGROUP_PIDS],
			   .known = true,
			   .value = 100,
			   .used = 95,
			   .from = ORIGIN_HAND};
	struct advice a[ADVICE_MAX];

	strcpy(o.dir, "/sys/fs/cgroup/a");
	strcpy(o.file, "pids.max");
	is_u64(advise(s, 2, &o, 1, a), 1, "a cgroup's limit in use");
	is_str(a[0].command, "echo 200 > /sys/fs/cgroup/a/pids.max", "in the file that sets it");
	strcpy(o.dir, "/sys/fs/cgroup/a.service");
	strcpy(o.at_holder.unit, "a.service");
	is_u64(advise(s, 2, &o, 1, a), 1, "of a unit");
	is_str(a[0].lasting, "systemctl set-property a.service TasksMax=200", "by its manager");
}

static void test_strict(void)
{
	struct setting s[] = {figure("overcommit_memory", 0), figure("commit_limit_bytes", 100),
			      use_of("committed_bytes", "commit_limit_bytes", 99)};
	struct advice a[ADVICE_MAX];

	is_u64(advise(s, 3, NULL, 0, a), 0,
	       "beyond CommitLimit is fine where the mode is not strict");
	s[0].value = 2;
	is_u64(advise(s, 3, NULL, 0, a), 1, "in the strict mode it refuses");
}

static void test_hidden(void)
{
	struct setting s[] = {figure("kptr_restrict", 1), figure("lockdown", 0)};
	struct advice a[ADVICE_MAX];

	snprintf(s[1].text, sizeof(s[1].text), "integrity");
	is_u64(advise(s, 2, NULL, 0, a), 0, "with these it can work");
	s[0].value = 2;
	snprintf(s[1].text, sizeof(s[1].text), "confidentiality");
	is_u64(advise(s, 2, NULL, 0, a), 2, "with these something is hidden");
}

/* Tests that each limit has advice from exactly 80 % of its use on. */
static void test_share_of_each_limit(void)
{
	static const struct {
		const char *limit, *use;
	} rows[] = {
		{"max_map_count", "map_count_high"},
		{"file_max", "file_nr"},
		{"threads_max", "threads"},
		{"cgroup_memory_max_bytes", "cgroup_memory_bytes"},
		{"cgroup_pids_max", "cgroup_pids"},
		{"commit_limit_bytes", "committed_bytes"},
		{"swap_total_bytes", "swap_used_bytes"},
	};
	static const struct {
		int64_t used, limit;
		size_t advised;
	} cases[] = {{0, 1000000, 0},
		     {799999, 1000000, 0},
		     {800000, 1000000, 1},
		     {1000000, 1000000, 1},
		     {5, 0, 0},
		     {5, -1, 0}};
	struct advice a[ADVICE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
			/* the default of max_map_count has advice of its own */
			int64_t more = !strcmp(rows[i].limit, "max_map_count") && cases[k].limit < 1
					       ? 100000
					       : 0;
			struct setting s[] = {
				figure(rows[i].limit, cases[k].limit + more),
				use_of(rows[i].use, rows[i].limit, cases[k].used),
				figure("overcommit_memory", 2),
			};

			ok(advise(s, 3, NULL, 0, a) == cases[k].advised,
			   "%s: %" PRId64 " of %" PRId64 ": %zu", rows[i].limit, cases[k].used,
			   cases[k].limit + more, cases[k].advised);
			if (cases[k].advised)
				is_str(a[0].key, rows[i].limit, "about this limit");
		}
}

/* Tests that a default that is too low has advice, and the next higher value has none. */
static void test_defaults(void)
{
	static const struct {
		const char *key;
		int64_t low;
	} rows[] = {{"max_map_count", 65530},
		    {"inotify_instances", 128},
		    {"inotify_watches", 8192},
		    {"pid_max", 32768},
		    {"rlimit_nofile", 1024}};
	struct advice a[ADVICE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int64_t more = 0; more < 2; more++) {
			struct setting s[] = {figure(rows[i].key, rows[i].low + more),
					      figure("rlimit_nofile_hard", 4096)};

			is_u64(advise(s, 2, NULL, 0, a), !more, rows[i].key);
			ok(more || a[0].why[0], "the reason: %s", a[0].why);
		}
}

int main(void)
{
	test_share_of_each_limit();
	test_defaults();
	test_nothing();
	test_low();
	test_used();
	test_nofile();
	test_cgroup();
	test_strict();
	test_hidden();
	return tap_done();
}
