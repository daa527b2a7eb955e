/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays the BPF programs of the flight recorder: replaces the functions of libbpf that load and
 * attach them. A test includes this file once, calls made_begin(), and changes what fails.
 */
#ifndef FS_TESTS_MADE_PRECURSORS_H
#define FS_TESTS_MADE_PRECURSORS_H

#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "made_maps.h"
#include "probe/precursors.h"
#include "wire_blackbox.h"

#define PROGRAMS 32
#define QUEUE	 64

struct made_program {
	const char *name;
	char section[48];
	bool autoload, lacking, fails;
	int attached;
};

static struct made_program program[PROGRAMS];
static size_t programs;
static struct fs_blackbox_config config;
static int open_objects, open_rings;
static bool opens, loads, has_ring, has_helper[__BPF_FUNC_MAX_ID];
static int cpus; /* on which this test may run */
static ring_buffer_sample_fn take_sample;
static void *take_ctx;
static char loaded_btf[128];
static struct precursor_record queue[QUEUE]; /* records that the next drain reads */
static size_t queued;
static int made_fd = -1; /* of the ring's epoll instance; never readable */

static inline struct made_program *named(const char *name)
{
	for (size_t i = 0; i < programs; i++)
		if (!strcmp(program[i].name, name))
			return &program[i];
	return NULL;
}

struct bpf_object *bpf_object__open_mem(const void *buf, size_t size,
					const struct bpf_object_open_opts *opts)
{
	if (memcmp(buf, "\177ELF", 4) || size < 1000)
		abort();
	snprintf(loaded_btf, sizeof(loaded_btf), "%s", opts->btf_custom_path);
	errno = ENOMEM;
	open_objects += opens;
	return opens ? (struct bpf_object *)program : NULL;
}

int bpf_object__load(struct bpf_object *obj)
{
	(void)obj;
	return loads ? 0 : -EPERM;
}

void bpf_object__close(struct bpf_object *obj)
{
	open_objects -= obj != NULL;
}

struct bpf_map *bpf_object__next_map(const struct bpf_object *obj, const struct bpf_map *map)
{
	(void)obj, (void)map;
	return NULL;
}

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	struct made_program *p = named(name);

	(void)obj;
	return p && !p->lacking ? (struct bpf_program *)p : NULL;
}

int bpf_program__set_autoload(struct bpf_program *prog, bool autoload)
{
	((struct made_program *)prog)->autoload = autoload;
	return 0;
}

bool bpf_program__autoload(const struct bpf_program *prog)
{
	return ((const struct made_program *)prog)->autoload;
}

const char *bpf_program__section_name(const struct bpf_program *prog)
{
	return ((const struct made_program *)prog)->section;
}

struct bpf_link *bpf_program__attach(const struct bpf_program *prog)
{
	struct made_program *p = (struct made_program *)prog;

	errno = ENOENT;
	if (p->fails)
		return NULL;
	p->attached++;
	return (struct bpf_link *)p;
}

int bpf_link__destroy(struct bpf_link *link)
{
	if (link)
		((struct made_program *)link)->attached--;
	return 0;
}

int libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id helper, const void *opts)
{
	(void)type, (void)opts;
	return has_helper[helper];
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn take, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	(void)opts;
	if (fd != made_by_name("ring")->fd)
		abort();
	take_sample = take;
	take_ctx = ctx;
	errno = ENOMEM;
	open_rings += has_ring;
	return has_ring ? (struct ring_buffer *)program : NULL;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	open_rings -= rb != NULL;
}

int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	return rb ? made_fd : -1;
}

/* Passes on `queued` records, and before each of them one that is too short. */
int ring_buffer__consume(struct ring_buffer *rb)
{
	size_t n = queued;
	int err = 0;

	(void)rb;
	queued = 0;
	for (size_t i = 0; i < n && !err; i++) {
		err = take_sample(take_ctx, &queue[i], sizeof(queue[i]) - 1);
		err = err ? err : take_sample(take_ctx, &queue[i], sizeof(queue[i]));
	}
	return err ? err : (int)n;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
	(void)pid, (void)size;
	CPU_ZERO(ret);
	for (int i = 0; i < cpus; i++)
		CPU_SET(i, ret);
	return 0;
}

static inline void made_begin(void)
{
	memset(&config, 0, sizeof(config));
	made_maps_n = 0;
	made_map(".rodata.config", 0, 0, 0, 0)->initial = &config;
	made_by_name(".rodata.config")->initial_bytes = sizeof(config);
	made_map("survivors", 256 * 512, 0, 0, 0);
	made_map(".data.shared", sizeof(struct fs_blackbox_shared), 0, 0, 0);
	made_map("ring", 4096, 0, 0, 0);
	made_map("equals", 0, sizeof(struct fs_equal_key), sizeof(struct fs_equal), 16);
	if (made_fd < 0)
		made_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	programs = queued = 0;
	for (size_t h = 0; h < nr_precursor_hooks; h++)
		for (int i = 0; i < PRECURSOR_PROGRAMS && precursor_hooks[h].program[i]; i++) {
			struct made_program *p = &program[programs++];

			*p = (struct made_program){.autoload = true,
						   .name = precursor_hooks[h].program[i]};
			snprintf(p->section, sizeof(p->section), "tp/%s",
				 precursor_hooks[h].program[i]);
		}
	opens = loads = has_ring = true;
	memset(has_helper, true, sizeof(has_helper));
	cpus = 2;
}

#endif
