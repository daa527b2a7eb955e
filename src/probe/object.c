// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/object.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "faultscope.skel.h"
#include "faultscope_hash.skel.h"

int object_open(struct object *o, bool hash, const char *btf_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo, .btf_custom_path = btf_path,
		    .object_name = "faultscope");
	size_t size;
	const void *bytes =
		hash ? faultscope_hash_bpf__elf_bytes(&size) : faultscope_bpf__elf_bytes(&size);
	struct bpf_map *config;

	memset(o, 0, sizeof(*o));
	o->hash = hash;
	o->obj = bpf_object__open_mem(bytes, size, &oo);
	if (!o->obj)
		return -errno;
	config = object_map(o, ".rodata.config");
	o->config = config ? (void *)bpf_map__initial_value(config, &size) : NULL;
	if (!o->config || size < sizeof(*o->config)) {
		object_close(o);
		return -EINVAL;
	}
	return 0;
}

int object_load(struct object *o)
{
	struct bpf_map *map = object_map(o, ".data.shared");
	void *shared;
	int err = bpf_object__load(o->obj);

	if (err)
		return err;
	o->config = NULL; /* libbpf sealed it */
	shared = mmap(NULL, sizeof(*o->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(map), 0);
	if (shared == MAP_FAILED)
		return -errno;
	o->shared = shared;
	return 0;
}

void object_close(struct object *o)
{
	if (o->shared)
		munmap(o->shared, sizeof(*o->shared));
	bpf_object__close(o->obj);
	memset(o, 0, sizeof(*o));
}

struct bpf_program *object_program(const struct object *o, const char *name)
{
	return bpf_object__find_program_by_name(o->obj, name);
}

struct bpf_map *object_map(const struct object *o, const char *name)
{
	return bpf_object__find_map_by_name(o->obj, name);
}
