// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the table of processes whose mappings and perf maps are known: which process is evicted,
 * which perf maps are closed, and what is counted as lost. Mappings and perf maps are played.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "collect/files/target_file.h"
#include "collect/symbols/user_procs.h"
#include "open_files.h"
#include "tap.h"

#define ENTRY_BYTES sizeof(struct symbol_entry)
#define TABLE_BYTES (16u << 20) /* maximum of the tables of all perf maps */
#define PLAYED_FD   1000	/* descriptors of perf maps are not real */

static struct user_symbols us;
static const struct user_maps *before; /* what the last read of mappings was compared with */
static unsigned int reads, opened, closed, freed, targets;
static int learn_error, open_error, target_error;
static size_t room;    /* entries in the table of a new perf map */
static bool found;     /* a perf map has the address */
static uint32_t grows; /* entries that are cut from a table while it is searched */
static uint64_t searched;

int user_maps_learn(struct user_symbols *of_us, const struct process_key *of,
		    const struct user_maps *known, struct user_maps *ret)
{
	if (of_us != &us || !of->pid)
		abort();
	before = known;
	if (learn_error)
		return learn_error;
	ret->n = ++reads;
	ret->m = malloc(1);
	return 0;
}

void user_maps_free(struct user_maps *maps)
{
	freed += maps->m != NULL;
	free(maps->m);
	*maps = (struct user_maps){};
}

