// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which part of the kernel's BTF is kept for libbpf: with BTF that the test makes, with the
 * same BTF damaged at random, and with the BTF of this kernel.
 */
#define TAP_KEEPS_INPUT /* struct kernel_types has no file if its descriptor is 0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "probe/kernel_types.h"
#include "probe/layout.h"
#include "probe/object.h"
#include "tap.h"

static bool is_wanted(void *ctx, const char *name)
{
	static const char *const wanted[] = {"outer",		"task_struct", "colour",
					     "btf_trace_event", "function",    "kinds"};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strcmp(name, wanted[i]))
			return true;
	return false;
}

/* Adds a structure with a member of each other kind of type. */
static void add_kinds(struct btf *b)
{
	int number = btf__add_float(b, "double", 8), inner = btf__find_by_name(b, "inner");
	int chain = btf__add_type_tag(b, "rcu", btf__add_restrict(b, btf__add_volatile(b, inner)));
	int function = btf__add_ptr(b, btf__add_func_proto(b, 0));

	btf__add_struct(b, "kinds", 40);
	btf__add_field(b, "number", number, 0, 0);
	btf__add_field(b, "size", btf__find_by_name(b, "sizes"), 64, 0);
	btf__add_field(b, "in", chain, 128, 0);
	btf__add_field(b, "in_again", inner, 192, 0);
	btf__add_field(b, "function", function, 256, 0);
}

/* Makes BTF of a few types. Types that nothing needs come first, so that ids change. */
static struct btf *make(void)
{
	struct btf *b = btf__new_empty();
	int index = btf__add_int(b, "unsigned int", 4, 0);
	int word = btf__add_int(b, "unsigned long", 8, 0);
	int named = btf__add_const(b, btf__add_typedef(b, "u64", word));
	int other = btf__add_struct(b, "other", 8), inner, unnamed, array, pointer, proto;

	btf__add_field(b, "unused", word, 0, 0);
	pointer = btf__add_ptr(b, other);
	inner = btf__add_struct(b, "inner", 8);
	btf__add_field(b, "value", named, 0, 0);
	array = btf__add_array(b, index, inner, 3);
	unnamed = btf__add_union(b, NULL, 8);
	btf__add_field(b, "in", inner, 0, 0);
	btf__add_field(b, "to", pointer, 0, 0);
	btf__add_struct(b, "outer", 40);
	btf__add_field(b, NULL, unnamed, 0, 0);
	btf__add_field(b, "list", array, 64, 0);
	btf__add_field(b, "bits", word, 256, 3);
	btf__add_struct(b, "task_struct", 8);
	btf__add_field(b, "outer", btf__find_by_name(b, "outer"), 0, 0);
	btf__add_enum(b, "colour", 4);
	btf__add_enum_value(b, "RED", 7);
	btf__add_enum64(b, "sizes", 8, true);
	btf__add_enum64_value(b, "SMALL", -1);
	btf__add_enum64_value(b, "LARGE", 1ULL << 40);
	add_kinds(b);
	proto = btf__add_func_proto(b, 0);
	btf__add_func_param(b, "first", pointer);
	btf__add_func_param(b, "second", word);
	btf__add_typedef(b, "btf_trace_event", btf__add_ptr(b, proto));
	btf__add_func(b, "function", BTF_FUNC_STATIC, proto);
	btf__add_func(b, "bpf_iter_task_next", BTF_FUNC_STATIC, proto);
	return b;
}

static const struct btf_type *find(const struct btf *b, const char *name, int kind)
{
	int id = btf__find_by_name_kind(b, name, kind);

	return id > 0 ? btf__type_by_id(b, id) : NULL;
}

static const char *member_name(const struct btf *b, const struct btf_type *t, int i)
{
	return btf__name_by_offset(b, btf_members(t)[i].name_off);
}

