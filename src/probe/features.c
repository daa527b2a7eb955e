// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#define HELPER_LOOP 181 /* BPF_FUNC_loop, which headers before 5.17 do not define */

bool kernel_lacks_task_storage(void)
{
	return libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 0;
}

bool kernel_lacks_reads(void)
{
	/* The program is: bpf_probe_read_kernel(&eight_bytes_of_stack, 8, NULL); return 0. */
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", program,
			       sizeof(program) / sizeof(program[0]), NULL);

	if (fd < 0)
		return errno == EINVAL;
	close(fd);
	return false;
}

/* Loads a program that returns 0. Returns its descriptor, or -errno. */
static int load_nothing(enum bpf_prog_type type, struct bpf_prog_load_opts *opts)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(type, NULL, "GPL", program, sizeof(program) / sizeof(program[0]),
			     opts);
}

bool kernel_traces_function(__u32 id)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = id);
	int fd = id ? load_nothing(BPF_PROG_TYPE_TRACING, &opts) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool kernel_traces_returns(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	LIBBPF_OPTS(bpf_link_create_opts, none,
		    .kprobe_multi.flags = BPF_F_KPROBE_MULTI_RETURN);
	int fd = load_nothing(BPF_PROG_TYPE_KPROBE, &opts), link, err;

	if (fd < 0)
		return false;
	link = bpf_link_create(fd, 0, BPF_TRACE_KPROBE_MULTI, &none);
	err = link < 0 ? errno : 0;
	if (link >= 0)
		close(link);
	close(fd);
	return err == EINVAL;
}

void features_ask(struct features *f)
{
	/* The errors that these tests cause are expected: keep them out of the log of the load. */
	libbpf_print_fn_t print = f->asked ? NULL : libbpf_set_print(NULL);
	struct btf *kernel;

	if (f->asked)
		return;
	f->asked = true;
	kernel = btf__load_vmlinux_btf();
	f->lacks_btf = libbpf_get_error(kernel);
	if (!f->lacks_btf) {
		f->lacks_iterators =
			btf__find_by_name_kind(kernel, "bpf_iter_task_new", BTF_KIND_FUNC) < 0;
		btf__free(kernel);
	}
	f->lacks_task_storage = kernel_lacks_task_storage();
	f->lacks_loop = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, HELPER_LOOP, NULL) == 0;
	libbpf_set_print(print);
}

const char *features_lack_task_build(const struct features *f)
{
	if (f->lacks_btf)
		return "needs the kernel's own BTF";
	if (f->lacks_task_storage)
		return "this kernel has no task storage for tracing (5.12)";
	if (f->lacks_loop)
		return "this kernel lacks helpers it needs (5.17)";
	return NULL;
}
