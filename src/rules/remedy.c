// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/remedy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "rules/remedy_parts.h"

#define WHO_HAS(what)                                                                              \
	"find /proc/[0-9]*/fd -lname 'anon_inode:*" what "*' 2>/dev/null | cut -d/ -f3 | sort | "  \
	"uniq -c | sort -n | tail"
#define FEWER_THREADS                                                                              \
	"run fewer threads: use thread pools of a fixed size, and end threads that have no work"
#define LESS_MEMORY                                                                                \
	"find what grows, and use smaller caches, batches or heaps; tmpfs files also count as "    \
	"memory of the cgroup"

/* Advice about a limit that is the same wherever the limit was set. */
struct remedy_facts {
	const char *fix;   /* how to use less of the limited resource */
	const char *cost;  /* cost of a higher limit; NULL: none */
	const char *check; /* command that shows what counts towards the limit; NULL: none */
};

#define SHARED_LESS                                                                                \
	"remove segments of shared memory that no process needs any more (ipcrm -m): they stay "   \
	"when their process ends"

#define LIMIT_ROW(id, fix, cost, check, ...) [LIMIT_##id] = {fix, cost, check},

static const struct remedy_facts facts[NR_LIMITS] = {
#include "model/limits.def"
};

static const struct remedy_facts *facts_of(const struct limit *l)
{
	return &facts[l - limit_table];
}

enum remedy_scope remedy_scope_of(const struct limit *l)
{
	static const enum remedy_scope scopes[] = {
		[LIMIT_OF_MACHINE] = SCOPE_HOST,
		[LIMIT_OF_PROCESS] = SCOPE_PROCESS,
		[LIMIT_OF_CGROUP] = SCOPE_CGROUP,
	};

	return scopes[l->kind];
}

struct remedy *remedy_with_scope(struct remedy *r, enum remedy_scope scope)
{
	if (r)
		r->scope = scope;
	return r;
}

const char *remedy_kind_name(enum remedy_kind kind)
{
	static const char *const name[NR_REMEDY_KINDS] = {"workaround", "fix", "check"};

	return name[kind];
}

const char *remedy_scope_name(enum remedy_scope scope)
{
	static const char *const name[NR_REMEDY_SCOPES] = {"process", "cgroup", "host"};

	return name[scope];
}

void remedy_command(struct remedy *r, const char *format, ...)
{
	va_list ap;
	int n;

	if (!r)
		return;
	va_start(ap, format);
	n = vsnprintf(r->command, sizeof(r->command), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(r->command))
		r->command[0] = 0;
}

struct remedy *remedy_add(struct remedies *all, enum remedy_kind kind, bool persistent,
			  const char *say, struct buf *command)
{
	struct remedy *r = &all->r[all->n];

	if (all->n == REMEDY_MAX) {
		if (command)
			buf_free(command);
		return r - 1;
	}
	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->persistent = persistent;
	r->scope = remedy_scope_of(all->o->limit);
	snprintf(r->text, sizeof(r->text), "%s", say);
	if (kind == REMEDY_WORKAROUND && facts_of(all->o->limit)->cost)
		snprintf(r->risk, sizeof(r->risk), "%s", facts_of(all->o->limit)->cost);
	if (command && command->s && !command->failed && command->len < sizeof(r->command))
		memcpy(r->command, command->s, command->len + 1);
	if (command)
		buf_free(command);
	all->n++;
	return r;
}

/*
 * Returns the value to suggest. vm.overcommit_memory is a mode: for it, returns the mode with which
 * fewer calls fail.
 */
static uint64_t proposed(const struct origin *o, uint64_t want)
{
	uint64_t used = o->limit->kind == LIMIT_OF_CGROUP ? o->used : o->value;

	if (want && want < o->limit->usual)
		want = o->limit->usual;
	if (want)
		return o->limit->most && want > o->limit->most ? o->limit->most : want;
	if (o->limit == &limit_table[LIMIT_OVERCOMMIT_MEMORY])
		return o->value == 2 ? 0 : 1;
	if (o->limit == &limit_table[LIMIT_KPTR_RESTRICT])
		return 1;
	if (o->limit->is_mode || used == LIMIT_NONE)
		return o->value;
	return limit_roomy(o->limit, used);
}

static uint64_t wanted(const struct origin *o, const struct remedy_for *f)
{
	uint64_t want = proposed(o, f->want);
	bool is_figure = want != LIMIT_NONE && !o->limit->is_mode;

	return is_figure && f->most && want > f->most ? f->most : want;
}

void put_wanted(const struct remedies *all, uint64_t unit, const char *none, struct buf *c)
{
	if (all->want == LIMIT_NONE)
		buf_puts(c, none);
	else
		buf_printf(c, "%" PRIu64, units_of(all->want, unit));
}

void put_word(struct buf *c, struct buf *word)
{
	buf_shell(c, word->s);
	c->failed |= word->failed;
	buf_free(word);
}

size_t remedies_for(const struct origin *o, const struct remedy_for *f, struct remedy *ret)
{
	struct remedies all = {.o = o, .f = f, .want = wanted(o, f), .r = ret};
	const struct remedy_facts *known = facts_of(o->limit);
	char check_text[COMMAND_BYTES];
	struct buf check = BUF_IN(check_text);

	if (*known->fix)
		remedy_add(&all, REMEDY_FIX, true, known->fix, NULL);
	switch (o->limit->kind) {
	case LIMIT_OF_MACHINE:
		remedy_machine(&all);
		break;
	case LIMIT_OF_PROCESS:
		remedy_process(&all);
		break;
	case LIMIT_OF_CGROUP:
		remedy_cgroup(&all);
		break;
	}
	if (known->check) {
		buf_puts(&check, known->check);
		remedy_add(&all, REMEDY_CHECK, false, "show what counts towards the limit", &check);
	}
	return all.n;
}

const struct remedy *remedy_find(const struct remedy *r, size_t n, enum remedy_kind kind,
				 bool persistent)
{
	for (size_t i = 0; i < n; i++)
		if (r[i].kind == kind && r[i].persistent == persistent && r[i].command[0])
			return &r[i];
	return NULL;
}
