// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/node.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/fields.h"

enum sums {
	SUM_KERNEL_USER = 6,
	SUM_KERNEL_KERNEL,
	SUM_MAP_REFUSED,
	SUM_FD_REFUSED,
	SUM_KERNEL_BAD,
	NR_SUMS
};

/* Faults with measured latency. Few processes have any, so they are not in struct node_process. */
struct timed {
	uint64_t backing[NR_BACKINGS];
	uint64_t latency[NR_ENDS][NR_LATENCY];
	uint64_t stall_ns[NR_ENDS], latency_max_ns[NR_ENDS];
};

/* Reasons of failed calls that are counted separately, mapping calls first. */
enum reason {
	REASON_MAX_MAP_COUNT,
	REASON_RLIMIT_AS,
	REASON_OVERCOMMIT,
	REASON_MAPPING_OTHER,
	REASON_EMFILE,
	REASON_ENFILE,
	REASON_FD_OTHER, /* failures with an errno other than EMFILE and ENFILE, not exported */
	NR_REASONS
};

static const struct reason_row {
	enum what what;
	int counter; /* enum census_counter; -1: the reason is not exported */
} reasons[NR_REASONS] = {
	[REASON_MAX_MAP_COUNT] = {WHAT_MAPS, CENSUS_MAPPING_FAILURES_MAX_MAP_COUNT},
	[REASON_RLIMIT_AS] = {WHAT_MAPS, CENSUS_MAPPING_FAILURES_RLIMIT_AS},
	[REASON_OVERCOMMIT] = {WHAT_MAPS, CENSUS_MAPPING_FAILURES_OVERCOMMIT},
	[REASON_MAPPING_OTHER] = {WHAT_MAPS, CENSUS_MAPPING_FAILURES_OTHER},
	[REASON_EMFILE] = {WHAT_FDS, CENSUS_FD_FAILURES_EMFILE},
	[REASON_ENFILE] = {WHAT_FDS, CENSUS_FD_FAILURES_ENFILE},
	[REASON_FD_OTHER] = {WHAT_FDS, -1},
};

#define EQUALS 8

/*
 * Failed calls of a process that event records have reported, but that the process's counters do
 * not include yet.
 */
struct refusals {
	uint64_t told[NR_REASONS];
	int call[NR_REASONS]; /* last failed call by reason: enum call_id */
	enum reason last[2];  /* reasons of the last failed mapping call and fd call */
	/*
	 * Event records of equal failures: the kernel side sends only the 1st, 2nd, 4th, 8th …,
	 * with their number.
	 */
	struct equal {
		uint64_t sort, count;
	} equal[EQUALS];
	/* number of entries ever added to `equal`; only the latest EQUALS are kept */
	size_t equals;
};

static const struct refusals unknown = {.call = {[0 ... NR_REASONS - 1] = -1},
					.last = {REASON_MAPPING_OTHER, REASON_EMFILE}};

/* The part of one process's counts that struct node already includes. */
struct node_process {
	struct process_key of;
	uint64_t sum[NR_SUMS];
	struct timed *timed;	   /* faults with measured latency; NULL: none; owned */
	struct refusals *refusals; /* failed calls; NULL: none; owned */
	uint64_t bad_counted;	   /* bad kernel accesses in event records */
	uint16_t bad_module;	   /* 1 + index in node.module of the last bad access; 0: none */
};

int node_init(struct node *n, struct census *census)
{
	memset(n, 0, sizeof(*n));
	n->census = census;
	n->exemplar = calloc(NODE_EXEMPLARS, sizeof(*n->exemplar));
	n->processes = (struct pids){.entry_bytes = sizeof(struct node_process),
				     .pid_at = offsetof(struct node_process, of.pid),
				     .most = NODE_PROCESSES_MAX};
	/* export the kernel's counters from 0 on, or Prometheus would miss the first increase */
	array_copy(n->module[n->modules++].name, sizeof(n->module->name), NODE_KERNEL);
	return n->exemplar ? 0 : -ENOMEM;
}

static void free_process(struct node_process *p)
{
	free(p->timed);
	free(p->refusals);
}

void node_free(struct node *n)
{
	for (uint32_t i = 0; i < n->processes.slots; i++) {
		struct node_process *p = pids_at(&n->processes, i);

		if (p)
			free_process(p);
	}
	free(n->exemplar);
	pids_free(&n->processes);
	memset(n, 0, sizeof(*n));
}

static void remove_process(struct node *n, struct node_process *p)
{
	free_process(p);
	pids_remove(&n->processes, p);
}

