// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which answers of the kernel mean that a feature is missing. The answers of bpf(2) are those
 * of this test.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "probe/features.h"
#include "tap.h"

#define ANSWER_FD 0 /* the call returns a descriptor; else -errno */

static int load_answer, link_answer;
static int map_type, has_loop; /* 1: yes; 0: no; negative: not known */
static int load_type, attach_id;
static bool has_btf, has_iterators;
static unsigned int btfs_open, loads;
static struct bpf_insn program[16]; /* the last one that was loaded */
static size_t program_size;
static int programs_from; /* the lowest descriptor of a program */
static bool is_quiet;	  /* libbpf printed nothing while the kernel was asked */

/* Returns a file with the lowest free descriptor from `from` on, or an error. */
static int answer(int err, int from)
{
	int fd = err ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC), moved;

	if (fd >= 0 && fd < from) {
		moved = fcntl(fd, F_DUPFD_CLOEXEC, from);
		close(fd);
		fd = moved;
	}
	errno = err ? -err : EINVAL; /* of an earlier call, if this one succeeds */
	return err ? err : fd;
}

/* The type of the last argument depends on the version of libbpf. */
int made_prog_load(enum bpf_prog_type prog_type, const char *name, const char *license,
		   const struct bpf_insn *insns, size_t n,
		   const struct bpf_prog_load_opts *opts) __asm__("bpf_prog_load");
int made_prog_load(enum bpf_prog_type prog_type, const char *name, const char *license,
		   const struct bpf_insn *insns, size_t n, const struct bpf_prog_load_opts *opts)
{
	(void)name;
	loads++;
	program_size = n < 16 ? n : 0;
	memcpy(program, insns, program_size * sizeof(*insns));
	load_type = prog_type;
	attach_id = opts ? opts->attach_btf_id : 0;
	ok(!strcmp(license, "GPL") && insns[n - 1].code == (BPF_JMP | BPF_EXIT),
	   "the program ends");
	return answer(load_answer, programs_from);
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	(void)target_fd;
	ok(prog_fd >= 0 && type == BPF_TRACE_KPROBE_MULTI &&
		   opts->kprobe_multi.flags == BPF_F_KPROBE_MULTI_RETURN && !opts->kprobe_multi.cnt,
	   "a link to no function");
	return answer(link_answer, 0);
}

int libbpf_probe_bpf_map_type(enum bpf_map_type type, const void *opts)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);

	(void)opts;
	is_quiet = !print;
	libbpf_set_print(print);
	return type == BPF_MAP_TYPE_TASK_STORAGE ? map_type : -EINVAL;
}

int libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id helper, const void *opts)
{
	(void)type, (void)opts;
	return helper == 181 ? has_loop : -EINVAL;
}

struct btf *btf__load_vmlinux_btf(void)
{
	errno = ENOENT;
	btfs_open += has_btf;
	return has_btf ? (struct btf *)&has_btf : NULL;
}

__s32 btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind)
{
	(void)btf;
	return has_iterators && !strcmp(name, "bpf_iter_task_new") && kind == BTF_KIND_FUNC
		       ? 7
		       : -ENOENT;
}

void btf__free(struct btf *btf)
{
	btfs_open -= btf == (struct btf *)&has_btf;
}

static void test_reads(void)
{
	load_answer = ANSWER_FD;
	ok(!kernel_lacks_reads(), "a kernel that reads its memory");
	load_answer = -EINVAL;
	ok(kernel_lacks_reads(), "lockdown removes the helper");
	load_answer = -EPERM;
	ok(!kernel_lacks_reads(), "a user who may not load programs");
}

/* Arguments of the helper that the last program called, and what the program returned. */
struct ran {
	long number, argument[3], result;
};

/* Runs the last program that was loaded, with 10000 for the end of its stack. */
static struct ran run(void)
{
	struct ran ret = {.result = -1};
	long r[11] = {[10] = 10000};

	for (size_t i = 0; i < program_size; i++) {
		const struct bpf_insn *in = &program[i];

		switch (in->code) {
		case BPF_ALU64 | BPF_MOV | BPF_X:
			r[in->dst_reg] = r[in->src_reg];
			break;
		case BPF_ALU64 | BPF_MOV | BPF_K:
			r[in->dst_reg] = in->imm;
			break;
		case BPF_ALU64 | BPF_ADD | BPF_K:
			r[in->dst_reg] += in->imm;
			break;
		case BPF_JMP | BPF_CALL:
			ret.number = in->imm;
			memcpy(ret.argument, &r[1], sizeof(ret.argument));
			r[0] = 1;
			break;
		case BPF_JMP | BPF_EXIT:
			ret.result = r[0];
			break;
		}
	}
	return ret;
}

