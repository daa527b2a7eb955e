// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which functions of an .eh_frame section are listed, and that they are sorted by address. */
#include <errno.h>

#include "cfi_maker.h"
#include "tap.h"
#include "unwind/frame_entries.h"

#define ENTRY_WORK 10 /* work of reading an entry */
#define USUAL	   0x0c, 7, 8, 0x90, 1
#define MOST	   64
#define CIE_BYTES  17 /* bytes of a CIE of put_cie() without instructions */

struct code {
	__u64 start, end;
};

static bool is_code(void *ctx, __u64 address)
{
	const struct code *c = ctx;

	return address >= c->start && address < c->end;
}

static struct code all_code = {0, ~0ULL};

static void begin(struct frame_entries *f, const struct made *m)
{
	struct cfi_section s = {m->b, m->n, FRAMES, 8};

	memset(f, 0, sizeof(*f));
	frame_entries_begin(f, &s, CFI_X86_64);
}

/* Reads all entries in pieces of this work. Returns the number of pieces, or 0 after an error. */
static size_t read_in_pieces(struct frame_entries *f, struct code *c, __u64 work)
{
	size_t n = 0;
	int err;

	do {
		__u64 left = work;

		err = frame_entries_read(f, is_code, c, &left);
		n++;
	} while (err == -EAGAIN);
	return err ? 0 : n;
}

static void read_all(struct frame_entries *f, const struct made *m, struct code *c)
{
	begin(f, m);
	is_u64(read_in_pieces(f, c, ~0ULL), 1, "all entries are read");
}

/* Tests a function at the borders of the code. */
static void test_code(void)
{
	static const struct {
		uint32_t start, bytes;
		bool listed;
		const char *name;
	} t[] = {
		{0x1000, 0x100, true, "all of the code"},  {0x1001, 0xff, true, "up to the end"},
		{0x1001, 0x100, false, "a byte too long"}, {0xfff, 0x10, false, "a byte too early"},
		{0x10ff, 1, true, "the last byte"},	   {0x1000, 0, false, "no byte"},
		{0x1100, 1, false, "behind the code"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct code c = {0x1000, 0x1100};
		static struct frame_entries f;
		struct made m = {};
		size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));

		put_fde(&m, cie, t[i].start, t[i].bytes, WITH(0));
		read_all(&f, &m, &c);
		is_u64(f.n, t[i].listed, t[i].name);
		is_u64(f.dropped, !t[i].listed, "it is dropped if it is not listed");
		ok(!f.cut, "the section is whole");
		if (t[i].listed)
			ok(f.entry[0].start == t[i].start && f.entry[0].bytes == t[i].bytes,
			   "its address range");
		frame_entries_free(&f);
	}
}

/* Tests a function of 4 GiB, and one of a byte more. */
static void test_size(void)
{
	/* a CIE, and FDEs with absolute pointers of 8 bytes */
	static const uint8_t cie[] = {12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0};
	static struct frame_entries f;
	struct made m = {};

	put(&m, cie, sizeof(cie));
	for (uint64_t bytes = UINT32_MAX; bytes <= (uint64_t)UINT32_MAX + 1; bytes++) {
		uint64_t numbers[] = {0x1000, bytes};

		put_u32(&m, 20);
		put_u32(&m, m.n);
		put(&m, numbers, sizeof(numbers));
	}
	read_all(&f, &m, &all_code);
	is_u64(f.n, 1, "a function may have a size of 32 bits");
	is_u64(f.entry[0].bytes, UINT32_MAX, "which is kept");
	is_u64(f.dropped, 1, "a larger one is dropped");
	frame_entries_free(&f);
}

/* Tests the ends of a section. */
static void test_ends(void)
{
	static struct frame_entries f;
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL)), last;

	put_fde(&m, cie, 0x1000, 16, WITH(0));
	last = m.n;
	put_fde(&m, cie, 0x2000, 16, WITH(0));
	read_all(&f, &m, &all_code);
	ok(f.n == 2 && !f.cut, "a section without an end mark");
	is_u64(f.entry[1].at, last, "where the entry is");
	frame_entries_free(&f);
	m.n -= 4;
	read_all(&f, &m, &all_code);
	ok(f.n == 1 && f.cut, "the last entry is cut");
	is_u64(f.dropped, 0, "which does not count as dropped");
	frame_entries_free(&f);
	m.n = last + 3;
	read_all(&f, &m, &all_code);
	ok(f.n == 1 && !f.cut, "three bytes behind the last entry");
	frame_entries_free(&f);
	memset(m.b + last, 0, 4);
	m.n = last + 4;
	put_fde(&m, cie, 0x2000, 16, WITH(0));
	read_all(&f, &m, &all_code);
	ok(f.n == 1 && !f.cut, "entries behind the end mark are not read");
	frame_entries_free(&f);
	m.n = 0;
	read_all(&f, &m, &all_code);
	ok(f.n == 0 && !f.cut && !f.dropped, "an empty section");
	frame_entries_free(&f);
}

