// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests each type that is taken from the kernel's BTF, byte by byte, the largest BTF that is
 * accepted, and what is left if memory runs out or the file for libbpf cannot be written.
 */
#define TAP_KEEPS_INPUT /* struct kernel_types has no file if its descriptor is 0 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "failing_memory.h"
#include "open_files.h"
#include "probe/kernel_types.h"
#include "tap.h"

#define BYTES_MAX   (256u << 20) /* of BTF */
#define TYPES_MAX   (1u << 22)	 /* the number of the last type is less by one */
#define HEAD	    24		 /* bytes of the header that all kernels write */
#define KIND(k)	    ((uint32_t)(k) << 24)
#define MANY_VALUES 20000

static int write_error; /* errno of writing the file for libbpf; 0: it succeeds */
static bool writes_part;

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	if (write_error) {
		errno = write_error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, writes_part ? size - 1 : size, at);
}

static bool is_any(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return true;
}

static bool is_one(void *ctx, const char *name)
{
	return !strcmp(name, ctx);
}

/* ---- what is taken ---- */

/* Writes a type, in one line: its number, kind, name, size or type, and what it consists of. */
static void describe(struct buf *b, const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	int n = btf_vlen(t);

#define NAME(x) btf__name_by_offset(btf, (x).name_off)
	buf_printf(b, "%u: %d \"%s\" %u%s", id, btf_kind(t), NAME(*t), t->size,
		   btf_kflag(t) ? " kflag" : "");
	if (btf_is_int(t))
		buf_printf(b, " bits %d", btf_int_bits(t));
	if (btf_is_array(t))
		buf_printf(b, " of %u by %u, %u", btf_array(t)->type, btf_array(t)->index_type,
			   btf_array(t)->nelems);
	for (int i = 0; btf_is_composite(t) && i < n; i++)
		buf_printf(b, "; %s %u %u", NAME(btf_members(t)[i]), btf_members(t)[i].type,
			   btf_members(t)[i].offset);
	for (int i = 0; btf_is_enum(t) && i < n; i++)
		buf_printf(b, "; %s %d", NAME(btf_enum(t)[i]), btf_enum(t)[i].val);
	for (int i = 0; btf_is_enum64(t) && i < n; i++)
		buf_printf(b, "; %s %llx", NAME(btf_enum64(t)[i]),
			   (unsigned long long)btf_enum64_value(&btf_enum64(t)[i]));
	for (int i = 0; btf_is_func_proto(t) && i < n; i++)
		buf_printf(b, "; \"%s\" %u", NAME(btf_params(t)[i]), btf_params(t)[i].type);
#undef NAME
	buf_puts(b, "\n");
}

/* Ids of the types of the made BTF, in the whole of it. */
static struct {
	int outer, event, function;
} ids;

static struct btf *make(void)
{
	struct btf *b = btf__new_empty();
	int word = btf__add_int(b, "long", 8, BTF_INT_SIGNED), byte = btf__add_int(b, "char", 1, 0);
	int pointer = btf__add_ptr(b, word), list = btf__add_array(b, byte, word, 7);
	int number = btf__add_float(b, "double", 8), constant = btf__add_const(b, word);
	int inner, both, proto;

	btf__add_struct(b, "unneeded", 8);
	btf__add_field(b, "word", word, 0, 0);
	inner = btf__add_struct(b, "inner", 24);
	btf__add_field(b, "to", pointer, 0, 0);
	both = btf__add_union(b, "both", 8);
	btf__add_field(b, "word", constant, 0, 0);
	btf__add_field(b, "number", number, 0, 0);
	ids.outer = btf__add_struct(b, "outer", 48);
	btf__add_field(b, "in", inner, 0, 0);
	btf__add_field(b, "list", list, 192, 0);
	btf__add_field(b, "both", both, 320, 0);
	btf__add_field(b, "bits", word, 381, 3);
	btf__add_enum(b, "colour", 4);
	btf__add_enum_value(b, "RED", -7);
	btf__add_enum_value(b, "BLUE", 8);
	btf__add_enum64(b, "large", 8, false);
	btf__add_enum64_value(b, "LARGE", 0x123456789abcULL);
	proto = btf__add_func_proto(b, word);
	btf__add_func_param(b, "first", word);
	btf__add_func_param(b, "second", inner);
	ids.event = btf__add_typedef(b, "btf_trace_event", btf__add_ptr(b, proto));
	ids.function = btf__add_func(b, "function", BTF_FUNC_GLOBAL, proto);
	/* neither is a tracepoint or a function */
	btf__add_typedef(b, "btf_trace_plain", word);
	btf__add_typedef(b, "btf_trace_pointer", btf__add_ptr(b, word));
	return b;
}

