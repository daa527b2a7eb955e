// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a collector names the stacks of a live source. This process is the one that is watched.
 * Copies of its program are mapped as an application and as the C library.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>

#include "collect/collector.h"
#include "fixture.h"
#include "mapped_program.h"
#include "model/frame_list.h"
#include "records/stack_ends.h"
#include "tap.h"

/* Functions of the mapped programs, with unused bytes between them. They are never called. */
#define FUNCTION(name, n)                                                                          \
	__attribute__((noinline, noclone, used, aligned(128))) static int name(int x)              \
	{                                                                                          \
		return x > (n) ? (n)*name(x - 1) : (n);                                            \
	}

FUNCTION(outer, 3)
FUNCTION(middle, 5)
FUNCTION(inner, 7)
FUNCTION(_start, 11)

static struct program program;
static char *app, *libc;
static __u8 app_id[BUILD_ID_BYTES], libc_id[BUILD_ID_BYTES];
static struct process_key self;
static struct model m;
static struct collector c;

/* What the collector asked for source lines. */
static struct {
	int calls;
	__s32 stack;
	size_t n;
	__u32 index[8];
} wanted;

static void want(void *ctx, const struct process_key *subject, __s32 stack,
		 const struct frame_code *code, size_t n)
{
	wanted.calls += ctx == &wanted && subject->pid == self.pid;
	wanted.stack = stack;
	wanted.n = n;
	for (size_t i = 0; i < n && i < 8; i++)
		wanted.index[i] = code[i].index;
}

static void begin(void)
{
	begin_model(&m, NULL);
	c = (struct collector){.m = &m, .live = true, .names_stacks = true};
	c.want_lines = want;
	c.lines_ctx = &wanted;
	if (user_symbols_open(&c.user_symbols))
		exit(1);
	memset(&wanted, 0, sizeof(wanted));
}

static void end(void)
{
	collector_free(&c);
	model_free(&m);
}

static __u64 address(const char *at, const void *function)
{
	return (unsigned long)at + program_offset(&program, function);
}

static struct stack_record stack_record(__s32 stack)
{
	struct stack_record r = RECORD(stack_record, RECORD_STACK, 2 * SECOND);

	r.subject = self;
	r.stack = stack;
	return r;
}

/* Adds a frame by its address. Frames after the innermost one have return addresses. */
static void add_address(struct stack_record *r, __u64 ip)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP,
					   .ip = ip + (r->frames > 0)};

	memcpy(&r->frame[r->frames++], &frame, sizeof(frame));
}

/* Adds a frame by its file, as the kernel does. */
static void add_place(struct stack_record *r, const __u8 *build_id, const void *function)
{
	struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_VALID};

	frame.offset = program_offset(&program, function) + (r->frames > 0);
	memcpy(frame.build_id, build_id, BUILD_ID_BYTES);
	memcpy(&r->frame[r->frames++], &frame, sizeof(frame));
}

static const struct frames *frames_of(__s32 stack)
{
	return model_frames(&m, &self, stack);
}

static void is_stack(__s32 stack, const char *want_text, bool is_short, size_t listed,
		     const char *what)
{
	const struct frames *f = frames_of(stack);

	is_str(f ? f->text : NULL, want_text, what);
	ok(f && f->flags == (is_short ? FRAMES_SHORT : 0), "whether it is complete");
	is_u64(frame_list_count(f), listed, "number of listed frames");
}

