// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/kernel_types.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/hash.h"

#define BTF_BYTES_MAX (256u << 20)
#define TYPES_MAX     (1u << 22)
#define DEPTH_MAX     64 /* levels of structures within structures */
#define BUSY	      UINT32_MAX
/*
 * Size of the header that all kernels write. In headers of Linux 7.2, struct btf_header has further
 * members at its end, which this file does not use.
 */
#define HEADER_BYTES (offsetof(struct btf_header, str_len) + sizeof(__u32))

struct bytes {
	uint8_t *at;
	size_t len, room;
	bool failed;
};

struct taking {
	const struct btf_header *from;
	const uint8_t *types;
	const char *strings;
	uint32_t nr;		/* number of types, and of elements of `at` and `id` */
	uint32_t *at, *id;	/* offset of each type; its new id, 0, or BUSY */
	uint32_t taken;		/* number of types that were taken */
	struct bytes out, text; /* the new types, and their names */
};

static const char *const functions[] = {
#define X(name) #name,
	KERNEL_FUNCTIONS(X)
#undef X
};

/* Types that programs name by their id in the kernel's own BTF, and where the id is kept. */
static const struct {
	const char *name;
	size_t id_at;
} own_types[] = {
	{"task_struct", offsetof(struct kernel_types, task_type)},
	{"vm_area_struct", offsetof(struct kernel_types, area_type)},
	{"file", offsetof(struct kernel_types, file_type)},
	{"maple_range_64", offsetof(struct kernel_types, maple_type)},
};
#define NR_OWN_TYPES (sizeof(own_types) / sizeof(own_types[0]))

static __u32 *own_id(struct kernel_types *k, size_t i)
{
	return (__u32 *)((char *)k + own_types[i].id_at);
}

static void append(struct bytes *b, const void *from, size_t n)
{
	size_t room = b->room ?: 1 << 16;
	uint8_t *more;

	while (room < b->len + n)
		room *= 2;
	if (room != b->room) {
		more = b->failed ? NULL : realloc(b->at, room);
		if (!more) {
			b->failed = true;
			return;
		}
		b->at = more;
		b->room = room;
	}
	memcpy(b->at + b->len, from, n);
	b->len += n;
}

/* Returns the bytes of a type after its struct btf_type, or -1 for an unknown kind. */
static ssize_t rest_of(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return btf_vlen(t) * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return btf_vlen(t) * 8;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	}
	return -1;
}

static const struct btf_type *type_of(const struct taking *g, uint32_t id)
{
	return id && id < g->nr ? (const void *)(g->types + g->at[id]) : NULL;
}

static const char *name_of(const struct taking *g, uint32_t at)
{
	return at < g->from->str_len ? g->strings + at : "";
}

static uint32_t put_name(struct taking *g, uint32_t at)
{
	const char *name = name_of(g, at);
	uint32_t put = g->text.len;

	if (!*name)
		return 0;
	append(&g->text, name, strlen(name) + 1);
	return put;
}

/* Adds a type without what follows it. Returns its new id. */
static uint32_t put_type(struct taking *g, const struct btf_type *t, uint32_t type)
{
	struct btf_type copy = {
		.name_off = put_name(g, t->name_off), .info = t->info, .type = type};

	append(&g->out, &copy, sizeof(copy));
	return ++g->taken;
}

static uint32_t take(struct taking *g, uint32_t id, unsigned int depth);

/* Takes a structure or union. The types of its members come first. */
static uint32_t take_members(struct taking *g, const struct btf_type *t, unsigned int depth)
{
	const struct btf_member *m = btf_members(t);
	uint32_t new;

	for (int i = 0; i < btf_vlen(t); i++)
		take(g, m[i].type, depth);
	new = put_type(g, t, t->size);
	for (int i = 0; i < btf_vlen(t); i++) {
		struct btf_member copy = {.name_off = put_name(g, m[i].name_off),
					  .type = take(g, m[i].type, depth),
					  .offset = m[i].offset};

		append(&g->out, &copy, sizeof(copy));
	}
	return new;
}

