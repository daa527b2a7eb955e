/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: the diagnosis table. A rule only compares what the model holds; it says one sentence, the
 * evidence and a remedy. The engine opens a finding when a rule first fires for a subject, and
 * clears it when it no longer does.
 */
#ifndef FS_RULES_RULES_H
#define FS_RULES_RULES_H

#include "model/model.h"
#include "model/pressure.h"
#include "model/resources.h"
#include "rules/cause.h"
#include "rules/remedy.h"

#define FINDINGS_MAX	512
#define REMEDIES_MAX	10
#define BECAUSE_MAX	6
#define RULE_ADVICE_MAX 3

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, NR_SEVERITIES };

struct finding;

/* What a rule is asked about: always model and findings, then what it is triggered by. */
struct occasion {
	const struct model *m;
	const struct findings *findings;
	const struct subject *s; /* NULL where the subject is gone or the host */
	uint64_t t_ns;		 /* of what triggers: the event, or the tick */
	const struct refused_record *refused;
	bool cut_short;		       /* of `refused`: what came after it was not seen */
	const struct verdict *verdict; /* of `refused`, `signal`, `oom` */
	const struct signal_record *signal;
	const struct kernel_fault_record *kernel_fault;
	const struct oom_record *oom;
	const struct level *level;
	const struct mount_use *mount;
};

enum trigger {
	/* by what is: rule_is_state() */
	ON_SUBJECT,
	ON_HOST,
	ON_CGROUP,
	ON_MOUNT,
	/* by an event */
	ON_REFUSED,
	ON_SIGNAL,
	ON_KERNEL_FAULT,
	ON_OOM,
};

struct rule {
	const char *id; /* stable once shipped; rules/diagnoses.h has its texts */
	enum trigger trigger;
	const char *needs; /* hook without which it is blind; NULL: none */
	/* Fills severity, title, evidence, remedies; false where it does not apply. */
	bool (*test)(const struct occasion *o, const struct finding *open, struct finding *ret);
	/* Ids of what leads to it, by blanks: those open for the subject, and what led to them in
	 * turn, are its `because`. NULL: none. */
	const char *after;
	enum resource_id resource;		   /* that is near its limit or grows towards it */
	struct remedy_row advice[RULE_ADVICE_MAX]; /* what helps, whatever the values are */
};

extern const struct rule rules[];
extern const size_t nr_rules;

/* The tests of rules[]. */
#define RULE(id, trigger, needs, test, ...)                                                        \
	bool test(const struct occasion *o, const struct finding *open, struct finding *f);
#include "rules/rules.def"
#undef RULE

struct finding {
	const struct rule *rule;
	struct process_key subject; /* zero for the host; pid 0 for a cgroup or a mount */
	char comm[COMM_LEN];
	char place[160]; /* of a cgroup or a mount: its path; else empty */
	enum severity severity;
	bool open;
	bool fresh; /* opened, changed or cleared in this window: to be told */
	bool said;  /* by its rule, in this window */
	bool told;  /* by a renderer that tells at once; the caller's */
	uint64_t since_ns, seen_ns;
	char title[192];
	const char *cause;			    /* static; NULL: none */
	struct evidence evidence[EVIDENCE_MAX + 1]; /* the last takes what there is no room for */
	size_t nr_evidence;
	struct remedy remedy[REMEDIES_MAX];
	size_t nr_remedies;
	const struct limit *limit; /* that refused a call; NULL: none, or that is not known */
	uint64_t want;		   /* of it, as struct need has it */
	bool hopeless;		   /* no value of it helps */
	uint64_t shared;	   /* names a limit of several processes; 0: it is its own */
	char set_by[320];	   /* where its limit comes from; empty: not looked up */
	struct forecast forecast;
	uint64_t lasted_ns; /* of a stall: the time in which it was seen, without a gap */
	uint64_t grew_ns;   /* of growth: when it last had a forecast */
	uint64_t grew_to;   /* and the value then */
	uint32_t limit_up;  /* of a cgroup's limit: how many levels above the process' own */
	uint32_t level;	    /* the rule's own step: a change of it is news */
	const struct rule *because[BECAUSE_MAX]; /* of findings that led to it, the nearest first */
	size_t nr_because;
	enum severity worst; /* since it opened */
	uint32_t call;	     /* enum call_id that was refused; 0: none was */
	uint64_t times;	     /* how often its event happened, by its records: a lower bound */
};