/*
 * The types of members come before the structure. A pointer leads nowhere, a constant is left out,
 * and parameters have no types.
 */
static const struct {
	const char *name, *types;
} parts[] = {
	{"outer", "1: 2 \"\" 0\n"
		  "2: 4 \"inner\" 24; to 1 0\n"
		  "3: 1 \"long\" 8 bits 64\n"
		  "4: 1 \"char\" 1 bits 8\n"
		  "5: 3 \"\" 0 of 3 by 4, 7\n"
		  "6: 16 \"double\" 8\n"
		  "7: 5 \"both\" 8; word 3 0; number 6 0\n"
		  "8: 4 \"outer\" 48 kflag; in 2 0; list 5 192; both 7 320; bits 3 50332029\n"},
	{"colour", "1: 6 \"colour\" 4 kflag; RED -7; BLUE 8\n"},
	{"large", "1: 19 \"large\" 8; LARGE 123456789abc\n"},
	{"btf_trace_event", "1: 13 \"\" 0; \"\" 0; \"\" 0\n"
			    "2: 2 \"\" 1\n"
			    "3: 8 \"btf_trace_event\" 2\n"},
	{"function", "1: 13 \"\" 0; \"\" 0; \"\" 0\n"
		     "2: 12 \"function\" 1\n"},
	{"btf_trace_plain", ""},
	{"btf_trace_pointer", ""},
	{"unneeded", "1: 1 \"long\" 8 bits 64\n"
		     "2: 4 \"unneeded\" 8; word 1 0\n"},
	{"nothing", ""},
};

/* Returns whether the file for libbpf has these bytes and no more. */
static bool has_file(const struct kernel_types *k, const void *bytes, size_t size)
{
	char *its = malloc(size + 1);
	bool same = pread(k->fd, its, size + 1, 0) == (ssize_t)size && !memcmp(its, bytes, size);

	free(its);
	return same;
}

static void test_parts(void)
{
	struct btf *all = make();
	const void *raw, *part;
	__u32 size, bytes;

	raw = btf__raw_data(all, &size);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct kernel_types k;
		struct buf b = {};

		kernel_types_begin(&k);
		if (!ok(!kernel_types_take(&k, raw, size, is_one, (void *)parts[i].name), "%s",
			parts[i].name))
			continue;
		for (__u32 id = 1; id < btf__type_cnt(k.btf); id++)
			describe(&b, k.btf, id);
		is_str(b.s ? b.s : "", parts[i].types, "its types");
		ok(!k.whole && !k.err && !k.task_type, "nothing else is known");
		part = btf__raw_data(k.btf, &bytes);
		ok(has_file(&k, part, bytes), "the file has the same bytes");
		is_u64(k.targets, i == 3 || i == 4, "targets of programs");
		ok(!k.targets || (k.target[0].taken == (i == 3 ? 3 : 2) &&
				  k.target[0].own == (__u32)(i == 3 ? ids.event : ids.function)),
		   "their ids");
		buf_free(&b);
		kernel_types_end(&k);
	}
	btf__free(all);
}

