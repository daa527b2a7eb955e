/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: the table of rules, and the findings that they open. A rule compares values of the model;
 * it returns a title, evidence and remedies. The engine opens a finding when a rule first matches a
 * subject (a process, a cgroup, a mount or the host). It closes the finding when the rule no longer
 * matches.
 *
 * To judge an event or a subject means to call the rules for it. A window is the period of the
 * model between two outputs.
 */
#ifndef FS_RULES_RULES_H
#define FS_RULES_RULES_H

#include "model/model.h"
#include "model/pressure.h"
#include "model/resources.h"
#include "rules/cause.h"
#include "rules/remedy.h"

#define RULES_MAX	128
#define FINDINGS_MAX	512
#define REMEDIES_MAX	10
#define BECAUSE_MAX	6
#define RULE_ADVICE_MAX 3

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, NR_SEVERITIES };

struct finding;

/*
 * What a rule gets: the model, the findings, and the record of the event if an event triggered the
 * rule.
 */
struct occasion {
	const struct model *m;
	const struct findings *findings;
	/*
	 * the process to which the rule is applied; NULL: it is gone, or the rule is about the host
	 */
	const struct subject *s;
	/*
	 * for rules about the state of a process: its counters, and those before the last window in
	 * which it changed
	 */
	const struct counters *now, *was;
	uint64_t t_ns; /* time of the event or of the scan that triggered the rule */
	const struct refused_record *refused;
	/* true: faultscope did not see what the program did after the failure */
	bool cut_short;
	const struct verdict *verdict; /* the verdict about `refused`, `signal` or `oom` */
	const struct signal_record *signal;
	const struct kernel_fault_record *kernel_fault;
	const struct oom_record *oom;
	const struct level *level;
	const struct mount_use *mount;
};

enum trigger {
	/* rules about a state, which are called at each scan: rule_is_state() */
	ON_SUBJECT,
	ON_HOST,
	ON_CGROUP,
	ON_MOUNT,
	/* rules about a single event */
	ON_REFUSED,
	ON_SIGNAL,
	ON_KERNEL_FAULT,
	ON_OOM,
};

struct rule {
	const char *id; /* the id never changes after release; rules/diagnoses.h has its texts */
	enum trigger trigger;
	const char *needs; /* the probe without which the rule cannot work; NULL: none */
	/*
	 * Fills severity, title, evidence and remedies. Returns false if the rule does not match.
	 */
	bool (*test)(const struct occasion *o, const struct finding *open, struct finding *ret);
	/*
	 * Ids of rules, separated by blanks, whose findings may lead to this one; NULL: none. If
	 * such a finding is open for the subject, it is stored in `because`, together with the
	 * findings that led to it.
	 */
	const char *after;
	/* the resource that is near its limit, or grows towards it */
	enum resource_id resource;
	/* remedies that are the same for all findings of the rule */
	struct remedy_row advice[RULE_ADVICE_MAX];
};

extern const struct rule rules[];
extern const size_t nr_rules;

/* Declares the test functions of rules[]. */
#define RULE(id, trigger, needs, test, ...)                                                        \
	bool test(const struct occasion *o, const struct finding *open, struct finding *f);
#include "rules/rules.def"
#undef RULE

struct finding {
	const struct rule *rule;
	/*
	 * process that the finding is about. All members 0: the host. Only pid is 0: a cgroup or a
	 * mount
	 */
	struct process_key subject;
	char comm[COMM_LEN];
	enum severity severity;
	bool open;
	bool fresh; /* true: opened, changed or closed in this window, so outputs report it */
	bool said;  /* true: the rule matched in this window */
	/* true: an output that does not wait for the end of the window has reported the finding */
	bool told;
	bool triggered; /* true: it was considered as the trigger of an incident */
	/* what the event log has reported; it stays when a rule updates the finding */
	struct {
		unsigned char severity; /* enum severity, plus 1; 0: the finding is not reported */
		bool withheld; /* a line was left out, and counted, since the last one */
		uint32_t level;
	} logged;
	uint64_t since_ns, seen_ns;
	/* name of the cause, one of cause_names[]; NULL: none */
	const char *cause;
	const struct limit *limit; /* the limit that failed a call; NULL: none, or not known */
	uint64_t want;		   /* value to set for `limit`, as `want` in struct need */
	bool hopeless;		   /* true: no value of `limit` helps */
	uint64_t shared;	   /* hash of a limit that processes share; 0: not shared */
	struct forecast forecast;
	uint64_t lasted_ns; /* ns for which the condition of a stall has held without a gap */
	uint64_t grew_ns;   /* growth: time of the last forecast */
	uint64_t grew_to;   /* growth: the value at the last forecast */
	/* how many levels above the process's own cgroup the cgroup with the limit is */
	uint32_t limit_up;
	/*
	 * step of severity that the rule chose; if the step changes, the finding is reported again
	 */
	uint32_t level;
	/* rules of the findings that led to it, the nearest first */
	const struct rule *because[BECAUSE_MAX];
	size_t nr_because;
	enum severity worst; /* highest severity since it opened */
	uint32_t call;	     /* enum call_id of the call that failed; 0: none */
	uint64_t times;	     /* number of events in the records, a lower bound */
	bool starved;	     /* true: memory for the evidence or the decision was missing */
	size_t nr_evidence, nr_remedies;
	/*
	 * The members from here on are large, and most tests of a rule fill none of them: what is
	 * behind the end of a text, and entries from nr_evidence and nr_remedies on, has no value.
	 */
	char place[160]; /* path of the cgroup or mount; else empty */
	char title[192];
	/* end of the title: "made by train.py:57 load"; empty: no line of the user is known */
	char by[192];
	char set_by[320]; /* where the limit was set; empty: not looked up */
	/* evidence beyond EVIDENCE_MAX goes to the extra last entry, which no output shows */
	struct evidence evidence[EVIDENCE_MAX + 1];
	struct remedy remedy[REMEDIES_MAX];
};

