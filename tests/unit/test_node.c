// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the counters of page faults by class for the whole node, and their metrics. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "fixture.h"
#include "model/fields.h"
#include "render/prom/prom.h"
#include "tap.h"

struct world {
	struct model m;
	struct census *census;
	struct node n;
	struct identity id;
};

static void open_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->census = calloc(1, sizeof(*w->census));
	w->id = (struct identity){.serial = 1, .kind = KIND_COMM, .name = "w"};
	if (!w->census || model_init(&w->m) ||
	    census_init(w->census, &(struct census_limits){.workloads = 5,
							    .series = 1000,
							    .retention_ns = 1000 * SECOND}) ||
	    node_init(&w->n, w->census))
		abort();
}

/* Returns the value of a counter, summed over all series. */
static uint64_t count_of(struct world *w, enum census_counter counter)
{
	struct census *c = w->census;
	uint64_t sum;

	census_update(c, 2 * SECOND, 0);
	sum = c->other.counter[counter];
	for (uint32_t i = 0; i < c->owned; i++)
		sum += c->own[i]->counter[counter];
	return sum;
}

static void close_world(struct world *w)
{
	node_free(&w->n);
	census_free(w->census);
	free(w->census);
	model_free(&w->m);
}

static void turn_on(struct world *w, const char *hook)
{
	struct hook_record r = RECORD(hook_record, RECORD_HOOK, SECOND);

	r.tier = 2;
	r.state = HOOK_ON;
	snprintf(r.name, sizeof(r.name), "%s", hook);
	snprintf(r.mechanism, sizeof(r.mechanism), "mappings");
	if (model_take(&w->m, &r.h))
		abort();
}

static char *page_of(struct world *w, const struct exposition_format *format,
		     const struct prom_self *self)
{
	struct buf b = {};
	struct exposition e = {.format = format, .b = &b};
	struct prom_view v = {.m = &w->m, .c = w->census, .n = &w->n, .self = {.libbpf = "1"}};

	if (self)
		v.self = *self;
	prom_render(&e, &v);
	return b.s;
}

static bool says(struct world *w, const struct exposition_format *format,
		 const struct prom_self *self, const char *line)
{
	char *page = page_of(w, format, self);
	bool found = strstr(page, line) != NULL;

	free(page);
	return found;
}

static void serve(struct process_record *r, enum fault_class class, uint64_t faults,
		  uint64_t longest_ns)
{
	enum fault_end end = class == CLASS_FILE_MAJOR ? END_MAJOR : END_MINOR;

	r->c.served[class].band[class % NR_BANDS] += faults;
	r->c.stall_ns[end] += faults * longest_ns;
	r->c.served_max_ns[class] = longest_ns;
	if (longest_ns > r->c.latency_max_ns[end])
		r->c.latency_max_ns[end] = longest_ns;
}

/*
 * Tests the sums over classes. The counts are chosen so that each set of classes has a different
 * sum.
 */
static void test_each_class(void)
{
	struct process_record r = process_record(1, 1, SECOND);
	struct world w;

	open_world(&w);
	for (int class = 0; class < NR_CLASSES; class ++)
		serve(&r, class, 1ULL << class, 1000);
#define BIT(id) (1ULL << CLASS_##id)
	node_take(&w.n, &r, &w.id);
	is_u64(w.n.backing[NODE_BACKING_ANON],
	       BIT(ANONYMOUS) | BIT(ZERO) | BIT(HUGE) | BIT(COMPACTED) | BIT(COW) | BIT(SWAP),
	       "anonymous memory");
	is_u64(w.n.backing[NODE_BACKING_FILE], BIT(FILE_MINOR) | BIT(FILE_MAJOR), "files");
	is_u64(w.n.backing[NODE_BACKING_SHMEM], BIT(SHMEM), "shared memory");
	is_u64(w.n.backing[NODE_BACKING_STACK], BIT(STACK), "growth of stacks");
	is_u64(w.n.backing[NODE_BACKING_HUGETLB], BIT(HUGETLB), "the huge page pool");
	is_u64(w.n.backing[NODE_BACKING_OTHER], BIT(OTHER) | BIT(NUMA) | BIT(UFFD) | BIT(DRIVER),
	       "others");
	close_world(&w);
}