static void check_structures(const struct btf *b)
{
	const struct btf_type *outer = find(b, "outer", BTF_KIND_STRUCT), *t;
	const struct btf_member *m = btf_members(outer);

	is_u64(outer->size, 40, "size of a structure");
	is_u64(btf_vlen(outer), 3, "its members");
	is_str(member_name(b, outer, 1), "list", "name of a member");
	is_u64(btf_member_bit_offset(outer, 1), 64, "its place");
	is_u64(btf_member_bitfield_size(outer, 2), 3, "bits of a bit-field");
	t = btf__type_by_id(b, m[1].type);
	ok(btf_is_array(t) && btf_array(t)->nelems == 3, "an array");
	is_str(btf__name_by_offset(b, btf__type_by_id(b, btf_array(t)->type)->name_off), "inner",
	       "of structures");
	is_str(btf__name_by_offset(b, btf__type_by_id(b, btf_array(t)->index_type)->name_off),
	       "unsigned int", "its index");
	is_u64(btf__resolve_size(b, m[1].type), 24, "its size");
	t = btf__type_by_id(b, m[0].type);
	ok(btf_is_union(t), "an unnamed union");
	is_str(member_name(b, t, 0), "in", "its members");
	ok(btf_is_ptr(btf__type_by_id(b, btf_members(t)[1].type)), "a pointer stays a pointer");
	ok(!btf__type_by_id(b, btf_members(t)[1].type)->type, "but leads to no other type");
	t = btf__type_by_id(b, btf_members(t)[0].type);
	ok(btf_is_int(btf__type_by_id(b, btf_members(t)[0].type)), "a member without its typedef");
	ok(!find(b, "other", BTF_KIND_STRUCT), "a type that nothing needs is left out");
}

static void check_others(const struct btf *b)
{
	const struct btf_type *t = find(b, "colour", BTF_KIND_ENUM);

	is_u64(btf_enum(t)[0].val, 7, "value of an enumeration");
	is_str(btf__name_by_offset(b, btf_enum(t)[0].name_off), "RED", "its name");
	t = find(b, "btf_trace_event", BTF_KIND_TYPEDEF);
	t = btf__type_by_id(b, btf__type_by_id(b, t->type)->type);
	ok(btf_is_func_proto(t) && btf_vlen(t) == 2, "parameters of a tracepoint");
	ok(find(b, "function", BTF_KIND_FUNC), "a function");
}

static void check_kinds(const struct btf *b)
{
	const struct btf_type *kinds = find(b, "kinds", BTF_KIND_STRUCT), *t;
	const struct btf_member *m = btf_members(kinds);

	is_u64(btf_vlen(kinds), 5, "members of each other kind");
	t = btf__type_by_id(b, m[0].type);
	ok(btf_kind(t) == BTF_KIND_FLOAT && t->size == 8, "a floating-point number");
	t = btf__type_by_id(b, m[1].type);
	ok(btf_is_enum64(t) && t->size == 8 && btf_kflag(t) && btf_vlen(t) == 2,
	   "a large enumeration");
	is_str(btf__name_by_offset(b, btf_enum64(t)[1].name_off), "LARGE", "name of a value");
	ok(btf_enum64_value(btf_enum64(t)) == UINT64_MAX &&
		   btf_enum64_value(btf_enum64(t) + 1) == 1ULL << 40,
	   "its values");
	is_str(btf__name_by_offset(b, btf__type_by_id(b, m[2].type)->name_off), "inner",
	       "a type behind volatile, restrict and a tag");
	is_u64(m[3].type, m[2].type, "a type is taken once");
	t = btf__type_by_id(b, m[4].type);
	ok(btf_is_ptr(t) && !t->type, "a pointer to a function");
	is_u64(btf_member_bit_offset(kinds, 4), 256, "its place");
}