static uint32_t take_values(struct taking *g, const struct btf_type *t)
{
	size_t each = btf_kind(t) == BTF_KIND_ENUM ? 8 : 12;
	const uint8_t *v = (const uint8_t *)(t + 1);
	uint32_t new = put_type(g, t, t->size), name;

	for (int i = 0; i < btf_vlen(t); i++, v += each) {
		memcpy(&name, v, sizeof(name));
		name = put_name(g, name);
		append(&g->out, &name, sizeof(name));
		append(&g->out, v + sizeof(name), each - sizeof(name));
	}
	return new;
}

static uint32_t take_array(struct taking *g, const struct btf_type *t, unsigned int depth)
{
	struct btf_array copy = *btf_array(t);
	uint32_t new;

	copy.type = take(g, copy.type, depth);
	copy.index_type = take(g, copy.index_type, depth);
	new = put_type(g, t, 0);
	append(&g->out, &copy, sizeof(copy));
	return new;
}

static uint32_t take_kind(struct taking *g, const struct btf_type *t, unsigned int depth)
{
	uint32_t new;

	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return take_members(g, t, depth);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return take_values(g, t);
	case BTF_KIND_ARRAY:
		return take_array(g, t, depth);
	case BTF_KIND_INT:
		new = put_type(g, t, t->size);
		append(&g->out, t + 1, 4);
		return new;
	case BTF_KIND_FLOAT:
		return put_type(g, t, t->size);
	case BTF_KIND_PTR:
		return put_type(g, t, 0);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return take(g, t->type, depth);
	}
	return 0; /* no member has another kind of type */
}

/* Takes a type and the types that it contains. Returns its new id; 0 stands for `void`. */
static uint32_t take(struct taking *g, uint32_t id, unsigned int depth)
{
	const struct btf_type *t = type_of(g, id);

	if (!t || depth > DEPTH_MAX || g->taken >= TYPES_MAX)
		return 0;
	if (g->id[id] == BUSY)
		return 0; /* damaged BTF: a type contains itself */
	if (!g->id[id]) {
		g->id[id] = BUSY;
		g->id[id] = take_kind(g, t, depth + 1);
	}
	return g->id[id];
}

/* Takes a list of parameters, without their types. Returns its new id, or 0 if it is none. */
static uint32_t take_parameters(struct taking *g, uint32_t id)
{
	const struct btf_type *t = type_of(g, id);
	const struct btf_param none = {};
	uint32_t new;

	if (!t || btf_kind(t) != BTF_KIND_FUNC_PROTO)
		return 0;
	new = put_type(g, t, 0);
	for (int i = 0; i < btf_vlen(t); i++)
		append(&g->out, &none, sizeof(none));
	return new;
}

/* Takes a function; or the type of a tracepoint, which is a typedef of a pointer to a function. */
static void take_function(struct taking *g, struct kernel_types *k, uint32_t id)
{
	const struct btf_type *t = type_of(g, id), *pointer = type_of(g, t->type);
	uint32_t of;

	if (btf_kind(t) == BTF_KIND_FUNC) {
		of = take_parameters(g, t->type);
	} else {
		if (!pointer || btf_kind(pointer) != BTF_KIND_PTR)
			return;
		of = take_parameters(g, pointer->type);
		if (of)
			of = put_type(g, pointer, of);
	}
	if (!of)
		return;
	of = put_type(g, t, of);
	if (k->targets < KERNEL_TARGETS_MAX) {
		k->target[k->targets].taken = of;
		k->target[k->targets++].own = id;
	}
}

/* Notes the id of a type that programs name by its id. Of equal names, the first one counts. */
static void note_own_id(struct kernel_types *k, const char *name, __u32 id)
{
	for (size_t i = 0; i < NR_OWN_TYPES; i++)
		if (!*own_id(k, i) && !strcmp(own_types[i].name, name))
			*own_id(k, i) = id;
}