/* Returns the entry of a process, which may be new, or NULL if there is no room. */
static struct node_process *make_process(struct node *n, const struct process_key *of)
{
	struct node_process *p = pids_find(&n->processes, of->pid);

	if (p && same_subject(&p->of, of))
		return p;
	if (p)
		remove_process(n, p); /* the process that had this pid before is gone */
	p = pids_add(&n->processes, of->pid);
	if (!p) {
		n->processes_lost++;
		return NULL;
	}
	p->of = *of;
	return p;
}

void node_gone(struct node *n, const struct process_key *of)
{
	struct node_process *p = pids_find(&n->processes, of->pid);

	if (p && same_subject(&p->of, of))
		remove_process(n, p);
}

/* Returns the growth of a counter since `*before`, and updates `*before`. Ignores a lower value. */
static uint64_t take_growth(uint64_t *before, uint64_t now)
{
	uint64_t more = now > *before ? now - *before : 0;

	*before += more;
	return more;
}

static size_t exemplar_place(const char *workload, int counter)
{
	return hash_text(HASH_BEGIN ^ (uint32_t)counter * 16777619u, workload) % NODE_EXEMPLARS;
}

static void keep_exemplar(struct node *n, const char *workload, int counter,
			  const struct node_exemplar *x)
{
	struct node_exemplar *e = &n->exemplar[exemplar_place(workload, counter)];

	*e = *x;
	array_copy(e->workload, sizeof(e->workload), workload);
	e->counter = counter;
}

/*
 * Stores an exemplar for the workload, and for ~other, because the workload may have no series of
 * its own.
 */
static void keep_of_workload(struct node *n, const struct identity *id, int counter,
			     const struct node_exemplar *x)
{
	keep_exemplar(n, id->name, counter, x);
	keep_exemplar(n, CENSUS_OTHER, counter, x);
}

const struct node_exemplar *node_exemplar(const struct node *n, const char *workload, int counter)
{
	const struct node_exemplar *e = &n->exemplar[exemplar_place(workload, counter)];

	return e->pid && e->counter == counter && !strcmp(e->workload, workload) ? e : NULL;
}

static struct node_exemplar exemplar_of(uint32_t pid, const char *comm, uint64_t t_ns)
{
	struct node_exemplar x = {.pid = pid, .t_ns = t_ns, .value = 1};

	memcpy(x.comm, comm, sizeof(x.comm) - 1);
	return x;
}

/*
 * Counts failed calls. The exemplar names the system call, not the calling code, because finding
 * that code needs the program's symbols.
 */
static void count(struct node *n, const struct process_record *r, const struct identity *id,
		  int counter, uint64_t more, int call)
{
	struct node_exemplar x = exemplar_of(r->subject.pid, r->g.comm, r->h.t_ns);

	if (call >= 0)
		array_copy(x.site, sizeof(x.site), call_name(call));
	census_count(n->census, &r->subject, id, counter, more, n->now_ns);
	keep_of_workload(n, id, counter, &x);
}

/*
 * Divides `growth` failures by reason. For some of them, event records gave the reason. The others
 * happened after the last event record of their kind, because only the 1st, 2nd, 4th … failure has
 * a record. They are divided in proportion to the reported failures of each reason.
 */
static void share_out(const struct refusals *f, enum what what, uint64_t growth,
		      uint64_t ret[NR_REASONS])
{
	uint64_t rest = growth, sum = 0, untold;

	for (int i = 0; i < NR_REASONS; i++) {
		if (reasons[i].what != what)
			continue;
		ret[i] = f->told[i] < rest ? f->told[i] : rest;
		rest -= ret[i];
		/*
		 * with only one reported failure there is no other one: a second one would have
		 * been reported
		 */
		sum += ret[i] > 1 ? ret[i] : 0;
	}
	untold = rest;
	for (int i = 0; i < NR_REASONS; i++) {
		uint64_t more = ret[i] > 1 ? (double)untold * ret[i] / sum : 0;

		more = more < rest ? more : rest;
		ret[i] += more;
		rest -= more;
	}
	ret[f->last[what]] += rest;
}

/*
 * Counts failed calls. The number of calls comes from counters, the reasons from earlier event
 * records.
 */
