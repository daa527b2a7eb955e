// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/object.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/growth_table.h"
#include "probe/tracefs.h"

/* Embeds the object files unchanged. A libbpf skeleton would support only one byte order. */
#define BYTES_OF(name, file)                                                                       \
	__asm__(".pushsection .rodata\n.balign 16\n"                                               \
		".globl " #name ", " #name "_end\n.hidden " #name ", " #name "_end\n" #name        \
		":\n.incbin \"" file "\"\n" #name "_end:\n.popsection\n");                         \
	extern const unsigned char name[] __attribute__((visibility("hidden")));                   \
	extern const unsigned char name##_end[] __attribute__((visibility("hidden")))

BYTES_OF(bpf_full_object, "faultscope.bpf.o");
BYTES_OF(bpf_plain_object, "faultscope_plain.bpf.o");
BYTES_OF(bpf_hash_object, "faultscope_hash.bpf.o");

static const struct {
	const unsigned char *begin, *end;
} builds[] = {
	[OBJECT_FULL] = {bpf_full_object, bpf_full_object_end},
	[OBJECT_PLAIN] = {bpf_plain_object, bpf_plain_object_end},
	[OBJECT_HASH] = {bpf_hash_object, bpf_hash_object_end},
};

/* Lets the kernel drop the pages of an embedded object file that is no longer needed. */
static void leave_file(enum object_build build)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)builds[build].begin + page - 1) & -page;
	uintptr_t end = (uintptr_t)builds[build].end & -page;

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

int object_open(struct object *o, enum object_build build, const char *btf_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo, .btf_custom_path = btf_path,
		    .object_name = "faultscope");
	size_t size = builds[build].end - builds[build].begin;
	struct bpf_map *config;

	memset(o, 0, sizeof(*o));
	o->build = build;
	kernel_types_begin(&o->types);
	if (!btf_path && *o->types.path)
		oo.btf_custom_path = o->types.path;
	parallel_load_begin();
	o->obj = bpf_object__open_mem(builds[build].begin, size, &oo);
	if (!o->obj) {
		int err = -errno;

		object_close(o);
		return err;
	}
	config = object_map(o, ".rodata.config");
	o->config = config ? (void *)bpf_map__initial_value(config, &size) : NULL;
	if (!o->config || size < sizeof(*o->config)) {
		object_close(o);
		return -EINVAL;
	}
	return 0;
}

struct btf *object_read_types(struct object *o)
{
	kernel_types_read(&o->types, o->obj);
	o->config->task_type = o->types.task_type;
	o->config->area_type = o->types.area_type;
	o->config->file_type = o->types.file_type;
	o->config->maple_type = o->types.maple_type;
	return o->types.btf;
}

/* Names the maps for growth and for stacks. These maps use no memory if growth is not measured. */
static const char *const growth_maps[] = {
	"astray",	 "told",	"growth_places",  "growth_holders", "growth",
	"growth_spares", "owners",	"unwind_procs",	  "unwind_areas",   "unwind_pages",
	"unwind_rules",	 "unwind_rows", "unwind_pythons", "told_codes",	    "walk_scratches",
	"call_sites"};

#define FIRST_ROWS   256 /* rows of growth that are mapped at first */
#define SPARES_BYTES (GROWTH_MAX * sizeof(struct fs_spare))

static void *map_shared(const struct object *o, const char *name, size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_SHARED, bpf_map__fd(object_map(o, name)), 0);

	return at == MAP_FAILED ? NULL : at;
}

size_t object_files(const struct object *o)
{
	struct bpf_program *prog;
	struct bpf_map *map;
	size_t n = 0;

	bpf_object__for_each_program (prog, o->obj)
		n += bpf_program__autoload(prog);
	bpf_object__for_each_map(map, o->obj) n += bpf_map__autocreate(map);
	return n;
}

void object_size_lru_tables(struct bpf_object *obj)
{
	int cpus = libbpf_num_possible_cpus();
	__u32 least = cpus > 0 ? 256 * cpus : 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH &&
					       bpf_map__max_entries(map) < least)
		bpf_map__set_max_entries(map, least);
}

void object_size_tables(struct object *o, __u32 ring_bytes, __u64 processes)
{
	bpf_map__set_max_entries(object_map(o, "ring"), ring_bytes);
	if (o->build == OBJECT_HASH && processes > 8192)
		bpf_map__set_max_entries(object_map(o, "procs"), processes);
	object_size_lru_tables(o->obj);
}

/*
 * Gives a map one entry, unless the map is in use since an earlier load: see object_adopt(). Some
 * builds of the BPF object lack some of the maps.
 */
static int shrink(struct bpf_map *map)
{
	return map && bpf_map__fd(map) < 0 ? bpf_map__set_max_entries(map, 1) : 0;
}

