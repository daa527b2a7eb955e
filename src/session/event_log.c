// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/event_log.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/io.h"
#include "collect/redact.h"
#include "model/identity.h"
#include "model/workload.h"
#include "probe/host_facts.h"
#include "session/session.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Lines about one finding of one process: at once, and in an hour after that. */
#define LINES_OF_ONE	      4
#define LINES_OF_ONE_PER_HOUR 12
#define LINES_OF_ALL	      100
#define LINES_OF_ALL_PER_HOUR 600
#define WITHHELD_NS	      60000000000ULL /* time between lines LINES_WITHHELD */
#define PRIORITY_ERROR	      3		     /* LOG_ERR of syslog(3) */

#define LOG_SUBJECTS 128 /* findings with an allowance of their own; the oldest is overwritten */

struct event_log {
	void (*write)(struct buf *b, const struct log_event *e); /* a format of log_event.h */
	bool only_failures; /* --log-format off: write only errors, as text */
	bool clears_line;   /* standard error shows progress in its last line */
	int fd;		    /* standard output, standard error, or a socket */
	bool is_socket;	    /* fd is a socket, owned; `to` is the address of the reader */
	struct sockaddr_un to;
	socklen_t to_len;
	struct allowance all; /* of all lines but FINDING_CLEARED, LINES_WITHHELD and errors */
	struct {
		uint64_t hash; /* of the finding and its subject */
		struct allowance lines;
	} of[LOG_SUBJECTS];
	size_t nr_of;
	uint64_t withheld;	   /* number of lines that were left out since the last line */
	uint64_t told_ns;	   /* CLOCK_MONOTONIC time of the last line */
	log_identify_fn *identify; /* NULL: workloads are found by the cgroup in the model */
	void *ctx;
};

/*
 * Returns whether standard error is connected to the journal: systemd sets JOURNAL_STREAM to the
 * device and inode of the stream (systemd.exec(5)). The descriptor must be compared, since a child
 * that redirects its standard error inherits the variable.
 */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char end;

	return stream && sscanf(stream, "%llu:%llu%c", &device, &inode, &end) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

static int open_socket(struct event_log *l, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(l->to.sun_path)) {
		complain("--log-format: %s: the path of a socket has at most %zu bytes", path,
			 sizeof(l->to.sun_path) - 1);
		return EXIT_FAILED;
	}
	/*
	 * The socket is not connected: each line is sent to the path, so that the log continues
	 * when the reader is started again.
	 */
	l->to.sun_family = AF_UNIX;
	memcpy(l->to.sun_path, path, len + 1);
	l->to_len = offsetof(struct sockaddr_un, sun_path) + len + 1;
	l->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	l->is_socket = l->fd >= 0;
	if (l->is_socket && !access(path, W_OK))
		return 0;
	complain("--log-format: %s: %s", path, strerror(errno));
	return EXIT_FAILED;
}

static int choose(struct event_log *l, const struct options *o)
{
	enum log_format format = o->log.format;

	if (format == LOG_FORMAT_AUTO && stderr_is_journal() && !access(JOURNAL_SOCKET, W_OK))
		format = LOG_FORMAT_JOURNAL;
	l->fd = STDERR_FILENO;
	l->write = log_text;
	l->only_failures = format == LOG_FORMAT_OFF;
	switch (format) {
	case LOG_FORMAT_JSON:
		l->write = log_json;
		l->fd = STDOUT_FILENO;
		return 0;
	case LOG_FORMAT_RFC5424:
		l->write = log_rfc5424;
		l->fd = STDOUT_FILENO;
		return o->log.socket ? open_socket(l, o->log.socket) : 0;
	case LOG_FORMAT_JOURNAL:
		l->write = log_journal;
		return open_socket(l, JOURNAL_SOCKET);
	default:
		return 0;
	}
}

