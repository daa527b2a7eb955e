// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: runs a program, stops it and its child processes, and compares each stack with that
 * of libdw. The last line on stderr is JSON.
 *
 * Usage: oracle [-n STACKS] [-e EVERY] [-r STOPS] [-s STEPS] [-t SECONDS] [-v] PROGRAM
 * [ARGUMENT...]
 *
 * -e: stop at each EVERYth exit of a system call; 0: none. -r: STOPS random stops per second. -s:
 * STEPS single steps after each random stop. -t: end the program after this time.
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
#include <time.h>
#include <unistd.h>

#include "reference_stack.h"
#include "traced_space.h"

#define FRAMES_MAX    1000
#define SHOWN	      12 /* maximum number of different stacks that are printed in full */
#define THREADS_MAX   1024
#define PROCESSES_MAX 64
#define AGAIN_US      100000
#define WAITS_MAX     20 /* maximum number of alarms during a single step */
#define TRIES_MAX     8	 /* maximum number of threads that are tried for a random stop */
#define SYSCALL_CODE  0x050f

struct counts {
	long stacks, frames, differs, differs_unsure, deepest;
	/* all frames are equal, and at least one of the walks reached the thread's entry */
	long equal;
	/* all frames are equal up to the point where libdw lost frames */
	long beyond;
	long cut;     /* all frames are equal, but outer frames are missing for a known reason */
	long no_call; /* number of frames whose return address does not follow a call instruction */
	long reason[NR_STACK_ENDS]; /* numbers of cut stacks by reason */
};

struct process {
	pid_t pid;
	struct traced_space *ours;
	struct reference theirs;
	bool stale; /* true: the mappings changed */
};

