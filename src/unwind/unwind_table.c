// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/unwind_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/cfi_rule.h"
#include "unwind/code_scan.h"
#include "unwind/frame_entries.h"
#include "unwind/go_functions.h"
#include "unwind/vdso_arm64.h"

#define FRAMES_BYTES_MAX (64u << 20) /* maximum size of .eh_frame */
#define INDEX_BYTES	 64	     /* bytes of .eh_frame_hdr that are read */
/* Linkers pad up to this many bytes between functions to align them. Padding contains no code. */
#define PADDING_BYTES 16
/* maximum size of _start in a file that has no FDE for it */
#define START_BYTES 128
/*
 * If at least this percentage of the code with FDEs has a frame pointer, code without FDEs is
 * assumed to have frame pointers, too.
 */
#define FRAMED_PERCENT 80
/* The kernel maps segments from the start of a page. */
#define PAGE_BYTES 4096

struct filling {
	const struct byte_source *file;
	const struct elf_headers *h;
	struct rule_set *rules;
	struct unwind_table *t;
	const struct cfi_cie *cie; /* CIE of the function that is being added */
	__u64 from, until;	   /* address range of the function that is being added */
	__u64 told;		   /* address up to which bytes were counted */
	__u64 scan_bytes;	   /* bytes of gaps that may still be searched */
	struct go_functions go;	   /* functions of a Go program */
	struct code_prologues prologues; /* function prologues in gaps */
	struct fs_unwind_rule rule;
	int err;
};

static bool is_code(void *ctx, __u64 address)
{
	const struct elf_headers *h = ctx;

	for (unsigned int i = 0; i < h->nr_loads; i++)
		if (h->load[i].executable && address >= h->load[i].address &&
		    address - h->load[i].address < h->load[i].bytes)
			return true;
	return false;
}

static bool is_framed(const struct fs_unwind_rule *r)
{
	return r->cfa == FS_UNWIND_CFA_FP && r->cfa_off == 16 &&
	       (r->fp & FS_UNWIND_FP_MASK) == FS_UNWIND_FP_AT_CFA && r->fp_off == -16;
}

/* Counts the bytes up to `address` by the kind of the last rule. */
static void count_up_to(struct filling *f, __u64 address)
{
	__u64 bytes = address - f->told;

	f->t->covered_bytes += bytes;
	f->t->framed_bytes += is_framed(&f->rule) ? bytes : 0;
	f->t->opaque_bytes += f->rule.cfa == FS_UNWIND_CFA_OPAQUE ? bytes : 0;
	f->told = address;
}

static void add_row(struct filling *f, __u64 address, __u16 rule)
{
	if (!f->err)
		f->err = row_table_add(&f->t->rows, address, rule);
}

static void add_state(void *ctx, __u64 address, const struct cfi_state *s)
{
	struct filling *f = ctx;

	if (address < f->from)
		address = f->from;
	if (address >= f->until)
		return;
	count_up_to(f, address);
	f->rule = s ? cfi_rule(f->t->machine, f->cie, s)
		    : (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE};
	add_row(f, address, rule_set_add(f->rules, f->rule));
}

/* Adds a piece of a gap that has its own rule. */
static void add_piece(struct filling *f, __u64 start, __u64 end, __u16 rule, __u64 gap_end)
{
	if (end > gap_end)
		end = gap_end;
	add_row(f, start, rule);
	if (end < gap_end)
		add_row(f, end, FS_UNWIND_RULE_GAP);
}

/*
 * Adds _init or _fini, if it is in this gap. C libraries ship them without FDEs. They are at the
 * start and at the end of a segment. Returns the address up to which the gap has rows now.
 */
static __u64 add_init(struct filling *f, __u64 start, __u64 end)
{
	struct fs_unwind_rule r = {.cfa = FS_UNWIND_CFA_SP, .cfa_off = 8};
	struct code_init at;
	bool is_edge = false;

	for (unsigned int i = 0; i < f->t->codes; i++)
		is_edge = is_edge || start == f->t->code[i].address ||
			  end == f->t->code[i].address + f->t->code[i].bytes;
	if (!is_edge || f->t->machine != CFI_X86_64 ||
	    !code_find_init(f->file, f->h, start, end, &at))
		return start;
	add_row(f, start, rule_set_add(f->rules, r));
	r.cfa_off = 16;
	add_row(f, at.from, rule_set_add(f->rules, r));
	r.cfa_off = 8;
	add_row(f, at.until, rule_set_add(f->rules, r));
	return at.end;
}

static void add_go_rule(void *ctx, __u64 address, struct fs_unwind_rule rule)
{
	struct filling *f = ctx;

	add_row(f, address, rule_set_add(f->rules, rule));
}

