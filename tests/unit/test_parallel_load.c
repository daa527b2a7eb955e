// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how programs are prepared and loaded in several threads: which ones libbpf loads itself,
 * what the kernel is asked for, in which order, and what is left after an error. libbpf, the
 * kernel's types and the kernel are those of this test.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "failing_memory.h"
#include "open_files.h"
#include "probe/load_log.h"
#include "probe/parallel_load.h"
#include "tap.h"

#define SMALL	     60 /* libbpf itself loads programs with fewer instructions */
#define WAITING_MAX  64 /* programs that can wait at once */
#define PROGRAMS_MAX 70
#define LOADS_MAX    200
#define HANDLERS_MAX 100
#define LOG_BYTES    (16 << 20)

#define ID_OF_TRACEPOINT 71 /* of "known", in the kernel's types */
#define ID_OF_FUNCTION	 72
#define ID_OF_LIBBPF	 100 /* libbpf finds this id, plus the kind of attachment */

struct bpf_program {
	char name[16];
	const char *section;
	enum bpf_prog_type type;
	struct bpf_insn insns[SMALL + 40];
	size_t nr;
	int fd; /* file of the program that libbpf has loaded */
	bool loaded;
	struct bpf_prog_load_opts opts; /* with which libbpf has loaded it */
};

static struct bpf_program program[PROGRAMS_MAX];
static size_t programs;

static struct {
	enum bpf_prog_type type;
	char name[16], license[16];
	struct bpf_insn insns[SMALL + 40];
	size_t nr;
	struct bpf_prog_load_opts opts;
	ino_t file;
} load[LOADS_MAX];
static size_t loads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	char section[32];
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	long cookie;
	libbpf_prog_prepare_load_fn_t prepare;
	bool on;
} handler[HANDLERS_MAX];
static int handlers;

static struct {
	long cpus;
	int register_error, open_error; /* of a handler; of the whole object */
	const char *rejects[2];		/* names of programs that the kernel rejects */
	int reject_error[2];
	bool takes_second; /* the kernel takes a program that it rejected before */
	int dup_fails;	   /* the duplicated file that fails, from 1 on; 0: none */
	int thread_fails;  /* the thread that cannot be started, from 1 on; 0: none */
	int threads, joined, dups;
} kernel;

static const char func_info, line_info;
static const int fd_array;

/* ---- libbpf ---- */

int libbpf_register_prog_handler(const char *section, enum bpf_prog_type type,
				 enum bpf_attach_type attach,
				 const struct libbpf_prog_handler_opts *opts)
{
	if (handlers == HANDLERS_MAX)
		abort();
	snprintf(handler[handlers].section, sizeof(handler[0].section), "%s", section);
	handler[handlers].type = type;
	handler[handlers].attach = attach;
	handler[handlers].cookie = opts->cookie;
	handler[handlers].prepare = opts->prog_prepare_load_fn;
	handler[handlers].on = !kernel.register_error;
	handlers++;
	return kernel.register_error ? -kernel.register_error : handlers;
}

int libbpf_unregister_prog_handler(int number)
{
	if (number <= 0 || number > handlers || !handler[number - 1].on)
		ok(false, "a handler that is not there is removed");
	else
		handler[number - 1].on = false;
	return 0;
}

/* Returns the handler of a section, or -1. In its name, "+" stands for "/…" or nothing. */
static int handler_of(const char *section)
{
	for (int i = 0; i < handlers; i++) {
		const char *its = handler[i].section;
		size_t len = strcspn(its, "+");

		if (handler[i].on && !strncmp(section, its, len) &&
		    (!section[len] || (its[len] == '+' && section[len] == '/')))
			return i;
	}
	return -1;
}

static void make_file(struct bpf_program *prog)
{
	prog->fd = memfd_create("placeholder", MFD_CLOEXEC);
	prog->loaded = true;
}

static int prepare(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .func_info = &func_info, .func_info_cnt = 3,
		    .line_info = &line_info, .line_info_cnt = 4, .fd_array = &fd_array,
		    .prog_flags = BPF_F_ANY_ALIGNMENT);
	int h = handler_of(prog->section), err;

	if (h < 0 || !handler[h].prepare)
		abort();
	err = handler[h].prepare(prog, &opts, handler[h].cookie);
	prog->opts = opts;
	return err;
}

