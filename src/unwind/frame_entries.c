// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/frame_entries.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define ENTRY_WORK 10 /* work of reading an entry */

/* Returns the CIE at an offset. A CIE is read again if another CIE replaced it in the cache. */
static struct known_cie *find_cie(struct frame_entries *f, size_t at)
{
	struct known_cie *k = &f->cie[at / 4 % CIE_CACHE];
	__u64 all = ~0ULL; /* a CIE is short */
	struct cfi_entry e;

	if (k->known && k->at == at)
		return k;
	*k = (struct known_cie){.known = true, .at = at, .err = -EBADMSG};
	if (at >= f->section.size || cfi_entry_read(&f->section, at, &e) != 1)
		return k;
	k->err = cfi_cie_read(&f->section, &e, &k->cie);
	if (k->err)
		return k;
	cfi_begin(&f->run, &k->cie, k->cie.program, NULL, 0, 0);
	k->err = cfi_go_on(&f->run, &all, NULL, NULL);
	k->state = f->run.s;
	return k;
}

static bool is_before(const struct frame_entry *x, const struct frame_entry *y)
{
	return x->start != y->start ? x->start < y->start : x->at < y->at;
}

/* Adds an entry. Returns false if there is no room for it. */
static bool add_entry(struct frame_entries *f, const struct cfi_entry *e, size_t at,
		      is_code_fn *is_code, void *ctx)
{
	struct known_cie *k = find_cie(f, e->cie);
	struct frame_entry *grown;
	struct cfi_fde fde;

	if (k->err || cfi_fde_read(&f->section, e, &k->cie, &fde) || !fde.bytes ||
	    fde.bytes > UINT32_MAX || !is_code(ctx, fde.start) ||
	    !is_code(ctx, fde.start + fde.bytes - 1)) {
		f->dropped++;
		return true;
	}
	grown = array_grow(f->entry, f->n, &f->room, FRAME_ENTRIES_MAX, sizeof(*f->entry));
	if (!grown)
		return false;
	f->entry = grown;
	f->entry[f->n] = (struct frame_entry){fde.start, fde.bytes, at};
	f->disordered |= f->n && is_before(&f->entry[f->n], &f->entry[f->n - 1]);
	f->n++;
	return true;
}

void frame_entries_begin(struct frame_entries *f, const struct cfi_section *s,
			 enum cfi_machine machine)
{
	f->section = *s;
	f->run.machine = machine;
	f->run.work = CFI_WORK;
}

static void list_entries(struct frame_entries *f, is_code_fn *is_code, void *ctx, __u64 *left)
{
	struct cfi_entry e;

	while (*left) {
		int found = cfi_entry_read(&f->section, f->at, &e);

		*left -= *left < ENTRY_WORK ? *left : ENTRY_WORK;
		if (found != 1 || (!e.is_cie && !add_entry(f, &e, f->at, is_code, ctx))) {
			f->cut = found != 0;
			f->listed = true;
			return;
		}
		f->at = e.next;
	}
}

static int begin_sort(struct frame_entries *f)
{
	struct entry_sort *s = &f->sort;

	f->sorted = !f->disordered;
	if (f->sorted)
		return 0;
	if (f->n > FRAME_ENTRIES_MAX)
		return -E2BIG;
	s->spare = reallocarray(NULL, f->n, sizeof(*s->spare));
	s->width = 1;
	return s->spare ? 0 : -ENOMEM;
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static void next_runs(struct frame_entries *f)
{
	struct entry_sort *s = &f->sort;

	s->a = s->done;
	s->b = s->a_end = at_most(s->a + s->width, f->n);
	s->b_end = at_most(s->b + s->width, f->n);
}

/* Ends a pass over all entries, which doubled the length of the sorted runs. */
static void end_pass(struct frame_entries *f)
{
	struct entry_sort *s = &f->sort;
	struct frame_entry *merged = s->spare;

	s->spare = f->entry;
	f->entry = merged;
	f->room = f->n;
	s->width *= 2;
	s->done = s->a = s->a_end = s->b = s->b_end = 0;
	f->sorted = s->width >= f->n;
}

static void sort_entries(struct frame_entries *f, __u64 *left)
{
	struct entry_sort *s = &f->sort;

	for (; *left && !f->sorted; --*left) {
		if (s->a == s->a_end && s->b == s->b_end)
			next_runs(f);
		if (s->b == s->b_end ||
		    (s->a < s->a_end && is_before(&f->entry[s->a], &f->entry[s->b])))
			s->spare[s->done++] = f->entry[s->a++];
		else
			s->spare[s->done++] = f->entry[s->b++];
		if (s->done == f->n)
			end_pass(f);
	}
}

int frame_entries_read(struct frame_entries *f, is_code_fn *is_code, void *ctx, __u64 *left)
{
	int err = 0;

	if (!f->listed) {
		list_entries(f, is_code, ctx, left);
		if (f->listed)
			err = begin_sort(f);
	}
	if (!err && f->listed)
		sort_entries(f, left);
	return err ? err : f->sorted ? 0 : -EAGAIN;
}

void frame_entries_free(struct frame_entries *f)
{
	free(f->entry);
	free(f->sort.spare);
	f->entry = f->sort.spare = NULL;
}

int frame_entry_begin(struct frame_entries *f, const struct frame_entry *e,
		      const struct cfi_cie **ret_cie)
{
	struct cfi_entry found;
	struct known_cie *k;
	struct cfi_fde fde;

	/* the same bytes were read without an error before */
	if (cfi_entry_read(&f->section, e->at, &found) != 1)
		return -EBADMSG;
	k = find_cie(f, found.cie);
	if (k->err)
		return k->err;
	if (cfi_fde_read(&f->section, &found, &k->cie, &fde))
		return -EBADMSG;
	cfi_begin(&f->run, &k->cie, fde.program, &k->state, e->start, e->start + e->bytes);
	*ret_cie = &k->cie;
	return 0;
}

int frame_entry_run(struct frame_entries *f, cfi_row_fn *row, void *ctx, __u64 *left)
{
	return cfi_go_on(&f->run, left, row, ctx);
}