static void take_refused(struct node *n, struct node_process *p, const struct process_record *r,
			 const struct identity *id, enum what what)
{
	uint64_t *sum = &p->sum[what == WHAT_MAPS ? SUM_MAP_REFUSED : SUM_FD_REFUSED];
	uint64_t growth = take_growth(sum, counters_refused(&r->c, what));
	const struct refusals *f = p->refusals ?: &unknown;
	uint64_t more[NR_REASONS] = {};

	share_out(f, what, growth, more);
	for (int i = 0; i < NR_REASONS; i++) {
		if (more[i] && reasons[i].counter >= 0)
			count(n, r, id, reasons[i].counter, more[i], f->call[i]);
		if (more[i] && i == REASON_OVERCOMMIT)
			count(n, r, id, CENSUS_COMMIT_FAILURES, more[i], f->call[i]);
		if (p->refusals && reasons[i].what == what)
			p->refusals->told[i] = 0;
	}
}

static void take_kinds(struct node *n, struct node_process *p, const struct counters *c)
{
	for (int access = FAULT_READ; access <= FAULT_EXEC; access++)
		for (int page = 0; page < 2; page++)
			n->access[access][page] +=
				take_growth(&p->sum[access * 2 + page],
					    c->fault_kind[access << 1 | (page ? FAULT_PROT : 0)]);
	n->kernel_user += take_growth(&p->sum[SUM_KERNEL_USER], count_kinds(c, 1, -1, -1));
	n->kernel_kernel +=
		take_growth(&p->sum[SUM_KERNEL_KERNEL],
			    counted_or_0(c->kernel_bad) + counted_or_0(c->kernel_probe));
}

/*
 * The kind of memory that most pages of a fault class have. CLASS_COW may also copy a page of a
 * private file mapping. CLASS_SWAP may also be a page of shared memory.
 */
static const uint8_t backing_of[NR_CLASSES] = {
	[CLASS_OTHER] = NODE_BACKING_OTHER,	[CLASS_ANONYMOUS] = NODE_BACKING_ANON,
	[CLASS_ZERO] = NODE_BACKING_ANON,	[CLASS_HUGE] = NODE_BACKING_ANON,
	[CLASS_COMPACTED] = NODE_BACKING_ANON,	[CLASS_COW] = NODE_BACKING_ANON,
	[CLASS_FILE_MINOR] = NODE_BACKING_FILE, [CLASS_FILE_MAJOR] = NODE_BACKING_FILE,
	[CLASS_SWAP] = NODE_BACKING_ANON,	[CLASS_SHMEM] = NODE_BACKING_SHMEM,
	[CLASS_HUGETLB] = NODE_BACKING_HUGETLB, [CLASS_NUMA] = NODE_BACKING_OTHER,
	[CLASS_UFFD] = NODE_BACKING_OTHER,	[CLASS_DRIVER] = NODE_BACKING_OTHER,
	[CLASS_STACK] = NODE_BACKING_STACK,
};

const char *node_backing_name(enum node_backing b)
{
	static const char *const names[] = {
#define X(id, name) name,
		NODE_BACKINGS(X)
#undef X
	};

	return names[b];
}

static void take_backing(struct node *n, struct timed *t, const struct counters *c)
{
	uint64_t served[NR_BACKINGS] = {};

	for (int class = 0; class < NR_CLASSES; class ++)
		served[backing_of[class]] += count_served(c, class);
	for (int b = 0; b < NR_BACKINGS; b++)
		n->backing[b] += take_growth(&t->backing[b], served[b]);
}

/* Names the class of the longest fault. Leaves `site` empty if classes are not measured. */
static void name_longest(const struct counters *c, int end, char *site, size_t size)
{
	for (int class = 0; class < NR_CLASSES; class ++)
		if (c->served_max_ns[class] == c->latency_max_ns[end])
			array_copy(site, size, class_name(class));
}

static int take_latency(struct node *n, struct node_process *p, const struct process_record *r)
{
	for (int end = 0; end < NR_ENDS; end++) {
		if (!p->timed && !r->c.stall_ns[end])
			continue;
		if (!p->timed)
			p->timed = calloc(1, sizeof(*p->timed));
		if (!p->timed)
			return -ENOMEM;
		for (int i = 0; i < NR_LATENCY; i++)
			n->latency[end][i] +=
				take_growth(&p->timed->latency[end][i], r->c.latency[end][i]);
		n->stall_ns[end] += take_growth(&p->timed->stall_ns[end], r->c.stall_ns[end]);
		if (!take_growth(&p->timed->latency_max_ns[end], r->c.latency_max_ns[end]) ||
		    n->slowest[end].value > r->c.latency_max_ns[end] / 1e9)
			continue;
		n->slowest[end] = exemplar_of(r->subject.pid, r->g.comm, r->h.t_ns);
		n->slowest[end].value = r->c.latency_max_ns[end] / 1e9;
		name_longest(&r->c, end, n->slowest[end].site, sizeof(n->slowest[end].site));
	}
	if (p->timed)
		take_backing(n, p->timed, &r->c);
	return 0;
}

