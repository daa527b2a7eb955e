// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/growth_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/units.h"
#include "model/frames.h"
#include "model/growers.h"
#include "model/process_tree.h"
#include "rules/limits_rules.h"
#include "rules/runtime_hint.h"

#define SORTS	     32
#define MANY_MAPS    1000 /* a process with fewer mappings of a kind gets no finding */
#define MANY_FDS     100
#define MANY_THREADS 250
#define PLACES_ASKED 4
#define FRAMES_TOLD  5
#define ESTIMATE     " (estimated from samples)"

/*
 * The mappings or file descriptors of one kind that a process holds, or that it created while
 * faultscope watched it.
 */
struct part {
	uint64_t n, all;
	char name[GROWER_NAME]; /* name of the largest group of that kind */
	/* index of the stack that created most of this kind; < 0: not known */
	int32_t stack;
	/* true: `n` is what the process holds; false: what it created while it was watched */
	bool held;
	bool sampled; /* `n` is an estimate from samples */
};

typedef bool is_part_fn(const char *name);

/*
 * The names in the list of a process's mappings and fds have the same form as the names of its
 * growth groups. One function, is_part(), therefore recognizes a kind in both.
 */
static struct part part_held(const struct holdings *h, is_part_fn *is_part)
{
	struct part p = {.stack = -1, .held = true};
	uint64_t most = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct holding *one = &h->sort[i];

		p.all += one->count;
		if (!is_part(one->name))
			continue;
		p.n += one->count;
		if (one->count > most) {
			most = one->count;
			snprintf(p.name, sizeof(p.name), "%.95s", one->name);
		}
	}
	return p;
}

static struct part part_made(const struct occasion *o, struct finding *f, enum what what,
			     is_part_fn *is_part)
{
	struct grower g[SORTS];
	struct part p = {.stack = -1};
	uint64_t most = 0, added;
	size_t n = finding_rows(f, growers_of(o->m, &o->s->id, what, g, SORTS, &added));

	for (size_t i = 0; i < n; i++) {
		uint64_t left = g[i].added > g[i].removed ? g[i].added - g[i].removed : 0;

		p.all += left;
		if (!is_part(g[i].name))
			continue;
		p.n += left;
		p.sampled |= g[i].sampled;
		if (left > most) {
			most = left;
			p.stack = g[i].stack;
			snprintf(p.name, sizeof(p.name), "%.95s", g[i].name);
		}
	}
	return p;
}

/*
 * Adds what the process created after its mappings and fds were listed. The result is never more
 * than the process has now.
 */
static struct part part_of(const struct occasion *o, struct finding *f, enum what what,
			   is_part_fn *is_part)
{
	const struct gauges *g = &o->s->now.g;
	uint64_t count = what == WHAT_MAPS ? g->map_count : g->fds;
	struct part made = part_made(o, f, what, is_part);
	struct part held = part_held(&o->s->held[what], is_part);

	if (!held.n)
		return made;
	held.n = held.n + made.n < count ? held.n + made.n : count;
	held.all = count;
	held.stack = made.stack;
	held.sampled = made.sampled;
	return held;
}

#define ARROW " <- "
#define CUT   "..." /* in place of frames, or of the end of a name, for which there is no room */

/*
 * Appends up to FRAMES_TOLD frames, innermost first, as long as they fit. Of the first one, the
 * beginning is shown in any case. Returns whether they fit.
 */
static bool put_frames(char *ret, size_t room, const struct frames *f, const size_t *frame,
		       size_t n, bool inlined)
{
	char one[FRAME_TEXT_BYTES];

	for (size_t i = 0, shown = 0; i < n && shown < FRAMES_TOLD; i++) {
		size_t len = strlen(ret) + (i ? strlen(ARROW) : 0);

		if (i && !inlined && frames_is_inlined(f, frame[i]))
			continue;
		frames_show(f, frame[i], one, sizeof(one));
		if (len + strlen(one) >= room) {
			array_append(ret, i ? room + strlen(ARROW) : room, i ? ARROW : one);
			return false;
		}
		array_append(ret, room, i ? ARROW : "");
		array_append(ret, room, one);
		shown++;
	}
	return true;
}

/*
 * Writes the user's line and the innermost frames, such as "train.py:57 load: mmap (libc.so.6) <-
 * share (x)". If there is no room for all, inlined frames are left out, and outer ones shown.
 */
