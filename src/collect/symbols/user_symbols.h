/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names functions in user stacks. A process's mappings are read while it lives. The mapped
 * files stay open, so that stacks of the process can be named after it has ended.
 *
 * libdwfl is not used. For each address, it searches all symbols of a file (1.8 ms in libtorch, 3
 * ms in libjvm). It also maps files, which may shrink meanwhile, and it decompresses without a
 * limit.
 */
#ifndef FS_COLLECT_SYMBOLS_USER_SYMBOLS_H
#define FS_COLLECT_SYMBOLS_USER_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/bpf.h>

#include "records/records.h"

#define USER_NAME_BYTES	  256
#define USER_MODULE_BYTES 128

/* Counters of what is missing, one per reason. */
struct user_symbols_lost {
	__u64 processes; /* processes evicted by newer ones */
	__u64 files;	 /* files closed to make room for newer ones */
	__u64 maps;	 /* mappings above the maximum number per process */
	__u64 refused;	 /* mapped files that could not be opened */
	__u64 malformed; /* mapped files that are no valid ELF files */
	__u64 symbols;	 /* files with more symbols than are stored */
	__u64 tables;	 /* tables built again after they were dropped */
	__u64 perf_maps; /* perf maps dropped, owned by another user, or too long */
};

struct user_symbols {
	struct user_files *files; /* open files, owned */
	struct user_procs *procs; /* known processes, owned */
	int our_root;
	__u64 clock;	/* number of uses so far, to find the least recently used */
	bool foreign;	/* records have pids of another namespace: mappings cannot be read */
	bool text_only; /* read mappings as text, as on kernels before 6.11 */
	struct user_symbols_lost lost;
};

/* A place in the code of a file, whose source line may be known. */
struct user_code {
	__u32 place, serial; /* index and serial of the file in user_files; serial 0: no file */
	__u64 address;	     /* address of the instruction before relocation */
};

struct user_symbol {
	char name[USER_NAME_BYTES]; /* name of the function; empty: not known */
	/* file name without directories, or "[jit]"; empty: not known */
	char module[USER_MODULE_BYTES];
	__u64 offset;  /* offset of the address in the function */
	__u64 address; /* address in the file, as for addr2line; of JIT code, in memory */
	bool astray;   /* the address is not code: a random value in a broken chain of frames */
	struct user_code code;
};

/* Returns 0 or -ENOMEM. Call user_symbols_close() even after an error. */
int user_symbols_open(struct user_symbols *us);
void user_symbols_close(struct user_symbols *us);

/*
 * Reads a process's executable mappings; call at its first stack and after each exec. Never reads
 * smaps or uses ptrace. Returns 0, or -errno (-ESRCH: gone); on error, earlier values stay.
 */
int user_symbols_learn(struct user_symbols *us, const struct process_key *of);

/* Returns whether a process ended before its executable mappings were read. */
bool user_symbols_missed(struct user_symbols *us, const struct process_key *of);

/* A file that may have source lines. */
struct user_code_file {
	int fd; /* the ELF file, or its debug file; not owned */
	bool has_lines;
	const __u8 *build_id;
	__u32 build_id_bytes; /* 0: no build-id */
};

/* Finds the file of a place in code. Returns false if the file was closed meanwhile. */
bool user_symbols_code_file(const struct user_symbols *us, const struct user_code *code,
			    struct user_code_file *ret);

/*
 * Names a frame of bpf_get_stack() with BPF_F_USER_BUILD_ID. All frames except the innermost are
 * return addresses, which get the name of the call before the address. If the process has mapped
 * more files, reads the mappings again. Returns false if not even the module is known.
 */
bool user_symbols_resolve(struct user_symbols *us, const struct process_key *of,
			  const struct bpf_stack_build_id *frame, bool innermost,
			  struct user_symbol *ret);

#endif
