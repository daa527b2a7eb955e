// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/counts.h"
#include "collect/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/model_records.h"
#include "collect/pressure/mount_of_file.h"
#include "collect/symbols/user_stack.h"
#include "model/pressure.h"
#include "records/record_fields.h"

#define RECORD_MAX 8192

/*
 * Finds the last byte of each text field, by kind of record. end_texts() sets these bytes to NUL,
 * because a hostile file may lack the NUL.
 */
static void find_texts(struct collector *c)
{
	for (size_t i = 0; i < record_fields_count && i < RECORD_KINDS_MAX; i++) {
		const struct record_fields *r = &record_fields[i];
		size_t n = 0;

		for (size_t k = 0; k < r->fields && n < RECORD_TEXTS_MAX; k++)
			if (r->field[k].type == VALUE_TEXT)
				c->text_end[i][n++] = r->field[k].offset + r->field[k].size - 1;
	}
	c->knows_texts = true;
}

static void end_texts(struct collector *c, const struct record_fields *r, unsigned char *copy)
{
	const __u16 *end = c->text_end[r - record_fields];

	if (!c->knows_texts)
		find_texts(c);
	for (size_t i = 0; i < RECORD_TEXTS_MAX && end[i]; i++)
		copy[end[i]] = 0;
}

/* Returns the fields of a kind of record, or NULL if this version does not know the kind. */
static const struct record_fields *fields_of(__u32 kind)
{
	for (size_t i = 0; i < record_fields_count && i < RECORD_KINDS_MAX; i++)
		if (record_fields[i].kind == kind)
			return &record_fields[i];
	return NULL;
}

/*
 * Returns whether a record of this kind carries a user stack or the names in one. Only live sources
 * send these records. No recording contains them, and they have no text fields to end.
 */
static bool is_of_stacks(__u32 kind)
{
	return kind == RECORD_STACK || kind == RECORD_WALK || kind == RECORD_PYTHON_CODE;
}

/* Returns whether `h` is a record of is_of_stacks() that has the full length of its kind. */
static bool is_stack(const struct record *h)
{
	return (h->kind == RECORD_STACK && h->len == sizeof(struct stack_record)) ||
	       (h->kind == RECORD_WALK && h->len == sizeof(struct walk_record)) ||
	       (h->kind == RECORD_PYTHON_CODE && h->len == sizeof(struct python_code_record));
}

static bool is_whole(const struct record *h, const struct record_fields *r)
{
	return r ? h->len == r->len || (r->short_len && h->len == r->short_len) : is_stack(h);
}

/* Writes a record with its unknown fields, unless these may hold redacted or withheld data. */
static int record(struct collector *c, const struct record *h)
{
	struct record *copy = (struct record *)c->copy;

	memcpy(copy, h, h->len);
	if (c->redaction) {
		redact_record(c->redaction, copy);
	} else if (c->extra && c->extra_of == h->kind && !c->withholding.on) {
		copy->extra = c->extra;
		memcpy(c->copy + h->len, c->unknown, c->extra);
	}
	return recorder_take(c->rec, copy);
}

/* Adds a record to the ring in memory, after the model has taken it. */
static void add_to_ring(struct collector *c, const struct record *h)
{
	struct record *copy = (struct record *)c->copy;

	if (c->redaction) {
		memcpy(copy, h, h->len);
		redact_record(c->redaction, copy);
		h = copy;
	}
	record_ring_take(c->ring, h);
}

static int pass_on(struct collector *c, const struct record *h)
{
	_Alignas(8) unsigned char copy[RECORD_MAX];
	int err;

	if (c->withholding.on && h->len <= sizeof(copy)) {
		memcpy(copy, h, h->len);
		h = (const struct record *)copy;
		withhold(&c->withholding, c->m, (struct record *)copy);
	}
	if (c->rec) {
		err = record(c, h);
		if (err)
			c->rec_error = err;
	}
	err = model_take(c->m, h);
	if (c->ring)
		add_to_ring(c, h);
	return err;
}

int collector_pass(struct collector *c, const struct record *h)
{
	return pass_on(c, h);
}

/* A consumer that redacts records before it sends them to another one. */
struct redacting_sink {
	const struct redaction *redaction;
	const struct sink *to;
};

static int take_redacted(void *ctx, const struct record *h)
{
	const struct redacting_sink *r = ctx;
	_Alignas(8) unsigned char copy[RECORD_MAX];

	memcpy(copy, h, h->len);
	redact_record(r->redaction, (struct record *)copy);
	return r->to->take(r->to->ctx, (const struct record *)copy);
}

