// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/pressure_rules.h"
#include "rules/growth_rules.h"
#include "rules/limits_rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/limit.h"
#include "rules/shared_limits.h"

/*
 * ns; a growth finding stays open this long after its last forecast, because for noisy values there
 * is sometimes no forecast
 */
#define HOLD_NS	   10000000000ULL
#define HOLD_LOOKS 3
/* A growth finding closes when the value falls by 1/FALLEN_SHARE of the limit. */
#define FALLEN_SHARE 20
/* ns; a peak of a value that rises and falls counts for at least this long */
#define PEAK_NS 60000000000ULL
/*
 * The evidence shows the largest burst if it is at least 1/BURST_SHARE of the room below the limit.
 */
#define BURST_SHARE 10
/* growth in one interval is a burst if it is at least this many times the average growth */
#define BURST_TIMES 3

static const uint32_t level_percent[] = {50, 80, 95};
static const enum severity level_severity[] = {SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL};

/* Writes a value as "65,530" or "8.0 MiB", followed by `after`. */
static void amount(char *ret, size_t size, const struct resource *r, uint64_t n, const char *after)
{
	snprintf(ret, size, "%s%s", r->bytes && n != UINT64_MAX ? as_bytes(n).s : as_limit(n).s,
		 after);
}

static void put_limit_name(struct buf *b, const struct resource *r, const struct use *u)
{
	char limit[32];

	amount(limit, sizeof(limit), r, u->limit, "");
	if (u->assumed)
		buf_printf(b, "an assumed %s of %s", r->limit, limit);
	else
		buf_puts(b, r->limit);
}

/*
 * Returns how many thresholds the value has reached, 0 to 3. The level of an open finding falls
 * only when the value is five percentage points below the threshold.
 */
static uint32_t level_at(uint64_t value, uint64_t limit, const struct finding *open)
{
	uint32_t level = 0;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t percent = level_percent[i] - (open && open->level > i ? 5 : 0);

		if ((unsigned __int128)value * 100 >= (unsigned __int128)limit * percent)
			level = i + 1;
	}
	return level;
}

/*
 * Returns the recent peak of a value that rises and falls, or 0 if the value only rises or only
 * falls. The finding itself stores the peak (grew_to), because the history may be too short for
 * many cycles.
 */
static uint64_t peak_of(const struct occasion *o, const struct finding *open, uint64_t value,
			struct finding *f)
{
	const struct series *s = resource_series(o->m, o->s, f->rule->resource);
	uint64_t peak = s ? cycles_high(&s->cycles, o->t_ns) : 0;

	if (peak && open && open->grew_to > value && o->t_ns < open->grew_ns + PEAK_NS) {
		f->grew_ns = open->grew_ns;
		f->grew_to = open->grew_to;
		return peak > f->grew_to ? peak : f->grew_to;
	}
	limit_growth_keep(o, value, f);
	return peak;
}

/*
 * Returns the level of the value. If the value goes up and down, returns the level of its peaks, so
 * that one finding stays open for all cycles.
 */
static uint32_t level_of(const struct use *u, const struct finding *open, uint64_t peak)
{
	uint32_t now, peaks;

	if (!use_is_bounded(u))
		return 0;
	now = level_at(u->value, u->limit, open);
	peaks = open && peak > u->value ? level_at(peak, u->limit, open) : 0;
	return peaks > now ? peaks : now;
}

/* Returns true if the process has ended, and its last value has a lower level than its peak. */
static bool came_down(const struct occasion *o, const struct use *u)
{
	return o->s && o->s->final &&
	       level_at(u->at_end, u->limit, NULL) < level_at(u->value, u->limit, NULL);
}

static enum severity severity_near(const struct finding *f, const struct use *u, bool down)
{
	uint32_t level = down ? level_at(u->at_end, u->limit, NULL) : f->level;

	return level_severity[level ? level - 1 : 0];
}

static void say_peak(struct finding *f, const struct resource *r, const struct use *u)
{
	char value[32], limit[32], end[32];

	amount(value, sizeof(value), r, u->value, "");
	amount(limit, sizeof(limit), r, u->limit, "");
	amount(end, sizeof(end), r, u->at_end, "");
	finding_title(f, "peak %s of %s %s, %" PRIu64 "%% of %s%s; %s when it ended", value, limit,
		      r->what, (uint64_t)((unsigned __int128)u->value * 100 / u->limit),
		      u->assumed ? "an assumed " : "", r->limit, end);
}

/*
 * Sets a title such as "950 of 1,000 descriptors, 95% of RLIMIT_NOFILE". It contains the value or
 * its peak.
 */