static void test_stack(void)
{
	struct stack_record r = stack_record(3);

	begin();
	add_place(&r, libc_id, inner);
	add_place(&r, app_id, middle);
	add_address(&r, address(app, outer));
	r.end = STACK_END_CHAIN_END;
	is_u64(collector_take(&c, &r.h), 0, "a stack");
	is_stack(3, "inner (libc.so.6)\nmiddle (app)\nouter (app)", true, 3, "its names");
	is_u64(frames_of(3)->end, STACK_END_CHAIN_END, "why the unwind tables gave no stack");
	ok(wanted.calls == 1 && wanted.stack == 3 && wanted.n == 3, "lines are asked for once");
	ok(!wanted.index[0] && wanted.index[1] == 1 && wanted.index[2] == 2, "of each frame");
	is_str(frame_list_at(frames_of(3), 1)->function, "middle", "a listed function");
	is_str(frame_list_at(frames_of(3), 1)->module, "app", "its file");
	is_u64(frame_list_at(frames_of(3), 0)->kind, FRAME_NATIVE, "its kind");

	r = stack_record(4);
	add_place(&r, app_id, middle);
	add_place(&r, app_id, _start);
	c.want_lines = NULL;
	collector_take(&c, &r.h);
	is_stack(4, "middle (app)\n_start (app)", false, 2, "a stack down to _start");
	is_u64(wanted.calls, 1, "nobody wants lines");

	r = stack_record(5);
	collector_take(&c, &r.h);
	is_stack(5, "", true, 0, "no frames");
	r = stack_record(6);
	for (int i = 0; i < STACK_FRAMES; i++)
		add_place(&r, app_id, i % 2 ? outer : middle);
	r.frames = ~0u;
	collector_take(&c, &r.h);
	is_u64(frame_list_count(frames_of(6)), STACK_FRAMES,
	       "a number of frames that is too large");
	end();
}

/* An address outside of the code ends a stack, unless it is the innermost. */
static void test_broken_chains(void)
{
	struct stack_record r = stack_record(1);

	begin();
	add_place(&r, app_id, inner);
	add_address(&r, 16);
	add_place(&r, app_id, outer);
	collector_take(&c, &r.h);
	is_stack(1, "inner (app)", true, 1, "a random value");
	r = stack_record(2);
	add_address(&r, 16);
	add_place(&r, app_id, outer);
	collector_take(&c, &r.h);
	is_stack(2, "[unknown]\nouter (app)", true, 2, "a call to a wrong address");
	is_u64(frame_list_at(frames_of(2), 0)->kind, FRAME_UNKNOWN, "its kind");
	ok(wanted.n == 1 && wanted.index[0] == 1, "only the other has lines");
	end();
}

/* A stack of a process that has ended gets a reason for its missing names, unless names are known.
 */
static void test_ended_process(void)
{
	static const __u8 nobodys[BUILD_ID_BYTES] = {1, 2, 3};
	static struct walk_record w;
	const struct process_key gone = {.pid = self.pid, .start_ns = self.start_ns + 7};
	struct stack_record r = stack_record(1);
	bool foreign;

	w = RECORD(walk_record, RECORD_WALK, 2 * SECOND);
	w.frames = 1;
	w.stack = 2;
	w.end = STACK_END_ENTRY;
	w.ip[0] = 16;
	r.subject = w.subject = gone;
	add_place(&r, nobodys, inner);
	for (int i = 0; i < 2; i++) {
		begin();
		foreign = c.user_symbols.foreign = i;
		collector_take(&c, &r.h);
		collector_take(&c, &w.h);
		for (__s32 stack = 1; stack <= 2; stack++) {
			const struct frames *f = model_frames(&m, &gone, stack);

			is_str(f ? f->text : NULL, "[unknown]", "a stack without names");
			ok(f && !(f->flags & FRAMES_UNREAD) == foreign,
			   "whether the mappings are gone or cannot be read anyway");
		}
		end();
	}
}

static const struct {
	const char *what;
	const void *next, *caller; /* functions of the second frame and of the possible caller */
	int offset;		   /* of the possible caller in its function */
	bool told;
} callers[] = {
	{"another function", outer, middle, 3, true},
	{"the function of the next frame", outer, outer, 3, false},
	{"the first byte of a function", outer, middle, 0, true},
	{"no second frame", NULL, middle, 3, true},
};

/* The caller of a system call's wrapper is not in the chain of frames. */
static void test_callers(void)
{
	struct stack_record r;

	begin();
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		char caller[512] = "", text[600];
		struct frames_record named = {};
		size_t len = 0;
		struct user_symbol s;
		struct bpf_stack_build_id at = {.status = BPF_STACK_BUILD_ID_IP};

		r = stack_record(10 + i);
		add_place(&r, libc_id, inner);
		if (callers[i].next)
			add_place(&r, app_id, callers[i].next);
		r.caller = at.ip = address(app, callers[i].caller) + callers[i].offset;
		/* a return address at the start of a function belongs to the code before it */
		user_symbols_resolve(&c.user_symbols, &self, &at, false, &s);
		walk_names_add(&named, &len, &s);
		if (callers[i].told)
			snprintf(caller, sizeof(caller), "\n%.200s", named.text);
		snprintf(text, sizeof(text), "inner (libc.so.6)%s%s", caller,
			 callers[i].next ? "\nouter (app)" : "");
		collector_take(&c, &r.h);
		is_stack(10 + i, text, true, 1 + callers[i].told + (callers[i].next != NULL),
			 callers[i].what);
	}
	r = stack_record(20);
	add_place(&r, libc_id, inner);
	add_place(&r, app_id, outer);
	r.caller = 16;
	collector_take(&c, &r.h);
	is_stack(20, "inner (libc.so.6)\nouter (app)", true, 2, "a random value");
	end();
}