int collector_tell(void *ctx, const struct sink *sink)
{
	struct collector *c = ctx;
	struct redacting_sink redacting = {.redaction = c->redaction, .to = sink};
	const struct sink redacted = {.take = take_redacted, .ctx = &redacting};

	return retell(c->m, c->redaction ? &redacted : sink);
}

static int name_process(struct collector *c, const struct process_record *r)
{
	struct names_record names = {.h = {RECORD_NAMES, sizeof(names), r->h.t_ns}};
	const struct subject *s = model_find(c->m, &r->subject);

	names.subject = r->subject;
	/* after exec, the old program's name is wrong: an empty name replaces it in the model */
	if (!names_find(&c->names, r, &names) && !(s && s->exe))
		return 0;
	if (!names.cgroup[0] && s && s->cgroup)
		snprintf(names.cgroup, sizeof(names.cgroup), "%s", s->cgroup);
	/* a process that ended had the command line that it had after its last exec */
	if (!names.command[0] && s && s->command && s->now.g.execs == s->named_execs)
		snprintf(names.command, sizeof(names.command), "%s", s->command);
	return pass_on(c, &names.h);
}

/*
 * Looks up the names of a process again if its exec record arrives late. A process record had
 * already counted the exec. The names were then looked up without the path, which only the exec
 * record has.
 */
static int take_exec(struct collector *c, const struct exec_record *r)
{
	const struct subject *s = model_find(c->m, &r->subject);
	struct process_record at = {.h = r->h, .subject = r->subject};

	names_execed(&c->names, r);
	if (!s || s->final || s->now.g.execs != r->execs)
		return 0;
	at.g = s->now.g;
	return name_process(c, &at);
}

/*
 * Decides whether the view shows a process. Called again if the process's name or cgroup changes.
 */
static void judge_view(struct collector *c, const struct process_key *id)
{
	struct subject *s = model_find(c->m, id);

	if (s && c->filter)
		s->hidden = !filter_shows(c->filter, s->id.pid, s->now.g.flags, s->now.g.comm,
					  s->cgroup);
}

static int take_names(struct collector *c, const struct names_record *r)
{
	int err = pass_on(c, &r->h);

	judge_view(c, &r->subject);
	return err;
}

static int take_process(struct collector *c, const struct process_record *r)
{
	const struct subject *before = model_find(c->m, &r->subject);
	bool renamed = !before || before->now.g.execs != r->g.execs ||
		       before->now.g.cgroup_id != r->g.cgroup_id ||
		       before->now.g.uid != r->g.uid;
	int err;

	if (c->live && names_was_moved(&c->names, &r->subject))
		renamed = true;

	err = pass_on(c, &r->h);
	if (!err && c->live && renamed)
		err = name_process(c, r);
	judge_view(c, &r->subject);
	return err;
}

static int take_kernel_fault(struct collector *c, const struct kernel_fault_record *r)
{
	struct symbol_record sym = {.h = {RECORD_SYMBOL, sizeof(sym), r->h.t_ns}};

	sym.ip = r->ip;
	if (c->live && !model_symbol(c->m, r->ip) && symbols_find(&c->symbols, r->ip, &sym)) {
		int err = pass_on(c, &sym.h);

		if (err)
			return err;
	}
	return pass_on(c, &r->h);
}

_Static_assert(sizeof(struct stack_frame) == sizeof(struct bpf_stack_build_id), "the same layout");

/*
 * System call wrappers set up no stack frame, so the stack lacks the caller of the innermost
 * function. r->caller is a possible address of this caller. It is named if it is in the process's
 * code, but not in the function of the next frame.
 */
static bool name_caller(struct collector *c, const struct stack_record *r,
			const struct user_symbol *next, struct user_symbol *ret)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP, .ip = r->caller};

	memset(ret, 0, sizeof(*ret));
	if (!r->caller ||
	    !user_symbols_resolve(&c->user_symbols, &r->subject, &frame, false, ret) || ret->astray)
		return false;
	if (ret->name[0])
		return ret->offset && (!next || strcmp(next->name, ret->name));
	return ret->module[0] && (!next || next->address != ret->address);
}

/*
 * Code without frame pointers breaks the chain of frames. An address outside of the process's code
 * ends the stack, because all frames behind it are random. The innermost frame is always right.
 */
static size_t name_frames(struct collector *c, const struct stack_record *r,
			  struct user_symbol *named)
{
	size_t n = r->frames < STACK_FRAMES ? r->frames : STACK_FRAMES;

