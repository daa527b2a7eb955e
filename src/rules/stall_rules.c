// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/stall_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "rules/pressure_rules.h"

#define HOLD_NS 10000000000ULL /* ns; a finding stays open this long after its stall */
/* ns; in a shorter window, one event is already a high rate */
#define WINDOW_LEAST_NS 50000000
/* ns; interruptions of a condition by at most this time plus two intervals do not end the stall */
#define GAP_NS 1000000000ULL
/*
 * ns; a stall shorter than this has severity INFO, because programs also read their files when they
 * start
 */
#define READS_NS 10000000000ULL
/*
 * ns; a stall shorter than this has severity INFO, because garbage collections also take that long
 */
#define PURGES_NS 3000000000ULL
/* stalls below this share of a thread's time are not reported */
#define WAITS 0.05
/* copies that take less than this share of one thread's time are not reported */
#define COSTS  0.02
#define COPIES 2000 /* pages copied per second; fewer are not reported */
/* ns; a child that is older than this does not count as a process that writes a snapshot */
#define YOUNG_NS 120000000000ULL
#define PURGES	 200 /* madvise() calls per second; fewer are not reported */
#define TOUCHES	 2000
/* P11 opens only if resident memory grows by less than this share of the touched pages */
#define FLAT_SHARE     0.2
#define MAJORS	       50
#define AROUND_PAGES   16 /* pages that a file fault maps at once: fault_around_bytes */
#define SWAP_PAGES     8  /* pages that a swap fault reads at once: vm.page-cluster */
#define AMPLIFIED      4
#define HANDLED	       10
#define HANGS_NS       1000000000ULL
#define MADVISE_NUMBER (CALL_MADVISE - CALL_MMAP)

/* Page faults of one class of a process in the last window. */
struct served {
	double count, share; /* faults per second, and their share of a thread's time */
};

bool stall_window(const struct occasion *o, double *ret_s)
{
	if (!subject_changed(o->m, o->s) || !subject_prev(o->s)->t_ns ||
	    o->s->now.t_ns < subject_prev(o->s)->t_ns + WINDOW_LEAST_NS)
		return false;
	*ret_s = (o->s->now.t_ns - subject_prev(o->s)->t_ns) / 1e9;
	return true;
}

static struct served served_between(const struct counters *was, const struct counters *now,
				    enum fault_class class, double seconds)
{
	uint64_t ns = now->served[class].stall_ns - was->served[class].stall_ns;

	return (struct served){(count_served(now, class) - count_served(was, class)) / seconds,
			       ns / 1e9 / seconds};
}

static struct served served_of(const struct occasion *o, enum fault_class class, double seconds)
{
	return served_between(o->was, o->now, class, seconds);
}

bool stall_held(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!open || o->t_ns >= open->grew_ns + HOLD_NS)
		return false;
	*f = *open;
	return true;
}

void stall_begin(const struct occasion *o, const struct finding *open, uint64_t lasts_ns,
		 struct finding *f)
{
	bool goes_on = open && o->t_ns <= open->grew_ns + GAP_NS + 2 * o->m->host.interval_ns;

	f->lasted_ns = o->s->now.t_ns - subject_prev(o->s)->t_ns + (goes_on ? open->lasted_ns : 0);
	f->severity = f->lasted_ns >= lasts_ns ? SEVERITY_WARNING : SEVERITY_INFO;
	if (open && open->severity > f->severity)
		f->severity = open->severity;
	f->level = f->severity + 1;
	f->grew_ns = o->t_ns;
}

static void say_served(struct finding *f, const char *field, const struct served *x)
{
	finding_real(f, field, IN_PER_SECOND, x->count);
	evidence_about(finding_real(f, "share of a thread's time", IN_PERCENT, x->share * 100),
		       "%s", field);
}

bool compaction_in_faults(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct waits *now = &o->now->wait[WAIT_COMPACTION];
	const struct waits *was = &o->was->wait[WAIT_COMPACTION];
	struct served huge;
	double s, share;

	if (!stall_window(o, &s))
		return stall_held(o, open, f);
	share = (now->in_faults_ns - was->in_faults_ns) / 1e9 / s;
	if (share < WAITS)
		return stall_held(o, open, f);
	stall_begin(o, open, 0, f);
	finding_title(f, "page faults wait for memory compaction: %.0f %% of a thread's time",
		      share * 100);
	finding_real(f, "compactions", IN_PER_SECOND, (now->count - was->count) / s);
	huge = served_of(o, CLASS_COMPACTED, s);
	say_served(f, "huge pages after compaction", &huge);
	finding_advise(f);
	return true;
}

/* Returns a child that was forked a short while ago and has not called exec(); NULL: none. */
static const struct subject *young_child(const struct occasion *o)
{
	for (struct subject *c = model_each(o->m, NULL); c; c = model_each(o->m, c))
		if (c->now.g.ppid == o->s->id.pid && !c->final && !c->now.g.execs &&
		    c->now.g.flags & PROC_BORN && !(c->now.g.flags & PROC_SHARES_MM) &&
		    o->t_ns < c->first_ns + YOUNG_NS)
			return c;
	return NULL;
}