int target_open(const struct process_key *of)
{
	targets++;
	return target_error ? target_error : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int perf_map_open(int proc, struct perf_map *ret)
{
	if (fcntl(proc, F_GETFD) < 0)
		abort();
	if (open_error)
		return open_error;
	*ret = (struct perf_map){.fd = PLAYED_FD + opened++, .table.room = room};
	return 0;
}

bool perf_map_find(struct perf_map *m, __u64 ip, char *ret, size_t size, __u64 *ret_offset)
{
	searched = ip;
	m->table.cut += grows;
	if (!found)
		return false;
	snprintf(ret, size, "jitted");
	*ret_offset = 5;
	return true;
}

void perf_map_close(struct perf_map *m)
{
	closed += m->fd >= PLAYED_FD;
	*m = (struct perf_map){.fd = -1};
}

static struct process_key key_of(uint32_t pid)
{
	return (struct process_key){.pid = pid, .start_ns = 7};
}

static void begin(void)
{
	memset(&us, 0, sizeof(us));
	us.procs = calloc(1, sizeof(*us.procs));
	reads = opened = closed = freed = targets = 0;
	learn_error = open_error = target_error = 0;
	room = grows = 0;
	found = true;
}

static void end(void)
{
	for (size_t i = 0; i < USER_PROCS_MAX; i++)
		user_proc_forget(&us.procs->p[i]);
	is_u64(freed, reads, "all mappings are freed");
	is_u64(closed, opened, "all perf maps are closed");
	free(us.procs);
}

static struct user_proc *learn(uint32_t pid)
{
	struct process_key key = key_of(pid);
	struct user_proc *p = NULL;
	int err = user_proc_learn(&us, &key, &p);

	if (err)
		ok(!p, "no process is returned with an error");
	return err ? NULL : p;
}

static struct user_proc *find(uint32_t pid, uint64_t birth)
{
	struct process_key key = {.pid = pid, .start_ns = birth};

	return user_procs_find(&us, &key);
}

static void test_find(void)
{
	struct user_proc *p;

	begin();
	ok(!find(10, 7) && !find(0, 0), "an empty table has no process, not even process 0");
	is_u64(us.clock, 0, "and no use");
	p = learn(10);
	ok(p && p->of.pid == 10 && p->of.start_ns == 7 && p->maps.n == 1, "a process");
	ok(!before, "it had no mappings before");
	ok(p->perf.fd == -1 && !p->perf_asked, "it has no perf map");
	is_u64(p->used, us.clock, "it was used last");
	ok(find(10, 7) == p, "it is found");
	is_u64(p->used, 2, "which is a use");
	ok(!find(10, 8) && !find(11, 7), "another process is not");
	is_u64(us.clock, 2, "which is no use");
	p->astray = 3;
	ok(learn(10) == p && p->maps.n == 2, "its mappings are read again");
	ok(before == &p->maps, "they are compared with the ones before");
	is_u64(freed, 1, "those are freed");
	is_u64(p->astray, 3, "other values stay");
	learn_error = -ESRCH;
	ok(!learn(10) && p->maps.n == 2 && freed == 1, "an error changes nothing");
	ok(!learn(11) && !find(11, 7), "a process that cannot be read gets no entry");
	is_u64(us.lost.processes, 0, "no process was evicted");
	end();
}

/* A table that is full loses the process that was not used for the longest time. */
static void test_eviction(void)
{
	begin();
	for (uint32_t i = 0; i < USER_PROCS_MAX; i++)
		ok(learn(100 + i) == &us.procs->p[i], "a free entry");
	is_u64(us.lost.processes, 0, "there is room for all");
	find(100, 7);
	find(102, 7);
	us.procs->p[1].nr_unknown = us.procs->p[1].astray = 9;
	ok(learn(50) == &us.procs->p[1], "a further process takes the place of the second one");
	is_u64(us.lost.processes, 1, "which is lost");
	is_u64(freed, 1, "with its mappings");
	ok(!us.procs->p[1].nr_unknown && !us.procs->p[1].astray, "and its other values");
	ok(!find(101, 7) && find(50, 7), "only the new process is found");
	ok(learn(51) == &us.procs->p[3], "the next one that was not used");
	user_proc_forget(&us.procs->p[200]);
	ok(!us.procs->p[200].of.pid && us.procs->p[200].perf.fd == -1, "a process is forgotten");
	ok(learn(52) == &us.procs->p[200], "its entry is free");
	is_u64(us.lost.processes, 2, "no process is lost for it");
	end();
}

static void test_renew(void)
{
	struct user_symbol s = {};
	struct user_proc *p;

	begin();
	p = learn(10);
	user_proc_jit(&us, p, 99, &s);
	p->astray = 3;
	p->nr_unknown = 4;
	user_proc_renew(p);
	ok(!p->astray && !p->nr_unknown && !p->perf_asked && p->perf.fd == -1, "a new program");
	is_u64(closed, 1, "the perf map of the old one is closed");
	ok(p->of.pid == 10 && p->maps.n == 1, "its process and mappings stay");
	end();
}

/* The perf map is searched for once, until mappings are read again. */
static void test_perf_map(void)
{
	size_t files = open_fds();
	struct user_symbol s = {};
	struct user_proc *p;

	begin();
	p = learn(10);
	ok(user_proc_jit(&us, p, 99, &s), "an address in a perf map");
	is_u64(searched, 99, "the address");
	is_str(s.name, "jitted", "its name");
	is_str(s.module, "[jit]", "its module");
	is_u64(s.offset, 5, "its offset");
	ok(p->perf_asked && targets == 1 && opened == 1, "the file was opened");
	memset(&s, 0, sizeof(s));
	found = false;
	ok(!user_proc_jit(&us, p, 98, &s), "an address that the perf map lacks");
	is_str(s.module, "", "has no module");
	is_u64(targets, 1, "the file stays open");
	learn(10);
	ok(p->perf_asked && p->perf.fd >= 0, "also when mappings are read again");
	is_u64(open_fds(), files, "the directory of the process is closed");
	end();

	begin();
	p = learn(10);
	open_error = -ENOENT;
	ok(!user_proc_jit(&us, p, 99, &s), "no perf map");
	ok(!user_proc_jit(&us, p, 99, &s) && targets == 1, "it is searched for once");
	is_u64(us.lost.perf_maps, 0, "nothing is lost");
	learn(10);
	ok(!p->perf_asked, "new mappings may come with a perf map");
	open_error = -EPERM;
	ok(!user_proc_jit(&us, p, 99, &s) && targets == 2, "the perf map of another user");
	is_u64(us.lost.perf_maps, 1, "counts as lost");
	learn(10);
	target_error = -ESRCH;
	ok(!user_proc_jit(&us, p, 99, &s) && targets == 3, "a process that is gone");
	is_u64(us.lost.perf_maps, 1, "loses nothing");
	ok(p->perf_asked, "it was asked");
	is_u64(open_fds(), files, "no file is left open");
	end();
}

/* A table that is cut for lack of room counts once. */
static void test_cut(void)
{
	struct user_symbol s = {};
	struct user_proc *p;

	begin();
	p = learn(10);
	user_proc_jit(&us, p, 99, &s);
	is_u64(us.lost.perf_maps, 0, "a whole table");
	grows = 2;
	user_proc_jit(&us, p, 99, &s);
	is_u64(us.lost.perf_maps, 1, "a table that is cut");
	user_proc_jit(&us, p, 99, &s);
	is_u64(us.lost.perf_maps, 1, "counts once");
	end();
}

static bool has_map(uint32_t pid)
{
	for (size_t i = 0; i < USER_PROCS_MAX; i++)
		if (us.procs->p[i].of.pid == pid)
			return us.procs->p[i].perf.fd >= 0;
	return false;
}

/* At most 64 perf maps are open. The one that was not used for the longest time is closed. */
static void test_many_perf_maps(void)
{
	struct user_symbol s = {};

	begin();
	for (uint32_t i = 0; i < USER_PERF_MAPS_MAX; i++)
		user_proc_jit(&us, learn(100 + i), 99, &s);
	is_u64(closed, 0, "64 perf maps");
	find(100, 7);
	ok(user_proc_jit(&us, learn(50), 99, &s), "one more");
	ok(closed == 1 && !has_map(101), "closes the one that was not used");
	ok(has_map(100) && has_map(102) && has_map(50), "others stay open");
	is_u64(us.lost.perf_maps, 1, "one is lost");
	found = false;
	user_proc_jit(&us, learn(51), 99, &s);
	ok(closed == 2 && !has_map(102), "even if the address is not found");
	end();
}

/* The tables of all perf maps have at most 16 MiB. */
static void test_large_perf_maps(void)
{
	static const struct {
		size_t first, second; /* entries */
		unsigned int closed;
		const char *name;
	} rows[] = {
		{TABLE_BYTES / ENTRY_BYTES / 2, TABLE_BYTES / ENTRY_BYTES / 2, 0,
		 "16 MiB in two tables"},
		{TABLE_BYTES / ENTRY_BYTES / 2 + 1, TABLE_BYTES / ENTRY_BYTES / 2 + 1, 1,
		 "a little more in two tables"},
		{1, TABLE_BYTES / ENTRY_BYTES + 1, 1, "more in the second table alone"},
		{TABLE_BYTES / ENTRY_BYTES + 1, 1, 1, "more in the first table alone"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct user_symbol s = {};

		begin();
		room = rows[i].first;
		user_proc_jit(&us, learn(100), 99, &s);
		is_u64(closed, 0, "a table alone is never closed");
		room = rows[i].second;
		user_proc_jit(&us, learn(101), 99, &s);
		is_u64(closed, rows[i].closed, rows[i].name);
		ok(has_map(101) && has_map(100) == !rows[i].closed, "the one in use stays");
		is_u64(us.lost.perf_maps, rows[i].closed, "the other one is lost");
		end();
	}
	begin();
	room = TABLE_BYTES / ENTRY_BYTES / 2 + 1;
	for (uint32_t i = 0; i < 4; i++) {
		struct user_symbol s = {};

		room = i < 3 ? TABLE_BYTES / ENTRY_BYTES / 4 : TABLE_BYTES / ENTRY_BYTES;
		user_proc_jit(&us, learn(100 + i), 99, &s);
	}
	is_u64(closed, 3, "as many are closed as needed");
	ok(has_map(103), "but not the one in use");
	end();
}

int main(void)
{
	test_find();
	test_eviction();
	test_renew();
	test_perf_map();
	test_cut();
	test_many_perf_maps();
	test_large_perf_maps();
	return tap_done();
}