static void test_walk(void)
{
	static struct walk_record r;
	struct python_code_record code = RECORD(python_code_record, RECORD_PYTHON_CODE, SECOND);

	begin();
	r = RECORD(walk_record, RECORD_WALK, 2 * SECOND);
	r.subject = code.subject = self;
	r.stack = 7;
	r.frames = 2;
	r.end = STACK_END_ENTRY;
	r.by_chain = 1;
	r.interrupted[0] = 1;
	r.ip[0] = address(app, inner);
	r.ip[1] = address(app, outer) + 1;
	code.code = 1;
	code.first_line = 9;
	code.minor = 8;
	code.file_kind = code.name_kind = 1;
	code.name_bytes = sprintf((char *)code.name, "f");
	code.file_bytes = sprintf((char *)code.file, "a.py");
	is_u64(collector_take(&c, &code.h), 0, "a code object");
	is_u64(c.python_codes.n, 1, "is kept");
	is_u64(collector_take(&c, &r.h), 0, "a walk");
	is_stack(7, "inner (app)\nouter (app)", false, 2, "its names");
	ok(frames_of(7)->end == STACK_END_ENTRY && frames_of(7)->by_chain == 1,
	   "how it was walked");
	ok(wanted.calls == 1 && wanted.stack == 7 && wanted.n == 2, "lines are asked for");
	r.stack = 8;
	r.end = STACK_END_TOO_DEEP;
	r.pythons = 1;
	r.python[0] = (struct python_frame){1, 0, 16 | FRAME_ENDS_RUN};
	collector_take(&c, &r.h);
	is_stack(8, "inner (app)\nouter (app)\nf (a.py:9)", true, 3, "a walk with a Python frame");
	is_str(frames_of(8)->user_line, "a.py:9 f", "the user's line");
	end();
}

/* Tests when stacks are not named: in recordings, without symbols, and of other users. */
static void test_stacks_that_are_not_named(void)
{
	static struct walk_record w;
	struct stack_record r = stack_record(3);
	struct python_code_record code = RECORD(python_code_record, RECORD_PYTHON_CODE, SECOND);

	w = RECORD(walk_record, RECORD_WALK, 2 * SECOND);
	w.subject = self;
	w.stack = 4;
	for (int how = 0; how < 3; how++) {
		begin();
		c.live = how != 0;
		c.names_stacks = how != 1;
		c.withholding.on = c.withholding.foreign = how == 2;
		ok(!collector_take(&c, &r.h) && !collector_take(&c, &w.h) &&
			   !collector_take(&c, &code.h),
		   "stacks");
		ok(!frames_of(3) && !frames_of(4), "without names");
		is_u64(c.withholding.records, how == 2 ? 2 : 0, "withheld records are counted");
		is_u64(c.python_codes.n, how != 0, "code objects");
		c.names_stacks = true;
		end();
	}
	begin();
	r.h.len--;
	ok(collector_take(&c, &r.h) == -EBADMSG, "a stack that is cut");
	w.h.len++;
	ok(collector_take(&c, &w.h) == -EBADMSG, "a walk that is too long");
	code.h.len -= 8;
	ok(collector_take(&c, &code.h) == -EBADMSG, "a code object that is cut");
	end();
}

int main(void)
{
	self = (struct process_key){.pid = getpid()};
	program_read(&program);
	app = program_copy(&program, "app", 1, app_id);
	libc = program_copy(&program, "libc.so.6", 2, libc_id);
	test_stack();
	test_broken_chains();
	test_ended_process();
	test_callers();
	test_walk();
	test_stacks_that_are_not_named();
	program_forget(&program, "app", app);
	program_forget(&program, "libc.so.6", libc);
	program_free(&program);
	return tap_done();
}