static void say_near(struct finding *f, const struct resource *r, const struct use *u,
		     uint64_t peak)
{
	bool falls = f->level > level_at(u->value, u->limit, NULL) &&
		     level_at(peak, u->limit, NULL) > level_at(u->value, u->limit, NULL);
	uint64_t told = falls ? peak : u->value;
	char value[32], limit[32], now[32];

	amount(value, sizeof(value), r, told, "");
	amount(limit, sizeof(limit), r, u->limit, "");
	amount(now, sizeof(now), r, u->value, "");
	finding_title(f, "%s%s of %s %s, %" PRIu64 "%% of %s%s%s%s", falls ? "repeatedly " : "",
		      value, limit, r->what, (uint64_t)((unsigned __int128)told * 100 / u->limit),
		      u->assumed ? "an assumed " : "", r->limit, falls ? "; now " : "",
		      falls ? now : "");
}

static enum evidence_unit unit_of(const struct resource *r)
{
	return r->bytes ? IN_BYTES : IN_COUNT;
}

static void say_use(struct finding *f, const struct occasion *o, const struct use *u)
{
	const struct resource *r = &resources[f->rule->resource];
	struct evidence *e = finding_number(f, r->what, unit_of(r), u->value);

	evidence_limit(e, u->limit);
	e->assumed = u->assumed;
	e = finding_number(f, "peak", unit_of(r), u->high);
	evidence_limit(e, u->high_limit);
	e->assumed = u->assumed;
	limit_share_evidence(f, o, f->rule->resource);
}

/* evidence of a forecast: the estimate, and the interval around it */
static const char *const until_full[] = {"time until full", "full at the earliest",
					 "full at the latest"};

void limit_say_forecast(struct finding *f, const struct forecast *c, bool bytes)
{
	f->forecast = *c;
	if (!c->known)
		return;
	finding_real(f, "growth", bytes ? IN_BYTES_PER_SECOND : IN_PER_SECOND, c->per_second);
	finding_real(f, until_full[0], IN_SECONDS, c->seconds);
	finding_real(f, until_full[1], IN_SECONDS, c->low);
	finding_real(f, until_full[2], IN_SECONDS, c->high);
}

void limit_drop_forecast(struct finding *f)
{
	size_t kept = 0;

	f->forecast = (struct forecast){};
	for (size_t i = 0; i < f->nr_evidence; i++) {
		bool forecast = false;

		for (size_t k = 0; k < sizeof(until_full) / sizeof(until_full[0]); k++)
			forecast |= !strcmp(f->evidence[i].field, until_full[k]);
		if (!forecast)
			f->evidence[kept++] = f->evidence[i];
	}
	f->nr_evidence = kept;
}

/*
 * Adds the largest burst to the evidence, because a burst can reach the limit before any rate shows
 * growth. If such a burst would reach the limit now, the title says so. If two such bursts would
 * reach it, the finding is at least a warning.
 */
static void say_burst(struct finding *f, const struct occasion *o, const struct use *u)
{
	const struct resource *r = &resources[f->rule->resource];
	struct bursts b = series_bursts(resource_series(o->m, o->s, f->rule->resource));
	uint64_t left = u->limit > u->value ? u->limit - u->value : 0;
	double interval = o->m->host.interval_ns / 1e9;
	size_t end = strlen(f->title);
	char burst[32];
	double even = f->forecast.known ? f->forecast.per_second * fmax(1, interval) : 0;

	if ((o->s && o->s->final) || !left || b.largest < left / BURST_SHARE || b.largest < 2 ||
	    b.largest < BURST_TIMES * even)
		return;
	amount(burst, sizeof(burst), r, b.largest, "");
	finding_number(f, "largest burst", unit_of(r), b.largest);
	finding_number(f, "left below the limit", unit_of(r), left);
	if (b.largest < left)
		return;
	snprintf(f->title + end, sizeof(f->title) - end,
		 "; one more burst like the largest one (%s) reaches the limit", burst);
	if (b.second >= left && f->severity == SEVERITY_INFO)
		f->severity = SEVERITY_WARNING;
}

void limit_help_map_count(struct finding *f, const struct model *m, uint64_t high)
{
	remedy_command(
		finding_host_remedy(f, REMEDY_WORKAROUND, "raise vm.max_map_count"),
		"sysctl -w vm.max_map_count=%" PRIu64,
		limit_above(&limit_table[LIMIT_MAX_MAP_COUNT], high, m->tick.limits.max_map_count));
}

/*
 * Suggests a command that raises RLIMIT_NOFILE. For a running process the command changes the
 * process; after its exit, the command is for the shell that starts the program.
 */
