// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/blackbox_live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <linux/capability.h>

#include "base/loop.h"
#include "blackbox/log_lines.h"
#include "crash/blackbox_arm.h"
#include "crash/blackbox_places.h"
#include "crash/blackbox_guard.h"
#include "collect/precursor_names.h"
#include "probe/host_facts.h"
#include "probe/precursors.h"
#include "probe/rights.h"
#include "recorder/record_sinks.h"
#include "render/crash/kernel_records.h"
#include "render/completeness.h"
#include "cli/messages.h"
#include "live/terminal_view.h"
#include "crash/triage_verdict.h"

#define HEARTBEAT_SECONDS 10
#define OOPS_LINES	  250 /* number of lines of an oops that are kept, of any level */
#define PENDING_MAX	  64
#define SITES_MAX	  64
/* the kernel survived a fault if no oops follows within this time */
#define SETTLED_NS 1000000000ull
/* maximum number of log lines of severity info in one burst */
#define LINES_BURST	  200
#define LINES_PER_TICK	  20
#define SESSION_LOG_BYTES (4u << 20)
#define LINE_READ	  8192
/*
 * Polling intervals in ms. A fatal kernel fault wakes no process: interrupts stay off until the
 * end, and a wake-up needs an interrupt (irq_work, on the CPU of the fault). Therefore the ring
 * buffer is polled while the CPU still prints its oops.
 */
#define LOOK_MS	     100
#define LOOK_SOON_MS 1
/* after a module change or a fault, the ring buffer is polled every LOOK_SOON_MS for this time */
#define WARY_NS	 60000000000ull
#define ALERT_NS 500000000ull /* for this time after a fault, each poll also reads the log */

/* A fault from which the kernel may still recover. */
struct pending {
	uint64_t ip, boot_ns;
	struct bb_record record;
};

/* An instruction with recovered kernel faults, and the number of its faults that were recorded. */
struct site {
	uint64_t ip, told;
};

struct recording {
	const struct options *o;
	struct precursors *p;
	struct namer namer;
	struct record_sinks record_sinks;
	struct loop loop;
	int kmsg;
	uint64_t ticks, made[NR_BB_CLASSES];
	uint64_t taint;
	uint64_t alert_ns; /* time of the last fault; 0: none yet */
	uint64_t wary_ns;  /* time of the last module change or warning; 0: none yet */
	int oops_lines;	   /* number of further lines of the current oops to keep */
	unsigned int line_tokens;
	struct pending pending[PENDING_MAX];
	size_t nr_pending;
	uint64_t unsettled; /* suspected faults that were not stored, because `pending` was full */
	struct site site[SITES_MAX];
	size_t sites; /* number of sites so far; when `site` is full, the oldest is replaced */
	bool panicked;
	struct guard *guard; /* takes over in a panic; NULL: there is no guard */
	/* The members below are used by triage_live() only. */
	bool says;
	struct view view;
	struct buf log;
	struct bb_found recorded;
	struct crash_signs crash_signs;
};

static void record(struct recording *r, struct bb_record *one)
{
	size_t before = r->recorded.n, known = r->crash_signs.n;
	struct buf b = {};

	r->made[one->class]++;
	if (one->severity > BB_INFO || one->class == BB_MODULE)
		r->wary_ns = host_boottime_ns();
	if (!one->count)
		one->count = 1;
	sinks_write(&r->record_sinks, one);
	if (!r->says)
		return;
	blackbox_text_record(&b, &r->view, one);
	if (!bb_found_add(&r->recorded, one) && r->recorded.n > before) {
		crash_signs_take(&r->crash_signs, &r->recorded, r->recorded.n - 1);
		for (size_t i = known; i < r->crash_signs.n; i++)
			blackbox_text_crash_sign(&b, &r->view, &r->crash_signs.one[i]);
	}
	fwrite(b.s, 1, b.len, stdout);
	fflush(stdout);
	buf_free(&b);
}

/* ---- kernel faults ---- */

static void expect(struct recording *r, const struct precursor_record *p,
		   const struct bb_record *one)
{
	if (r->nr_pending < PENDING_MAX)
		r->pending[r->nr_pending++] = (struct pending){p->ip, p->h.t_ns, *one};
	else
		r->unsettled++;
}

static void settle(struct recording *r, size_t i)
{
	r->pending[i] = r->pending[--r->nr_pending];
}

static void settle_ip(struct recording *r, uint64_t ip)
{
	for (size_t i = r->nr_pending; i--;)
		if (r->pending[i].ip == ip)
			settle(r, i);
}

