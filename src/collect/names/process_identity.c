// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/names/process_identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/pids.h"
#include "collect/cgroup/cgroup_v2.h"
#include "collect/cgroup/cgroup_walk.h"
#include "collect/names/identity_cache.h"

#define WAYS	   4
#define SETS	   1024	      /* sets in the cache of v2 cgroup paths, each of WAYS entries */
#define PROCS_MOST (1u << 17) /* maximum number of processes stored */
#define READS_MOST 500	      /* maximum reads of /proc/PID/cgroup after exec, per second */
#define SECOND_NS  1000000000ULL
/*
 * The event of a move within a v1 hierarchy may be lost. The path of each process is therefore read
 * again every 60 s. A read takes about 15 us, so 32 reads per second cost at most 0.05 % of a CPU.
 */
#define AGAIN_NS     (60 * SECOND_NS)
#define AGAIN_MOST   32		      /* maximum number of repeated path reads per second */
#define UNKNOWN_NS   (10 * SECOND_NS) /* pause after a failed read of a cgroup's path */
#define DEPTH_MOST   16		      /* maximum number of levels of nested cgroups */

/* A pointer to a cached identity, which saves a search by cgroup path. */
struct link {
	struct known *k;
	uint64_t serial; /* serial of `k` when found; differs if the entry was reused */
};

/* A cached path of a v2 cgroup. */
struct place {
	uint64_t id; /* cgroup id; 0: the entry is free */
	/* path of the cgroup, owned; "": the cgroup is of no workload; NULL: not read yet */
	char *path;
	bool unsure;	  /* `path` was not checked against `id`: read it again */
	uint64_t read_ns; /* last attempt to read `path`; 0: never */
	uint64_t used;
	struct link link;
};

struct proc {
	struct process_key of;
	uint64_t cgroup_id; /* v2 cgroup id of the last record */
	uint64_t read_ns;   /* when `path` was last read; 0: never */
	uint32_t execs;
	bool settled; /* `path` was read since the last exec or move of the process */
	/* most specific path; used if cgroup_id is 0 or not `unified`; NULL: unknown; owned */
	char *path;
	struct link link;
};

/* Limits the number of reads per second. */
struct budget {
	uint64_t second, used;
};

struct identities {
	struct identity_options opt;
	struct known_table known;
	bool has_pattern;
	regex_t pattern;
	bool unified; /* only cgroup v2 is mounted, so that a cgroup id identifies a path */
	struct cgroup_v2 v2;
	struct place *place;
	struct pids procs; /* table of struct proc, one per live process */
	uint64_t uses;
	struct budget starting, again; /* limits of reads after exec, and of repeated reads */
	struct identity_counts counts;
};

/* Ranks a line of /proc/PID/cgroup by workload kind, then by hierarchy (v2, v1 memory, other). */
static int rank_line(struct span list, const char *path)
{
	int hierarchy = !list.len ? 2 : text_is(list, "memory") ? 1 : 0;

	return (NR_WORKLOAD_KINDS - path_kind(path)) * 3 + hierarchy;
}

/*
 * Returns the most specific path in /proc/PID/cgroup. If v1 and v2 are mounted, the path in one of
 * them may only be the cgroup of the program that started the container runtime.
 */
static void most_telling(struct span text, char *ret, size_t size)
{
	struct text_lines lines = {.rest = text};
	struct span line, id, list, path;
	char one[CGROUP_PATH_LEN], last[CGROUP_PATH_LEN] = "";
	int best = (NR_WORKLOAD_KINDS - KIND_COMM) * 3 + 2, rank;

	ret[0] = 0;
	while (text_line(&lines, &line)) {
		if (!text_split(line, ':', &id, &list) || !text_split(list, ':', &list, &path))
			continue;
		text_copy(path, one, sizeof(one));
		if (!strcmp(one, last))
			continue;
		memcpy(last, one, sizeof(last));
		rank = rank_line(list, one);
		if (rank <= best)
			continue;
		best = rank;
		array_copy(ret, size, one);
	}
}

static void find_hierarchies(struct identities *ids)
{
	char text[16384];
	ssize_t len = io_read(ids->opt.root, "proc/self/cgroup", text, sizeof(text));

	ids->unified = len > 0 && !strncmp(text, "0::", 3) && strchr(text, '\n') == text + len - 1;
	cgroup_v2_open(&ids->v2, ids->opt.root);
}

