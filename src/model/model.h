/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: processes, windows, events. Pure: records are passed in, values are read through the table
 * of fields; no I/O, no clock. Every table has a maximum size, and lost data are counted.
 */
#ifndef FS_MODEL_MODEL_H
#define FS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/series.h"
#include "base/table.h"
#include "records/records.h"

#define MODEL_SUBJECTS_MAX 65536
#define MODEL_CHAINS	   8192 /* hash chains of subjects */
#define MODEL_EVENTS_MAX   4096 /* events of one window */
#define MODEL_RETRIES_MAX  64
#define MODEL_HOOKS_MAX	   24
#define MODEL_SYMBOLS_MAX  1024
#define MODEL_FRAMES_MAX   16384
#define MODEL_ORIGINS_MAX  64
#define FAULT_TOTALS_MAX   8
#define RESOURCES_MAX	   16 /* rows of the table of resources */

/* A value, and the limit at that time. */
struct portion {
	uint64_t value, limit; /* limit 0: not seen yet */
};

/* What is known of a process at one moment. */
struct facts {
	uint64_t t_ns; /* time of the record; 0: there was none */
	struct gauges g;
	struct usage u;
	struct counters *c; /* NULL: all zero; owned by the subject */
	/* totals, from which the number of open file descriptors is computed */
	uint64_t fds_opened, fds_closed;
};

/* What a process held when that was read, the most frequent kind first. */
struct holdings {
	struct holding *sort; /* NULL: not read; owned */
	size_t n;
};

/* The memory of a process at one time. */
struct past {
	uint64_t t_ns; /* 0: not set */
	uint64_t rss_pages, swap_pages;
	uint64_t kept_pages; /* anonymous, shared and swapped pages: not reclaimable */
};

struct pressure;  /* model/pressure.h */
struct slow_rows; /* model/slow.h */
struct samples;	  /* model/samples.h */