static void copy_pair(struct bb_record *to, const struct bb_record *from, const char *key)
{
	char value[160];

	if (bb_get(from, key, value, sizeof(value)))
		bb_put(to, key, value);
}

/*
 * On some kernels, exception fixups cannot be probed. There, a suspected fault is recorded as
 * recovered if no oops follows within SETTLED_NS.
 */
static void settle_survived(struct recording *r)
{
	static const char *const kept[] = {"access", "address", "region", "symbol",   "module",
					   "comm",   "pid",	"by",	  "by_module"};
	uint64_t now = host_boottime_ns();

	for (size_t i = r->nr_pending; i--;) {
		struct bb_record one = {.class = BB_FIXUP,
					.severity = BB_WARNING,
					.count = r->pending[i].record.count};

		if (now - r->pending[i].boot_ns < SETTLED_NS)
			continue;
		bb_put(&one, "how", "survived");
		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			copy_pair(&one, &r->pending[i].record, kept[k]);
		settle(r, i);
		record(r, &one);
	}
}

static void note_site(struct recording *r, uint64_t ip, uint64_t told)
{
	for (size_t i = 0; i < SITES_MAX && i < r->sites; i++)
		if (r->site[i].ip == ip) {
			r->site[i].told = told;
			return;
		}
	r->site[r->sites++ % SITES_MAX] = (struct site){ip, told};
}

/*
 * Records further recovered faults each second. BPF programs report only the 1st, 2nd, 4th, 8th, …
 * fault.
 */
static void tell_rest(struct recording *r)
{
	for (size_t i = 0; i < SITES_MAX && i < r->sites; i++) {
		uint64_t count = precursors_count(r->p, PRE_FIXED, r->site[i].ip);
		struct bb_record one;

		if (count <= r->site[i].told)
			continue;
		r->site[i].told = count;
		precursor_again(&r->namer, r->site[i].ip, count, &one);
		record(r, &one);
	}
}

static int take_precursor(void *ctx, const struct precursor_record *p)
{
	struct bb_record records[PRECURSOR_RECORDS];
	struct recording *r = ctx;
	size_t n = precursor_records(&r->namer, p, records);

	for (size_t i = 0; i < n; i++) {
		if (p->what < NR_PRECURSORS)
			r->record_sinks.dropped[records[i].class] = p->dropped;
		record(r, &records[i]);
	}
	/*
	 * This fault may be the last event, so flush at once. In a panic, keep_last() flushes all
	 * records.
	 */
	if (!r->panicked)
		sinks_flush(&r->record_sinks);
	if (n && records[0].class == BB_FAULT)
		r->alert_ns = host_boottime_ns();
	if (n && p->what == PRE_FAULT && p->verdict == VERDICT_SUSPECTED)
		expect(r, p, &records[0]);
	if (p->what == PRE_FIXED) {
		settle_ip(r, p->ip);
		note_site(r, p->ip, p->count);
	}
	return 0;
}

/* ---- the kernel log ---- */

static void keep_log(struct recording *r, const struct bb_line *line)
{
	if (r->says && r->log.len < SESSION_LOG_BYTES)
		buf_printf(&r->log, "[%5llu.%06llu] %s\n", (unsigned long long)line->us / 1000000,
			   (unsigned long long)line->us % 1000000, line->text);
}

static void take_line(struct recording *r, const struct bb_line *line)
{
	struct bb_record one = {};

	keep_log(r, line);
	one.class = bb_line_class(line->level, line->text, &one.severity);
	if (strstr(line->text, BB_LINE_BEGINS))
		return;
	if (one.class == BB_OOPS) {
		r->oops_lines = OOPS_LINES;
		r->nr_pending = 0;
	} else if (r->oops_lines) {
		r->oops_lines = bb_line_ends_oops(line->text) ? 0 : r->oops_lines - 1;
		one.class = one.class == BB_NONE ? BB_CONSOLE : one.class;
	}
	if (one.class == BB_NONE)
		return;
	if (one.severity == BB_INFO && !r->oops_lines && !r->line_tokens) {
		r->record_sinks.dropped[one.class]++;
		return;
	}
	if (one.severity == BB_INFO && !r->oops_lines)
		r->line_tokens--;
	one.boot_ns = 0;
	bb_put_u64(&one, "level", line->level);
	bb_put_u64(&one, "us", line->us);
	bb_put_cut(&one, "line", line->text);
	record(r, &one);
}

