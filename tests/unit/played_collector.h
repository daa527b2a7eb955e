/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces the functions that a collector calls by functions that note their call: the recorder,
 * the ring, and all functions that look names up or measure something. The model is the real one.
 * A test includes this file once, and compares the calls for a record.
 */
#ifndef FS_TESTS_PLAYED_COLLECTOR_H
#define FS_TESTS_PLAYED_COLLECTOR_H

#include <errno.h>
#include <signal.h>

#include "collect/collector.h"
#include "collect/counts.h"
#include "collect/model_records.h"
#include "collect/pressure/mount_of_file.h"
#include "collect/symbols/user_stack.h"
#include "fixture.h"
#include "records/record_fields.h"
#include "tap.h"

#define KERNEL_IP 0xffffffff81000010ULL /* the only address in the kernel that has a name */

static struct model m;
static struct collector c;
static char calls[1024];
static int answer;		    /* of the function `fails` */
static const char *fails;	    /* name of the function that returns `answer`; NULL: none */
static bool moved;		    /* answer of names_was_moved() */
static bool found;		    /* answer of names_find() */
static struct names_record names;   /* what names_find() finds */
static struct process_record named; /* what names_find() was asked for */
/* the last record that the recorder and the ring got */
static _Alignas(8) unsigned char recorded[RECORD_BYTES_MAX], kept[RECORD_BYTES_MAX];

static inline void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void note(const char *format, ...)
{
	size_t len = strlen(calls);
	va_list ap;

	if (len)
		calls[len++] = ' ';
	va_start(ap, format);
	vsnprintf(calls + len, sizeof(calls) - len, format, ap);
	va_end(ap);
}

static inline int result(const char *function)
{
	return fails && !strcmp(fails, function) ? answer : 0;
}

static inline const char *kind_name(const struct record *h)
{
	for (size_t i = 0; i < record_fields_count; i++)
		if (record_fields[i].kind == h->kind)
			return record_fields[i].name;
	return "other";
}

int recorder_take(struct recorder *rec, const struct record *h)
{
	note("%s:%s", rec == (void *)recorded ? "record" : "?", kind_name(h));
	memcpy(recorded, h, h->len + h->extra);
	return result("recorder_take");
}

void record_ring_take(struct record_ring *ring, const struct record *h)
{
	note("%s:%s", ring == (void *)kept ? "keep" : "?", kind_name(h));
	memcpy(kept, h, h->len + h->extra);
}

bool names_find(struct names *n, const struct process_record *r, struct names_record *ret)
{
	note("find");
	named = *r;
	memcpy(ret->exe, names.exe, sizeof(ret->exe));
	memcpy(ret->cgroup, names.cgroup, sizeof(ret->cgroup));
	memcpy(ret->command, names.command, sizeof(ret->command));
	return n == &c.names && found;
}

void names_forked(struct names *n, const struct fork_record *r)
{
	note("forked:%u", n == &c.names ? r->parent : 0);
}

void names_execed(struct names *n, const struct exec_record *r)
{
	note("execed:%s", n == &c.names ? r->path : "?");
}

void names_cgroup(struct names *n, const struct cgroup_path_record *r)
{
	note("cgroup:%s", n == &c.names ? r->path : "?");
}

bool names_was_moved(struct names *n, const struct process_key *of)
{
	return n == &c.names && of->pid == 10 && moved;
}

void names_free(struct names *n)
{
	note("%s", n == &c.names ? "free_names" : "?");
}

int mount_of_file(const struct names *n, const struct process_key *process, uint64_t device,
		  const struct sink *sink)
{
	struct symbol_record made = RECORD(symbol_record, RECORD_SYMBOL, SECOND);

	note("mount:%u,%" PRIu64, n == &c.names ? process->pid : 0, device);
	made.ip = 99; /* stands for a record of the file system */
	return result("mount_of_file") ?: sink->take(sink->ctx, &made.h);
}

void counts_complete(struct counted_objects *counted, uint32_t pid, bool foreign)
{
	note("count:%u%s", pid, foreign ? ",foreign" : "");
	counted->used = 123;
}

int cgroup_levels_read(struct cgroup_levels *l, const struct model *of, uint64_t t_ns,
		       const struct sink *sink)
{
	note("levels:%" PRIu64, l == &c.levels && of == &m && sink->ctx == &c ? t_ns : 0);
	return result("cgroup_levels_read");
}

void cgroup_levels_close(struct cgroup_levels *l)
{
	note("%s", l == &c.levels ? "close_levels" : "?");
}

int oom_scenes_take(struct oom_scenes *o, const struct model *of, struct oom_record *r,
		    const struct sink *sink)
{
	note("scene:%u", o == &c.oom && of == &m ? r->subject.pid : 0);
	return result("oom_scenes_take") ?: sink->take(sink->ctx, &r->h);
}

void oom_scenes_close(struct oom_scenes *o)
{
	note("%s", o == &c.oom ? "close_oom" : "?");
}

bool symbols_find(struct symbols *s, __u64 ip, struct symbol_record *ret)
{
	note("symbol");
	strcpy(ret->symbol, "startup+0x10");
	return s == &c.symbols && ip == KERNEL_IP;
}

void symbols_close(struct symbols *s)
{
	note("%s", s == &c.symbols ? "close_symbols" : "?");
}

int python_codes_take(struct python_codes *codes, const struct python_code_record *r)
{
	note("python:%" PRIu64, codes == &c.python_codes ? (uint64_t)r->code : 0);
	return result("python_codes_take");
}