	for (size_t i = 0; i < n; i++) {
		struct bpf_stack_build_id frame;

		memcpy(&frame, &r->frame[i], sizeof(frame));
		user_symbols_resolve(&c->user_symbols, &r->subject, &frame, !i, &named[i]);
		if (i && named[i].astray)
			return i;
	}
	return n;
}

static int pass_made(void *ctx, const struct record *h)
{
	return pass_on(ctx, h);
}

/* Ends a list of frames, and asks for their source lines. */
static int end_list(struct collector *c, struct frame_lister *list)
{
	int err = frame_lister_end(list);

	if (!err && c->want_lines && list->nr_code)
		c->want_lines(c->lines_ctx, &list->r.subject, list->r.stack, list->code,
			      list->nr_code);
	return err;
}

/* Sends the names of a stack, and then the list of its frames. */
static int send_stack(struct collector *c, struct frames_record *frames,
		      const struct user_symbol *const *told, size_t n)
{
	const struct sink sink = {.take = pass_made, .ctx = c};
	struct frame_lister list;
	bool room = true;
	size_t at = 0;
	int err;

	for (size_t i = 0; i < n && room; i++)
		room = walk_names_add(frames, &at, told[i]);
	err = pass_on(c, &frames->h);
	frame_lister_begin(&list, &sink, frames->h.t_ns, &frames->subject, frames->stack);
	for (size_t i = 0; i < n; i++)
		frame_lister_add_symbol(&list, told[i]);
	return err ? err : end_list(c, &list);
}

/* Names the frames of a stack, if the process is alive or its mappings are known. */
static int take_stack(struct collector *c, const struct stack_record *r)
{
	struct frames_record frames = {.h = {RECORD_FRAMES, sizeof(frames), r->h.t_ns}};
	const struct user_symbol *told[STACK_FRAMES + 1];
	struct user_symbol named[STACK_FRAMES], caller;
	size_t n, n_told = 0;

	if (!c->live || !c->names_stacks)
		return 0;
	if (!withholding_shows(&c->withholding, c->m, &r->subject)) {
		c->withholding.records++;
		return 0;
	}
	frames.subject = r->subject;
	frames.stack = r->stack;
	n = name_frames(c, r, named);
	for (size_t i = 0; i < n; i++) {
		told[n_told++] = &named[i];
		if (!i && name_caller(c, r, n > 1 ? &named[1] : NULL, &caller))
			told[n_told++] = &caller;
	}
	if (user_stack_may_be_short(named, n, STACK_FRAMES))
		frames.flags |= FRAMES_SHORT;
	if (user_symbols_missed(&c->user_symbols, &r->subject))
		frames.flags |= FRAMES_UNREAD;
	frames.end = r->end;
	return send_stack(c, &frames, told, n_told);
}

/*
 * Names the frames of a stack that was walked with unwind tables. Each of its addresses is in code.
 */
static int take_walk(struct collector *c, const struct walk_record *r)
{
	struct frames_record frames = {.h = {RECORD_FRAMES, sizeof(frames), r->h.t_ns}};
	const struct sink sink = {.take = pass_made, .ctx = c};
	struct frame_lister list;
	int err;

	if (!c->live || !c->names_stacks)
		return 0;
	if (!withholding_shows(&c->withholding, c->m, &r->subject)) {
		c->withholding.records++;
		return 0;
	}
	if (!c->walk_names)
		c->walk_names = calloc(1, sizeof(*c->walk_names));
	if (!c->walk_names)
		return -ENOMEM;
	c->walk_names->place = c->walk_place;
	c->walk_names->ctx = c->walk_ctx;
	frames.subject = r->subject;
	frames.stack = r->stack;
	walk_names_fill(c->walk_names, &c->user_symbols, &c->python_codes, r, &frames);
	err = pass_on(c, &frames.h);
	frame_lister_begin(&list, &sink, r->h.t_ns, &r->subject, r->stack);
	walk_names_list(c->walk_names, &c->python_codes, &list);
	return err ? err : end_list(c, &list);
}

/* After the record of an OOM kill, sends records that explain the kill. */
static int take_oom(struct collector *c, struct oom_record *r)
{
	struct sink sink = {.take = pass_made, .ctx = c};

	return c->live ? oom_scenes_take(&c->oom, c->m, r, &sink) : pass_on(c, &r->h);
}

