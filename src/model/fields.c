// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/fields.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "model/resources.h"

uint64_t count_kinds(const struct counters *c, int kernel, int access, int protection)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_FAULT_KINDS; i++) {
		if (kernel >= 0 && !!(i & FAULT_KERNEL) != kernel)
			continue;
		if (access >= 0 && (i >> 1 & 3) != access)
			continue;
		if (protection >= 0 && (i & FAULT_PROT) != protection)
			continue;
		sum += c->fault_kind[i];
	}
	return sum;
}

uint64_t counters_refused(const struct counters *c, enum what what)
{
	uint64_t sum = 0;

	for (int i = 0; what == WHAT_MAPS && i < NR_MAP_CALLS; i++)
		sum += c->map_call[i].refused;
	for (int i = 0; what == WHAT_FDS && i < NR_FD_CALLS; i++)
		sum += c->fd_call[i].refused;
	return sum;
}

/* `counters` is the declaration of c, if the expression uses counters. */
#define GETTER(name, counters, expression)                                                         \
	static bool get_##name(const struct model *m, const struct subject *s,                     \
			       const struct facts *f, uint64_t *ret)                               \
	{                                                                                          \
		const struct gauges *g = &f->g;                                                    \
		counters;                                                                          \
		(void)m, (void)s, (void)g;                                                         \
		*ret = (expression);                                                               \
		return true;                                                                       \
	}

static uint64_t above(uint64_t v, uint64_t base)
{
	return v > base ? v - base : 0;
}

static uint64_t map_calls(const struct counters *c, enum call_id call)
{
	return c->map_call[call - CALL_MMAP].calls;
}

static bool get_created(const struct model *m, const struct subject *s, const struct facts *f,
			uint64_t *ret)
{
	const struct counters *c = facts_counters(f);

	if (model_hook_on(m, "calls"))
		*ret = map_calls(c, CALL_MMAP) + map_calls(c, CALL_SHMAT);
	else if (model_hook_on(m, "map_area"))
		*ret = c->unmapped_area;
	else
		return false;
	return true;
}

/*
 * Reads the number of kernel-mode faults: from probe fault_begin if it counts faults of both modes,
 * else from probe fault_kernel.
 */
static bool get_kernel(const struct model *m, const struct subject *s, const struct facts *f,
		       uint64_t *ret)
{
	*ret = count_kinds(facts_counters(f), 1, -1, -1);
	if (model_hook_has(m, "fault_begin", SEES_KERNEL))
		return true;
	return model_hook_on(m, "fault_kernel") && !model_hook_has(m, "fault_kernel", LACKS_COPIES);
}

static bool get_map_count(const struct model *m, const struct subject *s, const struct facts *f,
			  uint64_t *ret)
{
	*ret = f->g.map_count;
	return !(f->g.flags & PROC_NO_COUNT);
}

static bool get_map_high(const struct model *m, const struct subject *s, const struct facts *f,
			 uint64_t *ret)
{
	*ret = f->g.map_high;
	return !(f->g.flags & PROC_NO_COUNT);
}

static bool get_map_limit(const struct model *m, const struct subject *s, const struct facts *f,
			  uint64_t *ret)
{
	*ret = resource_limit(m, s, RESOURCE_MAPS);
	return *ret != 0;
}

#define COUNTERS_OF_F __attribute__((unused)) const struct counters *c = facts_counters(f)

#define KERNEL_TOTAL(id, base, ...) GETTER(id, , above(g->id, s->base))
#define SUM(id, expression, ...)    GETTER(id, COUNTERS_OF_F, expression)
#define GAUGE(id, expression, ...)  GETTER(id, , expression)
#include "records/counters.def"

#define ROW(type_, get_, group_, key_, unit_, probe_, help_, ...)                                  \
	{.group = group_,                                                                          \
	 .key = key_,                                                                              \
	 .unit = UNIT_##unit_,                                                                     \
	 .type = FIELD_##type_,                                                                    \
	 .hook = probe_,                                                                           \
	 .help = help_,                                                                            \
	 .get = get_,                                                                              \
	 __VA_ARGS__},