static void test_made(void)
{
	struct btf *all = make();
	struct kernel_types k;
	struct btf *file;
	const void *raw;
	__u32 size;

	raw = btf__raw_data(all, &size);
	kernel_types_begin(&k);
	if (!ok(!kernel_types_take(&k, raw, size, is_wanted, NULL), "types are taken"))
		return;
	check_structures(k.btf);
	check_others(k.btf);
	check_kinds(k.btf);
	is_u64(kernel_types_tracepoint(&k, "event"),
	       btf__find_by_name_kind(all, "btf_trace_event", BTF_KIND_TYPEDEF),
	       "id of a tracepoint in the whole BTF");
	is_u64(kernel_types_tracepoint(&k, "other"), 0, "a tracepoint that is not taken");
	is_u64(k.task_type, btf__find_by_name_kind(all, "task_struct", BTF_KIND_STRUCT),
	       "id of task_struct in the whole BTF");
	is_u64(kernel_types_function(&k, NUMBER_OF_bpf_iter_task_next),
	       btf__find_by_name_kind(all, "bpf_iter_task_next", BTF_KIND_FUNC),
	       "id of a function in the whole BTF");
	is_u64(kernel_types_function(&k, NUMBER_OF_bpf_rdonly_cast), 0,
	       "a function that the kernel lacks");
	is_u64(kernel_types_function(&k, KERNEL_FUNCTION_END), 0, "a number without a function");
	is_u64(kernel_types_function(&k, KERNEL_FUNCTION_FIRST - 1), 0, "nor one before them");
	is_u64(kernel_types_traced(&k, "function"),
	       btf__find_by_name_kind(all, "function", BTF_KIND_FUNC),
	       "id of a traced function in the whole BTF");
	ok(kernel_types_traced(&k, "function") !=
		   (__u32)btf__find_by_name_kind(k.btf, "function", BTF_KIND_FUNC),
	   "it is not the id in the part");
	is_u64(kernel_types_traced(&k, "event"), 0, "a tracepoint is no function");
	is_u64(kernel_types_tracepoint(&k, "function"), 0, "a function is no tracepoint");
	ok(kernel_types_tracepoint(&k, "event") > 0, "id of a tracepoint");
	is_u64(kernel_types_function(&k, BPF_FUNC_get_current_task), 0, "a helper is no function");
	file = btf__parse(k.path, NULL);
	is_u64(btf__type_cnt(file), btf__type_cnt(k.btf), "the file has the same types");
	btf__free(file);
	btf__free(all);
	kernel_types_end(&k);
	ok(!k.btf, "the end");
}

/* The header may be shorter than that of this machine's uapi headers, or longer. */
static void test_header_sizes(void)
{
	enum { SHORT = 24, LONG = 40 }; /* bytes; 24 are those of Linux 7.1 and before */
	struct btf *all = make();
	struct kernel_types k;
	struct btf_header *h;
	const uint8_t *raw;
	__u32 size, begins;

	raw = btf__raw_data(all, &size);
	begins = ((const struct btf_header *)raw)->hdr_len;
	for (int bytes = SHORT; bytes <= LONG; bytes += 8) {
		uint8_t *copy = calloc(1, LONG + size);

		memcpy(copy, raw, SHORT);
		memcpy(copy + bytes, raw + begins, size - begins);
		h = (struct btf_header *)copy;
		h->hdr_len = bytes;
		kernel_types_begin(&k);
		ok(!kernel_types_take(&k, copy, bytes + size - begins, is_wanted, NULL) &&
			   find(k.btf, "outer", BTF_KIND_STRUCT),
		   "types are taken after a header of %d bytes", bytes);
		kernel_types_end(&k);
		free(copy);
	}
	btf__free(all);
}

/* Changes or cuts BTF at random: it is refused, or its types can be read. */
static void test_damaged(void)
{
	struct btf *all = make();
	unsigned int seed = 3, refused = 0;
	struct kernel_types k = {};
	const void *raw;
	__u32 size;

	raw = btf__raw_data(all, &size);
	for (int round = 0; round < 20000; round++) {
		size_t cut = round % 4 ? size : rand_r(&seed) % size;
		unsigned char *copy = malloc(cut + 1);

		memcpy(copy, raw, cut);
		for (int i = round % 4; i > 0; i--)
			copy[rand_r(&seed) % cut] = rand_r(&seed);
		refused += kernel_types_take(&k, copy, cut, is_wanted, NULL) != 0;
		kernel_types_end(&k);
		free(copy);
	}
	ok(refused > 1000 && refused < 20000, "%u of 20000 are refused", refused);
	btf__free(all);
}

static __u32 own_id(const struct btf *all, const char *name)
{
	return btf__find_by_name_kind(all, name, BTF_KIND_STRUCT);
}