int bpf_object__load(struct bpf_object *obj)
{
	int err = kernel.open_error;

	(void)obj;
	for (size_t i = 0; i < programs && !err; i++) {
		err = prepare(&program[i]);
		if (!err)
			make_file(&program[i]);
	}
	return err;
}

const char *bpf_program__section_name(const struct bpf_program *prog)
{
	return prog->section;
}

const char *bpf_program__name(const struct bpf_program *prog)
{
	return prog->name;
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *prog)
{
	return prog->type;
}

const struct bpf_insn *bpf_program__insns(const struct bpf_program *prog)
{
	return prog->insns;
}

size_t bpf_program__insn_cnt(const struct bpf_program *prog)
{
	return prog->nr;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	return prog->fd;
}

int bpf_program__set_insns(struct bpf_program *prog, struct bpf_insn *insns, size_t nr)
{
	memcpy(prog->insns, insns, nr * sizeof(*insns));
	prog->nr = nr;
	return 0;
}

int libbpf_find_vmlinux_btf_id(const char *name, enum bpf_attach_type attach)
{
	return strcmp(name, "missing") ? ID_OF_LIBBPF + (int)attach : -ESRCH;
}

/* ---- the kernel and its types ---- */

__u32 kernel_types_tracepoint(const struct kernel_types *k, const char *name)
{
	return k && !strcmp(name, "known") ? ID_OF_TRACEPOINT : 0;
}

__u32 kernel_types_traced(const struct kernel_types *k, const char *name)
{
	return k && !strcmp(name, "known") ? ID_OF_FUNCTION : 0;
}

__u32 kernel_types_function(const struct kernel_types *k, __s32 number)
{
	return number == KERNEL_FUNCTION_FIRST + 1 ? 0 : 7000 + number - KERNEL_FUNCTION_FIRST;
}

static int rejected(const char *name)
{
	for (int i = 0; i < 2; i++)
		if (kernel.rejects[i] && !strcmp(kernel.rejects[i], name))
			return kernel.reject_error[i];
	return 0;
}

/* The type of the last parameter depends on the version of libbpf, so the name is another one here.
 */
int made_prog_load(enum bpf_prog_type type, const char *name, const char *license,
		   const struct bpf_insn *insns, size_t nr,
		   const struct bpf_prog_load_opts *opts) __asm__("bpf_prog_load");
int made_prog_load(enum bpf_prog_type type, const char *name, const char *license,
		   const struct bpf_insn *insns, size_t nr, const struct bpf_prog_load_opts *opts)
{
	bool again = opts->log_level;
	int fd = -rejected(name);
	struct stat st;

	pthread_mutex_lock(&lock);
	if (loads == LOADS_MAX)
		abort();
	load[loads].type = type;
	snprintf(load[loads].name, sizeof(load[0].name), "%s", name);
	snprintf(load[loads].license, sizeof(load[0].license), "%s", license);
	memcpy(load[loads].insns, insns, nr * sizeof(*insns));
	load[loads].nr = nr;
	load[loads].opts = *opts;
	if (again)
		snprintf(opts->log_buf, opts->log_size, "0: (95) exit\nR0 !read_ok\n");
	if (!fd || (again && kernel.takes_second))
		fd = memfd_create("program", MFD_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st))
		load[loads].file = st.st_ino;
	loads++;
	pthread_mutex_unlock(&lock);
	return fd;
}

int dup3(int from, int to, int flags)
{
	if (++kernel.dups == kernel.dup_fails) {
		errno = EBUSY;
		return -1;
	}
	return syscall(SYS_dup3, from, to, flags);
}

long sysconf(int name)
{
	long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

	return name == _SC_NPROCESSORS_ONLN ? kernel.cpus : real(name);
}

int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *), void *ctx)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");

	if (++kernel.threads == kernel.thread_fails)
		return EAGAIN;
	return real(ret, attr, start, ctx);
}