const struct field fields[] = {
/* clang-format off */
#define COUNTER(id, group, key, unit, probe, export, help, ...)                             \
	ROW(COUNTER, NULL, group, key, unit, probe, help, .at = offsetof(struct counters, id),  \
	    __VA_ARGS__)
#define KERNEL_TOTAL(id, base, group, key, unit, probe, export, help, ...)                         \
	ROW(COUNTER, get_##id, group, key, unit, probe, help, __VA_ARGS__)
#define SUM(id, expression, ...)   ROW(COUNTER, get_##id, __VA_ARGS__)
#define GAUGE(id, expression, ...) ROW(GAUGE, get_##id, __VA_ARGS__)
#define COMPUTED(id, type, ...)	   ROW(type, get_##id, __VA_ARGS__)
#include "records/counters.def"
	/* clang-format on */
};

const size_t nr_fields = sizeof(fields) / sizeof(fields[0]);

const struct field *field_find(const char *name)
{
	const struct field *found = NULL;
	size_t group, matches = 0;

	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];

		group = strlen(f->group);
		if (group && !strncmp(name, f->group, group) && name[group] == '.' &&
		    !strcmp(name + group + 1, f->key))
			return f;
		if (!strcmp(name, f->key) || (f->column && !strcmp(name, f->column)))
			found = f, matches++;
	}
	return matches == 1 ? found : NULL;
}

const char *field_name(const struct field *f, char *ret, size_t size)
{
	array_copy(ret, size, f->group);
	if (*f->group)
		array_append(ret, size, ".");
	array_append(ret, size, f->key);
	return ret;
}

const char *field_column_title(const struct field *f, char *ret, size_t size)
{
	static const char *const units[] = {"_bytes", "_ns"};
	const char *name = f->column ?: f->key;
	size_t len = strlen(name);

	for (size_t i = 0; i < 2 && !f->column; i++)
		if (len > strlen(units[i]) && !strcmp(name + len - strlen(units[i]), units[i]))
			len -= strlen(units[i]);
	array_copy(ret, len < size ? len + 1 : size, name);
	for (char *c = ret; *c; c++)
		*c = *c == '_' ? ' ' : toupper((unsigned char)*c);
	if (f->type == FIELD_COUNTER)
		array_append(ret, size, "/s");
	return ret;
}

bool is_available(const struct model *m, const char *hook, uint32_t lacks)
{
	return !hook || (model_hook_on(m, hook) && !model_hook_has(m, hook, lacks));
}

static bool get_at(const struct model *m, const struct subject *s, const struct facts *facts,
		   const struct field *f, uint64_t *ret)
{
	if (!is_available(m, f->hook, f->lacks))
		return false;
	if (f->get)
		return f->get(m, s, facts, ret);
	*ret = facts_counter(facts, f->at);
	return *ret != NOT_COUNTED;
}

bool field_get(const struct model *m, const struct subject *s, const struct field *f, uint64_t *ret)
{
	return get_at(m, s, &s->now, f, ret);
}

uint64_t field_delta(const struct model *m, const struct subject *s, const struct field *f)
{
	uint64_t now, prev;

	if (!subject_changed(m, s) || !get_at(m, s, &s->now, f, &now) ||
	    !get_at(m, s, subject_prev(s), f, &prev))
		return 0;
	return above(now, prev);
}

static const char *const call_names[CALL_MAX] = {
#define X(id, name) [CALL_##id] = name,
	MAP_CALLS(X) FD_CALLS(X) OTHER_CALLS(X)
#undef X
};

const char *call_name(unsigned int call)
{
	return call < CALL_MAX && call_names[call] ? call_names[call] : "unknown";
}

static const char *map_call_row(size_t i)
{
	return call_names[CALL_MMAP + i];
}

static const char *fd_call_row(size_t i)
{
	return call_names[CALL_FD_FIRST + i];
}

static uint64_t map_call_cell(const struct counters *c, size_t row, size_t column)
{
	const struct map_call_count *n = &c->map_call[row];

	return column == 0   ? n->calls
	       : column == 1 ? n->refused
	       : column == 2 ? n->vmas_added
			     : n->vmas_removed;
}

static uint64_t fd_call_cell(const struct counters *c, size_t row, size_t column)
{
	return column ? c->fd_call[row].refused : c->fd_call[row].calls;
}

static const char *class_row(size_t i)
{
	static const char *const name[] = {"not_present", "protection", "failed"};

	return name[i];
}

/*
 * Returns a number of faults. Row 0: the page was not present; row 1: it was present (both from the
 * error code); row 2: the fault ended in a signal.
 */
static uint64_t class_cell(const struct counters *c, size_t row, size_t column)
{
	return row == 2 ? c->fault_failed : count_kinds(c, -1, -1, row);
}

static const char *const class_names[] = {
#define X(id, name, help) name,
	FAULT_CLASSES(X)
#undef X
};

const char *class_name(enum fault_class id)
{
	return class_names[id];
}

uint64_t count_served(const struct counters *c, enum fault_class id)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_BANDS; i++)
		sum += c->served[id].band[i];
	return sum;
}

static const char *served_row(size_t i)
{
	return class_names[i];
}

static uint64_t served_cell(const struct counters *c, size_t row, size_t column)
{
	return column ? c->served[row].stall_ns : count_served(c, row);
}