void limit_help_nofile(struct finding *f, const struct subject *s, uint64_t soft)
{
	uint64_t want = limit_roomy(&limit_table[LIMIT_NOFILE], soft * 2);
	uint64_t hard = s ? s->now.g.fd_hard : UINT64_MAX;
	bool within = want <= hard;

	if (!within && hard > soft)
		want = hard, within = true;
	if (!within)
		want = soft * 2;
	if (s && !s->final && within)
		remedy_command(finding_remedy(f, REMEDY_WORKAROUND, "raise the soft limit"),
			       "prlimit --pid %u --nofile=%" PRIu64 ":", s->id.pid, want);
	else if (s && !s->final)
		remedy_command(
			finding_remedy(f, REMEDY_WORKAROUND,
				       "raise both limits, as root: the soft limit is at the "
				       "hard limit"),
			"prlimit --pid %u --nofile=%" PRIu64 ":%" PRIu64, s->id.pid, want, want);
	else
		remedy_command(finding_remedy(f, REMEDY_WORKAROUND,
					      "raise the limit in the shell that starts the "
					      "program%s",
					      within ? ""
						     : ". The value is above the hard limit: run "
						       "the command as root, or set LimitNOFILE= "
						       "in the unit of the program"),
			       "ulimit -n %" PRIu64, want);
}

void limit_help_descriptors(struct finding *f, const struct subject *s)
{
	if (s && !s->final)
		remedy_command(
			finding_remedy(f, REMEDY_CHECK, "show what the file descriptors are"),
			"ls -l /proc/%u/fd | awk '{print $NF}' | sort | uniq -c | sort -n | "
			"tail",
			s->id.pid);
}

void limit_help_memlock(struct finding *f, const struct subject *s, uint32_t pid)
{
	remedy_command(finding_remedy(f, REMEDY_WORKAROUND,
				      "raise the limit of the process. To make it permanent, set "
				      "LimitMEMLOCK=infinity in the systemd unit"),
		       "prlimit --pid %u --memlock=unlimited", pid);
}

static void help_maps(struct finding *f, const struct occasion *o, const struct use *u)
{
	growth_evidence(f, o->m, &o->s->id, WHAT_MAPS);
	if (f->rule->test == limit_is_near)
		finding_remedy(
			f, REMEDY_FIX,
			"pack small mappings together, and unmap what is no longer used. The "
			"kernel merges two mappings only if they are adjacent and have the same "
			"file and permissions");
	limit_help_map_count(f, o->m, u->high);
}

static void help_fds(struct finding *f, const struct occasion *o, const struct use *u)
{
	growth_evidence(f, o->m, &o->s->id, WHAT_FDS);
	limit_help_descriptors(f, o->s);
	limit_help_nofile(f, o->s, u->assumed ? o->s->now.g.fd_soft : u->limit);
}

static void help_memlock(struct finding *f, const struct occasion *o, const struct use *u)
{
	limit_help_memlock(f, o->s, o->s->id.pid);
}

static void help_threads(struct finding *f, const struct occasion *o, const struct use *u)
{
	remedy_command(finding_remedy(f, REMEDY_CHECK,
				      "show what the threads wait for, and limit the pool that "
				      "creates them"),
		       "ps -L -o lwp,stat,wchan:20,comm -p %u | sort -k 4 | uniq -c -f 1",
		       o->s->id.pid);
	remedy_command(finding_host_remedy(f, REMEDY_CHECK,
					   "count the threads of the user: RLIMIT_NPROC limits all "
					   "of them together"),
		       "ps -L -u %u | wc -l", o->s->now.g.uid);
	remedy_command(finding_remedy(f, REMEDY_WORKAROUND, "raise the limit of the process"),
		       "prlimit --pid %u --nproc=%" PRIu64 ":", o->s->id.pid, u->limit * 2);
}

static void help_files(struct finding *f, const struct occasion *o, const struct use *u)
{
	remedy_command(finding_host_remedy(f, REMEDY_WORKAROUND, "raise fs.file-max"),
		       "sysctl -w fs.file-max=%" PRIu64,
		       limit_roomy(&limit_table[LIMIT_FILE_MAX], u->limit));
}

static const struct {
	const char *cause;
	void (*help)(struct finding *f, const struct occasion *o, const struct use *u);
	struct remedy_row advice[2];
} limits[NR_RESOURCES] = {
#define RESOURCE(id, cause, help, ...) [RESOURCE_##id] = {cause, help, {__VA_ARGS__}},
#include "rules/resources.def"
};