static void put_stack(char *ret, size_t size, const struct frames *f)
{
	char end[FRAMES_END_BYTES], user[FRAMES_USER_BYTES];
	size_t frame[2 * FRAMES_TOLD], n, room, begin;
	bool more;

	room = size - strlen(frames_end_text(f, end, sizeof(end))) - strlen(ARROW CUT);
	array_copy(ret, size, frames_user_text(f, user, sizeof(user)));
	begin = strlen(ret);
	n = frames_telling(f, frame, 2 * FRAMES_TOLD, &more);
	if (!put_frames(ret, room, f, frame, n, true)) {
		ret[begin] = 0;
		if (!put_frames(ret, room, f, frame, n, false))
			array_append(ret, size, CUT);
	}
	array_append(ret, size, end);
}

void stack_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		    int32_t stack, const char *role)
{
	const struct frames *frames = model_frames(m, id, stack);
	char text[sizeof(((struct evidence *)0)->text)] = "";

	if (!frames)
		return;
	put_stack(text, sizeof(text), frames);
	finding_text(f, "from", "%s", text);
	if (frames->user_line[0] && !f->by[0])
		snprintf(f->by, sizeof(f->by), "%s %s", role, frames->user_line);
	/* JIT-compiled code may have a whole stack, but its functions have no names */
	if (frames->flags & FRAMES_SHORT || (frames->by_chain && frames_have_unknown(frames)))
		runtime_hint(f, model_find(m, id));
}

#define SORTS_TOLD 2

/*
 * Adds evidence if the table of growth was full: then part of the growth was not counted for any
 * code.
 */
static void unattributed_evidence(struct finding *f, const struct model *m)
{
	uint64_t lost = m->tick.losses.growth + m->growth_lost;

	if (lost)
		evidence_about(
			finding_number(f, "not attributed", IN_COUNT, lost),
			"changes of mappings and fds of all processes, dropped because the growth "
			"table was full");
}

void growth_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		     enum what what)
{
	struct grower g[SORTS_TOLD];
	uint64_t added;
	size_t sorts = finding_rows(f, growers_of(m, id, what, g, SORTS_TOLD, &added));

	for (size_t i = 0; i < sorts; i++) {
		if (g[i].added <= g[i].removed || g[i].added * 10 < added)
			break;
		if (!i)
			finding_number(f, "created while watched", IN_COUNT, added);
		evidence_about(finding_number(f, "of these still held", IN_COUNT,
					      g[i].added - g[i].removed),
			       "%.95s%s", g[i].name, g[i].sampled ? ESTIMATE : "");
	}
	if (sorts)
		stack_evidence(f, m, id, g[0].stack, "made by");
	unattributed_evidence(f, m);
}

/*
 * Fills the title, the evidence and the severity. The severity depends on how near the process is
 * to its limit.
 */
static void say_part(struct finding *f, const struct occasion *o, enum what what,
		     const struct part *p, const char *is)
{
	const struct gauges *g = &o->s->now.g;
	uint64_t count = what == WHAT_MAPS ? g->map_count : g->fds;
	uint64_t high = what == WHAT_MAPS ? g->map_high : g->fd_high;
	uint64_t limit = what == WHAT_MAPS ? o->m->tick.limits.max_map_count : g->fd_soft;

	f->cause = what == WHAT_MAPS ? "max_map_count" : "rlimit_nofile";
	f->severity =
		limit && limit != UINT64_MAX && high * 2 > limit ? SEVERITY_WARNING : SEVERITY_INFO;
	f->level = f->severity + 1;
	finding_title(f, "%s%s of %s %s%s are %s", p->sampled ? "about " : "", as_count(p->n).s,
		      as_count(p->held ? count : p->all).s,
		      what == WHAT_MAPS ? "mappings" : "file descriptors",
		      p->held ? "" : " created while watched", is);
	evidence_about(finding_number(f, p->held ? "holds" : "created", IN_COUNT, p->n), "%s%s",
		       p->name, p->sampled ? ESTIMATE : "");
	stack_evidence(f, o->m, &o->s->id, p->stack, "made by");
	unattributed_evidence(f, o->m);
}

#define TREE_TOLD 4
#define TREE_MOST 256

