// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/table_maker.h"

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
#define READ_BYTES	 (64u << 10) /* bytes of .eh_frame that are read at a time */
#define READ_WORK	 2000	     /* work of reading them */
#define FUNCTION_WORK	 20	     /* work of a function, without its instructions */
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

enum making {
	MAKING_SECTION, /* reads .eh_frame into memory */
	MAKING_ENTRIES, /* lists and sorts the FDEs */
	MAKING_ROWS,	/* adds the rows of the functions, and of the gaps between them */
	MAKING_GAPS,	/* sets the rule of gaps */
	MAKING_DONE,
};

enum doing {
	DOING_NEXT, /* the next function is to be begun */
	DOING_GAP,
	DOING_GO, /* a gap in a Go program */
	DOING_FUNCTION,
};

struct table_maker {
	enum making making;
	struct byte_source file;
	struct elf_headers h;
	struct rule_set *rules; /* borrowed */
	struct unwind_table t;
	__u64 start, end; /* address range of the code */
	struct elf_span frames_at;
	__u8 *frames; /* bytes of .eh_frame; owned */
	__u64 frames_read;
	struct cfi_section section;
	struct frame_entries entries;
	enum doing doing;
	size_t next; /* number of FDEs that were begun */
	__u64 at;    /* address up to which rows were added */
	__u64 gap_end;
	struct code_scan scan;
	struct go_functions go;		 /* functions of a Go program */
	struct code_prologues prologues; /* function prologues in gaps */
	const struct cfi_cie *cie; /* CIE of the function that is being added */
	__u64 from, until;	   /* address range of the function that is being added */
	__u64 told;		   /* address up to which bytes were counted */
	__u64 scan_bytes;	   /* bytes of gaps that may still be searched */
	struct fs_unwind_rule rule;
	size_t settled; /* number of rows whose gaps have their rule */
	int err;
};

static void take_off(__u64 *left, __u64 work)
{
	*left -= *left < work ? *left : work;
}

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
static void count_up_to(struct table_maker *f, __u64 address)
{
	__u64 bytes = address - f->told;

	f->t.covered_bytes += bytes;
	f->t.framed_bytes += is_framed(&f->rule) ? bytes : 0;
	f->t.opaque_bytes += f->rule.cfa == FS_UNWIND_CFA_OPAQUE ? bytes : 0;
	f->told = address;
}

static void add_row(struct table_maker *f, __u64 address, __u16 rule)
{
	if (!f->err)
		f->err = row_table_add(&f->t.rows, address, rule);
}

static void add_state(void *ctx, __u64 address, const struct cfi_state *s)
{
	struct table_maker *f = ctx;

	if (address < f->from)
		address = f->from;
	if (address >= f->until)
		return;
	count_up_to(f, address);
	f->rule = s ? cfi_rule(f->t.machine, f->cie, s)
		    : (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE};
	add_row(f, address, rule_set_add(f->rules, f->rule));
}

/* Adds a piece of a gap that has its own rule. */
static void add_piece(struct table_maker *f, __u64 start, __u64 end, __u16 rule, __u64 gap_end)
{
	if (end > gap_end)
		end = gap_end;
	add_row(f, start, rule);
	if (end < gap_end)
		add_row(f, end, FS_UNWIND_RULE_GAP);
}

/* Adds the rows of a gap, in which the code of a signal handler was searched. */
static void add_gap(struct table_maker *f, __u64 start, __u64 end)
{
	bool has_start = f->h.start >= start && f->h.start < end;
	bool has_sigreturn = f->scan.found;
	__u64 sigreturn = f->scan.found;

	add_row(f, start, FS_UNWIND_RULE_GAP);
	if (has_start && (!has_sigreturn || f->h.start < sigreturn))
		add_piece(f, f->h.start, f->h.start + START_BYTES, FS_UNWIND_RULE_END,
			  has_sigreturn ? sigreturn - 1 : end);
	/*
	 * the range begins one byte early, because a return address is looked up by the byte before
	 * it
	 */
	if (has_sigreturn)
		add_piece(f, sigreturn > start ? sigreturn - 1 : sigreturn,
			  sigreturn + CODE_SIGRETURN_BYTES, FS_UNWIND_RULE_SIGNAL, end);
	if (has_start && has_sigreturn && f->h.start >= sigreturn + CODE_SIGRETURN_BYTES)
		add_piece(f, f->h.start, f->h.start + START_BYTES, FS_UNWIND_RULE_END, end);
}

/*
 * Adds _init or _fini, if it is in the gap that begins at f->at. C libraries ship them without
 * FDEs. They are at the start and at the end of a segment.
 */
