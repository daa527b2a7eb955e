// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "model/limit.h"

#define SOON_SECONDS 3600.0

static const uint32_t level_percent[] = {50, 80, 95};
static const enum severity level_severity[] = {SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL};

static void counted(char *ret, size_t size, uint64_t n)
{
	struct buf b = {};

	put_limit(&b, n);
	snprintf(ret, size, "%s", b.s ? b.s : "");
	buf_free(&b);
}

/* Thresholds passed, 0 to 3; a level once open stays until five points below its threshold. */
static uint32_t level_of(uint64_t value, uint64_t limit, const struct finding *open)
{
	uint32_t level = 0;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t percent = level_percent[i] - (open && open->level > i ? 5 : 0);

		if (limit && limit != UINT64_MAX &&
		    (unsigned __int128)value * 100 >= (unsigned __int128)limit * percent)
			level = i + 1;
	}
	return level;
}

static void say_forecast(struct finding *f, const struct series *s, uint64_t limit)
{
	struct buf b = {};

	f->forecast = series_forecast(s, limit);
	if (!f->forecast.known)
		return;
	put_rate(&b, f->forecast.per_second);
	buf_puts(&b, "/s, full in ");
	put_span(&b, f->forecast.seconds);
	buf_puts(&b, " (");
	put_span(&b, f->forecast.low);
	buf_puts(&b, " to ");
	put_span(&b, f->forecast.high);
	buf_puts(&b, ")");
	finding_evidence(f, "growth", b.s ? b.s : "", NULL);
	buf_free(&b);
}

static void say_level(struct finding *f, const char *what, const char *limit_name, uint64_t value,
		      uint64_t high, uint64_t limit, uint32_t level)
{
	char v[32], h[32], l[32];

	counted(v, sizeof(v), value);
	counted(h, sizeof(h), high);
	counted(l, sizeof(l), limit);
	f->level = level;
	f->severity = level_severity[level - 1];
	snprintf(f->title, sizeof(f->title), "%s of %s %s, %" PRIu64 "%% of %s", v, l, what,
		 value * 100 / limit, limit_name);
	finding_evidence(f, what, v, l);
	finding_evidence(f, "high-water", h, l);
}

static void raise_map_count(struct finding *f, uint64_t high)
{
	finding_remedy(f, "to gain time (host-wide): sysctl -w vm.max_map_count=%" PRIu64,
		       limit_roomy(&limit_table[LIMIT_MAX_MAP_COUNT], high));
}

/* Of a process that is gone only the next one can be helped. */
static void raise_nofile(struct finding *f, const struct subject *s, uint64_t soft)
{
	uint64_t want = soft * 4 < 65536 ? 65536 : soft * 4;
	uint64_t hard = s ? s->now.g.fd_hard : UINT64_MAX;
	bool within = want <= hard;

	if (!within && hard > soft)
		want = hard, within = true;
	if (!within)
		want = soft * 2;
	if (s && !s->final && within)
		finding_remedy(f, "to gain time: prlimit --pid %u --nofile=%" PRIu64 ":", s->id.pid,
			       want);
	else if (s && !s->final)
		finding_remedy(f,
			       "the soft limit is at the hard one; as root: prlimit --pid %u "
			       "--nofile=%" PRIu64 ":%" PRIu64,
			       s->id.pid, want, want);
	else
		finding_remedy(
			f, "for the next start: ulimit -n %" PRIu64 "%s", want,
			within ? ""
			       : " (above the hard limit: as root, or LimitNOFILE= of its unit)");
}

static void list_descriptors(struct finding *f, const struct subject *s)
{
	if (s && !s->final)
		finding_remedy(f,
			       "see what they are: ls -l /proc/%u/fd | awk '{print $NF}' | sort | "
			       "uniq -c | sort -n | tail",
			       s->id.pid);
}