struct oracle {
	long most, every, stops, steps, seconds;
	bool verbose;
	pid_t pid; /* the first process */
	struct {
		pid_t tid;
		struct process *of;
	} thread[THREADS_MAX];
	size_t threads;
	struct process process[PROCESSES_MAX];
	long seen; /* number of system call exits */
	struct traced_files *files;
	bool begun; /* true: the child runs the program */
	int signal; /* signal that interrupted the single steps, to be delivered */
	int shown;
	time_t begun_at;
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

static void show(struct oracle *o, const struct process *p, const char *what,
		 const struct unwind_stack *s, size_t from)
{
	const struct reference *r = &p->theirs;
	size_t n = s->n > r->n ? s->n : r->n;

	if (!o->verbose || o->shown++ >= SHOWN)
		return;
	printf("%s: ours %zu frames, %s%s; libdw %zu, %s\n", what, s->n, unwind_end_name(s->end),
	       s->sure ? "" : " (by frame pointers)", r->n, r->whole ? "whole" : r->error);
	for (size_t i = from > 4 ? from - 4 : 0; i < n && i < from + 6; i++) {
		__u64 a = 0, b = 0;
		const char *mine = i < s->n ? traced_space_name(p->ours, s->frame[i].pc, &a) : "";
		const char *its = i < r->n ? traced_space_name(p->ours, r->pc[i], &b) : "";

		printf("  %3zu %s%#llx %s | %#llx %s\n", i,
		       i < s->n && s->frame[i].by_chain ? "~" : "", a, mine, b, its);
	}
}

/* Returns whether the instruction before an address is a call. */
static bool is_behind_call(struct process *p, __u64 pc)
{
	__u64 word;
	__u8 b[8];

	if (!traced_space_word(&p->pid, pc - sizeof(b), &word))
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

/*
 * Counts frames that no call instruction made and that no signal interrupted, except for the
 * innermost `same` frames, which are equal to those of libdw. Nobody calls the outermost function
 * of a goroutine.
 */
static long count_uncalled(struct process *p, const struct unwind_stack *s, size_t same)
{
	size_t end = s->end == STACK_END_ENTRY ? s->n - 1 : s->n;
	long n = 0;

	for (size_t i = same ? same : 1; i < end; i++) {
		/* the kernel wrote this return address for a signal handler */
		bool of_signal = i + 1 < s->n && s->frame[i + 1].interrupted;

		n += !s->frame[i].by_chain && !s->frame[i].interrupted && !of_signal &&
		     !is_behind_call(p, s->frame[i].pc);
	}
	return n;
}

/*
 * Returns whether libdw left frames out: its frames are in this stack, too, in the same order, and
 * both stacks end alike. Where GCC's call frame information of an epilogue is wrong, libdw takes
 * the caller's frame pointer from the wrong frame.
 */
static bool skips_frames(const struct unwind_stack *s, const struct reference *r, size_t same)
{
	size_t at = same;

	if (r->n >= s->n || r->pc[r->n - 1] != s->frame[s->n - 1].pc)
		return false;
	for (size_t i = same; i < s->n && at < r->n; i++)
		at += r->pc[at] == s->frame[i].pc;
	return at == r->n;
}

/* Returns whether the outermost frame of libdw is not in code. */
static bool is_astray(const struct process *p)
{
	const struct reference *r = &p->theirs;
	__u64 address;

	return !r->whole && r->n &&
	       !strcmp(traced_space_name(p->ours, r->pc[r->n - 1], &address), "(none)");
}

/* Counts a stack, of which the innermost `same` frames are equal to those of libdw. */
static void judge(struct oracle *o, const struct process *p, const struct unwind_stack *s,
		  size_t same, bool uncalled)
{
	const struct reference *r = &p->theirs;
	bool whole = s->end == STACK_END_ENTRY, all = same == s->n && same == r->n;

	if (all && (whole || r->whole)) {
		o->n.equal++;
	} else if (!whole && (same == s->n || (!uncalled && is_astray(p)))) {
		o->n.cut++;
		o->n.reason[s->end]++;
		show(o, p, "cut", s, same);
	} else if ((same == r->n || !r->whole || skips_frames(s, r, same)) && !uncalled &&
		   (s->sure || is_astray(p) || same == r->n) && whole) {
		/*
		 * libdw's stack ends early or outside of code; each frame of this stack follows a
		 * call, up to the entry
		 */
		o->n.beyond++;
		show(o, p, "beyond", s, same);
	} else {
		o->n.differs += s->sure;
		o->n.differs_unsure += !s->sure;
		show(o, p, "differs", s, same);
	}
}

static void compare(struct oracle *o, struct process *p, pid_t tid)
{
	static struct unwind_frame frames[FRAMES_MAX];
	struct unwind_stack s = {.frame = frames, .room = FRAMES_MAX};
	const struct reference *r = &p->theirs;
	__u64 registers[UNWIND_REGISTERS] = {};
	size_t same = 0;
	long uncalled;

	if (p->stale) {
		traced_space_update(p->ours);
		reference_update(&p->theirs, p->pid);
		p->stale = false;
	}
	get_registers(tid, registers);
	unwind_walk(&p->ours->space, CFI_X86_64, registers, 0, &s);
	reference_walk(&p->theirs, tid, registers);
	while (same < s.n && same < r->n && s.frame[same].pc == r->pc[same])
		same++;
	uncalled = count_uncalled(p, &s, same);
	o->n.stacks++;
	o->n.no_call += uncalled;
	o->n.frames += s.n;
	o->n.deepest = (long)s.n > o->n.deepest ? (long)s.n : o->n.deepest;
	if (uncalled)
		show(o, p, "uncalled", &s, same);
	judge(o, p, &s, same, uncalled);
}

static bool changes_mappings(long number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
	       number == SYS_execve || number == SYS_mremap || number == SYS_pkey_mprotect;
}

static void at_system_call(struct oracle *o, struct process *p, pid_t tid)
{
	struct __ptrace_syscall_info i;
	struct user_regs_struct r;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(i), &i) <= 0 ||
	    i.op != PTRACE_SYSCALL_INFO_EXIT || ptrace(PTRACE_GETREGS, tid, NULL, &r))
		return;
	if (changes_mappings(r.orig_rax))
		p->stale = true;
	if (o->begun && o->every && o->seen++ % o->every == 0 && o->n.stacks < o->most)
		compare(o, p, tid);
}