static void read_kmsg(struct recording *r)
{
	char text[LINE_READ];
	struct bb_line line;

	while (r->kmsg >= 0) {
		ssize_t n = read(r->kmsg, text, sizeof(text));

		if (n < 0 && errno == EPIPE) /* the kernel overwrote lines before they were read */
			r->record_sinks.dropped[BB_CONSOLE]++;
		else if (n < 0 && errno != EINTR)
			break;
		else if (n > 0 && bb_line_parse(text, n, &line))
			take_line(r, &line);
	}
	sinks_flush(&r->record_sinks);
}

/* ---- heartbeats ---- */

static uint64_t read_taint(void)
{
	unsigned long long taint = 0;
	FILE *f = fopen("/proc/sys/kernel/tainted", "re");

	if (f && fscanf(f, "%llu", &taint) != 1)
		taint = 0;
	if (f)
		fclose(f);
	return taint;
}

static void check_taint(struct recording *r)
{
	uint64_t taint = read_taint();
	struct bb_record one = {.class = BB_TAINT};

	if (taint == r->taint)
		return;
	bb_put_hex(&one, "taint", taint);
	bb_put_hex(&one, "added", taint & ~r->taint);
	r->taint = taint;
	record(r, &one);
}

/* Writes a heartbeat with the recorder's own counters, which `blackbox status` shows. */
static void beat(struct recording *r)
{
	struct bb_record one = {.count = 1};

	for (int c = BB_FAULT; c < NR_BB_CLASSES; c++)
		if (r->made[c])
			bb_put_u64(&one, bb_class_name(c), r->made[c]);
	for (int c = BB_FAULT; c < NR_BB_CLASSES; c++)
		if (r->record_sinks.dropped[c]) {
			char key[32];

			snprintf(key, sizeof(key), "dropped.%s", bb_class_name(c));
			bb_put_u64(&one, key, r->record_sinks.dropped[c]);
		}
	for (int k = 0; k < NR_SINKS; k++) {
		const struct record_sink *record_sink = &r->record_sinks.record_sink[k];
		char key[32];

		if (!record_sink->failed &&
		    (record_sink->on || !(r->record_sinks.o.record_sinks >> k & 1)))
			continue;
		snprintf(key, sizeof(key), "failed.%s", sink_rows[k].name);
		bb_put_u64(&one, key, record_sink->failed);
	}
	if (r->unsettled)
		bb_put_u64(&one, "unsettled", r->unsettled);
	if (kernel_names_lost(&r->namer.names))
		bb_put_u64(&one, "unnamed", kernel_names_lost(&r->namer.names));
	bb_put_u64(&one, "cpu_ms", host_own_cpu_ns() / 1000000);
	bb_put_hex(&one, "tainted", r->taint);
	sinks_beat(&r->record_sinks, &one);
}

static int tick(void *ctx)
{
	struct recording *r = ctx;
	double every = r->o->blackbox.heartbeat ?: HEARTBEAT_SECONDS;

	r->line_tokens += LINES_PER_TICK;
	if (r->line_tokens > LINES_BURST)
		r->line_tokens = LINES_BURST;
	settle_survived(r);
	tell_rest(r);
	check_taint(r);
	if (every <= 1 || r->ticks++ % (uint64_t)every == 0)
		beat(r);
	sinks_flush(&r->record_sinks);
	return 0;
}

/* ---- start and stop ---- */

static void write_start(struct recording *r)
{
	struct bb_record one = {.class = BB_START};
	struct utsname un;
	char off[200] = "";
	size_t used = 0;

	uname(&un);
	bb_put(&one, "version", VERSION);
	bb_put(&one, "kernel", un.release);
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		if (precursors_refused(r->p, h) &&
		    used + strlen(precursor_hooks[h].name) + 2 < sizeof(off))
			used += snprintf(off + used, sizeof(off) - used, "%s%s", used ? "," : "",
					 precursor_hooks[h].name);
	bb_put(&one, "blind", used ? off : "-");
	bb_put_hex(&one, "taint", r->taint);
	record(r, &one);
	for (size_t at = 0, n; at < r->namer.modules.n; at += n) {
		struct bb_record list = {.class = BB_MODULE};

		n = bb_modules_put(&list, &r->namer.modules, at);
		if (!n)
			break;
		record(r, &list);
	}
	sinks_flush(&r->record_sinks);
	beat(r);
}

static void make_directory(const char *file)
{
	char *copy = strdup(file);

	if (copy)
		mkdir(dirname(copy), 0700);
	free(copy);
}

