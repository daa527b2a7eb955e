/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: state of all processes and of the host, and events of the current window. Pure: the caller
 * passes records; no I/O, no clock. Every table has a maximum size, and lost data are counted.
 */
#ifndef FS_MODEL_MODEL_H
#define FS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/curve.h"
#include "model/probe_costs.h"
#include "model/series.h"
#include "model/sparse_counters.h"
#include "base/table.h"
#include "records/incident_record.h"
#include "records/records.h"

#define MODEL_SUBJECTS_MAX 65536
#define MODEL_CHAINS	   8192 /* number of hash chains of processes */
#define MODEL_EVENTS_MAX   4096 /* maximum number of events in one window */
#define MODEL_RETRIES_MAX  64
#define MODEL_HOOKS_MAX	   24
#define MODEL_SYMBOLS_MAX  1024
#define MODEL_FRAMES_MAX   16384
#define MODEL_ORIGINS_MAX  64
#define FAULT_TOTALS_MAX   8
#define RESOURCES_MAX	   16 /* maximum number of rows of the table of resources */

/* The use of a resource, and its limit at that time. */
struct portion {
	uint64_t value, limit; /* use of the resource, and its limit; limit 0: not known */
};

/* The values of a process at one time. */
struct facts {
	uint64_t t_ns; /* time of the record, CLOCK_MONOTONIC; 0: no record yet */
	struct gauges g;
	struct usage u;
	struct sparse_counters *c; /* counters, owned by the subject; NULL: all are 0 */
	/* Totals of fds: opened - closed is the change of the number of open fds. */
	uint64_t fds_opened, fds_closed;
};

/* A process's mappings or fds when they were last read, by kind and name, most frequent first. */
struct holdings {
	struct holding *sort; /* array of kinds; NULL: the process was not read; owned */
	size_t n;
};

/* The memory of a process at one time. */
struct past {
	uint64_t t_ns; /* time of the values, CLOCK_MONOTONIC; 0: no values */
	uint64_t rss_pages, swap_pages;
	uint64_t kept_pages; /* pages not reclaimable: anonymous, shared, swapped */
};

/* Values of a process before the present ones. */
struct earlier {
	struct facts prev; /* values before the last window in which the process changed */
	/* two earlier states of memory use: [0] is 30 to 60 s old, [1] is more recent */
	struct past past[2];
	/* two earlier states of memory use: [0] is 5 to 10 s old, [1] is more recent */
	struct past recent[2];
};

struct ended;
struct phases;
struct oom_kills;
struct pressure;
struct slow_rows;
struct samples;

/* Compares pid and start time, because a pid may have been reused. */
static inline bool same_subject(const struct process_key *a, const struct process_key *b)
{
	return a->pid == b->pid && a->start_ns == b->start_ns;
}

/* Returns a hash of a process for tables: a product, rotated because its low bits are weak. */
static inline uint64_t subject_hash(const struct process_key *id)
{
	uint64_t h = (id->start_ns ^ (uint64_t)id->pid << 32) * 0x9e3779b97f4a7c15ULL;

	return h >> 51 | h << 13;
}

/*
 * A process. Code that adds a pointer to memory of its own must also copy that memory in
 * snapshot.c.
 */
