// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/frame_entries.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Returns the CIE at an offset. A CIE is read again if another CIE replaced it in the cache. */
static struct known_cie *find_cie(struct frame_entries *f, size_t at)
{
	struct known_cie *k = &f->cie[at / 4 % CIE_CACHE];
	struct cfi_entry e;

	if (k->known && k->at == at)
		return k;
	*k = (struct known_cie){.known = true, .at = at, .err = -EBADMSG};
	if (at >= f->section->size || cfi_entry_read(f->section, at, &e) != 1)
		return k;
	k->err = cfi_cie_read(f->section, &e, &k->cie);
	if (k->err)
		return k;
	f->run.cie = &k->cie;
	k->err = cfi_run(&f->run, k->cie.program, NULL, &k->state, 0, 0, NULL, NULL);
	return k;
}

static int compare_entries(const void *a, const void *b)
{
	const struct frame_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_entries(struct frame_entries *f)
{
	for (size_t i = 1; i < f->n; i++) {
		if (f->entry[i].start < f->entry[i - 1].start) {
			qsort(f->entry, f->n, sizeof(*f->entry), compare_entries);
			return;
		}
	}
}

/* Adds an entry. Returns false if there is no room for it. */
static bool add_entry(struct frame_entries *f, const struct cfi_entry *e, size_t at,
		      is_code_fn *is_code, void *ctx)
{
	struct known_cie *k = find_cie(f, e->cie);
	struct frame_entry *grown;
	struct cfi_fde fde;

	if (k->err || cfi_fde_read(f->section, e, &k->cie, &fde) || !fde.bytes ||
	    fde.bytes > UINT32_MAX || !is_code(ctx, fde.start) ||
	    !is_code(ctx, fde.start + fde.bytes - 1)) {
		f->dropped++;
		return true;
	}
	grown = array_grow(f->entry, f->n, &f->room, FRAME_ENTRIES_MAX, sizeof(*f->entry));
	if (!grown)
		return false;
	f->entry = grown;
	f->entry[f->n++] = (struct frame_entry){fde.start, fde.bytes, at};
	return true;
}

struct frame_entries *frame_entries_read(const struct cfi_section *s, enum cfi_machine machine,
					 is_code_fn *is_code, void *ctx)
{
	struct frame_entries *f = calloc(1, sizeof(*f));
	struct cfi_entry e;
	size_t at = 0;
	int found;

	if (!f)
		return NULL;
	f->section = s;
	f->run.machine = machine;
	f->run.work = CFI_WORK;
	while ((found = cfi_entry_read(s, at, &e)) == 1) {
		if (!e.is_cie && !add_entry(f, &e, at, is_code, ctx))
			break;
		at = e.next;
	}
	f->cut = found != 0;
	sort_entries(f);
	return f;
}

void frame_entries_free(struct frame_entries *f)
{
	if (!f)
		return;
	free(f->entry);
	free(f);
}

int frame_entry_run(struct frame_entries *f, const struct frame_entry *e, cfi_row_fn *row,
		    void *ctx, const struct cfi_cie **ret_cie)
{
	struct cfi_entry found;
	struct known_cie *k;
	struct cfi_state s;
	struct cfi_fde fde;

	/* the same bytes were read without an error before */
	if (cfi_entry_read(f->section, e->at, &found) != 1)
		return -EBADMSG;
	k = find_cie(f, found.cie);
	if (k->err)
		return k->err;
	if (cfi_fde_read(f->section, &found, &k->cie, &fde))
		return -EBADMSG;
	s = k->state;
	f->run.cie = &k->cie;
	*ret_cie = &k->cie;
	return cfi_run(&f->run, fde.program, &k->state, &s, e->start, e->start + e->bytes, row,
		       ctx);
}