/* Keeps the id of a function that BPF programs call. */
static void note_function(struct kernel_types *k, const char *name, uint32_t id)
{
	for (size_t i = 0; i < NR_KERNEL_FUNCTIONS; i++)
		if (!k->function[i] && !strcmp(functions[i], name))
			k->function[i] = id;
}

static void take_wanted(struct taking *g, struct kernel_types *k, kernel_types_filter wanted,
			void *ctx)
{
	for (uint32_t id = 1; id < g->nr; id++) {
		const struct btf_type *t = type_of(g, id);
		const char *name = name_of(g, t->name_off);

		switch (btf_kind(t)) {
		case BTF_KIND_STRUCT:
			note_own_id(k, name, id);
			/* fallthrough */
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			if (*name && wanted(ctx, name))
				take(g, id, 0);
			break;
		case BTF_KIND_FUNC:
			if (!strncmp(name, "bpf_", 4))
				note_function(k, name, id);
			/* fallthrough */
		case BTF_KIND_TYPEDEF:
			if (*name && wanted(ctx, name))
				take_function(g, k, id);
		}
	}
}

/* Finds where each type begins. Returns 0, or -EINVAL for damaged or unknown BTF. */
static int find_types(struct taking *g)
{
	uint32_t at = 0, end = g->from->type_len;

	for (g->nr = 1; at < end; g->nr++) {
		const struct btf_type *t = (const void *)(g->types + at);
		ssize_t rest = end - at < sizeof(*t) ? -1 : rest_of(t);

		if (rest < 0 || end - at - sizeof(*t) < (size_t)rest || g->nr >= TYPES_MAX)
			return -EINVAL;
		g->at[g->nr] = at;
		at += sizeof(*t) + rest;
	}
	return 0;
}

/* Checks the header. Returns 0 or -EINVAL. */
static int begin_taking(struct taking *g, const void *raw, size_t size)
{
	const struct btf_header *h = raw;
	size_t most;

	if (size < HEADER_BYTES || size > BTF_BYTES_MAX || h->magic != BTF_MAGIC ||
	    h->hdr_len < HEADER_BYTES || h->hdr_len > size || h->type_off % 4 || h->hdr_len % 4)
		return -EINVAL;
	size -= h->hdr_len;
	if (h->type_off > size || h->type_len > size - h->type_off || h->str_off > size ||
	    h->str_len > size - h->str_off || !h->str_len)
		return -EINVAL;
	g->from = h;
	g->types = (const uint8_t *)raw + h->hdr_len + h->type_off;
	g->strings = (const char *)raw + h->hdr_len + h->str_off;
	if (g->strings[h->str_len - 1])
		return -EINVAL;
	most = h->type_len / sizeof(struct btf_type) + 2;
	g->at = malloc(most * sizeof(*g->at));
	g->id = calloc(most, sizeof(*g->id));
	return g->at && g->id ? find_types(g) : -ENOMEM;
}

/* Writes the new types, as raw BTF, to the file, and opens them. Returns 0 or -errno. */
static int finish(struct taking *g, struct kernel_types *k)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = HEADER_BYTES};
	struct bytes whole = {};

	if (g->out.failed || g->text.failed)
		return -ENOMEM;
	h.type_len = h.str_off = g->out.len;
	h.str_len = g->text.len;
	append(&whole, &h, HEADER_BYTES);
	append(&whole, g->out.at, g->out.len);
	append(&whole, g->text.at, g->text.len);
	if (whole.failed) {
		free(whole.at);
		return -ENOMEM;
	}
	k->btf = btf__new(whole.at, whole.len);
	if (libbpf_get_error(k->btf)) {
		k->btf = NULL;
	} else if (k->fd > 0 && pwrite(k->fd, whole.at, whole.len, 0) != (ssize_t)whole.len) {
		btf__free(k->btf);
		k->btf = NULL;
	}
	free(whole.at);
	return k->btf ? 0 : -ENOMEM;
}

