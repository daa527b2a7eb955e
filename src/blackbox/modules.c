// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIST "modules"

static const char *const part_keys[BB_MODULE_PARTS] = {"text", "data", "rodata", "ro_after"};

/*
 * Makes room for a module: removes the oldest unloaded module or, if none was unloaded, the oldest
 * module.
 */
static void make_room(struct bb_modules *m)
{
	size_t victim = 0;

	if (m->n < BB_MODULES_MAX)
		return;
	while (victim < m->n && !m->module[victim].unloaded_ns)
		victim++;
	if (victim == m->n)
		victim = 0;
	memmove(&m->module[victim], &m->module[victim + 1],
		(m->n - victim - 1) * sizeof(m->module[0]));
	m->n--;
	m->forgotten++;
}

static struct bb_module *find_there(struct bb_modules *m, const char *name)
{
	for (size_t i = m->n; i--;)
		if (!m->module[i].unloaded_ns && !strcmp(m->module[i].name, name))
			return &m->module[i];
	return NULL;
}

void bb_module_loaded(struct bb_modules *m, const struct bb_module *one)
{
	struct bb_module *there = find_there(m, one->name);

	if (!there) {
		make_room(m);
		there = &m->module[m->n++];
	}
	*there = *one;
}

void bb_module_gone(struct bb_modules *m, const struct bb_module *one, uint64_t when_ns)
{
	struct bb_module *there = find_there(m, one->name);

	if (!there) {
		bb_module_loaded(m, one);
		there = find_there(m, one->name);
	}
	/*
	 * `one` has exact ranges; the list of loaded modules only shows the total size of each
	 * module
	 */
	if (one->bytes[0]) {
		memcpy(there->start, one->start, sizeof(there->start));
		memcpy(there->bytes, one->bytes, sizeof(there->bytes));
	}
	there->unloaded_ns = when_ns;
}

/*
 * Returns the start of the part of a module that contains an address, or 0 if no part contains the
 * address.
 */
static uint64_t holder(const struct bb_module *one, uint64_t address)
{
	for (int i = 0; i < BB_MODULE_PARTS; i++)
		if (address - one->start[i] < one->bytes[i])
			return one->start[i];
	return 0;
}

/*
 * Returns how reliable the ranges of a module are: 1 to 3, where 3 is best. If a module was loaded
 * before recording started, only its total size is known. Its range may then overlap other modules.
 */
static int certainty(const struct bb_module *one)
{
	return one->unloaded_ns ? 2 : one->loaded_ns ? 3 : 1;
}

/* Returns whether `a` is the more likely one of two modules whose ranges contain an address. */
static bool is_likelier(const struct bb_module *a, const struct bb_module *b, uint64_t address)
{
	if (certainty(a) != certainty(b))
		return certainty(a) > certainty(b);
	if (a->unloaded_ns != b->unloaded_ns)
		return a->unloaded_ns > b->unloaded_ns;
	return holder(a, address) > holder(b, address);
}

const struct bb_module *bb_module_of(const struct bb_modules *m, uint64_t address)
{
	const struct bb_module *best = NULL;

	for (size_t i = 0; i < m->n; i++) {
		const struct bb_module *one = &m->module[i];

		if (holder(one, address) && (!best || is_likelier(one, best, address)))
			best = one;
	}
	return best;
}

void bb_module_put(struct bb_record *r, const struct bb_module *one)
{
	char part[48];

	bb_put(r, "module", one->name);
	for (int i = 0; i < BB_MODULE_PARTS; i++) {
		if (!one->bytes[i])
			continue;
		snprintf(part, sizeof(part), "%" PRIx64 "+%" PRIx64, one->start[i], one->bytes[i]);
		bb_put(r, part_keys[i], part);
	}
}

size_t bb_modules_put(struct bb_record *r, const struct bb_modules *m, size_t at)
{
	char list[BB_TEXT_MAX] = "";
	size_t used = 0, i = at;

	for (; i < m->n; i++) {
		const struct bb_module *one = &m->module[i];
		int n = snprintf(list + used, sizeof(list) - used, "%s%s@%" PRIx64 "+%" PRIx64,
				 used ? " " : "", one->name, one->start[0], one->bytes[0]);

		if (n < 0 || used + n > BB_TEXT_MAX - sizeof(LIST) - 48)
			break;
		used += n;
	}
	list[used] = 0;
	if (!bb_put(r, LIST, list))
		return 0;
	return i - at;
}

static bool get_part(const struct bb_record *r, const char *key, uint64_t *start, uint64_t *bytes)
{
	char text[48];

	return bb_get(r, key, text, sizeof(text)) &&
	       sscanf(text, "%" SCNx64 "+%" SCNx64, start, bytes) == 2;
}

static void take_list(struct bb_modules *m, char *list)
{
	for (char *one = list, *next; *one; one = next) {
		struct bb_module module = {};

		next = strchr(one, ' ');
		if (next)
			*next++ = 0;
		else
			next = one + strlen(one);
		if (sscanf(one, "%55[^@]@%" SCNx64 "+%" SCNx64, module.name, &module.start[0],
			   &module.bytes[0]) == 3)
			bb_module_loaded(m, &module);
	}
}

void bb_modules_take(struct bb_modules *m, const struct bb_record *r)
{
	struct bb_module one = {};
	char list[BB_TEXT_MAX + 1], event[16] = "";

	if (r->class != BB_MODULE)
		return;
	if (bb_get(r, LIST, list, sizeof(list))) {
		take_list(m, list);
		return;
	}
	if (!bb_get(r, "module", one.name, sizeof(one.name)))
		return;
	for (int i = 0; i < BB_MODULE_PARTS; i++)
		get_part(r, part_keys[i], &one.start[i], &one.bytes[i]);
	bb_get(r, "event", event, sizeof(event));
	one.loaded_ns = r->boot_ns;
	if (!strcmp(event, "unloaded"))
		bb_module_gone(m, &one, r->boot_ns);
	else
		bb_module_loaded(m, &one);
}
