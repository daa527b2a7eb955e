// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/python_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/exported.h"
#include "unwind/python_offsets.h"

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

/* Returns N for file names such as "python3.N" and "libpython3.N.so.1.0". */
static unsigned int minor_by_name(const char *name)
{
	const char *at = strstr(name, "python3.");
	unsigned int minor = 0;

	if (!at)
		return 0;
	for (at += strlen("python3."); *at >= '0' && *at <= '9'; at++)
		minor = minor * 10 + *at - '0';
	return minor;
}

static unsigned int find_minor(const struct byte_source *file, const struct elf_headers *h,
			       const char *name, __u64 version_at)
{
	unsigned int minor = minor_by_name(name);
	__u64 version = 0;

	if (!minor && version_at && exported_read(file, h, version_at, &version, sizeof(version)) &&
	    version >> 24 == MAJOR_ONLY)
		minor = version >> 16 & 0xff;
	return minor;
}

static void read_interpreter(const struct byte_source *file, const struct elf_headers *h,
			     const char *name, struct python_file *ret)
{
	struct exported symbol[] = {{"_PyRuntime", 0}, {"Py_Version", 0}};
	__u64 runtime, word[PYTHON_TABLE_WORDS];
	struct fs_python *p = &ret->offsets;

	exported_find(file, h, symbol, 2);
	runtime = symbol[0].address;
	if (!runtime)
		return;
	ret->is_interpreter =
		(exported_read(file, h, runtime, word, sizeof(word)) &&
		 python_offsets_by_table(word, PYTHON_TABLE_WORDS, p)) ||
		python_offsets_by_version(find_minor(file, h, name, symbol[1].address), p);
	p->key_at += p->key_at ? runtime : 0;
	p->interpreters_at += runtime;
}

static void read_libc(const struct byte_source *file, const struct elf_headers *h,
		      struct python_file *ret)
{
	struct exported symbol[] = {{"_thread_db_pthread_specific", 0},
				    {"_thread_db_pthread_key_data_data", 0},
				    {"_thread_db_sizeof_pthread", 0}};
	struct db_field specific, value;

	exported_find(file, h, symbol, 3);
	if (!symbol[0].address || !symbol[1].address ||
	    !exported_read(file, h, symbol[0].address, &specific, sizeof(specific)) ||
	    !exported_read(file, h, symbol[1].address, &value, sizeof(value)))
		return;
	ret->specific = specific.offset;
	ret->value = value.offset;
	if (symbol[2].address)
		exported_read(file, h, symbol[2].address, &ret->pthread_bytes,
			      sizeof(ret->pthread_bytes));
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

void python_file_join(const struct python_file *interpreter, __u64 bias,
		      const struct python_file *libc, struct fs_python *ret)
{
	*ret = interpreter->offsets;
	ret->key_at += ret->key_at ? bias : 0;
	ret->interpreters_at += bias;
	if (!libc)
		return;
	ret->specific = libc->specific;
	ret->value = libc->value;
	ret->pthread_bytes = libc->pthread_bytes;
}