static bool maps_near_limit(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct fs_gauges *g = &o->s->now.g;
	uint64_t limit = o->m->tick.limits.max_map_count;
	uint64_t value = o->s->final ? g->map_high : g->map_count;
	uint32_t level = level_of(value, limit, open);

	if (!level)
		return false;
	f->cause = "max_map_count";
	say_level(f, "mappings", "vm.max_map_count", value, g->map_high, limit, level);
	say_forecast(f, o->s->maps, limit);
	finding_remedy(f, "find what maps: mappings that share no file and no rights are not "
			  "merged; pack small ones together, unmap what is done with");
	raise_map_count(f, g->map_high);
	return true;
}

static bool fds_near_limit(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct fs_gauges *g = &o->s->now.g;
	uint64_t value = o->s->final ? g->fd_high : g->fds;
	uint32_t level = level_of(value, g->fd_soft, open);

	if (!level)
		return false;
	f->cause = "rlimit_nofile";
	say_level(f, "descriptors", "RLIMIT_NOFILE", value, g->fd_high, g->fd_soft, level);
	say_forecast(f, o->s->fds, g->fd_soft);
	list_descriptors(f, o->s);
	raise_nofile(f, o->s, g->fd_soft);
	return true;
}

static bool grows(struct finding *f, const char *what, const struct series *s, uint64_t value,
		  uint64_t limit)
{
	char v[32], l[32];
	struct buf b = {};

	if (!s || !limit || limit == UINT64_MAX)
		return false;
	f->forecast = series_forecast(s, limit);
	if (!f->forecast.known || f->forecast.seconds > SOON_SECONDS)
		return false;
	counted(v, sizeof(v), value);
	counted(l, sizeof(l), limit);
	put_span(&b, f->forecast.seconds);
	snprintf(f->title, sizeof(f->title), "%s will reach their limit in about %s", what,
		 b.s ? b.s : "?");
	buf_free(&b);
	f->severity = f->forecast.seconds < 300 ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	f->level = f->severity + 1;
	finding_evidence(f, what, v, l);
	say_forecast(f, s, limit);
	return true;
}

static bool maps_grow(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t count = o->s->now.g.map_count;

	if (!grows(f, "mappings", o->s->maps, count, o->m->tick.limits.max_map_count))
		return false;
	f->cause = "max_map_count";
	raise_map_count(f, o->s->now.g.map_high);
	return true;
}

static bool fds_grow(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct fs_gauges *g = &o->s->now.g;

	if (!grows(f, "descriptors", o->s->fds, g->fds, g->fd_soft))
		return false;
	f->cause = "rlimit_nofile";
	raise_nofile(f, o->s, g->fd_soft);
	return true;
}

/* One sentence and the verdict's evidence for a refused call. */
static void say_refused(const struct occasion *o, struct finding *f, const char *limit)
{
	const struct fs_refused_record *r = o->refused;
	char number[16];

	f->severity = SEVERITY_CRITICAL;
	f->cause = o->verdict->cause;
	f->level = 1;
	snprintf(f->title, sizeof(f->title), "%s refused%s%s: %s", call_name(r->call),
		 r->error ? " with " : "",
		 r->error ? errno_name(r->error, number, sizeof(number)) : "", limit);
	for (size_t i = 0; i < o->verdict->nr_evidence; i++)
		finding_evidence(f, o->verdict->evidence[i].field, o->verdict->evidence[i].value,
				 o->verdict->evidence[i].limit);
	snprintf(number, sizeof(number), "%" PRIu64, (uint64_t)r->count);
	finding_evidence(f, "refused_calls", number, NULL);
	for (size_t i = 0; i < o->verdict->nr_next; i++)
		finding_evidence(f, "would_fail_next", o->verdict->next[i], NULL);
}

static bool has_cause(const struct occasion *o, const char *cause)
{
	return !strcmp(o->verdict->cause, cause);
}

static bool is_freeing(unsigned int call)
{
	return call != FS_CALL_MMAP && call != FS_CALL_BRK && call != FS_CALL_SHMAT;
}

