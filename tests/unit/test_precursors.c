// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the probes of the flight recorder are loaded and attached: each on its own, all
 * programs of a probe or none. Programs and maps are those of this test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "made_precursors.h"
#include "probe/host_facts.h"
#include "tap.h"

static const char *symbols; /* text of /proc/kallsyms; NULL: the file of this machine */
static const char few_symbols[] = "10 T _text\n30 T _etext\n";
static bool no_symbols; /* it cannot be opened */

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*real)(const char *, const char *) =
		(FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");

	if (strcmp(path, "/proc/kallsyms") != 0 || (!symbols && !no_symbols))
		return real(path, mode);
	errno = EPERM;
	return no_symbols ? NULL : fmemopen((void *)symbols, strlen(symbols), "r");
}

static size_t mapped_bytes, unmapped_bytes; /* of maps */

void *mmap(void *at, size_t bytes, int rights, int flags, int fd, off_t from)
{
	void *ret = (void *)syscall(SYS_mmap, at, bytes, rights, flags, fd, from);

	if (flags == MAP_SHARED && rights == (PROT_READ | PROT_WRITE) && ret != MAP_FAILED)
		mapped_bytes += bytes;
	return ret;
}

int munmap(void *at, size_t bytes)
{
	unmapped_bytes += bytes;
	return syscall(SYS_munmap, at, bytes);
}

static void nothing_stays(const char *name)
{
	ok(!open_objects && !open_rings && mapped_bytes == unmapped_bytes, "%s: %d %d %zu %zu",
	   name, open_objects, open_rings, mapped_bytes, unmapped_bytes);
}

static struct precursors *opened(void)
{
	char error[1024] = "";
	struct precursors *p = NULL;
	int err = precursors_open(&p, NULL, error, sizeof(error));

	ok(!err && p, "opened %s", error);
	return p;
}

static size_t hook_of(const char *name)
{
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		if (!strcmp(precursor_hooks[h].name, name))
			return h;
	abort();
}

static int attached(const char *name)
{
	return named(name)->attached;
}

static void test_all(void)
{
	struct precursors *p;
	size_t bytes;

	made_begin();
	p = opened();
	is_str(loaded_btf, "/sys/kernel/btf/vmlinux", "types are those of the kernel alone");
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		is_str(precursors_refused(p, h), NULL, precursor_hooks[h].name);
	for (size_t i = 0; i < programs; i++)
		is_u64(program[i].attached, strcmp(program[i].name, "black_panic") != 0,
		       program[i].name);
	is_u64(precursors_fd(p), made_fd, "descriptor of records");
	ok(precursors_memory(p, &bytes) && bytes == 256 * 512, "memory with copies of records");
	is_u64(config.smap, host_has_smap(), "setting: SMAP");
	is_u64(config.marks, 1, "setting: marks");
	is_u64(config.hold_ns, PRECURSORS_HOLD_NS, "setting: how long a panic waits");
	ok(!config.text_start == !config.text_end && config.text_start <= config.text_end,
	   "setting: the kernel's code");
	is_u64(mapped_bytes - unmapped_bytes, 256 * 512 + sizeof(struct fs_blackbox_shared),
	       "memory that is mapped");
	precursors_close(p);
	for (size_t i = 0; i < programs; i++)
		is_u64(program[i].attached, 0, "detached");
	nothing_stays("all is closed");
	precursors_close(NULL);
}

/* A panic waits only if another CPU can run faultscope, and the kernel has the helper for it. */
static void test_panics(void)
{
	for (int have = 0; have < 4; have++) {
		bool holds = have == 3;
		struct precursors *p;

		made_begin();
		cpus = have & 1 ? 2 : 1;
		has_helper[BPF_FUNC_loop] = have & 2;
		p = opened();
		is_u64(precursors_holds(p), holds, "a panic waits");
		is_u64(attached("black_panic_hold"), holds, "the program that waits");
		is_u64(attached("black_panic"), !holds, "the program that does not");
		is_str(precursors_refused(p, hook_of("panic")), NULL, "one of them is enough");
		precursors_close(p);
	}
	made_begin();
	has_helper[BPF_FUNC_trace_vprintk] = false;
	precursors_close(opened());
	is_u64(config.marks, 0, "a kernel that cannot write marks");
}

static void test_refused(void)
{
	struct precursors *p;

	made_begin();
	named("black_fixup_end")->fails = true;
	named("black_mce")->lacking = true;
	named("black_iommu")->fails = true;
	p = opened();
	is_str(precursors_refused(p, hook_of("fixup")),
	       "tp/black_fixup_end: No such file or directory", "the second program fails");
	is_u64(attached("black_fixup_begin"), 0, "the first is detached");
	is_str(precursors_refused(p, hook_of("mce")), "black_mce: not on this architecture",
	       "a program that does not exist");
	is_str(precursors_refused(p, hook_of("iommu")), "tp/black_iommu: No such file or directory",
	       "the last probe");
	is_str(precursors_refused(p, hook_of("area")), NULL, "other probes");
	is_u64(attached("black_unmap"), 1, "are attached");
	precursors_close(p);
}