static const char *const served_columns[] = {"count", "stall_ns"};
static const char *const map_columns[] = {"calls", "failed", "vmas_added", "vmas_removed"};
static const char *const fd_columns[] = {"calls", "failed"};

const struct grid grids[] = {
	{"faults", "by_class", "fault_begin", "faults that began, by class", 3, 1, class_row, NULL,
	 class_cell, LACKS_PROTECTION},
	{"faults", "handled", "fault_class", "handled faults, by class", NR_CLASSES, 2, served_row,
	 served_columns, served_cell},
	{"maps", "by_call", "calls",
	 "mapping calls, and how they changed the map count", NR_MAP_CALLS, 4,
	 map_call_row, map_columns, map_call_cell},
	{"fds", "by_call", "calls", "file descriptors opened (or closed) by system calls",
	 NR_FD_CALLS, 2, fd_call_row, fd_columns, fd_call_cell},
};
const size_t nr_grids = sizeof(grids) / sizeof(grids[0]);

static const uint64_t *minor_latency(const struct counters *c)
{
	return (const uint64_t *)c->latency[END_MINOR];
}

static const uint64_t *major_latency(const struct counters *c)
{
	return (const uint64_t *)c->latency[END_MAJOR];
}

static uint64_t minor_max(const struct counters *c)
{
	return c->latency_max_ns[END_MINOR];
}

static uint64_t major_max(const struct counters *c)
{
	return c->latency_max_ns[END_MAJOR];
}

static const uint64_t *map_sizes(const struct counters *c)
{
	return (const uint64_t *)c->map_size;
}

#define X(id, name, help)                                                                          \
	static const uint64_t *bands_##id(const struct counters *c)                                \
	{                                                                                          \
		return (const uint64_t *)c->served[CLASS_##id].band;                               \
	}                                                                                          \
	static uint64_t max_##id(const struct counters *c)                                         \
	{                                                                                          \
		return c->served_max_ns[CLASS_##id];                                               \
	}
FAULT_CLASSES(X)
#undef X

/* clang-format off */
#define CLASS_HISTOGRAM(id, name, help)                                                            \
	{"faults", name, "fault_class", help, "handled_latency_ns", UNIT_NS, NR_BANDS,           \
	 LATENCY_SHIFT, bands_##id, max_##id, 0, BAND_STEP, true},
/* clang-format on */

const struct histogram histograms[] = {
	{"faults", "minor", "fault_end", "latency of minor faults", "latency_ns", UNIT_NS,
	 NR_LATENCY, LATENCY_SHIFT, minor_latency, minor_max, LACKS_MINOR},
	{"faults", "major", "fault_end", "latency of major faults", "latency_ns", UNIT_NS,
	 NR_LATENCY, LATENCY_SHIFT, major_latency, major_max},
	/* clang-format off */
	FAULT_CLASSES(CLASS_HISTOGRAM)
	/* clang-format on */
	{"maps", "size_bytes", "calls", "sizes requested from mmap", NULL, UNIT_BYTES, NR_MAP_SIZES,
	 MAP_SIZE_SHIFT, map_sizes, NULL},
};
const size_t nr_histograms = sizeof(histograms) / sizeof(histograms[0]);

uint64_t histogram_le(const struct histogram *h, size_t bucket)
{
	unsigned int step = h->step ?: 1;

	return bucket + 1 >= h->buckets ? UINT64_MAX : 1ULL << ((bucket + 1) * step + h->shift);
}

uint64_t histogram_total(const struct histogram *h, const struct counters *c)
{
	const uint64_t *n = h->counts(c);
	uint64_t sum = 0;

	for (size_t i = 0; i < h->buckets; i++)
		sum += n[i];
	return sum;
}

uint64_t histogram_quantile(const struct histogram *h, const struct counters *c, double q)
{
	const uint64_t *n = h->counts(c);
	uint64_t total = histogram_total(h, c), seen = 0;

	if (!total)
		return 0;
	for (size_t i = 0; i < h->buckets; i++) {
		seen += n[i];
		if (seen >= q * total) {
			uint64_t le = histogram_le(h, i), max = h->max ? h->max(c) : le;

			return max < le ? max : le;
		}
	}
	return UINT64_MAX;
}

void fields_offer(struct nearest *n, char name[NEAREST_BYTES])
{
	char one[NEAREST_BYTES];

	for (size_t i = 0; i < nr_fields; i++) {
		field_name(&fields[i], one, sizeof(one));
		nearest_add(n, one);
		if (n->word != one)
			continue;
		memcpy(name, one, NEAREST_BYTES);
		n->word = name;
	}
}