int identities_open(const struct identity_options *opt, struct identities **ret, char *error,
		    size_t size)
{
	struct identities *ids = calloc(1, sizeof(*ids));
	char why[128];
	int err = -ENOMEM;

	if (!ids)
		return err;
	ids->opt = *opt;
	ids->known = (struct known_table){.root = opt->root, .collapse = opt->collapse};
	ids->place = calloc(SETS * WAYS, sizeof(*ids->place));
	ids->procs = (struct pids){.entry_bytes = sizeof(struct proc),
				   .pid_at = offsetof(struct proc, of.pid),
				   .most = PROCS_MOST};
	if (known_init(&ids->known) || !ids->place)
		goto out;
	if (opt->pattern) {
		err = regcomp(&ids->pattern, opt->pattern, REG_EXTENDED);
		if (err) {
			regerror(err, &ids->pattern, why, sizeof(why));
			snprintf(error, size, "%s: invalid regular expression: %s", opt->pattern,
				 why);
			err = -EINVAL;
			goto out;
		}
		ids->has_pattern = true;
		ids->known.pattern = &ids->pattern;
	}
	find_hierarchies(ids);
	*ret = ids;
	return 0;
out:
	identities_close(ids);
	return err;
}

void identities_close(struct identities *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; ids->place && i < SETS * WAYS; i++)
		free(ids->place[i].path);
	for (uint32_t i = 0; i < ids->procs.slots; i++) {
		struct proc *p = pids_at(&ids->procs, i);

		if (p)
			free(p->path);
	}
	pids_free(&ids->procs);
	known_free(&ids->known);
	if (ids->has_pattern)
		regfree(&ids->pattern);
	free(ids->place);
	free(ids);
}

struct identity_counts identities_counted(const struct identities *ids)
{
	return ids->counts;
}

/* Returns the cache entry of a cgroup id. A new id evicts the least recently used one. */
static struct place *place_of(struct identities *ids, uint64_t id)
{
	struct place *set, *oldest;

	set = oldest = &ids->place[(id * 0x9e3779b97f4a7c15ULL >> 40) % SETS * WAYS];
	for (int i = 0; i < WAYS; i++) {
		if (set[i].id == id) {
			set[i].used = ++ids->uses;
			return &set[i];
		}
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	free(oldest->path);
	*oldest = (struct place){.id = id, .used = ++ids->uses};
	return oldest;
}

/*
 * Stores a path. For the path "", which stands for a cgroup of no workload, the name of the program
 * is used.
 */
static void keep_path(char **to, struct link *link, const char *path)
{
	free(*to);
	*to = strdup(path_kind(path) == KIND_COMM ? "" : path);
	*link = (struct link){};
}

static bool read_cgroup(struct identities *ids, uint32_t pid, char *ret, size_t size)
{
	char path[48];

	if (!pid || ids->opt.foreign)
		return false;
	ids->counts.reads++;
	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	return io_read(ids->opt.root, path, ret, size) > 0;
}

static bool read_unified(struct identities *ids, uint32_t pid, char *ret, size_t size)
{
	char text[8192];

	return read_cgroup(ids, pid, text, sizeof(text)) &&
	       cgroup_path_find((struct span){text, strlen(text)}, NULL, ret, size);
}

/*
 * Reads the path of a v2 cgroup in /proc/PID/cgroup of a process that is in the cgroup; `pid` is 0
 * if the process has ended. The process may move to another cgroup during the read. If the path
 * could not be checked against the cgroup id, it is therefore used, but read again later.
 */
static void find_place(struct identities *ids, struct place *p, uint32_t pid, uint64_t t_ns)
{
	char path[CGROUP_PATH_LEN];
	enum cgroup_match match;

	if ((p->path && !p->unsure) || !pid || (p->read_ns && t_ns - p->read_ns < UNKNOWN_NS))
		return;
	p->read_ns = t_ns;
	if (!read_unified(ids, pid, path, sizeof(path)))
		return;
	match = cgroup_v2_match(&ids->v2, path, p->id);
	if (match == CGROUP_OTHER)
		return;
	p->unsure = match == CGROUP_UNKNOWN;
	keep_path(&p->path, &p->link, path);
}

static void take_directory(void *ctx, int dir, const char *path)
{
	struct identities *ids = ctx;
	struct place *p;
	struct stat st;

	if (fstat(dir, &st))
		return;
	p = place_of(ids, st.st_ino);
	p->unsure = false;
	keep_path(&p->path, &p->link, path);
}

uint64_t identities_walk(struct identities *ids, int dir)
{
	struct cgroup_walk w = {.take = take_directory,
				.ctx = ids,
				.dirs_most = SETS * WAYS / 2,
				.depth_most = DEPTH_MOST};

	ids->unified = true; /* /proc has other pids: identify workloads only by cgroup id */
	cgroup_walk(&w, dir);
	return w.over;
}

static bool is_of(const struct proc *p, const struct process_key *of)
{
	return p->of.pid == of->pid && p->of.start_ns == of->start_ns;
}

/*
 * Returns the entry of a process. Frees the entry of an earlier process that had the same pid.
 * Returns NULL if there is no room.
 */
static struct proc *proc_of(struct identities *ids, const struct process_key *of)
{
	struct proc *p = pids_find(&ids->procs, of->pid);

