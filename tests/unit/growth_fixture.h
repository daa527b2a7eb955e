/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Simulates a process with pid 10. Tests set its mappings and fds, and check its findings. */
#ifndef FS_TESTS_GROWTH_FIXTURE_H
#define FS_TESTS_GROWTH_FIXTURE_H

#include <sys/mman.h>
#include <sys/stat.h>

#include "fixture.h"
#include "rules/rules.h"
#include "kept_findings.h"
#include "finding_text.h"

#define TMPFS 0x01021994

static struct model m;
static struct findings fs;
static uint64_t now;

static inline void begin(void)
{
	begin_model(&m, NULL);
	memset(&fs, 0, sizeof(fs));
	now = SECOND;
}

static inline void end(void)
{
	findings_free(&fs);
	model_free(&m);
}

static inline struct process_record process_with(uint32_t maps, uint32_t fds)
{
	struct process_record r = process_record(10, 1, now + SECOND / 2);

	r.g.map_count = r.g.map_high = maps;
	r.g.fds = r.g.fd_high = fds;
	r.g.fd_soft = 20000;
	strcpy(r.g.comm, "grower");
	return r;
}

static inline struct growth growth_of(uint32_t pid, enum what what, enum call_id call,
				      int32_t stack, uint64_t added)
{
	struct growth g = {.subject = {.pid = pid, .start_ns = 1}};

	g.what = what;
	g.call = call;
	g.stack = stack;
	g.added = added;
	return g;
}

static inline void take_growth(struct growth g)
{
	struct growth_record r = RECORD(growth_record, RECORD_GROWTH, now);

	r.place = m.growths;
	r.g = g;
	model_take(&m, &r.h);
}

/* Counts created and removed mappings of a file, or fds. `name` has '#' in place of numbers. */
static inline void made_file(enum what what, int32_t stack, const char *name, uint64_t added,
			     uint64_t removed)
{
	struct growth g =
		growth_of(10, what, what == WHAT_MAPS ? CALL_MMAP : CALL_OPEN, stack, added);

	g.removed = removed;
	g.flags = FILE_KNOWN;
	g.mode = S_IFREG;
	snprintf(g.name, sizeof(g.name), "%s", name);
	take_growth(g);
}

static inline void made_anonymous(int32_t stack, int prot, int flags, uint64_t added)
{
	struct growth g = growth_of(10, WHAT_MAPS, CALL_MMAP, stack, added);

	g.mode = GROWTH_ANON(prot, flags);
	take_growth(g);
}

static inline void made_split(int32_t stack, enum call_id call, uint64_t added)
{
	take_growth(growth_of(10, WHAT_MAPS, call, stack, added));
}

/* Records removed mappings without a call stack: munmap() does not show which code created them. */
static inline void unmapped(uint64_t removed)
{
	struct growth g = growth_of(10, WHAT_MAPS, CALL_MUNMAP, -1, 0);

	g.removed = removed;
	take_growth(g);
}

static inline void stack_reads(int32_t stack, const char *text, uint32_t flags)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, now);

	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.stack = stack;
	r.flags = flags;
	snprintf(r.text, sizeof(r.text), "%s", text);
	model_take(&m, &r.h);
}

/*
 * Records the names of a stack that was walked with unwind tables, with the user's line of Python
 * code.
 */
static inline void walk_reads(int32_t stack, const char *text, uint32_t end, uint32_t by_chain,
			      const char *user_line)
{
	struct frames_record r = RECORD(frames_record, RECORD_FRAMES, now);

	r.subject = (struct process_key){.pid = 10, .start_ns = 1};
	r.stack = stack;
	r.flags = end == STACK_END_ENTRY ? 0 : FRAMES_SHORT;
	r.end = end;
	r.by_chain = by_chain;
	snprintf(r.text, sizeof(r.text), "%s", text);
	snprintf(r.user_line, sizeof(r.user_line), "%s", user_line);
	model_take(&m, &r.h);
}

static inline void holds_of(uint32_t pid, enum what what, uint32_t nth, enum holding_kind kind,
			    const char *name, uint64_t count)
{
	struct holding_record r = RECORD(holding_record, RECORD_HOLDING, now);

	r.nth = nth;
	r.g = (struct holding){.subject = {.pid = pid, .start_ns = 1}};
	r.g.what = what;
	r.g.kind = kind;
	r.g.count = count;
	r.g.names = 2;
	snprintf(r.g.name, sizeof(r.g.name), "%s", name);
	model_take(&m, &r.h);
}

static inline void holds(enum what what, uint32_t nth, enum holding_kind kind, const char *name,
			 uint64_t count)
{
	holds_of(10, what, nth, kind, name, count);
}

static inline void judge_window(void)
{
	struct tick_record t = tick_record(now += SECOND);

	model_take(&m, &t.h);
	findings_judge(&fs, &m);
}

static inline const struct finding *find_of(const char *id, uint32_t pid)
{
	for (size_t i = 0; i < fs.n; i++)
		if (fs.f[i].open && !strcmp(fs.f[i].rule->id, id) && fs.f[i].subject.pid == pid)
			return &fs.f[i];
	return NULL;
}

static inline const struct finding *find(const char *id)
{
	return find_of(id, 10);
}

/* Returns the value of an evidence field; NULL if the finding has no such field. */
static inline const char *evidence_of(const struct finding *f, const char *field)
{
	for (size_t i = 0; f && i < f->nr_evidence; i++)
		if (!strcmp(f->evidence[i].field, field))
			return evidence_str(&f->evidence[i]);
	return NULL;
}

static inline bool advises(const struct finding *f, const char *words)
{
	for (size_t i = 0; f && i < f->nr_remedies; i++)
		if (strstr(remedy_str(f, i), words))
			return true;
	return false;
}

/* Returns the ids of all open findings, in the order of the table of rules. */
static inline const char *open_ids(void)
{
	static char ids[256];

	ids[0] = 0;
	for (size_t r = 0; r < nr_rules; r++)
		for (size_t i = 0; i < fs.n; i++)
			if (fs.f[i].open && fs.f[i].rule == &rules[r])
				sprintf(ids + strlen(ids), "%s%s", *ids ? " " : "", rules[r].id);
	return ids;
}

#endif
