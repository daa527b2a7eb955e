// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/walk_names.h"

#include <stdio.h>
#include <string.h>

#include "collect/python/walk_order.h"
#include "collect/symbols/user_stack.h"

static bool add_line(struct frames_record *r, size_t *at, const char *line)
{
	char *to = r->text + *at;
	int n = snprintf(to, sizeof(r->text) - *at, "%s%s", *at ? "\n" : "", line);

	if (n < 0 || *at + n >= sizeof(r->text)) {
		*to = 0;
		return false;
	}
	for (char *c = to + (*at != 0); *c; c++)
		if (*c == '\n')
			*c = '?'; /* a newline in a name would begin a new frame */
	*at += n;
	return true;
}

bool walk_names_add(struct frames_record *r, size_t *at, const struct user_symbol *s)
{
	char name[USER_NAME_BYTES + USER_MODULE_BYTES + 32];
	char line[sizeof(name) + USER_MODULE_BYTES + 8];
	bool has_module = s->name[0] && s->module[0];

	user_symbol_text(s, name, sizeof(name));
	snprintf(line, sizeof(line), "%s%s%s%s", name, has_module ? " (" : "",
		 has_module ? s->module : "", has_module ? ")" : "");
	return add_line(r, at, line);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Adds a Python frame such as "load_sample (train.py:57)". The first frame of the user's own code
 * becomes the user's line.
 */
static bool add_python(struct frames_record *r, size_t *at, const struct python_line_name *p)
{
	char line[2 * PYTHON_TEXT_BYTES + 32], number[16] = "?";

	if (p->line)
		snprintf(number, sizeof(number), "%u", p->line);
	snprintf(line, sizeof(line), "%s (%s:%s)", p->name, base_name(p->file), number);
	if (!r->user_line[0] && python_file_is_users(p->file))
		snprintf(r->user_line, sizeof(r->user_line), "%.76s:%s %.76s", base_name(p->file),
			 number, p->name);
	return add_line(r, at, line);
}

static bool is_interpreter(const struct user_symbol *s)
{
	return !strncmp(s->module, "libpython3", 10) || !strncmp(s->module, "python3", 7);
}

/*
 * Returns whether a function is the interpreter's loop. Compilers may split the loop into parts,
 * such as "_PyEval_EvalFrameDefault.cold".
 */
static bool runs_python(const struct user_symbol *s)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";

	return !strncmp(s->name, loop, sizeof(loop) - 1);
}

/*
 * Names a native frame by file and offset, because the process may have ended or may run another
 * program by now.
 */
static void name_frame(struct walk_names *w, struct user_symbols *us, const struct walk_record *r,
		       size_t i)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP, .ip = r->ip[i]};
	bool interrupted = r->interrupted[i / 64] >> i % 64 & 1;
	__u64 offset;

	if (w->place && w->place(w->ctx, r->generation, r->ip[i], frame.build_id, &offset)) {
		frame.status = BPF_STACK_BUILD_ID_VALID;
		frame.offset = offset;
	}
	user_symbols_resolve(us, &r->subject, &frame, interrupted, &w->native[i]);
}

static size_t name_native(struct walk_names *w, struct user_symbols *us,
			  const struct walk_record *r, __u64 bits[WALK_FRAMES / 64])
{
	size_t n = r->frames < WALK_FRAMES ? r->frames : WALK_FRAMES;

	for (size_t i = 0; i < n; i++) {
		name_frame(w, us, r, i);
		if (runs_python(&w->native[i]))
			bits[i / 64] |= 1ULL << i % 64;
	}
	return n;
}

static bool is_libc(const struct user_symbol *s)
{
	return !strncmp(s->module, "libc.so", 7) || !strncmp(s->module, "libc-", 5) ||
	       !strncmp(s->module, "ld-", 3);
}

/*
 * Finds the interpreter's own native frames around Python frames, which are left out of the stack:
 * the frames between Python frames, and those between the innermost Python frame and an extension
 * that it called. Returns the index of the first such frame.
 */