/* Takes types whose header has one wrong member. */
static void test_wrong_headers(void)
{
	struct btf *all = make();
	const void *raw;
	__u32 size;

	raw = btf__raw_data(all, &size);
	for (int wrong = 0; wrong < 12; wrong++) {
		uint8_t *copy = malloc(size + 4);
		struct btf_header *h = (struct btf_header *)copy;
		struct kernel_types k;
		size_t bytes = size;

		memcpy(copy, raw, size);
		switch (wrong) {
		case 1:
			h->magic++;
			break;
		case 2:
			h->hdr_len = 20;
			break;
		case 3:
			h->hdr_len = size + 4;
			break;
		case 4:
			h->type_off += 2;
			break;
		case 5:
			h->hdr_len += 2;
			break;
		case 6:
			h->type_len = size;
			break;
		case 7:
			h->str_off = size;
			break;
		case 8:
			h->str_len += 4;
			break;
		case 9:
			h->str_len = 0;
			break;
		case 10:
			copy[h->hdr_len + h->str_off + h->str_len - 1] = 'x';
			break;
		case 11:
			bytes = 16;
			break;
		}
		kernel_types_begin(&k);
		ok((kernel_types_take(&k, copy, bytes, is_wanted, NULL) == -EINVAL) == (wrong > 0),
		   "a header whose error is number %d", wrong);
		kernel_types_end(&k);
		free(copy);
	}
	btf__free(all);
}

/* The sections of BTF may be in any order, up to the last byte. */
static void test_sections(void)
{
	struct btf *all = make();
	const struct btf_header *h;
	struct kernel_types k;
	const uint8_t *raw;
	__u32 size;

	raw = btf__raw_data(all, &size);
	h = (const struct btf_header *)raw;
	for (int empty = 0; empty < 2; empty++) {
		uint32_t padded = (h->str_len + 3) / 4 * 4, types = empty ? 0 : h->type_len;
		uint8_t *copy = calloc(1, h->hdr_len + padded + types);
		struct btf_header *own = (struct btf_header *)copy;

		memcpy(copy, raw, h->hdr_len);
		memcpy(copy + h->hdr_len, raw + h->hdr_len + h->str_off, h->str_len);
		memcpy(copy + h->hdr_len + padded, raw + h->hdr_len + h->type_off, types);
		own->str_off = 0;
		own->type_off = padded;
		own->type_len = types;
		kernel_types_begin(&k);
		is_u64(kernel_types_take(&k, copy, h->hdr_len + padded + types, is_wanted, NULL), 0,
		       empty ? "names, but no type" : "names before types");
		ok((find(k.btf, "outer", BTF_KIND_STRUCT) == NULL) == empty,
		   "the types that are there");
		kernel_types_end(&k);
		if (!empty)
			is_u64(kernel_types_take(&k, copy, h->hdr_len + padded + types - 1,
						 is_wanted, NULL),
			       (uint64_t)-EINVAL, "types whose last byte is cut");
		free(copy);
	}
	btf__free(all);
}

#define DEPTH_MAX 64

static bool is_outermost(void *ctx, const char *name)
{
	return !strcmp(name, ctx);
}

/* A structure in a structure, and so on: what is too deep has no type. */
static void test_depth(void)
{
	struct btf *all = btf__new_empty();
	char name[16];
	int in = 0;

	for (int i = 0; i <= DEPTH_MAX + 1; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		in = btf__add_struct(all, name, 8);
		if (i)
			btf__add_field(all, "in", in - 1, 0, 0);
	}
	for (int deep = DEPTH_MAX; deep <= DEPTH_MAX + 1; deep++) {
		struct kernel_types k;
		const void *raw;
		__u32 size;

		raw = btf__raw_data(all, &size);
		snprintf(name, sizeof(name), "s%d", deep);
		kernel_types_begin(&k);
		is_u64(kernel_types_take(&k, raw, size, is_outermost, name), 0, name);
		is_u64(btf__type_cnt(k.btf) - 1, DEPTH_MAX + 1, "structures that are taken");
		ok(find(k.btf, "s1", BTF_KIND_STRUCT) && find(k.btf, name, BTF_KIND_STRUCT),
		   "the outermost one, and those in it");
		ok((find(k.btf, "s0", BTF_KIND_STRUCT) == NULL) == (deep > DEPTH_MAX),
		   "the innermost one, if it is not too deep");
		kernel_types_end(&k);
	}
	btf__free(all);
}

static bool is_any(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return true;
}

