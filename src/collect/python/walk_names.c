// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/walk_names.h"

#include <stdio.h>
#include <string.h>

#include "collect/python/walk_order.h"
#include "collect/symbols/user_stack.h"

static bool add_line(struct frames_record *r, size_t *at, char *line)
{
	int n;

	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = '?'; /* a newline in a name would begin a new frame */
	n = snprintf(r->text + *at, sizeof(r->text) - *at, "%s%s", *at ? "\n" : "", line);
	if (n < 0 || *at + n >= sizeof(r->text)) {
		r->text[*at] = 0;
		return false;
	}
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

static bool is_told(const struct walk_names *w, size_t first_untold, size_t i)
{
	return !w->merge.has_python || i < first_untold || i > w->merge.last_host ||
	       !is_interpreter(&w->native[i]);
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

void walk_names_fill(struct walk_names *w, struct user_symbols *us, struct python_codes *codes,
		     const struct walk_record *unordered, struct frames_record *ret)
{
	const struct walk_record *r = &w->ordered;
	__u64 bits[WALK_FRAMES / 64] = {};
	struct python_line_name p;
	size_t first_untold, n, at = 0;
	bool room = true;

	w->gap = walk_order(unordered, &w->ordered);
	n = name_native(w, us, r, bits);
	python_merge(r, bits, &w->merge);
	first_untold = find_untold(w);
	for (size_t i = 0; i < w->merge.n && room; i++) {
		const struct merged_frame *f = &w->merge.frame[i];

		switch (f->kind) {
		case MERGED_NATIVE:
			if (w->gap && f->at == w->gap)
				room = add_line(ret, &at, (char[]){"[more native frames]"});
			if (is_told(w, first_untold, f->at))
				room = walk_names_add(ret, &at, &w->native[f->at]);
			break;
		case MERGED_PYTHON:
			if (python_codes_find(codes, &r->subject, &r->python[f->at], &p))
				room = add_python(ret, &at, &p);
			else
				room = add_line(ret, &at, (char[]){"[python]"});
			break;
		case MERGED_GAP:
			room = add_line(ret, &at, (char[]){"[more Python frames]"});
			break;
		}
	}
	put_flags(w, n, r, ret);
	if (!room) {
		ret->flags |= FRAMES_SHORT;
		ret->end = STACK_END_TOO_DEEP;
	}
}
