// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/precursors.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/btf.h"
#include "probe/host_facts.h"
#include "probe/object.h"
#include "probe/permission.h"
#include "probe/rights.h"
#include "wire_blackbox.h"

__asm__(".pushsection .rodata\n.balign 16\n.globl blackbox_object, blackbox_object_end\n"
	".hidden blackbox_object, blackbox_object_end\nblackbox_object:\n"
	".incbin \"blackbox.bpf.o\"\nblackbox_object_end:\n.popsection\n");
extern const unsigned char blackbox_object[] __attribute__((visibility("hidden")));
extern const unsigned char blackbox_object_end[] __attribute__((visibility("hidden")));

const struct precursor_hook precursor_hooks[] = {
#define RECORDER_HOOK(...) {__VA_ARGS__},
#include "probe/precursors.def"
#undef RECORDER_HOOK
};
const size_t nr_precursor_hooks = sizeof(precursor_hooks) / sizeof(precursor_hooks[0]);

struct precursors {
	struct bpf_object *obj;
	struct bpf_link *link[PRECURSOR_HOOKS][PRECURSOR_PROGRAMS];
	char refused[PRECURSOR_HOOKS][96];
	struct ring_buffer *rb;
	struct fs_blackbox_shared *shared;
	unsigned char *memory;
	size_t memory_bytes;
	bool holds;
	int (*take)(void *ctx, const struct precursor_record *r);
	void *ctx;
};

static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static void read_text(struct fs_blackbox_config *c)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512], name[64], type;
	unsigned long long at;

	while (f && (!c->text_start || !c->text_end) && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %63s", &at, &type, name) != 3)
			continue;
		if (!strcmp(name, "_text") || !strcmp(name, "_stext"))
			c->text_start = c->text_start ?: at;
		else if (!strcmp(name, "_etext"))
			c->text_end = at;
	}
	if (f)
		fclose(f);
}

static bool has_helper(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, helper, NULL) > 0;
}

/* Returns whether another CPU can run faultscope while a panic waits. */
static bool has_other_cpu(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

static void choose(struct precursors *p, const char *program, bool wanted)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(p->obj, program);

	if (prog)
		bpf_program__set_autoload(prog, wanted);
}

static int configure(struct precursors *p)
{
	struct bpf_map *map = bpf_object__find_map_by_name(p->obj, ".rodata.config");
	struct fs_blackbox_config *c;
	size_t size = 0;

	c = map ? (void *)bpf_map__initial_value(map, &size) : NULL;
	if (!c || size < sizeof(*c))
		return -EINVAL;
	read_text(c);
	c->smap = host_has_smap();
	c->marks = has_helper(BPF_FUNC_trace_vprintk);
	p->holds = has_other_cpu() && has_helper(BPF_FUNC_loop);
	c->hold_ns = PRECURSORS_HOLD_NS;
	choose(p, "black_panic", !p->holds);
	choose(p, "black_panic_hold", p->holds);
	return 0;
}

static void *map_memory(struct precursors *p, const char *name, size_t size)
{
	struct bpf_map *map = bpf_object__find_map_by_name(p->obj, name);
	void *at;

	if (!map) {
		errno = ENOENT;
		return NULL;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return at == MAP_FAILED ? NULL : at;
}

static void attach_one(struct precursors *p, size_t h)
{
	for (int i = 0; i < PRECURSOR_PROGRAMS && precursor_hooks[h].program[i]; i++) {
		const char *name = precursor_hooks[h].program[i];
		struct bpf_program *prog = bpf_object__find_program_by_name(p->obj, name);

		if (prog && !bpf_program__autoload(prog))
			/* not selected for the load: the probe uses another program */
			continue;
		p->link[h][i] = prog ? bpf_program__attach(prog) : NULL;
		if (p->link[h][i])
			continue;
		snprintf(p->refused[h], sizeof(p->refused[h]), "%s: %s",
			 prog ? bpf_program__section_name(prog) : name,
			 prog ? strerror(errno) : "not on this architecture");
		while (i--) {
			bpf_link__destroy(p->link[h][i]);
			p->link[h][i] = NULL;
		}
		return;
	}
}

static int take_one(void *ctx, void *data, size_t size)
{
	struct precursors *p = ctx;

	return size < sizeof(struct precursor_record) ? 0 : p->take(p->ctx, data);
}

static int map_all(struct precursors *p)
{
	p->memory_bytes = 256 * 512;
	p->memory = map_memory(p, "survivors", p->memory_bytes); /* NULL: no copies are kept */
	p->shared = map_memory(p, ".data.shared", sizeof(*p->shared));
	if (!p->shared)
		return -errno;
	p->rb = ring_buffer__new(bpf_map__fd(bpf_object__find_map_by_name(p->obj, "ring")),
				 take_one, p, NULL);
	return p->rb ? 0 : -errno;
}

static int load(struct precursors *p, const char *btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo, .btf_custom_path = btf, .object_name = "blackbox");
	int err;

	p->obj = bpf_object__open_mem(blackbox_object, blackbox_object_end - blackbox_object, &oo);
	if (!p->obj)
		return -errno;
	object_size_lru_tables(p->obj);
	err = configure(p) ?: bpf_object__load(p->obj);
	return err ?: map_all(p);
}