/*
 * Tests that counters never decrease, even if processes exit, pids are reused, or records are
 * repeated.
 */
static void test_growth(void)
{
	struct process_record r = process_record(1, 1, SECOND);
	struct world w;

	open_world(&w);
	serve(&r, CLASS_SHMEM, 10, 1000);
	node_take(&w.n, &r, &w.id);
	node_take(&w.n, &r, &w.id);
	is_u64(w.n.backing[NODE_BACKING_SHMEM], 10, "told twice, counted once");
	serve(&r, CLASS_SHMEM, 5, 1000);
	r.g.flags |= PROC_FINAL;
	node_take(&w.n, &r, &w.id);
	is_u64(w.n.backing[NODE_BACKING_SHMEM], 15, "it ends");
	r = process_record(1, 2, 2 * SECOND);
	serve(&r, CLASS_SHMEM, 2, 1000);
	node_take(&w.n, &r, &w.id);
	is_u64(w.n.backing[NODE_BACKING_SHMEM], 17, "another of its pid");
	close_world(&w);
}

/* Tests signal codes. One code has different meanings for different signals. */
static void test_signals(void)
{
	static const struct {
		int signal, code;
		enum census_counter counter;
		const char *what;
	} all[] = {
		{SIGSEGV, SEGV_ACCERR, CENSUS_SEGV_ACCERR, "a protected page"},
		{SIGBUS, BUS_ADRERR, CENSUS_BUS_ADRERR, "behind the end of a file"},
		{SIGBUS, SI_KERNEL, CENSUS_BUS_OTHER, "a code that has no name"},
		{SIGABRT, SI_TKILL, CENSUS_ABRT, "abort()"},
	};
	struct signal_record r = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct world w;

	open_world(&w);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		r.signal = all[i].signal;
		r.code = all[i].code;
		node_signal(&w.n, &r, &w.id, NULL);
		is_u64(count_of(&w, all[i].counter), 1, all[i].what);
	}
	close_world(&w);
}

static void refuse(struct world *w, enum call_id call, int error, uint64_t asked, const char *why,
		   uint64_t most)
{
	struct refused_record r = refused_record(1, call, error);

	r.args[1] = asked;
	/* BPF programs send a record for the 1st, 2nd, 4th, 8th, … failure. */
	for (r.count = 1; r.count <= most; r.count *= 2)
		node_refused(&w->n, &r, why);
}

/*
 * Tests failures between two records of a process. They must be counted for each of their reasons.
 */
static void test_reasons(void)
{
	struct process_record r = process_record(1, 1, SECOND);
	struct world w;

	open_world(&w);
	refuse(&w, CALL_MMAP, ENOMEM, 1ULL << 46, "overcommit_heuristic", 100);
	refuse(&w, CALL_MMAP, ENOMEM, 1ULL << 31, "rlimit_as", 11);
	refuse(&w, CALL_MMAP, EINVAL, 0, "bad_argument", 1);
	refuse(&w, CALL_OPEN, EMFILE, 0, "rlimit_nofile", 44);
	refuse(&w, CALL_DUP, EBADF, 0, "descriptor_number_limit", 9);
	r.c.map_call[0].refused = 100 + 11 + 1;
	r.c.fd_call[0].refused = 44;
	r.c.fd_call[CALL_DUP - CALL_FD_FIRST].refused = 9;
	node_take(&w.n, &r, &w.id);
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_OVERCOMMIT), 64 + 34, "by overcommit");
	is_u64(count_of(&w, CENSUS_COMMIT_FAILURES), 64 + 34, "the same");
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_RLIMIT_AS), 8 + 4, "by RLIMIT_AS");
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_OTHER), 1 + 1,
	       "what is left is as the last was");
	is_u64(count_of(&w, CENSUS_FD_FAILURES_EMFILE), 32 + 10, "descriptors");
	is_u64(count_of(&w, CENSUS_FD_FAILURES_ENFILE), 0, "a number out of range is neither");
	r.c.map_call[0].refused += 5;
	node_take(&w.n, &r, &w.id);
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_OTHER), 2 + 5, "more of the last");
	refuse(&w, CALL_MMAP, ENOMEM, 1ULL << 46, "overcommit_heuristic", 1);
	r.c.map_call[0].refused += 1;
	node_take(&w.n, &r, &w.id);
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_OVERCOMMIT), 64 + 34 + 1,
	       "and of one before it");
	/* the kernel side may have forgotten both, and begin to count at 1 again */
	refuse(&w, CALL_MMAP, ENOMEM, 1ULL << 46, "overcommit_heuristic", 1);
	refuse(&w, CALL_MMAP, ENOMEM, 1ULL << 31, "rlimit_as", 1);
	r.c.map_call[0].refused += 2;
	node_take(&w.n, &r, &w.id);
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_OVERCOMMIT), 64 + 34 + 2,
	       "one more by overcommit");
	is_u64(count_of(&w, CENSUS_MAPPING_FAILURES_RLIMIT_AS), 8 + 4 + 1, "one more by RLIMIT_AS");
	close_world(&w);
}

