// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the kernel's file of types is read, and which types of it a BPF object needs. The file,
 * and the types and programs of the object, are those of this test.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "failing_memory.h"
#include "open_files.h"
#include "probe/kernel_types.h"
#include "tap.h"

#define KERNEL	  "/sys/kernel/btf/vmlinux"
#define BYTES_MAX (256 << 20) /* of the kernel's file */

static int file = -1;		      /* the kernel's file of types */
static int open_error;		      /* errno of its open(); 0: it can be opened */
static bool maps;		      /* it can be mapped, as since 6.16 */
static size_t part, readable;	      /* bytes that read() returns at once, and altogether */
static unsigned int reads, odd_reads; /* `odd_reads`: of too few or too many bytes */
static void *mapped;		      /* the file; NULL: it was not mapped, or not as it should */
static unsigned int unmapped;
static int write_error;	 /* errno of writing the file for libbpf; 0: it succeeds */
static bool writes_part; /* its last byte is not written */
static bool no_proc;	 /* /proc is not mounted */
static struct btf *of_object;

static const char *const sections[] = {"tp_btf/signal_generate", "fentry/flush", "iter/task",
				       "raw_tp/other", "syscall"};
#define NR_SECTIONS (sizeof(sections) / sizeof(sections[0]))

int open(const char *path, int flags, ...)
{
	int mode;
	va_list list;

	va_start(list, flags);
	mode = flags & O_CREAT ? va_arg(list, int) : 0;
	va_end(list);
	if (strcmp(path, KERNEL) != 0)
		return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	errno = open_error;
	if (open_error)
		return -1;
	lseek(file, 0, SEEK_SET);
	return dup(file);
}