int precursors_open(struct precursors **ret, const char *btf_path, char *error, size_t size)
{
	struct precursors *p = calloc(1, sizeof(*p));
	char btf[BTF_PATH_MAX];
	int err;

	if (!p)
		return -ENOMEM;
	libbpf_set_print(say_nothing);
	err = btf_find(btf_path, btf, error, size);
	if (!err) {
		cap_t had = rights_raise(RIGHTS_FOR_BPF);

		/*
		 * With the path of vmlinux, libbpf searches types only in the kernel's own BTF.
		 * Without a path, libbpf before 1.3 also loads the BTF of modules for a missing
		 * type. This needs CAP_SYS_ADMIN.
		 */
		err = load(p, *btf ? btf : "/sys/kernel/btf/vmlinux");
		if (err)
			err = permission_explain(err, "", error, size);
		for (size_t h = 0; h < nr_precursor_hooks && !err; h++)
			attach_one(p, h);
		rights_lower(had);
	}
	if (err) {
		precursors_close(p);
		return err;
	}
	*ret = p;
	return 0;
}

void precursors_close(struct precursors *p)
{
	if (!p)
		return;
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		for (int i = 0; i < PRECURSOR_PROGRAMS; i++)
			bpf_link__destroy(p->link[h][i]);
	ring_buffer__free(p->rb);
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	if (p->memory)
		munmap(p->memory, p->memory_bytes);
	bpf_object__close(p->obj);
	free(p);
}

const char *precursors_refused(const struct precursors *p, size_t hook)
{
	return *p->refused[hook] ? p->refused[hook] : NULL;
}

int precursors_fd(const struct precursors *p)
{
	return ring_buffer__epoll_fd(p->rb);
}

int precursors_drain(struct precursors *p, int (*take)(void *ctx, const struct precursor_record *r),
		     void *ctx)
{
	int n;

	p->take = take;
	p->ctx = ctx;
	n = ring_buffer__consume(p->rb);
	return n < 0 ? n : 0;
}

__u64 precursors_count(const struct precursors *p, __u32 what, __u64 ip)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(p->obj, "equals");
	struct fs_equal_key key = {.what = what, .at = ip};
	struct fs_equal value = {};

	return map && !bpf_map_lookup_elem(bpf_map__fd(map), &key, &value) ? value.count : 0;
}

static int try_lookup(void *ctx)
{
	const struct precursors *p = ctx;
	const struct bpf_map *map = bpf_object__find_map_by_name(p->obj, "equals");
	struct fs_equal_key key = {};
	struct fs_equal value;

	return map ? bpf_map_lookup_elem(bpf_map__fd(map), &key, &value) : 0;
}

bool precursors_need_rights(struct precursors *p)
{
	int answer;

	return !rights_try_without(try_lookup, p, &answer) && answer == -EPERM;
}

__u64 precursors_panic(const struct precursors *p)
{
	return *(const volatile __u64 *)&p->shared->panic_cpu;
}

void precursors_panic_kept(struct precursors *p)
{
	*(volatile __u64 *)&p->shared->panic_kept = 1;
}

bool precursors_holds(const struct precursors *p)
{
	return p->holds;
}

unsigned char *precursors_memory(const struct precursors *p, size_t *ret_bytes)
{
	*ret_bytes = p->memory ? p->memory_bytes : 0;
	return p->memory;
}