/* The ids of so many functions are known. */
static void test_targets(void)
{
	struct btf *all = btf__new_empty();
	int proto = btf__add_func_proto(all, 0);
	struct kernel_types k;
	const void *raw;
	char name[16];
	__u32 size;

	for (int i = 0; i <= KERNEL_TARGETS_MAX; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		btf__add_func(all, name, BTF_FUNC_STATIC, proto);
	}
	raw = btf__raw_data(all, &size);
	kernel_types_begin(&k);
	is_u64(kernel_types_take(&k, raw, size, is_any, NULL), 0, "many functions");
	is_u64(k.targets, KERNEL_TARGETS_MAX, "as many as are kept");
	is_u64(kernel_types_traced(&k, "f0"), proto + 1, "the first");
	snprintf(name, sizeof(name), "f%d", KERNEL_TARGETS_MAX - 1);
	is_u64(kernel_types_traced(&k, name), proto + KERNEL_TARGETS_MAX, "the last");
	snprintf(name, sizeof(name), "f%d", KERNEL_TARGETS_MAX);
	is_u64(kernel_types_traced(&k, name), 0, "one more is not known");
	kernel_types_end(&k);
	btf__free(all);
}

/* Compares what programs are attached to with the whole BTF of this kernel. */
static void check_targets(const struct bpf_object *obj, const struct btf *all,
			  const struct btf *part)
{
	size_t targets = 0, missing = 0;
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj) {
		const char *section = bpf_program__section_name(prog);
		const char *target = strchr(section, '/');
		bool tracepoint = !strncmp(section, "tp_btf/", 7);
		__u32 kind = tracepoint ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC;
		char name[160];

		if (!tracepoint && strncmp(section, "fentry/", 7) && strncmp(section, "fexit/", 6))
			continue;
		snprintf(name, sizeof(name), "%s%s", tracepoint ? "btf_trace_" : "", target + 1);
		if (btf__find_by_name_kind(all, name, kind) < 0)
			continue;
		targets++;
		missing += !find(part, name, kind);
	}
	ok(targets > 5, "%zu programs are attached by types", targets);
	is_u64(missing, 0, "types that are missing");
}

/* Compares the size of structures with that in the whole BTF of this kernel. */
static void test_this_kernel(void)
{
	static const char *const names[] = {"task_struct", "mm_struct", "vm_area_struct", "file"};
	struct btf *all = btf__load_vmlinux_btf(), *part;
	struct object o;
	int id;

	if (libbpf_get_error(all)) {
		ok(true, "no BTF of this kernel # SKIP it has none");
		return;
	}
	ok(!object_open(&o, OBJECT_FULL, NULL), "the object opens");
	part = object_read_types(&o);
	ok(part && btf__type_cnt(part) < btf__type_cnt(all) / 10, "a small part of all types");
	for (size_t i = 0; part && i < sizeof(names) / sizeof(names[0]); i++) {
		const struct btf_type *t = find(part, names[i], BTF_KIND_STRUCT);

		id = btf__find_by_name_kind(all, names[i], BTF_KIND_STRUCT);
		ok(t && t->size == btf__type_by_id(all, id)->size, "size of %s", names[i]);
	}
	check_targets(o.obj, all, part);
	ok(part && layout_areas_foreign(part) == layout_areas_foreign(all) &&
		   layout_counts_delays(part) == layout_counts_delays(all) &&
		   layout_returns_unlimited(part) == layout_returns_unlimited(all),
	   "layouts that are looked up");
	is_u64(part ? layout_lock_success(part) : 0, layout_lock_success(all),
	       "the argument with the result of a lock");
	is_u64(o.config->task_type, own_id(all, "task_struct"), "the id of task_struct");
	is_u64(o.config->area_type, own_id(all, "vm_area_struct"), "the id of vm_area_struct");
	is_u64(o.config->file_type, own_id(all, "file"), "the id of file");
	is_u64(o.config->maple_type, own_id(all, "maple_range_64"), "the id of maple_range_64");
	object_close(&o);
	btf__free(all);
}

/* The descriptor 0 stands for no file: libbpf then reads the types of the kernel itself. */
static void test_no_input(void)
{
	struct kernel_types k;

	kernel_types_begin(&k);
	ok(k.fd > 0 && !access(k.path, R_OK), "a file for types: %s", k.path);
	kernel_types_end(&k);
	ok(!k.fd && !*k.path, "it is closed");
	close(STDIN_FILENO);
	kernel_types_begin(&k);
	is_str(k.path, "", "without standard input, there is none");
	close(STDIN_FILENO);
	is_u64(open("/dev/null", O_RDONLY), STDIN_FILENO, "standard input is open again");
}

int main(void)
{
	libbpf_set_print(NULL);
	test_no_input();
	test_made();
	test_header_sizes();
	test_damaged();
	test_wrong_headers();
	test_sections();
	test_depth();
	test_targets();
	test_this_kernel();
	return tap_done();
}