static void test_programs(void)
{
	struct ran ran;

	load_answer = ANSWER_FD;
	kernel_lacks_reads();
	ran = run();
	is_u64(load_type, BPF_PROG_TYPE_KPROBE, "a program that may read memory");
	is_u64(ran.number, BPF_FUNC_probe_read_kernel, "reads memory of the kernel");
	ok(ran.argument[0] == 10000 - 8 && ran.argument[1] == 8 && !ran.argument[2],
	   "to eight bytes of its stack, from nowhere");
	is_u64(ran.result, 0, "and returns 0");
	kernel_traces_function(5);
	ran = run();
	ok(!ran.number && !ran.result, "a program for functions only returns 0");
}

static void test_functions(void)
{
	load_answer = ANSWER_FD;
	ok(kernel_traces_function(5), "a function");
	ok(attach_id == 5 && load_type == BPF_PROG_TYPE_TRACING, "is the one that was named");
	load_answer = -EPERM;
	ok(!kernel_traces_function(5), "a policy against it");
	load_answer = ANSWER_FD;
	loads = 0;
	ok(!kernel_traces_function(0) && !loads, "no function");
}

static void test_returns(void)
{
	load_answer = ANSWER_FD;
	link_answer = -EINVAL;
	ok(kernel_traces_returns(), "the kernel wants a function");
	link_answer = -EOPNOTSUPP;
	ok(!kernel_traces_returns(), "the kernel has no such links");
	link_answer = ANSWER_FD;
	ok(!kernel_traces_returns(), "a link to nothing");
	programs_from = 3;
	ok(!kernel_traces_returns(), "whose file has the number 0");
	programs_from = 0;
	load_answer = -EINVAL;
	link_answer = -EINVAL;
	ok(!kernel_traces_returns(), "the kernel loads no such program");
}

static struct features asked(void)
{
	struct features f = {};

	features_ask(&f);
	is_u64(btfs_open, 0, "types are freed");
	return f;
}

static void test_storage(void)
{
	map_type = 1;
	ok(!kernel_lacks_task_storage(), "a kernel with task storage");
	map_type = -EPERM;
	ok(!kernel_lacks_task_storage(), "a kernel that does not tell");
	map_type = 0;
	ok(kernel_lacks_task_storage(), "a kernel without");
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level, (void)format, (void)list;
	return 0;
}

/* Counts the open files below 64. */
static unsigned int open_files(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Standard input is closed, so that the first file of a question has the descriptor 0. */
static void test_files(void)
{
	unsigned int before = open_files();

	load_answer = link_answer = ANSWER_FD;
	kernel_lacks_reads();
	is_u64(open_files(), before, "a program that was loaded is closed");
	kernel_traces_function(5);
	is_u64(open_files(), before, "so is one for a function");
	kernel_traces_returns();
	is_u64(open_files(), before, "and one for returns, with its link");
	programs_from = 3;
	kernel_traces_returns();
	is_u64(open_files(), before, "also if the link has the descriptor 0");
	programs_from = 0;
}

/* Errors that the questions cause are expected, and printed nowhere. */
static void test_quiet(void)
{
	libbpf_print_fn_t before = libbpf_set_print(print_nothing);
	struct features f = asked();

	ok(is_quiet, "libbpf prints nothing while the kernel is asked");
	ok(libbpf_set_print(print_nothing) == print_nothing, "then it prints as before");
	features_ask(&f);
	ok(libbpf_set_print(before) == print_nothing, "also if nothing is asked");
}

static void test_features(void)
{
	struct features f;

	map_type = has_loop = 1;
	has_btf = has_iterators = true;
	f = asked();
	ok(f.asked && !f.lacks_btf && !f.lacks_task_storage && !f.lacks_loop && !f.lacks_iterators,
	   "a kernel with all features");
	is_str(features_lack_task_build(&f), NULL, "lacks nothing");
	has_iterators = false;
	f = asked();
	ok(f.lacks_iterators, "a kernel before 6.7");
	is_str(features_lack_task_build(&f), NULL, "can use task storage");
	has_loop = 0;
	f = asked();
	is_str(features_lack_task_build(&f), "this kernel lacks helpers it needs (5.17)",
	       "a kernel before 5.17");
	has_loop = -EPERM;
	f = asked();
	is_str(features_lack_task_build(&f), NULL, "a kernel that does not tell");
	map_type = has_loop = 0;
	f = asked();
	is_str(features_lack_task_build(&f), "this kernel has no task storage for tracing (5.12)",
	       "a kernel before 5.12");
	has_btf = false;
	f = asked();
	ok(!f.lacks_iterators, "without types, it is not known whether there are iterators");
	is_str(features_lack_task_build(&f), "needs the kernel's own BTF", "a kernel without BTF");
	has_btf = true;
	features_ask(&f);
	ok(f.lacks_btf, "the kernel is asked once");
}

int main(void)
{
	test_reads();
	test_programs();
	test_functions();
	test_returns();
	test_storage();
	test_features();
	test_quiet();
	test_files();
	return tap_done();
}
