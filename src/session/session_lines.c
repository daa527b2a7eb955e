// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/session_lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/messages.h"
#include "collect/symbols/frame_lister.h"
#include "lines/line_helper.h"
#include "model/frame_list.h"
#include "probe/host_facts.h"

#define STACKS_WAITING_MAX 4096
/*
 * Limits of a wait for the helper. A time without progress is a time in which the helper used no
 * CPU time: a debuginfod server does not answer, or a disk is slow.
 */
#define WITHOUT_PROGRESS_NS 2000000000ULL
#define CPU_NS		    2000000000ULL
#define WAIT_NS		    10000000000ULL

#define ANSWERS_MAX 4096
#define LISTS_MAX   256 /* maximum number of records of a list with lines */

/* A stack whose frames wait for their source lines. */
struct waiting_stack {
	struct waiting_stack *next;
	struct process_key subject;
	__s32 stack;
	size_t n, asked, answered; /* number of questions: all, asked, and answered so far */
	struct frame_code code[];
};

/* A wait for answers. All times are in ns. */
struct lines_wait {
	__u64 begun; /* 0: nobody waits */
	__u64 progress;
	__u64 cpu_at_begin, cpu; /* CPU time of the helper */
};

/* Source lines of a frame. */
struct frame_answer {
	__u32 index; /* index of the frame in the stack */
	struct source_frame source;
	bool is_inlined;
};

struct session_lines {
	struct line_helper helper;
	bool downloads;
	struct waiting_stack *first, *last; /* the first one is being asked about */
	size_t waiting;
	struct lines_wait wait;
	/* answers about the first waiting stack, in the order of its frames */
	struct frame_answer *answer;
	size_t answers, room;
};

/* A list of frames with lines. The model drops the former list when it gets the first record. */
struct made_list {
	struct frame_list_record *r;
	size_t n, room;
};

/* Drops frames whose file has no source lines. Returns the number of frames that are left. */
static size_t choose(const struct session *s, const struct frame_code *code, size_t n,
		     struct frame_code *ret)
{
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++) {
		struct user_code_file file;

		if (user_symbols_code_file(&s->in.collector.user_symbols, &code[i].code, &file) &&
		    (file.has_lines || (s->in.lines->downloads && file.build_id_bytes)))
			ret[chosen++] = code[i];
	}
	return chosen;
}

static void want(void *ctx, const struct process_key *subject, __s32 stack,
		 const struct frame_code *code, size_t n)
{
	struct frame_code chosen[WALK_FRAMES];
	struct session *s = ctx;
	struct session_lines *l = s->in.lines;
	struct waiting_stack *w;

	n = choose(s, code, n < WALK_FRAMES ? n : WALK_FRAMES, chosen);
	if (!n || l->helper.pid <= 0 || l->waiting == STACKS_WAITING_MAX)
		return;
	w = malloc(sizeof(*w) + n * sizeof(w->code[0]));
	if (!w)
		return; /* the stack keeps its list without lines */
	*w = (struct waiting_stack){.subject = *subject, .stack = stack, .n = n};
	memcpy(w->code, chosen, n * sizeof(w->code[0]));
	if (l->last)
		l->last->next = w;
	else
		l->first = w;
	l->last = w;
	l->waiting++;
}

static void drop_first(struct session_lines *l)
{
	struct waiting_stack *w = l->first;

	l->first = w->next;
	if (!l->first)
		l->last = NULL;
	l->waiting--;
	l->answers = 0;
	free(w);
}

/* Stops the helper. Stacks keep their lists without lines. */
static void give_up(struct session *s, const char *why)
{
	struct session_lines *l = s->in.lines;

	loop_forget(&s->loop, l->helper.socket);
	line_helper_stop(&l->helper);
	while (l->first)
		drop_first(l);
	complain("native frames have no source lines: %s", why);
}

/* Asks about the first waiting stack. Returns false if the helper has ended. */
static bool ask(struct session *s)
{
	struct session_lines *l = s->in.lines;
	struct waiting_stack *w = l->first;

	while (w && w->asked < w->n) {
		struct line_question q = {.address = w->code[w->asked].code.address,
					  .serial = w->code[w->asked].code.serial};
		struct user_code_file file = {};
		int err;

		if (!user_symbols_code_file(&s->in.collector.user_symbols, &w->code[w->asked].code,
					    &file)) {
			/* the file was closed to make room for others */
			w->n = w->asked;
			break;
		}
		q.has_lines = file.has_lines;
		q.build_id_bytes = file.build_id_bytes;
		memcpy(q.build_id, file.build_id, LINE_BUILD_ID_BYTES);
		err = line_helper_ask(&l->helper, &q, file.fd);
		if (err)
			return err == -EAGAIN;
		w->asked++;
	}
	return true;
}

static int keep_list(void *ctx, const struct record *h)
{
	struct made_list *made = ctx;
	struct frame_list_record *more =
		array_grow(made->r, made->n, &made->room, LISTS_MAX, sizeof(*more));

	if (!more)
		return -ENOMEM;
	made->r = more;
	made->r[made->n++] = *(const struct frame_list_record *)h;
	return 0;
}

