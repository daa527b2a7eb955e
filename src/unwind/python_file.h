/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: reads from the files of a process how to find its CPython frames. The interpreter's file
 * (python3.N or libpython3.N.so) has the address of the runtime state. The C library has the layout
 * of pthread keys.
 */
#ifndef FS_UNWIND_PYTHON_FILE_H
#define FS_UNWIND_PYTHON_FILE_H

#include "collect/symbols/elf_headers.h"
#include "wire_python.h"

struct python_file {
	bool is_interpreter; /* true: the file is an interpreter of a supported version */
	/* offsets of the interpreter; key_at and interpreters_at are addresses in the file */
	struct fs_python offsets;
	/* offset of the pthread key values in struct pthread; 0: the file is not glibc */
	__u32 specific;
	__u32 value;
	__u32 pthread_bytes; /* size of struct pthread; 0: unknown */
};

/* Reads what a file says about CPython. `path` gives the name of the file and may be NULL. */
void python_file_read(const struct byte_source *file, const char *path, struct python_file *ret);

/*
 * Fills in the offsets for the BPF program from the interpreter and the C library (NULL: not
 * glibc). `bias` is the difference between the interpreter's addresses in memory and in its file.
 */
void python_file_join(const struct python_file *interpreter, __u64 bias,
		      const struct python_file *libc, struct fs_python *ret);

#endif
