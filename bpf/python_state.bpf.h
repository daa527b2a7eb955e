/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the CPython thread state (PyThreadState) of the current thread. The interpreter's own
 * variable for the current thread cannot be used alone: it is empty while the thread has released
 * the global interpreter lock, as extensions do around slow work.
 */
#ifndef FS_PYTHON_STATE_BPF_H
#define FS_PYTHON_STATE_BPF_H

#include "compat.bpf.h"
#include "wire.h"

#ifndef FS_HASH

#define KEYS_IN_BLOCK  32 /* number of pthread keys per block in glibc's struct pthread */
#define KEY_DATA_BYTES 16
#define KEYS_MAX       1024
/* maximum number of thread states that are compared with the current thread */
#define STATES_MAX 512
/* bit of PyThreadState._status: of the states of this thread, this one ran last */
#define STATUS_BOUND 8

static __always_inline __u64 user_word(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* Returns the thread pointer of the current thread. */
static __always_inline __u64 thread_pointer(void)
{
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(current_task(), thread.fsbase);
#else
	return BPF_CORE_READ(current_task(), thread.uw.tp_value);
#endif
}

/*
 * Returns whether a thread state is of the thread with this thread pointer. A thread state has the
 * value of pthread_self(). On x86-64, this is the thread pointer. On arm64, it is the address of
 * struct pthread, which ends at the thread pointer and has less than 4 KiB in all C libraries.
 */
static __always_inline bool is_of_thread(const struct fs_python *of, __u64 state, __u64 pointer)
{
	__u64 self = user_word(state + of->state_thread);

#if defined(__TARGET_ARCH_x86)
	return self == pointer;
#else
	return self && pointer - self < 4096;
#endif
}

/*
 * Finds the thread state with the interpreter's pthread key, in the memory of glibc. *ret_has_key:
 * there is such a key, so a thread without a value has no thread state.
 */
static __always_inline __u64 state_by_key(const struct fs_python *of, __u64 pointer,
					  bool *ret_has_key)
{
	__u64 pthread = pointer, tss, block;
	__u32 key;

#if !defined(__TARGET_ARCH_x86)
	if (!of->pthread_bytes)
		return 0;
	pthread -= of->pthread_bytes;
#endif
	if (!of->specific || !of->key_at)
		return 0;
	/* Py_tss_t: {int is_initialized; pthread_key_t key} */
	tss = user_word(of->key_at);
	key = tss >> 32;
	if (!(__u32)tss || key >= KEYS_MAX)
		return 0;
	*ret_has_key = true;
	block = user_word(pthread + of->specific + key / KEYS_IN_BLOCK * sizeof(__u64));
	if (!block)
		return 0;
	return user_word(block + key % KEYS_IN_BLOCK * KEY_DATA_BYTES + of->value);
}

struct state_search {
	const struct fs_python *of;
	__u64 pointer;
	__u64 interpreter; /* next interpreter whose threads are compared */
	__u64 state;	   /* next thread state to compare */
	__u64 found;
};

/* Returns the innermost frame of a thread state, or 0. */
static __always_inline __u64 innermost_frame(const struct fs_python *of, __u64 state)
{
	__u64 frame = user_word(state + of->state_frame);

	if (frame && of->inner_frame != FS_PYTHON_NONE)
		frame = user_word(frame + of->inner_frame);
	return frame;
}

/*
 * Returns whether a thread state is the one that ran last of those of its thread. A thread has a
 * state in each interpreter that it ran. Up to CPython 3.11, a state does not tell; but the states
 * of interpreters that were made later are compared first, and a subinterpreter has frames only
 * while it runs.
 */
static __always_inline bool ran_last(const struct fs_python *of, __u64 state)
{
	if (of->state_status == FS_PYTHON_NONE)
		return innermost_frame(of, state);
	return user_word(state + of->state_status) & STATUS_BOUND;
}

static long compare_state(__u32 i, struct state_search *s)
{
	const struct fs_python *of = s->of;

	if (!s->state) {
		if (!s->interpreter)
			return 1;
		s->state = user_word(s->interpreter + of->interpreter_state);
		s->interpreter = user_word(s->interpreter + of->interpreter_next);
		return 0;
	}
	if (is_of_thread(of, s->state, s->pointer) && ran_last(of, s->state)) {
		s->found = s->state;
		return 1;
	}
	s->state = user_word(s->state + of->state_next);
	return 0;
}

/*
 * Finds the thread state in the interpreters' lists of threads. This works with each C library, but
 * takes two reads of memory for each thread of the process.
 */
static __noinline __u64 state_by_list(const struct fs_python *of, __u64 pointer)
{
	struct state_search s = {.of = of, .pointer = pointer};

	if (!of || !of->interpreters_at)
		return 0;
	s.interpreter = user_word(of->interpreters_at);
	bpf_loop(STATES_MAX, compare_state, &s, 0);
	return s.found;
}

/*
 * Returns whether the pthread key leads to the thread state that ran last. Up to CPython 3.11, it
 * leads to the state of the first interpreter.
 */
static __always_inline bool key_is_enough(const struct fs_python *of)
{
	return of->state_status != FS_PYTHON_NONE ||
	       !user_word(user_word(of->interpreters_at) + of->interpreter_next);
}

/* Returns the address of the current thread's PyThreadState, or 0. */
static __always_inline __u64 python_state(const struct fs_python *of)
{
	__u64 pointer = thread_pointer(), state = 0;
	bool has_key = false;

	if (!pointer)
		return 0;
	if (key_is_enough(of))
		state = state_by_key(of, pointer, &has_key);
	if (has_key && (!state || is_of_thread(of, state, pointer)))
		return state;
	return state_by_list(of, pointer);
}

#endif

#endif