/* On SIGBUS, measures the mapped file's file system, which may have filled up since a scan. */
static int take_signal(struct collector *c, const struct signal_record *r)
{
	struct sink sink = {.take = pass_made, .ctx = c};
	int err = 0;

	if (c->live && r->signal == SIGBUS && r->file.flags & FILE_KNOWN)
		err = mount_of_file(&c->names, &r->subject, r->file_device, &sink);
	return err ? err : pass_on(c, &r->h);
}

/*
 * Completes the counts of a failed call. If it found no space in a file, measures the file system
 * of the file.
 */
static int take_refused(struct collector *c, struct refused_record *r)
{
	struct sink sink = {.take = pass_made, .ctx = c};
	int err = 0;

	if (c->live) {
		counts_complete(&r->counted, r->subject.pid, c->names.foreign);
		err = mount_of_file(&c->names, &r->subject, r->space.device, &sink);
	}
	return err ? err : pass_on(c, &r->h);
}

/*
 * A tick record ends a scan. Before it, sends the usage and limits of cgroups: collect reads them
 * from cgroupfs, because no BPF program sends them.
 */
static int take_tick(struct collector *c, const struct tick_record *r)
{
	struct sink sink = {.take = pass_made, .ctx = c};
	int err = 0;

	if (c->reads_levels)
		err = cgroup_levels_read(&c->levels, c->m, r->h.t_ns, &sink);
	return err ? err : pass_on(c, &r->h);
}

/*
 * Writes a record to the recording if this version does not know its kind, or a field that it
 * names.
 */
static int carry(struct collector *c, const struct record *h)
{
	int err =
		c->rec && (!c->redaction || h->kind == RECORD_FIELD) ? recorder_take(c->rec, h) : 0;

	if (err)
		c->rec_error = err;
	return 0;
}

int collector_take(void *ctx, const struct record *h)
{
	const struct record_fields *r = fields_of(h->kind);
	_Alignas(8) unsigned char copy[RECORD_MAX];
	struct collector *c = ctx;

	_Static_assert(sizeof(struct process_record) <= RECORD_MAX, "a long record");
	_Static_assert(sizeof(struct frames_record) <= RECORD_MAX, "the longest record");
	c->unknown = (const unsigned char *)h + h->len;
	c->extra = h->extra;
	c->extra_of = h->kind;
	if (!r && !is_of_stacks(h->kind))
		return carry(c, h);
	if (!is_whole(h, r) || h->len + h->extra > sizeof(c->copy))
		return -EBADMSG;
	memcpy(copy, h, h->len);
	((struct record *)copy)->extra = 0;
	if (r)
		end_texts(c, r, copy);
	h = (const struct record *)copy;
	switch (h->kind) {
	case RECORD_PROCESS:
		return take_process(c, (const struct process_record *)copy);
	case RECORD_FORK:
		if (c->live)
			names_forked(&c->names, (const struct fork_record *)copy);
		withholding_forked(&c->withholding, (const struct fork_record *)copy);
		return 0;
	case RECORD_EXEC:
		return c->live ? take_exec(c, (const struct exec_record *)copy) : 0;
	case RECORD_PRESSURE:
	case RECORD_REPORT:
		return 0; /* only `export` uses these records, in export_take.c */
	case RECORD_CGROUP:
		if (c->live)
			names_cgroup(&c->names, (const struct cgroup_path_record *)copy);
		return 0;
	case RECORD_NAMES:
		return take_names(c, (const struct names_record *)copy);
	case RECORD_KERNEL_FAULT:
		return take_kernel_fault(c, (const struct kernel_fault_record *)copy);
	case RECORD_SIGNAL:
		return take_signal(c, (const struct signal_record *)copy);
	case RECORD_OOM:
		return take_oom(c, (struct oom_record *)copy);
	case RECORD_REFUSED:
		return take_refused(c, (struct refused_record *)copy);
	case RECORD_TICK:
		return take_tick(c, (const struct tick_record *)copy);
	case RECORD_STACK:
		return take_stack(c, (const struct stack_record *)copy);
	case RECORD_WALK:
		return take_walk(c, (const struct walk_record *)copy);
	case RECORD_PYTHON_CODE:
		return c->live ? python_codes_take(&c->python_codes,
						   (const struct python_code_record *)copy)
			       : 0;
	}
	return pass_on(c, h);
}

void collector_free(struct collector *c)
{
	names_free(&c->names);
	symbols_close(&c->symbols);
	oom_scenes_close(&c->oom);
	if (c->reads_levels)
		cgroup_levels_close(&c->levels);
	if (c->names_stacks)
		user_symbols_close(&c->user_symbols);
	python_codes_free(&c->python_codes);
	free(c->walk_names);
}
