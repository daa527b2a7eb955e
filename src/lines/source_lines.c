// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "lines/source_lines.h"

#include <errno.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "collect/symbols/demangle.h"

#define COMMAND_READ   0	    /* DWARF_C_READ */
#define FILE_BYTES_MAX (1ULL << 30) /* larger files are not read */
#define RANGES_MAX     (1u << 20)

/* A range of addresses, and the compilation unit that describes them. */
struct range {
	uint64_t start, end;
	struct dw_die unit;
};

struct source_lines {
	const struct libdw *dw;
	Elf *elf;
	void *dwarf;
	struct range *range; /* sorted by start */
	size_t n, room;
	bool no_demangling; /* a name was malicious */
};

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int add_unit(struct source_lines *l, struct dw_die *unit)
{
	uint64_t base, start, end;
	ptrdiff_t at = 0;

	while ((at = l->dw->ranges(unit, at, &base, &start, &end)) > 0) {
		struct range *more;

		if (start >= end)
			continue;
		more = array_grow(l->range, l->n, &l->room, RANGES_MAX, sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->range = more;
		l->range[l->n++] = (struct range){start, end, *unit};
	}
	return 0;
}

/* Finds the addresses of all compilation units. .debug_aranges may lack them. */
static int find_units(struct source_lines *l)
{
	struct dw_die die, skeleton;
	void *unit = NULL;
	uint16_t version;
	uint8_t type;
	int err = 0;

	while (!err && !l->dw->get_units(l->dwarf, unit, &unit, &version, &type, &die, &skeleton))
		err = add_unit(l, &die);
	if (l->n) /* else there is no array, which qsort() must have */
		qsort(l->range, l->n, sizeof(*l->range), by_start);
	return err ? err : l->n ? 0 : -ENOENT;
}

int source_lines_open(const struct libdw *dw, int fd, struct source_lines **ret)
{
	struct source_lines *l;
	struct stat st;
	int err = -ENOENT;

	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > FILE_BYTES_MAX)
		return -E2BIG;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->dw = dw;
	elf_version(EV_CURRENT);
	/* ELF_C_READ reads the file: a mapped file could be truncated, which causes SIGBUS */
	l->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (l->elf)
		l->dwarf = dw->begin_elf(l->elf, COMMAND_READ, NULL);
	if (l->dwarf)
		err = find_units(l);
	if (err) {
		source_lines_close(l);
		return err;
	}
	*ret = l;
	return 0;
}

static struct dw_die *find_unit(struct source_lines *l, uint64_t address)
{
	size_t n = array_count_up_to(l->range, l->n, sizeof(*l->range),
				     offsetof(struct range, start), address);

	return n && address < l->range[n - 1].end ? &l->range[n - 1].unit : NULL;
}

static uint64_t number_of(struct source_lines *l, struct dw_die *die, unsigned int code)
{
	struct dw_attribute attribute;
	uint64_t value;

	if (!l->dw->attr_integrate(die, code, &attribute) || l->dw->formudata(&attribute, &value))
		return 0;
	return value;
}

static void name_function(struct source_lines *l, struct dw_die *die, char *ret)
{
	struct dw_attribute attribute;
	const char *name = NULL;
	int err;

	if (l->dw->attr_integrate(die, DW_AT_LINKAGE_NAME, &attribute))
		name = l->dw->formstring(&attribute);
	err = name && !l->no_demangling ? demangle(name, ret, SOURCE_TEXT_BYTES) : -EINVAL;
	if (err == -E2BIG)
		l->no_demangling = true;
	if (!err)
		return;
	if (l->dw->attr_integrate(die, DW_AT_NAME, &attribute))
		name = l->dw->formstring(&attribute);
	snprintf(ret, SOURCE_TEXT_BYTES, "%s", name ? name : "");
}

static void place(struct source_frame *f, const char *file, uint64_t line)
{
	snprintf(f->file, sizeof(f->file), "%s", file ? file : "");
	f->line = file && line <= UINT32_MAX ? line : 0;
}

/* Sets the place from which an inlined function was called. */
static void place_call(struct source_lines *l, struct dw_die *unit, struct dw_die *die,
		       struct source_frame *f)
{
	uint64_t file = number_of(l, die, DW_AT_CALL_FILE);
	const char *name = NULL;
	void *files;
	size_t n;

	if (!l->dw->getsrcfiles(unit, &files, &n) && file < n)
		name = l->dw->filesrc(files, file, NULL, NULL);
	place(f, name, number_of(l, die, DW_AT_CALL_LINE));
}

/*
 * Adds the inlined functions that contain the address. libdw returns the scopes around an inlined
 * function's source, so the scopes around its code are found from the innermost one.
 */
static size_t add_inlined(struct source_lines *l, struct dw_die *unit, uint64_t address,
			  struct source_frame ret[SOURCE_FRAMES_MAX])
{
	struct dw_die *inner = NULL, *scope = NULL;
	int n = l->dw->getscopes(unit, address, &inner);
	size_t frames = 1;

	if (n > 0)
		n = l->dw->getscopes_die(inner, &scope);
	for (int i = 0; i < n && scope && frames < SOURCE_FRAMES_MAX; i++) {
		int tag = l->dw->tag(&scope[i]);

		if (tag == DW_TAG_SUBPROGRAM || tag == DW_TAG_INLINED_SUBROUTINE)
			name_function(l, &scope[i], ret[frames - 1].function);
		if (tag == DW_TAG_SUBPROGRAM)
			break;
		if (tag != DW_TAG_INLINED_SUBROUTINE)
			continue;
		memset(&ret[frames], 0, sizeof(ret[frames]));
		place_call(l, unit, &scope[i], &ret[frames]);
		frames++;
	}
	free(scope);
	free(inner);
	return frames;
}

size_t source_lines_find(struct source_lines *l, uint64_t address,
			 struct source_frame ret[SOURCE_FRAMES_MAX])
{
	struct dw_die *unit = find_unit(l, address);
	void *line = unit ? l->dw->getsrc_die(unit, address) : NULL;
	int number = 0;

	if (!line)
		return 0;
	memset(&ret[0], 0, sizeof(ret[0]));
	l->dw->lineno(line, &number);
	place(&ret[0], l->dw->linesrc(line, NULL, NULL), number > 0 ? number : 0);
	return add_inlined(l, unit, address, ret);
}

void source_lines_close(struct source_lines *l)
{
	if (!l)
		return;
	if (l->dwarf)
		l->dw->end(l->dwarf);
	if (l->elf)
		elf_end(l->elf);
	free(l->range);
	free(l);
}