static void open_sinks(struct recording *r, const char *file)
{
	static const char pmsg[] = "/dev/pmsg0", kmsg[] = "/dev/kmsg";
	struct sink_options o = {.record_sinks = r->o->blackbox.record_sinks,
				 .file = file,
				 .file_bytes = r->o->blackbox.file_bytes ?: RING_BYTES_DEFAULT,
				 .pmsg = pmsg,
				 .kmsg = kmsg};
	char marker[512];
	size_t bytes;

	snprintf(marker, sizeof(marker), "/sys/kernel/tracing/instances/%s/trace_marker",
		 r->o->blackbox.instance ?: BLACKBOX_INSTANCE);
	o.marker = marker;
	o.map = precursors_memory(r->p, &bytes);
	o.map_slots = bytes / RING_SLOT;
	if (!o.record_sinks) {
		o.record_sinks = 1u << SINK_KMSG | 1u << SINK_MAP;
		o.record_sinks |= file ? 1u << SINK_FILE : 0;
		o.record_sinks |= access(marker, W_OK) ? 0 : 1u << SINK_MARKER;
		o.record_sinks |= access(pmsg, W_OK) ? 0 : 1u << SINK_PMSG;
	}
	if (file)
		make_directory(file);
	if (o.record_sinks >> SINK_MARKER & 1)
		arm_instance(r->o);
	sinks_open(&r->record_sinks, &o);
	for (int i = 0; i < NR_SINKS; i++)
		if (o.record_sinks >> i & 1 && !r->record_sinks.record_sink[i].on)
			complain("%s: nothing is kept there: %s", sink_rows[i].name,
				 strerror(r->record_sinks.record_sink[i].error));
	r->record_sinks.o.marker =
		r->record_sinks.record_sink[SINK_MARKER].on ? strdup(marker) : NULL;
}

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct recording *r = ctx;

	r->loop.done = true;
	return 0;
}

static int on_kmsg(void *ctx)
{
	read_kmsg(ctx);
	return 0;
}

/* Does nothing, because loop() drains the ring buffer first in each round. */
static int on_precursors(void *ctx)
{
	return 0;
}

static int open_loop(struct recording *r)
{
	static const int wanted[] = {SIGINT, SIGTERM};
	double every = r->o->blackbox.heartbeat;
	struct loop *l = &r->loop;
	int err;

	*l = (struct loop){.on_signal = on_signal, .on_timer = tick, .ctx = r, LOOP_CLOSED};
	r->kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->kmsg >= 0)
		lseek(r->kmsg, 0, SEEK_END);
	err = loop_open(l, wanted, sizeof(wanted) / sizeof(wanted[0]));
	if (!err)
		err = loop_every(l, every > 0 && every < 1 ? every * 1e9 : 1e9);
	err = err ?: loop_watch(l, r->kmsg, on_kmsg);
	return err ?: loop_watch(l, precursors_fd(r->p), on_precursors);
}

/*
 * Locks memory and raises the priority, because the recorder must run when memory or CPU time is
 * short.
 */