struct subject {
	struct table_link link;
	struct process_key id;
	struct facts now;
	/*
	 * Owned; NULL: the first record of the process was its last one, as most are on a host that
	 * starts thousands of processes in a window. Use subject_prev(), subject_past() and
	 * subject_recent().
	 */
	struct earlier *earlier;
	/* number of the last window (time between two scans) in which the process changed */
	uint64_t window;
	uint64_t first_ns, last_ns;
	uint64_t base_min, base_maj; /* page faults before faultscope watched the process */
	uint64_t base_cpu_ns;
	/* counters at the first scan, to subtract; NULL: none; owned */
	struct sparse_counters *base;
	uint64_t rss_high_pages; /* peak of RSS at scans, in pages */
	uint32_t base_fds;	 /* number of fds at the first scan, or inherited at fork */
	bool final;		 /* the last record of the process was received */
	bool resumed;		 /* its first record had PROC_RESUMED */
	bool hidden;		 /* the filter of the view excludes the process */
	char *exe, *cgroup;	 /* paths of program and cgroup; owned; NULL: not known */
	char *command, *user;	 /* command line, and name of the user; owned; NULL: not known */
	uint32_t named_execs;	 /* number of execs when the names were looked up */
	/* number of the last signal that was a fault or SIGABRT; 0: none */
	int32_t signal;
	uint64_t starved_ns; /* time of a thread's last failed memory request; 0: none */
	uint32_t starved_tid;
	/* use and limit of the most restrictive cgroups; limit ~0: none or not read */
	struct level_room memory, pids;
	uint64_t levels_window;	 /* last window in which a cgroup level changed */
	struct holdings held[2]; /* mappings and fds that the process held when read */
	bool grew[2];		 /* records of growth of mappings or fds were received */
	/*
	 * for mappings [0] and fds [1]: the count at its highest share of the limit, and this limit
	 */
	struct portion top[2];
	/* peak number of fds, for any limit that applied at that time */
	uint32_t fds_high;
	uint64_t exec_ns; /* time of the last exec seen; 0: none */
	struct series *
		/*
		 * Recent values by row of resources[]; NULL: all values are far from the limit;
		 * owned.
		 */
		*series;
	struct subject *next_changed;
};

struct hook_view {
	char name[24], mechanism[24], why[160];
	uint32_t tier, state; /* `state` is an enum hook_use */
	uint32_t lacks;	      /* LACKS_* and SEES_* bits of the attach type */
	bool unwanted;	      /* the user disabled the probe: hook_is_unwanted() */
};

struct symbol {
	uint64_t ip;
	char symbol[64], module[64];
};

/* A user stack of a process, as function names. */
struct frames {
	struct table_link link, alike_link;
	struct process_key subject;
	int32_t stack;
	uint32_t flags; /* flags of the stack: FRAMES_* */
	/* why the walk of the stack ended: enum stack_end; 0: frame pointers were followed */
	uint32_t end;
	uint32_t by_chain; /* number of frames that were found with a frame pointer alone */
	/* innermost line of the user's Python code; empty: none */
	char user_line[sizeof(((struct frames_record *)0)->user_line)];
	struct frame_list *list; /* frames of the stack, owned; NULL: not known */
	int32_t alike;		 /* number of the first stack with equal text */
	char text[];		 /* function names, one frame per line, innermost first */
};

/* An event record that arrived in the current window. */
union event {
	struct record h;
	struct crossing_record crossing;
	struct refused_record refused;
	struct signal_record signal;
	struct kernel_fault_record kernel_fault;
	struct oom_record oom;
	struct slow_faults_record slow;
};

/* Returns the comm of the process that an event concerns. */
const char *event_comm(const union event *e);

/* The highest value of all processes, and the process with this value. */
struct peak {
	uint64_t value, limit;
	uint32_t pid;
	char comm[COMM_LEN];
};

/* Page-fault totals of one process at its last scan. */
struct fault_totals {
	uint32_t pid;
	char comm[COMM_LEN];
	uint64_t minor, major, stall_ns, cpu_ns;
	uint64_t rss_high_bytes;
	uint32_t map_high, fd_high;
};

/* Processes sorted by their page faults, where a major fault counts as much as 100 minor faults. */
struct fault_totals_table {
	struct fault_totals fault_totals[FAULT_TOTALS_MAX];
	size_t n;
};

/* Sums over all watched processes, including those that have exited. */
struct totals {
	uint64_t processes; /* number of processes seen, including those that exited */
	uint64_t ended;
	uint64_t min_flt, maj_flt; /* page faults of exited processes since the first scan */
	struct counters c;	   /* sums over exited processes; peaks are maxima */
	struct peak maps, fds;	   /* process whose count was the highest share of its limit */
	struct peak rss;	   /* process with the highest RSS (bytes), which has no limit */
	struct fault_totals_table fault_totals_table;
};