/* One process of a process tree, and how many mappings or fds of the kind it holds. */
struct branch {
	const struct subject *s;
	uint64_t n;
};

static bool holds_more(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->n > y->n;
}

/* Writes, for example, "python3[12] 64,811; pt_worker[14] 2,000, child of 12". */
static void put_branches(char *ret, size_t size, const struct process_tree *k,
			 const struct branch *b, size_t told)
{
	size_t len = strlen(ret);

	for (size_t i = 0; i < told && len < size; i++) {
		const struct subject *parent = process_tree_parent(k, b[i].s);

		len += snprintf(ret + len, size - len, "%s %.15s[%u] %s", i ? ";" : "",
				b[i].s->now.g.comm, b[i].s->id.pid, as_count(b[i].n).s);
		if (parent && len < size)
			len += snprintf(ret + len, size - len, ", child of %u", parent->id.pid);
	}
}

#define TREE "its process tree"

/*
 * Keeps the evidence of the open finding: when the last process of a command has ended, it is in no
 * process tree any more.
 */
static void keep_tree(struct finding *f, const struct finding *open)
{
	for (size_t i = 0; open && i < open->nr_evidence; i++)
		if (!strcmp(open->evidence[i].field, TREE))
			finding_text(f, TREE, "%s", open->evidence[i].text);
}

/* Shows which processes hold the tensors: the parent, its workers, or both. */
static void tree_evidence(struct finding *f, const struct finding *open, const struct occasion *o,
			  enum what what, is_part_fn *is_part)
{
	char text[sizeof(((struct evidence *)0)->text)];
	const struct subject *root;
	struct branch b[TREE_TOLD];
	size_t told = 0, all = 0;
	struct process_tree k;

	if (process_tree_of(o->m, &k)) {
		f->starved = true;
		goto out;
	}
	root = process_tree_root(&k, o->s);
	for (size_t i = 0; i < k.n && all < TREE_MOST; i++) {
		struct occasion of = {.m = o->m, .s = k.by_pid[i]};
		struct branch one = {of.s};

		if (process_tree_root(&k, of.s) != root)
			continue;
		all++;
		one.n = part_of(&of, f, what, is_part).n;
		array_insert(b, &told, TREE_TOLD, sizeof(*b), holds_more, &one);
	}
	if (all < 2) {
		keep_tree(f, open);
		goto out;
	}
	snprintf(text, sizeof(text), "%zu processes:", all);
	put_branches(text, sizeof(text), &k, b, told);
	finding_text(f, TREE, "%s", text);
out:
	process_tree_free(&k);
}

static bool is_many(const struct part *p, uint64_t least, uint64_t percent)
{
	return p->n >= least && p->n * 100.0 >= p->all * (double)percent;
}

/* Rule M03 pytorch-shared-tensors: one mapping for each tensor in shared memory. */

/* Matches "/dev/shm/torch_2653_91_7", also with digits folded to '#', but not libtorch_cpu.so. */
static bool is_torch(const char *name)
{
	const char *at = strstr(name, "torch_");

	return at && (at == name || at[-1] == '/') &&
	       (at[6] == '#' || (at[6] >= '0' && at[6] <= '9'));
}

