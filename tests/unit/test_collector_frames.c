// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which frames a collector sends for a user stack: where a broken stack ends, when the
 * possible caller of the innermost function is added, and what is called in which order. The
 * functions of addresses come from a table.
 */
#include "failing_memory.h"

#include "played_collector.h"

static struct frames_record *last_frames(void)
{
	return (struct frames_record *)kept;
}

static void begin_stacks(void)
{
	begin(true);
	c.names_stacks = true;
}

static void knows(uint64_t ip, bool innermost, const char *name, const char *module,
		  uint64_t offset)
{
	struct played_symbol *s = &symbol[symbols++];

	*s = (struct played_symbol){.ip = ip, .innermost = innermost};
	snprintf(s->symbol.name, sizeof(s->symbol.name), "%s", name);
	snprintf(s->symbol.module, sizeof(s->symbol.module), "%s", module);
	s->symbol.offset = offset;
	s->symbol.address = ip + 0x1000;
}

/* Makes a record of a stack of up to three frames that are given by address; 0: no frame. */
static void make_stack(uint64_t a, uint64_t b, uint64_t d)
{
	const uint64_t ip[] = {a, b, d};

	make(RECORD_STACK, sizeof(r.stack));
	r.stack.stack = 7;
	for (size_t i = 0; i < 3 && ip[i]; i++) {
		struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP, .ip = ip[i]};

		memcpy(&r.stack.frame[i], &frame, sizeof(frame));
		r.stack.frames++;
	}
}

#define BEGIN_LIST "begin:10/7/2000000000"
#define SENT	   "record:frames keep:frames " BEGIN_LIST

static void test_stack(void)
{
	begin_stacks();
	knows(1, true, "inner", "app", 4);
	knows(2, false, "middle", "app", 4);
	knows(3, false, "outer", "app", 4);
	make_stack(1, 2, 3);
	r.stack.end = 5;
	takes(&r, 0, "ends:outer/3 " SENT " add:inner add:middle add:outer list_end",
	      "a stack of three frames");
	is_str(last_frames()->text, "(inner)(middle)(outer)", "its functions");
	ok(last_frames()->subject.pid == 10 && last_frames()->stack == 7 &&
		   last_frames()->end == 5 && !last_frames()->flags &&
		   last_frames()->h.t_ns == 2 * SECOND &&
		   last_frames()->h.len == sizeof(struct frames_record),
	   "its other fields");
	is_short = true;
	takes(&r, 0, "ends:outer/3 " SENT " add:inner add:middle add:outer list_end",
	      "a stack that may be incomplete");
	is_u64(last_frames()->flags, FRAMES_SHORT, "its flag");
	missed = true;
	collector_take(&c, &r.h);
	is_u64(last_frames()->flags, FRAMES_SHORT | FRAMES_UNREAD, "mappings were not read");
	is_short = false;
	collector_take(&c, &r.h);
	is_u64(last_frames()->flags, FRAMES_UNREAD, "not read, but complete");
	room = 2;
	takes(&r, 0, "ends:outer/3 " SENT " add:inner add:middle add:outer list_end",
	      "a text with room for two functions");
	is_str(last_frames()->text, "(inner)(middle)", "has two; all are listed");
	room = 0;
	collector_take(&c, &r.h);
	is_str(last_frames()->text, "", "a text without room");
	room = 3;
	make_stack(0, 0, 0);
	takes(&r, 0, "ends:/0 " SENT " list_end", "no frames");
	make_stack(1, 0, 0);
	takes(&r, 0, "ends:inner/1 " SENT " add:inner list_end", "one frame");
	end();
}

/* Stacks are named only for live sources that name stacks. */
static void test_whether(void)
{
	for (int i = 0; i < 4; i++) {
		begin(i & 1);
		c.names_stacks = i & 2;
		make_stack(0, 0, 0);
		takes(&r, 0, i == 3 ? "ends:/0 " SENT " list_end" : "", "a stack");
		make(RECORD_WALK, sizeof(r.walk));
		r.walk.stack = 7;
		takes(&r, 0, i == 3 ? "fill:111 " SENT " list:1 list_end" : "", "a walk");
		ok(!c.walk_names == (i != 3), "memory for walks");
		end();
		ok(!strstr(calls, "close_user_symbols") == !(i & 2), "opened symbols are closed");
	}
	begin_stacks();
	withholding_begin(&c.withholding, true);
	make_stack(1, 0, 0);
	takes(&r, 0, "", "a stack of another user's process");
	is_u64(c.withholding.records, 1, "counts as withheld");
	make(RECORD_WALK, sizeof(r.walk));
	takes(&r, 0, "", "a walk of another user's process");
	is_u64(c.withholding.records, 2, "counts as withheld, too");
	end();
}