int event_log_open(struct session *s)
{
	struct event_log *l = calloc(1, sizeof(*l));
	int err;

	if (!l) {
		complain("out of memory");
		return EXIT_FAILED;
	}
	l->all = allowance_of(LINES_OF_ALL_PER_HOUR, LINES_OF_ALL);
	err = choose(l, s->o);
	s->log = l;
	if (err)
		event_log_close(s);
	return err;
}

void event_log_replaces_progress(struct session *s)
{
	s->log->clears_line = true;
}

void event_log_identify_by(struct session *s, log_identify_fn *identify, void *ctx)
{
	s->log->identify = identify;
	s->log->ctx = ctx;
}

/* Writes a line, unless the reader has no room for it: faultscope does not wait for the reader. */
static bool put(struct event_log *l, const struct buf *line)
{
	struct pollfd p = {.fd = l->fd, .events = POLLOUT};

	if (line->failed)
		return false;
	if (l->is_socket)
		return sendto(l->fd, line->s, line->len, MSG_NOSIGNAL | MSG_DONTWAIT,
			      (struct sockaddr *)&l->to, l->to_len) >= 0;
	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT && !io_write(l->fd, line->s, line->len);
}

static void write_line(struct session *s, struct log_event *e)
{
	struct event_log *l = s->log;
	struct buf line = {};
	struct host_record host = s->in.m.host;

	e->wall_ns = host_wall_ns();
	if (s->plan.redaction)
		redact_record(s->plan.redaction, &host.h);
	e->host = &host;
	e->redacted = s->plan.redaction;
	e->withheld = l->withheld;
	e->pid = getpid();
	if (l->only_failures && log_priority(e) != PRIORITY_ERROR)
		return;
	if (l->clears_line && l->fd == STDERR_FILENO)
		buf_puts(&line, "\r\033[K");
	l->write(&line, e);
	if (put(l, &line)) {
		l->withheld = 0;
		l->told_ns = host_monotonic_ns();
	} else if (e->kind != LOG_LINES_WITHHELD) {
		l->withheld++;
	}
	buf_free(&line);
}

static uint64_t hash_of(const struct finding *f)
{
	uint64_t hash = hash64_bytes(HASH64_BEGIN, f->rule->id, strlen(f->rule->id));

	hash = hash64_bytes(hash, &f->subject, sizeof(f->subject));
	return hash64_bytes(hash, f->place, strlen(f->place));
}

static struct allowance *allowance_for(struct event_log *l, uint64_t hash)
{
	size_t i = 0, n = l->nr_of < LOG_SUBJECTS ? l->nr_of : LOG_SUBJECTS;

	while (i < n && l->of[i].hash != hash)
		i++;
	if (i == n) {
		i = l->nr_of++ % LOG_SUBJECTS;
		l->of[i].hash = hash;
		l->of[i].lines = allowance_of(LINES_OF_ONE_PER_HOUR, LINES_OF_ONE);
	}
	return &l->of[i].lines;
}

/* Finds the workload by the path of a cgroup. `w` and `name` hold the texts. */
static void workload_by_path(const struct session *s, struct workload_of_process of,
			     struct workload *w, char *name, size_t size, struct log_workload *ret)
{
	struct names_record names = {.h = {RECORD_NAMES, sizeof(names)}};
	char raw[256];

	array_copy(names.cgroup, sizeof(names.cgroup), of.cgroup ? of.cgroup : "");
	if (s->plan.redaction)
		redact_record(s->plan.redaction, &names.h);
	workload_of(names.cgroup, w);
	of.cgroup = names.cgroup;
	workload_name(&of, raw, sizeof(raw));
	label_copy(name, size, raw); /* as in the labels of metrics */
	*ret = (struct log_workload){.name = name, .unit = w->unit, .container = w->container};
}

