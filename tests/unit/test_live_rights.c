// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which capabilities of the program file are in effect while the live source loads and
 * attaches its programs, and that none is afterwards, also after an error. The capabilities are
 * those of this test; the kernel is played.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <sys/auxv.h>
#include <sys/capability.h>

#include "live_machine.h"

#define BIT(cap) (1ULL << (cap))
#define FOR_BPF	 (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_RESOURCE))
#define SEARCH	 BIT(CAP_DAC_READ_SEARCH)
#define ALL	 (FOR_BPF | SEARCH | BIT(CAP_KILL))
#define NR_CAPS	 41
#define UNSEEN	 UINT64_MAX /* the call was not made */

static bool fakes; /* the process has the capabilities of this test */
static unsigned long long in_effect;

/* The capabilities in effect at some calls, all of them together. */
static struct {
	uint64_t opening, loading, linking, tracefs;
} during;

static int fails_at_ring; /* errno of mapping the ring; 0: it succeeds */

static void note(uint64_t *at)
{
	*at = *at == UNSEEN ? in_effect : *at & in_effect;
}

unsigned long getauxval(unsigned long type)
{
	return type == AT_SECURE && fakes;
}

cap_t cap_get_proc(void)
{
	cap_t caps = cap_init();

	for (cap_value_t one = 0; one < NR_CAPS; one++) {
		if (ALL & BIT(one))
			cap_set_flag(caps, CAP_PERMITTED, 1, &one, CAP_SET);
		if (in_effect & BIT(one))
			cap_set_flag(caps, CAP_EFFECTIVE, 1, &one, CAP_SET);
	}
	return caps;
}

int cap_set_proc(cap_t caps)
{
	cap_flag_value_t v;

	in_effect = 0;
	for (cap_value_t one = 0; one < NR_CAPS; one++)
		if (!cap_get_flag(caps, one, CAP_EFFECTIVE, &v) && v == CAP_SET)
			in_effect |= BIT(one);
	return 0;
}

/* The user's file of types is opened with the user's rights. */
int access(const char *path, int mode)
{
	if (!strcmp(path, LIVE_BTF))
		note(&during.opening);
	return faccessat(AT_FDCWD, path, mode, 0);
}

int openat(int dir, const char *path, int flags, ...)
{
	int mode = 0;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, int);
		va_end(list);
	}
	/* before the load, only the first call's tracepoint is looked for */
	if (!strcmp(path, "events/syscalls/sys_exit_munmap/id"))
		note(&during.tracefs);
	return played_real(SYS_openat, dir, path, flags, mode);
}

int bpf_object__load(struct bpf_object *obj)
{
	int (*real)(struct bpf_object *) =
		(int (*)(struct bpf_object *))dlsym(RTLD_NEXT, "bpf_object__load");

	note(&during.loading);
	return real(obj);
}

/* The types of this function depend on the version of libbpf, so the name is another one here. */
int made_prog_load(int type, const char *name, const char *license, const void *insns, size_t n,
		   void *opts) __asm__("bpf_prog_load");
int made_prog_load(int type, const char *name, const char *license, const void *insns, size_t n,
		   void *opts)
{
	int (*real)(int, const char *, const char *, const void *, size_t, void *) =
		(int (*)(int, const char *, const char *, const void *, size_t, void *))dlsym(
			RTLD_NEXT, "bpf_prog_load");

	note(&during.loading);
	return real(type, name, license, insns, n, opts);
}

struct bpf_link *bpf_program__attach_trace(const struct bpf_program *prog)
{
	struct bpf_link *(*real)(const struct bpf_program *) =
		(struct bpf_link * (*)(const struct bpf_program *))
			dlsym(RTLD_NEXT, "bpf_program__attach_trace");

	note(&during.linking);
	return real(prog);
}

void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t from)
{
	const struct played *p = fails_at_ring && fd >= 0 ? played_by_fd(fd) : NULL;

	if (p && !strcmp(p->name, "ring") && from) {
		errno = fails_at_ring;
		return MAP_FAILED;
	}
	return (void *)played_real(SYS_mmap, at, size, rights, flags, fd, from);
}

static void begin_with_rights(void)
{
	begin();
	fakes = true;
	in_effect = 0;
	memset(&during, 0xff, sizeof(during));
	force("calls", "tracepoint");
}

static void has(uint64_t loading, uint64_t attaching, const char *name)
{
	is_u64(during.loading, loading, name);
	is_u64(during.linking, attaching, "rights to attach programs");
	is_u64(during.tracefs, attaching, "rights to read tracefs");
	is_u64(in_effect, 0, "afterwards, there are none");
	memset(&during, 0xff, sizeof(during));
}

static const struct sink none;

static int take_nothing(void *ctx, const struct record *h)
{
	(void)ctx, (void)h;
	return 0;
}

static const struct sink takes = {.take = take_nothing};

static void test_open(void)
{
	begin_with_rights();
	if (!ok(!load(), "a source %s", error))
		return;
	is_u64(during.opening, 0, "the types are looked for without rights");
	has(FOR_BPF, FOR_BPF | SEARCH, "rights to load programs");
	live_pause(src);
	is_u64(live_resume(src), 0, "probes are attached again");
	has(UNSEEN, FOR_BPF | SEARCH, "no program is loaded");
	live_pause(src);
	played_fail(PLAYED_LINK, NULL, 0, ENOMEM);
	is_u64(-live_resume(src), ENOMEM, "no memory to attach them");
	is_u64(in_effect, 0, "rights do not stay");
	unload();
	/* rights that the user has are neither raised nor lowered */
	begin_with_rights();
	fakes = false;
	in_effect = ALL;
	if (ok(!load(), "with the user's rights %s", error))
		is_u64(in_effect, ALL, "all stay");
	unload();
	in_effect = 0;
}

static void test_deferred(void)
{
	begin_with_rights();
	wish.defers = true;
	if (!ok(!load(), "core probes %s", error))
		return;
	is_u64(in_effect, 0, "no rights stay");
	memset(&during, 0xff, sizeof(during));
	is_u64(live_load_deferred(src, &takes, error, sizeof(error)), 0, "the others");
	has(FOR_BPF, FOR_BPF | SEARCH, "rights to load programs");
	unload();
	begin_with_rights();
	wish.defers = true;
	if (!ok(!load(), "core probes %s", error))
		return;
	played_fail(PLAYED_PROGRAM, NULL, 0, ENOMEM);
	is_u64(-live_load_deferred(src, &none, error, sizeof(error)), ENOMEM, "no memory");
	is_u64(in_effect, 0, "rights do not stay");
	unload();
}

static void test_errors(void)
{
	size_t fds = played_fds();

	begin_with_rights();
	played_fail(PLAYED_PROGRAM, NULL, 3, ENOMEM);
	is_u64(-load(), ENOMEM, "no memory");
	ok(!src && !in_effect, "rights do not stay");
	begin_with_rights();
	fails_at_ring = EAGAIN;
	is_u64(-load(), EAGAIN, "a ring that cannot be mapped");
	is_str(error, "cannot map the ring buffer: Resource temporarily unavailable", "its text");
	ok(!src && !in_effect, "rights do not stay");
	fails_at_ring = 0;
	is_u64(played_open(PLAYED_LINK), 0, "no probe stays attached");
	is_u64(played_fds(), fds, "no file is left");
}

int main(void)
{
#ifdef __x86_64__
	if (live_make_machine()) {
		test_open();
		test_deferred();
		test_errors();
		free(live_types);
		return tap_done();
	}
#endif
	ok(true, "# SKIP no types of the kernel, no tracefs, or no user namespaces");
	return tap_done();
}
