// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a session adds source lines to the frames of stacks. The helper process is the real
 * one, and reads the debug information of this program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/symbols/user_files.h"
#include "fixture.h"
#include "lines/libdw.h"
#include "mapped_program.h"
#include "model/frame_list.h"
#include "render/text/empty_renderer.h"
#include "session/session_lines.h"
#include "tap.h"

static struct program program;
static char *app, *plain;
static struct process_key self;
static struct options options;
static struct session s;
static bool has_libdw;
static uint64_t played_ns;     /* CLOCK_MONOTONIC; 0: the real one */
static uint64_t played_cpu_ns; /* then also the CPU time of the helper */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	uint64_t t_ns = clock == CLOCK_MONOTONIC ? played_ns : played_cpu_ns;

	if (!played_ns || (clock != CLOCK_MONOTONIC && clock >= 0))
		return syscall(SYS_clock_gettime, clock, ret);
	*ret = (struct timespec){t_ns / SECOND, t_ns % SECOND};
	return 0;
}

/* Returns the address in its caller at which it was called. */
__attribute__((noinline)) static const char *here(void)
{
	return __builtin_extract_return_addr(__builtin_return_address(0));
}

enum { INLINED_LINE = __LINE__ + 3 };
__attribute__((always_inline)) static inline const char *inlined(void)
{
	const char *at = here();

	__asm__ volatile("" : "+r"(at)); /* the call is not the last instruction */
	return at;
}

enum { CALL_LINE = __LINE__ + 3 };
__attribute__((noinline)) static const char *function(void)
{
	const char *at = inlined();

	__asm__ volatile("nop" : "+r"(at));
	return at;
}

enum { PLAIN_LINE = __LINE__ + 3 };
__attribute__((noinline)) static const char *caller(void)
{
	const char *at = here();

	__asm__ volatile("" : "+r"(at));
	return at;
}

static void begin(void)
{
	s = (struct session){.o = &options};
	begin_model(&s.in.m, NULL);
	s.in.collector = (struct collector){.m = &s.in.m, .live = true, .names_stacks = true};
	if (user_symbols_open(&s.in.collector.user_symbols) || loop_open(&s.loop, NULL, 0))
		exit(1);
	ok(session_lines_fd(&s) == -1 && !session_lines_wait(&s), "no lines at first");
	session_lines_begin(&s);
	ok(session_lines_fd(&s) >= 0, "the helper runs");
	ok(!session_lines_wait(&s), "nothing waits");
}

static void end(void)
{
	session_lines_end(&s);
	ok(!s.in.lines && session_lines_fd(&s) == -1, "ended");
	session_lines_end(&s);
	collector_free(&s.in.collector);
	model_free(&s.in.m);
	loop_close(&s.loop);
}

/* Sends a stack. `ip` has return addresses in this program, whose copy is mapped at `at`. */
static void put_stack(__s32 stack, const char *at, const char *const *ip, size_t n)
{
	struct stack_record r = RECORD(stack_record, RECORD_STACK, 2 * SECOND);

	r.subject = self;
	r.stack = stack;
	for (size_t i = 0; i < n; i++) {
		struct bpf_stack_build_id frame = {.status = BPF_STACK_BUILD_ID_IP};

		/* the innermost frame has made no call: its address is that of an instruction */
		frame.ip = (unsigned long)at + program_offset(&program, ip[i]) - !i;
		memcpy(&r.frame[r.frames++], &frame, sizeof(frame));
	}
	is_u64(collector_take(&s.in.collector, &r.h), 0, "a stack");
}

static const struct frames *frames_of(__s32 stack)
{
	return model_frames(&s.in.m, &self, stack);
}

static void is_frame(__s32 stack, size_t i, const char *name, unsigned int line, int flags)
{
	size_t n = frame_list_count(frames_of(stack));
	const struct user_frame *f = i < n ? frame_list_at(frames_of(stack), i) : NULL;
	const char *slash = f && f->file ? strrchr(f->file, '/') : NULL;

	if (!ok(f != NULL, "frame %zu of %zu", i, n))
		return;
	is_str(f->function, name, "function");
	is_str(slash ? slash + 1 : f->file, line ? "test_session_lines.c" : NULL, "its file");
	ok(f->line == line && f->flags == flags && f->kind == FRAME_NATIVE,
	   "line %u of %u, flags %u, kind %u", f->line, line, f->flags, f->kind);
	is_str(f->module, "app", "module");
}

