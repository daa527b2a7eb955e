// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: runs a program, stops it, and compares each stack with that of libdw. The last line
 * on stderr is JSON.
 *
 * Usage: oracle [-n STACKS] [-e EVERY] [-r STOPS] [-s STEPS] [-v] PROGRAM [ARGUMENT...]
 *
 * -e: stop at each EVERYth exit of a system call; 0: none. -r: STOPS random stops per second. -s:
 * STEPS single steps after each random stop.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference_stack.h"
#include "traced_space.h"

#define FRAMES_MAX  1000
#define SHOWN	    12 /* maximum number of different stacks that are printed in full */
#define THREADS_MAX 256
#define WAITS_MAX   20 /* maximum number of alarms during a single step */

struct counts {
	long stacks, frames, equal, cut, beyond, end_differs, differs, differs_unsure, deepest;
	long no_call; /* number of frames whose return address does not follow a call instruction */
	long reason[NR_STACK_ENDS];
};

struct oracle {
	long most, every, stops, steps;
	bool verbose;
	pid_t pid;
	pid_t thread[THREADS_MAX];
	size_t threads;
	long seen; /* number of system call exits */
	struct traced_space *ours;
	struct reference theirs;
	bool begun; /* true: the child runs the program */
	bool stale; /* true: the mappings changed */
	int signal; /* signal that interrupted the single steps, to be delivered */
	int shown;
	struct counts n;
};

static volatile sig_atomic_t alarmed;

static void on_alarm(int signal)
{
	alarmed = 1;
}

static void get_registers(pid_t tid, __u64 ret[UNWIND_REGISTERS])
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
		memset(&r, 0, sizeof(r));
	memcpy(ret,
	       (__u64[]){r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			 r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
	       17 * sizeof(*ret));
}

static void show(struct oracle *o, const char *what, const struct unwind_stack *s, size_t from)
{
	const struct reference *r = &o->theirs;
	size_t n = s->n > r->n ? s->n : r->n;

	if (!o->verbose || o->shown++ >= SHOWN)
		return;
	printf("%s: ours %zu frames, %s%s; libdw %zu, %s\n", what, s->n, unwind_end_name(s->end),
	       s->sure ? "" : " (by frame pointers)", r->n, r->whole ? "whole" : r->error);
	for (size_t i = from > 4 ? from - 4 : 0; i < n && i < from + 6; i++) {
		__u64 a = 0, b = 0;
		const char *mine = i < s->n ? traced_space_name(o->ours, s->frame[i].pc, &a) : "";
		const char *its = i < r->n ? traced_space_name(o->ours, r->pc[i], &b) : "";

		printf("  %3zu %s%#llx %s | %#llx %s\n", i,
		       i < s->n && s->frame[i].by_chain ? "~" : "", a, mine, b, its);
	}
}