static void hold_fast(void)
{
	struct sched_param first = {.sched_priority = 1};

	mlockall(MCL_CURRENT | MCL_FUTURE);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static bool is_within(uint64_t since_ns, uint64_t ns)
{
	return since_ns && host_boottime_ns() - since_ns < ns;
}

/*
 * Writes the last events and the log to disk when the kernel panics. The kernel delays the panic
 * until this function is done.
 */
static void keep_last(void *ctx)
{
	struct recording *r = ctx;

	r->panicked = true;
	precursors_drain(r->p, take_precursor, r);
	read_kmsg(r); /* read_kmsg() also flushes the records */
	precursors_panic_kept(r->p);
}

/*
 * Drops privileges when everything is attached and open. Landlock is not used, because a place for
 * records may appear later, such as a disk that is mounted. The guard needs two raised limits: the
 * limit of locked memory for its stack, and the limit of real-time priority.
 */
static void drop_rights(struct recording *r)
{
	struct rlimit memory = {RLIM_INFINITY, RLIM_INFINITY}, priority = {1, 1};
	struct right keep[RIGHTS_KEPT_MAX];
	struct rights left;
	size_t n = 0;

	if (setrlimit(RLIMIT_MEMLOCK, &memory))
		keep[n++] = (struct right){CAP_IPC_LOCK, -1, "its memory stays locked"};
	if (setrlimit(RLIMIT_RTPRIO, &priority))
		keep[n++] = (struct right){CAP_SYS_NICE, -1, "the guard runs before others"};
	keep[n++] = (struct right){CAP_SYSLOG, -1, "symbols of modules that come later"};
	if (precursors_need_rights(r->p))
		keep[n++] = (struct right){CAP_BPF, CAP_SYS_ADMIN,
					   "before 5.19, map commands of bpf(2)"};
	rights_drop_to(keep, n, &left);
	r->guard = precursors_holds(r->p) ? guard_start(r->p, keep_last, r) : NULL;
	rights_filter_calls(&left, true);
	if (left.failed[0])
		complain("continuing with more privileges than necessary, because dropping them "
			 "failed: %s",
			 left.failed);
}

static void loop(struct recording *r)
{
	uint64_t ends = 0;

	if (r->o->duration)
		ends = host_boottime_ns() + r->o->duration * 1e9;
	while (!r->loop.done && (!ends || host_boottime_ns() < ends)) {
		bool alert = is_within(r->alert_ns, ALERT_NS);
		bool wary = is_within(r->wary_ns, WARY_NS);
		int n;

		guard_pass(r->guard);
		n = loop_wait(&r->loop, wary ? LOOK_SOON_MS : LOOK_MS);
		if (!guard_pass(r->guard))
			pause(); /* wait until the machine stops */
		if (n < 0)
			break;
		if (!r->panicked && precursors_panic(r->p))
			keep_last(r);
		/* read the events in memory first, because a fault may leave no time for the log */
		precursors_drain(r->p, take_precursor, r);
		if (alert)
			read_kmsg(r);
		else if (r->namer.stale)
			r->namer.stale = !kernel_names_step(&r->namer.names);
		loop_dispatch(&r->loop);
	}
}

static void stop(struct recording *r)
{
	struct bb_record one = {.class = BB_STOP};

	guard_stop(r->guard);
	tell_rest(r);
	record(r, &one);
	sinks_close(&r->record_sinks);
	free((char *)r->record_sinks.o.marker);
	precursors_close(r->p);
	kernel_names_free(&r->namer.names);
	close(r->kmsg);
	loop_close(&r->loop);
}

static int begin(struct recording *r, const char *file)
{
	char error[512] = "";
	int err = precursors_open(&r->p, r->o->btf, error, sizeof(error));

	if (err) {
		complain("%s", *error ? error : strerror(-err));
		return err == -EPERM	? EXIT_NOT_PERMITTED
		       : err == -ENOSYS ? EXIT_KERNEL_LACKS
					: EXIT_FAILED;
	}
	r->line_tokens = LINES_BURST;
	r->taint = read_taint();
	kernel_modules_read(&r->namer.modules);
	kernel_names_read(&r->namer.names);
	open_sinks(r, file);
	err = open_loop(r);
	if (err) {
		complain("cannot wait for events: %s", strerror(-err));
		stop(r);
		return EXIT_FAILED;
	}
	if (!r->says && !sinks_on(&r->record_sinks)) {
		complain("no place to keep records in\n  try:  faultscope blackbox arm");
		stop(r);
		return EXIT_FAILED;
	}
	hold_fast();
	drop_rights(r);
	write_start(r);
	return EXIT_DONE;
}

int blackbox_run(const struct options *o)
{
	struct recording *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return EXIT_FAILED;
	r->o = o;
	status = begin(r, o->blackbox.file ?: BLACKBOX_FILE);
	if (status == EXIT_DONE) {
		loop(r);
		stop(r);
	}
	free(r);
	return status;
}

/*
 * Lists the gaps: what the recorder may have missed in this session. Call this before the probes
 * are closed.
 */
static void live_gaps(const struct recording *r, struct buf *gaps)
{
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		if (precursors_refused(r->p, h))
			gap_add(gaps, "not measured: %s (%s)", precursor_hooks[h].name,
				precursors_refused(r->p, h));
	if (r->kmsg < 0)
		gap_add(gaps, "not read: /dev/kmsg");
	for (int c = BB_FAULT; c < NR_BB_CLASSES; c++)
		gap_lost(gaps, r->record_sinks.dropped[c], "record{|s} of class %s",
			 bb_class_name(c));
	if (r->log.failed || r->log.len >= SESSION_LOG_BYTES)
		gap_add(gaps, "lost: the end of the log, beyond the most that is kept");
}

int triage_live(const struct options *o)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct buf gaps = {};
	int status;

	if (!r)
		return EXIT_FAILED;
	r->o = o;
	r->says = true;
	view_make(&r->view, o);
	status = begin(r, o->blackbox.file);
	if (status == EXIT_DONE) {
		loop(r);
		live_gaps(r, &gaps);
		stop(r);
		bb_found_settle(&r->recorded);
		status = triage_text_of_log(o, &r->log, &r->recorded, &gaps);
	}
	bb_found_free(&r->recorded);
	buf_free(&r->log);
	buf_free(&gaps);
	free(r);
	return status;
}