/* An address outside of code ends the stack, except if it is the innermost one. */
static void test_broken_stack(void)
{
	static const struct {
		uint64_t ip[3];
		const char *want;
	} rows[] = {
		{{1, 2, 3}, "(inner)(middle)(outer)"},
		{{1, 9, 3}, "(inner)"},
		{{1, 2, 9}, "(inner)(middle)"},
		{{9, 2, 3}, "()(middle)(outer)"},
		{{9, 9, 3}, "()"},
		{{1, 4, 3}, "(inner)()(outer)"},
	};

	begin_stacks();
	knows(1, true, "inner", "app", 4);
	knows(2, false, "middle", "app", 4);
	knows(3, false, "outer", "app", 4);
	knows(4, false, "", "app", 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_stack(rows[i].ip[0], rows[i].ip[1], rows[i].ip[2]);
		is_u64(-collector_take(&c, &r.h), 0, "a stack");
		is_str(last_frames()->text, rows[i].want, "its functions");
	}
	end();
}

/* A number of frames above the maximum is cut to it. */
static void test_most_frames(void)
{
	for (uint32_t n = STACK_FRAMES - 1; n <= STACK_FRAMES + 1; n++) {
		size_t want = n < STACK_FRAMES ? n : STACK_FRAMES, got = 0;

		begin_stacks();
		make(RECORD_STACK, sizeof(r.stack));
		r.stack.frames = n;
		knows(5, true, "f", "app", 1);
		knows(5, false, "f", "app", 1);
		for (int i = 0; i < STACK_FRAMES; i++) {
			struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP,
							   .ip = 5};

			memcpy(&r.stack.frame[i], &frame, sizeof(frame));
		}
		collector_take(&c, &r.h);
		for (const char *s = last_frames()->text; *s; s++)
			got += *s == 'f';
		is_u64(got, want, "number of frames");
		end();
	}
}

/*
 * The possible caller of the innermost function is a frame if it is in a function, behind its first
 * byte, and if this is not the function of the next frame. Without function names, it must be in a
 * file, at another address than the next frame.
 */