/* Returns whether the instruction before an address is a call. */
static bool is_behind_call(struct oracle *o, __u64 pc)
{
	__u64 word;
	__u8 b[8];

	if (!traced_space_word(&o->pid, pc - sizeof(b), &word))
		return false;
	memcpy(b, &word, sizeof(b));
	if (b[3] == 0xe8) /* call with a relative address */
		return true;
	/* call through a register or memory: ff /2 with an operand of any size */
	for (int i = 1; i < 7; i++)
		if (b[i] == 0xff && (b[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* Counts frames that no call instruction made and that no signal interrupted. */
static long count_uncalled(struct oracle *o, const struct unwind_stack *s)
{
	long n = 0;

	for (size_t i = 1; i < s->n; i++) {
		/* the kernel wrote this return address for a signal handler */
		bool of_signal = i + 1 < s->n && s->frame[i + 1].interrupted;

		n += !s->frame[i].by_chain && !s->frame[i].interrupted && !of_signal &&
		     !is_behind_call(o, s->frame[i].pc);
	}
	return n;
}

/*
 * Returns whether libdw left frames out: both stacks begin and end alike. Where GCC's call frame
 * information of an epilogue is wrong, libdw takes the caller's frame pointer from the wrong frame.
 */
static bool skips_frames(const struct unwind_stack *s, const struct reference *r, size_t same)
{
	if (r->n >= s->n)
		return false;
	for (size_t i = same; i < r->n; i++)
		if (r->pc[i] != s->frame[s->n - r->n + i].pc)
			return false;
	return true;
}

static void compare(struct oracle *o, pid_t tid)
{
	static struct unwind_frame frames[FRAMES_MAX];
	struct unwind_stack s = {.frame = frames, .room = FRAMES_MAX};
	const struct reference *r = &o->theirs;
	__u64 registers[UNWIND_REGISTERS] = {};
	size_t same = 0;
	long uncalled;

	if (o->stale) {
		traced_space_update(o->ours);
		reference_update(&o->theirs, o->pid);
		o->stale = false;
	}
	get_registers(tid, registers);
	unwind_walk(&o->ours->space, CFI_X86_64, registers, 0, &s);
	reference_walk(&o->theirs, tid, registers);
	while (same < s.n && same < r->n && s.frame[same].pc == r->pc[same])
		same++;
	o->n.stacks++;
	uncalled = count_uncalled(o, &s);
	o->n.no_call += uncalled;
	if (uncalled)
		show(o, "uncalled", &s, same);
	o->n.frames += s.n;
	o->n.deepest = (long)s.n > o->n.deepest ? (long)s.n : o->n.deepest;
	if (same == s.n && same == r->n) {
		if ((s.end == STACK_END_ENTRY) == r->whole) {
			o->n.equal++;
			return;
		}
		o->n.end_differs++;
		o->n.reason[s.end]++;
		if (s.end != STACK_END_ENTRY)
			show(o, "end", &s, same);
	} else if (same == s.n && s.end != STACK_END_ENTRY) {
		/* the rest of the stack is missing for a known reason */
		o->n.cut++;
		o->n.reason[s.end]++;
		show(o, "cut", &s, same);
	} else if ((same == r->n || !r->whole || skips_frames(&s, r, same)) && !uncalled &&
		   s.sure && s.end == STACK_END_ENTRY) {
		/*
		 * libdw's stack ends early; each frame of this stack follows a call, up to the
		 * entry
		 */
		o->n.beyond++;
		o->n.reason[s.end]++;
		show(o, "beyond", &s, same);
	} else {
		o->n.differs += s.sure;
		o->n.differs_unsure += !s.sure;
		show(o, "differs", &s, same);
	}
}

static bool changes_mappings(long number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
	       number == SYS_execve || number == SYS_mremap || number == SYS_pkey_mprotect;
}

static void at_system_call(struct oracle *o, pid_t tid)
{
	struct __ptrace_syscall_info i;
	struct user_regs_struct r;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(i), &i) <= 0 ||
	    i.op != PTRACE_SYSCALL_INFO_EXIT || ptrace(PTRACE_GETREGS, tid, NULL, &r))
		return;
	if (changes_mappings(r.orig_rax))
		o->stale = true;
	if (o->begun && o->every && o->seen++ % o->every == 0 && o->n.stacks < o->most)
		compare(o, tid);
}

/* Single-steps one thread, and compares the stacks after each instruction. */
static void step(struct oracle *o, pid_t tid)
{
	for (long i = 0; i < o->steps && o->n.stacks < o->most; i++) {
		int status;
		pid_t found;

		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL))
			return;
		for (int waits = 0; (found = waitpid(tid, &status, __WALL)) < 0 && errno == EINTR;)
			/* the thread may wait for a thread that is stopped */
			if (++waits > WAITS_MAX)
				ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (found != tid || !WIFSTOPPED(status))
			return;
		if (WSTOPSIG(status) != SIGTRAP || status >> 16) {
			o->signal = status >> 16 ? 0 : WSTOPSIG(status);
			return;
		}
		o->stale = true; /* the step may have been a system call that changed mappings */
		compare(o, tid);
	}
}

static void add_thread(struct oracle *o, pid_t tid)
{
	for (size_t i = 0; i < o->threads; i++)
		if (o->thread[i] == tid)
			return;
	if (o->threads < THREADS_MAX)
		o->thread[o->threads++] = tid;
}