static void add_init(struct table_maker *f, __u64 end)
{
	struct fs_unwind_rule r = {.cfa = FS_UNWIND_CFA_SP, .cfa_off = 8};
	struct code_init at;
	bool is_edge = false;

	for (unsigned int i = 0; i < f->t.codes; i++)
		is_edge = is_edge || f->at == f->t.code[i].address ||
			  end == f->t.code[i].address + f->t.code[i].bytes;
	if (!is_edge || f->t.machine != CFI_X86_64 ||
	    !code_find_init(&f->file, &f->h, f->at, end, &at))
		return;
	add_row(f, f->at, rule_set_add(f->rules, r));
	r.cfa_off = 16;
	add_row(f, at.from, rule_set_add(f->rules, r));
	r.cfa_off = 8;
	add_row(f, at.until, rule_set_add(f->rules, r));
	f->at = at.end;
}

static void add_go_rule(void *ctx, __u64 address, struct fs_unwind_rule rule)
{
	struct table_maker *f = ctx;

	add_row(f, address, rule_set_add(f->rules, rule));
}

/*
 * Begins a gap: addresses that no FDE covers. Functions of Go have no FDEs, but a table of their
 * own. Some libraries have no FDE for the code that returns from a signal handler, or for _start.
 */
static void begin_gap(struct table_maker *f, __u64 end, __u64 *left)
{
	__u64 bytes;

	add_init(f, end);
	bytes = end - f->at;
	/* behind the last function is other code without an FDE, such as _fini */
	if (!bytes || (bytes < PADDING_BYTES && end != f->end)) {
		f->at = end;
		return;
	}
	code_count_prologues(&f->file, &f->h, f->at, end, &f->prologues, left);
	f->gap_end = end;
	f->doing = DOING_GAP;
	if (f->go.n) {
		add_row(f, f->at, FS_UNWIND_RULE_GAP);
		f->doing = DOING_GO;
	} else if (f->t.machine == CFI_X86_64 && bytes <= f->scan_bytes) {
		code_scan_begin(&f->scan, &f->file, &f->h, f->t.machine, f->at, end);
		f->scan_bytes -= bytes;
	} else {
		f->scan = (struct code_scan){.h = &f->h, .load = f->h.nr_loads};
	}
}

static void go_on_gap(struct table_maker *f, __u64 *left)
{
	if (code_find_sigreturn(&f->scan, left))
		return;
	add_gap(f, f->at, f->gap_end);
	f->at = f->gap_end;
	f->doing = DOING_NEXT;
}

static void go_on_go(struct table_maker *f, __u64 *left)
{
	if (go_functions_rules(&f->go, f->at, f->gap_end, add_go_rule, f, left))
		return;
	f->at = f->gap_end;
	f->doing = DOING_NEXT;
}

static void end_function(struct table_maker *f, int err)
{
	f->t.dropped += err != 0;
	count_up_to(f, f->until);
	f->at = f->until;
	f->next++;
	f->doing = DOING_NEXT;
}

static void begin_function(struct table_maker *f, const struct frame_entry *e)
{
	int err;

	f->from = f->told = f->at;
	f->until = e->start + e->bytes;
	f->rule = (struct fs_unwind_rule){.cfa = FS_UNWIND_CFA_OPAQUE};
	f->doing = DOING_FUNCTION;
	err = frame_entry_begin(&f->entries, e, &f->cie);
	if (err)
		end_function(f, err);
}

static void go_on_function(struct table_maker *f, __u64 *left)
{
	int err = frame_entry_run(&f->entries, add_state, f, left);

	if (err != -EAGAIN)
		end_function(f, err);
}