/* Counts bad accesses since the last event record from the process's counter. */
static void take_bad(struct node *n, struct node_process *p, const struct counters *c)
{
	if (p->bad_module)
		n->module[p->bad_module - 1].fixups +=
			take_growth(&p->sum[SUM_KERNEL_BAD], counted_or_0(c->kernel_bad));
}

int node_take(struct node *n, const struct process_record *r, const struct identity *id)
{
	struct node_process *p;
	int err = 0;

	if (r->h.len == sizeof(*r)) {
		p = make_process(n, &r->subject);
		if (!p)
			return -ENOMEM;
		take_kinds(n, p, &r->c);
		take_refused(n, p, r, id, WHAT_MAPS);
		take_refused(n, p, r, id, WHAT_FDS);
		take_bad(n, p, &r->c);
		err = take_latency(n, p, r);
	}
	if (r->g.flags & PROC_FINAL)
		node_gone(n, &r->subject);
	return err;
}

static enum reason reason_of(const struct refused_record *r, const char *reason)
{
	if (r->call >= CALL_FD_FIRST)
		return r->error == EMFILE   ? REASON_EMFILE
		       : r->error == ENFILE ? REASON_ENFILE
		       : r->error	    ? REASON_FD_OTHER
					    : REASON_EMFILE; /* recvmsg dropped an fd, no errno */
	if (!strcmp(reason, "max_map_count"))
		return REASON_MAX_MAP_COUNT;
	if (!strcmp(reason, "rlimit_as"))
		return REASON_RLIMIT_AS;
	return strncmp(reason, "overcommit", 10) ? REASON_MAPPING_OTHER : REASON_OVERCOMMIT;
}

/*
 * Hashes the properties by which the kernel side decides that failures are equal: call, errno,
 * facts, size, flags.
 */
static uint64_t sort_of(const struct refused_record *r, enum reason reason)
{
	bool sized = r->call < CALL_FD_FIRST;
	uint64_t key[] = {r->call,
			  r->error,
			  r->facts,
			  reason,
			  sized && r->args[1] ? 64 - __builtin_clzll(r->args[1]) : 0,
			  r->call == CALL_MMAP ? r->args[2] << 32 | (uint32_t)r->args[3] : 0};

	return hash64_bytes(HASH64_BEGIN, key, sizeof(key));
}

/*
 * Returns the number of new failures since the last record of equal failures. `count` is their
 * total.
 */
static uint64_t take_equal(struct refusals *f, uint64_t sort, uint64_t count)
{
	struct equal *e = f->equal;

	while (e < &f->equal[EQUALS] && e->sort != sort)
		e++;
	if (e == &f->equal[EQUALS]) {
		e = &f->equal[f->equals++ % EQUALS];
		*e = (struct equal){.sort = sort, .count = count - 1};
	} else if (e->count >= count) {
		/*
		 * the kernel side has forgotten the earlier failures, and began to count at 1 again
		 */
		e->count = count - 1;
	}
	return take_growth(&e->count, count);
}

static struct refusals *make_refusals(void)
{
	struct refusals *f = malloc(sizeof(*f));

	if (f)
		*f = unknown;
	return f;
}

void node_refused(struct node *n, const struct refused_record *r, const char *reason)
{
	enum reason why = reason_of(r, reason);
	struct node_process *p;

	if (r->call >= CALL_OTHER_FIRST)
		return;
	p = make_process(n, &r->subject);
	if (!p || (!p->refusals && !(p->refusals = make_refusals())))
		return;
	p->refusals->told[why] += take_equal(p->refusals, sort_of(r, why), r->count);
	p->refusals->call[why] = r->call;
	p->refusals->last[reasons[why].what] = why;
}

void node_pressure(struct node *n, const struct memory_wait_record *r)
{
	/* count in ~other, because a new process's workload is not known before its first record */
	if (r->reclaim_ns)
		census_count(n->census, &r->subject, NULL, CENSUS_DIRECT_RECLAIM_NS, r->reclaim_ns,
			     n->now_ns);
	if (r->swap_ins)
		census_count(n->census, &r->subject, NULL, CENSUS_SWAP_INS, r->swap_ins, n->now_ns);
}