/* Adds a frame, and before it the functions that were inlined into it. */
static size_t add_frame(const struct session_lines *l, size_t at, size_t index,
			const struct user_frame *one, struct frame_lister *to)
{
	struct listed_frame f = {.function = one->function,
				 .file = one->file,
				 .module = one->module,
				 .offset = one->offset,
				 .line = one->line,
				 .kind = one->kind,
				 .flags = one->flags};

	for (; at < l->answers && l->answer[at].index == index; at++) {
		const struct frame_answer *a = &l->answer[at];

		/* the symbol of a function is better than its name in the debug information */
		f.function = a->is_inlined || !one->function ? a->source.function : one->function;
		f.file = a->source.file;
		f.line = a->source.line;
		f.flags = one->flags | (a->is_inlined ? FRAME_INLINED : 0);
		if (a->is_inlined)
			frame_lister_add(to, &f);
	}
	frame_lister_add(to, &f);
	return at;
}

/*
 * Lists the frames of a stack again, with their source lines. If the list has inlined functions
 * already, they are replaced.
 */
static int list_again(struct session *s, const struct waiting_stack *w)
{
	const struct frames *frames = model_frames(&s->in.m, &w->subject, w->stack);
	struct made_list made = {};
	const struct sink sink = {.take = keep_list, .ctx = &made};
	struct frame_lister list;
	size_t at = 0, index = 0;
	int err;

	if (!frame_list_count(frames) || !s->in.lines->answers)
		return 0;
	frame_lister_begin(&list, &sink, s->in.m.last_ns, &w->subject, w->stack);
	for (size_t i = 0; i < frame_list_count(frames); i++) {
		const struct user_frame *one = frame_list_at(frames, i);

		if (!(one->flags & FRAME_INLINED))
			at = add_frame(s->in.lines, at, index++, one, &list);
	}
	err = frame_lister_end(&list);
	for (size_t i = 0; i < made.n && !err; i++)
		err = collector_take(&s->in.collector, &made.r[i].h);
	free(made.r);
	return err;
}

static int keep_answer(struct session_lines *l, __u32 index, const struct line_answer *a)
{
	for (__u32 i = 0; i < a->n; i++) {
		struct frame_answer *more =
			array_grow(l->answer, l->answers, &l->room, ANSWERS_MAX, sizeof(*more));

		if (!more)
			return 0; /* the stack has no room for more inlined functions */
		l->answer = more;
		l->answer[l->answers++] = (struct frame_answer){
			.index = index, .source = a->frame[i], .is_inlined = i + 1 < a->n};
	}
	return 0;
}

/* Takes one answer. Returns 0, -EAGAIN (there is none), or another -errno if the helper ended. */
static int take(struct session *s)
{
	struct session_lines *l = s->in.lines;
	struct waiting_stack *w = l->first;
	struct line_answer a;
	int err;

	if (!w)
		return -EAGAIN;
	if (w->answered < w->n) {
		err = line_helper_take(&l->helper, &a);
		if (err)
			return err;
		if (a.lacks_libdw)
			return -ENOPKG;
		keep_answer(l, w->code[w->answered++].index, &a);
	}
	if (w->answered < w->n)
		return 0;
	err = list_again(s, w);
	drop_first(l);
	return err == -ENOMEM ? 0 : err;
}

int session_lines_work(void *ctx)
{
	struct session *s = ctx;
	struct session_lines *l = s->in.lines;
	int err = 0;

	if (!l || l->helper.pid <= 0)
		return 0;
	while (!err) {
		if (!ask(s))
			err = -EPIPE;
		if (!err)
			err = take(s);
	}
	if (err == -ENOPKG)
		give_up(s, libdw_lack());
	else if (err != -EAGAIN)
		give_up(s, "the process that reads debug information has ended");
	return 0;
}

void session_lines_begin(struct session *s)
{
	struct session_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return;
	l->downloads = s->o->debuginfod;
	if (line_helper_start(l->downloads, &l->helper)) {
		free(l);
		return;
	}
	s->in.lines = l;
	s->in.collector.want_lines = want;
	s->in.collector.lines_ctx = s;
}

int session_lines_fd(const struct session *s)
{
	return s->in.lines ? s->in.lines->helper.socket : -1;
}

static void begin_wait(struct session_lines *l)
{
	l->wait.begun = l->wait.progress = host_monotonic_ns();
	l->wait.cpu = l->wait.cpu_at_begin = line_helper_cpu_ns(&l->helper);
}

bool session_lines_wait(struct session *s)
{
	struct session_lines *l = s->in.lines;
	__u64 now, cpu;

	if (!l || !l->first) {
		if (l)
			l->wait.begun = 0;
		return false;
	}
	if (!l->wait.begun)
		begin_wait(l);
	now = host_monotonic_ns();
	cpu = line_helper_cpu_ns(&l->helper);
	if (cpu > l->wait.cpu) {
		l->wait.cpu = cpu;
		l->wait.progress = now;
	}
	return now - l->wait.progress < WITHOUT_PROGRESS_NS &&
	       cpu - l->wait.cpu_at_begin < CPU_NS && now - l->wait.begun < WAIT_NS;
}

void session_lines_finish(struct session *s)
{
	session_lines_work(s);
	if (s->in.lines)
		s->in.lines->wait.begun = 0;
	while (session_lines_wait(s)) {
		struct pollfd p = {.fd = s->in.lines->helper.socket, .events = POLLIN};

		poll(&p, 1, LINES_STEP_MS);
		session_lines_work(s);
	}
}

void session_lines_end(struct session *s)
{
	struct session_lines *l = s->in.lines;

	if (!l)
		return;
	while (l->first)
		drop_first(l);
	line_helper_stop(&l->helper);
	free(l->answer);
	free(l);
	s->in.lines = NULL;
}
