// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/python_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/exported.h"

#define KEY_IN_TSS 4 /* offset of the key in Py_tss_t: {int is_initialized; pthread_key_t key} */
#define MAJOR_ONLY 3

/*
 * Descriptor of a field that glibc exports for libthread_db: size in bits, number of elements,
 * offset.
 */
struct db_field {
	__u32 bits, count, offset;
};

static const char *name_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/*
 * Returns N for file names such as "python3.N" and "libpython3.N.so.1.0". Builds without the global
 * interpreter lock end in "t" and are not accepted.
 */
static unsigned int minor_by_name(const char *name)
{
	const char *at = strstr(name, "python3.");
	unsigned int minor = 0;

	if (!at)
		return 0;
	for (at += strlen("python3."); *at >= '0' && *at <= '9'; at++)
		minor = minor * 10 + *at - '0';
	return *at == 't' ? 0 : minor;
}

static void read_interpreter(const struct byte_source *file, const struct elf_headers *h,
			     const char *name, struct python_file *ret)
{
	struct exported symbol[] = {{"_PyRuntime", 0}, {"Py_Version", 0}};
	__u64 version = 0;

	exported_find(file, h, symbol, 2);
	if (!symbol[0].address)
		return;
	ret->runtime = symbol[0].address;
	ret->minor = minor_by_name(name);
	if (!ret->minor && symbol[1].address &&
	    exported_read(file, h, symbol[1].address, &version, sizeof(version)) &&
	    version >> 24 == MAJOR_ONLY)
		ret->minor = version >> 16 & 0xff;
}

static void read_libc(const struct byte_source *file, const struct elf_headers *h,
		      struct python_file *ret)
{
	struct exported symbol[] = {{"_thread_db_pthread_specific", 0},
				    {"_thread_db_pthread_key_data_data", 0}};
	struct db_field specific, value;

	exported_find(file, h, symbol, 2);
	if (!symbol[0].address || !symbol[1].address ||
	    !exported_read(file, h, symbol[0].address, &specific, sizeof(specific)) ||
	    !exported_read(file, h, symbol[1].address, &value, sizeof(value)))
		return;
	ret->specific = specific.offset;
	ret->value = value.offset;
}

void python_file_read(const struct byte_source *file, const char *path, struct python_file *ret)
{
	const char *name = name_of(path);
	bool is_python = strstr(name, "python") != NULL;
	bool is_libc = !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2", 6) ||
		       !strncmp(name, "libpthread", 10);
	struct elf_headers h;

	*ret = (struct python_file){};
	if ((!is_python && !is_libc) || elf_headers_read(file, &h) || !h.wide)
		return;
	if (is_python)
		read_interpreter(file, &h, name, ret);
	else
		read_libc(file, &h, ret);
}

#define PYTHON(n, key, state, inner, code, back, instr, flag, bytes, shim_, line, file, name,      \
	       table, start, shift, ascii, other)                                                  \
	{.key_at = key,                                                                            \
	 .minor = n,                                                                               \
	 .state_frame = state,                                                                     \
	 .inner_frame = inner,                                                                     \
	 .frame_code = code,                                                                       \
	 .frame_back = back,                                                                       \
	 .frame_instr = instr,                                                                     \
	 .frame_flag = flag,                                                                       \
	 .frame_bytes = bytes,                                                                     \
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
	 .text_shift = shift,                                                                      \
	 .text_ascii = ascii,                                                                      \
	 .text_other = other},
static const struct fs_python versions[] = {
#include "unwind/python_versions.def"
};
#undef PYTHON

#if defined(__aarch64__)
#define KEY_FURTHER(minor) ((minor) <= 11 ? 16 : 0)
#else
#define KEY_FURTHER(minor) 0
#endif

bool python_offsets(const struct python_file *interpreter, __u64 bias,
		    const struct python_file *libc, struct fs_python *ret)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (versions[i].minor != interpreter->minor)
			continue;
		*ret = versions[i];
		ret->key_at += interpreter->runtime + bias + KEY_FURTHER(ret->minor);
		ret->specific = libc->specific;
		ret->value = libc->value;
		return libc->specific != 0;
	}
	return false;
}