static enum census_counter signal_counter(const struct signal_record *r)
{
	if (r->signal == SIGSEGV)
		return r->code == SEGV_MAPERR	? CENSUS_SEGV_MAPERR
		       : r->code == SEGV_ACCERR ? CENSUS_SEGV_ACCERR
						: CENSUS_SEGV_OTHER;
	if (r->signal == SIGABRT)
		return CENSUS_ABRT;
	switch (r->code) {
	case BUS_ADRALN:
		return CENSUS_BUS_ADRALN;
	case BUS_ADRERR:
		return CENSUS_BUS_ADRERR;
	case BUS_OBJERR:
		return CENSUS_BUS_OBJERR;
	case BUS_MCEERR_AR:
	case BUS_MCEERR_AO:
		return CENSUS_BUS_MCEERR;
	}
	return CENSUS_BUS_OTHER;
}

void node_signal(struct node *n, const struct signal_record *r, const struct identity *id,
		 const char *site)
{
	struct node_exemplar x = exemplar_of(r->subject.pid, r->comm, r->h.t_ns);
	enum census_counter counter = signal_counter(r);

	if (site)
		array_copy(x.site, sizeof(x.site), site);
	census_count(n->census, &r->subject, id, counter, 1, n->now_ns);
	keep_of_workload(n, id, counter, &x);
}

void node_oom(struct node *n, const struct oom_record *r, const struct identity *id)
{
	enum census_counter counter = r->sent			   ? CENSUS_OOM_KILLS_DAEMON
				      : r->constraint == OOM_MEMCG ? CENSUS_OOM_KILLS_MEMCG
								   : CENSUS_OOM_KILLS_GLOBAL;

	node_oom_cause(n, r, id, counter);
}

void node_oom_cause(struct node *n, const struct oom_record *r, const struct identity *id,
		    enum census_counter cause)
{
	struct node_exemplar x = exemplar_of(r->subject.pid, r->comm, r->h.t_ns);

	census_count(n->census, &r->subject, id, cause, 1, n->now_ns);
	keep_of_workload(n, id, cause, &x);
}

static struct node_module *module_of(struct node *n, const char *name)
{
	for (size_t i = 0; i < n->modules; i++)
		if (!strcmp(n->module[i].name, name))
			return &n->module[i];
	if (n->modules < NODE_MODULES_MAX) {
		/* the last entry counts all modules without an entry of their own */
		name = n->modules == NODE_MODULES_MAX - 1 ? NODE_OTHER_MODULE : name;
		array_copy(n->module[n->modules].name, sizeof(n->module->name), name);
		return &n->module[n->modules++];
	}
	return &n->module[NODE_MODULES_MAX - 1];
}

/* Returns the number of new bad accesses: a record has the total of equal accesses so far. */
static uint64_t take_count(struct node *n, const struct kernel_fault_record *r)
{
	uint64_t key = r->ip ^ (uint64_t)r->subject.pid << 32;
	struct node_site *s = &n->site[key * 0x9e3779b97f4a7c15ULL >> 56];
	bool same = s->ip == r->ip && same_subject(&s->of, &r->subject);
	uint64_t more = same && r->count > s->count ? r->count - s->count : 1;

	s->of = r->subject;
	s->ip = r->ip;
	s->count = r->count;
	return more;
}

void node_kernel_fault(struct node *n, const struct kernel_fault_record *r, const char *module,
		       const char *site)
{
	struct node_exemplar x = exemplar_of(r->subject.pid, r->comm, r->h.t_ns);
	struct node_process *p;
	struct node_module *m;
	uint64_t more;

	if (r->nofault)
		/*
		 * ignore the faults of copy_from_kernel_nofault() and similar functions, which
		 * expect them
		 */
		return;
	m = module_of(n, module && *module ? module : NODE_KERNEL);
	more = take_count(n, r);
	p = make_process(n, &r->subject);
	if (p) {
		p->bad_counted += more;
		p->bad_module = m - n->module + 1;
		more = take_growth(&p->sum[SUM_KERNEL_BAD], p->bad_counted);
	}
	m->fixups += more;
	if (site)
		array_copy(x.site, sizeof(x.site), site);
	keep_exemplar(n, m->name, -1, &x);
}

static void count_report(struct node *n, const struct kernel_report *r)
{
	module_of(n, r->module[0] ? r->module : NODE_NOWHERE)->reports[r->kind]++;
}

void node_report(struct node *n, const struct report_record *r)
{
	struct kernel_report complete[2];
	int count = kernel_report_take(&n->report, r, complete);

	for (int i = 0; i < count; i++)
		count_report(n, &complete[i]);
}

void node_report_expire(struct node *n, uint64_t now_ns)
{
	struct kernel_report r;

	if (kernel_report_expire(&n->report, now_ns, &r))
		count_report(n, &r);
}