static bool refused_by_map_count(const struct occasion *o, const struct finding *open,
				 struct finding *f)
{
	if (!has_cause(o, "max_map_count") || is_freeing(o->refused->call))
		return false;
	say_refused(o, f, "vm.max_map_count is used up");
	finding_remedy(f, "fewer mappings: pack small ones together; a PyTorch DataLoader that "
			  "shares many tensors: stack them, or use multiprocessing_context='fork'");
	raise_map_count(f, o->refused->map_count);
	return true;
}

static bool split_refused(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!has_cause(o, "max_map_count") || !is_freeing(o->refused->call))
		return false;
	say_refused(o, f, "it needs to split a mapping, and vm.max_map_count is used up");
	finding_remedy(f, "memory can no longer be given back in parts: unmap whole mappings, or "
			  "let the allocator keep its pages (jemalloc: retain:true)");
	raise_map_count(f, o->refused->map_count);
	return true;
}

static bool refused_by_as(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!has_cause(o, "rlimit_as"))
		return false;
	say_refused(o, f, "RLIMIT_AS (ulimit -v) is used up");
	finding_remedy(f, "RLIMIT_AS counts reservations nobody touches: bound memory by a cgroup "
			  "(memory.max) instead");
	finding_remedy(f, "to gain time: prlimit --pid %u --as=unlimited", o->refused->subject.pid);
	return true;
}

static bool refused_by_data(const struct occasion *o, const struct finding *open, struct finding *f)
{
	if (!has_cause(o, "rlimit_data"))
		return false;
	say_refused(o, f, "RLIMIT_DATA (ulimit -d) is used up");
	finding_remedy(
		f, "since Linux 4.7 it counts private writable mappings too, not only the heap");
	finding_remedy(f, "to gain time: prlimit --pid %u --data=unlimited",
		       o->refused->subject.pid);
	return true;
}

static bool refused_by_memlock(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	if (!has_cause(o, "rlimit_memlock"))
		return false;
	say_refused(o, f, "RLIMIT_MEMLOCK (ulimit -l) is used up");
	finding_remedy(f,
		       "to gain time: prlimit --pid %u --memlock=unlimited; in a systemd unit: "
		       "LimitMEMLOCK=infinity",
		       o->refused->subject.pid);
	return true;
}

static bool refused_otherwise(const struct occasion *o, const struct finding *open,
			      struct finding *f)
{
	static const char *const named[] = {
		"max_map_count", "rlimit_as", "rlimit_data",	   "rlimit_memlock",
		"rlimit_nofile", "file_max",  "inotify_instances", "descriptors_dropped"};
	char text[96];

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (has_cause(o, named[i]))
			return false;
	if (has_cause(o, "unknown"))
		snprintf(text, sizeof(text), "by no limit that can be read");
	else
		snprintf(text, sizeof(text), "%s", o->verdict->cause);
	say_refused(o, f, text);
	/* An argument the kernel does not take is the caller's affair, and may be a probe. */
	f->severity = has_cause(o, "bad_argument") || has_cause(o, "bad_descriptor") ||
				      has_cause(o, "fixed_exists")
			      ? SEVERITY_INFO
			      : SEVERITY_WARNING;
	finding_remedy(f,
		       "see the call and its arguments: faultscope --json -p %u, lines of type "
		       "\"refused\"",
		       o->refused->subject.pid);
	return true;
}

