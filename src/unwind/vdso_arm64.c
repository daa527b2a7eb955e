// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/vdso_arm64.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define VDSO_BYTES_MAX	(64u << 10)
#define FUNCTIONS_MAX	64
#define FUNCTION_WORDS	2048
#define SIGRETURN	"__kernel_rt_sigreturn"
#define IS_PUSH(code)	(((code)&0xffc07fff) == 0xa9807bfd) /* stp x29, x30, [sp, #-n]! */
#define IS_POP(code)	(((code)&0xffc07fff) == 0xa8c07bfd) /* ldp x29, x30, [sp], #n */
#define IS_SET_FP(code) ((code) == 0x910003fd)		    /* mov x29, sp */
#define IS_RETURN(code) ((code) == 0xd65f03c0 || (code) == 0xd65f0bff) /* ret, retaa */

struct function {
	__u64 start, bytes;
	bool sigreturn;
};

struct functions {
	struct function f[FUNCTIONS_MAX];
	size_t n;
	bool has_sigreturn;
};

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void find_functions(const struct byte_source *file, const struct elf_headers *h,
			   struct functions *ret)
{
	__u64 n = h->dynamic.symbols.bytes / sizeof(Elf64_Sym);

	ret->n = 0;
	ret->has_sigreturn = false;
	if (file->bytes > VDSO_BYTES_MAX)
		return;
	for (__u64 i = 0; i < n && ret->n < FUNCTIONS_MAX; i++) {
		char name[sizeof(SIGRETURN) + 1];
		Elf64_Sym s;

		if (!bytes_get(file, h->dynamic.symbols.offset + i * sizeof(s), &s, sizeof(s)))
			return;
		if (!s.st_value || !s.st_size || s.st_name >= h->dynamic.names.bytes ||
		    (ELF64_ST_TYPE(s.st_info) != STT_FUNC && s.st_info & 0xf))
			continue;
		bytes_text(file, h->dynamic.names.offset + s.st_name, 0, name, sizeof(name));
		ret->f[ret->n].start = s.st_value;
		ret->f[ret->n].bytes = s.st_size;
		ret->f[ret->n].sigreturn = !strcmp(name, SIGRETURN);
		ret->has_sigreturn |= ret->f[ret->n++].sigreturn;
	}
	qsort(ret->f, ret->n, sizeof(ret->f[0]), compare_functions);
}

bool vdso_arm64_is(const struct byte_source *file, const struct elf_headers *h)
{
	struct functions all;

	find_functions(file, h, &all);
	return all.has_sigreturn;
}

static __u32 word_at(const struct byte_source *file, const struct elf_headers *h, __u64 address)
{
	__u32 code = 0;

	for (unsigned int i = 0; i < h->nr_loads; i++)
		if (h->load[i].executable && address >= h->load[i].address &&
		    address - h->load[i].address < h->load[i].bytes)
			bytes_get(file, address - h->load[i].address + h->load[i].offset, &code,
				  sizeof(code));
	return code;
}

/*
 * Returns the rule after an instruction. *frame: bytes by which the push of the frame record grew
 * the frame.
 */
static struct fs_unwind_rule rule_behind(__u32 code, struct fs_unwind_rule before, int *frame)
{
	const struct fs_unwind_rule leaf = {.cfa = FS_UNWIND_CFA_SP};
	struct fs_unwind_rule r = before;

	if (IS_PUSH(code)) {
		/* the immediate is a negative number of seven bits */
		*frame = 1024 - 8 * (code >> 15 & 0x7f);
		r = (struct fs_unwind_rule){FS_UNWIND_CFA_SP,
					    FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3,
					    -*frame, *frame};
	} else if (IS_SET_FP(code) && before.cfa == FS_UNWIND_CFA_SP && *frame) {
		r.cfa = FS_UNWIND_CFA_FP;
	} else if (IS_POP(code)) {
		r = leaf;
	} else if (IS_RETURN(code) && *frame) {
		/*
		 * code after a return is reached by an earlier jump, while the frame still exists
		 */
		r = (struct fs_unwind_rule){FS_UNWIND_CFA_FP,
					    FS_UNWIND_FP_AT_CFA | FS_UNWIND_RA_WITH_FP << 3,
					    -*frame, *frame};
	}
	return r;
}

static int add_function(const struct byte_source *file, const struct elf_headers *h,
			const struct function *f, struct rule_set *rules, struct row_table *t)
{
	struct fs_unwind_rule rule = {.cfa = FS_UNWIND_CFA_SP};
	__u64 words = f->bytes / 4 < FUNCTION_WORDS ? f->bytes / 4 : FUNCTION_WORDS;
	int frame = 0, err = row_table_add(t, f->start, rule_set_add(rules, rule));

	for (__u64 i = 0; !err && i + 1 < words; i++) {
		rule = rule_behind(word_at(file, h, f->start + 4 * i), rule, &frame);
		err = row_table_add(t, f->start + 4 * (i + 1), rule_set_add(rules, rule));
	}
	return err ? err : row_table_add(t, f->start + 4 * words, FS_UNWIND_RULE_GAP);
}

int vdso_arm64_add(const struct byte_source *file, const struct elf_headers *h,
		   struct rule_set *rules, struct row_table *t)
{
	struct functions all;
	__u64 done = 0;
	int err = 0;

	find_functions(file, h, &all);
	for (size_t i = 0; !err && i < all.n; i++) {
		const struct function *f = &all.f[i];

		/*
		 * Aliases have the same address. A nested function, or a function outside of code,
		 * is invalid.
		 */
		if (f->start < done || f->start <= t->base || f->bytes > VDSO_BYTES_MAX ||
		    (f->start + f->bytes - t->base) >> FS_UNWIND_PAGE_SHIFT >= t->pages)
			continue;
		if (!f->sigreturn) {
			err = add_function(file, h, f, rules, t);
			done = f->start + f->bytes;
			continue;
		}
		/*
		 * A return address is looked up by the byte before it. A NOP precedes the signal
		 * return code for this purpose.
		 */
		err = row_table_add(t, f->start - (f->start > done), FS_UNWIND_RULE_SIGNAL);
		done = f->start + f->bytes;
		if (!err)
			err = row_table_add(t, done, FS_UNWIND_RULE_GAP);
	}
	return err;
}