/* Tests functions whose common entry cannot be used. */
static void test_broken_cie(void)
{
	static struct frame_entries f;
	struct made m = {};
	size_t unknown = put_cie(&m, "zX", 16, WITH(USUAL));
	size_t broken = put_cie(&m, "zR", 16, WITH(0x0b));
	size_t good = put_cie(&m, "zR", 16, WITH(USUAL)), fde = m.n;
	const struct cfi_cie *cie;

	put_fde(&m, unknown, 0x1000, 16, WITH(0));
	put_fde(&m, unknown, 0x2000, 16, WITH(0));
	put_fde(&m, broken, 0x3000, 16, WITH(0));
	put_fde(&m, good, 0x4000, 16, WITH(0));
	put_fde(&m, fde, 0x5000, 16, WITH(0));
	put_fde(&m, good + 4, 0x6000, 16, WITH(0));
	read_all(&f, &m, &all_code);
	is_u64(f.n, 1, "the function with a good common entry");
	is_u64(f.entry[0].start, 0x4000, "its address");
	is_u64(f.dropped, 5, "all others are dropped");
	f.entry[0].at = fde;
	is_u64(-frame_entry_begin(&f, &f.entry[0], &cie), EOPNOTSUPP, "they cannot be run");
	f.entry[0].at = m.n;
	is_u64(-frame_entry_begin(&f, &f.entry[0], &cie), EBADMSG, "nor what is no entry");
	frame_entries_free(&f);
}

/* Tests a function whose data is longer than its entry. */
static void test_broken_data(void)
{
	static struct frame_entries f;
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL)), fde = m.n;
	const struct cfi_cie *of;

	put_fde(&m, cie, 0x1000, 16, WITH(0, 0, 0));
	read_all(&f, &m, &all_code);
	is_u64(f.n, 1, "a function without data");
	m.b[fde + 16] = 3;
	is_u64(frame_entry_begin(&f, &f.entry[0], &of), 0, "data up to the end of its entry");
	m.b[fde + 16] = 4;
	is_u64(-frame_entry_begin(&f, &f.entry[0], &of), EBADMSG, "a byte more");
	frame_entries_free(&f);
	read_all(&f, &m, &all_code);
	ok(f.n == 0 && f.dropped == 1, "such a function is dropped");
	frame_entries_free(&f);
}

/* Functions in falling order, with pairs of the same address; the later one of a pair comes last.
 */
static void make_disordered(struct made *m, size_t n)
{
	size_t cie;

	*m = (struct made){};
	cie = put_cie(m, "zR", 16, WITH(USUAL));
	for (size_t i = 0; i < n; i++)
		put_fde(m, cie, 0x1000 + (n - i) / 2 * 0x10, 1 + i, WITH(0));
}

static bool is_sorted(const struct frame_entries *f)
{
	for (size_t i = 1; i < f->n; i++) {
		const struct frame_entry *a = &f->entry[i - 1], *b = &f->entry[i];

		if (a->start > b->start || (a->start == b->start && a->at >= b->at))
			return false;
	}
	return true;
}

static void test_sorted(void)
{
	static const __u64 works[] = {1, 3, ENTRY_WORK, ENTRY_WORK + 1, ~0ULL};
	static struct frame_entries f;
	struct made m;
	int wrong = 0;

	for (size_t n = 0; n < MOST; n++) {
		make_disordered(&m, n);
		for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
			__u64 sizes = 0;

			begin(&f, &m);
			wrong += !read_in_pieces(&f, &all_code, works[i]);
			for (size_t k = 0; k < f.n; k++)
				sizes += f.entry[k].bytes;
			wrong += f.n != n || !is_sorted(&f) || sizes != n * (n + 1) / 2;
			frame_entries_free(&f);
		}
	}
	is_u64(wrong, 0, "functions are sorted, in pieces of any size");
}

/* Tests that functions which are in order already are not sorted. */
static void test_in_order(void)
{
	static struct frame_entries f;
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));
	__u64 left = 1000;

	put_fde(&m, cie, 0x1000, 32, WITH(0));
	put_fde(&m, cie, 0x1000, 16, WITH(0));
	put_fde(&m, cie, 0x1010, 16, WITH(0));
	begin(&f, &m);
	is_u64(frame_entries_read(&f, is_code, &all_code, &left), 0, "functions in order");
	ok(!f.disordered && f.n == 3, "two of them at one address");
	is_u64(left, 1000 - 5 * ENTRY_WORK, "each entry and the end are read once");
	is_u64(frame_entries_read(&f, is_code, &all_code, &left), 0, "there is no more to do");
	is_u64(left, 1000 - 5 * ENTRY_WORK, "which costs nothing");
	frame_entries_free(&f);

	/* two passes over four functions */
	make_disordered(&m, 4);
	begin(&f, &m);
	left = 6 * ENTRY_WORK;
	is_u64(-frame_entries_read(&f, is_code, &all_code, &left), EAGAIN,
	       "functions to be sorted");
	is_u64(left, 0, "their entries are read");
	left = 100;
	is_u64(frame_entries_read(&f, is_code, &all_code, &left), 0, "and sorted");
	is_u64(left, 100 - 2 * 4, "in two passes");
	frame_entries_free(&f);
}