#define EVENT_COUNTS_MAX 64 /* if the table is full, a new entry overwrites the oldest one */

/* Events of one process that increase the same counter: failures of one call, or kernel faults. */
struct event_count {
	enum trigger by; /* trigger of the events: ON_REFUSED or ON_KERNEL_FAULT */
	struct process_key of;
	uint32_t call; /* the call that failed, enum call_id; 0: none */
	/* errno or instruction address: equal for events that are merged into one record */
	uint64_t sort;
	bool mixed; /* true: the events that share this counter were not all equal */
	uint64_t count;
};

#define UNSETTLED_MAX 32

#define GUARD_FAULTS_MAX 16 /* if the table is full, a new entry overwrites the oldest one */

struct findings {
	bool keep_cleared; /* true: closed findings are kept for a summary; set by the caller */
	struct finding *f;
	size_t n, room;
	/*
	 * findings that were dropped because FINDINGS_MAX were kept, or that lack a part because
	 * memory was missing
	 */
	uint64_t lost;
	size_t judged; /* number of events of this window that were judged */
	uint64_t opened[NR_SEVERITIES];
	struct event_count count[EVENT_COUNTS_MAX];
	size_t nr_counts;
	/* Failed calls of the last interval that the program may still repeat with success. */
	struct refused_record unsettled[UNSETTLED_MAX];
	size_t nr_unsettled;
	/* Accesses to stack guards for which a signal handler may still abort the process. */
	struct signal_record guard[GUARD_FAULTS_MAX];
	/*
	 * number of guard faults ever stored; the latest is at (nr_guards - 1) % GUARD_FAULTS_MAX
	 */
	size_t nr_guards;
	/* number of findings that ever had this severity or a higher one */
	uint64_t reached[NR_SEVERITIES];
};

/*
 * Judges the events that came since the last call, without waiting for the end of the interval.
 * Stops at a failed call that the program may repeat with success, because this is known only at
 * the end of the interval.
 */
void findings_judge_events(struct findings *fs, const struct model *m);

/*
 * At the end of an interval: judges the remaining events, then each process, cgroup and mount that
 * changed. Keeps some failed calls for the next interval. A call is kept if it is younger than
 * UNSETTLED_NS, if its process lives, and if the process may still repeat it in another form.
 */
void findings_judge(struct findings *fs, const struct model *m);

/*
 * After the last record: judges the failed calls that were kept. None of them becomes critical,
 * because no record shows what the program did next. Returns true if any call was judged.
 */
bool findings_judge_rest(struct findings *fs, const struct model *m);

/*
 * Must be called after the output for a window was written. Drops closed findings, and marks the
 * others as reported.
 */
void findings_next_window(struct findings *fs);

void findings_free(struct findings *fs);

/* Replaces `to` with a copy, which findings_free() frees. Returns 0, or -ENOMEM with `to` empty. */
int findings_copy(struct findings *to, const struct findings *from);

const char *severity_name(enum severity s);

/* Returns true if the rule judges a state at each scan, not an event that came once. */
static inline bool rule_is_state(const struct rule *rule)
{
	return rule->trigger <= ON_MOUNT;
}

/* Returns true if the finding is about a process, not about the host, a cgroup or a mount. */
static inline bool finding_has_process(const struct finding *f)
{
	return f->rule->trigger != ON_HOST && f->rule->trigger != ON_CGROUP &&
	       f->rule->trigger != ON_MOUNT;
}

/* Returns the open finding of a rule for a subject; NULL if there is none. */
const struct finding *finding_open(const struct findings *fs, const char *id,
				   const struct process_key *subject);

/*
 * Stores where the limit was set. Replaces general commands that raise the limit by commands for
 * this machine. Keeps workarounds without a command, because they offer other solutions.
 */
void finding_take_origin(struct finding *f, const struct origin_record *r);

void finding_title(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For rules: returns n, a number of rows. If it is -errno, marks the finding as starved and returns
 * 0.
 */
size_t finding_rows(struct finding *f, int n);

/* For rules: append evidence. The result is never NULL; the caller may complete it. */
void finding_take_evidence(struct finding *f, const struct verdict *v);
struct evidence *finding_number(struct finding *f, const char *field, enum evidence_unit unit,
				uint64_t value);
struct evidence *finding_real(struct finding *f, const char *field, enum evidence_unit unit,
			      double value);
struct evidence *finding_text(struct finding *f, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For rules: append remedies. finding_advise() appends those of the rule's row. */
void finding_advise(struct finding *f);
void finding_take_row(struct finding *f, const struct remedy_row *row);
/* Appends a remedy with this text, for the process. Returns NULL if there is no room for it. */
struct remedy *finding_remedy(struct finding *f, enum remedy_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Like finding_remedy(), but the remedy is for the whole host. */
struct remedy *finding_host_remedy(struct finding *f, enum remedy_kind kind, const char *text);

#endif
