// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/python_offsets.h"

#include <string.h>

#define KEPT_FROM	   12 /* from CPython 3.12 on, code objects have a version number */
#define VERSION_AFTER_LINE 24 /* offset of this number behind the first line */
#define STATE_NEXT	   8
#define OWNER_INTERPRETER  3 /* owner of a shim frame */

#define PYTHON(n, key, head, threads, thread, status, state, inner, code, back, instr, flag,       \
	       shim_, line, file, name, table, start, ascii, other)                                \
	{.key_at = key,                                                                            \
	 .interpreters_at = head,                                                                  \
	 .minor = n,                                                                               \
	 .interpreter_state = threads,                                                             \
	 .state_next = STATE_NEXT,                                                                 \
	 .state_thread = thread,                                                                   \
	 .state_status = status,                                                                   \
	 .state_frame = state,                                                                     \
	 .inner_frame = inner,                                                                     \
	 .frame_code = code,                                                                       \
	 .frame_back = back,                                                                       \
	 .frame_instr = instr,                                                                     \
	 .frame_flag = flag,                                                                       \
	 .shim = shim_,                                                                            \
	 .code_line = line,                                                                        \
	 .code_file = file,                                                                        \
	 .code_name = name,                                                                        \
	 .code_table = table,                                                                      \
	 .code_start = start,                                                                      \
	 .bytes_size = 16,                                                                         \
	 .bytes_data = 32,                                                                         \
	 .text_length = 16,                                                                        \
	 .text_state = 32,                                                                         \
	 .text_ascii = ascii,                                                                      \
	 .text_other = other},
static const struct fs_python versions[] = {
#include "unwind/python_versions.def"
};
#undef PYTHON

#if defined(__aarch64__)
#define RUNTIME_FURTHER(minor) ((minor) <= 11 ? 16 : 0)
#else
#define RUNTIME_FURTHER(minor) 0
#endif

static __u16 frame_end(__u16 least, __u16 offset)
{
	__u16 end = (offset & ~7) + sizeof(__u64);

	return offset != FS_PYTHON_NONE && end > least ? end : least;
}

/* Fills in the fields that follow from others. */
static void complete(struct fs_python *p)
{
	p->frame_bytes = frame_end(0, p->frame_code);
	p->frame_bytes = frame_end(p->frame_bytes, p->frame_back);
	p->frame_bytes = frame_end(p->frame_bytes, p->frame_instr);
	p->frame_bytes = frame_end(p->frame_bytes, p->frame_flag);
	p->frame_bytes = frame_end(p->frame_bytes, p->frame_copy);
	if (p->minor >= KEPT_FROM) {
		p->code_identity = p->code_line + VERSION_AFTER_LINE;
		p->identity_bytes = sizeof(__u32);
	} else {
		p->code_identity = p->code_file;
		p->identity_bytes = p->code_table + sizeof(__u64) - p->code_file;
	}
}

bool python_offsets_by_version(unsigned int minor, struct fs_python *ret)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].minor != minor)
			continue;
		*ret = versions[i];
		ret->key_at += RUNTIME_FURTHER(minor);
		complete(ret);
		return true;
	}
	return false;
}

enum table_word { TABLE_COOKIE, TABLE_VERSION, TABLE_FREE_THREADED };

#define FIRST_WITH_TABLE 13

/*
 * Offset of autoTSSkey in _PyRuntime, which is not in the table. CPython 3.15 has no such key. A
 * wrong offset does no harm: the BPF program checks each thread state that it finds.
 */
static const __u64 keys[] = {2160, 2336, 0};

#define MEMBER(field, ...) {#field, {__VA_ARGS__}},
static const struct {
	const char *name;
	__u8 index[sizeof(keys) / sizeof(keys[0])];
} members[] = {
#include "unwind/python_debug_offsets.def"
};
#undef MEMBER

/* Returns whether the table has all members, and offsets that fit the fields of fs_python. */
static bool is_plausible(const __u64 *word, size_t words, unsigned int version)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].index[version] >= words ||
		    (members[i].index[version] &&
		     word[members[i].index[version]] >= FS_PYTHON_NONE))
			return false;
	return true;
}

bool python_offsets_by_table(const __u64 *word, size_t words, struct fs_python *ret)
{
	unsigned int version;
	size_t i = 0;

	if (words <= TABLE_FREE_THREADED || memcmp(&word[TABLE_COOKIE], "xdebugpy", 8) ||
	    word[TABLE_VERSION] >> 24 != 3)
		return false;
	version = (word[TABLE_VERSION] >> 16 & 0xff) - FIRST_WITH_TABLE;
	if (version >= sizeof(keys) / sizeof(keys[0]) || !is_plausible(word, words, version))
		return false;
	*ret = (struct fs_python){.key_at = keys[version],
				  .minor = version + FIRST_WITH_TABLE,
				  .inner_frame = FS_PYTHON_NONE,
				  .shim = OWNER_INTERPRETER};
#define MEMBER(field, ...)                                                                         \
	ret->field = members[i].index[version] ? word[members[i].index[version]] : 0;              \
	i++;
#include "unwind/python_debug_offsets.def"
#undef MEMBER
	ret->text_other = ret->text_ascii + 2 * sizeof(__u64);
	complete(ret);
	return ret->frame_bytes <= FS_PYTHON_FRAME_MAX;
}
