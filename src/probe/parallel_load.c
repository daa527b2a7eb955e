// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/parallel_load.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/load_log.h"

#define LICENSE	    "Dual BSD/GPL" /* as in bpf/faultscope.bpf.c */
#define JOBS_MAX    64
#define THREADS_MAX 4
#define SMALL	    60 /* libbpf itself loads programs with fewer instructions */
#define LOG_BYTES   (16 << 20)

#define TYPED_TRACEPOINT "tp_btf" /* section of programs that the kernel attaches by a type id */
/* sections of programs at kernel functions, and of those that the kernel calls for each task */
#define FUNCTION_ENTRY "fentry"
#define FUNCTION_EXIT  "fexit"
#define PROBE_ENTRY    "kprobe"
#define PROBE_EXIT     "kretprobe"
#define ITERATOR       "iter"

struct job {
	struct bpf_program *prog;
	enum bpf_prog_type type;
	struct bpf_prog_load_opts opts;
	struct bpf_insn *insns;
	size_t nr;
	bool now; /* load it before those of which `now` is false */
	int fd;	  /* the loaded program, or -errno */
};

struct loading {
	const struct kernel_types *types;
	struct job job[JOBS_MAX];
	unsigned int nr;
	unsigned int next; /* number of jobs that threads have taken */
	unsigned int end;  /* number of jobs that they may take */
};

/*
 * Kinds of programs that are prepared here. libbpf has no other way to prepare without loading. If
 * libbpf knew that a program is of type TRACING, it would read the whole BTF of the kernel.
 */
static const struct kind {
	const char *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	__u32 flags;
} kinds[] = {
	{TYPED_TRACEPOINT "+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP},
	{"raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT},
	{"tp+", BPF_PROG_TYPE_TRACEPOINT},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT},
	{"syscall", BPF_PROG_TYPE_SYSCALL, .flags = BPF_F_SLEEPABLE},
	{FUNCTION_ENTRY "+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
	{FUNCTION_EXIT "+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
	{PROBE_ENTRY "+", BPF_PROG_TYPE_KPROBE},
	{PROBE_EXIT "+", BPF_PROG_TYPE_KPROBE},
	{"kretprobe.multi", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI},
	{ITERATOR "+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* These are static, because libbpf's callback has no context argument, and keeps its handlers. */
static struct loading *preparing; /* the load that libbpf prepares programs for; NULL: none */
static int handlers[NR_KINDS];	  /* numbers of the handlers; 0: not registered */

/* Returns what follows the first "/" in the section's name: a tracepoint or function. */
static const char *target_of(const struct bpf_program *prog)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');

	return slash ? slash + 1 : "";
}

/* Returns whether a program is in a section with this name. */
static bool is_in(const struct bpf_program *prog, const char *section)
{
	const char *name = bpf_program__section_name(prog);
	size_t len = strlen(section);

	return !strncmp(name, section, len) && name[len] == '/';
}

bool parallel_load_is_typed(const struct bpf_program *prog)
{
	return is_in(prog, TYPED_TRACEPOINT);
}

/* Returns the id of the type of a tracepoint, or -errno. */
static int tracepoint_type(const struct bpf_program *prog)
{
	const char *name = target_of(prog);
	__u32 id = preparing ? kernel_types_tracepoint(preparing->types, name) : 0;

	return id ? (int)id : libbpf_find_vmlinux_btf_id(name, BPF_TRACE_RAW_TP);
}

/* Returns the id of a function, or -errno. */
static int function_type(const struct bpf_program *prog, enum bpf_attach_type attach)
{
	const char *name = target_of(prog);
	__u32 id = preparing && attach != BPF_TRACE_ITER
			   ? kernel_types_traced(preparing->types, name)
			   : 0;

	return id ? (int)id : libbpf_find_vmlinux_btf_id(name, attach);
}

/* Returns whether an instruction calls a function of the kernel, as if it were a helper. */
static bool is_function_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
	       insn->imm >= KERNEL_FUNCTION_FIRST;
}

/* Returns whether a program calls functions of the kernel (bpf/wire_functions.h). */
static bool calls_functions(const struct bpf_insn *insns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (is_function_call(&insns[i]))
			return true;
	return false;
}

/* Replaces the numbers of functions by their ids; 0, which the kernel rejects: there is none. */
static void name_functions(const struct kernel_types *types, struct bpf_insn *insns, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!is_function_call(&insns[i]))
			continue;
		insns[i].imm = kernel_types_function(types, insns[i].imm);
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
	}
}

static int put_off(struct loading *jobs, struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
						  {.code = BPF_JMP | BPF_EXIT}};
	struct job *job = &jobs->job[jobs->nr];
	size_t nr = bpf_program__insn_cnt(prog);

	if (jobs->nr == JOBS_MAX)
		return -E2BIG;
	*job = (struct job){.prog = prog,
			    .type = bpf_program__type(prog),
			    .opts = *opts,
			    .nr = nr,
			    .fd = -ECANCELED};
	job->insns = malloc(nr * sizeof(*job->insns));
	if (!job->insns)
		return -ENOMEM;
	memcpy(job->insns, bpf_program__insns(prog), nr * sizeof(*job->insns));
	name_functions(jobs->types, job->insns, nr);
	job->opts.fd_array = NULL; /* libbpf frees it; only kfuncs of modules need it */
	jobs->nr++;
	opts->func_info = opts->line_info = NULL;
	opts->func_info_cnt = opts->line_info_cnt = 0;
	return bpf_program__set_insns(prog, (struct bpf_insn *)nothing, 2);
}