bool copies_after_fork(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct subject *child;
	struct served copies;
	double s;

	if (!stall_window(o, &s))
		return stall_held(o, open, f);
	copies = served_of(o, CLASS_COW, s);
	if (copies.count < COPIES || copies.share < COSTS || !(child = young_child(o)))
		return stall_held(o, open, f);
	stall_begin(o, open, 0, f);
	finding_title(f, "copy-on-write after fork: %.0f pages a second are copied", copies.count);
	say_served(f, "copies", &copies);
	finding_text(f, "shares its memory", "%.15s[%u]", child->now.g.comm, child->id.pid);
	finding_advise(f);
	return true;
}

bool purge_and_touch(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct map_call_count *now, *was;
	struct served touched;
	double s, calls, grew;

	if (!stall_window(o, &s))
		return stall_held(o, open, f);
	now = &o->now->map_call[MADVISE_NUMBER];
	was = &o->was->map_call[MADVISE_NUMBER];
	calls = (now->calls - was->calls) / s;
	touched = served_of(o, CLASS_ANONYMOUS, s);
	grew = (double)o->s->now.g.rss_anon_pages - (double)subject_prev(o->s)->g.rss_anon_pages;
	if (calls < PURGES || touched.count < TOUCHES || touched.share < WAITS ||
	    grew > touched.count * s * FLAT_SHARE)
		return stall_held(o, open, f);
	stall_begin(o, open, PURGES_NS, f);
	finding_title(f,
		      "memory is released and touched again: %.0f madvise calls and %.0f first "
		      "touches a second",
		      calls, touched.count);
	say_served(f, "first touches", &touched);
	finding_advise(f);
	return true;
}

bool reads_too_much(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct counters *now = o->now, *was = o->was;
	double page = o->m->tick.limits.page_bytes, s, read, touched;
	struct served major;

	if (!stall_window(o, &s))
		return stall_held(o, open, f);
	major = served_of(o, CLASS_FILE_MAJOR, s);
	/*
	 * Minimum number of bytes that file faults read: a swap fault may have read fewer pages
	 * than SWAP_PAGES.
	 */
	read = (now->fault_read_bytes - was->fault_read_bytes) / s -
	       served_of(o, CLASS_SWAP, s).count * SWAP_PAGES * page;
	/*
	 * Maximum number of bytes that threads touched: a fault maps AROUND_PAGES pages, and some
	 * of them stay unused.
	 */
	touched = (major.count + served_of(o, CLASS_FILE_MINOR, s).count * AROUND_PAGES) * page;
	if (major.count < MAJORS || major.share < WAITS || read < touched * AMPLIFIED ||
	    memory_is_short(o->m, o->s))
		return stall_held(o, open, f);
	stall_begin(o, open, READS_NS, f);
	finding_title(f, "readahead of a mapped file: %s/s read from disk, at most %s/s used",
		      as_bytes(count_of_real(read)).s, as_bytes(count_of_real(touched)).s);
	say_served(f, "faults that read", &major);
	finding_number(f, "bytes read for each byte touched", IN_COUNT,
		       count_of_real(read / touched));
	finding_advise(f);
	return true;
}

bool served_by_user(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct served uffd;
	double s;

	if (!stall_window(o, &s))
		return stall_held(o, open, f);
	uffd = served_of(o, CLASS_UFFD, s);
	if (uffd.count < HANDLED || uffd.share < WAITS)
		return stall_held(o, open, f);
	stall_begin(o, open, 0, f);
	finding_title(f, "page faults wait for a userfaultfd handler: %.0f %% of a thread's time",
		      uffd.share * 100);
	say_served(f, "faults handled by userfaultfd", &uffd);
	finding_advise(f);
	return true;
}

bool file_hangs(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t longest = o->now->served_max_ns[CLASS_FILE_MAJOR];
	uint64_t before = o->was->served_max_ns[CLASS_FILE_MAJOR];

	if (longest < HANGS_NS || (subject_prev(o->s)->c && longest <= before))
		return stall_held(o, open, f);
	stall_begin(o, open, 0, f);
	finding_title(f, "a page fault on a mapped file took %s", as_duration(longest).s);
	remedy_command(
		finding_remedy(f, REMEDY_CHECK,
			       "show the mapped files of this process that are on network and "
			       "FUSE file systems"),
		"grep -E ' /' /proc/%u/maps | awk '{print $NF}' | sort -u | xargs stat -f -c "
		"'%%T %%n' | grep -E '^(nfs|smb|fuse|UNKNOWN)'",
		o->s->id.pid);
	finding_advise(f);
	return true;
}

void stall_say_swap(struct finding *f, const struct model *m)
{
	const struct subject *worst = NULL;
	double s = model_window_seconds(m), most = WAITS;

	if (s <= 0 || !model_hook_on(m, "fault_class"))
		return;
	for (struct subject *x = model_each_changed(m, NULL); x; x = model_each_changed(m, x))
		if (subject_prev(x)->c) {
			double share = served_between(facts_counters(subject_prev(x)),
						      facts_counters(&x->now), CLASS_SWAP, s)
					       .share;

			worst = share > most ? x : worst;
			most = share > most ? share : most;
		}
	if (worst)
		evidence_about(finding_real(f, "waits most for swap", IN_PERCENT, most * 100),
			       "%.15s[%u], of a thread's time", worst->now.g.comm, worst->id.pid);
}