/* Tests the pieces in which entries are listed. */
static void test_pieces(void)
{
	static const struct {
		__u64 work;
		size_t pieces;
	} t[] = {
		{5 * ENTRY_WORK, 2}, {5 * ENTRY_WORK + 1, 1}, {ENTRY_WORK, 6},
		{ENTRY_WORK - 1, 6}, {ENTRY_WORK + 1, 3},
	};
	static struct frame_entries f;
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 16, WITH(USUAL));
	__u64 none = 0;

	for (int i = 0; i < 4; i++)
		put_fde(&m, cie, 0x1000 + i * 16, 16, WITH(0));
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		begin(&f, &m);
		is_u64(-frame_entries_read(&f, is_code, &all_code, &none), EAGAIN, "no work");
		is_u64(f.at, 0, "nothing is read");
		is_u64(read_in_pieces(&f, &all_code, t[i].work), t[i].pieces,
		       "a call reads entries while work is left");
		is_u64(f.n, 4, "all four");
		frame_entries_free(&f);
	}
}

struct states {
	__u64 address[4];
	__s64 offset[4];
	size_t n;
};

static void add_state(void *ctx, __u64 address, const struct cfi_state *s)
{
	struct states *x = ctx;

	if (x->n == 4 || !s)
		return;
	x->address[x->n] = address;
	x->offset[x->n++] = s->cfa_offset;
}

/* Tests functions whose common entries share a place in the cache. */
static void test_cache(void)
{
	static struct frame_entries f;
	static const uint8_t nops[CIE_CACHE * 4];
	struct made m = {};
	size_t cie[2], fde[2];

	cie[0] = put_cie(&m, "zR", 16, WITH(0x0c, 7, 8, 0x90, 1));
	fde[0] = m.n;
	put_fde(&m, cie[0], 0x1000, 5, WITH(0x44, 0x0e, 24, 0x41, 0x0e, 8));
	/* an entry with many NOPs fills the section up to the same place */
	put_cie(&m, "zR", 16, nops, CIE_CACHE * 4 - m.n - CIE_BYTES);
	cie[1] = put_cie(&m, "zR", 16, WITH(0x0c, 7, 16, 0x90, 1));
	is_u64(cie[1], CIE_CACHE * 4, "two common entries have the same place in the cache");
	fde[1] = m.n;
	put_fde(&m, cie[1], 0x2000, 5, WITH(0x44, 0x0e, 32));
	read_all(&f, &m, &all_code);
	is_u64(f.n, 2, "two functions");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2; i++) {
			const struct cfi_cie *of = NULL;
			struct states s = {};
			__u64 left = 100;

			is_u64(f.entry[i].at, fde[i], "a function");
			is_u64(frame_entry_begin(&f, &f.entry[i], &of), 0, "is begun");
			is_u64(of->ra_column, 16, "with its common entry");
			is_u64(frame_entry_run(&f, add_state, &s, &left), 0, "and run");
			ok(s.n == 2 && s.offset[0] == 8 * (i + 1), "its first state");
			ok(s.address[0] == f.entry[i].start && s.address[1] == s.address[0] + 4,
			   "its addresses");
			is_u64(s.offset[1], 24 + 8 * i, "its second state; a third is behind it");
		}
	}
	frame_entries_free(&f);
}

/* Tests that the registers are those of the machine. */
static void test_arm64(void)
{
	static struct frame_entries f;
	struct cfi_section s;
	struct made m = {};
	size_t cie = put_cie(&m, "zR", 30, WITH(0x0c, 31, 0));
	const struct cfi_cie *of;
	__u64 left = 100;

	put_fde(&m, cie, 0x1000, 16, WITH(0x9d, 2));
	s = (struct cfi_section){m.b, m.n, FRAMES, 8};
	memset(&f, 0, sizeof(f));
	frame_entries_begin(&f, &s, CFI_ARM64);
	is_u64(read_in_pieces(&f, &all_code, ~0ULL), 1, "a section of arm64");
	is_u64(frame_entry_begin(&f, &f.entry[0], &of), 0, "its function is begun");
	is_u64(frame_entry_run(&f, NULL, NULL, &left), 0, "and run");
	is_u64(f.run.s.followed[CFI_FP].place, CFI_AT_CFA, "x29 is the frame pointer");
	frame_entries_free(&f);
}

int main(void)
{
	test_code();
	test_size();
	test_ends();
	test_broken_cie();
	test_broken_data();
	test_sorted();
	test_in_order();
	test_pieces();
	test_cache();
	test_arm64();
	return tap_done();
}