/* Begins the next function, or the gap before it. Returns false if there is neither. */
static bool begin_next(struct table_maker *f, __u64 *left)
{
	const struct frame_entry *e;
	__u64 end;

	if (f->next == f->entries.n) {
		if (f->at < f->end)
			begin_gap(f, f->end, left);
		return f->doing != DOING_NEXT;
	}
	e = &f->entries.entry[f->next];
	end = e->start + e->bytes;
	if (end <= f->at || e->start < f->start || end > f->end) {
		f->t.dropped += end > f->end;
		f->next++;
	} else if (e->start > f->at) {
		begin_gap(f, e->start, left);
	} else {
		begin_function(f, e);
	}
	return true;
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

/* Prepares to read .eh_frame. */
static int begin_section(struct table_maker *f)
{
	struct elf_span *at = &f->frames_at;

	f->section.pointer_bytes = 8;
	if (!find_frames(&f->file, &f->h, at, &f->section.address) || at->offset > f->file.bytes)
		at->bytes = 0;
	if (at->bytes > f->file.bytes - at->offset)
		at->bytes = f->file.bytes - at->offset;
	if (at->bytes > FRAMES_BYTES_MAX)
		return -E2BIG;
	f->frames = malloc(at->bytes + 1);
	return f->frames ? 0 : -ENOMEM;
}

static int read_section(struct table_maker *f, __u64 *left)
{
	const struct elf_span *at = &f->frames_at;

	while (f->frames_read < at->bytes) {
		__u64 some = at->bytes - f->frames_read;

		if (!*left)
			return -EAGAIN;
		if (some > READ_BYTES)
			some = READ_BYTES;
		if (!bytes_get(&f->file, at->offset + f->frames_read, f->frames + f->frames_read,
			       some)) {
			f->frames_read = 0;
			break;
		}
		f->frames_read += some;
		take_off(left, READ_WORK);
	}
	f->section.bytes = f->frames;
	f->section.size = f->frames_read;
	frame_entries_begin(&f->entries, &f->section, f->t.machine);
	go_functions_read(&f->file, &f->h, &f->go);
	return 0;
}

static int add_rows(struct table_maker *f, __u64 *left)
{
	bool more = true;

	while (more && !f->err) {
		if (!*left)
			return -EAGAIN;
		switch (f->doing) {
		case DOING_GAP:
			go_on_gap(f, left);
			break;
		case DOING_GO:
			go_on_go(f, left);
			break;
		case DOING_FUNCTION:
			go_on_function(f, left);
			break;
		case DOING_NEXT:
			take_off(left, FUNCTION_WORK);
			more = begin_next(f, left);
			break;
		}
	}
	f->t.fdes = f->entries.n;
	f->t.dropped += f->entries.dropped;
	f->t.cut = f->entries.cut || !f->entries.run.work;
	return f->err;
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
static bool keeps_frame_pointers(const struct table_maker *f)
{
	const struct unwind_table *t = &f->t;

	return (t->covered_bytes &&
		t->framed_bytes * 100 >= t->covered_bytes * FRAMED_PERCENT) ||
	       code_has_frame_pointers(&f->prologues);
}

static int finish_rows(struct table_maker *f)
{
	f->t.gap_rule = keeps_frame_pointers(f) ? FS_UNWIND_RULE_CHAIN : FS_UNWIND_RULE_GAP;
	return row_table_finish(&f->t.rows);
}

static int settle_gaps(struct table_maker *f, __u64 *left)
{
	for (struct row_table *rows = &f->t.rows; f->settled < rows->rows; f->settled++) {
		if (!*left)
			return -EAGAIN;
		--*left;
		if (rows->row[f->settled].rule == FS_UNWIND_RULE_GAP)
			rows->row[f->settled].rule = f->t.gap_rule;
	}
	return 0;
}

static int begin(struct table_maker *f)
{
	int err = elf_headers_read(&f->file, &f->h);

	if (err)
		return err;
	if (!f->h.wide || (f->h.machine != EM_X86_64 && f->h.machine != EM_AARCH64) ||
	    !code_range(&f->h, &f->t, &f->start, &f->end))
		return -ENOEXEC;
	f->t.machine = f->h.machine == EM_X86_64 ? CFI_X86_64 : CFI_ARM64;
	f->prologues.machine = f->t.machine;
	f->at = f->start;
	err = row_table_init(&f->t.rows, f->start, f->end);
	if (err || f->t.machine != CFI_ARM64 || !vdso_arm64_is(&f->file, &f->h))
		return err ? err : begin_section(f);
	f->making = MAKING_GAPS;
	err = vdso_arm64_add(&f->file, &f->h, f->rules, &f->t.rows);
	return err ? err : finish_rows(f);
}

int table_maker_new(const struct byte_source *file, struct rule_set *rules,
		    struct table_maker **ret)
{
	struct table_maker *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->file = *file;
	f->rules = rules;
	f->scan_bytes = CODE_SCAN_BYTES;
	err = begin(f);
	if (err)
		table_maker_free(f);
	else
		*ret = f;
	return err;
}

/* Does a piece of the current part of the work. Returns 0 at the end of this part. */
static int work_on(struct table_maker *f, __u64 *left)
{
	int err = 0;

	switch (f->making) {
	case MAKING_SECTION:
		return read_section(f, left);
	case MAKING_ENTRIES:
		return frame_entries_read(&f->entries, is_code, &f->h, left);
	case MAKING_ROWS:
		err = add_rows(f, left);
		return err ? err : finish_rows(f);
	case MAKING_GAPS:
		return settle_gaps(f, left);
	case MAKING_DONE:
		break;
	}
	return err;
}

int table_maker_work(struct table_maker *f, __u64 *left)
{
	while (f->making != MAKING_DONE) {
		int err = work_on(f, left);

		if (err)
			return err;
		f->making++;
	}
	return 0;
}

void table_maker_take(struct table_maker *f, struct unwind_table *ret)
{
	*ret = f->t;
	f->t.rows = (struct row_table){};
}

void table_maker_free(struct table_maker *f)
{
	if (!f)
		return;
	frame_entries_free(&f->entries);
	go_functions_free(&f->go);
	row_table_free(&f->t.rows);
	free(f->frames);
	free(f);
}

int unwind_table_read(const struct byte_source *file, struct rule_set *rules,
		      struct unwind_table *ret)
{
	struct table_maker *f;
	__u64 all = ~0ULL;
	int err = table_maker_new(file, rules, &f);

	if (err)
		return err;
	err = table_maker_work(f, &all);
	if (!err)
		table_maker_take(f, ret);
	table_maker_free(f);
	return err;
}