static void remove_thread(struct oracle *o, pid_t tid)
{
	for (size_t i = 0; i < o->threads; i++)
		if (o->thread[i] == tid)
			o->thread[i] = o->thread[--o->threads];
}

/* Handles a stop of the program. Returns the signal to continue with. */
static int at_stop(struct oracle *o, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	add_thread(o, tid);
	if (signal == (SIGTRAP | 0x80)) {
		at_system_call(o, tid);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		traced_space_free(o->ours);
		o->ours = traced_space_new(o->pid);
		o->stale = o->begun = true;
		return 0;
	}
	if (event == PTRACE_EVENT_STOP && signal == SIGTRAP && o->stops && o->begun &&
	    o->n.stacks < o->most) {
		compare(o, tid);
		o->signal = 0;
		step(o, tid);
		return o->signal;
	}
	return event ? 0 : signal;
}

static void run(struct oracle *o)
{
	int status;
	pid_t tid;

	for (;;) {
		if (alarmed && o->threads) {
			alarmed = 0;
			ptrace(PTRACE_INTERRUPT, o->thread[random() % o->threads], NULL, NULL);
		}
		if (o->n.stacks >= o->most)
			kill(o->pid, SIGKILL);
		tid = waitpid(-1, &status, __WALL);
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return;
		if (!WIFSTOPPED(status)) {
			remove_thread(o, tid);
			if (tid == o->pid)
				return;
			continue;
		}
		ptrace(PTRACE_SYSCALL, tid, NULL, at_stop(o, tid, status));
	}
}

static void begin(struct oracle *o, char **program)
{
	struct itimerval every = {};
	int status;

	o->pid = fork();
	if (!o->pid) {
		raise(SIGSTOP);
		execvp(program[0], program);
		_exit(127);
	}
	if (o->pid < 0 || waitpid(o->pid, &status, WUNTRACED) != o->pid ||
	    ptrace(PTRACE_SEIZE, o->pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			   PTRACE_O_EXITKILL)) {
		perror("oracle");
		exit(1);
	}
	o->ours = traced_space_new(o->pid);
	o->stale = true;
	kill(o->pid, SIGCONT);
	if (!o->stops)
		return;
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
	every.it_interval.tv_usec = every.it_value.tv_usec = 1000000 / o->stops;
	setitimer(ITIMER_REAL, &every, NULL);
}

static void report(const struct oracle *o, const char *program)
{
	const char *name = strrchr(program, '/');

	fprintf(stderr,
		"{\"program\": \"%s\", \"stacks\": %ld, \"mean_frames\": %.1f, \"deepest\": %ld, "
		"\"equal\": %ld, \"cut\": %ld, \"libdw_lost\": %ld, \"end_differs\": %ld, "
		"\"differs\": %ld, \"differs_unsure\": %ld, \"no_call\": %ld, "
		"\"rules\": %zu, \"files\": %zu",
		name ? name + 1 : program, o->n.stacks,
		o->n.stacks ? (double)o->n.frames / o->n.stacks : 0, o->n.deepest, o->n.equal,
		o->n.cut, o->n.beyond, o->n.end_differs, o->n.differs, o->n.differs_unsure,
		o->n.no_call, o->ours->rules.n, o->ours->files);
	for (int i = 0; i < NR_STACK_ENDS; i++)
		if (o->n.reason[i])
			fprintf(stderr, ", \"%s\": %ld", unwind_end_name(i), o->n.reason[i]);
	fprintf(stderr, "}\n");
}

int main(int argc, char **argv)
{
	struct oracle o = {.most = 1000, .every = 1};
	int option;

	elf_version(EV_CURRENT);
	while ((option = getopt(argc, argv, "+n:e:r:s:v")) != -1) {
		long n = optarg ? atol(optarg) : 0;

		switch (option) {
		case 'n':
			o.most = n;
			break;
		case 'e':
			o.every = n;
			break;
		case 'r':
			o.stops = n;
			break;
		case 's':
			o.steps = n;
			break;
		case 'v':
			o.verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc)
		return 2;
	begin(&o, argv + optind);
	run(&o);
	report(&o, argv[optind]);
	traced_space_free(o.ours);
	reference_close(&o.theirs);
	return o.n.differs > 0;
}
