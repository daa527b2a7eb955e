// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "triage/next_steps.h"

#include "triage/library.h"
#include "triage/particulars.h"
#include "triage/signature.h"

static const struct {
	const char *releases, *vmlinux, *modules, *get;
} debug_files[] = {
#define DEBUG_FILES(...) {__VA_ARGS__},
#include "triage/debug_files.def"
#undef DEBUG_FILES
};

static const char *const root_modules[] = {
#define ROOT_MODULES(names) names,
#include "triage/root_modules.def"
#undef ROOT_MODULES
};

/* Returns whether a shell takes a name literally. Names with other characters may run programs. */
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

/* Returns the row of the log's distribution; -1: a kernel of no known distribution. */
static int distribution_of(const struct diagnosis *v)
{
	for (size_t i = 0; i < sizeof(debug_files) / sizeof(debug_files[0]); i++)
		if (name_fits(debug_files[i].releases, release_of(v)))
			return i;
	return -1;
}

/* Appends a text in which %s stands for the kernel release. */
static void put_release(struct buf *b, const char *text, struct str release)
{
	const char *at = strstr(text, "%s");

	if (!at) {
		buf_puts(b, text);
		return;
	}
	buf_add(b, text, at - text);
	buf_add(b, release.s, release.n);
	buf_puts(b, at + 2);
}

static void put_vmlinux(struct buf *b, const struct diagnosis *v)
{
	int row = distribution_of(v);

	if (row >= 0)
		put_release(b, debug_files[row].vmlinux, release_of(v));
	else if (is_plain(v->event->kernel))
		put_release(b, "/lib/modules/%s/build/vmlinux", release_of(v));
	else
		buf_puts(b, "vmlinux");
}

static const struct frame *place_of(const struct diagnosis *v)
{
	const struct incident *e = v->event;

	/* The function at fault is more useful than the helper that it called. */
	if (v->functions && v->frame.size)
		return &v->frame;
	return e->has_ip && v->in_kernel_code && e->ip.size ? &e->ip : NULL;
}

/* Reports of devices and of the OOM killer may have a trace, but no place in code is at fault. */
static bool is_about_code(const struct diagnosis *v)
{
	return !kind_is_precursor(v->kind) || v->kind == KIND_ZFS || v->kind == KIND_IRQ;
}

static bool by_line(const struct diagnosis *v, struct buf *b)
{
	const struct frame *f = place_of(v);

	if (*particular_of(v, "source")) {
		buf_printf(b, "the log has the source line: %s", particular_of(v, "source"));
		return true;
	}
	if (!f || !is_plain(f->function) || !is_about_code(v))
		return false;
	buf_puts(b, "find the source line: faddr2line ");
	if (f->module.n && is_plain(f->module))
		buf_printf(b, "%.*s.ko", STR_ARG(f->module));
	else
		put_vmlinux(b, v);
	buf_printf(b, " %.*s+0x%x/0x%x", STR_ARG(f->function), f->offset, f->size);
	return true;
}

static bool by_trace(const struct diagnosis *v, struct buf *b)
{
	int row = distribution_of(v);

	if (v->event->nr_frames < 2 || !is_about_code(v))
		return false;
	buf_puts(b, "decode the whole trace: decode_stacktrace.sh ");
	put_vmlinux(b, v);
	buf_puts(b, " ");
	if (row >= 0)
		put_release(b, debug_files[row].modules, release_of(v));
	else
		buf_puts(b, "auto");
	buf_puts(b, " < LOG");
	return true;
}

static bool by_debug_files(const struct diagnosis *v, struct buf *b)
{
	int row = distribution_of(v);

	if ((!place_of(v) && v->event->nr_frames < 2) || !is_about_code(v) || !v->event->kernel.n ||
	    !is_plain(v->event->kernel))
		return false;
	buf_puts(b, "get the debug files: ");
	if (row >= 0)
		put_release(b, debug_files[row].get, release_of(v));
	else
		put_release(b,
			    "%s is a kernel of your own: use vmlinux and the modules of its build",
			    release_of(v));
	return true;
}

/* Returns whether the kernel that printed the report has KASAN. */
static bool has_kasan(const struct diagnosis *v)
{
	const struct incident *e = v->event;

	return e->has_range || v->kind == KIND_KASAN_UAF || v->kind == KIND_KASAN_OOB ||
	       v->kind == KIND_KASAN_OTHER ||
	       (e->signature && strstr(e->signature->pattern, "KASAN"));
}

static bool by_kind(const struct diagnosis *v, struct buf *b)
{
	buf_puts(b, v->next);
	return *v->next;
}

static bool by_page(const struct diagnosis *v, struct buf *b)
{
	if (*v->page)
		buf_printf(b, "read more about this kind of report: faultscope explain %s",
			   v->page);
	return *v->page;
}

