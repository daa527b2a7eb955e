/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of wire.h: offsets that the BPF program needs to find the CPython frames of a process. User
 * space fills them in from the interpreter's file or version (src/unwind/python_offsets.c) and from
 * the C library.
 */
#ifndef FS_WIRE_PYTHON_H
#define FS_WIRE_PYTHON_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* maximum number of Python processes; forked children share the entry of their parent */
#define FS_PYTHONS	       4096
#define FS_PYTHON_NONE	       0xffff
#define FS_PYTHON_FRAME_MAX    127 /* maximum number of bytes of a frame that are read */
#define FS_PYTHON_IDENTITY_MAX 32

struct fs_python {
	/* address of the Py_tss_t whose pthread key leads to the PyThreadState; 0: there is none */
	__u64 key_at;
	/* address of the pointer to the first interpreter, whose threads are a list */
	__u64 interpreters_at;
	__u32 specific;	     /* offset of the blocks of 32 pthread key values in struct pthread; 0:
				unknown */
	__u32 value;	     /* offset of the value in the data of one pthread key */
	__u32 pthread_bytes; /* size of struct pthread; 0: unknown */
	__u16 minor;	     /* N of CPython version 3.N */
	/* offsets in an interpreter of the next interpreter, and of its first PyThreadState */
	__u16 interpreter_next;
	__u16 interpreter_state;
	/* offsets in PyThreadState */
	__u16 state_next;
	__u16 state_thread; /* pthread_self() of the thread */
	/* bits of its status; FS_PYTHON_NONE: CPython does not have this field */
	__u16 state_status;
	/* the frame, or the structure that points to it */
	__u16 state_frame;
	/*
	 * offset of the frame pointer in that structure; FS_PYTHON_NONE: state_frame is the frame
	 * itself
	 */
	__u16 inner_frame;
	/* offsets in a frame */
	__u16 frame_code;
	__u16 frame_back;
	__u16 frame_instr;
	/*
	 * offset of the byte that marks the end of a run; FS_PYTHON_NONE: each Python frame has its
	 * own native frame
	 */
	__u16 frame_flag;
	/* index of the copy of the instructions that the frame runs (code_copies) */
	__u16 frame_copy;
	/* bytes of a frame up to the last of these fields; at most FS_PYTHON_FRAME_MAX */
	__u16 frame_bytes;
	/* value of the flag byte in a frame that ends a run of frames; 0: the flag is `is_entry` */
	__u16 shim;
	/* offsets in a code object */
	__u16 code_line;
	__u16 code_file;
	__u16 code_name;
	__u16 code_table;
	__u16 code_start; /* offset of the instructions in a code object; 0: `instr` is an index */
	/*
	 * offset of the pointer to the copies of the instructions that threads run; 0: all threads
	 * run the instructions in the code object
	 */
	__u16 code_copies;
	__u16 bytes_size; /* offsets in a bytes object */
	__u16 bytes_data;
	__u16 text_length; /* offsets in a str object */
	__u16 text_state;
	__u16 text_ascii; /* offset of the characters of an ASCII str */
	__u16 text_other;
	/*
	 * offset and size of what tells a code object from an older one at the same address: the
	 * version number, or up to CPython 3.11 the pointers to its names and its line table (the
	 * BPF program then compares its first line and its names, too)
	 */
	__u16 code_identity;
	__u16 identity_bytes; /* at most FS_PYTHON_IDENTITY_MAX */
	__u16 unused;
};

#endif