int object_adopt(struct object *o, const struct object *from)
{
	struct bpf_map *map, *old;
	int err = 0;

	bpf_object__for_each_map(map, o->obj)
	{
		const char *name = bpf_map__name(map);

		old = strncmp(name, ".rodata", 7) ? object_map(from, name) : NULL;
		if (old && bpf_map__fd(old) >= 0)
			err = err ?: bpf_map__reuse_fd(map, bpf_map__fd(old));
	}
	return err;
}

int object_map_growth(struct object *o, __u32 rows)
{
	const struct growth *at;

	rows = rows < GROWTH_MAX ? rows : GROWTH_MAX;
	if (rows <= o->growth_rows)
		return 0;
	if (o->growth_rows)
		rows = rows < GROWTH_MAX / 2 ? rows * 2 : GROWTH_MAX;
	at = map_shared(o, "growth", rows * sizeof(*at), PROT_READ);
	if (!at)
		return -errno;
	if (o->growth)
		munmap((void *)o->growth, o->growth_rows * sizeof(*o->growth));
	o->growth = at;
	o->growth_rows = rows;
	return 0;
}

bool object_has_rest(const struct object *o)
{
	return o->rest;
}

int object_load_rest(struct object *o)
{
	int err = o->rest ? parallel_load_rest(o->rest) : 0;

	o->rest = NULL;
	return err;
}

int object_load(struct object *o, bool growth, parallel_load_filter now, void *ctx)
{
	int err = 0;

	for (size_t i = 0; !growth && i < sizeof(growth_maps) / sizeof(growth_maps[0]); i++)
		err = err ?: shrink(object_map(o, growth_maps[i]));
	if (!o->config->resident.on)
		err = err ?: shrink(object_map(o, "resident"));
	err = err ?: parallel_load(o->obj, &o->types, now, ctx, &o->rest);
	parallel_load_end();
	kernel_types_end(&o->types);
	if (err)
		return err;
	o->config = NULL; /* libbpf made the memory of `config` read-only at the load */
	leave_file(o->build);
	o->shared = map_shared(o, ".data.shared", sizeof(*o->shared), PROT_READ | PROT_WRITE);
	if (!o->shared)
		return -errno;
	growth_table_grant_stacks(o->shared);
	if (!growth)
		return 0;
	err = object_map_growth(o, FIRST_ROWS);
	if (err)
		return err;
	o->spares = map_shared(o, "growth_spares", SPARES_BYTES, PROT_READ | PROT_WRITE);
	return o->spares ? 0 : -errno;
}

void object_close(struct object *o)
{
	if (o->shared)
		munmap(o->shared, sizeof(*o->shared));
	if (o->growth)
		munmap((void *)o->growth, o->growth_rows * sizeof(*o->growth));
	if (o->spares)
		munmap(o->spares, SPARES_BYTES);
	if (o->obj)
		leave_file(o->build);
	parallel_load_free(o->rest);
	bpf_object__close(o->obj);
	parallel_load_end();
	kernel_types_end(&o->types);
	memset(o, 0, sizeof(*o));
}

struct bpf_program *object_program(const struct object *o, const char *name)
{
	return bpf_object__find_program_by_name(o->obj, name);
}

bool object_is_typed(const struct object *o, const char *program)
{
	struct bpf_program *prog = object_program(o, program);

	return prog && (parallel_load_is_typed(prog) ||
			bpf_program__type(prog) == BPF_PROG_TYPE_TRACING);
}

/* Returns whether a program needs tracepoints at the ends of system calls that do not exist. */
static bool lacks_exits(const struct bpf_program *prog)
{
	int tracefs, number;

	if (!prog || strcmp(bpf_program__section_name(prog), "tp"))
		return false;
	tracefs = tracefs_open();
	number = tracefs < 0 ? tracefs : tracefs_tracepoint(tracefs, "syscalls/sys_exit_mmap");
	if (tracefs >= 0)
		close(tracefs);
	return number == -ENOENT;
}

bool object_lacks_target(const struct object *o, const char *program, const struct btf *kernel)
{
	const char *section, *target;
	char type[128];

	if (!object_is_typed(o, program))
		return lacks_exits(object_program(o, program));
	section = bpf_program__section_name(object_program(o, program));
	target = strchr(section, '/');
	if (!target || !strncmp(section, "iter/", 5))
		return false;
	if (strncmp(section, "tp_btf/", 7))
		return btf__find_by_name_kind(kernel, target + 1, BTF_KIND_FUNC) < 0;
	snprintf(type, sizeof(type), "btf_trace_%s", target + 1);
	return btf__find_by_name_kind(kernel, type, BTF_KIND_TYPEDEF) < 0;
}

bool object_lacks_one(const struct object *o, const char *const *programs, size_t n,
		      const struct btf *kernel)
{
	for (size_t i = 0; i < n && programs[i]; i++)
		if (object_lacks_target(o, programs[i], kernel))
			return true;
	return false;
}

struct bpf_map *object_map(const struct object *o, const char *name)
{
	return bpf_object__find_map_by_name(o->obj, name);
}
