/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernelread N: makes the kernel read an unmapped kernel address N times. A BPF program reads it by
 * bpf_probe_read_kernel(), which uses copy_from_kernel_nofault(). So each read is a page fault in
 * kernel mode, but no oops. Prints the number of reads, and of reads that failed with -EFAULT.
 */
#include "common.h"

#include <linux/bpf.h>
#include <sys/syscall.h>

/* An address that the kernel never maps with four page-table levels: it is below vmalloc space. */
#define NOBODYS_ADDRESS 0xffffc8ffdeadb000ULL

static int load(void)
{
	struct bpf_insn insn[] = {
		{BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0},
		{BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8},
		{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8},
		{BPF_LD | BPF_DW | BPF_IMM, BPF_REG_3, 0, 0, (__s32)NOBODYS_ADDRESS},
		{0, 0, 0, 0, (__s32)(NOBODYS_ADDRESS >> 32)},
		{BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel},
		{BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
	};
	const struct rlimit no_limit = {RLIM_INFINITY, RLIM_INFINITY};
	union bpf_attr attr;

	/* Before Linux 5.11, memory of BPF programs counts towards RLIMIT_MEMLOCK. */
	setrlimit(RLIMIT_MEMLOCK, &no_limit);

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (unsigned long)insn;
	attr.insn_cnt = sizeof(insn) / sizeof(insn[0]);
	attr.license = (unsigned long)"GPL";
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int read_once(int prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = prog;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)))
		die("BPF_PROG_TEST_RUN");
	return attr.test.retval;
}

int main(int argc, char **argv)
{
	const char *words[1];
	long reads, refused = 0;
	int prog;

	parse_args(argc, argv, "N", NULL, words, 1, 1);
	reads = parse_number(words[0]);
	prog = load();
	if (prog < 0)
		die("BPF_PROG_LOAD");
	wait_for_go();
	for (long i = 0; i < reads; i++)
		refused += read_once(prog) == -EFAULT;
	truth_open();
	truth_number("reads", reads);
	truth_number("refused", refused);
	truth_close();
	return 0;
}