bool torch_shares(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part maps = part_of(o, f, WHAT_MAPS, is_torch);
	struct part fds = part_of(o, f, WHAT_FDS, is_torch);
	bool by_fd = fds.n >= MANY_FDS && fds.n * 2 > maps.n;

	if (!is_many(&maps, MANY_MAPS, 30))
		return false;
	say_part(f, o, WHAT_MAPS, &maps, "PyTorch tensors in shared memory, one mapping each");
	finding_text(f, "sharing strategy", "%s",
		     by_fd ? "file_descriptor: a file descriptor and a mapping for each tensor"
			   : "file_system: a mapping for each tensor");
	tree_evidence(f, open, o, WHAT_MAPS, is_torch);
	finding_advise(f);
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

static bool frames_have(const struct occasion *o, int32_t stack, const char *const *words)
{
	const struct frames *f = model_frames(o->m, &o->s->id, stack);

	for (; f && *words; words++)
		if (strstr(f->text, *words))
			return true;
	return false;
}

/* Rule M04 thread-stacks: each thread has two mappings. */

static bool is_guard(const char *name)
{
	return !strncmp(name, "---p", 4);
}

static const char *const makers[] = {"pthread_create", "thrd_create", "stack_guard",
				     "guard_pages",    "Thread::",    NULL};

/*
 * Returns the index of a call stack that creates threads and is one of those that created most
 * mappings; -1: there is none.
 */
static int32_t thread_maker(const struct occasion *o, struct finding *f)
{
	struct grower g[PLACES_ASKED];
	uint64_t added;
	size_t n = finding_rows(
		f, growers_by_place(o->m, &o->s->id, WHAT_MAPS, g, PLACES_ASKED, &added));

	for (size_t i = 0; i < n; i++)
		if (frames_have(o, g[i].stack, makers))
			return g[i].stack;
	return -1;
}

/*
 * glibc maps the stack and the guard of a thread with one mmap(), and splits the mapping with
 * mprotect(). Growth by file name therefore does not show thread stacks: the rule compares the
 * number of threads with the number of mappings.
 */
bool thread_stacks(const struct occasion *o, const struct finding *open, struct finding *f)
{
	const struct gauges *g = &o->s->now.g;
	struct part guards = part_held(&o->s->held[WHAT_MAPS], is_guard);
	struct part p = {.stack = thread_maker(o, f), .held = true};

	if (g->threads < MANY_THREADS || 2ULL * g->threads * 100 < 50ULL * g->map_count)
		return false;
	snprintf(p.name, sizeof(p.name), "%s", guards.n ? guards.name : "stacks of threads");
	say_part(f, o, WHAT_MAPS, &p, "");
	finding_title(f, "%s threads: their stacks and guards are most of %s %s",
		      as_count(g->threads).s, as_count(g->map_count).s,
		      as_words(g->map_count, "mapping{|s}").s);
	finding_number(f, "threads", IN_COUNT, g->threads);
	finding_advise(f);
	limit_help_map_count(f, o->m, g->map_high);
	return true;
}

/* Rule M05 zgc-heap-mappings: ZGC maps the Java heap in pieces. */

static bool is_zgc(const char *name)
{
	return strstr(name, "java_heap") != NULL;
}

bool zgc_heap(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_of(o, f, WHAT_MAPS, is_zgc);

	if (!is_many(&p, MANY_MAPS, 25))
		return false;
	say_part(f, o, WHAT_MAPS, &p, "pieces of the Java heap (ZGC)");
	finding_advise(f);
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

/*
 * Rules M06 allocator-splits-mappings and M08 go-thp-splits: a memory allocator, or the Go runtime,
 * splits mappings.
 */

static bool is_split(const char *name)
{
	return !strncmp(name, "split by m", 10); /* splits by mprotect, madvise, munmap or mremap */
}

static const char *const allocators[] = {"je_",	     "jemalloc",  "mi_",       "_mi_",
					 "tcmalloc", "sn_",	  "pages_",    "extent_",
					 "arena_",   "_int_free", "sysmalloc", NULL};
static const char *const go_runtime[] = {"runtime.sys", "runtime.madvise", "runtime.(*",
					 "runtime.scav", NULL};

bool allocator_splits(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_made(o, f, WHAT_MAPS, is_split);

	if (!is_many(&p, MANY_MAPS, 50) || !frames_have(o, p.stack, allocators))
		return false;
	say_part(f, o, WHAT_MAPS, &p,
		 "pieces of mappings that a memory allocator split to return pages to the kernel");
	if (o->m->tick.limits.overcommit_memory == 2)
		remedy_command(
			finding_host_remedy(f, REMEDY_WORKAROUND,
					    "set vm.overcommit_memory to 0: with 2, allocators "
					    "call mprotect(), which splits mappings, instead of "
					    "madvise(MADV_DONTNEED)"),
			"sysctl -w vm.overcommit_memory=0");
	finding_advise(f);
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

bool go_splits(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_made(o, f, WHAT_MAPS, is_split);

	if (!is_many(&p, MANY_MAPS, 50) || !frames_have(o, p.stack, go_runtime))
		return false;
	say_part(f, o, WHAT_MAPS, &p,
		 "pieces of mappings that madvise calls of the Go runtime split");
	finding_advise(f);
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

/* Rule M07 dotnet-double-mapping: .NET maps its code twice. */

static bool is_double_mapper(const char *name)
{
	return strstr(name, "doublemapper") != NULL;
}

bool dotnet_double_maps(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_of(o, f, WHAT_MAPS, is_double_mapper);

	if (!is_many(&p, MANY_MAPS / 2, 25))
		return false;
	say_part(f, o, WHAT_MAPS, &p, ".NET code, mapped once to write and once to execute");
	finding_advise(f);
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

/* Rule M09 mapping-per-file: a mapping for each file. */

static bool is_numbered_file(const char *name)
{
	return strchr(name, '#') && !is_torch(name) && !is_zgc(name) && !is_double_mapper(name) &&
	       name[0] != '[';
}

static bool is_java(const struct subject *s)
{
	return !strcmp(program_name(s), "java");
}

bool map_per_file(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_of(o, f, WHAT_MAPS, is_numbered_file);

	if (!is_many(&p, MANY_MAPS, 30))
		return false;
	say_part(f, o, WHAT_MAPS, &p, "mapped files, one mapping each");
	if (is_java(o->s))
		finding_remedy(
			f, REMEDY_FIX,
			"use fewer files: merge segments or compact. Or read files instead of "
			"mapping them (Lucene, Elasticsearch: index.store.type niofs)");
	else
		finding_remedy(
			f, REMEDY_FIX,
			"unmap each file that is no longer used (Python: close the mmap, use "
			"`with`). If all files are in use, use fewer and larger files, or read() "
			"instead of a mapping");
	limit_help_map_count(f, o->m, o->s->now.g.map_high);
	return true;
}

/* Rule M10 mapping-leak: mappings are created and never unmapped. */

/* Returns true if another rule reports this kind of mapping, so that M10 need not. */
static bool is_named_otherwise(const struct occasion *o, const struct grower *g)
{
	/* M04, M06 and M08 report splits whose stack shows code that these rules know */
	if (is_split(g->name))
		return frames_have(o, g->stack, makers) || frames_have(o, g->stack, allocators) ||
		       frames_have(o, g->stack, go_runtime);
	return is_torch(g->name) || is_numbered_file(g->name) || !strcmp(g->name, "thread stack") ||
	       is_zgc(g->name) || is_double_mapper(g->name);
}

bool maps_leak(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct grower place[2], *g = NULL;
	uint64_t added, known;
	struct part p;
	size_t n = finding_rows(f, growers_by_place(o->m, &o->s->id, WHAT_MAPS, place, 2, &added));

	known = added;
	for (size_t i = 0; i < n; i++)
		if (place[i].stack < 0)
			/*
			 * growth without a stack does not show which code caused it: leave it out
			 * of the sum
			 */
			known -= place[i].added;
		else if (!g)
			g = &place[i];
	if (!g || g->added < MANY_MAPS || g->added * 10 < known * 8 || g->removed * 20 > g->added ||
	    is_named_otherwise(o, g))
		return false;
	p = (struct part){.n = g->added - g->removed, .all = added, .stack = g->stack};
	snprintf(p.name, sizeof(p.name), "%.95s", g->name);
	if (is_split(g->name)) {
		say_part(f, o, WHAT_MAPS, &p,
			 "pieces of larger mappings that one call stack split");
		finding_remedy(
			f, REMEDY_FIX,
			"unmap or change whole mappings: a change in the middle of a mapping "
			"splits it into three");
		return true;
	}
	say_part(f, o, WHAT_MAPS, &p, "from one call stack, and almost none are unmapped");
	finding_advise(f);
	return true;
}

/* Rule M11 map-count-peak: the number of mappings has a peak between two scans. */

bool maps_burst(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t limit = o->m->tick.limits.max_map_count, high = o->s->now.g.map_high;

	if (!limit || high * 10 < limit * 7 || o->s->now.g.map_count * 2 > high)
		return false;
	f->severity = SEVERITY_INFO;
	f->level = 1;
	f->cause = "max_map_count";
	finding_title(f, "the map count peaked at %s, %" PRIu64 "%% of vm.max_map_count; now %s",
		      as_count(high).s, high * 100 / limit, as_count(o->s->now.g.map_count).s);
	evidence_limit(finding_number(f, "peak", IN_COUNT, high), limit);
	growth_evidence(f, o->m, &o->s->id, WHAT_MAPS);
	finding_advise(f);
	return true;
}

/* Rules M12 wine-map-count, F11 wine-esync-fds: Windows programs under Wine. */

static bool is_windows_program(const struct subject *s)
{
	size_t len = strnlen(s->now.g.comm, COMM_LEN);

	return (len > 4 && !strncasecmp(s->now.g.comm + len - 4, ".exe", 4)) ||
	       !strncmp(s->now.g.comm, "wineserver", 10);
}

bool wine_demand(const struct occasion *o, const struct finding *open, struct finding *f)
{
	uint64_t limit = o->m->tick.limits.max_map_count;
	struct part p = {.n = o->s->now.g.map_count, .all = o->s->now.g.map_count, .stack = -1};

	if (!is_windows_program(o->s) || !limit || p.n * 2 < limit)
		return false;
	say_part(f, o, WHAT_MAPS, &p, "used by a Windows program under Wine");
	finding_advise(f);
	return true;
}

static bool is_eventfd(const char *name)
{
	return strstr(name, "[eventfd]") != NULL;
}

bool wine_esync(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part p = part_of(o, f, WHAT_FDS, is_eventfd);

	if (!is_windows_program(o->s) || !is_many(&p, MANY_FDS, 90))
		return false;
	say_part(f, o, WHAT_FDS, &p, "eventfds of Wine's esync");
	finding_advise(f);
	return true;
}

/* Rules F08 fd-leak, F09 close-wait-sockets, F10 pytorch-shared-fds. */

static bool is_anon_inode(const char *name)
{
	return name[0] == '[' || !strncmp(name, "anon_inode:", 11) || strstr(name, "dmabuf") ||
	       strstr(name, "memfd:");
}

bool fd_class_leaks(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part made = part_made(o, f, WHAT_FDS, is_anon_inode);
	struct part p = part_of(o, f, WHAT_FDS, is_anon_inode);
	struct grower g[1];
	uint64_t added;

	if (!is_many(&p, MANY_FDS, 50) || is_windows_program(o->s) || is_torch(p.name))
		return false;
	/*
	 * Many open fds alone are no leak: their number must grow, and the process must close few
	 * of them.
	 */
	if (!finding_rows(f, growers_of(o->m, &o->s->id, WHAT_FDS, g, 1, &added)) || !made.n ||
	    g->removed * 4 > g->added)
		return false;
	say_part(f, o, WHAT_FDS, &p, "of one type, and their number grows");
	if (p.stack < 0)
		stack_evidence(f, o->m, &o->s->id, made.stack, "made by");
	finding_advise(f);
	limit_help_nofile(f, o->s, o->s->now.g.fd_soft);
	return true;
}

static bool is_close_wait(const char *name)
{
	return strstr(name, "CLOSE_WAIT") != NULL;
}

static bool is_socket(const char *name)
{
	return !strncmp(name, "tcp", 3) || !strncmp(name, "udp", 3) ||
	       !strncmp(name, "socket", 6) || !strncmp(name, "unix", 4);
}

bool sockets_not_closed(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part sockets = part_held(&o->s->held[WHAT_FDS], is_socket);
	struct part p = part_held(&o->s->held[WHAT_FDS], is_close_wait);

	if (p.n < MANY_FDS / 2 || p.n * 2 < sockets.n)
		return false;
	p.stack = part_made(o, f, WHAT_FDS, is_socket).stack;
	say_part(f, o, WHAT_FDS, &p,
		 "sockets in CLOSE_WAIT: the peer closed them, the process did not");
	finding_advise(f);
	limit_help_nofile(f, o->s, o->s->now.g.fd_soft);
	return true;
}

bool sharing_by_fd(const struct occasion *o, const struct finding *open, struct finding *f)
{
	struct part maps = part_of(o, f, WHAT_MAPS, is_torch);
	struct part fds = part_of(o, f, WHAT_FDS, is_torch);

	if (fds.n < MANY_FDS || fds.n * 2 < maps.n || fds.n * 2 < fds.all)
		return false;
	say_part(f, o, WHAT_FDS, &fds, "PyTorch tensors, one file descriptor each");
	tree_evidence(f, open, o, WHAT_FDS, is_torch);
	finding_advise(f);
	limit_help_nofile(f, o->s, o->s->now.g.fd_soft);
	return true;
}