int kernel_types_take(struct kernel_types *k, const void *raw, size_t size,
		      kernel_types_filter wanted, void *ctx)
{
	struct taking g = {};
	int err = begin_taking(&g, raw, size);

	if (!err) {
		append(&g.out, "", 0);
		append(&g.text, "", 1); /* the first name is empty */
		take_wanted(&g, k, wanted, ctx);
		err = finish(&g, k);
	}
	free(g.at);
	free(g.id);
	free(g.out.at);
	free(g.text.at);
	return err;
}

#define NAMES_MAX 4096 /* a power of two, several times the number of types in a BPF object */

/* The names of the types that a BPF object may need: a hash table with open addressing. */
struct names {
	char *name[NAMES_MAX];
	size_t nr;
};

/* Returns the length of a name without its flavour: libbpf ignores what follows `___`. */
static size_t essence_of(const char *name)
{
	const char *flavour = strstr(name, "___");

	return flavour && flavour != name ? (size_t)(flavour - name) : strlen(name);
}

static char **find_name(struct names *n, const char *name)
{
	uint32_t at = hash_text(HASH_BEGIN, name);

	while (n->name[at & (NAMES_MAX - 1)] && strcmp(n->name[at & (NAMES_MAX - 1)], name))
		at++;
	return &n->name[at & (NAMES_MAX - 1)];
}

static void add_name(struct names *n, const char *prefix, const char *name, size_t len)
{
	char text[256], **at;

	if (n->nr >= NAMES_MAX / 2 ||
	    (size_t)snprintf(text, sizeof(text), "%s%.*s", prefix, (int)len, name) >= sizeof(text))
		return;
	at = find_name(n, text);
	if (*at)
		return;
	*at = strdup(text);
	n->nr += *at != NULL;
}

static bool is_needed(void *ctx, const char *name)
{
	return *find_name(ctx, name) != NULL;
}

/* Adds the types of a BPF object, and what its programs are attached to. */
static void add_names(struct names *n, const struct bpf_object *obj)
{
	/* what layout.c looks for; a program that is attached by name does not need the last one */
	static const char *const others[] = {"maple_range_64", "maple_arange_64", "maple_type",
					     "fprobe", "btf_trace_mmap_lock_acquire_returned"};
	const struct btf *own = bpf_object__btf(obj);
	struct bpf_program *prog;

	for (__u32 id = 1; own && id < btf__type_cnt(own); id++) {
		const struct btf_type *t = btf__type_by_id(own, id);
		const char *name = btf__name_by_offset(own, t->name_off);

		if (*name && (btf_is_composite(t) || btf_is_any_enum(t)))
			add_name(n, "", name, essence_of(name));
	}
	bpf_object__for_each_program (prog, obj) {
		const char *section = bpf_program__section_name(prog);
		const char *target = strchr(section, '/');

		if (target)
			add_name(n, strncmp(section, "tp_btf/", 7) ? "" : "btf_trace_", target + 1,
				 strlen(target + 1));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		add_name(n, "", others[i], strlen(others[i]));
}

static void free_names(struct names *n)
{
	for (size_t i = 0; i < NAMES_MAX; i++)
		free(n->name[i]);
}

/* The bytes of a file. */
struct file_bytes {
	void *at;	    /* NULL: the file could not be read */
	size_t len, mapped; /* `mapped`: length of the mapping; 0: the bytes were allocated */
};

static void read_bytes(int fd, size_t size, struct file_bytes *b)
{
	ssize_t n = 1;

	b->at = malloc(size);
	while (b->at && n > 0 && b->len < size) {
		n = read(fd, (char *)b->at + b->len, size - b->len);
		b->len += n > 0 ? n : 0;
	}
}

/*
 * Maps a file of the kernel, which never shrinks, or reads it. If it fails, errno is the reason,
 * or 0. The kernel's BTF can be mapped since "btf: Allow mmap of vmlinux btf" (6.16). A copy takes
 * 10 ms.
 */
static struct file_bytes file_bytes(const char *path)
{
	struct file_bytes b = {};
	struct stat st;
	int fd;

	errno = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return b;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= BTF_BYTES_MAX) {
		b.at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (b.at == MAP_FAILED)
			read_bytes(fd, st.st_size, &b);
		else
			b.len = b.mapped = st.st_size;
	}
	close(fd);
	return b;
}

