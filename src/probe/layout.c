// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/layout.h"

#include <stdint.h>
#include <string.h>

#define NOT_THERE UINT32_MAX

/* Returns the byte offset of a structure's member, also within unnamed unions and structures. */
static __u32 offset_of(const struct btf *btf, const struct btf_type *t, const char *name)
{
	const struct btf_member *m = btf_members(t);

	for (int i = 0; i < btf_vlen(t); i++) {
		const char *its = btf__name_by_offset(btf, m[i].name_off);
		__u32 at = btf_member_bit_offset(t, i) / 8, inner;
		const struct btf_type *type;

		if (*its && !strcmp(its, name))
			return at;
		type = *its ? NULL : btf__type_by_id(btf, m[i].type);
		inner = type && btf_is_composite(type) ? offset_of(btf, type, name) : NOT_THERE;
		if (inner != NOT_THERE)
			return at + inner;
	}
	return NOT_THERE;
}

struct place {
	const char *member;
	__u32 at;
};

static bool differs(const struct btf *btf, const char *type, const struct place *place, size_t n)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	for (size_t i = 0; id > 0 && i < n; i++)
		if (offset_of(btf, btf__type_by_id(btf, id), place[i].member) != place[i].at)
			return true;
	return false;
}

static bool numbered_otherwise(const struct btf *btf)
{
	static const struct {
		const char *name;
		__s32 value;
	} kinds[] = {{"maple_leaf_64", FS_MAPLE_LEAF},
		     {"maple_range_64", FS_MAPLE_RANGE},
		     {"maple_arange_64", FS_MAPLE_ARANGE}};
	int id = btf__find_by_name_kind(btf, "maple_type", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off),
				    kinds[k].name) &&
			    btf_enum(t)[i].val != kinds[k].value)
				return true;
	return false;
}

bool layout_areas_foreign(const struct btf *kernel)
{
	static const struct place range[] = {{"pivot", FS_MAPLE_PIVOTS},
					     {"slot", FS_MAPLE_RANGE_SLOTS},
					     {"meta", FS_MAPLE_RANGE_META}},
				  arange[] = {{"pivot", FS_MAPLE_PIVOTS},
					      {"slot", FS_MAPLE_ARANGE_SLOTS},
					      {"meta", FS_MAPLE_ARANGE_META}};

	return differs(kernel, "maple_range_64", range, 3) ||
	       differs(kernel, "maple_arange_64", arange, 3) || numbered_otherwise(kernel);
}

static bool has_member(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id > 0 && offset_of(btf, btf__type_by_id(btf, id), name) != NOT_THERE;
}

bool layout_counts_delays(const struct btf *kernel)
{
	return has_member(kernel, "task_struct", "sched_info") &&
	       has_member(kernel, "sched_info", "run_delay");
}

bool layout_returns_unlimited(const struct btf *kernel)
{
	return has_member(kernel, "fprobe", "hlist_array");
}

__u32 layout_lock_success(const struct btf *kernel)
{
	int id = btf__find_by_name_kind(kernel, "btf_trace_mmap_lock_acquire_returned",
					BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(kernel, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(kernel, t->type);
	if (!t || !btf_is_func_proto(t))
		return FS_LOCK_SUCCESS_UNKNOWN;
	/* Arguments of the tracepoint: void *, mm, memcg_path (until 6.13), write, success. */
	return btf_vlen(t) == 5	  ? FS_LOCK_SUCCESS_FOURTH
	       : btf_vlen(t) == 4 ? FS_LOCK_SUCCESS_THIRD
				  : FS_LOCK_SUCCESS_UNKNOWN;
}