static void set_alarm(const struct oracle *o)
{
	struct itimerval after = {};

	after.it_value.tv_usec = o->stops ? 1000000 / o->stops : AGAIN_US;
	/* an alarm between the check and the wait has no effect, so there is a next one */
	after.it_interval.tv_usec = AGAIN_US;
	setitimer(ITIMER_REAL, &after, NULL);
}

/* Returns whether the next instruction of a stopped thread is a system call. */
static bool is_before_system_call(struct process *p, pid_t tid)
{
	struct user_regs_struct r;
	__u64 word;

	return !ptrace(PTRACE_GETREGS, tid, NULL, &r) && traced_space_word(&p->pid, r.rip, &word) &&
	       (word & 0xffff) == SYSCALL_CODE;
}

/* Single-steps one thread, and compares the stacks after each instruction. */
static void step(struct oracle *o, struct process *p, pid_t tid)
{
	for (long i = 0; i < o->steps && o->n.stacks < o->most; i++) {
		int status;
		pid_t found;

		p->stale = p->stale || is_before_system_call(p, tid);
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL))
			return;
		for (int waits = 0;
		     (found = waitpid(tid, &status, __WALL)) < 0 && errno == EINTR;) {
			/* the thread may wait for a thread that is stopped, or for a request */
			if (++waits > WAITS_MAX)
				ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
			set_alarm(o);
		}
		if (found != tid || !WIFSTOPPED(status))
			return;
		if (WSTOPSIG(status) != SIGTRAP || status >> 16) {
			o->signal = status >> 16 ? 0 : WSTOPSIG(status);
			return;
		}
		compare(o, p, tid);
	}
}

static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	pid_t pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %d", &pid) != 1)
		continue;
	if (f)
		fclose(f);
	return pid;
}

static struct process *find_process(struct oracle *o, pid_t pid)
{
	struct process *room = NULL;

	for (size_t i = 0; i < PROCESSES_MAX; i++) {
		if (o->process[i].pid == pid)
			return &o->process[i];
		if (!room && !o->process[i].pid)
			room = &o->process[i];
	}
	if (!room)
		return NULL;
	*room = (struct process){
		.pid = pid, .ours = traced_space_new(pid, o->files), .stale = true};
	return room;
}

static void forget_process(struct process *p)
{
	traced_space_free(p->ours);
	reference_close(&p->theirs);
	*p = (struct process){};
}

/* Returns the process of a thread; NULL: there is no room for it. */
static struct process *find_thread(struct oracle *o, pid_t tid)
{
	struct process *p;

	for (size_t i = 0; i < o->threads; i++)
		if (o->thread[i].tid == tid)
			return o->thread[i].of;
	p = o->threads < THREADS_MAX ? find_process(o, process_of(tid)) : NULL;
	if (!p)
		return NULL;
	o->thread[o->threads].tid = tid;
	o->thread[o->threads++].of = p;
	return p;
}

static void remove_thread(struct oracle *o, pid_t tid)
{
	for (size_t i = 0; i < o->threads; i++)
		if (o->thread[i].tid == tid)
			o->thread[i] = o->thread[--o->threads];
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (o->process[i].pid == tid)
			forget_process(&o->process[i]);
}

/* Forgets the mappings of a process that called exec. */
static void at_exec(struct oracle *o, struct process *p)
{
	pid_t pid = p->pid;

	forget_process(p);
	p->pid = pid;
	p->ours = traced_space_new(pid, o->files);
	p->stale = o->begun = true;
}