#define SHMEM "faultscope_page_faults_by_backing_total{backing=\"shmem\"} 10\n"

static void test_page_of_backings(void)
{
	struct process_record r = process_record(1, 1, SECOND);
	struct world w;

	open_world(&w);
	serve(&r, CLASS_SHMEM, 10, 1000);
	serve(&r, CLASS_ANONYMOUS, 10, 4000);
	node_take(&w.n, &r, &w.id);
	turn_on(&w, "fault_end");
	ok(!says(&w, &exposition_text, NULL, "by_backing"), "not told where nothing classifies");
	turn_on(&w, "fault_class");
	ok(says(&w, &exposition_text, NULL, SHMEM), "by backing");
	is_str(w.n.slowest[END_MINOR].site, class_name(CLASS_ANONYMOUS),
	       "what the longest was for");
	serve(&r, CLASS_COW, 1, 5000);
	node_take(&w.n, &r, &w.id);
	is_str(w.n.slowest[END_MINOR].site, class_name(CLASS_COW), "a longer one");
	serve(&r, CLASS_FILE_MAJOR, 1, 900);
	node_take(&w.n, &r, &w.id);
	is_str(w.n.slowest[END_MAJOR].site, class_name(CLASS_FILE_MAJOR),
	       "of major ones for itself");
	close_world(&w);
}

static void test_page_of_programs(void)
{
	struct prom_self self = {.libbpf = "1", .programs = 2};
	struct world w;

	open_world(&w);
	self.program[0] = (struct prom_program){"on_a", 7, 1500000000};
	self.program[1] = (struct prom_program){"on_b", 0, 0};
	ok(says(&w, &exposition_text, &self, "faultscope_bpf_runs_total{program=\"on_a\"} 7\n"),
	   "runs");
	ok(says(&w, &exposition_text, &self, "faultscope_bpf_runs_total{program=\"on_b\"} 0\n"),
	   "of one that never ran");
	ok(says(&w, &exposition_text, &self,
		"faultscope_bpf_run_seconds_total{program=\"on_a\"} 1.5\n"),
	   "time");
	self.programs = 0;
	ok(!says(&w, &exposition_text, &self, "faultscope_bpf_run"), "nothing where none is timed");
	close_world(&w);
}

static struct kernel_fault_record bad_access(uint64_t count)
{
	struct kernel_fault_record r = kernel_fault_record(10, 0xffffffffc0001234, false);

	r.count = count;
	return r;
}

/*
 * Tests recovered faults. BPF programs send records of the 1st, 2nd, 4th, 8th, … fault only. A
 * counter of the process counts all faults.
 */