static void is_error(const char *name)
{
	char error[1024] = "";
	struct precursors *p;

	ok(precursors_open(&p, NULL, error, sizeof(error)) < 0 && *error, "%s", name);
	for (size_t i = 0; i < programs; i++)
		if (program[i].attached)
			ok(false, "%s is attached", program[i].name);
	nothing_stays(name);
}

/* The range of the kernel's code, of which kallsyms has the names in any order. */
static void test_text(void)
{
	static const struct {
		const char *symbols;
		uint64_t start, end;
		const char *name;
	} rows[] = {
		{"10 T _text\n20 t other\n30 T _etext\n", 0x10, 0x30, "both ends"},
		{"10 T _stext\n30 T _etext\n", 0x10, 0x30, "without the head"},
		{"10 T _text\n11 T _stext\n30 T _etext\n", 0x10, 0x30, "the first begin"},
		{"30 T _etext\n10 T _text\n40 T _etext\n", 0x10, 0x30, "no line behind both"},
		{"30 T _etext\n", 0, 0x30, "no begin"},
		{"10 T _text\n", 0x10, 0, "no end"},
		{"x\n10 T\n10 T _text\n30 T _etext\n", 0x10, 0x30, "other lines"},
		{"10 T _text_x\n30 T x_etext\n", 0, 0, "other names"},
		{"0 T _text\n0 T _etext\n", 0, 0, "hidden addresses"},
		{NULL, 0, 0, "no file"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		symbols = rows[i].symbols;
		no_symbols = !symbols;
		made_begin();
		precursors_close(opened());
		ok(config.text_start == rows[i].start && config.text_end == rows[i].end,
		   "%s: %#llx to %#llx", rows[i].name, (unsigned long long)config.text_start,
		   (unsigned long long)config.text_end);
	}
	symbols = few_symbols;
	no_symbols = false;
}

static void test_types(void)
{
	char error[1024] = "";
	struct precursors *p = NULL;

	made_begin();
	is_u64(-precursors_open(&p, "/nowhere", error, sizeof(error)), ENOENT,
	       "a file of types that is missing");
	is_str(error, "--btf /nowhere: cannot be read: No such file or directory", "its text");
	ok(!p, "there is nothing");
	nothing_stays("nothing is opened");
}

static void test_errors(void)
{
	struct precursors *p;
	size_t bytes = 1;

	made_begin();
	opens = false;
	is_error("the object cannot be opened");
	made_begin();
	loads = false;
	is_error("the object cannot be loaded");
	made_begin();
	has_ring = false;
	is_error("the ring cannot be mapped");
	made_begin();
	made_by_name(".data.shared")->name = "another";
	is_error("no shared memory");
	made_begin();
	made_by_name(".rodata.config")->initial_bytes--;
	is_error("other settings");
	made_begin();
	made_by_name("survivors")->name = "another";
	p = opened();
	ok(!precursors_memory(p, &bytes) && !bytes, "without memory for copies it works");
	precursors_close(p);
}

static int take(void *ctx, const struct precursor_record *r)
{
	*(__u64 *)ctx += r->ip;
	return 0;
}

static int refuse(void *ctx, const struct precursor_record *r)
{
	(void)ctx, (void)r;
	return -EIO;
}

static void test_records(void)
{
	struct fs_equal_key key = {.what = 3, .at = 0x1000};
	struct fs_equal value = {.count = 12};
	struct fs_blackbox_shared *shared;
	struct precursors *p;
	__u64 sum = 0;

	made_begin();
	p = opened();
	queue[queued++].ip = 77;
	is_u64(precursors_drain(p, take, &sum), 0, "records");
	is_u64(sum, 77, "a record that is cut is skipped");
	queued = 1;
	ok(precursors_drain(p, refuse, NULL) == -EIO, "an error of the receiver");
	bpf_map_update_elem(made_by_name("equals")->fd, &key, &value, BPF_ANY);
	is_u64(precursors_count(p, 3, 0x1000), 12, "equal events");
	is_u64(precursors_count(p, 2, 0x1000), 0, "of another kind");
	is_u64(precursors_count(p, 3, 0x1001), 0, "at another instruction");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      made_by_name(".data.shared")->fd, 0);
	is_u64(precursors_panic(p), 0, "no panic");
	shared->panic_cpu = 5;
	is_u64(precursors_panic(p), 5, "a panic waits");
	is_u64(shared->panic_kept, 0, "for the recorder");
	precursors_panic_kept(p);
	is_u64(shared->panic_kept, 1, "it goes on");
	ok(!precursors_need_rights(p), "counts need no privileges");
	made_lookup_error = -EPERM;
	ok(precursors_need_rights(p), "on an old kernel, they do");
	is_u64(precursors_count(p, 3, 0x1000), 0, "and are not known");
	made_lookup_error = -EACCES;
	ok(!precursors_need_rights(p), "another error is no matter of privileges");
	made_lookup_error = 0;
	munmap(shared, sizeof(*shared));
	precursors_close(p);
}

int main(void)
{
	test_all();
	symbols = few_symbols; /* the file of this machine is long */
	test_panics();
	test_refused();
	test_errors();
	test_text();
	test_types();
	test_records();
	return tap_done();
}