int pthread_join(pthread_t thread, void **ret)
{
	int (*real)(pthread_t, void **) =
		(int (*)(pthread_t, void **))dlsym(RTLD_NEXT, "pthread_join");

	kernel.joined++;
	return real(thread, ret);
}

/* ---- programs ---- */

static const struct kernel_types types;

/* Closes the files of all programs. From now on, there are none. */
static void begin(void)
{
	for (size_t i = 0; i < programs; i++)
		if (program[i].loaded)
			close(program[i].fd);
	memset(program, 0, sizeof(program));
	memset(&kernel, 0, sizeof(kernel));
	kernel.cpus = 1;
	programs = loads = 0;
	load_log_begin();
}

static struct bpf_program *add(const char *name, const char *section, enum bpf_prog_type type,
			       size_t nr)
{
	struct bpf_program *prog = &program[programs++];

	snprintf(prog->name, sizeof(prog->name), "%s", name);
	prog->section = section;
	prog->type = type;
	prog->nr = nr;
	for (size_t i = 0; i < nr; i++)
		prog->insns[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_ADD, .imm = i};
	return prog;
}

static struct bpf_program *add_long(const char *name, size_t more)
{
	return add(name, "raw_tp/x", BPF_PROG_TYPE_RAW_TRACEPOINT, SMALL + more);
}

static int load_all(void)
{
	struct loading *rest = NULL;
	int err = parallel_load(NULL, &types, NULL, NULL, &rest);

	if (rest)
		ok(false, "programs wait for no reason");
	return err;
}

/* Returns the names of the programs that were loaded, in this order. */
static const char *names(void)
{
	static char text[LOADS_MAX * 16];
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < loads; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "", load[i].name);
	return text;
}

static bool has_file(const struct bpf_program *prog, ino_t file)
{
	struct stat st;

	return !fstat(prog->fd, &st) && st.st_ino == file && fcntl(prog->fd, F_GETFD) == FD_CLOEXEC;
}

/* ---- handlers ---- */