static void test_fixups(void)
{
	struct process_record p = process_record(10, 1, SECOND);
	struct kernel_fault_record r;
	struct world w;

	open_world(&w);
	for (uint64_t count = 1; count <= 4; count *= 2) {
		r = bad_access(count);
		node_kernel_fault(&w.n, &r, "bad_driver", NULL);
	}
	is_u64(w.n.module[1].fixups, 4, "as records tell");
	p.subject = r.subject;
	p.c.kernel_bad = 7;
	node_take(&w.n, &p, &w.id);
	is_u64(w.n.module[1].fixups, 7, "the last batch is in the counter");
	r = bad_access(8);
	node_kernel_fault(&w.n, &r, "bad_driver", NULL);
	is_u64(w.n.module[1].fixups, 8, "and is not counted again by the next record");
	p.c.kernel_bad = 8;
	node_take(&w.n, &p, &w.id);
	is_u64(w.n.module[1].fixups, 8, "nor by the next look");
	r.subject.pid = 11;
	r.count = 1;
	node_kernel_fault(&w.n, &r, "bad_driver", NULL);
	is_u64(w.n.module[1].fixups, 9, "another process counts on its own");
	close_world(&w);
}

static void fault_in(struct world *w, uint64_t ip, uint64_t count, const char *module)
{
	struct kernel_fault_record r = kernel_fault_record(20, ip, false);

	r.count = count;
	node_kernel_fault(&w->n, &r, module, NULL);
}

/* The last of 64 modules counts all modules that have no entry of their own. */
static void test_many_modules(void)
{
	struct kernel_fault_record expected = kernel_fault_record(20, 1, true);
	struct world w;
	char name[16];

	open_world(&w);
	node_kernel_fault(&w.n, &expected, "quiet", NULL);
	ok(w.n.modules == 1 && !w.n.module[0].fixups, "an access that may fail is not counted");
	is_str(w.n.module[0].name, NODE_KERNEL, "the kernel itself is the first");
	fault_in(&w, 1, 1, NULL);
	fault_in(&w, 2, 1, "");
	is_u64(w.n.module[0].fixups, 2, "without a module it is the kernel");
	for (uint64_t i = 1; i < NODE_MODULES_MAX + 3; i++) {
		snprintf(name, sizeof(name), "m%d", (int)i);
		fault_in(&w, 100 + i, 1, name);
	}
	is_u64(w.n.modules, NODE_MODULES_MAX, "no more than there is room for");
	is_str(w.n.module[NODE_MODULES_MAX - 2].name, "m62", "the last one with its name");
	is_u64(w.n.module[NODE_MODULES_MAX - 2].fixups, 1, "and its count");
	is_str(w.n.module[NODE_MODULES_MAX - 1].name, NODE_OTHER_MODULE, "the others");
	is_u64(w.n.module[NODE_MODULES_MAX - 1].fixups, 4, "together");
	fault_in(&w, 900, 1, "m62");
	fault_in(&w, 901, 1, "m63");
	ok(w.n.module[NODE_MODULES_MAX - 2].fixups == 2 &&
		   w.n.module[NODE_MODULES_MAX - 1].fixups == 5,
	   "and so later");
	close_world(&w);
}

/* A record tells how often an instruction failed so far. */
static void test_counts(void)
{
	struct world w;

	open_world(&w);
	fault_in(&w, 5, 4, "m");
	is_u64(w.n.module[1].fixups, 1, "of the first record, one is known");
	fault_in(&w, 5, 8, "m");
	is_u64(w.n.module[1].fixups, 5, "then those since");
	fault_in(&w, 5, 8, "m");
	is_u64(w.n.module[1].fixups, 6, "an equal count is one more");
	fault_in(&w, 5, 2, "m");
	is_u64(w.n.module[1].fixups, 7, "and so is a smaller one");
	fault_in(&w, 5, 4, "m");
	is_u64(w.n.module[1].fixups, 9, "which counts on from there");
	close_world(&w);
}

int main(void)
{
	test_many_modules();
	test_counts();
	test_each_class();
	test_growth();
	test_fixups();
	test_reasons();
	test_signals();
	test_page_of_backings();
	test_page_of_programs();
	return tap_done();
}