void python_codes_free(struct python_codes *codes)
{
	note("%s", codes == &c.python_codes ? "free_python" : "?");
}

int retell(const struct model *of, const struct sink *to)
{
	struct names_record r = RECORD(names_record, RECORD_NAMES, SECOND);

	note("retell:%d", of == &m);
	strcpy(r.exe, "/home/alice/server");
	return to->take(to->ctx, &r.h);
}

/* ---- stacks: the functions of addresses come from a table ---- */

struct played_symbol {
	uint64_t ip;
	bool innermost; /* whether the address is expected to be that of the innermost frame */
	struct user_symbol symbol;
};

static struct played_symbol symbol[8];
static size_t symbols;
static bool missed;	/* answer of user_symbols_missed() */
static bool is_short;	/* answer of user_stack_may_be_short() */
static size_t room;	/* number of frames for which a record has room */
static size_t nr_code;	/* number of listed frames that are in the code of files */
static uint32_t walked; /* flags that walk_names_fill() sets */

bool user_symbols_resolve(struct user_symbols *us, const struct process_key *of,
			  const struct bpf_stack_build_id *frame, bool innermost,
			  struct user_symbol *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < symbols && us == &c.user_symbols && of->pid == 10; i++)
		if (symbol[i].ip == frame->ip && frame->status == BPF_STACK_BUILD_ID_IP &&
		    symbol[i].innermost == innermost) {
			*ret = symbol[i].symbol;
			return ret->name[0] || ret->module[0];
		}
	ret->astray = true;
	return false;
}

bool user_symbols_missed(struct user_symbols *us, const struct process_key *of)
{
	return us == &c.user_symbols && of->pid == 10 && missed;
}

void user_symbols_close(struct user_symbols *us)
{
	note("%s", us == &c.user_symbols ? "close_user_symbols" : "?");
}

bool user_stack_may_be_short(const struct user_symbol *frame, size_t n, size_t most)
{
	note("ends:%s/%zu%s", n ? frame[n - 1].name : "", n, most == STACK_FRAMES ? "" : "?");
	return is_short;
}

bool walk_names_add(struct frames_record *to, size_t *at, const struct user_symbol *s)
{
	if (!room)
		return false;
	room--;
	*at += sprintf(to->text + *at, "(%s)", s->name);
	return true;
}

void walk_names_fill(struct walk_names *w, struct user_symbols *us, struct python_codes *codes,
		     const struct walk_record *walk, struct frames_record *ret)
{
	note("fill:%d%d%d", us == &c.user_symbols && codes == &c.python_codes,
	     w->place == c.walk_place, w->ctx == c.walk_ctx);
	ret->flags = walked;
	ret->end = walk->end;
}

void walk_names_list(const struct walk_names *w, struct python_codes *codes,
		     struct frame_lister *to)
{
	note("list:%d", w == c.walk_names && codes == &c.python_codes && to->r.stack);
	to->nr_code = nr_code;
}

void frame_lister_begin(struct frame_lister *l, const struct sink *sink, __u64 t_ns,
			const struct process_key *subject, __s32 stack)
{
	note("begin:%u/%d/%" PRIu64, sink->ctx == &c ? subject->pid : 0, stack, (uint64_t)t_ns);
	l->sink = sink;
	l->nr_code = 0;
	l->r.subject = *subject;
	l->r.stack = stack;
	l->r.h = (struct record){RECORD_FRAME_LIST, sizeof(l->r), t_ns};
}

void frame_lister_add_symbol(struct frame_lister *l, const struct user_symbol *s)
{
	note("add:%s", s->name);
	l->nr_code = nr_code;
}

int frame_lister_end(struct frame_lister *l)
{
	note("list_end");
	return result("frame_lister_end");
}

static inline void begin(bool live)
{
	begin_model(&m, NULL);
	c = (struct collector){
		.m = &m, .live = live, .rec = (void *)recorded, .ring = (void *)kept};
	fails = NULL;
	answer = -EPIPE;
	moved = found = missed = is_short = false;
	symbols = nr_code = walked = 0;
	room = SIZE_MAX;
	memset(&names, 0, sizeof(names));
	calls[0] = 0;
}

static inline void end(void)
{
	collector_free(&c);
	model_free(&m);
}

/* Takes a record, and compares the result and the calls. */
static inline void takes(const void *record, int want, const char *want_calls, const char *name)
{
	calls[0] = 0;
	is_u64((uint64_t)-collector_take(&c, record), (uint64_t)-want, name);
	is_str(calls, want_calls, "the calls for it");
}

/* a record that a test changes and takes */
static union {
	struct record h;
	struct process_record process;
	struct fork_record fork;
	struct exec_record exec;
	struct cgroup_path_record cgroup;
	struct kernel_fault_record fault;
	struct signal_record signal;
	struct refused_record refused;
	struct oom_record oom;
	struct tick_record tick;
	struct python_code_record python;
	struct stack_record stack;
	struct walk_record walk;
	struct names_record names;
	struct hook_record hook;
	unsigned char bytes[RECORD_BYTES_MAX + 64];
} r;

/* Makes a record of process 10 in `r`. The same members begin each record with a process. */
static inline void make(uint32_t kind, uint32_t len)
{
	memset(&r, 0, sizeof(r));
	r.h = (struct record){.kind = kind, .len = len, .t_ns = 2 * SECOND};
	r.fork.subject = (struct process_key){.pid = 10, .start_ns = 1};
}

#endif