static const struct {
	const char *section;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
} kinds[] = {
	{"tp_btf+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_RAW_TP},
	{"raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	{"tp+", BPF_PROG_TYPE_TRACEPOINT, 0},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, 0},
	{"syscall", BPF_PROG_TYPE_SYSCALL, 0},
	{"fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
	{"fexit+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
	{"kprobe+", BPF_PROG_TYPE_KPROBE, 0},
	{"kretprobe+", BPF_PROG_TYPE_KPROBE, 0},
	{"kretprobe.multi", BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI},
	{"iter+", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static int handlers_on(void)
{
	int n = 0;

	for (int i = 0; i < handlers; i++)
		n += handler[i].on;
	return n;
}

/* This test comes first: the handler of "none" stays until the process ends. */
static void test_handlers(void)
{
	begin();
	kernel.register_error = ENOMEM;
	parallel_load_begin();
	is_u64(handlers, KINDS + 1, "all handlers, but libbpf takes none");
	parallel_load_end();
	handlers = 0;
	kernel.register_error = 0;
	parallel_load_begin();
	if (!ok(handlers == KINDS + 1, "each kind of program, and one for no program"))
		return;
	is_str(handler[0].section, "none", "a section that no program has");
	ok(handler[0].type == BPF_PROG_TYPE_UNSPEC && !handler[0].prepare, "prepares nothing");
	for (int i = 0; i < KINDS; i++) {
		is_str(handler[i + 1].section, kinds[i].section, "the sections of a kind");
		ok(handler[i + 1].type == kinds[i].type && handler[i + 1].prepare &&
			   handler[i + 1].attach == kinds[i].attach,
		   "its programs are prepared");
	}
	parallel_load_begin();
	is_u64(handlers, KINDS + 1, "they are registered once");
	parallel_load_end();
	ok(handlers_on() == 1 && handler[0].on, "the one for no program stays");
	parallel_load_end();
	is_u64(handlers_on(), 1, "they are removed once");
	parallel_load_begin();
	is_u64(handlers, 2 * KINDS + 1, "for the next object, they are registered again");
	is_u64(handlers_on(), KINDS + 1, "beside the one that stayed");
}

/* ---- preparation ---- */

#define ANY BPF_F_ANY_ALIGNMENT /* flag that libbpf has set before */

static const struct {
	const char *section;
	enum bpf_prog_type type;
	size_t nr;
	bool waits;		 /* libbpf does not load it itself */
	enum bpf_prog_type then; /* type that it is loaded with, if it waits */
	__u32 id, flags;
} preparations[] = {
	{"tp_btf/known", BPF_PROG_TYPE_RAW_TRACEPOINT, 1, true, BPF_PROG_TYPE_TRACING,
	 ID_OF_TRACEPOINT, ANY},
	{"tp_btf/other", BPF_PROG_TYPE_RAW_TRACEPOINT, SMALL, true, BPF_PROG_TYPE_TRACING,
	 ID_OF_LIBBPF + BPF_TRACE_RAW_TP, ANY},
	{"raw_tp/known", BPF_PROG_TYPE_RAW_TRACEPOINT, SMALL - 1, false, 0, 0, ANY},
	{"raw_tp/known", BPF_PROG_TYPE_RAW_TRACEPOINT, SMALL, true, BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
	 ANY},
	{"tp/x/known", BPF_PROG_TYPE_TRACEPOINT, SMALL, true, BPF_PROG_TYPE_TRACEPOINT, 0, ANY},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, 1, false, 0, 0, ANY},
	{"perf_event", BPF_PROG_TYPE_PERF_EVENT, SMALL, true, BPF_PROG_TYPE_PERF_EVENT, 0, ANY},
	{"syscall", BPF_PROG_TYPE_SYSCALL, 1, false, 0, 0, ANY | BPF_F_SLEEPABLE},
	{"syscall", BPF_PROG_TYPE_SYSCALL, SMALL, true, BPF_PROG_TYPE_SYSCALL, 0,
	 ANY | BPF_F_SLEEPABLE},
	{"fentry/known", BPF_PROG_TYPE_TRACING, 1, false, 0, ID_OF_FUNCTION, ANY},
	{"fentry/known", BPF_PROG_TYPE_TRACING, SMALL, true, BPF_PROG_TYPE_TRACING, ID_OF_FUNCTION,
	 ANY},
	{"fentry/other", BPF_PROG_TYPE_TRACING, SMALL, true, BPF_PROG_TYPE_TRACING,
	 ID_OF_LIBBPF + BPF_TRACE_FENTRY, ANY},
	{"fexit/known", BPF_PROG_TYPE_TRACING, SMALL, true, BPF_PROG_TYPE_TRACING, ID_OF_FUNCTION,
	 ANY},
	{"fexit/other", BPF_PROG_TYPE_TRACING, 1, false, 0, ID_OF_LIBBPF + BPF_TRACE_FEXIT, ANY},
	/* the function of an iterator has another name than its target */
	{"iter/known", BPF_PROG_TYPE_TRACING, SMALL, true, BPF_PROG_TYPE_TRACING,
	 ID_OF_LIBBPF + BPF_TRACE_ITER, ANY},
	{"kprobe/known", BPF_PROG_TYPE_KPROBE, SMALL, true, BPF_PROG_TYPE_KPROBE, 0, ANY},
	{"kretprobe/missing", BPF_PROG_TYPE_KPROBE, SMALL, true, BPF_PROG_TYPE_KPROBE, 0, ANY},
	{"kretprobe.multi", BPF_PROG_TYPE_KPROBE, SMALL, true, BPF_PROG_TYPE_KPROBE, 0, ANY},
};

static void is_placeholder(const struct bpf_program *prog)
{
	ok(prog->nr == 2 && prog->insns[0].code == (BPF_ALU64 | BPF_MOV | BPF_K) &&
		   !prog->insns[0].dst_reg && !prog->insns[0].imm &&
		   prog->insns[1].code == (BPF_JMP | BPF_EXIT),
	   "libbpf loads a program that returns 0");
	ok(!prog->opts.func_info && !prog->opts.line_info && !prog->opts.func_info_cnt &&
		   !prog->opts.line_info_cnt && prog->opts.fd_array == &fd_array,
	   "without information about lines and functions");
}

static void test_preparation(void)
{
	for (size_t i = 0; i < sizeof(preparations) / sizeof(preparations[0]); i++) {
		const typeof(preparations[0]) *row = &preparations[i];
		bool typed = !strncmp(row->section, "tp_btf", 6);
		struct bpf_program *prog;
		struct bpf_insn insns[SMALL];

		begin();
		prog = add("one", row->section, row->type, row->nr);
		memcpy(insns, prog->insns, sizeof(insns));
		is_u64(load_all(), 0, row->section);
		is_u64(prog->opts.prog_flags, row->flags, "its flags");
		is_u64(loads, row->waits, row->waits ? "it waits" : "libbpf loads it");
		is_u64(prog->opts.attach_btf_id, typed ? 0 : row->id,
		       "the id that libbpf loads it with");
		if (!row->waits) {
			ok(prog->nr == row->nr && prog->opts.func_info == &func_info &&
				   !memcmp(insns, prog->insns, row->nr * sizeof(insns[0])),
			   "as it is");
			continue;
		}
		is_placeholder(prog);
		is_u64(load[0].type, row->then, "its type");
		is_str(load[0].license, "Dual BSD/GPL", "its license");
		ok(load[0].nr == row->nr &&
			   !memcmp(insns, load[0].insns, row->nr * sizeof(insns[0])),
		   "its instructions");
		is_u64(load[0].opts.attach_btf_id, row->id, "its id");
		is_u64(load[0].opts.prog_flags, row->flags, "its flags");
		ok(load[0].opts.func_info == &func_info && load[0].opts.func_info_cnt == 3 &&
			   load[0].opts.line_info == &line_info && load[0].opts.line_info_cnt == 4,
		   "information about lines and functions");
		ok(!load[0].opts.fd_array && !load[0].opts.log_level, "no files, and no log");
		ok(has_file(prog, load[0].file), "the program of libbpf is this one now");
	}
}

static void test_no_type(void)
{
	static const char *const sections[] = {"tp_btf/missing", "fentry/missing", "fexit/missing",
					       "iter/missing"};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		begin();
		add_long("first", 0);
		add("one", sections[i], BPF_PROG_TYPE_TRACING, 1);
		is_u64(load_all(), (uint64_t)-ESRCH, sections[i]);
		is_u64(loads, 0, "no program is loaded");
	}
}

/* libbpf may prepare a program while no object is loaded in several threads. */
static void test_other_loads(void)
{
	begin();
	add("known", "fentry/known", BPF_PROG_TYPE_TRACING, 1);
	is_u64(prepare(&program[0]), 0, "a small program");
	is_u64(program[0].opts.attach_btf_id, ID_OF_LIBBPF + BPF_TRACE_FENTRY, "id of libbpf");
	add_long("long", 0);
	is_u64(prepare(&program[1]), (uint64_t)-EINVAL, "a long one cannot wait");
	add("typed", "tp_btf/missing", BPF_PROG_TYPE_RAW_TRACEPOINT, 1);
	is_u64(prepare(&program[2]), (uint64_t)-ESRCH, "one without a type");
	program[2].section = "tp_btf/known";
	is_u64(prepare(&program[2]), (uint64_t)-EINVAL, "one with a type cannot wait");
	is_u64(loads, 0, "nothing is loaded");
}

/* ---- functions of the kernel ---- */

#define CALL (BPF_JMP | BPF_CALL)
#define FUNCTION(n)                                                                                \
	{                                                                                          \
		.code = CALL, .imm = KERNEL_FUNCTION_FIRST + (n)                                   \
	}

/* Calls of the kernel's functions, and what is similar to them. */
static const struct {
	struct bpf_insn insn, then;
	const char *name;
} calls[] = {
	{FUNCTION(0), {.code = CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = 7000}, "the first"},
	{FUNCTION(5), {.code = CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = 7005}, "the last"},
	{FUNCTION(1), {.code = CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL}, "one that is not there"},
	{{.code = CALL, .imm = KERNEL_FUNCTION_FIRST - 1},
	 {.code = CALL, .imm = KERNEL_FUNCTION_FIRST - 1},
	 "a helper"},
	{{.code = CALL, .src_reg = BPF_PSEUDO_CALL, .imm = KERNEL_FUNCTION_FIRST},
	 {.code = CALL, .src_reg = BPF_PSEUDO_CALL, .imm = KERNEL_FUNCTION_FIRST},
	 "a function of the program"},
	{{.code = BPF_JMP | BPF_JEQ, .imm = KERNEL_FUNCTION_FIRST},
	 {.code = BPF_JMP | BPF_JEQ, .imm = KERNEL_FUNCTION_FIRST},
	 "a comparison"},
};

static void test_functions(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		bool changes = memcmp(&calls[i].insn, &calls[i].then, sizeof(calls[i].insn)) != 0;
		const struct bpf_insn nothing = {.code = BPF_ALU64 | BPF_ADD};

		for (size_t nr = 1; nr <= SMALL; nr += SMALL - 1) {
			bool waits = changes || nr == SMALL;

			begin();
			add("one", "raw_tp/x", BPF_PROG_TYPE_RAW_TRACEPOINT, nr);
			program[0].insns[nr - 1] = calls[i].insn;
			is_u64(load_all(), 0, calls[i].name);
			is_u64(loads, waits, "whether a program with such a call waits");
			ok(!waits || !memcmp(&load[0].insns[nr - 1], &calls[i].then,
					     sizeof(calls[i].then)),
			   "the call");
			ok(nr == 1 || !memcmp(&load[0].insns[0], &nothing, sizeof(nothing)),
			   "the instructions before it");
		}
	}
}

/* ---- order, and programs that are loaded later ---- */

static bool is_now(void *ctx, const struct bpf_program *prog)
{
	return prog->name[0] == *(const char *)ctx;
}

static void test_later(void)
{
	static const struct {
		char now;
		const char *first, *then;
	} rows[] = {{'a', "a30 a10 a0", "b40 b20 b5"},
		    {'b', "b40 b20 b5", "a30 a10 a0"},
		    {'c', "", "b40 a30 b20 a10 b5 a0"}};
	static const unsigned int more[] = {10, 40, 0, 20, 30, 5};
	size_t fds;

	begin();
	fds = open_fds();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int end = 0; end < 3; end++) {
			struct loading *rest = NULL;
			char now = rows[i].now;

			begin();
			for (size_t k = 0; k < 6; k++) {
				char name[16];

				snprintf(name, sizeof(name), "%c%u", k % 2 ? 'b' : 'a', more[k]);
				if (k == 4)
					name[0] = 'a';
				add_long(name, more[k] > 39 ? 39 : more[k]);
			}
			is_u64(parallel_load(NULL, &types, is_now, &now, &rest), 0, "some");
			is_str(names(), rows[i].first, "the longest first");
			if (!ok(rest != NULL, "the others wait"))
				continue;
			loads = 0;
			if (end == 0) {
				is_u64(parallel_load_rest(rest), 0, "they are loaded");
				is_str(names(), rows[i].then, "the longest first");
			} else if (end == 1) {
				kernel.rejects[0] = "a0";
				kernel.rejects[1] = "b5";
				kernel.reject_error[0] = kernel.reject_error[1] = EPERM;
				is_u64(parallel_load_rest(rest),
				       rows[i].then[0] ? (uint64_t)-EPERM : 0, "rejected");
			} else {
				parallel_load_free(rest);
				is_u64(loads, 0, "they are not needed");
			}
			begin();
			is_u64(open_fds(), fds, "no file is left");
		}
	}
	parallel_load_free(NULL);
	begin();
	add_long("a", 0);
	is_u64(parallel_load(NULL, &types, is_now, &(char){'a'}, &(struct loading *){NULL}), 0,
	       "all are loaded now");
	is_str(names(), "a", "and none waits");
}

static void test_threads(void)
{
	static const struct {
		long cpus;
		int fails, threads, joined;
	} rows[] = {{-1, 0, 0, 0}, {1, 0, 0, 0},  {2, 0, 1, 1},	 {3, 0, 2, 2}, {4, 0, 3, 3},
		    {5, 0, 3, 3},  {64, 0, 3, 3}, {64, 1, 1, 0}, {64, 3, 3, 2}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t wrong = 0;

		begin();
		kernel.cpus = rows[i].cpus;
		kernel.thread_fails = rows[i].fails;
		for (int k = 0; k < 20; k++) {
			char name[16];

			snprintf(name, sizeof(name), "p%d", k);
			add_long(name, k);
		}
		ok(!load_all() && loads == 20, "%ld CPUs", rows[i].cpus);
		is_u64(kernel.threads, rows[i].threads, "threads that are started");
		is_u64(kernel.joined, rows[i].joined, "threads that end");
		for (size_t k = 0; k < loads; k++) {
			const struct bpf_program *prog = &program[atoi(load[k].name + 1)];

			wrong += !has_file(prog, load[k].file);
		}
		is_u64(wrong, 0, "each program has the file of its own load");
	}
}

/* ---- errors ---- */

#define REJECTED(name, why)                                                                        \
	"libbpf: prog '" name "': BPF program load failed: " why "\n"                              \
	"libbpf: prog '" name "': -- BEGIN PROG LOAD LOG --\n"                                     \
	"0: (95) exit\nR0 !read_ok\n-- END PROG LOAD LOG --\n"

static void test_rejected(void)
{
	size_t fds;

	begin();
	fds = open_fds();
	for (int taken = 0; taken < 2; taken++) {
		begin();
		kernel.takes_second = taken;
		kernel.rejects[0] = "c";
		kernel.rejects[1] = "b";
		kernel.reject_error[0] = ENOMEM;
		kernel.reject_error[1] = EACCES;
		add_long("a", 9);
		add_long("b", 8);
		add_long("c", 7);
		is_u64(load_all(), (uint64_t)-EACCES, "the first error");
		is_str(names(), "a b c b", "only its program is loaded again");
		ok(load[3].opts.log_level == 1 && load[3].opts.log_size == LOG_BYTES &&
			   load[3].opts.log_buf && load[3].nr == load[1].nr &&
			   load[3].type == load[1].type,
		   "for the log");
		is_str(load_log(), REJECTED("b", "Permission denied"), "which is kept");
		ok(has_file(&program[0], load[0].file), "the program before is handed over");
		begin();
		is_u64(open_fds(), fds, "no file is left");
	}
	add_long("a", 9);
	add_long("b", 8);
	kernel.dup_fails = 2;
	is_u64(load_all(), (uint64_t)-EBUSY, "a file that cannot be handed over");
	begin();
	add_long("a", 0);
	kernel.open_error = -E2BIG;
	is_u64(load_all(), (uint64_t)-E2BIG, "libbpf cannot load the object");
	is_u64(loads, 0, "no program is loaded");
	begin();
	is_u64(open_fds(), fds, "no file is left");
}

static void test_most(void)
{
	for (int n = WAITING_MAX; n <= WAITING_MAX + 1; n++) {
		begin();
		for (int i = 0; i < n; i++)
			add_long("x", 0);
		is_u64(load_all(), n > WAITING_MAX ? (uint64_t)-E2BIG : 0, "many programs");
		is_u64(loads, n > WAITING_MAX ? 0 : n, "are loaded");
	}
}

/* Allocations are the list of programs, and one for the instructions of each. */
static void test_memory(void)
{
	size_t fds;

	begin();
	fds = open_fds();
	for (int fails = 0; fails < 4; fails++) {
		int err;

		begin();
		for (int i = 0; i < 3; i++)
			add_long("x", 0);
		memory_fail_after(fails);
		err = load_all();
		ok(memory_recovers() && err == -ENOMEM && !loads, "allocation %d: %d", fails, err);
		begin();
		is_u64(open_fds(), fds, "no file is left");
	}
	add_long("x", 0);
	kernel.rejects[0] = "x";
	kernel.reject_error[0] = EACCES;
	memory_fail_after(2);
	is_u64(load_all(), (uint64_t)-EACCES, "without memory for the log");
	ok(memory_recovers() && loads == 1 && !*load_log(), "the error is known nevertheless");
}

int main(void)
{
	test_handlers();
	test_preparation();
	test_no_type();
	test_other_loads();
	test_functions();
	test_later();
	test_threads();
	test_rejected();
	test_most();
	test_memory();
	begin();
	return tap_done();
}