int access(const char *path, int mode)
{
	if (no_proc && !strncmp(path, "/proc/", 6)) {
		errno = ENOENT;
		return -1;
	}
	return syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static bool is_file(int fd)
{
	struct stat st, its;

	return !fstat(fd, &st) && !fstat(file, &its) && st.st_ino == its.st_ino;
}

static size_t size_of_file(void)
{
	struct stat st;

	return fstat(file, &st) ? 0 : st.st_size;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && is_file(fd) && !maps) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	if (fd >= 0 && is_file(fd)) {
		bool whole = size == size_of_file() && protection == PROT_READ &&
			     flags == MAP_PRIVATE && !at && !offset;

		at = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
		mapped = whole ? at : NULL;
		return at;
	}
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int munmap(void *at, size_t size)
{
	unmapped += at == mapped && size == size_of_file();
	return syscall(SYS_munmap, at, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	if (write_error) {
		errno = write_error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, writes_part ? size - 1 : size, at);
}

/* libbpf copies the types, so that those of a large file would take long. */
struct btf *btf__new(const void *raw, __u32 size)
{
	struct btf *(*real)(const void *, __u32) =
		(struct btf * (*)(const void *, __u32)) dlsym(RTLD_NEXT, "btf__new");

	if (size < 1 << 20)
		return real(raw, size);
	errno = EINVAL;
	return NULL;
}

ssize_t read(int fd, void *to, size_t size)
{
	ssize_t n;

	if (is_file(fd)) {
		reads++;
		odd_reads += size != size_of_file() - lseek(fd, 0, SEEK_CUR);
		if (!readable) {
			errno = EIO;
			return -1;
		}
		size = size < part ? size : part;
		size = size < readable ? size : readable;
	}
	n = syscall(SYS_read, fd, to, size);
	if (n > 0 && is_file(fd))
		readable -= n;
	return n;
}

struct btf *bpf_object__btf(const struct bpf_object *obj)
{
	(void)obj;
	return of_object;
}

struct bpf_program *bpf_object__next_program(const struct bpf_object *obj, struct bpf_program *prev)
{
	const char *const *next = prev ? (const char *const *)prev + 1 : sections;

	(void)obj;
	return next < sections + NR_SECTIONS ? (struct bpf_program *)next : NULL;
}

const char *bpf_program__section_name(const struct bpf_program *prog)
{
	return *(const char *const *)prog;
}

/* ids of types in the kernel's file */
static struct {
	int task, area, tracepoint, function, called;
} ids;

static void add_tracepoint(struct btf *b, const char *name, int proto)
{
	ids.tracepoint = btf__add_typedef(b, name, btf__add_ptr(b, proto));
}

/* Writes the kernel's types to the file. */
static void make_file(bool swapped)
{
	struct btf *b = btf__new_empty();
	int word = btf__add_int(b, "unsigned long", 8, 0), proto;
	const void *raw;
	__u32 size;

	ids.task = btf__add_struct(b, "task_struct", 16);
	btf__add_field(b, "start", word, 0, 0);
	btf__add_field(b, "end", word, 64, 0);
	btf__add_struct(b, "mm_struct", 8);
	btf__add_field(b, "total_vm", word, 0, 0);
	btf__add_struct(b, "unneeded", 8);
	btf__add_field(b, "total_vm", word, 0, 0);
	ids.area = btf__add_struct(b, "vm_area_struct", 8);
	btf__add_field(b, "vm_start", word, 0, 0);
	btf__add_struct(b, "fprobe", 8);
	btf__add_field(b, "hlist_array", word, 0, 0);
	btf__add_enum(b, "maple_type", 4);
	btf__add_enum_value(b, "maple_dense", 0);
	btf__add_enum(b, "zone", 4);
	btf__add_enum_value(b, "normal", 1);
	proto = btf__add_func_proto(b, 0);
	btf__add_func_param(b, "x", word);
	ids.function = btf__add_func(b, "flush", BTF_FUNC_STATIC, proto);
	ids.called = btf__add_func(b, "bpf_iter_task_new", BTF_FUNC_GLOBAL, proto);
	btf__add_func(b, "unneeded_function", BTF_FUNC_STATIC, proto);
	add_tracepoint(b, "btf_trace_other", proto);
	add_tracepoint(b, "btf_trace_signal_generate", proto);
	if (swapped)
		btf__set_endianness(b, btf__endianness(b) == BTF_LITTLE_ENDIAN ? BTF_BIG_ENDIAN
									       : BTF_LITTLE_ENDIAN);
	raw = btf__raw_data(b, &size);
	if (file >= 0)
		close(file);
	file = memfd_create("types", MFD_CLOEXEC);
	if (file < 0 || pwrite(file, raw, size, 0) != (ssize_t)size)
		abort();
	btf__free(b);
}

/* The object names one type with a flavour, and one that is no more than a flavour. */
static void make_object(void)
{
	int word;

	of_object = btf__new_empty();
	word = btf__add_int(of_object, "unsigned long", 8, 0);
	btf__add_struct(of_object, "task_struct", 8);
	btf__add_field(of_object, "start", word, 0, 0);
	btf__add_struct(of_object, "mm_struct___old", 8);
	btf__add_field(of_object, "total_vm", word, 0, 0);
	btf__add_struct(of_object, "___unneeded", 8);
	btf__add_enum(of_object, "zone", 4);
	btf__add_enum_value(of_object, "normal", 1);
}

static void begin(void)
{
	open_error = 0;
	maps = false;
	part = readable = SIZE_MAX;
	reads = odd_reads = unmapped = 0;
	mapped = NULL;
	write_error = 0;
	writes_part = false;
}

/* Functions that programs call, of which the kernel has one. */
static void check_functions(const struct kernel_types *k)
{
	for (int number = KERNEL_FUNCTION_FIRST - 1; number <= KERNEL_FUNCTION_END; number++)
		is_u64(kernel_types_function(k, number),
		       number == NUMBER_OF_bpf_iter_task_new ? ids.called : 0, "a function");
}

static bool has(const struct kernel_types *k, const char *name)
{
	return btf__find_by_name(k->btf, name) > 0;
}

static void check(const struct kernel_types *k)
{
	ok(has(k, "task_struct") && has(k, "zone"), "types that the object names");
	ok(has(k, "mm_struct"), "also with a flavour");
	ok(has(k, "maple_type") && has(k, "fprobe"), "types that are read by name");
	ok(!has(k, "unneeded") && !has(k, "unneeded_function") && !has(k, "vm_area_struct") &&
		   !has(k, "btf_trace_other"),
	   "no others");
	is_u64(k->task_type, ids.task, "the kernel's own id of a type");
	is_u64(k->area_type, ids.area, "also if the type is not taken");
	is_u64(k->file_type, 0, "a type that the kernel lacks");
	is_u64(kernel_types_tracepoint(k, "signal_generate"), ids.tracepoint, "a tracepoint");
	is_u64(kernel_types_traced(k, "flush"), ids.function, "a function");
	is_u64(kernel_types_traced(k, "signal_generate"), 0, "a tracepoint is no function");
	is_u64(kernel_types_tracepoint(k, "flush"), 0, "nor the reverse");
	check_functions(k);
}

static void test_read(void)
{
	struct kernel_types k;

	for (int i = 0; i < 3; i++) {
		size_t fds = open_fds();

		begin();
		maps = !i;
		if (i == 2)
			part = 7;
		kernel_types_begin(&k);
		is_u64(kernel_types_read(&k, NULL), 0,
		       i == 0	? "the file is mapped"
		       : i == 1 ? "or read"
				: "or read in parts");
		ok(!k.whole && !k.err && k.btf, "types are taken");
		check(&k);
		ok((reads > 0) == !maps && !odd_reads, "it is read if it cannot be mapped");
		ok((mapped != NULL) == maps && unmapped == maps, "the mapping does not stay");
		kernel_types_end(&k);
		is_u64(open_fds(), fds, "no file stays open");
	}
}

static void fails(int want, const char *name)
{
	struct kernel_types k;

	kernel_types_begin(&k);
	is_u64(kernel_types_read(&k, NULL), (uint64_t)want, name);
	ok(k.err == want && !k.btf && !k.targets, "no types");
	is_u64(kernel_types_traced(&k, "flush"), 0, "nor functions");
	kernel_types_end(&k);
}

static void test_errors(void)
{
	begin();
	open_error = ENOENT;
	fails(-ENOENT, "a kernel without types");
	open_error = EACCES;
	fails(-ENOENT, "types that may not be read");
	open_error = ENOMEM;
	fails(-ENOMEM, "memory runs out");
	open_error = EMFILE;
	fails(-EMFILE, "files run out");
	open_error = ENFILE;
	fails(-ENFILE, "also those of the machine");
	begin();
	readable = 100;
	fails(-EINVAL, "the file can be read in part only");
	begin();
	close(file);
	file = memfd_create("empty", MFD_CLOEXEC);
	open_error = 0;
	errno = EMFILE; /* of an earlier call */
	fails(-ENOENT, "an empty file");
	if (pwrite(file, "no types at all, but some text", 30, 0) != 30)
		abort();
	begin();
	fails(-EINVAL, "a file of something else");
	begin();
	for (int more = 0; more < 2; more++) {
		close(file);
		file = memfd_create("large", MFD_CLOEXEC);
		if (ftruncate(file, BYTES_MAX + more))
			abort();
		maps = true;
		fails(more ? -ENOENT : -EINVAL, more ? "a file that is too large" : "a large file");
		ok((mapped != NULL) == !more, "whether it is mapped");
		mapped = NULL;
	}
	make_file(false);
	begin();
	memory_fail_after(0);
	fails(-ENOMEM, "no memory for the file");
	ok(memory_recovers() && !reads, "it is not read");
}

/* What kernel_types_take() cannot read, libbpf may know: then all types are kept. */
static void test_whole(void)
{
	struct kernel_types k;
	struct stat st;

	begin();
	make_file(true);
	kernel_types_begin(&k);
	is_u64(kernel_types_read(&k, NULL), 0, "types that only libbpf can read");
	ok(k.whole && has(&k, "unneeded") && has(&k, "unneeded_function"), "all are kept");
	is_u64(k.task_type, ids.task, "the id of a type");
	is_u64(k.area_type, ids.area, "and of another one");
	is_u64(k.file_type, 0, "a type that the kernel lacks");
	is_u64(kernel_types_traced(&k, "flush"), ids.function, "a function");
	is_u64(kernel_types_traced(&k, "no_such"), 0, "no such function");
	is_u64(kernel_types_traced(&k, "task_struct"), 0, "a structure is no function");
	check_functions(&k);
	ok(!fstat(k.fd, &st) && st.st_size == (off_t)size_of_file(),
	   "the file for libbpf has them");
	kernel_types_end(&k);
	write_error = ENOSPC;
	fails(-ENOMEM, "a file for libbpf that cannot be written");
	write_error = 0;
	writes_part = true;
	fails(-ENOMEM, "or not as a whole");
	writes_part = false;
	make_file(false);
}

/* libbpf opens the file of types by its path in /proc. */
static void test_no_proc(void)
{
	struct kernel_types k;

	begin();
	no_proc = true;
	kernel_types_begin(&k);
	is_str(k.path, "", "without /proc, there is no file for libbpf");
	is_u64(kernel_types_read(&k, NULL), 0, "but types are read");
	check(&k);
	kernel_types_end(&k);
	no_proc = false;
	kernel_types_begin(&k);
	ok(!strncmp(k.path, "/proc/self/fd/", 14), "with it, there is: %s", k.path);
	kernel_types_end(&k);
}

int main(void)
{
	libbpf_set_print(NULL);
	make_file(false);
	make_object();
	test_read();
	test_errors();
	test_whole();
	test_no_proc();
	btf__free(of_object);
	close(file);
	return tap_done();
}