struct model {
	struct table subject; /* table of processes by subject_hash() */
	/* list of the processes that changed in this window, the latest first */
	struct subject *changed;
	size_t subjects;
	struct ended *ended;	/* the latest processes that ended; NULL: not kept; owned */
	uint64_t subjects_lost; /* number of processes dropped for want of room or memory */
	uint64_t window;
	uint64_t levels_window;	   /* last window in which a cgroup level changed */
	uint64_t limits_window;	   /* last window in which vm.max_map_count changed */
	uint64_t first_ns;	   /* time of the first tick record */
	uint64_t last_ns, prev_ns; /* times of the last two tick records */
	uint64_t origin_ns;	   /* time of the host record, which output shows as t = 0 */
	struct totals totals;
	struct tick_record tick;
	struct series **series;		 /* values of host resources; see subject.series */
	uint64_t assumed[RESOURCES_MAX]; /* limits set by --assume; 0: none */
	/* CPU time of faultscope, and of its BPF programs, at the tick before the last */
	uint64_t prev_own_cpu_ns, prev_own_bpf_ns;
	struct host_record host;
	struct hook_view hook[MODEL_HOOKS_MAX];
	size_t hooks;
	struct probe_costs probe_costs;
	uint64_t hooks_ns;  /* CLOCK_MONOTONIC time of the latest record of a probe */
	union event *event; /* event records of this window */
	size_t events, events_room;
	size_t noted; /* number of events of this window that were passed to note_event() */
	/*
	 * Successful retries of this window. When the array is full, a new one replaces the last
	 * one.
	 */
	struct retry_record retry[MODEL_RETRIES_MAX];
	size_t retries;
	uint64_t events_lost;
	struct symbol *symbol;
	size_t symbols;
	/* GROWTH_MAX entries of the kernel side's table, then archived rows; NULL: no growth */
	struct growth *growth;
	size_t growths;		/* number of rows of `growth` in use */
	uint32_t *growth_index; /* hash index of archived rows; NULL: no row is archived */
	uint64_t growth_lost;	/* rows with remaining growth dropped for lack of room */
	/* value of totals.ended when growth rows, or stacks, were last dropped */
	uint64_t growth_dropped_at, frames_dropped_at;
	/* number of stacks whose function names were not stored, for lack of room */
	uint64_t frames_lost;
	struct table frames; /* table of stacks, by number */
	struct table alike;  /* table of stacks, by text: frames.alike_link */
	size_t nr_frames;
	struct origin_record *origin; /* array of MODEL_ORIGINS_MAX; NULL: no limit origin known */
	size_t origins;
	struct pressure *pressure; /* state of memory pressure; NULL: no record yet; owned */
	/* bytes of RAM that were not available at recent scans, by MemAvailable of /proc/meminfo */
	struct curve memory_used;
	struct oom_kills *ooms;	       /* the latest OOM kills; NULL: no record yet; owned */
	struct resident_all *resident; /* who holds resident memory; NULL: not read; owned */
	struct phases *phases;	       /* phases of the program; NULL: no record yet; owned */
	struct slow_rows *slow;	       /* slow faults; NULL: no record yet; owned */
	/* what triggered the incident that the recording is; NULL: it is no incident; owned */
	struct incident_record *incident;
	struct samples *samples; /* samples of page faults; NULL: not kept; not owned */
};

int model_init(struct model *m);
void model_free(struct model *m);

/* Updates the model from a record of checked size; a tick ends the window. Returns 0 or -ENOMEM. */
int model_take(struct model *m, const struct record *h);

/*
 * Drops the events of a window, and the processes that exited in the window. Call it after the
 * output.
 */
void model_next_window(struct model *m);

struct subject *model_find(const struct model *m, const struct process_key *id);

