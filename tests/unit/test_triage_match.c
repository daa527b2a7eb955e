// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests patterns, log prefixes and signatures.def. Each kernel message must match the row that is
 * meant for it.
 */
#include "base/sha1.h"
#include "tap.h"
#include "triage/library.h"
#include "triage/prefix.h"
#include "triage/signature.h"

static void test_patterns(void)
{
	struct captures c = {};

	ok(match("at%_%A", str_of("at           (null)"), &c) && !c.address, "a padded null");
	ok(match("at %A end", str_of("at ffff888012345678 end"), &c) &&
		   c.address == 0xffff888012345678ull,
	   "an address");
	ok(!match("at %A", str_of("at ffff88801234567890"), &c), "too many digits");
	ok(!match("at %A", str_of("at fortytwo"), &c), "a word that begins with hex");
	ok(match("by task %W/%P%$", str_of("by task kworker/2:1/77"), &c) &&
		   str_is(c.comm, "kworker/2:1") && c.pid == 77,
	   "a comm with a slash");
	ok(match("%S in %F", str_of("slab-use-after-free in f.part.0+0x12/0x34 [mod]"), &c) &&
		   str_is(c.text, "slab-use-after-free") &&
		   str_is(c.function.function, "f.part.0") && c.function.offset == 0x12 &&
		   c.function.size == 0x34 && str_is(c.function.module, "mod"),
	   "a function with all that belongs to it");
	ok(!match("abc", str_of("ab"), &c), "a text that ends too early");
}

static void is_frame(const char *text, const char *function, const char *module, uint64_t address)
{
	struct frame f = {};
	size_t n = frame_parse(str_of(text), &f);

	ok(n && str_is(f.function, function) && str_is(f.module, module) && f.address == address,
	   "frame %s", text);
}

static void test_frames(void)
{
	is_frame("[<ffffffff81234567>] foo+0x1/0x2", "foo", "", 0xffffffff81234567ull);
	is_frame("[<c0123456>] foo+0x1/0x2 [ext3]", "foo", "ext3", 0xc0123456);
	is_frame(":ext3:foo+0x1/0x2", "foo", "ext3", 0);
	is_frame("foo+0x1/0x2 [ext3 0123456789abcdef0123456789abcdef01234567]", "foo", "ext3", 0);
	is_frame(".sys_read+0x1/0x2", "sys_read", "", 0);
	is_frame("0xffffffffc05e7428", "", "", 0xffffffffc05e7428ull);
	is_frame("[c000000010f930b0] [c000000008068df8] .f+0x1/0x2", "f", "",
		 0xc000000008068df8ull);
	/* a join of two lines of ppc: an address in brackets is no module */
	is_frame(".f+0x1/0x2 [c0000000043c3480]", "f", "", 0);
	is_frame("f+0x1/0x2 [c04ac80f]", "f", "", 0);
	is_frame("f+0x1/0x2 [deadbeef]", "f", "deadbeef", 0);
	is_frame("<a::B as c::D>::e+0x1/0x2", "<a::B as c::D>::e", "", 0);
	is_frame("[<c04ac80f>] EFLAGS: 00010046", "", "", 0xc04ac80f);
	is_frame("[<ffffffff88005678>] <ffffffff88005678>{:mod:g+3}", "g", "mod",
		 0xffffffff88005678ull);
	is_frame("<ffffffff80101234>{f}", "f", "", 0xffffffff80101234ull);
	is_frame("<ffffffff80101234>{f+12", "f", "", 0xffffffff80101234ull);
	is_frame("<ffffffff80101234>{+12}", "", "", 0xffffffff80101234ull);
	is_frame("<ffffffff80101234>{:mod+12}", "", "", 0xffffffff80101234ull);
}