static void test_lines(void)
{
	const char *const ip[] = {caller(), function(), caller()};

	begin();
	put_stack(3, app, ip, 3);
	is_u64(frame_list_count(frames_of(3)), 3, "a list without lines is there at once");
	is_frame(3, 1, "function", 0, 0);
	if (has_libdw) {
		ok(session_lines_wait(&s), "output waits for the lines");
		for (int turn = 0; turn < 2; turn++) {
			session_lines_finish(&s);
			ok(!session_lines_wait(&s), "nothing waits");
			is_u64(frame_list_count(frames_of(3)), 4, "with the inlined function");
			is_frame(3, 0, "caller", PLAIN_LINE, 0);
			is_frame(3, 1, "inlined", INLINED_LINE, FRAME_INLINED);
			is_frame(3, 2, "function", CALL_LINE, 0);
			is_frame(3, 3, "caller", PLAIN_LINE, 0);
			ok(frame_list_count(frames_of(3)) == 4 &&
				   frame_list_at(frames_of(3), 2)->offset ==
					   frame_list_at(frames_of(3), 1)->offset,
			   "both are at one place");
			put_stack(3, app, ip, 3);
		}
		session_lines_finish(&s);
	}
	end();
}

/* Tests many stacks, of which each gets its own lines. */
static void test_many_stacks(void)
{
	const char *const one[] = {caller()}, *const other[] = {function()};
	unsigned int good = 0;

	begin();
	for (int i = 0; i < 300; i++)
		put_stack(i, app, i % 3 ? one : other, 1);
	session_lines_finish(&s);
	for (int i = 0; i < 300; i++) {
		const struct frames *f = frames_of(i);
		size_t n = frame_list_count(f);

		good += i % 3 ? n == 1 && frame_list_at(f, 0)->line == PLAIN_LINE
			      : n == 2 && frame_list_at(f, 1)->line == CALL_LINE;
	}
	is_u64(good, 300, "all have their lines");
	end();
}

/* Tests files that were closed, and files without debug information. */
static void test_stacks_without_lines(void)
{
	const char *const ip[] = {caller(), caller()};
	struct user_files *files;

	begin();
	put_stack(1, plain, ip, 1);
	ok(!session_lines_wait(&s), "no lines in a file without debug information");
	put_stack(2, app, ip, 2);
	ok(session_lines_wait(&s), "lines in the other");
	files = s.in.collector.user_symbols.files;
	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(files->f[i].module, "app")) {
			elf_symbols_close(&files->f[i].elf);
			files->f[i].serial = 0;
		}
	session_lines_finish(&s);
	ok(!session_lines_wait(&s), "a file that was closed meanwhile has no answers");
	ok(session_lines_fd(&s) >= 0, "the helper runs on");
	is_u64(frame_list_count(frames_of(2)), 2, "the list stays");
	is_frame(2, 0, "caller", 0, 0);
	end();
}

static unsigned int reports; /* number of times that events were reported */

static void count_report(struct session *of)
{
	reports += of == &s;
}

/* Events wait for the lines of their stacks, and are reported as soon as these are there. */
static void test_events_that_wait(void)
{
	const char *const ip[] = {caller(), function(), caller()};
	struct source src = {};

	begin();
	s.in.src = &src;
	s.out.renderer = &silent_renderer;
	s.out.mute = s.out.opened = true;
	s.plan.replay = "none";
	s.plan.after_events = count_report;
	reports = 0;
	session_report_urgent(&s);
	ok(!s.out.held && s.out.flushed && reports == 1, "no stack waits: events are reported");
	session_report_held(&s);
	is_u64(reports, 1, "nothing was held");
	s.out.flushed = false;
	put_stack(3, app, ip, 3);
	session_report_urgent(&s);
	ok(s.out.held && !s.out.flushed && reports == 1, "a stack waits: events are held");
	session_report_held(&s);
	ok(s.out.held && reports == 1, "they are still held");
	session_lines_finish(&s);
	session_report_held(&s);
	ok(!s.out.held && s.out.flushed && reports == 2, "the stack has its lines");
	session_report_held(&s);
	is_u64(reports, 2, "they are reported once");
	end();
}

