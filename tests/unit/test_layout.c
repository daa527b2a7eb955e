// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests whether BPF programs may read kernel structures at fixed offsets. The tests use BTF that
 * they make themselves.
 */
#include <errno.h>
#include <string.h>

#include "probe/layout.h"
#include "tap.h"

struct shape {
	int pivots, slots, last;
};

/* Adds struct maple_range_64 or maple_arange_64 of include/linux/maple_tree.h. */
static void add_node(struct btf *b, const char *name, struct shape s, bool gaps)
{
	int word = btf__add_int(b, "unsigned long", 8, 0), byte = btf__add_int(b, "u8", 1, 0);
	int pivots = btf__add_array(b, word, word, s.pivots);
	int slots = btf__add_array(b, word, word, s.slots);
	int meta, inner, both;

	meta = btf__add_struct(b, "maple_metadata", 2);
	btf__add_field(b, "end", byte, 0, 0);
	btf__add_field(b, "gap", byte, 8, 0);
	inner = btf__add_struct(b, NULL, s.slots * 8);
	btf__add_field(b, "pad", word, 0, 0);
	btf__add_field(b, "meta", meta, s.last * 64, 0);
	both = btf__add_union(b, NULL, s.slots * 8);
	btf__add_field(b, "slot", slots, 0, 0);
	btf__add_field(b, NULL, inner, 0, 0);
	btf__add_struct(b, name, 256);
	btf__add_field(b, "parent", word, 0, 0);
	btf__add_field(b, "pivot", pivots, 64, 0);
	if (gaps) {
		btf__add_field(b, "slot", slots, 64 + s.pivots * 64, 0);
		btf__add_field(b, "gap", slots, 64 + (s.pivots + s.slots) * 64, 0);
		btf__add_field(b, "meta", meta, 64 + (s.pivots + 2 * s.slots) * 64, 0);
	} else {
		btf__add_field(b, NULL, both, 64 + s.pivots * 64, 0);
	}
}

static void add_kinds(struct btf *b, int first)
{
	static const char *const names[] = {"maple_dense", "maple_leaf_64", "maple_range_64",
					    "maple_arange_64"};

	btf__add_enum(b, "maple_type", 4);
	for (int i = 0; i < 4; i++)
		btf__add_enum_value(b, names[i], first + i);
}

static bool is_foreign(struct shape range, struct shape arange, int first)
{
	struct btf *b = btf__new_empty();
	bool foreign;

	add_node(b, "maple_range_64", range, false);
	add_node(b, "maple_arange_64", arange, true);
	add_kinds(b, first);
	foreign = layout_areas_foreign(b);
	btf__free(b);
	return foreign;
}

/* Returns whether the areas are foreign if one kind has another number, and stands first. */
static bool is_foreign_by(const char *kind, int number)
{
	struct btf *b = btf__new_empty();
	bool foreign;

	btf__add_enum(b, "maple_type", 4);
	btf__add_enum_value(b, kind, number);
	btf__add_enum_value(b, "maple_dense", 0);
	foreign = layout_areas_foreign(b);
	btf__free(b);
	return foreign;
}

static void test_areas(void)
{
	struct shape range = {15, 16, 15}, arange = {9, 10, 0};
	struct btf *none = btf__new_empty();

	for (int i = 0; i < 5; i++) {
		ok(is_foreign_by("maple_leaf_64", i) == (i != 1), "leaves have number %d", i);
		ok(is_foreign_by("maple_range_64", i) == (i != 2), "ranges have number %d", i);
		ok(is_foreign_by("maple_arange_64", i) == (i != 3), "others have number %d", i);
	}

	ok(!is_foreign(range, arange, 0), "as kernels have it since 6.1");
	ok(is_foreign((struct shape){13, 14, 13}, arange, 0), "fewer pivots in a leaf");
	ok(is_foreign((struct shape){15, 16, 14}, arange, 0), "its data elsewhere");
	ok(is_foreign(range, (struct shape){8, 9, 0}, 0), "fewer pivots above");
	ok(is_foreign(range, arange, 1), "other numbers of kinds");
	ok(!layout_areas_foreign(none), "no such types: a kernel before 6.1");
	btf__free(none);
}

static __u32 success_of(int arguments)
{
	struct btf *b = btf__new_empty();
	int word = btf__add_int(b, "unsigned long", 8, 0), proto = btf__add_func_proto(b, 0);
	__u32 which;

	for (int i = 0; i < arguments; i++)
		btf__add_func_param(b, "argument", word);
	btf__add_typedef(b, "btf_trace_mmap_lock_acquire_returned", btf__add_ptr(b, proto));
	which = layout_lock_success(b);
	btf__free(b);
	return which;
}