static void free_bytes(struct file_bytes *b)
{
	if (b->mapped)
		munmap(b->at, b->mapped);
	else
		free(b->at);
}

void kernel_types_begin(struct kernel_types *k)
{
	memset(k, 0, sizeof(*k));
	k->fd = memfd_create("kernel types", MFD_CLOEXEC);
	if (k->fd <= 0)
		return;
	snprintf(k->path, sizeof(k->path), "/proc/self/fd/%d", k->fd);
	if (access(k->path, R_OK))
		k->path[0] = 0;
}

/* Takes all types as they are, if a newer kernel has kinds of types that take() does not know. */
static int take_all(struct kernel_types *k, const void *raw, size_t size)
{
	k->btf = btf__new(raw, size);
	if (libbpf_get_error(k->btf)) {
		k->btf = NULL;
		return -EINVAL;
	}
	if (k->fd > 0 && pwrite(k->fd, raw, size, 0) != (ssize_t)size) {
		btf__free(k->btf);
		k->btf = NULL;
		return -ENOMEM;
	}
	k->whole = true;
	for (size_t i = 0; i < NR_OWN_TYPES; i++) {
		int id = btf__find_by_name_kind(k->btf, own_types[i].name, BTF_KIND_STRUCT);

		*own_id(k, i) = id > 0 ? id : 0;
	}
	for (size_t i = 0; i < NR_KERNEL_FUNCTIONS; i++) {
		int id = btf__find_by_name_kind(k->btf, functions[i], BTF_KIND_FUNC);

		k->function[i] = id > 0 ? id : 0;
	}
	return 0;
}

int kernel_types_read(struct kernel_types *k, const struct bpf_object *obj)
{
	struct names names = {};
	struct file_bytes b = file_bytes("/sys/kernel/btf/vmlinux");

	k->err = b.at ? 0 : is_exhausted(-errno) ? -errno : -ENOENT;
	if (b.at) {
		add_names(&names, obj);
		k->err = kernel_types_take(k, b.at, b.len, is_needed, &names);
		free_names(&names);
	}
	if (b.at && k->err == -EINVAL)
		k->err = take_all(k, b.at, b.len);
	free_bytes(&b);
	return k->err;
}

/* Returns the own id of a target of this kind, whose name has a prefix; 0: there is none. */
static __u32 own_target(const struct kernel_types *k, __u16 kind, const char *prefix,
			const char *name)
{
	size_t len = strlen(prefix);

	for (size_t i = 0; k->btf && i < k->targets; i++) {
		const struct btf_type *t = btf__type_by_id(k->btf, k->target[i].taken);
		const char *its = btf__name_by_offset(k->btf, t->name_off);

		if (btf_kind(t) == kind && !strncmp(its, prefix, len) && !strcmp(its + len, name))
			return k->target[i].own;
	}
	return 0;
}

__u32 kernel_types_tracepoint(const struct kernel_types *k, const char *name)
{
	return own_target(k, BTF_KIND_TYPEDEF, "btf_trace_", name);
}

__u32 kernel_types_traced(const struct kernel_types *k, const char *name)
{
	int id;

	if (!k->whole)
		return own_target(k, BTF_KIND_FUNC, "", name);
	id = btf__find_by_name_kind(k->btf, name, BTF_KIND_FUNC);
	return id > 0 ? id : 0;
}

__u32 kernel_types_function(const struct kernel_types *k, __s32 number)
{
	return number < KERNEL_FUNCTION_FIRST || number >= KERNEL_FUNCTION_END
		       ? 0
		       : k->function[number - KERNEL_FUNCTION_FIRST];
}

void kernel_types_end(struct kernel_types *k)
{
	btf__free(k->btf);
	if (k->fd > 0)
		close(k->fd);
	k->btf = NULL;
	k->fd = 0;
	k->path[0] = 0;
}