static bool refused_by_nofile(const struct occasion *o, const struct finding *open,
			      struct finding *f)
{
	if (!has_cause(o, "rlimit_nofile"))
		return false;
	say_refused(o, f, "RLIMIT_NOFILE (ulimit -n) is used up");
	list_descriptors(f, o->s);
	raise_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

static bool descriptors_dropped(const struct occasion *o, const struct finding *open,
				struct finding *f)
{
	if (!has_cause(o, "descriptors_dropped"))
		return false;
	say_refused(o, f, "");
	snprintf(f->title, sizeof(f->title),
		 "%s dropped descriptors sent to it, and said success: RLIMIT_NOFILE is used up",
		 call_name(o->refused->call));
	list_descriptors(f, o->s);
	raise_nofile(f, o->s, o->refused->fd_soft);
	return true;
}

static bool refused_by_file_max(const struct occasion *o, const struct finding *open,
				struct finding *f)
{
	if (!has_cause(o, "file_max"))
		return false;
	say_refused(o, f, "fs.file-max is used up, host-wide");
	finding_remedy(f, "find who holds them: faultscope --sort fds 1 1");
	finding_remedy(f, "to gain time: sysctl -w fs.file-max=%" PRIu64,
		       (uint64_t)o->m->tick.limits.file_max * 2);
	return true;
}

static bool refused_by_inotify(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	if (!has_cause(o, "inotify_instances"))
		return false;
	say_refused(o, f, "fs.inotify.max_user_instances is used up, not the descriptor limit");
	finding_remedy(f, "sysctl -w fs.inotify.max_user_instances=%" PRIu64,
		       (uint64_t)o->m->tick.limits.inotify_instances * 4);
	return true;
}

static bool bad_kernel_address(const struct occasion *o, const struct finding *open,
			       struct finding *f)
{
	const struct fs_kernel_fault_record *r = o->kernel_fault;
	const struct symbol *sym = model_symbol(o->m, r->ip);
	char text[48];

	if (r->nofault)
		return false; /* a probing read: it survives by design */
	f->severity = SEVERITY_CRITICAL;
	f->level = 1;
	snprintf(f->title, sizeof(f->title), "the kernel touched a bad address in %s%s%s%s",
		 sym ? sym->symbol : "code without a name", sym && sym->module[0] ? " [" : "",
		 sym ? sym->module : "", sym && sym->module[0] ? "]" : "");
	snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)r->count);
	finding_evidence(f, "times", text, NULL);
	finding_evidence(f, "access",
			 r->error_code & 16  ? "exec"
			 : r->error_code & 2 ? "write"
					     : "read",
			 NULL);
	finding_evidence(f, "address", r->address >> 63 ? "kernel half" : "user half, no user copy",
			 NULL);
	finding_remedy(f, "it may be an oops in the making: look at dmesg; lsmod | grep for the "
			  "module named");
	return true;
}

/* Ids are stable once shipped. */
const struct rule rules[] = {
	{"M01", ON_REFUSED, "calls", "a mapping was refused: vm.max_map_count",
	 refused_by_map_count},
	{"M02", ON_REFUSED, "calls", "a mapping could not be split: vm.max_map_count",
	 split_refused},
	{"M13", ON_REFUSED, "calls", "a mapping was refused: RLIMIT_AS", refused_by_as},
	{"M14", ON_REFUSED, "calls", "a mapping was refused: RLIMIT_DATA", refused_by_data},
	{"M20", ON_REFUSED, "calls", "a mapping was refused: RLIMIT_MEMLOCK", refused_by_memlock},
	{"M25", ON_SUBJECT, NULL, "the map count is near vm.max_map_count", maps_near_limit},
	{"M26", ON_SUBJECT, NULL, "the map count grows towards vm.max_map_count", maps_grow},
	{"M27", ON_REFUSED, "calls", "a call was refused for another reason", refused_otherwise},
	{"F01", ON_REFUSED, "calls", "a descriptor was refused: RLIMIT_NOFILE", refused_by_nofile},
	{"F02", ON_REFUSED, "calls", "a descriptor was refused: fs.file-max", refused_by_file_max},
	{"F03", ON_REFUSED, "calls", "a descriptor was refused: inotify instances",
	 refused_by_inotify},
	{"F04", ON_REFUSED, "calls", "descriptors passed to it were dropped", descriptors_dropped},
	{"F12", ON_SUBJECT, NULL, "descriptors are near RLIMIT_NOFILE", fds_near_limit},
	{"F13", ON_SUBJECT, NULL, "descriptors grow towards RLIMIT_NOFILE", fds_grow},
	{"K01", ON_KERNEL_FAULT, "fault_kernel", "the kernel touched a bad address",
	 bad_kernel_address},
};

const size_t nr_rules = sizeof(rules) / sizeof(rules[0]);
