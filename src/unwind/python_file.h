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
	__u64 runtime;	    /* address of _PyRuntime in the file; 0: the file does not export it */
	unsigned int minor; /* N of CPython 3.N; 0: not a supported version */
	/* offset of the pthread key values in struct pthread; 0: the file is not the C library */
	__u32 specific;
	__u32 value;
};

/* Reads what a file says about CPython. `path` gives the name of the file and may be NULL. */
void python_file_read(const struct byte_source *file, const char *path, struct python_file *ret);

/*
 * Fills in the offsets for the BPF program from the interpreter and the C library. `bias` is the
 * difference between the interpreter's addresses in memory and in its file. Returns false if the
 * version is not supported.
 */
bool python_offsets(const struct python_file *interpreter, __u64 bias,
		    const struct python_file *libc, struct fs_python *ret);

#endif