static bool has_part(const struct incident *e, enum part part)
{
	for (uint32_t i = 0; i < e->nr_frames; i++)
		if (e->frame[i].part == part)
			return true;
	return false;
}

/* The kernel already has KASAN, whose report has the stacks that other checks would add. */
static bool by_kasan(const struct diagnosis *v, struct buf *b)
{
	if (has_part(v->event, PART_FREE))
		buf_puts(b,
			 "compare the stacks in the report: the object was freed there, and used "
			 "here");
	else if (has_part(v->event, PART_ALLOC))
		buf_puts(b, "compare the size in the report with the size that the stack of the "
			    "allocation asks for");
	else
		buf_puts(b, "the kernel has KASAN: an access before this one may have a report "
			    "further up in the log");
	return true;
}

static bool by_mechanism(const struct diagnosis *v, struct buf *b)
{
	const char *next = mechanism_next(v->mechanism);

	if (strstr(next, "KASAN") && has_kasan(v))
		return by_kasan(v, b);
	buf_puts(b, next);
	if (*next)
		return true;
	if (v->kind == KIND_HANG) {
		buf_puts(b, "show blocked tasks and held locks while it hangs: "
			    "echo w > /proc/sysrq-trigger; "
			    "echo d > /proc/sysrq-trigger");
		return true;
	}
	return false;
}

static bool may_hold_root(struct str module)
{
	for (size_t i = 0; i < sizeof(root_modules) / sizeof(root_modules[0]); i++)
		if (name_fits(root_modules[i], module))
			return true;
	return false;
}

/*
 * Returns whether the trace shows that a module drives disks: it calls code of block devices, or
 * this code calls it. Its name need not be known then.
 */
static bool serves_disks(const struct incident *e)
{
	for (uint32_t i = 0; i < e->nr_frames; i++) {
		const struct frame *f = &e->frame[i];

		if (f->part != PART_MAIN || f->unreliable)
			continue;
		if (library_of_frame(f) == LIBRARY_ENTRY)
			return false;
		if (f->module.n ? may_hold_root(f->module)
				: str_starts_any(f->function, "scsi_|__scsi_|sas_|ata_|blk_mq_|"
							      "__blk_mq_|nvme_|mmc_|submit_bio"))
			return true;
	}
	return false;
}

/* Returns whether udev loaded the module, by an alias of its device, when the crash happened. */
static bool loaded_by_alias(const struct incident *e, struct str module)
{
	if (!str_starts_any(e->comm, "(udev-worker)|systemd-udevd|udevd"))
		return false;
	for (uint32_t i = 0; i < e->nr_modules; i++)
		if (str_same(e->module[i].name, module) && e->module[i].loading)
			return true;
	return false;
}

static bool is_older(struct str release, uint64_t major, uint64_t minor)
{
	uint64_t a = 0, b = 0;
	size_t n = str_decimal(release, &a);

	if (!n || str_at(release, n) != '.' || !str_decimal(str_from(release, n + 1), &b))
		return false;
	return a < major || (a == major && b < minor);
}

static bool by_module(const struct diagnosis *v, struct buf *b)
{
	struct str m = v->suspects ? v->suspect[0].module : (struct str){};
	const struct incident *e = v->event;

	/* A kernel that continues after a warning needs no boot without a module. */
	if (!e->fatal && !e->panicked && v->kind != KIND_HANG)
		return false;
	if (v->culprit_unknown || v->suspect[0].cut || !is_plain(m) || str_is(m, "vmlinux") ||
	    v->hardware)
		return false;
	if (may_hold_root(m) || serves_disks(e)) {
		buf_printf(b,
			   "boot the previous kernel; do not disable %.*s, because the root file "
			   "system may need it",
			   STR_ARG(m));
		return true;
	}
	/*
	 * A blacklist of modprobe only stops the loading by an alias. module_blacklist= also stops
	 * loading by name, and as a dependency; Linux 4.4 and later have it.
	 */
	buf_printf(b, "boot without the module: %s=%.*s on the kernel command line",
		   loaded_by_alias(e, m) || is_older(e->kernel, 4, 4) ? "modprobe.blacklist"
								      : "module_blacklist",
		   STR_ARG(m));
	return true;
}

static bool by_report(const struct diagnosis *v, struct buf *b)
{
	if (v->functions || v->event->nr_frames || v->hardware || kind_is_precursor(v->kind))
		return false;
	buf_puts(b, "find more of the log: journalctl -k -b -1, /sys/fs/pstore, a serial "
		    "console");
	return true;
}

bool remedy_at(const struct diagnosis *v, size_t i, struct buf *b)
{
	static bool (*const steps[])(const struct diagnosis *v, struct buf *b) = {
		by_line,      by_trace,	 by_debug_files, by_kind,
		by_mechanism, by_module, by_report,	 by_page,
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