/* A pid alone does not identify a process: it may be reused. */
static inline bool same_subject(const struct process_key *a, const struct process_key *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

/* Mixes the high bits into the low ones, for hash tables. */
static inline uint64_t subject_hash(const struct process_key *id)
{
	uint64_t h = (id->start_ns ^ (uint64_t)id->pid << 32) * 0x9e3779b97f4a7c15ULL;

	return h >> 51 | h << 13;
}

/* A process. snapshot.c copies what it owns. */
struct subject {
	struct table_link link;
	struct process_key id;
	struct facts now;
	struct facts prev; /* at the end of the last window in which it changed */
	uint64_t window;   /* last window in which it changed */
	uint64_t first_ns, last_ns;
	uint64_t base_min, base_maj; /* faults before faultscope started watching */
	uint64_t base_cpu_ns;
	struct counters *base;	 /* probe counts before the first scan; NULL: none; owned */
	uint64_t rss_high_pages; /* peak at scans */
	uint32_t base_fds;	 /* file descriptors that were open then, or inherited */
	bool final;		 /* its last record was taken */
	bool hidden;		 /* excluded by the filter of this view */
	char *exe, *cgroup;	 /* owned; NULL: not known */
	int32_t signal;		 /* last fault signal, or SIGABRT from itself; 0: none */
	uint64_t starved_ns;	 /* when a thread but the first was last refused memory; 0: never */
	uint32_t starved_tid;
	struct level_room memory, pids; /* of its cgroups; limit ~0: none, or not read */
	uint64_t levels_window;		/* the last one in which these changed */
	struct holdings held[2];	/* by enum what */
	bool grew[2];			/* by enum what: there are rows of growth of it */
	struct portion top[2];		/* by enum what: the highest share of a limit */
	uint32_t fds_high;		/* most descriptors ever, whatever the limit was */
	struct past past[2];		/* what it had half a minute to a minute ago, and since */
	struct past recent[2];		/* the same of five to ten seconds ago */
	uint64_t exec_ns; /* when its memory was last seen to begin anew; 0: before us */
	struct series *
		*series; /* by row of resources[], each NULL where it has a way to go; owned */
	struct subject *next_changed;
};

struct hook_view {
	char name[24], mechanism[24], why[160];
	uint32_t tier, state; /* enum hook_use */
	uint32_t lacks;	      /* LACKS_*, SEES_* of its mechanism */
	bool unwanted;	      /* hook_is_unwanted() */
};

struct symbol {
	uint64_t ip;
	char symbol[64], module[64];
};

/* A user stack of a process, named. */
struct frames {
	struct table_link link, alike_link;
	struct process_key subject;
	int32_t stack;
	uint32_t flags; /* FRAMES_* */
	int32_t alike;	/* the first stack of the process that reads the same */
	char text[];	/* a line a frame, innermost first */
};

/* An event record of the window, in order of arrival. */
union event {
	struct record h;
	struct crossing_record crossing;
	struct refused_record refused;
	struct signal_record signal;
	struct kernel_fault_record kernel_fault;
	struct oom_record oom;
	struct slow_faults_record slow;
};

/* Whose an event is: each record begins with its header and subject. */
const char *event_comm(const union event *e);

/* The highest of all subjects, and whose it was. */
struct peak {
	uint64_t value, limit;
	uint32_t pid;
	char comm[COMM_LEN];
};

/* What one had cost by its last look. */
struct fault_totals {
	uint32_t pid;
	char comm[COMM_LEN];
	uint64_t minor, major, stall_ns, cpu_ns;
	uint64_t rss_high_bytes;
	uint32_t map_high, fd_high;
};

/* The most costly first; a major fault counts as a hundred minor ones. */
struct fault_totals_table {
	struct fault_totals fault_totals[FAULT_TOTALS_MAX];
	size_t n;
};

/* Of all that was watched, ended ones too. */
struct totals {
	uint64_t processes; /* seen, ever */
	uint64_t ended;
	uint64_t min_flt, maj_flt; /* of ended ones, less what came before us */
	struct counters c;	   /* of ended ones */
	struct peak maps, fds;	   /* by share of the limit */
	struct peak rss;	   /* bytes, at a look; no limit */
	struct fault_totals_table fault_totals_table;
};

struct model {
	struct table subject;	 /* by identity: subject_hash() */
	struct subject *changed; /* in this window, by next_changed; the latest first */
	size_t subjects;
	uint64_t subjects_lost; /* beyond the cap */
	uint64_t window;
	uint64_t levels_window;	   /* the last one in which a cgroup's figures changed */
	uint64_t limits_window;	   /* the last one in which vm.max_map_count changed */
	uint64_t first_ns;	   /* of the first tick */
	uint64_t last_ns, prev_ns; /* ticks */
	uint64_t origin_ns;	   /* the host record: t = 0 */
	struct totals totals;
	struct tick_record tick;
	struct series **series;		 /* of the host, as of a subject */
	uint64_t assumed[RESOURCES_MAX]; /* limits by --assume; 0: none */
	uint64_t prev_own_cpu_ns;	 /* at the tick before */
	struct host_record host;
	struct hook_view hook[MODEL_HOOKS_MAX];
	size_t hooks;
	union event *event; /* of this window */
	size_t events, events_room;
	size_t noted; /* of them, by their subjects */
	/* of this window; beyond the cap the last one makes room */
	struct retry_record retry[MODEL_RETRIES_MAX];
	size_t retries;
	uint64_t events_lost;
	struct symbol *symbol;
	size_t symbols;
	struct growth *growth;	/* GROWTH_MAX places, then the archive; NULL: nobody grew */
	size_t growths;		/* rows in use, from the first */
	uint32_t *growth_index; /* of the archive, by what a row is of; NULL: there is none */
	uint64_t growth_lost;	/* rows of something that is left, for which it had no room */
	uint64_t growth_dropped_at, frames_dropped_at; /* processes that had ended by then */
	uint64_t frames_lost; /* stacks whose names there was no room for */
	struct table frames;  /* by stack */
	struct table alike;   /* the same by text: of struct frames the member `alike_link` */
	size_t nr_frames;
	struct origin_record *origin; /* MODEL_ORIGINS_MAX of them; NULL: none */
	size_t origins;
	struct pressure *pressure; /* NULL: nothing is known of it; owned */
	struct slow_rows *slow;	   /* NULL: nothing took long; owned */
	struct samples *samples;   /* NULL: they are not kept; the caller's */
};

int model_init(struct model *m);
void model_free(struct model *m);

/* Takes a record whose size was checked. -ENOMEM. A tick ends the window. */
int model_take(struct model *m, const struct record *h);

/* After a window was shown: forgets its events and the subjects that ended in it. */
void model_next_window(struct model *m);

struct subject *model_find(const struct model *m, const struct process_key *id);

/* All subjects: start with NULL; NULL ends. Order is not defined. */
struct subject *model_each(const struct model *m, const struct subject *after);

/* Whether the caller switched a hook off, by what is said of why it is not on. */
bool hook_is_unwanted(const char *why);

bool model_hook_on(const struct model *m, const char *name);

/* Whether a hook is on by a mechanism with one of these LACKS_* or SEES_* bits. */
bool model_hook_has(const struct model *m, const char *name, uint32_t bits);
const struct symbol *model_symbol(const struct model *m, uint64_t ip);

/* The named frames of a process' stack; NULL where they are not known. */
const struct frames *model_frames(const struct model *m, const struct process_key *id,
				  int32_t stack);

/* Where a limit comes from, as far as it was looked up; NULL: it was not. */
const struct origin_record *model_origin(const struct model *m, const struct process_key *id,
					 uint32_t limit);

/* Those that changed in the window that the last tick ended: start with NULL; NULL ends. */
static inline struct subject *model_each_changed(const struct model *m, const struct subject *after)
{
	return after ? after->next_changed : m->changed;
}

/* Whether the subject changed in the window that the last tick ended. */
static inline bool subject_changed(const struct model *m, const struct subject *s)
{
	return s->window == m->window;
}

/* Length of the window, seconds. */
double model_window_seconds(const struct model *m);

/* Sums ended subjects and those that live and are not hidden. Histogram maxima are maxima. */
void model_totals(const struct model *m, struct totals *ret);

/* Resident and swapped, of counters that may be below 0 for a moment. */
uint64_t gauges_rss_pages(const struct gauges *g);
uint64_t gauges_swap_pages(const struct gauges *g);

/* Anonymous, shared and swapped pages: what the kernel cannot drop. */
uint64_t gauges_kept_pages(const struct gauges *g);

/* Sums; of what is a highest value, the higher one. */
void counters_add(struct counters *to, const struct counters *from);

/* The counters of facts that may have none. */
const struct counters *facts_counters(const struct facts *f);

/* Whom the measurement watches, by the mode in its host record. */
bool model_watches_all(const struct model *m);
bool model_watches_targets(const struct model *m);

#endif