static void say_help(struct finding *f, const struct occasion *o, const struct use *u)
{
	f->cause = limits[f->rule->resource].cause;
	for (size_t i = 0; i < 2 && limits[f->rule->resource].advice[i].text; i++)
		finding_take_row(f, &limits[f->rule->resource].advice[i]);
	if (limits[f->rule->resource].help)
		limits[f->rule->resource].help(f, o, u);
}

bool limit_is_near(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct resource *r = &resources[f->rule->resource];
	struct forecast forecast;
	uint64_t peak;
	struct use u;
	bool down;

	if (!resource_use(o->m, o->s, f->rule->resource, &u))
		return false;
	peak = peak_of(o, open, u.value, f);
	f->level = level_of(&u, open, peak);
	if (!f->level || !limit_is_told_of(o, open, f->rule->resource))
		return false;
	down = came_down(o, &u);
	f->severity = severity_near(f, &u, down);
	if (limit_was_told_of(o, f, f->rule->resource))
		return false;
	if (down)
		say_peak(f, r, &u);
	else
		say_near(f, r, &u, peak);
	say_use(f, o, &u);
	forecast = resource_forecast(o->m, o->s, f->rule->resource);
	limit_say_forecast(f, &forecast, r->bytes);
	if (!down)
		say_burst(f, o, &u);
	say_help(f, o, &u);
	return true;
}

void limit_growth_keep(const struct occasion *o, uint64_t value, struct finding *f)
{
	f->grew_ns = o->t_ns;
	f->grew_to = value;
}

bool limit_growth_held(const struct occasion *o, const struct finding *open, uint64_t value,
		       uint64_t limit)
{
	uint64_t hold = HOLD_NS;

	if (open && value < open->grew_to && open->grew_to - value > limit / FALLEN_SHARE)
		return false;

	if (hold < HOLD_LOOKS * o->m->host.interval_ns)
		hold = HOLD_LOOKS * o->m->host.interval_ns;
	return open && o->t_ns < open->grew_ns + hold;
}

static enum severity severity_of(const struct forecast *c, const struct finding *open)
{
	bool pressed = open && open->severity == SEVERITY_CRITICAL;
	double press = LIMIT_PRESS_SECONDS * (pressed ? LIMIT_STAY : 1);

	return c->sure && c->seconds < press ? SEVERITY_CRITICAL : SEVERITY_WARNING;
}

/*
 * Completes the finding of a process that ended while the finding was open: the title is in the
 * past tense.
 */
static bool was_coming(const struct occasion *o, const struct finding *open, const struct use *u,
		       struct finding *f)
{
	const struct resource *r = &resources[f->rule->resource];
	char text[sizeof(f->title)];
	struct buf b = BUF_IN(text);

	if (!open)
		return false;
	put_limit_name(&b, r, u);
	f->severity = SEVERITY_WARNING;
	f->level = open->level;
	limit_growth_keep(o, open->grew_to, f);
	finding_title(f, "%s grew towards %s until it ended", r->what, text);
	say_use(f, o, u);
	say_help(f, o, u);
	return true;
}

bool limit_is_coming(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct resource *r = &resources[f->rule->resource];
	struct forecast c = resource_forecast(o->m, o->s, f->rule->resource);
	bool soon = c.known && c.seconds <= LIMIT_SOON_SECONDS * (open ? LIMIT_STAY : 1);
	char text[sizeof(f->title)];
	struct buf b = BUF_IN(text);
	struct use u;

	if (!resource_use(o->m, o->s, f->rule->resource, &u) || !use_is_bounded(&u))
		return false;
	if (o->s && o->s->final)
		return was_coming(o, open, &u, f);
	if (u.value >= u.limit ||
	    (!soon && (c.known || !limit_growth_held(o, open, u.value, u.limit))) ||
	    !limit_is_told_of(o, open, f->rule->resource))
		return false;
	buf_printf(&b, soon ? "%s will reach " : "%s may reach ", r->what);
	put_limit_name(&b, r, &u);
	if (soon) {
		buf_printf(&b, "%s%s%s", c.seconds < 1 ? " within a second" : " in about ",
			   c.seconds < 1 ? "" : as_span(c.seconds).s, limit_condition(&c));
		f->severity = severity_of(&c, open);
		limit_growth_keep(o, u.value, f);
	} else {
		buf_puts(&b, ": growth was seen, but no estimate is possible now");
		f->severity = SEVERITY_WARNING;
		f->grew_ns = open->grew_ns;
		f->grew_to = open->grew_to;
	}
	f->level = f->severity + 1;
	finding_title(f, "%s", text);
	if (limit_was_told_of(o, f, f->rule->resource))
		return false;
	say_use(f, o, &u);
	limit_say_forecast(f, &c, r->bytes);
	say_burst(f, o, &u);
	say_help(f, o, &u);
	return true;
}