/*
 * Adds a gap: addresses that no FDE covers. Functions of Go have no FDEs, but a table of their own.
 * Some libraries have no FDE for the code that returns from a signal handler, or for _start.
 */
static void add_gap(struct filling *f, __u64 start, __u64 end)
{
	bool has_start = f->h->start >= start && f->h->start < end;
	bool has_sigreturn = false;
	__u64 sigreturn = 0;

	start = add_init(f, start, end);
	if (end - start < PADDING_BYTES)
		return;
	code_count_prologues(f->file, f->h, start, end, &f->prologues);
	if (f->go.n) {
		add_row(f, start, FS_UNWIND_RULE_GAP);
		go_functions_rules(&f->go, start, end, add_go_rule, f);
		return;
	}
	if (f->t->machine == CFI_X86_64 && end - start <= f->scan_bytes) {
		has_sigreturn = code_find_sigreturn(f->file, f->h, start, end, &sigreturn);
		f->scan_bytes -= end - start;
	}
	add_row(f, start, FS_UNWIND_RULE_GAP);
	if (has_start && (!has_sigreturn || f->h->start < sigreturn))
		add_piece(f, f->h->start, f->h->start + START_BYTES, FS_UNWIND_RULE_END,
			  has_sigreturn ? sigreturn - 1 : end);
	/*
	 * the range begins one byte early, because a return address is looked up by the byte before
	 * it
	 */
	if (has_sigreturn)
		add_piece(f, sigreturn > start ? sigreturn - 1 : sigreturn,
			  sigreturn + CODE_SIGRETURN_BYTES, FS_UNWIND_RULE_SIGNAL, end);
	if (has_start && has_sigreturn && f->h->start >= sigreturn + CODE_SIGRETURN_BYTES)
		add_piece(f, f->h->start, f->h->start + START_BYTES, FS_UNWIND_RULE_END, end);
}

static void add_entries(struct filling *f, struct frame_entries *entries, __u64 start, __u64 end)
{
	__u64 at = start;

	for (size_t i = 0; i < entries->n && !f->err; i++) {
		const struct frame_entry *e = &entries->entry[i];
		__u64 e_end = e->start + e->bytes;

		if (e_end <= at || e->start < start || e_end > end) {
			f->t->dropped += e_end > end;
			continue;
		}
		if (e->start > at)
			add_gap(f, at, e->start);
		f->from = f->told = e->start > at ? e->start : at;
		f->until = e_end;
		f->rule = (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE};
		if (frame_entry_run(entries, e, add_state, f, &f->cie))
			f->t->dropped++;
		count_up_to(f, e_end);
		at = e_end;
	}
	if (at < end)
		add_gap(f, at, end);
	f->t->fdes = entries->n;
	f->t->dropped += entries->dropped;
	f->t->cut = entries->cut || !entries->run.work;
}

/* Finds .eh_frame by its section header, or else by the segment of .eh_frame_hdr. */
static bool find_frames(const struct byte_source *file, const struct elf_headers *h,
			struct elf_span *ret_at, __u64 *ret_address)
{
	__u8 head[INDEX_BYTES];
	struct cfi_section index = {head, 0, h->frame_index.address, 8};

	*ret_at = h->frames.at;
	*ret_address = h->frames.address;
	if (ret_at->bytes)
		return true;
	index.size = sizeof(head);
	if (h->frame_index.at.bytes < index.size)
		index.size = h->frame_index.at.bytes;
	if (!bytes_get(file, h->frame_index.at.offset, head, index.size) ||
	    cfi_index_read(&index, ret_address))
		return false;
	for (unsigned int i = 0; i < h->nr_loads; i++) {
		__u64 into = *ret_address - h->load[i].address;

		if (*ret_address < h->load[i].address || into >= h->load[i].bytes)
			continue;
		*ret_at = (struct elf_span){h->load[i].offset + into, h->load[i].bytes - into};
		return true;
	}
	return false;
}

static int read_frames(const struct byte_source *file, const struct elf_headers *h,
		       __u8 **ret_bytes, struct cfi_section *ret)
{
	struct elf_span at;
	__u8 *bytes;

	*ret_bytes = NULL;
	memset(ret, 0, sizeof(*ret));
	if (!find_frames(file, h, &at, &ret->address))
		return 0;
	if (at.offset > file->bytes)
		return 0;
	if (at.bytes > file->bytes - at.offset)
		at.bytes = file->bytes - at.offset;
	if (at.bytes > FRAMES_BYTES_MAX)
		return -E2BIG;
	bytes = malloc(at.bytes + 1);
	if (!bytes)
		return -ENOMEM;
	if (!bytes_get(file, at.offset, bytes, at.bytes))
		at.bytes = 0;
	*ret_bytes = bytes;
	ret->bytes = bytes;
	ret->size = at.bytes;
	ret->pointer_bytes = 8;
	return 0;
}

