/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces functions of libbpf that read and change BPF maps: each map is a hash table of this
 * process, and a memfd that can be mapped. So code that needs loaded BPF programs is tested without
 * them. A test includes this file once, and adds its maps with made_map().
 */
#ifndef FS_TESTS_MADE_MAPS_H
#define FS_TESTS_MADE_MAPS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MADE_MAPS_MAX 128

enum made_slot { MADE_FREE, MADE_USED, MADE_DELETED };

struct made_map {
	const char *name;
	int fd; /* a memfd of `bytes` bytes; -1: closed */
	size_t bytes;
	size_t key, value; /* sizes in bytes; 0: the map has no entries, only memory */
	size_t most, n;	   /* greatest number of entries, and their number */
	size_t slots;
	unsigned char *state; /* enum made_slot of each slot */
	unsigned char *entry; /* keys, each followed by its value */
	const void *initial;  /* for bpf_map__initial_value() */
	size_t initial_bytes;
};

static struct made_map made_maps[MADE_MAPS_MAX];
static size_t made_maps_n;

/* Adds a map. Its memory has `bytes` bytes; its entries have these sizes. */
static inline struct made_map *made_map(const char *name, size_t bytes, size_t key, size_t value,
					size_t most)
{
	struct made_map *m = &made_maps[made_maps_n++];

	if (made_maps_n > MADE_MAPS_MAX)
		abort();
	*m = (struct made_map){.name = name,
			       .fd = memfd_create(name, MFD_CLOEXEC),
			       .bytes = bytes,
			       .key = key,
			       .value = value,
			       .most = most,
			       .slots = key ? 2 * most + 1 : 0};
	m->state = calloc(m->slots + 1, 1);
	m->entry = calloc(m->slots + 1, key + value + 1);
	if (m->fd < 0 || ftruncate(m->fd, bytes) || !m->state || !m->entry)
		abort();
	return m;
}

static inline struct made_map *made_by_name(const char *name)
{
	for (size_t i = 0; i < made_maps_n; i++)
		if (!strcmp(made_maps[i].name, name))
			return &made_maps[i];
	return NULL;
}

/* Returns the newest map with a descriptor, since descriptors are used again. */
static inline struct made_map *made_by_fd(int fd)
{
	for (size_t i = made_maps_n; i--;)
		if (made_maps[i].fd == fd)
			return &made_maps[i];
	return NULL;
}

/* Removes all entries. */
static inline void made_clear(struct made_map *m)
{
	memset(m->state, MADE_FREE, m->slots);
	m->n = 0;
}

static inline unsigned char *made_key(const struct made_map *m, size_t slot)
{
	return m->entry + slot * (m->key + m->value);
}

static inline unsigned char *made_value(const struct made_map *m, size_t slot)
{
	return made_key(m, slot) + m->key;
}

/* Returns the slot of a key, or the number of slots. */
static inline size_t made_find(const struct made_map *m, const void *key, size_t *ret_free)
{
	size_t at = 0;

	for (size_t i = 0; i < m->key; i++)
		at = (at * 31 + ((const unsigned char *)key)[i]) % m->slots;
	*ret_free = m->slots;
	for (size_t i = 0; i < m->slots; i++, at = (at + 1) % m->slots) {
		if (m->state[at] != MADE_USED && *ret_free == m->slots)
			*ret_free = at;
		if (m->state[at] == MADE_FREE)
			break;
		if (m->state[at] == MADE_USED && !memcmp(made_key(m, at), key, m->key))
			return at;
	}
	return m->slots;
}

static inline int made_error(int number)
{
	errno = number;
	return -number;
}

/* Finds the entry of a key in the map `fd`. Returns 0, or -errno with errno set, as libbpf does. */
static inline int made_entry(int fd, const void *key, struct made_map **ret, size_t *ret_slot)
{
	size_t unused;

	*ret = made_by_fd(fd);
	if (!*ret)
		return made_error(EBADF);
	*ret_slot = made_find(*ret, key, &unused);
	return *ret_slot == (*ret)->slots ? made_error(ENOENT) : 0;
}

static int made_lookup_error; /* result of each lookup; 0: the one of the map */
static void (*made_before_lookup)(const struct made_map *m); /* called before each lookup */

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	struct made_map *m;
	size_t at;
	int err;

	if (made_before_lookup)
		made_before_lookup(made_by_fd(fd));
	err = made_lookup_error ? made_lookup_error : made_entry(fd, key, &m, &at);

	if (!err)
		memcpy(value, made_value(m, at), m->value);
	return err;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct made_map *m = made_by_fd(fd);
	size_t at, to;

	if (!m)
		return made_error(EBADF);
	at = made_find(m, key, &to);
	if (at < m->slots && flags == BPF_NOEXIST)
		return made_error(EEXIST);
	if (at == m->slots && flags == BPF_EXIST)
		return made_error(ENOENT);
	if (at == m->slots && m->n == m->most)
		return made_error(E2BIG);
	if (at == m->slots) {
		at = to;
		m->state[at] = MADE_USED;
		memcpy(made_key(m, at), key, m->key);
		m->n++;
	}
	memcpy(made_value(m, at), value, m->value);
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	struct made_map *m;
	size_t at;
	int err = made_entry(fd, key, &m, &at);

	if (err)
		return err;
	m->state[at] = MADE_DELETED;
	m->n--;
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	struct made_map *m = made_by_fd(fd);
	size_t unused, at = 0;

	if (!m)
		return made_error(EBADF);
	if (key)
		at = made_find(m, key, &unused) + 1;
	if (at > m->slots)
		at = 0; /* the kernel begins again if the key is gone */
	for (; at < m->slots; at++)
		if (m->state[at] == MADE_USED) {
			memcpy(next_key, made_key(m, at), m->key);
			return 0;
		}
	return made_error(ENOENT);
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *count, const struct bpf_map_batch_opts *opts)
{
	struct made_map *m = made_by_fd(fd);
	__u32 at = 0, n = 0;

	(void)opts;
	if (!m)
		return made_error(EBADF);
	if (in_batch)
		memcpy(&at, in_batch, sizeof(at));
	for (; at < m->slots && n < *count; at++) {
		if (m->state[at] != MADE_USED)
			continue;
		memcpy((char *)keys + n * m->key, made_key(m, at), m->key);
		memcpy((char *)values + n * m->value, made_value(m, at), m->value);
		n++;
	}
	*count = n;
	memcpy(out_batch, &at, sizeof(at));
	return at < m->slots ? 0 : made_error(ENOENT);
}

/* The programs' maps are found by name. `obj` is not used: it may be any pointer. */
struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj, const char *name)
{
	(void)obj;
	return (struct bpf_map *)made_by_name(name);
}

int bpf_object__find_map_fd_by_name(const struct bpf_object *obj, const char *name)
{
	struct made_map *m = made_by_name(name);

	(void)obj;
	return m ? m->fd : made_error(ENOENT);
}

int bpf_map__fd(const struct bpf_map *map)
{
	return map ? ((const struct made_map *)map)->fd : made_error(EINVAL);
}

/* The type of the first argument depends on the version of libbpf. */
const void *made_initial_value(const void *map, size_t *size) __asm__("bpf_map__initial_value");
const void *made_initial_value(const void *map, size_t *size)
{
	const struct made_map *m = map;

	*size = m->initial_bytes;
	return m->initial;
}

#endif