/* Iterates over all processes in undefined order. Start with NULL. Returns NULL at the end. */
struct subject *model_each(const struct model *m, const struct subject *after);

/* Returns the living process with a pid, or NULL. Looks at all processes. */
const struct subject *model_living(const struct model *m, uint32_t pid);

/* Returns a probe by its name, also one that is off; NULL: there is none. */
const struct hook_view *model_hook(const struct model *m, const char *name);

/* Returns whether the user disabled a probe; `why` is the text of its hook record. */
bool hook_is_unwanted(const char *why);

/*
 * Returns whether a probe is not attached yet. The record of such a probe says that it is off, and
 * names its attach type.
 */
bool hook_is_pending(const struct hook_view *v);

/* Returns whether at least one probe is not attached yet. */
bool model_has_pending_hooks(const struct model *m);

/* Returns the AT_* bits (base/overhead.h) of the probes that are on or pending. */
unsigned int model_events_of_others(const struct model *m);

bool model_hook_on(const struct model *m, const char *name);

/* Returns whether a probe is on, and its attach type has one of these LACKS_* or SEES_* bits. */
bool model_hook_has(const struct model *m, const char *name, uint32_t bits);
const struct symbol *model_symbol(const struct model *m, uint64_t ip);

/* Returns the function names of a process's stack, or NULL if they are not known. */
const struct frames *model_frames(const struct model *m, const struct process_key *id,
				  int32_t stack);

/* Returns who set a process's limit, or NULL if the limit was not looked up. */
const struct origin_record *model_origin(const struct model *m, const struct process_key *id,
					 uint32_t limit);

/* Iterates over processes that changed in this window. Start with NULL; returns NULL at the end. */
static inline struct subject *model_each_changed(const struct model *m, const struct subject *after)
{
	return after ? after->next_changed : m->changed;
}

/* Returns whether the process changed in this window. */
static inline bool subject_changed(const struct model *m, const struct subject *s)
{
	return s->window == m->window;
}

/* Returns the length of the last window in seconds. */
double model_window_seconds(const struct model *m);

/* Sums exited processes, and live ones that are not hidden. Takes the maximum of peak values. */
void model_totals(const struct model *m, struct totals *ret);

/* Return resident or swapped pages, or 0 while counters of the kernel are below 0 for a moment. */
uint64_t gauges_rss_pages(const struct gauges *g);
uint64_t gauges_swap_pages(const struct gauges *g);

/* Returns pages that are not reclaimable: anonymous, shared and swapped pages. */
uint64_t gauges_kept_pages(const struct gauges *g);

/* Returns the memory of a process at the time `t_ns`. */
struct past facts_past(const struct facts *f, uint64_t t_ns);

/* Adds counters. Of peak values, keeps the higher one instead. */
void counters_add(struct counters *to, const struct counters *from);

/*
 * Returns the counters of `f`, or zeros if it has none. They are valid until the end of the block
 * that encloses the call.
 */
#define facts_counters(f) facts_read_counters(f, &(struct counters){})

/*
 * Return members of struct earlier. If the process has none, they fill the room, which the caller
 * gives. All are valid until the next record of the process.
 */
const struct facts *subject_read_prev(const struct subject *s, struct facts *room);
const struct past *subject_read_past(const struct subject *s, struct past room[2]);
const struct past *subject_read_recent(const struct subject *s, struct past room[2]);

/* The same, with room that is valid until the end of the enclosing block. */
#define subject_prev(s)	  subject_read_prev(s, &(struct facts){})
#define subject_past(s)	  subject_read_past(s, (struct past[2]){})
#define subject_recent(s) subject_read_recent(s, (struct past[2]){})
const struct counters *facts_read_counters(const struct facts *f, struct counters *zeros);

/* Returns one of the counters, at an offset of struct counters. */
uint64_t facts_counter(const struct facts *f, size_t at);

/* Return whether all processes are watched, or only some targets (-p and similar options). */
bool model_watches_all(const struct model *m);
bool model_watches_targets(const struct model *m);

#endif