static void test_success(void)
{
	struct btf *none = btf__new_empty();

	is_u64(success_of(5), FS_LOCK_SUCCESS_FOURTH, "mm, memcg_path, write, success");
	is_u64(success_of(4), FS_LOCK_SUCCESS_THIRD, "mm, write, success");
	is_u64(success_of(3), FS_LOCK_SUCCESS_UNKNOWN, "other arguments");
	is_u64(layout_lock_success(none), FS_LOCK_SUCCESS_UNKNOWN, "no such tracepoint");
	btf__free(none);
}

static bool counts_delays(const char *of_task, const char *of_info)
{
	struct btf *b = btf__new_empty();
	int word = btf__add_int(b, "unsigned long", 8, 0), info;
	bool counts;

	info = btf__add_struct(b, "sched_info", 8);
	if (of_info)
		btf__add_field(b, of_info, word, 0, 0);
	btf__add_struct(b, "task_struct", 8);
	btf__add_field(b, of_task, info, 0, 0);
	counts = layout_counts_delays(b);
	btf__free(b);
	return counts;
}

static void test_delays(void)
{
	ok(counts_delays("sched_info", "run_delay"), "the kernel counts waits for a CPU");
	ok(!counts_delays("sched_info", NULL), "without CONFIG_SCHED_INFO the type is empty");
	ok(!counts_delays("se", "run_delay"), "tasks have no such member");
}

static bool returns_unlimited(const char *type, const char *member)
{
	struct btf *b = btf__new_empty();
	int word = btf__add_int(b, "unsigned long", 8, 0);
	bool unlimited;

	btf__add_struct(b, type, 8);
	btf__add_field(b, member, word, 0, 0);
	unlimited = layout_returns_unlimited(b);
	btf__free(b);
	return unlimited;
}

static void test_returns(void)
{
	ok(returns_unlimited("fprobe", "hlist_array"), "fprobe of 6.14");
	ok(!returns_unlimited("fprobe", "rethook"), "fprobe with a pool");
	ok(!returns_unlimited("kprobe", "hlist_array"), "no fprobe");
}

/* A type may be the first one; the types that it refers to follow. */
static void test_first_types(void)
{
	struct btf *b = btf__new_empty();

	btf__add_typedef(b, "btf_trace_mmap_lock_acquire_returned", 2);
	btf__add_ptr(b, 3);
	btf__add_func_proto(b, 0);
	for (int i = 0; i < 4; i++)
		btf__add_func_param(b, "argument", 4);
	btf__add_int(b, "unsigned long", 8, 0);
	is_u64(layout_lock_success(b), FS_LOCK_SUCCESS_THIRD, "a tracepoint");
	ok(!layout_areas_foreign(b), "no areas");
	btf__free(b);
	b = btf__new_empty();
	btf__add_struct(b, "fprobe", 8);
	btf__add_field(b, "hlist_array", 2, 0, 0);
	btf__add_int(b, "unsigned long", 8, 0);
	ok(layout_returns_unlimited(b), "a structure with a member");
	btf__free(b);
	b = btf__new_empty();
	btf__add_enum(b, "maple_type", 4);
	btf__add_enum_value(b, "maple_leaf_64", FS_MAPLE_LEAF + 1);
	ok(layout_areas_foreign(b), "a kind of node that has another number");
	btf__free(b);
	b = btf__new_empty();
	btf__add_struct(b, "maple_range_64", 8);
	btf__add_field(b, "pivot", 2, (FS_MAPLE_PIVOTS + 8) * 8, 0);
	btf__add_int(b, "unsigned long", 8, 0);
	ok(layout_areas_foreign(b), "a node that is laid out otherwise");
	btf__free(b);
}

/*
 * Tests the BTF of this kernel if it has all structures. tests/e2e/test_doctor.py tests this BTF as
 * well.
 */
static void test_here(void)
{
	struct btf *kernel = btf__load_vmlinux_btf();

	if (!kernel) {
		ok(errno, "this kernel offers no BTF");
		return;
	}
	ok(!layout_areas_foreign(kernel), "this kernel's areas are laid out as is known");
	btf__free(kernel);
}

int main(void)
{
	test_areas();
	test_success();
	test_delays();
	test_returns();
	test_first_types();
	test_here();
	return tap_done();
}