/* Finds the address range of the file's code. Returns false if the file has no code. */
static bool code_range(const struct elf_headers *h, struct unwind_table *t, __u64 *ret_start,
		       __u64 *ret_end)
{
	*ret_start = ~0ULL;
	*ret_end = 0;
	for (unsigned int i = 0; i < h->nr_loads; i++) {
		__u64 end = h->load[i].address + h->load[i].bytes;

		if (!h->load[i].executable || end <= h->load[i].address)
			continue;
		t->code[t->codes].offset = h->load[i].offset;
		t->code[t->codes].address = h->load[i].address;
		t->code[t->codes++].bytes = h->load[i].bytes;
		t->text_bytes += h->load[i].bytes;
		*ret_start = h->load[i].address < *ret_start ? h->load[i].address : *ret_start;
		*ret_end = end > *ret_end ? end : *ret_end;
	}
	return *ret_end > *ret_start;
}

/*
 * Returns whether code without FDEs is assumed to keep frame pointers: because the code with FDEs
 * does, or because many functions without FDEs begin with a frame record.
 */
static bool keeps_frame_pointers(const struct filling *f)
{
	const struct unwind_table *t = f->t;

	return (t->covered_bytes &&
		t->framed_bytes * 100 >= t->covered_bytes * FRAMED_PERCENT) ||
	       code_has_frame_pointers(&f->prologues);
}

static void settle_gaps(struct filling *f)
{
	struct unwind_table *t = f->t;

	t->gap_rule = keeps_frame_pointers(f) ? FS_UNWIND_RULE_CHAIN : FS_UNWIND_RULE_GAP;
	for (size_t i = 0; i < t->rows.rows; i++)
		if (t->rows.row[i].rule == FS_UNWIND_RULE_GAP)
			t->rows.row[i].rule = t->gap_rule;
}

static int fill(struct filling *f, const struct cfi_section *s, __u64 start, __u64 end)
{
	struct frame_entries *entries;

	if (f->t->machine == CFI_ARM64 && vdso_arm64_is(f->file, f->h)) {
		f->err = vdso_arm64_add(f->file, f->h, f->rules, &f->t->rows);
	} else {
		entries = frame_entries_read(s, f->t->machine, is_code, (void *)f->h);
		if (!entries)
			return -ENOMEM;
		go_functions_read(f->file, f->h, &f->go);
		add_entries(f, entries, start, end);
		go_functions_free(&f->go);
		frame_entries_free(entries);
	}
	if (!f->err)
		f->err = row_table_finish(&f->t->rows);
	if (!f->err)
		settle_gaps(f);
	return f->err;
}

int unwind_table_read(const struct byte_source *file, struct rule_set *rules,
		      struct unwind_table *ret)
{
	struct unwind_table t = {};
	struct elf_headers h;
	struct filling f = {
		.file = file, .h = &h, .rules = rules, .t = &t, .scan_bytes = CODE_SCAN_BYTES};
	struct cfi_section section;
	__u64 start, end;
	__u8 *bytes;
	int err = elf_headers_read(file, &h);

	if (err)
		return err;
	if (!h.wide || (h.machine != EM_X86_64 && h.machine != EM_AARCH64) ||
	    !code_range(&h, &t, &start, &end))
		return -ENOEXEC;
	t.machine = h.machine == EM_X86_64 ? CFI_X86_64 : CFI_ARM64;
	f.prologues.machine = t.machine;
	err = row_table_init(&t.rows, start, end);
	if (err)
		return err;
	err = read_frames(file, &h, &bytes, &section);
	if (!err)
		err = fill(&f, &section, start, end);
	free(bytes);
	if (err)
		row_table_free(&t.rows);
	else
		*ret = t;
	return err;
}

bool unwind_table_bias(const struct unwind_table *t, __u64 start, __u64 offset, __u64 *ret)
{
	for (unsigned int i = 0; i < t->codes; i++) {
		__u64 before = t->code[i].offset % PAGE_BYTES;

		if (offset < t->code[i].offset - before ||
		    offset - (t->code[i].offset - before) >= t->code[i].bytes + before)
			continue;
		*ret = start - (t->code[i].address + (offset - t->code[i].offset));
		return true;
	}
	return false;
}

void unwind_table_free(struct unwind_table *t)
{
	row_table_free(&t->rows);
}
