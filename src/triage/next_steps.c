// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/next_steps.h"

/* A name that a shell takes as it is; others could be made to be more than a name. */
static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.s[i]) && !is_digit(s.s[i]) && !strchr("_-.+~", s.s[i]))
			return false;
	return s.n > 0 && s.s[0] != '-';
}

static struct str release_of(const struct diagnosis *v)
{
	return is_plain(v->event->kernel) ? v->event->kernel : STR("RELEASE");
}

static const struct frame *place_of(const struct diagnosis *v)
{
	const struct incident *e = v->event;

	/* whose fault it is rather than the helper it called */
	if (v->functions && v->frame.size)
		return &v->frame;
	return e->has_ip && v->in_kernel_code && e->ip.size ? &e->ip : NULL;
}

static bool by_line(const struct diagnosis *v, struct buf *b)
{
	const struct frame *f = place_of(v);
	struct str r = release_of(v);

	if (!f || !is_plain(f->function))
		return false;
	if (f->module.n && is_plain(f->module))
		buf_printf(b, "the source line: faddr2line %.*s.ko %.*s+0x%x/0x%x",
			   STR_ARG(f->module), STR_ARG(f->function), f->offset, f->size);
	else
		buf_printf(b,
			   "the source line: faddr2line /usr/lib/debug/boot/vmlinux-%.*s "
			   "%.*s+0x%x/0x%x",
			   STR_ARG(r), STR_ARG(f->function), f->offset, f->size);
	return true;
}

static bool by_trace(const struct diagnosis *v, struct buf *b)
{
	struct str r = release_of(v);

	if (v->event->nr_frames < 2)
		return false;
	buf_printf(b,
		   "the whole trace: decode_stacktrace.sh /usr/lib/debug/boot/vmlinux-%.*s "
		   "/usr/lib/debug/lib/modules/%.*s < LOG",
		   STR_ARG(r), STR_ARG(r));
	return true;
}

static bool by_mechanism(const struct diagnosis *v, struct buf *b)
{
	static const struct {
		enum mechanism mechanism;
		const char *says;
	} rows[] = {
		{MECH_UAF, "who freed it: boot with slub_debug=FZPU, or a kernel with KASAN"},
		{MECH_SLAB_POISON,
		 "who freed it: a kernel with KASAN, or kfence.sample_interval=10"},
		{MECH_PAGE_POISON, "who freed it: boot with page_owner=on debug_pagealloc=on"},
		{MECH_PAGE_UAF, "who freed it: boot with page_owner=on debug_pagealloc=on"},
		{MECH_SLAB_CORRUPTION, "who wrote there: boot with slub_debug=FZPU"},
		{MECH_FREELIST,
		 "the first writer: boot with slub_debug=FZPU, or a kernel with KASAN"},
		{MECH_REDZONE, "who wrote past the end: boot with slub_debug=FZPU"},
		{MECH_DOUBLE_FREE, "both frees: boot with slub_debug=FZPU, or a kernel with KASAN"},
		{MECH_LIST_POISON,
		 "who took it off first: a kernel with CONFIG_DEBUG_LIST and KASAN"},
		{MECH_LIST_CORRUPTION, "the first writer: a kernel with KASAN, or slub_debug=FZPU"},
		{MECH_STRING_POINTER,
		 "who wrote the text: a kernel with KASAN, or slub_debug=FZPU"},
		{MECH_UNINIT, "boot with init_on_alloc=1 to see zeros; find it with KMSAN"},
		{MECH_STACK_OVERFLOW,
		 "deep frames: make LLVM=1 checkstack, or CONFIG_VMAP_STACK=y"},
		{MECH_RECURSION, "bound the recursion, or turn it into a loop"},
		{MECH_BIT_FLIP, "test the memory: memtest86+, and ras-mc-ctl --errors"},
		{MECH_HARDWARE,
		 "what the machine logged: ras-mc-ctl --errors; journalctl -k -g 'EDAC|mce'"},
		{MECH_PGTABLE,
		 "test the memory: memtest86+; then iommu.strict=1 against stray DMA"},
		{MECH_MMIO_UAF, "stop work, timers and interrupts before iounmap() in remove()"},
		{MECH_FREED_TEXT, "undo in module_exit() all that module_init() registered"},
		{MECH_FREED_MODULE, "undo in module_exit() all that module_init() registered"},
		{MECH_ERR_PTR, "check the pointer with IS_ERR() where it was returned"},
		{MECH_SMAP, "use copy_from_user() or copy_to_user() for what user space passes"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].mechanism == v->mechanism) {
			buf_puts(b, rows[i].says);
			return true;
		}
	if (v->kind == KIND_HANG) {
		buf_puts(b, "who holds it, while it hangs: echo w > /proc/sysrq-trigger; "
			    "echo d > /proc/sysrq-trigger");
		return true;
	}
	return false;
}

static bool by_module(const struct diagnosis *v, struct buf *b)
{
	struct str m = v->suspects ? v->suspect[0].module : (struct str){};

	if (v->culprit_unknown || v->suspect[0].cut || !is_plain(m) || str_is(m, "vmlinux") ||
	    v->hardware)
		return false;
	buf_printf(b, "to run without it: modprobe.blacklist=%.*s on the kernel command line",
		   STR_ARG(m));
	return true;
}

static bool by_report(const struct diagnosis *v, struct buf *b)
{
	if (v->functions || v->event->nr_frames || v->hardware)
		return false;
	buf_puts(b, "more of the log is needed: journalctl -k -b -1, /sys/fs/pstore, a serial "
		    "console");
	return true;
}

bool remedy_at(const struct diagnosis *v, size_t i, struct buf *b)
{
	static bool (*const steps[])(const struct diagnosis *v, struct buf *b) = {
		by_line, by_trace, by_mechanism, by_module, by_report,
	};
	size_t found = 0;

	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		size_t before = b->len;

		if (!steps[s](v, b))
			continue;
		if (found++ == i)
			return true;
		b->len = before;
		if (b->s)
			b->s[before] = 0;
	}
	return false;
}