static void report_finding(struct session *s, const struct finding *f, enum log_kind kind)
{
	struct log_event e = {.kind = kind, .finding = f};
	struct workload w;
	char name[LABEL_BYTES];

	if (s->log->identify && finding_has_process(f)) {
		s->log->identify(s->log->ctx, f, &e.workload);
	} else if (finding_has_process(f)) {
		const struct subject *subject = model_find(&s->in.m, &f->subject);
		struct workload_of_process of = {.comm = f->comm};

		if (subject)
			of = workload_of_subject(subject);
		of.comm = f->comm;
		workload_by_path(s, of, &w, name, sizeof(name), &e.workload);
	} else if (f->rule->trigger == ON_CGROUP) {
		struct workload_of_process of = {.cgroup = f->place, .comm = ""};

		workload_by_path(s, of, &w, name, sizeof(name), &e.workload);
	}
	write_line(s, &e);
}

/*
 * Writes a line about a finding if it is new. A line that is left out is tried again as long as the
 * finding is open, so that readers learn of findings that last. The end of a finding is always
 * reported if its beginning was.
 */
static void look_at(struct session *s, struct finding *f)
{
	bool known = f->logged.severity, news;

	news = f->open && (f->logged.severity != f->severity + 1 || f->logged.level != f->level);
	if (!f->open && known) {
		report_finding(s, f, LOG_FINDING_CLEARED);
		f->logged.severity = 0;
	}
	if (!news)
		return;
	if (!allowance_take(allowance_for(s->log, hash_of(f)), host_monotonic_ns()) ||
	    !allowance_take(&s->log->all, host_monotonic_ns())) {
		s->log->withheld += !f->logged.withheld;
		f->logged.withheld = true;
		return;
	}
	report_finding(s, f, known ? LOG_FINDING_CHANGED : LOG_FINDING_OPENED);
	f->logged.severity = f->severity + 1;
	f->logged.level = f->level;
	f->logged.withheld = false;
}

void event_log_look(struct session *s)
{
	for (size_t i = 0; s->log && i < s->in.findings.n; i++)
		look_at(s, &s->in.findings.f[i]);
}

void event_log_incident(struct session *s, const struct incident_news *news)
{
	static const enum log_kind kinds[] = {
		[INCIDENT_STORED] = LOG_INCIDENT_STORED,
		[INCIDENT_COMPLETED] = LOG_INCIDENT_COMPLETED,
		[INCIDENT_DROPPED] = LOG_INCIDENT_DROPPED,
		[INCIDENT_REFUSED_RATE] = LOG_INCIDENT_REFUSED,
		[INCIDENT_FAILED] = LOG_INCIDENT_FAILED,
	};
	struct log_event e = {.kind = kinds[news->event], .why = news->why};
	char path[PATH_MAX + STORED_NAME_BYTES + 1], workload[LABEL_BYTES];

	struct incident_record r;

	if (!s->log)
		return;
	if (news->event != INCIDENT_FAILED && !allowance_take(&s->log->all, host_monotonic_ns())) {
		s->log->withheld++;
		return;
	}
	snprintf(path, sizeof(path), "%s%s%s", s->incidents->in.store.dir, news->name ? "/" : "",
		 news->name ? news->name : "");
	if (news->event == INCIDENT_FAILED) {
		e.why = strerror(-news->err);
		e.file = s->incidents->in.store.dir;
	} else if (news->name) {
		e.file = path;
	}
	if (news->r) {
		r = *news->r;
		r.h = (struct record){RECORD_INCIDENT, sizeof(r)};
		if (s->plan.redaction)
			redact_record(s->plan.redaction, &r.h);
		e.incident = &r;
		label_copy(workload, sizeof(workload), r.workload);
		e.workload.name = workload;
	}
	write_line(s, &e);
}

static void tell_withheld(struct session *s)
{
	if (s->log->withheld)
		write_line(s, &(struct log_event){.kind = LOG_LINES_WITHHELD});
}

void event_log_work(struct session *s)
{
	if (s->log && host_monotonic_ns() > s->log->told_ns + WITHHELD_NS)
		tell_withheld(s);
}

void event_log_close(struct session *s)
{
	struct event_log *l = s->log;

	if (!l)
		return;
	tell_withheld(s);
	if (l->is_socket)
		close(l->fd);
	s->log = NULL;
	free(l);
}
