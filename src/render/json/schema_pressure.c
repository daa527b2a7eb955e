// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/pressure.h"
#include "render/json/schema_parts.h"

static const struct key stall_keys[] = {
	{"avg10", T_REAL_NULL, false, "percent of the last 10 s; null: no PSI here"},
	{"avg60", T_REAL_NULL, false, ""},
	{"avg300", T_REAL_NULL, false, ""},
	{"total_us", T_COUNT_NULL, false, "since it began"},
	{},
};

static const struct key stalls_keys[] = {
	{"some", T_KEYED, false, "some of the work", stall_keys},
	{"full", T_KEYED, false, "all of it at once", stall_keys},
	{},
};

static const struct key host_figure_keys[] = {
#define X(id, key, source, name) {key, T_COUNT_NULL, false, ""},
	HOST_FIGURES(X)
#undef X
		{},
};

static const struct key cgroup_figure_keys[] = {
#define X(id, key) {key, T_COUNT_NULL, false, ""},
	CGROUP_FIGURES(X)
#undef X
		{},
};

static const struct key eater_keys[] = {
	{"pid", T_COUNT, false, "of the topmost"},
	{"comm", T_TEXT, false, ""},
	{"processes", T_COUNT, false, "of the same program, one below the other"},
	{"rss_bytes", T_COUNT, false, "summed up: shared pages count for each"},
	{"swap_bytes", T_COUNT, false, ""},
	{"shmem_bytes", T_COUNT, false, "of the one with most"},
	{"committed_bytes", T_COUNT, false, "private and writable, touched or not"},
	{"bytes_per_second", T_REAL, false, "growth of the last half to whole minute"},
	{},
};

static const struct key victim_keys[] = {
	{"pid", T_COUNT, false, ""},
	{"comm", T_TEXT, false, ""},
	{"oom_score", T_COUNT, false, "the kernel's own"},
	{"oom_score_adj", T_COUNT, false, ""},
	{"rss_bytes", T_COUNT, false, ""},
	{},
};

const struct shape pressure_shapes[] = {
	{"pressure",
	 "how short of memory the machine is, at each look; counts are since its boot",
	 {{"waiting", T_KEYED, false, "time that work waited for memory (PSI)", stalls_keys},
	  {"memory_total_bytes", T_COUNT, false, ""},
	  {"memory_available_bytes", T_COUNT, false, ""},
	  {"memory_free_bytes", T_COUNT, false, ""},
	  {"swap_total_bytes", T_COUNT, false, ""},
	  {"swap_free_bytes", T_COUNT, false, ""},
	  {"committed_bytes", T_COUNT, false, "Committed_AS"},
	  {"commit_limit_bytes", T_COUNT, false, "binds in mode 2 alone"},
	  {"overcommit_memory", T_COUNT, false, "the mode"},
	  {"huge_page_bytes", T_COUNT, false, "of the default size"},
	  {"huge_pages", T_COUNT, false, ""},
	  {"huge_pages_free", T_COUNT, false, ""},
	  {"huge_pages_reserved", T_COUNT, false, ""}},
	 .more = host_figure_keys},
	{"cgroup",
	 "a cgroup with a limit of memory, at each look",
	 {{"path", T_TEXT, false, "below the mount of its hierarchy"},
	  {"version", T_COUNT, false, "1 or 2"},
	  {"waiting", T_KEYED, false, "null in it: version 1, or no PSI", stalls_keys},
	  {"kept_bytes", T_COUNT_NULL, false, "what cannot be dropped, only swapped"}},
	 .more = cgroup_figure_keys},
	{"file_system",
	 "a local file system, at each look of host",
	 {{"path", T_TEXT, false, "where it is mounted"},
	  {"in_memory", T_FLAG, false, "tmpfs"},
	  {"size_bytes", T_COUNT, false, ""},
	  {"used_bytes", T_COUNT, false, ""},
	  {"free_bytes", T_COUNT, false, "for who is not root"},
	  {"inodes", T_COUNT, false, ""},
	  {"inodes_free", T_COUNT, false, ""}}},
	{"host",
	 "the answer of faultscope host",
	 {{"short", T_FLAG, false, "a finding of warning or above is open"},
	  {"kind", T_TEXT, false,
	   "none, swap, page_cache, waiting, memory, commit, cgroup, cgroup_throttled, tmpfs "
	   "or oom_killed"},
	  {"finding", T_TEXT_NULL, false, "id of the gravest"},
	  {"title", T_TEXT_NULL, false, "of it"},
	  {"place", T_TEXT_NULL, false, "of it, where it is a cgroup or a mount"},
	  {"waiting_share", T_REAL_NULL, false, "0 to 1 of the time watched; null: no PSI"},
	  {"all_waiting_share", T_REAL_NULL, false, ""},
	  {"since_seconds", T_REAL_NULL, false, "work waits, about; null: it does not"},
	  {"since_longer", T_FLAG, false, "at least so long"},
	  {"who", T_OBJECTS, false, "the most memory first", eater_keys},
	  {"next_victims", T_OBJECTS, false, "of the OOM killer, the next first", victim_keys}}},
};

const size_t nr_pressure_shapes = sizeof(pressure_shapes) / sizeof(pressure_shapes[0]);
