// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules about programs that use system calls wrongly. For example, accept() fails at a limit in a
 * loop, or select() gets a file descriptor of FD_SETSIZE or more.
 */
#include "rules/rules.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/limits_rules.h"
#include "rules/pressure_rules.h"
#include "rules/runtime_hint.h"

#define FD_SETSIZE_KERNEL 1024
/* A finding about a repeated event stays open this long after the last event. */
#define HOLD_NS 60000000000ULL

static void count_evidence(struct finding *f, const char *field, uint64_t n, uint64_t limit)
{
	struct evidence *e = finding_number(f, field, IN_COUNT, n);

	if (limit)
		evidence_limit(e, limit);
}

static void rate_evidence(struct finding *f, const char *field, double per_second)
{
	finding_real(f, field, IN_PER_SECOND, per_second);
}

static uint64_t rise(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/*
 * The increase of a counter since the previous update of the process. It is 0 if the process had no
 * update in this window.
 */
#define RISE(o, member)                                                                            \
	(subject_changed((o)->m, (o)->s) ? rise((o)->now->member, (o)->was->member) : 0)

/*
 * Returns the seconds between the last two updates of a process; 0 if the process has only one
 * update.
 */
static double seconds_of(const struct subject *s)
{
	return subject_prev(s)->t_ns ? rise(s->now.t_ns, subject_prev(s)->t_ns) / 1e9 : 0;
}

/* Rule F05 accept-emfile-loop: accept() fails with EMFILE in a loop. */

/*
 * Minimum length of a window in seconds: in a shorter window, a few events are already a high rate.
 */
#define LEAST_SECONDS	0.2
#define SPIN_PER_SECOND 1000.0
/*
 * The process loops if it uses at least this share of one CPU. The share is low, because other
 * programs may need the CPUs too.
 */
#define SPIN_CPU_SHARE 0.05

bool accept_spins(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t refused = RISE(o, fd_call[CALL_ACCEPT - CALL_FD_FIRST].refused);
	const struct gauges *g = &o->s->now.g;
	double seconds = seconds_of(o->s), cpu;

	if (seconds < LEAST_SECONDS || refused < SPIN_PER_SECOND * seconds || g->fds < g->fd_soft)
		return false;
	cpu = rise(o->s->now.u.cpu_ns, subject_prev(o->s)->u.cpu_ns) / 1e9 / seconds;
	if (cpu < SPIN_CPU_SHARE)
		return false;
	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	f->cause = "rlimit_nofile";
	finding_title(f,
		      "accept fails with EMFILE in a loop: %.0f%% of a CPU, and no connection is "
		      "accepted",
		      cpu * 100);
	rate_evidence(f, "failed accept calls", refused / seconds);
	finding_real(f, "share of a CPU", IN_PERCENT, cpu * 100);
	count_evidence(f, "file descriptors", g->fds, g->fd_soft);
	finding_advise(f);
	limit_help_nofile(f, o->s, g->fd_soft);
	return true;
}

/*
 * Returns true in two cases. Either the event of a finding happened in this window (`again`), or
 * the finding is open and its event happened less than HOLD_NS ago. Stores the time of the last
 * event in f->grew_ns.
 */
static bool is_recent(const struct occasion *o, const struct finding *open, bool again,
		      struct finding *f)
{
	f->grew_ns = again || !open ? o->t_ns : open->grew_ns;
	return again || (open && o->t_ns < open->grew_ns + HOLD_NS);
}

/* Rule F06 close-loop: close() of file descriptors that are not open. */

#define CLOSES_IN_VAIN 1000000
#define HUGE_LIMIT     (1UL << 20)

bool closes_in_vain(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t failed = o->now->close_failed, more = RISE(o, close_failed);
	const struct gauges *g = &o->s->now.g;
	double seconds = seconds_of(o->s);

	if (failed < CLOSES_IN_VAIN || g->fd_soft < HUGE_LIMIT || !is_recent(o, open, more, f))
		return false;
	f->severity = SEVERITY_WARNING;
	f->level = 1;
	finding_title(f, "%" PRIu64 " million close() calls of file descriptors that are not open",
		      failed / CLOSES_IN_VAIN);
	count_evidence(f, "failed close calls", failed, 0);
	if (more && seconds >= LEAST_SECONDS)
		rate_evidence(f, "failed close calls, last interval", more / seconds);
	count_evidence(f, "RLIMIT_NOFILE", g->fd_soft, 0);
	finding_advise(f);
	return true;
}

/* Rule F07 select-fd-setsize: select() with file descriptors of 1024 and above. */

static bool is_aborted(const struct subject *s)
{
	return s->signal == SIGABRT;
}

bool select_is_too_wide(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct counters *c = o->now;
	const struct gauges *g = &o->s->now.g;
	bool stopped =
		is_aborted(o->s) && counted_or_0(c->selects) && g->fd_high > FD_SETSIZE_KERNEL;

	if (!stopped &&
	    (!counted_or_0(c->selects_wide) || !is_recent(o, open, RISE(o, selects_wide), f)))
		return false;
	f->severity = stopped ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->level = f->severity + 1;
	if (stopped)
		finding_title(f, "abort() in a program that uses select() with open file "
				 "descriptors beyond 1,023 (FD_SETSIZE)");
	else
		finding_title(f, "select() with a file descriptor beyond 1,023 (FD_SETSIZE)");
	count_evidence(f, "select() calls beyond FD_SETSIZE", counted_or_0(c->selects_wide), 0);
	count_evidence(f, "peak of open fds", g->fd_high, FD_SETSIZE_KERNEL);
	finding_advise(f);
	if (!o->s->final)
		remedy_command(finding_remedy(f, REMEDY_CHECK, "find the callers of select()"),
			       "perf trace -e select,pselect6 --call-graph fp -p %u", o->s->id.pid);
	remedy_command(finding_remedy(f, REMEDY_WORKAROUND,
				      "start the program with this limit, so that open() fails "
				      "instead of select() overwriting memory"),
		       "ulimit -n 1024");
	return true;
}

/* Rule M22 python-thread-hang: a Python thread that gets ENOMEM never reports that it runs. */

/* ns; a process that is active this long after the failure does not hang */
#define LIVES_NS 2000000000ULL
#define HANGS_NS 5000000000ULL

/*
 * A Python thread that gets ENOMEM in its first steps exits before it reports that it runs. The
 * thread that created it then waits forever. faultscope sees the failed call, and after it no
 * activity.
 */
bool python_waits_for_thread(const struct occasion *o, const struct finding *open,
			     struct finding *f)
{
	const struct subject *s = o->s;
	uint64_t quiet_ns = o->m->last_ns > s->last_ns ? o->m->last_ns - s->last_ns : 0;
	uint64_t lives_ns = LIVES_NS + o->m->host.interval_ns;

	if (!s->starved_ns || s->final || !runs_python(s) || s->last_ns > s->starved_ns + lives_ns)
		return false;
	f->severity = quiet_ns >= HANGS_NS ? SEVERITY_WARNING : SEVERITY_INFO;
	f->level = f->severity + 1;
	if (f->severity == SEVERITY_WARNING)
		finding_title(f, "ENOMEM in a thread of Python, and the process has been idle "
				 "since then: Thread.start() may hang");
	else
		finding_title(f, "ENOMEM in a thread of Python: if the thread was starting, "
				 "Thread.start() hangs");
	finding_text(f, "thread that got ENOMEM", "%u", s->starved_tid);
	if (f->severity == SEVERITY_WARNING)
		finding_real(f, "no call, fault or change for", IN_SECONDS, quiet_ns / 1e9);
	remedy_command(
		finding_remedy(f, REMEDY_CHECK,
			       "show the Python stacks: if Thread.start() hangs, the main thread "
			       "is in Thread.start and waits for _started"),
		"py-spy dump --pid %u", s->id.pid);
	finding_advise(f);
	return true;
}