/* Frames of x86-64 kernels before 2.6.18 have braces and decimal offsets. */
static void test_braces(void)
{
	static const struct {
		const char *text;
		size_t length;
		uint64_t offset;
	} rows[] = {
		{"<ffffffff80101234>{f+26} <ffffffff80101238>{g+1}", 24, 26},
		{"<ffffffff80101234>{f}", 21, 0},
		{"<ffffffff80101234>{:m:f+0}x", 26, 0},
		{"<ffffffff80101234>{f+26", 23, 26},
		{"<ffffffff80101234>{f+", 21, 0},
		{"<ffffffff80101234>{}", 18, 0},
		{"<ffffffff80101234>", 18, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = {};

		is_u64(frame_parse(str_of(rows[i].text), &f), rows[i].length, rows[i].text);
		is_u64(f.offset, rows[i].offset, "its offset");
	}
}

static void is_stripped(const char *raw, const char *want, int32_t caller, bool user)
{
	struct log_line l = {.caller = -1, .level = -1};
	struct str s = str_of(raw);

	prefix_strip(&s, &l);
	ok(str_is(s, want) && l.caller == caller && l.user == user, "prefix of %s", raw);
}

static void test_prefixes(void)
{
	is_stripped("[   12.345678] text", "text", -1, false);
	is_stripped("<4>[   12.345678] text", "text", -1, false);
	is_stripped("[   12.345678][  T142] text", "text", 142, false);
	is_stripped("[    0.048509 ][    C3 ] text", "text", -5, false);
	is_stripped("[2001021079.622495] text", "text", -1, false);
	is_stripped("[Fri Nov 20 09:41:02 2026] text", "text", -1, false);
	is_stripped("kern  :alert : [   12.345678] text", "text", -1, false);
	is_stripped("Nov 20 09:41:01 db-17 kernel: [   12.345678] text", "text", -1, false);
	is_stripped("Nov  2 09:41:01 db-17 kern.warn kernel: text", "text", -1, false);
	is_stripped("2026-11-20T09:41:01.593360+01:00 db-17 kernel: text", "text", -1, false);
	is_stripped("2018/01/09 14:28:48 BUG: memory leak", "BUG: memory leak", -1, false);
	is_stripped("4,900,1593360,-;text", "text", -1, false);
	is_stripped("4,900,1593360,-,caller=C2;text", "text", -4, false);
	is_stripped("** 93 printk messages dropped ** [   46.300984] text", "text", -1, false);
	is_stripped("syzbox login: text", "text", -1, false);
	is_stripped("Nov 20 09:41:01 db-17 systemd[1]: Started", "Started", -1, true);
	is_stripped("[   12.345678]  indented", " indented", -1, false);
	is_stripped("[<c0123456>] foo", "[<c0123456>] foo", -1, false);
	is_stripped("RIP: 0010:f+0x1/0x2", "RIP: 0010:f+0x1/0x2", -1, false);
}

/* Example lines, as kernels print them. KIND_NONE: no report begins with the line. */
static const struct {
	const char *text;
	enum kind kind;
} lines[] = {
	{"BUG: unable to handle kernel NULL pointer dereference at           (null)",
	 KIND_NULL_DEREF},
	{"BUG: unable to handle kernel paging request at ffffc90000b38000", KIND_PAGING_REQUEST},
	{"BUG: kernel NULL pointer dereference, address: 0000000000000008", KIND_NULL_DEREF},
	{"BUG: unable to handle page fault for address: ffffffffc0453470", KIND_PAGING_REQUEST},
	{"Oops: general protection fault, probably for non-canonical address 0x6b6b6b6b6b6b6b6b: "
	 "0000 [#1] SMP NOPTI",
	 KIND_GPF},
	{"general protection fault: 0000 [#1] SMP", KIND_GPF},
	{"Oops: divide error: 0000 [#1] SMP", KIND_DIVIDE},
	{"Oops: 0002 [#1] PREEMPT SMP", KIND_PAGING_REQUEST},
	{"Oops: Oops: 0002 [#1] SMP NOPTI", KIND_PAGING_REQUEST},
	{"BUG: TASK stack guard page was hit at 00000000deadbeef (stack is 0..0)",
	 KIND_STACK_OVERFLOW},
	{"tool: Corrupted page table at address 7f3a4c000000", KIND_RSVD_BIT},
	{"Unable to handle kernel write to read-only memory at virtual address ffff800010a00000",
	 KIND_RO_WRITE},
	{"Unable to handle kernel access to user memory outside uaccess routines at virtual "
	 "address 0000aaaac0de0000",
	 KIND_USER_ACCESS},
	{"Internal error: Oops - BUG: 00000000f2000800 [#1] SMP", KIND_BUG},
	{"Internal error: synchronous external abort: 0000000096000410 [#1] SMP", KIND_EXT_ABORT},
	{"Unhandled fault: external abort on non-linefetch (0x1008) at 0xf1e00000",
	 KIND_UNHANDLED_FAULT},
	{"BUG: KASAN: slab-out-of-bounds in f+0x1/0x2", KIND_KASAN_OOB},
	{"BUG: KASAN: slab-use-after-free in f+0x1/0x2", KIND_KASAN_UAF},
	{"BUG: KASAN: double-free in f+0x1/0x2", KIND_INVALID_FREE},
	{"BUG: KASAN: null-ptr-deref in f+0x1/0x2", KIND_NULL_DEREF},
	{"BUG: KFENCE: use-after-free read in f+0x1/0x2", KIND_KFENCE_UAF},
	{"BUG: KFENCE: memory corruption in f+0x1/0x2", KIND_KFENCE_CORRUPTION},
	{"BUG: KMSAN: uninit-value in f+0x1/0x2", KIND_KMSAN},
	{"BUG: KCSAN: data-race in f / g", KIND_KCSAN},
	{"UBSAN: array-index-out-of-bounds in drivers/a.c:12:3", KIND_UBSAN},
	{"BUG kmalloc-128 (Tainted: G    B     ): Poison overwritten", KIND_SLAB_CORRUPTION},
	{"list_add corruption. prev->next should be next (a), but was b. (prev=c).",
	 KIND_LIST_CORRUPTION},
	{"refcount_t: underflow; use-after-free.", KIND_REFCOUNT},
	{"usercopy: Kernel memory exposure attempt detected from SLUB object 'a' (offset 0)!",
	 KIND_USERCOPY},
	{"BUG: Bad page state in process a  pfn:12345", KIND_BAD_PAGE},
	{"WARNING: possible circular locking dependency detected", KIND_LOCKDEP},
	{"[ INFO: possible recursive locking detected ]", KIND_LOCKDEP},
	{"[ BUG: bad unlock balance detected! ]", KIND_LOCKDEP},
	{"WARNING: suspicious RCU usage", KIND_LOCKDEP},
	{"BUG: sleeping function called from invalid context at mm/slab.h:401", KIND_ATOMIC_SLEEP},
	{"INFO: task kworker/0:1:13 blocked for more than 120 seconds.", KIND_HANG},
	{"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [a:1]", KIND_HANG},
	{"rcu: INFO: rcu_preempt self-detected stall on CPU", KIND_HANG},
	{"NMI watchdog: Watchdog detected hard LOCKUP on cpu 3", KIND_HANG},
	{"kernel BUG at mm/slub.c:305!", KIND_BUG},
	{"WARNING: CPU: 1 PID: 2 at a/b.c:3 f+0x1/0x2", KIND_WARNING},
	{"WARNING: a/b.c:3 at f+0x1/0x2, CPU#1: comm/2", KIND_WARNING},
	{"WARNING: at a/b.c:3 f+0x1/0x2()", KIND_WARNING},
	{"Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
	 KIND_PANIC},
	{"Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: f+0x1/0x2",
	 KIND_STACK_CORRUPTION},
	{"mce: [Hardware Error]: Machine check events logged", KIND_MCE},
	{"BUG: something that nobody has seen", KIND_BUG},
	{"traps: a[1] general protection fault ip:1 sp:2 error:0 in b", KIND_NONE},
	{"a[1]: segfault at 0 ip 00 sp 00 error 4 in b", KIND_NONE},
	{"INFO: lockdep is turned off.", KIND_NONE},
	{"INFO: Stall ended before state dump start", KIND_NONE},
	{"WARNING: RO_VPD is uninitialized or empty.", KIND_NONE},
	{"ODEBUG: selftest passed", KIND_NONE},
	{"Oops: efitime: can't read time!", KIND_NONE},
	{"", KIND_NONE},
};

static void test_lines(void)
{
	struct signature_index ix;

	signature_index_make(&ix);
	ok(ix.from[256] < sizeof(ix.row) / sizeof(ix.row[0]), "the index holds all %zu rows",
	   nr_signatures);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct captures c = {};
		const struct signature *sig = signature_find(&ix, str_of(lines[i].text), &c);
		enum kind kind = sig && !(sig->flags & SIG_CUT) ? sig->kind : KIND_NONE;

		ok(kind == lines[i].kind, "%s: %s, want %s", lines[i].text, kind_name(kind),
		   kind_name(lines[i].kind));
	}
}