/* Handles a stop of the program. Returns the signal to continue with. */
static int at_stop(struct oracle *o, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	size_t known = o->threads;
	struct process *p = find_thread(o, tid);

	if (!p)
		return event || signal == (SIGTRAP | 0x80) ? 0 : signal;
	if (signal == (SIGTRAP | 0x80)) {
		at_system_call(o, p, tid);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		at_exec(o, p);
		return 0;
	}
	/* the first stop of a thread is not a random one */
	if (event == PTRACE_EVENT_STOP && signal == SIGTRAP && o->threads == known && o->stops &&
	    o->begun && o->n.stacks < o->most) {
		compare(o, p, tid);
		o->signal = 0;
		step(o, p, tid);
		/* the program runs for a while before the next stop */
		alarmed = 0;
		set_alarm(o);
		return o->signal;
	}
	return event ? 0 : signal;
}

static bool is_running(pid_t tid)
{
	char path[64], line[512], *state;
	bool ret = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		state = strrchr(line, ')');
		ret = state && state[1] && state[2] == 'R';
	}
	if (f)
		fclose(f);
	return ret;
}

/* Stops one thread that runs. A thread that waits takes no page faults. */
static void stop_any(const struct oracle *o)
{
	for (int i = 0; i < TRIES_MAX && o->threads; i++) {
		pid_t tid = o->thread[random() % o->threads].tid;

		if (!is_running(tid))
			continue;
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		return;
	}
}

/* Ends all processes of the program. */
static void end(const struct oracle *o)
{
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (o->process[i].pid)
			kill(o->process[i].pid, SIGKILL);
}

static void run(struct oracle *o)
{
	int status;
	pid_t tid;

	for (;;) {
		if (alarmed) {
			alarmed = 0;
			if (o->stops)
				stop_any(o);
			set_alarm(o);
		}
		if (o->n.stacks >= o->most || time(NULL) - o->begun_at >= o->seconds)
			end(o);
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
	int status;

	o->pid = fork();
	if (!o->pid) {
		raise(SIGSTOP);
		execvp(program[0], program);
		_exit(127);
	}
	if (o->pid < 0 || waitpid(o->pid, &status, WUNTRACED) != o->pid ||
	    ptrace(PTRACE_SEIZE, o->pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) {
		perror("oracle");
		exit(1);
	}
	o->files = traced_files_new();
	o->begun_at = time(NULL);
	kill(o->pid, SIGCONT);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
	set_alarm(o);
}

static void report(const struct oracle *o, const char *program)
{
	const char *name = strrchr(program, '/');

	fprintf(stderr,
		"{\"program\": \"%s\", \"stacks\": %ld, \"mean_frames\": %.1f, \"deepest\": %ld, "
		"\"equal\": %ld, \"libdw_lost\": %ld, \"differs\": %ld, \"differs_unsure\": %ld, "
		"\"no_call\": %ld, \"rules\": %zu, \"files\": %zu, \"cut\": %ld",
		name ? name + 1 : program, o->n.stacks,
		o->n.stacks ? (double)o->n.frames / o->n.stacks : 0, o->n.deepest, o->n.equal,
		o->n.beyond, o->n.differs, o->n.differs_unsure, o->n.no_call, o->files->rules.n,
		o->files->n, o->n.cut);
	for (int i = 0; i < NR_STACK_ENDS; i++)
		if (o->n.reason[i])
			fprintf(stderr, ", \"%s\": %ld", unwind_end_name(i), o->n.reason[i]);
	fprintf(stderr, "}\n");
}

int main(int argc, char **argv)
{
	static struct oracle o = {.most = 1000, .every = 1, .seconds = 600};
	int option;

	elf_version(EV_CURRENT);
	while ((option = getopt(argc, argv, "+n:e:r:s:t:v")) != -1) {
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
		case 't':
			o.seconds = n;
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
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		if (o.process[i].pid)
			forget_process(&o.process[i]);
	traced_files_free(o.files);
	return o.n.differs > 0;
}