/* Of types with the same name, the first structure and the first function count. */
static void test_equal_names(void)
{
	struct btf *all = btf__new_empty();
	int proto = btf__add_func_proto(all, 0), first[4], called;
	static const char *const names[] = {"task_struct", "vm_area_struct", "file",
					    "maple_range_64"};
	struct kernel_types k;
	const void *raw;
	__u32 size;

	for (int i = 0; i < 4; i++) {
		btf__add_union(all, names[i], 8);
		first[i] = btf__add_struct(all, names[i], 8);
	}
	for (int i = 0; i < 4; i++)
		btf__add_struct(all, names[i], 16);
	called = btf__add_func(all, "bpf_rcu_read_lock", BTF_FUNC_STATIC, proto);
	btf__add_func(all, "bpf_rcu_read_lock", BTF_FUNC_STATIC, proto);
	btf__add_typedef(all, "bpf_iter_task_new", proto);
	btf__add_func(all, "xbpf_iter_task_new", BTF_FUNC_STATIC, proto);
	raw = btf__raw_data(all, &size);
	kernel_types_begin(&k);
	is_u64(kernel_types_take(&k, raw, size, is_one, ""), 0, "types of which none is taken");
	ok(k.task_type == (__u32)first[0] && k.area_type == (__u32)first[1] &&
		   k.file_type == (__u32)first[2] && k.maple_type == (__u32)first[3],
	   "ids of the first structures");
	for (int n = KERNEL_FUNCTION_FIRST; n < KERNEL_FUNCTION_END; n++)
		is_u64(kernel_types_function(&k, n), n == NUMBER_OF_bpf_rcu_read_lock ? called : 0,
		       "id of a function");
	is_u64(btf__type_cnt(k.btf), 1, "no type is taken");
	kernel_types_end(&k);
	btf__free(all);
}

/* ---- the largest BTF ---- */

/* Makes BTF of `size` bytes, of which the first ones matter. The others take no memory. */
static uint8_t *make_large(size_t size, uint32_t types)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = HEAD,
			       .type_len = types * sizeof(struct btf_type),
			       .str_off = types * sizeof(struct btf_type),
			       .str_len = 1};
	uint8_t *raw = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct btf_type *t = (struct btf_type *)(raw + HEAD);

	if (raw == MAP_FAILED)
		abort();
	memcpy(raw, &h, HEAD);
	for (uint32_t i = 0; i < types; i++)
		t[i].info = KIND(BTF_KIND_FWD);
	return raw;
}

static void test_size(void)
{
	for (size_t size = BYTES_MAX; size <= BYTES_MAX + 1; size++) {
		uint8_t *raw = make_large(BYTES_MAX + 1, 1);
		struct kernel_types k;

		kernel_types_begin(&k);
		is_u64(-kernel_types_take(&k, raw, size, is_any, NULL),
		       size > BYTES_MAX ? EINVAL : 0, "the most bytes");
		kernel_types_end(&k);
		munmap(raw, BYTES_MAX + 1);
	}
}

static void test_number(void)
{
	const size_t room = HEAD + TYPES_MAX * sizeof(struct btf_type) + 1;

	for (uint32_t n = TYPES_MAX - 1; n <= TYPES_MAX; n++) {
		uint8_t *raw = make_large(room, n);
		struct kernel_types k;

		kernel_types_begin(&k);
		is_u64(-kernel_types_take(&k, raw, room, is_any, NULL), n < TYPES_MAX ? 0 : EINVAL,
		       "the most types");
		kernel_types_end(&k);
		munmap(raw, room);
	}
}