static char *errors_of(void (*run)(void))
{
	static char text[1024];
	FILE *to = tmpfile();
	int real = dup(STDERR_FILENO);
	size_t n;

	fflush(stderr);
	dup2(fileno(to), STDERR_FILENO);
	run();
	fflush(stderr);
	dup2(real, STDERR_FILENO);
	close(real);
	rewind(to);
	n = fread(text, 1, sizeof(text) - 1, to);
	text[n] = 0;
	fclose(to);
	return text;
}

static void finish(void)
{
	session_lines_finish(&s);
}

/* Tests a helper that ended, or that has no libdw. */
static void test_helper_that_ended(void)
{
	const char *const ip[] = {caller()};
	pid_t helper = 0;
	char path[64];
	FILE *f;

	begin();
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f || fscanf(f, "%d", &helper) != 1)
		exit(1);
	fclose(f);
	put_stack(1, app, ip, 1);
	put_stack(2, app, ip, 1);
	ok(!kill(helper, SIGKILL), "the helper is killed");
	is_str(errors_of(finish),
	       "faultscope: native frames have no source lines: the process that reads debug "
	       "information has ended\n",
	       "it is told once");
	is_str(errors_of(finish), "", "and not again");
	ok(session_lines_fd(&s) == -1 && !session_lines_wait(&s), "nothing waits");
	put_stack(3, app, ip, 1);
	ok(!session_lines_wait(&s), "later stacks do not wait");
	is_frame(3, 0, "caller", 0, 0);
	end();
}

/* Maps a copy of this program that has no debug information: the name of its section is changed. */
static char *without_lines(void)
{
	static const char section[] = ".debug_line";
	char *name = NULL, *next = program.bytes, *at;
	__u8 id[BUILD_ID_BYTES];

	/* the names of sections are at the end of the file */
	while ((next = memmem(next, program.bytes + program.n - next, section, sizeof(section))))
		name = next++;

	if (name)
		name[1] = 'x';
	at = program_copy(&program, "plain", 2, id);
	if (name)
		name[1] = 'd';
	return at;
}

/* Checks whether output waits at a time after the begin, when the helper has used CPU time. */
static void waits(uint64_t after_ns, uint64_t cpu_ns, bool want, const char *name)
{
	played_ns = 1000 * SECOND + after_ns;
	played_cpu_ns = 5 * SECOND + cpu_ns;
	ok(session_lines_wait(&s) == want, "%s: %s", name, want ? "waits" : "does not wait");
}

/* Output waits 10 s at most, 2 s without progress, and until the helper has used 2 s. */
static void test_wait_times(void)
{
	const char *const ip[] = {caller(), function(), caller()};

	if (!has_libdw)
		return;
	begin();
	put_stack(3, app, ip, 3);
	waits(0, 0, true, "the begin");
	waits(2 * SECOND - 1, 0, true, "almost 2 s without progress");
	waits(2 * SECOND, 0, false, "2 s without progress");
	waits(2 * SECOND, 1, true, "a nanosecond of CPU time is progress");
	waits(4 * SECOND - 1, 1, true, "almost 2 s after it");
	waits(4 * SECOND, 1, false, "2 s after it");
	waits(4 * SECOND, 2 * SECOND - 1, true, "almost 2 s of CPU time");
	waits(4 * SECOND, 2 * SECOND, false, "2 s of CPU time");
	played_ns = 0;
	end();
	begin();
	put_stack(3, app, ip, 3);
	for (uint64_t i = 0; i < 10; i++)
		waits(i * SECOND, i, true, "a second more with progress");
	waits(10 * SECOND - 1, 10, true, "almost 10 s");
	waits(10 * SECOND, 11, false, "10 s");
	played_ns = 0;
	end();
}

int main(void)
{
	__u8 id[BUILD_ID_BYTES];
	struct libdw libdw;

	has_libdw = libdw_load(&libdw);
	self.pid = getpid();
	program_read(&program);
	app = program_copy(&program, "app", 1, id);
	plain = without_lines();
	test_lines();
	test_wait_times();
	if (has_libdw) {
		test_many_stacks();
		test_stacks_without_lines();
		test_events_that_wait();
		test_helper_that_ended();
	}
	program_forget(&program, "app", app);
	program_forget(&program, "plain", plain);
	program_free(&program);
	return tap_done();
}
