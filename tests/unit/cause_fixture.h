/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes records of failed calls like those of BPF programs, and checks which cause is found. */
#ifndef FS_TESTS_CAUSE_FIXTURE_H
#define FS_TESTS_CAUSE_FIXTURE_H

#include <errno.h>
#include <sys/mman.h>

#include "fixture.h"
#include "kept_verdicts.h"

#define MAX  65530
#define PAGE 4096ULL
#define RW   (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

#define MAYMOVE		1 /* MREMAP_MAYMOVE of the kernel */
#define FIXED_NOREPLACE 0x100000
#define F_DUPFD_COMMAND 0

/* These VM_* and FMODE_* values are copied from include/linux/mm.h and fs.h of the kernel. */
#define VM_WRITE     0x2
#define VM_EXEC	     0x4
#define VM_SHARED    0x8
#define VM_MAYWRITE  0x20
#define VM_MAYEXEC   0x40
#define VM_LOCKED    0x2000
#define VM_ACCOUNT   0x100000
#define VM_NORESERVE 0x200000
#define FMODE_READ   1
#define FMODE_WRITE  2
#define FMODE_PATH   0x4000

#define RANGE_AT  0x7f0000000000ULL
#define REGULAR	  0100644
#define PIPE	  0010600
#define SECRETMEM 0x5345434d

static struct refused_record r;
static struct host_limits l;
static const char *arch = "x86_64";
static struct verdict v;

static inline void begin(enum call_id call, int error)
{
	r = refused_record(7, call, error);
	l = tick_record(0).limits;
}

static inline void begin_mmap(int error, uint64_t pages, uint64_t prot, uint64_t flags)
{
	begin(CALL_MMAP, error);
	r.args[1] = pages * PAGE;
	r.args[2] = prot;
	r.args[3] = flags;
}

/* Makes a record of a brk() call that requests `pages` pages above a heap that ends at 1 MiB. */
static inline void begin_brk(uint64_t pages)
{
	begin(CALL_BRK, 0);
	r.ret = 1 << 20;
	r.args[0] = r.ret + pages * PAGE;
}

/*
 * Makes a call on a range of `pages` pages. The first `mapped` pages are mapped with the VM_* flags
 * `flags`.
 */
static inline void begin_range(enum call_id call, int error, uint64_t pages, uint64_t mapped,
			       uint64_t flags)
{
	begin(call, error);
	r.args[0] = RANGE_AT;
	r.args[1] = pages * PAGE;
	r.range.walk = WALK_DONE;
	r.range.vmas = mapped != 0;
	r.range.flags_all = r.range.flags_any = flags;
	r.range.mapped_bytes = mapped * PAGE;
	/* The requested flags are not yet set at the first page of the range. */
	r.range.start = mapped ? RANGE_AT : 0;
	r.range.end = mapped ? RANGE_AT + mapped * PAGE : 0;
	r.range.start_flags = flags;
	if (mapped < pages)
		r.range.hole = RANGE_AT + mapped * PAGE;
}

/* Sets the file whose descriptor is passed to mmap(). */
static inline void is_of(uint32_t mode, uint32_t open_mode, uint32_t flags)
{
	r.file.flags = FILE_KNOWN | flags;
	r.file.mode = mode;
	r.file.open_mode = open_mode;
	strcpy(r.file.name, "thing");
}

static inline void is_cause(const char *cause, bool certain, const char *name)
{
	cause_of(&r, &l, arch, &v);
	is_str(v.cause, cause, name);
	if (strcmp(cause, "unknown"))
		ok(v.certain == certain, "%s: %s", name, certain ? "certain" : "not certain");
	else
		ok(!v.certain, "%s: unknown is not certain", name);
}

static inline void is_next(const char *const *want, const char *name)
{
	size_t n = 0;
	bool good = true;

	for (; want[n]; n++)
		good &= n < v.nr_next && !strcmp(v.next[n], want[n]);
	ok(good && n == v.nr_next, "%s: would fail next", name);
	for (size_t i = 0; !good && i < v.nr_next; i++)
		printf("#   got %s\n", v.next[i]);
}

#define NEXT(name, ...) is_next((const char *const[]){__VA_ARGS__, NULL}, name)
#define NO_NEXT(name)	is_next((const char *const[]){NULL}, name)

#endif