/* A type may end with the section, but not after it. */
static void test_last_type(void)
{
	static const struct {
		int kind, n;
		size_t bytes; /* after struct btf_type */
	} rows[] = {
		{BTF_KIND_INT, 0, 4},	      {BTF_KIND_PTR, 0, 0},	 {BTF_KIND_ARRAY, 0, 12},
		{BTF_KIND_STRUCT, 2, 24},     {BTF_KIND_UNION, 1, 12},	 {BTF_KIND_ENUM, 3, 24},
		{BTF_KIND_FWD, 0, 0},	      {BTF_KIND_TYPEDEF, 0, 0},	 {BTF_KIND_VOLATILE, 0, 0},
		{BTF_KIND_CONST, 0, 0},	      {BTF_KIND_RESTRICT, 0, 0}, {BTF_KIND_FUNC, 0, 0},
		{BTF_KIND_FUNC_PROTO, 3, 24}, {BTF_KIND_VAR, 0, 4},	 {BTF_KIND_DATASEC, 2, 24},
		{BTF_KIND_FLOAT, 0, 0},	      {BTF_KIND_DECL_TAG, 0, 4}, {BTF_KIND_TYPE_TAG, 0, 0},
		{BTF_KIND_ENUM64, 2, 24},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int less = 0; less <= 4; less += 4) {
			size_t len = sizeof(struct btf_type) + rows[i].bytes - less;
			struct btf_header h = {.magic = BTF_MAGIC,
					       .version = BTF_VERSION,
					       .hdr_len = HEAD,
					       .type_len = len,
					       .str_off = len,
					       .str_len = 1};
			struct btf_type t = {.info = KIND(rows[i].kind) | rows[i].n, .size = 4};
			size_t size = HEAD + len + 1;
			uint8_t *raw = calloc(1, size + sizeof(t));
			struct kernel_types k;

			memcpy(raw, &h, HEAD);
			memcpy(raw + HEAD, &t, len < sizeof(t) ? len : sizeof(t));
			raw[size - 1] = 0;
			kernel_types_begin(&k);
			ok(kernel_types_take(&k, raw, size, is_one, "") == (less ? -EINVAL : 0),
			   "kind %d, of which %d bytes are missing", rows[i].kind, less);
			kernel_types_end(&k);
			free(raw);
		}
}

/* ---- failures ---- */

/* An enumeration of so many values that the lists of types and names grow several times. */
static struct btf *make_many(void)
{
	struct btf *b = btf__new_empty();
	char name[32];

	btf__add_enum(b, "many", 4);
	for (int i = 0; i < MANY_VALUES; i++) {
		snprintf(name, sizeof(name), "VALUE_%d", i);
		btf__add_enum_value(b, name, i);
	}
	return b;
}

static bool has_values(const struct btf *b)
{
	int id = btf__find_by_name_kind(b, "many", BTF_KIND_ENUM), wrong = 0;
	const struct btf_type *t = id > 0 ? btf__type_by_id(b, id) : NULL;
	char name[32];

	for (int i = 0; t && i < MANY_VALUES; i++) {
		snprintf(name, sizeof(name), "VALUE_%d", i);
		wrong += btf_enum(t)[i].val != i ||
			 strcmp(btf__name_by_offset(b, btf_enum(t)[i].name_off), name) != 0;
	}
	return t && btf_vlen(t) == MANY_VALUES && !wrong;
}

static void test_memory(void)
{
	struct btf *all = make_many();
	size_t fds = open_fds(), failures = 0, wrong = 0;
	const void *raw;
	bool failed;
	__u32 size;

	raw = btf__raw_data(all, &size);
	do {
		struct kernel_types k;
		int err;

		kernel_types_begin(&k);
		memory_fail_after(failures);
		err = kernel_types_take(&k, raw, size, is_any, NULL);
		failed = memory_recovers();
		wrong += failed ? err != -ENOMEM || k.btf : err || !has_values(k.btf);
		failures += failed;
		kernel_types_end(&k);
	} while (failed && failures < 1000);
	ok(failures > 10 && failures < 1000 && !wrong, "%zu allocations that fail, %zu wrong",
	   failures, wrong);
	is_u64(open_fds(), fds, "no file is left");
	btf__free(all);
}

static void test_file(void)
{
	struct btf *all = make();
	const void *raw;
	__u32 size;

	raw = btf__raw_data(all, &size);
	for (int i = 0; i < 3; i++) {
		struct kernel_types k;

		kernel_types_begin(&k);
		write_error = i == 1 ? ENOSPC : 0;
		writes_part = i == 2;
		is_u64(-kernel_types_take(&k, raw, size, is_any, NULL), i ? ENOMEM : 0,
		       i ? "a file that cannot be written" : "a file that can");
		ok((k.btf != NULL) == !i, "whether there are types");
		kernel_types_end(&k);
	}
	write_error = 0;
	writes_part = false;
	btf__free(all);
}

int main(void)
{
	libbpf_set_print(NULL);
	test_parts();
	test_equal_names();
	test_size();
	test_number();
	test_last_type();
	test_memory();
	test_file();
	return tap_done();
}