/* Called by libbpf, for each program that is ready to be loaded. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	size_t nr = bpf_program__insn_cnt(prog);
	bool typed = parallel_load_is_typed(prog);
	const struct kind *kind = &kinds[cookie];
	int id = 0, err;

	if (typed)
		id = tracepoint_type(prog);
	else if (kind->type == BPF_PROG_TYPE_TRACING)
		id = function_type(prog, kind->attach);
	if (id < 0)
		return id;
	opts->prog_flags |= kind->flags;
	if (!typed)
		opts->attach_btf_id = id;
	if (!typed && nr < SMALL && !calls_functions(bpf_program__insns(prog), nr))
		return 0;
	if (!preparing)
		return -EINVAL;
	err = put_off(preparing, prog, opts);
	if (!err && typed) {
		struct job *job = &preparing->job[preparing->nr - 1];

		job->type = BPF_PROG_TYPE_TRACING;
		job->opts.attach_btf_id = id;
	}
	return err;
}

/*
 * Registers a handler that stays, for a section that no program has. libbpf 1.1 frees its list when
 * the last handler is removed, and uses the freed list for the next one.
 */
static void keep_list(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, o);
	static int kept;

	if (kept <= 0)
		kept = libbpf_register_prog_handler("none", BPF_PROG_TYPE_UNSPEC, 0, &o);
}

void parallel_load_begin(void)
{
	keep_list();
	for (size_t i = 0; i < NR_KINDS; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, o, .cookie = i,
			    .prog_prepare_load_fn = prepare);

		if (handlers[i] <= 0)
			handlers[i] = libbpf_register_prog_handler(kinds[i].section, kinds[i].type,
								   kinds[i].attach, &o);
	}
}

void parallel_load_end(void)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		if (handlers[i] > 0)
			libbpf_unregister_prog_handler(handlers[i]);
		handlers[i] = 0;
	}
}

static int load_job(const struct job *job, struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(job->type, bpf_program__name(job->prog), LICENSE, job->insns, job->nr,
			     opts);
}

static void *load_jobs(void *arg)
{
	struct loading *jobs = arg;
	unsigned int i;

	while ((i = __atomic_fetch_add(&jobs->next, 1, __ATOMIC_RELAXED)) < jobs->end) {
		struct job *job = &jobs->job[i];

		job->fd = load_job(job, &job->opts);
	}
	return NULL;
}

static int in_order(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	if (x->now != y->now)
		return x->now ? -1 : 1;
	return x->nr < y->nr ? 1 : x->nr > y->nr ? -1 : 0;
}

/* Loads a rejected program again, for the verifier's reason. */
static void log_reason(const struct job *job)
{
	struct bpf_prog_load_opts opts = job->opts;
	char *log = calloc(1, LOG_BYTES), *text = NULL;
	int fd;

	if (!log)
		return;
	opts.log_level = 1;
	opts.log_buf = log;
	opts.log_size = LOG_BYTES;
	fd = load_job(job, &opts);
	if (fd >= 0)
		close(fd);
	/* as libbpf prints it */
	if (asprintf(&text,
		     "libbpf: prog '%s': BPF program load failed: %s\n"
		     "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n",
		     bpf_program__name(job->prog), strerror(-job->fd), bpf_program__name(job->prog),
		     log) >= 0)
		load_log_add(text);
	free(text);
	free(log);
}