	if (p && is_of(p, of))
		return p;
	if (p)
		free(p->path);
	else
		p = pids_add(&ids->procs, of->pid);
	if (p)
		*p = (struct proc){.of = *of};
	else
		ids->counts.lost++;
	return p;
}

void identities_gone(struct identities *ids, const struct process_key *of)
{
	struct proc *p = pids_find(&ids->procs, of->pid);

	if (!p || !is_of(p, of))
		return;
	free(p->path);
	pids_remove(&ids->procs, p);
}

static void inherit(struct identities *ids, struct proc *p, uint32_t parent)
{
	const struct proc *from = pids_find(&ids->procs, parent);

	if (p->path || !from || !from->path)
		return;
	p->path = strdup(from->path);
	p->link = from->link;
}

/* Counts a read at t_ns, or returns false if there were already `most` reads in that second. */
static bool budget_take(struct budget *b, uint64_t t_ns, uint64_t most)
{
	if (t_ns / SECOND_NS != b->second) {
		b->second = t_ns / SECOND_NS;
		b->used = 0;
	}
	return b->used++ < most;
}

/* If v1 is mounted, reads a process's cgroup path after each exec, and every AGAIN_NS. */
static void read_proc(struct identities *ids, struct proc *p, uint64_t t_ns)
{
	char text[8192], path[CGROUP_PATH_LEN];

	p->read_ns = t_ns;
	if (!read_cgroup(ids, p->of.pid, text, sizeof(text)))
		return;
	most_telling((struct span){text, strlen(text)}, path, sizeof(path));
	if (!p->path || strcmp(p->path, path))
		keep_path(&p->path, &p->link, path);
	p->settled = true;
}

static bool is_due(struct identities *ids, const struct proc *p, uint64_t t_ns)
{
	return t_ns > p->read_ns + AGAIN_NS && budget_take(&ids->again, t_ns, AGAIN_MOST);
}

static void take_fork(struct identities *ids, const struct fork_record *r)
{
	struct proc *p = proc_of(ids, &r->subject);

	if (!p)
		return;
	p->cgroup_id = r->cgroup_id;
	if (!ids->unified)
		inherit(ids, p, r->parent);
}

/* If v1 is mounted, reads the cgroup path at exec: short programs end before the next scan. */
static void take_exec(struct identities *ids, const struct exec_record *r)
{
	struct proc *p = proc_of(ids, &r->subject);

	if (!p)
		return;
	p->cgroup_id = r->cgroup_id;
	p->execs = r->execs;
	p->settled = false;
	if (ids->unified)
		return;
	if (budget_take(&ids->starting, r->h.t_ns, READS_MOST))
		read_proc(ids, p, r->h.t_ns);
	else
		ids->counts.skipped++;
}

static void take_moved(struct identities *ids, const struct cgroup_path_record *r, const char *path)
{
	struct proc *p = pids_find(&ids->procs, r->pid);

	if (ids->unified || !p)
		return;
	/* A process moves in one hierarchy at a time: keep its most specific path. */
	if (!p->path || path_kind(path) <= path_kind(p->path))
		keep_path(&p->path, &p->link, path);
	p->settled = false;
}

static void take_cgroup(struct identities *ids, const struct cgroup_path_record *r)
{
	char path[CGROUP_PATH_LEN];
	struct place *p;

	array_copy(path, sizeof(path), r->path);
	ids->counts.told++;
	if (r->pid) {
		take_moved(ids, r, path);
	} else if (!r->hierarchy && ids->unified) {
		p = place_of(ids, r->id);
		p->unsure = false;
		keep_path(&p->path, &p->link, path);
	}
}

void identities_take(struct identities *ids, const struct record *h)
{
	switch (h->kind) {
	case RECORD_FORK:
		take_fork(ids, (const void *)h);
		break;
	case RECORD_EXEC:
		take_exec(ids, (const void *)h);
		break;
	case RECORD_CGROUP:
		take_cgroup(ids, (const void *)h);
		break;
	}
}

static const struct identity *known_of(struct identities *ids, struct link *link, const char *path,
				       const struct member *m)
{
	struct known *k = link->k;

	if (path && *path && k && k->id.serial == link->serial) {
		known_refresh(&ids->known, k, m);
	} else {
		ids->counts.unresolved += !path;
		k = known_find(&ids->known, path ? path : "", m);
	}
	*link = (struct link){k, k->id.serial};
	return &k->id;
}

static const struct identity *of_place(struct identities *ids, uint64_t cgroup_id,
				       const struct member *m)
{
	struct place *place = place_of(ids, cgroup_id);

	find_place(ids, place, m->pid, m->t_ns);
	return known_of(ids, &place->link, place->path, m);
}

/* `p` caches a process's cgroup and path. If the table is full, `p` is a temporary entry. */
static const struct identity *of_record(struct identities *ids, struct proc *p,
					const struct process_record *r)
{
	bool over = r->g.flags & PROC_FINAL;
	char comm[COMM_LEN];
	struct member m = {.pid = over ? 0 : r->subject.pid, .comm = comm, .t_ns = r->h.t_ns};

	array_copy(comm, sizeof(comm), r->g.comm);
	m.kernel_thread = is_of_kthreadd(r->subject.pid, r->g.ppid);
	p->cgroup_id = r->g.cgroup_id;
	if (ids->unified)
		return of_place(ids, p->cgroup_id, &m);
	if (!over && (!p->settled || p->execs != r->g.execs || is_due(ids, p, r->h.t_ns)))
		read_proc(ids, p, r->h.t_ns);
	p->execs = r->g.execs;
	inherit(ids, p, r->g.ppid);
	return known_of(ids, &p->link, p->path, &m);
}

const struct identity *identity_of(struct identities *ids, const struct process_record *r)
{
	struct proc none = {.of = r->subject}, *p = proc_of(ids, &r->subject);
	const struct identity *id = of_record(ids, p ?: &none, r);

	free(none.path);
	if (r->g.flags & PROC_FINAL)
		identities_gone(ids, &r->subject);
	return id;
}

static const struct identity *of_event(struct identities *ids, struct proc *p, const char *comm,
				       __u64 t_ns)
{
	char copy[COMM_LEN], path[CGROUP_PATH_LEN];
	struct member m = {.pid = p->of.pid, .comm = copy, .t_ns = t_ns};

	array_copy(copy, sizeof(copy), comm);
	if (ids->unified && p->cgroup_id)
		return of_place(ids, p->cgroup_id, &m);
	if (!ids->unified && !p->settled)
		read_proc(ids, p, t_ns);
	else if (ids->unified && !p->path && read_unified(ids, p->of.pid, path, sizeof(path)))
		keep_path(&p->path, &p->link, path);
	return known_of(ids, &p->link, p->path, &m);
}

/* Returns the identity for an event. Creates no entry, as the event's process may have ended. */
const struct identity *identity_of_event(struct identities *ids, const struct process_key *of,
					 const char *comm, __u64 t_ns)
{
	struct proc none = {.of = *of}, *p = pids_find(&ids->procs, of->pid);
	const struct identity *id = of_event(ids, p && is_of(p, of) ? p : &none, comm, t_ns);

	free(none.path);
	return id;
}

const struct identity *identity_of_cgroup(struct identities *ids, const char *path,
					  const char *comm, __u64 t_ns)
{
	char copy[COMM_LEN];
	struct member m = {.comm = copy, .t_ns = t_ns};

	array_copy(copy, sizeof(copy), comm);
	return &known_find(&ids->known, path_kind(path) == KIND_COMM ? "" : path, &m)->id;
}