static size_t find_untold(const struct walk_names *w)
{
	for (size_t i = w->merge.first_host; i-- > 0;)
		if (!is_interpreter(&w->native[i]))
			return is_libc(&w->native[i]) ? w->merge.first_host : i + 1;
	return w->merge.first_host;
}

static bool is_told(const struct walk_names *w, const struct merged_frame *f)
{
	if (f->kind != MERGED_NATIVE)
		return f->kind == MERGED_PYTHON;
	return !w->merge.has_python || f->at < w->first_untold || f->at > w->merge.last_host ||
	       !is_interpreter(&w->native[f->at]);
}

static void put_flags(const struct walk_names *w, size_t n, const struct walk_record *r,
		      struct frames_record *ret)
{
	size_t last = n < 2 ? n : 2;
	bool is_short = r->end != STACK_END_ENTRY;

	if (r->end == STACK_END_CHAIN_END)
		is_short = user_stack_may_be_short(w->native + n - last, last, WALK_FRAMES);
	ret->flags = is_short ? FRAMES_SHORT : 0;
	ret->end = r->end;
	ret->by_chain = r->by_chain;
}

/* Returns the line for frames that are missing before a frame; NULL: none are missing. */
static const char *missing_before(const struct walk_names *w, const struct merged_frame *f)
{
	if (f->kind == MERGED_GAP)
		return "[more Python frames]";
	return f->kind == MERGED_NATIVE && w->gap && f->at == w->gap ? "[more native frames]"
								     : NULL;
}

static bool add_frame(const struct walk_names *w, struct python_codes *codes,
		      const struct merged_frame *f, struct frames_record *ret, size_t *at)
{
	const struct walk_record *r = &w->ordered;
	struct python_line_name p;

	if (!is_told(w, f))
		return true;
	if (f->kind == MERGED_NATIVE)
		return walk_names_add(ret, at, &w->native[f->at]);
	if (python_codes_find(codes, &r->subject, &r->python[f->at], &p))
		return add_python(ret, at, &p);
	return add_line(ret, at, "[python]");
}

void walk_names_fill(struct walk_names *w, struct user_symbols *us, struct python_codes *codes,
		     const struct walk_record *unordered, struct frames_record *ret)
{
	const struct walk_record *r = &w->ordered;
	__u64 bits[WALK_FRAMES / 64] = {};
	size_t n, at = 0;
	bool room = true;

	w->gap = walk_order(unordered, &w->ordered);
	n = name_native(w, us, r, bits);
	python_merge(r, bits, &w->merge);
	w->first_untold = find_untold(w);
	for (size_t i = 0; i < w->merge.n && room; i++) {
		const char *missing = missing_before(w, &w->merge.frame[i]);

		if (missing)
			room = add_line(ret, &at, missing);
		room = room && add_frame(w, codes, &w->merge.frame[i], ret, &at);
	}
	put_flags(w, n, r, ret);
	if (user_symbols_missed(us, &r->subject))
		ret->flags |= FRAMES_UNREAD;
	if (!room) {
		ret->flags |= FRAMES_SHORT;
		ret->end = STACK_END_TOO_DEEP;
	}
}

static void list_python(struct python_codes *codes, const struct walk_record *r, size_t at,
			struct frame_lister *to)
{
	struct listed_frame f = {.kind = FRAME_PYTHON};
	struct python_line_name p;

	if (python_codes_find(codes, &r->subject, &r->python[at], &p)) {
		f.function = p.name;
		f.file = p.file;
		f.line = p.line;
		f.flags = python_file_is_users(p.file) ? FRAME_USER : 0;
	}
	frame_lister_add(to, &f);
}

void walk_names_list(const struct walk_names *w, struct python_codes *codes,
		     struct frame_lister *to)
{
	for (size_t i = 0; i < w->merge.n; i++) {
		const struct merged_frame *f = &w->merge.frame[i];
		struct listed_frame gap = {.kind = FRAME_GAP};

		gap.function = missing_before(w, f);
		if (gap.function)
			frame_lister_add(to, &gap);
		if (!is_told(w, f))
			continue;
		if (f->kind == MERGED_PYTHON)
			list_python(codes, &w->ordered, f->at, to);
		else
			frame_lister_add_symbol(to, &w->native[f->at]);
	}
}
