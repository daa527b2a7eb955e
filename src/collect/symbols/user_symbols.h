/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names of the functions in user stacks. What a process has mapped is learned while it
 * lives, and the files stay open, so that its stacks have names after its end too. By libelf and a
 * table of our own, not by libdwfl: that looks for each address through all symbols of a file
 * (1.8 ms an address in libtorch, 3 ms in libjvm), maps files that may shrink under it, and unpacks
 * without a limit.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_USER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>

#include "records/records.h"

#define USER_NAME_BYTES	  256
#define USER_MODULE_BYTES 128

/* What fell out, and why. */
struct user_symbols_lost {
	__u64 processes; /* forgotten for newer ones */
	__u64 files;	 /* closed for newer ones */
	__u64 maps;	 /* mappings past what is kept or read of a process */
	__u64 refused;	 /* mapped files that could not be opened, or were others by then */
	__u64 malformed; /* those that are no ELF file, or a broken one */
	__u64 symbols;	 /* files with more symbols than are kept */
	__u64 tables;	 /* made again: dropped for others since */
	__u64 perf_maps; /* of another user, or with more lines than are kept */
};

struct user_symbols {
	struct user_files *files; /* owned */
	struct user_procs *procs; /* owned */
	int our_root;
	__u64 clock;	/* counts uses */
	bool foreign;	/* /proc has other pids than the stacks: nothing is learned */
	bool text_only; /* read mappings as before Linux 6.11 */
	struct user_symbols_lost lost;
};

struct user_symbol {
	char name[USER_NAME_BYTES];	/* empty: not known */
	char module[USER_MODULE_BYTES]; /* its file's name without folders, "[jit]"; empty: unknown
					 */
	__u64 offset;			/* of the address, from where the function begins */
	__u64 address; /* as the file has it (what addr2line takes); the ip of a JIT */
	bool astray;   /* known to be no code: chance put it into a chain of frames */
};

/* Returns 0 or -ENOMEM; then close it anyway. */
int user_symbols_open(struct user_symbols *us);
void user_symbols_close(struct user_symbols *us);

/*
 * Learns what a process maps executable now; ask at its first stack and after its execs. Never
 * smaps, no ptrace. Returns 0 or -errno (-ESRCH: it is gone), and keeps what it knew.
 */
int user_symbols_learn(struct user_symbols *us, const struct process_key *of);

/*
 * The name of a frame as the kernel's bpf_get_stack() gives it with BPF_F_USER_BUILD_ID. All frames
 * but the innermost are return addresses: the call is what is named. Learns again where the process
 * has come to map more. False: nothing is known, not even the module.
 */
bool user_symbols_resolve(struct user_symbols *us, const struct process_key *of,
			  const struct bpf_stack_build_id *frame, bool innermost,
			  struct user_symbol *ret);

#endif