static void test_caller(void)
{
	static const struct {
		uint64_t caller;
		const char *name, *module;
		uint64_t offset;
		bool astray;
		uint64_t next; /* address of the next frame; 0: there is none */
		const char *want, *about;
	} rows[] = {
		{0, "helper", "app", 4, false, 2, "(inner)(middle)", "no address"},
		{6, "helper", "app", 4, false, 2, "(inner)(helper)(middle)", "another function"},
		{6, "helper", "app", 0, false, 2, "(inner)(middle)",
		 "the first byte of a function"},
		{6, "helper", "app", 1, false, 2, "(inner)(helper)(middle)", "the second byte"},
		{6, "middle", "app", 4, false, 2, "(inner)(middle)",
		 "the function of the next frame"},
		{6, "middle", "app", 4, false, 0, "(inner)(middle)",
		 "the same without a next frame"},
		{6, "helper", "app", 0, false, 0, "(inner)", "a first byte without a next frame"},
		{6, "helper", "app", 4, true, 2, "(inner)(middle)", "an address outside of code"},
		{6, "", "app", 0, false, 2, "(inner)()(middle)", "a file without function names"},
		{6, "", "app", 0, false, 0, "(inner)()", "the same without a next frame"},
		{2, "", "app", 0, false, 2, "(inner)(middle)", "the address of the next frame"},
		{6, "", "", 0, false, 2, "(inner)(middle)", "an unknown address"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_stacks();
		/* the first entry of an address is used */
		knows(1, true, "inner", "app", 4);
		if (rows[i].caller != 2)
			knows(2, false, "middle", "app", 4);
		knows(rows[i].caller ?: 6, false, rows[i].name, rows[i].module, rows[i].offset);
		symbol[symbols - 1].symbol.astray = rows[i].astray;
		make_stack(1, rows[i].next, 0);
		r.stack.caller = rows[i].caller;
		collector_take(&c, &r.h);
		if (rows[i].caller == 2)
			is_str(last_frames()->text, "(inner)()", rows[i].about);
		else
			is_str(last_frames()->text, rows[i].want, rows[i].about);
		end();
	}
}

static struct {
	unsigned int calls;
	uint32_t pid;
	__s32 stack;
	const struct frame_code *code;
	size_t n;
} wanted;

static void want(void *ctx, const struct process_key *subject, __s32 stack,
		 const struct frame_code *code, size_t n)
{
	wanted.calls += ctx == &wanted;
	wanted.pid = subject->pid;
	wanted.stack = stack;
	wanted.code = code;
	wanted.n = n;
}

/* Source lines are wanted after a list with frames in files, unless it could not be sent. */
static void test_lines(void)
{
	static const struct {
		size_t nr_code;
		const char *fails;
		bool wants;
		int want_err;
		const char *name;
	} rows[] = {
		{2, NULL, true, 0, "frames in files"},
		{1, NULL, true, 0, "one frame in a file"},
		{0, NULL, false, 0, "no frame in a file"},
		{2, "frame_lister_end", false, -EPIPE, "a list that cannot be sent"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int walk = 0; walk < 2; walk++) {
			begin_stacks();
			c.want_lines = want;
			c.lines_ctx = &wanted;
			memset(&wanted, 0, sizeof(wanted));
			nr_code = rows[i].nr_code;
			fails = rows[i].fails;
			knows(1, true, "inner", "app", 4);
			make_stack(1, 0, 0);
			if (walk) {
				make(RECORD_WALK, sizeof(r.walk));
				r.walk.stack = 7;
			}
			is_u64(-collector_take(&c, &r.h), -rows[i].want_err, rows[i].name);
			is_u64(wanted.calls, rows[i].wants, "lines are wanted");
			if (rows[i].wants)
				ok(wanted.pid == 10 && wanted.stack == 7 && wanted.code &&
					   wanted.n == rows[i].nr_code,
				   "of the stack");
			c.want_lines = NULL;
			is_u64(-collector_take(&c, &r.h), -rows[i].want_err, "nobody wants lines");
			is_u64(wanted.calls, rows[i].wants, "no further call");
			end();
		}
}

static bool find_place(void *ctx, __u32 generation, __u64 ip, __u8 *ret_build_id, __u64 *ret_offset)
{
	return false;
}

static void test_walk(void)
{
	const struct walk_names *names_of_walk;

	begin_stacks();
	c.walk_place = find_place;
	c.walk_ctx = &wanted;
	make(RECORD_WALK, sizeof(r.walk));
	r.walk.stack = 7;
	r.walk.end = 3;
	walked = FRAMES_SHORT;
	takes(&r, 0, "fill:111 " SENT " list:1 list_end", "a walk");
	ok(last_frames()->subject.pid == 10 && last_frames()->stack == 7 &&
		   last_frames()->flags == FRAMES_SHORT && last_frames()->end == 3 &&
		   last_frames()->h.t_ns == 2 * SECOND,
	   "the record of its frames");
	names_of_walk = c.walk_names;
	c.walk_ctx = NULL;
	takes(&r, 0, "fill:111 " SENT " list:1 list_end", "a second walk");
	ok(c.walk_names == names_of_walk, "uses the same memory");
	end();
	begin_stacks();
	calls[0] = 0;
	memory_fail_after(0);
	is_u64(-collector_take(&c, &r.h), ENOMEM, "a walk without memory for it");
	memory_recovers();
	is_str(calls, "", "nothing is sent");
	takes(&r, 0, "fill:111 " SENT " list:1 list_end", "the next time there is memory");
	end();
}

/* If the model has no memory for a stack, the error is returned after its frames were listed. */
static void test_no_memory(void)
{
	begin_stacks();
	knows(1, true, "inner", "app", 4);
	make_stack(1, 0, 0);
	calls[0] = 0;
	memory_fail_after(0);
	is_u64(-collector_take(&c, &r.h), ENOMEM, "a stack without memory for it");
	ok(memory_recovers(), "an allocation has failed");
	is_str(calls, "ends:inner/1 " SENT " add:inner", "the calls for it");
	end();
}

int main(void)
{
	test_stack();
	test_whether();
	test_broken_stack();
	test_most_frames();
	test_caller();
	test_lines();
	test_walk();
	test_no_memory();
	return tap_done();
}