static void test_library(void)
{
	ok(library_of(STR("memcpy_orig")) == LIBRARY_MEMORY, "memcpy");
	ok(library_of(STR("kmalloc_oob_right")) == LIBRARY_NONE, "a test of kmalloc");
	ok(library_of(STR("__mutex_lock.constprop.0")) == LIBRARY_LOCK, "a cloned function");
	ok(library_of(STR("nic_xmit")) == LIBRARY_NONE, "a driver");
	ok(library_of((struct str){}) == LIBRARY_NONE, "no name");
	ok(library_of(STR("hrtimer_start")) == LIBRARY_CONTAINER, "a pattern of a name");
	ok(library_of(STR("hrtimer_interrupt")) == LIBRARY_ENTRY,
	   "a whole name, although an earlier row has a pattern for it");
}

static void test_lists_of_texts(void)
{
	is_u64(str_starts_any(STR("abcd"), "x|abc|ab"), 3, "the first that fits");
	is_u64(str_starts_any(STR("abcd"), "ab|abc"), 2, "not the longest");
	is_u64(str_starts_any(STR("ab"), "abc|abcd"), 0, "a text that ends too early");
	is_u64(str_starts_any((struct str){"ab\0", 3}, "abx|ab"), 2, "a NUL is no end of a text");
	is_u64(str_starts_any((struct str){}, "a|b"), 0, "nothing starts with nothing");
	ok(str_has_any(STR("a wr32 b"), "rd32|wr32"), "in the middle");
	ok(str_has_any(STR("a rd32"), "rd32|wr32"), "at the end");
	ok(!str_has_any(STR("a rd3"), "rd32|wr32"), "cut off");
	ok(!str_has_any((struct str){}, "a"), "in nothing");
}

static void is_sha1(const char *text, size_t len, const char *want)
{
	char hex[SHA1_HEX_LEN];

	sha1_hex(text, len, hex);
	is_str(hex, want, "SHA-1");
}

int main(void)
{
	test_patterns();
	test_frames();
	test_braces();
	test_prefixes();
	test_lines();
	test_library();
	test_lists_of_texts();
	is_sha1("", 0, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	is_sha1("abc", 3, "a9993e364706816aba3e25717850c26c9cd0d89d");
	is_sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		"84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	return tap_done();
}