#define EVENT_COUNTS_MAX 64 /* the oldest makes room for more */

/* Events of one process that one counter counts: refusals of a call, or bad kernel accesses. */
struct event_count {
	enum trigger by; /* ON_REFUSED or ON_KERNEL_FAULT */
	struct process_key of;
	uint32_t call; /* enum call_id that was refused; 0: none */
	uint64_t sort; /* errno, or the instruction: equal events have the same */
	bool mixed;    /* not all of them were equal */
	uint64_t count;
};

#define UNSETTLED_MAX 32

#define GUARD_FAULTS_MAX 16 /* the oldest makes room for more */

struct findings {
	bool keep_cleared; /* for a summary: the caller's; they make room where it is full */
	struct finding *f;
	size_t n, room;
	uint64_t lost; /* beyond the cap */
	size_t judged; /* events of this window */
	uint64_t opened[NR_SEVERITIES];
	struct event_count count[EVENT_COUNTS_MAX];
	size_t nr_counts;
	/* Refusals at the end of the last interval that may yet be answered otherwise. */
	struct refused_record unsettled[UNSETTLED_MAX];
	size_t nr_unsettled;
	/* Accesses to guards of stacks: what a handler of the signal does then is not known yet. */
	struct signal_record guard[GUARD_FAULTS_MAX];
	size_t nr_guards; /* ever; the latest is at (nr_guards - 1) % GUARD_FAULTS_MAX */
	uint64_t reached[NR_SEVERITIES]; /* findings that were this severe, or more, at some time */
};

/*
 * Judges the events that came since the last call: at once, without waiting for a tick. It stops at
 * a refusal that the program may have survived by another request: the tick will tell.
 */
void findings_judge_events(struct findings *fs, const struct model *m);

/*
 * After a tick: judges what is left of events, then every subject that changed. A refusal that is
 * younger than 200 ms, whose process lives and may yet be served in another form, is kept for the
 * next interval.
 */
void findings_judge(struct findings *fs, const struct model *m);

/*
 * When nothing more will come: judges refusals that were kept. What the program did then was not
 * seen, so that none is critical. Returns whether there were any.
 */
bool findings_judge_rest(struct findings *fs, const struct model *m);

/* After the window was shown: forgets what was cleared, ages what was told. */
void findings_next_window(struct findings *fs);

void findings_free(struct findings *fs);

/* In place of what `to` had, which findings_free() frees. -ENOMEM: it is empty then. */
int findings_copy(struct findings *to, const struct findings *from);

const char *severity_name(enum severity s);

/* Whether it is judged by what is, not by an event that came once. */
static inline bool rule_is_state(const struct rule *rule)
{
	return rule->trigger <= ON_MOUNT;
}

/* Whether it is of a process: else of the host, a cgroup or a mount. */
static inline bool finding_has_process(const struct finding *f)
{
	return f->rule->trigger != ON_HOST && f->rule->trigger != ON_CGROUP &&
	       f->rule->trigger != ON_MOUNT;
}

/* The open finding of a rule for a subject; NULL: none. */
const struct finding *finding_open(const struct findings *fs, const char *id,
				   const struct process_key *subject);

/*
 * Takes over where its limit comes from, and replaces the general commands that raise it by those
 * of this machine. A workaround without a command stays: it is another way out.
 */
void finding_take_origin(struct finding *f, const struct origin_record *r);

void finding_title(struct finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For rules: appends evidence. The result is never NULL, and may be completed. */
void finding_take_evidence(struct finding *f, const struct verdict *v);
struct evidence *finding_number(struct finding *f, const char *field, enum evidence_unit unit,
				uint64_t value);
struct evidence *finding_real(struct finding *f, const char *field, enum evidence_unit unit,
			      double value);
struct evidence *finding_text(struct finding *f, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* For rules: appends what to do. finding_advise() appends the advice of the rule's row. */
void finding_advise(struct finding *f);
void finding_take_row(struct finding *f, const struct remedy_row *row);
/* Appends a remedy of this text, for the process; NULL where there is no room for it. */
struct remedy *finding_remedy(struct finding *f, enum remedy_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, for the whole host. */
struct remedy *finding_host_remedy(struct finding *f, enum remedy_kind kind, const char *text);

#endif