/*
 * Gives loaded programs to libbpf: they take over the file descriptors of the placeholders. Returns
 * 0, or the first error of these jobs.
 */
static int hand_over(const struct loading *jobs, unsigned int from, unsigned int end)
{
	for (unsigned int i = from; i < end; i++) {
		if (jobs->job[i].fd < 0) {
			log_reason(&jobs->job[i]);
			return jobs->job[i].fd;
		}
		if (dup3(jobs->job[i].fd, bpf_program__fd(jobs->job[i].prog), O_CLOEXEC) < 0)
			return -errno;
	}
	return 0;
}

/* Loads the jobs from number `from` to `end`, without `end`. Returns 0 or -errno. */
static int load_some(struct loading *jobs, unsigned int from, unsigned int end)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[THREADS_MAX - 1];
	long threads = 0;

	jobs->next = from;
	jobs->end = end;
	while (threads < THREADS_MAX - 1 && threads + 1 < cpus &&
	       !pthread_create(&thread[threads], NULL, load_jobs, jobs))
		threads++;
	load_jobs(jobs);
	while (threads > 0)
		pthread_join(thread[--threads], NULL);
	return hand_over(jobs, from, end);
}

void parallel_load_free(struct loading *jobs)
{
	for (unsigned int i = 0; jobs && i < jobs->nr; i++) {
		if (jobs->job[i].fd >= 0)
			close(jobs->job[i].fd);
		free(jobs->job[i].insns);
	}
	free(jobs);
}

/* Sorts the jobs, and returns how many of them are loaded now. */
static unsigned int order(struct loading *jobs, parallel_load_filter now, void *ctx)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < jobs->nr; i++) {
		jobs->job[i].now = !now || now(ctx, jobs->job[i].prog);
		n += jobs->job[i].now;
	}
	/* the longest program first, so that no thread begins with it when the others end */
	qsort(jobs->job, jobs->nr, sizeof(jobs->job[0]), in_order);
	return n;
}

int parallel_load(struct bpf_object *obj, const struct kernel_types *types,
		  parallel_load_filter now, void *ctx, struct loading **ret_rest)
{
	struct loading *jobs = calloc(1, sizeof(*jobs));
	unsigned int n;
	int err;

	if (!jobs)
		return -ENOMEM;
	jobs->types = types;
	preparing = jobs;
	err = bpf_object__load(obj);
	preparing = NULL;
	n = order(jobs, now, ctx);
	err = err ?: load_some(jobs, 0, n);
	if (!err && n < jobs->nr)
		*ret_rest = jobs;
	else
		parallel_load_free(jobs);
	return err;
}

int parallel_load_rest(struct loading *rest)
{
	unsigned int from = 0;
	int err;

	while (from < rest->nr && rest->job[from].now)
		from++;
	err = load_some(rest, from, rest->nr);
	parallel_load_free(rest);
	return err;
}

/* Attaches to the tracepoint "category/name". Returns NULL and sets errno on error. */
static struct bpf_link *attach_tracepoint(const struct bpf_program *prog, const char *target)
{
	const char *name = strchr(target, '/');
	char category[64];

	if (!name || (size_t)(name - target) >= sizeof(category)) {
		errno = EINVAL;
		return NULL;
	}
	snprintf(category, sizeof(category), "%.*s", (int)(name - target), target);
	return bpf_program__attach_tracepoint(prog, category, name + 1);
}

struct bpf_link *parallel_load_attach(struct bpf_program *prog)
{
	if (parallel_load_is_typed(prog))
		return bpf_program__attach_trace(prog);
	switch (bpf_program__type(prog)) {
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
		return bpf_program__attach_raw_tracepoint(prog, target_of(prog));
	case BPF_PROG_TYPE_TRACEPOINT:
		return attach_tracepoint(prog, target_of(prog));
	case BPF_PROG_TYPE_TRACING:
		return bpf_program__attach_trace(prog);
	case BPF_PROG_TYPE_KPROBE:
		return bpf_program__attach_kprobe(prog, is_in(prog, PROBE_EXIT), target_of(prog));
	default:
		break;
	}
	return bpf_program__attach(prog);
}
